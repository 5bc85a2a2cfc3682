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
from sdpdr.solvers.processes.isolate import wait_for_server
from sdpdr.solvers.running import runs_apart
from sdpdr.solving.attempt import attempt
from sdpdr.solving.candidate import Candidate, shares
from sdpdr.solving.join import join
from sdpdr.solving.options import Request

_MISTAKE = (
    "an error inside sdpdr ended the run of {} ({} form), and the next candidates were tried: {}. "
    "Please report it."
)


# Runs a candidate for a program: `sdpdr.solving.attempt.attempt`.
Attempt = Callable[[Candidate, SDP, Request, str], Solution]

# Answers optimal for data nearby, or without proof, after which other candidates are skipped.
_OPINIONS = 2
# Seconds for the nearest candidate, if all failed and there is no time limit.
_LONGEST = 600.0
# Share of a time limit that is reserved for the proofs of the last answer.
_PROOFS = 1.0 / 6.0
# Seconds of a step up to which a candidate ends soon by its limit of iterations.
_SOON = 1.0
# Seconds that a solver needs at least to be started.
_MOMENT = 0.05
# Errors of reductions and proofs on unusual data; those of solvers are outcomes already.
_MISSED = (SdpdrError, ArithmeticError, np.linalg.LinAlgError, MemoryError)
SETTLED = (Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED)


def of_solvers(deadline: Deadline) -> Deadline:
    """The deadline of solvers, which leaves time for proofs before the given deadline."""
    return Deadline((1.0 - _PROOFS) * deadline.seconds, since=deadline)


