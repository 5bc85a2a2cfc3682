r"""How large the numbers of a program are, to measure gaps when the optimum is zero.

A gap relative to the value loses its meaning when the optimum is zero. `gap_scale` is the
fallback: what one typical entry of the solution costs. The rows say how large an entry is
(:math:`x` = the median of :math:`|b_e| / \|A_e\|_F` over the rows with a right side), the objective
what a unit of it costs (:math:`c` = the median of the non-zero costs, of the variable where that
is smallest); the scale is c x, or :math:`\tfrac12 q x^2` where all costs are quadratic. It changes
with the units of data and objective exactly as the value does. The value of an unfolding, the sum
of many squared lengths, always exceeds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import ALLOWED, Array, Matrix, is_admissible
from sdpdr.base.errors import ModelError
from sdpdr.linalg import (
    BilinearForms,
    Combined,
    InnerProduct,
    LinearMap,
    Products,
    VectorMap,
)
from sdpdr.linalg.magnitudes import row_extents
from sdpdr.linalg.outer import Outer
from sdpdr.program.rows import Expression, Rows
from sdpdr.program.sdp import SDP, remembered


@remembered
def gap_scale(sdp: SDP) -> float:
    """The typical objective relative to which a value counts as zero; 0 if all data are zero.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> gap_scale(methods.mvu(graphs.path([1.0, 1.0, 3.0])).to_sdp())
    0.5
    """
    entry = _typical([_entry_sizes(r.lhs, r.rhs) for r in sdp.rows]) or _typical(
        [_entry_sizes(lmi.lhs, lmi.constant) for lmi in sdp.lmis]
    )
    linear = [_typical([_nonzeros(sdp.cost(name))]) for name in sdp.objective]
    if any(linear):
        return entry * min(c for c in linear if c)
    curvatures = [v.curvature for v in sdp.vector_variables if v.curvature is not None]
    return 0.5 * _typical(curvatures) * entry**2


def row_norms(linear_map: LinearMap | VectorMap) -> Array:
    """Frobenius norm of every row's matrix, or Euclidean norm of its vector; shape (m,).

    Examples
    --------
    >>> from sdpdr.linalg import SquaredEdgeLengths
    >>> row_norms(SquaredEdgeLengths(2, [[0, 1]]))
    array([2.])
    """
    if isinstance(linear_map, InnerProduct):
        return np.array([np.sqrt(np.sum(np.square(_nonzeros(linear_map.coefficients))))])
    if isinstance(linear_map, BilinearForms):
        f, g = linear_map.left, linear_map.right
        both = _row_sums(f * g)
        return np.sqrt((_row_sums(f * f) * _row_sums(g * g) + both**2) / 2.0)
    if isinstance(linear_map, Products):
        u = linear_map.vector
        return np.sqrt((float(u @ u) + u**2) / 2.0)
    if isinstance(linear_map, Combined) and np.all(np.diff(linear_map.weights.indptr) == 1):
        weights = linear_map.weights
        return np.abs(weights.data) * row_norms(linear_map.inner)[weights.indices]
    matrix = linear_map.matrix()
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.sqrt(np.bincount(row, np.square(matrix.data), matrix.shape[0]))


def row_sizes(rows: Rows, units: Mapping[str, float]) -> Array:
    """Norm of the coefficients of every row, in given units of the variables; 1 if all are zero."""
    sizes = (units[name] * row_norms(a) for name, a in rows.lhs.items())
    squares = sum(map(np.square, sizes), np.zeros(rows.m))
    return np.where(squares > 0.0, np.sqrt(squares), 1.0)


def _entry_sizes(lhs: Expression, rhs: Array) -> Array:
    chosen = np.flatnonzero(rhs)
    if not chosen.size or not lhs:
        return np.zeros(0)
    norms = np.sqrt(sum(np.square(row_norms(a)) for a in lhs.values()))[chosen]
    known = norms > 0.0
    return np.asarray(np.abs(rhs[chosen][known]) / norms[known])


def _typical(sizes: list[Array]) -> float:
    numbers = np.concatenate([np.zeros(0), *sizes])
    return float(np.median(numbers)) if numbers.size else 0.0


def _nonzeros(matrix: Matrix) -> Array:
    if isinstance(matrix, Outer):
        # Weights of both signs may cancel on the diagonal, and not beside it.
        outer = np.square(matrix.columns) @ np.abs(matrix.weights)
        matrix = np.abs(matrix.sparse.diagonal()) + outer
    entries = np.abs(np.ravel(matrix.data if sp.issparse(matrix) else np.asarray(matrix)))
    return entries[entries > 0.0]


def _row_sums(matrix: sp.csr_array) -> Array:
    return np.asarray(matrix.sum(axis=1)).ravel()


def require_admissible(sdp: SDP) -> SDP:
    """The program itself, if its numbers are within the range of `sdpdr.base.arrays`.

    Raises
    ------
    ModelError
        With the first row, right side, cost or constant that is not.

    Examples
    --------
    >>> from sdpdr.linalg import Trace
    >>> from sdpdr.program.point import PsdVariable
    >>> require_admissible(SDP((PsdVariable("X", 2),), {"X": 1e200 * Trace(2)}))
    Traceback (most recent call last):
    ...
    sdpdr.errors.ModelError: the objective: the largest cost on 'X' is 1e+200; it must be 0, ...
    """
    sdp.remembered(_refuse_inadmissible)
    return sdp


def _refuse_inadmissible(sdp: SDP) -> None:
    for what, where, numbers in _numbers(sdp):
        for row in np.flatnonzero(~is_admissible(numbers)):
            place = what + where.format(row=row)
            number = float(numbers[row])
            raise ModelError(f"{place} is {number:g}; it must be {ALLOWED}. Choose other units.")


def _numbers(sdp: SDP) -> Iterator[tuple[str, str, Array]]:
    """Yield arrays of numbers of a program: a description, a format for the place, the array."""
    for name, linear_map in sdp.objective.items():
        yield f"the objective: the largest cost on {name!r}", "", row_extents(linear_map)
    yield "the objective: its constant", "", np.array([sdp.constant])
    for v in sdp.vector_variables:
        if v.curvature is not None:
            yield f"variable {v.name!r}: the curvature", " of scalar {row}", v.curvature
    sides = [(r.label, r.lhs) for r in sdp.rows] + [(lmi.label, lmi.lhs) for lmi in sdp.lmis]
    for label, lhs in sides:
        for name, linear_map in lhs.items():
            what = f"rows {label!r}: the largest coefficient of {name!r}"
            yield what, " in row {row}", row_extents(linear_map)
    for r in sdp.rows:
        yield f"rows {r.label!r}: the right side", " of row {row}", r.rhs
    for lmi in sdp.lmis:
        # Only the largest is checked: a small entry of the constant may be rounding.
        largest = np.max(np.abs(lmi.constant), initial=0.0, keepdims=True)
        yield f"matrix inequality {lmi.label!r}: the largest constant", "", largest
