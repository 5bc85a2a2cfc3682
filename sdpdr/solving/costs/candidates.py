"""Every solver in every form as a candidate, and the best of them at little cost."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from math import inf

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import NotAcceptedError
from sdpdr.program.sdp import SDP
from sdpdr.solvers.base import Solver
from sdpdr.solving.costs import work as memory
from sdpdr.solving.costs.prediction import Cost, Priority, predict, priority
from sdpdr.solving.costs.structure import Structure

# Of candidates whose predictions agree, the first of these, and of one solver the first form.
PREFERENCE = ("lowrank", "mosek", "sdpa", "clarabel", "cvxopt", "scs", "ipopt")
FORMS_IN_ORDER = ("factor", "lmi", "gram", "chordal-lmi", "chordal", "cvxpy")
# For models without a standard form; as written they often have no interior, which Clarabel minds
# least.
WRITTEN = ("mosek", "clarabel", "cvxopt", "sdpa", "scs")
POSSIBLE = "possible"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A solver in a form, and what it would take.

    Attributes
    ----------
    solver, form : str
    cost : Cost or None
        None where it cannot run, or nothing is known of its cost.
    refusal : str
        Why it cannot run; empty if it can.
    """

    solver: str
    form: str
    cost: Cost | None = None
    refusal: str = ""

    @property
    def verdict(self) -> str:
        """``"possible"``, or why not."""
        if self.refusal:
            return self.refusal
        here = memory.allowed_memory()
        if self.cost is not None and self.cost.memory > here:
            needed, given = memory.in_words(self.cost.memory), memory.in_words(here)
            return f"it would need {needed} of memory, and there are {given}"
        return POSSIBLE

    def line(self) -> str:
        """One line of the table of candidates."""
        name = f"  {self.solver:<15}{self.form:<13}"
        if self.cost is None:
            return name + (self.refusal or "cost unknown")
        words = "" if self.verdict == POSSIBLE else f"   {self.verdict}"
        return f"{name}{self.cost.words()}{words}"


class Candidates:
    """All pairs of solver and form for a program; costs are found as far as they are needed.

    Parameters
    ----------
    sdp : SDP or None
        None for a model without a standard form.
    refusal : str
        Why it has none.
    classes : mapping from name to class of solver
    tol : float
        Tolerance to be reached.
    seconds : float, default infinite
        In which it has to be reached.
    """

    def __init__(
        self,
        sdp: SDP | None,
        refusal: str,
        classes: Mapping[str, type[Solver]],
        tol: float,
        seconds: float = inf,
    ) -> None:
        self.sdp, self.classes, self.tol, self.seconds = sdp, classes, tol, seconds
        self.structure = None if sdp is None else Structure(sdp)
        self.no_sdp = refusal
        self._unusable: dict[str, str] = {}

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Pairs in order of preference; solvers of other people last."""
        order = PREFERENCE if self.sdp is not None else WRITTEN
        names = [name for name in order if name in self.classes]
        names += [name for name in self.classes if name not in names]
        for form in FORMS_IN_ORDER:
            yield from ((name, form) for name in names if form in self.classes[name].forms)

    def refusal(self, name: str, form: str) -> str:
        """Why a pair cannot run, as far as that is seen without its cost; empty if it can."""
        if name not in self._unusable:
            available = self.classes[name].availability()
            self._unusable[name] = "" if available.usable else available.reason
        if self._unusable[name]:
            return self._unusable[name]
        if self.sdp is None:
            return "" if form == "cvxpy" else self.no_sdp
        return self.classes[name]().accepts(self.sdp) or ""

    def candidate(self, name: str, form: str, *, least: bool = False) -> Candidate:
        """A pair and its cost, or with ``least`` a lower bound on it."""
        words = self.refusal(name, form)
        if words or self.structure is None:
            return Candidate(name, form, refusal=words)
        try:
            return Candidate(name, form, predict(name, form, self.structure, self.tol, least=least))
        except NotAcceptedError as error:
            return Candidate(name, form, refusal=str(error))

    def ranked(self, pairs: Iterable[tuple[str, str]], deadline: Deadline) -> Iterator[Candidate]:
        """Candidates that can run, that of least cost first.

        Costs are asked for in the order of their lower bounds, and no sooner than a candidate is:
        until no other can be less, or the time is up.
        """
        possible = [pair for pair in pairs if not self.refusal(*pair)]
        if self.structure is None:
            yield from (Candidate(*pair) for pair in possible)
            return
        if len(possible) == 1:
            # Whatever it costs, there is no other.
            yield Candidate(*possible[0])
            return
        ties = count()
        heap: list[tuple[Priority, int, bool, Candidate]] = []
        for name, form in possible:
            if heap and deadline.is_over():
                break
            entry = self.candidate(name, form, least=True)
            if entry.refusal:
                continue
            known = entry.cost is None or not memory.has_detail(name, form, self.structure)
            heap.append((self._priority(entry), next(ties), known, entry))
        heapq.heapify(heap)
        while heap:
            if deadline.is_over():
                # Ours have a point and a bound to show for next to no time.
                heap.sort(key=lambda one: (self.classes[one[-1].solver].is_native, *one[:2]))
                yield from (one if known else replace(one, cost=None) for *_, known, one in heap)
                return
            key, tie, known, entry = heapq.heappop(heap)
            # Nothing about the only one that fits into memory has to be known any better.
            alone = not heap or (entry.form == "factor" and heap[0][0][0] and not key[0])
            if known or alone:
                yield entry if known else replace(entry, cost=None)
                continue
            entry = self.candidate(entry.solver, entry.form)
            if not entry.refusal:
                heapq.heappush(heap, (self._priority(entry), tie, True, entry))

    def _priority(self, entry: Candidate) -> Priority:
        return priority(entry.cost, self.seconds)
