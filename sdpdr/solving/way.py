"""A way to solve a program, as a value: reductions, a solver, a form, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import CompileError, ModelError
from sdpdr.model import Model
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import require_admissible
from sdpdr.reduce import Chordal, Dedupe, Dual, Face, Reduction, Scale
from sdpdr.solvers.base import FORMS, Solver
from sdpdr.solvers.registry import SOLVERS, find
from sdpdr.solving.costs.candidates import Candidate, Candidates
from sdpdr.solving.costs.prediction import Cost, priority, shares

# Forms that decompose matrices along the cliques of their patterns.
CHORDAL = ("chordal", "chordal-lmi")
# What stands in place of a form where there is none to choose.
BY_HAND = "by hand"
_NAMED = {**FORMS, "landmark": "a narrower program", BY_HAND: "the steps written there"}


def standard_form(model: Model | SDP) -> tuple[SDP | None, str]:
    """The program of a model; None, and why, where it has none."""
    try:
        sdp = model if isinstance(model, SDP) else model.to_sdp()
    except CompileError as error:
        return None, str(error)
    # Of order zero is what facial reduction leaves of a matrix, and nothing that is asked for.
    empty = [v.name for v in sdp.psd_variables if v.n == 0]
    if empty:
        raise ModelError(f"variable {empty[0]!r} has no entries; its order must be 1 or more.")
    return require_admissible(sdp), ""


def configure(solver: str | Solver, options: Mapping[str, Any]) -> Solver:
    """A solver with the options that were given; they win over its own."""
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(solver, Solver):
        return replace(solver, **given)
    return find(solver)(**given)


def reductions_for(form: str, sdp: SDP) -> tuple[Reduction, ...]:
    """The reductions that bring a program into a form."""
    if form == "cvxpy":
        return ()
    if form == "factor":
        return (Dedupe(),)
    chordal = form in CHORDAL
    steps: list[Reduction] = [Dedupe()]
    # Only the basis along a spanning tree leaves cliques to find.
    face = Face("sparse" if chordal else "auto")
    steps += [] if face.accepts(sdp) else [face]
    steps += [Chordal(), Scale(matrices=False)] if chordal else [Scale()]
    return tuple([*steps, Dual()] if form in ("lmi", "chordal-lmi") else steps)


def _alone(deadline: Deadline) -> tuple[Way, ...]:
    """Nobody takes a turn after a solver that was asked for."""
    return ()


@dataclass(frozen=True, eq=False)
class Way:
    """One way to solve a program: reductions in turn, and a solver for what they lead to.

    Attributes
    ----------
    reductions : tuple of Reduction
    solver : Solver
        Configured.
    form : str
    reason : str
        Why this way.
    sdp : SDP or None
        The standard form, if the model has one.
    refusal : str
        Why it has none.
    cost : Cost or None
        What it is predicted to take, as far as the choice depended on it.
    further : callable of a deadline
        Finds the ways that are tried in turn where this one falls short; see `sequence`. They are
        compared no longer than until then.
    priced : SDP or None
        The program that candidates were chosen for, if it is another than ``sdp``.
    trial : Way or None
        What is tried before, for a share of the seconds that this one takes.
    tentative : bool
        Whether it is a trial: an answer that is not proved at once is none, since others find one
        sooner than proofs of a rough one end.
    """

    reductions: tuple[Reduction, ...]
    solver: Solver
    form: str
    reason: str
    sdp: SDP | None = None
    refusal: str = ""
    cost: Cost | None = None
    further: Callable[[Deadline], tuple[Way, ...]] = field(default=_alone, repr=False)
    priced: SDP | None = None
    trial: Way | None = None
    tentative: bool = False

    @cached_property
    def sequence(self) -> tuple[Way, ...]:
        """The way itself, and those that take their turns where it falls short, in order.

        They are found when they are asked for. A solver that was asked for by name is alone.
        """
        return self.in_turn(Deadline())

    def in_turn(self, deadline: Deadline) -> tuple[Way, ...]:
        """The `sequence`, in which ways are compared no longer than until a deadline."""
        return (self, *self.further(deadline))

    @property
    def shares(self) -> tuple[float, ...]:
        """Seconds after which each of the `sequence` gives way to the next."""
        limit = inf if self.solver.time_limit is None else self.solver.time_limit
        return shares_of(self.sequence, limit)

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every known pair of solver and form with its predicted cost, best first.

        Costs are those for one thread at the tolerance of the solver. They are found when
        they are asked for; choosing needs few of them.
        """
        sdp = self.sdp if self.priced is None else self.priced
        known = Candidates(sdp, self.refusal, {**SOLVERS}, self.solver.tol)
        found = [known.candidate(*pair) for pair in known.pairs()]
        return tuple(sorted(found, key=lambda c: (bool(c.refusal), *priority(c.cost))))

    @property
    def others(self) -> dict[tuple[str, str], str]:
        """Every other pair of solver and form: ``"possible"``, or why not."""
        return {
            (c.solver, c.form): c.verdict
            for c in self.candidates
            if (c.solver, c.form) != (self.solver.name, self.form)
        }

    def before(self) -> list[str]:
        """What comes before the reductions, in words."""
        return []

    def explain(self) -> str:
        """The choice and every candidate with its predicted seconds and memory, in words."""
        steps = " → ".join(r.name for r in self.reductions) or "none"
        lines = [
            f"solver      {self.solver.name}",
            f"form        {self.form} ({_NAMED[self.form]})",
            *(f"before      {words}" for words in self.before()),
            f"reductions  {steps}",
            f"because     {self.reason}",
            *self._turns(),
            "",
            "candidates by predicted cost (share: of the problem library, solved to the tolerance)",
            *(c.line() for c in self.candidates if not c.refusal),
            "",
            "not possible",
        ]
        grouped: dict[tuple[str, str], list[str]] = {}
        for c in self.candidates:
            if c.refusal:
                grouped.setdefault((c.solver, c.refusal), []).append(c.form)
        for (name, words), forms in grouped.items():
            lines.append(f"  {name:<15}{', '.join(forms):<20}  {words}")
        return "\n".join(lines)

    def _turns(self) -> list[str]:
        """Who is tried before, and who take their turns, where there are several."""
        lines = []
        if self.trial is not None:
            one, most = self.trial, self.trial.solver.max_iter
            lines.append(f"tried first {one.solver.name} ({one.form}), {most} iterations at most")
        if len(self.sequence) == 1:
            return lines
        lines += ["", "in turn, until the answer is proved (and seconds until the next one's turn)"]
        # Who is chosen without a comparison has been given no cost.
        known = {(c.solver, c.form): c.cost for c in self.candidates}
        for one, share in zip(self.sequence, self.shares, strict=True):
            found = one.cost or known.get((one.solver.name, one.form))
            cost = "cost unknown" if found is None else str(found)
            allowed = f"{share:.3g} s" if share < inf else "no limit"
            lines.append(f"  {one.solver.name:<15}{one.form:<13}{cost:<24}{allowed:>9}")
        return lines

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.solver.name}, {self.form} form: {self.reason})"


def shares_of(ways: Sequence[Way], seconds: float) -> tuple[float, ...]:
    """Seconds after which each of some ways gives way to the next; one alone has all of them."""
    return (seconds,) if len(ways) == 1 else shares([one.cost for one in ways], seconds)
