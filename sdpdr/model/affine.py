"""Affine expressions and their operators, which work as NumPy's if their result is affine.

An expression is a sum of linear maps applied to named variables, plus a constant, in the shape of
an array: ``SquaredEdgeLengths(n, edges) @ Var("K")``, or ``K.distance2(edges)`` of
``K = psd("K", n)``. A coefficient may be a parameter, whose value changes between solves.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix, as_real, own_rows
from sdpdr.base.attributes import OF_EXPRESSIONS, Advising
from sdpdr.base.errors import (
    DataTypeError,
    ModelError,
    OutOfRangeError,
    ShapeError,
    UnknownNameError,
)
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.svec import svec_pairs, svec_size
from sdpdr.model.operands import (
    STRICT,
    NoSuchOperator,
    apply_ufunc,
    described,
    is_two,
    refused,
)
from sdpdr.program.point import Factor, PsdVariable, Value, Variable, VectorVariable

if TYPE_CHECKING:
    from sdpdr.model.parameters import Parameter

Shape: TypeAlias = "tuple[int, ...]"
Axes: TypeAlias = "int | tuple[int, ...] | None"
Declared: TypeAlias = "Variable | Parameter"
F = TypeVar("F", bound=Callable[..., Any])
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


_DEFINED: dict[str, Callable[..., Any]] = {}


def defines_operator(function: F) -> F:
    """Let `Operators` call a function of a later file, which itself is made of expressions.

    Comparisons, penalties and functions of NumPy register themselves when `sdpdr.model` is
    imported, so that this file imports none of them.
    """
    _DEFINED[function.__name__] = function
    return function


class Operators(Advising, ABC):
    """Base of everything that converts to an affine expression; adds, scales and compares."""

    __hash__ = object.__hash__
    elsewhere, has_functions = OF_EXPRESSIONS, True

    shape: Shape
    described_as = "an expression"

    # NumPy must leave `array + expression` and `np.mean(expression)` to the methods here.
    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        return apply_ufunc(ufunc, method, operands)

    def __array_function__(self, called: Any, types: Any, args: Any, options: Any) -> Any:
        return _DEFINED["numpy_function"](called, args, options)

    @abstractmethod
    def affine(self) -> Affine:
        """The expression with all of its values."""

    def at(self, values: Mapping[str, Any]) -> Any:
        """Its numbers at a point, in its shape, with the present values of parameters.

        Parameters
        ----------
        values : mapping from variable name to array
            ``solution[expression]`` is ``expression.at(solution.values)``.

        Raises
        ------
        UnknownNameError
            If the point has no value for a variable.

        Examples
        --------
        >>> import numpy as np
        >>> from sdpdr import psd
        >>> psd("K", 2).diagonal().at({"K": np.diag([1.0, 4.0])})
        array([1., 4.])
        """
        return evaluate(fixed(self.affine()), values).reshape(self.shape)

    def _other(self, operator: str, other: Any) -> Affine:
        """The other operand as an expression; an error that names the operator if it is none."""
        try:
            return Affine.of(other)
        except DataTypeError:
            raise DataTypeError(
                f"an expression of shape {self.shape} {operator} a {type(other).__name__} is not "
                f"defined: write numbers, arrays or expressions{hint(other)}."
            ) from None

    # -- sums and products ----------------------------------------------------------------------

    def __add__(self, other: Any) -> Affine:
        if is_curved(other):
            return NotImplemented
        return self.affine()._plus(self._other("+", other))

    __radd__ = __add__

    def __pos__(self) -> Affine:
        return self.affine()

    def __neg__(self) -> Affine:
        whole = self.affine()
        return whole._changed(lambda part: -part, -whole.constant, whole.shape)

    def __sub__(self, other: Any) -> Affine:
        if is_curved(other):
            return NotImplemented
        return self.affine()._plus(-self._other("-", other))

    def __rsub__(self, other: Any) -> Affine:
        return self._other("-", other)._plus(-self)

    def __mul__(self, other: Any) -> Affine:
        if is_curved(other):
            return NotImplemented
        return self.affine()._times(self._other("*", other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Affine:
        divisor = self._other("/", other)
        if not divisor.is_constant:
            refuse_division(divisor)
        if not np.all(divisor.constant):
            raise ModelError("division by zero: every number that divides must differ from zero.")
        return self.affine()._times(Affine({}, 1.0 / divisor.constant, divisor.shape))

    __rtruediv__ = refused(
        "numbers over an expression are not linear; if its sign is known, multiply both sides of "
        "the comparison by it instead."
    )

    def __matmul__(self, other: Any) -> Affine:
        if is_curved(other):
            return NotImplemented
        return product(self.affine(), _stack(other))

    def __rmatmul__(self, other: Any) -> Affine:
        return product(_stack(other), self.affine())

    def dot(self, other: Any) -> Affine:
        """The product with numbers: ``@`` for arrays, ``*`` for a single number."""
        return self @ other if self.shape and np.shape(other) else self * other

    # -- parts ----------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Affine:
        whole = self.affine()
        return whole.picked(part_of(self, whole.positions(), index))

    # It has no length, so that NumPy and SciPy treat it as a scalar and leave operators to it.
    def __iter__(self) -> Iterator[Affine]:
        if not self.shape:
            raise DataTypeError("a scalar expression has no parts.")
        return (self[k] for k in range(self.shape[0]))

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def T(self) -> Affine:
        """The transpose."""
        whole = self.affine()
        return whole.picked(whole.positions().T)

    def reshape(self, *shape: Any) -> Affine:
        """The same values in another shape, row by row."""
        whole = self.affine()
        try:
            return whole.picked(whole.positions().reshape(*shape))
        except (TypeError, ValueError):
            raise ShapeError(f"{whole.m} values have no shape {shape}.") from None

    def ravel(self) -> Affine:
        """The values one after another, row by row."""
        return self.reshape(-1)

    flatten = ravel

    def diagonal(self) -> Affine:
        """The diagonal of a matrix."""
        whole = self.affine()
        if len(self.shape) != 2:
            raise ShapeError(f"only a matrix has a diagonal; this has shape {self.shape}.")
        return whole.picked(np.diagonal(whole.positions()))

    def trace(self) -> Affine:
        """The sum of the diagonal of a square matrix."""
        if len(self.shape) != 2 or self.shape[0] != self.shape[1]:
            raise ShapeError(f"only a square matrix has a trace; this has shape {self.shape}.")
        return self.diagonal().sum()

    def sum(self, axis: Axes = None, keepdims: bool = False) -> Affine:
        """The sum of all values, or along one axis or several."""
        kept = shape_of_sums(self.shape, axis, keepdims=True)
        row = np.broadcast_to(np.arange(math.prod(kept)).reshape(kept), self.shape).ravel()
        ones = np.ones(row.size), (row, np.arange(row.size))
        weights = sp.csr_array(ones, (math.prod(kept), row.size))
        return self.affine().combined(weights, shape_of_sums(self.shape, axis, keepdims))

    def mean(self, axis: Axes = None, keepdims: bool = False) -> Affine:
        """The mean of all values, or along one axis or several."""
        total = self.sum(axis, keepdims)
        if not self.size:
            raise ShapeError(f"no values, of shape {self.shape}, have no mean.")
        return total / (self.size / total.size)

    def quadratic(self, vectors: Any) -> Affine:
        """The form v^T X v for each row v of a matrix, of shape (m,), or for one vector v."""
        v = np.asarray(constant_of(vectors))
        if self.shape != 2 * v.shape[-1:] or v.ndim > 2:
            raise ShapeError(
                f"quadratic(V) of shape {self.shape} needs rows of that length; it was given V of "
                f"shape {v.shape}."
            )
        products = v[..., :, None] * v[..., None, :]
        return self.affine().combined(products.reshape(-1, self.size), v.shape[:-1])

    def distance2(self, i: Any, j: Any = None) -> Affine:
        """X_ii + X_jj - X_ij - X_ji of a square matrix: squared distances if X is a Gram matrix."""
        if self.ndim != 2 or self.shape[0] != self.shape[1]:
            raise ShapeError(f"distance2 is of a square matrix; this has shape {self.shape}.")
        i, j = pairs_of(self, i, j)
        return self[i, i] + self[j, j] - self[i, j] - self[j, i]

    def inner(self, coefficients: Any) -> Affine:
        r""":math:`\langle C, X\rangle`, the sum of products with C, which has the same shape."""
        c = sp.csr_array(coefficients) if sp.issparse(coefficients) else constant_of(coefficients)
        if c.shape != self.shape:
            raise ShapeError(f"inner(C) needs C of shape {self.shape}; it was given {c.shape}.")
        return self.affine().combined(c.reshape((1, -1)), ())

    # -- comparisons, penalties, functions --------------------------------------------------------

    def __le__(self, other: Any) -> Any:
        return NotImplemented if is_curved(other) else _DEFINED["compare"](self, "<=", other)

    def __ge__(self, other: Any) -> Any:
        return NotImplemented if is_curved(other) else _DEFINED["compare"](self, ">=", other)

    def __eq__(self, other: object) -> Any:
        return NotImplemented if is_curved(other) else _DEFINED["compare"](self, "==", other)

    def __rshift__(self, other: Any) -> Any:
        return _DEFINED["compare"](self, ">>", other)

    def __lshift__(self, other: Any) -> Any:
        return _DEFINED["compare"](self, "<<", other)

    __rrshift__, __rlshift__ = __lshift__, __rshift__

    __lt__ = refused(STRICT.format("<", "min"))
    __gt__ = refused(STRICT.format(">", "max"))
    __ne__ = refused("points that differ are no convex set; only ==, <= and >= make rows.")
    __bool__ = refused(
        "{0} is neither true nor false before it is solved; compare it (<=, ==, >=) to make a "
        "constraint, and add constraints instead of joining them by `and`, `or` or `if`."
    )

    __float__ = __int__ = __round__ = refused(
        "{0} is no number before it is solved; write solution[expression] for its value."
    )

    def __abs__(self) -> Any:
        return _DEFINED["absolute"](self)

    def __pow__(self, exponent: Any) -> Any:
        if not is_two(exponent):
            raise ModelError(
                f"expression**{exponent!r} is not known here; write square(v) for v**2, and "
                f"sdpdr.atom(lambda v: cvxpy.power(v, {exponent!r}), v) for another power."
            )
        return _DEFINED["square"](self)

    def max(self, axis: Axes = None) -> Any:
        """The largest value, which is convex."""
        if shape_of_sums(self.shape, axis):
            raise ModelError(
                f"the largest values along axis {axis} are several convex functions, of which each "
                "is one number: write [row.max() for row in X] (of X.T for columns)."
            )
        return _DEFINED["sum_largest"](self.ravel(), 1)

    def min(self, axis: Axes = None) -> Any:
        """The least value, which is concave."""
        return -(-self).max(axis)


@dataclass(frozen=True, eq=False, repr=False)
class Affine(Operators):
    """An affine expression with values in an array.

    Operators work as those of NumPy do, as long as the result is affine; a comparison is a
    `Constraint`, which is a block.

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
        return not self.products and set(self.maps) <= set(parameters_of(self))

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

    def positions(self) -> Index:
        """The positions 0, 1, ... of the values, in the shape of the expression."""
        return np.arange(self.m).reshape(self.shape)

    def broadcast(self, shape: Shape) -> Affine:
        """The expression in a larger shape, as NumPy broadcasts."""
        if shape == self.shape:
            return self
        return self.picked(np.broadcast_to(self.positions(), shape))

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
        if not b.is_constant:
            known, unknown = (a, b) if a.is_known else (b, a)
            return _by_parameters(known, unknown)
        scale = b.constant
        factor = float(scale[0]) if scale.size and np.ptp(scale) == 0.0 else scale
        # A map that is not scaled keeps its class, by which solvers recognize structure.
        if isinstance(factor, float) and factor == 1.0:
            return a
        return a._changed(lambda part: factor * part, scale * a.constant, shape)


