"""Proofs of the answer that a cvxpy problem keeps, whichever solver found it."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import SdpdrError
from sdpdr.certify.flat import SEMIDEFINITE, Answer
from sdpdr.certify.knowledge import BOUND, INFEASIBLE, OPTIMAL, UNBOUNDED, VALUE, Knowledge
from sdpdr.certify.proof_file.flat import FlatFileProgram, Sides, sides_of
from sdpdr.certify.proof_file.write import WrittenProof, write_file_of
from sdpdr.certify.prove import prove
from sdpdr.certify.units import Units
from sdpdr.model.conic.flat import FlatProblem, flat_problem
from sdpdr.model.conic.kept import (
    duals_of,
    kept_multipliers,
    kept_point,
    kept_value,
    values_of,
)
from sdpdr.model.conic.problem import read_problem
from sdpdr.program.run import Status, Verdict
from sdpdr.program.solution import Solution
from sdpdr.solvers.flat import ask_clarabel
from sdpdr.solving.verify.completing import completed_multipliers, completed_point
from sdpdr.solving.verify.given import NOBODY, Settings, as_claimed, distance
from sdpdr.solving.verify.sdp_answer import verify_point
from sdpdr.solving.verify.standing_problem import standing_value

_STATUSES = {OPTIMAL: Status.SOLVED, INFEASIBLE: Status.INFEASIBLE, UNBOUNDED: Status.UNBOUNDED}
# What cvxpy says of problems without an optimum, also where it is not sure.
_VERDICTS = {"infeasible": Verdict.INFEASIBLE, "unbounded": Verdict.UNBOUNDED}
_ONE_SOLVE = "one solve by Clarabel found the {} that cvxpy does not keep"
# Solvers of cvxpy have gaps that are absolute where the value is smaller than this.
_SCALE = 1.0
_NOTHING = "nothing was proved within the budget"


def verify_problem(problem: Any, settings: Settings) -> Solution:
    """What is proved of a cvxpy problem and of the answer that it keeps.

    The values that cvxpy keeps are completed by those of the variables that it adds, with its own
    fixed, and the multipliers by those that stationarity and complementarity determine. What is
    missing after that, as of a problem that nobody has solved, one solve finds.

    Parameters
    ----------
    problem : cvxpy.Problem
    settings : Settings

    Raises
    ------
    DataTypeError, NotAcceptedError, ModelError
        If it is no convex problem in real numbers, or has coefficients that are not finite.
    """
    flat, clock = flat_problem(problem), Deadline()
    verifying = _Verifying(flat, settings)
    found = _as_standard(verifying) if settings.repair else None
    return verifying.run(clock) if found is None else found


def _as_standard(verifying: _Verifying) -> Solution | None:
    """What is proved of a semidefinite problem in standard form; None where that is too little.

    Proofs there know faces that constraints state, and matrices of any order.
    """
    problem, settings = verifying.problem, verifying.settings
    if not any(part.kind == SEMIDEFINITE for part in verifying.flat.program.parts):
        return None
    try:
        program = read_problem(problem)
    except SdpdrError:
        return None
    point = program.kept()
    if point is None:
        return None
    own = replace(settings, gap_scale=verifying.scale, seconds=verifying.budget)
    found = verify_point(program, point, own)
    claimed = verifying.claimed(found.claimed.message)
    found = replace(found, solver=claimed.solver, claimed=claimed.claimed)
    return found if found.status in _STATUSES.values() else None


class _Verifying:
    """The state of one verification."""

    def __init__(self, flat: FlatProblem, settings: Settings) -> None:
        self.flat, self.settings, self.problem = flat, settings, flat.problem
        self._own, self._notes = kept_point(flat), list[str]()
        self._units = Units.of(flat.program)
        said = (self.problem.status or "").partition("_")[0]
        self._verdict = _VERDICTS.get(said, Verdict.SOLVED)
        self._spent = 0.0
        self.scale = _SCALE if settings.gap_scale is None else settings.gap_scale
        self._known = Knowledge(scale=self.scale / self._units.cost)
        stats = self.problem.solver_stats
        self._solver = NOBODY if stats is None else str(stats.solver_name).lower()
        self.budget = settings.budget(0.0 if stats is None else float(stats.solve_time or 0.0))

    def run(self, clock: Deadline) -> Solution:
        """What is proved, graded."""
        known = self._known
        x, z = self._completed()
        if x is None or z is None:
            x, z = self._solved(x)
        self._prove(x, z)
        if self._is_open() and not self._notes and self._is_incomplete():
            # What was determined may be one of many answers, or rest on a rough point.
            x, z = self._solved(None)
            self._prove(x, z)
        solution = self.claimed("; ".join(self._notes))
        solution = replace(self._with_proofs(solution, x, z), timings={"certify": clock.spent})
        if not self.settings.repair and known.status not in (INFEASIBLE, UNBOUNDED):
            solution = self._standing(solution)
        if solution.certified():
            return replace(solution, status=Status.SOLVED, epsilon=0.0)
        if known.status in (INFEASIBLE, UNBOUNDED):
            return replace(solution, status=_STATUSES[known.status], epsilon=0.0)
        is_mere_claim = self._verdict is not Verdict.SOLVED and not solution.is_refuted
        return replace(solution, status=Status.UNVERIFIED if is_mere_claim else Status.INACCURATE)

    def claimed(self, message: str) -> Solution:
        """What the solver claims, and what was missing in its answer."""
        return as_claimed(
            self.problem.value,
            self.settings,
            who=self._solver,
            status=self.problem.status or "not solved",
            message=message,
            verdict=self._verdict,
            maximize=self.flat.maximize,
            gap_scale=self.scale,
        )

    # -- where proofs begin -----------------------------------------------------------------------

    def _completed(self) -> tuple[Array | None, Array | None]:
        """The answer that cvxpy keeps, with what is determined by it; None where that is not."""
        program = self.flat.program
        x = completed_point(program, self._own.x)
        if x is None:
            return None, None
        return x, completed_multipliers(program, x, kept_multipliers(self.flat))

    def _is_incomplete(self) -> bool:
        """Whether cvxpy keeps only a part of the answer."""
        multipliers = kept_multipliers(self.flat)
        return bool(np.any(np.isnan(self._own.x)) or np.any(np.isnan(multipliers)))

    def _is_open(self) -> bool:
        """Whether neither both sides agree nor a ray is proved, and time is left."""
        known = self._known
        return known.status not in _STATUSES and self._spent < self.budget

    def _solved(self, x: Array | None) -> tuple[Array, Array]:
        """Multipliers of one solve, with its point unless one is known."""
        units = self._units
        begin = time.process_time()
        found = ask_clarabel(units.program(self.flat.program))
        own = self.settings.budget(time.process_time() - begin)
        self.budget = max(self.budget, own)
        what = "multipliers" if x is not None else "values and multipliers"
        self._notes.append(_ONE_SOLVE.format(what))
        x = units.given_point(found.x) if x is None else x
        return x, units.given_multipliers(found.z)

    # -- proofs -----------------------------------------------------------------------------------

    def _prove(self, x: Array, z: Array) -> None:
        """Both sides, in units that suit the program."""
        units, settings = self._units, self.settings
        program = units.program(self.flat.program)
        u = units.point(x)
        answer = Answer(u, program.b - program.A @ u, units.multipliers(z), True)
        try:
            prove(
                program,
                answer,
                ask_clarabel,
                tol=settings.tol,
                seconds=self.budget - self._spent,
                claim="" if self._verdict is Verdict.SOLVED else self._verdict.value,
                known=self._known,
            )
        except ArithmeticError as error:
            # Numbers beyond those that rounding can be accounted for.
            self._known.notes.append(str(error))
        self._spent += self._known.seconds

    def _with_proofs(self, solution: Solution, x: Array, z: Array) -> Solution:
        """The solution with what the kernel knows, in the sense of the user."""
        flat, known, units = self.flat, self._known, self._units
        unit = -units.cost if flat.maximize else units.cost
        at = x if known.x is None else units.given_point(known.x)
        multipliers = z if known.z is None else units.given_multipliers(known.z)
        sides = sides_of(known, units, maximize=flat.maximize)
        file = FlatFileProgram(flat.program, maximize=flat.maximize)
        value = float(flat.program.c @ at) + flat.program.offset
        values = values_of(flat, at) if np.all(np.isfinite(at)) else {}
        given = self._given()
        return replace(
            solution,
            value=-value if flat.maximize else value,
            values=values,
            duals=duals_of(flat, multipliers) if np.all(np.isfinite(multipliers)) else {},
            attained=unit * known.value if VALUE in known.how else None,
            attained_by=known.how.get(VALUE) or self._why_not(VALUE),
            bound=unit * known.bound if BOUND in known.how else None,
            argument=known.how.get(BOUND) or self._why_not(BOUND),
            ray=sides.ray,
            rigorous=True,
            unfinished=known.is_late and known.status not in _STATUSES,
            moved=distance(given, values) if given and VALUE in known.how else None,
            writer=partial(_write, file, sides),
        )

    def _given(self) -> dict[str, Array]:
        """Values of the problem's own variables; empty unless all are known."""
        found = {v.name(): kept_value(v) for v in self.problem.variables()}
        known = {name: value for name, value in found.items() if value is not None}
        return known if len(known) == len(found) else {}

    def _why_not(self, side: str) -> str:
        notes = self._known.notes
        said = [note for note in notes if note.startswith(side)] or notes
        return said[-1] if said else _NOTHING

    def _standing(self, solution: Solution) -> Solution:
        """The solution with the point that was given, where it stands."""
        flat = self.flat
        value, words = standing_value(flat, self._own, tol=self.settings.tol, seconds=self.budget)
        number = self.problem.objective.value
        report = -1.0 if flat.maximize else 1.0
        return replace(
            solution,
            value=float("nan") if number is None else float(number),
            values=self._given(),
            attained=None if value is None else report * value,
            attained_by=words,
            moved=None if value is None else 0.0,
        )


def _write(
    program: FlatFileProgram, sides: Sides, solution: Solution, path: str | Path
) -> WrittenProof:
    """Write what the solution proves, where that has not been replaced."""
    is_same = solution.attained == sides.attained
    known = sides if is_same else replace(sides, attained=None, values={})
    return write_file_of(program, known, path)
