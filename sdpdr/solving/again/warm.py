"""Answers on the central path, from those to the program with other numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline, EffortSpentError
from sdpdr.linalg import smat, svec_size
from sdpdr.program.attain import Attained, attain
from sdpdr.program.attain.box import Box
from sdpdr.program.attain.cone import ConeProgram, cone_program
from sdpdr.program.certificate import Certificate, certify
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Status, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.reduce.squared import squared
from sdpdr.solvers.conic import ConicForm, Workspace
from sdpdr.solvers.cvxpy_solvers import Clarabel
from sdpdr.solvers.tolerance import translate
from sdpdr.solving.again.kept import WORDS, Kept
from sdpdr.solving.again.kkt import Reached
from sdpdr.solving.again.newton import inside
from sdpdr.solving.answers import claimed, run_of
from sdpdr.solving.asked import Clock
from sdpdr.solving.grade import with_both_sides, with_status

# Share of the tolerance that the gap may take; the rest is for rounding, and for what proofs lose.
_SHARE = 0.6
# Products of rows and entries up to which a step takes less than a second or so.
_LARGEST = 1e10
# Operations of an interior-point method's step up to which it costs less than a beginning.
_LEAST = 1e6
# Eigenvalues, relative to the largest of a matrix, up to which an answer has none there.
_SINGULAR = 1e-5
# How the answer is named among those of solvers.
NAME, FORM = "newton", "gram"
_FEASIBLE = (
    "the end of Newton's steps; a box around it contains a feasible point and lies in the cone"
)


@dataclass(frozen=True, eq=False)
class Warm:
    """Where the next solve begins.

    Attributes
    ----------
    kept : Kept
        Of the program that was solved last.
    at : Reached
        Its answer.
    workspace : Workspace or None
        Of the solver that answered first, where that can change numbers in place.
    astray : bool
        Whether Newton's method led nowhere the last time, so that the workspace is asked first.
    """

    kept: Kept
    at: Reached
    workspace: Workspace | None
    astray: bool = False

    @classmethod
    def of(cls, sdp: SDP, solution: Solution) -> Warm | None:
        """From an answer; None where it lacks something, or the program is too large."""
        found = begin(sdp, solution)
        if found is None:
            return None
        program, at = found
        # Where only scalars bind, Newton's method finds which of them in a few steps.
        light = not is_worth_it(sdp) and _has_a_singular_matrix(program, at.x)
        workspace = None
        if (light or solution.solver == Clarabel.name) and not solution.exposures:
            workspace = ConicForm(sdp).workspace(translate(Clarabel.name, solution.tol))
        return cls(Kept.of(sdp, program, at.x), at, workspace, astray=light)


def begin(sdp: SDP, solution: Solution) -> tuple[ConeProgram, Reached] | None:
    """A program over cones, and an answer in it; None as for `Warm.of`."""
    if not sdp.is_point(solution.values) or not sdp.is_dual_point(solution.duals):
        return None
    try:
        program = _program(sdp)
    except EffortSpentError:
        return None
    if program is None:
        return None
    y = program.multipliers(solution.duals)
    if not np.isfinite(y).all():
        return None
    return program, Reached.by(program, program.vector(solution.values), y)


def _has_a_singular_matrix(program: ConeProgram, x: Array) -> bool:
    """Whether a matrix of a point is singular, to what answers are worth."""
    spectra = (np.linalg.eigvalsh(smat(x[block.part])) for block in program.blocks)
    return any(values[0] <= _SINGULAR * values[-1] for values in spectra)


def fit(one: ConeProgram, other: ConeProgram) -> bool:
    """Whether programs have the same cone and as many rows."""
    return (
        one.A.shape == other.A.shape
        and [b.order for b in one.blocks] == [b.order for b in other.blocks]
        and [r.label for r in one.rows] == [r.label for r in other.rows]
    )


def _program(sdp: SDP) -> ConeProgram | None:
    """The program over a cone; None where steps would take long."""
    # A long length is many arrows, and a factorization of all of them fills in.
    length = squared(sdp)
    if length is not None and length.heads is not None:
        return None
    entries = sum(v.size for v in sdp.psd_variables) + sdp.n_rows
    matrices = {v.name for v in sdp.psd_variables}
    # Of inequalities between scalars no more bind than there are scalars.
    loose = sum(r.m for r in sdp.rows if r.relation == "<=" and not matrices & r.lhs.keys())
    rows = sdp.n_rows - loose + min(loose, sum(v.size for v in sdp.vector_variables))
    rows += sum(svec_size(lmi.order) for lmi in sdp.lmis)
    return None if rows * rows * entries > _LARGEST else cone_program(sdp)


def is_worth_it(sdp: SDP) -> bool:
    """Whether a solver's own work on a program is so much that Newton's method saves some at once.

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
    clock, watch = Clock(), Deadline()
    with clock("compile"):
        kept = warm.kept.renumbered(sdp)
        if kept is None:
            kept, warm = _anew(sdp, warm), replace(warm, workspace=None)
    if kept is None:
        return None
    ways = [_by_newton, _by_workspace]
    for way in reversed(ways) if warm.astray else ways:
        with clock("solve"):
            found = way(kept, warm, abs(last.value) or 1.0, tol)
        if found is None:
            continue
        with clock("certify"):
            solution = _graded(kept, found, last, tol)
        if solution.status is Status.SOLVED:
            run = run_of(solution, watch.spent, found.words)
            solution = replace(solution, timings=dict(clock.seconds), runs=(run,))
            astray = way is _by_workspace
            return solution, Warm(kept, found.at, warm.workspace, astray)
    return None


