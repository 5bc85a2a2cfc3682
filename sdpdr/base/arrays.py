"""Types of arrays, conversion to doubles, and the range of numbers that data may hold.

Data may hold zero and absolute values from 1e-100 to 1e100. Outside this range squares and products
overflow or underflow, and results are silently wrong. The range has room for lengths in any unit:
sizes of atoms in light years, squared, are 1e-52. Every number in a file must lie in it. In a
program, an entry may be arbitrarily small beside the largest of its row, where it counts as zero; a
row or a right-hand side as a whole may not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.errors import DataError, DataTypeError, ShapeError

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
# A dense array or a sparse one; SciPy has no types that distinguish them.
Matrix: TypeAlias = Any
# What a matrix holds besides its arrays, since SciPy's constructor checks its arguments; and the
# largest 32-bit index.
_NOTHING = vars(sp.csr_array((0, 0)))
_LARGEST_INDEX = np.iinfo(np.int32).max
# Entries of a dense array up to which a product takes less time than SciPy's calls.
_DENSE = 100_000
# Relative to the largest entry: the error on the diagonal of a matrix of distances computed from
# inner products, sqrt(machine epsilon), with a margin.
ROUNDING = 1e-7


def as_real(numbers: Any, copy: bool = False) -> Any:
    """Convert numbers to doubles; sparse input stays sparse."""
    if type(numbers) is np.ndarray and numbers.dtype == float and not copy:
        return numbers  # the usual case, which must be cheaper than a small product
    if isinstance(numbers, Real):  # also whole numbers too long for an array
        try:
            return np.asarray(float(numbers))
        except OverflowError:
            raise DataTypeError("coefficients must be doubles; this number is too large.") from None
    if np.ma.is_masked(numbers):
        raise DataTypeError("coefficients must be numbers; some of these are masked.")
    given = numbers if sp.issparse(numbers) else np.asarray(numbers)
    if given.dtype.kind == "c":
        raise DataTypeError(
            "coefficients must be real; these are complex. Write a Hermitian matrix A + iB as the "
            "real symmetric one [[A, -B], [B, A]] of twice the order."
        )
    if given.dtype.kind not in "biuf":
        raise DataTypeError(f"coefficients must be numbers; these are {given.dtype}.")
    return given.astype(float, copy=copy)


def own_rows(matrix: Any) -> sp.csr_array:
    """Copy a matrix in CSR format, with sorted indices and without duplicates."""
    given = as_real(matrix)
    if given.ndim != 2:
        raise ShapeError(f"a matrix has two dimensions; this one has shape {given.shape}.")
    # SciPy takes five times as long to copy a matrix as to copy its arrays.
    if not sp.issparse(given):
        row, column = np.nonzero(given)
        ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=given.shape[0]))])
        return rows_as_they_are(given[row, column], column, ends, given.shape)
    if given.format == "csr":
        own = rows_as_they_are(
            given.data.copy(), given.indices.copy(), given.indptr.copy(), given.shape
        )
    else:
        own = sp.csr_array(given, copy=True)
    own.sum_duplicates()
    return own


def rows_as_they_are(
    data: Array, indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> sp.csr_array:
    """Make a CSR matrix of arrays that are known to be valid, without SciPy's checks."""
    found = object.__new__(sp.csr_array)
    vars(found).update(_NOTHING)
    kind = np.int32 if max(*shape, data.size) <= _LARGEST_INDEX else np.int64
    found._shape = shape
    found.data, found.indices = data, indices.astype(kind, copy=False)
    found.indptr = indptr.astype(kind, copy=False)
    return found


def scaled(matrix: sp.csr_array, rows: Array | None = None, columns: Array | None = None) -> Any:
    """Multiply each row and each column of a CSR matrix by a number.

    A product with a diagonal matrix is the same; SciPy takes ten times as long where it is small.

    Examples
    --------
    >>> scaled(sp.csr_array([[1.0, 2.0], [0.0, 3.0]]), np.array([1.0, 10.0])).toarray().tolist()
    [[1.0, 2.0], [0.0, 30.0]]
    """
    data = matrix.data
    if rows is not None:
        data = np.repeat(rows, np.diff(matrix.indptr)) * data
    if columns is not None:
        data = data * columns[matrix.indices]
    found = rows_as_they_are(data, matrix.indices.copy(), matrix.indptr.copy(), matrix.shape)
    # Products with a diagonal matrix keep no zeros either.
    found.eliminate_zeros()
    return found


