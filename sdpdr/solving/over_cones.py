"""Programs over any cones of cvxpy: one solve, by Clarabel or a named solver, then proofs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, NotAcceptedError
from sdpdr.certify.flat import Answer, FlatProgram
from sdpdr.certify.knowledge import BOUND, INFEASIBLE, UNBOUNDED, UNPROVED, VALUE, Knowledge
from sdpdr.certify.proof_file.flat import FlatFileProgram, Sides, sides_of
from sdpdr.certify.proof_file.write import WrittenProof, write_file_of
from sdpdr.certify.prove import prove
from sdpdr.certify.units import Units
from sdpdr.program.run import Claim, Status, Verdict
from sdpdr.program.solution import Solution
from sdpdr.program.summary import OVER_ALL_CONES
from sdpdr.solvers.base import Solver
from sdpdr.solvers.cvxpy_solver import CvxpySolver
from sdpdr.solvers.flat import ask_clarabel, told_by_clarabel
from sdpdr.solvers.registry import find
from sdpdr.solvers.running import run_solver
from sdpdr.solvers.tolerance import check_options
from sdpdr.solving.answers import versions
from sdpdr.solving.candidate import configure
from sdpdr.solving.grade import STOPPED, is_refuted
from sdpdr.solving.options import AUTO, BUDGET, FULL, require_known_proof
from sdpdr.solving.proofs import AT_LEAST, OF_SOLVER

if TYPE_CHECKING:
    import cvxpy as cp

    from sdpdr.model.conic.flat import FlatProblem

# Options for problems with exponential or power cones, and those that are ignored there: all proofs
# there account for rounding.
_OPTIONS = ("solver", "tol", "time_limit", "gap_scale", "proof", "max_iter", "isolate", "verbose")
_IDLE = ("progress", "rigorous")
_NOTHING = "nothing was proved within the budget"
_STATUSES = {INFEASIBLE: Status.INFEASIBLE, UNBOUNDED: Status.UNBOUNDED}
_CLAIMS = {Verdict.INFEASIBLE: INFEASIBLE, Verdict.UNBOUNDED: UNBOUNDED}


@dataclass(eq=False)
class ConeProof:
    """A flat program in the kernel's units, and what the kernel proves of it.

    Attributes
    ----------
    program : FlatProgram
    maximize : bool
        Whether the user's objective is the negative of the program's.
    gap_scale : float
        Size of the objective below which the gap is absolute.
    units : Units
        Those of the program that the kernel sees.
    own : FlatProgram
        The program in these units.
    known : Knowledge
    """

    program: FlatProgram
    maximize: bool
    gap_scale: float
    units: Units = field(init=False)
    own: FlatProgram = field(init=False)
    known: Knowledge = field(init=False)

    def __post_init__(self) -> None:
        self.units = Units.of(self.program)
        self.own = self.units.program(self.program)
        self.known = Knowledge(scale=self.gap_scale / self.units.cost)

    def answer(self, x: Array, z: Array) -> Answer:
        """A point and multipliers of the program as an answer in the kernel's units."""
        u = self.units.point(x)
        return Answer(u, self.own.b - self.own.A @ u, self.units.multipliers(z), True)

    def prove(self, answer: Answer, ask: Callable[..., Answer], **options: Any) -> None:
        """Prove what holds next to an answer in the kernel's units, with options of `prove`."""
        try:
            prove(self.own, answer, ask, known=self.known, **options)
        except ArithmeticError as error:
            # Numbers are too large or too small to bound their rounding.
            self.known.notes.append(str(error))

    def graded(self, solution: Solution, x: Array, z: Array) -> Solution:
        """The solution with both proved sides, and the status that they give.

        Its point is the vector ``"x"``, and its multipliers are the vector ``"z"``: those that are
        proved, or else those given.
        """
        known = self.known
        x = x if known.x is None else self.units.given_point(known.x)
        z = z if known.z is None else self.units.given_multipliers(known.z)
        value = float(self.program.c @ x) + self.program.offset
        sides = sides_of(known, self.own, self.units, maximize=self.maximize)
        ray = sides.ray
        file = FlatFileProgram(self.program, self.own, self.units, maximize=self.maximize)
        found = replace(
            solution,
            status=_STATUSES.get(known.status, Status.INACCURATE),
            value=-value if self.maximize else value,
            values={"x": x} if np.all(np.isfinite(x)) else {},
            duals={"z": z} if np.all(np.isfinite(z)) else {},
            attained=sides.attained,
            attained_by=known.how.get(VALUE) or self._why_not(VALUE),
            bound=sides.bound,
            argument=known.how.get(BOUND, self._why_not(BOUND)) if ray is None else ray.argument,
            ray=ray,
            rigorous=True,
            unfinished=known.is_late and known.status == UNPROVED,
            writer=partial(_write, file, sides),
        )
        if found.certified():
            found = replace(found, status=Status.SOLVED)
        if found.status is Status.INFEASIBLE:
            found = replace(found, value=np.nan, values={}, attained=None, bound=None)
        is_proved = found.status in (Status.SOLVED, *_STATUSES.values())
        return replace(found, epsilon=0.0) if is_proved else found

    def _why_not(self, side: str) -> str:
        return self.known.why_not(side) or _NOTHING


