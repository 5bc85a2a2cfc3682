r"""Sparse factorizations P^T A P = L D L^T of many symmetric matrices with one pattern.

Two kinds of libraries do the work. Those of `sdpdr.linalg.ldl` are always there, and order by
minimum degree. Intel's PARDISO (package ``mkl``, the extra ``sdpdr[mkl]``) collects columns into
supernodes, orders by nested dissection and factors three times as fast on graphs with 100,000
nodes; it is used wherever it is installed.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import ModelError, PackageMissingError, UnknownNameError
from sdpdr.linalg import mkl
from sdpdr.linalg.ldl import SparseLdl, sparse_ldl

_Factors = TypeVar("_Factors")
BACKENDS = ("auto", "mkl", "qdldl")
# PARDISO replaces pivots below 10^-this of the matrix; interior-point matrices span 20 decades.
_PERTURBATION = 20


class SymmetricFactor(ABC):
    """Factors of symmetric matrices that share one pattern."""

    backend: str

    @abstractmethod
    def __init__(self, upper: sp.csc_array | sp.csr_array, pairs: bool = True) -> None: ...

    @abstractmethod
    def factorize(self, data: Array) -> int:
        """Factor the matrix with these entries; return the number of its negative eigenvalues."""

    @abstractmethod
    def solve(self, right: Array) -> Array:
        """Solution of A x = right with the last factors; shape (n,)."""

    def solve_all(self, right: Array) -> Array:
        """Solutions for every column of a right side; shape (n, k)."""
        return np.column_stack([self.solve(one) for one in np.ascontiguousarray(right.T)])

    @property
    @abstractmethod
    def nnz(self) -> int:
        """Number of entries of the factor L."""


class _Simplicial(SymmetricFactor):
    backend = "qdldl"

    def __init__(self, upper: sp.csc_array | sp.csr_array, pairs: bool = True) -> None:
        columns, self._order = _compressed(upper, "csc")
        self._matrix = sp.csc_matrix(columns)  # qdldl does not accept sparse arrays
        self._factors: SparseLdl | None = None

    def factorize(self, data: Array) -> int:
        self._matrix.data = data if self._order is None else data[self._order]
        try:
            if self._factors is None:
                self._factors = sparse_ldl(self._matrix)
            else:
                self._factors.update(self._matrix)
        except ArithmeticError:
            return -1
        return int(np.count_nonzero(self._factors.pivots < 0))

    def solve(self, right: Array) -> Array:
        return _ready(self._factors).solve(right)

    @property
    def nnz(self) -> int:
        return int(_ready(self._factors).lower.nnz)


class _Pardiso(SymmetricFactor):
    backend = "mkl"

    def __init__(self, upper: sp.csc_array | sp.csr_array, pairs: bool = True) -> None:
        rows, self._order = _compressed(upper, "csr")
        self._pattern = (rows.indptr.astype(np.int32), rows.indices.astype(np.int32))
        self._data = np.zeros(rows.nnz)
        self._parameters = p = np.zeros(64, dtype=np.int32)
        p[0] = 1  # the values below, not the defaults
        p[1] = 2  # nested dissection
        p[9] = _PERTURBATION
        p[20] = int(pairs)
        p[34] = 1  # indices from zero
        self._begin()

    def _begin(self) -> None:
        """Start with a new handle, without factors."""
        self._generation = mkl.Forked.generation
        self._handle = np.zeros(64, dtype=np.int64)
        self._parameters[17] = -1  # count the entries of the factor
        self._analysed = self._factored = False
        self._finalizer = weakref.finalize(
            self, mkl.release, self._handle, self._parameters, *self._pattern
        )

    def _take_over(self) -> bool:
        """In a forked process, start again; whether factors of the parent's threads were lost."""
        if self._generation == mkl.Forked.generation:
            return False
        had_factors = self._factored
        self._finalizer.detach()
        self._begin()
        return had_factors

    def factorize(self, data: Array) -> int:
        self._take_over()
        ordered = data if self._order is None else data[self._order]
        self._data = np.ascontiguousarray(ordered, dtype=float)
        if not self._analysed:
            self._call(mkl.ANALYSE)
            self._analysed = True
        failed = self._call(mkl.FACTORIZE)
        self._factored = not failed
        return -1 if failed or self._parameters[13] else int(self._parameters[22])

    def solve(self, right: Array) -> Array:
        if self._take_over():
            self._call(mkl.ANALYSE)
            self._analysed = True
            self._factored = not self._call(mkl.FACTORIZE)
        _ready(self._analysed or None)
        right = np.ascontiguousarray(right, dtype=float)
        solution = np.empty_like(right)
        self._call(mkl.SOLVE, right, solution)
        return solution

    @property
    def nnz(self) -> int:
        _ready(self._analysed or None)
        return int(self._parameters[17])

    def _call(self, phase: int, right: Array | None = None, solution: Array | None = None) -> bool:
        """Run a phase; return whether it failed for numerical reasons."""
        matrix = (self._data, *self._pattern)
        error = mkl.pardiso(self._handle, phase, self._parameters, matrix, right, solution)
        if error == mkl.OUT_OF_MEMORY:
            raise MemoryError("the sparse factor does not fit into memory.")
        if error and phase == mkl.ANALYSE:
            raise ValueError(f"PARDISO refuses the pattern (error {error}).")
        return error != 0


def symmetric_factor(
    upper: sp.csc_array | sp.csr_array, backend: str = "auto", *, pairs: bool = True
) -> SymmetricFactor:
    """Prepare the factorization of matrices on one pattern."""
    if backend not in BACKENDS:
        raise UnknownNameError("factorization backend", backend, BACKENDS)
    if backend == "mkl" and not mkl.available():
        raise PackageMissingError("package 'mkl' is missing: pip install \"sdpdr[mkl]\"")
    kind = _Simplicial if backend == "qdldl" or not mkl.available() else _Pardiso
    return kind(upper, pairs)


def _compressed(
    upper: sp.csc_array | sp.csr_array, format: str
) -> tuple[sp.csc_array | sp.csr_array, Index | None]:
    """The pattern in a format, and the order of entries in it; None if it has that format."""
    if upper.format == format:
        return upper, None
    places = np.arange(upper.nnz)
    other = type(upper)((places, upper.indices, upper.indptr), upper.shape).asformat(format)
    other.sort_indices()
    return other, other.data


def _ready(factors: _Factors | None) -> _Factors:
    """The factors, if there are any; an error otherwise."""
    if factors is None:
        raise ModelError("factorize must be called, and succeed, before solve.")
    return factors
