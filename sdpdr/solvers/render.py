"""Linear maps and programs written in cvxpy; the one place where solvers meet cvxpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np

from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.svec import full_from_svec
from sdpdr.program.point import PsdVariable, Variable
from sdpdr.program.sdp import SDP, Lmi


def declare(variable: Variable) -> cp.Variable:
    """The cvxpy variable of the same name and shape."""
    if isinstance(variable, PsdVariable):
        return cp.Variable((variable.n, variable.n), PSD=True, name=variable.name)
    return cp.Variable(variable.size, nonneg=variable.nonnegative, name=variable.name)


def apply(linear_map: LinearMap | VectorMap, variable: cp.Variable) -> cp.Expression:
    """A map on a cvxpy variable, as one sparse matrix times one vector.

    Row by row expressions cost cvxpy more time than the solve; a single product does not.
    """
    if isinstance(linear_map, VectorMap):
        return linear_map.matrix() @ variable
    spread = full_from_svec(linear_map.n)
    # D svec(K) = vec(K) with D^T D = I, so svec(K) = D^T vec(K).
    return (linear_map.matrix() @ spread.T) @ cp.vec(variable, order="F")


@dataclass(frozen=True, eq=False)
class Rendered:
    """A cvxpy problem and the handles to read its point back.

    Attributes
    ----------
    problem : cvxpy.Problem
    variables : mapping from name to cvxpy variable
    constraints : mapping from row label to cvxpy constraint
    excesses : mapping from row label to (variable, expression)
        Of priced rows: a variable that equals the expression at every feasible point.
    """

    problem: cp.Problem
    variables: Mapping[str, cp.Variable]
    constraints: Mapping[str, Any]
    excesses: Mapping[str, tuple[cp.Variable, cp.Expression]] = field(default_factory=dict)


def render(sdp: SDP) -> Rendered:
    """A standard-form program as a cvxpy minimisation; groups without rows are left out."""
    variables = {v.name: declare(v) for v in sdp.variables}

    def expression(maps: Mapping[str, Any], m: int) -> Any:
        # The zeros are for rows without variables, which cvxpy would take for a plain truth.
        zeros = cp.Constant(np.zeros(m))
        return sum((apply(a, variables[name]) for name, a in maps.items()), start=zeros)

    objective = cp.sum(expression(sdp.objective, 1))
    for v in sdp.vector_variables:
        if v.curvature is not None:
            root = np.sqrt(v.curvature / 2.0)
            objective += cp.sum_squares(cp.multiply(root, variables[v.name]))
    constraints: dict[str, Any] = {}
    for r in sdp.rows:
        if r.m == 0:
            continue
        lhs = expression(r.lhs, r.m)
        constraints[r.label] = lhs == r.rhs if r.relation == "==" else lhs <= r.rhs
    for lmi in sdp.lmis:
        constraints[lmi.label] = _matrix(lmi, variables) >> 0
    problem = cp.Problem(cp.Minimize(objective + sdp.constant), list(constraints.values()))
    return Rendered(problem, variables, constraints)


def _matrix(lmi: Lmi, variables: Mapping[str, cp.Variable]) -> cp.Expression:
    spread = full_from_svec(lmi.order)
    flat: Any = cp.Constant(spread @ lmi.constant)
    for name, linear_map in lmi.lhs.items():
        flat = flat + apply(spread @ linear_map, variables[name])
    return cp.reshape(flat, (lmi.order, lmi.order), order="F")
