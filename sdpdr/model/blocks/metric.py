"""Ellipsoids: the matrix of a metric with its objectives, and ellipsoids around points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ModelError
from sdpdr.linalg import Diagonal, Entries, InnerProduct, QuadraticForms, SvecMap, Trace
from sdpdr.linalg.letters import Letters, Words
from sdpdr.linalg.svec import SQRT2, selection, svec, svec_index, svec_size
from sdpdr.model.affine import Affine, Var
from sdpdr.model.block import Block, Declaration
from sdpdr.model.blocks.factor_norms import crossed
from sdpdr.model.terms import AtMost, Equal, InCone, Maximize, Minimize, Penalize, Term
from sdpdr.program.point import PsdVariable, VectorVariable


class _Whole(SvecMap):
    """The whole matrix, in svec coordinates."""

    def __init__(self, n: int) -> None:
        super().__init__(n, sp.eye_array(svec_size(n), format="csr"))

    def formula(self, variable: str, letters: Letters) -> Words:
        """The matrix itself."""
        return variable, variable


@dataclass(frozen=True, eq=False)
class Mahalanobis(Declaration):
    r"""Declares the matrix :math:`A \succeq 0` of a metric, :math:`d(x,y)^2 = (x-y)^T A (x-y)`.

    Parameters
    ----------
    n : int
        Number of features.
    metric : str, default "A"
        Name of the variable.
    """

    n: int
    metric: str = "A"

    def variables(self) -> Iterable[PsdVariable]:
        """The matrix."""
        yield PsdVariable(self.metric, self.n)


@dataclass(frozen=True, eq=False)
class Scatter(Block):
    r"""Minimises :math:`\langle C, A\rangle`, a sum of squared distances of pairs.

    Parameters
    ----------
    scatter : array of shape (n, n)
        C, for instance :math:`\sum (x_i - x_j)(x_i - x_j)^T` over similar pairs, minus the same
        sum over dissimilar ones.
    metric : str, default "A"
    """

    scatter: Array
    metric: str = "A"

    def terms(self) -> Iterable[Term]:
        """The inner product."""
        yield Minimize(InnerProduct(self.scatter) @ Var(self.metric))


@dataclass(frozen=True, eq=False)
class UnitTrace(Block):
    r"""Fixes the scale of a metric, :math:`\operatorname{tr} A = 1`.

    Parameters
    ----------
    n : int
    metric : str, default "A"
    """

    n: int
    metric: str = "A"

    def terms(self) -> Iterable[Term]:
        """One row."""
        yield Equal(Trace(self.n) @ Var(self.metric), 1.0)


@dataclass(frozen=True, eq=False)
class Cap(Block):
    r"""Bounds every eigenvalue, :math:`A \preceq t I`.

    With trace one, :math:`t = 1/k` makes A a multiple of a mix of projections onto k dimensions
    (the Fantope), and so keeps it from collapsing to a line.

    Parameters
    ----------
    n : int
    limit : float
        t; at least 1/n, or no matrix of trace one is feasible.
    metric : str, default "A"
    """

    n: int
    limit: float
    metric: str = "A"

    def terms(self) -> Iterable[Term]:
        """The matrix inequality t I - A."""
        limit = svec(self.limit * np.eye(self.n))
        yield InCone(-_Whole(self.n) @ Var(self.metric) + limit, "psd")


@dataclass(frozen=True, eq=False)
class FrobeniusBall(Block):
    r"""Bounds the norm of a metric, :math:`|A|_F \le 1`.

    As a matrix inequality, :math:`\begin{pmatrix} I & a \\ a^T & 1 \end{pmatrix} \succeq 0` with
    a = svec(A). Its order is n (n + 1) / 2 + 1, so it is for few features.

    Parameters
    ----------
    n : int
    metric : str, default "A"
    """

    n: int
    metric: str = "A"

    def terms(self) -> Iterable[Term]:
        """The matrix inequality."""
        size = svec_size(self.n)
        order = size + 1
        # Entry (i, size) of the inequality is coordinate i of svec(A).
        last = Entries(order, [(i, size) for i in range(size)]).matrix()
        border = SvecMap(self.n, 2.0 * last.T)
        yield InCone(border @ Var(self.metric) + svec(np.eye(order)), "psd")


@dataclass(frozen=True, eq=False)
class SizePrice(Block):
    r"""Penalizes the norm of a metric by :math:`\tfrac\mu2 |A|_F^2`.

    Parameters
    ----------
    n : int
    weight : float
        :math:`\mu`, positive.
    metric : str, default "A"
    """

    n: int
    weight: float
    metric: str = "A"

    def terms(self) -> Iterable[Term]:
        """A quadratic penalty on every coordinate of svec(A)."""
        yield Penalize(_Whole(self.n) @ Var(self.metric), 0.0, "square", self.weight)


@dataclass(frozen=True, eq=False)
class Distances(Block):
    r"""Maximises a sum of plain distances, :math:`\sum_p \sqrt{\delta_p^T A\, \delta_p}`.

    The variable is a Gram matrix of D + q vectors,

    .. math::

        Z = \begin{pmatrix} A & B \\ B^T & U \end{pmatrix} \succeq 0, \qquad U_{pp} = 1,
        \qquad \max \sum_p \delta_p^T b_p ,

    where :math:`b_p` is column p of B. Read :math:`Z = \binom{L}{V}\binom{L}{V}^T`: then
    :math:`\delta_p^T b_p = (L^T\delta_p) \cdot v_p` with a unit vector :math:`v_p`, which at best
    points along :math:`L^T\delta_p` and gives its length, the distance of the pair.

    Parameters
    ----------
    differences : array of shape (q, D)
        The :math:`\delta_p` as rows.
    gram : str, default "Z"
    """

    differences: Array
    gram: str = "Z"

    @property
    def order(self) -> int:
        """D + q."""
        return int(sum(self.differences.shape))

    def variables(self) -> Iterable[PsdVariable]:
        """The Gram matrix of features and pairs."""
        yield PsdVariable(self.gram, self.order)

    def terms(self) -> Iterable[Term]:
        """The objective, and a row for the length of each unit vector."""
        q, n_features = self.differences.shape
        yield Maximize(crossed(self.differences.T) @ Var(self.gram))
        lengths = Diagonal(self.order)[n_features:]
        yield Equal(lengths @ Var(self.gram), np.ones(q), "unit")


@dataclass(frozen=True, eq=False)
class LeadingTrace(Block):
    r"""Bounds the trace of a leading block, :math:`\sum_{k \le D} Z_{kk} \le 1`.

    Parameters
    ----------
    n : int
        Order of the whole matrix.
    leading : int
        D, order of the block.
    gram : str, default "Z"
    """

    n: int
    leading: int
    gram: str = "Z"

    def terms(self) -> Iterable[Term]:
        """One row."""
        weights = (np.arange(self.n) < self.leading).astype(float)
        yield AtMost(Trace(self.n, weights) @ Var(self.gram), 1.0)


@dataclass(frozen=True, eq=False)
class LeadingDiagonal(Block):
    r"""Makes a leading block diagonal, :math:`Z_{kl} = 0` for :math:`k < l \le D`.

    Parameters
    ----------
    n : int
        Order of the whole matrix.
    leading : int
        D, order of the block.
    gram : str, default "Z"
    """

    n: int
    leading: int
    gram: str = "Z"

    def __post_init__(self) -> None:
        if not 2 <= self.leading <= self.n:
            raise ModelError(
                f"a block has entries off its diagonal from order 2 on; leading = {self.leading} "
                f"of n = {self.n}."
            )

    def terms(self) -> Iterable[Term]:
        """One row for each entry above the diagonal."""
        pairs = np.column_stack(np.triu_indices(self.leading, 1))
        yield Equal(Entries(self.n, pairs) @ Var(self.gram), 0.0)


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
    r"""Declares a lower-triangular :math:`\Delta`, the product of whose diagonal is at most det Z.

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
        """A matrix inequality of order 2m, and bounds on the diagonal that it implies."""
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
        diagonal = selection(svec_index(m + i[on], m + i[on]), rows).T @ selection(on, size)
        inside = SvecMap(m + 1, of_z) @ Var(self.gram) + (corner + diagonal) @ Var(self.triangle)
        yield InCone(inside, "psd", "root")
        # Delta_jj <= Z_jj holds anyway; these redundant rows turn bounds on W into bounds on Delta.
        own = Entries(m + 1, np.column_stack([np.arange(1, m + 1)] * 2))
        yield AtMost(self.diagonal - 2.0 * own @ Var(self.gram), 0.0, "diagonal")

    @property
    def diagonal(self) -> Affine:
        """The diagonal of the triangle, m values."""
        i, j = np.tril_indices(self.order)
        on = np.flatnonzero(i == j)
        return selection(on, i.size) @ Var(self.triangle)
