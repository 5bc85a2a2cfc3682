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

from sdpdr.base.arrays import Array, Index, Matrix, as_real, diagonal, rows_as_they_are
from sdpdr.base.errors import ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.linalg.letters import Letters, Words
from sdpdr.linalg.svec import (
    SQRT2,
    selection,
    svec,
    svec_pairs,
)

# Entries for each column from which a combination of rows is summed in a dense vector.
_DENSE_SHARE = 0.1
# Entries for each row, or for each point, up to which a map counts as sparse.
_SPARSE_ENTRIES = 64


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
        """An upper bound of the number of entries of `matrix`, found without forming it."""
        return int(self.matrix().nnz)

    def is_wide(self, few: int = 0) -> bool:
        """Whether `matrix` has more entries than sparse rows usually have, and more than ``few``.

        Code for large programs then avoids forming it: the centring of 10,000 points alone has a
        hundred million entries.
        """
        return self.n_entries > max(few, _SPARSE_ENTRIES * (self.n + self.m))

    def apply(self, gram: Matrix) -> Array:
        """Values A(K), shape (m,), of a symmetric matrix ``gram`` of shape (n, n)."""
        self._check_order(gram.shape)
        return np.asarray(self.matrix() @ svec(gram))

    def apply_factor(self, factor: Array) -> Array:
        """Values A(R R^T) of a factor of shape (n, r), without forming the product."""
        self._check_order((factor.shape[0],) * 2)
        rows = self.matrix()
        i, j = svec_pairs(rows.indices)
        points = as_real(factor)
        products = np.einsum("ek,ek->e", points[i], points[j]) * np.where(i == j, 1.0, SQRT2)
        row = np.repeat(np.arange(self.m), np.diff(rows.indptr))
        return np.bincount(row, rows.data * products, minlength=self.m).astype(float)

    def adjoint(self, multipliers: Array) -> Matrix:
        """Symmetric matrix A*(y) with <A(K), y> = <K, A*(y)>; sparse where the map is."""
        index, weights = _combination(self.matrix(), self._check_multipliers(multipliers))
        i, j = svec_pairs(index)
        off = i != j
        row, column = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
        values = np.concatenate([np.where(off, weights / SQRT2, weights), weights[off] / SQRT2])
        order = np.lexsort((column, row))
        starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=self.n))])
        return rows_as_they_are(values[order], column[order], starts, (self.n, self.n))

    def pattern(self) -> Index:
        """Entries (i, j), i <= j, that the map reads; shape (p, 2), sorted."""
        return np.column_stack(svec_pairs(np.unique(self.matrix().indices)))

    def congruence(self, basis: Matrix) -> LinearMap:
        """Map M -> A(V M V^T) on symmetric r x r matrices, for a basis V of shape (n, r)."""
        from sdpdr.linalg.maps.given import SvecMap

        return SvecMap(self.n, self.matrix()).congruence(basis)

    def take(self, rows: Index) -> LinearMap:
        """Some of the rows, in the order given, as a map of the same kind where there is one."""
        return selection(rows, self.m) @ self

    def null_vectors(self, rhs: Array) -> sp.csr_array:
        """Vectors u, as columns, with K u = 0 for every PSD K that has A(K) = rhs.

        A reduction uses them to restrict K to a face of the cone. A map need not find any, so the
        default has no columns.
        """
        return sp.csr_array((self.n, 0))

    def formula(self, variable: str, letters: Letters) -> Words:
        """Typical row in mathematics, (plain text, LaTeX), for the variable's name.

        ``letters`` names the arrays in it, so that those of several maps can be distinguished. By
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

    # Sums and products are maps as well; the imports inside avoid a circle.
    def __add__(self, other: LinearMap) -> LinearMap:
        from sdpdr.linalg.maps.combine import Summed
        from sdpdr.linalg.maps.forms import lengths_added

        joined = lengths_added(self, other)
        return Summed((self, other)) if joined is None else joined

    def __sub__(self, other: LinearMap) -> LinearMap:
        return self + (-1.0) * other

    def __neg__(self) -> LinearMap:
        return (-1.0) * self

    def __rmul__(self, scale: float | Array) -> LinearMap:
        """Every row times a number, or row e times ``scale[e]``."""
        return diagonal(np.broadcast_to(as_real(scale), (self.m,))) @ self

    def __rmatmul__(self, weights: Any) -> LinearMap:
        """Rows combined: (T @ A)(K) = T A(K) for a matrix T of shape (p, m)."""
        from sdpdr.linalg.maps.combine import Combined

        return Combined(weights, self)

    def __getitem__(self, rows: Any) -> LinearMap:
        """The rows chosen, by anything that indexes a NumPy vector."""
        return self.take(np.atleast_1d(np.arange(self.m)[rows]))

    # NumPy and SciPy must leave `T @ A` and `t * A` to the methods above.
    __array_ufunc__ = None


def _combination(rows: sp.csr_array, multipliers: Array) -> tuple[Index, Array]:
    """Positions and values of the nonzero entries of a combination of rows."""
    if rows.nnz > _DENSE_SHARE * rows.shape[1]:
        combined = np.asarray(rows.T @ multipliers)
        index = np.flatnonzero(combined)
        return index, combined[index]
    present, place = np.unique(rows.indices, return_inverse=True)
    terms = rows.data * np.repeat(multipliers, np.diff(rows.indptr))
    sums = np.bincount(place, terms, minlength=present.size).astype(float)
    kept = sums != 0.0
    return present[kept].astype(np.intp), sums[kept]


@checks_keywords
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
    >>> from sdpdr.linalg import check_map
    >>> from sdpdr.linalg.maps.products import Trace
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
