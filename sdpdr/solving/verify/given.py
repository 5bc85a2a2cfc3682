"""The options of `sdpdr.verify`, and an answer as it was given, before anything is proved of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sdpdr.base import checks
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.program.point import Factor, Value, as_dense
from sdpdr.program.run import GIVEN, Claim, Status, Verdict
from sdpdr.program.solution import Solution
from sdpdr.solving.proofs import AT_LEAST, OF_SOLVER

# CPU seconds of proofs where the seconds of the solver are not known.
_UNKNOWN = 60.0
# The solver of an answer that comes without a name.
UNNAMED = "the caller"


@dataclass(frozen=True)
class Settings:
    """The options of `sdpdr.verify`, checked.

    Attributes
    ----------
    tol : float
    gap_scale : float or None
        None for the habit of the kind of answer.
    seconds : float or None
        CPU seconds of proofs; None for a multiple of the seconds of the solver.
    repair : bool
    """

    tol: float = 1e-6
    gap_scale: float | None = None
    seconds: float | None = None
    repair: bool = True

    def __post_init__(self) -> None:
        checks.positive_or_infinite("tol", self.tol)
        if self.seconds is not None:
            checks.positive_or_infinite("seconds", self.seconds)
        if self.gap_scale is not None:
            checks.non_negative("gap_scale", self.gap_scale)
        if not isinstance(self.repair, (bool, np.bool_)):
            raise DataError(f"repair must be True or False; it is {self.repair!r}.")

    def budget(self, solving: float | None = None) -> float:
        """CPU seconds that proofs may take, beside those that a solver took."""
        if self.seconds is not None:
            return self.seconds
        return _UNKNOWN if solving is None else max(AT_LEAST, OF_SOLVER * solving)


def as_claimed(
    value: float | None,
    settings: Settings,
    *,
    who: str = UNNAMED,
    status: str = GIVEN,
    message: str = "",
    verdict: Verdict = Verdict.SOLVED,
    maximize: bool,
    gap_scale: float,
) -> Solution:
    """An answer of which nothing is proved yet.

    Parameters
    ----------
    value : float or None
        The objective that it claims.
    settings : Settings
    who, status, message : str
        The solver that found it, in what words, and what was missing in it.
    verdict : Verdict, optional
        What the words mean.
    maximize : bool
    gap_scale : float
    """
    number = None if value is None or not np.isfinite(value) else float(value)
    claim = Claim(status, number, message=message, verdict=verdict.value)
    return Solution(
        status=Status.UNVERIFIED,
        value=float("nan") if number is None else number,
        claimed=claim,
        solver=who,
        form=GIVEN,
        tol=settings.tol,
        maximize=maximize,
        gap_scale=gap_scale,
    )


def distance(given: Mapping[str, Value], found: Mapping[str, Value]) -> float:
    """How far a point is from a given one, relative to the length of the given one.

    Parameters
    ----------
    given, found : mapping from variable name to array or Factor

    Examples
    --------
    >>> one, other = np.array([[3.0], [4.0]]), np.array([[3.0], [4.0 + 1e-9]])
    >>> 1e-10 < distance({"X": Factor(one)}, {"X": Factor(other)}) < 1e-9
    True
    """
    moved = [_difference(given[name], found[name]) for name in given if name in found]
    size = float(np.linalg.norm([np.linalg.norm(_dense(value)) for value in given.values()]))
    away = float(np.linalg.norm(moved))
    return away / size if size else away


def _difference(one: Value, other: Value) -> float:
    """The Frobenius norm of the difference; of factors without their products, which cancel."""
    if isinstance(one, Factor) and isinstance(other, Factor):
        both = np.hstack([one.factor, other.factor])
        signs = np.repeat([1.0, -1.0], [one.factor.shape[1], other.factor.shape[1]])
        R = np.asarray(np.linalg.qr(both, mode="r"))
        return float(np.linalg.norm((R * signs) @ R.T))
    return float(np.linalg.norm(_dense(one) - _dense(other)))


def _dense(value: Value) -> Array:
    """The numbers themselves, which cvxpy may have as complex ones."""
    return as_dense(value) if isinstance(value, Factor) else np.asarray(value)
