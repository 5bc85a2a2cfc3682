"""The runner of sequences: solve a program, record it, make the next cost from the answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace

from sdpdr.base.deadline import Deadline
from sdpdr.base.progress import Progress, show_progress
from sdpdr.linalg import LinearMap
from sdpdr.program import Solution, Status
from sdpdr.solving.iterate.records import RESUMABLE, IterationStatus, Record, State

Costs = Mapping[str, LinearMap]
# How a sequence ends with its last program, whether that has a point or not, and without one.
_ENDS = {
    Status.TIME_LIMIT: IterationStatus.TIME_LIMIT,
    Status.INTERRUPTED: IterationStatus.INTERRUPTED,
}
_POINTLESS = {
    Status.INFEASIBLE: IterationStatus.INFEASIBLE,
    Status.UNBOUNDED: IterationStatus.UNBOUNDED,
}


class Runner(ABC):
    """A sequence of programs that can be stopped after each, kept, and resumed.

    Everything that changes is in the `State`. Subclasses solve, judge and choose costs.
    """

    max_iter: int
    restarts: int
    time_limit: float | None
    progress: Progress | bool | None

    @abstractmethod
    def init(self) -> State:
        """The state before the first program."""

    @abstractmethod
    def _solve(self, state: State, deadline: Deadline) -> Solution:
        """The answer to the program of a state, sought from the last one."""

    @abstractmethod
    def _record(self, state: State, solution: Solution, seconds: float) -> Record:
        """The record of an answer."""

    @abstractmethod
    def _measure(self, record: Record) -> tuple[bool, float]:
        """What the best record has the least of."""

    @abstractmethod
    def _verdict(self, descent: tuple[Record, ...]) -> IterationStatus:
        """How the programs since the last start stand, whatever their number."""

    @abstractmethod
    def _next(self, state: State) -> Costs:
        """The costs that the last answer suggests."""

    @abstractmethod
    def _drawn(self, number: int) -> Costs:
        """Random costs, for the start of a number."""

    @abstractmethod
    def _finished(self, state: State, deadline: Deadline) -> State:
        """The state that a run returns."""

    @property
    def _planned_starts(self) -> int:
        """How many starts follow the first without being restarts."""
        return 0

    def done(self, state: State) -> bool:
        """Whether there is nothing left to do."""
        return state.status is not IterationStatus.RUNNING

    def step(self, state: State) -> State:
        """Solve one program and make the next direction; a state that has ended stays as it is."""
        return state if self.done(state) else self._step(state, Deadline(self.time_limit))

    def run(
        self, state: State | None = None, accept: Callable[[State], bool] | None = None
    ) -> State:
        """Iterate until done.

        Parameters
        ----------
        state : State, optional
            Go on from this state, also where a limit ended it.
        accept : callable, optional
            Called after every program that has a point. If it returns True, the rank counts as
            reached by the latest answer, ``state.last``, whatever its excess. For callers that can
            repair an answer and check the result.

        Returns
        -------
        State
            However it ended, with the best answer so far: failures are statuses, not exceptions.
        """
        deadline = Deadline(self.time_limit)
        state = self.init() if state is None else self._reopened(state)
        with show_progress(self.progress, str(self)) as report:
            while not self.done(state):
                if deadline.is_over():
                    return replace(state, status=IterationStatus.TIME_LIMIT)
                try:
                    state = self._step(state, deadline)
                    if accept is not None and state.solved[-1:] and accept(state):
                        best = state.with_best(state.solved[-1].iteration)
                        state = replace(best, status=IterationStatus.RANK_REACHED)
                except KeyboardInterrupt:
                    return replace(state, status=IterationStatus.INTERRUPTED)
                if report is not None:
                    row = state.rows()[-1]
                    report({**row, "value": row["objective"], "seconds": deadline.spent})
        return self._finished(state, deadline)

    def _reopened(self, state: State) -> State:
        """A state from which to go on."""
        if state.status in RESUMABLE:
            return replace(state, status=IterationStatus.RUNNING)
        if state.status in (IterationStatus.STALLED, IterationStatus.SETTLED):
            return self._another_start(state, state.status)
        return state

    def _step(self, state: State, deadline: Deadline) -> State:
        """The state after one more program."""
        if len(state.descent) >= self.max_iter:
            return replace(state, status=IterationStatus.ITERATION_LIMIT)
        watch = Deadline()
        solution = self._solve(state, deadline)
        record = self._record(state, solution, watch.spent)
        state = replace(state, history=(*state.history, record))
        if solution.values:
            state = self._with_best(state, solution)
        if solution.status in _ENDS:
            # The same program is solved again on resuming, from where it was left.
            return replace(state, status=_ENDS[solution.status])
        if solution.values:
            return self._judged(state)
        if state.best is not None:
            return self._another_start(state, IterationStatus.FAILED)
        return replace(state, status=_POINTLESS.get(solution.status, IterationStatus.FAILED))

    def _with_best(self, state: State, last: Solution) -> State:
        """The state with its latest answer, and the best one so far."""
        state = replace(state, last=last, last_directions=state.directions)
        if state.directions is None:
            state = replace(state, bound=last.bound)
        record, best = state.history[-1], state.history[state.best_iteration]
        if state.best is None or self._measure(record) < self._measure(best):
            return state.with_best(record.iteration)
        return state

    def _judged(self, state: State) -> State:
        """The state with the next program, or ended."""
        verdict = self._verdict(state.descent)
        if verdict is IterationStatus.RUNNING:
            if len(state.descent) >= self.max_iter:
                verdict = IterationStatus.ITERATION_LIMIT
            # The model alone is a descent of its own where another start is planned.
            alone = state.directions is None
            start = state.start + (self._planned_starts if alone else 0)
            state = replace(state, directions=self._next(state), start=start)
        if verdict in (IterationStatus.RUNNING, IterationStatus.RANK_REACHED):
            return replace(state, status=verdict)
        return self._another_start(state, verdict)

    def _another_start(self, state: State, verdict: IterationStatus) -> State:
        """The state with random costs, or ended if there may be no more starts."""
        if state.start >= self.restarts + self._planned_starts:
            return replace(state, status=verdict)
        number = state.start + 1
        costs = self._drawn(number)
        return replace(state, status=IterationStatus.RUNNING, directions=costs, start=number)
