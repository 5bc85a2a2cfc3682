"""Terms of one program under a label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sdpdr.model.model import Block
from sdpdr.model.terms import Term
from sdpdr.program.point import Variable


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
