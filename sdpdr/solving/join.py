"""Several answers to one program as one: the best point of one, the best bound of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.program.point import Point
from sdpdr.program.run import Status, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solving.grade import CUT_SHORT, attained, ended_as, with_point, with_status
from sdpdr.solving.proofs import AT_LEAST


@checks_keywords
def join(
    solutions: Sequence[Solution], sdp: SDP | None = None, deadline: Deadline = ENDLESS
) -> Solution:
    """Join answers to the same program into one that is as good as any of them on either side.

    The point is the best of those proved feasible, or else of those that are nearest to their
    bounds; `Solution.solver` and `Solution.form` are those that found it. The bound is the best of
    all bounds, and `Solution.argument` says whose multipliers prove it. Where no two sides meet, an
    answer that is optimal for data nearby keeps its point and its multipliers beside that bound. A
    claim that the program is infeasible or unbounded loses against a point, or a bound, that is
    proved.

    Parameters
    ----------
    solutions : sequence of Solution
        At least one; their order does not matter, but for that of `Solution.runs`.
    sdp : SDP, optional
        To measure a point beside the multipliers of another run; without it, the residuals are
        those of the run that the point is from.
    deadline : Deadline, optional
        After which no proof of the point begins.

    Returns
    -------
    Solution

    Raises
    ------
    DataError
        If there is nothing to join, or not everything has the same sense.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> model = methods.mvu(graphs.path([1.0, 2.0]))
    >>> rough = sdpdr.solve(model, "scs", "gram", max_iter=5)
    >>> exact = sdpdr.solve(model, "lowrank")
    >>> both = sdpdr.join([rough, exact], model.to_sdp())
    >>> both.certified(), both.solver, len(both.runs)
    (True, 'lowrank', 2)
    """
    if not solutions:
        raise DataError("there is no solution to join; pass one or more.")
    if len(solutions) == 1:
        return solutions[0]
    if len({one.maximize for one in solutions}) > 1:
        raise DataError("solutions of a maximisation and of a minimisation cannot be joined.")
    runs = tuple(run for one in solutions for run in one.runs)
    found = sorted(solutions, key=lambda one: (one.solver, one.form))
    prover = max(
        (one for one in found if one.bound is not None),
        key=lambda one: _minimised(one, one.bound),
        default=None,
    )
    merged = _merged(found, prover, sdp, deadline)
    return replace(_best(merged, found, prover), runs=runs)


def _best(merged: Solution, found: list[Solution], prover: Solution | None) -> Solution:
    """The best point with the best bound, unless an answer of another kind says more."""
    if merged.status is Status.SOLVED:
        return merged
    refuting = {Status.INFEASIBLE: merged.attained, Status.UNBOUNDED: merged.bound}
    for one in found:
        if one.status in refuting and refuting[one.status] is None:
            return one
    nearby = [
        one
        for one in (merged, *found)
        if one.status is Status.OPTIMAL_NEARBY and not _is_outdone(one, merged)
    ]
    if not nearby:
        return merged
    # A point that misses rows by a little may have a value that its own multipliers allow, and
    # better ones do not: the answer nearest to the best bound misses them by least.
    best = min(nearby, key=lambda one: (one.attained is None, _away(one, merged.bound)))
    if prover is None or prover is best:
        return best
    # Its own multipliers stay.
    rigorous = best.rigorous and prover.rigorous
    return replace(best, bound=prover.bound, argument=_argument(prover), rigorous=rigorous)


def _argument(prover: Solution) -> str:
    """How a bound is proved, and by whom."""
    return f"{prover.argument} (multipliers of {prover.solver}, {prover.form} form)"


def _merged(
    found: list[Solution], prover: Solution | None, sdp: SDP | None, deadline: Deadline
) -> Solution:
    """The best point with the best bound."""
    placed = [one for one in found if one.values] or [prover or found[0]]
    # To measure a point may take a factorization: where there is one, it is not compared.
    finder = placed[0] if len(placed) == 1 else min(placed, key=lambda p: _point_rank(p, prover))
    if prover is None or prover is finder:
        return finder
    merged = replace(
        finder,
        bound=prover.bound,
        argument=_argument(prover),
        duals=prover.duals,
        # The answer that went further searched more than the other.
        exposures=max(finder.exposures, prover.exposures, key=len),
        rigorous=prover.rigorous and (finder.rigorous or finder.attained is None),
        versions={**prover.versions, **finder.versions},
    )
    # With a point of one and a bound of another, nothing has failed and nothing is a mere claim.
    stopped = merged.status in CUT_SHORT
    # Unless the finder was stopped, its point and the multipliers count as an answer.
    verdict = ended_as(merged) if stopped else Verdict.INACCURATE
    if sdp is None:
        status = Status.SOLVED if merged.certified() else Status[verdict.name]
        return replace(merged, status=status)
    merged = with_point(sdp, merged, Point(merged.values, merged.duals))
    return with_status(sdp, attained(sdp, merged, deadline, AT_LEAST), verdict)


def _minimised(one: Solution, value: float | None) -> float:
    """A value in the sense of a minimisation."""
    assert value is not None
    return -value if one.maximize else value


def _point_rank(one: Solution, prover: Solution | None) -> tuple[bool, float, float]:
    """Points proved feasible first, by value; others by how near they are to the bound."""
    if one.attained is not None:
        return (False, _minimised(one, one.attained), 0.0)
    if prover is None:
        # A point a little beyond what is feasible may have any value, so that values tell nothing.
        return (True, one.residuals.worst(), one.residuals.primal())
    return (True, _error(replace(one, bound=prover.bound)), 0.0)


def _error(one: Solution) -> float:
    """Gap or primal residual, whichever is larger; infinite where one is missing."""
    gap = one.gap if isfinite(one.gap) else one.apparent_gap
    error = max(abs(gap), one.residuals.primal())
    return error if isfinite(error) else float("inf")


def _away(one: Solution, bound: float | None) -> float:
    """How far a value is from a bound, absolutely, since the optimum may be zero."""
    return _error(one) if bound is None else abs(one.value - bound)


def _is_outdone(one: Solution, merged: Solution) -> bool:
    """Whether the two sides that are proved leave a value further out than they are apart."""
    if merged.bound is None or merged.attained is None:
        return False
    return abs(one.value - merged.attained) > abs(merged.attained - merged.bound)
