"""Proofs of the answer that a cvxpy problem keeps, whichever solver found it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import SdpdrError
from sdpdr.base.progress import enter_phase
from sdpdr.certify.flat import SEMIDEFINITE
from sdpdr.certify.knowledge import VALUE
from sdpdr.model.conic.flat import FlatProblem, flat_problem
from sdpdr.model.conic.kept import (
    KeptPoint,
    as_rows,
    kept_multipliers,
    kept_point,
    kept_value,
    shapes_of,
    values_of,
)
from sdpdr.model.conic.labels import names_of
from sdpdr.model.conic.problem import read_problem
from sdpdr.program.backward import Measured
from sdpdr.program.run import Status, Verdict
from sdpdr.program.solution import Solution
from sdpdr.solvers.flat import ask_solver
from sdpdr.solving.over_cones import ConeProof, in_words_of
from sdpdr.solving.verify.completing import completed_point
from sdpdr.solving.verify.given import UNNAMED, Settings, as_claimed, distance
from sdpdr.solving.verify.sdp_answer import verify_point
from sdpdr.solving.verify.standing_problem import standing_value

_EMPTY = (Status.INFEASIBLE, Status.UNBOUNDED)
# What cvxpy says of problems without an optimum, also where it is not sure.
_VERDICTS = {"infeasible": Verdict.INFEASIBLE, "unbounded": Verdict.UNBOUNDED}
# Solvers of cvxpy have gaps that are absolute where the value is smaller than this.
_SCALE = 1.0
_ONE_SOLVE = "one solve by Clarabel found the {} that cvxpy does not keep"
_DOES_NOT_FIT = (
    "the point given is outside of a constraint or of the domain of a function, as far as Clarabel "
    "finds: one solve by Clarabel found the one that is proved here"
)
_NO_ANSWER = "the problem has no answer: one solve by Clarabel found the one that is proved here"


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
    kept = _KeptAnswer(flat_problem(problem), settings)
    begin = time.process_time()
    solution = _in_standard_form(kept)
    if solution is None or solution.status not in (Status.SOLVED, *_EMPTY):
        other = _over_cones(kept, time.process_time() - begin)
        solution = other if solution is None else min((other, solution), key=_openness)
    if not settings.repair and solution.status not in _EMPTY:
        solution = _standing(kept, solution)
    return replace(_graded(kept, solution), timings={"certify": clock.spent})


@dataclass(frozen=True, eq=False)
class _KeptAnswer:
    """A problem, and what cvxpy and its solver say of it.

    Attributes
    ----------
    flat : FlatProblem
    settings : Settings
    """

    flat: FlatProblem
    settings: Settings

    @cached_property
    def point(self) -> KeptPoint:
        """The unknowns of the flat program."""
        return kept_point(self.flat)

    @property
    def values(self) -> dict[str, Array]:
        """Values of the problem's own variables; empty unless all are known."""
        found = {name: kept_value(v) for v, name in names_of(self.flat.problem).items()}
        known = {name: value for name, value in found.items() if value is not None}
        return known if len(known) == len(found) else {}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the variables that a `Solution` keeps as rows, all but symmetric matrices."""
        return shapes_of(self.flat.problem)

    @property
    def scale(self) -> float:
        """A size of the objective below which gaps are absolute."""
        return _SCALE if self.settings.gap_scale is None else self.settings.gap_scale

    @property
    def budget(self) -> float:
        """CPU seconds that proofs may take."""
        stats = self.flat.problem.solver_stats
        return self.settings.budget(0.0 if stats is None else float(stats.solve_time or 0.0))

    @property
    def verdict(self) -> Verdict:
        """What the solver says."""
        said = (self.flat.problem.status or "").partition("_")[0]
        return _VERDICTS.get(said, Verdict.SOLVED)

    def claimed(self, message: str) -> Solution:
        """What the solver claims, and what was missing in its answer."""
        problem = self.flat.problem
        stats, value = problem.solver_stats, problem.value
        if problem.status is None and self.point.is_whole:
            value = problem.objective.value  # of values that the user has set
        found = as_claimed(
            value,
            self.settings,
            who=UNNAMED if stats is None else str(stats.solver_name).lower(),
            status=problem.status or "not solved",
            message=message,
            verdict=self.verdict,
            maximize=self.flat.maximize,
            gap_scale=self.scale,
        )
        # Outside of the domain of a function the objective is worse than any number.
        if problem.status is None and self.point.is_whole and found.claimed.value is None:
            worst = -np.inf if self.flat.maximize else np.inf
            found = replace(found, claimed=replace(found.claimed, value=worst))
        return found


def _in_standard_form(kept: _KeptAnswer) -> Solution | None:
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
    found = program.in_problem(verify_point(program, point, own))
    claimed = kept.claimed(found.claimed.message)
    return replace(found, solver=claimed.solver, claimed=claimed.claimed, shapes=kept.shapes)


def _over_cones(kept: _KeptAnswer, spent: float) -> Solution:
    """What is proved next to the answer that a problem keeps.

    The values that cvxpy keeps are completed by those of the variables that it adds, with its own
    fixed. Multipliers that are missing, and values if there are none, one solve finds.
    """
    enter_phase("proving: the answer that cvxpy keeps")
    flat, settings = kept.flat, kept.settings
    proof = ConeProof(flat.program, flat.maximize, kept.scale)
    units, budget, note = proof.units, kept.budget, ""
    x, z = completed_point(flat.program, kept.point.x), kept_multipliers(flat)
    if x is None or np.any(np.isnan(z)):
        begin = time.process_time()
        found = ask_solver(proof.own)
        budget = max(budget, settings.budget(time.process_time() - begin))
        note = _ONE_SOLVE.format("values and multipliers" if x is None else "multipliers")
        if x is None and kept.point.is_whole:
            note = _DOES_NOT_FIT
        elif flat.problem.status is None and not kept.values:
            note = _NO_ANSWER
        x = units.given_point(found.x) if x is None else x
        z = units.given_multipliers(found.z)
    proof.prove(
        proof.answer(x, z),
        ask_solver,
        tol=settings.tol,
        seconds=budget - spent,
        claim="" if kept.verdict is Verdict.SOLVED else kept.verdict.value,
    )
    graded = proof.graded(kept.claimed(note), x, z)
    solution, given = in_words_of(flat, graded), kept.values
    if not given or VALUE not in proof.known.how:
        return solution
    proved = values_of(flat, np.asarray(graded.values["x"]))
    return replace(solution, moved=distance(given, proved))


def _openness(solution: Solution) -> tuple[float, bool, bool]:
    """What is left to prove: the gap, and then the sides that are missing."""
    is_empty = solution.status in _EMPTY
    return -1.0 if is_empty else solution.gap, solution.bound is None, solution.attained is None


def _standing(kept: _KeptAnswer, solution: Solution) -> Solution:
    """The solution with the point that was given, where it stands."""
    flat = kept.flat
    value, words = standing_value(flat, kept.point, tol=kept.settings.tol, seconds=kept.budget)
    # Atoms refuse numbers that are not finite.
    number = flat.problem.objective.value if kept.point.is_whole else None
    return replace(
        solution,
        value=float("nan") if number is None else float(number),
        values=as_rows(kept.values, kept.shapes),
        in_problem={},
        shapes=kept.shapes,
        measured=Measured(),
        attained=-value if flat.maximize and value is not None else value,
        attained_by=words,
        moved=None if value is None else 0.0,
    )


def _graded(kept: _KeptAnswer, solution: Solution) -> Solution:
    """The solution with the status that its proofs are worth."""
    if solution.status in _EMPTY:
        return replace(solution, epsilon=0.0)
    if solution.certified():
        return replace(solution, status=Status.SOLVED, epsilon=0.0)
    is_mere_claim = kept.verdict is not Verdict.SOLVED and not solution.is_refuted
    return replace(solution, status=Status.UNVERIFIED if is_mere_claim else Status.INACCURATE)
