"""The density at every point of a sample: three estimates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, ModelError
from sdpdr.families.unfold.density.ellipsoid import log_ball_volume, minimum_ellipsoid
from sdpdr.graphs.search import blocks
from sdpdr.graphs.space import Euclidean

# Rows whose distances to all points are held at once.
_BLOCK = 500


def kernel(
    X: ArrayLike,
    bandwidth: float | None = None,
    *,
    dimension: int | None = None,
    leave_one_out: bool = False,
) -> Array:
    r"""Density at every point by a Gaussian kernel.

    .. math:: f_j = \frac{1}{n\,(2\pi h^2)^{m/2}} \sum_i \exp(-|x_i - x_j|^2 / 2h^2)

    Parameters
    ----------
    X : array_like of shape (n, D)
    bandwidth : float, optional
        h. Default: Scott's rule, :math:`\sigma n^{-1/(m+4)}` with :math:`\sigma^2` the variance
        of a coordinate, on average over m of them.
    dimension : int, optional
        m, the dimension that points fill; D by default.
    leave_one_out : bool, default False
        Leave j out of its own sum, and divide by n - 1.

    Returns
    -------
    array of shape (n,)

    Raises
    ------
    DataError, ModelError
        The points cannot be used; the bandwidth is not positive.

    Examples
    --------
    >>> kernel([[0.0], [0.0], [3.0]], 1.0).round(4)
    array([0.2674, 0.2674, 0.1359])
    """
    points = validate.points(X)
    n, m = len(points), _dimension(points, dimension)
    if bandwidth is None:
        spread = float(np.sum(np.var(points, axis=0))) / m
        bandwidth = float(np.sqrt(spread)) * n ** (-1.0 / (m + 4))
    if not 0.0 < bandwidth < np.inf:
        raise ModelError(f"bandwidth must be positive and finite; it is {bandwidth}.")
    sums, space = np.zeros(n), Euclidean(points)
    for rows in blocks(np.arange(n), _BLOCK):
        sqdist = space.sqdist_to_all(rows)
        sums[rows] = np.exp(-sqdist / (2.0 * bandwidth**2)).sum(axis=1)
    if leave_one_out:
        sums, n = sums - 1.0, n - 1
    return np.asarray(sums / (n * (2.0 * np.pi * bandwidth**2) ** (m / 2.0)))


def ball(X: ArrayLike, n_neighbors: int = 15, *, dimension: int | None = None) -> Array:
    r"""Density at every point by the ball that reaches its k-th neighbour.

    .. math:: f_j = \frac{k}{(n-1)\, \omega_m r_k^m}

    Parameters
    ----------
    X : array_like of shape (n, D)
    n_neighbors : int, default 15
        k.
    dimension : int, optional
        m, the dimension that points fill; D by default.

    Returns
    -------
    array of shape (n,)

    Raises
    ------
    DataError
        The points cannot be used, there are not k others, or k others coincide with a point.

    References
    ----------
    Loftsgaarden and Quesenberry, "A nonparametric estimate of a multivariate density function",
    Ann. Math. Statist. 36, 1965. Vasiloglou thesis, (6.34), where r is squared.

    Examples
    --------
    >>> ball([[0.0], [1.0], [3.0]], 1).round(4)
    array([0.25 , 0.25 , 0.125])
    """
    points = validate.points(X)
    n, m = len(points), _dimension(points, dimension)
    space = Euclidean(points)
    table = _neighbors(space, n_neighbors)
    radius = np.sqrt(space.sqdist(np.arange(n), table[:, -1]))
    stuck = np.flatnonzero(radius == 0.0)
    if stuck.size:
        raise DataError(
            f"point {stuck[0]} coincides with {n_neighbors} others, so its density is infinite. "
            "Use more neighbours, or leave out duplicates."
        )
    return np.asarray(n_neighbors / (n - 1) * np.exp(-log_ball_volume(m) - m * np.log(radius)))


def ellipsoid(
    X: ArrayLike, n_neighbors: int = 15, *, dimension: int | None = None, tol: float = 1e-3
) -> Array:
    r"""Density at every point by the least ellipsoid around it and its k neighbours.

    .. math:: f_j = \frac{k + 1}{n\, \omega_m \det(D_j)^{-1/2}}

    The ellipsoid follows the points where a ball does not, but it clings to them: the estimate is
    too large, by a half for k = 15 in the plane.

    Parameters
    ----------
    X : array_like of shape (n, D)
    n_neighbors : int, default 15
        k. The ellipsoid holds k + 1 points.
    dimension : int, optional
        m, the dimension that points fill; D by default. Where it is smaller, neighbourhoods are
        projected onto their m directions of largest spread.
    tol : float, default 1e-3
        Relative error allowed of volumes.

    Returns
    -------
    array of shape (n,)

    Raises
    ------
    DataError
        The points cannot be used, k < m, or a neighbourhood is flat.

    References
    ----------
    Vasiloglou thesis, (2.9) and (6.35), the latter without the root and with the determinant of
    the wrong matrix.

    Examples
    --------
    >>> ellipsoid([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 2).round(3)
    array([0.827, 0.827, 0.827])
    """
    points = validate.points(X)
    n, m = len(points), _dimension(points, dimension)
    table = _neighbors(Euclidean(points), n_neighbors)
    if n_neighbors < m:
        raise DataError(
            f"{n_neighbors} neighbours and the point itself span {n_neighbors} dimensions at "
            f"most, and have no volume in {m}. Use n_neighbors >= {m}, or a smaller dimension."
        )
    volumes = np.empty(n)
    for j, near in enumerate(table):
        try:
            found = minimum_ellipsoid(points[[j, *near]], dimension=m, tol=tol)
        except DataError as error:
            raise DataError(f"around point {j}, {error}") from error
        volumes[j] = found.log_volume
    return np.asarray((n_neighbors + 1) / n * np.exp(-volumes))


def _neighbors(space: Euclidean, n_neighbors: int) -> Index:
    others = space.n - 1
    why = f"as a point has only {others} others"
    k = validate.positive_integer("n_neighbors", n_neighbors, at_most=others, why=why)
    return space.nearest(k)


def _dimension(points: Array, dimension: int | None) -> int:
    n_features = int(points.shape[1])
    if dimension is None:
        return n_features
    return validate.positive_integer(
        "dimension",
        dimension,
        at_most=n_features,
        why=f"as points have only {n_features} coordinates",
    )
