"""Statements about expressions of any matrices, and what all norms have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ModelError
from sdpdr.model.affine import Affine, Var
from sdpdr.model.block import Block
from sdpdr.model.terms import AtMost, Minimize, Term
from sdpdr.program.point import Variable, VectorVariable


@dataclass(frozen=True, eq=False)
class Stated(Block):
    """Terms of one program under a label, with the variables that they introduce.

    Parameters
    ----------
    label : str
        Name under which the rows and multipliers are found.
    stated : sequence of Term
    introduced : sequence of Variable, optional

    Examples
    --------
    >>> from sdpdr.blocks import Stated
    >>> from sdpdr.linalg import Trace
    >>> from sdpdr.model import Equal, Var
    >>> from sdpdr.model.blocks import Gram
    >>> model = Gram(2, "Z") + Stated("unit_trace", [Equal(Trace(2) @ Var("Z"), 1.0)])
    >>> model
    Gram + UnitTrace
    >>> [label for label, _ in model.labelled_terms()]
    ['unit_trace']
    """

    label: str = ""
    stated: Sequence[Term] = ()
    introduced: Sequence[Variable] = ()

    def variables(self) -> Iterable[Variable]:
        """Those that are introduced."""
        return self.introduced

    def terms(self) -> Iterable[Term]:
        """Those that are stated."""
        return self.stated

    @property
    def kind(self) -> str:
        """The label, as the name of a class."""
        return self.label.title().replace("_", "")


@dataclass(frozen=True, eq=False)
class Sized(Block):
    """A convex measure of an expression, paid for or limited.

    Parameters
    ----------
    limit : float, optional
        Keep the measure at most this large, instead of paying for it.
    weight : float, default 1
        Price of a unit.

    Raises
    ------
    ModelError
        The limit or the weight is not a positive number.
    """

    limit: float | None = field(default=None, kw_only=True)
    weight: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        self._require("weight", 0.0)
        if self.limit is not None:
            self._require("limit", 0.0)

    def _require(self, name: str, least: float) -> None:
        value = getattr(self, name)
        if not least < value < np.inf:
            kind = "positive and finite" if least == 0.0 else "finite"
            raise ModelError(
                f"the {name} of a {type(self).__name__} must be {kind}; it is {value}."
            )

    def _measured(self, size: Affine) -> Term:
        """The price of the measure, or its limit."""
        if self.limit is None:
            return Minimize(self.weight * size)
        return AtMost(size, self.limit, "limit")


@dataclass(frozen=True, eq=False)
class Topped(Sized):
    """A measure that is kept below a scalar: a number if it is limited, a variable if priced.

    Parameters
    ----------
    top : str, default "t"
        Name of the variable, which the block declares.
    """

    top: str = field(default="t", kw_only=True)

    def variables(self) -> Iterable[Variable]:
        """The scalar that a priced measure stays below; a limited one needs none."""
        yield from super().variables()
        if self.limit is None:
            yield VectorVariable(self.top, 1)

    def _top(self, multiples: Array) -> Affine:
        """Multiples of that scalar, or of the limit."""
        if self.limit is None:
            return multiples[:, None] @ Var(self.top)
        return Affine({}, self.limit * multiples)

    def _priced_top(self) -> Iterable[Term]:
        """The price of that scalar, where it is no number."""
        if self.limit is None:
            yield self._measured(self._top(np.ones(1)))
