"""The smoothest functions on a graph: bottom eigenvectors of its Laplacian."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import eye_array
from scipy.sparse.linalg import LinearOperator, eigsh

from sdpdr.errors import DataError
from sdpdr.graphs import validate
from sdpdr.graphs.arrays import Array
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.linalg.inertia import Factorization
from sdpdr.linalg.spectral import fix_signs

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
    solve = Factorization(laplacian + shift * eye_array(graph.n)).solve

    def inverse(x: Array) -> Array:
        # Without its mean, or the constant vector would drown all others.
        solved = solve(np.ravel(x) - np.mean(x))
        return np.asarray(solved - solved.mean())

    operator = LinearOperator(laplacian.shape, matvec=inverse, dtype=float)
    start = inverse(np.random.default_rng(seed).standard_normal(graph.n))
    values, vectors = eigsh(operator, k=count, which="LA", v0=start)
    ordered = vectors[:, np.argsort(-values)]
    return fix_signs(ordered - ordered.mean(axis=0))
