"""NumPy's functions of expressions: products, rearrangements and sums.

NumPy would treat an expression as a single object, and return v for ``np.mean(v)``. So each of its
functions is either supported here or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Index
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.model.affine import Affine, Operators, defines_operator
from sdpdr.model.language.functions import norm
from sdpdr.model.operands import refuse

# Functions of several arrays, and of one array, whose result only rearranges values and adds zeros.
_JOIN = frozenset(
    {np.block, np.column_stack, np.concatenate, np.dstack, np.hstack, np.stack, np.vstack}
)
_MOVE = frozenset(
    {
        *(np.atleast_1d, np.atleast_2d, np.broadcast_to, np.diag, np.expand_dims, np.flip),
        *(np.fliplr, np.flipud, np.moveaxis, np.ravel, np.repeat, np.reshape, np.roll, np.rot90),
        *(np.squeeze, np.swapaxes, np.take, np.tile, np.transpose, np.tril, np.triu),
    }
)


@defines_operator
def numpy_function(
    called: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """The result of a NumPy function, one of whose arguments is an expression.

    Raises
    ------
    ModelError
        If it is not affine, or not supported.

    Examples
    --------
    >>> from sdpdr import psd, scalar
    >>> K, t = psd("K", 2), scalar("t")
    >>> np.block([[K, np.ones((2, 1))], [np.ones((1, 2)), t]]).shape, np.diag(K).shape
    ((3, 3), (2,))
    >>> np.mean(K.diagonal()).maps["K"].matrix().toarray()
    array([[0.5, 0. , 0.5]])
    """
    if called in _JOIN or (called in _MOVE and called not in _KNOWN):
        return _moved(called, *args, **options)
    name = f"{'linalg.' if 'linalg' in called.__module__ else ''}{called.__name__}"
    if called not in _KNOWN:
        refuse(name)
    try:
        signature(_KNOWN[called]).bind(*args, **options)
    except TypeError as error:
        raise ModelError(f"numpy.{name} of an expression: {error}.") from None
    return _KNOWN[called](*args, **options)


def _moved(called: Callable[..., Any], data: Any, *args: Any, **options: Any) -> Affine:
    """Apply the function to positions from one on; zeros in its result become zeros."""
    parts: list[Affine] = []
    depth = 0 if called in _MOVE else np.inf if called is np.block else 1

    def numbered(operand: Any, depth: float) -> Any:
        if depth and isinstance(operand, (list, tuple)):
            return [numbered(part, depth - 1) for part in operand]
        parts.append(_stacked(operand))
        return 1 + sum(part.m for part in parts[:-1]) + parts[-1].positions()

    try:
        return _gathered(parts, np.asarray(called(numbered(data, depth), *args, **options)))
    except ValueError as error:
        if isinstance(error, (ModelError, ShapeError)):
            raise
        shapes = ", ".join(str(part.shape) for part in parts)
        raise ShapeError(f"numpy.{called.__name__} of shapes {shapes}: {error}.") from None


def _stacked(operand: Any) -> Affine:
    """An operand as one expression, even if it is a list of expressions."""
    if isinstance(operand, (list, tuple)):
        return _moved(np.stack, [_stacked(part) for part in operand])
    return Affine.of(operand)


def _gathered(parts: Sequence[Affine], where: Index) -> Affine:
    """The values whose numbers an array holds, in its shape; zero for number zero."""
    flat, start, total = where.ravel(), 1, Affine.of(np.zeros(where.shape))
    for part in parts:
        rows = np.flatnonzero((start <= flat) & (flat < start + part.m))
        if rows.size == flat.size:
            return part.picked(where - start)
        ones = np.ones(rows.size), (rows, flat[rows] - start)
        total = total + part.combined(sp.csr_array(ones, (flat.size, part.m)), where.shape)
        start += part.m
    return total


def _diag(of: Operators, k: int = 0) -> Affine:
    return of.diagonal() if len(of.shape) == 2 and not k else _moved(np.diag, of, k)


def _dot(a: Any, b: Any) -> Affine:
    one, other = Affine.of(a), Affine.of(b)
    return one @ other if one.shape and other.shape else one * other


def _vdot(a: Any, b: Any) -> Affine:
    return Affine.of(a).reshape(-1) @ Affine.of(b).reshape(-1)


def _outer(a: Any, b: Any) -> Affine:
    return Affine.of(a).reshape(-1, 1) * Affine.of(b).reshape(1, -1)


def _kron(a: Any, b: Any) -> Affine:
    one, other = (
        side.reshape((1,) * (2 - len(side.shape)) + side.shape)
        for side in (Affine.of(a), Affine.of(b))
    )
    (p, q), (r, s) = one.shape, other.shape
    product = one.reshape(p, 1, q, 1) * other.reshape(1, r, 1, s)
    return product.reshape(p * r, q * s)


def _diff(of: Operators, n: int = 1, axis: int = -1) -> Affine:
    whole = of.affine()
    for _ in range(n):
        along = np.moveaxis(whole.positions(), axis, 0)
        whole = whole.picked(np.moveaxis(along[1:], 0, axis)) - whole.picked(
            np.moveaxis(along[:-1], 0, axis)
        )
    return whole


def _cumsum(of: Operators, axis: int | None = None) -> Affine:
    if axis is None:
        flat = of.reshape(-1)
        return np.tri(flat.m) @ flat
    lines = np.moveaxis(of.affine().positions(), axis, 0)
    moved = of.affine().picked(lines)
    summed = (np.tri(len(lines)) @ moved.reshape(len(lines), -1)).reshape(lines.shape)
    return summed.picked(np.moveaxis(summed.positions(), 0, axis))


_KNOWN: Mapping[Callable[..., Any], Callable[..., Any]] = MappingProxyType(
    {
        np.cumsum: _cumsum,
        np.diag: _diag,
        np.diagonal: lambda of: of.diagonal(),
        np.diff: _diff,
        np.dot: _dot,
        np.kron: _kron,
        np.linalg.norm: lambda of, ord=None: norm(of, ord),
        np.max: lambda of, axis=None: of.max(axis),
        np.mean: lambda of, axis=None, keepdims=False: of.mean(axis, keepdims),
        np.min: lambda of, axis=None: of.min(axis),
        np.ndim: lambda of: of.ndim,
        np.outer: _outer,
        np.shape: lambda of: of.shape,
        np.size: lambda of: of.size,
        np.sum: lambda of, axis=None, keepdims=False: of.sum(axis, keepdims),
        np.trace: lambda of: of.trace(),
        np.transpose: lambda of, axes=None: (
            of.T if axes is None else _moved(np.transpose, of, axes)
        ),
        np.vdot: _vdot,
    }
)
