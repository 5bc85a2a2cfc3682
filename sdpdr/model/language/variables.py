"""Variables as expressions: positive semidefinite and symmetric matrices, vectors, scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Index, as_real, as_whole
from sdpdr.base.errors import (
    DataTypeError,
    ModelError,
    OutOfRangeError,
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
    shape : tuple of int
    nonnegative : bool, default False

    Examples
    --------
    >>> (np.ones((2, 3)) @ matrix("X", (3, 4))).shape
    (2, 4)
    """
    rows, columns = (as_whole("a side of a matrix", side) for side in shape)
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
    each = names.replace(",", " ").split()
    for k, name in enumerate(each):
        if name in each[:k]:
            raise ModelError(f"two variables of {names!r} are called {name!r}; rename one of them.")
    made = tuple(make(name) for name in each)
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
        i, j = _grid(index, self.shape)
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

    def sum(self, axis: int | None = None) -> Affine:
        """The sum of all entries, or of every row."""
        if axis is None:
            return self._of(QuadraticForms(np.ones((1, self.n))), ())
        if axis not in (-2, -1, 0, 1):
            raise OutOfRangeError(f"axis {axis} of a matrix of shape {self.shape}.")
        return self._of(Products(self.n), (self.n,))

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
        i, j = _broadcast(_places(i, self.n), _places(j, self.n))
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


def _places(index: Any, n: int) -> Index:
    """Places 0..n-1 of an axis, counted from the end where they are negative."""
    given = np.asarray(index)
    if given.dtype == bool:
        if given.shape != (n,):
            raise ShapeError(f"a mask of this axis has shape ({n},); it was given {given.shape}.")
        return np.flatnonzero(given)
    if given.size and given.dtype.kind not in "iu":
        raise DataTypeError(f"indices are whole numbers; these are {given.dtype}.")
    if given.size and not (-n <= given.min() and given.max() < n):
        raise OutOfRangeError(
            f"indices of an axis of length {n} lie in {-n}..{n - 1}; these range over "
            f"{given.min()}..{given.max()}."
        )
    places: Index = given.astype(np.int64) % max(n, 1)
    return places


def _grid(index: Any, shape: tuple[int, ...]) -> tuple[Index, Index]:
    """Rows and columns that an index means, in the shape of what it picks."""
    if isinstance(index, np.ndarray) and index.dtype == bool and index.ndim == 2:
        if index.shape != shape:
            raise ShapeError(f"a mask must have shape {shape}; it has {index.shape}.")
        rows, columns = np.nonzero(index)
        return rows.astype(np.int64), columns.astype(np.int64)
    both = index if isinstance(index, tuple) else (index, slice(None))
    if len(both) > 2:
        raise OutOfRangeError(f"a matrix has two axes; it was given {len(both)} indices.")
    row, column = both if len(both) == 2 else (*both, slice(None))
    i, j = (
        np.arange(n)[part] if isinstance(part, slice) else _places(part, n)
        for part, n in zip((row, column), shape, strict=True)
    )
    if not isinstance(row, slice) and not isinstance(column, slice):
        return _broadcast(i, j)
    shaped = i.reshape(i.shape + (1,) * j.ndim)
    return _broadcast(shaped, j)


def _broadcast(i: Any, j: Any) -> tuple[Index, Index]:
    try:
        a, b = np.broadcast_arrays(i, j)
    except ValueError:
        raise ShapeError(
            f"indices of shapes {np.shape(i)} and {np.shape(j)} do not fit together."
        ) from None
    return a, b
