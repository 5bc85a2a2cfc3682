"""The interior point on a problem: ranks that grow, multipliers that are reinforced, verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.direction import Iterate
from sdpdr.solvers.lowrank.frame import Options
from sdpdr.solvers.lowrank.general.problem import FactorBlock
from sdpdr.solvers.lowrank.general.ranks import limit_of
from sdpdr.solvers.lowrank.general.search import FactorSearch
from sdpdr.solvers.lowrank.general.verdict import FactorVerdict, Unknowns, judge_as_it_is
from sdpdr.solvers.lowrank.interior.boxes import MARGIN, Boxed
from sdpdr.solvers.lowrank.interior.iteration import Interior
from sdpdr.solvers.lowrank.interior.lift import Reinforcement
from sdpdr.solvers.lowrank.interior.points import PointBlock
from sdpdr.solvers.lowrank.interior.progress import Floor, Progress
from sdpdr.solvers.lowrank.interior.whole import first_factors, placed

_SHARPER = 0.1  # accuracy of the next run where the multipliers do not prove enough
_ROUNDS = 6
_MAX_STEPS = 400  # in all, after which no further run begins
_OF_REQUESTED_GAP = 0.5  # of the gap that the user requested
_FAILED_FROM = 10.0  # times the requested accuracy, from which on a run has failed
_FOLLOWED = 0.1  # share of the lowest eigenvalue from which on others are followed too
_FIRST_MOVE = 1e-2  # what a new column changes a row by
_OF_GAP = 0.1  # complementarity to go on with in more columns, as a share of the gap
_NOISE = 1e3  # of multipliers, over the complementarity left, that negative eigenvalues may be
_OF_CONTENT = 0.1  # share of the gap to end at that eigenvalues left negative may cost


def approach(search: FactorSearch, first: Unknowns) -> bool:
    """Run the interior point; whether what it found is good enough.

    Parameters
    ----------
    search : FactorSearch
        Verdicts are left in it, good or not.
    first : Unknowns
        Used for factors without a shape, and for those of a start.
    """
    if first.multipliers.any():
        verdict = judge_as_it_is(first, search.options.seed)
        if search.settles(verdict, always=True, gap=_content(search.options)):
            return True
    return _Approach(search).run(first)


def _spent(search: FactorSearch) -> bool:
    """Whether the other engine should have its turn."""
    return len(search.journal.records) >= _MAX_STEPS


def _content(options: Options) -> float:
    """The gap at which it ends."""
    return max(options.tol, _OF_REQUESTED_GAP * (options.enough or 0.0))


class _Approach:
    """One search by interior points.

    Parameters
    ----------
    search : FactorSearch
    """

    def __init__(self, search: FactorSearch) -> None:
        self.search, self.problem, self.options = search, search.problem, search.options
        self.boxed = Boxed.of(search.problem, MARGIN * search.options.tol)
        self.content = _content(search.options)
        self.floor = Floor(search.problem, search.options.seed)

    def run(self, first: Unknowns) -> bool:
        """Solve, and go on in more columns, or more exactly, while that helps."""
        factors = first_factors(self.boxed, self.search, first)
        size = abs(sum(float(b.block.forms.values(f)[0]) for b, f in self._pairs(factors)))
        at = self._open(factors, size)
        given = first.multipliers if first.multipliers.any() else None
        point, accuracy = at.begin(factors, given), self.options.tol
        for _ in range(_ROUNDS):
            try:
                progress = Progress(accuracy, self.content, self.floor)
                point, errors = at.run(point, progress, partial(self._looks_good, at))
            except KeyboardInterrupt:
                if at.point is not None:
                    self._settles(self._verdict(at, at.point))
                raise
            if at.runs_away(point):
                return False
            verdict = self._verdict(at, point)
            if self._good(verdict):
                return True
            missed = errors.worst > _FAILED_FROM * accuracy
            if self.search.journal.exhausted and at.kept is not None:
                self.search.offer(self._placed(at, at.kept).point().values)
            if self.search.journal.exhausted or (missed and _spent(self.search)):
                return False
            grown = self._grown(at, point, verdict)
            if grown is not None:
                at, point = grown
            elif missed:
                return False
            else:
                accuracy *= _SHARPER
                at = self._nearer(at, accuracy)
        return False

    def _nearer(self, at: Interior, accuracy: float) -> Interior:
        """The same with inequalities nearer to their limits, whose margin costs what y says."""
        self.boxed = Boxed.of(self.problem, MARGIN * accuracy)
        new = self._open([*map(np.zeros, at.matrix.shapes)], at.size)
        new.use_penalty(at.penalty)
        return new

    def _open(self, factors: list[Array], size: float) -> Interior:
        ranks = tuple(f.shape[1] for f in factors)
        return Interior(self.boxed, ranks, self.search.journal, size)

    def _pairs(self, factors: list[Array]) -> Iterable[tuple[PointBlock, Array]]:
        return zip(self.boxed.blocks, factors, strict=True)

    def _verdict(self, at: Interior, point: Iterate) -> FactorVerdict:
        """What a point and its multipliers are worth on the whole problem."""
        y = at.multipliers(point)
        y = np.where(self.problem.equal, y, np.maximum(y, 0.0))
        return self._judge(replace(self._placed(at, point), multipliers=y))

    def _placed(self, at: Interior, point: Iterate) -> Unknowns:
        """The unknowns of the whole problem at a point."""
        return placed(self.boxed, at.factors(point), at.scalars(point))

    def _looks_good(self, at: Interior, point: Iterate) -> bool:
        return self._good(self._verdict(at, point))

    def _good(self, verdict: FactorVerdict) -> bool:
        return (
            self.search.ending == "converged"
            or self._settles(verdict)
            or self._is_at_floor(verdict)
            or self._reinforced(verdict)
        )

    def _is_at_floor(self, verdict: FactorVerdict) -> bool:
        """Whether limits on traces prove the point, for which no multipliers are needed."""
        value = sum(float(b.forms.values(f)[0]) for b, f in self._factors_of(verdict))
        factors = [f for _, f in self._factors_of(verdict)]
        if not self.floor.reached(value, factors, self.content):
            return False
        alone = Unknowns.without_multipliers(verdict.layout, verdict.vector)
        return self.search.proves(self._judge(alone), self.content)

    def _factors_of(self, verdict: FactorVerdict) -> Iterable[tuple[FactorBlock, Array]]:
        factors, _ = verdict.layout.split(verdict.vector)
        return zip(self.problem.blocks, factors, strict=True)

    def _settles(self, verdict: FactorVerdict) -> bool:
        return self.search.settles(verdict, always=True, gap=self.content)

    def _judge(self, at: Unknowns) -> FactorVerdict:
        return judge_as_it_is(at, self.options.seed, quick=self.search.journal.late())

    def _reinforced(self, verdict: FactorVerdict) -> bool:
        """Whether other multipliers of the same point give a proof."""
        if verdict.infeasibility > self.options.tol or self.search.journal.exhausted:
            return False
        reinforce = Reinforcement(verdict, self.options.seed)
        raised = reinforce(verdict.multipliers, _OF_CONTENT * self.content * verdict.scale)
        if raised is verdict.multipliers:
            return False
        return self._settles(self._judge(Unknowns(verdict.layout, verdict.vector, raised)))

    def _grown(
        self, at: Interior, point: Iterate, verdict: FactorVerdict
    ) -> tuple[Interior, Iterate] | None:
        """The point with escape directions as new columns; None where there are none to add."""
        noise = _NOISE * max(verdict.products, verdict.stationarity)
        if verdict.negativity <= max(self.options.tol, noise):
            return None
        lows = [
            low
            for block, low in zip(self.problem.blocks, verdict.lows, strict=True)
            if not block.scalar
        ]
        wider, words = [], []
        for (points, factor), (values, vectors) in zip(
            self._pairs(at.factors(point)), lows, strict=True
        ):
            room = max(0, limit_of(points.block, self.options) - factor.shape[1])
            low = float(np.min(values, initial=0.0))
            count = min(room, int(np.sum(values < _FOLLOWED * low))) if low < 0.0 else 0
            columns = [_column(points.block, vectors[:, [k]]) for k in range(count)]
            wider.append(points.met(np.hstack([factor, *columns])))
            if columns:
                words.append(
                    f"rank of {points.block.name!r} grows from {factor.shape[1]} to "
                    f"{wider[-1].shape[1]}: its dual slack has eigenvalue {low:.1e}."
                )
        if not words:
            return None
        self.search.journal.remark(" ".join(words))
        new = self._open(wider, at.size)
        new.use_penalty(at.penalty)
        _, scalars = at.matrix.split(point.x)
        x = new.matrix.join([b.extended(f) for b, f in self._pairs(wider)], scalars)
        product = _OF_GAP * verdict.negativity * at.share(point)
        moved = Iterate(x, point.y, point.slack_low, point.slack_high, mu=product)
        return new, new.resumed(moved, product)


def _column(block: FactorBlock, vector: Array) -> Array:
    """A direction as a column that changes no row by more than a little."""
    largest = float(np.max(np.abs(block.forms.values(vector)[1:]), initial=0.0))
    return np.asarray(np.sqrt(_FIRST_MOVE / largest) * vector) if largest > 0.0 else vector
