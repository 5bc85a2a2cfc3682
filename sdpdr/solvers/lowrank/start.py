"""Before the first iteration: is the variance bounded, and where to start."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from sdpdr.errors import DisconnectedGraphError, ModelError
from sdpdr.linalg.walks import connected_components, dijkstra
from sdpdr.solvers.lowrank.certificate import heavy_weights
from sdpdr.solvers.lowrank.objective import Matrix
from sdpdr.solvers.lowrank.program import EdgeProgram

_SIGNIFICANT = 0.03  # share of the leading eigenvalue below which an Isomap direction is noise


def require_bounded(program: EdgeProgram) -> None:
    """Raise an error when variance can grow without limit.

    Raises
    ------
    DisconnectedGraphError
        When edges with an upper limit do not join all points.
    ModelError
        When prices are too low to hold the points together.

    Examples
    --------
    >>> require_bounded(EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0, price=0.6))
    """
    limited = np.isfinite(program.upper)
    i, j = program.edges[limited].T
    graph = csr_matrix((np.ones(len(i)), (i, j)), shape=(program.n, program.n))
    count, label = connected_components(graph)
    if count > 1:
        parts = sorted((np.flatnonzero(label == k) for k in range(count)), key=len, reverse=True)
        raise DisconnectedGraphError(
            f"the edges with an upper limit join the {program.n} points into {count} separate "
            f"parts (largest: {len(parts[0])} points), which may drift apart for ever; use more "
            "neighbours, add edges between the parts, or solve each part alone.",
            parts,
        )
    if np.isfinite(program.price[limited]).any():
        strength = heavy_weights(program)[1]
        if strength < 1:
            raise ModelError(
                "prices are too low to hold the points together, so variance is unbounded: the "
                "Laplacian weighted with the prices has second smallest eigenvalue "
                f"{strength:.3g}, and needs at least 1. Multiply prices by {1 / strength:.3g} "
                "or more, or use a stiffness."
            )


def isomap_start(
    program: EdgeProgram, rank: int | None = None, n_landmarks: int = 100, seed: int = 0
) -> Matrix:
    r"""Embed by landmark Isomap: classical scaling of graph distances to a few landmarks.

    With :math:`G` the squared shortest-path lengths from the landmarks, :math:`\bar g` their
    mean over landmarks, and :math:`V \Lambda V^T` the leading part of the doubly centred block
    of G, every point gets :math:`-\tfrac12 (g_i - \bar g)^T V \Lambda^{-1/2}`.

    Parameters
    ----------
    program : EdgeProgram
        Lengths of the paths are the square roots of ``sqdist``.
    rank : int, optional
        Columns wanted; those Isomap cannot fill hold small noise. Default: the significant
        directions and one more, between three and six (never more than n - 1).
    n_landmarks : int, default 100
    seed : int, default 0

    Returns
    -------
    (n, rank) array, centred for the masses of the program.

    References
    ----------
    de Silva and Tenenbaum (2003), landmark multidimensional scaling.

    Examples
    --------
    >>> path = EdgeProgram(edges=[[0, 1], [1, 2]], n=3, sqdist=[1.0, 1.0])
    >>> np.abs(isomap_start(path, rank=1).round(6).ravel()).tolist()
    [1.0, 0.0, 1.0]
    """
    rng = np.random.default_rng(seed)
    landmarks = rng.choice(program.n, min(n_landmarks, program.n), replace=False)
    i, j = program.edges.T
    graph = csr_matrix((np.sqrt(program.sqdist), (i, j)), shape=(program.n, program.n))
    sqdist = dijkstra(graph, indices=landmarks) ** 2
    mean = sqdist[:, landmarks].mean(axis=0)
    block = -0.5 * (sqdist[:, landmarks] - mean - mean[:, None] + mean.mean())
    spectrum, basis = np.linalg.eigh(block)
    spectrum, basis = spectrum[::-1], basis[:, ::-1]
    significant = int((spectrum > _SIGNIFICANT * spectrum[0]).sum())
    if rank is None:
        rank = min(max(significant + 1, 3), 6)
    rank = min(rank, program.n - 1)
    used = min(rank, int((spectrum > 1e-8 * spectrum[0]).sum()))
    R = np.empty((program.n, rank))
    R[:, :used] = -0.5 * (sqdist.T - mean) @ (basis[:, :used] / np.sqrt(spectrum[:used]))
    R[:, used:] = 1e-3 * R[:, :used].std() * rng.standard_normal((program.n, rank - used))
    return np.asarray(R - program.mass @ R / program.mass.sum())
