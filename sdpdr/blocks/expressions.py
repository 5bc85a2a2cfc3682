"""Statements about expressions of any matrices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sdpdr.linalg.svec import Array
from sdpdr.model import Affine, Block, Equal, Maximize, Minimize, Penalize
from sdpdr.model.terms import Term


@dataclass(frozen=True, eq=False)
class Agree(Block):
    """Lets expressions of different matrices have the same values.

    Parameters
    ----------
    first, second : Affine
        With as many values each.
    """

    first: Affine
    second: Affine

    def terms(self) -> Iterable[Term]:
        """One row for each value."""
        yield Equal(self.first - self.second, 0.0, symbol="0")


@dataclass(frozen=True, eq=False)
class Fits(Block):
    r"""Lets an expression have given values, exactly or at half the square of what is missing.

    Parameters
    ----------
    values : Affine
    targets : array with one number per value
    squared : bool, default False
    """

    values: Affine
    targets: Array
    squared: bool = False

    def terms(self) -> Iterable[Term]:
        """One row for each value."""
        if self.squared:
            yield Penalize(self.values, self.targets, "square", 1.0, symbol="v_ij")
        else:
            yield Equal(self.values, self.targets, symbol="v_ij")


@dataclass(frozen=True, eq=False)
class Costs(Block):
    """Minimises an expression of one value.

    Parameters
    ----------
    value : Affine
    """

    value: Affine

    def terms(self) -> Iterable[Term]:
        """The objective."""
        yield Minimize(self.value)


@dataclass(frozen=True, eq=False)
class Rewards(Block):
    """Maximises an expression of one value.

    Parameters
    ----------
    value : Affine
    """

    value: Affine

    def terms(self) -> Iterable[Term]:
        """The objective."""
        yield Maximize(self.value)
