"""Smooth convex functions as parts of what is minimised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from sdpdr.base.errors import ModelError
from sdpdr.model.affine import Affine
from sdpdr.model.language.pieces import Built, Function, term_name
from sdpdr.model.smooth import SmoothFunction
from sdpdr.model.terms import Smooth


@dataclass(frozen=True, eq=False)
class SmoothPart(Function):
    """A smooth convex function, which has a price but cannot be limited.

    Parameters
    ----------
    of : Affine
    function : SmoothFunction

    Examples
    --------
    >>> from sdpdr.model.language import scalar
    >>> from sdpdr.model.smooth import LogSumExp
    >>> _, terms, left = SmoothPart(scalar("v", 3), LogSumExp()).priced("objective.0", 2.0)
    >>> terms[0].weight, left.constant
    (2.0, array([0.]))
    """

    function: SmoothFunction

    def above(self, name: str) -> NoReturn:
        """Refused: below a limit it is no semidefinite program, and no tangent keeps it there."""
        hint = " Write root_det(S) >= c instead." if self.function.word == "log det" else ""
        raise ModelError(
            f"{self.function.word} is smooth, but not semidefinite: it can be a goal, or part of "
            f"one, and has no limit.{hint}"
        )

    def priced(self, name: str, weight: float) -> Built:
        """The function at its price; nothing else is left to minimise."""
        flat = self.of.reshape(-1)
        term = Smooth(flat, self.function, weight, term_name(name, ""))
        return [], [term], Affine.of(0.0)
