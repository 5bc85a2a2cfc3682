"""Laws of programs in exact arithmetic, on the doubles that are stored."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sdpdr.linalg import InnerProduct, Stacked, VectorMap
from sdpdr.program import SDP, PsdVariable


def matrices(linear_map):
    """The stored data of a map, row by row: matrices, or vectors of coefficients."""
    if isinstance(linear_map, VectorMap):
        return [fractions(row) for row in linear_map.matrix().toarray()]
    parts = linear_map.maps if isinstance(linear_map, Stacked) else (linear_map,)
    assert all(isinstance(part, InnerProduct) for part in parts)
    return [fractions(part.coefficients) for part in parts]


def fractions(array):
    dense = array.toarray() if hasattr(array, "toarray") else np.asarray(array)
    return np.vectorize(Fraction, otypes=[object])(dense)


def objective(sdp: SDP, values) -> Fraction:
    total = Fraction(sdp.constant)
    for name, cost in sdp.objective.items():
        total += (matrices(cost)[0] * fractions(values[name])).sum()
    return total


def left_sides(rows, values):
    total = [Fraction(0)] * rows.m
    for name, linear_map in rows.lhs.items():
        value = fractions(values[name])
        total = [t + (a * value).sum() for t, a in zip(total, matrices(linear_map), strict=True)]
    return total


def dual_slack(sdp: SDP, name: str, duals):
    """C + A*(y) - G*(Z) of a variable."""
    total = matrices(sdp.objective[name])[0]
    for rows in sdp.rows:
        if name in rows.lhs:
            for y, a in zip(duals[rows.label], matrices(rows.lhs[name]), strict=True):
                total = total + y * a
    for lmi in sdp.lmis:
        if name in lmi.lhs:
            columns = np.array(matrices(lmi.lhs[name]))
            total = total - columns.T @ np.array(duals[lmi.label])
    return total


def dual_value(sdp: SDP, duals) -> Fraction:
    total = Fraction(sdp.constant)
    for rows in sdp.rows:
        total -= sum(
            Fraction(b) * y for b, y in zip(rows.rhs.tolist(), duals[rows.label], strict=True)
        )
    for lmi in sdp.lmis:
        constant = [Fraction(c) for c in lmi.constant.tolist()]
        total -= sum(c * z for c, z in zip(constant, duals[lmi.label], strict=True))
    return total


def is_psd(matrix) -> bool:
    """By elimination without rounding: a zero pivot must have a zero row."""
    left = fractions(matrix).copy()
    assert (left == left.T).all()
    for k in range(len(left)):
        pivot = left[k, k]
        if pivot < 0 or (pivot == 0 and (left[k, k:] != 0).any()):
            return False
        if pivot > 0:
            left[k:, k:] = left[k:, k:] - np.outer(left[k:, k], left[k, k:]) / pivot
    return True


def is_positive(sdp: SDP, name: str, value) -> bool:
    if isinstance(sdp.variable(name), PsdVariable):
        return is_psd(value)
    return all(x >= 0 for x in fractions(value))
