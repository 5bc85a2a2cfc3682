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

# Squares of numbers beyond this overflow soon, so nothing can be said of such a point.
HUGE = 1e100


def screen(sdp: SDP, outcome: Outcome) -> Outcome:
    """Drop values or multipliers that are not finite, are huge, or do not fit the program.

    Parameters
    ----------
    sdp : SDP
        The program that was solved.
    outcome : Outcome

    Returns
    -------
    Outcome
        The same where nothing is wrong. A solver that claims success without a usable point has
        the verdict ``FAILED``, and the claim's message says what was dropped.
    """
    shapes = _value_shapes(sdp)
    missing = next((f"lack {name!r}" for name in shapes if name not in outcome.point.values), None)
    wrong_value = missing or _first_wrong(outcome.point.values, shapes)
    wrong_dual = _first_wrong(outcome.point.duals, _dual_shapes(sdp))
    if not wrong_value and not wrong_dual:
        return outcome
    values = {} if wrong_value else outcome.point.values
    duals = {} if wrong_dual else outcome.point.duals
    screened = replace(outcome, point=Point(values, duals))
    if outcome.verdict not in (Verdict.SOLVED, Verdict.INACCURATE):
        # Arrays of NaN are how many solvers say that there is no answer.
        return screened
    words = [outcome.claim.message]
    words += [f"Its values were not used: they {wrong_value}."] if wrong_value else []
    words += [f"Its multipliers were not used: they {wrong_dual}."] if wrong_dual else []
    claim = replace(outcome.claim, message=" ".join(words).strip())
    verdict = Verdict.FAILED if wrong_value else outcome.verdict
    return replace(screened, verdict=verdict, claim=claim)


def _first_wrong(given: Mapping[str, Value], shapes: Mapping[str, Shape]) -> str | None:
    """What is wrong with the first array that is; None where all are sound."""
    for name, value in given.items():
        array = np.asarray(value.factor if isinstance(value, Factor) else value)
        if name in shapes and np.shape(value) != shapes[name]:
            return f"have shape {np.shape(value)} for {name!r} rather than {shapes[name]}"
        if not np.isfinite(array).all():
            return f"are not finite for {name!r}"
        if np.abs(array).max(initial=0.0) > HUGE:
            return f"are beyond {HUGE:.0e} for {name!r}"
    return None


def _value_shapes(sdp: SDP) -> dict[str, Shape]:
    return {v.name: (v.n, v.n) if isinstance(v, PsdVariable) else (v.size,) for v in sdp.variables}


def _dual_shapes(sdp: SDP) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {r.label: (r.m,) for r in sdp.rows}
    return shapes | {lmi.label: (lmi.order, lmi.order) for lmi in sdp.lmis}
