"""What leads from a program to the form that a solver takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sdpdr.base.errors import CompileError, ModelError
from sdpdr.model import Model
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import require_admissible
from sdpdr.reduce import Chordal, Dedupe, Dual, Face, Reduction, Scale
from sdpdr.solvers.base import Solver
from sdpdr.solvers.registry import find

# Forms that decompose matrices along the cliques of their patterns.
CHORDAL = ("chordal", "chordal-lmi")


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
