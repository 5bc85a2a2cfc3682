"""Bases for embeddings: points from a few landmarks, and the smoothest functions on a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import LinearOperator, eigsh

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.graphs.nearest import knn
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.graphs.search import blocks
from sdpdr.graphs.shortest_paths import landmarks
from sdpdr.graphs.space import Euclidean
from sdpdr.graphs.weighing import best_weights, reconstruction_weights
from sdpdr.linalg.inertia import LdlFactor
from sdpdr.linalg.spectral import fix_signs

# Sum of the sizes of a row of the basis from which it extrapolates too far to be believed.
_REACH = 1e3


def reconstruction_basis(
    graph: NeighborGraph,
    landmarks: ArrayLike,
    regularization: float = 1e-3,
    iterations: int = 4,
) -> Array:
    r"""All points as weighted sums of landmarks, by way of their neighbours.

    With W the `reconstruction_weights` and :math:`\Phi = (I - W)^T (I - W)`, column a of Q
    minimises :math:`q^T \Phi q` among the vectors that are one at landmark a and zero at all
    others, so that Q X_landmarks fills in what lies between in the smoothest way.

    Neighbours are those either way round, not each point's own k as in locally linear embedding.
    A point that is among no other's k could then be put wherever its own residual vanishes and
    would say nothing of the others: of 400 points of a swiss roll with k = 6, errors grow from
    0.6 % of its size to 1.6 % with 30 landmarks, and from 3.5 % to 35 % with 12.

    Parameters
    ----------
    graph : NeighborGraph
        Every component needs a landmark.
    landmarks : array_like of int, shape (l,)
        Distinct nodes, for instance from `sdpdr.graphs.landmarks`.
    regularization, iterations : optional
        Of the weights.

    Returns
    -------
    ndarray of shape (n, l)
        Q, with row sums one and the identity in the rows of the landmarks.

    Raises
    ------
    DataError
        Landmarks are repeated or out of range, or a component has none.

    References
    ----------
    Weinberger, Packer and Saul, "Nonlinear dimensionality reduction by semidefinite programming
    and kernel matrix factorization", AISTATS 2005; Tong thesis 2.2.4.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> reconstruction_basis(graphs.path([1.0, 1.0, 1.0, 1.0]), [0, 4]).round(2)
    array([[1.  , 0.  ],
           [0.88, 0.12],
           [0.5 , 0.5 ],
           [0.12, 0.88],
           [0.  , 1.  ]])
    """
    chosen = _checked_landmarks(graph, landmarks)
    basis = np.zeros((graph.n, len(chosen)))
    basis[chosen, np.arange(len(chosen))] = 1.0
    others = np.setdiff1d(np.arange(graph.n), chosen)
    if not others.size:
        return basis
    weights = reconstruction_weights(graph, regularization, iterations)
    residual = csr_array(eye_array(graph.n) - weights)
    free, fixed = residual[:, others], residual[:, chosen]
    normal = LdlFactor(free.T @ free)
    basis[others] = -np.apply_along_axis(normal.solve, 0, (free.T @ fixed).toarray())
    basis = _tamed(graph, basis)
    # Sums of one are exact in theory; dividing keeps the rounding out of the lengths of edges.
    return np.asarray(basis / basis.sum(axis=1, keepdims=True))


def _tamed(graph: NeighborGraph, basis: Array) -> Array:
    """The basis with means of neighbours in place of rows that reach far beyond the landmarks.

    A few points that hang on the others by one edge may turn about it freely without any
    residual, and what they are given then is noise.
    """
    reach = np.abs(basis).sum(axis=1)
    wild = ~(reach <= _REACH)
    if not wild.any() or wild.all():
        return basis
    inside, tame = np.flatnonzero(wild), np.flatnonzero(~wild)
    rows = graph.laplacian(1.0 / graph.sqdist)[inside]
    right = -(rows[:, tame] @ basis[tame])
    normal = LdlFactor(rows[:, inside])
    tamed = basis.copy()
    tamed[inside] = np.apply_along_axis(normal.solve, 0, right)
    return tamed


def _checked_landmarks(graph: NeighborGraph, landmarks: ArrayLike) -> Index:
    chosen = validate.distinct_numbers("landmarks", landmarks, graph.n, "nodes")
    empty = np.setdiff1d(graph.components, graph.components[chosen])
    if empty.size:
        node = int(np.flatnonzero(graph.components == empty[0])[0])
        raise DataError(
            f"{empty.size} of {graph.n_components} components of the graph have no landmark, the "
            f"one of node {node} for instance; choose at least one in each."
        )
    return chosen


# Points that take part in the coarse graph, neighbours in and of it, and points placed at once.
_COARSE = 10_000
_NEIGHBORS = 8
_POINTS = 50_000


def coarse_basis(graph: NeighborGraph, count: int, seed: int = 0, coarse: int = _COARSE) -> Array:
    """Reconstruction basis of a random sample, carried to all points by local weights.

    Between far landmarks the smoothest function that the weights of very many points allow is
    badly determined: errors of a step add up over hundreds of them. On a sample the steps are
    few; every other point is then reconstructed from the points of the sample nearest to it.

    Parameters
    ----------
    graph : NeighborGraph
        Made from points with coordinates.
    count : int
        Number of landmarks, at most ``coarse``.
    seed : int, default 0
    coarse : int, default 10000
        Size of the sample.

    Returns
    -------
    ndarray of shape (n, count)
        With row sums one.

    Raises
    ------
    DataError
        The graph knows no coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import graphs
    >>> graph = graphs.knn(np.random.default_rng(0).random((300, 2)), n_neighbors=6)
    >>> basis = coarse_basis(graph, 5, coarse=100)
    >>> basis.shape, bool(np.allclose(basis.sum(axis=1), 1.0))
    ((300, 5), True)
    """
    from sklearn.neighbors import NearestNeighbors  # here, since it takes long to import

    if not has_coordinates(graph):
        raise DataError(f"the graph made by {graph.provenance} knows no coordinates of its points.")
    space = graph.provenance.space
    assert isinstance(space, Euclidean)
    points = space.X
    sample = np.sort(np.random.default_rng(seed).permutation(graph.n)[:coarse])
    k = min(_NEIGHBORS, sample.size - 1)
    skeleton = knn(points[sample], n_neighbors=k, connect="mst")
    small = reconstruction_basis(skeleton, landmarks(skeleton, count, seed))
    search = NearestNeighbors(n_neighbors=k).fit(points[sample])
    basis = np.empty((graph.n, count))
    for rows in blocks(np.arange(graph.n), _POINTS):
        near = search.kneighbors(points[rows], return_distance=False)
        # The nearest points of the sample, seen from each point.
        steps = points[sample][near] - points[rows, None, :]
        weights = best_weights(steps @ steps.transpose(0, 2, 1))
        basis[rows] = np.einsum("pk,pkc->pc", weights, small[near])
    basis[sample] = small
    return basis


def has_coordinates(graph: NeighborGraph) -> bool:
    """Whether the graph was made from points whose coordinates it still knows."""
    space = graph.provenance.space
    return isinstance(space, Euclidean) and space.n == graph.n


_SMALL = 200
# Of the shift that makes the Laplacian invertible, relative to its mean diagonal.
_SHIFT = 1e-9


def laplacian_basis(
    graph: NeighborGraph, count: int, weights: ArrayLike | None = None, seed: int = 0
) -> Array:
    r"""Bottom eigenvectors of the Laplacian, the constant left out.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    count : int
        How many, from 1 to n - 1.
    weights : array_like of shape (m,), optional
        Positive weights of the edges; ones by default.
    seed : int, default 0
        Of the vector that the Lanczos iteration starts from.

    Returns
    -------
    ndarray of shape (n, count)
        Orthonormal columns of sum zero, smoothest first, with fixed signs.

    Raises
    ------
    DataError
        ``count`` is out of range.
    DisconnectedGraphError

    References
    ----------
    Weinberger, Sha, Zhu and Saul, "Graph Laplacian regularization for large-scale semidefinite
    programming", NIPS 2006.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> basis = laplacian_basis(graphs.path([1.0, 1.0]), 1)
    >>> bool(np.allclose(np.abs(basis.ravel()), [0.5**0.5, 0.0, 0.5**0.5]))
    True
    """
    graph.require_connected()
    count = validate.positive_integer("count", count)
    if count > graph.n - 1:
        raise DataError(
            f"count={count} eigenvectors: a graph with {graph.n} nodes has {graph.n - 1} besides "
            "the constant one."
        )
    laplacian = graph.laplacian(weights)
    if graph.n <= _SMALL or 4 * count > graph.n:
        vectors = np.linalg.eigh(laplacian.toarray())[1][:, 1 : count + 1]
        return fix_signs(vectors)
    shift = _SHIFT * float(laplacian.diagonal().mean())
    solve = LdlFactor(laplacian + shift * eye_array(graph.n)).solve

    def inverse(x: Array) -> Array:
        # Without its mean, or the constant vector would drown all others.
        solved = solve(np.ravel(x) - np.mean(x))
        return np.asarray(solved - solved.mean())

    operator = LinearOperator(laplacian.shape, matvec=inverse, dtype=float)
    start = inverse(np.random.default_rng(seed).standard_normal(graph.n))
    values, vectors = eigsh(operator, k=count, which="LA", v0=start)
    ordered = vectors[:, np.argsort(-values)]
    return fix_signs(ordered - ordered.mean(axis=0))
