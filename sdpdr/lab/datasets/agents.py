"""Views of an agent that moves over a picture, one action at a time; and handwritten digits."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_digits

from sdpdr.base import checks as validate
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.lab.datasets.shapes import Sample


@checks_keywords
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
    >>> from sdpdr.datasets import digits
    >>> digits(100)[0].shape
    (100, 64)
    """
    X, label = load_digits(return_X_y=True)
    stop = len(X) if n is None else validate.positive_integer("n", n)
    if stop > len(X):
        raise DataError(f"n={n} digits were requested, but there are {len(X)}: leave n out.")
    return X[:stop], label[:stop]


# Pixels of a step.
_STEP = 2
_MOVES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"R": (1, 0), "L": (-1, 0), "U": (0, -1), "D": (0, 1)}
)


@checks_keywords
def window_agent(
    actions: str = "R" * 40 + "L" * 20,
    window: int = 24,
    grain: float = 0.3,
    start: int = 40,
    scene: int = 160,
) -> Sample:
    """Return the views of an agent that moves a window over a picture, one row for each state.

    The picture is noise smoothed by a Gaussian of standard deviation 4, of mean square one, and
    goes round at its edges. A step is two pixels.

    Parameters
    ----------
    actions : str, default 40 times "R", then 20 times "L"
        Letters R, L, U and D: a step to the right, to the left, up or down. Pass the same text
        to `sdpdr.methods.are`.
    window : int, default 24
        Pixels along a side. Small windows have look-alikes elsewhere in the picture, and so false
        neighbours.
    grain : float, default 0.3
        Standard deviation of the camera's noise in every pixel. Without noise, a position looks
        the same at every visit.
    start : int, default 40
        Row and column of the first window.
    scene : int, default 160
        Pixels along a side of the picture.

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
    >>> from sdpdr.datasets import window_agent
    >>> X, position = window_agent("RRDL")
    >>> X.shape, position.tolist()
    ((5, 576), [[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [4.0, 2.0], [2.0, 2.0]])
    """
    unknown = sorted(set(actions) - set(_MOVES))
    if unknown:
        raise DataError(f"actions hold {', '.join(unknown)}, but only R, L, U and D mean a move.")
    window = validate.positive_integer("window", window)
    scene = validate.positive_integer("scene", scene, at_least=window)
    noise = np.random.default_rng(0).standard_normal((scene, scene))
    picture = gaussian_filter(noise, 4.0, mode="wrap")
    picture /= picture.std()
    moves = np.array([(0, 0), *(_MOVES[a] for a in actions)])
    position = _STEP * np.cumsum(moves, axis=0)
    side = np.arange(window)
    columns, rows = ((start + position[:, [k]] + side) % scene for k in (0, 1))
    seen = picture[rows[:, :, None], columns[:, None, :]].reshape(len(moves), window**2)
    seen = seen + grain * np.random.default_rng(1).standard_normal(seen.shape)
    return seen, position.astype(float)


@checks_keywords
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
    >>> from sdpdr.datasets import random_walk
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


@checks_keywords
def window_walk(n: int = 36, seed: int = 0) -> Sample:
    """Return the views of an agent on a `random_walk` in four directions; see `window_agent`.

    Parameters
    ----------
    n, seed : int
        As for `random_walk`, which returns the actions. The picture is the same for all seeds.

    Returns
    -------
    X : ndarray of shape (n, 256)
    position : ndarray of shape (n, 2)

    References
    ----------
    Course notes, section on Action Respecting Embedding.

    Examples
    --------
    >>> from sdpdr.datasets import window_walk
    >>> window_walk(8)[0].shape
    (8, 256)
    """
    return window_agent(random_walk(n, seed=seed), window=16, grain=0.1, start=36, scene=96)
