"""Plain distances mixed into a metric: how much of them, by leaving labelled points out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, InfeasibleError
from sdpdr.base.labels import unknown
from sdpdr.families.metric.choose import pairs_from_labels
from sdpdr.families.metric.fantope import MetricAnswer, components_of
from sdpdr.families.metric.pairs import Pairs
from sdpdr.linalg.spectral import fix_signs

# Shares to choose from.
SHARES = (0.0, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0)
_FOLDS = 5


def require_share(plain: float | str) -> None:
    """Raise unless it is a share, or "auto".

    Raises
    ------
    DataError
    """
    if isinstance(plain, str):
        validate.choice("plain", plain, ("auto",))
    elif validate.non_negative("plain", plain) > 1.0:
        raise DataError(f"plain is a share, from 0 to 1; it is {plain}.")


def mixed(components: Array, points: Array, share: float) -> Array:
    r"""Components of a metric with a share of plain distances.

    .. math::  A \leftarrow (1 - t)\, A + t \, \frac{\langle A, C\rangle}{\operatorname{tr} C}\, I

    with C the covariance of the points, so that of their variance a share t is plain. Points that
    are all equal have no variance to share, and leave A as it is.

    Parameters
    ----------
    components : array of shape (k, D)
        L, with :math:`A = L^T L`.
    points : array of shape (n, D)
    share : float
        t, from 0 to 1.

    Examples
    --------
    >>> mixed(np.array([[2.0, 0.0]]), np.eye(2), 0.5).round(6)
    array([[1.732051, 0.      ],
           [0.      , 1.      ]])
    """
    all_of_them = float(np.sum(np.var(points, axis=0)))
    if share == 0.0 or all_of_them == 0.0:
        return components
    seen = float(np.sum(np.var(points @ components.T, axis=0)))
    # What is plain adds to eigenvalues, and leaves the directions as they are.
    lengths, axes = np.linalg.svd(components)[1:]
    squares = np.full(len(axes), share * seen / all_of_them)
    squares[: lengths.size] += (1.0 - share) * np.square(lengths)
    return fix_signs(axes.T * np.sqrt(squares)).T


@dataclass(frozen=True)
class ShareChoice:
    """How much of the distances is plain.

    Attributes
    ----------
    share : float
    tried : tuple of (share, share told)
        Shares of plain distances, and with each the share of points left out whose class was told.
    """

    share: float
    tried: tuple[tuple[float, float], ...]


def choose_share(
    learn: Callable[[Pairs], MetricAnswer],
    points: Array,
    labels: Array,
    n_pairs: int | None = None,
    seed: int = 0,
) -> ShareChoice:
    """The share with which the nearest neighbour tells most classes of points left out.

    Of several, the largest. Where too few points are kept for a metric, plain distances alone tell.
    Plain distances alone are among what is tried. Points are left out by their places among the
    rows, so that another order of rows may choose another share where several are nearly as good.

    Parameters
    ----------
    learn : callable
        A metric from pairs.
    points : array of shape (n, D)
    labels : array of shape (n,)
        Points whose label is not known are left out of all of it.
    n_pairs : int, optional
        As for `pairs_from_labels`.
    seed : int, default 0

    Raises
    ------
    DataError
        No class has two points.

    Examples
    --------
    >>> from sdpdr.metric import closed_form
    >>> from sdpdr.methods import contrast
    >>> labels = np.arange(60) % 2
    >>> noise = np.random.default_rng(0).standard_normal((60, 2))
    >>> points = noise * [0.1, 50.0] + np.outer(labels, [1.0, 0.0])
    >>> choose_share(lambda pairs: closed_form(contrast(pairs)), points, labels).share < 1.0
    True
    """
    labelled = ~unknown(labels)
    points = points[labelled]
    codes = np.unique(labels[labelled], return_inverse=True)[1]
    most = int(np.max(np.bincount(codes), initial=0))
    if most < 2:
        raise DataError(
            "no class has two points of which one could be left out. Pass more points, or a share."
        )
    folds = StratifiedKFold(min(_FOLDS, most), shuffle=True, random_state=seed)
    right = np.zeros(len(SHARES))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        parts = list(folds.split(points, codes))
    span = _span(points)
    for kept, left in parts:
        try:
            found = learn(pairs_from_labels(points[kept], codes[kept], n_pairs, seed)).components
        except (DataError, InfeasibleError):
            found = np.eye(points.shape[1])
        # All that is asked are distances of these points, which lie in their span.
        found = components_of((found @ span).T)
        known, asked = points[kept] @ span, points[left] @ span
        for k, share in enumerate(SHARES):
            L = mixed(found, known, share)
            told = KNeighborsClassifier(1).fit(known @ L.T, codes[kept]).predict(asked @ L.T)
            right[k] += np.sum(told == codes[left])
    tried = tuple(zip(SHARES, (right / len(codes)).tolist(), strict=True))
    return ShareChoice(max(SHARES, key=lambda share: (dict(tried)[share], share)), tried)


def _span(points: Array) -> Array:
    """Orthonormal columns among which all differences of the points lie; of many points, all."""
    n, d = points.shape
    return np.eye(d) if n > d else np.linalg.qr((points[1:] - points[0]).T)[0]
