"""Choosing a solver and a form, with reasons, before anything is solved."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from sdpdr.errors import CompileError, NotAcceptedError, UnknownNameError
from sdpdr.model import Model
from sdpdr.program.face import exposing_rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce import Chordal, Dedupe, Dual, Face, Reduction, Scale
from sdpdr.solvers import edges
from sdpdr.solvers.base import FORMS, Solver
from sdpdr.solvers.registry import SOLVERS, find

# Orders of matrices up to which a form is sensible for general solvers, from the measurements in
# the documentation ("Forms, and why choosing one is half of the work").
PREFERENCE = ("mosek", "sdpa", "clarabel", "cvxopt", "scs")
LARGE_ROWS = 2500
# Orders of matrices beyond which general solvers take minutes, and low rank comes first.
LARGE_ORDER = 400
POSSIBLE = "possible"
# Forms that are tried only where they are asked for by name.
CHORDAL = ("chordal", "chordal-lmi")


@dataclass(frozen=True, eq=False)
class Plan:
    """What `sdpdr.solve` would do, and why.

    Attributes
    ----------
    solver : Solver
        Configured.
    form : str
    reductions : tuple of Reduction
    reason : str
        Why this pair.
    sdp : SDP or None
        The standard form, if the model has one.
    refusal : str
        Why it has none.
    """

    solver: Solver
    form: str
    reductions: tuple[Reduction, ...]
    reason: str
    sdp: SDP | None = None
    refusal: str = ""

    @property
    def others(self) -> dict[tuple[str, str], str]:
        """Every other pair of solver and form: ``"possible"``, or why not."""
        return {
            (name, form): _verdict(cls, form, self.sdp, self.refusal)
            for name, cls in SOLVERS.items()
            for form in cls.forms
            if (name, form) != (self.solver.name, self.form)
        }

    def explain(self) -> str:
        """The choice and every alternative, in words."""
        steps = " → ".join(r.name for r in self.reductions) or "none"
        lines = [
            f"solver      {self.solver.name}",
            f"form        {self.form} ({FORMS[self.form]})",
            f"reductions  {steps}",
            f"because     {self.reason}",
            "",
            "others",
        ]
        grouped: dict[tuple[str, str], list[str]] = {}
        for (name, form), words in self.others.items():
            grouped.setdefault((name, words), []).append(form)
        for (name, words), forms in grouped.items():
            lines.append(f"  {name:<10}{', '.join(forms):<20}{words}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Plan({self.solver.name}, {self.form} form: {self.reason})"


def reductions_for(form: str, sdp: SDP) -> tuple[Reduction, ...]:
    """The reductions that bring a program into a form."""
    if form == "cvxpy":
        return ()
    if form == "factor":
        return (Dedupe(),)
    chordal = form in CHORDAL
    steps: list[Reduction] = [Dedupe()]
    if any(exposing_rows(sdp, v.name) for v in sdp.psd_variables):
        # Only the basis along a spanning tree leaves cliques to find.
        steps.append(Face("sparse" if chordal else "auto"))
    steps += [Chordal(), Scale(matrices=False)] if chordal else [Scale()]
    return tuple([*steps, Dual()] if form in ("lmi", "chordal-lmi") else steps)


def plan(
    model: Model | SDP,
    solver: str | Solver = "auto",
    form: str = "auto",
    *,
    tol: float | None = None,
    time_limit: float | None = None,
    max_iter: int | None = None,
    seed: int | None = None,
    verbose: bool | None = None,
    skip: Collection[str] = (),
) -> Plan:
    """Choose a solver and a form without solving.

    Parameters
    ----------
    model : Model or SDP
    solver : str or Solver, default "auto"
        A name, or a configured solver object.
    form : {"auto", "factor", "lmi", "gram", "chordal", "chordal-lmi", "cvxpy"}, default "auto"
    tol, time_limit, max_iter, seed, verbose : optional
        Uniform options; they win over those of a solver object.
    skip : collection of str, default ()
        Names that "auto" does not consider.

    Returns
    -------
    Plan

    Raises
    ------
    UnknownNameError, SolverMissingError, SolverLicenceError
    NotAcceptedError
        If the solver cannot take the program in that form; the message says why.

    Examples
    --------
    >>> from sdpdr import graphs, methods, plan
    >>> choice = plan(methods.mvu(graphs.path([1.0, 2.0])))
    >>> choice.solver.name, choice.form
    ('lowrank', 'factor')
    """
    if form != "auto" and form not in FORMS:
        raise UnknownNameError("form", form, ("auto", *FORMS))
    sdp, refusal = _standard_form(model)
    options = {
        "tol": tol,
        "time_limit": time_limit,
        "max_iter": max_iter,
        "seed": seed,
        "verbose": verbose,
    }
    named = isinstance(solver, Solver) or solver != "auto"
    wanted = _configure(solver, options) if named else None
    classes = dict(SOLVERS)
    if wanted is not None:
        wanted.require()
        classes[wanted.name] = type(wanted)
    pairs = [
        pair
        for pair in _ranked(sdp, classes)
        if (pair[0] not in skip if wanted is None else pair[0] == wanted.name)
        and (form == pair[1] or (form == "auto" and pair[1] not in CHORDAL))
    ]
    tried: dict[tuple[str, str], str] = {}
    for name, candidate in pairs:
        tried[name, candidate] = _verdict(classes[name], candidate, sdp, refusal)
        if tried[name, candidate] != POSSIBLE:
            continue
        chosen = wanted or _configure(name, options)
        steps = () if sdp is None else reductions_for(candidate, sdp)
        why = "it was asked for" if named else _reason(name, candidate, sdp)
        return Plan(chosen, candidate, steps, why, sdp, refusal)
    raise NotAcceptedError(_no_way(wanted, form, tried))


def _standard_form(model: Model | SDP) -> tuple[SDP | None, str]:
    if isinstance(model, SDP):
        return model, ""
    try:
        return model.to_sdp(), ""
    except CompileError as error:
        return None, str(error)


def _configure(solver: str | Solver, options: Mapping[str, object]) -> Solver:
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(solver, Solver):
        return replace(solver, **given)  # type: ignore[arg-type]  # names are those of the fields
    return find(solver)(**given)  # type: ignore[arg-type]


def _verdict(cls: type[Solver], form: str, sdp: SDP | None, refusal: str) -> str:
    """Whether a solver can take the program in a form: ``POSSIBLE``, or why not."""
    available = cls.availability()
    if not available.usable:
        return available.reason
    if sdp is None:
        return POSSIBLE if form == "cvxpy" else refusal
    return cls().accepts(sdp) or POSSIBLE


def _ranked(sdp: SDP | None, classes: Mapping[str, type[Solver]]) -> list[tuple[str, str]]:
    """Pairs in order of preference; the reasons are in `_reason`."""
    known = {(name, form) for name, cls in classes.items() for form in cls.forms}
    if sdp is None:
        # As written, such models often have no interior, which Clarabel minds least.
        ranked = [(name, "cvxpy") for name in ("mosek", "clarabel", "cvxopt", "sdpa", "scs")]
        return ranked + sorted(known - set(ranked))
    largest = max((v.n for v in sdp.psd_variables), default=0)
    first = largest > LARGE_ORDER or edges.why_not(sdp) is None
    ranked = [("lowrank", "factor")] if first else []
    matrix_entries = sum(v.size for v in sdp.psd_variables)
    forms = ("lmi", "gram") if 0 < sdp.n_rows <= matrix_entries else ("gram", "lmi")
    order = PREFERENCE if sdp.n_rows <= LARGE_ROWS else ("scs", *PREFERENCE[:-1])
    ranked += [(name, form) for form in forms for name in order]
    ranked += [("lowrank", "factor")] if not first else []
    ranked += [(name, "cvxpy") for name in order]
    return [pair for pair in ranked if pair in known] + sorted(known - set(ranked))


def _reason(name: str, form: str, sdp: SDP | None) -> str:
    if sdp is None:
        return f"a block is written in cvxpy directly, and {name} is the first cvxpy solver here"
    if form == "factor":
        if edges.why_not(sdp) is not None:
            return "the matrices are large, and as factors of low rank they stay small"
        return (
            "the program is variance under limits on edge lengths; its low-rank form is sparse, "
            "and the multipliers certify the answer"
        )
    if form == "lmi":
        return (
            f"there are fewer rows ({sdp.n_rows}) than matrix entries "
            f"({sum(v.size for v in sdp.psd_variables)}), so the multipliers are the smaller "
            f"unknown; {name} is the first general solver here"
        )
    return f"the matrix has fewer entries than there are rows; {name} is the first solver here"


def _no_way(wanted: Solver | None, form: str, tried: Mapping[tuple[str, str], str]) -> str:
    if wanted is not None and not tried:
        return (
            f"solver {wanted.name!r} does not take the {form!r} form; it takes "
            f"{', '.join(wanted.forms)}."
        )
    reasons = "; ".join(f"{name} ({form} form): {words}" for (name, form), words in tried.items())
    return f"no way to solve this program as asked. {reasons}. solver='auto' finds one that can."
