"""Parameters: numbers of a model that may change between solves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, own_rows
from sdpdr.base.errors import DataTypeError, ModelError, ShapeError, UnknownNameError
from sdpdr.base.keywords import checks_keywords
from sdpdr.linalg import VectorMap
from sdpdr.model.affine import Affine, joined
from sdpdr.model.arithmetic import Operators, constant_of
from sdpdr.model.axes import shape_of

T = TypeVar("T")


class Parameter(Operators):
    """Named numbers that may change between solves.

    Operators treat a parameter as a constant; a parameter times an expression of variables is a
    coefficient. Products of parameters are refused, because they are not linear in them.

    Parameters
    ----------
    name : str
    shape : tuple of int
    value : array_like of that shape, optional

    Examples
    --------
    >>> from sdpdr import maximize, parameter, psd
    >>> K = psd("K", 2)
    >>> width = parameter("width", value=1.0)
    >>> model = maximize(K.trace()) + (K.diagonal() <= width)
    >>> round(model.solve().value, 6)
    2.0
    >>> width.value = 3.0
    >>> round(model.solve().value, 6)
    6.0
    """

    def __init__(self, name: str, shape: Any = (), value: Any = None) -> None:
        if not isinstance(name, str) or not name.strip():
            raise DataTypeError(f"a parameter needs a name, a str; it was given {name!r}.")
        self.name, self.shape = name, _shape(name, shape)
        self._value: Array | None = None
        if value is not None:
            self.value = value

    @property
    def value(self) -> Array:
        """The present numbers.

        Raises
        ------
        ModelError
            If none were given yet.
        """
        if self._value is None:
            raise ModelError(
                f"parameter {self.name!r} has no value yet; set {self.name}.value = ..."
            )
        return self._value.reshape(self.shape)

    @value.setter
    def value(self, numbers: Any) -> None:
        given = constant_of(numbers)
        if given.shape != self.shape:
            raise ShapeError(
                f"parameter {self.name!r} has shape {self.shape}; it was given {given.shape}."
            )
        if not np.isfinite(given).all():
            raise ModelError(f"parameter {self.name!r} must be finite; it was given {numbers!r}.")
        self._value = given.ravel().copy()

    @property
    def has_value(self) -> bool:
        """Whether it has numbers."""
        return self._value is not None

    def at_each_entry(self, function: Callable[[float], T]) -> list[T]:
        """The results of a function with each entry increased in turn; the value is restored.

        Parameters
        ----------
        function : callable
            Takes the step, while the parameter is changed. Steps are positive, since weights must
            stay positive, and at least as large as the entry; for an affine function any step is
            exact.

        Examples
        --------
        >>> from sdpdr.model.parameters import Parameter
        >>> p = Parameter("p", (2,), [1.0, 4.0])
        >>> p.at_each_entry(lambda step: (p.value.tolist(), float(step))), p.value.tolist()
        ([([2.0, 4.0], 1.0), ([1.0, 8.0], 4.0)], [1.0, 4.0])
        """
        value, found = self.value, []
        try:
            for k in range(self.size):
                step = max(1.0, abs(value.flat[k]))
                moved = value.copy()
                moved.flat[k] += step
                self.value = moved
                found.append(function(step))
        finally:
            self.value = value
        return found

    def affine(self) -> Affine:
        """The parameter as an expression."""
        whole = VectorMap(sp.eye_array(self.size, format="csr"))
        return Affine({self.name: whole}, np.zeros(self.size), self.shape, {self.name: self})

    def __repr__(self) -> str:
        now = f"value={self.value.tolist()}" if self.has_value else "no value"
        return f"parameter({self.name!r}, {now})"


@checks_keywords
def parameter(name: str, shape: Any = None, *, value: Any = None) -> Parameter:
    """Named numbers that may change between solves (see `Parameter`).

    Parameters
    ----------
    name : str
    shape : int or tuple of int, optional
        By default the shape of the value.
    value : array_like, optional

    Returns
    -------
    Parameter
    """
    if shape is None:
        shape = () if value is None else constant_of(value).shape
    return Parameter(name, shape, value)


def _shape(name: str, shape: Any) -> tuple[int, ...]:
    """The shape as a tuple; an error that mentions ``value`` if it is not a shape."""
    try:
        return shape_of(f"parameter {name!r}", shape)
    except DataTypeError as error:
        raise DataTypeError(
            f"{error} Pass a value by keyword: parameter({name!r}, value={shape!r})."
        ) from None


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
    return {
        name: found for name, found in expression.declared.items() if isinstance(found, Parameter)
    }


def parameter_of(known: Mapping[str, Parameter], parameter: str | Parameter) -> Parameter:
    """The parameter of a model with a name, or with the name of another parameter.

    Raises
    ------
    UnknownNameError
    """
    name = parameter.name if isinstance(parameter, Parameter) else parameter
    if name not in known:
        raise UnknownNameError("parameter", name, known)
    return known[name]


def times_parameters(known: Affine, other: Affine) -> Affine:
    """An expression in parameters only, times an expression of the same shape.

    Raises
    ------
    ModelError
        If the other expression depends on parameters, too, or a variable in it has the name of one.
    """
    if parameters_of(other):
        raise ModelError(
            f"a product of parameters ({', '.join({**known.maps, **parameters_of(other)})}) is not "
            "linear in them; make their product another parameter."
        )
    product = Product(sp.eye_array(known.m, format="csr"), known, other)
    declared = joined(known.declared, other.declared)
    return Affine({}, np.zeros(known.m), known.shape, declared, (product,))


def present(parameter: Parameter) -> Array:
    """The numbers of a parameter as a vector."""
    return parameter.value.ravel()


def generic(parameter: Parameter) -> Array:
    """Random numbers, at which two expressions almost surely differ unless they are identical.

    They are the same for every call with one name and size.
    """
    seed = list(parameter.name.encode())
    return np.random.default_rng(seed).standard_normal(parameter.size)


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
    for product in expression.products:
        total = total + product.at(numbers).reshape(expression.shape)
    return total
