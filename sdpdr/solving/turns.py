"""Candidates in turn, under one deadline, until an answer is proved; what they find is joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import InfeasibleError, NotAcceptedError, SdpdrError, SdpdrWarning, warn
from sdpdr.certify.answer import is_nothing
from sdpdr.program.run import Run, Status
from sdpdr.program.solution import Solution
from sdpdr.solvers.running import until_there_is_a_worker
from sdpdr.solving.grade import proved
from sdpdr.solving.join import join
from sdpdr.solving.way import Way, shares

_MISTAKE = (
    "a mistake of sdpdr's own ended the turn of {} ({} form), and others went on: {}. Please "
    "report it."
)
Attempt = Callable[[Way, str, Deadline, Solution | None], Solution]

# Gap from which on an answer is worth having. All others together get no more than `MORE` times the
# seconds that it took to improve on it, and `AT_LEAST` so many.
USABLE, MORE, AT_LEAST = 1e-4, 4.0, 10.0
# Candidates that may find a program optimal for data nearby before the others are spared; or its
# optimum to be nothing, beside which no gap is small.
OPINIONS = 2
# What is left of the error of one who converges after a second half of his time, at most.
CONVERGING = 0.1
# Seconds that one who was stopped gets if nobody has an answer.
LAST = 600.0
# Seconds that a process may take to start on a busy machine.
START = 20.0
# Seconds, and share of the time limit, that proofs may take after it: what was found late counts.
_PROOFS = (1.0, 0.2)
# Seconds below which no turn is worth taking.
_MOMENT = 0.05
# What may become of reductions and proofs on data that nobody has tried. What solvers raise is an
# outcome already.
_MISSED = (SdpdrError, ArithmeticError, np.linalg.LinAlgError, MemoryError)
# Of proofs that take no steps: whoever interrupted something is not kept waiting.
_AT_ONCE = Deadline(0.0)
SETTLED = (Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED)


def of_proofs(deadline: Deadline) -> Deadline:
    """When proofs have to end, after solvers that end by a deadline."""
    return deadline.later(max(_PROOFS[0], _PROOFS[1] * deadline.seconds))


def take_turns(
    chosen: Way, attempt: Attempt, deadline: Deadline, *, rigorous: bool = False
) -> Solution:
    """Carry out a plan and, where it falls short, those that follow it.

    Candidates take turns until one answer, or the best point of one with the best bound of another,
    is proved to the tolerance. Each gives way when its share of the time is used up, when it fails,
    and when it raises an error; what it has found by then is kept. Whoever was still converging
    when it was stopped, and can begin from its own point, goes on from there: as long again, as
    long as that is so. Of a time limit proofs of a turn take no more than half of what its solver
    leaves to others. If all fall short and somebody was stopped, the one who was nearest gets
    what is left of a time limit, and begins from its own point where it can. Without a limit it
    gets a longer turn, if there is no answer worth having.

    Parameters
    ----------
    chosen : Way
    attempt : callable of a plan, words that say whose turn it is, a deadline of its proofs, and
        None or an answer to begin from
        Returns a solution, or raises.
    deadline : Deadline
        Of all solvers. What is waited for the first worker of the process does not count.
    rigorous : bool, default False
        Whether what proofs left for the sake of others is proved with all rounding accounted for.

    Returns
    -------
    Solution
        What was found, joined, with all runs. Interrupted, it is the best so far.

    Raises
    ------
    InfeasibleError
        If rows contradict each other.
    Exception
        That of the first candidate, if no candidate has come to an end.
    KeyboardInterrupt
        If there was nothing yet.
    """
    turns = Turns(chosen, attempt, deadline, rigorous=rigorous)
    try:
        turns.take_all()
        if not turns.found:
            raise turns.errors[0]
        return turns.graded()
    except KeyboardInterrupt:
        if not turns.found:
            raise
        return replace(turns.joined(_AT_ONCE), status=Status.INTERRUPTED)


@dataclass(eq=False)
class Turns:
    """The state of a sequence of candidates.

    Attributes
    ----------
    chosen : Way
    attempt : callable
    deadline : Deadline
    found : list of Solution
    stopped : list of (Way, Solution)
        Those whose time was up, and what they had by then.
    failed : list of Run
        Those that raised an error.
    errors : list of Exception
    usable_at : float
        Seconds after which there was an answer worth having; infinite until then.
    cut : bool
        Whether proofs of a turn ended for the sake of others.
    rigorous : bool
        Whether the last proofs are to account for all rounding.
    """

    chosen: Way
    attempt: Attempt
    deadline: Deadline
    found: list[Solution] = field(default_factory=list)
    stopped: list[tuple[Way, Solution]] = field(default_factory=list)
    failed: list[Run] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    usable_at: float = inf
    cut: bool = False
    rigorous: bool = False

    @property
    def limit(self) -> float:
        """Seconds for all."""
        return self.deadline.seconds

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline.ahead

    @cached_property
    def sequence(self) -> tuple[Way, ...]:
        """All who take turns."""
        return self.chosen.sequence

    def take_all(self) -> None:
        """Turn by turn, until it is enough or the time is up."""
        self._take_as_long_as_it_converges(self.chosen, self._first_share())
        place = 1
        while not self._is_enough() and place < len(self.sequence):
            self._take_in_order(place)
            place += 1
        if self.stopped and not self._is_enough():
            self._take_once_more(*min(self.stopped, key=lambda pair: _error_of(pair[1])))

    def _take_once_more(self, one: Way, before: Solution) -> None:
        """A longer turn of one who was stopped, from where it was if it can begin there."""
        start = before if _can_go_on(one, before) else None
        # From its beginning, and in no more time than before, it would end where it did.
        further = start is not None or self.left > sum(run.seconds for run in before.runs)
        longer = inf
        if self.usable_at == inf:
            longer = LAST
        elif self.limit == inf or not further:
            return
        self._take(one, min(self.left, longer), "once more", start)

    def _first_share(self) -> float:
        """Seconds for the first."""
        return shares(len(self.sequence), self.limit)[0]

    def _take_in_order(self, place: int) -> None:
        waiting = self.sequence[place:]
        one = waiting[0]
        share = shares(len(waiting), self.left if self.limit < inf else inf)[0]
        if self.usable_at < inf:
            budget = max(AT_LEAST, MORE * self.usable_at)
            share = min(share, budget - (self.deadline.spent - self.usable_at))
        words = f"candidate {place + 1} of {len(self.sequence)}"
        self._take_as_long_as_it_converges(one, share, words)

    def _take_as_long_as_it_converges(self, one: Way, share: float, turn: str = "") -> None:
        """A turn, and as long again from where it ended while its error keeps falling."""
        before = len(self.stopped)
        self._take(one, share, turn)
        while len(self.stopped) > before and not self._is_enough():
            before, last = len(self.stopped), self.stopped[-1][1]
            if not _can_go_on(one, last) or not is_converging(last.history):
                return
            words = ", ".join(part for part in (turn, "still converging") if part)
            self._take(one, min(self.left, share), words, last)
            share *= 2.0

    def _take(self, one: Way, share: float, turn: str = "", start: Solution | None = None) -> None:
        if share < _MOMENT and (self.found or self.errors):
            return
        if self.limit < inf:
            self.deadline.excuse(until_there_is_a_worker(self._limited(one, share).solver))
        # Who leaves time to others leaves half of it to them.
        clock, end, spares = Deadline(), of_proofs(self.deadline), share < self.left
        if spares:
            end = end.sooner((share + self.left) / 2.0)
        try:
            limited = self._limited(one, min(share, self.left))
            solution = self.attempt(limited, self._words(turn), end, start)
            self.cut |= spares and end.is_over()
        except InfeasibleError:  # Rows that contradict each other do so for everybody.
            raise
        except (*_MISSED, ValueError) as error:
            if start is not None and isinstance(error, NotAcceptedError):
                # A reduction cannot take a point along that nobody has asked it to.
                self._take(one, min(share, self.left), turn)
                return
            # One that cannot take its turn must not cost those of others.
            if not isinstance(error, _MISSED):
                warn(_MISTAKE.format(one.solver.name, one.form, error), SdpdrWarning)
            self.errors.append(error)
            self.failed.append(_failed(one, error, clock.spent))
            return
        self.found.append(solution)
        if self.usable_at == inf and _error_of(self._best) <= USABLE:
            self.usable_at = self.deadline.spent
        if solution.status is Status.TIME_LIMIT:
            self.stopped.append((one, solution))

    def _limited(self, one: Way, share: float) -> Way:
        """The plan with a time limit on its solver."""
        if self.limit == inf and one.ends_by_itself:
            return one
        if self.limit == inf and not one.solver.obeys_time_limit:
            share += START
        if share == inf:
            return one
        return replace(one, solver=replace(one.solver, time_limit=share))

    def _words(self, turn: str) -> str:
        """Whose turn it is and how much time is left, after the names of the solver and form."""
        left = "" if self.limit == inf else f"{self.left:.0f} s left"
        words = ", ".join(part for part in (turn, left) if part)
        return f" ({words})" if words else ""

    def joined(self, proofs: Deadline | None = None) -> Solution:
        """What was found so far; proofs of who was interrupted are over."""
        ended = any(one.status is Status.INTERRUPTED for one in self.found)
        proofs = _AT_ONCE if ended else proofs or of_proofs(self.deadline)
        solution = join(self.found, self.chosen.sdp, proofs)
        if ended and solution.status not in SETTLED:
            solution = replace(solution, status=Status.INTERRUPTED)
        return replace(solution, runs=(*solution.runs, *self.failed))

    def _proved(self) -> Solution:
        """What was found, with what proofs still find that ended for the sake of others."""
        solution, sdp, end = self.joined(), self.chosen.sdp, of_proofs(self.deadline)
        if (
            not self.cut
            or end.is_over()
            or sdp is None
            or solution.status in (*SETTLED, Status.INTERRUPTED)
        ):
            return solution
        if not solution.values or solution.ray is not None:
            return solution
        again = proved(sdp, solution, end)
        again = replace(again, runs=())
        return replace(join([solution, again]), runs=solution.runs)

    def graded(self) -> Solution:
        """What was found in the end; time limits are those of the caller, not of a turn."""
        solution = self._proved()
        if solution.status in (*SETTLED, Status.INTERRUPTED, Status.OPTIMAL_NEARBY):
            return solution
        if self.left < _MOMENT:
            return replace(solution, status=Status.TIME_LIMIT)
        if solution.status is Status.TIME_LIMIT:
            nothing = not solution.values and solution.bound is None
            return replace(solution, status=Status.FAILED if nothing else Status.INACCURATE)
        return solution

    def _is_enough(self) -> bool:
        """Whether another turn would be pointless."""
        if not self.found:
            return self.left < _MOMENT
        statuses = [one.status for one in self.found]
        if self.left < _MOMENT or Status.INTERRUPTED in statuses:
            return True
        if statuses.count(Status.OPTIMAL_NEARBY) >= OPINIONS:
            return True
        if sum(map(self._is_nothing, self.found)) >= OPINIONS:
            return True
        if self.chosen.sdp is None and Status.UNVERIFIED in statuses:
            return True  # There is nothing to grade anybody with.
        if self.chosen.sdp is None and self.usable_at < inf:
            return True  # A tangent at the point, solved by itself, gives what the bound lacks.
        return self._best.status in SETTLED

    def _is_nothing(self, one: Solution) -> bool:
        """Whether both sides are proved and as good as zero, and no other scale was asked for."""
        if self.chosen.sdp is None or one.gap_scale > 0.0:
            return False
        return is_nothing(self.chosen.sdp, one.bound, one.attained)

    @property
    def _best(self) -> Solution:
        """What was found so far, without anything measured anew."""
        return join(self.found)


def _error_of(solution: Solution) -> float:
    """How far point and bound are apart, whether or not the point is proved feasible."""
    return min(abs(solution.gap), solution.apparent_gap)


def _can_go_on(one: Way, last: Solution) -> bool:
    """Whether a candidate can begin from its answer."""
    return one.solver.takes_start and bool(last.values)


def is_converging(history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the error fell to a tenth in the second half of a run's time, at least.

    The error is the larger one of infeasibility and stationarity, the least of each half.

    Examples
    --------
    >>> run = [{"seconds": t, "infeasibility": 4.0**-t, "stationarity": 0.0} for t in range(9)]
    >>> is_converging(run), is_converging(run[:3]), is_converging([])
    (True, False, False)
    """
    if not history:
        return False
    half = (history[0]["seconds"] + history[-1]["seconds"]) / 2.0
    halves: tuple[list[float], list[float]] = ([inf], [inf])
    for record in history:
        halves[record["seconds"] > half].append(
            max(record["infeasibility"], record["stationarity"])
        )
    first, second = map(min, halves)
    return second <= CONVERGING * first < inf


def _failed(one: Way, error: Exception, seconds: float) -> Run:
    words = f"{type(error).__name__}: {error}"
    return Run(one.solver.name, one.form, Status.FAILED.name, None, None, None, seconds, words)
