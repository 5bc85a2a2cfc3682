"""Bases for embeddings: points from a few landmarks, and the smoothest functions on a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import LinearOperator, eigsh

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import DataError
from sdpdr.graphs.given import takes_graph
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.graphs.weighing import reconstruction_weights
from sdpdr.linalg.inertia import LdlFactor
from sdpdr.linalg.spectral import fix_signs

# A row of the basis with a larger sum of absolute values extrapolates too far.
_REACH = 1e3
# Shift that makes a matrix of a graph invertible, relative to its diagonal.
_SHIFT = 1e-9


def reconstruction_basis(graph: NeighborGraph, landmarks: ArrayLike) -> Array:
    r"""Return weights that express each point by landmarks, through weights of neighbours."""
    chosen = _checked_landmarks(graph, landmarks)
    basis = np.zeros((graph.n, len(chosen)))
    basis[chosen, np.arange(len(chosen))] = 1.0
    others = np.setdiff1d(np.arange(graph.n), chosen)
    if not others.size:
        return basis
    residual = eye_array(graph.n) - reconstruction_weights(graph)
    normal, smooth = residual.T @ residual, graph.laplacian()
    try:
        basis[others] = _extended(normal, chosen, others)
        is_wild = np.abs(basis).sum(axis=1).max() > _REACH
    except ArithmeticError:
        is_wild = True
    if is_wild:
        # Some points reproduce each other without a landmark. Differences of neighbours decide.
        shift = _SHIFT / float(smooth.diagonal().mean())
        basis[others] = _extended(normal + shift * smooth, chosen, others)
    # Rows sum to one in theory; dividing by the sums keeps rounding out of the lengths of edges.
    return np.asarray(basis / basis.sum(axis=1, keepdims=True))


def _extended(form: Matrix, chosen: Index, others: Index) -> Array:
    """Rows of the other points that minimise a quadratic form, beside units at the landmarks."""
    rows = csr_array(form)[others]
    solve = LdlFactor(rows[:, others]).solve
    return -np.apply_along_axis(solve, 0, rows[:, chosen].toarray())


def _checked_landmarks(graph: NeighborGraph, landmarks: ArrayLike) -> Index:
    """The landmarks as nodes; an error unless every component has one."""
    chosen = validate.numbers("landmarks", landmarks, graph.n, "nodes", distinct=True)
    empty = np.setdiff1d(graph.components, graph.components[chosen])
    if empty.size:
        node = int(np.flatnonzero(graph.components == empty[0])[0])
        raise DataError(
            f"{empty.size} of {graph.n_components} components of the graph have no landmark, the "
            f"one of node {node} for instance; choose at least one in each."
        )
    return chosen


# Up to this order a dense eigendecomposition is used, which takes milliseconds.
_DENSE_ORDER = 200


@takes_graph
def laplacian_basis(graph: NeighborGraph, count: int, seed: int = 0) -> Array:
    r"""Return the eigenvectors of the smallest eigenvalues of the Laplacian but the constant.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    count : int
        How many, from 1 to n - 1.
    seed : int, default 0
        Seed of the first vector of the Lanczos iteration.

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
    >>> import numpy as np
    >>> from sdpdr.graphs import laplacian_basis
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
    laplacian = graph.laplacian()
    if graph.n <= _DENSE_ORDER or 4 * count > graph.n:
        vectors = np.linalg.eigh(laplacian.toarray())[1][:, 1 : count + 1]
        return fix_signs(vectors)
    shift = _SHIFT * float(laplacian.diagonal().mean())
    solve = LdlFactor(laplacian + shift * eye_array(graph.n)).solve

    def inverse(x: Array) -> Array:
        # The mean is subtracted, since the constant vector would dominate all others.
        solved = solve(np.ravel(x) - np.mean(x))
        return np.asarray(solved - solved.mean())

    operator = LinearOperator(laplacian.shape, matvec=inverse, dtype=float)
    start = inverse(np.random.default_rng(seed).standard_normal(graph.n))
    values, vectors = eigsh(operator, k=count, which="LA", v0=start)
    ordered = vectors[:, np.argsort(-values)]
    return fix_signs(ordered - ordered.mean(axis=0))
