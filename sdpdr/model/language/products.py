"""Matrix products of expressions with numbers, from either side."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import as_real
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.model.affine import Affine, names_of


def product(left: Any, right: Any) -> Affine:
    """``left @ right``, of which one is an expression and the other made of numbers or parameters.

    Parameters
    ----------
    left, right : Affine, array, sparse array, or list of sparse arrays
        A list, or an array of three axes, is a stack of matrices: a vector times it is the sum of
        weighted matrices.

    Raises
    ------
    ModelError
        If both depend on variables.
    ShapeError
        If shapes do not fit.

    Examples
    --------
    >>> from sdpdr.model.language.variables import scalar
    >>> w = scalar("w", 2)
    >>> (w @ [np.eye(3), np.ones((3, 3))]).shape, (np.ones((4, 2)) @ w).shape
    ((3, 3), (4,))
    """
    if isinstance(left, Affine) and isinstance(right, Affine):
        left, right = (left, _numbers(right)) if right.is_constant else (_numbers(left), right)
    if isinstance(left, Affine) and isinstance(right, Affine):
        if left.is_known or right.is_known:
            return _by_parameters(left, right)
        raise ModelError(
            f"a product of two expressions (in {names_of(left, right)}) is not "
            "linear; one side of @ must be made of numbers or parameters. Write quad_form(v, P) "
            "for v @ P @ v."
        )
    if isinstance(left, Affine):
        stacked = isinstance(right, list) or right.ndim == 3
        return _weighted(left, right) if stacked else _from_right(left, right)
    assert isinstance(right, Affine)
    return _from_left(left, right)


def _numbers(side: Any) -> Any:
    """A side without variables as an array."""
    if isinstance(side, Affine) and side.is_constant:
        return side.constant.reshape(side.shape)
    return side


def _from_left(left: Any, right: Affine) -> Affine:
    _require("@", left.shape, right.shape, left.shape[-1:] == right.shape[:1])
    rows = sp.csr_array(np.atleast_2d(left) if not sp.issparse(left) else as_real(left))
    inner = sp.eye_array(right.shape[1]) if len(right.shape) == 2 else sp.eye_array(1)
    return right.combined(sp.kron(rows, inner, format="csr"), left.shape[:-1] + right.shape[1:])


def _from_right(left: Affine, right: Any) -> Affine:
    _require("@", left.shape, right.shape, left.shape[-1:] == right.shape[:1])
    turned = right.T if right.ndim == 2 else np.reshape(right, (1, -1))
    outer = sp.eye_array(left.shape[0]) if len(left.shape) == 2 else sp.eye_array(1)
    weights = sp.kron(outer, sp.csr_array(as_real(turned)), format="csr")
    return left.combined(weights, left.shape[:-1] + right.shape[1:])


def _by_parameters(left: Affine, right: Affine) -> Affine:
    """A product of which one side is made of parameters: sums of products of values."""
    _require("@", left.shape, right.shape, left.shape[-1:] == right.shape[:1])
    before, after = left.shape[:-1], right.shape[1:]
    rows = left.reshape(*left.shape, *(1 for _ in after))
    columns = right.reshape(*(1 for _ in before), *right.shape)
    return (rows * columns).sum(axis=len(before))


def _weighted(weights: Affine, matrices: Any) -> Affine:
    """The sum of matrices, each times its weight."""
    shape = np.shape(matrices[0]) if len(matrices) else ()
    alike = all(np.shape(matrix) == shape for matrix in matrices)
    fits = weights.shape == (len(matrices),)
    _require("@", weights.shape, (len(matrices), *shape), alike and fits)
    if isinstance(matrices, list):
        columns = sp.vstack([matrix.reshape((1, -1)) for matrix in matrices], format="csr")
    else:
        columns = sp.csr_array(matrices.reshape(len(matrices), -1))
    return weights.combined(columns.T.tocsr(), shape)


def _require(operator: str, left: Any, right: Any, fits: bool) -> None:
    if not fits or not left or not right or len(left) > 2:
        raise ShapeError(
            f"shapes {tuple(left)} {operator} {tuple(right)} do not fit: the last axis of the left "
            "side must be as long as the first of the right one."
        )
