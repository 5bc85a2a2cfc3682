"""Candidates in turn, under one deadline, until an answer is proved; their answers are joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from math import inf
from typing import NamedTuple

import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import InfeasibleError, SdpdrError, SdpdrWarning, warn
from sdpdr.certify.answer import is_nothing
from sdpdr.program.run import Run, Status
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solvers.running import until_there_is_a_worker
from sdpdr.solving.candidate import Candidate, shares
from sdpdr.solving.join import join

_MISTAKE = (
    "an error inside sdpdr ended the run of {} ({} form), and the next candidates were asked: {}. "
    "Please report it."
)


class Turn(NamedTuple):
    """How a candidate runs.

    Attributes
    ----------
    words : str
        Which turn it is, for the display of progress.
    proofs : Deadline
        When proofs of its answer end.
    start : Solution or None
        Where it begins.
    is_last : bool
        Whether no other candidate waits for the time that its proofs leave.
    """

    words: str
    proofs: Deadline
    start: Solution | None
    is_last: bool


Attempt = Callable[[Candidate, Turn], Solution]

# Candidates that may find a program optimal for data nearby before the others are spared.
_OPINIONS = 2
# Seconds for the candidate that was nearest, if all fell short and nobody sets a time limit.
_LONGEST = 600.0
# Seconds, and share of the time limit, that proofs may take after it: what was found late counts.
_PROOFS = (1.0, 0.2)
# Seconds below which no solver is worth starting.
_MOMENT = 0.05
# What reductions and proofs may raise on data that nobody has tried; what solvers raise is an
# outcome already.
_MISSED = (SdpdrError, ArithmeticError, np.linalg.LinAlgError, MemoryError)
# After an interrupt no further proofs are run.
_AT_ONCE = Deadline(0.0)
SETTLED = (Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED)


def of_proofs(deadline: Deadline) -> Deadline:
    """When proofs have to end, after solvers that end by a deadline."""
    return deadline.later(max(_PROOFS[0], _PROOFS[1] * deadline.seconds))


def take_turns(
    candidates: Iterable[Candidate], attempt: Attempt, deadline: Deadline, sdp: SDP | None
) -> Solution:
    """Run candidates in turn until one answer, or several joined, are proved to the tolerance.

    Each ends by its share of the time (`sdpdr.solving.candidate.shares`), and what it has found by
    then is kept. The rest are spared when two find the program optimal only for data nearby, or one
    proves that its optimum is zero, beside which no gap is small, or where the budget of the proof
    is spent and nobody gave more time. If all fell short and some were
    stopped, the one that came nearest goes on from its point in the time that is left, or begins
    again if it cannot and there is more time than it had.

    Parameters
    ----------
    candidates : iterable of Candidate
        They are made as they are needed.
    attempt : callable
        Runs a candidate, and returns a solution or raises.
    deadline : Deadline
        The deadline of all solvers. The wait for the first worker process does not count.
    sdp : SDP or None
        The program that answers are graded by, if there is a standard form.

    Returns
    -------
    Solution
        What was found, joined, with all runs. Interrupted, it is the best so far.

    Raises
    ------
    InfeasibleError
        If constraints contradict each other.
    Exception
        That of the first candidate, if no candidate has come to an end.
    KeyboardInterrupt
        If there was nothing yet.
    """
    turns = _Turns(attempt, deadline, sdp)
    try:
        turns.take_all(candidates)
        if not turns.found:
            raise turns.errors[0]
        return turns.graded()
    except KeyboardInterrupt:
        if not turns.found:
            raise
        return replace(turns.joined(_AT_ONCE), status=Status.INTERRUPTED)


@dataclass(eq=False)
class _Turns:
    """What candidates have found, and which were stopped by their share of the time."""

    attempt: Attempt
    deadline: Deadline
    sdp: SDP | None
    found: list[Solution] = field(default_factory=list)
    stopped: list[tuple[Candidate, Solution]] = field(default_factory=list)
    failed: list[Run] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)

    def take_all(self, candidates: Iterable[Candidate]) -> None:
        """Run one after the other until that is enough, and then the nearest once more."""
        for number, (one, after) in enumerate(pairwise(chain(candidates, [None])), start=1):
            assert one is not None
            share = shares(1 if after is None else 2, self.deadline.ahead)[0]
            self._take(one, share, f"candidate {number}" if number > 1 else "")
            if self._is_enough():
                return
        if self.stopped:
            self._take_once_more(*min(self.stopped, key=lambda pair: _error_of(pair[1])))

    def _take_once_more(self, one: Candidate, last: Solution) -> None:
        """Let a candidate go on from its point, or begin again where it gets more time."""
        start = last if one.solver.takes_start and last.values else None
        share = min(self.deadline.ahead, _LONGEST)
        if start is not None or share > sum(run.seconds for run in last.runs):
            self._take(one, share, "once more", start)

    def _take(self, one: Candidate, share: float, turn: str, start: Solution | None = None) -> None:
        """Run a candidate; an error of its own must not cost the others their turns."""
        limited = self._limited(one, share)
        if self.deadline.seconds < inf:
            self.deadline.excuse(until_there_is_a_worker(limited.solver))
        ahead, proofs, watch = self.deadline.ahead, of_proofs(self.deadline), Deadline()
        is_last = share >= ahead
        if not is_last:  # Half of what a solver leaves to the others is for proofs of its answer.
            proofs = proofs.sooner((share + ahead) / 2.0)
        try:
            solution = self.attempt(limited, Turn(self._words(turn), proofs, start, is_last))
        except InfeasibleError:  # Constraints contradict each other for every candidate.
            raise
        except (*_MISSED, ValueError) as error:
            if not isinstance(error, _MISSED):
                warn(_MISTAKE.format(one.solver.name, one.form, error), SdpdrWarning)
            self.errors.append(error)
            self.failed.append(_failed(one, error, watch.spent))
            return
        self.found.append(solution)
        if solution.status is Status.TIME_LIMIT:
            self.stopped.append((one, solution))

    def _limited(self, one: Candidate, share: float) -> Candidate:
        """The candidate with a time limit on its solver, unless it ends by itself."""
        if share == inf or (self.deadline.seconds == inf and one.ends_by_itself):
            return one
        return replace(one, solver=replace(one.solver, time_limit=share))

    def _words(self, turn: str) -> str:
        """Whose turn it is and how much time is left, after the names of the solver and form."""
        left = self.deadline.left()
        words = [turn, "" if left is None else f"{left:.0f} s left"]
        shown = ", ".join(part for part in words if part)
        return f" ({shown})" if shown else ""

    def _is_enough(self) -> bool:
        """Whether another run would be pointless, or too late."""
        found, sdp = self.found, self.sdp
        if self.deadline.ahead < _MOMENT:
            return True
        if not found:
            return False
        statuses = [one.status for one in found]
        if Status.INTERRUPTED in statuses or join(found).status in SETTLED:
            return True
        if sdp is None:  # Proofs of such models depend on no candidate's point.
            return bool(found[-1].values) or Status.UNVERIFIED in statuses
        last = found[-1]
        if last.unfinished and last.values and self.deadline.seconds == inf:
            return True  # The point may be as good as any, and its proof is what takes long.
        is_zero = last.gap_scale == 0.0 and is_nothing(sdp, last.bound, last.attained)
        return is_zero or statuses.count(Status.OPTIMAL_NEARBY) >= _OPINIONS

    def joined(self, proofs: Deadline) -> Solution:
        """What was found so far, with the runs that failed."""
        solution = join(self.found, self.sdp, proofs)
        return replace(solution, runs=(*solution.runs, *self.failed))

    def graded(self) -> Solution:
        """What was found in the end; time limits are those of the caller, not of one candidate."""
        ended = any(one.status is Status.INTERRUPTED for one in self.found)
        solution = self.joined(_AT_ONCE if ended else of_proofs(self.deadline))
        status = solution.status
        if status in SETTLED:
            return solution
        if ended:
            status = Status.INTERRUPTED
        elif status is not Status.OPTIMAL_NEARBY and self.deadline.ahead < _MOMENT:
            status = Status.TIME_LIMIT
        elif status is Status.TIME_LIMIT:
            nothing = not solution.values and solution.bound is None
            status = Status.FAILED if nothing else Status.INACCURATE
        return replace(solution, status=status)


def _error_of(solution: Solution) -> float:
    """How far point and bound are apart, whether or not the point is proved feasible."""
    return min(abs(solution.gap), solution.apparent_gap)


def _failed(one: Candidate, error: Exception, seconds: float) -> Run:
    """The record of a run that raised an error."""
    words = f"{type(error).__name__}: {error}"
    return Run(one.solver.name, one.form, Status.FAILED.name, None, None, None, seconds, words)
