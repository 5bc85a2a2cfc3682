"""Absolute values, positive parts and squares: as penalties, or with bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.model.affine import Affine, Declared, Operators, constant_of, fixed, joined
from sdpdr.model.atoms import Built
from sdpdr.model.block import Block
from sdpdr.model.language.curved import Convex, Curved, convex
from sdpdr.model.language.parts import (
    ConvexPart,
    Limits,
    Point,
    at_most_zero,
    expression_of,
    largest,
    sum_of_squares,
    unknowns,
)
from sdpdr.model.language.statements import (
    Both,
    NamedBlock,
    compare,
    is_symmetric,
    present_weights,
    require_finite,
)
from sdpdr.model.operands import described, is_two
from sdpdr.model.terms import Called, Penalize, Penalty, Term, require_weights

_NAMES = {"absolute": "abs", "positive": "pos", "square": "square"}


@dataclass(frozen=True, eq=False, repr=False)
class Priced(Curved, NamedBlock, ConvexPart):
    r"""A penalty for every value of an expression: \|v\|, max(v, 0) or v^2, times a weight.

    In a model it is a block, which adds the sum over all values to a minimised objective, or
    subtracts it from a maximised one. With a bound it is a constraint for each value; ``sum()`` is
    a scalar.

    Parameters
    ----------
    of : Affine
        v.
    penalty : {"absolute", "positive", "square"}
    weight : array_like, default 1
        Positive, or zero for no penalty; broadcast to the shape of v.
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
    sign = 1.0

    @property
    def default_label(self) -> str:
        """The name of the function."""
        return _NAMES[self.penalty]

    @property
    def described_as(self) -> str:
        """The function, for messages."""
        return f"{self.default_label}(v)"

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override] # of a class variable
        """The shape of the expression."""
        return self.of.shape

    @property
    def declared(self) -> Mapping[str, Declared]:
        """The variables of the expression."""
        weight = self.weight.declared if isinstance(self.weight, Affine) else {}
        return joined(self.of.declared, weight)

    def terms(self) -> Iterable[Term]:
        """One penalized row for each value, at the present values of parameters."""
        yield self._penalty(1.0)

    def _weights(self) -> Array:
        """The weight of each value, at the present values of parameters."""
        return np.broadcast_to(present_weights(self.weight, self.label), self.of.shape)

    def _values(self) -> tuple[Affine, Array]:
        """The values of nonzero weight, and the weights at the present values of parameters.

        If the matrix is symmetric for all values of parameters, only its upper triangle is
        returned, and weights off the diagonal count twice.
        """
        weights = self._weights()
        triangle = self._triangle
        if triangle is None:
            return _weighted(self.of.reshape(-1), weights.ravel())
        i, j = np.triu_indices(self.of.shape[0])
        return _weighted(triangle, np.where(i == j, 0.5, 1.0) * (weights[i, j] + weights[j, i]))

    @cached_property
    def _triangle(self) -> Affine | None:
        """The upper triangle, if the matrix is symmetric for all values of parameters."""
        return _upper(self.of) if is_symmetric(self.of) else None

    def _penalty(self, factor: float, name: str = "") -> Penalize:
        """The term of a factor times the penalty."""
        values, weights = self._values()
        flat = fixed(values)
        # `Penalize` multiplies squares by half the weight.
        weight = (2.0 if self.penalty == "square" else 1.0) * factor * weights
        return Penalize(
            *(flat.linear, -flat.constant, self.penalty, weight, name),
            written=values,
            factors=(factor, *self._factors(weights)),
        )

    def _factors(self, weights: Array) -> tuple[Affine | Array, ...]:
        """The weight of each penalized value, as it was written."""
        if not isinstance(self.weight, Affine):
            return (weights,)
        # Values of weight zero are left out.
        if self._triangle is None:
            shown = np.flatnonzero(self._weights().ravel())
            each = self.weight.broadcast(self.of.shape).reshape(-1)
            return (self.weight.reshape(1),) if self.weight.m == 1 else (each.picked(shown),)
        i, j = np.triu_indices(self.of.shape[0])
        shown = np.flatnonzero(self._weights()[i, j] + self._weights()[j, i])
        i, j = i[shown], j[shown]
        twice = np.where(i == j, 1.0, 2.0)
        if self.weight.m == 1:
            return self.weight.reshape(1), twice
        each = self.weight.broadcast(self.of.shape)
        return (0.5 * twice * (each[i, j] + each[j, i]),)

    def called(self) -> Called:
        """The printed form of the sum over all values."""
        values, weights = self._values()
        return Called(self.penalty, (values,), self._factors(weights))

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, Operators) and factor.affine().is_known:
            return replace(self, weight=factor.affine() * self.weight)
        factor = constant_of(factor)
        if factor.ndim == 0 and -np.inf < factor < 0.0:
            return self.scalar()._scaled(float(factor))
        require_weights(factor, described(self))
        weight = factor * (
            self.weight if isinstance(self.weight, Affine) else constant_of(self.weight)
        )
        if not _fits(weight.shape, self.of.shape):
            raise ShapeError(
                f"weights of shape {weight.shape} do not fit an expression of shape "
                f"{self.of.shape}."
            )
        return replace(self, weight=weight)

    def at(self, values: Point) -> Any:
        """The penalty of each value at a point."""
        v = np.asarray(self.of.at(values))
        size = np.square(v) if self.penalty == "square" else np.abs(v)
        kept = np.where(v > 0.0, size, 0.0) if self.penalty == "positive" else size
        return self._weights() * kept

    def value(self, values: Point) -> float:
        """The sum of all penalties at a point."""
        return float(np.sum(self.at(values)))

    def sum(self) -> Convex:
        """The sum over all values, as one number."""
        return Convex(Affine.of(0.0), ((1.0, self),))

    def mean(self) -> Convex:
        """The mean over all values, as one number."""
        found: Convex = self.sum() / max(self.of.m, 1)
        return found

    def max(self) -> Convex:
        """The largest absolute value, as a scalar."""
        if self.penalty != "absolute" or isinstance(self.weight, Affine):
            raise ModelError(
                f"the largest value of {described(self)} is not known here; write "
                f"{self.default_label}(v) <= t, value by value, or norm(v, 'inf') for the largest "
                "abs(v)."
            )
        return convex(largest(self.of * self.weight))

    def __getitem__(self, index: Any) -> Priced:
        weight = self.weight if isinstance(self.weight, Affine) else constant_of(self.weight)
        if weight.shape != ():
            whole = weight if isinstance(weight, Affine) else Affine.of(weight)
            each = whole.broadcast(self.of.shape)[index]
            weight = each if isinstance(weight, Affine) else each.constant.reshape(each.shape)
        return replace(self, of=self.of[index], weight=weight)

    def __pow__(self, exponent: Any) -> Any:
        """The square of absolute values is `square`; other powers are refused."""
        if not is_two(exponent) or self.penalty != "absolute" or isinstance(self.weight, Affine):
            return super().__pow__(exponent)
        return replace(self, penalty="square", weight=np.square(constant_of(self.weight)))

    def __matmul__(self, other: Any) -> Any:
        fits = not isinstance(other, (Operators, Curved)) and np.shape(other) == self.of.shape
        return (
            (self * other).sum() if fits and len(self.of.shape) == 1 else super().__matmul__(other)
        )

    __rmatmul__ = __matmul__

    def scalar(self) -> Convex:
        """The penalty as a scalar, if it has one value."""
        if self.of.shape != ():
            raise ShapeError(
                f"{self.default_label}(...) has shape {self.of.shape} here, where one number is "
                "needed; write .sum()."
            )
        return self.sum()

    def __ge__(self, bound: Any) -> Any:
        raise ModelError(
            f"{self.default_label}(v) >= a limit is no convex set, as {self.default_label} is "
            "convex; use <=."
        )

    def __le__(self, bound: Any) -> Any:
        if isinstance(bound, Curved):
            return self._beside(bound)
        require_finite(self, "<=", bound, self.of._other("<=", bound))
        weighed = self.of * self.weight
        if self.penalty == "absolute":
            known = self.weight if isinstance(self.weight, Affine) else None
            return Both(weighed, bound, self.name, weight=known)
        if isinstance(self.weight, Affine):
            raise ModelError(
                f"{self.default_label}(v) times a parameter is no limit value by value; divide "
                "the limit by it, or write .sum()."
            )
        if self.penalty == "positive" and isinstance(bound, Operators):
            return Both(weighed, bound, self.name, Affine.of(0.0))
        limit = None if isinstance(bound, Operators) else constant_of(bound)
        if self.penalty == "square":
            if limit is None or np.any(limit < 0.0):
                raise ModelError(
                    "square(v) <= b takes numbers b >= 0; below an expression, sum it: "
                    "square(v).sum() <= expression."
                )
            return Both(self.of * np.sqrt(self.weight), np.sqrt(limit), self.name)
        assert limit is not None
        if np.any(limit < 0.0):
            raise ModelError(
                f"pos(v) <= b takes numbers b >= 0, since pos(v) is never negative; it was given "
                f"{np.min(limit):g}."
            )
        return compare(weighed, "<=", limit)

    def _beside(self, other: Curved) -> Any:
        """The constraint that the penalty is below a concave function."""
        if other.sign > 0.0:
            raise ModelError(
                f"{described(self)} <= {described(other)} is no convex set; compare it with an "
                "expression or numbers."
            )
        return self.scalar() <= other

    def __add__(self, other: Any) -> Any:
        # A penalty of several values is a block, which adds to other blocks.
        from sdpdr.model.model import Model

        if isinstance(other, (Block, Model)) and not (
            isinstance(other, Curved) and self.of.shape == ()
        ):
            return Block.__add__(self, other)
        return Curved.__add__(self, other)

    def __radd__(self, other: Any) -> Any:
        # `sum` starts with 0; a penalty is a block, too, and stays one.
        return self if isinstance(other, int) and other == 0 else Curved.__add__(self, other)

    def priced(self, name: str, weight: float) -> Built:
        """The penalized rows; they contain the whole cost."""
        return [], [self._penalty(weight, name.rpartition(".")[2])], Affine.of(0.0)

    def above(self, name: str) -> Built:
        """A variable above each value, and their weighted sum; a single one above all squares."""
        values, weights = self._values()
        if not values.m:
            return [], [], Affine.of(0.0)
        of = fixed(values)
        together = self.penalty == "square" and not isinstance(self.weight, Affine)
        tops, size = unknowns(f"{name}.above", 1 if together else of.m, nonnegative=True)
        below = self.below(size[0], name)
        if below is not None:
            return [tops, *below[0]], below[1], size[0]
        return [tops], self._each_below(of, size, name), weights @ size

    def _each_below(self, of: Affine, size: Affine, name: str) -> list[Term]:
        """The terms that keep each value below its variable."""
        if self.penalty == "square":
            each = (sum_of_squares(of[k]).below(size[k], f"{name}.{k}") for k in range(of.m))
            return [term for found in each if found is not None for term in found[1]]
        terms: list[Term] = [at_most_zero(of - size, name, "over")]
        if self.penalty == "absolute":
            terms.append(at_most_zero(-of - size, name, "under"))
        return terms

    def below(self, limit: Affine, name: str) -> Limits | None:
        """The sum of squares below a limit, as a matrix inequality.

        None if weights are parameters: their square roots would not be affine in them, which
        derivatives need.
        """
        if self.penalty != "square" or isinstance(self.weight, Affine):
            return None
        values, weights = self._values()
        if not values.m:
            return None
        return sum_of_squares(np.sqrt(weights) * fixed(values)).below(limit, name)


