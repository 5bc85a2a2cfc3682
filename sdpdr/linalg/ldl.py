r"""Sparse factorizations P^T A P = L D L^T on one processor, without dense blocks.

`qdldl` does the work where it is installed. Elsewhere SciPy's SuperLU does, in its symmetric mode:
with pivots from the diagonal, U is D L^T up to rounding. It takes about twice as long.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import PackageMissingError
from sdpdr.base.packages import version_of

_SYMMETRIC = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


class SparseLdl(ABC):
    """Factors of a symmetric matrix.

    Attributes
    ----------
    pivots : array
        The diagonal of D.
    order : array of int
        Which row and column of A is each of P^T A P.
    """

    pivots: Array
    order: Index

    @abstractmethod
    def update(self, upper: sp.csc_matrix) -> None:
        """Factor another matrix of the same pattern.

        Raises
        ------
        ArithmeticError
            If a pivot is zero.
        """

    @property
    @abstractmethod
    def lower(self) -> sp.csc_array:
        """L without its diagonal, which is one."""

    @abstractmethod
    def solve(self, right: Array) -> Array:
        """Solution of A x = right; shape (n,)."""

    @abstractmethod
    def asymmetry(self) -> Array:
        r"""Row sums of a bound on :math:`|P L (U - D L^T) P^T|`, where U replaces D L^T."""


def sparse_ldl(upper: sp.csc_matrix) -> SparseLdl:
    """Factor a symmetric matrix given by its upper triangle, by qdldl or by SciPy.

    Raises
    ------
    ArithmeticError
        If a pivot is zero.
    PackageMissingError
        If qdldl was built for another NumPy, with which its factors are wrong.

    Examples
    --------
    >>> factors = sparse_ldl(sp.csc_matrix([[2.0, 1.0], [0.0, 2.0]]))
    >>> factors.pivots, factors.solve(np.array([3.0, 3.0]))
    (array([2. , 1.5]), array([1., 1.]))
    """
    return _Qdldl(upper) if _qdldl() is not None else _SuperLu(upper)


@cache
def _qdldl() -> Any:
    """The module qdldl, if it is installed; builds for another NumPy return wrong factors."""
    if find_spec("qdldl") is None:
        return None
    import qdldl

    matrix = sp.csc_matrix(np.array([[2.0, 1.0], [0.0, 2.0]]))
    lower, pivots, order = qdldl.Solver(matrix, True).factors()
    if not np.allclose(np.sort(pivots), [1.5, 2.0]) or sorted(order) != [0, 1] or lower.nnz != 1:
        raise PackageMissingError(
            f"qdldl {version_of('qdldl')} is not compatible with NumPy {np.__version__}: its "
            "factors are wrong. Install another version: pip install --upgrade qdldl."
        )
    return qdldl


class _Qdldl(SparseLdl):
    """Factors by qdldl, which orders by approximate minimum degree."""

    def __init__(self, upper: sp.csc_matrix) -> None:
        with _singular():
            self._solver = _qdldl().Solver(upper, True)
        self._read()

    def update(self, upper: sp.csc_matrix) -> None:
        with _singular():
            self._solver.update(upper, True)
        self._read()

    def _read(self) -> None:
        self._lower, self.pivots, self.order = self._solver.factors()

    @property
    def lower(self) -> sp.csc_array:
        return sp.csc_array(self._lower)

    def solve(self, right: Array) -> Array:
        return np.asarray(self._solver.solve(right))

    def asymmetry(self) -> Array:
        return np.zeros(self.pivots.size)


class _SuperLu(SparseLdl):
    """Factors by SciPy's SuperLU, which orders by multiple minimum degree."""

    def __init__(self, upper: sp.csc_matrix) -> None:
        with _singular():
            self.order = np.argsort(splu(_whole(upper), "MMD_AT_PLUS_A", **_SYMMETRIC).perm_c)
        self.update(upper)

    def update(self, upper: sp.csc_matrix) -> None:
        turned = _whole(upper)[self.order][:, self.order]
        with _singular():
            self._factors = splu(turned, "NATURAL", **_SYMMETRIC)
        if np.any(self._factors.perm_r != np.arange(len(self.order))):
            raise ArithmeticError("a pivot is zero")
        self.pivots = self._factors.U.diagonal()

    @property
    def lower(self) -> sp.csc_array:
        lower = sp.csc_array(sp.tril(self._factors.L, -1))
        lower.eliminate_zeros()
        return lower

    def solve(self, right: Array) -> Array:
        x = np.empty(len(self.order))
        x[self.order] = self._factors.solve(np.asarray(right, dtype=float)[self.order])
        return x

    def asymmetry(self) -> Array:
        L, U = sp.csr_array(self._factors.L), sp.csr_array(self._factors.U)
        mirrored = sp.csr_array(sp.diags_array(self.pivots) @ L.T)
        # Products and differences are rounded once each.
        rounded = np.finfo(float).eps * (abs(U) + abs(mirrored))
        apart = abs(L) @ (abs(U - mirrored) + rounded).sum(axis=1)
        found = np.empty(len(self.order))
        # Sums of nonnegative terms, whose own rounding is below one per cent.
        found[self.order] = 1.01 * apart
        return found


def _whole(upper: sp.csc_matrix) -> sp.csc_array:
    """Both triangles of a matrix."""
    whole = sp.csc_array(upper + sp.triu(upper, 1).T)
    if not np.isfinite(whole.data).all():
        raise ArithmeticError("the matrix is not finite")
    return whole


@contextmanager
def _singular() -> Iterator[None]:
    """Raise an error of arithmetic where a library says that a matrix is singular."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise ArithmeticError(str(error)) from None
