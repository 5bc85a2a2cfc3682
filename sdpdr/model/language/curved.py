"""Convex and concave functions of expressions: sums of parts, in objectives and constraints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from sdpdr.base.errors import DataTypeError, ModelError, ShapeError
from sdpdr.model.affine import (
    Affine,
    Declared,
    Operators,
    constant_of,
    fixed,
    joined,
    refuse_division,
)
from sdpdr.model.language.parts import ConvexPart, Point, at_most_zero
from sdpdr.model.language.statements import NamedBlock, require_finite
from sdpdr.model.operands import NoSuchOperator, apply_ufunc, described, is_two
from sdpdr.model.terms import (
    AtMost,
    Called,
    Equal,
    InCone,
    Lowering,
    Shown,
    Term,
    require_weights,
)
from sdpdr.program.point import Variable


class Curved(NoSuchOperator, ABC):
    """Base of convex and concave functions of expressions, with their operators."""

    shape: tuple[int, ...]
    sign: float
    __hash__ = object.__hash__

    # NumPy must leave `array * function` to the methods here.
    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        return apply_ufunc(ufunc, method, operands)

    @property
    def described_as(self) -> str:
        """A description for messages."""
        return "a convex function" if self.sign > 0.0 else "a concave function"

    @abstractmethod
    def scalar(self) -> Convex:
        """The function as a sum of convex parts."""

    @property
    @abstractmethod
    def declared(self) -> Mapping[str, Declared]:
        """The variables and parameters of the function."""

    @abstractmethod
    def at(self, values: Point) -> Any:
        """Its numbers at a point, with the present values of parameters."""

    def __add__(self, other: Any) -> Any:
        return self.scalar()._plus(other)

    __radd__ = __add__

    def __neg__(self) -> Convex:
        return self.scalar()._scaled(-1.0)

    def __pos__(self) -> Any:
        return self

    def __sub__(self, other: Any) -> Convex:
        if isinstance(other, (Operators, Curved)):
            return self.scalar()._plus(-other)
        one = self.scalar()
        return one._plus(-one.affine._other("-", other))

    def __rsub__(self, other: Any) -> Convex:
        return (-self)._plus(other)

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, Operators) and factor.affine().is_known:
            return self.scalar()._weighted(factor.affine())
        return self.scalar()._scaled(_number(factor))

    def __rmul__(self, factor: Any) -> Any:
        return self * factor

    def __truediv__(self, divisor: Any) -> Any:
        if isinstance(divisor, Operators):
            refuse_division(divisor.affine())
        if isinstance(divisor, Curved):
            raise ModelError(
                f"{described(self)} over {described(divisor)} is neither convex nor concave; "
                "divide by numbers."
            )
        numbers = constant_of(divisor)
        if not np.all(numbers):
            raise ModelError(f"{described(self)} is divided by zero; divide by other numbers.")
        return self * (1.0 / numbers)

    def __le__(self, bound: Any) -> Any:
        return self.scalar()._limited("<=", bound)

    def __ge__(self, bound: Any) -> Any:
        return self.scalar()._limited(">=", bound)

    def __iter__(self) -> NoReturn:
        raise DataTypeError(
            "a convex function has no parts to go through; the sum of its values is .sum()."
        )

    def __array_function__(self, called: Any, types: Any, args: Any, options: Any) -> Any:
        whole = {np.sum: "sum", np.mean: "mean", np.max: "max"}.get(called)
        if whole and len(args) == 1 and not options and hasattr(self, whole):
            return getattr(self, whole)()
        raise ModelError(
            f"numpy.{called.__name__} of {described(self)} is not known here; the sum of its "
            "values is .sum()."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Convex(Curved):
    """A scalar: an affine expression plus convex parts, or minus them.

    Parameters
    ----------
    affine : Affine
        The affine part, of shape ().
    parts : tuple of (float or Affine, ConvexPart)
        Weights and functions. A weight is positive, or an expression in parameters, which may
        become zero.
    sign : {1, -1}
        -1 for a concave function, which subtracts the parts.
    """

    affine: Affine
    parts: tuple[tuple[float | Affine, ConvexPart], ...]
    sign: float = 1.0
    shape = ()

    def scalar(self) -> Convex:
        """The function itself."""
        return self

    def sum(self) -> Convex:
        """The function itself, which is one number."""
        return self

    mean = sum

    def __pow__(self, exponent: Any) -> Any:
        """The square of a Euclidean norm is a sum of squares; other powers are refused."""
        squares = self._length_squared if is_two(exponent) else None
        return super().__pow__(exponent) if squares is None else squares

    @property
    def _length_squared(self) -> Convex | None:
        """The square as a convex function; None if it is not known."""
        if len(self.parts) != 1 or self.affine.maps or self.affine.products:
            return None
        ((weight, part),) = self.parts
        squared = part.squared()
        if squared is None or isinstance(weight, Affine) or np.any(self.affine.constant):
            return None
        return squared.scalar()._scaled(weight**2)

    def __repr__(self) -> str:
        kind = "convex" if self.sign > 0.0 else "concave"
        return f"<{kind} function of {', '.join(self.declared)}>"

    def at(self, values: Point) -> Any:
        """The number that it is at a point."""
        parts = sum(weight * part.value(values) for _, weight, part in self.present_parts())
        return float(self.affine.at(values)) + self.sign * parts

    @property
    def declared(self) -> Mapping[str, Declared]:
        """The variables of all parts."""
        found: Mapping[str, Declared] = self.affine.declared
        for weight, part in self.parts:
            found = joined(found, part.declared)
            found = joined(found, weight.declared if isinstance(weight, Affine) else {})
        return found

    def _plus(self, other: Any) -> Convex:
        """The sum with an expression, or a function of the same curvature."""
        if isinstance(other, Curved):
            more = other.scalar()
            if more.sign != self.sign:
                raise ModelError(
                    "the sum of a convex and a concave function is neither; minimise convex "
                    "functions, or maximise concave ones."
                )
            return Convex(self.affine + more.affine, self.parts + more.parts, self.sign)
        total = self.affine._plus(self.affine._other("+", other))
        if total.shape != ():
            raise ShapeError(
                f"a convex function is one number; it cannot be added to shape {total.shape}."
            )
        return replace(self, affine=total)

    def _scaled(self, factor: float) -> Any:
        """The function times a number."""
        if factor == 0.0:  # as at the end of a path of weights
            return 0.0 * self.affine
        parts = tuple((abs(factor) * weight, part) for weight, part in self.parts)
        return Convex(factor * self.affine, parts, self.sign * np.sign(factor))

    def _weighted(self, factor: Affine) -> Convex:
        """The function times a parameter, which must then be nonnegative."""
        if factor.shape != ():
            raise ShapeError(
                f"a convex function is one number; it cannot take factors of shape {factor.shape}."
            )
        parts = tuple((factor * weight, part) for weight, part in self.parts)
        return replace(self, affine=factor * self.affine, parts=parts)

    def calls(self) -> tuple[Called, ...]:
        """The parts as they are printed."""
        return tuple(called(weight, part, self.sign) for weight, part in self.parts)

    def present_parts(self) -> list[tuple[int, float, ConvexPart]]:
        """Number, weight and function of each part of nonzero weight, at the present parameters.

        Raises
        ------
        ModelError
            If a weight is negative.
        """
        weights = [_present(weight) for weight, _ in self.parts]
        return [
            (k, weight, part)
            for k, (weight, (_, part)) in enumerate(zip(weights, self.parts, strict=True))
            if weight
        ]

    def _limited(self, relation: str, bound: Any) -> Limited:
        """The constraint that bounds the function."""
        if (relation == "<=") != (self.sign > 0.0):
            kind = "convex" if self.sign > 0.0 else "concave"
            other = "<=" if self.sign > 0.0 else ">="
            raise ModelError(f"a {kind} function {relation} a limit is no convex set; use {other}.")
        if isinstance(bound, Curved):
            return self._beside(relation, bound)
        for _, part in self.parts:
            part.limitable()
            part.require_one_value()
        limit = self.affine._other(relation, bound)
        require_finite(self, relation, bound, self.affine, limit)
        if limit.shape != ():
            raise ShapeError(f"a convex function is one number; its limit has shape {limit.shape}.")
        return Limited(self, limit)

    def _beside(self, relation: str, other: Curved) -> Limited:
        """The constraint that a convex function is below a concave one, or vice versa."""
        if self.sign * other.sign > 0.0:
            raise ModelError(
                f"{described(self)} {relation} {described(other)} is no convex set; compare it "
                "with an expression or a number."
            )
        return (self - other.scalar())._limited(relation, 0.0)


class Lowered(NamedBlock):
    """A block of convex parts, which introduce variables and terms."""

    @abstractmethod
    def _written(self) -> tuple[list[Variable], list[Term]]:
        """The variables of the parts and all terms, at the present values of parameters."""

    @cached_property
    def _kept(self) -> dict[tuple[bytes, ...], tuple[list[Variable], list[Term]]]:
        """The last result of `_lowered`, by the values of parameters."""
        return {}

    def _lowered(self) -> tuple[list[Variable], list[Term]]:
        """The variables and terms, kept while parameters do not change."""
        # From the first plan to the last proof, a model calls this some thirty times.
        numbers = tuple(p.value.tobytes() for p in self.parameters().values())
        if numbers not in self._kept:
            self._kept.clear()
            self._kept[numbers] = self._written()
        return self._kept[numbers]

    def variables(self) -> Iterable[Variable]:
        """The variables in it, and those above convex parts that need one."""
        return [*super().variables(), *self._lowered()[0]]

    def terms(self) -> Iterable[Term]:
        """The terms of the parts, and the constraint or objective that contains them."""
        return tuple(self._lowered()[1])


@dataclass(frozen=True, eq=False, repr=False)
class Limited(Lowered):
    """A convex function below a bound, or a concave one above it."""

    function: Convex
    limit: Affine
    name: str = ""

    @property
    def default_label(self) -> str:
        """The label of a bound without a name."""
        return "limit"

    def _written(self) -> tuple[list[Variable], list[Term]]:
        variables, terms = self._made()
        shown = Shown(self.function.affine.reshape(1), self.function.calls())
        relation = "<=" if self.function.sign > 0.0 else ">="
        stated = Lowering(shown, relation, self.limit.reshape(1))
        return variables, [replace(terms[0], written=stated), *lowered(terms[1:])]

    def _made(self) -> tuple[list[Variable], list[Any]]:
        """The variables and terms, without their printed form."""
        variables: list[Variable] = []
        terms: list[Term] = []
        sign = self.function.sign
        total = sign * fixed(self.function.affine - self.limit)
        (first, alone), *others = self.function.parts
        # A weight of parameters is not divided by: derivatives need rows that are affine in them.
        if not others and not isinstance(first, Affine):
            below = alone.below((-1.0 / first) * total, self.label)
            if below is not None:
                return list(below[0]), list(below[1])
        for k, weight, part in self.function.present_parts():
            more, made, top = part.above(f"{self.label}.{k}" if k else self.label)
            variables += more
            terms += made
            total = total + weight * top
        return variables, [*terms, at_most_zero(total, "", "")]

    @property
    def declared(self) -> Mapping[str, Declared]:
        """The variables and parameters of the function and its bound."""
        return joined(self.function.declared, self.limit.declared)


def called(weight: float | Affine, part: ConvexPart, sign: float) -> Called:
    """The printed form of a part of a function, with its weight."""
    alone = part.called()
    return replace(alone, factors=(weight, *alone.factors), sign=sign * alone.sign)


def lowered(terms: Iterable[Any]) -> list[Any]:
    """Terms, with rows and cones marked as introduced by a function."""
    return [
        replace(term, written=Lowering()) if isinstance(term, (Equal, AtMost, InCone)) else term
        for term in terms
    ]


def _present(weight: float | Affine) -> float:
    """A weight at the present values of parameters, which must not be negative."""
    if not isinstance(weight, Affine):
        return weight
    number = float(fixed(weight).constant[0])
    require_weights(number, f"a convex function, of parameters ({', '.join(weight.declared)}),")
    return number


def _number(factor: Any) -> float:
    """A factor as a finite number."""
    if isinstance(factor, (Operators, Curved)):
        raise ModelError(
            "a product of an expression and a convex function is neither convex nor concave; "
            "multiply by numbers or parameters."
        )
    number = constant_of(factor)
    if number.ndim:
        raise ShapeError(f"a convex function is one number; it cannot take {number.shape} factors.")
    if not np.isfinite(number):
        raise ModelError(f"the factor of a convex function must be finite; it is {number}.")
    return float(number)


def convex(part: ConvexPart) -> Convex:
    """A convex function with one part."""
    return Convex(Affine.of(0.0), ((1.0, part),))


def concave(less: ConvexPart) -> Convex:
    """A concave function, the negative of a convex part."""
    return Convex(Affine.of(0.0), ((1.0, less),), -1.0)