@dataclass(frozen=True, eq=False)
class Product:
    """Rows of an expression times parameters: T (factor * of).

    Parameters
    ----------
    weights : sparse array of shape (m, q)
        T.
    factor : Affine
        q values that depend on parameters only.
    of : Affine
        q values, without parameters.
    """

    weights: sp.csr_array
    factor: Affine
    of: Affine

    def __getitem__(self, rows: Index) -> Product:
        return replace(self, weights=self.weights[rows])

    def __rmatmul__(self, rows: Any) -> Product:
        return replace(self, weights=own_rows(rows) @ self.weights)

    def __neg__(self) -> Product:
        return -1.0 * self

    def __rmul__(self, scale: Any) -> Product:
        scales = np.broadcast_to(np.asarray(scale, dtype=float), (self.weights.shape[0],))
        return sp.diags_array(scales, format="csr") @ self

    __array_ufunc__ = None

    def at(self, numbers: Callable[[Parameter], Array]) -> Affine:
        """The rows with numbers for the parameters."""
        factor = fixed(self.factor, numbers).constant
        return (factor * self.of.reshape(-1)).combined(self.weights, (self.weights.shape[0],))

    def slope(self, name: str, values: Array) -> Array:
        """Derivative by a parameter, given the values of `of`; of shape (m, size)."""
        by_row = self.factor.maps[name].matrix()
        return np.asarray((self.weights @ (sp.diags_array(values) @ by_row)).toarray())


