"""Parameters: numbers of a model that may change between solves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataTypeError, ModelError, ShapeError, UnknownNameError
from sdpdr.base.keywords import checks_keywords
from sdpdr.linalg import VectorMap
from sdpdr.model.affine import Affine, Operators, Shape, constant_of

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


def _shape(name: str, shape: Any) -> Shape:
    """The shape as a tuple; an error that mentions ``value`` if it is not a shape."""
    try:
        return shape_of(f"parameter {name!r}", shape)
    except DataTypeError as error:
        raise DataTypeError(
            f"{error} Pass a value by keyword: parameter({name!r}, value={shape!r})."
        ) from None


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


def generic(parameter: Parameter) -> Array:
    """Random numbers, at which two expressions almost surely differ unless they are identical.

    They are the same for every call with one name and size.
    """
    seed = list(parameter.name.encode())
    return np.random.default_rng(seed).standard_normal(parameter.size)
