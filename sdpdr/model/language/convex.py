"""Convex and concave functions of expressions: calls of atoms, their sums, and bounds on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn, TypeAlias

import numpy as np

from sdpdr.base.errors import DataTypeError, ModelError, ShapeError
from sdpdr.linalg.svec import svec_pairs, svec_size
from sdpdr.model.affine import (
    Affine,
    Declared,
    Operators,
    constant_of,
    fixed,
    joined,
    refuse_division,
)
from sdpdr.model.atoms import Atom, Built, shared_atom, term_name
from sdpdr.model.language.constraints import NamedBlock, is_symmetric, require_finite
from sdpdr.model.operands import NoSuchOperator, apply_ufunc, described, is_two
from sdpdr.model.terms import (
    AtMost,
    Called,
    Equal,
    InCone,
    Shown,
    Smooth,
    Term,
    Written,
    require_weights,
)
from sdpdr.program.point import Variable

Point: TypeAlias = "Mapping[str, Any]"
Weight: TypeAlias = "float | Affine"


@dataclass(frozen=True, eq=False)
class AtomCall:
    """A function of cvxpy of expressions, or its negative if it is concave.

    Parameters
    ----------
    atom : Atom
    of : tuple of Affine
        The arguments, as they are printed.
    shown : tuple of str, optional
        Further arguments, as they are printed.
    of_matrices : bool, default False
        Whether arguments are printed as matrices.
    squares : Affine, optional
        The values whose sum of squares is the square of the function.

    Examples
    --------
    >>> from sdpdr.model.language import scalar
    >>> call = AtomCall(shared_atom("norm", ((3,),), more=(2,)), (scalar("v", 3),))
    >>> variables, terms, _ = call.above("objective.0")
    >>> [v.name for v in variables], [(term.name, term.lhs.m) for term in terms]
    (['objective.0.top'], [('0.second-order1', 10)])
    """

    atom: Atom
    of: tuple[Affine, ...]
    shown: tuple[str, ...] = ()
    of_matrices: bool = False
    squares: Affine | None = None

    @cached_property
    def values(self) -> Affine:
        """All arguments as one vector, in the order of the `Atom`."""
        parts = [
            _upper(of) if symmetric else of.reshape(-1)
            for of, symmetric in zip(self.of, self.atom.symmetric, strict=True)
        ]
        concatenate: Any = np.concatenate  # NumPy's type hints do not include expressions
        whole: Affine = concatenate(parts)
        return whole

    @cached_property
    def declared(self) -> Mapping[str, Declared]:
        """The variables and parameters of all arguments."""
        found: Mapping[str, Declared] = {}
        for of in self.of:
            found = joined(found, of.declared)
        return found

    def called(self) -> Called:
        """The function as it is printed."""
        of: tuple[Affine | str, ...] = (*self.of, *self.shown)
        return Called(self.atom.word, of, sign=self.atom.sign, of_matrices=self.of_matrices)

    def total(self, values: Point) -> float:
        """The convex one of the function and its negative, at a point."""
        return self.atom.sign * self.atom.value(self.values.at(values))

    def atoms(self) -> list[tuple[Weight, AtomCall]]:
        """The function itself, with weight one; an error if it cannot be bounded."""
        if not self.atom.is_conic:
            of_det = " For log_det(S) >= c of order n write root_det(S) >= numpy.exp(c / n)."
            raise ModelError(
                f"{self.atom.word} has no semidefinite form: it can be an objective, or part of "
                f"one, but cannot be bounded.{of_det if self.atom.word == 'log_det' else ''}"
            )
        if self.atom.count > 1:
            raise ModelError(
                f"{self.atom.word} has {self.atom.count} values here, and atom sums them: write "
                "atom(lambda v: cvxpy.sum(f(v)), ...) to bound their sum, or bound each value "
                "separately."
            )
        return [(1.0, self)]

    def above(self, name: str) -> Built:
        """Variables, terms, and an expression that the terms keep above the function."""
        return self.atom.cones.above(fixed(self.values), name)

    def below(self, bound: Affine, name: str) -> tuple[Sequence[Variable], Sequence[Term]] | None:
        """Variables and terms that keep the function below a scalar expression.

        None if this takes a variable in between.
        """
        if self.atom.cones.slope is None:
            return None
        variables, terms, _ = self.atom.cones.above(fixed(self.values), name, bound)
        return variables, terms

    def cost(self, name: str, weight: float) -> Built:
        """Variables, terms, and an expression to minimise, for a weight times the function.

        If it has no semidefinite form, the function itself is a term.
        """
        if self.atom.is_conic:
            variables, terms, top = self.above(name)
            return variables, terms, weight * top
        values = fixed(self.values)
        term = Smooth(values, self.atom, weight, term_name(name, ""), self.called())
        return [], [term], Affine.of(0.0)


def call(
    function: str | Callable[..., Any],
    *of: Affine,
    shown: tuple[str, ...] = (),
    of_matrices: bool = False,
    squares: Affine | None = None,
    **known: Any,
) -> Convex:
    """A function of cvxpy of expressions; equal functions share their cones.

    Parameters
    ----------
    function : str or callable
    *of : Affine
    shown, of_matrices, squares
        As for `AtomCall`.
    **known
        As for `sdpdr.model.atoms.Atom`.

    Examples
    --------
    >>> from sdpdr.model.language import symmetric
    >>> call("lambda_max", symmetric("S", 3)).parts[0][1].atom.symmetric
    (True,)
    """
    shapes, symmetric = tuple(x.shape for x in of), tuple(map(is_symmetric, of))
    found = shared_atom(function, shapes, symmetric, **known)
    return convex(AtomCall(found, of, shown, of_matrices, squares), found.sign)


def convex(part: Any, sign: float = 1.0) -> Convex:
    """A function with one part, which is subtracted if the function is concave."""
    return Convex(Affine.of(0.0), ((1.0, part),), sign)


def _upper(matrix: Affine) -> Affine:
    """The upper triangle of a symmetric matrix, in the order of `svec`."""
    i, j = svec_pairs(np.arange(svec_size(matrix.shape[0])))
    return matrix.picked(matrix.positions()[i, j])


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
        return self.scalar()._bounded("<=", bound)

    def __ge__(self, bound: Any) -> Any:
        return self.scalar()._bounded(">=", bound)

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
    parts : tuple of (float or Affine, AtomCall or Penalized)
        Weights and functions. A weight is positive, or an expression in parameters, which may
        become zero.
    sign : {1, -1}
        -1 for a concave function, which subtracts the parts.
    """

    affine: Affine
    parts: tuple[tuple[Weight, Any], ...]
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
        if is_two(exponent) and len(self.parts) == 1 and self.affine.is_constant:
            ((weight, part),) = self.parts
            values = getattr(part, "squares", None)
            is_number = not isinstance(weight, Affine) and not np.any(self.affine.constant)
            if values is not None and is_number:
                return weight**2 * (values**2).sum()
        return super().__pow__(exponent)

    def __repr__(self) -> str:
        kind = "convex" if self.sign > 0.0 else "concave"
        return f"<{kind} function of {', '.join(self.declared)}>"

    def at(self, values: Point) -> Any:
        """The number that it is at a point."""
        parts = sum(weight * part.total(values) for _, weight, part in present_parts(self.parts))
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

    def _bounded(self, relation: str, bound: Any) -> Bounded:
        """The constraint that bounds the function."""
        if (relation == "<=") != (self.sign > 0.0):
            kind = "convex" if self.sign > 0.0 else "concave"
            other = "<=" if self.sign > 0.0 else ">="
            for _, part in self.parts:
                part.atoms()  # an error if it cannot be bounded from the other side either
            raise ModelError(f"a {kind} function {relation} a limit is no convex set; use {other}.")
        if isinstance(bound, Curved):
            require_opposite(self, relation, bound)
            return (self - bound.scalar())._bounded(relation, 0.0)
        for _, part in self.parts:
            part.atoms()
        limit = self.affine._other(relation, bound)
        require_finite(self, relation, bound, self.affine, limit)
        if limit.shape != ():
            raise ShapeError(f"a convex function is one number; its limit has shape {limit.shape}.")
        return Bounded(self, limit)


