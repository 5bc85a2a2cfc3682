"""How long a proof may go on."""

from __future__ import annotations

import time
from dataclasses import dataclass

# Operations of all steps of a proof: a minute of them or less.
LIMIT = 6e10


class EffortSpentError(ArithmeticError):
    """A proof takes too long, or would; the message says what of."""


@dataclass(eq=False)
class Effort:
    """Operations spent on a proof so far, and when it has to end.

    Attributes
    ----------
    deadline : float or None
        On the clock of `time.monotonic`.
    steps : int
    operations : float
    """

    deadline: float | None = None
    steps: int = 0
    operations: float = 0.0

    def spend(self, operations: float) -> None:
        """Count a step that is about to be made.

        Raises
        ------
        EffortSpentError
            If all steps together take too long.
        """
        self.steps += 1
        self.operations += operations
        if self.operations > LIMIT:
            raise EffortSpentError(
                f"{self.steps} steps of some {operations:.0e} operations were not enough"
            )
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise EffortSpentError(f"the time was up after {self.steps - 1} steps")
