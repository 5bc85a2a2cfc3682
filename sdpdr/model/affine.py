"""Affine expressions: linear maps applied to named variables, summed, plus a constant.

``SquaredEdgeLengths(n, edges) @ Var("K")`` is an affine expression with one value per edge, and so
is ``K.distance2(edges)`` of ``K = psd("K", n)``. An expression has a shape, as arrays have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sdpdr.base.arrays import Array, Index, Matrix, as_real, own_rows
from sdpdr.base.errors import ModelError, ShapeError, UnknownNameError
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.svec import svec_pairs, svec_size
from sdpdr.model.arithmetic import Operators, constant_of, known_shape
from sdpdr.program.point import Factor, PsdVariable, Value, Variable, VectorVariable

if TYPE_CHECKING:
    from sdpdr.model.parameters import Parameter, Product

Shape = tuple[int, ...]
Declared: TypeAlias = "Variable | Parameter"
VARIABLES = (PsdVariable, VectorVariable)


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


@dataclass(frozen=True, eq=False, repr=False)
class Affine(Operators):
    """An affine expression with values in an array.

    Operators work as those of NumPy do, as long as what comes out is affine; a comparison is a
    `Statement`, which is a block.

    Parameters
    ----------
    maps : mapping from variable name to map, all with m rows
    constant : array of shape (m,)
    shape : tuple of int, default (-1,)
        The shape of the values, row by row in ``maps``; ``(-1,)`` is ``(m,)``, as in NumPy.
    declared : mapping from name to Variable or Parameter
        The variables and parameters that the expression declares.
    products : tuple of Product
        Rows whose coefficients are parameters.

    Raises
    ------
    DataTypeError
        If the constant is not real.
    ShapeError
        If the constant is not a vector, or a map or the shape has another number of values.

    Examples
    --------
    >>> from sdpdr.model import Var
    >>> from sdpdr.linalg import Trace
    >>> (Trace(3) @ Var("K") + 1.0).constant
    array([1.])
    >>> (Trace(3) @ Var("K") / 2.0 <= 1.0).label
    'at_most'
    """

    maps: Mapping[str, LinearMap | VectorMap] = field(default_factory=dict)
    constant: Array = field(default_factory=lambda: np.zeros(1))
    shape: Shape = (-1,)
    declared: Mapping[str, Declared] = field(default_factory=dict)
    products: tuple[Product, ...] = ()

    def __post_init__(self) -> None:
        constant = np.atleast_1d(as_real(self.constant, copy=True))
        if constant.ndim != 1:
            raise ShapeError(f"the constant must have shape (m,); it has {constant.shape}.")
        object.__setattr__(self, "constant", constant)
        object.__setattr__(self, "maps", dict(self.maps))
        object.__setattr__(self, "declared", dict(self.declared))
        object.__setattr__(self, "shape", (self.m,) if self.shape == (-1,) else self.shape)
        if math.prod(self.shape) != self.m:
            raise ShapeError(f"{self.m} values have no shape {self.shape}.")
        for name, linear_map in self.maps.items():
            if linear_map.m != self.m:
                raise ShapeError(
                    f"parts of an expression need as many rows each: the map on {name!r} has "
                    f"{linear_map.m}, the rest {self.m}."
                )

    @property
    def m(self) -> int:
        """Number of values."""
        return int(self.constant.size)

    def affine(self) -> Affine:
        """The expression itself."""
        return self

    @property
    def linear(self) -> Affine:
        """The expression without its constant."""
        return replace(self, constant=np.zeros(self.m))

    def __repr__(self) -> str:
        names = ", ".join(sorted({*self.maps, *self.declared})) or "numbers alone"
        return f"<expression of shape {self.shape} in {names}>"

    @classmethod
    def of(cls, value: Any) -> Affine:
        """Convert an operand to an expression; numbers and arrays become constants.

        Raises
        ------
        DataTypeError
            If it is neither an expression nor made of numbers.
        """
        if isinstance(value, Operators):
            return value.affine()
        numbers = constant_of(value)
        return cls({}, numbers.ravel(), numbers.shape)

    @classmethod
    def in_variable(cls, rows: Any, variable: Variable, shape: Shape = (-1,)) -> Affine:
        """A map or a matrix applied to a variable, which the expression declares."""
        found = rows @ Var(variable.name)
        return cls(found.maps, found.constant, shape, {variable.name: variable})

    @property
    def is_constant(self) -> bool:
        """Whether it depends on no variable and no parameter."""
        return not self.maps and not self.products

    @property
    def is_known(self) -> bool:
        """Whether it depends on no variable, but perhaps on parameters."""
        parameters = (not isinstance(self.declared.get(name), VARIABLES) for name in self.maps)
        return not self.products and all(parameters) and set(self.maps) <= set(self.declared)

    # -- operations that all operators are made of --------------------------------------------

    def _changed(self, change: Callable[[Any], Any], constant: Array, shape: Shape) -> Affine:
        """The expression with a function applied to every map and product."""
        maps = {name: change(linear_map) for name, linear_map in self.maps.items()}
        products = tuple(change(product) for product in self.products)
        return Affine(maps, constant, shape, self.declared, products)

    def picked(self, index: Index) -> Affine:
        """The values at an array of positions, in the shape of that array.

        Examples
        --------
        >>> import numpy as np
        >>> from sdpdr.model import Affine
        >>> Affine.of([1.0, 2.0, 3.0]).picked(np.array([[2, 0]])).constant
        array([3., 1.])
        """
        index = np.asarray(index)
        rows = index.ravel()
        if np.array_equal(rows, np.arange(self.m)):
            return replace(self, shape=index.shape)
        return self._changed(lambda a: a[rows], self.constant[rows], index.shape)

    def combined(self, weights: Matrix, shape: Shape) -> Affine:
        """The linear combinations ``weights @ values``, in a shape."""
        rows = own_rows(weights)
        return self._changed(lambda a: rows @ a, np.asarray(rows @ self.constant), shape)

    def places(self) -> Index:
        """The positions 0, 1, ... of the values, in the shape of the expression."""
        return np.arange(self.m).reshape(self.shape)

    def broadcast(self, shape: Shape) -> Affine:
        """The expression in a larger shape, as NumPy broadcasts."""
        return self if shape == self.shape else self.picked(np.broadcast_to(self.places(), shape))

    # -- the operators -------------------------------------------------------------------------

    def _plus(self, other: Affine) -> Affine:
        """The sum, with shapes broadcast."""
        shape = known_shape("+", self, other)
        declared = joined(self.declared, other.declared)
        a, b = self.broadcast(shape), other.broadcast(shape)
        maps = dict(a.maps)
        for name, linear_map in b.maps.items():
            maps[name] = _add(maps[name], linear_map) if name in maps else linear_map
        return Affine(maps, a.constant + b.constant, shape, declared, a.products + b.products)

    def _times(self, other: Affine) -> Affine:
        """The product, if one factor is constant or made of parameters."""
        shape = known_shape("*", self, other)
        a, b = self.broadcast(shape), other.broadcast(shape)
        if not b.is_constant:
            a, b = b, a
        if not b.is_constant and (a.is_known or b.is_known):
            from sdpdr.model.parameters import times_parameters

            return times_parameters(*((a, b) if a.is_known else (b, a)))
        if not b.is_constant:
            raise ModelError(
                f"a product of two expressions (in {names_of(self, other)}) is not linear; "
                "multiply by numbers, or write square(v) for v * v, or a larger matrix for "
                "products (`blocks.FactorLift`)."
            )
        scale = b.constant
        factor = float(scale[0]) if scale.size and np.ptp(scale) == 0.0 else scale
        # A map that is not scaled keeps its class, by which solvers recognize structure.
        if isinstance(factor, float) and factor == 1.0:
            return a
        return a._changed(lambda part: factor * part, scale * a.constant, shape)


def names_of(*sides: Affine) -> str:
    """The names of variables and parameters of each operand, for messages."""
    return " and ".join(", ".join(side.declared or side.maps) for side in sides)


def _add(a: Any, b: Any) -> Any:
    """The sum of two maps on one variable."""
    return VectorMap(a.matrix() + b.matrix()) if isinstance(a, VectorMap) else a + b


def require_one(name: str, one: Declared, other: Declared) -> None:
    """Raise an error if two declarations share a name; a psd matrix may be declared again.

    Raises
    ------
    ModelError

    Examples
    --------
    >>> require_one("w", VectorVariable("w", 2), VectorVariable("w", 2, nonnegative=True))
    Traceback (most recent call last):
    sdpdr.errors.ModelError: two different variables are called 'w', a vector of 2 and a vector \
