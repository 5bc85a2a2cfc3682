"""From a program to its answer: reduce to faces, iterate, stop, and report.

`sdpdr.reduce.facial_reduction` restricts matrices exactly to the faces that single rows imply. Then
the program or its dual is solved, whichever has fewer rows. The dual on a face may have another
optimum than the program, unless its multipliers are multipliers of the whole dual as well; if they
are not, the program itself is solved.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf, log10
from typing import Any

import numpy as np
from flint import arb, ctx

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.program.standard import equality_rows
from sdpdr.reduce import FacialReduction, facial_reduction
from sdpdr.solvers.equality import equality_form, equality_rows_of_both, spread
from sdpdr.solvers.multiprecision.arithmetic import Vector, to_array, to_float
from sdpdr.solvers.multiprecision.compiled import compiled
from sdpdr.solvers.multiprecision.dependence import free_equations, independent_rows
from sdpdr.solvers.multiprecision.iterate import Measure, PreciseIterate
from sdpdr.solvers.multiprecision.method import PreciseSearch, Stuck
from sdpdr.solvers.multiprecision.rays import infeasibility_ray, unbounded_ray
from sdpdr.solvers.multiprecision.stored import natural_program, stored_program

Report = Callable[[Mapping[str, Any]], None]

_PRECISION_LOCK = threading.RLock()


def _renew_lock() -> None:
    """After a fork, the thread that held the lock does not exist, so make a new lock."""
    global _PRECISION_LOCK
    _PRECISION_LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@dataclass(frozen=True)
class PreciseOptions:
    """Stopping rules and working precision.

    Attributes
    ----------
    tol : float
        Gap relative to the value, and residuals relative to the largest right side and cost.
    bits : int
    max_iter : int
    max_rows : int
        Rows above which the program itself is not solved if the answer of the dual on a face is
        not one of the program.
    time_limit : float
        Seconds.
    """

    tol: float
    bits: int
    max_rows: int
    max_iter: int = 500
    time_limit: float = inf


@dataclass(frozen=True, eq=False)
class PreciseRun:
    """The result of a run.

    Attributes
    ----------
    ending : str
        "solved", "stuck", "infeasible", "dual infeasible" (the program is unbounded if it has a
        feasible point), "time limit", "iteration limit" or "interrupted".
    words : str
    point : Point
        In doubles. If a ray was found, it stands here, as multipliers or as values.
    primal, dual : arb
        Objectives of both sides, in the sense of the user's objective; not a number where nothing
        is known.
    gap, error : float
        Relative gap, and the larger of the relative residuals.
    iterations : int
    history : tuple of mappings
    """

    ending: str
    words: str
    point: Point
    primal: arb
    dual: arb
    gap: float
    error: float
    iterations: int
    history: tuple[Mapping[str, Any], ...]

    @property
    def digits(self) -> int:
        """Decimal digits in which both sides agree, at points whose residuals are as small."""
        worst = max(self.gap, self.error)
        if not (self.primal.is_finite() and worst < 1.0):
            return 0
        return int(-log10(max(worst, 1e-300)))

    def decimals(self, x: arb) -> str:
        """A value in decimals, a few more than agree."""
        if not x.is_finite():
            return str(float(x))
        return str(x.str(self.digits + 3, radius=False, more=True))


class _OutOfTime(Exception):
    """The time limit was reached, between or within iterations."""


def run(sdp: SDP, options: PreciseOptions, report: Report | None = None) -> PreciseRun:
    """Solve a program as it is stored.

    Parameters
    ----------
    sdp : SDP
    options : PreciseOptions
    report : callable, optional
        Given a mapping for every iteration.
    """
    deadline = Deadline(options.time_limit)
    left = deadline.left()
    patience = -1.0 if left is None else min(left, threading.TIMEOUT_MAX)
    # flint has one working precision for all threads, so one thread computes at a time.
    if not _PRECISION_LOCK.acquire(timeout=patience):
        return _nothing("time limit", "Another thread was computing in another precision.")
    try:
        with ctx.workprec(options.bits):
            engine = _Engine(sdp, options, report, deadline)
            found = engine.run()
            if engine.is_of_program(found):
                return found
            if equality_rows(sdp) > options.max_rows:
                words = "The dual was solved on a face, and the program may have another optimum."
                return replace(found, ending="stuck", words=words, primal=arb("nan"))
            return _Engine(sdp, options, report, deadline, itself=True).run()
    finally:
        _PRECISION_LOCK.release()


def _worst(sdp: SDP) -> arb:
    """The value of an infeasible program, in the sense of the user's objective."""
    return arb("-inf" if sdp.maximize else "inf")


