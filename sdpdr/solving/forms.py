"""What leads from a program to the form that a solver takes, and which form suits a small one.

Of small programs to compare ways takes longer than any of them. An interior-point method on the
program as it stands, or on its dual where that has fewer unknowns, needs milliseconds; all others
are there where it falls short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sdpdr.base.errors import CompileError
from sdpdr.linalg.svec import svec_size
from sdpdr.model import Model
from sdpdr.program.face import stated_labels
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import require_admissible
from sdpdr.reduce import Chordal, Dedupe, Dual, Face, Reduction, Scale
from sdpdr.solvers.arrows import is_arrow
from sdpdr.solvers.base import Solver
from sdpdr.solvers.registry import find

# Forms that decompose matrices along the cliques of their patterns.
CHORDAL = ("chordal", "chordal-lmi")
# Over the tolerance, what the solver is asked for, and the least: of squares multipliers are known
# to the root of the gap only, and another step takes less than a proof.
_FINER, _FLOOR = 1e-3, 1e-10
# Who solves small programs. It is part of what the package needs, and runs in this process.
BRIEFLY = "clarabel"
# Multiplications of one of its steps, those for one matrix, and numbers in its unknowns and rows.
_STEP, _ONE_MATRIX, _NUMBERS = 1e8, 3.5e7, 5000


def standard_form(model: Model | SDP) -> tuple[SDP | None, str]:
    """The program of a model; None, and why, where it has none."""
    if isinstance(model, SDP):
        return require_admissible(model), ""
    try:
        return require_admissible(model.to_sdp()), ""
    except CompileError as error:
        return None, str(error)


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


def brief_form(sdp: SDP) -> str | None:
    """The form in which a small program is solved at once; None for others.

    Those whose rows state a face are none of them: they have no interior.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.linalg import Trace
    >>> from sdpdr.program import PsdVariable, Rows
    >>> def least_trace(n):
    ...     one = Rows("one", "==", {"X": Trace(n)}, np.ones(1))
    ...     return SDP((PsdVariable("X", n),), {"X": Trace(n)}, (one,))
    >>> brief_form(least_trace(3)), brief_form(least_trace(100))
    ('lmi', None)
    """
    sizes = [v.size for v in sdp.psd_variables] + [svec_size(lmi.order) for lmi in sdp.lmis]
    unknowns = sum(v.size for v in sdp.variables)
    # An arrow costs the solver no more than its own entries, and so does its multiplier.
    of_lmis = [lmi.order + 1 if is_arrow(lmi) else svec_size(lmi.order) for lmi in sdp.lmis]
    multipliers = sdp.n_rows + sum(of_lmis)
    steps = [size**3 / 3.0 for size in sizes]
    if sum(steps) > _STEP or max(steps, default=0.0) > _ONE_MATRIX:
        return None
    if unknowns + multipliers > _NUMBERS:
        return None
    if not unknowns or not multipliers or stated_labels(sdp):
        return None
    curved = any(v.curvature is not None for v in sdp.vector_variables)
    return "lmi" if multipliers < unknowns and not curved else "gram"


def brief_reductions(form: str) -> tuple[Reduction, ...]:
    """What leads from a small program to its form, which need not be scaled."""
    return (Dedupe(), Dual()) if form == "lmi" else (Dedupe(),)


def brief_solver(solver: Solver) -> Solver:
    """The solver, asked for more than the tolerance; what a person asks for wins."""
    asked = max(_FLOOR, _FINER * solver.tol)
    return replace(solver, options=dict.fromkeys(solver.tolerances(), asked) | {**solver.options})
