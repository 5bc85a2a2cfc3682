"""Absolute values, positive parts and squares: as penalties, or with bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.model.affine import (
    Affine,
    Declared,
    Operators,
    constant_of,
    defines_operator,
    fixed,
    hint,
    joined,
)
from sdpdr.model.atoms import Built
from sdpdr.model.language.constraints import (
    NamedBlock,
    TwoSidedBound,
    compare,
    is_symmetric,
    present_weights,
    require_finite,
)
from sdpdr.model.language.convex import (
    AtomCall,
    Convex,
    Curved,
    Point,
    Weight,
    call,
    convex,
    require_opposite,
)
from sdpdr.model.model import Block, Model
from sdpdr.model.operands import described, is_two
from sdpdr.model.terms import Called, Penalize, Penalty, Term, require_weights

_NAMES = {"absolute": "abs", "positive": "pos", "square": "square"}


@dataclass(frozen=True, eq=False, repr=False)
class Penalized(Curved, NamedBlock):
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
    >>> penalty = 10.0 * abs(K[[0, 1], [1, 2]] - 0.5)
    >>> [(term.penalty, term.weight.tolist()) for term in penalty.terms()]
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

    # -- as a block, and as part of an objective --------------------------------------------------

    def terms(self) -> Iterable[Term]:
        """One penalized row for each value, at the present values of parameters."""
        yield self._term(1.0)

    def cost(self, name: str, weight: float) -> Built:
        """No variables, the penalized rows, and an affine cost of zero beside them."""
        return [], [self._term(weight, name.rpartition(".")[2])], Affine.of(0.0)

    def called(self) -> Called:
        """The printed form of the sum over all values."""
        return Called(self.penalty, (self._values,), (self._shown_weight,))

    @cached_property
    def _rows(self) -> tuple[Index, Array]:
        """The positions of the penalized values, and how often each occurs.

        If a matrix is symmetric for all values of parameters, these are its upper triangle.
        """
        positions = self.of.positions()
        if not is_symmetric(self.of):
            return positions.ravel(), np.ones(self.of.m)
        i, j = np.triu_indices(self.of.shape[0])
        return positions[i, j], np.where(i == j, 1.0, 2.0)

    @property
    def _values(self) -> Affine:
        """The penalized values."""
        return self.of.picked(self._rows[0])

    def _by_row(self, weight: Any) -> Any:
        """A weight for each penalized value, of the weights of all values."""
        rows, counts = self._rows
        if np.all(counts == 1.0):
            return weight.reshape(-1)[rows]
        return 0.5 * counts * (weight.reshape(-1)[rows] + weight.T.reshape(-1)[rows])

    @property
    def _shown_weight(self) -> Affine | Array:
        """The weight of each penalized value, as it was written."""
        if not isinstance(self.weight, Affine):
            return np.asarray(self._by_row(self._weights()))
        weights: Affine = self._by_row(self.weight.broadcast(self.of.shape))
        return weights

    def _weights(self) -> Array:
        """The weight of each value, at the present values of parameters."""
        return np.broadcast_to(present_weights(self.weight, self.label), self.of.shape)

    def _term(self, factor: float, name: str = "") -> Penalize:
        """The term of a factor times the penalty."""
        flat = fixed(self._values)
        # `Penalize` multiplies squares by half the weight.
        half = 2.0 if self.penalty == "square" else 1.0
        weight = half * factor * self._by_row(self._weights())
        return Penalize(
            flat.linear, -flat.constant, self.penalty, weight, name, written=self.called()
        )

    # -- as a convex function -----------------------------------------------------------------

    def total(self, values: Point) -> float:
        """The sum of all penalties at a point."""
        return float(np.sum(self.at(values)))

    def at(self, values: Point) -> Any:
        """The penalty of each value at a point."""
        v = np.asarray(self.of.at(values))
        size = np.square(v) if self.penalty == "square" else np.abs(v)
        kept = np.where(v > 0.0, size, 0.0) if self.penalty == "positive" else size
        return self._weights() * kept

    def atoms(self) -> list[tuple[Weight, AtomCall]]:
        """The sum over all values, as functions of cvxpy with weights.

        If the weights are parameters, each value has a function of its own.
        """
        values = self._values
        if isinstance(self.weight, Affine):
            weights = self._shown_weight
            return [(weights[k], _atom(self.penalty, values[k])) for k in range(values.m)]
        weight = self._by_row(self._weights())
        kept = np.flatnonzero(weight)
        if not kept.size:
            return []
        scale = np.sqrt(weight) if self.penalty == "square" else weight
        return [(1.0, _atom(self.penalty, (scale * values)[kept]))]

    def sum(self) -> Convex:
        """The sum over all values, as one number."""
        return convex(self)

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
        return largest(self.of * self.weight)

    def scalar(self) -> Convex:
        """The penalty as a scalar, if it has one value."""
        if self.of.shape != ():
            raise ShapeError(
                f"{self.default_label}(...) has shape {self.of.shape} here, where one number is "
                "needed; write .sum()."
            )
        return self.sum()

    # -- operators ------------------------------------------------------------------------------

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, Operators) and factor.affine().is_known:
            return replace(self, weight=factor.affine() * self.weight)
        factor = constant_of(factor)
        if factor.ndim == 0 and -np.inf < factor < 0.0:
            return self.scalar()._scaled(float(factor))
        require_weights(factor, described(self))
        weight = factor * self._factor
        if not _fits(weight.shape, self.of.shape):
            raise ShapeError(
                f"weights of shape {weight.shape} do not fit an expression of shape "
                f"{self.of.shape}."
            )
        return replace(self, weight=weight)

    @property
    def _factor(self) -> Any:
        """The weight as an expression or an array."""
        return self.weight if isinstance(self.weight, Affine) else constant_of(self.weight)

    def __getitem__(self, index: Any) -> Penalized:
        weight = self._factor
        if weight.shape != ():
            each = Affine.of(weight).broadcast(self.of.shape)[index]
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

    def __add__(self, other: Any) -> Any:
        # A penalty of several values is a block, which adds to other blocks.
        if isinstance(other, (Block, Model)) and not (
            isinstance(other, Curved) and self.of.shape == ()
        ):
            return Block.__add__(self, other)
        return Curved.__add__(self, other)

    def __radd__(self, other: Any) -> Any:
        # `sum` starts with 0; a penalty is a block, too, and stays one.
        return self if isinstance(other, int) and other == 0 else Curved.__add__(self, other)

    def __ge__(self, bound: Any) -> Any:
        raise ModelError(
            f"{self.default_label}(v) >= a limit is no convex set, as {self.default_label} is "
            "convex; use <=."
        )

    def __le__(self, bound: Any) -> Any:
        if isinstance(bound, Curved):
            require_opposite(self, "<=", bound)
            return self.scalar() <= bound
        require_finite(self, "<=", bound, self.of, self.of._other("<=", bound))
        weighted = self.of * self.weight
        if self.penalty == "absolute":
            known = self.weight if isinstance(self.weight, Affine) else None
            return TwoSidedBound(weighted, bound, self.name, weight=known)
        if isinstance(self.weight, Affine):
            raise ModelError(
                f"{self.default_label}(v) times a parameter is no limit value by value; divide "
                "the limit by it, or write .sum()."
            )
        if self.penalty == "positive" and isinstance(bound, Operators):
            return TwoSidedBound(weighted, bound, self.name, Affine.of(0.0))
        limit = None if isinstance(bound, Operators) else constant_of(bound)
        if self.penalty == "square":
            if limit is None or np.any(limit < 0.0):
                raise ModelError(
                    "square(v) <= b takes numbers b >= 0; below an expression, sum it: "
                    "square(v).sum() <= expression."
                )
            return TwoSidedBound(self.of * np.sqrt(self.weight), np.sqrt(limit), self.name)
        assert limit is not None
        if np.any(limit < 0.0):
            raise ModelError(
                f"pos(v) <= b takes numbers b >= 0, since pos(v) is never negative; it was given "
                f"{np.min(limit):g}."
            )
        return compare(weighted, "<=", limit)


def _atom(penalty: Penalty, values: Affine) -> AtomCall:
    """The sum of the penalties of all values, as a function of cvxpy."""
    function = {"absolute": "abs", "positive": "pos", "square": "sum_squares"}[penalty]
    found: AtomCall = call(function, values.reshape(-1)).parts[0][1]
    return found


def _fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    """Whether an array of one shape broadcasts to another."""
    sides = zip(shape[::-1], into[::-1], strict=False)
    return len(shape) <= len(into) and all(side in (1, whole) for side, whole in sides)


def largest(of: Affine) -> Convex:
    """The largest absolute value."""
    return call("norm_inf", of.reshape(-1), named="norm", shown=("inf",))


def expression_of(function: str, value: Any) -> Affine:
    """An argument as an expression; `function` is the name for the error."""
    if not isinstance(value, Operators):
        raise ModelError(
            f"{function} takes an expression, affine in the variables; it was given "
            f"{described(value)}{hint(value)}."
        )
    return value.affine()


@defines_operator
def absolute(expression: Any) -> Penalized:
    """The absolute value of every value, which ``abs`` of an expression returns.

    Parameters
    ----------
    expression : Affine
    """
    return Penalized(expression_of("abs", expression), "absolute")


def pos(expression: Any) -> Penalized:
    """The positive part of every value, max(v, 0).

    Parameters
    ----------
    expression : Affine
    """
    return Penalized(expression_of("pos", expression), "positive")


@defines_operator
def square(expression: Any) -> Penalized:
    """The square of every value.

    Parameters
    ----------
    expression : Affine
    """
    if isinstance(expression, Curved):
        squares: Penalized = expression**2
        return squares
    return Penalized(expression_of("square", expression), "square")
