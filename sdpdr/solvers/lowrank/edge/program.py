"""What an edge program maximises: variance, spread of chosen pairs, or side information."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from sdpdr.base.arrays import Index
from sdpdr.base.errors import DataError, ModelError, ShapeError
from sdpdr.program.sdp import Remembering
from sdpdr.solvers.lowrank.direction import Boxes
from sdpdr.solvers.lowrank.frame import Result

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Edges = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Objective:
    r"""The form :math:`\langle C, R R^T\rangle` of a centred factor, C never formed.

    .. math:: \langle R, C R\rangle = t \sum_i c_i |R_i|^2 + \sum_f p_f |R_i - R_j|^2
              + |F^T R|_F^2 ,

    with masses c, pulls p > 0 on pairs f = (i, j), and side information F.

    Parameters
    ----------
    mass : (n,) array
        c.
    variance : float, default 1
        t, at least 0.
    pairs : (p, 2) array of int
        Each i < j, once.
    pull : (p,) array
    side : (n, q) array
        F; its columns sum to zero, so that moving all points changes nothing.
    """

    mass: Vector
    variance: float = 1.0
    pairs: Edges = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    pull: Vector = field(default_factory=lambda: np.empty(0))
    side: Matrix | None = None

    @property
    def is_variance(self) -> bool:
        """Whether there is nothing but variance."""
        return len(self.pairs) == 0 and self.side is None

    @property
    def width(self) -> int:
        """Number q of columns of F."""
        return 0 if self.side is None else self.side.shape[1]

    def times(self, R: Matrix) -> Matrix:
        """C R.

        Examples
        --------
        >>> pair = Objective(np.ones(2), 0.0, np.array([[0, 1]]), np.ones(1))
        >>> pair.times(np.array([[0.0], [3.0]])).ravel()
        array([-3.,  3.])
        """
        product = (self.variance * self.mass)[:, None] * R
        if len(self.pairs):
            i, j = self.pairs.T
            force = self.pull[:, None] * (R[i] - R[j])
            np.add.at(product, i, force)
            np.subtract.at(product, j, force)
        if self.side is not None:
            product += self.side @ (self.side.T @ R)
        return product

    def value(self, R: Matrix) -> float:
        """The form at a factor."""
        if self.is_variance:
            return self.variance * float(self.mass @ np.einsum("ij,ij->i", R, R))
        return float(np.sum(R * self.times(R)))

    def size(self) -> float:
        """Mean diagonal entry of C."""
        total = self.variance * self.mass.sum() + 2.0 * self.pull.sum()
        if self.side is not None:
            total += np.sum(np.square(self.side))
        return float(total / len(self.mass))

    def scaled(self, mass: float, size: float) -> Objective:
        """With masses divided by a number, and the whole form by another."""
        return replace(
            self,
            mass=self.mass / mass,
            variance=self.variance * mass / size,
            pull=self.pull / size,
            side=None if self.side is None else self.side / np.sqrt(size),
        )


@dataclass(frozen=True, eq=False)
class EdgeProgram(Remembering):
    r"""Maximise variance, or another form, under limits on squared edge lengths.

    With :math:`K = R R^T`, :math:`q_e = |R_i - R_j|^2` for the edge e = (i, j), and masses c,

    .. math:: \max_R \; \sum_i c_i |R_i|^2 - \sum_e \varphi_e(q_e)
              \quad \text{s.t.} \quad \sum_i c_i R_i = 0.

    :math:`\varphi_e` is the cost of the distance t from :math:`q_e` to its interval
    [lower, upper]: infinite for t > 0 when the edge is *hard*, ``penalty * t`` with a penalty
    alone, ``stiffness * t**2 / 2`` with a stiffness alone. Given both, the cost is quadratic up to
    ``penalty / stiffness`` and linear beyond (a Huber cost), so that the conjugate, which the
    certificate uses, is simply

    .. math:: \varphi_e^*(w) = u_e w^+ - l_e w^- + w^2 / (2 v_e), \qquad |w| \le p_e .

    Parameters
    ----------
    edges : (m, 2) array of int
        Pairs i < j, each once. The graph must be connected.
    n : int
        Number of points, at least 2.
    sqdist : (m,) array
        Squared length that sets the scale of each row, > 0.
    lower, upper : (m,) array or scalar, optional
        Limits on the squared length (absolute units). Defaults: -inf and ``sqdist``.
        ``lower == upper`` is an equality.
    penalty : (m,) array or scalar, default inf
        Cost per unit of squared length outside the interval; > 0.
    stiffness : (m,) array or scalar, default inf
        Curvature of the quadratic cost outside the interval; > 0.
    mass : (n,) array, optional
        Weights c of the points, > 0, for instance the multiplicities of merged duplicates.
        Default: ones.
    objective : Objective, optional
        What takes the place of the variance above. Default: the variance for the masses.

    Notes
    -----
    All arrays are copied, converted and broadcast, so scalars may be passed.

    Raises
    ------
    ShapeError
        When an array does not have one entry per edge (or per point).
    DataError
        When an entry is not finite, an edge is repeated or out of range, or an interval is empty.

    References
    ----------
    Vasiloglou thesis, section 3.1 and 3.2; Weinberger and Saul (2006); Burer and Monteiro (2003).

    Examples
    --------
    >>> from sdpdr.solvers.lowrank import EdgeProgram
    >>> path = EdgeProgram(edges=[[0, 1], [1, 2]], n=3, sqdist=[1.0, 1.0])
    >>> path.upper
    array([1., 1.])
    """

    edges: Edges
    n: int
    sqdist: Vector
    lower: Vector = field(default_factory=lambda: np.array(-np.inf))
    upper: Vector = None  # type: ignore[assignment]  # replaced by sqdist at once
    penalty: Vector = field(default_factory=lambda: np.array(np.inf))
    stiffness: Vector = field(default_factory=lambda: np.array(np.inf))
    mass: Vector = field(default_factory=lambda: np.array(1.0))
    objective: Objective = None  # type: ignore[assignment]  # replaced by the variance at once

    def __post_init__(self) -> None:
        edges = np.asarray(self.edges, dtype=np.intp)
        if edges.ndim != 2 or edges.shape[1] != 2 or len(edges) == 0:
            raise ShapeError(f"edges has shape {edges.shape}; expected (m, 2) with m >= 1.")
        m = len(edges)
        put = object.__setattr__
        put(self, "edges", edges)
        put(self, "sqdist", _vector("sqdist", self.sqdist, m))
        put(self, "lower", _vector("lower", self.lower, m))
        put(self, "upper", self.sqdist if self.upper is None else _vector("upper", self.upper, m))
        put(self, "penalty", _vector("penalty", self.penalty, m))
        put(self, "stiffness", _vector("stiffness", self.stiffness, m))
        put(self, "mass", _vector("mass", self.mass, self.n))
        put(self, "objective", self.objective or Objective(self.mass))
        self._check()

    def _check(self) -> None:
        i, j = self.edges.T
        if i.min() < 0 or j.max() >= self.n or (i >= j).any():
            raise DataError(f"every edge must be a pair 0 <= i < j < n = {self.n}; sort the pairs.")
        keys = i * self.n + j
        if not (np.diff(keys) > 0).all() and (np.diff(np.sort(keys)) == 0).any():
            raise DataError("an edge is given twice; remove repeated edges.")
        for name in ("sqdist", "mass"):
            value = getattr(self, name)
            if not (np.isfinite(value).all() and (value > 0).all()):
                bad = int(np.flatnonzero(~(np.isfinite(value) & (value > 0)))[0])
                raise DataError(
                    f"{name}[{bad}] = {value[bad]}; every entry must be finite and > 0 "
                    "(merge duplicate points before building edges)."
                )
        for name in ("penalty", "stiffness"):
            if not (getattr(self, name) > 0).all():
                raise DataError(f"{name} must be > 0 everywhere; use inf for a hard limit.")
        if np.isnan(self.lower).any() or np.isnan(self.upper).any():
            raise DataError("lower and upper must not contain nan; use -inf and inf for no limit.")
        if (self.lower > self.upper).any() or (self.upper <= 0)[self.hard].any():
            raise DataError("every edge needs lower <= upper, and upper > 0 where it is hard.")
        if not np.isfinite(self.upper).any():
            raise ModelError("no edge has an upper limit, so the variance is unbounded.")
        if not self.objective.is_variance and np.isfinite(self.penalty).any():
            raise ModelError("penalties per unit of length go with the objective variance only.")

    @property
    def m(self) -> int:
        """Number of edges."""
        return len(self.edges)

    @cached_property
    def hard(self) -> NDArray[np.bool_]:
        """Edges whose limits have neither a penalty nor a stiffness."""
        return np.isinf(self.penalty) & np.isinf(self.stiffness)

    @cached_property
    def difference(self) -> sp.csr_matrix:
        """The matrix that takes R to all R_i - R_j; shape (m, n)."""
        signs, row = np.repeat([1.0, -1.0], self.m), np.tile(np.arange(self.m), 2)
        return sp.csr_matrix((signs, (row, self.edges.T.ravel())), shape=(self.m, self.n))

    def lengths(self, R: Matrix) -> Vector:
        """Squared lengths of all edges.

        Examples
        --------
        >>> import numpy as np
        >>> from sdpdr.solvers.lowrank import EdgeProgram
        >>> EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0).lengths(np.array([[0.0], [3.0]]))
        array([9.])
        """
        i, j = self.edges.T
        return np.asarray(np.sum(np.square(R[i] - R[j]), axis=1))

    def centred(self, R: Matrix) -> Matrix:
        """Points moved so that their weighted mean is zero.

        Examples
        --------
        >>> import numpy as np
        >>> from sdpdr.solvers.lowrank import EdgeProgram
        >>> pair = EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0, mass=[2.0, 1.0])
        >>> pair.centred(np.array([[0.0], [3.0]])).ravel()
        array([-1.,  2.])
        """
        return np.asarray(R - self.mass @ R / self.mass.sum())

    @property
    def has_lower_limits(self) -> bool:
        """Whether the length of any edge is limited from below."""
        return bool(np.isfinite(self.lower).any())


@dataclass(frozen=True, eq=False, kw_only=True)
class EdgeResult(Result):
    """What the interior-point method found.

    ``value`` is that of a feasible point made from R (shrunk when only upper limits are hard).

    Attributes
    ----------
    R : (n, r) array
        Factor of K = R R^T, centred.
    weights : (m,) array
        Multipliers w_e of the squared lengths, >= 0 where only an upper limit is active.
    infeasibility : float
        Largest violation of a hard limit by R itself, relative to ``sqdist``.
    """

    R: Matrix
    weights: Vector
    infeasibility: float


def _vector(name: str, value: ArrayLike, size: int) -> Vector:
    array = np.asarray(value, dtype=float)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != size):
        raise ShapeError(f"{name} has shape {array.shape}; expected a scalar or ({size},).")
    return np.array(np.broadcast_to(array, (size,)))


@dataclass(frozen=True, eq=False)
class LengthRows(Boxes):
    r"""Penalties of the relative squared lengths :math:`h_e = q_e / d_e`, one row per limit.

    A row with target b, multiplier box [low, high] and compliance :math:`\gamma` stands for

    .. math:: \varphi(h) = \max_{low \le y \le high} \; y (h - b) - \tfrac{\gamma}{2} y^2 ,

    whose optimality conditions, with a slack t for each finite end of the box, are

    .. math:: h - b - \gamma y = t_{high} - t_{low}, \qquad
              t_{high} (high - y) = 0, \qquad t_{low} (y - low) = 0 .

    A hard upper limit is the box [0, inf], a hard lower one [-inf, 0], an equality
    [-inf, inf]; a penalty shortens the infinite end; a stiffness v on squared lengths is the
    compliance :math:`1 / (v d_e^2)`. Two-sided limits are two rows of one edge.
    """

    edge: Index
    target: Vector
    low: Vector
    high: Vector
    compliance: Vector
    scale: Vector
    aligned: bool

    @classmethod
    def of(cls, program: EdgeProgram) -> LengthRows:
        """Split the limits of a program into rows.

        Examples
        --------
        >>> band = EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0, lower=0.9, upper=1.1)
        >>> rows = LengthRows.of(band)
        >>> rows.target, rows.low, rows.high
        (array([1.1, 0.9]), array([  0., -inf]), array([inf,  0.]))
        """
        d = program.sqdist
        equal = program.lower == program.upper
        above = np.flatnonzero(np.isfinite(program.upper) & ~equal)
        below = np.flatnonzero(np.isfinite(program.lower) & ~equal)
        both = np.flatnonzero(equal)
        edge = np.concatenate([above, below, both])
        target = np.concatenate([program.upper[above], program.lower[below], program.upper[both]])
        penalty = program.penalty * d
        zero = np.zeros
        return cls(
            edge=edge,
            target=target / d[edge],
            low=np.concatenate([zero(len(above)), -penalty[below], -penalty[both]]),
            high=np.concatenate([penalty[above], zero(len(below)), penalty[both]]),
            compliance=1.0 / (program.stiffness * d**2)[edge],
            scale=d,
            aligned=np.array_equal(edge, np.arange(program.m)),
        )

    def lengths(self, delta: Matrix) -> Vector:
        """Relative squared length of every row's edge."""
        return self.take(np.einsum("ij,ij->i", delta, delta) / self.scale)

    def take(self, value: Vector) -> Vector:
        """Bring a value per edge to the rows."""
        return value if self.aligned else value[self.edge]

    def weights(self, y: Vector) -> Vector:
        """Edge weights w, the multipliers of the squared lengths, from row multipliers."""
        return self._sum(y) / self.scale

    def stiffness(self, sigma: Vector) -> Vector:
        """Curvatures of the squared lengths from those of the rows."""
        return self._sum(sigma) / self.scale**2

    def _sum(self, value: Vector) -> Vector:
        if self.aligned:
            return value
        return np.asarray(np.bincount(self.edge, value, len(self.scale)), dtype=float)
