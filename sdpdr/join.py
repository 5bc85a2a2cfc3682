"""Several answers to one program as one: the best point of one, the best bound of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from sdpdr.errors import DataError
from sdpdr.program.point import Point
from sdpdr.program.residuals import dimacs_errors
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution, Status

# From the best on; all others are alike, and their gaps decide.
_ORDER = {
    Status.SOLVED: 0,
    Status.INFEASIBLE: 1,
    Status.UNBOUNDED: 1,
    Status.OPTIMAL_NEARBY: 2,
}
_OTHER, _REFUTED = 3, 4
_CLAIMS = (Status.INFEASIBLE, Status.UNBOUNDED)


def join(solutions: Sequence[Solution], sdp: SDP | None = None) -> Solution:
    """Join answers to the same program into one that is as good as any of them on either side.

    The point is the best of those proved feasible, or else of those that are nearest to their
    bounds; `Solution.solver` and `Solution.form` are those that found it. The bound is the best of
    all bounds, and `Solution.argument` says whose multipliers prove it. A claim that the program is
    infeasible or unbounded loses against a point, or a bound, that is proved.

    Parameters
    ----------
    solutions : sequence of Solution
        At least one; their order does not matter, but for that of `Solution.runs`.
    sdp : SDP, optional
        To measure a point beside the multipliers of another run; without it, the residuals are
        those of the run that the point is from.

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
    if len({one.maximize for one in solutions}) > 1:
        raise DataError("solutions of a maximisation and of a minimisation cannot be joined.")
    runs = tuple(run for one in solutions for run in one.runs)
    found = sorted(solutions, key=lambda one: (one.solver, one.form))
    merged = _merged(found, sdp)
    feasible = any(one.attained is not None for one in found)
    bounded = merged.bound is not None
    best = min([merged, *found], key=lambda one: _rank(one, feasible, bounded))
    return replace(best, runs=runs)


def _merged(found: list[Solution], sdp: SDP | None) -> Solution:
    """The best point with the best bound."""
    prover = max(
        (one for one in found if one.bound is not None),
        key=lambda one: _minimised(one, one.bound),
        default=None,
    )
    bound = None if prover is None else prover.bound
    finder = min(
        (one for one in found if one.values),
        key=lambda one: _point_rank(one, bound),
        default=prover or found[0],
    )
    if prover is None or prover is finder:
        return finder
    residuals = finder.residuals
    if sdp is not None:
        residuals = dimacs_errors(sdp, Point(finder.values, prover.duals))
    merged = replace(
        finder,
        bound=prover.bound,
        argument=f"{prover.argument} (multipliers of {prover.solver}, {prover.form} form)",
        duals=prover.duals,
        rigorous=prover.rigorous,
        residuals=residuals,
        versions={**prover.versions, **finder.versions},
    )
    return replace(merged, status=_status(merged))


def _status(merged: Solution) -> Status:
    if merged.certified():
        return Status.SOLVED
    # With a point of one and a bound of another, nothing has failed.
    unlikely = (Status.SOLVED, Status.FAILED, *_CLAIMS)
    return Status.INACCURATE if merged.status in unlikely else merged.status


def _minimised(one: Solution, value: float | None) -> float:
    """A value in the sense of a minimisation."""
    assert value is not None
    return -value if one.maximize else value


def _point_rank(one: Solution, bound: float | None) -> tuple[bool, bool, float, float]:
    """Points proved feasible first, by value; others by how near they are to the bound."""
    if one.attained is not None:
        return (False, False, _minimised(one, one.attained), 0.0)
    solved = one.status is Status.SOLVED
    if bound is not None:
        return (True, not solved, _error(replace(one, bound=bound)), 0.0)
    # A point a little beyond what is feasible may have any value, so that values tell nothing.
    return (True, not solved, one.residuals.worst(), one.residuals.primal())


def _error(one: Solution) -> float:
    """Gap or primal residual, whichever is larger; infinite where one is missing."""
    error = max(abs(one.gap), one.residuals.primal())
    return error if isfinite(error) else float("inf")


def _rank(one: Solution, feasible: bool, bounded: bool) -> tuple[int, bool, bool, float]:
    place = _ORDER.get(one.status, _OTHER)
    refuted = feasible if one.status is Status.INFEASIBLE else bounded
    if one.status in _CLAIMS and refuted:
        place = _REFUTED
    return (place, not one.values, one.bound is None, _error(one))
