r"""Programs whose rows are all penalized: a descent on penalties smoothed by proximal steps.

If every row is penalized, its multiplier has a box, and the program is

.. math:: \min_R \sum_e \varphi_e(h_e(R R^T)), \qquad
          \varphi_e(h) = \max_{low \le y \le high} \; y (h - b) - \tfrac{\gamma}{2} y^2 ,

without constraints. A proximal term :math:`\tfrac{\delta}{2} (y - c)^2` makes it smooth, its
multipliers are what is left of :math:`c + (h - b) / \delta` inside the box, and with c moved there
after each round, the method of multipliers, the kinks of the penalties come back without smaller
and smaller :math:`\delta`. A round is a descent by products of sparse matrices with thin ones, so
that neither the number of columns nor the fill of a factorization matters.

Multipliers inside their boxes whose dual slack is positive semidefinite prove a bound whatever the
point; those of a round miss that by little, and a certificate moves them.

References
----------
Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm in convex
programming", Math. Oper. Res. 1(2), 1976; Liu and Nocedal, "On the limited memory BFGS method for
large scale optimization", Math. Program. 45, 1989.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.general.lagrangian import Parts
from sdpdr.solvers.lowrank.general.problem import FactorProblem
from sdpdr.solvers.lowrank.general.search import FactorSearch
from sdpdr.solvers.lowrank.general.verdict import Unknowns, judge_as_it_is, reported
from sdpdr.solvers.lowrank.interior.boxes import Boxed
from sdpdr.solvers.lowrank.interior.rest import at_rest, promised
from sdpdr.solvers.lowrank.interior.whole import completed, first_factors, placed

# Proximal terms, as the share of a typical right side that a row has to miss its own by, for its
# multiplier to cross half of its box: of the first round and of all others.
_WIDTHS = (0.1, 0.03)
# Steps of a round: more for better multipliers, fewer for better points.
_STEPS_PER_ROUND = 120
_MEMORY = 10  # pairs that L-BFGS keeps
_ROUNDS = 40
# A round that leaves more than this share of the distance between both objectives was too short,
# and the next is twice as long, up to so many steps.
_CLOSER, _MOST_STEPS = 0.9, 4000
# Share of the time that is left for proofs.
_PROOFS = 0.2


def settle_penalties(search: FactorSearch, first: Unknowns) -> Unknowns | None:
    """Go down from a point; None if what was found is good enough, else where to go on from.

    Parameters
    ----------
    search : FactorSearch
        The verdict is left in it, good or not.
    first : Unknowns
        Used for factors without a shape, and for those of a start.
    """
    descent = _SmoothPenalties(search, first)
    try:
        descent.run()
    except KeyboardInterrupt:
        descent.settle()
        raise
    return None if descent.settle() else descent.reached


def has_penalties_alone(problem: FactorProblem) -> bool:
    """Whether all rows have penalties, but for those that hold points, and nothing else has.

    Examples
    --------
    >>> from sdpdr import blocks, graphs, methods, soften
    >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
    >>> lengths = blocks.Lengths(graphs.path([1.0, 1.0]), exact=True)
    >>> fitted = blocks.Gram(3) + soften(lengths, 1.0)
    >>> has_penalties_alone(compile_problem(fitted.to_sdp()))
    True
    >>> has_penalties_alone(compile_problem(methods.mvu(graphs.path([1.0, 1.0])).to_sdp()))
    False
    """
    if not problem.m or any(block.has_cost for block in problem.blocks if not block.scalar):
        return False
    boxed = Boxed.of(problem)
    return not boxed.scalars.shape[1] and bool(np.isfinite(_boxes(boxed)).all())


def _boxes(boxed: Boxed) -> Array:
    """Both ends of all boxes; none where points are held, which need no multiplier."""
    ends = np.stack([boxed.low, boxed.high])
    if boxed.held is not None:
        ends[:, boxed.held.rows] = 0.0
    return ends


def _excess(boxed: Boxed, factors: Sequence[Array]) -> Array:
    """What rows exceed their right sides by."""
    pairs = zip(boxed.blocks, factors, strict=True)
    return np.asarray(sum(b.block.forms.values(f)[1:] for b, f in pairs) - boxed.rhs)


@dataclass(frozen=True, eq=False)
class _Smooth:
    """The penalties with a proximal term.

    Attributes
    ----------
    boxed : Boxed
    low, high : arrays of shape (m,)
        Ends of the boxes.
    parts : Parts
        The factors in the vector of all.
    centre, proximal : arrays of shape (m,)
        c and the proximal term of every row.
    """

    boxed: Boxed
    low: Array
    high: Array
    parts: Parts
    centre: Array
    proximal: Array

    def multipliers(self, excess: Array) -> Array:
        """Those that the rows ask for."""
        free = (excess + self.proximal * self.centre) / (self.proximal + self.boxed.compliance)
        return np.clip(free, self.low, self.high)

    def penalized(self, excess: Array) -> Array:
        """The penalties of all rows, without a proximal term."""
        give = self.boxed.compliance
        with np.errstate(divide="ignore", invalid="ignore"):
            unbounded = np.where(give > 0.0, excess / give, np.where(excess > 0.0, np.inf, -np.inf))
        y = np.clip(unbounded, self.low, self.high)
        return np.asarray(y * excess - 0.5 * give * np.square(y))

    def __call__(self, x: Array) -> tuple[float, Array]:
        """The function and its gradient."""
        factors, _ = self.parts.split(x)
        excess = _excess(self.boxed, factors)
        y = self.multipliers(excess)
        away = self.proximal * np.square(y - self.centre) + self.boxed.compliance * np.square(y)
        weights, slopes = np.append(1.0, y), []
        for points, factor in zip(self.boxed.blocks, factors, strict=True):
            slope = points.block.project(2.0 * (points.block.forms.slack(weights) @ factor))
            if points.held is not None:
                slope[points.held.points] = 0.0
            slopes.append(slope)
        return float(y @ excess - 0.5 * away.sum()), self.parts.join(slopes, np.zeros(0))


class _SmoothPenalties:
    """Rounds of descent and of multipliers.

    Parameters
    ----------
    search : FactorSearch
    first : Unknowns
        As of `first_factors`.
    """

    def __init__(self, search: FactorSearch, first: Unknowns) -> None:
        self.search, self.journal = search, search.journal
        self.boxed = Boxed.of(search.problem)
        self.low, self.high = _boxes(self.boxed)
        self.factors = first_factors(self.boxed, search, first)
        self.y = np.clip(first.multipliers, self.low, self.high)
        self.before = self.y
        self.unit = self._unit()
        self.complete = False

    def run(self) -> None:
        """All rounds, until both objectives agree, or come no closer."""
        least, steps = np.inf, _STEPS_PER_ROUND
        for k in range(_ROUNDS):
            apart = self._round(_WIDTHS[min(k, len(_WIDTHS) - 1)], steps)
            if self._is_over() or apart <= self.search.options.tol or steps > _MOST_STEPS:
                return
            # A round that gained little was not at its end.
            steps = steps if apart < _CLOSER * least else 2 * steps
            least = min(least, apart)

    def settle(self) -> bool:
        """Whether the point is good enough, or time is up; records its quality in the search."""
        points = [b.extended(f) for b, f in zip(self.boxed.blocks, self.factors, strict=True)]
        y, most = completed(self.boxed, points, self.y), -np.inf
        # What rounding and haste leave of negative eigenvalues differs from round to round, and the
        # dual function is concave: the mean of two may prove more than either.
        for one in (self.y, (self.before + self.y) / 2.0):
            rested = at_rest(self.boxed, one, (self.low, self.high))
            if rested is not None and promised(self.boxed, rested) > most:
                y, most = rested, promised(self.boxed, rested)
        seed, late = self.search.options.seed, self.journal.late()
        verdict = judge_as_it_is(replace(self._placed(), multipliers=y), seed, quick=late)
        if self.search.proves(verdict, self.search.options.enough or 0.0):
            return True
        self.reached: Unknowns = verdict
        if self._is_over():
            self.search.ending = self.journal.exhausted or "time_limit"
        return self._is_over()

    def _unit(self) -> Array:
        """Proximal terms that are worth the same in all rows: as much as a typical right side."""
        penalty = np.maximum(np.abs(self.low), np.abs(self.high))
        right = self.boxed.rhs if self.boxed.rhs.any() else _excess(self.boxed, self.factors)
        worth = penalty * np.abs(right)
        typical = float(np.median(worth[worth > 0.0])) if np.any(worth > 0.0) else 1.0
        return typical / np.square(np.where(penalty > 0.0, penalty, 1.0))

    def _round(self, width: float, steps: int) -> float:
        """Descend, and move the multipliers; how far both objectives are apart, relatively."""
        parts = Parts([(f.shape[0], f.shape[1]) for f in self.factors])
        smooth = _Smooth(self.boxed, self.low, self.high, parts, self.y, width * self.unit)
        x = parts.join(self.factors, np.zeros(0))
        size = max(abs(smooth(x)[0]), np.finfo(float).tiny)

        def in_size(x: Array) -> tuple[float, Array]:
            value, slope = smooth(x)
            return value / size, slope / size

        # The size of the function is the unit, so that what is small is so in every unit; steps are
        # all that ends a round.
        options = {"maxiter": steps, "maxcor": _MEMORY, "maxfun": 2 * steps, "ftol": 0, "gtol": 0}
        found = minimize(
            in_size,
            x,
            jac=True,
            method="L-BFGS-B",
            callback=self._look_at_the_clock,
            options=options,
        )
        self.factors = parts.split(found.x)[0]
        excess = _excess(self.boxed, self.factors)
        self._take(smooth.multipliers(excess))
        self.journal.products += found.nfev
        self.search.offer(self._placed().point().values)
        value = float(smooth.penalized(excess).sum())
        self._note(value, size * float(np.linalg.norm(found.jac) * np.linalg.norm(found.x)))
        return (value - size * float(found.fun)) / max(abs(value), np.finfo(float).tiny)

    def _take(self, y: Array) -> None:
        """Keep multipliers of a round; of one that was cut short, unless there are others."""
        if self._is_over() and self.complete:
            return
        self.before, self.y = self.y if self.complete else y, y
        self.complete = True

    def _note(self, value: float, slope: float) -> None:
        self.journal.note(
            value=reported(self.search.problem, value),
            infeasibility=0.0,
            stationarity=0.5 * slope / max(abs(value), np.finfo(float).tiny),
            rank=max(f.shape[1] for f in self.factors),
        )

    def _placed(self) -> Unknowns:
        """The unknowns of the whole problem."""
        excess = _excess(self.boxed, self.factors)
        return placed(self.boxed, self.factors, self.boxed.all_scalars(np.zeros(0), excess, self.y))

    def _is_over(self) -> bool:
        """Whether what is left of the time is for proofs."""
        deadline = self.journal.deadline
        return bool(self.journal.exhausted) or deadline.ahead < _PROOFS * deadline.seconds < np.inf

    def _look_at_the_clock(self, _: Array) -> None:
        if self._is_over():
            raise StopIteration
