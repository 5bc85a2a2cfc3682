r"""Multipliers moved into the interior of their feasible set, the shortest way.

Dual slack is no unknown of its own: :math:`S = C - A^*(y)`. From a slack :math:`\hat S` with its
small eigenvalues lifted, the step in y whose slack comes nearest to it in its local norm solves

.. math::  A(\hat S^{-1} A^*(\Delta y) \hat S^{-1})
           = A(\hat S^{-1} (C - A^*(y) - \hat S) \hat S^{-1}),

with the equations of free scalars as constraints. It is the mirror image of `approach.nearest`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg.svec import Array
from sdpdr.program.attain.approach import least_share, lifted, solve_symmetric
from sdpdr.program.attain.basis import TooLargeError
from sdpdr.program.attain.cone import ConeProgram, cone_program
from sdpdr.program.attain.newton import SHARE, Schur, inverse, longest_step
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP

_SHARES = (1e-9, 1e-6, 1e-3, 1.0)
_STEPS = 30
_SHORTEST = 1e-4
# Slack that differs from what the multipliers leave by less than this, relatively, is that.
_REACHED = 1e-10
_THINNER = 1e-2


def inward_multipliers(sdp: SDP, point: Point) -> Iterator[dict[str, Array]]:
    """Multipliers near those of a point whose slack is positive definite, the nearest first.

    Parameters
    ----------
    sdp : SDP
    point : Point
        With multipliers of all rows; values, where there are any, choose the units.
    """
    try:
        program = cone_program(sdp)
    except TooLargeError:
        return
    if not all(r.label in point.duals for r in program.rows) or program.b.size == 0:
        return
    x = program.vector(point.values) if point.values else np.zeros(program.c.size)
    scaled = program.rescaled(x)
    y = program.multipliers(point.duals)
    for share in _SHARES:
        found = _inward(program, y, scaled.units, share)
        if found is not None:
            yield program.duals(point.duals, found)
            if share >= 1e-3:
                return


def _inward(program: ConeProgram, y: Array, units: Array, share: float) -> Array | None:
    """Multipliers with slack in the interior; None if steps get short."""
    A = sp.csr_array(program.A @ sp.diags_array(units))
    cost = units * program.c
    schur = Schur(program, A)
    free = program.free
    slack = lifted(program, cost - A.T @ y, share, np.ones(cost.size))
    slack[free] = 0.0
    for _ in range(_STEPS):
        left = cost - A.T @ y
        missed = left - slack
        size = np.abs(cost) + abs(A).T @ np.abs(y)
        if np.all(np.abs(missed) <= _REACHED * share * np.maximum(size, np.max(size) * 1e-6)):
            return y
        try:
            z = inverse(program, slack)
            step = _step(schur, z, missed, left[free])
            if step is None:
                return None
            change = missed - A.T @ step
            change[free] = 0.0
            t = min(1.0, SHARE * longest_step(program, slack, change))
        except np.linalg.LinAlgError:
            return None
        y, slack = y + t * step, slack + t * change
        if t < _SHORTEST or least_share(program, slack) < _THINNER * min(share, _THINNER):
            return None
    return None


def _step(schur: Schur, z: Array, missed: Array, free: Array) -> Array | None:
    """The change of multipliers that brings their slack nearest to the one wanted."""
    matrix = schur.matrix(z, z)
    right = schur.A @ schur.apply(z, z, missed)
    if not free.size:
        return solve_symmetric(matrix, right)
    columns = schur.free.toarray()
    corner = np.zeros((free.size, free.size))
    joint = np.block([[matrix, columns], [columns.T, corner]])
    found = np.linalg.lstsq(joint, np.concatenate([right, free]), rcond=1e-16)[0]
    return np.asarray(found[: right.size])
