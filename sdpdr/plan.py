"""Choosing a solver and a form, with reasons, before anything is solved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sdpdr.errors import CompileError, NotAcceptedError, UnknownNameError
from sdpdr.model import Model
from sdpdr.program.face import exposing_rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce import Dedupe, Dual, Face, Reduction, Scale
from sdpdr.solvers.base import FORMS, Solver
from sdpdr.solvers.registry import SOLVERS, find

# Orders of matrices up to which a form is sensible for general solvers, from the measurements in
# the documentation ("Forms, and why choosing one is half of the work").
PREFERENCE = ("mosek", "sdpa", "clarabel", "cvxopt", "scs")
LARGE_ROWS = 2500


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
    others : mapping from (solver, form) to str
        ``"possible"``, or why not.
    sdp : SDP or None
        The standard form, if the model has one.
    """

    solver: Solver
    form: str
    reductions: tuple[Reduction, ...]
    reason: str
    others: Mapping[tuple[str, str], str] = field(default_factory=dict)
    sdp: SDP | None = None

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
        for (name, form), words in self.others.items():
            lines.append(f"  {name:<10}{form:<8}{words}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Plan({self.solver.name}, {self.form} form: {self.reason})"


def reductions_for(form: str, sdp: SDP) -> tuple[Reduction, ...]:
    """The reductions that bring a program into a form."""
    if form == "cvxpy":
        return ()
    if form == "factor":
        return (Dedupe(),)
    faced = any(exposing_rows(sdp, v.name) for v in sdp.psd_variables)
    steps: list[Reduction] = [Dedupe(), *([Face()] if faced else []), Scale()]
    return tuple([*steps, Dual()] if form == "lmi" else steps)


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
) -> Plan:
    """Choose a solver and a form without solving.

    Parameters
    ----------
    model : Model or SDP
    solver : str or Solver, default "auto"
        A name, or a configured solver object.
    form : {"auto", "factor", "lmi", "gram", "cvxpy"}, default "auto"
    tol, time_limit, max_iter, seed, verbose : optional
        Uniform options; they win over those of a solver object.

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
    options = {"tol": tol, "time_limit": time_limit, "max_iter": max_iter, "seed": seed,
               "verbose": verbose}
    named = isinstance(solver, Solver) or solver != "auto"
    wanted = _configure(solver, options) if named else None
    if wanted is not None:
        wanted.require()
    others = _alternatives(sdp, refusal)
    pairs = [
        pair
        for pair in _ranked(sdp)
        if (wanted is None or pair[0] == wanted.name) and form in ("auto", pair[1])
    ]
    for name, candidate in pairs:
        if others[name, candidate] != "possible":
            continue
        chosen = wanted or _configure(name, options)
        steps = () if sdp is None else reductions_for(candidate, sdp)
        why = _reason(name, candidate, sdp) if not named else "it was asked for"
        rest = {pair: words for pair, words in others.items() if pair != (name, candidate)}
        return Plan(chosen, candidate, steps, why, rest, sdp)
    raise NotAcceptedError(_refusal(wanted, form, others))


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


def _alternatives(sdp: SDP | None, refusal: str) -> dict[tuple[str, str], str]:
    """Every pair of solver and form: possible, or why not."""
    found: dict[tuple[str, str], str] = {}
    for name, cls in SOLVERS.items():
        available = cls.availability()
        for form in cls.forms:
            if not available.usable:
                found[name, form] = available.reason
            elif sdp is None:
                found[name, form] = "possible" if form == "cvxpy" else refusal
            else:
                found[name, form] = cls().accepts(sdp) or "possible"
    return found


def _ranked(sdp: SDP | None) -> list[tuple[str, str]]:
    """Pairs in order of preference; the reasons are in `_reason`."""
    if sdp is None:
        return [(name, "cvxpy") for name in PREFERENCE]
    ranked = [("lowrank", "factor")]
    matrix_entries = sum(v.size for v in sdp.psd_variables)
    forms = ("lmi", "gram") if sdp.n_rows <= matrix_entries and matrix_entries else ("gram", "lmi")
    order = PREFERENCE if sdp.n_rows <= LARGE_ROWS else ("scs", *PREFERENCE[:-1])
    ranked += [(name, form) for form in forms for name in order]
    ranked += [(name, "cvxpy") for name in order]
    known = {(name, form) for name, cls in SOLVERS.items() for form in cls.forms}
    return [pair for pair in ranked if pair in known] + sorted(known - set(ranked))


def _reason(name: str, form: str, sdp: SDP | None) -> str:
    if sdp is None:
        return f"a block is written in cvxpy directly, and {name} is the first cvxpy solver here"
    if form == "factor":
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


def _refusal(
    wanted: Solver | None, form: str, others: Mapping[tuple[str, str], str]
) -> str:
    name = None if wanted is None else wanted.name
    about = {
        pair: words
        for pair, words in others.items()
        if (name is None or pair[0] == name) and form in ("auto", pair[1])
    }
    if not about:
        return (
            f"solver {name!r} does not take the {form!r} form; it takes "
            f"{', '.join(SOLVERS[str(name)].forms)}."
        )
    reasons = "; ".join(f"{n} ({f} form): {words}" for (n, f), words in about.items())
    possible = sorted({n for (n, _), words in others.items() if words == "possible"})
    return f"no way to solve this program as asked. {reasons}. Possible: {', '.join(possible)}."

