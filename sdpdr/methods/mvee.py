"""The ellipsoid of least volume around points, as a semidefinite program."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.blocks import Gram
from sdpdr.blocks.ellipsoid import Enclosing, RootDeterminant
from sdpdr.blocks.entries import TraceAtMost
from sdpdr.blocks.geomean import GeometricMean
from sdpdr.density.ellipsoid import Ellipsoid
from sdpdr.density.whitening import Whitening, whiten
from sdpdr.errors import DataError
from sdpdr.model import Model
from sdpdr.program import Factor, Solution


def mvee(X: ArrayLike) -> Model:
    r"""Minimum-volume enclosing ellipsoid of points in white coordinates.

    .. math::

        \max\ (\det Z)^{1/m} \quad\text{s.t.}\quad
        W = \begin{pmatrix} s & z^T \\ z & Z \end{pmatrix} \succeq 0,\quad
        x_i^T Z x_i - 2 z^T x_i + s \le 1 .

    The ellipsoid is :math:`(x - c)^T Z (x - c) \le 1` with :math:`c = Z^{-1} z`. The points are
    moved to mean zero and covariance one first: the problem is the same in all coordinates, but
    solvers fail where the data lie far from the origin. In white coordinates the rows add up to
    :math:`\operatorname{tr} W \le 1`, which is stated too, and from which bounds are proved.
    `ellipsoid_of` reads the ellipsoid off in the coordinates of X.
    `sdpdr.density.minimum_ellipsoid` finds it in a fraction of the time; this is the same as a
    program with multipliers, to compare solvers with and to add blocks to.

    Parameters
    ----------
    X : array_like of shape (k, m)
        At least m + 1 of the points affinely independent.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        The points span fewer than m dimensions: their ellipsoid has no volume.

    References
    ----------
    Vasiloglou thesis, (2.9).

    Examples
    --------
    >>> mvee([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    Gram + Enclosing + TraceAtMost + RootDeterminant + GeometricMean
    """
    points = _full(X).points
    m = points.shape[1]
    root = RootDeterminant(m)
    blocks = (
        Gram(m + 1, "W"),
        Enclosing(points),
        TraceAtMost(m + 1, 1.0, gram="W"),
        root,
        GeometricMean(root.diagonal),
    )
    return Model(blocks, name="mvee", maximize=True)


def ellipsoid_of(solution: Solution, X: ArrayLike) -> Ellipsoid:
    r"""The ellipsoid that a solution of `mvee` found, in the coordinates of the points.

    It is blown up until it holds all points. Its ``gap`` rests on the solution's bound b:
    :math:`\det Z \le b^m` in white coordinates.

    Parameters
    ----------
    solution : Solution
        Of ``mvee(X)``.
    X : array_like of shape (k, m)
        The same points.

    Returns
    -------
    Ellipsoid
    """
    white = _full(X)
    w = solution.gram("W")
    dense = w.factor @ w.factor.T if isinstance(w, Factor) else np.asarray(w)
    shape, center = dense[1:, 1:], np.linalg.solve(dense[1:, 1:], dense[1:, 0])
    steps = white.points - center
    shape = shape / np.max(np.sum(steps @ shape * steps, axis=1))
    gap = float("inf")
    if solution.bound is not None:
        least = white.rank * np.log(solution.bound)
        gap = max(0.0, 0.5 * float(least - np.linalg.slogdet(shape)[1]))
    turn = white.basis / white.scale
    mean = white.mean + white.basis @ (white.scale * center)
    return Ellipsoid(mean, turn @ shape @ turn.T, np.eye(white.rank), gap)


def _full(X: ArrayLike) -> Whitening:
    white = whiten(X)
    if white.rank < white.mean.size:
        raise DataError(
            f"the {len(white.points)} points lie in a flat of {white.rank} of {white.mean.size} "
            "dimensions, and their ellipsoid has no volume. Give more points, or project them "
            "onto that flat (sdpdr.density.minimum_ellipsoid(X, flat='project') does)."
        )
    return white