def _weighted(values: Affine, weights: Array) -> tuple[Affine, Array]:
    """The values of nonzero weight, and their weights."""
    if np.all(weights):
        return values, weights
    return values.picked(np.flatnonzero(weights)), weights[weights != 0.0]


def _upper(matrix: Affine) -> Affine:
    """The upper triangle, row by row."""
    i, j = np.triu_indices(matrix.shape[0])
    return matrix[i, j]


def _fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    """Whether an array of one shape broadcasts to another."""
    sides = zip(shape[::-1], into[::-1], strict=False)
    return len(shape) <= len(into) and all(side in (1, whole) for side, whole in sides)


def absolute(expression: Any) -> Priced:
    """The absolute value of every value, which ``abs`` of an expression returns.

    Parameters
    ----------
    expression : Affine
    """
    return Priced(expression_of("abs", expression), "absolute")


def pos(expression: Any) -> Priced:
    """The positive part of every value, max(v, 0).

    Parameters
    ----------
    expression : Affine
    """
    return Priced(expression_of("pos", expression), "positive")


def square(expression: Any) -> Priced:
    """The square of every value.

    Parameters
    ----------
    expression : Affine
    """
    if isinstance(expression, Curved):
        squares: Priced = expression**2
        return squares
    return Priced(expression_of("square", expression), "square")
