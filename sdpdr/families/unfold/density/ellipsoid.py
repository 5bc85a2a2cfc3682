r"""The ellipsoid of least volume around points, and the coordinates in which it is looked for.

The dual is the D-optimal design: over weights u on the simplex, with mean c(u) and covariance S(u),

.. math:: \max_u\ \log\det S(u) .

Any u proves a bound. If an ellipsoid :math:`(x-c')^T D (x-c') \le 1` holds all points, then
:math:`\operatorname{tr} D S(u) \le \sum_i u_i (x_i-c')^T D (x_i-c') \le 1`, so by the inequality
of the means :math:`\det D \le m^{-m} / \det S(u)`. Inflating :math:`S(u)^{-1}` until it holds all
points gives an ellipsoid that is larger than this bound by the factor :math:`(\rho/m)^{m/2}`, with
:math:`\rho` the largest squared distance from c(u) measured by :math:`S(u)^{-1}`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ModelError, UncertifiedWarning, warn


def ball_volume(dimension: int, radius: float = 1.0) -> float:
    r"""Volume of a ball, :math:`\omega_m r^m` with :math:`\omega_m = \pi^{m/2} / \Gamma(m/2+1)`.

    Parameters
    ----------
    dimension : int
        m.
    radius : float, default 1

    Examples
    --------
    >>> round(ball_volume(2), 4), round(ball_volume(3, 2.0), 4)
    (3.1416, 33.5103)
    """
    return float(np.exp(log_ball_volume(dimension)) * radius**dimension)


def log_ball_volume(dimension: int) -> float:
    r"""Logarithm of :math:`\omega_m`, which underflows for large m."""
    return float(0.5 * dimension * np.log(np.pi) - gammaln(0.5 * dimension + 1.0))


# Singular values below this share of the largest are rounding.
_RANK = 1e-9


@dataclass(frozen=True, eq=False)
class Whitening:
    r"""The change of coordinates :math:`x = \bar x + B S y` that makes points white.

    Attributes
    ----------
    points : array of shape (k, r)
        The y, with :math:`\sum_i y_i = 0` and :math:`\sum_i y_i y_i^T = k I`.
    mean : array of shape (D,)
    basis : array of shape (D, r)
        B, orthonormal columns.
    scale : array of shape (r,)
        S, descending.
    """

    points: Array
    mean: Array
    basis: Array
    scale: Array

    @property
    def rank(self) -> int:
        """Dimension of the flat that the points span."""
        return int(self.scale.size)

    def require_volume(self, advice: str) -> None:
        """Refuse points in a flat, whose ellipsoid has no volume."""
        if self.rank < self.mean.size:
            raise DataError(
                f"the {len(self.points)} points lie in a flat of {self.rank} of {self.mean.size} "
                f"dimensions, and their ellipsoid has no volume. {advice}"
            )


def whiten(X: ArrayLike, dimension: int | None = None) -> Whitening:
    """White coordinates of points.

    Parameters
    ----------
    X : array_like of shape (k, D)
    dimension : int, optional
        Keep only the directions of largest spread, this many. Default: all that the points span.

    Raises
    ------
    DataError
        The points are not finite, all equal, or span fewer dimensions than asked for.

    Examples
    --------
    >>> whiten([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]]).rank
    1
    """
    points = validate.points(X, at_least=2)
    mean = points.mean(axis=0)
    left, sizes, right = np.linalg.svd(points - mean, full_matrices=False)
    rank = int(np.sum(sizes > _RANK * sizes[0]))
    if dimension is not None:
        dimension = validate.positive_integer("dimension", dimension)
        if rank < dimension:
            raise DataError(
                f"the {len(points)} points lie in a flat of {rank} dimension"
                f"{'s' if rank != 1 else ''}, and have no volume in {dimension}. Ask for "
                f"dimension={rank} or less, or give more points."
            )
        rank = dimension
    root = np.sqrt(len(points))
    return Whitening(root * left[:, :rank], mean, right[:rank].T, sizes[:rank] / root)


# Steps between fresh computations of what the updates carry along.
_REFRESH = 50


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
    weights : array of shape (k,)
        Of the points: the design that proves it. Zero for points inside.

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
    weights: Array | None = None

    @property
    def dimension(self) -> int:
        """M."""
        return int(self.shape.shape[0])

    @property
    def log_volume(self) -> float:
        r"""Logarithm of the m-dimensional volume :math:`\omega_m (\det D)^{-1/2}`."""
        return log_ball_volume(self.dimension) - 0.5 * float(np.linalg.slogdet(self.shape)[1])

    @property
    def volume(self) -> float:
        """The m-dimensional volume."""
        return float(np.exp(self.log_volume))

    @property
    def semiaxes(self) -> Array:
        """Half the lengths of the axes, longest first."""
        return np.asarray(1.0 / np.sqrt(np.linalg.eigvalsh(self.shape)))

    def sizes(self, X: ArrayLike) -> Array:
        r""":math:`y^T D y` of points, of their projections where the ellipsoid is flat."""
        steps = (np.asarray(X, dtype=float) - self.center) @ self.basis
        return np.asarray(np.sum(steps @ self.shape * steps, axis=1))

    def contains(self, X: ArrayLike, tol: float = 1e-9) -> Array:
        """Whether points (their projections) lie inside, to a relative ``tol``."""
        return np.asarray(self.sizes(X) <= 1.0 + tol)


def minimum_ellipsoid(
    X: ArrayLike,
    *,
    dimension: int | None = None,
    flat: str = "error",
    tol: float = 1e-7,
    max_iter: int = 100_000,
) -> Ellipsoid:
    """The ellipsoid of least volume that holds all points, with a proof of how small it is.

    Parameters
    ----------
    X : array_like of shape (k, D)
    dimension : int, optional
        Project onto the directions of largest spread, this many, first.
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
        The points are flat, not finite or all equal.
    ModelError
        ``tol`` is not positive, or ``flat`` is neither.

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
    if flat not in ("error", "project"):
        raise ModelError(f"flat must be 'error' or 'project'; it is {flat!r}.")
    if not 0.0 < tol < np.inf:
        raise ModelError(f"tol must be positive; it is {tol}.")
    white = whiten(X, dimension)
    n_features = white.mean.size
    if dimension is None and flat == "error":
        white.require_volume(
            "Use flat='project' for the ellipsoid within the flat, or give more points."
        )
    weights = _design(white.points, tol, max_iter)
    center = weights @ white.points
    steps = white.points - center
    inverse = np.linalg.inv((weights * steps.T) @ steps)
    largest = np.max(np.sum(steps @ inverse * steps, axis=1))
    gap = max(0.0, 0.5 * white.rank * float(np.log(largest / white.rank)))
    if gap > 2.0 * tol:
        warn(
            f"after {max_iter} steps the volume is within a factor of exp({gap:.1e}) of the least; "
            "tol was not reached.",
            UncertifiedWarning,
        )
    shape = inverse / largest / np.outer(white.scale, white.scale)
    basis = white.basis
    if white.rank == n_features:
        # Nothing is idle, so the coordinates of the data will do.
        shape, basis = basis @ shape @ basis.T, np.eye(n_features)
    center = white.mean + white.basis @ (white.scale * center)
    return Ellipsoid(center, (shape + shape.T) / 2.0, basis, gap, weights)


def _design(points: Array, tol: float, max_iter: int) -> Array:
    """Weights that maximise log det of the covariance."""
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
        move = _step(float(sizes[j]), float(weights[j]), d)
        image = inverse @ lifted[j]
        part = move / (1.0 - move + move * sizes[j])
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
    ends: list[int] = []
    segments = np.zeros((m, 0))
    for step in range(m):
        heights = points @ np.linalg.qr(segments, mode="complete")[0][:, step]
        pair = [int(np.argmax(heights)), int(np.argmin(heights))]
        segments = np.column_stack([segments, points[pair[0]] - points[pair[1]]])
        ends += pair
    weights = np.zeros(k)
    weights[ends] = 1.0
    return weights / weights.sum()


def _step(size: float, weight: float, d: int) -> float:
    """The best step towards a point (or away from it, at most until its weight is gone)."""
    all_of_it = -weight / (1.0 - weight) if weight < 1.0 else -np.inf
    if size <= 1.0:
        return all_of_it
    return float(max((size - d) / (d * (size - 1.0)), all_of_it))
