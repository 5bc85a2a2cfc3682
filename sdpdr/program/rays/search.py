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

Such answers lie at the boundary of what they prove, where factorizations do not decide. Inside lies

.. math::  \min\ \textstyle\sum_e (p_e + n_e) \quad\text{s.t.}\quad
           A(X) + B z - \theta b = p - n, \quad \operatorname{tr} X + \theta = 1

with :math:`X \succeq 0` and :math:`\theta, p, n \ge 0`. Its value is the largest
:math:`\lambda` with :math:`A^*(y) \succeq \lambda I`, :math:`-b^T y \ge \lambda` and
:math:`|y| \le 1`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, largest
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.linalg import Trace, VectorMap
from sdpdr.linalg.svec import svec
from sdpdr.program.certificate.free import Duals
from sdpdr.program.dual import dual_of
from sdpdr.program.face import visible_rows
from sdpdr.program.point import Point, PsdVariable, VectorVariable
from sdpdr.program.rays.farkas import complete, prove_infeasible
from sdpdr.program.rays.ray import Ray
from sdpdr.program.rays.recession import prove_unbounded
from sdpdr.program.rays.relax import relaxations, without_objective
from sdpdr.program.rows import Expression, Lmi, Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import row_norms, row_sizes
from sdpdr.program.standard import elastic

Solve = Callable[[SDP], Point]

# Rows missed by less than this, relatively, count as met: no solver could tell.
_HOPE = 1e-7
# Relaxations whose middle is looked for.
_ENOUGH = 4


def find_infeasibility(
    sdp: SDP, solve: Solve, *, rigorous: bool = False, deadline: Deadline = ENDLESS
) -> Ray | str:
    """Look for multipliers that prove a program infeasible, with the help of a solver.

    Parameters
    ----------
    sdp : SDP
    solve : callable
        Takes an `SDP` to the `Point` that some solver has for it; nothing is believed of it.
    rigorous : bool, default False
        Accept a proof only if all rounding is accounted for.
    deadline : Deadline, optional
        As of `sdpdr.program.rays.prove_infeasible`.

    Returns
    -------
    Ray or str
        The ray, or why none was found, which does not mean that the program is feasible.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.linalg import Trace
    >>> from sdpdr.program.rows import Rows
    >>> from sdpdr.program.sdp import SDP
    >>> from sdpdr.program.point import Point, PsdVariable
    >>> negative = Rows("trace", "==", {"X": Trace(2)}, -np.ones(1))
    >>> sdp = SDP((PsdVariable("X", 2),), {}, (negative,))
    >>> find_infeasibility(sdp, lambda softer: Point({}, {"trace": np.ones(1)})).kind
    'infeasible'
    """
    trouble = ""
    for sizes in (_sides(sdp), _norms(sdp)):
        if trouble and deadline.is_over():
            break
        softer = softened(sdp, sizes)
        multipliers = solve(softer).duals
        if not all(r.label in multipliers for r in sdp.rows):
            trouble = trouble or "no solver had multipliers for the softened rows"
            continue
        missed = softer.dual_value(multipliers)
        if not missed > _HOPE * _largest_side(softer):
            trouble = trouble or "the solver sees a point that meets the rows nearly"
            continue
        duals = _scaled(multipliers, sizes)
        found = prove_infeasible(sdp, duals, rigorous, deadline)
        if isinstance(found, str):
            trouble, found = found, _inside(sdp, duals, solve, deadline, rigorous=rigorous)
        if isinstance(found, Ray):
            return found
    return trouble


def _inside(
    sdp: SDP, duals: Duals, solve: Solve, deadline: Deadline, *, rigorous: bool
) -> Ray | str:
    """Look again, in what these multipliers need of the program, for a ray in the middle."""
    trouble = "the multipliers say nothing about the right sides"
    with suppress(ArithmeticError):
        y = complete(sdp, duals)
        flat = without_objective(sdp)
        for relaxation in islice(relaxations(flat, y, rigorous, deadline), _ENOUGH):
            if deadline.is_over():
                break
            sizes = _norms(relaxation.sdp)
            centred = _scaled(solve(homogeneous(relaxation.sdp, sizes)).duals, sizes)
            if set(sizes) <= set(centred):
                found = prove_infeasible(sdp, relaxation.lift(centred), rigorous, deadline)
                if isinstance(found, Ray):
                    return found
                trouble = found
    return trouble


def _scaled(duals: Duals, sizes: Mapping[str, Array]) -> dict[str, Array]:
    """Multipliers of rows that were divided by these sizes, as those of the rows themselves."""
    return {label: y / sizes[label] if label in sizes else y for label, y in duals.items()}


