"""Proofs of the answer that a cvxpy problem keeps, whichever solver found it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import SdpdrError
from sdpdr.certify.flat import SEMIDEFINITE
from sdpdr.model.conic.flat import flat_problem
from sdpdr.model.conic.problem import read_problem
from sdpdr.program.backward import Measured
from sdpdr.program.run import Status, Verdict
from sdpdr.program.solution import Solution
from sdpdr.solving.verify.given import Settings
from sdpdr.solving.verify.kept_answer import KeptAnswer
from sdpdr.solving.verify.over_cones import prove_over_cones
from sdpdr.solving.verify.sdp_answer import verify_point
from sdpdr.solving.verify.standing_problem import standing_value

_EMPTY = (Status.INFEASIBLE, Status.UNBOUNDED)


def verify_problem(problem: Any, settings: Settings) -> Solution:
    """What is proved of a cvxpy problem and of the answer that it keeps.

    Parameters
    ----------
    problem : cvxpy.Problem
    settings : Settings

    Raises
    ------
    DataTypeError, NotAcceptedError, ModelError
        If it is no convex problem in real numbers, or has coefficients that are not finite.
    """
    clock = Deadline()
    kept = KeptAnswer(flat_problem(problem), settings)
    begin = time.process_time()
    solution = _in_standard_form(kept)
    if solution is None or solution.status not in (Status.SOLVED, *_EMPTY):
        other = prove_over_cones(kept, spent=time.process_time() - begin)
        solution = other if solution is None else min((other, solution), key=_openness)
    if not settings.repair and solution.status not in _EMPTY:
        solution = _standing(kept, solution)
    return replace(_graded(kept, solution), timings={"certify": clock.spent})


def _in_standard_form(kept: KeptAnswer) -> Solution | None:
    """What is proved of a semidefinite problem in standard form; None if it has none.

    Proofs there know faces that constraints state, and matrices of any order.
    """
    if not any(part.kind == SEMIDEFINITE for part in kept.flat.program.parts):
        return None
    try:
        program = read_problem(kept.flat.problem)
    except SdpdrError:  # of other cones, for instance
        return None
    point = program.kept()
    # Columns of other matrices have no order that a solution knows.
    if point is None or any(len(shape) > 1 for shape in kept.shapes.values()):
        return None
    own = replace(kept.settings, gap_scale=kept.scale, seconds=kept.budget, repair=True)
    found = verify_point(program, point, own)
    claimed = kept.claimed(found.claimed.message)
    return replace(found, solver=claimed.solver, claimed=claimed.claimed, shapes=kept.shapes)


def _openness(solution: Solution) -> tuple[float, bool, bool]:
    """What is left to prove: the gap, and then the sides that are missing."""
    is_empty = solution.status in _EMPTY
    return -1.0 if is_empty else solution.gap, solution.bound is None, solution.attained is None


def _standing(kept: KeptAnswer, solution: Solution) -> Solution:
    """The solution with the point that was given, where it stands."""
    flat = kept.flat
    value, words = standing_value(flat, kept.point, tol=kept.settings.tol, seconds=kept.budget)
    # Atoms refuse numbers that are not finite.
    number = flat.problem.objective.value if kept.point.is_whole else None
    return replace(
        solution,
        value=float("nan") if number is None else float(number),
        values=kept.as_rows(kept.values),
        shapes=kept.shapes,
        measured=Measured(),
        attained=-value if flat.maximize and value is not None else value,
        attained_by=words,
        moved=None if value is None else 0.0,
    )


def _graded(kept: KeptAnswer, solution: Solution) -> Solution:
    """The solution with the status that its proofs are worth."""
    if solution.status in _EMPTY:
        return replace(solution, epsilon=0.0)
    if solution.certified():
        return replace(solution, status=Status.SOLVED, epsilon=0.0)
    is_mere_claim = kept.verdict is not Verdict.SOLVED and not solution.is_refuted
    return replace(solution, status=Status.UNVERIFIED if is_mere_claim else Status.INACCURATE)
