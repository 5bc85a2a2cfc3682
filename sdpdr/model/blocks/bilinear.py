"""Stacks of matrices: factorizations of each, and the part that two projections preserve."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import SvecMap
from sdpdr.linalg.svec import selection, svec_index, svec_pairs, svec_size
from sdpdr.model.affine import Affine, Var
from sdpdr.model.block import Block
from sdpdr.model.blocks.factor_norms import ProductLift
from sdpdr.model.terms import Equal, InCone, Maximize, Term
from sdpdr.program.point import Variable, VectorVariable


@dataclass(frozen=True, eq=False)
class Splittings(Block):
    r"""Declares a factorization :math:`M_i = U_i V_i^T` of every matrix of a stack.

    .. math::

        W_i = \begin{pmatrix} P_i & M_i \\ M_i^T & Q_i \end{pmatrix} \succeq 0, \qquad
        P_i = U_i U_i^T,\ Q_i = V_i V_i^T .

    Parameters
    ----------
    matrices : array of shape (n, p, q)
        M.
    gram : str, default "W"
        Prefix of the names W0, W1, ... of the matrices.

    References
    ----------
    Tong thesis, (4.5).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.blocks import Splittings
    >>> splittings = Splittings(np.ones((4, 3, 2)))
    >>> [v.name for v in splittings.variables()], splittings.rows.m, splittings.columns.m
    (['W0', 'W1', 'W2', 'W3'], 6, 3)
    """

    matrices: Array
    gram: str = "W"

    @property
    def _lifts(self) -> list[ProductLift]:
        n, p, q = self.matrices.shape
        return [ProductLift((p, q), f"{self.gram}{i}") for i in range(n)]

    @property
    def rows(self) -> Affine:
        r""":math:`\sum_i P_i`, in svec coordinates."""
        return self._total(np.arange(self.matrices.shape[1]))

    @property
    def columns(self) -> Affine:
        r""":math:`\sum_i Q_i`, in svec coordinates."""
        return self._total(self.matrices.shape[1] + np.arange(self.matrices.shape[2]))

    def _total(self, places: Index) -> Affine:
        """The sum over i of the principal part of W_i at some positions, in svec coordinates."""
        row, column = svec_pairs(np.arange(svec_size(places.size)))
        picked = svec_index(places[row], places[column])
        order = sum(self.matrices.shape[1:])
        total = selection(picked, svec_size(order))
        maps = {lift.gram: SvecMap(order, total) for lift in self._lifts}
        return Affine(maps, np.zeros(picked.size))

    def variables(self) -> Iterable[Variable]:
        """One matrix of order p + q for each of the stack."""
        for lift in self._lifts:
            yield from lift.variables()

    def terms(self) -> Iterable[Term]:
        """The entries of each matrix."""
        for i, (lift, matrix) in enumerate(zip(self._lifts, self.matrices, strict=True)):
            yield Equal(lift.entries(), matrix.ravel(), f"product{i}", "M_ij")


@dataclass(frozen=True, eq=False)
class KeptNorms(Block):
    r"""Maximises the part of a stack that two matrices T and S preserve, in the trace norm.

    .. math::

        \max_{Z_1, \dots, Z_n} \sum_i \langle Z_i, M_i\rangle \quad\text{s.t.}\quad
        \begin{pmatrix} T & Z_i \\ Z_i^T & S \end{pmatrix} \succeq 0 .

    For given T and S the best value is :math:`\sum_i |T^{1/2} M_i S^{1/2}|_{\mathrm{tr}}`; for
    projections :math:`A A^T` and :math:`B B^T` that is :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`.

    Parameters
    ----------
    matrices : array of shape (n, p, q)
        M.
    left, right : str, default "T_P", "T_Q"
        Names of T, of order p, and S, of order q, which other blocks declare.
    product : str, default "Z"
        Name of the vector of all entries of the Z, which this block declares.

    References
    ----------
    Tong thesis, (4.8).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.blocks import KeptNorms
    >>> kept = KeptNorms(np.ones((4, 3, 2)))
    >>> [term.lhs.m for term in kept.terms()]
    [15, 15, 15, 15, 1]
    """

    matrices: Array
    left: str = "T_P"
    right: str = "T_Q"
    product: str = "Z"

    def variables(self) -> Iterable[Variable]:
        """The entries of the Z, matrix by matrix and row by row."""
        yield VectorVariable(self.product, self.matrices.size)

    def terms(self) -> Iterable[Term]:
        """A matrix inequality for each of the stack, and the objective."""
        n, p, q = self.matrices.shape
        size = svec_size(p + q)
        every = np.arange(size)
        row, column = svec_pairs(every)
        first, last = column < p, row >= p
        left = SvecMap(p, selection(every[first], size).T)
        right = SvecMap(q, selection(every[last], size).T)
        cross = ~(first | last)
        entry = row[cross] * q + column[cross] - p
        for i in range(n):
            where = (every[cross], i * p * q + entry)
            shape = (size, self.matrices.size)
            middle = sp.csr_array((np.full(entry.size, np.sqrt(2.0)), where), shape)
            sides = left @ Var(self.left) + right @ Var(self.right)
            yield InCone(sides + middle @ Var(self.product), "psd", f"keep{i}")
        yield Maximize(self.matrices.reshape(1, -1) @ Var(self.product))
