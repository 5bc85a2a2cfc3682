"""Solving and grading programs over any of cvxpy's cones: one solve by Clarabel, then proofs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError
from sdpdr.certify.flat import FlatProgram
from sdpdr.certify.knowledge import BOUND, INFEASIBLE, UNBOUNDED, UNPROVED, VALUE, Knowledge
from sdpdr.certify.proof_file.flat import Sides, sides_of
from sdpdr.certify.prove import prove
from sdpdr.certify.units import Units
from sdpdr.program.run import Claim, Status, Verdict
from sdpdr.program.solution import Solution
from sdpdr.solvers.flat import ask_clarabel
from sdpdr.solvers.registry import find
from sdpdr.solving.answers import versions
from sdpdr.solving.proofs import AT_LEAST, OF_SOLVER

if TYPE_CHECKING:
    import cvxpy as cp

# Options for problems with exponential or power cones, and those that may be ignored there, because
# all proofs there account for rounding.
_OPTIONS, _IDLE = ("tol", "time_limit", "gap_scale"), ("progress", "rigorous", "verbose")
_NOTHING = "nothing was proved within the budget"
_STATUSES = {INFEASIBLE: Status.INFEASIBLE, UNBOUNDED: Status.UNBOUNDED}


def solve_over_cones(
    program: FlatProgram,
    *,
    maximize: bool = False,
    tol: float = 1e-6,
    time_limit: float | None = None,
    gap_scale: float = 0.0,
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
        A size of objective below which the gap is absolute.

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
    units = Units.of(program)
    own = units.program(program)
    known = Knowledge(scale=gap_scale / units.cost)
    begin = process_time()
    answer = ask_clarabel(own, seconds)
    allowed = min(seconds, max(AT_LEAST, OF_SOLVER * (process_time() - begin)))
    prove(own, answer, ask_clarabel, tol=tol, seconds=allowed, known=known)
    x = units.given_point(answer.x if known.x is None else known.x)
    z = units.given_multipliers(answer.z if known.z is None else known.z)
    value = float(program.c @ x) + program.offset
    verdict = Verdict.SOLVED if answer.is_solved else Verdict.INACCURATE
    is_empty = known.status in _STATUSES or not np.all(np.isfinite(x))
    solution = Solution(
        status=Status.INACCURATE,
        value=np.nan if is_empty else -value if maximize else value,
        bound=None,
        argument="",
        values={} if is_empty else {"x": x},
        duals={} if is_empty or not np.all(np.isfinite(z)) else {"z": z},
        claimed=Claim(verdict.value, verdict=verdict.value),
        timings={"solve and certify": watch.spent},
        solver="clarabel",
        form="cvxpy",
        tol=tol,
        versions=versions(find("clarabel")()),
        maximize=maximize,
        gap_scale=gap_scale,
    )
    return with_knowledge(solution, known, sides_of(known, units, maximize=maximize))


def with_knowledge(solution: Solution, known: Knowledge, sides: Sides) -> Solution:
    """The solution with both sides that the kernel proves, and the status that they are worth.

    Parameters
    ----------
    solution : Solution
    known : Knowledge
    sides : Sides
        What is known, in the units and in the sense of the user.
    """
    found = replace(
        solution,
        status=_STATUSES.get(known.status, Status.INACCURATE),
        attained=sides.attained,
        attained_by=known.how.get(VALUE) or _why_not(known, VALUE),
        bound=sides.bound,
        argument=known.how.get(BOUND) or known.how.get(known.status) or _why_not(known, BOUND),
        ray=sides.ray,
        rigorous=True,
        unfinished=known.is_late and known.status == UNPROVED,
    )
    return replace(found, status=Status.SOLVED) if found.certified() else found


def options_over_cones(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `sdpdr.solve` that have an effect here; others are refused.

    Raises
    ------
    DataError
    """
    without_effect = [name for name in options if name not in {*_OPTIONS, *_IDLE}]
    if without_effect:
        raise DataError(
            f"{', '.join(without_effect)} has no effect on problems with exponential or power "
            f"cones, which Clarabel solves; the options there are {', '.join(_OPTIONS)}."
        )
    return {name: options[name] for name in _OPTIONS if name in options}


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
        called ``constraints[0]`` and so on; they have the signs of cvxpy.

    Examples
    --------
    >>> import cvxpy as cp
    >>> x = cp.Variable(2, name="x")
    >>> problem = cp.Problem(cp.Maximize(cp.sum(cp.log(x))), [cp.sum(x) <= 2])
    >>> solution = solve_problem(problem, {"gap_scale": 1.0})
    >>> solution.status, solution["x"].round(6)
    (Status.SOLVED, array([1., 1.]))
    """
    # These import cvxpy, as whoever has a problem has done.
    from sdpdr.model.conic.flat import flat_problem
    from sdpdr.model.conic.kept import as_rows, duals_of, ray_of, shapes_of, values_of

    flat = flat_problem(problem)
    known = options_over_cones(options)
    found = solve_over_cones(flat.program, maximize=flat.maximize, **known)
    shapes = shapes_of(problem)
    x = {name: np.asarray(value) for name, value in found.values.items()}
    values = as_rows(values_of(flat, x["x"]), shapes) if x else {}
    duals = duals_of(flat, found.duals["z"]) if found.duals else {}
    ray = ray_of(flat, found.ray)
    return replace(found, values=values, shapes=shapes, duals=duals, ray=ray)


def _why_not(known: Knowledge, side: str) -> str:
    """The last reason why a side is not proved."""
    said = [note for note in known.notes if note.startswith(side)] or known.notes
    return said[-1] if said else _NOTHING
