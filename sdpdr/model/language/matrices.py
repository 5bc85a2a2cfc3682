"""Positive semidefinite matrices as expressions whose parts and products stay sparse."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, as_real
from sdpdr.base.errors import ModelError, ShapeError, UnknownNameError
from sdpdr.linalg import (
    BilinearForms,
    Diagonal,
    Entries,
    InnerProduct,
    LinearMap,
    Products,
    QuadraticForms,
    SquaredEdgeLengths,
    Trace,
)
from sdpdr.model.affine import (
    Affine,
    Axes,
    Operators,
    constant_of,
    pairs_of,
    part_of,
    shape_of_sums,
)
from sdpdr.program.point import PsdVariable

# Largest number of values of a matrix that become one expression; beyond, name the needed ones.
_WHOLE = 4_000_000


class PsdMatrix(Operators):
    """A positive semidefinite matrix, as `psd` makes it.

    Entries, distances, sums and products are made as structured maps, never from the dense matrix.
    Other maps of `sdpdr.linalg` are applied by ``@``, as in ``Trace(n, weights) @ K``.

    Parameters
    ----------
    variable : PsdVariable
    """

    def __init__(self, variable: PsdVariable) -> None:
        self.variable = variable
        self.n = variable.n
        self.shape = (variable.n, variable.n)

    @property
    def name(self) -> str:
        """The name of the variable."""
        return self.variable.name

    def affine(self) -> Affine:
        """All entries, row by row.

        Raises
        ------
        ModelError
            If there are too many of them.
        """
        if self.n**2 > _WHOLE:
            raise ModelError(
                f"all {self.n}^2 entries of {self.name} are too many to write down; name the ones "
                f"that matter, as in {self.name}[i, j], {self.name}.distance2(i, j) or "
                f"{self.name}.inner(C)."
            )
        i, j = np.indices(self.shape)
        return self._of(Entries(self.n, np.column_stack([i.ravel(), j.ravel()])), self.shape)

    def at(self, values: Mapping[str, Any]) -> Any:
        """Its value at a point, which may be a `Factor`."""
        if self.name not in values:
            raise UnknownNameError("variable", self.name, values)
        return values[self.name]

    def _of(self, linear_map: Any, shape: tuple[int, ...]) -> Affine:
        """An expression in the matrix."""
        return Affine.in_variable(linear_map, self.variable, shape)

    def __getitem__(self, index: Any) -> Affine:
        # Rows and columns of all entries, none of which is stored.
        i, j = (
            np.asarray(part_of(self, np.broadcast_to(each, self.shape), index))
            for each in (np.arange(self.n)[:, None], np.arange(self.n))
        )
        return self._of(Entries(self.n, np.column_stack([i.ravel(), j.ravel()])), i.shape)

    @property
    def T(self) -> Any:
        """The matrix itself."""
        return self

    def trace(self) -> Affine:
        r""":math:`\operatorname{tr} K`."""
        return self._of(Trace(self.n), ())

    def diagonal(self) -> Affine:
        """The entries K_ii."""
        return self._of(Diagonal(self.n), (self.n,))

    def sum(self, axis: Axes = None, keepdims: bool = False) -> Affine:
        """The sum of all entries, or of every row."""
        left = len(shape_of_sums(self.shape, axis))
        if left == 2:
            return self.affine()
        whole = Products(self.n) if left else QuadraticForms(np.ones((1, self.n)))
        return self._of(whole, shape_of_sums(self.shape, axis, keepdims))

    def distance2(self, i: Any, j: Any = None) -> Affine:
        r"""Squared distances of points, :math:`K_{ii} + K_{jj} - 2 K_{ij} = |y_i - y_j|^2`.

        Parameters
        ----------
        i : array of int, or array of shape (m, 2)
            Indices, or pairs of them.
        j : array of int, optional
            Indices of the other points; broadcast with `i`.

        Returns
        -------
        Affine
            In the common shape of the indices, ``(m,)`` for pairs.

        Raises
        ------
        OutOfRangeError, ShapeError

        Examples
        --------
        >>> from sdpdr import psd
        >>> psd("K", 3).distance2(0, [1, 2]).shape
        (2,)
        """
        i, j = pairs_of(self, i, j)
        edges = np.column_stack([i.ravel(), j.ravel()])
        return self._of(SquaredEdgeLengths(self.n, edges), i.shape)

    def inner(self, coefficients: Any) -> Affine:
        r""":math:`\langle C, K\rangle`, for a matrix C that may be sparse."""
        c = as_real(coefficients)
        if c.shape != self.shape:
            raise ShapeError(
                f"{self.name}.inner(C) needs C of shape {self.shape}; it was given {c.shape}."
            )
        return self._of(InnerProduct(c), ())

    def quadratic(self, vectors: Any) -> Affine:
        """The form v^T K v for each row v of a matrix, of shape (m,), or for one vector v."""
        v = as_real(vectors)
        if v.ndim not in (1, 2) or v.shape[-1] != self.n:
            raise ShapeError(
                f"{self.name}.quadratic(V) needs V of shape (m, {self.n}) or ({self.n},); it was "
                f"given {v.shape}."
            )
        rows = v if v.ndim == 2 else v.reshape((1, self.n))
        return self._of(QuadraticForms(rows), v.shape[:-1])

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Operators):
            return super().__matmul__(other)
        right = _numbers(other)
        if right.ndim not in (1, 2) or right.shape[0] != self.n:
            raise ShapeError(
                f"shapes {self.shape} @ {right.shape} do not fit: the right side must have "
                f"{self.n} rows."
            )
        return self._vector(right) if right.ndim == 1 else PsdProduct(self, None, right)

    def __rmatmul__(self, other: Any) -> Any:
        if isinstance(other, LinearMap):
            return self._of(other, (other.m,))
        left = _numbers(other)
        if left.ndim not in (1, 2) or left.shape[-1] != self.n:
            raise ShapeError(
                f"shapes {left.shape} @ {self.shape} do not fit: the left side must have {self.n} "
                "columns."
            )
        return self._vector(left) if left.ndim == 1 else PsdProduct(self, left, None)

    def _vector(self, weights: Array) -> Affine:
        """The product with a vector."""
        return self._of(Products(self.n, weights), (self.n,))

    def __repr__(self) -> str:
        return f"psd({self.name!r}, {self.n})"


class PsdProduct(Operators):
    """A positive semidefinite matrix times matrices of numbers on one side or both.

    Its trace is as sparse as the numbers are; for other operations all of its values are formed.

    Parameters
    ----------
    of : PsdMatrix
        K.
    left, right : array or sparse array, optional
        L and R of L K R; at least one of them.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sdpdr import psd
    >>> K, L = psd("K", 50_000), sp.eye_array(50_000, format="csr")
    >>> (L @ K).trace().maps["K"].n_entries
    50000
    """

    def __init__(self, of: PsdMatrix, left: Any, right: Any) -> None:
        self.of, self.left, self.right = of, left, right
        rows = of.n if left is None else left.shape[0]
        self.shape = (rows, of.n if right is None else right.shape[1])

    def __repr__(self) -> str:
        return f"<expression of shape {self.shape} in {self.of.name}>"

    @cached_property
    def _written(self) -> Affine:
        """All values as an expression."""
        if self.left is None:
            return self._forms(self.right)
        if self.right is None:
            return self._forms(self.left.T).T
        if self.shape[0] <= self.shape[1]:
            return PsdProduct(self.of, self.left, None).affine() @ self.right
        return self.left @ PsdProduct(self.of, None, self.right).affine()

    def _forms(self, right: Any) -> Affine:
        """All values of K R."""
        n, columns = right.shape
        unit = sp.eye_array(n, format="csr")[np.repeat(np.arange(n), columns)]
        turned = sp.csr_array(right.T)[np.tile(np.arange(columns), n)]
        return self.of._of(BilinearForms(unit, turned), (n, columns))

    def affine(self) -> Affine:
        """All values, row by row.

        Raises
        ------
        ModelError
            If there are too many of them.
        """
        if self.size > _WHOLE:
            raise ModelError(
                f"all {self.shape[0]} x {self.shape[1]} values of a product with {self.of.name} "
                "are too many to write down; write (A @ K).trace() or K.inner(C) for sums of "
                "products, or K.quadratic(V) for forms of vectors."
            )
        return self._written

    def trace(self) -> Affine:
        """The sum of the diagonal, which is an inner product with R L."""
        left, right = self.left, self.right
        sparse = sp.issparse(left) and sp.issparse(right)
        # With two thin dense sides, quadratic forms hold fewer numbers than R L, of order n.
        if self.shape[0] != self.shape[1] or not (sparse or left is None or right is None):
            return super().trace()
        return self.of.inner(_chained(right, left).T)

    def __matmul__(self, other: Any) -> Any:
        given = _matrix_of_numbers(other, self.shape[1])
        if given is None:
            return super().__matmul__(other)
        right = _chained(self.right, given)
        if given.ndim == 2:
            return PsdProduct(self.of, self.left, right)
        values = self.of @ right
        return values if self.left is None else self.left @ values

    def __rmatmul__(self, other: Any) -> Any:
        given = _matrix_of_numbers(other, self.shape[0], -1)
        if given is None:
            return super().__rmatmul__(other)
        left = _chained(given, self.left)
        if given.ndim == 2:
            return PsdProduct(self.of, left, self.right)
        values = left @ self.of
        return values if self.right is None else values @ self.right


def _numbers(given: Any) -> Any:
    """Numbers as an array, or as the sparse array that they are."""
    return as_real(given) if sp.issparse(given) else constant_of(given)


def _chained(one: Any, other: Any) -> Any:
    """A product of two matrices, or the other one if one is missing."""
    return other if one is None else one if other is None else one @ other


def _matrix_of_numbers(given: Any, length: int, axis: int = 0) -> Any:
    """An operand as a vector or matrix that fits; None for other operands."""
    if isinstance(given, (Operators, list, tuple)):
        return None
    numbers = _numbers(given)
    return numbers if numbers.ndim in (1, 2) and numbers.shape[axis] == length else None