@dataclass(frozen=True, eq=False)
class _Found:
    """A point and multipliers of a program over a cone, and where they come from."""

    at: Reached
    solver: str
    steps: int
    words: str


def _by_newton(kept: Kept, warm: Warm, size: float, tol: float) -> _Found | None:
    found = inside(kept.program, kept.equations, warm.at, size, _SHARE * tol)
    if found is None:
        return None
    at, steps = found
    return _Found(at, NAME, steps, f"{steps} steps from the last answer")


def _by_workspace(kept: Kept, warm: Warm, size: float, tol: float) -> _Found | None:
    """By the solver, whose answer Newton's method leads into the cones."""
    answer = None if warm.workspace is None else warm.workspace.solve(kept.sdp)
    if answer is None:
        return None
    point, steps = answer
    program = kept.program
    x, y = program.vector(point.values), program.multipliers(point.duals)
    found = _by_newton(kept, replace(warm, at=Reached.by(program, x, y)), size, tol)
    words = f"{steps} steps in the workspace of the last answer, and those of Newton's method"
    return found and replace(found, solver=Clarabel.name, steps=steps + found.steps, words=words)


def _graded(kept: Kept, found: _Found, last: Solution, tol: float) -> Solution:
    """The answer with what is proved of it."""
    sdp, program = kept.sdp, kept.program
    y = kept.bounds.balanced(program, found.at.y)
    values = program.values(found.at.x, tuple(v.name for v in sdp.variables))
    duals = complete_multipliers(sdp, program.duals(last.duals, y))
    value = sdp.report(sdp.primal_value(values))
    claim = Claim("converged", value, found.steps, found.words, Verdict.SOLVED.value)
    solution = replace(_answer(last, claim, tol), solver=found.solver)
    certificate = _certificate(sdp, kept, duals, y)
    attained = _attained(sdp, kept, Point(values, duals), found.at.x, tol)
    solution = with_both_sides(sdp, solution, certificate, attained, duals)
    return with_status(sdp, solution, Verdict.SOLVED)


def _anew(sdp: SDP, warm: Warm) -> Kept | None:
    """What is to be kept of a program with other left sides, where the last answer fits it."""
    program = _program(sdp)
    if program is None or not fit(program, warm.kept.program):
        return None
    return Kept.of(sdp, program, warm.at.x)


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
    return claimed(
        "nothing is proved yet",
        claim,
        solver=NAME,
        form=FORM,
        tol=tol,
        versions={
            k: v for k, v in last.versions.items() if k in ("sdpdr", "numpy", "scipy", "python")
        },
        maximize=last.maximize,
    )
