r"""Directions of whole numbers, checked without any rounding.

The numbers of a program are fractions, or fractions times the root of two that `svec` brings in.
An expression of theirs is :math:`p + q \sqrt 2` with fractions p and q, which vanishes only if
both do, and whose sign is that of whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg import BilinearForms, Combined, InnerProduct, LinearMap, Products, VectorMap
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.svec import Array, svec_pairs
from sdpdr.program.sdp import SDP, Expression
from sdpdr.program.variables import PsdVariable

# A number p + q sqrt 2 as (p, q).
Number: TypeAlias = tuple[Fraction, Fraction]

_ZERO = (Fraction(0), Fraction(0))
# Whole numbers tried, as multiples of the largest entry, and how far off they may be.
_MULTIPLES = (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 16, 20, 24, 25, 30, 36, 49, 64, 81, 100)
_NEAR = 1e-3
# Fractions are slow: orders, and coefficients, beyond which nothing is tried.
_ORDER, _COEFFICIENTS = 80, 300_000


def whole_direction(sdp: SDP, values: Mapping[str, Array]) -> dict[str, Array] | None:
    """Whole numbers in about the proportion given that improve a program without end.

    Returns None where there are none of small size. Whatever is returned is a direction of
    recession of the program stored, with a negative objective, in exact arithmetic.
    """
    largest = max((float(np.max(np.abs(x), initial=0.0)) for x in values.values()), default=0.0)
    if not 0.0 < largest < np.inf or any(v.n > _ORDER for v in sdp.psd_variables):
        return None
    for multiple in _MULTIPLES:
        candidate, distance = {}, 0.0
        for v in sdp.variables:
            shape = (v.n, v.n) if isinstance(v, PsdVariable) else (v.size,)
            wanted = multiple / largest * values.get(v.name, np.zeros(shape))
            candidate[v.name] = np.round(wanted) + 0.0
            distance = max(distance, float(np.max(np.abs(candidate[v.name] - wanted), initial=0.0)))
        if distance <= _NEAR * multiple and _improves(sdp, candidate):
            return candidate
    return None


def _improves(sdp: SDP, direction: Mapping[str, Array]) -> bool:
    """Whether a direction of whole numbers keeps every point feasible and lowers the objective."""
    for v in sdp.variables:
        step = direction[v.name]
        if isinstance(v, PsdVariable):
            if not is_semidefinite([[Fraction(int(x)) for x in row] for row in step]):
                return False
        elif (v.nonnegative and np.any(step < 0.0)) or (v.curvature is not None and np.any(step)):
            return False
    sides = [sdp.objective, *(r.lhs for r in sdp.rows), *(lmi.lhs for lmi in sdp.lmis)]
    if sum(_count(a) for side in sides for a in side.values()) > _COEFFICIENTS:
        return False
    if sign(_evaluate(sdp.objective, direction, 1)[0]) >= 0:
        return False
    for r in sdp.rows:
        signs = [sign(x) for x in _evaluate(r.lhs, direction, r.m)]
        if any(signs) if r.relation == "==" else any(s > 0 for s in signs):
            return False
    for lmi in sdp.lmis:
        entries = _evaluate(lmi.lhs, direction, lmi.constant.size)
        matrix = _matrix(entries, lmi.order)
        if matrix is None or not is_semidefinite(matrix):
            return False
    return True


def sign(number: Number) -> int:
    """The sign of p + q sqrt 2.

    Examples
    --------
    >>> sign((Fraction(-7, 5), Fraction(1))), sign((Fraction(-3, 2), Fraction(1)))
    (1, -1)
    """
    p, q = number
    if p >= 0 and q >= 0:
        return int(p > 0 or q > 0)
    if p <= 0 and q <= 0:
        return -1
    larger = 1 if p * p > 2 * q * q else -1
    return larger if p > 0 else -larger


def is_semidefinite(matrix: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix of fractions is positive semidefinite, by elimination.

    Examples
    --------
    >>> one, two = Fraction(1), Fraction(2)
    >>> is_semidefinite([[one, two], [two, 4 * one]]), is_semidefinite([[one, two], [two, one]])
    (True, False)
    """
    rows = [list(row) for row in matrix]
    n = len(rows)
    for k in range(n):
        pivot = rows[k][k]
        if pivot < 0 or (pivot == 0 and any(rows[k][k + 1 :])):
            return False
        for i in range(k + 1, n) if pivot else ():
            if rows[i][k]:
                share = rows[i][k] / pivot
                for j in range(i, n):
                    rows[i][j] -= share * rows[k][j]
                    rows[j][i] = rows[i][j]
    return True


