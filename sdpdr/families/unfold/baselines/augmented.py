"""The augmented Lagrangian of unfolding by coordinates, its gradient, and where to begin."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import ShapeError
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.linalg.spectral import on_principal_axes


def lagrangian(
    R: Array, w: Array, s: float | Array, C: Any, graph: NeighborGraph, isometry: str = "equality"
) -> tuple[float, Array]:
    r"""Augmented Lagrangian of low-rank unfolding, and its gradient.

    .. math::

        \mathcal L = -\langle C, R R^T\rangle + w^T v + \tfrac s2 |v|^2, \qquad
        \nabla \mathcal L = 2\,(L(w + s v) - C)\, R,

    with :math:`v_e = |r_i - r_j|^2 - d_e`, at the centred R. For the inequality
    :math:`w + s v` is replaced by its positive part, and the last two terms by
    :math:`(|w + s v|_+^2 - |w|^2) / 2s`.

    Parameters
    ----------
    R : array of shape (n, r)
    w : array of shape (m,)
        Multipliers, with the sign of edge weights.
    s : float or array of shape (m,)
        Penalty; :math:`\sigma / d_e^2` penalises relative errors.
    C : array or sparse array of shape (n, n)
    graph : NeighborGraph
    isometry : {"equality", "inequality"}, default "equality"

    Returns
    -------
    value : float
    gradient : array of shape (n, r)

    References
    ----------
    Vasiloglou thesis, (2.20)-(2.24). As printed, the first term lacks its trace, and in the
    gradient the sum over edges lacks the matrix :math:`A_{ij}` of each edge, which multiplies R.
    """
    ends = SquaredEdgeLengths(graph.n, graph.edges).vectors
    return of_differences(R, w, s, C, graph, ends, isometry)


def of_differences(
    R: Array,
    w: Array,
    s: float | Array,
    C: Any,
    graph: NeighborGraph,
    ends: sp.csr_array,
    isometry: str,
) -> tuple[float, Array]:
    """The same where the vectors :math:`e_i - e_j` of the edges are at hand."""
    share = graph.counts / np.sum(graph.counts)
    R = R - share @ R
    steps = ends @ R
    v = np.einsum("ek,ek->e", steps, steps) - graph.sqdist
    pull = w + s * v
    if isometry == "inequality":
        pull = np.maximum(pull, 0.0)
    CR = C @ R
    value = -float(np.sum(R * CR)) + 0.5 * float(np.sum((pull**2 - w**2) / s))
    gradient = ends.T @ (2.0 * pull[:, None] * steps) - 2.0 * CR
    return value, gradient - np.outer(share, gradient.sum(axis=0))


def changes(graph: NeighborGraph, factor: Array) -> Array:
    """Relative changes of the squared lengths."""
    return np.asarray(np.square(graph.lengths(factor)) / graph.sqdist - 1.0)


def first_coordinates(
    graph: NeighborGraph, rank: int, start: ArrayLike | None, unit: float, seed: int
) -> Array:
    """Coordinates to begin with, given ones on their principal axes or random ones."""
    noise = np.random.default_rng(seed).standard_normal((graph.n, rank))
    if start is None:
        return noise
    points = validate.points(start, at_least=2) / np.sqrt(unit)
    if points.shape[0] != graph.n:
        raise ShapeError(f"the start has {points.shape[0]} points; the graph has {graph.n} nodes.")
    turned = on_principal_axes(points)[:, :rank]
    # Coordinates that are exactly zero would stay zero.
    first = 0.1 * noise
    first[:, : turned.shape[1]] += turned
    return first