def parameters_of(expression: Affine) -> dict[str, Parameter]:
    """The parameters in an expression, by name."""
    return {name: p for name, p in expression.declared.items() if not isinstance(p, VARIABLES)}


def _by_parameters(known: Affine, other: Affine) -> Affine:
    """An expression in parameters only, times an expression of the same shape in variables."""
    if not known.is_known:
        raise ModelError(
            f"a product of two expressions (in {names_of(known, other)}) is not linear; "
            "multiply by numbers, or write square(v) for v * v, or a larger matrix for "
            "products (`blocks.FactorLift`)."
        )
    if parameters_of(other):
        raise ModelError(
            f"a product of parameters ({', '.join({**known.maps, **parameters_of(other)})}) is not "
            "linear in them; make their product another parameter."
        )
    row = Product(sp.eye_array(known.m, format="csr"), known, other)
    declared = joined(known.declared, other.declared)
    return Affine({}, np.zeros(known.m), known.shape, declared, (row,))


def present(parameter: Parameter) -> Array:
    """The numbers of a parameter as a vector."""
    return parameter.value.ravel()


def fixed(expression: Affine, numbers: Callable[[Parameter], Array] = present) -> Affine:
    """The expression with numbers in place of its parameters.

    Parameters
    ----------
    expression : Affine
    numbers : callable
        Takes a parameter, and returns its numbers; the present ones by default.

    Raises
    ------
    ModelError
        If a parameter has no value.
    """
    known = parameters_of(expression)
    if not known:
        return expression
    maps = {name: a for name, a in expression.maps.items() if name not in known}
    constant = expression.constant.copy()
    for name, linear_map in expression.maps.items():
        if name in known:
            constant += linear_map.apply(numbers(known[name]))
    declared = {name: v for name, v in expression.declared.items() if name not in known}
    total = Affine(maps, constant, expression.shape, declared)
    for row in expression.products:
        total = total + row.at(numbers).reshape(expression.shape)
    return total


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