def _matrix(entries: list[Number], order: int) -> list[list[Fraction]] | None:
    """The matrix of coordinates in `svec`, if its entries are fractions."""
    matrix = [[Fraction(0)] * order for _ in range(order)]
    for k, (p, q) in enumerate(entries):
        i, j = (int(x[0]) for x in svec_pairs(np.array([k])))
        if (q if i == j else p) != 0:
            return None
        matrix[i][j] = matrix[j][i] = p if i == j else q
    return matrix


def _evaluate(expression: Expression, direction: Mapping[str, Array], m: int) -> list[Number]:
    total = [_ZERO] * m
    for name, linear_map in expression.items():
        for e, (p, q) in _values(linear_map, direction[name]):
            total[e] = (total[e][0] + p, total[e][1] + q)
    return total


def _values(linear_map: LinearMap | VectorMap, step: Array) -> Iterator[tuple[int, Number]]:
    """Parts of the values of a map, by row."""
    if isinstance(linear_map, VectorMap):
        for e, j, c in _entries(linear_map.matrix()):
            yield e, (c * int(step[j]), Fraction(0))
    elif isinstance(linear_map, InnerProduct) and not isinstance(linear_map.coefficients, Outer):
        for i, j, c in _entries(linear_map.coefficients):
            yield 0, (c * int(step[i, j]), Fraction(0))
    elif isinstance(linear_map, Products):
        for i in range(linear_map.n):
            for u, x in zip(linear_map.vector, step[i], strict=True):
                yield i, (Fraction(float(u)) * int(x), Fraction(0))
    elif isinstance(linear_map, BilinearForms):
        yield from _forms(linear_map, step)
    elif isinstance(linear_map, Combined):
        inner = [_ZERO] * linear_map.inner.m
        for e, (p, q) in _values(linear_map.inner, step):
            inner[e] = (inner[e][0] + p, inner[e][1] + q)
        for e, k, c in _entries(linear_map.weights):
            yield e, (c * inner[k][0], c * inner[k][1])
    else:
        for e, column, c in _entries(linear_map.matrix()):
            i, j = (int(x[0]) for x in svec_pairs(np.array([column])))
            x = int(step[i, j])
            yield e, ((c * x, Fraction(0)) if i == j else (Fraction(0), c * x))


def _forms(forms: BilinearForms, step: Array) -> Iterator[tuple[int, Number]]:
    left, right = forms.left, forms.right
    for e in range(forms.m):
        f = range(left.indptr[e], left.indptr[e + 1])
        g = range(right.indptr[e], right.indptr[e + 1])
        for a in f:
            for b in g:
                x = int(step[left.indices[a], right.indices[b]])
                if x:
                    product = Fraction(float(left.data[a])) * Fraction(float(right.data[b]))
                    yield e, (product * x, Fraction(0))


def _entries(matrix: Array | sp.csr_array) -> Iterator[tuple[int, int, Fraction]]:
    entries = sp.csr_array(matrix).tocoo()
    for e, j, c in zip(entries.row, entries.col, entries.data, strict=True):
        if c:
            yield int(e), int(j), Fraction(float(c))


def _count(linear_map: LinearMap | VectorMap) -> int:
    """About how many products an evaluation takes."""
    if isinstance(linear_map, BilinearForms):
        return int(np.sum(np.diff(linear_map.left.indptr) * np.diff(linear_map.right.indptr)))
    if isinstance(linear_map, InnerProduct):
        return linear_map.n**2
    return int(linear_map.matrix().nnz)
