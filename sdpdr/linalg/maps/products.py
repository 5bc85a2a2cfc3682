r"""Maps built on one matrix or vector: inner products, the trace, products K u (row sums)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix, as_real, as_whole, own_rows
from sdpdr.base.errors import ShapeError
from sdpdr.linalg.letters import Letters, Words
from sdpdr.linalg.maps.combine import Combined
from sdpdr.linalg.maps.forms import BilinearForms
from sdpdr.linalg.maps.linear import LinearMap
from sdpdr.linalg.svec import SQRT2, selected, svec_index, svec_size


class InnerProduct(LinearMap):
    r"""The single row :math:`\langle C, K\rangle`.

    Parameters
    ----------
    coefficients : array or sparse array of shape (n, n)
        C; only its symmetric part matters, and it is kept sparse if given sparse.
    """

    def __init__(self, coefficients: Any) -> None:
        c = as_real(coefficients)
        if c.ndim != 2 or c.shape[0] != c.shape[1]:
            raise ShapeError(f"an inner product needs a square matrix; it was given {c.shape}.")
        if sp.issparse(c):
            c = own_rows(c)
        self.coefficients: Matrix = (c + c.T) * 0.5
        self.n, self.m = int(c.shape[0]), 1

    @property
    def n_entries(self) -> int:
        """Number of entries of C."""
        c = self.coefficients
        return int(c.nnz) if sp.issparse(c) else self.n**2

    def matrix(self) -> sp.csr_array:
        """Sparse row on ``svec(K)``."""
        upper = sp.coo_array(sp.triu(sp.coo_array(self.coefficients)))
        values = np.where(upper.row == upper.col, upper.data, SQRT2 * upper.data)
        index = svec_index(upper.row, upper.col)
        shape = (1, svec_size(self.n))
        return sp.csr_array((values, (np.zeros_like(index), index)), shape=shape)

    def apply(self, gram: Matrix) -> Array:
        """The value <C, K>, shape (1,)."""
        self._check_order(gram.shape)
        return np.array([float((self.coefficients * gram).sum())])

    def apply_factor(self, factor: Array) -> Array:
        """The value <R, C R>, shape (1,)."""
        self._check_order((factor.shape[0],) * 2)
        return np.array([float(np.sum(factor * (self.coefficients @ factor)))])

    def adjoint(self, multipliers: Array) -> Matrix:
        """The matrix y C."""
        return self.coefficients * float(self._check_multipliers(multipliers)[0])

    def __neg__(self) -> LinearMap:
        return InnerProduct(-self.coefficients)

    def congruence(self, basis: Matrix) -> LinearMap:
        """Inner product with V^T C V."""
        return InnerProduct(basis.T @ (self.coefficients @ basis))

    def formula(self, variable: str, letters: Letters) -> Words:
        """The row in mathematics."""
        c = letters.data(self.coefficients)
        return f"⟨{c}, {variable}⟩", rf"\langle {c}, {variable}\rangle"


class Trace(InnerProduct):
    """The trace, the sum of squared norms of the points when K is a Gram matrix.

    Parameters
    ----------
    n : int
    weights : array_like of shape (n,), optional
        Weighted trace, the sum of weights_i K_ii; all one by default.
    """

    def __init__(self, n: int, weights: Any = None) -> None:
        self.weights: Array = np.ones(n) if weights is None else as_real(weights, copy=True)
        if self.weights.shape != (n,):
            raise ShapeError(f"weights must have shape ({n},); they have {self.weights.shape}.")
        self._weighted = weights is not None
        super().__init__(sp.diags_array(self.weights, format="csr"))

    def congruence(self, basis: Matrix) -> LinearMap:
        """A trace again if the basis maps points to points; weights of coinciding points add up."""
        places = selected(basis)
        if places is None:
            return super().congruence(basis)
        left = places >= 0
        weights = np.bincount(places[left], self.weights[left], minlength=basis.shape[1])
        return Trace(weights.size, weights if np.any(weights != 1.0) else None)

    def formula(self, variable: str, letters: Letters) -> Words:
        """The row in mathematics."""
        if self._weighted:
            c = letters.data(self.weights)
            return f"Σ_i {c}_i {variable}_ii", rf"\sum_i {c}_i {variable}_{{ii}}"
        return f"tr {variable}", rf"\operatorname{{tr}} {variable}"


class Products(LinearMap):
    r"""The vector K u; with u all ones, the row sums.

    The equations K u = 0 say that the points, weighted by u, have their mean at the origin.
    The matrix of this map is dense (n^2 entries): reductions read `null_vectors` instead.

    Parameters
    ----------
    n : int
    vector : array_like of shape (n,), optional
        u; all ones by default.
    """

    def __init__(self, n: int, vector: Any = None) -> None:
        self._weighted = vector is not None
        n = as_whole("the order of a matrix", n)
        self.vector: Array = np.ones(n) if vector is None else as_real(vector, copy=True)
        if self.vector.shape != (n,):
            raise ShapeError(f"vector must have shape ({n},); it has {self.vector.shape}.")
        self.n = self.m = n

    def forms(self) -> BilinearForms:
        """The rows as bilinear forms of the unit vectors and u."""
        return BilinearForms(sp.eye_array(self.n), np.tile(self.vector, (self.n, 1)))

    @property
    def n_entries(self) -> int:
        """The square of n."""
        return self.n**2

    def matrix(self) -> sp.csr_array:
        """Matrix on ``svec(K)`` (dense by nature)."""
        return self.forms().matrix()

    def apply(self, gram: Matrix) -> Array:
        """The vector K u."""
        self._check_order(gram.shape)
        return np.asarray(gram @ self.vector)

    def apply_factor(self, factor: Array) -> Array:
        """The vector R (R^T u)."""
        self._check_order((factor.shape[0],) * 2)
        return np.asarray(factor @ (factor.T @ self.vector))

    def adjoint(self, multipliers: Array) -> Matrix:
        """The dense matrix (u y^T + y u^T) / 2."""
        outer = np.outer(self.vector, self._check_multipliers(multipliers))
        return np.asarray((outer + outer.T) * 0.5)

    def pattern(self) -> Index:
        """Every entry in a row or column where u is not zero."""
        i, j = np.triu_indices(self.n)
        read = (self.vector[i] != 0) | (self.vector[j] != 0)
        return np.column_stack([i[read], j[read]]).astype(np.intp)

    def congruence(self, basis: Matrix) -> LinearMap:
        """Rows v_i^T M (V^T u), with v_i the rows of V.

        Entries of V^T u within rounding error of zero are set to zero; else M would need another
        null vector.
        """
        image = np.asarray(basis.T @ self.vector)
        sizes = np.asarray(abs(basis).T @ np.abs(self.vector))
        image[np.abs(image) <= self.n * np.finfo(float).eps * sizes] = 0.0
        return Combined(basis, Products(image.size, image))

    def null_vectors(self, rhs: Array) -> sp.csr_array:
        """The vector u itself if the whole right side is zero and u is not."""
        if np.any(rhs) or not np.any(self.vector):
            return sp.csr_array((self.n, 0))
        return sp.csr_array(self.vector[:, None])

    def formula(self, variable: str, letters: Letters) -> Words:
        """The rows in mathematics."""
        if self._weighted:
            c = letters.data(self.vector)
            return letters.within((f"{variable} {c}", f"{variable} {c}"))
        return letters.within((f"{variable} 1", rf"{variable} \mathbf{{1}}"))
