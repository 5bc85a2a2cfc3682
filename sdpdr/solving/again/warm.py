"""Answers on the central path, from those to the program with other numbers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg import svec_size
from sdpdr.program.attain import Attained, attain
from sdpdr.program.attain.basis import EffortSpentError
from sdpdr.program.attain.box import Box
from sdpdr.program.attain.cone import ConeProgram, cone_program
from sdpdr.program.certificate import Certificate, certify
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Run, Status, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solving.again.bound import WORDS
from sdpdr.solving.again.kept import Kept
from sdpdr.solving.again.newton import inside
from sdpdr.solving.grade import Clock, with_both_sides, with_status

# Share of the tolerance that the gap may take; the rest is for rounding, and for what proofs lose.
_SHARE = 0.6
# Products of rows and entries up to which a step takes less than a second or so.
_LARGEST = 1e10
# Operations of an interior-point method's step up to which it costs less than what surrounds it.
_LEAST = 1e6
# How the answer is named among those of solvers.
NAME, FORM = "newton", "gram"
_FEASIBLE = (
    "the end of Newton's steps; a box around it contains a feasible point and lies in the cone"
)


@dataclass(frozen=True, eq=False)
class Warm:
    """Where Newton's method begins: x, y and s in the cone of the program that was solved last."""

    kept: Kept
    x: Array
    y: Array
    s: Array

    @classmethod
    def of(cls, sdp: SDP, solution: Solution) -> Warm | None:
        """From an answer; None where it lacks something, or the program is too large."""
        found = begin(sdp, solution)
        if found is None:
            return None
        program, x, y, s = found
        kept = Kept.of(sdp, program, x)
        kept.enclosure.prepare()
        return cls(kept, x, y, s)


def begin(sdp: SDP, solution: Solution) -> tuple[ConeProgram, Array, Array, Array] | None:
    """A program over cones, and an answer in it: x, y and s; None as for `Warm.of`."""
    if not sdp.is_point(solution.values) or not sdp.is_dual_point(solution.duals):
        return None
    try:
        program = _program(sdp)
    except EffortSpentError:
        return None
    if program is None:
        return None
    x = program.vector(solution.values)
    y = program.multipliers(solution.duals)
    if not np.isfinite(y).all():
        return None
    return program, x, y, program.c + program.curvature * x - program.A.T @ y


def fit(one: ConeProgram, other: ConeProgram) -> bool:
    """Whether programs have the same cone and as many rows."""
    return (
        one.A.shape == other.A.shape
        and [b.order for b in one.blocks] == [b.order for b in other.blocks]
        and [r.label for r in one.rows] == [r.label for r in other.rows]
    )


def _program(sdp: SDP) -> ConeProgram | None:
    """The program over a cone; None where steps would take long."""
    rows = sdp.n_rows + sum(svec_size(lmi.order) for lmi in sdp.lmis)
    entries = sum(v.size for v in sdp.psd_variables) + rows
    if rows * rows * entries > _LARGEST:
        return None
    return cone_program(sdp)


def is_worth_it(sdp: SDP) -> bool:
    """Whether a solver's own work on a program is so much that Newton's method can save some.

    A step of an interior-point method takes a cube of the coordinates of every matrix, and a square
    of the rows that a scalar is in.
    """
    orders = [*(v.n for v in sdp.psd_variables), *(lmi.order for lmi in sdp.lmis)]
    operations = sum(float(svec_size(n)) ** 3 for n in orders)
    for v in sdp.vector_variables:
        seen = np.zeros(v.size)
        for lhs in (*(r.lhs for r in sdp.rows), *(lmi.lhs for lmi in sdp.lmis)):
            if v.name in lhs:
                seen += np.bincount(lhs[v.name].matrix().indices, minlength=v.size)
        operations += float(seen @ seen)
    return operations >= _LEAST


