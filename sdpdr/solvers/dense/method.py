r"""A primal-dual interior-point method, from a point that need not satisfy any equation.

Every step is a predictor-corrector step of Mehrotra: a step towards the optimum determines how far
the barrier may fall, and the curvature for which the next step corrects. The point and the
multipliers have step lengths of their own, unless there are squares in the cost.

References
----------
Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optim. 2(4), 1992.
Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010, for the first point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.program.run import Verdict
from sdpdr.solvers.dense.direction import ConicDirection, ConicIterate, Directions
from sdpdr.solvers.dense.normal import Data, Normal

# Share of the way to the boundary that a step goes, and the least useful step.
_SHARE, _LEAST = 0.9, 1e-4
# Tolerance of residuals over that of the gap.
_RESIDUALS = 10.0
# Residual that a step may leave, relative to the present or the allowed one, and most refinements
# for it; the same if only rounding may be left.
_SMALL, _SELDOM = 1e-3, 12
_ROUNDING, _OFTEN = 1e-12, 30
# Steps in which the gap or the residuals must fall to a share, or the method ends: steps are short
# next to an optimum that is not attained, or has no multipliers.
_PATIENCE, _PROGRESS = 10, 0.5
# Largest relative residual of a ray.
_RAY = 1e-9
Follow = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, eq=False)
class Ending:
    """The end of a run: the last iterate, its verdict, and the number of steps."""

    last: ConicIterate
    verdict: Verdict
    iterations: int


def minimized(
    data: Data,
    tol: float,
    max_iter: int,
    deadline: Deadline | None = None,
    follow: Follow | None = None,
    *,
    exact: bool = False,
) -> Ending:
    """Solve a program over cones.

    Parameters
    ----------
    data : Data
    tol : float
        Largest gap, relative to the value if that is above one.
    max_iter : int
    deadline : Deadline, optional
    follow : callable, optional
        Called with a record for each iteration.
    exact : bool, default False
        Whether steps leave residuals of equations of the size of rounding only.

    Examples
    --------
    The least t with t >= 1 and t >= 2:

    >>> import scipy.sparse as sp
    >>> from sdpdr.solvers.dense.scaling import Cones
    >>> nothing = np.zeros((0, 1)), np.zeros(0)
    >>> M, t = sp.csr_array([[1.0], [1.0]]), np.array([-1.0, -2.0])
    >>> data = Data(np.ones(1), np.zeros(1), *nothing, M, t, Cones(2, ()))
    >>> ending = minimized(data, 1e-9, 50)
    >>> ending.last.v.round(6), ending.last.z.round(6)
    (array([2.]), array([0., 1.]))
    """
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            ending = _Method(data, tol, exact).run(max_iter, deadline or Deadline(), follow)
    except np.linalg.LinAlgError:  # before there was a point
        zero = np.zeros(data.cost.size), data.cones.identity, np.zeros(data.e.size)
        start = ConicIterate.at(data, *zero, data.cones.identity)
        ending = Ending(start, Verdict.FAILED, 0)
    return replace(ending, last=ending.last.folded(data))


class _Method:
    """The iteration."""

    def __init__(self, data: Data, tol: float, exact: bool) -> None:
        self._data, self._tol, self._normal = data, tol, Normal(data)
        self._size = 1.0 + float(np.linalg.norm(data.cost) + np.linalg.norm(data.e))
        self._exact = exact

    def run(self, max_iter: int, deadline: Deadline, follow: Follow | None) -> Ending:
        now = self._first()
        left = list[tuple[float, float]]()
        for k in range(max_iter):
            verdict = self._verdict(now)
            left.append((now.gap(), now.error(self._data)))
            if verdict is None and _is_stuck(left):
                verdict = Verdict.INACCURATE
            if follow is not None:
                follow(self._record(now, k, deadline.spent))
            if verdict is Verdict.SOLVED:
                return Ending(self._without_residuals(now), verdict, k)
            if verdict is not None:
                return Ending(now, verdict, k)
            if deadline.is_over():
                return Ending(now, Verdict.TIME_LIMIT, k)
            further = None
            with suppress(np.linalg.LinAlgError):
                further = self._moved(now)
            if further is None:
                return Ending(now, Verdict.INACCURATE, k)
            now = further
        return Ending(now, self._verdict(now) or Verdict.ITERATION_LIMIT, max_iter)

    def _record(self, now: ConicIterate, k: int, seconds: float) -> dict[str, Any]:
        value = now.value(self._data)
        return {
            "iteration": k,
            "value": value,
            "bound": now.bound(self._data),
            "infeasibility": now.error(self._data),
            "stationarity": now.gap() / max(1.0, abs(value)),
            "seconds": seconds,
        }

    def _verdict(self, now: ConicIterate) -> Verdict | None:
        data = self._data
        small = now.gap() <= self._tol * max(1.0, abs(now.value(data)))
        if small and now.error(data) <= _RESIDUALS * self._tol:
            return Verdict.SOLVED
        # A ray of multipliers, or a direction of unbounded gain.
        gain = now.gain(data)
        left = now.free + data.cost + data.curvature * now.v
        if gain > 0.0 and np.linalg.norm(left) <= _RAY * gain:
            return Verdict.INFEASIBLE
        loss = -float(data.cost @ now.v)
        if data.is_curved or not loss > 0.0:
            return None
        apart = np.linalg.norm(now.apart - data.offset) + np.linalg.norm(now.missed - data.e)
        return Verdict.UNBOUNDED if apart <= _RAY * loss else None

    def _first(self) -> ConicIterate:
        """The shortest s and z that satisfy their equations, moved into the interior."""
        data = self._data
        system = self._normal.factored(None)
        v, _ = system.solve(-(data.adjoint @ data.offset), data.e)
        w, y = system.solve(-data.cost, np.zeros(data.e.size))
        s, z = self._inside(data.slack @ v + data.offset), self._inside(-(data.slack @ w))
        return ConicIterate.at(data, v, s, y, z)

    def _inside(self, x: Array) -> Array:
        cones = self._data.cones
        least, size = cones.least(x), float(np.linalg.norm(x)) / max(1.0, cones.degree) ** 0.5
        room = 0.1 * max(1.0, size)
        return x if least >= room else x + (max(1.0, room) - least) * cones.identity

    def _moved(self, now: ConicIterate) -> ConicIterate | None:
        """The next iterate; None if the step is too short."""
        data = self._data
        ways = Directions(data, self._normal, now)
        scaling, gap = ways.scaling, now.gap()
        point = scaling.point
        ahead = ways.towards(-point)
        if not data.cones.degree:  # Equations alone: a step of Newton's method ends the search.
            return self._at_end(ways, ahead)
        one, other = (min(1.0, reach) for reach in scaling.reach_of_both(ahead.ds))
        left = float((point + one * ahead.ds) @ (point + other * ahead.dz))
        share = min(1.0, max(0.0, left / gap)) ** 3
        barrier = share * gap / data.cones.degree
        # The product of both should equal the barrier.
        wanted = barrier * data.cones.identity - scaling.product(ahead.ds, ahead.dz)
        wanted = scaling.divided(wanted) - point
        found = ways.refined(wanted, *self._goal(now))
        return self._at_end(ways, found)

    def _without_residuals(self, now: ConicIterate) -> ConicIterate:
        """A point next to an optimum without residuals, as far as the cones allow.

        Proofs then move the point and its multipliers less.
        """
        with suppress(np.linalg.LinAlgError):
            ways = Directions(self._data, self._normal, now)
            found = ways.refined(np.zeros(now.s.size), _ROUNDING * self._size, _SELDOM)
            return self._at_end(ways, found) or now
        return now

    def _goal(self, now: ConicIterate) -> tuple[float, int]:
        """The residual that a step may leave, and the most refinements for it."""
        if self._exact:
            return _ROUNDING * self._size, _OFTEN
        return _SMALL * max(now.left(), _SMALL * self._tol * self._size), _SELDOM

    def _at_end(self, ways: Directions, found: ConicDirection) -> ConicIterate | None:
        """The iterate as far along a direction as cones allow; None if the step is too short."""
        data, now = self._data, ways.now
        reach = ways.scaling.reach(found.ds, found.dz)
        lengths = [min(1.0, _SHARE * x) for x in reach]
        if data.is_curved:
            lengths = [min(lengths)] * 2
        if not max(lengths) > _LEAST:
            return None
        one, other = lengths
        s = now.s + one * (data.slack @ found.dv + now.apart)
        z = now.z + other * ways.scaling.outer(found.dz)
        moved = ConicIterate.at(data, now.v + one * found.dv, s, now.y + other * found.dy, z)
        return moved if np.isfinite(moved.free).all() and np.isfinite(s).all() else None


def _is_stuck(left: Sequence[tuple[float, float]]) -> bool:
    """Whether neither the gap nor the residuals fell much in the last steps."""
    if len(left) <= _PATIENCE:
        return False
    before, now = (np.min(part, axis=0) for part in (left[:-_PATIENCE], left))
    return bool(np.all(now >= _PROGRESS * before))
