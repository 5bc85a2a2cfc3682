"""The rigid motion of each action in an embedding, and errors of steps relative to it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import orthogonal_procrustes

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.graphs.transitions import Transitions


@dataclass(frozen=True, eq=False)
class Motion:
    r"""A rigid motion, :math:`y \mapsto R\,y + c`, that comes closest to an action.

    Attributes
    ----------
    rotation : array of shape (d, d)
        R, orthogonal.
    shift : array of shape (d,)
        c.
    residual : float
        Root mean square distance of the points after a step from where the motion takes them.
    """

    rotation: Array
    shift: Array
    residual: float

    def __call__(self, Y: ArrayLike) -> Array:
        """Return points, as rows, after the motion."""
        return np.asarray(np.asarray(Y, dtype=float) @ self.rotation.T + self.shift)


@checks_keywords
def motions(steps: Transitions, Y: ArrayLike) -> dict[Hashable, Motion]:
    """Return the rigid motion of each action, by orthogonal Procrustes.

    Parameters
    ----------
    steps : Transitions
    Y : array_like of shape (n, d)
        Points of the nodes. With all columns of an Action Respecting Embedding, residuals are
        zero up to the accuracy of the solver; with few, as small as the columns left out.

    Returns
    -------
    dict from label to Motion
        An action seen once, or at points on a line, has many motions; this is one of them.

    References
    ----------
    Schönemann, "A generalized solution of the orthogonal Procrustes problem", Psychometrika 31,
    1966.

    Examples
    --------
    >>> from sdpdr.graphs import motions
    >>> from sdpdr import graphs
    >>> steps = graphs.transitions(graphs.path([1.0, 1.0]), "RR")
    >>> motions(steps, [[0.0], [1.0], [2.0]])["R"].shift
    array([1.])
    """
    points, found = _points(steps, Y), {}
    for name in steps.names:
        before, after = (points[k] for k in steps.of(name))
        here, there = before.mean(axis=0), after.mean(axis=0)
        rotation, _ = orthogonal_procrustes(after - there, before - here)
        away = (after - there) - (before - here) @ rotation.T
        residual = float(np.sqrt(np.mean(np.sum(np.square(away), axis=1))))
        found[name] = Motion(rotation, there - rotation @ here, residual)
    return found


@checks_keywords
def action_error(steps: Transitions, Y: ArrayLike) -> float:
    """Return the largest change of a distance by an action, relative to the mean step.

    Zero, up to the accuracy of the solver, where all pairs of steps of equal actions move rigidly.

    Parameters
    ----------
    steps : Transitions
    Y : array_like of shape (n, d)
        All columns of an embedding of the nodes.

    Examples
    --------
    >>> from sdpdr.graphs import action_error
    >>> from sdpdr import graphs
    >>> steps = graphs.transitions(graphs.path([1.0, 1.0]), "RR")
    >>> action_error(steps, [[0.0], [1.0], [2.0]]), action_error(steps, [[0.0], [1.0], [4.0]])
    (0.0, 1.0)
    """
    points, worst = _points(steps, Y), 0.0
    for name in steps.names:
        before, after = (points[k] for k in steps.of(name))
        for k in range(len(before) - 1):
            rest = np.linalg.norm(before[k + 1 :] - before[k], axis=1)
            moved = np.linalg.norm(after[k + 1 :] - after[k], axis=1)
            worst = max(worst, float(np.max(np.abs(moved - rest))))
    return worst / _mean_step(steps, points)


@checks_keywords
def step_variation(steps: Transitions, Y: ArrayLike) -> float:
    """Return the standard deviation of the steps of equal actions, relative to the mean step.

    Parameters
    ----------
    steps : Transitions
    Y : array_like of shape (n, d)

    Examples
    --------
    >>> from sdpdr.graphs import step_variation
    >>> from sdpdr import graphs
    >>> steps = graphs.transitions(graphs.path([1.0, 1.0]), "RR")
    >>> step_variation(steps, [[0.0], [1.0], [2.0]]), step_variation(steps, [[0.0], [1.0], [4.0]])
    (0.0, 0.5)
    """
    points = _points(steps, Y)
    spread = [length - length.mean() for length in _step_lengths(steps, points)]
    size = float(np.sqrt(np.mean(np.square(np.concatenate(spread)))))
    return size / _mean_step(steps, points)


def _points(steps: Transitions, Y: ArrayLike) -> Array:
    """The points of all nodes; an error if there are no labelled steps between them."""
    points = np.asarray(Y, dtype=float)
    if points.ndim != 2 or len(points) != steps.n:
        raise ShapeError(
            f"Y has shape {points.shape}; pass a row for each of the {steps.n} nodes of the graph."
        )
    if not steps.names:
        raise DataError("the transitions have no labelled steps: pass actions that are known.")
    return points


def _step_lengths(steps: Transitions, points: Array) -> list[Array]:
    """Lengths of the steps of each action."""
    pairs = (steps.of(name) for name in steps.names)
    return [np.linalg.norm(points[after] - points[before], axis=1) for before, after in pairs]


def _mean_step(steps: Transitions, points: Array) -> float:
    """Mean length of all steps, which must not be zero."""
    mean = float(np.mean(np.concatenate(_step_lengths(steps, points))))
    if mean == 0.0:
        raise DataError("no step moves a point, so there is no length to compare with.")
    return mean
