"""Laying an embedding over the truth: Procrustes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.errors import DataError, ShapeError
from sdpdr.graphs.arrays import Array
from sdpdr.quality.neighbourhoods import points_of


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
