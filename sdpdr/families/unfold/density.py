r"""How dense points lie: by a ball, by an ellipsoid; and the least ellipsoid itself.

The dual of the least ellipsoid is the D-optimal design: over weights u on the simplex, with mean
c(u) and covariance S(u), :math:`\max_u \log\det S(u)`. Any u proves a bound. If an ellipsoid
:math:`(x-c')^T D (x-c') \le 1` holds all points, then :math:`\operatorname{tr} D S(u) \le
\sum_i u_i (x_i-c')^T D (x_i-c') \le 1`, so by the inequality of the means
:math:`\det D \le m^{-m} / \det S(u)`. Inflating :math:`S(u)^{-1}` until it holds all points gives
an ellipsoid that is larger than this bound by the factor :math:`(\rho/m)^{m/2}`, with :math:`\rho`
the largest squared distance from c(u) measured by :math:`S(u)^{-1}`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, UncertifiedWarning, warn
from sdpdr.graphs.space import Euclidean

__all__ = ["Ellipsoid", "ball", "ellipsoid", "minimum_ellipsoid"]

# Singular values below this share of the largest are rounding.
_RANK = 1e-9
# Steps between fresh computations of what the updates carry along.
_REFRESH = 50


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
    radius = np.sqrt(space.sqdist(np.arange(n), _neighbors(space, n_neighbors)[:, -1]))
    stuck = np.flatnonzero(radius == 0.0)
    if stuck.size:
        raise DataError(
            f"point {stuck[0]} coincides with {n_neighbors} others, so its density is infinite. "
            "Use more neighbours, or leave out duplicates."
        )
    return np.asarray(n_neighbors / (n - 1) * np.exp(-_log_ball_volume(m) - m * np.log(radius)))


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
        m; D by default. Where it is smaller, neighbourhoods are projected onto their m directions
        of largest spread.
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
        white = whiten(points[[j, *near]], m)
        if white.scale.size < m:
            raise DataError(
                f"around point {j}, the {len(near) + 1} points lie in a flat of "
                f"{white.scale.size} dimensions, and have no volume in {m}. Ask for a smaller "
                "dimension, or use more neighbours."
            )
        volumes[j] = _least(white, tol, 100_000).log_volume
    return np.asarray((n_neighbors + 1) / n * np.exp(-volumes))


def _neighbors(space: Euclidean, n_neighbors: int) -> Index:
    others = space.n - 1
    why = f"as a point has only {others} others"
    k = validate.positive_integer("n_neighbors", n_neighbors, at_most=others, why=why)
    return space.nearest(k)


def _dimension(points: Array, dimension: int | None) -> int:
    D = int(points.shape[1])
    why = f"as points have only {D} coordinates"
    if dimension is None:
        return D
    return validate.positive_integer("dimension", dimension, at_most=D, why=why)


def _log_ball_volume(m: int) -> float:
    """Logarithm of the volume of the unit ball, which underflows for large m."""
    return float(0.5 * m * np.log(np.pi) - gammaln(0.5 * m + 1.0))


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    r"""The points c + B y with :math:`y^T D y \le 1`.

    Attributes
    ----------
    center : array of shape (D,)
        c.
    shape : array of shape (m, m)
        D, positive definite.
    basis : array of shape (D, m)
        B, orthonormal columns; the identity where the ellipsoid has full dimension.
    gap : float
        The volume exceeds the least possible by a factor of at most exp(gap).

    Examples
    --------
    >>> unit = Ellipsoid(np.zeros(2), np.eye(2), np.eye(2))
    >>> round(unit.volume, 4), unit.contains([[1.0, 0.0], [1.0, 1.0]])
    (3.1416, array([ True, False]))
    """

    center: Array
    shape: Array
    basis: Array
    gap: float = float("inf")

    @property
    def log_volume(self) -> float:
        r"""Logarithm of the m-dimensional volume :math:`\omega_m (\det D)^{-1/2}`."""
        return _log_ball_volume(len(self.shape)) - 0.5 * float(np.linalg.slogdet(self.shape)[1])

    @property
    def volume(self) -> float:
        """The m-dimensional volume."""
        return float(np.exp(self.log_volume))

    def contains(self, X: ArrayLike, tol: float = 1e-9) -> Array:
        """Whether points (their projections) lie inside, to a relative ``tol``."""
        steps = (np.asarray(X, dtype=float) - self.center) @ self.basis
        return np.asarray(np.sum(steps @ self.shape * steps, axis=1) <= 1.0 + tol)


def minimum_ellipsoid(
    X: ArrayLike, *, flat: str = "error", tol: float = 1e-7, max_iter: int = 100_000
) -> Ellipsoid:
    """The ellipsoid of least volume that holds all points, with a proof of how small it is.

    Parameters
    ----------
    X : array_like of shape (k, D)
    flat : {"error", "project"}, default "error"
        What to do where the points span fewer than D dimensions: refuse, or find the ellipsoid
        within the flat that they span.
    tol : float, default 1e-7
        Of the relative excess of volume.
    max_iter : int, default 100000

    Returns
    -------
    Ellipsoid

    Raises
    ------
    DataError
        The points are flat, not finite or all equal; or ``tol`` is not positive.

    Warns
    -----
    UncertifiedWarning
        `max_iter` was reached first; ``gap`` tells what is proved.

    References
    ----------
    Khachiyan, "Rounding of polytopes in the real number model of computation", Math. Oper. Res.
    21, 1996; Todd and Yildirim, "On Khachiyan's algorithm for the computation of minimum-volume
    enclosing ellipsoids", Discrete Applied Mathematics 155, 2007. Vasiloglou thesis, (2.9).

    Examples
    --------
    >>> triangle = minimum_ellipsoid([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> triangle.shape.round(4).tolist(), round(triangle.volume, 6)
    ([[3.0, 1.5], [1.5, 3.0]], 1.2092)
    """
    validate.choice("flat", flat, ("error", "project"))
    white = whiten(X)
    if flat == "error":
        white.require_volume(
            "Use flat='project' for the ellipsoid within the flat, or give more points."
        )
    return _least(white, validate.positive_number("tol", tol), max_iter)


@dataclass(frozen=True, eq=False)
class Whitening:
    r"""The change of coordinates :math:`x = \bar x + B S y` that makes points white.

    Of shapes: ``points`` y (k, r) with mean zero and covariance one, ``mean`` (D,), ``basis`` B
    (D, r) orthonormal, and ``scale``, the diagonal of S, descending.
    """

    points: Array
    mean: Array
    basis: Array
    scale: Array

    def require_volume(self, advice: str) -> None:
        """Refuse points in a flat, whose ellipsoid has no volume."""
        if self.scale.size < self.mean.size:
            raise DataError(
                f"the {len(self.points)} points lie in a flat of {self.scale.size} of "
                f"{self.mean.size} dimensions, and their ellipsoid has no volume. {advice}"
            )

    def unwhitened(self, center: Array, shape: Array, gap: float) -> Ellipsoid:
        """An ellipsoid of white coordinates in those of the points."""
        shape = shape / np.outer(self.scale, self.scale)
        basis = self.basis
        if self.scale.size == self.mean.size:  # no direction is left out
            shape, basis = basis @ shape @ basis.T, np.eye(self.mean.size)
        center = self.mean + self.basis @ (self.scale * center)
        return Ellipsoid(center, (shape + shape.T) / 2.0, basis, gap)


def whiten(X: ArrayLike, dimension: int | None = None) -> Whitening:
    """White coordinates of points, in at most so many directions of largest spread."""
    points = validate.points(X, at_least=2)
    mean, root = points.mean(axis=0), np.sqrt(len(points))
    left, sizes, right = np.linalg.svd(points - mean, full_matrices=False)
    rank = int(np.sum(sizes > _RANK * sizes[0]))
    rank = rank if dimension is None else min(rank, dimension)
    return Whitening(root * left[:, :rank], mean, right[:rank].T, sizes[:rank] / root)


def _least(white: Whitening, tol: float, max_iter: int) -> Ellipsoid:
    """The ellipsoid of the best design, inflated until it holds all points."""
    weights, m = _design(white.points, tol, max_iter), white.scale.size
    center = weights @ white.points
    steps = white.points - center
    inverse = np.linalg.inv((weights * steps.T) @ steps)
    largest = np.max(np.sum(steps @ inverse * steps, axis=1))
    gap = max(0.0, 0.5 * m * float(np.log(largest / m)))
    if gap > 2.0 * tol:
        warn(
            f"after {max_iter} steps the volume is within a factor of exp({gap:.1e}) of the least; "
            "tol was not reached.",
            UncertifiedWarning,
        )
    return white.unwhitened(center, inverse / largest, gap)


def _design(points: Array, tol: float, max_iter: int) -> Array:
    """Weights that maximise log det of the covariance: Khachiyan's steps, and steps away."""
    k, m = points.shape
    lifted, d = np.column_stack([points, np.ones(k)]), m + 1
    weights = _start(points)
    for step in range(max_iter):
        if step % _REFRESH == 0:
            inverse = np.linalg.inv((weights * lifted.T) @ lifted)
            sizes = np.sum(lifted @ inverse * lifted, axis=1)
        high = int(np.argmax(sizes))
        if 0.5 * m * float(np.log((sizes[high] - 1.0) / m)) <= tol:
            break
        low = int(np.argmin(np.where(weights > 0.0, sizes, np.inf)))
        j = high if sizes[high] - d >= d - sizes[low] else low
        # The best step towards a point, or away from it, at most until its weight is gone.
        size, weight = float(sizes[j]), float(weights[j])
        move = -weight / (1.0 - weight) if weight < 1.0 else -np.inf
        if size > 1.0:
            move = max(move, (size - d) / (d * (size - 1.0)))
        image = inverse @ lifted[j]
        part = move / (1.0 - move + move * size)
        sizes = (sizes - part * np.square(lifted @ image)) / (1.0 - move)
        inverse = (inverse - part * np.outer(image, image)) / (1.0 - move)
        weights *= 1.0 - move
        weights[j] = max(0.0, weights[j] + move)
    return weights / weights.sum()


def _start(points: Array) -> Array:
    """Equal weights on the ends of m directions: few points, so few to take weight from again.

    Kumar and Yildirim, J. Optim. Theory Appl. 126, 2005: each direction is orthogonal to the
    segments between the ends so far.
    """
    k, m = points.shape
    weights, segments = np.zeros(k), np.zeros((m, 0))
    for step in range(m):
        heights = points @ np.linalg.qr(segments, mode="complete")[0][:, step]
        pair = [int(np.argmax(heights)), int(np.argmin(heights))]
        segments = np.column_stack([segments, points[pair[0]] - points[pair[1]]])
        weights[pair] = 1.0
    return weights / weights.sum()
