"""Blocks, of which models consist: data, names of variables, and ``terms()``."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpdr.base.arrays import as_real
from sdpdr.base.errors import ModelError
from sdpdr.base.keywords import ChecksKeywords, checks_keywords
from sdpdr.model.affine import Affine
from sdpdr.model.operands import NothingButAdded
from sdpdr.model.terms import (
    AtMost,
    Equal,
    Penalize,
    Penalty,
    Term,
    Written,
    require_weights,
)
from sdpdr.program.point import Variable

if TYPE_CHECKING:
    from sdpdr.model.model import Model
    from sdpdr.model.parameters import Parameter


class Labels:
    """Labels of which none comes twice.

    Parameters
    ----------
    taken : iterable of str

    Examples
    --------
    >>> labels = Labels(["isometry", "isometry_2"])
    >>> labels.unique("isometry"), labels.unique("centered")
    ('isometry_3', 'centered')
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        # The last number tried for a label, so that a loop of constraints takes linear time.
        self._last: dict[str, int] = {}

    def copy(self) -> Labels:
        """Labels to which others may be added."""
        other = Labels(self.taken)
        other._last = dict(self._last)
        return other

    def unique(self, label: str) -> str:
        """The label, or if it is taken the label with the first free number from 2 on."""
        if label not in self.taken:
            return label
        k = self._last.get(label, 2)
        while f"{label}_{k}" in self.taken:
            k += 1
        self._last[label] = k
        return f"{label}_{k}"


class Block(NothingButAdded, ChecksKeywords, ABC):
    """A statement about named variables. Subclass it as a frozen dataclass.

    A block yields terms of the vocabulary in `sdpdr.model.terms`; it may also declare variables.
    It never sees cvxpy, a solver, or another block. Blocks add up to models with ``+``.

    Examples
    --------
    A block that fixes the squared distance of two points:

    >>> from dataclasses import dataclass
    >>> from sdpdr.linalg import SquaredEdgeLengths
    >>> from sdpdr.model.block import Block
    >>> from sdpdr.model.terms import Equal
    >>> from sdpdr.model.affine import Var
    >>> @dataclass(frozen=True, eq=False)
    ... class PinnedPair(Block):
    ...     n: int
    ...     i: int
    ...     j: int
    ...     sqdist: float
    ...     def terms(self):
    ...         length = SquaredEdgeLengths(self.n, [(self.i, self.j)]) @ Var("K")
    ...         yield Equal(length, self.sqdist, symbol="d_ij")
    """

    @abstractmethod
    def terms(self) -> Iterable[Term]:
        """The statements, in any order."""

    def variables(self) -> Iterable[Variable]:
        """Variables that this block declares; none by default."""
        return ()

    def parameters(self) -> dict[str, Parameter]:
        """The parameters in it, by name; none by default."""
        return {}

    declares = True
    """Whether it declares its variables; blocks written with operators only refer to theirs."""

    def with_unique_label(self, labels: Labels) -> Block:
        """The block for a model with these labels, relabelled if needed; unchanged by default."""
        return self

    @property
    def label(self) -> str:
        """Name under which the block's rows and multipliers are found: its class, in lower case."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__).lower()

    @property
    def kind(self) -> str:
        """The name of the block in the representation of a model: its class."""
        return type(self).__name__

    def __add__(self, other: Block | Model) -> Model:
        from sdpdr.model.model import Model

        return Model((self,)) + other

    def __radd__(self, other: Any) -> Model:
        """So that ``sum`` adds blocks."""
        from sdpdr.model.model import Model

        alone = Model((self,))
        return alone if isinstance(other, int) and other == 0 else alone + other


class Declaration(Block):
    """A block that declares variables and adds no constraint."""

    def terms(self) -> Iterable[Term]:
        """No terms: variables are positive semidefinite by their type."""
        return ()


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
            kind: Penalty = "square" if square else "absolute"
            yield Penalize(term.lhs, term.rhs, kind, weight, term.name, term.symbol, _excess(term))
        elif isinstance(term, AtMost):
            if square:
                raise ModelError(
                    "square=True penalizes equalities only; this block has inequalities. "
                    "Use square=False."
                )
            yield Penalize(
                term.lhs, term.rhs, "positive", weight, term.name, term.symbol, _excess(term)
            )
        else:
            raise ModelError(
                f"{block.label!r} has a {type(term).__name__} term, which has no right side to "
                "move away from; soften blocks made of Equal and AtMost terms."
            )

    return Changed(block, change)


def _excess(term: Equal | AtMost) -> Affine | None:
    """The violation of a row as it was written; None if it was not written with operators."""
    if not isinstance(term.written, Written):
        return None
    left, right = term.written.left, term.written.right
    return right - left if term.written.relation == ">=" else left - right


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


def relabel(label: str, seen: set[str]) -> str:
    """The label, or if it is taken the label with the first free number from 2 on."""
    return Labels(seen).unique(label) if label in seen else label