def transposed(matrix: sp.csr_array, times: float = 1.0) -> sp.csr_array:
    """Make the transpose of a CSR matrix, times a number, as a CSR matrix.

    SciPy takes several times as long where it is small.

    Examples
    --------
    >>> transposed(sp.csr_array([[1.0, 2.0], [0.0, 3.0]]), -1.0).toarray().tolist()
    [[-1.0, 0.0], [-2.0, -3.0]]
    """
    (m, n), columns = matrix.shape, matrix.indices
    order = np.argsort(columns, kind="stable")
    row = row_of_each(matrix)[order]
    ends = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=n))])
    return rows_as_they_are(times * matrix.data[order], row, ends, (n, m))


def light(matrix: Matrix) -> Matrix:
    """Make a dense array of a small sparse one, whose products take less time; else CSR."""
    if matrix.shape[0] * matrix.shape[1] <= _DENSE:
        return matrix.toarray() if sp.issparse(matrix) else matrix
    return matrix if isinstance(matrix, sp.csr_array) else sp.csr_array(matrix)


def diagonal(numbers: Array) -> sp.csr_array:
    """Make a square CSR matrix of the numbers on its diagonal."""
    m = numbers.size
    return rows_as_they_are(numbers.copy(), np.arange(m), np.arange(m + 1), (m, m))


def is_diagonal(matrix: sp.csr_array) -> bool:
    """Whether a square CSR matrix stores the entries of its diagonal, and no others.

    Examples
    --------
    >>> is_diagonal(diagonal(np.ones(2))), is_diagonal(sp.csr_array([[1.0, 1.0], [0.0, 0.0]]))
    (True, False)
    """
    m, places = matrix.shape[0], np.arange(matrix.shape[0] + 1)
    return (
        matrix.shape == (m, m)
        and np.array_equal(matrix.indptr, places)
        and np.array_equal(matrix.indices, places[:-1])
    )


def as_whole(what: str, number: Any) -> int:
    """Return a whole number as a Python int, whose products cannot overflow."""
    if not isinstance(number, Integral):
        raise DataTypeError(f"{what} must be a whole number; it is {number!r}.")
    return int(number)


# Absolute values of numbers in data; the header says why.
SMALLEST, LARGEST = 1e-100, 1e100
ALLOWED = f"0, or a number of absolute value from {SMALLEST:g} to {LARGEST:g}"

_NOT_ZERO = re.compile(r"[-+]?[0._]*[1-9]")


def is_admissible(numbers: Any) -> NDArray[np.bool_]:
    """Whether each number is zero or has an absolute value in range; False for nan and infinity."""
    size = np.abs(np.asarray(numbers, dtype=float))
    return np.asarray((size == 0.0) | ((size >= SMALLEST) & (size <= LARGEST)))


def is_written_admissibly(word: str) -> bool:
    """Whether the number in a text is admissible before it is rounded to a double."""
    value = float(word)
    vanished = value == 0.0 and _NOT_ZERO.match(word.strip()) is not None
    return not vanished and bool(is_admissible(value))


# Sums of squares of larger entries overflow, and squares of smaller ones lose digits.
_LARGEST, _SMALLEST = 1e140, 1e-140


def require_squares(values: Array, name: str = "X") -> None:
    """Refuse entries whose squares double precision does not hold."""
    largest = float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))
    if largest > _LARGEST or 0.0 < largest < _SMALLEST:
        raise DataError(
            f"the largest entry of {name} is {largest:.3g}; sums of squares need absolute values "
            f"between {_SMALLEST:g} and {_LARGEST:g}. Rescale {name}."
        )


