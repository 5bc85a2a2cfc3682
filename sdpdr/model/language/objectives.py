"""Objectives of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sdpdr.base.attributes import OF_MODELS, Advising
from sdpdr.base.errors import DataTypeError, ModelError, ShapeError
from sdpdr.model.affine import Affine, Declared, Operators, fixed, hint
from sdpdr.model.language.convex import Convex, Curved, Lowered, called, lowered, present_parts
from sdpdr.model.model import Model
from sdpdr.model.operands import described
from sdpdr.model.terms import Called, Maximize, Minimize, Penalize, Shown, Smooth, Term
from sdpdr.program.point import Variable

# Attributes that an objective takes from the model that consists of it alone.
_OF_A_MODEL = frozenset(
    {
        *("_repr_latex_", "blocks", "describe", "is_maximization", "labelled_terms", "legend"),
        *("objective", "shapes", "size", "solve", "to_cvxpy", "to_sdp", "violations"),
    }
)


@dataclass(frozen=True, eq=False, repr=False)
class Objective(Lowered, Advising):
    """An objective; the objectives of a model add up.

    It has the methods of a `Model`, for the model that consists of it alone.

    Parameters
    ----------
    function : Convex
        The objective, a scalar.
    maximize : bool
    name : str, optional

    Examples
    --------
    >>> from sdpdr import minimize, norm, scalar
    >>> t = scalar("t")
    >>> minimize(norm(t - 1.0) + t).size()["scalars"], minimize(t).objective({"t": 3.0})
    (2, 3.0)
    """

    elsewhere = OF_MODELS

    function: Convex
    maximize: bool
    name: str = ""

    @property
    def default_label(self) -> str:
        """The label of an objective without a name."""
        return "objective"

    def _build(self) -> tuple[list[Variable], list[Term]]:
        function = self.function
        total, sign = fixed(function.affine), function.sign
        variables: list[Variable] = []
        terms: list[Term] = []
        calls: list[Called] = []
        for k, weight, part in present_parts(function.parts):
            more, made, cost = part.cost(f"{self.label}.{k}", weight)
            written = function.parts[k][0]
            if any(isinstance(term, (Penalize, Smooth)) for term in made):
                made = [_with_weight(written, term) for term in made]
            else:
                calls.append(called(written, part, sign))
            variables += more
            terms += lowered(made)
            total = total + sign * cost
        kind = Maximize if self.maximize else Minimize
        shown = Shown(function.affine.reshape(1), tuple(calls))
        return variables, [kind(total.reshape(1), written=shown), *terms]

    @property
    def declared(self) -> Mapping[str, Declared]:
        """The variables and parameters of the function."""
        return self.function.declared

    @cached_property
    def model(self) -> Model:
        """The model of this objective without constraints."""
        return Model((self,))

    def __getattr__(self, name: str) -> Any:
        if name in _OF_A_MODEL:
            return getattr(self.model, name)
        return super().__getattr__(name)  # type: ignore[misc]  # of `Advising`

    def __repr__(self) -> str:
        word = "maximise" if self.maximize else "minimise"
        return f"<{self.label}: {word} a function of {', '.join(self.declared)}>"


def _with_weight(weight: float | Affine, term: Any) -> Any:
    """A term that is printed with the weight of its part as it was written."""
    written = term.written
    return replace(term, written=replace(written, factors=(weight, *written.factors)))


def minimize(function: Any) -> Objective:
    """An objective that is minimised.

    Parameters
    ----------
    function : expression or convex function of shape ()

    Returns
    -------
    Objective
        A block; comparisons and other blocks are added to it.

    Raises
    ------
    ModelError
        If the function is concave.
    ShapeError
        If it is not one number.

    Examples
    --------
    >>> from sdpdr import minimize
    >>> import sdpdr
    >>> from sdpdr.model.language import psd
    >>> K = psd("K", 2)
    >>> model = minimize(K.trace()) + (K[0, 1] == 1.0)
    >>> round(sdpdr.solve(model).value, 6)
    2.0
    """
    return _objective("minimize", function, False)


def maximize(function: Any) -> Objective:
    """An objective that is maximised (see `minimize`).

    Examples
    --------
    >>> from sdpdr import maximize
    >>> import sdpdr
    >>> from sdpdr.model.language import psd
    >>> K = psd("K", 2)
    >>> model = maximize(K[0, 1] - 0.5 * abs(K[0, 0] - 3.0)) + (K.trace() <= 4.0)
    >>> round(sdpdr.solve(model, "clarabel").value, 5)
    1.73607
    """
    return _objective("maximize", function, True)


def _objective(word: str, function: Any, maximizes: bool) -> Objective:
    """The objective; an error if the function is not a scalar or has the wrong curvature."""
    if isinstance(function, Curved):
        convex = function.scalar()
        _require_finite(word, convex.affine)
        if (convex.sign > 0.0) == maximizes:
            kinds = ("convex", "concave") if convex.sign > 0.0 else ("concave", "convex")
            other, meant = ("minimize", "least") if maximizes else ("maximize", "largest")
            raise ModelError(
                f"{word} takes a {kinds[1]} function, and this one is {kinds[0]}, so that no bound "
                f"on its optimum could be proved. If its {meant} value is meant, write "
                f"{other}(...)."
            )
        return Objective(convex, maximizes)
    if not isinstance(function, Operators):
        raise DataTypeError(
            f"{word} takes an expression, K.trace() for instance; it was given "
            f"{described(function)}{hint(function)}."
        )
    affine = function.affine()
    _require_finite(word, affine)
    if affine.m != 1:
        raise ShapeError(
            f"{word} takes one number; this expression has shape {affine.shape}. Write .sum() "
            "for the sum of its values."
        )
    return Objective(Convex(affine.reshape(()), ()), maximizes)


def _require_finite(word: str, affine: Affine) -> None:
    """Raise an error if a constant is nan or infinite."""
    if not np.all(np.isfinite(affine.constant)):
        raise ModelError(
            f"{word} takes finite numbers; this expression has {affine.constant.sum():g} in it."
        )
