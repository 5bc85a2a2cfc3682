r"""Programs whose answers are rays, for any solver to answer.

A solver that finds a program infeasible or unbounded seldom says why. But it can solve

.. math::  \min\ \textstyle\sum_e (p_e + n_e) + \sum_l t_l \quad\text{s.t.}\quad
           (A(X) + B z - b)_e / s_e = p_e - n_e, \quad G_l + s_l t_l I \succeq 0

with p, n and t not negative,
which has an interior and a value of zero or more; where that is positive, its multipliers are a
ray, each of them at most 1 / s_e. The size s_e is that of the row's right side, so that a row
counts by how far it is missed relatively. In the same way

.. math::  \min\ \langle C, D\rangle \quad\text{s.t.}\quad
           A(D) = 0,\ G(D) \succeq 0,\ \operatorname{tr} D_k \le 1,\ |z| \le 1

has the feasible point zero, and a value below zero where there is an improving direction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg import LinearMap, Trace, VectorMap
from sdpdr.linalg.svec import Array, svec
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Point
from sdpdr.program.rays.farkas import prove_infeasible
from sdpdr.program.rays.ray import Ray
from sdpdr.program.rays.recession import prove_unbounded
from sdpdr.program.rays.relax import without_objective
from sdpdr.program.sdp import SDP, Lmi, Rows
from sdpdr.program.sizes import row_norms
from sdpdr.program.variables import PsdVariable, Variable, VectorVariable

Solve = Callable[[SDP], Point]


def find_infeasibility(sdp: SDP, solve: Solve, *, rigorous: bool = False) -> Ray | str:
    """Look for multipliers that prove a program infeasible, with the help of a solver.

    Parameters
    ----------
    sdp : SDP
    solve : callable
        Takes an `SDP` to the `Point` that some solver has for it; nothing is believed of it.
    rigorous : bool, default False
        Accept a proof only if all rounding is accounted for.

    Returns
    -------
    Ray or str
        The ray, or why none was found, which does not mean that the program is feasible.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.linalg import Trace
    >>> from sdpdr.program import SDP, Point, PsdVariable, Rows
    >>> negative = Rows("trace", "==", {"X": Trace(2)}, -np.ones(1))
    >>> sdp = SDP((PsdVariable("X", 2),), {}, (negative,))
    >>> find_infeasibility(sdp, lambda softer: Point({}, {"trace": np.ones(1)})).kind
    'infeasible'
    """
    trouble = ""
    for sizes in (_sides(sdp), _norms(sdp)):
        point = solve(softened(sdp, sizes))
        if not point.duals:
            trouble = trouble or "no solver had multipliers for the softened rows"
            continue
        duals = dict(point.duals)
        for r in sdp.rows:
            if r.label in sizes and r.label in duals:
                duals[r.label] = duals[r.label] / sizes[r.label]
        found = prove_infeasible(sdp, duals, rigorous)
        if isinstance(found, Ray):
            return found
        trouble = found
    return trouble


def find_unboundedness(
    sdp: SDP, solve: Solve, *, feasible: bool, rigorous: bool = False
) -> Ray | str:
    """Look for a direction that improves a program without end, with the help of a solver.

    Parameters
    ----------
    sdp : SDP
    solve : callable
        Takes an `SDP` to the `Point` that some solver has for it; nothing is believed of it.
    feasible : bool
        Whether the caller has proved that the program has a feasible point.
    rigorous : bool, default False
        Accept a proof only if all rounding is accounted for.

    Returns
    -------
    Ray or str
    """
    point = solve(directions(sdp))
    if not point.values:
        return "no solver had a direction"
    return prove_unbounded(sdp, point.values, feasible=feasible, rigorous=rigorous)


def softened(sdp: SDP, sizes: dict[str, Array]) -> SDP:
    """The program whose rows, divided by the sizes given, are missed by as little as possible.

    Rows that are not mentioned stay as they are.
    """
    sdp = without_objective(sdp)
    variables: list[Variable] = list(sdp.variables)
    objective: dict[str, LinearMap | VectorMap] = {}
    rows, lmis = [], []

    def priced(name: str, size: int) -> str:
        variables.append(VectorVariable(name, size, nonnegative=True))
        objective[name] = VectorMap(np.ones((1, size)))
        return name

    for r in sdp.rows:
        if r.label not in sizes:
            rows.append(r)
            continue
        unit = sp.diags_array(1.0 / sizes[r.label], format="csr")
        lhs = {name: unit @ linear_map for name, linear_map in r.lhs.items()}
        one = sp.eye_array(r.m, format="csr")
        lhs[priced(f"{r.label}: over", r.m)] = VectorMap(-one)
        if r.relation == "==":
            lhs[priced(f"{r.label}: under", r.m)] = VectorMap(one)
        rows.append(Rows(r.label, r.relation, lhs, r.rhs / sizes[r.label]))
    for lmi in sdp.lmis:
        size = float(np.max(np.abs(lmi.constant), initial=0.0)) or 1.0
        lift = VectorMap(size * svec(np.eye(lmi.order))[:, None])
        lhs = {**lmi.lhs, priced(f"{lmi.label}: lift", 1): lift}
        lmis.append(Lmi(lmi.label, lmi.order, lhs, lmi.constant))
    return replace(
        sdp,
        variables=tuple(variables),
        objective=objective,
        rows=tuple(rows),
        lmis=tuple(lmis),
        name=f"{sdp.name} softened".strip(),
    )


def directions(sdp: SDP) -> SDP:
    """The program for the direction of recession that improves the objective most."""
    moving = tuple(v for v in sdp.variables if isinstance(v, PsdVariable) or v.curvature is None)
    names = {v.name for v in moving}
    norms = _norms(sdp)
    rows = []
    for r in sdp.rows:
        unit = sp.diags_array(1.0 / norms.get(r.label, np.ones(r.m)), format="csr")
        lhs = {name: unit @ a for name, a in r.lhs.items() if name in names}
        rows.append(Rows(r.label, r.relation, lhs, np.zeros(r.m)))
    for v in moving:
        if isinstance(v, PsdVariable):
            rows.append(Rows(f"{v.name}: size", "<=", {v.name: Trace(v.n)}, np.ones(1)))
            continue
        one = sp.eye_array(v.size, format="csr")
        rows.append(Rows(f"{v.name}: most", "<=", {v.name: VectorMap(one)}, np.ones(v.size)))
        if not v.nonnegative:
            rows.append(Rows(f"{v.name}: least", "<=", {v.name: VectorMap(-one)}, np.ones(v.size)))
    objective = {name: a for name, a in sdp.objective.items() if name in names}
    cost = max((float(np.max(row_norms(a), initial=0.0)) for a in objective.values()), default=0.0)
    return SDP(
        variables=moving,
        objective={name: (1.0 / (cost or 1.0)) * a for name, a in objective.items()},
        rows=tuple(rows),
        lmis=tuple(
            Lmi(m.label, m.order, {k: a for k, a in m.lhs.items() if k in names}, 0.0 * m.constant)
            for m in sdp.lmis
        ),
        name=f"{sdp.name} directions".strip(),
    )


def _norms(sdp: SDP) -> dict[str, Array]:
    """The size of the coefficients of every row but those that state a face."""
    stated = {r.label for v in sdp.psd_variables for r in exposing_rows(sdp, v.name)}
    sizes = {}
    for r in sdp.rows:
        if r.label not in stated:
            squares = sum((np.square(row_norms(a)) for a in r.lhs.values()), np.zeros(r.m))
            sizes[r.label] = np.where(squares > 0.0, np.sqrt(squares), 1.0)
    return sizes


def _sides(sdp: SDP) -> dict[str, Array]:
    """The size of every right side; of the coefficients where that is zero."""
    by_label = {r.label: r for r in sdp.rows}
    return {
        label: np.where(by_label[label].rhs == 0.0, norm, np.abs(by_label[label].rhs))
        for label, norm in _norms(sdp).items()
    }