# -- matrix products ------------------------------------------------------------------------------


def product(left: Any, right: Any) -> Affine:
    """``left @ right`` for an expression and numbers or parameters, in either order.

    Parameters
    ----------
    left, right : Affine, array, sparse array, or list of sparse arrays
        A list, or an array with three axes, is a stack of matrices; a vector times a stack is the
        weighted sum of its matrices.

    Raises
    ------
    ModelError
        If both depend on variables.
    ShapeError
        If the shapes do not match.

    Examples
    --------
    >>> from sdpdr import scalar
    >>> w = scalar("w", 2)
    >>> (w @ [np.eye(3), np.ones((3, 3))]).shape, (np.ones((4, 2)) @ w).shape
    ((3, 3), (4,))
    """
    if isinstance(left, Affine) and isinstance(right, Affine):
        left, right = (left, _as_array(right)) if right.is_constant else (_as_array(left), right)
    if isinstance(left, Affine) and isinstance(right, Affine):
        return _of_expressions(left, right)
    if isinstance(left, Affine) and (isinstance(right, list) or right.ndim == 3):
        return _weighted(left, right)
    _require_fit(left.shape, right.shape, left.shape[-1:] == right.shape[:1])
    shape = left.shape[:-1] + right.shape[1:]
    of, turned = (right, left) if isinstance(right, Affine) else (left, right.T)
    rows = sp.csr_array(as_real(turned if turned.ndim == 2 else np.reshape(turned, (1, -1))))
    if isinstance(right, Affine):
        inner = sp.eye_array(right.shape[1] if right.ndim == 2 else 1)
        return of.combined(sp.kron(rows, inner, format="csr"), shape)
    outer = sp.eye_array(left.shape[0] if left.ndim == 2 else 1)
    return of.combined(sp.kron(outer, rows, format="csr"), shape)


