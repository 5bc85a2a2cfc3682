r"""Multipliers moved into the interior of their feasible set, the shortest way.

Dual slack is no unknown of its own: :math:`S = C - A^*(y)`. From a slack :math:`\hat S` with its
small eigenvalues lifted, the step in y whose slack comes nearest to it in its local norm solves

.. math::  A(\hat S^{-1} A^*(\Delta y) \hat S^{-1})
           = A(\hat S^{-1} (C - A^*(y) - \hat S) \hat S^{-1}),

among the changes that free scalars do not notice. It is the mirror image of `approach.nearest`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline, EffortSpentError
from sdpdr.program.attain.approach import finest_first, least_share, lifted
from sdpdr.program.attain.cone import ConeProgram, cone_program
from sdpdr.program.attain.newton import (
    SHARE,
    Schur,
    inverse,
    longest_step,
    solve_symmetric,
    unless_lost,
)
from sdpdr.program.certificate.free import project
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP

_STEPS = 30
_SHORTEST = 1e-4
# How many times the way from the lifted slack to what the multipliers leave stays in the cone.
_NEAR = 10.0
# Rounding of the equations of free scalars, relative to their terms; what is left is projected out.
_ROUNDING = 1e-8
_THINNER = 1e-2


def inward_multipliers(
    sdp: SDP, point: Point, tol: float = 1e-6, deadline: Deadline = ENDLESS
) -> Iterator[dict[str, Array]]:
    """Multipliers near those of a point whose slack is positive definite, the nearest first.

    Parameters
    ----------
    sdp : SDP
    point : Point
        With multipliers of all rows; values, where there are any, choose the units.
    tol : float, default 1e-6
        The gap aimed at, which says how far inwards they may be moved.
    deadline : Deadline, optional
    """
    with suppress(EffortSpentError):
        program = cone_program(sdp, deadline)
        if not all(r.label in point.duals for r in program.rows) or program.b.size == 0:
            return
        x = program.vector(point.values) if point.values else np.zeros(program.c.size)
        units, y = program.rescaled(x).units, program.multipliers(point.duals)
        for share in finest_first(tol):
            found = _inward(program, y, units, share)
            if found is not None:
                yield program.duals(point.duals, found)
                if share >= 1e-3:
                    return


@unless_lost
def _inward(program: ConeProgram, y: Array, units: Array, share: float) -> Array | None:
    """Multipliers with slack in the interior; None if steps get short."""
    A = sp.csr_array(program.A @ sp.diags_array(units))
    cost = units * program.c
    schur = Schur(program, A)
    free = program.free
    kernel = _kernel(schur.free)
    y = project(schur.free, cost[free], y)
    slack = lifted(program, cost - A.T @ y, share, np.ones(cost.size))
    slack[free] = 0.0
    for _ in range(_STEPS):
        left = cost - A.T @ y
        missed = left - slack
        if _is_met(program, cost, A, y, slack, left):
            return y
        z = inverse(program, slack)
        right = schur.A @ schur.apply(z, z, missed)
        step = _within(kernel, schur.matrix(z, z), right)
        if step is None:
            return None
        change = missed - A.T @ step
        change[free] = 0.0
        t = min(1.0, SHARE * longest_step(program, slack, change))
        y, slack = y + t * step, slack + t * change
        if t < _SHORTEST or least_share(program, slack) < _THINNER * min(share, _THINNER):
            return None
    return None


def _is_met(
    program: ConeProgram, cost: Array, A: sp.csr_array, y: Array, slack: Array, left: Array
) -> bool:
    """Whether the slack of the multipliers themselves lies well inside the cone."""
    free = program.free
    size = np.abs(cost[free]) + abs(A[:, free]).T @ np.abs(y)
    if np.any(np.abs(left[free]) > _ROUNDING * size):
        return False
    missed = left - slack
    missed[free] = 0.0
    return longest_step(program, slack, missed) > _NEAR


def _within(kernel: Array | None, matrix: Array, right: Array) -> Array | None:
    """The solution among the changes that free scalars do not notice."""
    if kernel is None:
        return solve_symmetric(matrix, right)
    found = solve_symmetric(kernel.T @ matrix @ kernel, kernel.T @ right)
    return None if found is None else np.asarray(kernel @ found)


def _kernel(columns: sp.csr_array) -> Array | None:
    """An orthonormal basis of the changes of multipliers that free scalars do not notice.

    None without free scalars, where it would be the identity.
    """
    if columns.shape[1] == 0:
        return None
    upright, upper, _ = sl.qr(columns.toarray(), pivoting=True)
    pivots = np.abs(np.diagonal(upper))
    rank = int(np.sum(pivots > 1e-12 * pivots[0])) if pivots.size else 0
    return np.asarray(upright[:, rank:])
