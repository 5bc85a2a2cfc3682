"""Default time limits of estimators that solve programs, and a warning if nothing is proved."""

from __future__ import annotations

from typing import Any, ClassVar

from sdpdr.base.advice import either
from sdpdr.base.deadline import limit_of
from sdpdr.base.errors import UncertifiedWarning, warn
from sdpdr.program import Solution, Status


class DefaultTimeLimit:
    """Mixin: programs have a default time limit if no limit, solver or form is requested."""

    # Seconds.
    default_time_limit: ClassVar[float] = 60.0
    # The option that says how lengths are constrained.
    _lengths: ClassVar[str] = "isometry"

    solver: Any
    form: str = "auto"
    time_limit: float | str | None

    def _is_left_to_us(self) -> bool:
        """Whether neither a solver nor a form is named, nor a number of landmarks."""
        is_auto = isinstance(self.solver, str) and self.solver == self.form == "auto"
        return is_auto and getattr(self, "landmarks", None) is None

    def _limit(self) -> float | None:
        """Seconds for programs, if they are limited."""
        return limit_of(self.time_limit, self.default_time_limit if self._is_left_to_us() else None)

    def _more_time(self) -> str:
        """How to give a program more than its default time; empty if that was not its limit."""
        if self.time_limit != "auto" or not self._is_left_to_us():
            return ""
        way = either("time_limit=None lets it go on to its end", "--time-limit gives it more")
        return f"It had {self.default_time_limit:g} seconds; {way}."

    def _has_exact_lengths(self) -> bool:
        """Whether lengths are prescribed exactly."""
        return bool(getattr(self, self._lengths, None) == "equality")

    def _require_point(self, solution: Solution) -> None:
        """Raise an error if there is no point; warn, with advice, if it is not certified."""
        if not solution.values:
            solution.raise_for_status()
        if solution.certified():
            return
        words = [f"{solution.status.name}: {solution.advice}"]
        if solution.status is Status.TIME_LIMIT:
            words.append(self._more_time())
        if self._has_exact_lengths():
            words.append(
                "With exact lengths there often is no interior, without which proofs fail; "
                f"{self._lengths}='band:0.05' or 'inequality' leaves one."
            )
        gaps = [f"gap {solution.gap:.1e}"]
        if solution.attained is None:
            gaps.append(f"feasibility: {solution.attained_by}")
        if solution.bound is None:
            gaps.append(f"bound: {solution.argument}")
        if solution.status is Status.OPTIMAL_NEARBY:
            gaps.append(f"epsilon {solution.epsilon:.0e}")
        warn(f"{' '.join(filter(None, words))} ({'; '.join(gaps)})", UncertifiedWarning)
