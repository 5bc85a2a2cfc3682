r"""Formulas of symmetric matrices of expressions: ``Σ_k w_k C_k``, ``A K Aᵀ``, ``t I``.

Besides textbook notation, ``sym(S)`` is the symmetric matrix whose upper triangle is S, column by
column, ``mat(v)`` the square matrix of values row by row, and ``K[i,i]`` is ``K[numpy.ix_(i, i)]``
in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap, Summed, VectorMap
from sdpdr.linalg.letters import Letters, Words, closed, summed, times
from sdpdr.linalg.svec import (
    SQRT2,
    full_from_svec,
    order_of,
    selection,
    svec_index,
    svec_pairs,
    svec_size,
)
from sdpdr.model.affine import Affine

# Largest number of entries of a stack of matrices in a legend; relative difference of equal ones.
_STACK, _ALIKE = 1_000_000, 1e-12

# Characters that LaTeX writes as commands.
_WORDS = {"\\": r"\backslash", "^": r"\wedge", "~": r"\sim"}

Rows: TypeAlias = Callable[[Affine, Letters], Words]


def whole(matrix: Affine) -> Affine:
    """All entries of a symmetric matrix in svec coordinates, of shape (n, n).

    Examples
    --------
    >>> whole(Affine.of([1.0, 0.0, 1.0])).constant
    array([1., 0., 0., 1.])
    """
    n = order_of(matrix.m)
    return matrix.combined(full_from_svec(n), (n, n))


def matrix_words(matrix: Affine, letters: Letters, rows: Rows) -> Words:
    """A square matrix in mathematics.

    Parameters
    ----------
    matrix : Affine
        The matrix, of shape (n, n).
    letters : Letters
    rows : callable
        Takes an expression and letters, and returns the formula of a typical value.

    Examples
    --------
    >>> from sdpdr import psd, scalar
    >>> K, t = psd("K", 2), scalar("t")
    >>> matrix_words(K - 2.0 * t * np.eye(2), Letters(), lambda values, letters: ("", ""))[0]
    'K − 2 t I'
    """
    n = matrix.shape[0]
    parts = [
        _part(named(variable), linear_map, n, letters)
        for variable, linear_map in matrix.maps.items()
        if linear_map.matrix().count_nonzero()
    ]
    for product in matrix.products:
        alone = Affine({}, np.zeros(matrix.m), (n, n), matrix.declared, (product,))
        parts.append(_product(alone, letters, rows))
    if np.any(matrix.constant):
        parts.append(_numbers(matrix.constant.reshape(n, n), letters))
    return summed(parts) if parts else ("0", "0")


def named(variable: str) -> Words:
    r"""The name of a variable, as text and in LaTeX.

    Examples
    --------
    >>> named("K"), named("size")
    (('K', 'K'), ('size', '\\mathit{size}'))
    """
    latex = escaped(variable)
    return variable, latex if len(variable) == 1 else rf"\mathit{{{latex}}}"


def escaped(name: str, *, prose: bool = False) -> str:
    r"""A name in LaTeX, with special characters escaped.

    Parameters
    ----------
    name : str
    prose : bool, default False
        Whether it stands in text rather than in a formula.

    Examples
    --------
    >>> print(escaped("a_b ^ 2"), escaped("50 % & more^2", prose=True))
    a\_b\ {\wedge}\ 2 50 \% \& more$\wedge$2
    """
    opened, closing = ("$", "$") if prose else ("{", "}")
    words = {sign: opened + word + closing for sign, word in _WORDS.items()}
    spaces = {} if prose else {" ": r"\ "}
    signs = {sign: "\\" + sign for sign in "&%#$_{}"}
    known = {**signs, **words, **spaces}
    return "".join(known.get(sign, sign) for sign in " ".join(name.split()))


def formula(linear_map: LinearMap | VectorMap, name: Words, letters: Letters) -> Words:
    """A typical row of a map on a variable."""
    return linear_map.formula(name[0], letters)[0], linear_map.formula(name[1], letters)[1]


def _part(name: Words, linear_map: LinearMap | VectorMap, n: int, letters: Letters) -> Words:
    """The formula of the part of a matrix in one variable."""
    rows = linear_map.matrix()
    found = _of_one_number(name, linear_map, rows, n, letters)
    if found is None:
        found = _of_a_matrix(name, linear_map, rows, n, letters)
    if found is None and isinstance(linear_map, VectorMap):
        found = _of_a_vector(name, rows, n, letters)
    if found is not None:
        return found
    if isinstance(linear_map, Summed):
        return summed([_part(name, summand, n, letters) for summand in linear_map.maps])
    on = np.arange(n) * (n + 1)
    if np.isin(rows.nonzero()[0], on).all():
        return _function("diag", formula(linear_map.take(on), name, letters))
    return _function("mat", formula(linear_map, name, letters))


def _function(word: str, inside: Words) -> Words:
    """The formula of a named function."""
    return f"{word}({inside[0]})", rf"\operatorname{{{word}}}({inside[1]})"


def _numbers(values: Array, letters: Letters, of: Words | None = None) -> Words:
    """The formula of a matrix of numbers, times that of a scalar if one is given."""
    n, size = len(values), values.flat[0]
    factor = "1"
    if np.array_equal(values, size * np.eye(n)):
        factor, pattern = f"{size:g}", ("I", "I")
    elif np.array_equal(values, np.full((n, n), size)):
        factor, pattern = f"{size:g}", ("1 1ᵀ", r"\mathbf{1} \mathbf{1}^\top")
    else:
        letter = letters.data(values)
        pattern = letter, letter
    if of is not None:
        pattern = multiplied(of, pattern)
    return times(factor, pattern)


def _of_one_number(
    name: Words, linear_map: Any, rows: sp.csr_array, n: int, letters: Letters
) -> Words | None:
    """The formula of a constant matrix times one scalar; None if the map has another form."""
    first = int(rows.nonzero()[0][0])
    number = linear_map.take(np.array([first]))
    row = rows[[first]]
    row.eliminate_zeros()
    if row.nnz == 1 and isinstance(linear_map, VectorMap):
        row = row / row.data[0]
        number = VectorMap(row)
    pivot = int(row.indices[np.argmax(np.abs(row.data))])
    weights = rows[:, [pivot]] / row[0, pivot]
    apart = rows - weights @ row
    if apart.nnz and abs(apart).max() > _ALIKE * abs(rows).max():
        return None
    return _numbers(weights.toarray().reshape(n, n), letters, formula(number, name, letters))


def _of_a_matrix(
    name: Words, linear_map: Any, rows: sp.csr_array, n: int, letters: Letters
) -> Words | None:
    """The formula of K, a principal part, A K A^T or B K + K B^T; None for other maps."""
    size = rows.shape[1]
    order = int(svec_pairs(size - 1)[1]) + 1
    if svec_size(order) != size:
        return None
    natural = rows.tocoo(copy=True)
    i, j = svec_pairs(natural.col)
    if isinstance(linear_map, VectorMap):
        name = _function("sym", name)
    else:
        natural.data = natural.data * np.where(i == j, 1.0, SQRT2)
    by_entry = natural.tocsr()
    part = _principal(by_entry, n)
    if part is None:
        if n * n * order > _STACK:
            return None
        return _two_sided(by_entry, order, n, name, letters)
    factor, places = part
    if not np.array_equal(places, np.arange(order)):
        letter = letters.places(places)
        name = f"{name[0]}[{letter},{letter}]", f"{name[1]}[{letter},{letter}]"
    return times(f"{factor:g}", name)


def _principal(natural: sp.csr_array, n: int) -> tuple[float, Index] | None:
    """A factor and the indices of a principal part; None if the map is not one."""
    if not np.all(np.diff(natural.indptr) == 1) or np.ptp(natural.data) > _ALIKE:
        return None
    grid = natural.indices.reshape(n, n)
    low, high = svec_pairs(np.diagonal(grid))
    if not np.array_equal(low, high) or not np.array_equal(
        grid, svec_index(low[:, None], low[None, :])
    ):
        return None
    return float(natural.data[0]), low


def _two_sided(
    natural: sp.csr_array, order: int, n: int, words: Words, letters: Letters
) -> Words | None:
    """A K A^T up to sign, or B K + K B^T, found from unit matrices and tested on a random one."""
    root = np.random.default_rng(0).standard_normal((order, order))
    trial = root + root.T
    i, j = svec_pairs(np.arange(natural.shape[1]))
    expected = (natural @ trial[i, j]).reshape(n, n)
    limit = 1e-9 * max(float(np.abs(expected).max()), 1.0)
    units = natural[:, svec_index(np.arange(order), np.arange(order))].toarray()
    each = units.reshape(n, n, order)

    def fits(found: Array) -> bool:
        return bool(np.abs(found - expected).max() <= limit)

    if n == order:
        B = np.array([each[:, k, k] for k in range(order)]).T.copy()
        B[np.diag_indices(n)] /= 2.0
        if fits(B @ trial + trial @ B.T):
            b = letters.data(B)
            plain, latex = words
            return f"{b} {plain} + {plain} {b}ᵀ", rf"{b} {latex} + {latex} {b}^\top"
    A, sign = _outer_factor(natural, each, order)
    if A is None or not fits(sign * (A @ trial @ A.T)):
        return None
    a = letters.data(A)
    return times(f"{sign:g}", (f"{a} {words[0]} {a}ᵀ", rf"{a} {words[1]} {a}^\top"))


def _outer_factor(natural: sp.csr_array, each: Array, order: int) -> tuple[Array | None, float]:
    """A for which A e_k (A e_k)^T is as given, and a common sign; None if there is none."""
    n = len(each)
    sign = -1.0 if np.trace(each).sum() < 0.0 else 1.0
    spread = sign * np.diagonal(each, axis1=0, axis2=1).T  # of shape (n, order)
    if np.any(spread < 0.0):
        return None, sign
    pivot = np.argmax(spread, axis=0)
    k = np.arange(order)
    size = np.sqrt(spread[pivot, k])
    A = sign * each[:, pivot, k] / np.where(size > 0.0, size, 1.0)
    first = int(np.argmax(size))
    for other in range(order):
        if other != first and size[other] > 0.0:
            crossed = natural[:, [int(svec_index(first, other))]].toarray().reshape(n, n)
            expected = np.outer(A[:, first], A[:, other])
            A[:, other] *= -1.0 if sign * np.sum(crossed * expected) < 0.0 else 1.0
    return A, sign


def _of_a_vector(name: Words, rows: sp.csr_array, n: int, letters: Letters) -> Words | None:
    """The formula of a vector as a square matrix, or as weights of matrices; None if too large."""
    size = rows.shape[1]
    if size == n * n:
        plain, latex = _function("mat", name)
        by_row = np.arange(n * n).reshape(n, n)
        if _selects(rows, by_row):
            return plain, latex
        if _selects(rows, by_row.T):
            return f"{plain}ᵀ", rf"{latex}^\top"
    if size * n * n > _STACK:
        return None
    letter = letters.stack(rows.toarray().T.reshape(size, n, n))
    return f"Σ_k {name[0]}_k {letter}_k", rf"\sum_k {name[1]}_k {letter}_k"


def _selects(rows: sp.csr_array, places: Index) -> bool:
    """Whether rows select the values at the given positions."""
    if rows.shape != (places.size, places.size):
        return False
    return bool((rows != selection(places.ravel(), rows.shape[1])).nnz == 0)


def _product(alone: Affine, letters: Letters, rows: Rows) -> Words:
    """The formula of a parameter times a matrix, or of a matrix of products."""
    (product,) = alone.products
    factor, of = product.factor, product.of
    on_all = _selects(product.weights, np.arange(alone.m)) and of.shape == alone.shape
    if not (on_all and _is_one_number(factor)):
        return _function("mat", rows(alone, letters))
    return multiplied(rows(factor[:1], letters), matrix_words(of, letters, rows))


def _is_one_number(factor: Affine) -> bool:
    """Whether all values of an expression are the same."""
    by_row = [linear_map.matrix() for linear_map in factor.maps.values()]
    same = all((a != a[np.zeros(factor.m, dtype=int)]).nnz == 0 for a in by_row)
    return same and float(np.ptp(factor.constant)) == 0.0


def multiplied(one: Words, other: Words) -> Words:
    """The product of two formulas."""
    return f"{closed(one[0])} {closed(other[0])}", f"{closed(one[1])} {closed(other[1])}"