def _as_array(side: Affine) -> Any:
    """A constant operand as an array; others unchanged."""
    return side.constant.reshape(side.shape) if side.is_constant else side


def _of_expressions(left: Affine, right: Affine) -> Affine:
    """A product with parameters on one side, as sums of products of values."""
    if not (left.is_known or right.is_known):
        raise ModelError(
            f"a product of two expressions (in {names_of(left, right)}) is not "
            "linear; one side of @ must be made of numbers or parameters. Write quad_form(v, P) "
            "for v @ P @ v, and square(v).sum() for v @ v."
        )
    _require_fit(left.shape, right.shape, left.shape[-1:] == right.shape[:1])
    before, after = left.shape[:-1], right.shape[1:]
    rows = left.reshape(*left.shape, *(1 for _ in after))
    columns = right.reshape(*(1 for _ in before), *right.shape)
    return (rows * columns).sum(axis=len(before))


def _weighted(weights: Affine, matrices: Any) -> Affine:
    """The weighted sum of matrices."""
    shape = np.shape(matrices[0]) if len(matrices) else ()
    alike = all(np.shape(matrix) == shape for matrix in matrices)
    fits = weights.shape == (len(matrices),)
    _require_fit(weights.shape, (len(matrices), *shape), alike and fits)
    if isinstance(matrices, list):
        columns = sp.vstack([matrix.reshape((1, -1)) for matrix in matrices], format="csr")
    else:
        columns = sp.csr_array(matrices.reshape(len(matrices), -1))
    return weights.combined(columns.T.tocsr(), shape)


def _require_fit(left: Any, right: Any, fits: bool) -> None:
    """Raise an error if the shapes of a product do not match."""
    if not fits or not left or not right or len(left) > 2:
        raise ShapeError(
            f"shapes {tuple(left)} @ {tuple(right)} do not fit: the last axis of the left "
            "side must be as long as the first of the right one."
        )


def _stack(operand: Any) -> Any:
    """An operand of ``@``: an expression, a matrix, or an array or list of matrices."""
    if isinstance(operand, Operators):
        return operand.affine()
    if sp.issparse(operand):
        return operand
    if isinstance(operand, (list, tuple)) and any(sp.issparse(part) for part in operand):
        return [sp.csr_array(part) for part in operand]
    return constant_of(operand)


# -- operands: shapes, positions, numbers, names --------------------------------------------------


def known_shape(operator: str, one: Affine, other: Affine) -> Shape:
    """The common shape of two operands.

    Raises
    ------
    ShapeError
    """
    try:
        return np.broadcast_shapes(one.shape, other.shape)
    except ValueError:
        raise ShapeError(
            f"shapes {one.shape} {operator} {other.shape} do not fit together: they must be equal, "
            "or broadcast as those of NumPy arrays do."
        ) from None


def shape_of_sums(shape: Shape, axis: Axes, keepdims: bool = False) -> Shape:
    """The shape of sums along axes, as NumPy finds it.

    Raises
    ------
    DataTypeError, OutOfRangeError

    Examples
    --------
    >>> shape_of_sums((2, 3), -1), shape_of_sums((2, 3), (1, 0)), shape_of_sums((2, 3), 1, True)
    ((2,), (), (2, 1))
    """
    try:
        # NumPy decides on the axes of a small array: an axis that is summed has length one left.
        left = np.zeros((2,) * len(shape)).sum(axis=axis, keepdims=True).shape
    except TypeError:
        raise DataTypeError(
            f"an axis is a whole number, or several; it was given {axis!r}."
        ) from None
    except ValueError as error:
        raise OutOfRangeError(f"axis {axis} of an expression of shape {shape}: {error}.") from None
    if keepdims:
        return tuple(1 if k == 1 else side for k, side in zip(left, shape, strict=True))
    return tuple(side for k, side in zip(left, shape, strict=True) if k == 2)


