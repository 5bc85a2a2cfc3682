"""A way to solve a program, as a value: reductions, a solver, a form, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

from sdpdr.base.errors import CompileError, ModelError
from sdpdr.model import Model
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import require_admissible
from sdpdr.reduce import Chordal, Dedupe, Dual, Face, Reduction, Scale
from sdpdr.solvers.base import FORMS, Solver
from sdpdr.solvers.registry import SOLVERS, find
from sdpdr.solving.possible import CHORDAL, why_not

# Seconds of a turn, where nobody sets a limit.
TURN = 30.0
POSSIBLE = "possible"
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
    further : callable
        Finds the ways that are tried in turn where this one falls short; see `sequence`.
    ends_by_itself : bool
        Whether a limit of iterations ends it soon enough, so that it needs no process to be ended
        in where nobody sets a time limit.
    chosen_for : SDP or None
        The program that it was chosen for, if it is another than ``sdp``.
    """

    reductions: tuple[Reduction, ...]
    solver: Solver
    form: str
    reason: str
    sdp: SDP | None = None
    refusal: str = ""
    further: Callable[[], tuple[Way, ...]] = field(default=tuple, repr=False)
    ends_by_itself: bool = False
    chosen_for: SDP | None = None

    @cached_property
    def sequence(self) -> tuple[Way, ...]:
        """The way itself, and those that take their turns where it falls short, in order.

        They are found when they are asked for. A solver that was asked for by name is alone.
        """
        return (self, *self.further())

    @property
    def shares(self) -> tuple[float, ...]:
        """Seconds after which each of the `sequence` gives way to the next."""
        limit = inf if self.solver.time_limit is None else self.solver.time_limit
        return shares(len(self.sequence), limit)

    @cached_property
    def others(self) -> dict[tuple[str, str], str]:
        """Every other pair of solver and form: ``"possible"``, or why not."""
        sdp = self.sdp
        if sdp is not None and self.chosen_for is not None:
            sdp = self.chosen_for
        return {
            (name, form): why_not(sdp, self.refusal, solver, form) or POSSIBLE
            for name, solver in SOLVERS.items()
            for form in solver.forms
            if (name, form) != (self.solver.name, self.form)
        }

    def before(self) -> list[str]:
        """What comes before the reductions, in words."""
        return []

    def explain(self) -> str:
        """The choice, who takes turns after it, and what else there is, in words."""
        steps = " → ".join(r.name for r in self.reductions) or "none"
        lines = [
            f"solver      {self.solver.name}",
            f"form        {self.form} ({_NAMED[self.form]})",
            *(f"before      {words}" for words in self.before()),
            f"reductions  {steps}",
            f"because     {self.reason}",
            *self._turns(),
        ]
        for title, is_possible in (("also possible", True), ("not possible", False)):
            grouped: dict[tuple[str, str], list[str]] = {}
            for (name, form), words in self.others.items():
                if (words == POSSIBLE) == is_possible:
                    grouped.setdefault((name, words), []).append(form)
            lines += ["", title] if grouped else []
            for (name, words), forms in grouped.items():
                line = f"  {name:<15}{', '.join(forms):<20}"
                lines.append(line.rstrip() if is_possible else f"{line}  {words}")
        return "\n".join(lines)

    def _turns(self) -> list[str]:
        """Who take their turns, where there are several."""
        if len(self.sequence) == 1:
            return []
        lines = ["", "in turn, until the answer is proved (and seconds until the next one's turn)"]
        for one, share in zip(self.sequence, self.shares, strict=True):
            allowed = f"{share:.3g} s" if share < inf else "no limit"
            lines.append(f"  {one.solver.name:<15}{one.form:<13}{allowed:>9}")
        return lines

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.solver.name}, {self.form} form: {self.reason})"


def shares(count: int, seconds: float) -> tuple[float, ...]:
    """Seconds that each of some candidates may take in its turn.

    Without a limit `TURN` each, and no limit for one that is alone. Of a time limit each gets half
    of what those before it have left, and the last one all of that.

    Examples
    --------
    >>> shares(3, 20.0), shares(2, inf), shares(1, inf)
    ((10.0, 5.0, 5.0), (30.0, 30.0), (inf,))
    """
    if seconds == inf:
        return (TURN,) * count if count > 1 else (inf,)
    halves = [seconds * 0.5 ** min(k + 1, count - 1) for k in range(count)]
    return tuple(halves)
