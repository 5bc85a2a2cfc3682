"""The compiler from terms to the standard form. Nothing of size n^2 is formed on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from sdpdr.base.errors import CompileError, VacuousWarning, warn
from sdpdr.linalg import VectorMap
from sdpdr.linalg.svec import order_of
from sdpdr.model.affine import Affine, Var, evaluate
from sdpdr.model.terms import AtMost, Equal, InCone, Maximize, Minimize, Penalize, Raw, Smooth, Term
from sdpdr.program.point import Point, Value, Variable, VectorVariable
from sdpdr.program.rows import Lmi, Relation, Rows
from sdpdr.program.sdp import SDP

if TYPE_CHECKING:
    from sdpdr.model.model import Model


def to_sdp(model: Model) -> SDP:
    """Lower a model to the standard form (see `Model.to_sdp`)."""
    parts = _Parts(list(model.variables()))
    for label, term in model.labelled_terms():
        parts.lower(label, term)
    objective = reduce(add, parts.costs) if parts.costs else Affine()
    sdp = SDP(
        variables=tuple(parts.variables),
        objective=dict(objective.maps),
        rows=tuple(parts.rows),
        lmis=tuple(parts.lmis),
        constant=float(objective.constant[0]),
        maximize=model.is_maximization,
        name=model.name,
    )
    apart = [name for name in _without_cost(sdp) if name in model.declared]
    if apart:
        names, one = " and ".join(map(repr, apart)), len(apart) == 1
        warn(
            f"no constraint joins {names} to a variable of the objective, so {names} "
            f"{'has' if one else 'have'} no effect on the value, unless constraints on "
            f"{'it' if one else 'them'} are infeasible. Check the spelling of names.",
            VacuousWarning,
        )
    return sdp


def _without_cost(sdp: SDP) -> list[str]:
    """Variables that no chain of constraints joins to the objective; none if that is constant."""
    joined = {v.name for v in sdp.vector_variables if v.curvature is not None} | {*sdp.objective}
    if not joined:
        return []
    sides = [set(r.lhs) for r in sdp.rows] + [set(lmi.lhs) for lmi in sdp.lmis]
    while near := [side for side in sides if side & joined]:
        sides = [side for side in sides if not side & joined]
        joined.update(*near)
    return [v.name for v in sdp.variables if v.name not in joined]


def with_slack(model: Model, values: Mapping[str, Value]) -> dict[str, Value]:
    """A point of a model, completed to a point of its standard form by the slacks of penalties.

    Parameters
    ----------
    model : Model
    values : mapping from variable name to array or Factor
        Values of all variables of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import minimize, scalar
    >>> x = scalar("x", 2)
    >>> model = minimize(abs(x - 1.0).sum()) + (x <= 3.0)
    >>> point = with_slack(model, {"x": np.array([3.0, 0.0])})
    >>> {name: value.tolist() for name, value in point.items() if name != "x"}
    {'objective.0.over': [2.0, 0.0], 'objective.0.under': [0.0, 1.0]}
    >>> model.to_sdp().primal_value(point) == model.objective(point)
    True
    """
    found = dict(values)
    for label, term in model.labelled_terms():
        if not isinstance(term, Penalize):
            continue
        excess = evaluate(term.lhs, values) - term.rhs
        if term.penalty == "square":
            found[f"{label}.slack"] = excess
            continue
        found[f"{label}.over"] = np.maximum(excess, 0.0)
        if term.penalty == "absolute":
            found[f"{label}.under"] = np.maximum(-excess, 0.0)
    return found


def standard_point(model: Model, sdp: SDP, point: Point) -> Point:
    """A point of a model that was solved in cvxpy, as a point of its standard form.

    Parameters
    ----------
    model : Model
    sdp : SDP
        Its standard form; multipliers of other rows are dropped.
    point : Point
    """
    labels = set(sdp.labels)
    duals = {label: y for label, y in point.duals.items() if label in labels}
    return Point(with_slack(model, point.values) if point.values else {}, duals)


@dataclass
class _Parts:
    """The program under construction."""

    variables: list[Variable]
    costs: list[Affine] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=list)
    lmis: list[Lmi] = field(default_factory=list)

    def lower(self, label: str, term: Term) -> None:
        """Add the variables, rows and costs of a term."""
        if isinstance(term, Equal):
            self._rows(label, "==", term.lhs, term.rhs)
        elif isinstance(term, AtMost):
            self._rows(label, "<=", term.lhs, term.rhs)
        elif isinstance(term, InCone) and term.cone == "nonnegative":
            self._rows(label, "<=", -term.lhs, np.zeros(term.lhs.m))
        elif isinstance(term, InCone):
            self.lmis.append(
                Lmi(label, order_of(term.lhs.m), dict(term.lhs.maps), term.lhs.constant)
            )
        elif isinstance(term, (Minimize, Maximize)):
            self.costs.append(term.cost)
        elif isinstance(term, Penalize):
            self._penalty(label, term)
        elif isinstance(term, Smooth):
            raise CompileError(
                label,
                f"{term.function.word} needs exponential or power cones, so it has no semidefinite "
                "form; sdpdr.solve(model) solves the model over these cones.",
            )
        elif isinstance(term, Raw):
            raise CompileError(
                label,
                "it is written in cvxpy directly; pass the model to sdpdr.solve, or "
                "model.to_cvxpy() to sdpdr.from_cvxpy.",
            )

    def _rows(self, label: str, relation: Relation, lhs: Affine, rhs: np.ndarray) -> None:
        """Add rows."""
        self.rows.append(Rows(label, relation, dict(lhs.maps), rhs - lhs.constant))

    def _penalty(self, label: str, term: Penalize) -> None:
        """``lhs - slack <= rhs`` (or ==), with the penalty on the slack."""
        m, eye = term.lhs.m, sp.eye_array(term.lhs.m, format="csr")
        if term.penalty == "square":
            slack = VectorVariable(f"{label}.slack", m, curvature=term.weight)
            self.variables.append(slack)
            self._rows(label, "==", term.lhs + (-eye) @ Var(slack.name), term.rhs)
            return
        over = VectorVariable(f"{label}.over", m, nonnegative=True)
        self.variables.append(over)
        weights = VectorMap(term.weight[None, :])
        self.costs.append(weights @ Var(over.name))
        lhs = term.lhs + (-eye) @ Var(over.name)
        if term.penalty == "positive":
            self._rows(label, "<=", lhs, term.rhs)
            return
        under = VectorVariable(f"{label}.under", m, nonnegative=True)
        self.variables.append(under)
        self.costs.append(weights @ Var(under.name))
        self._rows(label, "==", lhs + eye @ Var(under.name), term.rhs)
