r"""The best nonnegative factorization of a small matrix, by branching over the columns of W.

W may be scaled to have columns that sum to one, points of the unit simplex. A node says of each
column in which smaller simplex it lies. Whatever points are chosen there, all columns of WH lie in
the cone of all the vertices, so

.. math:: |V - WH|_F^2 \ge \sum_j \operatorname{dist}(v_j, \operatorname{cone}(P_1, \dots, P_k))^2 .

The columns may be exchanged, so a node is a multiset of simplices, and is visited once. It is cut
where the columns of V use points of one simplex that lie furthest apart: if they used the same
point of each, these points would be the columns of a W that attains the bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index
from sdpdr.base.progress import Progress
from sdpdr.families.factor.nonnegative.branch_and_bound import (
    BranchingProblem,
    GlobalSearch,
    branch_and_bound,
)
from sdpdr.families.factor.nonnegative.inputs import nonnegative_matrix, number_of_components
from sdpdr.families.factor.nonnegative.projection import alternate, project, squared_distances
from sdpdr.families.factor.nonnegative.truncation import clipped_svd, closed_form, singular_tail

# Random starts, rounds of alternation from each, and nodes between two more.
_STARTS, _ROUNDS, _EVERY = 20, 30, 50
# Spread of points, relative to the squared norm, that counts as none.
_SAME = 1e-14

# The simplex of each component, and the simplex and edge to cut.
Node: TypeAlias = tuple[int, ...]
Cut: TypeAlias = tuple[int, int]


def cone_search(
    X: ArrayLike,
    k: int,
    *,
    tol: float = 1e-3,
    max_nodes: int = 100_000,
    time_limit: float | None = None,
    start: GlobalSearch | None = None,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> GlobalSearch:
    r"""Enclose the least error of a nonnegative factorization with k components.

    Best-first branch and bound over the columns of W (or, if those are shorter, the rows of H).
    The number of nodes grows like a power of 1/tol with the exponent k (N - 1) at worst: it closes
    for N up to 4 and k up to 3 at most, and at once where `rank_two` applies. Where it does not
    close, `sdpdr.nmf_bound` may have a better bound from one semidefinite program.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, nonnegative.
    k : int
        1 to min(N, m).
    tol : float, default 1e-3
        Distance between the bounds, relative to the norm of V.
    max_nodes : int, default 100000
        Nodes to split in this call.
    time_limit : float, optional
        Seconds for this call.
    start : GlobalSearch, optional
        Continue this result of the same search.
    seed : int, default 0
        Of the local searches at the root.
    progress : bool or callable, optional
        By default on a terminal only. A callable receives a mapping every 100 nodes.

    Returns
    -------
    GlobalSearch
        Whatever ended it; an interrupt ends it with the bounds so far.

    Raises
    ------
    DataError
        An entry is negative or not finite, all are zero, or k or a limit is out of range.
    ShapeError
        ``start`` belongs to another matrix or another k.

    References
    ----------
    Ours; for the problem see Vasiloglou thesis, section 4.3.

    Examples
    --------
    >>> found = cone_search([[0.9, 0.6, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.7]], 2, tol=0.02)
    >>> found.status, found.gap <= 0.02, round(found.upper / found.norm, 5)
    (SearchStatus.CLOSED, True, 0.25095)
    """
    V = nonnegative_matrix(X)
    k = number_of_components(k, V.shape, "k")
    return branch_and_bound(
        _Cones(V, k, seed),
        start,
        tol=tol,
        max_nodes=max_nodes,
        time_limit=time_limit,
        progress=progress,
    )


class _Cones(BranchingProblem):
    """Simplices by number, with the squared lengths of their edges, and their halves by edge."""

    search = "cone_search"

    def __init__(self, V: Array, k: int, seed: int) -> None:
        self.given, self.transposed, self.seed = V, V.shape[0] > V.shape[1], seed
        super().__init__(V.T if self.transposed else V, k)
        self.least = singular_tail(V, k)
        n = self.V.shape[0]
        self.simplices: list[Array] = []
        self.lengths: list[Array] = []
        self.edges = np.triu_indices(n, 1) if n > 1 else (np.zeros(1, int), np.zeros(1, int))
        self._add(np.eye(n))
        self.halves: dict[tuple[int, int], tuple[int, int]] = {}
        self.cuts: dict[Node, Cut] = {}
        self.visited = 0

    @property
    def factors(self) -> tuple[Array, Array]:
        """The best factors of the given matrix."""
        W, H = self.best
        return (H.T, W.T) if self.transposed else (W, H)

    def argument(self, nodes: int, lower: float) -> str:
        """The proof of a lower bound."""
        if lower <= self.least:
            return "the singular values beyond the first k"
        return f"distances from the cones of {nodes} split nodes"

    def root(self) -> tuple[float, Node]:
        """The whole unit simplex for each component, after some local searches."""
        V, k, rng = self.V, self.k, np.random.default_rng(self.seed)
        self.offer(*(closed_form(V, k) or alternate(V, clipped_svd(V, k)[0], _ROUNDS)))
        for _ in range(_STARTS):
            self.offer(*alternate(V, rng.dirichlet(np.ones(len(V)), k).T, _ROUNDS))
        node = (0,) * k
        self.bound(node)
        return self.least**2, node

    @property
    def question(self) -> str:
        """The number of components."""
        return f"{self.k} components"

    def children(self, node: Node) -> Iterable[tuple[float, Node]]:
        """The node with one of its simplices cut in half, both ways."""
        self.visited += 1
        if self.visited % _EVERY == 1:
            middles = np.column_stack([self.simplices[s].mean(axis=1) for s in node])
            self.offer(*alternate(self.V, middles, _ROUNDS))
        simplex, edge = self.cuts[node]
        position = node.index(simplex)
        for half in self._halves(simplex, edge):
            part = tuple(sorted((*node[:position], half, *node[position + 1 :])))
            yield self.bound(part), part

    def bound(self, node: Node) -> float:
        """A bound on the squared error in a node; also chooses where to cut the node."""
        simplices = list(dict.fromkeys(node))
        vertices = np.hstack([self.simplices[s] for s in simplices])
        coefficients = project(vertices, self.V)
        shares = np.split(coefficients, len(simplices))
        self.cuts[node] = self._cut(simplices, shares)
        return float(squared_distances(vertices, self.V, coefficients).sum())

    def _cut(self, simplices: list[int], shares: list[Array]) -> Cut:
        """The simplex and edge along which the columns of V use points furthest apart.

        The variance of points P c is minus the sum over edges of the covariance
        of the two coordinates times the squared length.
        """
        best, cut = _SAME * self.norm**2, None
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

    def _halves(self, number: int, edge: int) -> tuple[int, int]:
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