def solved_warm(sdp: SDP, warm: Warm, last: Solution, tol: float) -> tuple[Solution, Warm] | None:
    """The answer to a program, from that to the same program with other numbers.

    Parameters
    ----------
    sdp : SDP
    warm : Warm
    last : Solution
        With multipliers of all rows.
    tol : float
        Relative gap aimed at.

    Returns
    -------
    (Solution, Warm) or None
        The answer, proved to the tolerance, and where to begin the next time; None where the
        multipliers, or the point, that Newton's method leads to prove less.
    """
    try:
        return _solved(sdp, warm, last, tol)
    except EffortSpentError:
        return None


def _solved(sdp: SDP, warm: Warm, last: Solution, tol: float) -> tuple[Solution, Warm] | None:
    clock, start = Clock(), time.perf_counter()
    with clock("compile"):
        kept = warm.kept.renumbered(sdp) or _anew(sdp, warm)
    if kept is None:
        return None
    program, size = kept.program, abs(last.value) or 1.0
    with clock("solve"):
        found = inside(program, kept.equations, warm.x, warm.y, warm.s, size, _SHARE * tol)
    if found is None:
        return None
    with clock("certify"):
        y = kept.bounds.balanced(program, found.y)
        values = program.values(found.x, tuple(v.name for v in sdp.variables))
        duals = complete_multipliers(sdp, program.duals(last.duals, y))
        attained = _attained(sdp, kept, Point(values, duals), found.x, tol)
        certificate = _certificate(sdp, kept, duals, y)
        words = f"{found.steps} steps from the last answer"
        value = sdp.report(sdp.primal_value(values))
        claim = Claim("converged", value, found.steps, words, Verdict.SOLVED.value)
        solution = _answer(last, claim, tol)
        solution = with_both_sides(sdp, solution, certificate, attained, duals)
        solution = with_status(sdp, solution, Verdict.SOLVED)
    if solution.status is not Status.SOLVED:
        return None
    run = Run(
        NAME,
        FORM,
        solution.status.name,
        solution.value,
        solution.bound,
        solution.attained,
        time.perf_counter() - start,
        words,
    )
    solution = replace(solution, timings=dict(clock.seconds), runs=(run,))
    return solution, Warm(kept, found.x, y, found.s)


def _anew(sdp: SDP, warm: Warm) -> Kept | None:
    """What is to be kept of a program with other left sides, where the last answer fits it."""
    program = _program(sdp)
    if program is None or not fit(program, warm.kept.program):
        return None
    return Kept.of(sdp, program, warm.x)


def _attained(sdp: SDP, kept: Kept, point: Point, x: Array, tol: float) -> Attained:
    """The value of the point, which lies inside and satisfies all rows to rounding."""
    box = kept.enclosure.around(kept.program, x)
    if isinstance(box, Box):
        inside = kept.program.values(box.x, tuple(v.name for v in sdp.variables))
        return Attained(sdp.report(box.value), _FEASIBLE, inside)
    return attain(sdp, point, tol=tol)


def _certificate(sdp: SDP, kept: Kept, duals: Mapping[str, Array], y: Array) -> Certificate:
    """The bound that the multipliers prove, whose slack lies inside, up to free scalars."""
    value = kept.bounds.value(kept.program, y)
    if value is None:
        return certify(sdp, duals)
    return Certificate(sdp.report(value), f"multipliers at the end of Newton's steps; {WORDS}")


def _answer(last: Solution, claim: Claim, tol: float) -> Solution:
    """The answer before anything is proved of it."""
    nothing = "nothing is proved yet"
    return Solution(
        status=Status.UNVERIFIED,
        value=float("nan"),
        attained_by=nothing,
        bound=None,
        argument=nothing,
        values={},
        duals={},
        claimed=claim,
        timings={},
        solver=NAME,
        form=FORM,
        tol=tol,
        versions={
            k: v for k, v in last.versions.items() if k in ("sdpdr", "numpy", "scipy", "python")
        },
        maximize=last.maximize,
    )
