"""The dual of a program, written as a program of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg import LinearMap, SvecMap, VectorMap
from sdpdr.linalg.svec import svec
from sdpdr.program.point import PsdVariable, Variable, VectorVariable
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.sdp import SDP


def dual_of(sdp: SDP) -> SDP:
    """Variables become constraints of the same name, rows and matrix inequalities variables.

    Multipliers of the new constraints are values of the old variables: of a matrix inequality the
    matrix, of rows the scalars. See `sdpdr.program.sdp` for the pair of programs.

    Parameters
    ----------
    sdp : SDP

    Returns
    -------
    SDP

    References
    ----------
    Vandenberghe and Boyd, "Semidefinite programming", SIAM Review 38(1), 1996, section 3.1.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> dual_of(methods.mvu(graphs.path([1.0, 2.0])).to_sdp())
    SDP(mvu; matrices [], 5 scalars, 0 rows, 1 matrix inequalities)
    """
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
            yield r.label, VectorMap(sign * r.lhs[name].matrix().T)
    for lmi in sdp.lmis:
        if name in lmi.lhs:
            yield lmi.label, SvecMap(lmi.order, -sign * lmi.lhs[name].matrix().T)
