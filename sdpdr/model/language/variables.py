"""Variables as expressions: positive semidefinite and symmetric matrices, vectors, scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import as_real, as_whole
from sdpdr.base.errors import (
    DataTypeError,
    ModelError,
    ShapeError,
    UnknownNameError,
)
from sdpdr.linalg import (
    BilinearForms,
    Diagonal,
    Entries,
    InnerProduct,
    Products,
    QuadraticForms,
    SquaredEdgeLengths,
    Trace,
)
from sdpdr.linalg.svec import svec_index, svec_size
from sdpdr.model.affine import Affine, Var
from sdpdr.model.arithmetic import Arithmetic, constant_of
from sdpdr.model.axes import Axes, axes_of, grid, places_on, shape_of, summed_shape, together
from sdpdr.program.point import PsdVariable, VectorVariable

# Values of a matrix that may all be written down; more are a mistake, or want indices.
_WHOLE = 4_000_000

T = TypeVar("T")


def psd(names: str, n: int) -> Any:
    r"""Positive semidefinite matrices, :math:`K \in S^n,\ K \succeq 0`.

    Parameters
    ----------
    names : str
        A name, or several with blanks or commas between them.
    n : int
        Order.

    Returns
    -------
    PsdMatrix, or tuple of them

    Examples
    --------
    >>> K = psd("K", 4)
    >>> K[[0, 1], [2, 3]].shape, K.distance2([(0, 1)]).shape, K.sum(axis=1).shape
    ((2,), (1,), (4,))
    """
    return _named(names, lambda name: PsdMatrix(PsdVariable(name, n)))


def symmetric(names: str, n: int) -> Any:
    """Symmetric matrices with eigenvalues of any sign, as expressions of shape (n, n).

    Parameters
    ----------
    names : str
        A name, or several with blanks or commas between them.
    n : int

    Examples
    --------
    >>> symmetric("S", 3)[0, 1].maps["S"].matrix().toarray()
    array([[0., 1., 0., 0., 0., 0.]])
    """
    order = as_whole("the order of a matrix", n)
    if order < 0:
        raise ModelError(f"symmetric {names!r}: its order must be a whole number; it is {n!r}.")
    i, j = np.indices((order, order))

    def make(name: str) -> Affine:
        return _free(name, svec_size(order)).picked(svec_index(i, j))

    return _named(names, make)


def scalar(names: str, size: int | None = None, *, nonnegative: bool = False) -> Any:
    """Numbers: one, or a vector of them.

    Parameters
    ----------
    names : str
        A name, or several with blanks or commas between them.
    size : int, optional
        Length of a vector; without it, the expression is a scalar.
    nonnegative : bool, default False

    Examples
    --------
    >>> s, t = scalar("s t")
    >>> w = scalar("w", 5, nonnegative=True)
    >>> s.shape, w.shape, (w.sum() - t).shape
    ((), (5,), ())
    """
    if isinstance(size, tuple):
        raise ShapeError(f"scalar takes a length; write matrix({names!r}, {size}) for two axes.")

    def make(name: str) -> Affine:
        vector = _free(name, 1 if size is None else size, nonnegative)
        return vector.reshape(()) if size is None else vector

    return _named(names, make)


def matrix(names: str, shape: tuple[int, int], *, nonnegative: bool = False) -> Any:
    """Rectangular matrices of numbers.

    Parameters
    ----------
    names : str
        A name, or several with blanks or commas between them.
    shape : tuple of two int
    nonnegative : bool, default False

    Examples
    --------
    >>> (np.ones((2, 3)) @ matrix("X", (3, 4))).shape
    (2, 4)
    """
    sides = shape_of(f"matrix({names!r}, shape)", shape)
    if len(sides) != 2:
        raise ShapeError(
            f"matrix takes two lengths, as in matrix({names!r}, (3, 3)); it was given {shape!r}. "
            f"Write scalar({names!r}, 3) for a vector, psd or symmetric for a symmetric matrix."
        )
    rows, columns = sides
    return _named(
        names, lambda name: _free(name, rows * columns, nonnegative).reshape(rows, columns)
    )


def _free(name: str, size: int, nonnegative: bool = False) -> Affine:
    variable = VectorVariable(name, size, nonnegative)
    whole = sp.eye_array(variable.size, format="csr") @ Var(name)
    return Affine(whole.maps, whole.constant, declared={name: variable})


def _named(names: str, make: Callable[[str], T]) -> T | tuple[T, ...]:
    if not isinstance(names, str) or not names.replace(",", " ").split():
        raise DataTypeError(f"a variable needs a name, a str; it was given {names!r}.")
    made = tuple(make(name) for name in names.replace(",", " ").split())
    return made[0] if len(made) == 1 else made


class PsdMatrix(Arithmetic):
    """A positive semidefinite matrix, as `psd` makes it.

    Its parts have structure, and are never read from the whole of it: entries, distances, sums and
    products are as sparse as they are written.

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
        """Its value at a point, which may be a factor."""
        if self.name not in values:
            raise UnknownNameError("variable", self.name, values)
        return values[self.name]

    def _of(self, linear_map: Any, shape: tuple[int, ...]) -> Affine:
        values = linear_map @ Var(self.name)
        return Affine(values.maps, values.constant, shape, {self.name: self.variable})

    def __getitem__(self, index: Any) -> Affine:
        i, j = grid(index, self.shape)
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
        axes = axes_of(axis, self.shape)
        if not axes:
            return self.affine()
        shape = summed_shape(self.shape, axes, keepdims)
        whole = QuadraticForms(np.ones((1, self.n))) if len(axes) == 2 else Products(self.n)
        return self._of(whole, shape)

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
        >>> psd("K", 3).distance2(0, [1, 2]).shape
        (2,)
        """
        if j is None:
            pairs = np.asarray(i)
            if pairs.ndim != 2 or pairs.shape[1] != 2:
                raise ShapeError(
                    f"distance2 takes pairs of shape (m, 2), or two arrays of indices; it was "
                    f"given shape {pairs.shape}."
                )
            i, j = pairs.T
        i, j = together(places_on(i, self.n), places_on(j, self.n))
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
        """The forms v^T K v of the rows v of a matrix, of shape (m,); or that of one vector."""
        v = as_real(vectors)
        if v.ndim not in (1, 2) or v.shape[-1] != self.n:
            raise ShapeError(
                f"{self.name}.quadratic(V) needs V of shape (m, {self.n}) or ({self.n},); it was "
                f"given {v.shape}."
            )
        rows = v if v.ndim == 2 else v.reshape((1, self.n))
        return self._of(QuadraticForms(rows), v.shape[:-1])

    def __matmul__(self, other: Any) -> Affine:
        if isinstance(other, Arithmetic):
            return super().__matmul__(other)
        right = as_real(other) if sp.issparse(other) else constant_of(other)
        if right.ndim not in (1, 2) or right.shape[0] != self.n:
            raise ShapeError(
                f"shapes {self.shape} @ {right.shape} do not fit: the right side must have "
                f"{self.n} rows."
            )
        if right.ndim == 1:
            return self._of(Products(self.n, right), (self.n,))
        columns = right.shape[1]
        unit = sp.eye_array(self.n, format="csr")[np.repeat(np.arange(self.n), columns)]
        turned = sp.csr_array(right.T)[np.tile(np.arange(columns), self.n)]
        return self._of(BilinearForms(unit, turned), (self.n, columns))

    def __rmatmul__(self, other: Any) -> Affine:
        left = as_real(other) if sp.issparse(other) else constant_of(other)
        if left.ndim not in (1, 2) or left.shape[-1] != self.n:
            raise ShapeError(
                f"shapes {left.shape} @ {self.shape} do not fit: the left side must have {self.n} "
                "columns."
            )
        return (self @ left.T).T

    def __repr__(self) -> str:
        return f"psd({self.name!r}, {self.n})"
