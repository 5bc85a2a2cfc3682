"""Points on curves, surfaces and in clouds, with the position or label of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords

Sample = tuple[Array, np.ndarray]
"""Points of shape (n, D), and a value, label or place for each."""


@checks_keywords
def swiss_roll(n: int = 1000, seed: int = 0, height: float = 21.0) -> Sample:
    r"""Rolled-up rectangle in three dimensions.

    :math:`x = (t \cos t, h, t \sin t)` with t uniform in [1.5 π, 4.5 π], h in [0, height].

    Parameters
    ----------
    n : int, default 1000
    seed : int, default 0
    height : float, default 21

    Returns
    -------
    X : ndarray of shape (n, 3)
    t : ndarray of shape (n,)

    References
    ----------
    Vasiloglou thesis, section 3.5.2; Tenenbaum, de Silva and Langford, Science 290 (2000).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.datasets import swiss_roll
    >>> X, t = swiss_roll(100, seed=0)
    >>> bool(np.allclose(np.hypot(X[:, 0], X[:, 2]), t))
    True
    """
    rng = np.random.default_rng(seed)
    n = validate.positive_integer("n", n)
    t = 1.5 * np.pi * (1.0 + 2.0 * rng.random(n))
    h = height * rng.random(n)
    return np.column_stack([t * np.cos(t), h, t * np.sin(t)]), t


@checks_keywords
def s_curve(n: int = 1000, seed: int = 0) -> Sample:
    r"""Rectangle bent to the letter S in three dimensions.

    :math:`x = (\sin t, h, \pm(\cos t - 1))` with the sign of t, t uniform in [-1.5 π, 1.5 π] and
    h in [0, 2].

    Parameters
    ----------
    n : int, default 1000
    seed : int, default 0

    Returns
    -------
    X : ndarray of shape (n, 3)
    t : ndarray of shape (n,)

    Examples
    --------
    >>> from sdpdr.datasets import s_curve
    >>> s_curve(50)[0].shape
    (50, 3)
    """
    rng = np.random.default_rng(seed)
    n = validate.positive_integer("n", n)
    t = 3.0 * np.pi * (rng.random(n) - 0.5)
    h = 2.0 * rng.random(n)
    return np.column_stack([np.sin(t), h, np.sign(t) * (np.cos(t) - 1.0)]), t


@checks_keywords
def trefoil_knot(n: int = 200) -> Sample:
    r"""Trefoil, a closed curve in three dimensions that cannot be unknotted there.

    :math:`x = (\sin t + 2 \sin 2t, \cos t - 2 \cos 2t, -\sin 3t)` at n equal steps of t.

    Parameters
    ----------
    n : int, default 200

    Returns
    -------
    X : ndarray of shape (n, 3)
    t : ndarray of shape (n,)

    References
    ----------
    Weinberger and Saul, IJCV 70 (2006), who unfold it to a circle.

    Examples
    --------
    >>> from sdpdr.datasets import trefoil_knot
    >>> trefoil_knot(60)[0].shape
    (60, 3)
    """
    t = _around(n)
    knot = [np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)]
    return np.column_stack(knot), t


@checks_keywords
def circle(n: int = 100, radius: float = 1.0) -> Sample:
    """Points at equal steps around a circle in the plane.

    Parameters
    ----------
    n : int, default 100
    radius : float, default 1

    Returns
    -------
    X : ndarray of shape (n, 2)
    t : ndarray of shape (n,)
        Angle.

    Examples
    --------
    >>> from sdpdr.datasets import circle
    >>> circle(4)[0].round(9) + 0.0
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1.,  0.],
           [ 0., -1.]])
    """
    radius, t = validate.positive_number("radius", radius), _around(n)
    return radius * np.column_stack([np.cos(t), np.sin(t)]), t


@checks_keywords
def spiral(n: int = 100) -> Sample:
    r"""Spiral in the plane, one turn and a half: :math:`x = (a \cos a, a \sin a)`.

    The angle a runs from π to 4 π as :math:`\pi + 3 \pi u^{0.65}` over equal steps of u, which
    spreads the points almost evenly along the curve.

    Parameters
    ----------
    n : int, default 100

    Returns
    -------
    X : ndarray of shape (n, 2)
    a : ndarray of shape (n,)

    Examples
    --------
    >>> from sdpdr.datasets import spiral
    >>> spiral(20)[0][0].round(3) + 0.0
    array([-3.142,  0.   ])
    """
    u = np.linspace(0.0, 1.0, validate.positive_integer("n", n))
    a = u**0.65 * 3.0 * np.pi + np.pi
    return np.column_stack([a * np.cos(a), a * np.sin(a)]), a


@checks_keywords
def path(gaps: ArrayLike = (1.0, 2.0, 0.5, 1.5, 1.0, 3.0, 0.7)) -> Sample:
    """Points on a line with the distances given between one and the next.

    Parameters
    ----------
    gaps : array_like of shape (n - 1,)

    Returns
    -------
    X : ndarray of shape (n, 1)
    position : ndarray of shape (n,)

    Examples
    --------
    >>> from sdpdr.datasets import path
    >>> path([1, 2])[1]
    array([0., 1., 3.])
    """
    position = np.concatenate([[0.0], np.cumsum(np.asarray(gaps, dtype=float).ravel())])
    return position[:, None], position


@checks_keywords
def grid_with_hole(rows: int = 12, columns: int = 12, hole: int = 4) -> Sample:
    """Planar lattice of unit spacing whose central square of hole x hole points is missing.

    Isomap stretches the hole, because paths go around it.

    Parameters
    ----------
    rows, columns : int, default 12
    hole : int, default 4
        Smaller than both.

    Returns
    -------
    X : ndarray of shape (rows * columns - hole**2, 2)
    x : ndarray
        First coordinate.

    References
    ----------
    Donoho and Grimes, "Hessian eigenmaps", PNAS 100 (2003).

    Examples
    --------
    >>> from sdpdr.datasets import grid_with_hole
    >>> grid_with_hole(5, 5, hole=1)[0].shape
    (24, 2)
    """
    sides = [validate.positive_integer(*side) for side in (("rows", rows), ("columns", columns))]
    hole = validate.positive_integer("hole", hole, at_least=0)
    if hole >= min(sides):
        raise DataError(
            f"hole={hole} leaves nothing of a {rows} x {columns} grid: make it smaller."
        )
    kept = np.ones(sides, dtype=bool)
    top, left = ((side - hole) // 2 for side in sides)
    kept[top : top + hole, left : left + hole] = False
    X = np.argwhere(kept)[:, ::-1].astype(float)
    return X, X[:, 0].copy()


@checks_keywords
def gaussian(n: int = 100, dim: int = 3, seed: int = 0) -> Sample:
    """Independent standard normal coordinates; the first one is returned as y.

    Parameters
    ----------
    n : int, default 100
    dim : int, default 3
    seed : int, default 0

    Returns
    -------
    X : ndarray of shape (n, dim)
    x : ndarray of shape (n,)

    Examples
    --------
    >>> from sdpdr.datasets import gaussian
    >>> gaussian(10, 3)[0].shape
    (10, 3)
    """
    shape = (validate.positive_integer("n", n), validate.positive_integer("dim", dim))
    X = np.random.default_rng(seed).standard_normal(shape)
    return X, X[:, 0].copy()


@checks_keywords
def two_clusters(n: int = 60, dim: int = 2, gap: float = 20.0, seed: int = 0) -> Sample:
    """Two clouds of standard normal points, too far apart for a neighbour graph to join them.

    Parameters
    ----------
    n : int, default 60
        Points in both together; the second cloud has the odd one.
    dim : int, default 2
    gap : float, default 20
        Distance of the centres, along the first axis.
    seed : int, default 0

    Returns
    -------
    X : ndarray of shape (n, dim)
    label : ndarray of int, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.datasets import two_clusters
    >>> np.bincount(two_clusters(5)[1])
    array([2, 3])
    """
    X, _ = gaussian(validate.positive_integer("n", n, at_least=2), dim, seed)
    label = (np.arange(n) >= n // 2).astype(np.int64)
    X[:, 0] += gap * label
    return X, label


def _around(n: int) -> Array:
    n = validate.positive_integer("n", n)
    return np.linspace(0.0, 2.0 * np.pi, n, endpoint=False)
