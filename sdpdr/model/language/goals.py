"""What a model minimises or maximises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sdpdr.base.errors import DataTypeError, ModelError, ShapeError
from sdpdr.model.affine import Affine, Declared
from sdpdr.model.arithmetic import Arithmetic
from sdpdr.model.language.curved import Convex, Curved, Lowered, at_present, called, lowered
from sdpdr.model.model import Model
from sdpdr.model.parameters import fixed
from sdpdr.model.terms import Called, Maximize, Minimize, Penalize, Shown, Smooth, Term
from sdpdr.program.point import Variable

if TYPE_CHECKING:
    import cvxpy

    from sdpdr.program.sdp import SDP
    from sdpdr.program.solution import Solution


@dataclass(frozen=True, eq=False, repr=False)
class Goal(Lowered):
    """An objective; those of a model add up.

    Parameters
    ----------
    function : Convex
        One value.
    maximize : bool
    name : str, optional
    """

    function: Convex
    maximize: bool
    name: str = ""

    @property
    def default_label(self) -> str:
        """Objective."""
        return "objective"

    def _written(self) -> tuple[list[Variable], list[Term]]:
        function = self.function
        total, sign = fixed(function.affine), function.sign
        variables: list[Variable] = []
        terms: list[Term] = []
        calls: list[Called] = []
        for k, (weight, part) in enumerate(function.present_parts()):
            more, made, cost = part.priced(f"{self.label}.{k}", weight)
            written = function.parts[k][0]
            if any(isinstance(term, (Penalize, Smooth)) for term in made):
                made = [_priced_as(written, term) for term in made]
            else:
                calls.append(called(written, part, sign))
            variables += more
            terms += [at_present(term) for term in lowered(made)]
            total = total + sign * fixed(cost)
        kind = Maximize if self.maximize else Minimize
        shown = Shown(function.affine.reshape(1), tuple(calls))
        return variables, [kind(total.reshape(1), written=shown), *terms]

    @property
    def declared(self) -> Mapping[str, Declared]:
        """The variables and parameters of the function."""
        return self.function.declared

    @cached_property
    def model(self) -> Model:
        """The model of this goal alone, where variables are under no constraint but their kind."""
        return Model((self,))

    def describe(self, style: str = "text") -> str:
        """The program of this goal alone, in mathematics (see `Model.describe`)."""
        return self.model.describe(style)

    def legend(self) -> dict[str, dict[str, Any]]:
        """What the letters of `describe` stand for (see `Model.legend`)."""
        return self.model.legend()

    def to_sdp(self) -> SDP:
        """The program of this goal alone, in the standard form (see `Model.to_sdp`)."""
        return self.model.to_sdp()

    def to_cvxpy(self) -> cvxpy.Problem:
        """The program of this goal alone, as cvxpy has it (see `Model.to_cvxpy`)."""
        return self.model.to_cvxpy()

    def solve(self, **options: Any) -> Solution:
        """Solve the program of this goal alone (see `Model.solve`)."""
        return self.model.solve(**options)

    def __repr__(self) -> str:
        word = "maximise" if self.maximize else "minimise"
        return f"<{self.label}: {word} a function of {', '.join(self.declared)}>"


def _priced_as(weight: float | Affine, term: Term) -> Term:
    """A term with the weight of its part as it was written."""
    if isinstance(term, Penalize):
        return replace(term, factors=(weight, *(term.factors or ())[1:]))
    return replace(term, factors=(weight,)) if isinstance(term, Smooth) else term


def minimize(function: Any) -> Goal:
    """A model's objective, as small as it can be.

    Parameters
    ----------
    function : expression or convex function of shape ()

    Returns
    -------
    Goal
        A block; comparisons and other blocks are added to it.

    Raises
    ------
    ModelError
        If the function is concave.
    ShapeError
        If it is not one number.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr.model.language import psd
    >>> K = psd("K", 2)
    >>> model = minimize(K.trace()) + (K[0, 1] == 1.0)
    >>> round(sdpdr.solve(model).value, 6)
    2.0
    """
    return _goal("minimize", function, False)


def maximize(function: Any) -> Goal:
    """A model's objective, as large as it can be (see `minimize`).

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr.model.language import psd
    >>> K = psd("K", 2)
    >>> model = maximize(K[0, 1] - 0.5 * abs(K[0, 0] - 3.0)) + (K.trace() <= 4.0)
    >>> round(sdpdr.solve(model, "clarabel").value, 5)
    1.73607
    """
    return _goal("maximize", function, True)


def _goal(word: str, function: Any, maximizes: bool) -> Goal:
    if isinstance(function, Curved):
        convex = function.scalar()
        if (convex.sign > 0.0) == maximizes:
            kinds = ("convex", "concave") if convex.sign > 0.0 else ("concave", "convex")
            raise ModelError(
                f"{word} of a {kinds[0]} function is no convex program, as {word} takes {kinds[1]} "
                "functions; turn its sign."
            )
        return Goal(convex, maximizes)
    if not isinstance(function, Arithmetic):
        raise DataTypeError(
            f"{word} takes an expression, K.trace() for instance; it was given a "
            f"{type(function).__name__}."
        )
    affine = function.affine()
    if affine.m != 1:
        raise ShapeError(
            f"{word} takes one number; this expression has shape {affine.shape}. Write .sum() "
            "for the sum of its values."
        )
    return Goal(Convex(affine.reshape(()), ()), maximizes)
