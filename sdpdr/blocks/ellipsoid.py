"""Ellipsoids around points, as a matrix of order m + 1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg import Entries, QuadraticForms, SvecMap
from sdpdr.linalg.svec import SQRT2, Array, svec_index, svec_size
from sdpdr.model import Affine, AtMost, Block, InCone, Var
from sdpdr.model.terms import Term
from sdpdr.program.variables import VectorVariable


@dataclass(frozen=True, eq=False)
class Enclosing(Block):
    r"""Puts all points into the ellipsoid :math:`x^T Z x - 2 z^T x + s \le 1`.

    With :math:`W = \begin{pmatrix} s & z^T \\ z & Z \end{pmatrix}` this is
    :math:`q^T W q \le 1` for :math:`q = (-1, x)`.

    Parameters
    ----------
    points : array of shape (k, m)
    gram : str, default "W"
        Name of the matrix, of order m + 1.

    References
    ----------
    Vasiloglou thesis, (2.9), where the index runs over the m coordinates rather than the k points.
    """

    points: Array
    gram: str = "W"

    def terms(self) -> Iterable[Term]:
        """One row for each point."""
        lifted = np.column_stack([-np.ones(len(self.points)), self.points])
        yield AtMost(QuadraticForms(lifted) @ Var(self.gram), 1.0)


@dataclass(frozen=True, eq=False)
class RootDeterminant(Block):
    r"""Declares a lower-triangular :math:`\Delta` whose diagonal multiplies to at most det Z.

    .. math:: \begin{pmatrix} Z & \Delta \\ \Delta^T & \operatorname{diag}(\Delta) \end{pmatrix}
              \succeq 0 \quad\Longrightarrow\quad \prod_j \Delta_{jj} \le \det Z,

    with equality for the factors :math:`Z = L\, \operatorname{diag}(\Delta)\, L^T`,
    :math:`\Delta = L \operatorname{diag}(\Delta)`. Z is W without its first row and column.

    Parameters
    ----------
    order : int
        m, of Z.
    gram : str, default "W"
    triangle : str, default "Delta"
        Name of the vector of the m (m + 1) / 2 entries, row by row.

    References
    ----------
    Nesterov and Nemirovskii, "Interior-point polynomial algorithms in convex programming", SIAM,
    1994, section 6.4.3.
    """

    order: int
    gram: str = "W"
    triangle: str = "Delta"

    def variables(self) -> Iterable[VectorVariable]:
        """The triangle."""
        yield VectorVariable(self.triangle, svec_size(self.order))

    def terms(self) -> Iterable[Term]:
        """A matrix inequality of order 2m, and limits on the diagonal that it implies."""
        m, size = self.order, svec_size(self.order)
        rows = svec_size(2 * m)
        i, j = np.tril_indices(m)
        ones = np.ones(size)
        shape = (rows, svec_size(m + 1))
        of_z = sp.csr_array((ones, (svec_index(i, j), svec_index(1 + i, 1 + j))), shape=shape)
        corner = sp.csr_array(
            (SQRT2 * ones, (svec_index(i, m + j), np.arange(size))), shape=(rows, size)
        )
        on = np.flatnonzero(i == j)
        diagonal = sp.csr_array(
            (np.ones(m), (svec_index(m + i[on], m + i[on]), on)), shape=(rows, size)
        )
        inside = SvecMap(m + 1, of_z) @ Var(self.gram) + (corner + diagonal) @ Var(self.triangle)
        yield InCone(inside, "psd", "root")
        # A limit on W becomes one on the triangle: Delta_jj <= Z_jj, and never close to twice it.
        own = Entries(m + 1, np.column_stack([np.arange(1, m + 1)] * 2))
        yield AtMost(self.diagonal - 2.0 * own @ Var(self.gram), 0.0, "diagonal")

    @property
    def diagonal(self) -> Affine:
        """The diagonal of the triangle, m values."""
        i, j = np.tril_indices(self.order)
        on = np.flatnonzero(i == j)
        pick = sp.csr_array((np.ones(on.size), (np.arange(on.size), on)), shape=(on.size, i.size))
        return pick @ Var(self.triangle)
