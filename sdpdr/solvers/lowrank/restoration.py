"""Points brought back onto limits that they miss by a little."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from sdpdr.solvers.lowrank.interior_point import centred
from sdpdr.solvers.lowrank.objective import Matrix, Vector
from sdpdr.solvers.lowrank.program import EdgeProgram

_STEPS = 25
# Rows of lengths become dependent where exact lengths have no interior; then steps only halve the
# distance, and need all the digits there are.
_DAMPING = 1e-15
_NEAR = 1e-6  # share of the length within which a limit counts as active
_REACHED = 1e-14


def restored(program: EdgeProgram, R: Matrix, late: Callable[[], bool] = lambda: False) -> Matrix:
    r"""A point nearby that keeps all hard limits, by Gauss-Newton steps of least length.

    With large multipliers a violation of 1e-8 is worth more than the gap aimed at: the value is
    then too good to be true, and beyond the bound. Each step solves :math:`J X = r` for the
    smallest X, with J the derivatives of the relative squared lengths that are at their limit
    or beyond, and r what they miss it by.

    Parameters
    ----------
    program : EdgeProgram
    R : (n, r) array
    late : callable, optional
        Says when time is up; no further step is then begun.

    Returns
    -------
    (n, r) array
        The point with the smallest violation on the way, R itself if none is smaller.

    Examples
    --------
    >>> path = EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0, lower=1.0)
    >>> R = restored(path, np.array([[-0.50001], [0.5]]))
    >>> round(float(np.ptp(R)), 12)
    1.0
    """
    best, least = R, np.inf
    for _ in range(_STEPS):
        active, missing, worst = _missing(program, R)
        if worst < least:
            best, least = R, worst
        if worst <= _REACHED or not active.any() or late():
            break
        J = _derivatives(program, R, active)
        normal = sp.csc_array(J @ J.T + _DAMPING * sp.eye_array(J.shape[0]))
        try:
            step = J.T @ splu(normal).solve(missing)
        except RuntimeError:  # dependent to the last digit
            break
        R = centred(R + step.reshape(R.shape), program.mass)
    return best


def _missing(program: EdgeProgram, R: Matrix) -> tuple[np.ndarray, Vector, float]:
    """Edges at a hard limit or beyond, what they miss it by, and the largest violation."""
    i, j = program.edges.T
    hard = np.isinf(program.price) & np.isinf(program.stiffness)
    q = np.sum(np.square(R[i] - R[j]), axis=1)
    near = _NEAR * program.sqdist
    low, high = q < program.lower + near, q > program.upper - near
    active = hard & (low | high)
    limit = np.where(high, program.upper, program.lower)
    beyond = np.maximum(np.maximum(q - program.upper, program.lower - q), 0.0)
    worst = float(np.max(np.where(hard, beyond, 0.0) / program.sqdist))
    return active, ((limit - q) / program.sqdist)[active], worst


def _derivatives(program: EdgeProgram, R: Matrix, active: np.ndarray) -> sp.csr_array:
    edges = program.edges[active]
    rank = R.shape[1]
    slope = 2.0 * (R[edges[:, 0]] - R[edges[:, 1]]) / program.sqdist[active, None]
    columns = edges[:, :, None] * rank + np.arange(rank)
    values = np.stack([slope, -slope], axis=1)
    starts = np.arange(0, 2 * rank * len(edges) + 1, 2 * rank)
    return sp.csr_array((values.ravel(), columns.ravel(), starts), shape=(len(edges), R.size))