def _write(
    program: FlatFileProgram, sides: Sides, solution: Solution, path: str | Path
) -> WrittenProof:
    """Write a proof of the solution, without a value that has been replaced since."""
    is_same = solution.attained == sides.attained
    known = sides if is_same else replace(sides, attained=None, values={})
    return write_file_of(program, known, path)


def solve_over_cones(
    program: FlatProgram,
    *,
    maximize: bool = False,
    tol: float = 1e-6,
    time_limit: float | None = None,
    gap_scale: float = 0.0,
    proof: str = BUDGET,
    solver: str | Solver = AUTO,
    max_iter: int | None = None,
    isolate: bool | None = None,
    verbose: bool | None = None,
) -> Solution:
    """Solve a program over a product of cones and grade the answer.

    Parameters
    ----------
    program : FlatProgram
    maximize : bool, default False
        Whether the user's objective is the negative of the program's.
    tol : float, default 1e-6
        Relative gap aimed at.
    time_limit : float, optional
        Seconds, of which the solver and the proofs get one half each.
    gap_scale : float, default 0
        Size of the objective below which the gap is absolute.
    proof : {"budget", "full"}, default "budget"
        As for `sdpdr.solve`.
    solver : str or Solver, default "auto"
        A solver of cvxpy that supports the cones of the program. "auto" is Clarabel, called
        directly unless one of the following options is passed.
    max_iter, isolate, verbose : optional
        As for `sdpdr.solve`.

    Returns
    -------
    Solution
        The point is the vector ``"x"``, and the multipliers are the vector ``"z"``.

    Examples
    --------
    The largest x with exp(x) <= 2:

    >>> import cvxpy as cp
    >>> from sdpdr.model.conic.flat import flat_problem
    >>> x = cp.Variable()
    >>> flat = flat_problem(cp.Problem(cp.Maximize(x), [cp.exp(x) <= 2]))
    >>> solution = solve_over_cones(flat.program, maximize=flat.maximize)
    >>> solution.status, round(solution.value, 6)
    (Status.SOLVED, 0.693147)
    """
    watch = Deadline()
    seconds = inf if time_limit is None else time_limit / 2.0
    kernel = ConeProof(program, maximize, gap_scale)
    if solver == AUTO and max_iter is None and isolate is None and not verbose:
        solved = _solved_by_clarabel(kernel.own, seconds)
    else:
        own = None if time_limit is None else seconds
        options = {"tol": tol, "time_limit": own, "max_iter": max_iter, "verbose": verbose}
        named = configure("clarabel" if solver == AUTO else solver, options)
        solved = _solved_by_cvxpy(kernel.own, named, isolate)
    answer, solving = solved.answer, watch.spent
    usual = max(AT_LEAST, OF_SOLVER * solved.seconds)
    limit, verdict = seconds if proof == FULL else min(seconds, usual), solved.verdict
    try:
        claim = _CLAIMS.get(verdict, "")
        kernel.prove(answer, ask_clarabel, tol=tol, seconds=limit, claim=claim)
    except KeyboardInterrupt:
        verdict = Verdict.INTERRUPTED
    x, z = kernel.units.given_point(answer.x), kernel.units.given_multipliers(answer.z)
    claimed = Solution(
        status=Status.INACCURATE,
        value=np.nan,
        bound=None,
        argument="",
        values={},
        duals={},
        claimed=solved.claim,
        timings={"solve": solving, "certify": watch.spent - solving},
        solver=solved.solver.name,
        form="cvxpy",
        tol=tol,
        versions=versions(solved.solver),
        maximize=maximize,
        gap_scale=gap_scale,
    )
    found = _with_verdict(kernel.graded(claimed, x, z), verdict)
    # With a claim alone, the point is at best a direction.
    is_claim = found.status is Status.UNVERIFIED and found.attained is None
    is_empty = is_claim or found.status in _STATUSES.values() or not found.values
    return replace(found, value=np.nan, values={}) if is_empty else found


