"""Problems of cvxpy that have no standard form, or none of any cones, refused with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cvxpy as cp
import cvxpy.atoms as atoms

from sdpdr.base.errors import DataError, DataTypeError, NotAcceptedError
from sdpdr.model.conic.labels import LONGEST_LABEL, as_written

_CONES = {"ExpCone": "exponential", "PowCone3D": "power", "PowConeND": "power"}
_BEYOND = dict.fromkeys(atoms.EXP_ATOMS, "exponential") | {
    # cvxpy 1.7 writes all of these with second-order cones, and does not have these lists.
    atom: "power"
    for group in ("POWCONE_ATOMS", "POWCONE_ND_ATOMS")
    for atom in getattr(atoms, group, ())
}


def refuse(problem: cp.Problem) -> None:
    """Raise an error that says why, if a problem has no standard form.

    Raises
    ------
    DataError, NotAcceptedError
        As `refuse_unreadable`, or if the problem needs other cones.
    """
    refuse_unreadable(problem)
    for what, kind in needed_cones(problem):
        raise NotAcceptedError(
            f"{what} needs the {kind} cone, which no semidefinite program describes exactly: "
            "sdpdr.solve(problem) and problem.solve(solver=sdpdr.CVXPY()) solve it over that cone, "
            "with a proof."
        )


def refuse_unreadable(problem: Any) -> None:
    """Raise an error that says why, if a problem cannot be written with cones.

    Raises
    ------
    DataTypeError
        It is not a problem.
    DataError
        A parameter has no value.
    NotAcceptedError
        There are no variables, or integer ones, or the problem is not convex by cvxpy's rules, or
        has an atom that cvxpy writes for its own solvers only.
    """
    if not isinstance(problem, cp.Problem):
        raise DataTypeError(
            f"an object of type {type(problem).__name__} is no program: pass a cvxpy.Problem, a "
            "Model, an SDP or the name of a file in SDPA's sparse format."
        )
    for p in problem.parameters():
        if p.value is None:
            raise DataError(f"parameter {p.name()!r} has no value: set its .value, and try again.")
    if not problem.variables():
        raise NotAcceptedError("the problem has no variables, so there is nothing to decide.")
    for v in problem.variables():
        if v.attributes["integer"] or v.attributes["boolean"]:
            raise NotAcceptedError(
                f"variable {v.name()!r} is integer: semidefinite programs are continuous; relax it "
                "to an interval for a bound, or use an integer solver of cvxpy."
            )
    if not problem.is_dcp():
        raise NotAcceptedError(
            "the problem is not convex by cvxpy's rules (DCP): "
            f"{_culprit(problem)}. Minimise convex and maximise concave functions, bound convex "
            "ones from above and concave ones from below, and multiply by numbers only."
        )
    if cp.perspective in problem.atoms():  # which looks the solver up by its name
        raise NotAcceptedError(
            "the atom perspective works only with solvers that cvxpy brings itself. Write "
            "s f(x / s) without it: a norm is its own perspective, cp.quad_over_lin(x, s) is that "
            "of sum_squares(x), cp.rel_entr(s, x) that of -log(x), and cp.ExpCone(x, s, t) bounds "
            "that of exp(x) by t."
        )


def _culprit(problem: cp.Problem) -> str:
    """A description of the first part of a problem that is not convex by cvxpy's rules."""
    if not problem.objective.is_dcp():
        return f"the objective {_shown(problem.objective)} is to blame"
    worst = next(c for c in problem.constraints if not c.is_dcp())
    return f"the constraint {_shown(worst)} is to blame"


def needed_cones(problem: cp.Problem) -> Iterator[tuple[str, str]]:
    """Constraints and atoms that need other cones: description, and kind of cone."""
    for c in problem.constraints:
        kind = _CONES.get(type(c).__name__)
        if kind is not None:
            yield f"the constraint {_shown(c)}", kind
    for atom in problem.atoms():
        if atom in _BEYOND:
            yield f"the atom {atom.__name__}", _BEYOND[atom]


def _shown(thing: object) -> str:
    """The text of an expression, shortened."""
    text = " ".join(as_written(thing).split())
    return text if len(text) <= 2 * LONGEST_LABEL else f"{text[: 2 * LONGEST_LABEL]}…"
