"""Checks of stacks of matrices and of numbers of components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, require_squares
from sdpdr.base.errors import DataError, DataTypeError, ShapeError


def matrices(X: ArrayLike, *, center: bool = False) -> Array:
    """A stack of real matrices of one shape, finite and not all zero.

    Parameters
    ----------
    X : array_like of shape (n, p, q)
        An array, or a sequence of n matrices.
    center : bool, default False
        Subtract the mean matrix.

    Returns
    -------
    array of shape (n, p, q)

    Raises
    ------
    ShapeError
        The matrices have different shapes, or X has not three dimensions.
    DataError
        An entry is infinite or not a number (the first one is named), all are zero, or squares are
        not finite.
    DataTypeError
        The entries are not real numbers.

    Examples
    --------
    >>> matrices([[[1, 2, 3], [4, 5, 6]]]).shape
    (1, 2, 3)
    """
    stack = finite_matrices(X)
    if center:
        # The mean of equal matrices is rounded, and the differences would pass for data.
        same = np.all(stack == stack[0])
        stack = np.zeros_like(stack) if same else stack - stack.mean(axis=0)
    if not np.any(stack):
        why = f" once the mean of n_samples={len(stack)} matrices is subtracted" if center else ""
        raise DataError(f"all entries of X are zero{why}. There is nothing that bases could keep.")
    return stack


def finite_matrices(X: ArrayLike) -> Array:
    """A stack as `matrices` takes it, which may be zero."""
    stack = _numbers(X)
    if stack.ndim != 3:
        advice = "Pass X[None] for a single matrix." if stack.ndim == 2 else ""
        raise ShapeError(
            f"X must have shape (n, p, q), n matrices of p rows and q columns; it has shape "
            f"{stack.shape}. {advice}".rstrip()
        )
    if not stack.size:
        raise DataError(f"X has shape {stack.shape}: there is no entry in it.")
    if not np.all(np.isfinite(stack)):
        i, row, column = np.argwhere(~np.isfinite(stack))[0]
        raise DataError(
            f"Input X contains NaN or infinity: X[{i}, {row}, {column}] = "
            f"{stack[i, row, column]}. Drop that matrix or fill the entry in."
        )
    require_squares(stack)
    return stack


def numbers_of_components(
    value: Any, shape: tuple[int, ...], name: str = "n_components"
) -> tuple[int, int]:
    """How many columns the basis of rows and that of columns have.

    Parameters
    ----------
    value : int or pair of int
        One number k for both, at most min(p, q), or (k_1, k_2) with k_1 <= p and k_2 <= q.
    shape : tuple of int
        Of the stack or of one matrix; the last two are p and q.
    name : str, default "n_components"
        Its name in messages.

    Returns
    -------
    tuple of two int

    Raises
    ------
    DataError
        It is out of range.
    DataTypeError
        It is not an integer.

    Examples
    --------
    >>> numbers_of_components(2, (10, 4, 3)), numbers_of_components((4, 1), (10, 4, 3))
    ((2, 2), (4, 1))
    """
    p, q = shape[-2:]
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str):
        if len(value) != 2:
            raise DataError(
                f"{name} must be a number or a pair, of rows and of columns; it is {value!r}."
            )
        first, second = (
            validate.positive_integer(
                f"{name}[{side}]",
                value[side],
                at_most=most,
                why=f"as {p} x {q} matrices have at most ({p}, {q})",
            )
            for side, most in enumerate((p, q))
        )
        return first, second
    most = min(p, q)
    why = f"as {p} x {q} matrices have at most {most} components on both sides; or pass a pair"
    k = validate.positive_integer(name, value, at_most=most, why=why)
    return k, k


def _numbers(X: Any) -> Array:
    if not hasattr(X, "ndim"):
        if not np.iterable(X):
            raise DataTypeError(f"X must be an array of shape (n, p, q); it is {X!r}.")
        shapes = {np.shape(matrix) for matrix in X}
        if len(shapes) > 1:
            first, second = sorted(shapes)[:2]
            raise ShapeError(
                f"all matrices must have one shape; X holds some of shape {first} and some of "
                f"{second}. Crop or pad them."
            )
    try:
        array = np.asarray(X)
        if np.iscomplexobj(array):
            raise DataTypeError("Complex data not supported: pass the real and imaginary parts.")
        return np.array(array, dtype=float)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataTypeError):
            raise
        raise DataTypeError(f"X must hold real numbers only: {error}") from None