def _with_verdict(solution: Solution, verdict: Verdict) -> Solution:
    """The solution with the status that the solver reports, if nothing is proved."""
    is_open = solution.status is Status.INACCURATE and not is_refuted(verdict, solution)
    if verdict is Verdict.INTERRUPTED or (is_open and verdict in STOPPED):
        return replace(solution, status=STOPPED[verdict])
    return solution


class _Solved(NamedTuple):
    """The result of a solver, and its CPU seconds."""

    solver: Solver
    answer: Answer
    verdict: Verdict
    claim: Claim
    seconds: float


def _solved_by_clarabel(program: FlatProgram, seconds: float) -> _Solved:
    begin = process_time()
    answer, verdict, why = told_by_clarabel(program, seconds)
    claim = Claim(verdict.value, message=why, verdict=verdict.value)
    return _Solved(find("clarabel")(), answer, verdict, claim, process_time() - begin)


def _solved_by_cvxpy(program: FlatProgram, solver: Solver, isolate: bool | None) -> _Solved:
    """The result of a solver of cvxpy.

    Raises
    ------
    NotAcceptedError
        If it does not support the cones.
    SolverNotAvailableError
    """
    from sdpdr.solvers.flat_cvxpy import read_outcome, render_flat, unknown_cones

    solver.require()
    if not isinstance(solver, CvxpySolver) or unknown_cones(program, solver):
        raise NotAcceptedError(
            f"solver {solver.name!r} does not support exponential or power cones, which the "
            f"problem has; {', '.join(map(repr, OVER_ALL_CONES))} do."
        )
    rendered = render_flat(program)
    outcome = run_solver(solver, partial(solver.run_rendered, rendered), isolate)
    # Its value is in the kernel's units.
    claim = replace(outcome.claim, value=None, verdict=outcome.verdict.value)
    answer = read_outcome(program, outcome)
    return _Solved(solver, answer, outcome.verdict, claim, outcome.cpu or 0.0)


def options_over_cones(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `sdpdr.solve` that have an effect here; others are refused.

    Raises
    ------
    DataError
    """
    without_effect = [name for name in options if name not in {*_OPTIONS, *_IDLE}]
    if without_effect:
        *others, last = _OPTIONS
        raise DataError(
            f"{', '.join(without_effect)} has no effect on problems with exponential or power "
            f"cones; the options there are {', '.join(others)} and {last}."
        )
    require_known_proof(options.get("proof", BUDGET))
    known = {name: options[name] for name in _OPTIONS if name in options}
    check_options({name: value for name, value in known.items() if value is not None})
    return known


def solve_problem(problem: cp.Problem, options: Mapping[str, Any]) -> Solution:
    """Solve a problem of cvxpy over all of its cones.

    Parameters
    ----------
    problem : cvxpy.Problem
    options : mapping
        Options of `sdpdr.solve`, those with an effect here.

    Returns
    -------
    Solution
        The values are those of the problem's variables, and the multipliers of its constraints are
        called by their labels or texts, or ``constraints[0]`` where these are long; they have the
        signs of cvxpy.

    Examples
    --------
    >>> import cvxpy as cp
    >>> x = cp.Variable(2, name="x")
    >>> problem = cp.Problem(cp.Maximize(cp.sum(cp.log(x))), [cp.sum(x) <= 2])
    >>> solution = solve_problem(problem, {"gap_scale": 1.0})
    >>> solution.status, solution["x"].round(6)
    (Status.SOLVED, array([1., 1.]))
    """
    # This imports cvxpy, which a user with a problem has imported already.
    from sdpdr.model.conic.flat import flat_problem

    known = options_over_cones(options)
    flat = flat_problem(problem)
    reading = flat.reading()
    found = solve_over_cones(reading.program, maximize=flat.maximize, **known)
    return in_words_of(flat, reading.whole(found, flat.rows))


def in_words_of(flat: FlatProblem, solution: Solution) -> Solution:
    """A solution of a flat program in terms of the problem's variables and constraints."""
    from sdpdr.model.conic.kept import (
        as_rows,
        dual_values_of,
        duals_of,
        ray_of,
        shapes_of,
        values_of,
    )
    from sdpdr.model.conic.labels import labels_of, names_of

    shapes, at, z = shapes_of(flat.problem), solution.values, solution.duals.get("z")
    return replace(
        solution,
        values=as_rows(values_of(flat, np.asarray(at["x"])), shapes) if at else {},
        shapes=shapes,
        duals=duals_of(flat, z) if z is not None else {},
        duals_in_problem=dual_values_of(flat, z) if z is not None else {},
        labels={**names_of(flat.problem), **dict(labels_of(flat.problem))},
        ray=ray_of(flat, solution.ray),
    )
