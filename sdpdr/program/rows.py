"""Rows of a program, and its matrix inequalities, under the labels of where they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, as_real, as_whole
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.linalg import LinearMap, VectorMap, svec_size

Expression: TypeAlias = Mapping[str, "LinearMap | VectorMap"]
Relation = Literal["==", "<="]


@dataclass(frozen=True, eq=False)
class Rows:
    """A group of rows ``lhs (== or <=) rhs`` under one label.

    Parameters
    ----------
    label : str
        Where the rows come from, ``"block"`` or ``"block.part"``; unique in a program.
    relation : {"==", "<="}
    lhs : mapping from variable name to map
    rhs : array of shape (m,)

    Raises
    ------
    ModelError
        If the relation is neither.
    ShapeError
        If the right-hand sides are not a vector.
    """

    label: str
    relation: Relation
    lhs: Expression
    rhs: Array

    def __post_init__(self) -> None:
        if self.relation not in ("==", "<="):
            raise ModelError(
                f"rows {self.label!r}: the relation must be '==' or '<='; it is "
                f"{self.relation!r}. For '>=', take the negative of both sides."
            )
        rhs = as_real(self.rhs, copy=True)
        if rhs.ndim != 1:
            raise ShapeError(
                f"rows {self.label!r}: right sides must have shape (m,); theirs is {rhs.shape}."
            )
        object.__setattr__(self, "rhs", rhs)
        object.__setattr__(self, "lhs", dict(self.lhs))

    @property
    def m(self) -> int:
        """Number of rows."""
        return int(self.rhs.size)

    @property
    def hold_at_zero(self) -> NDArray[np.bool_]:
        """Which rows hold where all variables are zero."""
        return np.asarray(self.rhs == 0.0 if self.relation == "==" else self.rhs >= 0.0)

    def take(self, chosen: NDArray[np.bool_] | Index) -> Rows:
        """The rows that a mask or an array of indices chooses."""
        at = np.arange(self.m)[chosen]
        if np.array_equal(at, np.arange(self.m)):
            return self
        lhs = {name: linear_map.take(at) for name, linear_map in self.lhs.items()}
        return replace(self, lhs=lhs, rhs=self.rhs[at])


@dataclass(frozen=True, eq=False)
class Lmi:
    """A linear matrix inequality ``lhs + constant >= 0`` in ``svec`` coordinates.

    Parameters
    ----------
    label : str
    order : int
        Order of the matrix.
    lhs : mapping from variable name to map with order (order + 1) / 2 rows
    constant : array of shape (order (order + 1) / 2,)

    Raises
    ------
    DataTypeError
        If the order is not whole, or the constant not real.
    ModelError
        If the order is negative, or an entry of the constant not finite.
    ShapeError
        If the constant has another shape.
    """

    label: str
    order: int
    lhs: Expression
    constant: Array

    def __post_init__(self) -> None:
        what = f"matrix inequality {self.label!r}"
        order = as_whole(f"{what}: its order", self.order)
        if order < 0:
            raise ModelError(f"{what}: its order must not be negative; it is {order}.")
        constant = as_real(self.constant, copy=True)
        if constant.shape != (svec_size(order),):
            raise ShapeError(
                f"{what}: the constant of order {order} must have shape ({svec_size(order)},); "
                f"it has {constant.shape}."
            )
        if not np.isfinite(constant).all():
            e = int(np.flatnonzero(~np.isfinite(constant))[0])
            raise ModelError(
                f"{what}: entry {e} of the constant is {constant[e]}; it must be a finite number."
            )
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "constant", constant)
        object.__setattr__(self, "lhs", dict(self.lhs))
