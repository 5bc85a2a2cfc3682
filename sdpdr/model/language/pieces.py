"""What convex functions are written with: variables of their own, matrices put together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Index
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.linalg import SvecMap
from sdpdr.linalg.svec import SQRT2, svec_index, svec_pairs, svec_size
from sdpdr.model.affine import Affine, Declared, joined
from sdpdr.model.arithmetic import Operators, hint
from sdpdr.model.language.statements import is_symmetric, svec_of
from sdpdr.model.terms import AtMost, Called, InCone, Term
from sdpdr.program.point import PsdVariable, Variable, VectorVariable

Limits: TypeAlias = "tuple[Sequence[Variable], Sequence[Term]]"
Point: TypeAlias = "Mapping[str, Any]"
Built: TypeAlias = "tuple[Sequence[Variable], Sequence[Term], Affine]"


class ConvexPart(ABC):
    """A convex function with one value, which goes below a variable or into the objective."""

    @abstractmethod
    def above(self, name: str) -> Built:
        """Variables, terms, and an expression that the terms keep above the function."""

    def priced(self, name: str, weight: float) -> Built:
        """Variables, terms, and what is left to minimise, for a weight times the function."""
        variables, terms, top = self.above(name)
        return variables, terms, weight * top

    def below(self, limit: Affine, name: str) -> Limits | None:
        """Variables and terms that keep the function below one value.

        None where nothing is simpler than a variable in between.
        """
        return None

    def squared(self) -> Any:
        """The square of the function as a convex function; None where it is not known."""
        return None

    def limitable(self) -> ConvexPart:
        """The function itself, unless no limit can be written for it, which is refused."""
        return self

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
class Function(ConvexPart):
    """A convex function of one expression.

    Parameters
    ----------
    of : Affine
    """

    of: Affine

    @cached_property
    def declared(self) -> Mapping[str, Declared]:
        """The variables of the expression, and of whatever else the function is of."""
        found: Mapping[str, Declared] = {}
        for part in fields(self):
            if isinstance(given := getattr(self, part.name), Affine):
                found = joined(found, given.declared)
        return found


class Direct(Function):
    """A function that terms keep below any limit; without one, that is a scalar.

    Attributes
    ----------
    top : str
        The name of the scalar.
    is_size : bool
        Whether it is never negative, which is said of the scalar.
    """

    top: ClassVar[str]
    is_size: ClassVar[bool] = False

    def above(self, name: str) -> Built:
        """A scalar, and what keeps the function below it."""
        variable, top = unknowns(f"{name}.{self.top}", 1, nonnegative=self.is_size)
        more, terms = self.below(top.reshape(()), name)
        return [variable, *more], terms, top.reshape(())

    @abstractmethod
    def below(self, limit: Affine, name: str) -> Limits:
        """Variables and terms that keep the function below one value."""


def term_name(part: str, own: str) -> str:
    """The name of a term of a part called ``label.k``, in a block that goes before it.

    Examples
    --------
    >>> term_name("objective.0", "arrow"), term_name("limit", "arrow")
    ('0.arrow', 'arrow')
    """
    return ".".join(word for word in (part.partition(".")[2], own) if word)


def expression_of(function: str, value: Any) -> Affine:
    """The argument of a function, which is told its name: an expression."""
    if not isinstance(value, Operators):
        raise ModelError(
            f"{function} takes an expression, affine in the variables; it was given a "
            f"{type(value).__name__}{hint(value)}."
        )
    return value.affine()


def taken(function: str, value: Any) -> Affine:
    """The argument of a function, with values."""
    of = expression_of(function, value)
    if not of.m:
        raise ShapeError(f"{function} takes at least one value; this expression is {of.shape}.")
    return of


def symmetric_taken(function: str, value: Any) -> Affine:
    """A symmetric matrix in svec coordinates."""
    of = taken(function, value)
    if len(of.shape) != 2 or of.shape[0] != of.shape[1]:
        raise ShapeError(
            f"{function} takes a square symmetric matrix; this expression is {of.shape}."
        )
    if not is_symmetric(of):
        raise ModelError(
            f"{function} takes a symmetric matrix; write (A + A.T) / 2 for the symmetric part."
        )
    return svec_of(of)


def unknowns(name: str, size: int, *, nonnegative: bool = False) -> tuple[VectorVariable, Affine]:
    """A vector of scalars of a function's own, and its values."""
    variable = VectorVariable(name, size, nonnegative)
    return variable, Affine.in_variable(sp.eye_array(size, format="csr"), variable)


def unknown_matrix(name: str, n: int) -> tuple[PsdVariable, Affine]:
    """A positive semidefinite matrix of a function's own, in svec coordinates."""
    variable = PsdVariable(name, n)
    whole = SvecMap(n, sp.eye_array(svec_size(n), format="csr"))
    return variable, Affine.in_variable(whole, variable)


def placed(order: int, values: Affine, i: Index | int, j: Index | int) -> Affine:
    """A symmetric matrix with values at places (i, j), in svec coordinates.

    Parameters
    ----------
    order : int
    values : Affine
    i, j : array of int
        Rows and columns, broadcast to the values; of (i, j) and (j, i), one is named.

    Examples
    --------
    >>> from sdpdr.linalg import smat
    >>> smat(placed(2, Affine.of([1.0, 2.0]), [0, 0], [0, 1]).constant).round(12)
    array([[1., 2.],
           [2., 0.]])
    """
    i, j = (np.broadcast_to(index, values.m) for index in (i, j))
    size = svec_size(order)
    scale = np.where(i == j, 1.0, SQRT2)
    weights = sp.csr_array((scale, (svec_index(i, j), np.arange(values.m))), (size, values.m))
    return values.reshape(-1).combined(weights, (size,))


def natural(matrix: Affine) -> Affine:
    """Entries of a symmetric matrix at their places in svec, without the roots of two."""
    i, j = svec_pairs(np.arange(matrix.m))
    return np.where(i == j, 1.0, 1.0 / SQRT2) * matrix


def scaled_identity(order: int, value: Affine, start: int, stop: int) -> Affine:
    """A scalar on the diagonal of a matrix, from one place up to another, in svec coordinates."""
    on = np.arange(start, stop)
    return placed(order, value.reshape(()).broadcast((on.size,)), on, on)


def psd_term(matrix: Affine, part: str, own: str) -> InCone:
    """A matrix in svec coordinates is positive semidefinite."""
    return InCone(matrix, "psd", term_name(part, own))


def at_most_zero(difference: Affine, part: str, own: str) -> AtMost:
    """Every value of an expression is at most zero."""
    flat = difference.reshape(-1)
    return AtMost(flat.linear, -flat.constant, term_name(part, own))
