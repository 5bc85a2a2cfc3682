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
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import Advised
from sdpdr.families.factor.nonnegative.inputs import nonnegative_matrix, number_of_components
from sdpdr.families.factor.nonnegative.projection import alternate, project, squared_distances
from sdpdr.families.factor.nonnegative.truncation import (
    clipped_svd,
    closed_form,
    eckart_young_bound,
)
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
    return _Cones(V, k).run(tol, max_nodes, time_limit)


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
    return _Boxes(V, k, low, high).run(tol, max_nodes, time_limit)


class _Search(ABC):
    """Best-first search over nodes; bounds are on the squared error.

    ``heap`` holds the open nodes, ``seen`` all that were ever added, ``discarded`` the least bound
    of the others; ``least`` is a lower bound on the error that needs no search.
    """

    def __init__(self, V: Array, k: int, least: float = 0.0) -> None:
        self.V, self.k, self.norm, self.least = V, k, float(np.linalg.norm(V)), least
        self.best, self.upper = (np.zeros((len(V), k)), np.zeros((k, V.shape[1]))), np.inf
        self.heap: list[tuple[float, int, Any]] = []
        self.seen: set[Hashable] = set()
        self.discarded, self.split = np.inf, 0

    @abstractmethod
    def root(self) -> tuple[float, Hashable]:
        """The bound of the whole set, and its node; may improve the best factors."""

    @abstractmethod
    def children(self, node: Any) -> Iterable[tuple[float, Hashable]]:
        """The parts of a node with their bounds; may improve the best factors."""

    @abstractmethod
    def argument(self, lower: float) -> str:
        """The argument for a lower bound."""

    def factors(self) -> tuple[Array, Array]:
        """The best factors of the matrix given."""
        return self.best

    def offer(self, W: Array, H: Array) -> None:
        """Keep factors if they are the best so far."""
        error = float(np.sum((self.V - W @ H) ** 2))
        if error < self.upper:
            self.best, self.upper = (W, H), error

    def bound(self) -> float:
        """The least bound of any node, open or discarded."""
        return min(self.heap[0][0] if self.heap else np.inf, self.discarded)

    def run(self, tol: float, max_nodes: int, time_limit: float | None) -> GlobalSearch:
        """Split the node of least bound until the bounds meet or a limit is reached.

        An interrupt ends the search as a limit does and leaves the heap complete: a node is removed
        only after its parts were added.
        """
        validate.positive_number("tol", tol)
        validate.positive_integer("max_nodes", max_nodes)
        if time_limit is not None:
            validate.positive_number("time_limit", time_limit)
        self._push(*self.root())
        try:
            status = self._ended(tol, max_nodes, Deadline(time_limit))
        except KeyboardInterrupt:
            status = SearchStatus.INTERRUPTED
        upper = float(np.sqrt(self.upper))
        lower = min(max(self.least, float(np.sqrt(self.bound()))), upper)
        argument = self.argument(lower)
        return GlobalSearch(*self.factors(), upper, lower, self.norm, status, self.split, argument)

    def _ended(self, tol: float, last: int, deadline: Deadline) -> SearchStatus:
        while self.heap and self.heap[0][0] < self._cut(tol):
            if self.split >= last:
                return SearchStatus.NODE_LIMIT
            if deadline.is_over():
                return SearchStatus.TIME_LIMIT
            self._split(tol)
        return SearchStatus.CLOSED

    def _cut(self, tol: float) -> float:
        """The bound from which on a node cannot hold anything better by more than ``tol``."""
        return max(0.0, float(np.sqrt(self.upper)) - tol * self.norm) ** 2

    def _split(self, tol: float) -> None:
        bound, _, node = self.heap[0]
        parts = list(self.children(node))
        cut = self._cut(tol)
        for own, part in parts:
            # A part has at least its parent's bound, so it stands behind the parent in the heap.
            least = max(bound, own)
            if least >= cut:
                self.discarded = min(self.discarded, least)
            else:
                self._push(least, part)
        self.split += 1
        heapq.heappop(self.heap)

    def _push(self, bound: float, node: Hashable) -> None:
        # A node counts as seen only once it is in the heap, so an interrupt in between is harmless.
        if node not in self.seen:
            heapq.heappush(self.heap, (bound, len(self.seen), node))
            self.seen.add(node)


