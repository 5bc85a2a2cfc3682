"""A solver says that there is no point, or no limit: what a second look proves of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.base.errors import InfeasibleError, NotAcceptedError
from sdpdr.program.attain import attain
from sdpdr.program.attain.cone import largest_order
from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.rays import (
    Ray,
    drifting,
    find_infeasibility,
    find_unboundedness,
    prove_infeasible,
    prove_unbounded,
)
from sdpdr.program.rays.relax import without_objective
from sdpdr.program.rays.search import Solve
from sdpdr.program.run import Verdict
from sdpdr.program.sdp import SDP
from sdpdr.reduce import Face, Scale
from sdpdr.solvers.base import Solver
from sdpdr.solvers.cvxpy_solvers import Clarabel, Scs
from sdpdr.solvers.running import point_found

# Free entries of the matrices up to which an interior-point method takes seconds.
_SMALL = 3500
# Order of matrices beyond which no solver of dense ones is asked.
_LARGEST = 4000
# Seconds after which nothing more is tried with a program of no more: what proves something there
# takes milliseconds.
_PATIENCE = 10.0
# Accuracy aimed at: of a ray, only signs matter, and inside they are right.
_TOL = 1e-8
_ROUGH = 1e-5
_KINDS = {Verdict.INFEASIBLE: "infeasible", Verdict.UNBOUNDED: "unbounded"}


def refute(
    sdp: SDP,
    verdict: Verdict,
    point: Point,
    *,
    feasible: bool = False,
    rigorous: bool = False,
    deadline: Deadline = ENDLESS,
    solver: Solver | None = None,
) -> Ray | str:
    """Look for a ray where a solver says that a program is infeasible or unbounded.

    Whether parts of the points may drift apart, and its multipliers or its point are tried first.
    Then a solver is asked for a ray, of the kind claimed, and at last of the other kind, since
    solvers mistake one for the other; not of matrices that would not fit into its memory.

    Parameters
    ----------
    sdp : SDP
    verdict : Verdict
        ``INFEASIBLE`` or ``UNBOUNDED``; of any other, nothing is looked for.
    point : Point
        What the solver handed back with it, if anything.
    feasible : bool, default False
        Whether a feasible point has been proved to exist.
    rigorous : bool, default False
        Accept a proof only if all rounding is accounted for.
    deadline : Deadline, optional
        No solver is asked after it, nor for longer.
    solver : Solver, optional
        The one to ask; by default Clarabel, and SCS for large matrices.

    Returns
    -------
    Ray or str
        A verified ray, whose ``kind`` says of what; or why nothing was proved. Then the claim
        stands unproved.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.linalg import Entries
    >>> from sdpdr.program import SDP, Point, PsdVariable, Rows
    >>> rows = Rows("entries", "==", {"X": Entries(2, [[0, 0], [0, 1], [1, 1]])}, [1.0, 5.0, 1.0])
    >>> sdp = SDP((PsdVariable("X", 2),), {}, (replace(rows, rhs=np.array(rows.rhs)),))
    >>> refute(sdp, Verdict.INFEASIBLE, Point()).kind
    'infeasible'
    """
    if verdict not in _KINDS:
        return f"the solver does not say that the program is {' or '.join(_KINDS.values())}"
    ray = drifting(sdp, feasible=feasible) if verdict is Verdict.UNBOUNDED else None
    if ray is not None:
        return ray
    if _is_small(sdp):
        deadline = deadline.sooner(_PATIENCE)
    solve = solved_by(solver or _helper(sdp), deadline)
    given: dict[str, Any] = {"rigorous": rigorous, "deadline": deadline}
    infeasible = [
        partial(prove_infeasible, sdp, point.duals, **given),
        partial(find_infeasibility, sdp, solve, **given),
    ]
    unbounded = [
        partial(prove_unbounded, sdp, point.values, feasible=feasible, **given),
        partial(find_unboundedness, sdp, solve, feasible=feasible, **given),
    ]
    claimed, other = infeasible, unbounded
    if verdict is Verdict.UNBOUNDED:
        claimed, other = unbounded, infeasible
    reasons: list[str] = []
    for attempt in (*claimed, *other):
        found = attempt()
        if isinstance(found, Ray):
            return found
        reasons.append(found)
        if largest_order(sdp) > _LARGEST:
            reasons.append("its matrices are too large for a solver to look for one")
            break
        # What the solver handed back has been tried by then.
        if deadline.is_over():
            reasons[1:] = ["the time was up"]
            break
    why = reasons[1]
    return f"the solver says that the program is {_KINDS[verdict]}, but no ray proves it: {why}"


def is_feasible(sdp: SDP, deadline: Deadline = ENDLESS, rigorous: bool = False) -> bool:
    """Whether some feasible point is proved, whatever its objective.

    Looked for near zero, and then near what a solver finds for the program without an objective,
    which interior-point methods take to the middle of the feasible set.

    Parameters
    ----------
    sdp : SDP
    deadline : Deadline, optional
        Of the solver and of proofs.
    rigorous : bool, default False
        Accept a proof only if all rounding is accounted for.
    """
    flat = without_objective(sdp)
    prove = partial(attain, flat, rigorous=rigorous, deadline=deadline)
    zeros: dict[str, Value] = {v.name: Factor(np.zeros((v.n, 1))) for v in flat.psd_variables}
    zeros |= {v.name: np.zeros(v.size) for v in flat.vector_variables}
    if prove(Point(zeros)).value is not None:
        return True
    if largest_order(flat) > _LARGEST:
        return False
    return prove(solved_by(_helper(flat), deadline)(flat)).value is not None


def solved_by(solver: Solver, deadline: Deadline = ENDLESS) -> Solve:
    """A configured solver as a function from programs to points.

    Parameters
    ----------
    solver : Solver
    deadline : Deadline, optional
        After it, and where the solver fails, the point is empty.
    """

    def solve(sdp: SDP) -> Point:
        left = deadline.left()
        if left == 0.0:
            return Point()
        steps = (Scale(),) if Face().accepts(sdp) else (Face(), Scale())
        try:
            return point_found(replace(solver, time_limit=left), sdp, steps)
        except (InfeasibleError, NotAcceptedError):
            # The program was made to find a ray, and may be anything. And where no process of its
            # own can be had for a solver, its time is not limited.
            return Point()

    return solve


def _is_small(sdp: SDP) -> bool:
    return sum(v.size for v in sdp.psd_variables) <= _SMALL


def _helper(sdp: SDP) -> Solver:
    return Clarabel(tol=_TOL) if _is_small(sdp) else Scs(tol=_ROUGH)
