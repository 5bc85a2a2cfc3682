"""Candidates in turn, under one deadline, until an answer is proved; their answers are joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import InfeasibleError, SdpdrError, SdpdrWarning, warn
from sdpdr.base.progress import enter_phase
from sdpdr.certify.answer import faceless, is_nothing
from sdpdr.program.run import Run, Status
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solvers.running import until_there_is_a_worker
from sdpdr.solving.attempt import attempt
from sdpdr.solving.candidate import Candidate, shares
from sdpdr.solving.join import join
from sdpdr.solving.options import Request

_MISTAKE = (
    "an error inside sdpdr ended the run of {} ({} form), and the next candidates were asked: {}. "
    "Please report it."
)


# Runs a candidate for a program: `sdpdr.solving.attempt.attempt`.
Attempt = Callable[[Candidate, "SDP | None", Request, str], Solution]

# Candidates that may find a program optimal for data nearby, or one that nothing proves, before the
# others are spared.
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
SETTLED = (Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED)


def of_proofs(deadline: Deadline) -> Deadline:
    """When proofs have to end, after solvers that end by a deadline."""
    return deadline.later(max(_PROOFS[0], _PROOFS[1] * deadline.seconds))


def take_turns(
    candidates: Iterable[Candidate], sdp: SDP | None, request: Request, run: Attempt = attempt
) -> Solution:
    """Run candidates in turn until one answer, or several joined, are proved to the tolerance.

    Each ends by its share of the time (`sdpdr.solving.candidate.shares`), and what it has found by
    then is kept. The rest are spared when two find the program optimal only for data nearby, or one
    proves that its optimum is zero, beside which no gap is small, or where the budget of the proof
    is spent and nobody gave more time. Where one side has neither an interior nor an exact face, no
    answer is proved, and one that is optimal for data nearby is enough, or any two. If all fell
    short and some were stopped, the one that came nearest goes on from its point in the time that
    is left, or begins again if it cannot and there is more time than it had.

    Parameters
    ----------
    candidates : iterable of Candidate
        They are made as they are needed.
    sdp : SDP or None
        The program that answers are graded by, if there is a standard form.
    request : Request
        Its deadline is that of all solvers. The wait for the first worker process does not count.
    run : callable, optional
        Runs a candidate, and returns a solution or raises.

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
    turns = _Turns(sdp, request, run)
    try:
        turns.take_all(candidates)
        if not turns.found:
            raise turns.errors[0]
        return turns.graded()
    except KeyboardInterrupt:
        if not turns.found:
            raise
        return turns.graded(interrupted=True)


@dataclass(eq=False)
class _Turns:
    """What candidates have found, and which were stopped by their share of the time."""

    sdp: SDP | None
    request: Request
    run: Attempt
    found: list[Solution] = field(default_factory=list)
    stopped: list[tuple[Candidate, Solution]] = field(default_factory=list)
    failed: list[Run] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)

    def take_all(self, candidates: Iterable[Candidate]) -> None:
        """Run one after the other until that is enough, and then the nearest once more."""
        waiting, number, limited = iter(candidates), 1, self.request.deadline.seconds < inf
        one = next(waiting, None)
        while one is not None:
            # A candidate that ends soon by itself needs no share, so no other one is looked up.
            is_free = one.ends_by_itself and not limited
            after = None if is_free else next(waiting, None)
            share = shares(1 if after is None else 2, self.request.deadline.ahead)[0]
            self._take(one, share, f"candidate {number}" if number > 1 else "")
            if self._is_enough():
                return
            one, number = next(waiting, None) if is_free else after, number + 1
        if self.stopped:
            self._take_once_more(*min(self.stopped, key=lambda pair: _error_of(pair[1])))

    def _take_once_more(self, one: Candidate, last: Solution) -> None:
        """Let a candidate go on from its point, or begin again where it gets more time."""
        start = last if one.solver.takes_start and last.values else None
        share = min(self.request.deadline.ahead, _LONGEST)
        if start is not None or share > sum(run.seconds for run in last.runs):
            self._take(one, share, "once more", start)

    def _take(self, one: Candidate, share: float, turn: str, start: Solution | None = None) -> None:
        """Run a candidate; an error of its own must not cost the others their turns."""
        deadline = self.request.deadline
        limited = deadline.seconds < inf
        if share < inf:
            one = replace(one, solver=replace(one.solver, time_limit=share))
        if limited:
            deadline.excuse(until_there_is_a_worker(one.solver))
        ahead, proofs, watch = deadline.ahead, of_proofs(deadline), Deadline()
        is_last = share >= ahead
        if not is_last:  # Half of what a solver leaves to the others is for proofs of its answer.
            proofs = proofs.sooner((share + ahead) / 2.0)
        shown = [turn] * bool(turn) + [f"{ahead:.0f} s left"] * limited
        words = f" ({', '.join(shown)})" if shown else ""
        own = replace(
            self.request, proofs=proofs, start=start or self.request.start, is_last=is_last
        )
        try:
            solution = self.run(one, self.sdp, own, words)
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

    def _is_enough(self) -> bool:
        """Whether another run would be pointless, or too late."""
        found, sdp, deadline = self.found, self.sdp, self.request.deadline
        if deadline.ahead < _MOMENT:
            return True
        if not found:
            return False
        statuses = [one.status for one in found]
        if Status.INTERRUPTED in statuses or join(found).status in SETTLED:
            return True
        if sdp is None:  # Proofs of such models depend on no candidate's point.
            return bool(found[-1].values) or Status.UNVERIFIED in statuses
        last = found[-1]
        if last.unfinished and last.values and deadline.seconds == inf:
            return True  # The point may be as good as any, and its proof is what takes long.
        nearby = statuses.count(Status.OPTIMAL_NEARBY)
        if faceless(sdp) and (nearby or len(found) >= _OPINIONS):
            return True
        is_zero = last.gap_scale == 0.0 and is_nothing(sdp, last.bound, last.attained)
        return is_zero or nearby >= _OPINIONS

    def graded(self, *, interrupted: bool = False) -> Solution:
        """What was found, joined, with the runs that failed.

        Time limits are those of the caller, not of one candidate.
        """
        deadline = self.request.deadline
        ended = interrupted or any(one.status is Status.INTERRUPTED for one in self.found)
        if len(self.found) > 1:
            enter_phase("proving: what the solvers found together")
        # After an interrupt no further proofs are run.
        joined = join(self.found, self.sdp, Deadline(0.0) if ended else of_proofs(deadline))
        solution = replace(joined, runs=(*joined.runs, *self.failed))
        status = Status.INTERRUPTED if interrupted else solution.status
        if status in SETTLED:
            return solution
        if ended:
            status = Status.INTERRUPTED
        elif status is not Status.OPTIMAL_NEARBY and deadline.ahead < _MOMENT:
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