def require_opposite(one: Curved, relation: str, other: Curved) -> None:
    """Raise an error for a comparison of two convex or two concave functions."""
    if one.sign * other.sign > 0.0:
        raise ModelError(
            f"{described(one)} {relation} {described(other)} is no convex set; compare it "
            "with an expression or a number."
        )


class Lowered(NamedBlock):
    """A block of functions, which introduce variables and terms."""

    @abstractmethod
    def _build(self) -> tuple[list[Variable], list[Term]]:
        """The variables of the functions and all terms, at the present values of parameters."""

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
            self._kept[numbers] = self._build()
        return self._kept[numbers]

    def variables(self) -> Iterable[Variable]:
        """The variables in it, and those above functions that need one."""
        return [*super().variables(), *self._lowered()[0]]

    def terms(self) -> Iterable[Term]:
        """The terms of the functions, and the constraint or objective that contains them."""
        return tuple(self._lowered()[1])


@dataclass(frozen=True, eq=False, repr=False)
class Bounded(Lowered):
    """A convex function below a bound, or a concave one above it.

    Parameters
    ----------
    function : Convex
    bound : Affine
        A single expression, whose shape is ().
    name : str, optional
    """

    function: Convex
    bound: Affine
    name: str = ""

    @property
    def default_label(self) -> str:
        """The label of a bound without a name."""
        return "limit"

    @property
    def declared(self) -> Mapping[str, Declared]:
        """The variables and parameters of the function and its bound."""
        return joined(self.function.declared, self.bound.declared)

    def _build(self) -> tuple[list[Variable], list[Term]]:
        variables, terms = self._cones()
        shown = Shown(self.function.affine.reshape(1), self.function.calls())
        relation = "<=" if self.function.sign > 0.0 else ">="
        stated = Written(shown, relation, self.bound.reshape(1))
        return variables, [replace(terms[0], written=stated), *lowered(terms[1:])]

    def _cones(self) -> tuple[list[Variable], list[Any]]:
        """The variables and terms, without their printed form."""
        variables: list[Variable] = []
        terms: list[Term] = []
        total = self.function.sign * fixed(self.function.affine - self.bound)
        atoms = [
            (weight, own, alone)
            for weight, part in self.function.parts
            for own, alone in part.atoms()
        ]
        numbers = [_present(weight) * _present(own) for weight, own, _ in atoms]
        # A weight of parameters is not divided by: derivatives need rows that are affine in them.
        if len(atoms) == 1 and not any(isinstance(weight, Affine) for weight in atoms[0][:2]):
            below = atoms[0][2].below((-1.0 / numbers[0]) * total, self.label)
            if below is not None:
                return list(below[0]), list(below[1])
        for k, (number, (_, _, alone)) in enumerate(zip(numbers, atoms, strict=True)):
            if not number:
                continue
            more, made, top = alone.above(f"{self.label}.{k}" if k else self.label)
            variables += more
            terms += made
            total = total + number * top
        flat = total.reshape(-1)
        return variables, [*terms, AtMost(flat.linear, -flat.constant)]


def present_parts(parts: Iterable[tuple[Weight, Any]]) -> list[tuple[int, float, Any]]:
    """Number, weight and function of each part of nonzero weight, at the present parameters.

    Raises
    ------
    ModelError
        If a weight is negative.
    """
    found = [(k, _present(weight), part) for k, (weight, part) in enumerate(parts)]
    return [(k, weight, part) for k, weight, part in found if weight]


def _present(weight: Weight) -> float:
    """A weight at the present values of parameters, which must not be negative."""
    if not isinstance(weight, Affine):
        return weight
    number = float(fixed(weight).constant[0])
    require_weights(number, f"a convex function, of parameters ({', '.join(weight.declared)}),")
    return number


def called(weight: Weight, part: Any, sign: float) -> Called:
    """The printed form of a part of a function, with its weight."""
    alone = part.called()
    return replace(alone, factors=(weight, *alone.factors), sign=sign * alone.sign)


def lowered(terms: Iterable[Any]) -> list[Any]:
    """Terms, with rows and cones marked as introduced by a function."""
    return [
        replace(term, written=Written()) if isinstance(term, (Equal, AtMost, InCone)) else term
        for term in terms
    ]


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
