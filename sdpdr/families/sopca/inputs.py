"""Checks of stacks of matrices and of numbers of components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, require_squares
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.estimators import as_numbers


def matrices(X: ArrayLike, *, center: bool = False) -> Array:
    """A stack of real matrices of one shape (n, p, q), finite and not all zero.

    Parameters
    ----------
    X : array_like of shape (n, p, q)
        An array, or a sequence of n matrices.
    center : bool, default False
        Subtract the mean matrix.

    Raises
    ------
    DataError, DataTypeError, ShapeError
        X is no such stack; messages name the first entry that is not finite.
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
    shapes = sorted({np.shape(matrix) for matrix in X}) if isinstance(X, Sequence) else []
    if len(shapes) > 1:
        raise ShapeError(
            f"all matrices must have one shape; X holds some of shape {shapes[0]} and some of "
            f"{shapes[1]}. Crop or pad them."
        )
    stack = as_numbers("X", X)
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


def numbers_of_components(value: Any, shape: tuple[int, ...]) -> tuple[int, int]:
    """How many columns the basis of rows and that of columns have.

    Parameters
    ----------
    value : int or pair of int
        ``n_components``: one number k for both, at most min(p, q), or (k_1, k_2) with k_1 <= p and
        k_2 <= q.
    shape : tuple of int
        Of the stack or of one matrix; the last two are p and q.

    Raises
    ------
    DataError, DataTypeError
        It is out of range, or no integer.
    """
    p, q = shape[-2:]
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
        most = min(p, q)
        why = f"as {p} x {q} matrices have at most {most} components on both sides; or pass a pair"
        k = validate.positive_integer("n_components", value, at_most=most, why=why)
        return k, k
    if len(value) != 2:
        raise DataError(
            f"n_components must be a number or a pair, of rows and of columns; it is {value!r}."
        )
    why = f"as {p} x {q} matrices have at most ({p}, {q})"
    first = validate.positive_integer("n_components[0]", value[0], at_most=p, why=why)
    return first, validate.positive_integer("n_components[1]", value[1], at_most=q, why=why)
