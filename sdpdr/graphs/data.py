"""Spaces from data: points, directions, or precomputed distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from sdpdr.base import checks as validate
from sdpdr.base.arrays import ROUNDING, Matrix
from sdpdr.base.columns import warn_of_unlike_columns
from sdpdr.base.distances import precision_of, squared_distances, warn_of_seeming_distances
from sdpdr.base.errors import DataError
from sdpdr.graphs.points import Points, directions
from sdpdr.graphs.precomputed import Precomputed, shared
from sdpdr.graphs.space import UNITS, Space

METRICS = ("euclidean", "cosine", "precomputed")
# Directions closer than this are the same, since those of parallel rows differ by rounding.
PARALLEL = 1e-12
_ONE_POINT = {
    "cosine": "all {} rows are parallel, so metric='cosine' sees one point. Pass "
    "metric='euclidean'.",
    "euclidean": "all {} points agree to rounding, so there is no geometry to keep. Subtract what "
    "their entries have in common before it takes all digits.",
}
_VANISHED = "distances between the points vanish when they are squared: rescale the data."


def make_space(X: ArrayLike, metric: str = "euclidean", *, at_least: int = 3) -> Space:
    """Space of the points X, or of the precomputed distances X.

    ``metric="cosine"`` is the space of rows scaled to length one, where the squared length is twice
    one less the cosine.
    """
    validate.choice("metric", metric, METRICS)
    if metric == "precomputed":
        sqdist = squared_distances(X, squared=False, at_least=at_least)
        # A rounding error of a tiny square becomes its square root in the length.
        rounding = max(ROUNDING, 4.0 * float(np.sqrt(precision_of(X))))
        return Precomputed(shared(sqdist) if np.isinf(sqdist).any() else sqdist, rounding)
    points = validate.points(X, at_least=at_least, sparse=True)
    if not issparse(points):
        warn_of_seeming_distances(points)
    if metric == "cosine":
        points, tolerance = directions(points), PARALLEL
    else:
        warn_of_unlike_columns(X)
        tolerance = UNITS * np.finfo(float).eps * _size(points)
    space = Points(points, tolerance)
    if space.sqdist(np.zeros(1, int), np.arange(space.n)).max() <= tolerance**2:
        vanished = tolerance > 0.0 and tolerance**2 == 0.0
        raise DataError(_VANISHED if vanished else _ONE_POINT[metric].format(space.n))
    return space


def _size(points: Matrix) -> float:
    """Sum of the largest absolute values of the columns that vary."""
    ends = (points.min(axis=0), points.max(axis=0))
    low, high = (end.toarray().ravel() if issparse(end) else end for end in ends)
    return float(np.maximum(-low, high)[low < high].sum())