# Random starts of a cone search, and rounds of alternation from each.
_STARTS, _ROUNDS = 20, 30


class _Cones(_Search):
    """Simplices by number, with the squared lengths of their edges, and their halves by edge.

    A node is the sorted tuple of the simplices of all components.
    """

    def __init__(self, V: Array, k: int) -> None:
        self.transposed = V.shape[0] > V.shape[1]
        V = V.T if self.transposed else V
        super().__init__(V, k, eckart_young_bound(V, k))
        n = len(V)
        self.edges = np.triu_indices(n, 1) if n > 1 else (np.zeros(1, int), np.zeros(1, int))
        self.simplices: list[Array] = []
        self.lengths: list[Array] = []
        self._add(np.eye(n))
        self.halves: dict[tuple[int, int], tuple[int, int]] = {}
        self.cuts: dict[tuple[int, ...], tuple[int, int]] = {}

    def factors(self) -> tuple[Array, Array]:
        W, H = self.best
        return (H.T, W.T) if self.transposed else (W, H)

    def argument(self, lower: float) -> str:
        if lower <= self.least:
            return "the singular values beyond the first k"
        return f"distances from the cones of {self.split} split nodes"

    def root(self) -> tuple[float, tuple[int, ...]]:
        V, k, rng = self.V, self.k, np.random.default_rng(0)
        self.offer(*(closed_form(V, k) or alternate(V, clipped_svd(V, k)[0], _ROUNDS)))
        for _ in range(_STARTS):
            self.offer(*alternate(V, rng.dirichlet(np.ones(len(V)), k).T, _ROUNDS))
        node = (0,) * k
        self._bound_of(node)
        return self.least**2, node

    def children(self, node: tuple[int, ...]) -> Iterable[tuple[float, tuple[int, ...]]]:
        simplex, edge = self.cuts[node]
        position = node.index(simplex)
        for half in self._halves_of(simplex, edge):
            part = tuple(sorted((*node[:position], half, *node[position + 1 :])))
            yield self._bound_of(part), part

    def _bound_of(self, node: tuple[int, ...]) -> float:
        """A bound on the squared error in a node; also chooses where to cut the node."""
        simplices = list(dict.fromkeys(node))
        vertices = np.hstack([self.simplices[s] for s in simplices])
        coefficients = project(vertices, self.V)
        self.cuts[node] = self._cut_of(simplices, np.split(coefficients, len(simplices)))
        return float(squared_distances(vertices, self.V, coefficients).sum())

    def _cut_of(self, simplices: list[int], shares: list[Array]) -> tuple[int, int]:
        """The simplex and edge along which the columns of V use points furthest apart.

        The variance of points P c is minus the sum over edges of the covariance of the two
        coordinates times the squared length.
        """
        best, cut = NEGLIGIBLE * self.norm**2, None
        for simplex, share in zip(simplices, shares, strict=True):
            spread = self.lengths[simplex] * _covariances(share, self.edges)
            edge = int(np.argmax(spread))
            if spread[edge] > best:
                best, cut = spread[edge], (simplex, edge)
        if cut is not None:
            return cut
        # No spread: cut the longest edge.
        longest = max(simplices, key=lambda simplex: float(self.lengths[simplex].max()))
        return longest, int(np.argmax(self.lengths[longest]))

    def _add(self, simplex: Array) -> None:
        i, j = self.edges
        self.simplices.append(simplex)
        self.lengths.append(np.sum((simplex[:, i] - simplex[:, j]) ** 2, axis=0))

    def _halves_of(self, number: int, edge: int) -> tuple[int, int]:
        """Both halves of a simplex, cut in the middle of an edge."""
        if (number, edge) not in self.halves:
            simplex = self.simplices[number]
            ends = self.edges[0][edge], self.edges[1][edge]
            middle = (simplex[:, ends[0]] + simplex[:, ends[1]]) / 2.0
            first = len(self.simplices)
            for vertex in ends:
                half = simplex.copy()
                half[:, vertex] = middle
                self._add(half)
            self.halves[number, edge] = (first, first + 1)
        return self.halves[number, edge]


