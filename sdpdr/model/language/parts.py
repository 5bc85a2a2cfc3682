"""The parts of convex functions: their interface, and functions of cvxpy of expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.linalg.svec import svec_pairs, svec_size
from sdpdr.model.affine import Affine, Declared, Operators, fixed, hint, joined
from sdpdr.model.atoms import Atom, Built, atom, term_name
from sdpdr.model.language.statements import is_symmetric
from sdpdr.model.terms import AtMost, Called, Smooth, Term
from sdpdr.program.point import Variable, VectorVariable

Limits: TypeAlias = "tuple[Sequence[Variable], Sequence[Term]]"
Point: TypeAlias = "Mapping[str, Any]"


class ConvexPart(ABC):
    """A convex scalar function, which is bounded by a variable or added to the objective."""

    @abstractmethod
    def above(self, name: str) -> Built:
        """Variables, terms, and an expression that the terms keep above the function."""

    def priced(self, name: str, weight: float) -> Built:
        """Variables, terms, and an expression to minimise, for a weight times the function."""
        variables, terms, top = self.above(name)
        return variables, terms, weight * top

    def below(self, limit: Affine, name: str) -> Limits | None:
        """Variables and terms that keep the function below a scalar.

        None if this takes a variable in between.
        """
        return None

    def squared(self) -> Any:
        """The square of the function as a convex function; None if it is not known."""
        return None

    def limitable(self) -> ConvexPart:
        """The function itself; an error if it cannot be bounded."""
        return self

    def require_one_value(self) -> None:
        """Raise an error if a bound is ambiguous: for the sum, or for each value."""
        return

    @abstractmethod
    def called(self) -> Called:
        """The function as it is printed."""

    @abstractmethod
    def value(self, values: Point) -> float:
        """The function at a point."""

    @property
    @abstractmethod
    def declared(self) -> Mapping[str, Declared]:
        """The variables of the function."""


@dataclass(frozen=True, eq=False)
class AtomPart(ConvexPart):
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
    >>> part = AtomPart(atom("norm", ((3,),), more=(2,)), (scalar("v", 3),))
    >>> variables, terms, _ = part.above("objective.0")
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
        joined_in_a_row: Any = np.concatenate  # NumPy's type hints do not include expressions
        whole: Affine = joined_in_a_row(parts)
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

    def value(self, values: Point) -> float:
        """The convex one of the function and its negative, at a point."""
        return self.atom.sign * self.atom.value(self.values.at(values))

    def squared(self) -> Any:
        """The square of the function as a sum of squares, if it is one."""
        return None if self.squares is None else (self.squares**2).sum()

    def above(self, name: str) -> Built:
        """The cones of the function, at the present values of parameters."""
        return self.limitable().atom.cones.above(fixed(self.values), name)

    def below(self, limit: Affine, name: str) -> Limits | None:
        """The cones with the limit in place of a scalar, if that is equivalent."""
        if self.atom.cones.price is None:
            return None
        variables, terms, _ = self.atom.cones.above(fixed(self.values), name, limit)
        return variables, terms

    def require_one_value(self) -> None:
        """Raise an error if a bound is ambiguous: for the sum, or for each value."""
        if self.atom.count > 1:
            raise ModelError(
                f"{self.atom.word} has {self.atom.count} values here, and atom sums them: write "
                "atom(lambda v: cvxpy.sum(f(v)), ...) to bound their sum, or bound each value "
                "separately."
            )

    def limitable(self) -> AtomPart:
        """The function; an error if it has no semidefinite form."""
        if self.atom.is_conic:
            return self
        of_det = " For log_det(S) >= c of order n write root_det(S) >= numpy.exp(c / n)."
        hint = of_det if self.atom.word == "log_det" else ""
        raise ModelError(
            f"{self.atom.word} has no semidefinite form: it can be an objective, or part of one, "
            f"but cannot be bounded.{hint}"
        )

    def priced(self, name: str, weight: float) -> Built:
        """The cones; or, if it has no semidefinite form, a term of the function itself."""
        if self.atom.is_conic:
            return super().priced(name, weight)
        values = fixed(self.values)
        term = Smooth(values, self.atom, weight, term_name(name, ""), self.called())
        return [], [term], Affine.of(0.0)


def part_of(
    function: str | Callable[..., Any],
    *of: Affine,
    sign: float = 1.0,
    more: tuple[Any, ...] = (),
    is_conic: bool = True,
    numeric: Callable[..., float] | None = None,
    word: str = "",
    **printed: Any,
) -> AtomPart:
    """A function of cvxpy of expressions; equal functions share their cones.

    Parameters
    ----------
    function : str or callable
    *of : Affine
    sign, more, is_conic, numeric, word
        As for `sdpdr.model.atoms.Atom`.
    **printed
        As for `AtomPart`.

    Examples
    --------
    >>> from sdpdr.model.language import symmetric
    >>> part_of("lambda_max", symmetric("S", 3)).atom.symmetric
    (True,)
    """
    shapes, symmetric = tuple(x.shape for x in of), tuple(map(is_symmetric, of))
    found = atom(function, shapes, symmetric, sign, more, is_conic, numeric, word)
    return AtomPart(found, of, **printed)


def _upper(matrix: Affine) -> Affine:
    """The upper triangle of a symmetric matrix, in the order of `svec`."""
    i, j = svec_pairs(np.arange(svec_size(matrix.shape[0])))
    return matrix.picked(matrix.positions()[i, j])


def sum_of_squares(values: Affine) -> AtomPart:
    """The sum of the squares of all values as an atom, for constraints and further squares."""
    return part_of("sum_squares", values.reshape(-1))


def largest(of: Affine) -> AtomPart:
    """The largest absolute value."""
    return part_of("norm_inf", of.reshape(-1), word="norm", shown=("inf",))


def expression_of(function: str, value: Any) -> Affine:
    """An argument as an expression; `function` is the name for the error."""
    if not isinstance(value, Operators):
        raise ModelError(
            f"{function} takes an expression, affine in the variables; it was given a "
            f"{type(value).__name__}{hint(value)}."
        )
    return value.affine()


def taken(function: str, value: Any) -> Affine:
    """An argument as an expression with at least one value."""
    of = expression_of(function, value)
    if not of.m:
        raise ShapeError(f"{function} takes at least one value; this expression is {of.shape}.")
    return of


def symmetric_taken(function: str, value: Any) -> Affine:
    """An argument that is a symmetric matrix."""
    of = taken(function, value)
    if len(of.shape) != 2 or of.shape[0] != of.shape[1]:
        raise ShapeError(
            f"{function} takes a square symmetric matrix; this expression is {of.shape}."
        )
    if not is_symmetric(of):
        raise ModelError(
            f"{function} takes a symmetric matrix; write (A + A.T) / 2 for the symmetric part."
        )
    return of


def unknowns(name: str, size: int, *, nonnegative: bool = False) -> tuple[VectorVariable, Affine]:
    """A new vector variable, and its values as an expression."""
    variable = VectorVariable(name, size, nonnegative)
    return variable, Affine.in_variable(sp.eye_array(size, format="csr"), variable)


def at_most_zero(difference: Affine, part: str, own: str) -> AtMost:
    """The term that keeps every value of an expression at most zero."""
    flat = difference.reshape(-1)
    return AtMost(flat.linear, -flat.constant, term_name(part, own))
