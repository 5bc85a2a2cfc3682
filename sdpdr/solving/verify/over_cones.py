"""Proofs of a cvxpy problem over all of its cones, by the kernel."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.progress import enter_phase
from sdpdr.certify.flat import Answer, FlatProgram
from sdpdr.certify.knowledge import VALUE, Knowledge
from sdpdr.certify.proof_file.flat import FlatFileProgram, Sides, sides_of
from sdpdr.certify.proof_file.write import WrittenProof, write_file_of
from sdpdr.certify.prove import prove
from sdpdr.certify.units import Units
from sdpdr.model.conic.kept import duals_of, ray_of, values_of
from sdpdr.program.run import Verdict
from sdpdr.program.solution import Solution
from sdpdr.solvers.flat import ask_solver
from sdpdr.solving.over_cones import with_knowledge
from sdpdr.solving.verify.completing import completed_point
from sdpdr.solving.verify.given import distance
from sdpdr.solving.verify.kept_answer import KeptAnswer

_ONE_SOLVE = "one solve by Clarabel found the {} that cvxpy does not keep"


def prove_over_cones(kept: KeptAnswer, spent: float = 0.0) -> Solution:
    """What is proved next to the answer that a problem keeps.

    The values that cvxpy keeps are completed by those of the variables that it adds, with its own
    fixed. Multipliers that are missing, and values if there are none, one solve finds.

    Parameters
    ----------
    kept : KeptAnswer
    spent : float, default 0
        CPU seconds of the budget that are spent already.
    """
    enter_phase("proving: the answer that cvxpy keeps")
    program, settings = kept.flat.program, kept.settings
    units = Units.of(program)
    own, known = units.program(program), Knowledge(scale=kept.scale / units.cost)
    x, z, budget, note = completed_point(program, kept.point.x), kept.multipliers, kept.budget, ""
    if x is None or np.any(np.isnan(z)):
        begin = time.process_time()
        found = ask_solver(own)
        budget = max(budget, settings.budget(time.process_time() - begin))
        note = _ONE_SOLVE.format("values and multipliers" if x is None else "multipliers")
        x = units.given_point(found.x) if x is None else x
        z = units.given_multipliers(found.z)
    try:
        u = units.point(x)
        prove(
            own,
            Answer(u, own.b - own.A @ u, units.multipliers(z), True),
            ask_solver,
            tol=settings.tol,
            seconds=budget - spent,
            claim="" if kept.verdict is Verdict.SOLVED else kept.verdict.value,
            known=known,
        )
    except ArithmeticError as error:
        # Numbers beyond those that rounding can be accounted for.
        known.notes.append(str(error))
    x = x if known.x is None else units.given_point(known.x)
    z = z if known.z is None else units.given_multipliers(known.z)
    return _with_proofs(kept, kept.claimed(note), known, (own, units), (x, z))


def _with_proofs(
    kept: KeptAnswer,
    solution: Solution,
    known: Knowledge,
    own: tuple[FlatProgram, Units],
    at: tuple[Array, Array],
) -> Solution:
    """The solution with what the kernel knows, in the sense and in the shapes of the user."""
    flat, given, (x, z) = kept.flat, kept.values, at
    sides = sides_of(known, own[1], maximize=flat.maximize)
    file = FlatFileProgram(flat.program, *own, maximize=flat.maximize)
    value = float(flat.program.c @ x) + flat.program.offset
    values = values_of(flat, x) if np.all(np.isfinite(x)) else {}
    found = replace(
        solution,
        value=-value if flat.maximize else value,
        values=kept.as_rows(values),
        shapes=kept.shapes,
        duals=duals_of(flat, z) if np.all(np.isfinite(z)) else {},
        moved=distance(given, values) if given and VALUE in known.how else None,
        writer=partial(_write, file, sides),
    )
    found = with_knowledge(found, known, sides)
    return replace(found, ray=ray_of(flat, found.ray))


def _write(
    program: FlatFileProgram, sides: Sides, solution: Solution, path: str | Path
) -> WrittenProof:
    """Write what the solution proves, where that has not been replaced."""
    is_same = solution.attained == sides.attained
    known = sides if is_same else replace(sides, attained=None, values={})
    return write_file_of(program, known, path)
