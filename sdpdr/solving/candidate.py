"""A candidate: reductions, a solver and a form, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from sdpdr.base.errors import ModelError
from sdpdr.model import Model
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import require_admissible
from sdpdr.reduce import Chordal, Dedupe, Dual, Face, Reduction, Scale
from sdpdr.solvers.base import Solver
from sdpdr.solvers.lowrank.edge import form as edge_form
from sdpdr.solvers.registry import find
from sdpdr.solving.possible import CHORDAL

# Seconds of each candidate, if there is no time limit.
_TURN = 30.0


def standard_form(model: Model | SDP) -> SDP:
    """The program of a model, after checks that it has entries and admissible numbers."""
    sdp = model if isinstance(model, SDP) else model.to_sdp()
    # Facial reduction may leave a matrix of order zero, which no user writes.
    empty = [v.name for v in sdp.psd_variables if v.n == 0]
    if empty:
        raise ModelError(f"variable {empty[0]!r} has no entries; its order must be 1 or more.")
    return require_admissible(sdp)


def configure(solver: str | Solver, options: Mapping[str, Any]) -> Solver:
    """A solver with the given options, which override those of a configured solver."""
    given = {name: value for name, value in options.items() if value is not None}
    return replace(solver, **given) if isinstance(solver, Solver) else find(solver)(**given)


def reductions_for(form: str, sdp: SDP) -> tuple[Reduction, ...]:
    """The reductions that bring a program into a form."""
    if form == "cvxpy":
        return ()
    if form == "factor":
        # No row of an edge program repeats another.
        return () if edge_form.why_not(sdp) is None else (Dedupe(),)
    chordal = form in CHORDAL
    steps: list[Reduction] = [Dedupe()]
    # Only the basis along a spanning tree leaves cliques to find.
    face = Face("sparse" if chordal else "auto")
    steps += [] if face.accepts(sdp) else [face]
    steps += [Chordal(), Scale()] if chordal else [Scale()]
    return tuple([*steps, Dual()] if form in ("lmi", "chordal-lmi") else steps)


@dataclass(frozen=True, eq=False)
class Candidate:
    """One way to solve a program: reductions, and a solver for the reduced program.

    Attributes
    ----------
    reductions : tuple of Reduction
    solver : Solver
        Configured.
    form : str
    reason : str
        Why it was chosen.
    step : float
        Most seconds of a step, if known. If steps are short, limits of iterations and time are kept
        without a worker process.
    """

    reductions: tuple[Reduction, ...]
    solver: Solver
    form: str
    reason: str
    step: float = inf

    @property
    def is_narrower(self) -> bool:
        """Whether it solves a program with fewer points, so that no other solver finds the rest."""
        return self.form == "landmark" or any(step.is_narrower for step in self.reductions)


def shares(count: int, seconds: float) -> tuple[float, ...]:
    """Seconds that each of some candidates may take in its turn.

    Without a time limit each gets half a minute, and a single one is not limited. Under a time
    limit each gets half of the time left, and the last one all of it.

    Examples
    --------
    >>> shares(3, 20.0), shares(2, inf), shares(1, inf)
    ((10.0, 5.0, 5.0), (30.0, 30.0), (inf,))
    """
    if seconds == inf:
        return (_TURN,) * count if count > 1 else (inf,)
    halves = [seconds * 0.5 ** min(k + 1, count - 1) for k in range(count)]
    return tuple(halves)
