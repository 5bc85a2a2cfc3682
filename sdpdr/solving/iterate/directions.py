r"""Directions of a convex iteration: a linear cost that pushes a matrix towards low rank.

Dattorro's second step, :math:`\min \langle W, X\rangle` over :math:`0 \preceq W \preceq I`,
:math:`\operatorname{tr} W = n - r`, is a semidefinite program with a closed form: the projector on
the eigenvectors of the n - r smallest eigenvalues. So a direction costs one eigendecomposition, and
no program at all.

`Trailing` and `Schur` are tight at the matrix they were made from and majorise elsewhere,
:math:`\langle W, X\rangle \ge e(X)` with their `Direction.excess` e, which is zero exactly at rank
r. Minimising them over a convex set therefore never lets the excess rise. `LogDet` has no such
property.

References
----------
Vasiloglou thesis, section 4.2.6, (2.65)-(2.70), where the second step is solved as a program;
J. Dattorro, "Convex Optimization and Euclidean Distance Geometry", Meboo, 2005, section 4.4.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, UnknownNameError
from sdpdr.linalg import InnerProduct, LinearMap, QuadraticForms, Trace
from sdpdr.program import Factor, as_dense
from sdpdr.program.point import Value, spectrum_of, weighed

# Eigenvectors of eigenvalues below this share of the largest are arbitrary, and are not kept as
# leading.
_NEGLIGIBLE = 1e-12
# Eigenvalues closer than this share of the largest count as equal.
_TIED = 1e-7


@dataclass(frozen=True, eq=False)
class Direction(ABC):
    """How the next cost is made from the present matrix.

    Parameters
    ----------
    rank : int
        The rank wanted.
    """

    rank: int
    name: ClassVar[str]

    def check(self, variable: str, n: int, hidden: int) -> None:
        """Raise unless the rank makes sense for a matrix of order n with ``hidden`` null vectors.

        Raises
        ------
        DataError
        """
        most = n - hidden
        rank = validate.positive_integer("rank", self.rank)
        if rank > most:
            words = f", since K u = 0 for {hidden} vectors u" if hidden else ""
            raise DataError(
                f"rank must lie in 1..{most}: {variable!r} has order {n}{words}; it is {rank}."
            )

    def first(self, n: int, null: Array, rng: np.random.Generator) -> LinearMap:
        """The cost to begin with when no matrix is known yet."""
        return self.measure(n)

    @abstractmethod
    def random(self, n: int, null: Array, rng: np.random.Generator) -> LinearMap:
        """A cost drawn at random, for a new start."""

    @abstractmethod
    def cost(self, value: Value, null: Array, step: int, rng: np.random.Generator) -> LinearMap:
        """The cost made from a matrix.

        Parameters
        ----------
        value : array of shape (n, n) or Factor
        null : array of shape (n, p)
            Orthonormal vectors u with X u = 0 on the whole feasible set.
        step : int
            How many costs have been made before it in this start.
        rng : Generator
            Breaks ties.

        Returns
        -------
        LinearMap
            With one row.
        """

    @abstractmethod
    def excess(self, value: Value) -> float:
        """What is left beyond the rank; zero exactly where it is met."""

    def size(self, value: Value) -> float:
        """What the excess is a share of: the trace."""
        return float(value.trace())

    def measure(self, n: int) -> LinearMap:
        """The trace, as a cost of a matrix of order n."""
        return Trace(n)


@dataclass(frozen=True, eq=False)
class Trailing(Direction):
    r"""The projector on the trailing eigenvectors; the excess is the sum of their eigenvalues.

    :math:`W = I - H H^T` with the r leading eigenvectors H, so
    :math:`\langle W, X\rangle = \operatorname{tr} X - \operatorname{tr} H^T X H`, which is kept in
    this form: for a factor of a large matrix neither W nor X is formed.

    Parameters
    ----------
    rank : int
    weights : array of shape (n,), optional
        How many points each row stands for. The eigenvalues are then those of the matrix in which
        every point has a row of its own, hence of :math:`D^{1/2} X D^{1/2}`.

    Examples
    --------
    >>> from sdpdr.iterate import Trailing
    >>> import numpy as np
    >>> trailing, X = Trailing(rank=1), np.diag([3.0, 2.0, 1.0])
    >>> round(trailing.excess(X), 12)
    3.0
    >>> cost = trailing.cost(X, np.zeros((3, 0)), 0, np.random.default_rng(0))
    >>> cost.adjoint(np.ones(1)).toarray().round(12) + 0.0
    array([[0., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    name: ClassVar[str] = "trailing"
    weights: Array | None = None

    def random(self, n: int, null: Array, rng: np.random.Generator) -> LinearMap:
        """All but r directions drawn at random."""
        return self._all_but(_completed(np.zeros((n, 0)), self._null(null), self.rank, rng))

    def cost(self, value: Value, null: Array, step: int, rng: np.random.Generator) -> LinearMap:
        """All but the r leading eigenvectors."""
        head = _leading(*spectrum_of(weighed(value, self.weights)), self.rank, rng)
        return self._all_but(_completed(head, self._null(null), self.rank, rng))

    def excess(self, value: Value) -> float:
        """Sum of the trailing eigenvalues."""
        return _trailing(weighed(value, self.weights), self.rank)

    def size(self, value: Value) -> float:
        """The weighted trace."""
        return float(weighed(value, self.weights).trace())

    def measure(self, n: int) -> LinearMap:
        """The weighted trace."""
        return Trace(n, self.weights)

    def _null(self, null: Array) -> Array:
        """Null vectors of the matrix with a row for every point."""
        return null if self.weights is None else np.linalg.qr(null / _root(self.weights))[0]

    def _all_but(self, head: Array) -> LinearMap:
        forms = QuadraticForms((head if self.weights is None else _root(self.weights) * head).T)
        return Trace(len(head), self.weights) - np.ones((1, forms.m)) @ forms


@dataclass(frozen=True, eq=False)
class LogDet(Direction):
    r"""Reweighting: the gradient of :math:`\log\det(X + \delta I)` with falling :math:`\delta`.

    :math:`W = \delta (X + \delta I)^{-1}`, where :math:`\delta` is a share of the mean eigenvalue.
    The rank only says when to stop. Small eigenvalues are pressed harder than large ones, none is
    free; the sum of the trailing eigenvalues may rise on the way.

    Parameters
    ----------
    rank : int
    delta : float, default 1.0
        First share.
    shrink : float, default 0.5
        Factor on it from one cost to the next.
    least : float, default 1e-6
        Last share.

    References
    ----------
    M. Fazel, H. Hindi and S. Boyd, "Log-det heuristic for matrix rank minimization", ACC 2003.
    """

    name: ClassVar[str] = "logdet"
    delta: float = 1.0
    shrink: float = 0.5
    least: float = 1e-6

    def __post_init__(self) -> None:
        if not (self.delta > 0.0 and self.least > 0.0 and 0.0 < self.shrink <= 1.0):
            raise DataError(
                "logdet needs delta > 0, least > 0 and 0 < shrink <= 1; they are "
                f"{self.delta}, {self.least} and {self.shrink}."
            )

    def random(self, n: int, null: Array, rng: np.random.Generator) -> LinearMap:
        """The cost made from a random matrix of rank r."""
        factor = _completed(np.zeros((n, 0)), null, self.rank, rng)
        return self.cost(Factor(factor), null, 0, rng)

    def cost(self, value: Value, null: Array, step: int, rng: np.random.Generator) -> LinearMap:
        """The reweighted trace."""
        values, vectors = spectrum_of(as_dense(value))
        share = max(self.least, self.delta * self.shrink**step)
        delta = share * max(float(np.mean(values)), np.finfo(float).tiny)
        pressed = delta / (np.maximum(values, 0.0) + delta)
        return InnerProduct((vectors * pressed) @ vectors.T)

    def excess(self, value: Value) -> float:
        """Sum of the trailing eigenvalues."""
        return _trailing(value, self.rank)


@dataclass(frozen=True, eq=False)
class Schur(Direction):
    r"""The Schur complement of :math:`Z = \begin{pmatrix} I_r & X^T \\ X & Y \end{pmatrix}`.

    Its cost keeps sparsity.

    Z has rank r exactly when :math:`Y = X X^T`. The excess is the trace of the Schur complement,
    :math:`S(Z) = \operatorname{tr}(Y - X X^T) \ge 0`, and the cost its majoriser at :math:`X_t`,
    :math:`\operatorname{tr} Y - 2 \langle X_t, X\rangle + |X_t|^2`: it touches X and the diagonal
    of Y only, where the trailing projector fills the whole matrix. The sum of trailing eigenvalues
    is no measure for such a Z: it can be small while factors read off are far from right.

    The trace is a bad first cost here, because solutions that treat all columns of X alike then
    stay alike; the first one is random instead.

    Parameters
    ----------
    rank : int
        Order r of the identity pinned in the leading corner.
    scale : float, default 1.0
        Frobenius norm of each part of a random X, entries >= 0: the square root of the spectral
        norm of the matrix to be factored, when X stacks its two factors.
    parts : tuple of int, optional
        Rows of the parts; one part by default.
    """

    name: ClassVar[str] = "schur"
    scale: float = 1.0
    parts: tuple[int, ...] | None = None

    def check(self, variable: str, n: int, hidden: int) -> None:
        """Also that the parts fill the matrix.

        Raises
        ------
        DataError
        """
        super().check(variable, n, hidden)
        if self.rank >= n:
            raise DataError(f"nothing lies beside an identity of order {self.rank} in order {n}.")
        if self.parts is not None and sum(self.parts) != n - self.rank:
            raise DataError(
                f"parts {self.parts} must add up to {n - self.rank}, the rows below the identity."
            )

    def first(self, n: int, null: Array, rng: np.random.Generator) -> LinearMap:
        """A random one."""
        return self.random(n, null, rng)

    def random(self, n: int, null: Array, rng: np.random.Generator) -> LinearMap:
        """From a random non-negative X."""
        X = rng.random((n - self.rank, self.rank))
        parts = np.cumsum(self.parts or (n - self.rank,))[:-1]
        for part in np.split(X, parts):
            part *= self.scale / np.linalg.norm(part)
        return self.at(X)

    def cost(self, value: Value, null: Array, step: int, rng: np.random.Generator) -> LinearMap:
        """From the X at hand."""
        return self.at(value[self.rank :, : self.rank])

    def excess(self, value: Value) -> float:
        """Trace of the Schur complement."""
        X = value[self.rank :, : self.rank]
        return float(np.sum(value.diagonal()[self.rank :]) - np.sum(X**2))

    def at(self, X: Array) -> LinearMap:
        """The cost that is tight at a given X."""
        rows = sp.hstack([-sp.csr_array(X), sp.eye_array(X.shape[0])], format="csr")
        return InnerProduct(sp.csr_array(rows.T @ rows))


DIRECTIONS: dict[str, type[Direction]] = {d.name: d for d in (Trailing, LogDet, Schur)}


def find_direction(direction: str | Direction, rank: int) -> Direction:
    """A direction by its name, for a rank; one that is given already is passed on.

    Raises
    ------
    UnknownNameError
    DataError
        If it was made for another rank.
    """
    if isinstance(direction, Direction):
        if direction.rank != rank:
            raise DataError(f"the direction was made for rank {direction.rank}, not for {rank}.")
        return direction
    if direction not in DIRECTIONS:
        raise UnknownNameError("direction", direction, DIRECTIONS)
    return DIRECTIONS[direction](rank)


def directions_of(
    names: Sequence[str], given: str | Direction | Mapping[str, str | Direction], rank: int
) -> dict[str, Direction]:
    """The direction of each matrix; a mapping gives each its own, with a rank of its own."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, find_direction(given, rank))
    if odd := set(names) ^ set(given):
        raise DataError(
            f"direction must have an entry for each matrix, {', '.join(names)}, and no "
            f"other; it differs in {', '.join(sorted(odd))}."
        )
    return {
        name: find_direction(way, rank) if isinstance(way, str) else way
        for name, way in given.items()
    }


def _trailing(value: Value, rank: int) -> float:
    """Sum of the eigenvalues after the first ones."""
    return float(np.sum(np.maximum(spectrum_of(value)[0][rank:], 0.0)))


def _root(weights: Array) -> Array:
    """Square roots, as a column."""
    return np.sqrt(weights)[:, None]


def _leading(values: Array, vectors: Array, rank: int, rng: np.random.Generator) -> Array:
    """Leading eigenvectors, ties at the last place broken at random; fewer if the rest vanish."""
    last = values[min(rank, values.size) - 1]
    tied = np.flatnonzero(np.abs(values - last) <= _TIED * values[0])
    if tied[-1] >= rank:
        mixed = np.linalg.qr(rng.standard_normal((tied.size, tied.size)))[0]
        vectors = vectors.copy()
        vectors[:, tied] = vectors[:, tied] @ mixed
    kept = values[:rank] > _NEGLIGIBLE * values[0]
    return np.asarray(vectors[:, : kept.size][:, kept])


def _completed(head: Array, null: Array, rank: int, rng: np.random.Generator) -> Array:
    """Orthonormal columns that begin with those of ``head`` and are orthogonal to ``null``."""
    missing = rank - head.shape[1]
    if missing <= 0:
        return head
    drawn = rng.standard_normal((head.shape[0], missing))
    basis = np.linalg.qr(np.hstack([null, head, drawn]))[0]
    return np.hstack([head, basis[:, -missing:]])