def part_of(expression: Operators, array: Any, index: Any) -> Any:
    """A part of an array that belongs to an expression, as NumPy selects it.

    Raises
    ------
    OutOfRangeError
    """
    try:
        return array[index]
    except IndexError as error:
        first = " Indices begin with 0." if "out of bounds" in str(error) else ""
        raise OutOfRangeError(
            f"no such part of {described(expression)}: it was given {index!r}, and "
            f"{str(error).rstrip('.')}.{first}"
        ) from None


def pairs_of(expression: Operators, i: Any, j: Any) -> tuple[Index, Index]:
    """Two arrays of positions on an axis, given as two arrays or as pairs.

    Raises
    ------
    OutOfRangeError, ShapeError

    Examples
    --------
    >>> pairs_of(Affine.of(np.eye(3)), [(0, 1), (0, -1)], None)
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
    places = np.arange(expression.shape[0])
    ends = [part_of(expression, places, np.asarray(end, dtype=_index_type(end))) for end in (i, j)]
    try:
        first, second = np.broadcast_arrays(*ends)
    except ValueError:
        raise ShapeError(
            f"indices of shapes {np.shape(i)} and {np.shape(j)} do not fit together."
        ) from None
    return first, second


def _index_type(index: Any) -> Any:
    """The type of an array of indices; an empty one has none of its own."""
    return None if np.size(index) else np.intp


def constant_of(value: Any) -> Array:
    """Numbers as a dense array of any shape.

    Raises
    ------
    DataTypeError
        If they are not numbers.
    """
    dense = value.toarray() if sp.issparse(value) else value
    if isinstance(dense, (str, bytes)) or dense is None:
        raise DataTypeError(f"coefficients must be numbers; this is {dense!r}.")
    try:
        return np.asarray(as_real(dense))
    except ValueError as error:  # of NumPy, for sequences of unequal length
        if isinstance(error, DataTypeError):
            raise
        raise DataTypeError(f"coefficients must be an array of numbers: {error}") from None


def is_curved(other: Any) -> bool:
    """Whether an operand is a penalty or convex function, which has its own operators."""
    return isinstance(other, NoSuchOperator)


def names_of(*sides: Affine) -> str:
    """The names of variables and parameters of each operand, for messages."""
    return " and ".join(", ".join(side.declared or side.maps) for side in sides)


def refuse_division(divisor: Affine) -> NoReturn:
    """Raise an error that says what to write instead of a division by an expression."""
    if divisor.is_known:
        raise ModelError(
            f"division by parameters ({names_of(divisor)}) is not linear in them; make the inverse "
            "a parameter of its own."
        )
    raise ModelError(
        f"division by an expression (in {names_of(divisor)}) is not linear; multiply both sides of "
        "the comparison by it instead, if its sign is known."
    )


def hint(other: Any) -> str:
    """Advice for an operand that is neither an expression nor made of numbers."""
    if hasattr(other, "terms"):
        return "; blocks and comparisons are added to maximize(...), minimize(...) or other blocks"
    if type(other).__module__.startswith("cvxpy."):
        return (
            "; cvxpy's variables do not mix with those of sdpdr: pass a whole cvxpy.Problem to "
            "sdpdr.solve, and write its functions as sdpdr.atom(cvxpy.norm, v)"
        )
    several = other.flat if isinstance(other, np.ndarray) and other.dtype == object else other
    if isinstance(several, (list, tuple, np.flatiter)) and any(
        isinstance(part, Operators) for part in several
    ):
        return "; expressions become one by numpy.hstack, numpy.stack or numpy.block"
    return ""


def _add(a: Any, b: Any) -> Any:
    """The sum of two maps on one variable."""
    return VectorMap(a.matrix() + b.matrix()) if isinstance(a, VectorMap) else a + b


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
