r"""Points with numbers corrected, and with what makes them positive semidefinite again.

Where rows read one entry beside the diagonal each, :math:`a_e X_{ij} = b_e`, a point
:math:`R R^T` that misses them by little becomes feasible by

.. math:: X = R R^T + E + \operatorname{diag}(|E| \mathbf 1), \qquad
          E_{ij} = b_e / a_e - (R R^T)_{ij} ,

since a diagonally dominant matrix is positive semidefinite. Nothing may be asked of the diagonal
but a trace, to which the whole is scaled, and then the entries must be zeros (the theta number of
a graph); without a trace they may be anything (completion).

Where equations make squared lengths alike, and all other rows limit sums of them, those of a point
are averaged, so that all equations hold exactly. The lengths of a regular simplex are added until
they are lengths of points again, and all is shrunk until the limits hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, own_rows
from sdpdr.linalg import BilinearForms, InnerProduct, LinearMap, lengths_in
from sdpdr.linalg.distances import Alike, about_centre, lengths_between, mean_product, raised
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.svec import SQRT2, svec_pairs
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Factor, Value
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

WORDS = "entries corrected, and the diagonal raised by as much"
# What the correction may be, beside the largest diagonal entry.
_LITTLE = 1e-5
EVENED = "lengths that are to be alike averaged, raised and shrunk until all limits hold"
# Order up to which all lengths are written out.
_LARGEST = 3000


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


@dataclass(frozen=True, eq=False)
class Even:
    """What rows say of lengths, where nothing else is said of a matrix but its centre.

    Attributes
    ----------
    alike : Alike
        By equations.
    weights : array of shape (n,)
        Of the points whose centre is the origin.
    limits : sequence of (array of int, sparse array, array)
        Edges, non-negative weights of their lengths in every row, and positive right sides.
    """

    alike: Alike
    weights: Array
    limits: Sequence[tuple[Index, sp.csr_array, Array]]


def even_lengths(sdp: SDP) -> Even | None:
    """What rows say of lengths; None where they say anything else, or no lengths are alike."""
    if sdp.lmis or sdp.vector_variables or len(sdp.psd_variables) != 1:
        return None
    name, n = sdp.psd_variables[0].name, sdp.psd_variables[0].n
    exposing = [r for r in exposing_rows(sdp, name) if lengths_in(r.lhs[name]) is None]
    if n > _LARGEST or len(exposing) != 1:
        return None
    linear_map = exposing[0].lhs[name]
    assert isinstance(linear_map, LinearMap)
    null = linear_map.null_vectors(exposing[0].rhs).toarray()
    if null.shape[1] != 1 or not np.all(null > 0.0):
        return None
    limits, alike = [], [(np.zeros((0, 2), dtype=np.int64),) * 3]
    for rows in sdp.rows:
        if rows is exposing[0]:
            continue
        found = lengths_in(rows.lhs.get(name))
        if found is None:
            return None
        edges, weights = found
        if rows.relation == "<=" and np.all(rows.rhs > 0.0) and np.all(weights.data >= 0.0):
            limits.append((edges, weights, rows.rhs))
            continue
        pairs = None if rows.relation != "==" or np.any(rows.rhs) else _alike(edges, weights)
        if pairs is None:
            return None
        alike.append(pairs)
    zero, before, after = (np.concatenate(part) for part in zip(*alike, strict=True))
    if not len(before) or not limits:
        return None
    return Even(Alike.of(n, zero, before, after), null.ravel(), limits)


def _alike(edges: Index, weights: sp.csr_array) -> tuple[Index, Index, Index] | None:
    """Pairs that are of no length, and those as long as others; None where rows say more."""
    weights = sp.csr_array(weights)
    weights.sum_duplicates()
    weights.eliminate_zeros()
    count, first = np.diff(weights.indptr), weights.indptr[:-1]
    two = first[count == 2]
    if np.any((count < 1) | (count > 2)) or np.any(weights.data[two] + weights.data[two + 1]):
        return None
    place = weights.indices
    return edges[place[first[count == 1]]], edges[place[two]], edges[place[two + 1]]


def evened(
    sdp: SDP, values: Mapping[str, Value], factors: Mapping[str, Factor]
) -> tuple[float, Mapping[str, Value], str] | None:
    """Value of the minimisation, the point, and words, with all rounding accounted for; else None.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.are(graphs.path([1.0, 2.0]), "RR").to_sdp()
    >>> given = {"K": Factor(np.array([[-1.0], [0.0], [1.0 + 1e-9]]))}
    >>> value, point, _ = evened(sdp, given, given)
    >>> bool(-2.0 <= value < -2.0 + 1e-7)
    True
    """
    even = sdp.remembered(even_lengths)
    if even is None:
        return None
    name = sdp.psd_variables[0].name
    cost = sdp.cost(name)
    if isinstance(cost, Outer):
        return None
    lengths = raised(even.alike.evened(lengths_between(factors[name].dense())))
    if lengths is None:
        return None
    lengths = lengths[np.ix_(even.alike.place, even.alike.place)]
    excess = max(_excess(lengths, *limit) for limit in even.limits)
    dense = cost.toarray() if sp.issparse(cost) else np.asarray(cost)
    value, error = mean_product(dense, lengths, even.weights)
    value += error
    # Of a reward (negative), what is left after the division; of a price, no more than before.
    total = value / excess if value < 0.0 else value
    total = float(np.nextafter(np.nextafter(total, np.inf) + sdp.constant, np.inf))
    gram = about_centre(lengths / excess, even.weights)
    kept = isinstance(values[name], Factor)
    return total, {**values, name: Factor.of(gram, 0.0) if kept else gram}, EVENED


def _excess(lengths: Array, edges: Index, weights: sp.csr_array, rhs: Array) -> float:
    """What all lengths are to be divided by for upper limits to hold; one where they do."""
    rounding = float(gamma(int(np.max(np.diff(weights.indptr), initial=0)) + 4))
    sums = weights @ lengths[edges[:, 0], edges[:, 1]] * (1.0 + 2.0 * rounding)
    return max(1.0, float(np.max(sums / rhs, initial=0.0)) * (1.0 + 4.0 * UNIT))
