"""What an iteration keeps: a record of every program solved, and the state between two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import SolveFailedError
from sdpdr.base.progress import Advised
from sdpdr.linalg import LinearMap
from sdpdr.program import Solution
from sdpdr.program.point import Value


class IterationStatus(Advised):
    """How an iteration stands; the value of each member is advice."""

    RUNNING = "It goes on: call `run` or `step` with this state."
    RANK_REACHED = "The excess over the rank is within the tolerance."
    SETTLED = (
        "The objective has stopped falling. It is a local optimum; other starts may find a better "
        "one (`restarts`), and `bound`, where there is one, says how much better at most."
    )
    STALLED = (
        "Rank not reached: the excess has stopped falling at a positive number. That proves "
        "nothing about the rank. Try `restarts`, ask for less (a lower variance, a band in place "
        "of equality), or allow one dimension more."
    )
    ITERATION_LIMIT = (
        "The iteration limit was reached; go on with `run(state)` of an iteration with a larger "
        "one."
    )
    TIME_LIMIT = "The time limit was reached; go on with `run(state)`."
    INTERRUPTED = "Interrupted; go on with `run(state)`."
    INFEASIBLE = (
        "The solver says that no point satisfies the constraints, whatever its rank. Relax a block."
    )
    UNBOUNDED = (
        "The model's objective grows without limit at the weight given. Limit it, or raise the "
        "weight."
    )
    FAILED = (
        "The solver returned no point. The best answer before that is kept; try another solver."
    )


RESUMABLE = (
    IterationStatus.ITERATION_LIMIT,
    IterationStatus.TIME_LIMIT,
    IterationStatus.INTERRUPTED,
)


@dataclass(frozen=True)
class Record:
    """One program solved.

    Attributes
    ----------
    iteration : int
        From 0, over all starts.
    start : int
        Which start it belongs to, from 0.
    objective : float
        What the iteration lowers: the model's objective (to be minimised) plus the weighted
        excess; the excess alone where the model's objective was replaced.
    excess : float
        What is left beyond the rank: the sum of trailing eigenvalues, or of the Schur complement.
    share : float
        The excess relative to the trace.
    trace : float
        Trace of the matrix, or of all of them; every merged point counts.
    infeasibility : float
        Primal error of the answer, as in `Solution.residuals`.
    value, gap : float
        Value of the linear program solved, and its relative distance to our bound, as measured
        (`Solution.apparent_gap`). They grade the solve; they are no bound on what any matrix of
        that rank can do.
    status : str
        Status of the solve, by our grading; at best ``OPTIMAL_NEARBY``, since only the last answer
        of an iteration is proved to be near a feasible point.
    seconds : float
    note : str
        What happened besides, in words.
    """

    iteration: int
    start: int
    objective: float
    excess: float
    share: float
    trace: float
    infeasibility: float
    value: float
    gap: float
    status: str
    seconds: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class State:
    """An iteration between two programs; nothing in it changes, so any state can be resumed.

    Attributes
    ----------
    status : IterationStatus
    history : tuple of Record
    directions : mapping from variable to LinearMap, or None
        What the next program adds to the cost of each matrix; None for the model alone.
    last : Solution or None
        The latest answer, from which the next one is sought.
    last_directions, best_directions : mapping from variable to LinearMap, or None
        What the programs of these two answers had added to their costs.
    best : Solution or None
        The one with the smallest excess, or with the smallest objective where the model's own is
        kept.
    best_iteration : int
        Its place in the history; -1 if there is none.
    start : int
        How many starts came before this one.
    bound : float or None
        No matrix does better than this, whatever its rank: our bound on the model's own optimum
        (to be minimised). None where the objective was replaced.
    variable : str
        Name of the matrix, the first one if there are several.
    """

    status: IterationStatus
    history: tuple[Record, ...]
    directions: Mapping[str, LinearMap] | None
    variable: str
    last: Solution | None = None
    best: Solution | None = None
    best_iteration: int = -1
    start: int = 0
    bound: float | None = None
    last_directions: Mapping[str, LinearMap] | None = None
    best_directions: Mapping[str, LinearMap] | None = None

    def with_best(self, iteration: int) -> State:
        """The state with the latest answer as the best one."""
        directions = self.last_directions
        return replace(self, best=self.last, best_iteration=iteration, best_directions=directions)

    @property
    def solution(self) -> Solution:
        """The best answer.

        Raises
        ------
        SolveFailedError
            No program has been solved.
        """
        if self.best is None:
            raise SolveFailedError(f"there is no answer: {self.status.name}. {self.status.advice}")
        return self.best

    @property
    def solved(self) -> tuple[Record, ...]:
        """The records that have a point."""
        return tuple(r for r in self.history if np.isfinite(r.objective))

    @property
    def descent(self) -> tuple[Record, ...]:
        """Those of the present start."""
        return tuple(r for r in self.solved if r.start == self.start)

    @property
    def record(self) -> Record:
        """The record of the best answer."""
        self.solution  # noqa: B018  # says why there is none
        return self.history[self.best_iteration]

    @property
    def objective(self) -> float:
        """Objective of the best answer; ``nan`` if there is none."""
        return self.record.objective if self.best else float("nan")

    @property
    def excess(self) -> float:
        """Excess of the best answer; ``nan`` if there is none."""
        return self.record.excess if self.best else float("nan")

    @property
    def gap(self) -> float:
        """Distance of the objective to `bound`, relative to it; ``inf`` without a bound."""
        if self.bound is None or self.best is None:
            return float("inf")
        return (self.objective - self.bound) / max(abs(self.bound), np.finfo(float).tiny)

    @property
    def reached(self) -> bool:
        """Whether the iteration ended because the rank was met."""
        return self.status is IterationStatus.RANK_REACHED

    def gram(self) -> Value:
        """The matrix of the best answer, dense or as a factor."""
        return self.solution.gram(self.variable)

    def spectrum(self) -> Array:
        """Its eigenvalues, descending."""
        return self.solution.spectrum(self.variable)

    def embedding(self, n_components: int = 2) -> Array:
        """Coordinates read off it, shape (n, n_components), as `Solution.embedding` does."""
        return self.solution.embedding(n_components, self.variable)

    def rows(self) -> list[dict[str, Any]]:
        """The history as plain mappings, ready for a table or for `sdpdr.plot.rounds`."""
        return [asdict(record) for record in self.history]

    def __repr__(self) -> str:
        starts = f" and {self.start + 1} starts" if self.start else ""
        words = f"State({self.status.name} after {len(self.history)} programs{starts}"
        if self.best is None:
            return f"{words})"
        return f"{words}: objective {self.objective:.8g}, excess {self.record.share:.1e} of trace)"


def has_stalled(descent: Sequence[Record], patience: int, stall: float) -> bool:
    """Whether the least share of the excess has hardly fallen in the last few programs."""
    if len(descent) <= patience:
        return False
    before = min(r.share for r in descent[:-patience])
    return before - min(r.share for r in descent[-patience:]) <= stall * before


def has_settled(descent: Sequence[Record], patience: int, least: float) -> bool:
    """Whether the objective no longer falls by much; a rise, of inexact solves, must last."""
    if len(descent) < 2:
        return False
    fall = descent[-2].objective - descent[-1].objective
    if fall >= -least:
        return fall <= least
    lowest = int(np.argmin([r.objective for r in descent]))
    return len(descent) - 1 - lowest >= patience
