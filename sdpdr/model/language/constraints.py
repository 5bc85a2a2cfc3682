"""Comparisons of expressions, which are blocks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NoReturn

import numpy as np
import scipy.sparse as sp

from sdpdr.base.errors import DataTypeError, EntrywiseWarning, ModelError, ShapeError, warn
from sdpdr.linalg.svec import SQRT2, svec_pairs, svec_size
from sdpdr.model.affine import (
    Affine,
    Declared,
    Operators,
    defines_operator,
    fixed,
    joined,
    known_shape,
)
from sdpdr.model.describe import row_words
from sdpdr.model.labels import Labels
from sdpdr.model.model import Block
from sdpdr.model.operands import described
from sdpdr.model.parameters import Parameter, generic
from sdpdr.model.relaxations import soften
from sdpdr.model.terms import AtMost, Equal, InCone, Term, Written, require_weights
from sdpdr.program.point import Variable

Comparison = Literal["<=", ">=", "==", ">>", "<<"]

_LABELS = {"<=": "at_most", ">=": "at_least", "==": "equal", ">>": "psd", "<<": "psd"}
# Largest rounding error in the difference of entries (i, j) and (j, i): relative to their own
# coefficients, and to the largest coefficients, from which they may result by cancellation.
_ALIKE, _LEFT = 1e-12, 4.0 * np.finfo(float).eps


class NamedBlock(Block):
    """A block that can be given a name, under which its rows and multipliers are found."""

    name: str
    declares = False

    @property
    @abstractmethod
    def declared(self) -> Mapping[str, Declared]:
        """The variables and parameters in it, by name."""

    def variables(self) -> Iterable[Variable]:
        """The variables in it."""
        return [v for v in self.declared.values() if not isinstance(v, Parameter)]

    def parameters(self) -> dict[str, Parameter]:
        """The parameters in it, by name."""
        return {n: p for n, p in self.declared.items() if isinstance(p, Parameter)}

    @property
    def changes(self) -> bool:
        """Whether it depends on parameters."""
        return bool(self.parameters())

    def with_unique_label(self, labels: Labels) -> Any:
        """The block, with a number in its label if it has no name and its label is taken.

        Raises
        ------
        ModelError
            If its name is taken.
        """
        label = labels.unique(self.label)
        if label == self.label:
            return self
        if self.name:
            raise ModelError(
                f"the model has a block named {self.name!r} already; give this one another name, "
                f"such as {label!r}, or none: labels of blocks without a name are numbered."
            )
        found = self.named(label)
        found.__dict__["_as_added"] = self
        return found

    @property
    def as_added(self) -> Block:
        """The block that was added to a model, before `with_unique_label` relabelled it."""
        found: Block = self.__dict__.get("_as_added", self)
        return found

    def named(self, name: str) -> Any:
        """The same block under a name.

        Parameters
        ----------
        name : str
        """
        if not isinstance(name, str) or not name.strip():
            raise DataTypeError(f"a name is a str that is not empty; it was given {name!r}.")
        return replace(self, name=name)  # type: ignore[type-var]  # all of them are dataclasses

    def __repr__(self) -> str:
        return f"<{self.label}: of {', '.join(self.declared)}>"

    @property
    def default_label(self) -> str:
        """The label of a block that was not named."""
        return super().label

    @property
    def label(self) -> str:
        """The name, or the default label."""
        return self.name or self.default_label

    @property
    def kind(self) -> str:
        """The label, written as the name of a class."""
        return self.label.title().replace("_", "")


@dataclass(frozen=True, eq=False)
class Constraint(NamedBlock):
    """A comparison of two expressions, one row for each pair of values.

    A comparison of symmetric matrices, entry by entry, has rows for the upper triangle only.

    Parameters
    ----------
    left : Affine
    relation : {"<=", ">=", "==", ">>", "<<"}
        ``>>`` and ``<<`` mean that the difference of two matrices is positive semidefinite.
    right : Affine
    name : str, optional

    Examples
    --------
    >>> from sdpdr.model.language import psd
    >>> K = psd("K", 3)
    >>> constraint = (K[0, 1] >= 0.5).named("close")
    >>> constraint.label, [type(term).__name__ for term in constraint.terms()]
    ('close', ['AtMost'])
    """

    left: Affine
    relation: Comparison
    right: Affine
    name: str = ""

    @property
    def default_label(self) -> str:
        """A word for the relation."""
        return _LABELS[self.relation]

    @property
    def declared(self) -> Mapping[str, Declared]:
        """The variables and parameters of both sides."""
        return joined(self.left.declared, self.right.declared)

    def terms(self) -> Iterable[Term]:
        """One term, at the present values of parameters."""
        return (self._made(fixed(self._lasting)) if self.changes else self._term,)

    @cached_property
    def _term(self) -> Term:
        """The term of a comparison without parameters."""
        return self._made(self._difference)

    @property
    def _difference(self) -> Affine:
        """The difference of the sides that is zero, negative or positive semidefinite."""
        sign = -1.0 if self.relation in (">=", "<<") else 1.0
        return sign * self.left - sign * self.right

    @cached_property
    def _lasting(self) -> Affine:
        """The difference, reduced to rows if it is symmetric for all values of parameters."""
        difference = self._difference
        return self._rows_of(difference) if is_symmetric(difference) else difference

    def _rows_of(self, matrix: Affine) -> Affine:
        """One value for each row, from a matrix that is symmetric at the present parameters."""
        if self.relation in (">>", "<<"):
            return svec_of(matrix)
        return matrix.picked(matrix.positions()[np.triu_indices(len(matrix.positions()))])

    def _made(self, difference: Affine) -> Term:
        """The term, with its printed form."""
        left, right = self.left, self.right
        if self.relation in (">>", "<<"):
            rows = difference if len(difference.shape) == 1 else svec_of(difference)
            return InCone(rows, "psd", written=Written(left, self.relation, right))
        rows = self._rows_of(difference) if is_symmetric(difference) else difference
        if rows.m < left.m:  # of the upper triangle alone
            left, right = self._rows_of(left), self._rows_of(right)
        written = Written(left, self.relation, right)
        kind = Equal if self.relation == "==" else AtMost
        return kind(rows.linear, 0.0 - rows.constant, written=written)

    def penalized(self, weight: Any, *, square: bool = False) -> Block:
        """The rows as penalties, see `sdpdr.soften`."""
        return soften(self, weight, square=square)

    def __bool__(self) -> NoReturn:
        raise ModelError(
            "a comparison of expressions is a constraint to add to a model, and neither true nor "
            "false; write (a <= x) + (x <= b) for a <= x <= b or `and`, and numpy.hstack for "
            "numpy.array or numpy.r_ of expressions."
        )

    def __repr__(self) -> str:
        return f"{self.label}: {row_words(self._term)[0]}"


@defines_operator
def compare(left: Operators, relation: Comparison, right: Any) -> Constraint:
    """The result of the comparison operators of expressions.

    Raises
    ------
    DataTypeError, ModelError, ShapeError
        If the operands cannot be compared, with a message that names the operator.
    """
    a, b = left.affine(), left._other(relation, right)
    if a.is_constant and b.is_constant:
        raise ModelError(f"both sides of {relation} are numbers; a constraint needs a variable.")
    require_finite(left, relation, right, a, b)
    if relation in (">>", "<<"):
        _require_matrices(a, relation, b)
        shape = a.shape if len(a.shape) == 2 else b.shape
    else:
        shape = known_shape(relation, a, b)
    constraint = Constraint(a.broadcast(shape), relation, b.broadcast(shape))
    if all(found.has_value for found in constraint.parameters().values()):
        constraint.terms()  # so that errors are raised where the comparison is written
        _warn_of_entries(constraint)
    return constraint


def _warn_of_entries(constraint: Constraint) -> None:
    """Warn of ``t * numpy.eye(n) >= C``, which bounds entries and not eigenvalues of C.

    A diagonal matrix, of numbers or expressions, is hardly ever a bound on all entries.
    """
    left, relation, right = constraint.left, constraint.relation, constraint.right
    if relation not in ("<=", ">=") or len(left.shape) != 2 or left.shape[0] != left.shape[1]:
        return
    are_diagonal = [_is_diagonal(side) for side in (left, right)]
    one = left if are_diagonal[0] else right
    if sum(are_diagonal) == 1 and not _vanishes(one) and is_symmetric(left - right):
        warn(
            f"{described(left)} {relation} {described(right)} compares matrices entry by entry; "
            f"write {relation[0] * 2} if A - B should be positive semidefinite, or "
            f"A.ravel() {relation} B.ravel() if entries are meant.",
            EntrywiseWarning,
        )


def _is_diagonal(matrix: Affine) -> bool:
    """Whether all entries off the diagonal are zero for all values of the variables."""
    off = ~np.eye(matrix.shape[0], dtype=bool)
    return _vanishes(fixed(matrix).picked(matrix.positions()[off]))


def _vanishes(expression: Affine) -> bool:
    """Whether it is zero for all values of its variables."""
    numbers = fixed(expression)
    maps = numbers.maps.values()
    return not np.any(numbers.constant) and not any(a.matrix().count_nonzero() for a in maps)


def require_finite(left: Any, relation: str, right: Any, a: Affine, b: Affine) -> None:
    """Raise an error for a comparison with nan or infinity, which quotes it as written.

    Parameters
    ----------
    left, relation, right
        The comparison as it was written.
    a, b : Affine
        Its sides.

    Raises
    ------
    ModelError
    """
    constants = np.concatenate([a.constant, b.constant])
    wrong = constants[~np.isfinite(constants)]
    if not wrong.size:
        return
    written = f"{described(left)} {relation} {described(right)} has {wrong[0]:g} in it"
    if np.isnan(wrong).any():
        raise ModelError(f"{written}; write numbers that are finite.")
    # Infinite bounds that hold anyway are +inf on the larger side and -inf on the smaller one.
    small, large = (b, a) if relation in (">=", ">>") else (a, b)
    if relation == "==" or np.any(small.constant == np.inf) or np.any(large.constant == -np.inf):
        raise ModelError(f"{written}, and no finite value satisfies it; write finite numbers.")
    raise ModelError(
        f"{written}, and says nothing there; leave out the comparison, or the values without a "
        "bound: x[k] <= b[k] for k = numpy.isfinite(b)."
    )


def _require_matrices(a: Affine, relation: str, b: Affine) -> None:
    """Raise an error unless both sides are square matrices of one order, or one is zero."""
    shapes = [side.shape for side in (a, b) if not _is_zero(side)]
    square = all(len(shape) == 2 and shape[0] == shape[1] for shape in shapes)
    if not square or len(set(shapes)) != 1:
        raise ShapeError(
            f"{a.shape} {relation} {b.shape}: a matrix inequality needs square matrices of one "
            f"order on both sides, or 0 on one{_meant_by_a_number(a, b)}."
        )


def _meant_by_a_number(a: Affine, b: Affine) -> str:
    """Advice for a matrix inequality with a scalar."""
    if a.shape == b.shape == ():
        return "; expressions in numpy.array stay apart, numpy.block makes one matrix of them"
    if any(len(side.shape) == 1 for side in (a, b)):
        return "; write v >= 0 for the values of a vector, numpy.diag(v) >> 0 for its matrix"
    orders = [side.shape[0] for side in (a, b) if len(side.shape) == 2]
    if len(orders) == 1 and () in (a.shape, b.shape):
        eye = f"numpy.eye({orders[0]})"
        return f"; write t * {eye} for a multiple of the identity, t * numpy.ones for X - t >> 0"
    return "; write t * numpy.eye(n) for a multiple of the identity"


def _is_zero(side: Affine) -> bool:
    """Whether a side is the number zero."""
    return side.shape == () and side.is_constant and not np.any(side.constant)


def is_symmetric(expression: Operators) -> bool:
    """Whether entries (i, j) and (j, i) are the same expression up to rounding."""
    matrix = expression.affine()
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        return False
    i, j = np.triu_indices(matrix.shape[0], 1)
    places, numbers = matrix.positions(), fixed(matrix, generic)
    upper, lower = numbers.picked(places[i, j]), numbers.picked(places[j, i])
    if not _alike(upper.constant[:, None], lower.constant[:, None]):
        return False
    return all(_alike(a.matrix(), lower.maps[name].matrix()) for name, a in upper.maps.items())


def _alike(one: Any, other: Any) -> bool:
    """Whether rows are equal up to rounding."""
    a, b = sp.csr_array(one), sp.csr_array(other)
    if not a.nnz:
        return not b.count_nonzero()
    size, apart = (abs(rows).max(axis=1).toarray().ravel() for rows in (a, a - b))
    return bool(np.all(apart <= _ALIKE * size + _LEFT * size.max()))


def svec_of(matrix: Affine) -> Affine:
    """A symmetric matrix in svec coordinates."""
    if not is_symmetric(matrix):
        raise ModelError(
            f"a matrix inequality needs a symmetric matrix; entries (i, j) and (j, i) of this one, "
            f"of shape {matrix.shape}, differ. Write (A + A.T) / 2 for its symmetric part."
        )
    n = matrix.shape[0]
    i, j = svec_pairs(np.arange(svec_size(n)))
    upper = matrix.picked(matrix.positions()[i, j])
    return np.where(i == j, 1.0, SQRT2) * upper


@dataclass(frozen=True, eq=False, repr=False)
class TwoSidedBound(NamedBlock):
    r"""Keeps the absolute values of an expression below a bound, \|v\| <= b, by two rows each.

    Parameters
    ----------
    of : Affine
        v.
    limit : expression or array
    name : str, optional
    other : Affine, optional
        The second expression below the bound: -v by default, zero for max(v, 0) <= b.
    weight : Affine, optional
        Parameters by which v was multiplied, whose values must not be negative.
    """

    of: Affine
    limit: Any
    name: str = ""
    other: Affine | None = None
    weight: Affine | None = None

    @property
    def default_label(self) -> str:
        """The name of the bounded function."""
        return "abs" if self.other is None else "pos"

    @property
    def declared(self) -> Mapping[str, Declared]:
        """The variables and parameters of both sides."""
        return joined(self.of.declared, Affine.of(self.limit).declared)

    def terms(self) -> Iterable[Term]:
        """The rows v <= b, and the rows -v <= b, or 0 <= b."""
        present_weights(self.weight, self.label)
        other = -self.of if self.other is None else self.other
        for name, side in (("upper", self.of), ("lower", other)):
            for term in compare(side, "<=", self.limit).terms():
                assert isinstance(term, AtMost)
                yield replace(term, name=name)


def present_weights(weight: Any, label: str) -> Any:
    """Weights at the present values of parameters, which must not be negative."""
    if not isinstance(weight, Affine):
        return weight
    numbers = fixed(weight).constant.reshape(weight.shape)
    require_weights(numbers, f"{label!r}, of parameters ({', '.join(weight.declared)}),")
    return numbers
