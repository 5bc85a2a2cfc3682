r"""Multipliers that satisfy the equations of free scalars exactly, known to within a radius.

In floating point :math:`B^T y + c = 0` holds up to rounding at best, and a free scalar without
limits forgives nothing. But exact multipliers lie close by: move only the multipliers of as many
rows P as there are free scalars, by :math:`\Delta` with :math:`M \Delta = -r`,
:math:`M = B_P^T`, r the residual. For any matrix R with
:math:`\|I - R M\|_\infty \le \alpha < 1`, M is regular and

.. math::  \|\Delta\|_\infty \le \|R\, r\|_\infty / (1 - \alpha).

(Rump, "Verification methods", Acta Numerica 19, 2010, section 10.) Whatever is then proved for
all multipliers within the radius holds for those.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl

from sdpdr.linalg.rounding import dot_enclosure, gamma
from sdpdr.linalg.svec import Array, Index
from sdpdr.program.certificate.bound import Duals, visible_rows
from sdpdr.program.certificate.free import free_columns, stack, unstack
from sdpdr.program.sdp import SDP

# Equations are solved with a dense matrix, which more scalars would make too slow.
_LARGEST = 2000


def radius_of_exact(sdp: SDP, y: Duals) -> dict[str, Array]:
    """How far multipliers that satisfy the equations exactly may lie from those given.

    Returns
    -------
    dict from row label to array
        Empty where there are no free scalars, where the equations hold exactly as they are, or
        where no exact multipliers could be enclosed.
    """
    rows = [r for r in visible_rows(sdp) if r.label in y]
    columns, cost = free_columns(sdp, rows)
    m, q = columns.shape
    if q == 0 or q > min(_LARGEST, m):
        return {}
    multipliers, by_column = stack(rows, y), columns.tocsc()
    residual = np.zeros(q)
    for j in range(q):
        part = slice(by_column.indptr[j], by_column.indptr[j + 1])
        low, high = dot_enclosure(
            by_column.data[part], multipliers[by_column.indices[part]], float(cost[j])
        )
        residual[j] = max(abs(low), abs(high))
    if not residual.any():
        return {}
    radius = np.zeros(m)
    chosen = _independent_rows(columns.toarray())
    radius[chosen] = _distance(columns[chosen].toarray().T, residual)
    return unstack(rows, radius) if np.isfinite(radius).all() else {}


def _independent_rows(columns: Array) -> Index:
    order = sl.qr(columns.T, mode="r", pivoting=True)[1]
    return np.asarray(order[: columns.shape[1]])


def _distance(matrix: Array, residual: Array) -> float:
    q = residual.size
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return float("inf")
    size = np.abs(inverse) @ np.abs(matrix)
    off = np.abs(np.eye(q) - inverse @ matrix) + gamma(q + 2) * (size + np.eye(q))
    alpha = 1.01 * float(np.max(off.sum(axis=1)))
    if not alpha < 1.0:
        return float("inf")
    return 1.01 * float(np.max(np.abs(inverse) @ residual)) / (1.0 - alpha)
