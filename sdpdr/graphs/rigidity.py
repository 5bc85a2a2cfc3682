"""What exact lengths inside cliques leave undecided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.linalg.distances import about_centre
from sdpdr.linalg.spectral import complement

# Eigenvalues below these shares of the largest are rounding: of one clique, of all together.
_FLAT, _EXPOSED = 1e-9, 1e-8
_DEPENDENT = 1e-9


@dataclass(frozen=True, eq=False)
class Rigidity:
    """The Gram matrices that keep all lengths inside the cliques of a graph.

    Attributes
    ----------
    null : array of shape (n, p)
        Orthonormal vectors u, other than the constant one, with K u = 0 for each of them.
    order : int
        Order n - 1 - p of the matrices M with K = V M V^T.
    free : int
        Number of entries of M that the lengths leave undecided; zero if K is that of the data.
    """

    null: Array
    order: int
    free: int


def rigidity(graph: NeighborGraph) -> Rigidity:
    r"""Find what exact lengths leave undecided.

    A clique whose lengths are all prescribed is rigid. If it has more points than its dimension
    needs, its centred coordinates have null vectors, and these are null vectors of every
    feasible Gram matrix: K = U M U^T, with U orthogonal to those of all maximal cliques.

    Parameters
    ----------
    graph : NeighborGraph
        With angles (`NeighborGraph.with_cliques`), or there are hardly any cliques.

    References
    ----------
    Krislock and Wolkowicz, "Explicit sensor network localization using semidefinite
    representations and facial reductions", SIAM J. Optim. 20(5), 2010.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> X, _ = sdpdr.datasets.swiss_roll(20, seed=0)
    >>> found = rigidity(graphs.knn(X, n_neighbors=4, angles=True))
    >>> found.order, found.free
    (4, 1)
    """
    n = graph.n
    exposing = np.zeros((n, n))
    length = sp.csr_array((graph.sqdist, graph.edges.T), shape=(n, n))
    length = sp.csr_array(length + length.T)
    for clique in _cliques(graph):
        vectors = _flat_directions(length[clique][:, clique].toarray())
        exposing[np.ix_(clique, clique)] += vectors @ vectors.T
    values, vectors = np.linalg.eigh(exposing)
    found = values > _EXPOSED * max(float(values[-1]), 1.0)
    null = vectors[:, found]
    basis = complement(np.column_stack([np.ones(n), null]))
    return Rigidity(null, basis.shape[1], _free(graph, basis))


def _cliques(graph: NeighborGraph) -> list[Index]:
    """All maximal cliques, by the branching of Bron and Kerbosch with pivots."""
    near: list[set[int]] = [set() for _ in range(graph.n)]
    for i, j in graph.edges.tolist():
        near[i].add(j)
        near[j].add(i)
    found: list[Index] = []
    waiting = [(set[int](), set(range(graph.n)), set[int]())]
    while waiting:
        clique, candidates, excluded = waiting.pop()
        if not candidates and not excluded:
            found.append(np.array(sorted(clique)))
        if not candidates:
            continue
        pivot = max(candidates | excluded, key=lambda v: len(near[v] & candidates))
        for v in sorted(candidates - near[pivot]):
            waiting.append((clique | {v}, candidates & near[v], excluded & near[v]))
            candidates, excluded = candidates - {v}, excluded | {v}
    return found


def _flat_directions(sqdist: Array) -> Array:
    """Null vectors of the centred Gram matrix of some distances, but for the constant one."""
    values, vectors = np.linalg.eigh(about_centre(sqdist, np.ones(len(sqdist))))
    flat = vectors[:, np.abs(values) <= _FLAT * np.abs(values).max()]
    q = np.linalg.svd(flat - flat.mean(axis=0), full_matrices=False)
    return np.asarray(q[0][:, q[1] > 0.5])


def _free(graph: NeighborGraph, basis: Array) -> int:
    r = basis.shape[1]
    steps = basis[graph.edges[:, 0]] - basis[graph.edges[:, 1]]
    i, j = np.triu_indices(r)
    rows = steps[:, i] * steps[:, j] * np.where(i == j, 1.0, np.sqrt(2.0))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-300)
    singular = np.linalg.svd(rows, compute_uv=False)
    return int(i.size - np.sum(singular > _DEPENDENT * singular[0]))
