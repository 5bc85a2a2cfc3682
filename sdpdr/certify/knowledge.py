"""What is proved of a program, gathered side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from sdpdr.base.arrays import Array

OPTIMAL, INFEASIBLE, UNBOUNDED, UNPROVED = "optimal", "infeasible", "unbounded", "unproved"
VALUE, BOUND = "value", "bound"


@dataclass(eq=False)
class Knowledge:
    """What is proved of a program.

    Attributes
    ----------
    status : {"optimal", "infeasible", "unbounded", "unproved"}
        The first where both sides agree to the tolerance.
    value, bound : float
        Sides of the minimisation; infinite where nothing is proved.
    how : dict from "value", "bound", "infeasible" or "unbounded" to str
        By what.
    x, z : arrays or None
        The point and the multipliers next to those that prove it. None of a bound on a face, which
        multipliers of the whole program need not prove.
    ray : array or None
        Multipliers, or a direction, that show the status; None behind faces.
    notes : list of str
        What did not succeed, and why.
    seconds : float
        Processor seconds.
    is_late : bool
        Whether the budget was spent before all had been tried.
    scale : float
        A size below which gaps are relative to it instead of the value.
    nothing : float
        What is no larger counts as zero, and nothing is tried to prove it nearer to zero.
    """

    status: str = UNPROVED
    value: float = inf
    bound: float = -inf
    how: dict[str, str] = field(default_factory=dict)
    x: Array | None = None
    z: Array | None = None
    ray: Array | None = None
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    is_late: bool = False

    scale: float = 0.0
    nothing: float = 0.0

    @property
    def gap(self) -> float:
        """Relative to the larger side, or the scale; infinite where a side is missing."""
        if not (self.value < inf and self.bound > -inf):
            return inf
        size = max(abs(self.value), abs(self.bound), self.scale)
        return (self.value - self.bound) / size if size else 0.0

    @property
    def is_nothing(self) -> bool:
        """Whether both sides count as zero, and may be the two sides of it."""
        return self.bound <= 0.0 <= self.value and self.value - self.bound <= self.nothing

    def forget(self) -> None:
        """Keep nothing of either side."""
        self.value, self.bound, self.x, self.z = inf, -inf, None, None
        self.how.clear()

    def take(self, side: str, number: float, at: Array | None, how: str) -> None:
        """Keep a side that is proved, where it is better than what was known."""
        if side == VALUE and number < self.value:
            self.value, self.x = number, at
        elif side == BOUND and number > self.bound:
            self.bound, self.z = number, at
        else:
            return
        self.how[side] = how