of 2 that is nonnegative; make it once, or give one of them another name.
    """
    if one is other or (isinstance(one, PsdVariable) and one == other):
        return
    kinds = {isinstance(one, VARIABLES), isinstance(other, VARIABLES)}
    what = "things" if len(kinds) > 1 else "variables" if True in kinds else "parameters"
    first, second = _kind(one), _kind(other)
    both = f"each {first}" if first == second else f"{first} and {second}"
    raise ModelError(
        f"two different {what} are called {name!r}, {both}; make it once, or give one of them "
        "another name."
    )


def _kind(declared: Declared) -> str:
    """A description of a variable or parameter, for messages."""
    if isinstance(declared, PsdVariable):
        return f"a matrix of order {declared.n}"
    if isinstance(declared, VectorVariable):
        sign = " that is nonnegative" if declared.nonnegative else ""
        shape = getattr(declared, "shape", (declared.size,))
        if len(shape) != 1:
            return (f"a matrix of shape {shape}" if shape else "a scalar") + sign
        return f"a vector of {declared.size}{sign}"
    return f"a parameter of shape {declared.shape}"


def joined(one: Mapping[str, Declared], other: Mapping[str, Declared]) -> dict[str, Declared]:
    """The variables and parameters of two expressions.

    Raises
    ------
    ModelError
        If different ones have one name.
    """
    for name in one.keys() & other.keys():
        require_one(name, one[name], other[name])
    return {**one, **other}


def evaluate(affine: Affine, values: Mapping[str, Value]) -> Array:
    """Values of an affine expression at a point.

    Raises
    ------
    ShapeError
        If a value has another size than its variable.
    UnknownNameError
        If a variable has no value.
    """
    total = affine.constant.copy()
    for name, linear_map in affine.maps.items():
        if name not in values:
            raise UnknownNameError("variable", name, values)
        value = values[name]
        if isinstance(value, Factor) and isinstance(linear_map, LinearMap):
            total += linear_map.apply_factor(value.factor)
        elif isinstance(linear_map, LinearMap):
            total += linear_map.apply(np.asarray(as_real(value)))
        else:
            total += linear_map.apply(_in_a_row(name, value, linear_map.n))
    return total


def _in_a_row(name: str, value: Any, size: int) -> Array:
    """The values of a vector variable, which may also be given as an array or symmetric matrix."""
    given = np.asarray(as_real(value))
    if given.size == size:
        return given.ravel()
    if given.ndim == 2 and given.shape[0] == given.shape[1] and svec_size(len(given)) == size:
        i, j = svec_pairs(np.arange(size))
        if np.array_equal(given[i, j], given[j, i]):
            return np.asarray(given[i, j])
    raise ShapeError(
        f"variable {name!r} has {size} values of its own; it was given shape {given.shape}."
    )