def find_unboundedness(
    sdp: SDP,
    solve: Solve,
    *,
    feasible: bool,
    rigorous: bool = False,
    deadline: Deadline = ENDLESS,
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
    deadline : Deadline, optional
        As of `sdpdr.program.rays.prove_infeasible`.

    Returns
    -------
    Ray or str
    """
    trouble = "no solver found a direction that improves the objective"
    wanted = directions(sdp)
    point = solve(wanted)
    prove = partial(prove_unbounded, sdp, feasible=feasible, rigorous=rigorous, deadline=deadline)
    if point.values and wanted.primal_value(point.values) < -_HOPE:
        found = prove(point.values)
        if isinstance(found, Ray):
            return found
        trouble = found
    if deadline.is_over():
        return trouble
    # Multipliers of the dual program are directions of this one.
    ray = find_infeasibility(dual_of(sdp), solve, rigorous=rigorous, deadline=deadline)
    return trouble if isinstance(ray, str) else prove(ray.duals)


def softened(sdp: SDP, sizes: dict[str, Array]) -> SDP:
    """The program whose rows, divided by the sizes given, are missed by as little as possible.

    Rows that are not mentioned stay as they are.
    """
    sdp = without_objective(sdp)
    priced = list[VectorVariable]()
    rows, lmis = [], []
    for r in sdp.rows:
        if r.label in sizes:
            r, slack = elastic(r.scaled(1.0 / sizes[r.label]), f"{r.label}: ")
            priced += slack
        rows.append(r)
    for lmi in sdp.lmis:
        size = largest(lmi.constant) or 1.0
        priced.append(VectorVariable(f"{lmi.label}: lift", 1, nonnegative=True))
        lift = VectorMap(size * svec(np.eye(lmi.order))[:, None])
        lmis.append(replace(lmi, lhs={**lmi.lhs, priced[-1].name: lift}))
    return replace(
        sdp,
        variables=(*sdp.variables, *priced),
        objective=_sum_of(priced),
        rows=tuple(rows),
        lmis=tuple(lmis),
        name=f"{sdp.name} softened".strip(),
    )


def _sum_of(scalars: list[VectorVariable]) -> Expression:
    return {v.name: VectorMap(np.ones((1, v.size))) for v in scalars}


def homogeneous(sdp: SDP, sizes: Mapping[str, Array]) -> SDP:
    """The program whose multipliers are a ray as far from all boundaries as possible.

    Parameters
    ----------
    sdp : SDP
        Equalities alone, without objective.
    sizes : mapping from row label to array
        What rows are divided by. Rows that are not mentioned stay as they are.
    """
    theta, priced = VectorVariable("theta", 1, nonnegative=True), list[VectorVariable]()
    signed = [v for v in sdp.vector_variables if v.nonnegative]
    whole = {**_sum_of([theta, *signed]), **{v.name: Trace(v.n) for v in sdp.psd_variables}}
    sides = {r.label: r.rhs / sizes[r.label] for r in sdp.rows if r.label in sizes}
    most = max((largest(side) for side in sides.values()), default=0.0)
    rows = [Rows("the whole", "==", whole, np.ones(1))]
    for r in sdp.rows:
        if r.label in sizes:
            lhs = dict(r.scaled(1.0 / sizes[r.label]).lhs)
            lhs[theta.name] = VectorMap(-sides[r.label][:, None] / (most or 1.0))
            r, slack = elastic(Rows(r.label, "==", lhs, np.zeros(r.m)), f"{r.label}: ")
            priced += slack
        rows.append(r)
    name = f"{sdp.name} homogeneous".strip()
    return SDP((*sdp.variables, theta, *priced), _sum_of(priced), tuple(rows), name=name)


def directions(sdp: SDP) -> SDP:
    """The program for the direction of recession that improves the objective most."""
    moving = tuple(v for v in sdp.variables if v.curvature is None)
    names = {v.name for v in moving}
    norms = _norms(sdp)
    rows = []
    for r in sdp.rows:
        scaled = r.scaled(1.0 / norms.get(r.label, np.ones(r.m)))
        lhs = {name: a for name, a in scaled.lhs.items() if name in names}
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
    cost = max((largest(row_norms(a)) for a in objective.values()), default=0.0)
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
    return {r.label: row_sizes(r) for r in visible_rows(sdp)}


def _sides(sdp: SDP) -> dict[str, Array]:
    """The size of every right side; of the coefficients where that is zero."""
    by_label = {r.label: r for r in sdp.rows}
    return {
        label: np.where(by_label[label].rhs == 0.0, norm, np.abs(by_label[label].rhs))
        for label, norm in _norms(sdp).items()
    }


def _largest_side(sdp: SDP) -> float:
    constants = (*(r.rhs for r in sdp.rows), *(lmi.constant for lmi in sdp.lmis))
    return max((largest(b) for b in constants), default=0.0)
