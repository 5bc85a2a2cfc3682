"""Solve at a small rank, and add columns where the certificate says the rank is too small."""

from __future__ import annotations

import numpy as np

from sdpdr.solvers.lowrank.certificate import Verdict, judge
from sdpdr.solvers.lowrank.interior_point import InteriorPoint, Iterate
from sdpdr.solvers.lowrank.journal import Journal
from sdpdr.solvers.lowrank.newton import estimated_fill
from sdpdr.solvers.lowrank.program import EdgeProgram, Matrix, Options

_EARLY = 1e-3  # accuracy at which a rank that is much too small already shows
_GROW_BELOW = 1e-6
_CLEARLY_LOW = 0.9
_FIRST_LENGTH = 0.1  # largest relative squared length given to an edge by a new column
_PRODUCT = 1e-3  # complementarity, as a share of the objective, to continue from


class Search:
    r"""Low-rank solution of edge programs, certified against one goal.

    A stationary R of rank r < n - 1 is optimal when :math:`\lambda_2(L(w)) \ge 1`. Otherwise
    eigenvectors of smaller eigenvalues are directions of ascent: they become new columns.

    Parameters
    ----------
    goal : EdgeProgram
        Program that verdicts speak of, scaled so that lengths and masses are near 1.
    options : Options
    journal : Journal

    References
    ----------
    Boumal, Voroninski and Bandeira (2016); Burer and Monteiro (2005).
    """

    def __init__(self, goal: EdgeProgram, options: Options, journal: Journal) -> None:
        self.goal, self.options, self.journal = goal, options, journal
        self.best: Verdict | None = None
        self.latest: Verdict | None = None
        self.message = ""
        self._max_rank = min(options.max_rank or _pataki(goal.m), goal.n - 1)
        self._graph_fill = estimated_fill(goal.edges, goal.n, 1)
        self._at: InteriorPoint | None = None

    def optimize(self, program: EdgeProgram, start: Matrix | Iterate, tol: float) -> Iterate:
        """Solve a program (the goal, or one near it) to ``tol``, growing the rank as needed."""
        if isinstance(start, Iterate):
            self._at = self._open(program, start.R.shape[1])
            point = self._at.resume(start, tol * self._share(start.R))
        else:
            self._at = self._open(program, start.shape[1])
            point = self._at.begin(start)
        last_error = np.inf
        if tol > _GROW_BELOW:
            point, _ = self._at.run(point, tol)
            self._judge(point)
            return point
        while True:
            point, verdict = self._settle(program, point, tol)
            directions = verdict.connectivity.escape[:, : self._max_rank - point.R.shape[1]]
            done = self.best.error <= self.options.tol or self.journal.exhausted
            if done or directions.shape[1] == 0 or (last_error is not None and not verdict.error < 0.5 * last_error):
                return point
            last_error = verdict.error
            rank = point.R.shape[1] + directions.shape[1]
            if not self.fits(rank):
                return point
            self._at = self._open(program, rank)
            point = self._at.resume(point, _PRODUCT * self._share(point.R), self._sized(directions))

    def fits(self, rank: int) -> bool:
        """Whether factors at this rank stay within ``max_fill``; if not, say so."""
        n, r = self.goal.n, rank
        fill = self._graph_fill * r**2 + n * r * (r - 1) // 2
        if fill <= self.options.max_fill:
            return True
        self.message = (
            f"at rank {r} the Newton factor would hold about {fill:.1e} nonzeros, more than "
            f"max_fill = {self.options.max_fill:.1e}: the graph is too well connected for a "
            "sparse factorization. Use fewer neighbours or landmarks, or raise max_fill."
        )
        return False

    def judge_current(self) -> None:
        """Take a verdict on the point reached so far, for instance after an interruption."""
        if self._at is not None and self._at.point is not None:
            self._judge(self._at.point)

    def _settle(self, program, point: Iterate, tol: float) -> tuple[Iterate, Verdict]:
        """Run to ``tol``, unless an early look shows that the rank is much too small."""
        for accuracy in (max(tol, _EARLY), tol) if program is self.goal else (tol,):
            point, _ = self._at.run(point, accuracy)
            verdict = self._judge(point)
            grows = verdict.connectivity.escape.shape[1] > 0 and point.R.shape[1] < self._max_rank
            if grows and verdict.connectivity.value < _CLEARLY_LOW:
                break
        return point, verdict

    def _judge(self, point: Iterate) -> Verdict:
        weights = self._at.rows.weights(point.y)
        verdict = judge(self.goal, point.R, weights, self.options.tol, self.options.seed)
        self.latest = verdict
        if self.best is None or verdict.error < self.best.error:
            self.best = verdict
        return verdict

    def _open(self, program: EdgeProgram, rank: int) -> InteriorPoint:
        return InteriorPoint(program, rank, self.journal)

    def _share(self, R: Matrix) -> float:
        """Objective per row."""
        return float(self.goal.mass @ (R**2).sum(axis=1)) / self.goal.m

    def _sized(self, directions: Matrix) -> Matrix:
        i, j = self.goal.edges.T
        lengths = (directions[i] - directions[j]) ** 2 / self.goal.sqdist[:, None]
        return np.asarray(directions * np.sqrt(_FIRST_LENGTH / lengths.max(axis=0)))


def _pataki(m: int) -> int:
    """Rank above which a solution never needs to go: r (r + 1) / 2 <= m."""
    return int((np.sqrt(8 * m + 1) - 1) / 2) + 1
