"""Single entries of a Gram matrix, and sums of entries along its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import ModelError
from sdpdr.linalg import (
    Combined,
    Diagonal,
    Entries,
    LinearMap,
    Products,
    QuadraticForms,
    Summed,
    Trace,
)
from sdpdr.linalg.letters import Letters, Words
from sdpdr.linalg.svec import SQRT2, selection, svec, svec_index, svec_size
from sdpdr.model.affine import Var
from sdpdr.model.model import Block
from sdpdr.model.terms import AtMost, Equal, InCone, Maximize, Minimize, Term
from sdpdr.program.point import VectorVariable


class NeighbourSums(Combined):
    r"""Row sums over neighbours only: :math:`\sum_{i \sim j} K_{ij}` for every j.

    Pairs (j, j) add entries of the diagonal.

    Parameters
    ----------
    n : int
    pairs : array_like of int, shape (p, 2)
        The neighbours, each pair once.
    """

    def __init__(self, n: int, pairs: Any) -> None:
        entries = Entries(n, pairs)
        i, j = entries.pairs.T
        off = np.flatnonzero(i != j)
        row = np.concatenate([i, j[off]])
        column = np.concatenate([np.arange(i.size), off])
        super().__init__(sp.csr_array((np.ones(row.size), (row, column)), (n, i.size)), entries)

    def formula(self, variable: str, letters: Letters) -> Words:
        """Typical row in mathematics."""
        return f"Σ_i~j {variable}_ij", rf"\sum_{{i \sim j}} {variable}_{{ij}}"


class OtherSums(Summed):
    r"""Row sums without the diagonal: :math:`\sum_{i \ne j} K_{ij}` for every j.

    Parameters
    ----------
    n : int
    counts : array_like of shape (n,), optional
        How many points each node stands for: :math:`\sum_i c_i K_{ij} - K_{jj}`.
    """

    def __init__(self, n: int, counts: Any = None) -> None:
        super().__init__((Products(n, counts), -Diagonal(n)))

    def formula(self, variable: str, letters: Letters) -> Words:
        """Typical row in mathematics."""
        return f"Σ_i≠j {variable}_ij", rf"\sum_{{i \ne j}} {variable}_{{ij}}"


@dataclass(frozen=True, eq=False)
class NonNegative(Block):
    r"""Keeps entries nonnegative, :math:`K_{ij} \ge 0`: no angle at the origin is obtuse.

    Parameters
    ----------
    n : int
        Number of points.
    pairs : array_like of int, shape (p, 2), optional
        The entries; all off the diagonal by default.
    gram : str, default "K"

    References
    ----------
    Vasiloglou thesis, sections 2.2.4 and 6.2.
    """

    n: int
    pairs: Index | None = None
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """One row for each entry."""
        pairs = np.column_stack(np.triu_indices(self.n, 1)) if self.pairs is None else self.pairs
        yield AtMost(-(Entries(self.n, pairs) @ Var(self.gram)), 0.0)


@dataclass(frozen=True, eq=False)
class RowSums(Block):
    r"""Prescribes sums along the rows over chosen pairs, :math:`\sum_{i \sim j} K_{ij} = f_j`.

    Parameters
    ----------
    n : int
        Number of points.
    pairs : array_like of int, shape (p, 2)
        Neighbours, each pair once; (j, j) adds the diagonal.
    values : array_like of shape (n,) or number
        f.
    gram : str, default "K"

    References
    ----------
    Vasiloglou thesis, (6.33) and (6.36).
    """

    n: int
    pairs: Index
    values: Array
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """One row for each point."""
        yield Equal(NeighbourSums(self.n, self.pairs) @ Var(self.gram), self.values, symbol="f_j")


@dataclass(frozen=True, eq=False)
class TraceAtMost(Block):
    r"""Bounds the trace, :math:`\operatorname{tr} K \le \tau`.

    Parameters
    ----------
    n : int
        Number of points.
    limit : float
        :math:`\tau`.
    weights : array of shape (n,), optional
        How many points each node stands for; the sum of :math:`c_i K_{ii}` is then bounded.
    gram : str, default "K"
    """

    n: int
    limit: float
    weights: Array | None = None
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """A single row."""
        yield AtMost(Trace(self.n, self.weights) @ Var(self.gram), self.limit)


@dataclass(frozen=True, eq=False)
class LeastTrace(Block):
    r"""Minimises :math:`\operatorname{tr} K`, the sum of squared distances from the origin.

    Parameters
    ----------
    n : int
        Number of points.
    weights : array of shape (n,), optional
        How many points each node stands for; the sum of :math:`c_i K_{ii}` is then minimised.
    gram : str, default "K"
    """

    n: int
    weights: Array | None = None
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """Minimise the (weighted) trace."""
        yield Minimize(Trace(self.n, self.weights) @ Var(self.gram))


@dataclass(frozen=True, eq=False)
class UnitDiagonal(Block):
    r"""Puts every point on the unit sphere, :math:`K_{ii} = 1`.

    Parameters
    ----------
    n : int
        Number of points.
    gram : str, default "K"
    """

    n: int
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """One row for each point."""
        yield Equal(Diagonal(self.n) @ Var(self.gram), 1.0)


@dataclass(frozen=True, eq=False)
class Dispersion(Block):
    r"""Maximises or minimises the variance of points about their mean, wherever the origin is.

    :math:`\sum_i c_i K_{ii} - c^T K c / \sum_i c_i`; with unit weights :math:`\langle P, K\rangle`,
    :math:`P = I - \mathbf 1\mathbf 1^T/n`.

    Parameters
    ----------
    n : int
        Number of points.
    weights : array of shape (n,), optional
        c, how many points each node stands for; all one by default.
    most : bool, default True
        Maximise rather than minimise.
    gram : str, default "K"
    vectors : array or sparse array of shape (n, order), optional
        Vectors :math:`f_i` with :math:`p_i^T p_j = f_i^T K f_j`, if inner products of the points
        are not entries of K.
    """

    n: int
    weights: Array | None = None
    most: bool = True
    gram: str = "K"
    vectors: Array | sp.csr_array | None = None

    def terms(self) -> Iterable[Term]:
        """The sum of squares minus that of the mean."""
        c = np.ones(self.n) if self.weights is None else np.asarray(self.weights, dtype=float)
        squares: LinearMap = Trace(self.n, self.weights)
        total = c
        if self.vectors is not None:
            squares, total = c[None, :] @ QuadraticForms(self.vectors), c @ self.vectors
        mean = (1.0 / c.sum()) * QuadraticForms(total[None, :])
        variance = squares @ Var(self.gram) - mean @ Var(self.gram)
        yield Maximize(variance) if self.most else Minimize(variance)


@dataclass(frozen=True, eq=False)
class Close(Block):
    r"""Keeps entries near given values, :math:`\sum_e (Z_{i_e j_e} - v_e)^2 \le \epsilon^2`.

    The differences fill a matrix R as nearly square as possible; its norm is at most
    :math:`\epsilon` exactly if some T has

    .. math:: \begin{pmatrix} T & R^T \\ R & \epsilon I \end{pmatrix} \succeq 0, \qquad
              \operatorname{tr} T \le \epsilon .

    The inequality is of order :math:`2\sqrt p` for p entries, where the arrow of a second-order
    cone would be of order p + 1.

    Parameters
    ----------
    n : int
        Order of the matrix.
    pairs : array_like of int, shape (p, 2)
    values : array_like of shape (p,)
    radius : float
        :math:`\epsilon`, positive; not squared.
    gram : str, default "Z"
    bound : str, default "T"
        Name of the vector svec(T), which this block declares.

    Raises
    ------
    ModelError
        If the radius is not positive.

    References
    ----------
    Vasiloglou thesis, (2.111).
    """

    n: int
    pairs: Index
    values: Array
    radius: float
    gram: str = "Z"
    bound: str = "T"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.radius) and self.radius > 0.0):
            raise ModelError(f"the radius must be positive; it is {self.radius}.")

    @property
    def columns(self) -> int:
        """Columns of R, and order of T."""
        return int(np.floor(np.sqrt(len(self.pairs))))

    def variables(self) -> Iterable[VectorVariable]:
        """T."""
        yield VectorVariable(self.bound, svec_size(self.columns))

    def terms(self) -> Iterable[Term]:
        """The matrix inequality, and the trace."""
        p, b = len(self.pairs), self.columns
        order = b - (-p // b)
        e = np.arange(p)
        place = svec_index(e % b, b + e // b)
        lift = selection(place, svec_size(order), SQRT2).T
        away = Entries(self.n, self.pairs) @ Var(self.gram) - self.values
        head = sp.eye_array(svec_size(order), svec_size(b), format="csr")
        rest = svec(np.diag(np.arange(order) >= b) * self.radius)
        yield InCone(lift @ away + head @ Var(self.bound) + rest, "psd", name="distance")
        diagonal = np.zeros((1, svec_size(b)))
        diagonal[0, svec_index(np.arange(b), np.arange(b))] = 1.0
        yield AtMost(sp.csr_array(diagonal) @ Var(self.bound), self.radius, name="radius")
