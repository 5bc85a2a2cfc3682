r"""The best nonnegative factorization of a tiny matrix, enclosed by branch and bound.

`cone_search` branches over the columns of W, scaled to points of the unit simplex. A node says of
each column in which smaller simplex it lies. Whatever points are chosen there, all columns of WH
lie in the cone of all the vertices, so

.. math:: |V - WH|_F^2 \ge \sum_j \operatorname{dist}(v_j, \operatorname{cone}(P_1, \dots, P_k))^2 .

The columns may be exchanged, so a node is a multiset of simplices, and is visited once. It is cut
where the columns of V use points of one simplex that lie furthest apart: if they used the same
point of each, these points would be the columns of a W that attains the bound.

`box_search` branches over logarithms. With :math:`W_{il} = e^{w_{il}}` and
:math:`H_{lj} = e^{h_{lj}}` the squared error is a difference of convex functions,

.. math::

    |V - WH|_F^2 = |V|_F^2 + \sum_{ij} \Big(\sum_l e^{w_{il} + h_{lj}}\Big)^2
    - 2 \sum_{ijl} V_{ij}\, e^{w_{il} + h_{lj}} .

On a box the last exponentials lie below their chords, which leaves a convex function F below the
error. The least value over the box of its linearization at any point is a bound that needs no
exact minimum.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import Advised
from sdpdr.families.factor.nonnegative.inputs import nonnegative_matrix, number_of_components
from sdpdr.families.factor.nonnegative.projection import project, squared_distances
from sdpdr.families.factor.nonnegative.search import factors_found
from sdpdr.families.factor.nonnegative.truncation import eckart_young_bound
from sdpdr.families.factor.quasi_newton import minimized
from sdpdr.families.limits import NEGLIGIBLE, ROUNDING


class SearchStatus(Advised):
    """How a search ended; the value of each member is advice."""

    CLOSED = "The bounds meet to the tolerance: no factorization is better by more than that."
    NODE_LIMIT = "The limit of nodes was reached; both bounds hold. Raise max_nodes."
    TIME_LIMIT = "The time limit was reached; both bounds hold. Raise time_limit."
    INTERRUPTED = "Interrupted; both bounds hold."


@dataclass(frozen=True, eq=False)
class GlobalSearch:
    """Bounds on the error of the best factorization, and the best one found.

    Attributes
    ----------
    W, H : array
        The best factorization found.
    upper : float
        Its error, :math:`|V - WH|_F`.
    lower : float
        No factorization in the range of the search has a smaller error.
    norm : float
        Norm of V.
    status : SearchStatus
    nodes : int
        Number of nodes that were split.
    argument : str
        The argument for the lower bound.
    """

    W: Array
    H: Array
    upper: float
    lower: float
    norm: float
    status: SearchStatus
    nodes: int
    argument: str

    @property
    def gap(self) -> float:
        """The distance between the bounds, relative to the norm of V."""
        return (self.upper - self.lower) / self.norm

    def __repr__(self) -> str:
        return (
            f"GlobalSearch({self.status.name} after {self.nodes} nodes: relative error in "
            f"[{self.lower / self.norm:.6g}, {self.upper / self.norm:.6g}])"
        )


@checks_keywords
def cone_search(
    X: ArrayLike,
    k: int,
    *,
    tol: float = 1e-3,
    max_nodes: int = 100_000,
    time_limit: float | None = None,
) -> GlobalSearch:
    r"""Enclose the least error of a nonnegative factorization with k components.

    Best-first branch and bound over the columns of W (or, if those are shorter, the rows of H).
    The number of nodes grows like a power of 1/tol with the exponent k (N - 1) at worst: it closes
    for N up to 4 and k up to 3 at most, and at once if k is at most 2 and the best matrix of rank k
    is nonnegative. Where it does not close, `sdpdr.nmf_bound` may have a better bound from one
    semidefinite program.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, nonnegative.
    k : int
        1 to min(N, m).
    tol : float, default 1e-3
        Distance between the bounds, relative to the norm of V.
    max_nodes : int, default 100000
        Nodes to split.
    time_limit : float, optional
        Seconds.

    Returns
    -------
    GlobalSearch
        Whatever ended it; an interrupt ends it with the bounds so far.

    Raises
    ------
    DataError
        An entry is negative or not finite, all are zero, or k or a limit is out of range.

    References
    ----------
    Ours; for the problem see Vasiloglou thesis, section 4.3.

    Examples
    --------
    >>> from sdpdr.nonnegative import cone_search
    >>> found = cone_search([[0.9, 0.6, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.7]], 2, tol=0.02)
    >>> found.status, found.gap <= 0.02, round(found.upper / found.norm, 5)
    (SearchStatus.CLOSED, True, 0.25095)
    """
    V = nonnegative_matrix(X)
    k = number_of_components(k, V.shape, "k")
    if len(V) > V.shape[1]:
        found = _Cones(V.T, k).run(((),) * k, tol, max_nodes, time_limit)
        return replace(found, W=found.H.T, H=found.W.T)
    return _Cones(V, k).run(((),) * k, tol, max_nodes, time_limit)


# Free entries of `box_search` beyond which there are too many boxes for any result.
_FREE = 12


@checks_keywords
def box_search(
    X: ArrayLike,
    k: int,
    low: float,
    high: float,
    *,
    tol: float = 1e-3,
    max_nodes: int = 10_000,
    time_limit: float | None = None,
) -> GlobalSearch:
    r"""Enclose the least error of a factorization with entries in [low, high]. For tiny matrices.

    The first row of W is one, which fixes the scale of each component and loses no factorization
    with positive entries. Zeros have no logarithm, so the bound holds for entries *within the
    limits* only: if the best factors have zeros, their error may be smaller. `cone_search` has
    neither defect and is faster; this search is the one of the thesis.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, nonnegative, with (N - 1 + m) k at most 12.
    k : int
        1 to min(N, m).
    low, high : float
        Limits on all other entries of W and H, 0 < low < high.
    tol, max_nodes, time_limit
        As for `cone_search`.

    Returns
    -------
    GlobalSearch

    Raises
    ------
    DataError
        As for `cone_search`, or there are too many free entries.

    References
    ----------
    Vasiloglou thesis, (3.80)-(3.84), where in (3.80) and (3.81) the square stands inside the sum
    over the components; Floudas, "Deterministic Global Optimization", Kluwer, 2000.

    Examples
    --------
    >>> from sdpdr.nonnegative import box_search
    >>> found = box_search([[1.0, 2.0], [3.0, 4.0]], 1, 1.0, 4.0, tol=0.05)
    >>> found.status, found.lower < 0.365966 < found.upper
    (SearchStatus.CLOSED, True)
    """
    V = nonnegative_matrix(X)
    k = number_of_components(k, V.shape, "k")
    for name, value in (("low", low), ("high", high)):
        validate.positive_number(name, value)
    if not low < high:
        raise DataError(f"low must be less than high; they are {low} and {high}.")
    free = (V.shape[0] - 1 + V.shape[1]) * k
    if free > _FREE:
        raise DataError(
            f"{free} entries are free, and box_search is for at most {_FREE}. Use cone_search, or "
            "sdpdr.nmf_bound for a bound on larger matrices."
        )
    return _Boxes(V, k, low, high).run((), tol, max_nodes, time_limit)


class _Search(ABC):
    """Best-first search over nodes; bounds are on the squared error.

    A node is hashable. ``cuts`` says where the bounded nodes are cut, and ``least`` is a lower
    bound on the error that needs no search.
    """

    def __init__(self, V: Array, k: int, least: float = 0.0) -> None:
        self.V, self.k, self.norm, self.least = V, k, float(np.linalg.norm(V)), least
        self.best, self.upper = (np.zeros((len(V), k)), np.zeros((k, V.shape[1]))), np.inf
        self.cuts: dict[Any, Any] = {}
        self.split = 0

    @abstractmethod
    def bounded(self, node: Any) -> float:
        """A lower bound in a node, whose cut is noted; may improve the best factors."""

    @abstractmethod
    def children(self, node: Any) -> Iterable[Any]:
        """Both halves of a node."""

    @abstractmethod
    def argument(self, lower: float) -> str:
        """The argument for a lower bound."""

    def offer(self, W: Array, H: Array) -> None:
        """Keep factors if they are the best so far."""
        error = float(np.sum((self.V - W @ H) ** 2))
        if error < self.upper:
            self.best, self.upper = (W, H), error

    def run(self, root: Any, tol: float, max_nodes: int, time_limit: float | None) -> GlobalSearch:
        """Split the node of least bound until the bounds meet or a limit is reached.

        An interrupt ends the search as a limit does and leaves the heap complete: a node is removed
        only after its halves were added, and stands before them, whose bounds are no less.
        """
        validate.positive_number("tol", tol)
        validate.positive_integer("max_nodes", max_nodes)
        if time_limit is not None:
            validate.positive_number("time_limit", time_limit)
        deadline, status = Deadline(time_limit), SearchStatus.CLOSED
        heap, seen = [(max(self.least**2, self.bounded(root)), 0, root)], {root}
        try:
            while heap[0][0] < max(0.0, np.sqrt(self.upper) - tol * self.norm) ** 2:
                if self.split >= max_nodes or deadline.is_over():
                    is_time = self.split < max_nodes
                    status = SearchStatus.TIME_LIMIT if is_time else SearchStatus.NODE_LIMIT
                    break
                bound, _, node = heap[0]
                for half in self.children(node):
                    if half not in seen:
                        heapq.heappush(heap, (max(bound, self.bounded(half)), len(seen), half))
                        seen.add(half)
                self.split += 1
                heapq.heappop(heap)
        except KeyboardInterrupt:
            status = SearchStatus.INTERRUPTED
        upper = float(np.sqrt(self.upper))
        lower = min(float(np.sqrt(heap[0][0])), upper)
        argument = self.argument(lower)
        return GlobalSearch(*self.best, upper, lower, self.norm, status, self.split, argument)


class _Cones(_Search):
    """A node has a simplex for each component, in order; a simplex is the cuts that lead to it."""

    def __init__(self, V: Array, k: int) -> None:
        super().__init__(V, k, eckart_young_bound(V, k))
        self.edges = np.triu_indices(len(V), min(1, len(V) - 1))
        self.known: dict[tuple[Any, ...], Array] = {(): np.eye(len(V))}
        self.offer(*factors_found(V, k, 0))

    def argument(self, lower: float) -> str:
        if lower <= self.least:
            return "the singular values beyond the first k"
        return f"distances from the cones of {self.split} split nodes"

    def vertices(self, simplex: tuple[Any, ...]) -> Array:
        """The vertices of a simplex, as columns."""
        if simplex not in self.known:
            *cuts, (edge, end) = simplex
            half = self.vertices(tuple(cuts)).copy()
            half[:, edge[end]] = half[:, edge].mean(axis=1)
            self.known[simplex] = half
        return self.known[simplex]

    def children(self, node: Any) -> Iterable[Any]:
        """Both halves of the simplex that is cut in the middle of an edge."""
        simplex, edge = self.cuts[node]
        others = list(node)
        others.remove(simplex)
        for end in (0, 1):
            yield tuple(sorted([*others, (*simplex, (edge, end))]))

    def bounded(self, node: Any) -> float:
        simplices = list(dict.fromkeys(node))
        vertices = [self.vertices(simplex) for simplex in simplices]
        generators = np.hstack(vertices)
        coefficients = project(generators, self.V)
        shares = np.split(coefficients, len(simplices))
        spreads = [self._spread(*each) for each in zip(vertices, shares, strict=True)]
        which = int(np.argmax([spread.max() for spread in spreads]))
        edge = int(np.argmax(spreads[which]))
        self.cuts[node] = simplices[which], tuple(int(ends[edge]) for ends in self.edges)
        return float(squared_distances(generators, self.V, coefficients).sum())

    def _spread(self, vertices: Array, share: Array) -> Array:
        """How far apart the points lie, along each edge, that columns of V use of a simplex.

        The variance of points P c is minus the sum over edges of the covariance of the two
        coordinates times the squared length. If there is none, the longest edge has the most.
        """
        i, j = self.edges
        lengths = np.sum((vertices[:, i] - vertices[:, j]) ** 2, axis=0)
        mass = share.sum(axis=0)
        coordinates = share / np.where(mass > 0.0, mass, 1.0)
        mean = coordinates @ mass**2 / max(float(mass @ mass), np.finfo(float).tiny)
        away = (coordinates - mean[:, None]) * mass
        negligible = NEGLIGIBLE * self.norm**2
        return np.maximum(-np.sum(away[i] * away[j], axis=1), negligible) * lengths


class _Boxes(_Search):
    """A node is the cuts that lead to a box of logarithms: the entry, and which half."""

    def __init__(self, V: Array, k: int, low: float, high: float) -> None:
        super().__init__(V, k)
        self.low, self.high = low, high

    def argument(self, lower: float) -> str:
        limits = f"[{self.low:g}, {self.high:g}]"
        return f"chords on the boxes of {self.split} split nodes, for entries in {limits}"

    def children(self, node: Any) -> Iterable[Any]:
        """Both halves of a box, cut in the middle of the side where the chords are worst."""
        return [(*node, (self.cuts[node], end)) for end in (0, 1)]

    def bounded(self, node: Any) -> float:
        lower, upper = self._box(node)
        least, most = self._sums(lower), self._sums(upper)
        width = most - least
        secant = (np.exp(most) - np.exp(least)) / np.maximum(width, ROUNDING)
        slope = np.where(width > ROUNDING, secant, np.exp(most))
        V = self.V[:, None]

        def below(x: Array) -> tuple[float, Array]:
            """The convex function F, and its gradient."""
            exps, chords = self._exponentials(x), np.exp(least) + slope * (self._sums(x) - least)
            fit = exps.sum(axis=1, keepdims=True)
            value = self.norm**2 + np.sum(fit**2) - 2.0 * np.sum(V * chords)
            return float(value), _by_entry(2.0 * fit * exps - 2.0 * V * slope)

        x = minimized(
            below, (lower + upper) / 2.0, (lower, upper), maxiter=200, ftol=1e-13, gtol=1e-9
        )
        x = np.clip(x, lower, upper)
        self.offer(*(np.exp(part) for part in self._parts(x)))
        chords = np.exp(least) + slope * (self._sums(x) - least)
        excess = np.maximum(
            _by_entry(V * (chords - self._exponentials(x))), ROUNDING * self.norm**2
        )
        self.cuts[node] = int(np.argmax(excess * (upper - lower)))
        value, gradient = below(x)
        change = np.minimum(gradient * (lower - x), gradient * (upper - x))
        return max(0.0, value + float(change.sum()))

    def _box(self, node: Any) -> tuple[Array, Array]:
        entries = sum(self.V.shape) * self.k
        sides = np.full(entries, np.log(self.low)), np.full(entries, np.log(self.high))
        for side in sides:
            side[: self.k] = 0.0  # the first row of W
        for entry, end in node:
            sides[end][entry] = (sides[0][entry] + sides[1][entry]) / 2.0
        return sides

    def _parts(self, x: Array) -> tuple[Array, Array]:
        n, m = self.V.shape
        return x[: n * self.k].reshape(n, self.k), x[n * self.k :].reshape(self.k, m)

    def _sums(self, x: Array) -> Array:
        """All w + h, of shape (n, k, m)."""
        w, h = self._parts(x)
        return np.asarray(w[:, :, None] + h[None])

    def _exponentials(self, x: Array) -> Array:
        return np.asarray(np.exp(self._sums(x)))


def _by_entry(values: Array) -> Array:
    """Sums of values of shape (n, k, m) over the products of each entry of W, then of H."""
    return np.concatenate([values.sum(axis=2).ravel(), values.sum(axis=0).ravel()])