def _covariances(share: Array, edges: tuple[Index, Index]) -> Array:
    """Minus the covariances of the barycentric coordinates, columns weighted by their squares."""
    mass = share.sum(axis=0)
    used = mass > 0.0
    coordinates, weights = share[:, used] / mass[used], mass[used] ** 2
    if not weights.size:
        return np.zeros(edges[0].size)
    away = coordinates - (coordinates @ weights / weights.sum())[:, None]
    i, j = edges
    return np.asarray(-np.sum(weights * away[i] * away[j], axis=1))


class _Boxes(_Search):
    """Boxes of logarithms by number, with the minimizer found of the convex function on each."""

    def __init__(self, V: Array, k: int, low: float, high: float) -> None:
        super().__init__(V, k)
        self.limits = f"[{low:g}, {high:g}]"
        entries = sum(V.shape) * k
        lower, upper = np.full(entries, np.log(low)), np.full(entries, np.log(high))
        lower[:k] = upper[:k] = 0.0  # the first row of W
        self.boxes = [(lower, upper)]
        self.lowest: dict[int, Array] = {}

    def argument(self, lower: float) -> str:
        return f"chords on the boxes of {self.split} split nodes, for entries in {self.limits}"

    def root(self) -> tuple[float, int]:
        return self._relaxed(0), 0

    def children(self, node: int) -> Iterable[tuple[float, int]]:
        """Both halves of a box, cut in the middle of the side where the chords are worst."""
        lower, upper = self.boxes[node]
        at = self._worst(lower, upper, self.lowest[node])
        middle = (lower[at] + upper[at]) / 2.0
        for low, high in ((lower[at], middle), (middle, upper[at])):
            half = lower.copy(), upper.copy()
            half[0][at], half[1][at] = low, high
            self.boxes.append(half)
            number = len(self.boxes) - 1
            yield self._relaxed(number), number

    def _relaxed(self, number: int) -> float:
        """A lower bound on the squared error in a box; may improve the best factors."""
        lower, upper = self.boxes[number]
        slope, level = self._chords(lower, upper)

        def below(x: Array) -> tuple[float, Array]:
            w, h = self._parts(x)
            exps = np.exp(w[:, :, None] + h[None])
            fit = exps.sum(axis=1)
            straight = slope * (w[:, :, None] + h[None]) + level
            value = self.norm**2 + np.sum(fit**2) - 2.0 * np.sum(self.V[:, None] * straight)
            slopes = 2.0 * fit[:, None] * exps - 2.0 * self.V[:, None] * slope
            return float(value), np.concatenate([slopes.sum(2).ravel(), slopes.sum(0).ravel()])

        found = minimize(
            below, (lower + upper) / 2.0, jac=True, method="L-BFGS-B",
            bounds=np.column_stack([lower, upper]),
            options={"maxiter": 200, "ftol": 1e-13, "gtol": 1e-9},
        )  # fmt: skip
        x = np.clip(found.x, lower, upper)
        self.lowest[number] = x
        w, h = self._parts(x)
        self.offer(np.exp(w), np.exp(h))
        value, gradient = below(x)
        least = np.minimum(gradient * (lower - x), gradient * (upper - x))
        return max(0.0, value + float(least.sum()))

    def _parts(self, x: Array) -> tuple[Array, Array]:
        n, m = self.V.shape
        return x[: n * self.k].reshape(n, self.k), x[n * self.k :].reshape(self.k, m)

    def _chords(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Slopes and levels of the chords of the exponentials of all sums w + h."""
        (w, h), (v, g) = self._parts(lower), self._parts(upper)
        least, most = w[:, :, None] + h[None], v[:, :, None] + g[None]
        width = most - least
        secant = (np.exp(most) - np.exp(least)) / np.maximum(width, ROUNDING)
        slope = np.where(width > ROUNDING, secant, np.exp(most))
        return slope, np.exp(least) - slope * least

    def _worst(self, lower: Array, upper: Array, x: Array) -> int:
        """The logarithm in whose sums the chords lie furthest above the exponentials."""
        slope, level = self._chords(lower, upper)
        w, h = self._parts(x)
        sums = w[:, :, None] + h[None]
        excess = self.V[:, None] * (slope * sums + level - np.exp(sums))
        share = np.concatenate([excess.sum(2).ravel(), excess.sum(0).ravel()])
        return int(np.argmax(np.maximum(share, ROUNDING * self.norm**2) * (upper - lower)))
