r"""Which numbers data may hold: zero, and sizes from 1e-100 to 1e100.

Beyond, squares and products of what people pass overflow or vanish somewhere on the way, and what
comes out is wrong without a word. Within, there is room for lengths in any unit: those of atoms in
light years, squared, are 1e-52. Numbers in files are held to this one by one. In a program, an
entry may be as small as it likes beside the largest of its row, where it counts as zero; a row or
a right side as a whole may not.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.linalg.combine import Combined, Stacked, Summed
from sdpdr.linalg.forms import BilinearForms
from sdpdr.linalg.maps import LinearMap, VectorMap
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.products import InnerProduct, Products
from sdpdr.linalg.svec import Array

SMALLEST, LARGEST = 1e-100, 1e100
ALLOWED = f"0, or a number of a size from {SMALLEST:g} to {LARGEST:g}"

_NOT_ZERO = re.compile(r"[-+]?[0._]*[1-9]")


def is_admissible(numbers: Any) -> NDArray[np.bool_]:
    """Whether each number is zero or of a size in the range; False for nan and infinity.

    Examples
    --------
    >>> is_admissible([0.0, -1e-30, 1e300, 1e-320, np.nan]).tolist()
    [True, True, False, False, False]
    """
    size = np.abs(np.asarray(numbers, dtype=float))
    return np.asarray((size == 0.0) | ((size >= SMALLEST) & (size <= LARGEST)))


def is_written_admissibly(word: str) -> bool:
    """Whether the number that a word writes is admissible, as written and not as it is read.

    Examples
    --------
    >>> [is_written_admissibly(word) for word in ("0.00", "1e-30", "1e-400", "1e400")]
    [True, True, False, False]
    """
    value = float(word)
    vanished = value == 0.0 and _NOT_ZERO.match(word.strip()) is not None
    return not vanished and bool(is_admissible(value))


def row_extents(linear_map: LinearMap | VectorMap) -> Array:
    """A number for each row that is about its largest entry in size, and at least that.

    Zero, nan and infinity are told exactly; nothing is squared.

    Examples
    --------
    >>> from sdpdr.linalg import SquaredEdgeLengths
    >>> row_extents(1e-200 * SquaredEdgeLengths(2, [[0, 1]]))
    array([1.e-200])
    """
    if isinstance(linear_map, Combined):
        return np.asarray(abs(linear_map.weights) @ row_extents(linear_map.inner))
    if isinstance(linear_map, Stacked):
        return np.concatenate([row_extents(a) for a in linear_map.maps])
    if isinstance(linear_map, Summed):
        return np.asarray(sum(row_extents(a) for a in linear_map.maps))
    if isinstance(linear_map, InnerProduct):
        return np.array([_largest(linear_map.coefficients)])
    if isinstance(linear_map, Products):
        return np.full(linear_map.m, _largest(linear_map.vector))
    if isinstance(linear_map, BilinearForms):
        return np.asarray(_row_largest(linear_map.left) * _row_largest(linear_map.right))
    return _row_largest(linear_map.matrix())


def _largest(matrix: Any) -> float:
    if isinstance(matrix, Outer):
        parts = (matrix.sparse.data, np.square(matrix.columns) * matrix.weights)
        return max(_largest(part) for part in parts)
    return float(np.max(np.abs(matrix.data if sp.issparse(matrix) else matrix), initial=0.0))


def _row_largest(matrix: sp.csr_array) -> Array:
    if matrix.shape[1] == 0 or matrix.shape[0] == 0:
        return np.zeros(matrix.shape[0])
    return np.asarray(abs(matrix).max(axis=1).toarray(), dtype=float).ravel()
