r"""Points whose entries are corrected, and whose diagonal pays for it.

Where rows read one entry beside the diagonal each, :math:`a_e X_{ij} = b_e`, a point
:math:`R R^T` that misses them by little becomes feasible by

.. math:: X = R R^T + E + \operatorname{diag}(|E| \mathbf 1), \qquad
          E_{ij} = b_e / a_e - (R R^T)_{ij} ,

since a diagonally dominant matrix is positive semidefinite. Nothing may be asked of the diagonal
but a trace, to which the whole is scaled, and then the entries must be zeros (the theta number of
a graph); without a trace they may be anything (completion).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, own_rows
from sdpdr.linalg import BilinearForms, InnerProduct, LinearMap
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.rounding import gamma
from sdpdr.linalg.svec import SQRT2, svec_pairs
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Factor, Value
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

WORDS = "entries corrected, and the diagonal raised by as much"
# What the correction may be, beside the largest diagonal entry.
_LITTLE = 1e-5


@dataclass(frozen=True, eq=False)
class _Asked:
    """Entries that are asked for, and the trace; infinite where none is."""

    i: Index
    j: Index
    entry: Array
    trace: float


def corrected(
    sdp: SDP, values: Mapping[str, Value], factors: Mapping[str, Factor]
) -> tuple[float, Mapping[str, Value], str] | None:
    """Value of the minimisation, the point, and words, of a program of one matrix; else None.

    A factor is returned as it is, since its correction has full rank; a dense matrix corrected.

    Examples
    --------
    >>> from sdpdr.linalg import Entries, Trace
    >>> from sdpdr.program.point import PsdVariable
    >>> one = Rows("one", "==", {"X": Entries(2, [[0, 1]])}, np.ones(1))
    >>> sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (one,))
    >>> given = {"X": Factor(np.array([[1.0], [1.0 - 1e-9]]))}
    >>> value, _, _ = corrected(sdp, given, given)
    >>> bool(2.0 <= value < 2.0 + 1e-8)
    True
    """
    if len(sdp.psd_variables) != 1 or not sdp.rows:
        return None
    name = sdp.psd_variables[0].name
    asked = None if exposing_rows(sdp, name) else _asked(sdp, name)
    cost = sdp.cost(name)
    if asked is None or isinstance(cost, Outer):
        return None
    factor = factors[name].factor
    present = np.einsum("ek,ek->e", factor[asked.i], factor[asked.j])
    norms = np.sqrt(np.sum(np.square(factor), axis=1))
    size = norms[asked.i] * norms[asked.j] + np.abs(asked.entry)
    rounding = float(gamma(factor.shape[1] + 8)) * size
    missed = asked.entry - present
    raised = np.abs(missed) + rounding
    n = len(factor)
    diagonal = np.bincount(asked.i, raised, n) + np.bincount(asked.j, raised, n)
    if not np.max(diagonal, initial=0.0) <= _LITTLE * float(np.max(np.square(norms), initial=0.0)):
        return None
    point: dict[str, Value] = {**values, name: factors[name]}
    value = sdp.primal_value(point) - sdp.constant
    value += float(np.asarray(cost.diagonal()) @ diagonal)
    value += 2.0 * float(_entries(cost, asked.i, asked.j) @ missed)
    scale = 1.0
    if np.isfinite(asked.trace):
        scale = asked.trace / float(np.sum(np.square(norms)) + np.sum(diagonal))
    if not isinstance(values[name], Factor):
        gram = factors[name].dense() + np.diag(diagonal)
        gram[asked.i, asked.j] = gram[asked.j, asked.i] = asked.entry
        point[name] = scale * gram
    return scale * value + sdp.constant, point, WORDS


def _entries(matrix: Any, i: Index, j: Index) -> Array:
    found = (sp.csr_array(matrix) if sp.issparse(matrix) else matrix)[i, j]
    return np.asarray(found, dtype=float).ravel()


def _asked(sdp: SDP, name: str) -> _Asked | None:
    """What the rows ask for; None where that is anything else."""
    places, entries, trace = [], [], np.inf
    n = sdp.psd_variables[0].n
    for rows in sdp.rows:
        if rows.relation != "==" or set(rows.lhs) != {name} or not _may_be_short(rows, name):
            return None
        matrix = own_rows(rows.lhs[name].matrix())
        count = np.diff(matrix.indptr)
        i, j = svec_pairs(matrix.indices)
        single = count == 1
        first = matrix.indptr[:-1][single]
        if np.any(i[first] == j[first]) or np.any(matrix.data[first] == 0.0):
            return None
        places.append(matrix.indices[first].astype(np.int64))
        entries.append(rows.rhs[single] / (SQRT2 * matrix.data[first]))
        for e in np.flatnonzero(~single):
            part = slice(matrix.indptr[e], matrix.indptr[e + 1])
            numbers = matrix.data[part]
            whole = numbers.size == n and np.all(i[part] == j[part])
            if not whole or np.any(numbers != numbers[0]) or np.isfinite(trace):
                return None
            trace = float(rows.rhs[e] / numbers[0])
    place, entry = np.concatenate(places), np.concatenate(entries)
    twice = np.unique(place).size < place.size
    if twice or not place.size or not trace > 0.0 or (np.isfinite(trace) and np.any(entry)):
        return None
    return _Asked(*svec_pairs(place), entry, trace)


def _may_be_short(rows: Rows, name: str) -> bool:
    """Rules out maps that would be large when written out."""
    linear_map = rows.lhs[name]
    assert isinstance(linear_map, LinearMap)
    if isinstance(linear_map, BilinearForms):
        return bool(np.all(np.diff(linear_map.left.indptr) <= 1))
    return not (isinstance(linear_map, InnerProduct) and isinstance(linear_map.coefficients, Outer))
