"""Axes of expressions and positions on them, with the meaning that NumPy gives to indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Index
from sdpdr.base.errors import DataTypeError, OutOfRangeError, ShapeError
from sdpdr.model.operands import told

Shape: TypeAlias = "tuple[int, ...]"
Axes: TypeAlias = "int | Sequence[int] | None"


def shape_of(what: str, shape: Any) -> Shape:
    """A shape as a tuple, of one length if it is a whole number.

    Raises
    ------
    DataTypeError
        If it is not a shape.

    Examples
    --------
    >>> shape_of("zeros", 3), shape_of("zeros", [2, 3])
    ((3,), (2, 3))
    """
    sides = (shape,) if isinstance(shape, Integral) else shape
    is_one = isinstance(sides, (Sequence, np.ndarray)) and not isinstance(sides, str)
    if not is_one or not all(_is_length(side) for side in sides):
        raise DataTypeError(
            f"the shape of {what} is a whole number or several, (2, 3) for instance; it was given "
            f"{shape!r}."
        )
    return tuple(int(side) for side in sides)


def _is_length(side: Any) -> bool:
    """Whether it is a whole number that is not negative."""
    return isinstance(side, Integral) and not isinstance(side, bool) and int(side) >= 0


def axes_of(axis: Axes, shape: Shape) -> Shape:
    """The axes as sorted nonnegative numbers; None means all axes.

    Raises
    ------
    DataTypeError, OutOfRangeError

    Examples
    --------
    >>> axes_of(-1, (2, 3)), axes_of(None, (2, 3)), axes_of((1, 0), (2, 3))
    ((1,), (0, 1), (0, 1))
    """
    if axis is None:
        return tuple(range(len(shape)))
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if not all(isinstance(one, Integral) and not isinstance(one, bool) for one in given):
        raise DataTypeError(f"an axis is a whole number, or several; it was given {axis!r}.")
    if not all(-len(shape) <= one < len(shape) for one in given):
        raise OutOfRangeError(f"axis {axis} of an expression of shape {shape}.")
    axes = sorted(int(one) % len(shape) for one in given)
    if len(set(axes)) < len(axes):
        raise OutOfRangeError(f"axis {axis} of an expression names one axis twice.")
    return tuple(axes)


def summed_shape(shape: Shape, axes: Shape, keepdims: bool) -> Shape:
    """The shape of sums along axes, which stay as axes of length one if ``keepdims``.

    Examples
    --------
    >>> summed_shape((2, 3), (1,), False), summed_shape((2, 3), (1,), True)
    ((2,), (2, 1))
    """
    if keepdims:
        return tuple(1 if k in axes else side for k, side in enumerate(shape))
    return tuple(side for k, side in enumerate(shape) if k not in axes)


def summing(shape: Shape, axes: Shape) -> sp.csr_array:
    """The weights of sums along axes, one row for each sum.

    Examples
    --------
    >>> summing((2, 2), (0,)).toarray()
    array([[1., 0., 1., 0.],
           [0., 1., 0., 1.]])
    """
    kept = summed_shape(shape, axes, keepdims=True)
    row = np.broadcast_to(np.arange(math.prod(kept)).reshape(kept), shape).ravel()
    entries = np.ones(row.size), (row, np.arange(row.size))
    return sp.csr_array(entries, (math.prod(kept), row.size))


def places_on(index: Any, n: int) -> Index:
    """Positions 0..n-1 on an axis; negative indices count from the end."""
    given = np.asarray(index)
    if given.dtype == bool:
        if given.shape != (n,):
            raise ShapeError(f"a mask of this axis has shape ({n},); it was given {given.shape}.")
        return np.flatnonzero(given)
    if given.size and given.dtype.kind not in "iu":
        raise DataTypeError(
            "indices are whole numbers, slices, ..., None, or masks; one of them is "
            f"{told(index)}{' that are no whole numbers' if given.dtype.kind == 'f' else ''}."
        )
    if given.size and not (-n <= given.min() and given.max() < n):
        raise OutOfRangeError(
            f"indices of an axis of length {n} lie in {-n}..{n - 1}; these range over "
            f"{given.min()}..{given.max()}."
        )
    places: Index = given.astype(np.int64) % max(n, 1)
    return places


def pairs_of(i: Any, j: Any, n: int) -> tuple[Index, Index]:
    """Two arrays of positions on an axis of length n, given as two arrays or as pairs.

    Raises
    ------
    OutOfRangeError, ShapeError

    Examples
    --------
    >>> pairs_of([(0, 1), (0, -1)], None, 3)
    (array([0, 0]), array([1, 2]))
    """
    if j is None:
        pairs = np.asarray(i)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ShapeError(
                "distance2 takes pairs of shape (m, 2), or two arrays of indices; it was given "
                f"shape {pairs.shape}."
            )
        i, j = pairs.T
    return together(places_on(i, n), places_on(j, n))


def grid(index: Any, shape: tuple[int, ...]) -> tuple[Index, Index]:
    """Rows and columns of the entries that an index selects, in the shape of the selection."""
    if isinstance(index, np.ndarray) and index.dtype == bool and index.ndim == 2:
        if index.shape != shape:
            raise ShapeError(f"a mask must have shape {shape}; it has {index.shape}.")
        rows, columns = np.nonzero(index)
        return rows.astype(np.int64), columns.astype(np.int64)
    both = index if isinstance(index, tuple) else (index, slice(None))
    if any(part is None or part is ... for part in both):
        return _with_new_axes(index, shape)
    if len(both) > 2:
        raise OutOfRangeError(f"a matrix has two axes; it was given {len(both)} indices.")
    row, column = both if len(both) == 2 else (*both, slice(None))
    i, j = (
        np.arange(n)[part] if isinstance(part, slice) else places_on(part, n)
        for part, n in zip((row, column), shape, strict=True)
    )
    if not isinstance(row, slice) and not isinstance(column, slice):
        return together(i, j)
    shaped = i.reshape(i.shape + (1,) * j.ndim)
    return together(shaped, j)


def _with_new_axes(index: Any, shape: Shape) -> tuple[Index, Index]:
    """Rows and columns that NumPy selects, for an index with new axes or an ellipsis."""
    rows, columns = np.arange(shape[0])[:, None], np.arange(shape[1])
    try:
        i, j = (np.asarray(np.broadcast_to(part, shape)[index]) for part in (rows, columns))
    except IndexError as error:
        raise OutOfRangeError(f"no such part of a matrix of shape {shape}: {error}.") from None
    return i, j


def together(i: Any, j: Any) -> tuple[Index, Index]:
    """Rows and columns in their common shape.

    Raises
    ------
    ShapeError
        If there is none.
    """
    try:
        a, b = np.broadcast_arrays(i, j)
    except ValueError:
        raise ShapeError(
            f"indices of shapes {np.shape(i)} and {np.shape(j)} do not fit together."
        ) from None
    return a, b
