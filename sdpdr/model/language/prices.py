"""Convex functions of expressions: prices of rows, and sums of convex parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.model.affine import Affine, Declared, joined
from sdpdr.model.arithmetic import Arithmetic, constant_of
from sdpdr.model.language.statements import Named, compare, is_symmetric
from sdpdr.model.parameters import fixed, parameters_of
from sdpdr.model.terms import AtMost, Penalize, Penalty, Raw, Term
from sdpdr.program.point import Variable, VectorVariable

_NAMES = {"absolute": "abs", "positive": "pos", "square": "square"}


class Curved(ABC):
    """A convex or concave function of expressions, as an operand."""

    __array_ufunc__ = None
    __hash__ = object.__hash__

    @abstractmethod
    def scalar(self) -> Convex:
        """The function as a sum of convex parts."""

    def __add__(self, other: Any) -> Any:
        return self.scalar()._plus(other)

    __radd__ = __add__

    def __neg__(self) -> Convex:
        return self.scalar()._scaled(-1.0)

    def __sub__(self, other: Any) -> Convex:
        # Not `-other`: whole numbers without a sign would wrap around.
        return self.scalar()._plus(-1.0 * other)

    def __rsub__(self, other: Any) -> Convex:
        return (-self)._plus(other)

    def __mul__(self, factor: Any) -> Any:
        return self.scalar()._scaled(_number(factor))

    def __rmul__(self, factor: Any) -> Any:
        return self * factor

    def __truediv__(self, divisor: Any) -> Any:
        return self * (1.0 / constant_of(divisor))

    def __le__(self, bound: Any) -> Any:
        return self.scalar()._limited("<=", bound)

    def __ge__(self, bound: Any) -> Any:
        return self.scalar()._limited(">=", bound)

    def __eq__(self, other: object) -> NoReturn:
        raise ModelError("a convex function equal to something is no convex set; write <=.")

    def __bool__(self) -> NoReturn:
        raise ModelError("an expression is neither true nor false before it is solved.")


class Part(ABC):
    """A convex function with one value, which goes below a variable or into the objective."""

    @abstractmethod
    def above(self, name: str) -> tuple[Sequence[Variable], Sequence[Term], Affine]:
        """Variables, terms, and an expression that the terms keep above the function."""

    def priced(self, name: str, weight: float) -> tuple[Sequence[Variable], Sequence[Term], Affine]:
        """Variables, terms, and what is left to minimise, for a weight times the function."""
        variables, terms, top = self.above(name)
        return variables, terms, weight * top

    def below(self, limit: Affine, name: str) -> tuple[Sequence[Variable], Sequence[Term]] | None:
        """Variables and terms that keep the function below one value.

        None where nothing is simpler than a variable in between.
        """
        return None

    def limitable(self) -> Part:
        """The function itself, unless no limit can be written for it, which is refused."""
        return self

    @property
    @abstractmethod
    def declared(self) -> Mapping[str, Declared]:
        """The variables of the function."""


@dataclass(frozen=True, eq=False)
class Priced(Named, Curved, Part):
    r"""The size of every value of an expression: \|v\|, max(v, 0) or v^2, times a weight.

    In a model it is a block, which adds the sum over all values to what is minimised, or takes it
    from what is maximised. Below a limit it is a statement for each value; ``sum()`` is one number.

    Parameters
    ----------
    of : Affine
        v.
    penalty : {"absolute", "positive", "square"}
    weight : array_like, default 1
        Positive; broadcast to the shape of v.
    name : str, optional

    Examples
    --------
    >>> from sdpdr.model.language import psd, pos
    >>> K = psd("K", 3)
    >>> price = 10.0 * abs(K[[0, 1], [1, 2]] - 0.5)
    >>> [(term.penalty, term.weight.tolist()) for term in price.terms()]
    [('absolute', [10.0, 10.0])]
    >>> [type(term).__name__ for term in (pos(K[0, 1]) <= 0.2).terms()]
    ['AtMost']
    """

    of: Affine
    penalty: Penalty
    weight: Any = 1.0
    name: str = ""

    @property
    def default_label(self) -> str:
        """The function."""
        return _NAMES[self.penalty]

    @property
    def declared(self) -> Mapping[str, Declared]:
        """The variables of the expression."""
        weight = self.weight.declared if isinstance(self.weight, Affine) else {}
        return joined(self.of.declared, weight)

    def terms(self) -> Iterable[Term]:
        """One priced row for each value, at the present values of parameters."""
        yield self._penalty(1.0)

    def _values(self) -> tuple[Affine, Array]:
        """The values and their weights, at the present values of parameters.

        Of a symmetric matrix, they are those of the upper triangle, off the diagonal twice.
        """
        of, weight = self.of, self.weight
        if isinstance(weight, Affine):
            weight = fixed(weight).constant.reshape(weight.shape)
            if not np.all(weight >= 0.0):
                raise ModelError(
                    f"a price needs positive weights; those that parameters give "
                    f"{self.label!r} now begin with {weight.min():g}."
                )
        weights = np.broadcast_to(weight, of.shape)
        if len(of.shape) != 2 or not is_symmetric(fixed(of)):
            return of.reshape(-1), weights.ravel()
        i, j = np.triu_indices(of.shape[0])
        upper = np.where(i == j, 0.5, 1.0) * (weights[i, j] + weights[j, i])
        return of[i, j], upper

    def _penalty(self, factor: float, name: str = "") -> Penalize:
        values, weights = self._values()
        flat = fixed(values)
        # The square of a row is priced at half its weight.
        weight = (2.0 if self.penalty == "square" else 1.0) * factor * weights
        rows = Affine(flat.maps, np.zeros(flat.m))
        return Penalize(rows, -flat.constant, self.penalty, weight, name, written=values)

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, Arithmetic) and factor.affine().is_known:
            return replace(self, weight=factor.affine() * self.weight)
        factor = constant_of(factor)
        if not np.all(factor > 0.0):
            if factor.ndim == 0 and factor < 0.0:
                return self.scalar()._scaled(float(factor))
            raise ModelError(f"a price needs positive weights; it was given {factor.min():g}.")
        weight = factor * (
            self.weight if isinstance(self.weight, Affine) else constant_of(self.weight)
        )
        if not _fits(weight.shape, self.of.shape):
            raise ShapeError(
                f"weights of shape {weight.shape} do not fit an expression of shape "
                f"{self.of.shape}."
            )
        return replace(self, weight=weight)

    def sum(self) -> Convex:
        """The sum over all values, as one number."""
        return Convex(Affine.of(0.0), ((1.0, self),))

    def scalar(self) -> Convex:
        """The price as one number, if it has one value."""
        if self.of.shape != ():
            raise ShapeError(
                f"{self.default_label}(...) has shape {self.of.shape} here, where one number is "
                "needed; write .sum()."
            )
        return self.sum()

    def __le__(self, bound: Any) -> Any:
        if isinstance(self.weight, Affine):
            raise ModelError(
                "parameters that weigh values below a limit belong inside, abs(p * v) <= b, or in "
                "a sum, (p * abs(v)).sum() <= b."
            )
        if self.penalty == "square":
            root = constant_of(bound) if not isinstance(bound, Arithmetic) else None
            if root is None or np.any(root < 0.0):
                raise ModelError(
                    "square(v) <= b takes numbers b >= 0; below an expression, sum it: "
                    "square(v).sum() <= expression."
                )
            return Both(self.of, np.sqrt(root / np.asarray(self.weight)), self.name)
        weight = np.asarray(self.weight)
        limit = bound / weight if isinstance(bound, Arithmetic) else constant_of(bound) / weight
        if self.penalty == "absolute":
            return Both(self.of, limit, self.name)
        if isinstance(limit, Arithmetic):
            return Both(self.of, limit, self.name, Affine.of(0.0))
        if np.any(limit < 0.0):
            raise ModelError(
                f"pos(v) <= b takes numbers b >= 0, since pos(v) is never negative; it was given "
                f"{np.min(limit):g}."
            )
        return compare(self.of, "<=", limit)

    def __add__(self, other: Any) -> Any:
        # A price of several values is a block among blocks.
        from sdpdr.model.block import Block
        from sdpdr.model.model import Model

        if isinstance(other, (Block, Model)) and not (
            isinstance(other, Curved) and self.of.shape == ()
        ):
            return Block.__add__(self, other)
        return Curved.__add__(self, other)

    def __radd__(self, other: Any) -> Any:
        # What `sum` begins with; a price is a block as well, and stays one.
        return self if isinstance(other, int) and other == 0 else Curved.__add__(self, other)

    def priced(self, name: str, weight: float) -> tuple[Sequence[Variable], Sequence[Term], Affine]:
        """The priced rows; nothing is left to minimise."""
        return [], [self._penalty(weight, name.rpartition(".")[2])], Affine.of(0.0)

    def above(self, name: str) -> tuple[Sequence[Variable], Sequence[Term], Affine]:
        """A variable above each value, and their weighted sum; one above all squares."""
        values, weights = self._values()
        of = fixed(values)
        squares = self.penalty == "square"
        tops = VectorVariable(f"{name}.above", 1 if squares else of.m, nonnegative=True)
        size = _values(tops)
        below = self.below(size[0], name) if squares else None
        if below is not None:
            return [tops, *below[0]], below[1], size[0]
        terms = [_at_most(of - size, f"{name}.over")]
        if self.penalty == "absolute":
            terms.append(_at_most(-of - size, f"{name}.under"))
        return [tops], terms, weights @ size

    def below(self, limit: Affine, name: str) -> tuple[Sequence[Variable], Sequence[Term]] | None:
        """The sum of squares below a limit, as a matrix inequality."""
        if self.penalty != "square":
            return None
        from sdpdr.model.language.norms import squares_below

        values, weights = self._values()
        return squares_below(np.sqrt(weights) * fixed(values), Affine.of(1.0), limit, name)


def _values(variable: VectorVariable) -> Affine:
    from sdpdr.model.affine import Var

    identity = np.eye(variable.size)
    values = identity @ Var(variable.name)
    return Affine(values.maps, values.constant, declared={variable.name: variable})


def _at_most(difference: Affine, name: str) -> AtMost:
    flat = difference.reshape(-1)
    return AtMost(Affine(flat.maps, np.zeros(flat.m)), -flat.constant, name)


@dataclass(frozen=True, eq=False)
class Both(Named):
    r"""Keeps the absolute value of an expression below a limit, \|v\| <= b, by two rows each.

    Parameters
    ----------
    of : Affine
        v.
    limit : expression or array
    name : str, optional
    other : Affine, optional
        What the limit is above besides v: -v by default, zero for max(v, 0) <= b.
    """

    of: Affine
    limit: Any
    name: str = ""
    other: Affine | None = None

    @property
    def default_label(self) -> str:
        """What it limits."""
        return "abs" if self.other is None else "pos"

    @property
    def declared(self) -> Mapping[str, Declared]:
        """The variables and parameters of both sides."""
        return joined(self.of.declared, Affine.of(self.limit).declared)

    def terms(self) -> Iterable[Term]:
        """The rows v <= b, and the rows -v <= b, or 0 <= b."""
        other = -self.of if self.other is None else self.other
        for name, side in (("upper", self.of), ("lower", other)):
            for term in compare(side, "<=", self.limit).terms():
                assert isinstance(term, AtMost)
                yield replace(term, name=name)


@dataclass(frozen=True, eq=False)
class Convex(Curved):
    """An affine expression plus convex parts, or minus them: one number.

    Parameters
    ----------
    affine : Affine
        Of shape ().
    parts : tuple of (float, Part)
        With positive weights.
    sign : {1, -1}
        -1 for a concave function, from which the parts are taken.
    """

    affine: Affine
    parts: tuple[tuple[float, Part], ...]
    sign: float = 1.0

    def scalar(self) -> Convex:
        """The function itself."""
        return self

    @property
    def declared(self) -> Mapping[str, Declared]:
        """The variables of all parts."""
        found: Mapping[str, Declared] = self.affine.declared
        for _, part in self.parts:
            found = joined(found, part.declared)
        return found

    def _plus(self, other: Any) -> Convex:
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

    def _scaled(self, factor: float) -> Convex:
        if factor == 0.0:
            raise ModelError("zero times a convex function says nothing; leave it out.")
        parts = tuple((abs(factor) * weight, part) for weight, part in self.parts)
        return Convex(factor * self.affine, parts, self.sign * np.sign(factor))

    def _limited(self, relation: str, bound: Any) -> Limited:
        if (relation == "<=") != (self.sign > 0.0):
            kind = "convex" if self.sign > 0.0 else "concave"
            other = "<=" if self.sign > 0.0 else ">="
            raise ModelError(f"a {kind} function {relation} a limit is no convex set; use {other}.")
        if isinstance(bound, Curved):
            raise ModelError("compare a convex function with an affine expression or a number.")
        for _, part in self.parts:
            part.limitable()
        limit = self.affine._other(relation, bound)
        if limit.shape != ():
            raise ShapeError(f"a convex function is one number; its limit has shape {limit.shape}.")
        return Limited(self, limit)


@dataclass(frozen=True, eq=False)
class Limited(Named):
    """A convex function below a limit, or a concave one above it."""

    function: Convex
    limit: Affine
    name: str = ""

    @property
    def default_label(self) -> str:
        """What it is."""
        return "limit"

    def _built(self) -> tuple[list[Variable], list[Term]]:
        variables: list[Variable] = []
        terms: list[Term] = []
        sign = self.function.sign
        total = sign * fixed(self.function.affine - self.limit)
        if len(self.function.parts) == 1:
            ((weight, part),) = self.function.parts
            below = part.below((-1.0 / weight) * total, self.label)
            if below is not None:
                return list(below[0]), [at_present(term) for term in below[1]]
        for k, (weight, part) in enumerate(self.function.parts):
            more, made, top = part.above(f"{self.label}.{k}" if k else self.label)
            variables += more
            terms += [at_present(term) for term in made]
            total = total + weight * fixed(top)
        return variables, [*terms, _at_most(total, "")]

    @property
    def declared(self) -> Mapping[str, Declared]:
        """The variables and parameters of the function and the limit."""
        return joined(self.function.declared, self.limit.declared)

    def variables(self) -> Iterable[Variable]:
        """Those of the function and the limit, and one above each part."""
        return [*super().variables(), *self._built()[0]]

    def terms(self) -> Iterable[Term]:
        """The parts below variables, and their sum below the limit."""
        return self._built()[1]


def at_present(term: Term) -> Term:
    """A term at the present values of its parameters."""
    if isinstance(term, Raw) or not parameters_of(term.lhs):
        return term
    return replace(term, lhs=fixed(term.lhs))


def _fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    """Whether an array of one shape broadcasts to another."""
    sides = zip(shape[::-1], into[::-1], strict=False)
    return len(shape) <= len(into) and all(side in (1, whole) for side, whole in sides)


def _number(factor: Any) -> float:
    if isinstance(factor, Arithmetic):
        raise ModelError(
            "a convex function takes numbers as factors; a parameter goes inside of it, as in "
            "norm(p * v), or is a weight of abs, pos or square."
        )
    number = constant_of(factor)
    if number.ndim:
        raise ShapeError(f"a convex function is one number; it cannot take {number.shape} factors.")
    if not np.isfinite(number):
        raise ModelError(f"the factor of a convex function must be finite; it is {number}.")
    return float(number)


def pos(expression: Any) -> Priced:
    """The part of every value above zero, max(v, 0).

    Parameters
    ----------
    expression : Affine
    """
    return Priced(_expression("pos", expression), "positive")


def square(expression: Any) -> Priced:
    """The square of every value.

    Parameters
    ----------
    expression : Affine
    """
    return Priced(_expression("square", expression), "square")


def _expression(function: str, value: Any) -> Affine:
    if not isinstance(value, Arithmetic):
        raise ModelError(f"{function} takes an expression; it was given a {type(value).__name__}.")
    return value.affine()
