"""The dual of a program, as a reduction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, transposed
from sdpdr.linalg import LinearMap, SvecMap, VectorMap
from sdpdr.linalg.svec import svec
from sdpdr.program.point import Point, PsdVariable, Value, Variable, VectorVariable, as_dense
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.base import Reduced, Reduction


@dataclass(frozen=True)
class Dual(Reduction):
    """Write the dual: variables become constraints of the same name, and rows become variables.

    The dual has the optimal value of the program, and the multipliers of its constraints are
    values of the old variables: those of its matrix inequalities are the matrices of the program.
    `sdpdr.program.sdp` states the pair of programs.

    References
    ----------
    Vandenberghe and Boyd, "Semidefinite programming", SIAM Review 38(1), 1996, section 3.1.

    Examples
    --------
    >>> from sdpdr.reduce import Dual
    >>> from sdpdr import graphs, methods
    >>> Dual().apply(methods.mvu(graphs.path([1.0, 2.0])).to_sdp()).sdp
    SDP(mvu; matrices [], 5 scalars, 0 rows, 1 matrix inequalities)
    """

    name: ClassVar[str] = "dual"

    def _reduce(self, sdp: SDP) -> Reduced:
        return Reduced(
            _dual_of(sdp),
            lambda point: _lift(sdp, point),
            lambda value: -value,
            lambda point: _pushed(sdp, point),
            lift_verdict=lambda verdict: verdict.mirrored,
        )


def _lift(sdp: SDP, point: Point) -> Point:
    """A point of the program from one of its dual."""
    values: dict[str, Value] = {
        v.name: point.duals[v.name] for v in sdp.variables if v.name in point.duals
    }
    duals: dict[str, Array] = {
        label: as_dense(point.values[label]) for label in sdp.labels if label in point.values
    }
    return Point(values, duals)


def _pushed(sdp: SDP, point: Point) -> Point:
    """A point of the dual from one of the program."""
    labels = [label for label in sdp.labels if label in point.duals]
    return Point(
        {label: np.asarray(point.duals[label]) for label in labels},
        {name: as_dense(value) for name, value in point.values.items()},
    )


def _dual_of(sdp: SDP) -> SDP:
    """The dual program."""
    variables: list[Variable] = []
    objective: dict[str, Any] = {}
    rows: list[Rows] = []
    lmis: list[Lmi] = []
    for r in sdp.rows:
        variables.append(VectorVariable(r.label, r.m, nonnegative=r.relation == "<="))
        objective[r.label] = VectorMap(r.rhs[None, :])
    for lmi in sdp.lmis:
        variables.append(PsdVariable(lmi.label, lmi.order))
        objective[lmi.label] = SvecMap(lmi.order, lmi.constant[None, :])
    for v in sdp.variables:
        if isinstance(v, PsdVariable):
            lmis.append(Lmi(v.name, v.n, dict(_column(sdp, v.name, 1.0)), svec(sdp.cost(v.name))))
            continue
        cost = np.asarray(sdp.cost(v.name))
        negated = dict(_column(sdp, v.name, -1.0))
        if v.nonnegative:
            rows.append(Rows(v.name, "<=", negated, cost))
        elif v.curvature is None:
            rows.append(Rows(v.name, "==", negated, cost))
        else:
            conjugate = VectorVariable(f"{v.name}*", v.size, curvature=1.0 / v.curvature)
            variables.append(conjugate)
            unit = VectorMap(sp.eye_array(v.size, format="csr"))
            rows.append(Rows(v.name, "==", {**negated, conjugate.name: unit}, cost))
    return SDP(
        variables=tuple(variables),
        objective=objective,
        rows=tuple(rows),
        lmis=tuple(lmis),
        constant=-sdp.constant,
        maximize=not sdp.maximize,
        name=sdp.name,
    )


def _column(sdp: SDP, name: str, sign: float) -> Iterator[tuple[str, LinearMap | VectorMap]]:
    """The variable's part of every row group and LMI, transposed, in ``svec`` coordinates."""
    for r in sdp.rows:
        if name in r.lhs:
            yield r.label, VectorMap(transposed(r.lhs[name].matrix(), sign))
    for lmi in sdp.lmis:
        if name in lmi.lhs:
            yield lmi.label, SvecMap(lmi.order, transposed(lmi.lhs[name].matrix(), -sign))