def _nothing(ending: str, words: str) -> PreciseRun:
    nan = arb("nan")
    return PreciseRun(ending, words, Point(), nan, nan, inf, inf, 0, ())


class _Engine:
    def __init__(
        self,
        sdp: SDP,
        options: PreciseOptions,
        report: Report | None,
        deadline: Deadline,
        *,
        itself: bool = False,
    ) -> None:
        self.itself = itself
        self.sdp, self.options, self.report, self.deadline = sdp, options, report, deadline
        self.history: list[Mapping[str, Any]] = []
        self.scale = arb(0)
        self.search: PreciseSearch | None = None
        self.is_dual, self.is_complete, self.face = False, False, FacialReduction(sdp, sdp)

    def is_of_program(self, found: PreciseRun) -> bool:
        """Whether the answer is one of the program itself, even if the dual was solved."""
        if not (self.is_dual and self.face):
            return True
        return self.is_complete if found.ending == "solved" else found.ending != "dual infeasible"

    def run(self) -> PreciseRun:
        """Set up, and iterate."""
        try:
            refusal = self._set_up()
            if refusal is not None:
                return refusal
            program = compiled(self.program, self.kept, self.kept_free)
            self.search = PreciseSearch(program, self._pause)
            return self._iterate(self.search)
        except _OutOfTime:
            return self._ended("time limit", "", self.search)
        except KeyboardInterrupt:
            return self._ended("interrupted", "", self.search)
        except Stuck as reason:
            return self._ended("stuck", f"It stopped: {reason}.", self.search)

    def _set_up(self) -> PreciseRun | None:
        """Prepare the program on its face with independent rows, or return an early answer."""
        own, other = equality_rows_of_both(self.sdp)
        self.layout = equality_form(self.sdp, not self.itself and other < own, keep_free=True)
        self.is_dual = self.layout.is_dual
        self._pause()
        natural = natural_program(self.layout.equality, self.layout.inequalities())
        self._pause()
        self.face = facial_reduction(natural)
        if self.face.infeasible is not None:
            return self._without_point(on_dual=self.is_dual, words=self.face.infeasible)
        self.program = stored_program(self.face.sdp)
        columns, rhs = self.program.columns(), self.program.rhs
        self.kept, is_consistent = independent_rows(columns, rhs, self._pause)
        if not is_consistent:
            words = "Rows contradict each other, whatever the matrices."
            return self._without_point(on_dual=self.is_dual, words=words)
        self.kept_free, is_bounded = independent_rows(*free_equations(self.program), self._pause)
        if not is_bounded:
            words = "Free scalars change the cost and nothing else."
            return self._without_point(on_dual=not self.is_dual, words=words)
        return None

    def _without_point(self, *, on_dual: bool, words: str) -> PreciseRun:
        """The answer that the program or its dual is infeasible, without a ray."""
        value = arb("nan") if on_dual else _worst(self.sdp)
        ending = "dual infeasible" if on_dual else "infeasible"
        return PreciseRun(ending, words, Point(), value, value, 0.0, 0.0, 0, ())

    def _iterate(self, search: PreciseSearch) -> PreciseRun:
        now = search.measure()
        self.scale = (abs(now.primal) + now.mu * search.program.degree).mid()
        for iteration in range(self.options.max_iter + 1):
            now = search.measure()
            self._record(iteration, now, search)
            if self._is_done(now):
                return self._ended("solved", "", search)
            if search.is_stuck:
                return self._ended("stuck", "Its steps became too short.", search)
            if iteration == self.options.max_iter:
                break
            # Feasible iterates do not diverge along a ray, so look for rays at others only.
            if now.primal_error > self.options.tol:
                y = infeasibility_ray(search, now)
                if y is not None:
                    return self._with_ray(y=self._multipliers(y), iterations=iteration)
            if now.dual_error > self.options.tol:
                direction = unbounded_ray(search, now)
                if direction is not None:
                    found = self._values(direction)
                    return self._with_ray(values=found, iterations=iteration)
            search.prepare()
            search.advance()
        return self._ended("iteration limit", "", search)

    def _is_done(self, now: Measure) -> bool:
        tol = self.options.tol
        if max(now.primal_error, now.dual_error) > tol:
            return False
        # An optimum of zero has no relative gap; measure by a share of the first value instead.
        size = max(now.scale, self.scale * arb(tol) ** 1.5)
        return bool(abs(now.primal - now.dual) <= arb(tol) * size)

    def _pause(self) -> None:
        if self.deadline.is_over():
            raise _OutOfTime

    def _record(self, iteration: int, now: Measure, search: PreciseSearch) -> None:
        primal, dual = self._sides(now)
        entry = {
            "iteration": iteration,
            "value": to_float(primal),
            "dual": to_float(dual),
            "mu": to_float(now.mu),
            "primal_error": now.primal_error,
            "dual_error": now.dual_error,
            "steps": search.steps,
            "seconds": self.deadline.spent,
        }
        self.history.append(entry)
        if self.report is not None:
            self.report(entry)

    def _sides(self, now: Measure) -> tuple[arb, arb]:
        """Primal and dual value of the program given, in the sense of the user's objective."""
        constant = arb(self.layout.equality.constant)
        sides = ((now.primal + constant).mid(), (now.dual + constant).mid())
        if self.is_dual:
            sides = (-sides[1], -sides[0])
        return (-sides[0], -sides[1]) if self.sdp.maximize else sides

    def _ended(self, ending: str, words: str, search: PreciseSearch | None) -> PreciseRun:
        if search is None:
            return _nothing(ending, words)
        now, count, history = search.measure(), len(self.history) - 1, tuple(self.history)
        point, sides = self._point(search.iterate), self._sides(now)
        error = max(now.primal_error, now.dual_error)
        return PreciseRun(ending, words, point, *sides, now.gap, error, count, history)

    # -- the way back ---------------------------------------------------------------------------

    def _point(self, at: PreciseIterate) -> Point:
        found = Point(self._values(at), self._by_label(self._multipliers(at.y)))
        point = self._read(self.face.lift(found))
        completed = complete_multipliers(self.layout.reduced.sdp, point.duals)
        return self.layout.reduced.lift(Point(point.values, completed))

    def _read(self, natural: Point) -> Point:
        """A point of the program or its dual, from one of its natural equality form."""
        y = natural.duals.get("rows", np.zeros(0))
        # None are known where those of the face are not multipliers of the whole program.
        known = np.isfinite(y)
        self.is_complete = bool(np.all(known))
        return self.layout.read(natural.values, np.where(known, y, 0.0), spread)

    def _by_label(self, y: Array) -> dict[str, Array]:
        """Multipliers of the rows that are left on the face, by label."""
        found, start = {}, 0
        for r in self.face.sdp.rows:
            found[r.label], start = y[start : start + r.m], start + r.m
        return found

    def _with_ray(
        self,
        *,
        values: Mapping[str, Array] | None = None,
        y: Array | None = None,
        iterations: int = 0,
    ) -> PreciseRun:
        """The answer that a ray proves: infeasibility by multipliers, unboundedness by values.

        If the dual was solved, values and multipliers change roles.
        """
        zeros = {v.name: np.zeros(v.size) for v in self.face.sdp.vector_variables}
        zeros |= {v.name: np.zeros((v.n, v.n)) for v in self.face.sdp.psd_variables}
        rows = np.zeros(len(self.program.rhs)) if y is None else y
        found = self.face.embed(Point(values or zeros, self._by_label(rows)))
        whole = self.layout.reduced.lift(self._read(found))
        if (values is not None) != self.is_dual:
            ending, value = "dual infeasible", arb("nan")
            point = Point(whole.values, {})
        else:
            ending, value = "infeasible", _worst(self.sdp)
            # Multipliers on a face of the program do not prove infeasibility of the whole.
            point = Point({}, whole.duals if self.is_dual or not self.face else {})
        history = tuple(self.history)
        return PreciseRun(ending, "", point, value, value, 0.0, 0.0, iterations, history)

    def _values(self, at: PreciseIterate) -> dict[str, Array]:
        """Values by variable of the natural program on its face."""
        free = dict(zip(self.kept_free, at.free, strict=True))
        found: dict[str, Array] = {
            v.name: to_array(x) for v, x in zip(self.face.sdp.psd_variables, at.x, strict=True)
        }
        positive, place = iter(at.x_plus), iter(range(1, len(self.program.free) + 1))
        for u in self.face.sdp.vector_variables:
            if u.nonnegative:
                numbers = [next(positive) for _ in range(u.size)]
            else:
                numbers = [free.get(next(place), arb(0)) for _ in range(u.size)]
            found[u.name] = np.array([to_float(each) for each in numbers])
        return found

    def _multipliers(self, y: Vector) -> Array:
        """Multipliers of all rows, by the sign of `sdpdr.program.sdp`; zero where a row is idle."""
        full = np.zeros(len(self.program.rhs))
        full[np.array(self.kept, dtype=int) - 1] = [-to_float(x) for x in y]
        return full
