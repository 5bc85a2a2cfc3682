"""Equalities and lower limits, by the proximal method of multipliers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sdpdr.solvers.lowrank.direction import Iterate
from sdpdr.solvers.lowrank.program import EdgeProgram, Matrix, Vector
from sdpdr.solvers.lowrank.search import Search

_FIRST_STIFFNESS = 1e3  # relative to the typical weight of an edge
_LAST_STIFFNESS = 1e11
_GROWTH = 10.0
_MAX_STAGES = 20
_FIRST_ACCURACY = 1e-3
_SHARPNESS = 1e-2  # accuracy of a stage, as a share of the violation left by the one before
_FINE = 1e-6  # accuracy from which eigenvalues below 1 mean rank and not noise
_LOW = 0.999
_PROGRESS = 0.7  # factor by which a stage at the last stiffness must reduce the error


def stiff_edges(program: EdgeProgram) -> NDArray[np.bool_]:
    """Edges with limits from below, which make the program nonconvex in R, and no stiffness.

    Examples
    --------
    >>> stiff_edges(EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0, lower=1.0)).tolist()
    [True]
    """
    return np.asarray(np.isinf(program.stiffness) & np.isfinite(program.lower))


def solve_by_multipliers(search: Search, R: Matrix) -> None:
    r"""Approach hard lower limits and equalities through soft ones.

    An interior-point method cannot start inside an interval of width zero, and the multipliers
    of exact equalities may be unbounded. So the hard limits [l, u] of such edges are replaced,
    stage by stage, by soft ones around the last multipliers :math:`w_k`,

    .. math:: l - w_k / v_k \;\le\; q - w / v_k \;\le\; u - w_k / v_k ,

    which is an edge program with a finite stiffness :math:`v_k`, feasible at every R. As v grows
    the solution tends to that of the program, without v having to be infinite when multipliers
    exist. Verdicts are always taken on the original program.

    Parameters
    ----------
    search : Search
        Its goal is the program to solve; the best verdict is left in it.
    R : (n, r) array
        First point.

    References
    ----------
    Rockafellar (1976), augmented Lagrangians and the proximal point algorithm.
    """
    goal = search.goal
    edges = stiff_edges(goal)
    typical = goal.objective.value(R) / float(goal.sqdist.sum())
    weights = np.zeros(goal.m)
    point: Matrix | Iterate = R
    stiffness, error, accuracy = _FIRST_STIFFNESS, np.inf, _FIRST_ACCURACY
    for _ in range(_MAX_STAGES):
        soft = _soft(goal, edges, stiffness * typical, weights)
        point = search.approach(soft, point, accuracy, _LOW if accuracy <= _FINE else -np.inf)
        verdict = search.latest
        if search.finished or verdict is None:
            return
        if stiffness == _LAST_STIFFNESS and verdict.error > _PROGRESS * error:
            return
        error, weights = verdict.error, verdict.weights
        wanted = min(_FIRST_ACCURACY, _SHARPNESS * verdict.infeasibility)
        accuracy = max(search.options.tol / 4, wanted)
        stiffness = min(_GROWTH * stiffness, _LAST_STIFFNESS)


def _soft(
    program: EdgeProgram, edges: NDArray[np.bool_], strength: float, weights: Vector
) -> EdgeProgram:
    stiffness = strength / program.sqdist
    shift = np.where(edges, weights / stiffness, 0.0)
    return replace(
        program,
        lower=program.lower - shift,
        upper=program.upper - shift,
        stiffness=np.where(edges, stiffness, program.stiffness),
    )
