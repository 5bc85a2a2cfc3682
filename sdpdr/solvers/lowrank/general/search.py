r"""The outer loop: multipliers, penalty, rank, and when to stop.

Each round minimises the augmented Lagrangian to an accuracy that shrinks from round to round,
takes the estimate :math:`u = y + \sigma h` as multipliers, and raises the penalty where the rows
did not come closer by a set factor.

References
----------
Burer and Monteiro, Math. Program. 103, 2005; Birgin and Martínez, Practical Augmented Lagrangian
Methods, 2014, chapters 4 and 12; Nocedal and Wright, section 17.3.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.program.point import Point, Value
from sdpdr.solvers.lowrank.frame import Journal, Options
from sdpdr.solvers.lowrank.general.inner import Inner
from sdpdr.solvers.lowrank.general.lagrangian import Lagrangian, Local
from sdpdr.solvers.lowrank.general.lowest import dense_seconds
from sdpdr.solvers.lowrank.general.problem import FactorProblem
from sdpdr.solvers.lowrank.general.ranks import grown, shrunk
from sdpdr.solvers.lowrank.general.verdict import (
    FactorVerdict,
    Unknowns,
    broken,
    judge,
    refuted,
    relative,
    violation,
)
from sdpdr.solvers.processes.ends import post

_FIRST_ACCURACY, _NEXT = 0.1, 0.2
_PROGRESS, _FACTOR = 0.1, 4.0
_LARGEST_PENALTY = 1e9
_PATIENCE = 8  # rounds in a row without a better verdict or a smaller violation
_ROUNDS = 200
_NEXT_PROOF = 0.1  # share of the error at the last bound from which the next is worth its time
# Times the gap aimed at, from which on a proof is not worth its time.
_HOPELESS = 10.0
_CLOSER = 0.7  # share of the least violation so far that counts as progress


class FactorSearch:
    """The search for an optimal point of a problem.

    Parameters
    ----------
    problem : FactorProblem
    options : Options
    journal : Journal
    start : Point, optional
        What was given to begin with.

    Attributes
    ----------
    best : FactorVerdict or None
        The verdict of least error so far.
    certified : tuple of (FactorVerdict, bound, gap) or None
        The verdict whose larger one of gap and violation is least so far.
    feasible : tuple of (values, value) or None
        The best value so far at a point that keeps all rows, and that point.
    proved : tuple of (multipliers, bound) or None
        The best bound so far. With `feasible`, it is what a run that is stopped has to offer.
    ending : str
        Why the search ended.
    method : str
        What found the answer.
    """

    def __init__(
        self, problem: FactorProblem, options: Options, journal: Journal, start: Point | None = None
    ) -> None:
        self.problem, self.options, self.journal = problem, options, journal
        self.start = start
        self.best: FactorVerdict | None = None
        self.certified: tuple[FactorVerdict, float, float] | None = None
        self.feasible: tuple[Mapping[str, Value], float] | None = None
        self.proved: tuple[Mapping[str, Array], float] | None = None
        self.ending, self.method = "stalled", "augmented Lagrangian"
        self._watched = options.callback is not None or options.time_limit is not None
        self._due = (
            np.inf
        )  # error at which the next bound is computed for a callback or a time limit
        self.inner = Inner(problem, options, journal)

    def run(self, at: Unknowns) -> None:
        """Go on from a point until it is good enough, or a limit is reached."""
        multipliers = at.multipliers
        local = Lagrangian(at.layout, multipliers, 1.0).at(at.vector)
        if self._watched:
            first = self._judge(local)
            self._prove(first, first.point(), always=True)
        penalty = first_penalty(local)
        accuracy, before, patience = _FIRST_ACCURACY, np.inf, _PATIENCE
        error, least = np.inf, np.inf  # of this run, whatever another engine had reached
        for _ in range(_ROUNDS):
            function = Lagrangian(local.function.layout, multipliers, penalty)
            local = self.inner.minimize(function.at(local.vector), accuracy)
            verdict = self._judge(local)
            better = verdict.error < 0.5 * error
            error = min(error, verdict.error)
            if verdict.infeasibility < _CLOSER * least:
                better, least = True, verdict.infeasibility
            patience = _PATIENCE if better else patience - 1
            if self._finish(local, verdict) or patience == 0:
                return
            away, multipliers = violation(local), local.estimate
            # A round that did not reach its accuracy says nothing about the penalty.
            reached = verdict.stationarity <= 10.0 * accuracy
            if reached and away > _PROGRESS * before and penalty < _LARGEST_PENALTY:
                penalty *= _FACTOR
            before = away
            accuracy = max(0.1 * self.options.tol, _NEXT * min(accuracy, verdict.error))
            local = self._with_rank(local, verdict)

    def _judge(self, local: Local) -> FactorVerdict:
        """A verdict on a point; a quick one where there is no time for another."""
        needed = dense_seconds(block.n for block in self.problem.blocks if not block.scalar)
        return judge(local, self.options.seed, quick=2.0 * needed > self.journal.deadline.ahead)

    def judge_current(self, first: Unknowns) -> None:
        """Take a verdict on the point reached so far, or on the first one."""
        local = self.inner.latest
        local = local or Lagrangian(first.layout, first.multipliers, 1.0).at(first.vector)
        verdict = judge(local, self.options.seed, quick=True)
        point = self._take(verdict)
        self._prove(verdict, point, always=True)

    def _finish(self, local: Local, verdict: FactorVerdict) -> bool:
        """Note a verdict; whether it ends the search."""
        if self.settles(verdict):
            return True
        ending = refuted(local) or self.journal.exhausted
        self.ending = ending or self.ending
        return ending is not None

    def settles(self, verdict: FactorVerdict, *, always: bool = False, gap: float = 0.0) -> bool:
        """Keep what a verdict offers and proves; whether it is good enough.

        A proven gap is, up to the tolerance or the ``gap`` given if that is larger.
        """
        point = self._take(verdict)
        due = self._watched and verdict.error <= self._due
        if always and verdict.promise(point) > _HOPELESS * max(self.options.tol, gap):
            always = False
        always = always or due or bool(self.journal.exhausted)
        proved = self._prove(verdict, point, always=always, gap=gap)
        # What is proved and held needs no other measure.
        held = proved is True and verdict.infeasibility <= self.options.tol
        if held or (verdict.error <= self.options.tol and proved is None):
            self.ending = "converged"
            return True
        return False

    def proves(self, verdict: FactorVerdict, gap: float) -> bool:
        """Whether a proof, tried whatever the errors promise, shows a verdict's point to a gap."""
        held = verdict.infeasibility <= self.options.tol
        proved = self._prove(verdict, self._take(verdict), always=True, gap=gap)
        if not held or not proved:
            return False
        self.ending = "converged"
        return True

    def _take(self, verdict: FactorVerdict) -> Point:
        """Keep a verdict if it is the best; its point."""
        if self.best is None or verdict.error < self.best.error:
            self.best = verdict
        point = verdict.point()
        self.offer(point.values)
        return point

    def offer(self, values: Mapping[str, Value]) -> None:
        """Keep values if they are the best of those that keep all rows."""
        sdp = self.problem.sdp
        value = sdp.report(sdp.primal_value(values))
        if self.feasible is not None and self._is_better(self.feasible[1], value):
            return
        if broken(sdp, values) <= self.options.tol:
            self.feasible = values, value
            post(lambda: Point(values))

    def _prove(
        self, verdict: FactorVerdict, point: Point, always: bool = False, gap: float = 0.0
    ) -> bool | None:
        """Whether a bound meets the tolerance; None if no argument gives a bound at all."""
        if verdict.error > 30.0 * self.options.tol and not always:
            return False
        self._due = _NEXT_PROOF * verdict.error
        proof = verdict.proof(point, max(self.options.tol, gap), self.journal.deadline)
        if proof is None:
            return None
        bound, found = proof
        if self.certified is None or _merit(verdict, found) < _merit(*self.certified[::2]):
            self.certified = (verdict, bound, found)
        if self.proved is None or self._is_better(self.proved[1], bound):
            self.proved = point.duals, bound
        self.journal.certify(self.proved[1], self.gap())
        return abs(found) <= max(self.options.tol, gap)

    def gap(self) -> float:
        """Relative distance of the best value and the best bound."""
        assert self.certified is not None
        assert self.proved is not None
        if self.feasible is None:
            return self.certified[2]
        sdp, value, bound = self.problem.sdp, self.feasible[1], self.proved[1]
        signed = bound - value if sdp.maximize else value - bound
        return relative(signed, value, sdp)

    def _is_better(self, value: float, bound: float) -> bool:
        """Whether a value beats another; turned around, whether a bound is the tighter one."""
        return value >= bound if self.problem.sdp.maximize else value <= bound

    def _with_rank(self, local: Local, verdict: FactorVerdict) -> Local:
        """The same point with columns added or dropped where the verdict says so."""
        escape = verdict.negativity > max(0.3 * verdict.stationarity, self.options.tol)
        changed = grown(local, verdict, self.options) if escape else None
        if changed is None and not escape:
            share = max(1e-2 * self.options.tol, 1e-4 * min(verdict.error, 1e-2))
            changed = shrunk(local, share)
        if changed is None:
            return local
        layout, vector, words = changed
        if words:
            self.journal.remark(words)
        function = local.function
        return Lagrangian(layout, function.multipliers, function.penalty).at(vector)


def _merit(verdict: FactorVerdict, gap: float) -> float:
    return max(abs(gap), verdict.infeasibility)


def first_penalty(local: Local) -> float:
    """A penalty under which a violation costs about ten times what the objective offers."""
    away = np.where(local.function.layout.problem.equal, local.excess, np.maximum(local.excess, 0))
    size = max(0.5 * float(away @ away), 1e-3)
    return float(np.clip(10.0 * max(abs(local.objective), 1e-3) / size, 1e-2, 1e3))
