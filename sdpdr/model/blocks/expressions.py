"""Statements about any expressions, and the base classes of norms."""

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
        """The introduced variables."""
        return self.introduced

    def terms(self) -> Iterable[Term]:
        """The stated terms."""
        return self.stated

    @property
    def kind(self) -> str:
        """The label, as the name of a class."""
        return self.label.title().replace("_", "")


@dataclass(frozen=True, eq=False)
class Sized(Block):
    """A convex measure of an expression, penalized or bounded.

    Parameters
    ----------
    limit : float, optional
        Upper bound of the measure; without it the measure is penalized.
    weight : float, default 1
        Weight of the measure in the objective.

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
        """Raise an error unless an attribute is finite and above ``least``."""
        value = getattr(self, name)
        if not least < value < np.inf:
            kind = "positive and finite" if least == 0.0 else "finite"
            raise ModelError(
                f"the {name} of a {type(self).__name__} must be {kind}; it is {value}."
            )

    def _measured(self, size: Affine) -> Term:
        """The penalty of the measure, or its bound."""
        if self.limit is None:
            return Minimize(self.weight * size)
        return AtMost(size, self.limit, "limit")


@dataclass(frozen=True, eq=False)
class Topped(Sized):
    """A measure that is kept below a scalar: its bound, or a variable if it is penalized.

    Parameters
    ----------
    top : str, default "t"
        Name of the variable, which the block declares.
    """

    top: str = field(default="t", kw_only=True)

    def variables(self) -> Iterable[Variable]:
        """The scalar above a penalized measure; a bounded measure needs none."""
        yield from super().variables()
        if self.limit is None:
            yield VectorVariable(self.top, 1)

    def _top(self, multiples: Array) -> Affine:
        """Multiples of that scalar, or of the bound."""
        if self.limit is None:
            return multiples[:, None] @ Var(self.top)
        return Affine({}, self.limit * multiples)

    def _priced_top(self) -> Iterable[Term]:
        """The penalty on that scalar, if it is a variable."""
        if self.limit is None:
            yield self._measured(self._top(np.ones(1)))
