"""Affine expressions: linear maps applied to named variables, summed, plus a constant.

``SquaredEdgeLengths(n, edges) @ Var("K")`` is an affine expression with one value per edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array, as_real, own_rows
from sdpdr.base.errors import ShapeError
from sdpdr.linalg import LinearMap, VectorMap


@dataclass(frozen=True)
class Var:
    """A variable, by name; ``linear_map @ Var(name)`` makes an expression of it.

    Parameters
    ----------
    name : str
    """

    name: str

    # NumPy and SciPy must leave `matrix @ Var(...)` to the method below.
    __array_ufunc__ = None

    def __rmatmul__(self, linear_map: Any) -> Affine:
        if not isinstance(linear_map, (LinearMap, VectorMap)):
            linear_map = VectorMap(linear_map)
        return Affine({self.name: linear_map}, np.zeros(linear_map.m))


@dataclass(frozen=True, eq=False)
class Affine:
    """A vector-valued affine expression.

    Parameters
    ----------
    maps : mapping from variable name to map, all with m rows
    constant : array of shape (m,)

    Raises
    ------
    DataTypeError
        If the constant is not real.
    ShapeError
        If the constant is no vector, or a map has another number of rows.

    Examples
    --------
    >>> from sdpdr.linalg import Trace
    >>> (Trace(3) @ Var("K") + 1.0).constant
    array([1.])
    """

    maps: Mapping[str, LinearMap | VectorMap] = field(default_factory=dict)
    constant: Array = field(default_factory=lambda: np.zeros(1))

    def __post_init__(self) -> None:
        constant = np.atleast_1d(as_real(self.constant, copy=True))
        if constant.ndim != 1:
            raise ShapeError(f"the constant must have shape (m,); it has {constant.shape}.")
        object.__setattr__(self, "constant", constant)
        object.__setattr__(self, "maps", dict(self.maps))
        for name, linear_map in self.maps.items():
            if linear_map.m != self.m:
                raise ShapeError(
                    f"parts of an expression need as many rows each: the map on {name!r} has "
                    f"{linear_map.m}, the rest {self.m}."
                )

    __array_ufunc__ = None

    @property
    def m(self) -> int:
        """Number of values."""
        return int(self.constant.size)

    def __add__(self, other: Any) -> Affine:
        if not isinstance(other, Affine):
            shift = np.broadcast_to(as_real(other), (self.m,))
            return Affine(self.maps, self.constant + shift)
        if other.m != self.m:
            raise ShapeError(f"cannot add expressions of {self.m} and {other.m} values.")
        maps = dict(self.maps)
        for name, linear_map in other.maps.items():
            maps[name] = _add(maps[name], linear_map) if name in maps else linear_map
        return Affine(maps, self.constant + other.constant)

    __radd__ = __add__

    def __neg__(self) -> Affine:
        return -1.0 * self

    def __sub__(self, other: Any) -> Affine:
        return self + (-other if isinstance(other, Affine) else -as_real(other))

    def __rmul__(self, scale: Any) -> Affine:
        maps = {name: scale * linear_map for name, linear_map in self.maps.items()}
        return Affine(maps, as_real(scale) * self.constant)

    def __rmatmul__(self, weights: Any) -> Affine:
        rows = own_rows(weights)
        maps = {name: rows @ linear_map for name, linear_map in self.maps.items()}
        return Affine(maps, np.asarray(rows @ self.constant))


def _add(a: Any, b: Any) -> Any:
    return VectorMap(a.matrix() + b.matrix()) if isinstance(a, VectorMap) else a + b
