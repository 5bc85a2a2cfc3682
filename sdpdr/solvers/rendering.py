"""Programs written in cvxpy, with the handles to read their points back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.svec import full_from_svec
from sdpdr.program.point import PsdVariable, Variable
from sdpdr.program.rows import Lmi
from sdpdr.program.sdp import SDP


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
        For penalized rows: a variable that equals the expression at every feasible point.
    """

    problem: cp.Problem
    variables: Mapping[str, cp.Variable]
    constraints: Mapping[str, Any]
    excesses: Mapping[str, tuple[cp.Variable, cp.Expression]] = field(default_factory=dict)


def render(sdp: SDP) -> Rendered:
    """A standard-form program as a cvxpy minimisation; groups without rows are left out."""
    variables = {v.name: declare(v) for v in sdp.variables}
    objective = cp.sum(_sum(sdp.objective, variables, np.zeros(1)))
    for v in sdp.vector_variables:
        if v.curvature is not None:
            root = np.sqrt(v.curvature / 2.0)
            objective += cp.sum_squares(cp.multiply(root, variables[v.name]))
    constraints: dict[str, Any] = {}
    for r in sdp.rows:
        if r.m == 0:
            continue
        lhs = _sum(r.lhs, variables, np.zeros(r.m))
        constraints[r.label] = lhs == r.rhs if r.relation == "==" else lhs <= r.rhs
    for lmi in sdp.lmis:
        constraints[lmi.label] = _matrix(lmi, variables) >> 0
    problem = cp.Problem(cp.Minimize(objective + sdp.constant), list(constraints.values()))
    return Rendered(problem, variables, constraints)


def _matrix(lmi: Lmi, variables: Mapping[str, cp.Variable]) -> cp.Expression:
    spread = full_from_svec(lmi.order)
    maps = {name: spread @ linear_map for name, linear_map in lmi.lhs.items()}
    flat = _sum(maps, variables, spread @ lmi.constant)
    return cp.reshape(flat, (lmi.order, lmi.order), order="F")


def _sum(maps: Mapping[str, Any], variables: Mapping[str, cp.Variable], constant: Array) -> Any:
    """Maps on their variables; rows without any are constants, as cvxpy takes no plain truth."""
    terms = (apply(a, variables[name]) for name, a in maps.items())
    return sum(terms, start=cp.Constant(constant))
