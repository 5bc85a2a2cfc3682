"""Proofs of a cvxpy problem over all of its cones, by the kernel."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.progress import enter_phase
from sdpdr.certify.flat import Answer
from sdpdr.certify.knowledge import BOUND, INFEASIBLE, UNBOUNDED, UNPROVED, VALUE, Knowledge
from sdpdr.certify.proof_file.flat import FlatFileProgram, Sides, sides_of
from sdpdr.certify.proof_file.write import WrittenProof, write_file_of
from sdpdr.certify.prove import prove
from sdpdr.certify.units import Units
from sdpdr.model.conic.kept import duals_of, values_of
from sdpdr.program.run import Status, Verdict
from sdpdr.program.solution import Solution
from sdpdr.solvers.flat import ask_solver
from sdpdr.solving.verify.completing import completed_multipliers, completed_point
from sdpdr.solving.verify.given import distance
from sdpdr.solving.verify.kept_answer import KeptAnswer

_EMPTY = {INFEASIBLE: Status.INFEASIBLE, UNBOUNDED: Status.UNBOUNDED}
_ONE_SOLVE = "one solve by Clarabel found the {} that cvxpy does not keep"
_NOTHING = "nothing was proved within the budget"


def prove_over_cones(kept: KeptAnswer, spent: float = 0.0) -> Solution:
    """What is proved next to the answer that a problem keeps.

    The values that cvxpy keeps are completed by those of the variables that it adds, with its own
    fixed, and the multipliers by those that stationarity and complementarity determine. What is
    missing after that, as of a problem that nobody has solved, one solve finds.

    Parameters
    ----------
    kept : KeptAnswer
    spent : float, default 0
        CPU seconds of the budget that are spent already.
    """
    enter_phase("proving: the answer that cvxpy keeps")
    return _Proving(kept, spent).run()


class _Proving:
    """The state of one verification."""

    def __init__(self, kept: KeptAnswer, spent: float) -> None:
        self._kept, self._flat, self._notes = kept, kept.flat, list[str]()
        self._units = Units.of(kept.flat.program)
        self._own = self._units.program(kept.flat.program)
        self._known = Knowledge(scale=kept.scale / self._units.cost)
        self._spent, self._budget = spent, kept.budget

    def run(self) -> Solution:
        """What is proved, graded."""
        known, kept = self._known, self._kept
        x, z = self._completed()
        if x is None or z is None:
            x, z = self._solved(x)
        self._prove(x, z)
        if self._is_open() and not self._notes and kept.is_part:
            # What was determined may be one of many answers, or rest on a rough point.
            x, z = self._solved(None)
            self._prove(x, z)
        solution = self._with_proofs(kept.claimed("; ".join(self._notes)), x, z)
        status = _EMPTY.get(known.status, Status.INACCURATE)
        return replace(solution, status=Status.SOLVED if solution.certified() else status)

    # -- where proofs begin -----------------------------------------------------------------------

    def _completed(self) -> tuple[Array | None, Array | None]:
        """The answer that cvxpy keeps, with what is determined by it; None where that is not."""
        program = self._flat.program
        x = completed_point(program, self._kept.point.x)
        if x is None:
            return None, None
        return x, completed_multipliers(program, x, self._kept.multipliers)

    def _is_open(self) -> bool:
        """Whether another answer may prove what is open, in the time that is left."""
        known = self._known
        is_hopeless = bool(self._own.faceless)
        return known.status == UNPROVED and self._spent < self._budget and not is_hopeless

    def _solved(self, x: Array | None) -> tuple[Array, Array]:
        """Multipliers of one solve, with its point unless one is known."""
        units = self._units
        begin = time.process_time()
        found = ask_solver(self._own)
        own = self._kept.settings.budget(time.process_time() - begin)
        self._budget = max(self._budget, own)
        what = "multipliers" if x is not None else "values and multipliers"
        self._notes.append(_ONE_SOLVE.format(what))
        x = units.given_point(found.x) if x is None else x
        return x, units.given_multipliers(found.z)

    # -- proofs -----------------------------------------------------------------------------------

    def _prove(self, x: Array, z: Array) -> None:
        """Both sides, in units that suit the program."""
        units, settings = self._units, self._kept.settings
        program = self._own
        u = units.point(x)
        answer = Answer(u, program.b - program.A @ u, units.multipliers(z), True)
        try:
            prove(
                program,
                answer,
                ask_solver,
                tol=settings.tol,
                seconds=self._budget - self._spent,
                claim="" if self._kept.verdict is Verdict.SOLVED else self._kept.verdict.value,
                known=self._known,
            )
        except ArithmeticError as error:
            # Numbers beyond those that rounding can be accounted for.
            self._known.notes.append(str(error))
        self._spent += self._known.seconds

    def _with_proofs(self, solution: Solution, x: Array, z: Array) -> Solution:
        """The solution with what the kernel knows, in the sense of the user."""
        flat, known, units = self._flat, self._known, self._units
        at = x if known.x is None else units.given_point(known.x)
        multipliers = z if known.z is None else units.given_multipliers(known.z)
        sides = sides_of(known, units, maximize=flat.maximize)
        file = FlatFileProgram(flat.program, self._own, units, maximize=flat.maximize)
        value = float(flat.program.c @ at) + flat.program.offset
        values = values_of(flat, at) if np.all(np.isfinite(at)) else {}
        given = self._kept.values
        return replace(
            solution,
            value=-value if flat.maximize else value,
            values=self._kept.as_rows(values),
            shapes=self._kept.shapes,
            duals=duals_of(flat, multipliers) if np.all(np.isfinite(multipliers)) else {},
            attained=sides.attained,
            attained_by=known.how.get(VALUE) or self._why_not(VALUE),
            bound=sides.bound,
            argument=known.how.get(BOUND) or self._why_not(BOUND),
            ray=sides.ray,
            rigorous=True,
            unfinished=known.is_late and known.status == UNPROVED,
            moved=distance(given, values) if given and VALUE in known.how else None,
            writer=partial(_write, file, sides),
        )

    def _why_not(self, side: str) -> str:
        notes = self._known.notes
        said = [note for note in notes if note.startswith(side)] or notes
        return said[-1] if said else _NOTHING


def _write(
    program: FlatFileProgram, sides: Sides, solution: Solution, path: str | Path
) -> WrittenProof:
    """Write what the solution proves, where that has not been replaced."""
    is_same = solution.attained == sides.attained
    known = sides if is_same else replace(sides, attained=None, values={})
    return write_file_of(program, known, path)
