r"""Programs whose rows fix diagonals: multipliers lifted until the dual slack is positive.

Where rows :math:`a_e \sum_{i \in G_e} X_{ii} = b_e` cover the diagonal, without an entry in common
(max-cut, a fixed trace), the multipliers :math:`v_e = 1 / a_e` have :math:`A^*(v) = I`, so that
y + t v is feasible for t large enough, at the price of t times the trace. A solver that knows as
much hands over multipliers that need next to no lift, and then a single factorization is the proof.

References
----------
Helmberg and Rendl, "A spectral bundle method for semidefinite programming", SIAM J. Optim. 10(3),
2000, section 1, for programs of constant trace.
"""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array, Index, own_rows
from sdpdr.linalg import LinearMap
from sdpdr.linalg.svec import svec_pairs
from sdpdr.program.certificate.account import Account
from sdpdr.program.certificate.arithmetic import Arithmetic
from sdpdr.program.certificate.free import Certificate, Duals
from sdpdr.program.rescale import may_be_diagonal
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

# A loss, relative to the dual value, that no other argument needs to improve on.
_GOOD = 1e-9


def lifted(sdp: SDP, duals: Duals, arithmetic: Arithmetic) -> Certificate | None:
    """The bound of this argument; None where it does not apply, or costs more than a little."""
    lift = None if sdp.lmis or sdp.vector_variables else unit_lift(sdp)
    if lift is None:
        return None
    claimed = sdp.dual_value(duals)
    price = claimed - sdp.dual_value({label: v + lift[label] for label, v in duals.items()})
    most = _GOOD * abs(claimed) / price if price > 0.0 else 0.0
    higher = {label: v + most * lift[label] for label, v in duals.items()}
    account = Account(sdp, arithmetic)
    return account.certificate(
        [duals], f"multipliers that satisfy all equations; {arithmetic.words}"
    ) or account.certificate(
        [higher], f"multipliers of rows that fix diagonals, lifted; {arithmetic.words}"
    )


def unit_lift(sdp: SDP) -> dict[str, Array] | None:
    """Multipliers v with A*(v) = I for every matrix; None where no rows on diagonals give them.

    Examples
    --------
    >>> from sdpdr.linalg import InnerProduct, Trace
    >>> from sdpdr.program.point import PsdVariable
    >>> rows = (Rows("trace", "==", {"X": 2.0 * Trace(3)}, np.ones(1)),)
    >>> sdp = SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.eye(3))}, rows)
    >>> unit_lift(sdp)
    {'trace': array([0.5])}
    """
    lift = {r.label: np.zeros(r.m) for r in sdp.rows}
    missing = {v.name: np.ones(v.n, dtype=bool) for v in sdp.psd_variables}
    for rows in sdp.rows:
        name = next(iter(rows.lhs), "")
        if rows.relation != "==" or len(rows.lhs) != 1 or name not in missing:
            continue
        starts, points, coefficients = _partial_traces(rows, name)
        for e in np.flatnonzero(coefficients):
            group = points[starts[e] : starts[e + 1]]
            if np.all(missing[name][group]):
                missing[name][group] = False
                lift[rows.label][e] = 1.0 / coefficients[e]
    return None if any(np.any(left) for left in missing.values()) else lift


def _partial_traces(rows: Rows, name: str) -> tuple[Index, Index, Array]:
    """Where each row begins, its points, and its coefficient: 0 unless it is a partial trace."""
    linear_map = rows.lhs[name]
    assert isinstance(linear_map, LinearMap)
    if not may_be_diagonal(linear_map) or linear_map.is_wide():
        return np.zeros(rows.m + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(rows.m)
    matrix = own_rows(linear_map.matrix())
    i, j = svec_pairs(matrix.indices)
    row = np.repeat(np.arange(rows.m), np.diff(matrix.indptr))
    high, low = np.zeros(rows.m), np.full(rows.m, np.inf)
    np.maximum.at(high, row, matrix.data)
    np.minimum.at(low, row, np.where(i == j, matrix.data, -1.0))
    return matrix.indptr.astype(np.int64), i, np.where((high == low) & (low > 0.0), high, 0.0)
