"""Constraints of a block as penalties, or within a band."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdpdr.base.arrays import as_real
from sdpdr.base.errors import ModelError
from sdpdr.base.keywords import checks_keywords
from sdpdr.model.affine import Affine
from sdpdr.model.model import Block
from sdpdr.model.terms import (
    AtMost,
    Called,
    Equal,
    Penalize,
    Penalty,
    Term,
    require_weights,
)
from sdpdr.program.point import Variable


@dataclass(frozen=True, eq=False)
class Changed(Block):
    """A block whose terms pass through a function.

    Parameters
    ----------
    block : Block
    change : callable
        Takes a term, returns terms.
    """

    block: Block
    change: Callable[[Term], Iterable[Term]]

    def terms(self) -> Iterable[Term]:
        """The changed terms of the block."""
        for term in self.block.terms():
            yield from self.change(term)

    def variables(self) -> Iterable[Variable]:
        """The variables of the block."""
        return self.block.variables()

    @property
    def label(self) -> str:
        """The label of the block."""
        return self.block.label

    @property
    # For other blocks this is decided by the class; here by the block inside.
    def declares(self) -> bool:  # type: ignore[override] # of a class variable
        """Whether the block declares variables of its own."""
        return self.block.declares


@checks_keywords
def soften(block: Block, weight: Any, *, square: bool = False) -> Block:
    """Turn every constraint of a block into a penalty for violating it.

    Parameters
    ----------
    block : Block
    weight : float or array_like with one value per row
        Penalty for a unit of violation.
    square : bool, default False
        Charge ``weight / 2 * violation**2`` instead of ``weight * violation``. Only for
        equalities.

    Returns
    -------
    Block
        With the same label.

    Raises
    ------
    ModelError
        For a block without constraints, or with constraints that cannot be penalized (cones), and
        for weights that are negative.
    """
    require_weights(as_real(weight), "a penalty")

    def change(term: Term) -> Iterable[Term]:
        if isinstance(term, Equal):
            yield _penalized(term, "square" if square else "absolute", weight)
        elif isinstance(term, AtMost):
            if square:
                raise ModelError(
                    "square=True penalizes equalities only; this block has inequalities. "
                    "Use square=False."
                )
            yield _penalized(term, "positive", weight)
        else:
            raise ModelError(
                f"{block.label!r} has a {type(term).__name__} term, which has no right side to "
                "move away from; soften blocks made of Equal and AtMost terms."
            )

    return Changed(block, change)


def _penalized(term: Equal | AtMost, penalty: Penalty, weight: Any) -> Penalize:
    """A penalty for the violation of a row, printed as the row if that was written."""
    written, shown = term.written, None
    if written is not None and isinstance(written.left, Affine):
        left, right = written.left, Affine.of(written.right)
        excess = right - left if written.relation == ">=" else left - right
        half = 0.5 if penalty == "square" else 1.0
        shown = Called(penalty, (excess,), (half * as_real(weight),))
    return Penalize(term.lhs, term.rhs, penalty, weight, term.name, term.symbol, shown)


@checks_keywords
def relax(block: Block, band: float) -> Block:
    """Let every equality of a block hold within a relative band.

    ``lhs == rhs`` becomes ``(1 - band) rhs <= lhs <= (1 + band) rhs`` (or with the sides exchanged
    for a negative rhs).

    Parameters
    ----------
    block : Block
    band : float
        In (0, 1).

    Raises
    ------
    ModelError
        If the band is out of range, or the block has no equality.
    """
    if not 0.0 < band < 1.0:
        raise ModelError(f"band must lie strictly between 0 and 1; it is {band}.")

    def change(term: Term) -> Iterable[Term]:
        if not isinstance(term, Equal):
            raise ModelError(
                f"{block.label!r} has a {type(term).__name__} term; relax takes equalities."
            )
        width = band * np.abs(term.rhs)
        prefix = f"{term.name}." if term.name else ""
        upper, lower = f"{1 + band:g} {term.symbol}", f"−{1 - band:g} {term.symbol}"
        yield AtMost(term.lhs, term.rhs + width, f"{prefix}upper", upper)
        yield AtMost(-term.lhs, width - term.rhs, f"{prefix}lower", lower)

    return Changed(block, change)