def take_turns(
    candidates: Iterable[Candidate], sdp: SDP, request: Request, run: Attempt = attempt
) -> Solution:
    """Run candidates in turn until one answer, or several joined, are proved to the tolerance.

    Each ends by its share of the time (`sdpdr.solving.candidate.shares`), and its point and bound
    are kept. The rest are skipped if two find the program optimal only for data nearby, if one
    proves that the optimum is zero, relative to which no gap is small, or if the budget of the
    proof is spent and there is no time limit. If one side has neither an interior nor an exact
    face, no answer can be proved; then one that is optimal for data nearby is enough, or any two.
    If all failed and some were stopped, the nearest one continues from its point in the time that
    is left; if it cannot, it begins again, provided that there is more time than it had.

    Parameters
    ----------
    candidates : iterable of Candidate
        They are made as they are needed.
    sdp : SDP
        The program that answers are graded by.
    request : Request
        Its deadline is for all candidates together; the wait for the first worker is not counted.
    run : callable, optional
        Runs a candidate, and returns a solution or raises.

    Returns
    -------
    Solution
        The joined answers, with all runs; after an interrupt, those found so far.

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
            raise turns.failed[0][1]
        return turns.graded()
    except KeyboardInterrupt:
        if not turns.found:
            raise
        return turns.graded(interrupted=True)


@dataclass(eq=False)
class _Turns:
    """Answers of candidates, and those that were stopped by their share of the time."""

    sdp: SDP
    request: Request
    run: Attempt
    found: list[Solution] = field(default_factory=list)
    stopped: list[tuple[Candidate, Solution]] = field(default_factory=list)
    failed: list[tuple[Run, Exception]] = field(default_factory=list)

    def take_all(self, candidates: Iterable[Candidate]) -> None:
        """Run candidates until `_is_enough`; if none is, run the nearest once more."""
        waiting, turn, limited = iter(candidates), 1, self.request.deadline.seconds < inf
        one = next(waiting, None)
        while one is not None:
            # A candidate that ends soon by itself needs no share, so no other one is looked up.
            is_free = one.step <= _SOON and not limited
            after = None if is_free else next(waiting, None)
            self._take(one, f"candidate {turn}" if turn > 1 else "", is_last=after is None)
            if self._is_enough():
                return
            one, turn = next(waiting, None) if is_free else after, turn + 1
        if self.stopped:
            self._take_once_more(*min(self.stopped, key=lambda pair: _error_of(pair[1])))

    def _take_once_more(self, one: Candidate, last: Solution) -> None:
        """Let a candidate continue from its point, or begin again if it gets more time."""
        start = last if one.solver.takes_start and last.values else None
        seconds = min(self._ahead, _LONGEST)
        if start is not None or seconds > sum(run.seconds for run in last.runs):
            self._take(one, "once more", at_most=_LONGEST, start=start)

    def _take(
        self,
        one: Candidate,
        turn: str,
        *,
        is_last: bool = True,
        at_most: float = inf,
        start: Solution | None = None,
    ) -> None:
        """Run a candidate; after an error of its own, the others are still tried."""
        request, deadline, words = self.request, self.request.deadline, [turn] * bool(turn)
        if deadline.seconds < inf:
            if runs_apart(one.solver, request.isolate, one.step):
                deadline.excuse(wait_for_server())
            words.append(f"{deadline.ahead:.0f} s left")
        share = min(shares(1 if is_last else 2, self._ahead)[0], at_most)
        if share < inf:
            one = replace(one, solver=replace(one.solver, time_limit=share))
        if not is_last:  # Half of what a solver leaves to the others is for proofs of its answer.
            deadline = deadline.sooner((share + deadline.ahead) / 2.0)
        own = replace(request, deadline=deadline, start=start or request.start, is_last=is_last)
        watch = Deadline()
        try:
            solution = self.run(one, self.sdp, own, f" ({', '.join(words)})" if words else "")
        except InfeasibleError:  # Constraints contradict each other for every candidate.
            raise
        except (*_MISSED, ValueError) as error:
            said = f"{type(error).__name__}: {error}"
            what = (one.solver.name, one.form, Status.FAILED.name)
            self.failed.append((Run(*what, None, None, None, watch.spent, said), error))
            return
        self.found.append(solution)
        if solution.status is Status.TIME_LIMIT and share < inf:
            self.stopped.append((one, solution))

    @property
    def _ahead(self) -> float:
        """Seconds that solvers may still take."""
        return of_solvers(self.request.deadline).ahead

    def _is_enough(self) -> bool:
        """Whether another run would be pointless, or too late."""
        found, sdp = self.found, self.sdp
        if self._ahead < _MOMENT:
            return True
        if not found:
            return False
        statuses = [one.status for one in found]
        if Status.INTERRUPTED in statuses or join(found).status in SETTLED:
            return True
        last = found[-1]
        if last.unfinished and last.values and self._ahead == inf:
            return True  # The point may be optimal, and only its proof takes long.
        nearby = statuses.count(Status.OPTIMAL_NEARBY)
        if faceless(sdp) and (nearby or len(found) >= _OPINIONS):
            return True
        is_zero = last.gap_scale == 0.0 and is_nothing(sdp, last.bound, last.attained)
        return is_zero or nearby >= _OPINIONS

    def graded(self, *, interrupted: bool = False) -> Solution:
        """The joined answers, with the runs that failed.

        Time limits are those of the caller, not of one candidate.
        """
        for run, error in self.failed:
            if not isinstance(error, _MISSED):
                warn(_MISTAKE.format(run.solver, run.form, error), SdpdrWarning)
        ended = interrupted or any(one.status is Status.INTERRUPTED for one in self.found)
        if len(self.found) > 1:
            enter_phase("proving: what the solvers found together")
        # After an interrupt no further proofs are run.
        joined = join(self.found, self.sdp, Deadline(0.0) if ended else self.request.deadline)
        solution = replace(joined, runs=(*joined.runs, *(run for run, _ in self.failed)))
        status = Status.INTERRUPTED if interrupted else solution.status
        if status in SETTLED:
            return solution
        if ended:
            status = Status.INTERRUPTED
        elif status is not Status.OPTIMAL_NEARBY and self._ahead < _MOMENT:
            status = Status.TIME_LIMIT
        elif status is Status.TIME_LIMIT:
            nothing = not solution.values and solution.bound is None
            status = Status.FAILED if nothing else Status.INACCURATE
        return replace(solution, status=status)


def _error_of(solution: Solution) -> float:
    """The gap, or that of the point and bound if the point is not proved feasible."""
    return min(abs(solution.gap), solution.apparent_gap)
