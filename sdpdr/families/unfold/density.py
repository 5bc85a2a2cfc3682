r"""The ellipsoid of least volume around points.

The dual is the D-optimal design: over weights u on the simplex, with mean
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
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, UncertifiedWarning, warn
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.limits import ROUNDING

__all__ = ["Ellipsoid", "minimum_ellipsoid"]

# Steps after which updated quantities are computed anew.
_REFRESH = 50


def _log_ball_volume(m: int) -> float:
    """Logarithm of the volume of the unit ball, which underflows for large m."""
    return float(0.5 * m * np.log(np.pi) - gammaln(0.5 * m + 1.0))


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    r"""The points c + y with :math:`y^T D y \le 1`.

    Attributes
    ----------
    center : array of shape (m,)
        c.
    shape : array of shape (m, m)
        D, positive definite.
    gap : float
        The volume exceeds the least possible by a factor of at most exp(gap).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.density import Ellipsoid
    >>> unit = Ellipsoid(np.zeros(2), np.eye(2))
    >>> round(unit.volume, 4), unit.contains([[1.0, 0.0], [1.0, 1.0]])
    (3.1416, array([ True, False]))
    """

    center: Array
    shape: Array
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
        """Whether points lie inside, to a relative ``tol``."""
        steps = np.asarray(X, dtype=float) - self.center
        return np.asarray(np.sum(steps @ self.shape * steps, axis=1) <= 1.0 + tol)


@checks_keywords
def minimum_ellipsoid(X: ArrayLike, *, tol: float = 1e-7, max_iter: int = 100_000) -> Ellipsoid:
    """The ellipsoid of least volume that contains all points, with a bound on its excess volume.

    Parameters
    ----------
    X : array_like of shape (k, m)
    tol : float, default 1e-7
        Relative excess of volume at which to stop.
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
        `max_iter` was reached first; ``gap`` is the proved accuracy.

    References
    ----------
    Khachiyan, "Rounding of polytopes in the real number model of computation", Math. Oper. Res.
    21, 1996; Todd and Yildirim, "On Khachiyan's algorithm for the computation of minimum-volume
    enclosing ellipsoids", Discrete Applied Mathematics 155, 2007. Vasiloglou thesis, (2.9).

    Examples
    --------
    >>> from sdpdr.density import minimum_ellipsoid
    >>> triangle = minimum_ellipsoid([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> triangle.shape.round(4).tolist(), round(triangle.volume, 6)
    ([[3.0, 1.5], [1.5, 3.0]], 1.2092)
    """
    white = whiten(X)
    weights = _design(white.points, validate.positive_number("tol", tol), max_iter)
    center, m = weights @ white.points, white.points.shape[1]
    steps = white.points - center
    inverse = np.linalg.inv((weights * steps.T) @ steps)
    # Inflate the ellipsoid of the design until it contains all points.
    largest = np.max(np.sum(steps @ inverse * steps, axis=1))
    gap = max(0.0, 0.5 * m * float(np.log(largest / m)))
    if gap > 2.0 * tol:
        warn(
            f"after {max_iter} steps the volume is within a factor of exp({gap:.1e}) of the least; "
            "tol was not reached.",
            UncertifiedWarning,
        )
    return white.unwhitened(center, inverse / largest, gap)


@dataclass(frozen=True, eq=False)
class Whitening:
    r"""The change of coordinates :math:`x = \bar x + A y` that whitens points.

    ``points`` y, shape (k, m), have mean zero and covariance one; ``mean`` has shape (m,) and
    ``map`` A shape (m, m).
    """

    points: Array
    mean: Array
    map: Array

    def unwhitened(self, center: Array, shape: Array, gap: float) -> Ellipsoid:
        """An ellipsoid in white coordinates, transformed to the original ones."""
        inverse = np.linalg.inv(self.map)
        shape = inverse.T @ shape @ inverse
        return Ellipsoid(self.mean + self.map @ center, (shape + shape.T) / 2.0, gap)


def whiten(X: ArrayLike) -> Whitening:
    """White coordinates of points, which must span all dimensions."""
    points = validate.points(X, at_least=2)
    mean, root = points.mean(axis=0), np.sqrt(len(points))
    left, sizes, right = np.linalg.svd(points - mean, full_matrices=False)
    rank = int(np.sum(sizes > ROUNDING * sizes[0]))
    if rank < mean.size:
        raise DataError(
            f"the {len(points)} points lie in a flat of {rank} of {mean.size} dimensions, and "
            "their ellipsoid has no volume. Give more points, or project them onto that flat, with "
            f"sklearn.decomposition.PCA({rank})."
        )
    return Whitening(root * left, mean, right.T * (sizes / root))


def _design(points: Array, tol: float, max_iter: int) -> Array:
    """Weights that maximise log det of the covariance, by Khachiyan's steps and away steps."""
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
        # The best step towards a point, or away from it until its weight is zero.
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
    """Equal weights on the extreme points of m directions, so that few points have weight.

    Kumar and Yildirim, J. Optim. Theory Appl. 126, 2005: each direction is orthogonal to the
    segments between the previous extreme points.
    """
    k, m = points.shape
    weights, segments = np.zeros(k), np.zeros((m, 0))
    for step in range(m):
        heights = points @ np.linalg.qr(segments, mode="complete")[0][:, step]
        pair = [int(np.argmax(heights)), int(np.argmin(heights))]
        segments = np.column_stack([segments, points[pair[0]] - points[pair[1]]])
        weights[pair] = 1.0
    return weights / weights.sum()
