"""Whether an embedding lies like the truth, and whether edges keep their length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.unfold.quality.neighbourhoods import points_of
from sdpdr.graphs.neighbor_graph import NeighborGraph


def align(
    truth: ArrayLike, Y: ArrayLike, *, scaling: bool = True, reflection: bool = True
) -> Array:
    """The embedding moved, turned, mirrored and scaled to lie as close to the truth as it can.

    Parameters
    ----------
    truth : array_like of shape (n, q)
    Y : array_like of shape (n, d)
        With fewer columns than the other, either is filled up with zeros.
    scaling : bool, default True
        Whether the embedding may be scaled.
    reflection : bool, default True
        Whether it may be mirrored. If d and q differ, a turn through the further dimension is a
        mirror already.

    Returns
    -------
    ndarray of shape (n, max(q, d))

    Raises
    ------
    ShapeError, DataError
        The two do not fit together, or all points of one coincide.

    References
    ----------
    Gower and Dijksterhuis, "Procrustes Problems", Oxford University Press 2004, chapters 4 and 6.

    Examples
    --------
    >>> corner = [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]
    >>> align(corner, [[5.0, 5.0], [5.0, 9.0], [3.0, 5.0]]).round(9) + 0.0
    array([[0., 0.],
           [2., 0.],
           [0., 1.]])
    """
    target, points, middle = _centred(truth, Y)
    turn, size = _best_turn(target, points, reflection)
    factor = size / float(np.sum(points**2)) if scaling else 1.0
    return np.asarray(factor * points @ turn + middle)


def procrustes(
    truth: ArrayLike, Y: ArrayLike, *, scaling: bool = True, reflection: bool = True
) -> float:
    r"""Distance of an embedding from the truth after the best alignment, relative to the truth.

    :math:`\min \|T - s\,YQ - \mathbf 1 b^\top\|_F / \|T - \bar T\|_F` over rotations Q
    (and reflections), shifts b and, if ``scaling``, factors s. Zero is a perfect picture; with
    scaling, one is as far as it can be.

    Parameters
    ----------
    truth, Y, scaling, reflection
        As for `align`.

    Returns
    -------
    float

    Raises
    ------
    ShapeError, DataError
        As for `align`.

    Examples
    --------
    >>> square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    >>> larger = [[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [0.0, 3.0]]
    >>> round(procrustes(square, larger), 9), round(procrustes(square, larger, scaling=False), 9)
    (0.0, 2.0)
    """
    target, _, middle = _centred(truth, Y)
    laid = align(truth, Y, scaling=scaling, reflection=reflection) - middle
    return float(np.linalg.norm(target - laid) / np.linalg.norm(target))


def _centred(truth: ArrayLike, Y: ArrayLike) -> tuple[Array, Array, Array]:
    target, points = points_of("truth", truth), points_of("the embedding", Y)
    if len(target) != len(points):
        raise ShapeError(
            f"truth has {len(target)} rows but the embedding has {len(points)}: pass one each."
        )
    width = max(target.shape[1], points.shape[1])
    target, points = (
        np.pad(array, ((0, 0), (0, width - array.shape[1]))) for array in (target, points)
    )
    for name, array in (("truth", target), ("the embedding", points)):
        if not np.ptp(array, axis=0).any():
            raise DataError(f"all points of {name} coincide, so there is nothing to align.")
    middle = target.mean(axis=0)
    return target - middle, points - points.mean(axis=0), middle


def _best_turn(target: Array, points: Array, reflection: bool) -> tuple[Array, float]:
    """Orthogonal Q with the largest <T, YQ>, and that inner product."""
    left, singular, right = np.linalg.svd(points.T @ target)
    signs = np.ones(len(singular))
    if not reflection and np.linalg.det(left @ right) < 0.0:
        signs[-1] = -1.0
    return (left * signs) @ right, float(signs @ singular)


@dataclass(frozen=True)
class EdgeErrors:
    """Relative change of the lengths of edges.

    Attributes
    ----------
    rms : float
        Root of the mean square of (new length - length) / length.
    max : float
        The largest in size.
    scale : float
        Factor on the embedding that makes the rms least; 0 if all points coincide.
    rms_scaled : float
        The rms after that factor: how uneven the changes are, whatever the unit.
    """

    rms: float
    max: float
    scale: float
    rms_scaled: float


def edge_changes(graph: NeighborGraph, Y: ArrayLike) -> Array:
    """Relative change of the PLAIN length of each edge, shape (m,); negative where it shrank.

    Parameters
    ----------
    graph : NeighborGraph
    Y : array_like of shape (n, d)
        A row for each node.

    Raises
    ------
    ShapeError, DataError
        Y does not fit the graph.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> edge_changes(graphs.path([1.0, 2.0]), [[0.0], [1.0], [2.0]])
    array([ 0. , -0.5])
    """
    points = points_of("the embedding", Y)
    if len(points) != graph.n:
        raise ShapeError(
            f"the embedding has {len(points)} rows but the graph has {graph.n} nodes: pass one "
            "each."
        )
    return np.asarray(graph.lengths(points) / np.sqrt(graph.sqdist) - 1.0)


def edge_errors(graph: NeighborGraph, Y: ArrayLike) -> EdgeErrors:
    r"""How far an embedding is from a local isometry.

    With :math:`\rho_e` the ratio of new to old PLAIN length, the best factor is
    :math:`\sum \rho_e / \sum \rho_e^2`.

    Parameters
    ----------
    graph : NeighborGraph
        With at least one edge.
    Y : array_like of shape (n, d)

    Returns
    -------
    EdgeErrors

    Raises
    ------
    ShapeError, DataError
        Y does not fit the graph, or the graph has no edge.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> edge_errors(graphs.path([1.0, 1.0]), [[0.0], [2.0], [4.0]])
    EdgeErrors(rms=1.0, max=1.0, scale=0.5, rms_scaled=0.0)
    """
    change = edge_changes(graph, Y)
    if not change.size:
        raise DataError("the graph has no edges, so there are no lengths to keep.")
    ratio = 1.0 + change
    squares = float(ratio @ ratio)
    scale = float(ratio.sum()) / squares if squares > 0.0 else 0.0
    return EdgeErrors(
        rms=_rms(change),
        max=float(np.abs(change).max()),
        scale=scale,
        rms_scaled=_rms(scale * ratio - 1.0),
    )


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
