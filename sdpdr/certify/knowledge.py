"""What is proved of a program: a value, a bound or a ray, and why attempts failed."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.program.ray import margin_of

if TYPE_CHECKING:
    from sdpdr.certify.flat import FlatProgram

OPTIMAL, INFEASIBLE, UNBOUNDED, UNPROVED = "optimal", "infeasible", "unbounded", "unproved"
VALUE, BOUND = "value", "bound"


@dataclass(eq=False)
class Knowledge:
    """What is proved of a program.

    Attributes
    ----------
    status : {"optimal", "infeasible", "unbounded", "unproved"}
        "optimal" if both sides agree to the tolerance.
    value, bound : float
        Upper and lower bound of the minimum; infinite if nothing is proved.
    how : dict from "value", "bound", "infeasible" or "unbounded" to str
        The argument for each.
    x, z : arrays or None
        The point and the multipliers next to exact ones that prove it. For a bound on a face z is
        None, since multipliers of the whole program need not prove it.
    ray : array or None
        Multipliers that prove infeasibility, or a direction that proves unboundedness; None if the
        proof uses faces.
    notes : list of str
        Attempts that failed, and why.
    seconds : float
        CPU seconds.
    is_late : bool
        Whether the budget ended before all attempts.
    scale : float
        Gaps are relative to the value or to this number, whichever is larger.
    nothing : float
        An optimum of at most this size counts as zero; no smaller gap is sought.
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
        """The relative gap, by the larger side or the scale; infinite if a side is missing."""
        if not (self.value < inf and self.bound > -inf):
            return inf
        size = max(abs(self.value), abs(self.bound), self.scale)
        return (self.value - self.bound) / size if size else 0.0

    @property
    def is_nothing(self) -> bool:
        """Whether the optimum counts as zero: the sides enclose zero and are `nothing` apart."""
        return self.bound <= 0.0 <= self.value and self.value - self.bound <= self.nothing

    def why_not(self, side: str) -> str:
        """The last note on a side, or else on any; empty if there are no notes."""
        notes = [note for note in self.notes if note.startswith(side)] or self.notes
        return notes[-1] if notes else ""

    def margin(self, program: FlatProgram) -> float:
        """The margin of the ray of a program (`sdpdr.program.ray.Ray`); zero without a ray."""
        if self.ray is None:
            return 0.0
        is_direction = self.status == UNBOUNDED
        costs = program.c if is_direction else np.concatenate([program.f, program.b])
        return margin_of(costs * self.ray)

    def forget(self) -> None:
        """Forget both sides."""
        self.value, self.bound, self.x, self.z = inf, -inf, None, None
        self.how.clear()

    def take(self, side: str, number: float, at: Array | None, how: str) -> None:
        """Keep a proved side if it improves on the known one."""
        if side == VALUE and number < self.value:
            self.value, self.x = number, at
        elif side == BOUND and number > self.bound:
            self.bound, self.z = number, at
        else:
            return
        self.how[side] = how
