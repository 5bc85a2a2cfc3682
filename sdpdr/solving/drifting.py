"""Unfoldings without an optimum: disconnected components of points that move away from each other.

No solver is needed to see them, and none helps: the direction has rank one and the feasible set no
interior along it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.packages import version_of
from sdpdr.certify.standard import as_written
from sdpdr.linalg.maps import LinearMap, SquaredEdgeLengths
from sdpdr.linalg.walks import linked_parts
from sdpdr.program.backward import Measured
from sdpdr.program.point import Factor, Point, PsdVariable, Value
from sdpdr.program.ray import Ray
from sdpdr.program.run import Claim, Status, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solving.standing import EXACTLY, standing_value

_ARGUMENT = "a direction in which components of {!r} that no length joins move apart"

# Exact arithmetic on all entries of a matrix of this order takes about two seconds.
_LARGEST = 500


def drifting_solution(sdp: SDP, seconds: Mapping[str, float], tol: float) -> Solution | None:
    """The answer to a program in which components move apart without bound; None of other programs.

    It is feasible at zero, and both its point and its direction are proved in exact arithmetic.

    Parameters
    ----------
    sdp : SDP
    seconds : mapping
        What planning took, by phase.
    tol : float

    Examples
    --------
    >>> from sdpdr import maximize, psd
    >>> K = psd("K", 4)
    >>> model = maximize(K.trace()) + (K.distance2([(0, 1), (2, 3)]) <= 1.0) + (K.sum() == 0.0)
    >>> found = drifting_solution(model.to_sdp(), {}, 1e-6)
    >>> found.status, found.ray.values["K"].factor.ravel()
    (Status.UNBOUNDED, array([ 2.,  2., -2., -2.]))
    """
    for variable in sdp.psd_variables:
        u = _apart(sdp, variable)
        if u is None:
            continue
        direction = _point(sdp, {variable.name: Factor(u[:, None])})
        at = _point(sdp, {})
        value, _ = standing_value(sdp, at)
        if value is None or not _improves(sdp, direction):
            return None
        argument = _ARGUMENT.format(variable.name)
        ray = Ray("unbounded", _margin(sdp, direction), argument, values=direction)
        return Solution(
            status=Status.UNBOUNDED,
            value=value,
            argument=argument,
            values=at,
            attained=value,
            attained_by=EXACTLY,
            ray=ray,
            measured=Measured(sdp, Point(at, {})),
            claimed=Claim("unbounded", message=argument, verdict=Verdict.UNBOUNDED.value),
            timings=dict(seconds),
            solver="none",
            form="reduction",
            tol=tol,
            versions={"sdpdr": version_of("sdpdr")},
            maximize=sdp.maximize,
            rigorous=True,
            epsilon=0.0,
        )
    return None


def _apart(sdp: SDP, variable: PsdVariable) -> Array | None:
    """Positions on a line of two components whose sum is zero; None if all points are joined."""
    maps: list[Any] = [rows.lhs.get(variable.name) for rows in sdp.rows]
    edges = [m.edges for m in maps if isinstance(m, SquaredEdgeLengths)]
    if not edges or variable.n > _LARGEST:
        return None
    part = linked_parts(variable.n, np.vstack(edges))
    sizes = np.bincount(part)
    if sizes.size < 2:
        return None
    u = np.zeros(variable.n)
    u[part == 0], u[part == 1] = sizes[1], -sizes[0]
    # What it may not change, and what it must, is seen here at less cost than by the proof.
    F, cost = u[:, None], cast("LinearMap | None", sdp.objective.get(variable.name))
    gain = 0.0 if cost is None else sdp.report(float(np.sum(cost.apply_factor(F))))
    if not (gain > 0.0 if sdp.maximize else gain < 0.0):
        return None
    moves = ((r, m.apply_factor(F)) for r, m in zip(sdp.rows, maps, strict=True) if m is not None)
    stays = all(not np.any(x > 0.0 if r.relation == "<=" else x) for r, x in moves)
    return u if stays else None


def _improves(sdp: SDP, direction: Mapping[str, Value]) -> bool:
    """Whether every step along a direction is feasible from any point, and improves the cost."""
    cone = replace(
        sdp,
        rows=tuple(replace(rows, rhs=np.zeros(rows.m)) for rows in sdp.rows),
        lmis=tuple(replace(lmi, constant=np.zeros_like(lmi.constant)) for lmi in sdp.lmis),
        constant=0.0,
    )
    gain, _ = standing_value(cone, direction)
    return gain is not None and (gain > 0.0 if sdp.maximize else gain < 0.0)


def _margin(sdp: SDP, direction: Mapping[str, Value]) -> float:
    """The gain over the size of its terms."""
    form = as_written(sdp)
    x = form.answer(Point(direction, {})).x
    return float(abs(form.flat.c @ x) / (np.abs(form.flat.c) @ np.abs(x)))


def _point(sdp: SDP, known: Mapping[str, Value]) -> dict[str, Value]:
    """Values of all variables, of which others than the known ones are zero."""
    values: dict[str, Value] = {v.name: np.zeros(v.size) for v in sdp.vector_variables}
    values |= {v.name: Factor(np.zeros((v.n, 1))) for v in sdp.psd_variables}
    return {**values, **known}
