"""Data to try methods on: generated sets with a known shape, and the digits of scikit-learn.

Every function returns ``(X, y)``: points of shape (n, D), and for each point the value that
should vary smoothly over a good embedding (a position along the manifold) or its label. Of
`window_agent` and `window_walk` that value is a place, so that y has two columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_digits

from sdpdr.errors import DataError, UnknownNameError
from sdpdr.graphs import validate
from sdpdr.graphs.arrays import Array

Sample = tuple[Array, np.ndarray]


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
    >>> X, t = swiss_roll(100, seed=0)
    >>> bool(np.allclose(np.hypot(X[:, 0], X[:, 2]), t))
    True
    """
    rng = np.random.default_rng(seed)
    n = validate.positive_integer("n", n)
    t = 1.5 * np.pi * (1.0 + 2.0 * rng.random(n))
    h = height * rng.random(n)
    return np.column_stack([t * np.cos(t), h, t * np.sin(t)]), t


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
    >>> s_curve(50)[0].shape
    (50, 3)
    """
    rng = np.random.default_rng(seed)
    n = validate.positive_integer("n", n)
    t = 3.0 * np.pi * (rng.random(n) - 0.5)
    h = 2.0 * rng.random(n)
    return np.column_stack([np.sin(t), h, np.sign(t) * (np.cos(t) - 1.0)]), t


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
    >>> trefoil_knot(60)[0].shape
    (60, 3)
    """
    t = _around(n)
    knot = [np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)]
    return np.column_stack(knot), t


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
    >>> circle(4)[0].round(9) + 0.0
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1.,  0.],
           [ 0., -1.]])
    """
    radius, t = validate.positive_number("radius", radius), _around(n)
    return radius * np.column_stack([np.cos(t), np.sin(t)]), t


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
    >>> spiral(20)[0][0].round(3) + 0.0
    array([-3.142,  0.   ])
    """
    u = np.linspace(0.0, 1.0, validate.positive_integer("n", n))
    a = u**0.65 * 3.0 * np.pi + np.pi
    return np.column_stack([a * np.cos(a), a * np.sin(a)]), a


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
    >>> path([1, 2])[1]
    array([0., 1., 3.])
    """
    position = np.concatenate([[0.0], np.cumsum(np.asarray(gaps, dtype=float).ravel())])
    return position[:, None], position


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
    >>> gaussian(10, 3)[0].shape
    (10, 3)
    """
    shape = (validate.positive_integer("n", n), validate.positive_integer("dim", dim))
    X = np.random.default_rng(seed).standard_normal(shape)
    return X, X[:, 0].copy()


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
    >>> np.bincount(two_clusters(5)[1])
    array([2, 3])
    """
    X, _ = gaussian(validate.positive_integer("n", n, at_least=2), dim, seed)
    label = (np.arange(n) >= n // 2).astype(np.int64)
    X[:, 0] += gap * label
    return X, label


def digits(n: int | None = None) -> Sample:
    """Handwritten digits, 8 x 8 pixels from 0 to 16, as `sklearn.datasets.load_digits` has them.

    Parameters
    ----------
    n : int, optional
        Only the first n of 1797.

    Returns
    -------
    X : ndarray of shape (n, 64)
    label : ndarray of int, shape (n,)

    Examples
    --------
    >>> digits(100)[0].shape
    (100, 64)
    """
    X, label = load_digits(return_X_y=True)
    stop = len(X) if n is None else validate.positive_integer("n", n)
    if stop > len(X):
        raise DataError(f"n={n} digits were asked for, but there are {len(X)}: leave n out.")
    return X[:stop], label[:stop]


_MOVES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"R": (1, 0), "L": (-1, 0), "U": (0, -1), "D": (0, 1)}
)


def window_agent(
    actions: str = "R" * 40 + "L" * 20,
    step: int = 2,
    window: int = 24,
    grain: float = 0.3,
    start: int = 40,
    scene: int = 160,
    blur: float = 4.0,
    seed: int = 0,
) -> Sample:
    """What an agent sees that moves a window over a picture, one row for each state.

    The picture is noise smoothed by a Gaussian, of mean square one, and goes round at its edges.

    Parameters
    ----------
    actions : str, default 40 times "R", then 20 times "L"
        Letters R, L, U and D: a step to the right, to the left, up or down. Pass the same text
        to `sdpdr.methods.are`.
    step : int, default 2
        Pixels.
    window : int, default 24
        Pixels along a side. Small windows have look-alikes elsewhere in the picture, and so false
        neighbours.
    grain : float, default 0.3
        Standard deviation of what the camera adds to every pixel. Without, a place looks the
        same at every visit.
    start : int, default 40
        Row and column of the first window.
    scene : int, default 160
        Pixels along a side of the picture.
    blur : float, default 4
        Standard deviation of the Gaussian, in pixels.
    seed : int, default 0
        Of the picture; that of the noise is one more.

    Returns
    -------
    X : ndarray of shape (len(actions) + 1, window**2)
    position : ndarray of shape (len(actions) + 1, 2)
        Column and row of the window, in pixels from the start.

    Raises
    ------
    DataError
        An action has no meaning, or a size is not positive.

    References
    ----------
    Course notes, section on Action Respecting Embedding; Bowling, Ghodsi and Wilkinson, "Action
    respecting embedding", ICML 2005.

    Examples
    --------
    >>> X, position = window_agent("RRDL")
    >>> X.shape, position.tolist()
    ((5, 576), [[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [4.0, 2.0], [2.0, 2.0]])
    """
    unknown = sorted(set(actions) - set(_MOVES))
    if unknown:
        raise DataError(f"actions hold {', '.join(unknown)}, but only R, L, U and D mean a move.")
    step, window = (
        validate.positive_integer("step", step),
        validate.positive_integer("window", window),
    )
    scene = validate.positive_integer("scene", scene, at_least=window)
    picture = gaussian_filter(
        np.random.default_rng(seed).standard_normal((scene, scene)),
        validate.positive_number("blur", blur),
        mode="wrap",
    )
    picture /= picture.std()
    moves = np.array([(0, 0), *(_MOVES[a] for a in actions)])
    position = step * np.cumsum(moves, axis=0)
    side = np.arange(window)
    columns, rows = ((start + position[:, [k]] + side) % scene for k in (0, 1))
    seen = picture[rows[:, :, None], columns[:, None, :]].reshape(len(moves), window**2)
    seen = seen + grain * np.random.default_rng(seed + 1).standard_normal(seen.shape)
    return seen, position.astype(float)


def random_walk(n: int = 36, side: int = 5, seed: int = 0) -> str:
    """Actions of a walk in four directions that stays inside a square and starts in its corner.

    Parameters
    ----------
    n : int, default 36
        Number of states; there is one action less.
    side : int, default 5
        Places along a side of the square, at least two.
    seed : int, default 0

    Returns
    -------
    str
        Letters R, L, U and D, for `window_agent` and `sdpdr.methods.are`.

    Examples
    --------
    >>> random_walk(8)
    'DURRRRD'
    """
    n = validate.positive_integer("n", n)
    side = validate.positive_integer("side", side, at_least=2)
    rng, place, taken = np.random.default_rng(seed), np.zeros(2, dtype=np.int64), ""
    while len(taken) < n - 1:
        action = "RLUD"[rng.integers(4)]
        trial = place + _MOVES[action]
        if (trial >= 0).all() and (trial < side).all():
            place, taken = trial, taken + action
    return taken


def window_walk(n: int = 36, side: int = 5, seed: int = 0, grain: float = 0.1) -> Sample:
    """What an agent sees on a `random_walk` in four directions, as `window_agent` makes it.

    Parameters
    ----------
    n, side, seed
        As for `random_walk`, which gives the actions again. The picture is the same for all.
    grain : float, default 0.1
        As for `window_agent`.

    Returns
    -------
    X : ndarray of shape (n, 256)
    position : ndarray of shape (n, 2)

    References
    ----------
    Course notes, section on Action Respecting Embedding.

    Examples
    --------
    >>> window_walk(8)[0].shape
    (8, 256)
    """
    actions = random_walk(n, side, seed)
    return window_agent(actions, window=16, grain=grain, start=36, scene=96)


generators: Mapping[str, Callable[..., Sample]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            swiss_roll,
            s_curve,
            trefoil_knot,
            circle,
            spiral,
            path,
            grid_with_hole,
            gaussian,
            two_clusters,
            digits,
            window_agent,
            window_walk,
        )
    }
)
"""All data sets of this module by name."""


def generate(name: str, **arguments: object) -> Sample:
    """Make the data set of a name.

    Parameters
    ----------
    name : str
        A key of `generators`.
    **arguments
        Passed on.

    Raises
    ------
    UnknownNameError
        There is no such data set; the nearest name is offered.
    DataError
        The data set does not take such an argument.

    Examples
    --------
    >>> generate("swiss_roll", n=30)[0].shape
    (30, 3)
    """
    if name not in generators:
        raise UnknownNameError("data set", name, generators)
    parameters = signature(generators[name]).parameters
    unknown = sorted(set(arguments) - set(parameters))
    if unknown:
        raise DataError(
            f"{name} takes {', '.join(parameters)}, not {', '.join(unknown)}. Rename or drop it."
        )
    return generators[name](**arguments)


def _around(n: int) -> Array:
    n = validate.positive_integer("n", n)
    return np.linspace(0.0, 2.0 * np.pi, n, endpoint=False)
