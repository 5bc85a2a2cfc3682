"""Non-negative factorizations: slices of a lift, products one by one, and balls of low rank."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, as_real
from sdpdr.base.errors import ModelError
from sdpdr.linalg import Combined, Entries, SvecMap, Trace, VectorMap
from sdpdr.linalg.svec import SQRT2, svec, svec_index, svec_size
from sdpdr.model.affine import Affine, Var
from sdpdr.model.block import Block
from sdpdr.model.blocks.factor_norms import crossed, product_pairs
from sdpdr.model.blocks.lift import FactorLift
from sdpdr.model.terms import AtMost, Equal, InCone, Maximize, Minimize, Term
from sdpdr.program.point import PsdVariable, VectorVariable


@dataclass(frozen=True, eq=False)
class SlicedProducts(Block):
    r"""Splits the entries of a matrix over slices, :math:`\sum_l Z_{(i,l),(N+j,l)} = V_{ij}`.

    Z is of order (N + m) k; place :math:`i k + l` stands for :math:`W_{il}`, and place
    :math:`N k + j k + l` for :math:`H_{jl}`.

    Parameters
    ----------
    values : array of shape (N, m)
        V.
    n_components : int
        k.
    gram : str, default "Z"

    References
    ----------
    Vasiloglou thesis, (2.48), with the index of H corrected.
    """

    values: Array
    n_components: int
    gram: str = "Z"

    @property
    def order(self) -> int:
        """(N + m) k."""
        return sum(self.values.shape) * self.n_components

    def terms(self) -> Iterable[Term]:
        """One row for each entry of V."""
        k = self.n_components
        places = np.repeat(product_pairs(self.values.shape), k, axis=0) * k
        slices = np.tile(np.arange(k), self.values.size)[:, None]
        add = sp.kron(sp.eye_array(self.values.size), np.ones((1, k)), format="csr")
        entries = Entries(self.order, places + slices)
        yield Equal(Combined(add, entries) @ Var(self.gram), self.values.ravel(), symbol="V_ij")


@dataclass(frozen=True, eq=False)
class Envelope(Block):
    r"""Declares vectors :math:`a, b \ge 0` with :math:`a_i b_j \ge V_{ij}^2` for a matrix V.

    Each row is a matrix inequality of order 2; where :math:`V_{ij} = 0` it says nothing and is left
    out. The objective is :math:`\tfrac12 (m \sum_i a_i + N \sum_j b_j)`, half the sum of the traces
    of all of them.

    Parameters
    ----------
    values : array of shape (N, m)
        V, not negative.
    rows, columns : str, default "a", "b"
        Names of the vectors.
    """

    values: Array
    rows: str = "a"
    columns: str = "b"

    def variables(self) -> Iterable[VectorVariable]:
        """The two vectors."""
        n, m = self.values.shape
        yield VectorVariable(self.rows, n, nonnegative=True)
        yield VectorVariable(self.columns, m, nonnegative=True)

    def terms(self) -> Iterable[Term]:
        """The objective, and an inequality for each entry that is not zero."""
        n, m = self.values.shape
        a, b = Var(self.rows), Var(self.columns)
        yield Minimize(np.full((1, n), m / 2.0) @ a + np.full((1, m), n / 2.0) @ b)
        for i, j in np.argwhere(self.values):
            first = sp.csr_array(([1.0], ([svec_index(0, 0)], [i])), shape=(3, n))
            last = sp.csr_array(([1.0], ([svec_index(1, 1)], [j])), shape=(3, m))
            off = svec(np.array([[0.0, 1.0], [1.0, 0.0]])) * self.values[i, j]
            yield InCone(first @ a + last @ b + off, "psd")


@dataclass(frozen=True, eq=False)
class LowRankBall(Block):
    r"""Declares a matrix whose corner Z lies in the convex hull of low rank and unit length.

    .. math::

        P = \begin{pmatrix} \Theta & Z \\ Z^T & T \end{pmatrix} \succeq 0, \qquad
        \Theta \preceq I, \quad \operatorname{tr}\Theta \le k, \quad \operatorname{tr} T \le 1 .

    Every Z of rank k with :math:`|Z|_F \le 1` has such a P: the projection onto its columns, and
    :math:`Z^T Z`. The hull is the unit ball of the spectral k-support norm.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of Z.
    n_components : int
        k.
    gram : str, default "P"

    References
    ----------
    McDonald, Pontil and Stamos, "Spectral k-support norm regularization", NIPS 27, 2014.
    """

    n_rows: int
    n_columns: int
    n_components: int
    gram: str = "P"

    def variables(self) -> Iterable[PsdVariable]:
        """P."""
        yield PsdVariable(self.gram, self.n_rows + self.n_columns)

    def terms(self) -> Iterable[Term]:
        """Two limits on traces, and one on the eigenvalues of the leading block."""
        n, order = self.n_rows, self.n_rows + self.n_columns
        leading = (np.arange(order) < n).astype(float)
        P = Var(self.gram)
        yield AtMost(Trace(order, leading) @ P, float(self.n_components), "rank")
        yield AtMost(Trace(order, 1.0 - leading) @ P, 1.0, "length")
        # The leading block comes first in svec.
        pick = sp.eye_array(svec_size(n), svec_size(order), format="csr")
        yield InCone(-SvecMap(order, pick) @ P + svec(np.eye(n)), "psd", "projection")


@dataclass(frozen=True, eq=False)
class SameCorner(Block):
    r"""Puts one matrix Z at the upper right of two matrices.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of Z.
    first, second : str, default "P", "Q"
        Names of the matrices.
    """

    n_rows: int
    n_columns: int
    first: str = "P"
    second: str = "Q"

    def terms(self) -> Iterable[Term]:
        """One row for each entry of Z."""
        order = self.n_rows + self.n_columns
        entries = Entries(order, product_pairs((self.n_rows, self.n_columns)))
        yield Equal(entries @ Var(self.first) - entries @ Var(self.second), 0.0)


@dataclass(frozen=True, eq=False)
class Overlap(Block):
    r"""Maximises :math:`\langle V, Z\rangle`, Z the upper right block of a matrix.

    Parameters
    ----------
    values : array of shape (N, m)
        V.
    gram : str, default "P"
    """

    values: Array
    gram: str = "P"

    def terms(self) -> Iterable[Term]:
        """The inner product."""
        yield Maximize(crossed(self.values) @ Var(self.gram))


@dataclass(frozen=True, eq=False)
class HoyerSparsity(Block):
    r"""Prescribes the sparsity of the factor W as a whole, in a lift of rank k.

    Hoyer's measure of p numbers is :math:`s(x) = (\sqrt p - |x|_1/|x|_2)/(\sqrt p - 1)`: one for a
    single entry that is not zero, zero for equal ones. With

    .. math:: \operatorname{tr} \mathcal W = 1, \qquad
              \sum_{il} W_{il} = \sqrt p - (\sqrt p - 1)\, s, \qquad p = nk,

    a non-negative W with :math:`\mathcal W = W W^T` has the sparsity s. Before the rank is met the
    rows say little, and a single program meets them with any s.

    Parameters
    ----------
    lift : FactorLift
    sparsity : float
        s, in [0, 1].

    Raises
    ------
    ModelError

    References
    ----------
    Vasiloglou thesis, (2.61)-(2.64), where p is printed as the number of columns and the ends of
    the scale are exchanged; P. O. Hoyer, Journal of Machine Learning Research 5, 2004.
    """

    lift: FactorLift
    sparsity: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.sparsity <= 1.0:
            raise ModelError(f"sparsity must lie in [0, 1]; it is {self.sparsity}.")

    def terms(self) -> Iterable[Term]:
        """The sum of squares and the sum of W."""
        pairs, order = self.lift.left(), self.lift.order
        weights = np.zeros(order)
        weights[self.lift.rows] = 1.0
        yield Equal(Trace(order, weights) @ Var(self.lift.gram), 1.0, name="squares")
        root = np.sqrt(len(pairs))
        total = root - (root - 1.0) * self.sparsity
        yield Equal(np.ones((1, len(pairs))) @ self.lift.entries(pairs), total, name="sum")


@dataclass(frozen=True, eq=False)
class SmallProducts(Block):
    r"""Declares factors W, H and products :math:`V_{ijl}` for :math:`W_{il} H_{lj}`, one by one.

    .. math:: \begin{pmatrix} 1 & W_{il} & H_{lj} \\ W_{il} & T_{il} & V_{ijl} \\
              H_{lj} & V_{ijl} & S_{lj} \end{pmatrix} \succeq 0, \qquad W, H \ge 0 .

    Where :math:`T_{il} = W_{il}^2` and :math:`S_{lj} = H_{lj}^2`, the products are exact.

    Parameters
    ----------
    n, m, k : int
        Rows, columns and terms; n m k inequalities of order three.

    References
    ----------
    Vasiloglou thesis, (2.55)-(2.59).
    """

    n: int
    m: int
    k: int

    def variables(self) -> Iterable[VectorVariable]:
        """W and T row by row, H and S column by column, V with the term running fastest."""
        for name, size in self._sizes().items():
            yield VectorVariable(name, size, nonnegative=name in ("W", "H"))

    def terms(self) -> Iterable[Term]:
        """The small cones."""
        one = svec(np.diag([1.0, 0.0, 0.0]))
        for i, j, term in np.ndindex(self.n, self.m, self.k):
            w, h = i * self.k + term, j * self.k + term
            v = (i * self.m + j) * self.k + term
            places = {"W": (w, 0, 1), "H": (h, 0, 2), "T": (w, 1, 1), "S": (h, 2, 2)}
            maps = {name: self._at(name, *place) for name, place in places.items()}
            yield InCone(Affine({**maps, "V": self._at("V", v, 1, 2)}, one), "psd", name="product")

    def _sizes(self) -> dict[str, int]:
        left, right = self.n * self.k, self.m * self.k
        return {"W": left, "T": left, "H": right, "S": right, "V": self.n * right}

    def _at(self, name: str, entry: int, row: int, column: int) -> VectorMap:
        value = 1.0 if row == column else SQRT2
        place = int(svec_index(row, column))
        shape = (6, self._sizes()[name])
        return VectorMap(sp.csr_array(([value], ([place], [entry])), shape=shape))


@dataclass(frozen=True, eq=False)
class ProductSums(Block):
    r"""Prescribes the sums of products over terms, :math:`\sum_l V_{ijl} = x_{ij}`.

    Parameters
    ----------
    X : array of shape (n, m)
    k : int
    """

    X: Array
    k: int

    def terms(self) -> Iterable[Term]:
        """One row for each entry."""
        sums = sp.kron(sp.eye_array(self.X.size), np.ones((1, self.k)), format="csr")
        yield Equal(sums @ Var("V"), self.X.ravel(), symbol="x_ij")


@dataclass(frozen=True, eq=False)
class Scalarised(Block):
    r"""Minimises :math:`\sum T + \sum S - \langle C_W, W\rangle - \langle C_H, H\rangle`.

    Parameters
    ----------
    left : array of shape (n, k)
        :math:`C_W`.
    right : array of shape (k, m)
        :math:`C_H`.
    """

    left: Array
    right: Array

    def terms(self) -> Iterable[Term]:
        """One objective."""
        costs = {
            "T": np.ones(self.left.size),
            "S": np.ones(self.right.size),
            "W": -as_real(self.left).ravel(),
            "H": -as_real(self.right).T.ravel(),
        }
        parts = [sp.csr_array(cost[None, :]) @ Var(name) for name, cost in costs.items()]
        yield Minimize(sum(parts[1:], parts[0]))
