"""How long estimators take at most, and what they say of an answer that is not proved."""

from __future__ import annotations

from typing import Any

from sdpdr.base import checks as validate
from sdpdr.base.errors import UncertifiedWarning, warn
from sdpdr.base.progress import Deadline
from sdpdr.program import Solution, Status

EXACT_LENGTHS = (
    "Exact lengths often leave no interior, without which proofs fail; {}=Band(0.05) or "
    "'inequality' leaves one."
)
# Seconds for programs where no limit, solver or form is asked for.
PATIENCE = 60.0
MORE_TIME = f"It had {PATIENCE:g} seconds; time_limit=None lets it go on to its end."


def seconds_of(time_limit: float | str | None, solver: Any, form: str) -> float | None:
    """Seconds that a time limit stands for; "auto" limits those alone who name no solver or form.

    Examples
    --------
    >>> seconds_of("auto", "auto", "auto"), seconds_of("auto", "clarabel", "auto")
    (60.0, None)
    """
    if not isinstance(time_limit, str):
        Deadline(time_limit)  # refuses what is no number of seconds
        return time_limit
    validate.choice("time_limit", time_limit, ("auto",))
    return PATIENCE if is_left_to_us(solver, form) else None


def is_ours(time_limit: float | str | None, solver: Any, form: str) -> bool:
    """Whether the time limit is the one of this file, which nobody asked for."""
    return time_limit == "auto" and is_left_to_us(solver, form)


def is_left_to_us(solver: Any, form: str) -> bool:
    """Whether neither a solver nor a form is named."""
    return isinstance(solver, str) and solver == form == "auto"


def warn_of_missing_proof(solution: Solution, way_out: str = "", *, ours: bool = False) -> None:
    """Raise if there is no point; warn unless one is proved best to the tolerance.

    Parameters
    ----------
    solution : Solution
    way_out : str, optional
        What to do besides what the status advises.
    ours : bool, default False
        Whether the time limit is one that nobody asked for.
    """
    if not solution.values:
        solution.raise_for_status()
    if solution.certified():
        return
    if solution.status is Status.TIME_LIMIT and ours:
        way_out = f"{MORE_TIME} {way_out}"
    gaps = [f"gap {solution.gap:.1e}"]
    if solution.attained is None:
        gaps.append(f"feasibility: {solution.attained_by}")
    if solution.bound is None:
        gaps.append(f"bound: {solution.argument}")
    if solution.status is Status.OPTIMAL_NEARBY:
        gaps.append(f"epsilon {solution.epsilon:.0e}")
    warn(
        f"{solution.status.name}: {solution.advice} {way_out}".rstrip() + f" ({'; '.join(gaps)})",
        UncertifiedWarning,
    )