def largest(numbers: Any) -> float:
    """Return the largest absolute value, dense or sparse; 0 of no numbers."""
    entries = numbers.data if sp.issparse(numbers) else np.asarray(numbers)
    return float(np.max(np.abs(entries), initial=0.0))


def places_of_rows(matrix: sp.csr_array, rows: Index) -> Index:
    """Return the positions of the entries of some rows in ``matrix.data``, row by row."""
    return places_in_runs(matrix.indptr, rows)


def places_in_runs(ends: Index, runs: Index) -> Index:
    """Return the positions in some runs, one after the other; run k begins at ``ends[k]``.

    Examples
    --------
    >>> places_in_runs(np.array([0, 2, 5]), np.array([1, 0])).tolist()
    [2, 3, 4, 0, 1]
    """
    counts = (ends[1:] - ends[:-1])[runs]
    before = np.cumsum(counts) - counts
    return np.arange(np.sum(counts)) + np.repeat(ends[runs] - before, counts)


def from_places(entries: Iterable[tuple[int, int, Any]], shape: tuple[int, int]) -> sp.csr_array:
    """Make a sparse array of triples (row, column, value); values may be fractions."""
    known = list(entries)
    data = np.array([float(value) for _, _, value in known])
    return sp.csr_array((data, ([i for i, _, _ in known], [j for _, j, _ in known])), shape=shape)


def chosen_rows(matrix: sp.csr_array, rows: Index) -> sp.csr_array:
    """Make a CSR matrix of some rows of another; ``matrix[rows]`` takes SciPy ten times as long.

    Examples
    --------
    >>> chosen_rows(sp.csr_array([[1.0], [2.0], [3.0]]), np.array([2, 0])).toarray().tolist()
    [[3.0], [1.0]]
    """
    places = places_of_rows(matrix, rows)
    ends = np.concatenate([[0], np.cumsum(np.diff(matrix.indptr)[rows])])
    shape = (rows.size, matrix.shape[1])
    return rows_as_they_are(matrix.data[places], matrix.indices[places], ends, shape)


def row_of_each(matrix: sp.csr_array) -> Index:
    """Return the row of each entry in ``matrix.data``."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def from_triples(data: Array, row: Index, column: Index, shape: tuple[int, int]) -> sp.csr_array:
    """Make a CSR matrix of entries, of which those at the same place are added.

    Examples
    --------
    >>> three = np.array([2.0, 1.0, 1.0]), np.array([1, 0, 1]), np.array([0, 1, 0])
    >>> from_triples(*three, (2, 2)).toarray().tolist()
    [[0.0, 1.0], [3.0, 0.0]]
    """
    order = np.argsort(row, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    found = rows_as_they_are(data[order], column[order], ends, shape)
    found.sum_duplicates()
    return found


def placed(blocks: Iterable[tuple[int, int, sp.sparray]], shape: tuple[int, int]) -> sp.csr_array:
    """Assemble a matrix of blocks, each with the row and column of its first entry."""
    rows, columns = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
    numbers = [np.zeros(0)]
    for row, column, block in blocks:
        entries = block if isinstance(block, sp.csr_array) else sp.csr_array(block)
        rows.append(row_of_each(entries) + row)
        columns.append(entries.indices + np.intp(column))
        numbers.append(entries.data)
    data, where = np.concatenate(numbers), (np.concatenate(rows), np.concatenate(columns))
    return from_triples(data, *where, shape)


def seem_distances(X: Any) -> bool:
    """Whether an array has the form of a matrix of distances, some of which may be nan."""
    if getattr(X, "ndim", 0) != 2 or X.shape[0] != X.shape[1] or not hasattr(X, "diagonal"):
        return False
    apart, known = ~np.eye(len(X), dtype=bool), np.isfinite(X)
    if not known[apart].any():
        return False
    # Computed distances are symmetric up to rounding, their diagonal is zero up to its square root.
    rounding = ROUNDING * float(np.max(X[known]))
    if np.any(np.abs(X.diagonal()) > rounding) or np.any(X[apart & known] <= 0.0):
        return False
    both = known & known.T
    i, j = np.nonzero(both)
    return bool(np.all(np.abs(X[i, j] - X[j, i]) <= rounding))
