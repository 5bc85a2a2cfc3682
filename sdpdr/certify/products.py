"""Products of matrices, exact or with a bound on the rounding error of each entry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import (
    Array,
    Index,
    Matrix,
    chosen_rows,
    from_triples,
    placed,
    places_of_rows,
    row_of_each,
    rows_as_they_are,
)
from sdpdr.certify.rounding import DIGITS, UP, last_bits, longest_row
from sdpdr.linalg.rounding import UNIT, gamma, two_product
from sdpdr.linalg.svec import svec_size, upper_triangle

# Share of the rounding of a double below which the error of a long-double sum is negligible.
_CLEAR = 2.0**-4


def product(T: Matrix, A: Matrix) -> tuple[sp.csr_array, sp.csr_array | None]:
    """T A, each entry rounded once, and radii that hold the exact product; None if all are exact.

    Parameters
    ----------
    T, A : sparse arrays

    Examples
    --------
    >>> product(sp.csr_array([[1.0, 1.0]]), sp.csr_array([[3.0], [-3.0]]))[0].nnz
    0
    >>> product(sp.csr_array([[0.1]]), sp.csr_array([[0.1]]))[1].toarray() < 1e-17
    array([[ True]])
    """
    T, A = sp.csr_array(T), sp.csr_array(A)
    # Each entry of T meets one row of A.
    here, entry = meetings(T.indices, A)
    row = row_of_each(T)[here]
    place = row.astype(np.int64) * A.shape[1] + A.indices[entry]
    terms, errors = two_product(T.data[here], A.data[entry])
    return summed(place, terms, errors, (T.shape[0], A.shape[1]))


def summed(
    place: Index, terms: Array, errors: Array, shape: tuple[int, int]
) -> tuple[sp.csr_array, sp.csr_array | None]:
    """Terms and their errors added up at places of a matrix, row by row, as `product`."""
    order = np.argsort(place, kind="stable")
    place, terms, errors = place[order], terms[order], errors[order]
    starts = np.flatnonzero(np.append(True, place[1:] != place[:-1])) if place.size else place
    ends = np.append(starts[1:], place.size)
    value, radius = terms[starts], np.abs(errors[starts])
    left = np.flatnonzero(ends - starts > 1)
    if left.size:
        is_exact = _are_exact(terms, errors, starts)
        value = np.where(is_exact, np.add.reduceat(terms, starts), value)
        total, around = _sums(terms, errors, starts)
        is_known = ~is_exact & (around < np.inf)
        value, radius = np.where(is_known, total, value), np.where(is_known, around, radius)
        left = left[~(is_exact | is_known)[left]]
    for k in left:
        part = slice(starts[k], ends[k])
        parts = [*terms[part].tolist(), *errors[part].tolist()]
        value[k] = math.fsum(parts)
        radius[k] = abs(math.fsum([*parts, -value[k]])) * (1.0 + UNIT)
    row, column = np.divmod(place[starts], max(shape[1], 1))
    some = np.flatnonzero(value)
    found = from_triples(value[some], row[some], column[some], shape)
    some = np.flatnonzero(radius)
    if not some.size:
        return found, None
    return found, from_triples(np.nextafter(radius[some], np.inf), row[some], column[some], shape)


def meetings(row: Index, second: sp.csr_array) -> tuple[Index, Index]:
    """All pairs of an entry of one matrix and an entry in some row of another.

    Parameters
    ----------
    row : array of int
        The row of the other matrix, for each entry of the first one.
    second : sparse array

    Returns
    -------
    here, other : arrays of int
        Places of both among the entries.
    """
    here = np.repeat(np.arange(row.size), np.diff(second.indptr)[row])
    return here, places_of_rows(second, row)


def _sums(terms: Array, errors: Array, starts: Index) -> tuple[Array, Array]:
    """Sums of terms and their errors, and radii; infinite where the sum may be a double.

    The sums are computed in long doubles, which is much faster than `math.fsum`.
    """
    total = np.add.reduceat(terms.astype(np.longdouble) + errors, starts)
    value = np.asarray(total, dtype=float)
    missed = np.asarray(np.abs(total - value), dtype=float)
    counts = np.diff(np.append(starts, terms.size))
    unit = 1.01 * float(np.finfo(np.longdouble).eps)
    around = unit * (counts + 2) * np.add.reduceat(np.abs(terms), starts)
    is_clear = (around < missed) & (around < _CLEAR * UNIT * np.abs(value))
    return value, np.where(is_clear, missed + around, np.inf)


def _are_exact(terms: Array, errors: Array, starts: Index) -> NDArray[np.bool_]:
    """Which sums of terms are exact in every order, as whole multiples of one power of two.

    The last bits of all terms are at least this power, and no partial sum has more than 52 bits.
    """
    least = np.minimum.reduceat(last_bits(terms), starts)
    sizes = np.add.reduceat(np.abs(terms), starts)
    is_short = sizes < np.ldexp(2.0 ** (DIGITS - 1), least)
    return is_short & (np.add.reduceat(np.abs(errors), starts) == 0.0)


def forms(left: sp.csr_array, right: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array | None]:
    """The map from the upper triangle of T to :math:`f^T T g` for rows f and g, as `product`.

    Examples
    --------
    >>> rows = sp.csr_array([[1.0, 2.0]])
    >>> forms(rows, rows)[0].toarray().tolist()
    [[1.0, 4.0, 4.0]]
    """
    row = row_of_each(left)
    here, other = meetings(row, right)
    terms, errors = two_product(left.data[here], right.data[other])
    i, j = left.indices[here].astype(np.int64), right.indices[other].astype(np.int64)
    high, size = np.maximum(i, j), svec_size(left.shape[1])
    place = row[here].astype(np.int64) * size + high * (high + 1) // 2 + np.minimum(i, j)
    return summed(place, terms, errors, (left.shape[0], size))


def congruence(V: Matrix) -> tuple[sp.csr_array, sp.csr_array | None]:
    """The map from the upper triangle of T to that of V T V^T, as `product`.

    Examples
    --------
    >>> congruence(sp.csr_array([[1.0], [2.0]]))[0].toarray().ravel().tolist()
    [1.0, 2.0, 4.0]
    """
    V, (i, j) = sp.csr_array(V), upper_triangle(V.shape[0])
    return forms(chosen_rows(V, i), chosen_rows(V, j))


def rounded(
    T: Matrix, A: Matrix, radius: Matrix | None = None, *, of_first: Matrix | None = None
) -> tuple[sp.csr_array, sp.csr_array | None]:
    """T A for every A within a radius, and every T within its own, as `product`.

    Examples
    --------
    >>> one, tenth = sp.csr_array([[1.0]]), sp.csr_array([[0.1]])
    >>> rounded(3.0 * one, 2.0 * one, tenth, of_first=tenth)[1].toarray().round(9)
    array([[0.51]])
    """
    found, around = product(T, A)
    size, parts = abs(sp.csr_array(T)), [around]
    if of_first is not None:
        size = sp.csr_array(size + of_first)
        parts.append(of_first @ abs(A))
    if radius is not None:
        parts.append(size @ radius)
    some = [sp.csr_array(one) for one in parts if one is not None and one.nnz]
    if not some:
        return found, None
    return found, reduce(add, some) * (UP * (1.0 + gamma(longest_row(size))))


def exact_residual(b: Array, A: Matrix, x: Array) -> tuple[Array, Array]:
    """``b - A x``, each number rounded once, and radii, which are zero for exact numbers.

    Raises
    ------
    ArithmeticError
        If errors of products could underflow.

    Examples
    --------
    >>> exact_residual(np.array([0.5]), sp.csr_array([[0.1, 3.0]]), np.array([0.0, 0.25]))
    (array([-0.25]), array([0.]))
    """
    column = beside(sp.csr_array((x.size + 1, 0)), np.append(-x, 1.0))
    found, around = product(beside(A, b), column)
    radius = np.zeros(b.size) if around is None else around.toarray().ravel()
    return found.toarray().ravel(), radius


def beside(A: sp.csr_array, b: Array) -> sp.csr_array:
    """A with one more column.

    Examples
    --------
    >>> beside(sp.csr_array([[1.0], [2.0]]), np.array([0.0, 3.0])).toarray().tolist()
    [[1.0, 0.0], [2.0, 3.0]]
    """
    (m, n), some = A.shape, np.flatnonzero(b)
    ends = np.searchsorted(some, np.arange(m + 1))
    column = rows_as_they_are(b[some], np.zeros(some.size, dtype=np.intp), ends, (m, 1))
    return placed([(0, 0, A), (0, n, column)], (m, n + 1))


def apart(both: sp.csr_array) -> tuple[sp.csr_array, Array]:
    """All columns but the last, and the last.

    Examples
    --------
    >>> A, b = apart(sp.csr_array([[1.0, 0.0], [2.0, 3.0]]))
    >>> A.toarray().tolist(), b.tolist()
    ([[1.0], [2.0]], [0.0, 3.0])
    """
    (m, n), row = both.shape, row_of_each(both)
    is_last = both.indices == n - 1
    b = np.zeros(m)
    b[row[is_last]] = both.data[is_last]
    ends = np.concatenate([[0], np.cumsum(~is_last)])[both.indptr]
    return rows_as_they_are(both.data[~is_last], both.indices[~is_last], ends, (m, n - 1)), b


def below(radii: Sequence[tuple[Matrix | None, int]], columns: int) -> sp.csr_array | None:
    """Radii stacked by rows, where None stands for zeros; None if all are."""
    if all(one is None for one, _ in radii):
        return None
    rows = [sp.csr_array((size, columns)) if one is None else one for one, size in radii]
    return sp.csr_array(sp.vstack(rows))
