"""From a program to its answer: reduce, iterate, stop, and say what came out.

The program or its dual is put to the method, whichever has fewer rows. An answer to the dual is one
to the program, but for two things. On a face the dual says nothing of a gap between both, unless
its multipliers are inside; then the program itself is solved. And where the dual has no point, or a
direction lowers the objective without end, the program need not have one either: then a point is
looked for, without an objective.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log10
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP, without_objective
from sdpdr.program.standard import equality_rows
from sdpdr.solvers.equality import equality_form, equality_rows_of_both, spread
from sdpdr.solvers.multiprecision.arithmetic import Vector, to_array, to_float
from sdpdr.solvers.multiprecision.compiled import compiled, number
from sdpdr.solvers.multiprecision.dependence import contradiction, free_equations, independent_rows
from sdpdr.solvers.multiprecision.exact import exact_program, rational
from sdpdr.solvers.multiprecision.faces import Confined, confined
from sdpdr.solvers.multiprecision.iterate import Measure, PreciseIterate
from sdpdr.solvers.multiprecision.method import PreciseSearch, Stuck
from sdpdr.solvers.multiprecision.rays import infeasibility_ray, is_inside, unbounded_ray

Report = Callable[[Mapping[str, Any]], None]

# Residuals of a point from which a program is unbounded, whatever is asked of its value: those that
# are infeasible by less than any distance have points with residuals of 1e-6.
_POINT_TOL = 1e-15

_TURN = threading.RLock()


def _renew_turn() -> None:
    """After a fork, no thread that could hand on the turn is left."""
    global _TURN
    _TURN = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_turn)


@dataclass(frozen=True)
class PreciseOptions:
    """When to stop, and in which precision to compute.

    Attributes
    ----------
    tol : float
        Gap relative to the value, and residuals relative to the largest right side and cost.
    bits : int
    max_iter : int
    max_rows : int
        Rows from which on the program itself is not tried where its dual tells too little.
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
    """What came out.

    Attributes
    ----------
    ending : str
        "solved", "stuck", "infeasible", "unbounded", "dual infeasible" (a direction without end,
        and no feasible point is known), "time limit", "iteration limit" or "interrupted".
    words : str
    point : Point
        In doubles; for an infeasible or unbounded program its ray, as multipliers or as values.
    primal, dual : arb
        Objectives of both sides, in the sense that the person wrote; not a number where nothing
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
        """Decimal digits in which both sides agree, at points as feasible as that."""
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
    # The working precision is one for all threads, so one thread computes at a time.
    if not _TURN.acquire(timeout=patience):
        return _nothing("time limit", "Another thread was computing in another precision.")
    try:
        with ctx.workprec(options.bits):
            found = _answered(sdp, options, report, deadline)
            if found.ending != "dual infeasible":
                return found
            closer = replace(options, tol=min(options.tol, _POINT_TOL))
            flat = _answered(without_objective(sdp), closer, None, deadline)
            return _from_a_point(sdp, found, flat)
    finally:
        _TURN.release()


def _answered(
    sdp: SDP, options: PreciseOptions, report: Report | None, deadline: Deadline
) -> PreciseRun:
    """What is found of the program itself, or of its dual where that is as good."""
    engine = _Engine(sdp, options, report, deadline)
    found = engine.run()
    if engine.is_telling(found):
        return found
    if equality_rows(sdp) > options.max_rows:
        words = "The dual was solved, on a face, and there may be a gap between it and the program."
        return replace(found, ending="stuck", words=words, primal=arb("nan"))
    return _Engine(sdp, options, report, deadline, itself=True).run()


def _from_a_point(sdp: SDP, found: PreciseRun, flat: PreciseRun) -> PreciseRun:
    """A direction without end, and what came of the search for a point to begin from."""
    if flat.ending == "infeasible":
        value = _worst(sdp)
        return replace(flat, primal=value, dual=value, history=found.history)
    if flat.ending == "solved":
        value = -_worst(sdp)
        return replace(found, ending="unbounded", primal=value, dual=value)
    ending = "interrupted" if flat.ending == "interrupted" else found.ending
    words = "A direction improves the objective without end, but no feasible point was found"
    return replace(found, ending=ending, words=f"{found.words} {words} ({flat.ending}).".strip())


def _worst(sdp: SDP) -> arb:
    """The value of an infeasible program, in the person's sense."""
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
        self.sdp, self.options, self.report, self.deadline = sdp, options, report, deadline
        self.itself = itself
        self.history: list[Mapping[str, Any]] = []
        self.scale = arb(0)
        self.search: PreciseSearch | None = None

    def is_telling(self, found: PreciseRun) -> bool:
        """Whether what was found of the dual, if that was solved, is true of the program."""
        if found.ending not in ("solved", "dual infeasible") or not self.layout.is_dual:
            return True
        if all(basis is None for basis in self.face.bases):
            return True
        # Multipliers inside the cones of the face are moved into the whole cones, at no cost, along
        # those of the rows that expose it.
        return found.ending == "solved" and self.search is not None and is_inside(self.search)

    def run(self) -> PreciseRun:
        """Set up, and iterate."""
        try:
            self._set_up()
            if not self.consistent:
                return self._contradicted()
            if not self.bounded:
                return self._falling()
            program = compiled(self.face.program, self.kept, self.kept_free)
            self.search = PreciseSearch(program, self._pause)
            return self._iterate(self.search)
        except _OutOfTime:
            return self._ended("time limit", "", self.search)
        except KeyboardInterrupt:
            return self._ended("interrupted", "", self.search)
        except Stuck as reason:
            return self._ended("stuck", f"It stopped: {reason}.", self.search)

    def _set_up(self) -> None:
        """The program over the rational numbers, on its face, and what is independent in it."""
        own, other = equality_rows_of_both(self.sdp)
        self.layout = equality_form(self.sdp, not self.itself and other < own, keep_free=True)
        self._pause()
        exact = exact_program(self.layout.equality, self.layout.inequalities(), self._pause)
        known = self.layout.known_null_vectors()
        self.face: Confined = confined(exact, known, self._pause)
        self.kept, self.consistent = independent_rows(self.face.program, self._pause)
        self.equations = free_equations(self.face.program)
        self.kept_free, self.bounded = independent_rows(self.equations, self._pause)

    def _contradicted(self) -> PreciseRun:
        """Rows that no matrices can meet, on the faces that other rows confine them to."""
        whose = " of the dual" if self.layout.is_dual else ""
        words = f"The rows{whose} contradict each other, whatever the matrices."
        if self.face.exposing:
            listed = ", ".join(map(str, self.face.exposing[:10]))
            words = f"On the face that rows {listed}{whose} confine matrices to, rows contradict."
        y = contradiction(self.face.program, self.kept)
        return self._with_ray(words, y=np.array([-to_float(x) for x in y]))

    def _falling(self) -> PreciseRun:
        """Free scalars that change the cost and nothing else."""
        whose = " of the dual" if self.layout.is_dual else ""
        words = f"Free scalars{whose} change the cost and nothing else."
        f = contradiction(self.equations, self.kept_free)
        everything = range(1, len(f) + 1)
        free = {k: -x for k, x in zip(everything, f, strict=True)}
        blocks = self.face.program.blocks
        zeros = tuple(arb_mat(block.order, block.order) for block in blocks)
        plus = [arb(0)] * len(self.face.program.positive)
        return self._with_ray(words, values=self._values(zeros, plus, free))

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
            search.prepare()
            # Rays are found while an iterate is far from feasible, or not at all.
            if now.primal_error > self.options.tol:
                y = infeasibility_ray(search)
                if y is not None:
                    return self._with_ray("", y=self._multipliers(y), iterations=iteration)
            if now.dual_error > self.options.tol:
                direction = unbounded_ray(search)
                if direction is not None:
                    found = self._found(direction)
                    return self._with_ray("", values=found, iterations=iteration)
            search.advance()
        return self._ended("iteration limit", "", search)

    def _is_done(self, now: Measure) -> bool:
        tol = self.options.tol
        if max(now.primal_error, now.dual_error) > tol:
            return False
        # A value of zero is one that has become very small beside where the method began.
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
        """Primal and dual value of the program given, in the person's sense."""
        constant = number(rational(self.layout.equality.constant))
        sides = ((now.primal + constant).mid(), (now.dual + constant).mid())
        if self.layout.is_dual:
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
        reduced = self.layout.reduced
        point = self.layout.read(self._found(at), self._multipliers(at.y), spread)
        return reduced.lift(Point(point.values, complete_multipliers(reduced.sdp, point.duals)))

    def _with_ray(
        self,
        words: str,
        *,
        values: Mapping[str, Array] | None = None,
        y: Array | None = None,
        iterations: int = 0,
    ) -> PreciseRun:
        """What a ray proves of the program given: values or multipliers, by which half is there.

        A dual without a point, or a direction without end, is all that values prove.
        """
        zeros = {v.name: np.zeros(v.size) for v in self.layout.equality.vector_variables}
        zeros |= {v.name: np.zeros((v.n, v.n)) for v in self.layout.equality.psd_variables}
        rows = np.zeros(self.face.program.n_rows) if y is None else y
        whole = self.layout.reduced.lift(self.layout.read(values or zeros, rows, spread))
        if (values is not None) != self.layout.is_dual:
            ending, value, point = "dual infeasible", arb("nan"), Point(whole.values, {})
        else:
            ending, value, point = "infeasible", _worst(self.sdp), Point({}, whole.duals)
        history = tuple(self.history)
        return PreciseRun(ending, words, point, value, value, 0.0, 0.0, iterations, history)

    def _found(self, at: PreciseIterate) -> dict[str, Array]:
        free = dict(zip(self.kept_free, at.free, strict=True))
        return self._values(at.x, at.x_plus, free)

    def _values(
        self, x: Sequence[arb_mat], plus: Sequence[arb], free: Mapping[int, arb]
    ) -> dict[str, Array]:
        """Values by variable of the equality form, whose matrices may lie on faces."""
        found: dict[str, Array] = {}
        for k, v in enumerate(self.layout.equality.psd_variables):
            small, basis = to_array(x[k]), self.face.basis(k)
            found[v.name] = small if basis is None else basis @ small @ basis.T
        positive, place = iter(plus), iter(range(1, len(self.face.program.free) + 1))
        for u in self.layout.equality.vector_variables:
            if u.nonnegative:
                numbers = [next(positive) for _ in range(u.size)]
            else:
                numbers = [free.get(next(place), arb(0)) for _ in range(u.size)]
            found[u.name] = np.array([to_float(each) for each in numbers])
        return found

    def _multipliers(self, y: Vector) -> Array:
        """Multipliers of all rows, by the sign of `sdpdr.program.sdp`; zero where a row is idle."""
        full = np.zeros(self.face.program.n_rows)
        full[np.array(self.kept, dtype=int) - 1] = [-to_float(x) for x in y]
        return full
