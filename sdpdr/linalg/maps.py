r"""Linear maps :math:`\mathcal A : S^n \to R^m`, the heart of the package.

A map knows how to act on a symmetric matrix, on a factor (K = R R^T, never formed), how its
adjoint looks, and how it changes under a change of basis (K = V M V^T). One object therefore
serves the cvxpy compiler, the low-rank solver and every reduction. A new map needs only
``matrix``; the methods here then follow, and a subclass overrides those it can do faster.
`sdpdr.linalg.check_map` tests the laws that bind them together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix, as_real, as_whole, own_rows
from sdpdr.base.errors import ShapeError
from sdpdr.linalg.letters import Letters, Words, subscripted, times
from sdpdr.linalg.svec import (
    SQRT2,
    selected,
    selection,
    svec,
    svec_index,
    svec_pairs,
    svec_size,
    unscaled,
)

# Numbers for every column from which on a vector with all of them is worth its memory.
_FULL = 0.1
# Entries of a sparse row, or at a point, that are nothing unusual.
_USUAL = 64


class LinearMap(ABC):
    """A linear map from symmetric n x n matrices to R^m.

    Attributes
    ----------
    n : int
        Order of the matrices it acts on.
    m : int
        Number of rows (values it yields).
    """

    n: int
    m: int

    @abstractmethod
    def matrix(self) -> sp.csr_array:
        """Sparse (m, n(n+1)/2) matrix that acts on ``svec(K)``."""

    @property
    def n_entries(self) -> int:
        """No less than the number of entries of `matrix`, told without forming it."""
        return int(self.matrix().nnz)

    def is_wide(self, few: int = 0) -> bool:
        """Whether `matrix` has more entries than is usual for sparse rows, and than a few.

        What is meant for large programs does not form it then: the centring of 10,000 points
        alone has a hundred million.
        """
        return self.n_entries > max(few, _USUAL * (self.n + self.m))

    def apply(self, gram: Matrix) -> Array:
        """Values A(K), shape (m,), of a symmetric matrix ``gram`` of shape (n, n)."""
        self._check_order(gram.shape)
        return np.asarray(self.matrix() @ svec(gram))

    def apply_factor(self, factor: Array) -> Array:
        """Values A(R R^T) of a factor of shape (n, r), without forming the product."""
        self._check_order((factor.shape[0],) * 2)
        rows = self.matrix().tocoo()
        i, j = svec_pairs(rows.col)
        points = as_real(factor)
        products = np.einsum("ek,ek->e", points[i], points[j]) * np.where(i == j, 1.0, SQRT2)
        return np.bincount(rows.row, rows.data * products, minlength=self.m).astype(float)

    def adjoint(self, multipliers: Array) -> Matrix:
        """Symmetric matrix A*(y) with <A(K), y> = <K, A*(y)>; sparse where the map is."""
        index, weights = _combination(self.matrix(), self._check_multipliers(multipliers))
        i, j = svec_pairs(index)
        off = i != j
        row, column = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
        values = np.concatenate([np.where(off, weights / SQRT2, weights), weights[off] / SQRT2])
        order = np.lexsort((column, row))
        starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=self.n))])
        entries = (values[order], column[order], starts)
        return sp.csr_array(entries, shape=(self.n, self.n))

    def pattern(self) -> Index:
        """Entries (i, j), i <= j, that the map reads; shape (p, 2), sorted."""
        return np.column_stack(svec_pairs(np.unique(self.matrix().indices)))

    def congruence(self, basis: Matrix) -> LinearMap:
        """Map M -> A(V M V^T) on symmetric r x r matrices, for a basis V of shape (n, r)."""
        return SvecMap(self.n, self.matrix()).congruence(basis)

    def take(self, rows: Index) -> LinearMap:
        """Some of the rows, in the order given, as a map of the same kind where there is one."""
        return selection(rows, self.m) @ self

    def null_vectors(self, rhs: Array) -> sp.csr_array:
        """Vectors u, as columns, with K u = 0 for every PSD K that has A(K) = rhs.

        A reduction uses them to restrict K to a face of the cone. No map is obliged to know
        any, so the default has no columns.
        """
        return sp.csr_array((self.n, 0))

    def formula(self, variable: str, letters: Letters) -> Words:
        """Typical row in mathematics, (plain text, LaTeX), for the variable's name.

        ``letters`` names the arrays in it, so that those of several maps can be told apart. By
        default the rows have a letter, which stands for the map itself.
        """
        row = letters.rows_of(self)
        return f"⟨{row}_e, {variable}⟩", rf"\langle {row}_e, {variable}\rangle"

    def _check_order(self, shape: tuple[int, ...]) -> None:
        if shape != (self.n, self.n):
            raise ShapeError(
                f"{type(self).__name__} acts on symmetric matrices of order {self.n}; "
                f"it was given shape {tuple(shape)}."
            )

    def _check_multipliers(self, multipliers: Array) -> Array:
        multipliers = np.asarray(multipliers, dtype=float)
        if multipliers.shape != (self.m,):
            raise ShapeError(
                f"{type(self).__name__} has {self.m} rows and so takes multipliers of shape "
                f"({self.m},); it was given {multipliers.shape}."
            )
        return multipliers

    # The algebra lives in `combine`, which needs this class; hence the imports inside.
    def __add__(self, other: LinearMap) -> LinearMap:
        from sdpdr.linalg.combine import Summed
        from sdpdr.linalg.forms import lengths_added

        joined = lengths_added(self, other)
        return Summed((self, other)) if joined is None else joined

    def __sub__(self, other: LinearMap) -> LinearMap:
        return self + (-1.0) * other

    def __neg__(self) -> LinearMap:
        return (-1.0) * self

    def __rmul__(self, scale: float | Array) -> LinearMap:
        """Every row times a number, or row e times ``scale[e]``."""
        scales = np.broadcast_to(as_real(scale), (self.m,))
        return sp.diags_array(scales, format="csr") @ self

    def __rmatmul__(self, weights: Any) -> LinearMap:
        """Rows combined: (T @ A)(K) = T A(K) for a matrix T of shape (p, m)."""
        from sdpdr.linalg.combine import Combined

        return Combined(weights, self)

    def __getitem__(self, rows: Any) -> LinearMap:
        """The rows chosen, by anything that indexes a NumPy vector."""
        return self.take(np.atleast_1d(np.arange(self.m)[rows]))

    # NumPy and SciPy must leave `T @ A` and `t * A` to the methods above.
    __array_ufunc__ = None


def _combination(rows: sp.csr_array, multipliers: Array) -> tuple[Index, Array]:
    """Places and numbers of the combination of rows that are not zero.

    Where rows are nearly empty, no vector with a number for every column is made: of a matrix of
    order 10,000 it would hold fifty million.
    """
    if rows.nnz > _FULL * rows.shape[1]:
        combined = np.asarray(rows.T @ multipliers)
        index = np.flatnonzero(combined)
        return index, combined[index]
    present, place = np.unique(rows.indices, return_inverse=True)
    terms = rows.data * np.repeat(multipliers, np.diff(rows.indptr))
    sums = np.bincount(place, terms, minlength=present.size).astype(float)
    kept = sums != 0.0
    return present[kept].astype(np.int64), sums[kept]


class SvecMap(LinearMap):
    """A map given by its matrix on ``svec(K)``.

    Parameters
    ----------
    n : int
        Order of the symmetric matrices.
    matrix : sparse array of shape (m, n(n+1)/2)
        One row per value.
    """

    def __init__(self, n: int, matrix: Any) -> None:
        n = as_whole("the order of a matrix", n)
        self._matrix = own_rows(matrix)
        self._natural: sp.csr_array | None = None
        self._derived: sp.csr_array | None = None
        if self._matrix.shape[1] != svec_size(n):
            raise ShapeError(
                f"a map on symmetric matrices of order {n} needs {svec_size(n)} columns; "
                f"the matrix has {self._matrix.shape[1]}."
            )
        self.n, self.m = n, int(self._matrix.shape[0])

    @classmethod
    def from_entries(cls, n: int, m: int, row: Index, i: Index, j: Index, value: Array) -> SvecMap:
        """Rows from symmetric matrices: ``value`` is entry (i, j) and (j, i) of matrix ``row``."""
        entries = (as_real(value), (row, svec_index(i, j)))
        return cls.from_natural(n, sp.csr_array(entries, shape=(m, svec_size(n))))

    @classmethod
    def from_natural(cls, n: int, entries: Any) -> SvecMap:
        """Rows whose entries are those of symmetric matrices, at the places of ``svec``."""
        natural = own_rows(entries)
        scaled = natural.copy()
        i, j = svec_pairs(scaled.indices)
        scaled.data = np.where(i == j, scaled.data, SQRT2 * scaled.data)
        made = cls(n, scaled)
        made._natural = natural
        return made

    def at(self, n: int, places: Index) -> SvecMap:
        """The map on matrices of order n that reads the entries at some places of ``svec``.

        Entries must stay on the diagonal, or off it.
        """
        made = SvecMap(n, self._matrix[:, places])
        if self._natural is not None:
            made._natural = self._natural[:, places]
        return made

    def take(self, rows: Index) -> SvecMap:
        """Some of the rows, with their entries where those are known."""
        made = SvecMap(self.n, self._matrix[rows])
        if self._natural is not None:
            made._natural = self._natural[rows]
        return made

    def natural(self) -> sp.csr_array:
        r"""Entries A_ij of the rows' matrices, at the places of ``svec`` but not scaled.

        Rows made of entries, those of a file for instance, keep them as they were. Where only
        scaled ones are known, an entry off the diagonal stands for the double a with fewest digits
        whose product with :math:`\sqrt 2` rounds to the number stored, which is how programs are
        written to files as well; it is nan where there is none.
        """
        if self._natural is not None:
            return self._natural
        if self._derived is None:
            natural = self._matrix.copy()
            i, j = svec_pairs(natural.indices)
            off = i != j
            natural.data[off] = unscaled(natural.data[off])
            self._derived = natural
        return self._derived

    @property
    def keeps_entries(self) -> bool:
        """Whether `natural` is what the map was made of, and not derived from scaled entries."""
        return self._natural is not None

    def congruence(self, basis: Matrix) -> LinearMap:
        """As of any map; to choose among points, or units of powers of two, rounds no entry."""
        units = _powers_of_two(basis)
        if units is not None:
            return self._in_units(units)
        kept = _kept(basis)
        if kept is not None:
            column, row = np.tril_indices(kept.size)
            return self.at(kept.size, svec_index(kept[row], kept[column]))
        none = sp.csr_array((0, svec_size(basis.shape[1])))
        changed = [
            sp.csr_array(svec(basis.T @ (_row_matrix(self._matrix, e, self.n) @ basis))[None, :])
            for e in range(self.m)
        ]
        return SvecMap(basis.shape[1], sp.vstack([none, *changed], format="csr"))

    def _in_units(self, units: Array) -> SvecMap:
        made = SvecMap(self.n, _in_units(self._matrix, units))
        if self._natural is not None:
            made._natural = _in_units(self._natural, units)
        else:
            made._derived = _in_units(self.natural(), units)
        return made

    def matrix(self) -> sp.csr_array:
        """Sparse (m, n(n+1)/2) matrix that acts on ``svec(K)``."""
        return self._matrix


def _powers_of_two(basis: Matrix) -> Array | None:
    """The diagonal of a sparse diagonal matrix of powers of two; None for any other."""
    if not sp.issparse(basis) or basis.shape[0] != basis.shape[1]:
        return None
    units = np.asarray(basis.diagonal(), dtype=float)
    if basis.count_nonzero() != np.count_nonzero(units):
        return None
    return units if np.all(np.frexp(units)[0] == 0.5) else None


def _kept(basis: Matrix) -> Index | None:
    """The points that the columns of a basis stand for, one each; None for any other."""
    places = selected(basis)
    if places is None:
        return None
    kept = np.flatnonzero(places >= 0)
    kept = kept[np.argsort(places[kept])]
    return kept if np.array_equal(places[kept], np.arange(basis.shape[1])) else None


def _in_units(rows: sp.csr_array, units: Array) -> sp.csr_array:
    changed = rows.copy()
    i, j = svec_pairs(changed.indices)
    changed.data = changed.data * (units[i] * units[j])
    return changed


class VectorMap:
    """A linear map on vectors, z -> B z, with the few methods it shares with `LinearMap`.

    Parameters
    ----------
    matrix : array or sparse array of shape (m, q)
    """

    def __init__(self, matrix: Any) -> None:
        self._matrix = own_rows(matrix)
        self.m, self.n = (int(k) for k in self._matrix.shape)

    def matrix(self) -> sp.csr_array:
        """Sparse matrix B of shape (m, q)."""
        return self._matrix

    def apply(self, vector: Array) -> Array:
        """Values B z, shape (m,)."""
        return np.asarray(self._matrix @ vector)

    def adjoint(self, multipliers: Array) -> Array:
        """Vector B^T y, shape (q,)."""
        return np.asarray(self._matrix.T @ multipliers)

    def take(self, rows: Index) -> VectorMap:
        """Some of the rows, in the order given."""
        return VectorMap(self._matrix[rows])

    def formula(self, variable: str, letters: Letters) -> Words:
        """Typical row in mathematics, (plain text, LaTeX)."""
        if np.all(np.diff(self._matrix.indptr) == 1):
            places = () if self.n == 1 else (letters.places(self._matrix.indices),)
            return times(letters.numbers(self._matrix.data), subscripted(variable, *places))
        if self._matrix.nnz == 0:
            return "0", "0"
        if self.m == 1 and np.all(self._matrix.toarray() == 1.0):
            return f"1ᵀ {variable}", rf"\mathbf{{1}}^\top {variable}"
        if self.m == 1:
            row = letters.data(self._matrix.toarray().ravel())
            return f"{row}ᵀ {variable}", rf"{row}^\top {variable}"
        row = letters.matrix_of_rows(self._matrix)
        return f"({row} {variable})_e", f"({row} {variable})_e"

    def __getitem__(self, rows: Any) -> VectorMap:
        """The rows chosen, by anything that indexes a NumPy vector."""
        return self.take(np.atleast_1d(np.arange(self.m)[rows]))

    def __neg__(self) -> VectorMap:
        return VectorMap(-self._matrix)

    def __rmul__(self, scale: float | Array) -> VectorMap:
        scales = np.broadcast_to(as_real(scale), (self.m,))
        return VectorMap(sp.diags_array(scales) @ self._matrix)

    def __rmatmul__(self, weights: Any) -> VectorMap:
        return VectorMap(own_rows(weights) @ self._matrix)

    __array_ufunc__ = None


def _row_matrix(rows: sp.csr_array, e: int, n: int) -> sp.csr_array:
    """Symmetric matrix of row ``e``."""
    unit = np.zeros(rows.shape[0])
    unit[e] = 1.0
    return sp.csr_array(SvecMap(n, rows).adjoint(unit))


def check_map(linear_map: LinearMap, *, seed: int = 0, tol: float = 1e-10) -> None:
    r"""Test a map's methods against each other at random points.

    The laws are :math:`\langle A(K), y\rangle = \langle K, A^*(y)\rangle`; ``apply_factor`` =
    ``apply`` of the product; ``matrix`` and ``pattern`` agree with ``apply``; ``congruence``
    agrees with ``apply`` of V M V^T; and every null vector is one.

    Parameters
    ----------
    linear_map : LinearMap
    seed : int, default 0
    tol : float, default 1e-10
        Relative error allowed.

    Raises
    ------
    AssertionError
        Naming the law that fails and by how much.

    Examples
    --------
    >>> from sdpdr.linalg.products import Trace
    >>> check_map(Trace(4))
    """
    rng = np.random.default_rng(seed)
    n, m = linear_map.n, linear_map.m
    root = rng.standard_normal((n, n))
    gram = root + root.T
    factor = rng.standard_normal((n, 3))
    y = rng.standard_normal(m)
    values = linear_map.apply(gram)

    def agree(law: str, got: object, expected: object) -> None:
        got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
        assert got.shape == expected.shape, f"{law}: shapes {got.shape} and {expected.shape}"
        error = float(np.max(np.abs(got - expected), initial=0.0))
        scale = 1.0 + float(np.max(np.abs(expected), initial=0.0))
        assert error <= tol * scale, f"{law}: they differ by {error:.1e} (scale {scale:.1e})"

    adjoint = _dense(linear_map.adjoint(y))
    agree("adjoint is symmetric", adjoint, adjoint.T)
    agree("<A(K), y> = <K, A*(y)>", values @ y, np.sum(gram * adjoint))
    product = factor @ factor.T
    agree("apply_factor = apply", linear_map.apply_factor(factor), linear_map.apply(product))
    agree("n_entries", linear_map.n_entries >= linear_map.matrix().nnz, True)
    agree("matrix @ svec(K) = A(K)", linear_map.matrix() @ svec(gram), values)

    outside = np.ones((n, n), dtype=bool)
    i, j = linear_map.pattern().T
    outside[i, j] = outside[j, i] = False
    agree("pattern holds all entries read", linear_map.apply(gram * ~outside), values)

    basis = rng.standard_normal((n, max(1, n - 1)))
    small = basis.T @ gram @ basis
    lifted = linear_map.apply(basis @ small @ basis.T)
    agree("congruence", linear_map.congruence(basis).apply(small), lifted)

    null = linear_map.null_vectors(np.zeros(m)).toarray()
    for u in null.T:
        seen = np.max(np.abs(linear_map.apply(np.outer(u, u))), initial=0.0)
        assert seen > 0.0, "null_vectors: a vector that the map does not see"


def _dense(matrix: Matrix) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
