"""A look at what a solver hands back, before anybody computes with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.sdp import SDP
from sdpdr.program.variables import PsdVariable
from sdpdr.solvers.base import Outcome, Verdict

Shape = tuple[int, ...]


def screen(sdp: SDP, outcome: Outcome) -> Outcome:
    """Drop values or multipliers that are not finite or do not fit the program.

    Parameters
    ----------
    sdp : SDP
        The program that was solved.
    outcome : Outcome

    Returns
    -------
    Outcome
        The same where nothing is wrong. Otherwise the claim's message says what was dropped, and
        a solver that claims success without a usable point has the verdict ``FAILED``.
    """
    point, verdict = outcome.point, outcome.verdict
    wrong_value = _first_wrong(point.values, _value_shapes(sdp))
    wrong_dual = _first_wrong(point.duals, _dual_shapes(sdp))
    words = [
        f"The {kind} that {what} were dropped."
        for kind, what in (("values", wrong_value), ("multipliers", wrong_dual))
        if what
    ]
    point = Point({} if wrong_value else point.values, {} if wrong_dual else point.duals)
    if not point.values and verdict in (Verdict.SOLVED, Verdict.INACCURATE):
        verdict = Verdict.FAILED
        words.append("It claimed success without a usable point.")
    if not words:
        return outcome
    message = " ".join([outcome.claim.message, *words]).strip()
    return replace(
        outcome, point=point, verdict=verdict, claim=replace(outcome.claim, message=message)
    )


def _first_wrong(given: Mapping[str, Value], shapes: Mapping[str, Shape]) -> str | None:
    """What is wrong with the first array that is; None where all are sound."""
    for name, value in given.items():
        array = np.asarray(value.factor if isinstance(value, Factor) else value)
        if name in shapes and value.shape != shapes[name]:
            return f"have shape {value.shape} for {name!r} rather than {shapes[name]}"
        if not np.isfinite(array).all():
            return f"are not finite for {name!r}"
    return None


def _value_shapes(sdp: SDP) -> dict[str, Shape]:
    return {
        v.name: (v.n, v.n) if isinstance(v, PsdVariable) else (v.size,) for v in sdp.variables
    }


def _dual_shapes(sdp: SDP) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {r.label: (r.m,) for r in sdp.rows}
    return shapes | {lmi.label: (lmi.order, lmi.order) for lmi in sdp.lmis}
