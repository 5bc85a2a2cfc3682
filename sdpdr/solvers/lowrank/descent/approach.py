r"""The outer loop of a descent: accuracy, penalties of rows, columns that come and go, verdicts.

Without penalized rows there is a single function, minimised first roughly and then exactly, with
more columns where the dual slack has negative eigenvalues. With them it is an augmented
Lagrangian, :math:`u = y + \sigma h` after each round, and a higher penalty where rows did not come
closer.

References
----------
Burer and Monteiro, Math. Program. 95, 2003, and 103, 2005; Han, Li, Lin, Ge, Ye and others, "A
low-rank ADMM splitting approach for semidefinite programming", 2024, for the logarithmic rank;
Wang and Hu, "Solving low-rank semidefinite programs via manifold optimization", J. Sci. Comput.
104, 2025, for the manifold and the penalties together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.descent.least import least_multipliers, leave_a_choice
from sdpdr.solvers.lowrank.descent.low_end import low_end, spectral
from sdpdr.solvers.lowrank.descent.spheres import SphereLagrangian, SphereLocal, Spheres
from sdpdr.solvers.lowrank.descent.trust_region import Minimizer
from sdpdr.solvers.lowrank.general.forms import DualSlack
from sdpdr.solvers.lowrank.general.lagrangian import Layout
from sdpdr.solvers.lowrank.general.problem import FactorProblem
from sdpdr.solvers.lowrank.general.ranks import grown, shrunk
from sdpdr.solvers.lowrank.general.search import FactorSearch, first_penalty
from sdpdr.solvers.lowrank.general.verdict import (
    FactorVerdict,
    Unknowns,
    judge,
    judge_as_it_is,
    refuted,
    scale_of,
    violation,
)

_ROUNDS = 60
_PATIENCE = 4  # rounds in a row in which no error halves, and rows do not come closer
_CLOSER, _MISSED = 0.7, 10.0
_FIRST, _NEXT = 1e-3, 1e-2  # accuracy of the first round, and of others beside the error
_SHARPER = 0.1  # accuracy where a proof was in vain, or would be
_HELD = 1e-2  # violation beside that: ten thousand small ones add up when a point is made feasible
_NEARLY = 10.0  # times the tolerance that negative eigenvalues may be due to that
# Penalties: the violation must fall to this share of the last one, or the penalty grows by this
# factor, up to the largest.
_PROGRESS, _FACTOR, _LARGEST = 0.2, 4.0, 1e9
_DIRECTIONS = 8
# What multipliers are raised by: a multiple of what is seen to lack, and a share of the tolerance.
_SURPLUS, _LIFT = 1.5, 0.1
# Share of the trace below which a column gives way, over the error, without and with penalties: the
# multipliers of penalized rows depend on thin columns.
_IDLE, _IDLE_PENALIZED = 0.1, 1e-4
# Share of the trace over the violation up to which a gap tells columns that matter from others:
# those of random completions hold a tenth of that while rows come closer.
_APART = 1e-2
_JUDGED_BELOW = 1e-2  # violation up to which columns are judged
_NEGATIVE = 3.0  # times what the gradient explains, from which on eigenvalues are negative
# Order up to which eigenvalues are computed more exactly where a proof was in vain.
_EXACT = 4000
# First columns over log n, without and with penalties.
_SHARES = 2.5, 1.5


def first_share(problem: FactorProblem) -> float:
    """How many columns to begin with, over the logarithm of the order."""
    return _SHARES[1] if Spheres(problem).free.any() else _SHARES[0]


def descend(search: FactorSearch, first: Unknowns) -> Unknowns | None:
    """Go down from a point; None if what was found is good enough, else where to go on from.

    Parameters
    ----------
    search : FactorSearch
        Verdicts are left in it, good or not.
    first : Unknowns
    """
    if first.multipliers.any():
        given = judge_as_it_is(first, search.options.seed)
        if search.settles(given, always=True):
            return None
    descent = _Descent(search)
    return None if descent.run(first) else descent.reached


class _Descent:
    """One search by descent.

    Parameters
    ----------
    search : FactorSearch

    Attributes
    ----------
    reached : Unknowns
    """

    def __init__(self, search: FactorSearch) -> None:
        self.search, self.options = search, search.options
        self.spheres, self.minimizer = Spheres(search.problem), Minimizer(search.inner)
        self.penalized = bool(self.spheres.free.any())
        # Where rows are believed to leave a choice, and the round before columns beyond a gap went.
        self.choice = self.penalized
        self.before: tuple[SphereLocal, FactorVerdict] | None = None

    def run(self, first: Unknowns) -> bool:
        """Minimise, judge, and change penalties or columns, until what is found is good enough."""
        local = self._first(first)
        accuracy, last = _FIRST, self.options.tol
        away, best, patience = np.inf, np.inf, _PATIENCE
        for _ in range(_ROUNDS):
            local, verdict = self._judged(self.minimizer.minimize(local, accuracy))
            local, verdict = self._with_or_without(local, verdict)
            self.reached: Unknowns = verdict
            error = max(verdict.stationarity, verdict.infeasibility, verdict.products)
            stopped = self.search.journal.exhausted
            # A proof costs factorizations: it is left until nothing speaks against it.
            held = verdict.infeasibility <= _HELD * last
            done = held and verdict.error <= last
            if (done or stopped) and self.search.settles(verdict, always=True):
                return True
            if stopped:
                return False
            if held and error <= last and verdict.negativity <= _NEARLY * self.options.tol:
                last *= _SHARPER
                verdict = self._judge(local, exactly=True)
            reached = verdict.stationarity <= _MISSED * accuracy
            closer = reached and verdict.infeasibility < _CLOSER * away
            better = verdict.error < 0.5 * best or closer
            patience = _PATIENCE if better else patience - 1
            if not better and self._is_refuted(local, verdict):
                return True
            if patience == 0:
                return False
            best = min(best, verdict.error)
            # A round that did not reach its accuracy says nothing about penalties.
            local = self._next(local, verdict, away if reached else np.inf, closer)
            away = verdict.infeasibility
            # Rows that are not held well enough come no closer without steps.
            floor = last if error > last else _SHARPER * last
            accuracy = max(floor, min(accuracy, _NEXT * max(error, floor)))
        return False

    def _first(self, first: Unknowns) -> SphereLocal:
        layout, vector, multipliers = first.layout, first.vector, first.multipliers
        if not self.penalized:
            return self._function(layout, multipliers, 1.0).at(vector)
        if self.search.start is None:
            vector = spectral(layout, vector, self.spheres, self.options.seed)
        local = self._function(layout, multipliers, 1.0).at(vector)
        return self._function(layout, multipliers, first_penalty(local)).at(local.vector)

    def _function(self, layout: Layout, multipliers: Array, penalty: float) -> SphereLagrangian:
        return SphereLagrangian(layout, multipliers, penalty, self.spheres)

    def _is_refuted(self, local: SphereLocal, verdict: FactorVerdict) -> bool:
        """Whether the program is infeasible or unbounded; recorded in the search."""
        found = refuted(local) if self.penalized else None
        if found is not None and not self.search.settles(verdict):
            self.search.ending = found
        return found is not None

    def _next(
        self, local: SphereLocal, verdict: FactorVerdict, before: float, closer: bool
    ) -> SphereLocal:
        """The next function: multipliers as estimated, columns and penalties as they have to be."""
        layout, vector = local.function.layout, local.vector
        changed = self._other_rank(local, verdict, closer)
        if changed is not None:
            layout, vector, words = changed
            self.search.journal.remark(words)
        penalty = local.function.penalty
        if violation(local) > max(_PROGRESS * before, 0.3 * self.options.tol):
            penalty = min(_FACTOR * penalty, _LARGEST)
        return self._function(layout, local.estimate, penalty).at(vector)

    def _judged(self, local: SphereLocal) -> tuple[SphereLocal, FactorVerdict]:
        """A verdict on a point; its multipliers are those of least size where these do better."""
        verdict = self._judge(local)
        function = local.function
        if not self._is_negative(verdict) or not self._have_choice(local):
            return local, verdict
        journal, goal = self.search.journal, max(verdict.infeasibility, self.options.tol)
        least, products = least_multipliers(
            local, self.search.inner.jacobians, _SHARPER * goal, journal.late
        )
        journal.products += products
        before = least - function.penalty * local.excess
        other = self._function(function.layout, before, function.penalty).at(local.vector)
        found = self._judge(other)
        return (other, found) if found.error < verdict.error else (local, verdict)

    def _have_choice(self, local: SphereLocal) -> bool:
        return self.choice and leave_a_choice(local.function.layout)

    def _with_or_without(
        self, local: SphereLocal, verdict: FactorVerdict
    ) -> tuple[SphereLocal, FactorVerdict]:
        """The round, or the one before columns beyond a gap went, if rows missed them."""
        before, self.before = self.before, None
        if before is None or verdict.infeasibility < _CLOSER * before[1].infeasibility:
            return local, verdict
        self.choice = False
        return before

    def _is_negative(self, verdict: FactorVerdict) -> bool:
        return verdict.negativity > max(_NEGATIVE * verdict.stationarity, self.options.tol)

    def _other_rank(
        self, local: SphereLocal, verdict: FactorVerdict, closer: bool
    ) -> tuple[Layout, Array, str] | None:
        """The point with more columns, or with fewer; None where those it has are right."""
        choice = self._have_choice(local)
        if self._is_negative(verdict):
            # What multipliers of choice lack says nothing of columns.
            waits = choice and closer and verdict.infeasibility > self.options.tol
            return None if waits else grown(local, verdict, self.options)
        share = _IDLE_PENALIZED if self.penalized else _IDLE
        share *= max(verdict.stationarity, verdict.infeasibility)
        share = share if verdict.infeasibility <= _JUDGED_BELOW else 0.0
        parted = shrunk(local, share, _APART * verdict.infeasibility) if choice else None
        self.before = None if parted is None else (local, verdict)
        return parted or shrunk(local, share)

    def _judge(self, local: SphereLocal, *, exactly: bool = False) -> FactorVerdict:
        """The errors of a point, with multipliers of spheres raised so that they prove a bound."""

        def look(slack: DualSlack, face: Array, factor: Array) -> tuple[Array, Array]:
            return low_end(slack, face, factor, _DIRECTIONS, self.options.seed)

        exactly = exactly and max(b.n for b in self.search.problem.blocks) <= _EXACT
        verdict = judge(local, self.options.seed, look=None if exactly else look)
        return replace(verdict, multipliers=self._lifted(local, verdict))

    def _lifted(self, local: SphereLocal, verdict: FactorVerdict) -> Array:
        """Multipliers raised by what the dual slacks are seen to lack, and a little more.

        Ritz values do not lie below eigenvalues.
        """
        raised = verdict.multipliers.copy()
        for groups, (values, _) in zip(self.spheres.blocks, verdict.lows, strict=True):
            if groups.rows.size:
                lack = max(0.0, -float(np.min(values, initial=0.0)))
                share = _LIFT * self.options.tol * scale_of(local) / float(groups.square.sum())
                raised[groups.rows] += (_SURPLUS * lack + share) * groups.square / groups.rhs
        return raised
