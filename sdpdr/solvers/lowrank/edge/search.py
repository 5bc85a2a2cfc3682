"""Solve at a small rank, and add columns where the certificate says the rank is too small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sdpdr.solvers.lowrank.direction import Iterate
from sdpdr.solvers.lowrank.edge.certificate import EdgeVerdict, judge, primal_value
from sdpdr.solvers.lowrank.edge.interior_point import InteriorPoint
from sdpdr.solvers.lowrank.edge.newton import graph_fill, newton_fill
from sdpdr.solvers.lowrank.edge.pencil import EdgePencil
from sdpdr.solvers.lowrank.edge.program import EdgeProgram, Matrix, Vector
from sdpdr.solvers.lowrank.edge.start import restored
from sdpdr.solvers.lowrank.frame import MAX_FILL, Journal, Options, pataki

_EARLY = 1e-3  # accuracy at which a rank that is much too small already shows
# Accuracies at which a bound is computed if there is a callback or a time limit.
_WATCHED = (1e-1, 1e-2, _EARLY, 1e-5)
_UNEXPLAINED = 20.0  # gap, in units of the accuracy reached, that blames the rank
_POLISH = 1 / 30  # last share of the tolerance, when the multipliers need to be sharper
_FIRST_LENGTH = 0.1  # largest relative squared length given to an edge by a new column
_PATIENCE = 3  # growths in a row without progress before the search gives up
_NEARLY = 1e-5  # violation from which accuracy, and no longer stiffness, limits the gap
_FINER = 0.1  # next accuracy, over the last, where accuracy limits the gap
_BLAMED = 0.5  # share of the gap that has to be the rank's for columns to be added
_CLOSING = 0.9  # of a gap, above which a higher accuracy has not helped
_PRODUCT = 1e-5  # largest complementarity, as a share of the objective, to continue from
_WARMEST, _WARM_SHARE = 1e-3, 1e-2  # the same from a given start: at most, and of its gap
_RESTORABLE = 50_000  # edges up to which points are brought onto exact limits at the end
_DEARER = 2.0  # factor by which the error may grow if an infeasible value is given up
_OF_GAP = 3e-3  # the same as a share of the gap: a wider barrier would fold new columns back


class EdgeSearch:
    r"""Low-rank solution of edge programs, certified against one goal.

    A stationary R of rank r < n - 1 is optimal when :math:`\lambda_2(L(w)) \ge 1`. Otherwise
    eigenvectors of smaller eigenvalues are directions of ascent: they become new columns.

    Parameters
    ----------
    goal : EdgeProgram
        The program of all verdicts, scaled so that lengths and masses are near 1.
    options : Options
    journal : Journal
    source : EdgeProgram
        The goal before it was scaled, which remembers properties of its graph.

    Attributes
    ----------
    best, latest : EdgeVerdict or None
        The verdict with the smallest error so far, and the last one.
    feasible, proved : EdgeVerdict or None
        Those with the largest value within the limits, and with the smallest bound: the result of
        a run that is stopped.
    keep : callable or None
        Called with every better `feasible`.
    message : str
        Why the search stopped early, or empty.

    References
    ----------
    Burer and Monteiro (2005); Boumal, Voroninski and Bandeira (2016).
    """

    def __init__(
        self, goal: EdgeProgram, options: Options, journal: Journal, source: EdgeProgram
    ) -> None:
        self.goal, self.options, self.journal = goal, options, journal
        self.pencil = EdgePencil(goal)
        self.best: EdgeVerdict | None = None
        self.latest: EdgeVerdict | None = None
        self.feasible: EdgeVerdict | None = None
        self.proved: EdgeVerdict | None = None
        self.keep: Callable[[EdgeVerdict], object] | None = None
        self.message = ""
        self._max_rank = min(options.max_rank or pataki(goal.m) + 1, goal.n - 1)
        self._source = source
        self._watched = options.callback is not None or options.time_limit is not None
        self._at: InteriorPoint | None = None
        # Without hard lower limits, values are those of shrunk points, see `primal_value`.
        self._shrinkable = not np.isfinite(goal.lower[goal.hard]).any()
        self._scalable = self._shrinkable and bool(goal.hard.all())

    @property
    def finished(self) -> bool:
        """Whether the goal is certified or a limit is reached."""
        certified = self.best is not None and self.best.error <= self.options.tol
        return certified or self.journal.exhausted is not None

    @property
    def steps(self) -> int:
        """Newton steps so far."""
        return len(self.journal.records)

    def has_enough(self, share: float = 1.0) -> bool:
        """Whether a share of the gap that the user requested is reached."""
        enough = self.options.enough or 0.0
        return self.best is not None and self.best.error <= max(share * enough, self.options.tol)

    def solve_goal(self, R: Matrix, weights: Vector | None = None) -> None:
        """Solve the goal itself from a first factor; the answer is the best verdict."""
        tol = self.options.tol / 4
        at = self._open(self.goal, R.shape[1])
        sharp = (tol, _POLISH * tol)
        if weights is None:
            looks = _WATCHED if self._watched else (_EARLY,)
            early = tuple(accuracy for accuracy in looks if accuracy > tol)
            first = at.begin(R)
            if self._watched:  # A bound is wanted early, and an early point is often worse.
                self._judge(at, first)
            point, verdict = self._settle(at, first, (*early, *sharp))
        else:
            warm = self._warm(at, R, weights)
            if self.finished:
                return
            point, verdict = self._settle(at, warm, sharp)
        patience, error = _PATIENCE, np.inf
        while patience and not self.finished:
            error = min(error, verdict.error)
            grown = self._grow(self.goal, point, verdict)
            if grown is None:
                return
            point, verdict = self._settle(*grown, (tol, _POLISH * tol))
            patience = _PATIENCE if verdict.error < error / 2 else patience - 1

    def approach(
        self, program: EdgeProgram, start: Matrix | Iterate, tol: float, grow_below: float
    ) -> Iterate:
        """Solve a program near the goal, growing the rank while connectivity is below a value.

        Once the goal's limits are met, accuracy is raised for as long as that closes the gap.
        """
        if isinstance(start, Iterate):
            at = self._open(program, start.x.shape[1])
            product = tol * self._share(start.x)
            if len(start.y) == len(at.rows.low) or self.latest is None:
                point = at.resume(start, product)
            else:
                # A band that its shift rounds to nothing has one row, and had two.
                point = at.near(start.x, self.latest.weights, product)
        else:
            at = self._open(program, start.shape[1])
            point = at.begin(start)
            if self._watched:
                self._judge(at, point)
        finest = _POLISH * self.options.tol / 4
        patience, error, gap = _PATIENCE, np.inf, np.inf
        while True:
            point = at.run(point, tol)
            verdict = self._judge(at, point)
            if self.finished:
                return point
            settled = verdict.infeasibility < min(_NEARLY, verdict.gap)
            # More columns close no more of the gap than what the level lacks.
            least = 1.0 - _BLAMED * verdict.gap if settled else grow_below
            enough = verdict.connectivity.value >= least
            if enough and (not settled or verdict.gap > _UNEXPLAINED * tol):
                return point
            if settled and tol > finest and not (enough and verdict.gap > _CLOSING * gap):
                tol, gap = max(_FINER * tol, finest), verdict.gap
                continue
            if enough:
                return point
            patience = _PATIENCE if verdict.error < error / 2 else patience - 1
            error = min(error, verdict.error)
            grown = self._grow(program, point, verdict) if patience else None
            if grown is None:
                return point
            at, point = grown

    def restore(self) -> None:
        """Bring the best point onto limits that it misses by a little, where that costs little.

        Where it costs too much, as where multipliers are without bound, it goes as far as careful
        steps do, if that leaves the gap that the user requested.
        """
        if self.best is None or self.goal.m > _RESTORABLE:
            return
        first, tol, error = self.best, self.options.tol, self.best.error
        worth = self._worth(first)
        allowed = tol if max(error, worth) <= tol else _DEARER * (error + worth)
        enough = max(tol, self.options.enough or 0.0)
        back = self._brought_back(first)
        if back.error > enough:
            nearer = self._brought_back(first, careful=True)
            back = nearer if max(nearer.error, self._worth(nearer)) <= enough else back
        if back.infeasibility < first.infeasibility and back.error <= max(allowed, enough):
            self.best = self.feasible = back

    def _worth(self, verdict: EdgeVerdict) -> float:
        """By how much, relatively, a value may be too good, and its gap too small."""
        worth = verdict.infeasibility * float(np.abs(verdict.weights) @ self.goal.sqdist)
        return worth / abs(verdict.value)

    def _brought_back(self, verdict: EdgeVerdict, *, careful: bool = False) -> EdgeVerdict:
        R = restored(self.goal, verdict.R, self.journal.late, careful=careful)
        value, infeasibility = primal_value(self.goal, R)
        return replace(verdict, R=R, value=value, infeasibility=infeasibility)

    def fits(self, rank: int) -> bool:
        """Whether factors at this rank stay within ``max_fill``; if not, say so."""
        n, given = self.goal.n, self.options.max_fill
        most = MAX_FILL if given is None else given
        # A triangle without a zero is the most that there can be.
        if (n * rank) ** 2 / 2 <= most:
            return True
        fill = newton_fill(self._source.remembered(graph_fill), n, rank)
        if fill <= most:
            return True
        self.message = (
            f"At rank {rank} the Newton factor would hold about {fill:.1e} nonzeros, more than "
            f"max_fill = {most:.1e}: the graph is too well connected for a "
            "sparse factorization. Use fewer neighbours or landmarks, or raise max_fill."
        )
        return False

    def _fits_in_time(self, rank: int) -> bool:
        """Whether a step at this rank ends in the time left, by those so far; if not, say so."""
        assert self._at is not None
        each = self.journal.deadline.spent / self.journal.factorizations
        needed, left = each * (rank / self._at.rank) ** 3, self.journal.deadline.ahead
        if needed <= left:
            return True
        self.message = (
            f"At rank {rank} a step would take about {needed:.1g} seconds, more than are left."
        )
        return False

    def _warm(self, at: InteriorPoint, R: Matrix, weights: Vector) -> Iterate:
        """Where to begin near an answer: as far from the boundary as its gap is wide."""
        verdict = judge(self.pencil, R, weights, self.options.tol, self.options.seed)
        if self._scalable and verdict.bound > 0.0:
            # All limits may have changed; the multipliers tell by how much.
            R = R * np.sqrt(verdict.bound / self.goal.objective.value(R))
            value, infeasibility = primal_value(self.goal, R)
            verdict = replace(verdict, R=R, value=value, infeasibility=infeasibility)
        self._take(verdict)
        away = max(verdict.error, self.options.tol) if np.isfinite(verdict.error) else 1.0
        return at.near(R, weights, min(_WARMEST, _WARM_SHARE * away) * self._share(R))

    def judge_current(self) -> None:
        """Take a verdict on the point reached so far, for instance after an interruption."""
        if self._at is not None and self._at.point is not None:
            self._judge(self._at, self._at.point)

    def _settle(
        self, at: InteriorPoint, point: Iterate, accuracies: tuple[float, ...]
    ) -> tuple[Iterate, EdgeVerdict]:
        """Run to one accuracy after the other, unless a look between shows too small a rank."""
        for accuracy in accuracies:
            point = at.run(point, accuracy, min(accuracy, self.options.tol / 4))
            verdict = self._judge(at, point)
            low = verdict.connectivity
            too_low = low.escape.shape[1] > 0 and verdict.gap > _UNEXPLAINED * accuracy
            if self.finished or (too_low and point.x.shape[1] < self._max_rank):
                break
        return point, verdict

    def _grow(
        self, program: EdgeProgram, point: Iterate, verdict: EdgeVerdict
    ) -> tuple[InteriorPoint, Iterate] | None:
        """Continue in the escape directions as new columns; None when there are none to add."""
        rank = point.x.shape[1]
        directions = verdict.connectivity.escape[:, : max(0, self._max_rank - rank)]
        wider = rank + directions.shape[1]
        if wider == rank or not (self.fits(wider) and self._fits_in_time(wider)):
            return None
        i, j = program.edges.T
        lengths = (directions[i] - directions[j]) ** 2 / program.sqdist[:, None]
        columns = directions * np.sqrt(_FIRST_LENGTH / lengths.max(axis=0))
        at = self._open(program, wider)
        product = min(_PRODUCT, _OF_GAP * verdict.gap) * self._share(point.x)
        return at, at.resume(point, product, columns)

    def _judge(self, at: InteriorPoint, point: Iterate) -> EdgeVerdict:
        """Take a verdict on a point."""
        weights, options, late = at.rows.weights(point.y), self.options, self.journal.late
        return self._take(judge(self.pencil, point.x, weights, options.tol, options.seed, late))

    def _take(self, verdict: EdgeVerdict) -> EdgeVerdict:
        self.latest = verdict
        if self.best is None or verdict.error < self.best.error:
            self.best = verdict
        if self._is_better(verdict):
            self.feasible = verdict
            if self.keep is not None:
                self.keep(verdict)
        if self.proved is None or verdict.bound < self.proved.bound:
            self.proved = verdict
        point, bound = self.feasible or self.best, self.proved.bound
        if np.isfinite(bound) and point.value:
            self.journal.certify(bound, abs(bound - point.value) / abs(point.value))
        return verdict

    def _is_better(self, verdict: EdgeVerdict) -> bool:
        """Whether a point is the best feasible one so far.

        Without a way to make it exactly feasible, a larger value may only be a larger violation.
        """
        if self._shrinkable:
            return self.feasible is None or verdict.value > self.feasible.value
        if verdict.infeasibility > self.options.tol:
            return False
        return self.feasible is None or verdict.infeasibility < self.feasible.infeasibility

    def _open(self, program: EdgeProgram, rank: int) -> InteriorPoint:
        self._at = InteriorPoint(program, rank, self.journal)
        return self._at

    def _share(self, R: Matrix) -> float:
        """Objective per row."""
        return self.goal.objective.value(R) / self.goal.m
