"""Whether those who are neighbours stay neighbours: trustworthiness and continuity."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn import manifold

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.rows import listed
from sdpdr.graphs.search import BLOCK, blocks
from sdpdr.graphs.space import Euclidean, Space, make_space

# Up to this many points every one is looked at; of more, so many drawn at random.
SAMPLE = 2000


def trustworthiness(
    X: ArrayLike,
    Y: ArrayLike,
    n_neighbors: int = 6,
    *,
    metric: str = "euclidean",
    squared: bool = False,
    sample: int = SAMPLE,
    seed: int = 0,
) -> float:
    r"""Whether neighbours in an embedding are neighbours in the data.

    .. math::

        1 - \frac{2}{nk(2n - 3k - 1)} \sum_i \sum_{j \in N_k^Y(i)} \max(0,\ r^X(i, j) - k)

    with :math:`r^X(i, j)` the rank of j among the points nearest to i in the data. It is 1 if no
    stranger comes near, and about 1/2 for points shuffled at random. Computed by scikit-learn; on
    distances, and over a sample of the points i (with ranks among all points), here.

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
        The data.
    Y : array_like of shape (n, d)
        The embedding.
    n_neighbors : int, default 6
        k, less than n/2.
    metric, squared
        As for `sdpdr.graphs.knn`.
    sample : int, default 2000
        Of more points than this, so many are drawn.
    seed : int, default 0
        Of the draw.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    DataError, ShapeError
        The data cannot be used, do not fit together, or are too few.

    References
    ----------
    Venna and Kaski, "Neighborhood preservation in nonlinear projection methods", ICANN 2001.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0]]
    >>> trustworthiness(X, X, 1), trustworthiness(X, [[0.0], [3.0], [1.0], [4.0], [2.0]], 1)
    (1.0, 0.4)
    """
    data, shown, k = _spaces(X, Y, n_neighbors, metric, squared)
    return kept_neighbours(data, shown, k, drawn(data.n, sample, seed))


def continuity(
    X: ArrayLike,
    Y: ArrayLike,
    n_neighbors: int = 6,
    *,
    metric: str = "euclidean",
    squared: bool = False,
    sample: int = SAMPLE,
    seed: int = 0,
) -> float:
    """Whether neighbours in the data are still neighbours in an embedding.

    The `trustworthiness` of the data seen from the embedding. Folding sheets onto each other costs
    trustworthiness, tearing one apart costs continuity.

    Parameters
    ----------
    X, Y, n_neighbors, metric, squared, sample, seed
        As for `trustworthiness`.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    DataError, ShapeError
        As for `trustworthiness`.

    References
    ----------
    Venna and Kaski, "Neighborhood preservation in nonlinear projection methods", ICANN 2001.

    Examples
    --------
    >>> circle = [[0.0, 1.0], [0.9, 0.3], [0.6, -0.8], [-0.6, -0.8], [-0.95, 0.31], [-0.5, 0.9]]
    >>> cut_open = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> trustworthiness(circle, cut_open, 2) > continuity(circle, cut_open, 2)
    True
    """
    data, shown, k = _spaces(X, Y, n_neighbors, metric, squared)
    return kept_neighbours(shown, data, k, drawn(data.n, sample, seed))


def kept_neighbours(space: Space, guess: Space, k: int, rows: Index) -> float:
    """Trustworthiness of the neighbours in ``guess`` by the ranks in ``space``, over some rows."""
    n = space.n
    if isinstance(space, Euclidean) and isinstance(guess, Euclidean) and len(rows) == n:
        return float(manifold.trustworthiness(space.X, guess.X, n_neighbors=k))
    excess = 0.0
    for part in blocks(rows, max(1, BLOCK // n)):
        ranks = _ranks(space.sqdist_to_all(part), part, guess.nearest(k, rows=part))
        excess += float(np.maximum(ranks - k, 0).sum())
    return 1.0 - 2.0 * excess / (len(rows) * k * (2.0 * n - 3.0 * k - 1.0))


def drawn(n: int, sample: int, seed: int) -> Index:
    """All of n points, or a sorted sample of them."""
    sample = validate.positive_integer("sample", sample)
    if n <= sample:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, sample, replace=False))


def checked_k(n_neighbors: object, n: int) -> int:
    """Number of neighbours for which the measures are defined."""
    k = validate.positive_integer("n_neighbors", n_neighbors)
    if 2 * k >= n:
        raise DataError(
            f"n_neighbors={k} is too many for {n} points: trustworthiness and continuity need "
            f"fewer than half of them, at most {(n - 1) // 2}."
        )
    return k


def points_of(name: str, Y: ArrayLike) -> Array:
    """Coordinates, finite, one row for each point."""
    array = np.asarray(Y, dtype=float)
    if array.ndim != 2 or array.size == 0:
        raise ShapeError(
            f"{name} has shape {array.shape}; pass one row of coordinates for each point."
        )
    missing = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if missing.size:
        raise DataError(f"{name} has NaN or infinity in rows {listed(missing)}.")
    return array


def _ranks(sqdist: Array, rows: Index, near: Index) -> Index:
    """Rank of some points (columns of ``near``) among those nearest to each row, from 1.

    Counting who is closer takes a tenth of the time of sorting all. Of points equally far the one
    with the smaller index comes first, as everywhere.
    """
    here = np.arange(len(rows))
    sqdist[here, rows] = np.inf
    ranks = np.empty_like(near)
    for place, column in enumerate(near.T):
        own = sqdist[here, column][:, None]
        ranks[:, place] = 1 + np.count_nonzero(sqdist < own, axis=1)
        row, equal = np.nonzero(sqdist == own)
        ranks[:, place] += np.bincount(row[equal < column[row]], minlength=len(rows))
    return ranks


def _spaces(
    X: ArrayLike, Y: ArrayLike, n_neighbors: object, metric: str, squared: bool
) -> tuple[Space, Space, int]:
    data = make_space(X, metric, squared=squared)
    shown = Euclidean(points_of("the embedding", Y))
    if shown.n != data.n:
        raise ShapeError(f"the embedding has {shown.n} rows but X has {data.n}: pass one each.")
    return data, shown, checked_k(n_neighbors, data.n)
