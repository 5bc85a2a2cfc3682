"""Lengths as matrix inequalities on arrows: recognized, and read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, rows_as_they_are
from sdpdr.linalg.svec import SQRT2, svec_index
from sdpdr.program.point import Variable, VectorVariable
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.sdp import SDP


def length_of_cost(sdp: SDP) -> tuple[str, float] | None:
    """The one scalar that is the whole cost, and what it costs."""
    # What a matrix costs may have too many entries to look at.
    if len(sdp.objective) != 1 or sdp.objective.keys() & {v.name for v in sdp.psd_variables}:
        return None
    ((name, cost_of),) = sdp.objective.items()
    variable, rows = sdp.variable(name), cost_of.matrix()
    if not isinstance(variable, VectorVariable) or variable.size != 1:
        return None
    cost = float(rows.sum())
    if variable.curvature is not None or not cost > 0.0:
        return None
    return (name, cost)


def diagonal_entry(lmi: Lmi, k: int) -> dict[str, Array] | None:
    """Coefficients of a diagonal entry by variable; None where it has a constant."""
    place = int(svec_index(k, k))
    if lmi.constant[place]:
        return None
    found = {}
    for name, a in lmi.lhs.items():
        rows = a.matrix()
        part = slice(*rows.indptr[place : place + 2])
        if np.any(rows.data[part]):
            sums = np.bincount(rows.indices[part], rows.data[part], rows.shape[1])
            found[name] = sums.astype(float)
    return found


def heads_of(
    name: str, arrows: Sequence[Lmi], rows: Sequence[Rows]
) -> tuple[str, str] | tuple[()] | None:
    """Scalars at the heads of arrows and the row of their sum; nothing where it is the length.

    None where it is neither.
    """
    corners = [diagonal_entry(lmi, 0) for lmi in arrows]
    # Beside the diagonal a length says nothing.
    if any(lmi.lhs[name].matrix().nnz > lmi.order for lmi in arrows):
        return None
    if len(arrows) == 1 and not rows:
        corner = corners[0] or {}
        alone = list(corner) == [name]
        return () if alone and corner[name] == [1.0] else None
    names = {head for corner in corners for head in corner or ()}
    if not all(corners) or len(names) != 1 or len(rows) != 1:
        return None
    (heads,), total = names, rows[0]
    coefficients = np.array([corner[heads] for corner in corners if corner is not None])
    if coefficients.shape[0] != coefficients.shape[1] or np.any(
        coefficients != np.eye(len(arrows))
    ):
        return None
    if any(lmi.lhs[heads].matrix().nnz != 1 for lmi in arrows):
        return None
    sums = {k: a.matrix().toarray() for k, a in total.lhs.items() if k in (name, heads)}
    if total.m != 1 or total.rhs[0] or set(total.lhs) != {name, heads} or total.relation != "<=":
        return None
    whole = np.all(sums[heads] == 1.0) and sums[name][0, 0] == -1.0
    return (heads, total.label) if whole else None


@lru_cache(maxsize=32)
def edge(order: int) -> Index:
    """Where the first row is in ``svec``, without the diagonal."""
    k = np.arange(1, order)
    return svec_index(0 * k, k)


def beside(arrows: Sequence[Lmi], v: Variable) -> sp.csr_array:
    """What the numbers of arrows, one after the other, are of a variable."""
    counts, places, data = [], [np.zeros(0, dtype=np.intp)], [np.zeros(0)]
    # There may be thousands, of which to index each by scipy would take longer than all else.
    for lmi in arrows:
        neck = edge(lmi.order)
        if v.name not in lmi.lhs:
            counts.append(np.zeros(neck.size, dtype=np.intp))
            continue
        rows = lmi.lhs[v.name].matrix()
        counts.append(rows.indptr[neck + 1] - rows.indptr[neck])
        if int(counts[-1].sum()) < rows.nnz:
            rows = rows[neck]
        places.append(rows.indices)
        data.append(rows.data / SQRT2)
    ends = np.append(0, np.cumsum(np.concatenate(counts)))
    return rows_as_they_are(
        np.concatenate(data), np.concatenate(places), ends, (ends.size - 1, v.size)
    )
