"""The compiler from terms to a cvxpy problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import cvxpy as cp

from sdpdr.linalg.svec import full_from_svec, order_of
from sdpdr.model.affine import Affine
from sdpdr.model.terms import AtMost, Equal, InCone, Maximize, Minimize, Penalize, Raw, Smooth
from sdpdr.solvers.rendering import Rendered, apply, declare

if TYPE_CHECKING:
    from sdpdr.model.model import Model


def to_cvxpy(model: Model) -> cp.Problem:
    """The model as a cvxpy problem (see `Model.to_cvxpy`)."""
    rendered = render_model(model)
    for label, constraint in rendered.constraints.items():
        if hasattr(constraint, "set_label"):  # which older versions of cvxpy do not have
            constraint.set_label(label)
    return rendered.problem


def render_model(model: Model) -> Rendered:
    """The cvxpy problem with its variables by name and its constraints by label."""
    variables = {v.name: declare(v) for v in model.variables()}
    constraints: dict[str, Any] = {}
    extra: list[Any] = []
    # Penalized rows get an extra variable, so that they have a multiplier for the certificate.
    excesses: dict[str, tuple[cp.Variable, cp.Expression]] = {}
    objective: Any = cp.Constant(0.0)
    for label, term in model.labelled_terms():
        if isinstance(term, Raw):
            built = term.build(variables)
            if isinstance(built, (list, tuple)):
                names = [label, *(f"{label}_{k}" for k in range(2, len(built) + 1))]
                constraints.update(zip(names, built, strict=True))
            else:
                objective = objective + built
            continue
        if isinstance(term, (Minimize, Maximize)):
            objective = objective + cp.sum(express(term.cost, variables))
            continue
        lhs = express(term.lhs, variables)
        if isinstance(term, Smooth):
            found, constraints_of = term.function.express(lhs)
            objective = objective + term.weight * term.function.sign * found
            extra.extend(constraints_of)
            continue
        if isinstance(term, Equal):
            constraints[label] = lhs == term.rhs
        elif isinstance(term, AtMost):
            constraints[label] = lhs <= term.rhs
        elif isinstance(term, InCone):
            constraints[label] = _in_cone(term, lhs)
        else:
            excess = cp.Variable(term.lhs.m, name=f"{label}.excess")
            excesses[label] = (excess, lhs - term.rhs)
            constraints[label] = lhs - term.rhs == excess
            objective = objective + _penalty(term, excess)
    sense = cp.Maximize(-objective) if model.is_maximization else cp.Minimize(objective)
    problem = cp.Problem(sense, [*constraints.values(), *extra])
    return Rendered(problem, variables, constraints, excesses)


def express(affine: Affine, variables: Mapping[str, cp.Variable]) -> cp.Expression:
    """An affine expression of cvxpy variables."""
    total: Any = affine.constant
    for name, linear_map in affine.maps.items():
        total = apply(linear_map, variables[name]) + total
    return total


def _in_cone(term: InCone, lhs: Any) -> Any:
    """The constraint of cvxpy."""
    if term.cone == "nonnegative":
        return lhs >= 0
    n = order_of(term.lhs.m)
    return cp.reshape(full_from_svec(n) @ lhs, (n, n), order="F") >> 0


def _penalty(term: Penalize, excess: Any) -> Any:
    """The penalty as an expression of cvxpy."""
    if term.penalty == "square":
        return 0.5 * cp.sum(cp.multiply(term.weight, cp.square(excess)))
    size = cp.abs(excess) if term.penalty == "absolute" else cp.pos(excess)
    return cp.sum(cp.multiply(term.weight, size))
