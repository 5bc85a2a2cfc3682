"""Multipliers that satisfy the dual equations of free scalars."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.linalg.rounding import gamma
from sdpdr.linalg.svec import Array
from sdpdr.program.certificate.bound import Duals
from sdpdr.program.sdp import SDP, Rows

_PASSES = 8
_CANCELLED = 1e-14


def stack(rows: list[Rows], y: Duals) -> Array:
    """Multipliers of several groups as one vector."""
    return np.concatenate([np.zeros(0), *(y[r.label] for r in rows)])


def unstack(rows: list[Rows], y: Array) -> dict[str, Array]:
    """The inverse of `stack`."""
    parts = np.split(y, np.cumsum([r.m for r in rows])[:-1]) if rows else []
    return {r.label: part for r, part in zip(rows, parts, strict=True)}


def free_columns(sdp: SDP, rows: list[Rows]) -> tuple[sp.csr_array, Array]:
    """Matrix B (rows x free scalars) and cost c of the dual equations B^T y + c = 0."""
    free = [v for v in sdp.vector_variables if not v.nonnegative and v.curvature is None]
    m = sum(r.m for r in rows)
    cost = np.concatenate([np.zeros(0), *(sdp.cost(v.name) for v in free)])
    if not free or not rows:
        return sp.csr_array((m, cost.size)), cost
    blocks = [
        [r.lhs[v.name].matrix() if v.name in r.lhs else sp.csr_array((r.m, v.size)) for v in free]
        for r in rows
    ]
    return sp.csr_array(sp.block_array(blocks)), cost


def project(columns: sp.csr_array, right: Array, y: Array) -> Array:
    """The nearest y with ``columns^T y = right``, by least squares and refinement.

    Rounding leaves every equation a residual as large as the rounding of its own terms; where the
    equations contradict each other, a residual of theirs.

    Parameters
    ----------
    columns : sparse array of shape (m, q)
    right : array of shape (q,)
    y : array of shape (m,)

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> project(sp.csr_array(np.ones((2, 1))), np.array([4.0]), np.zeros(2)).round(12).tolist()
    [2.0, 2.0]
    """
    if columns.shape[1] == 0:
        return y
    rounding = gamma(2 + np.diff(columns.tocsc().indptr))
    for _ in range(_PASSES):
        residual = right - columns.T @ y
        # An equation between multipliers of 1e-22 must be met to 1e-38, which least squares do not
        # see beside the rounding of equations between larger ones.
        residual[np.abs(residual) <= rounding * (np.abs(right) + abs(columns).T @ np.abs(y))] = 0.0
        if not np.any(residual):
            break
        step = spl.lsqr(columns.T, residual, atol=1e-15, btol=1e-15)[0]
        # What opposite numbers leave of each other is rounding: such a multiplier must be zero.
        y = np.where(np.abs(y + step) <= _CANCELLED * np.abs(y), 0.0, y + step)
    return y
