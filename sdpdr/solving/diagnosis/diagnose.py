"""Why a program fails, in the user's own names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sdpdr.base.deadline import Deadline, in_seconds
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import Progress, show_count
from sdpdr.certify.path import TooLargeError
from sdpdr.model import Block, Model
from sdpdr.program.sdp import SDP
from sdpdr.solving.diagnosis.coefficients import find_rounding, find_scales
from sdpdr.solving.diagnosis.components import find_components
from sdpdr.solving.diagnosis.conflict import find_conflicts
from sdpdr.solving.diagnosis.entrywise import find_entrywise
from sdpdr.solving.diagnosis.finding import Diagnosis, Finding, Kind, Severity
from sdpdr.solving.diagnosis.interior import find_no_interior
from sdpdr.solving.diagnosis.penalties import find_penalties
from sdpdr.solving.diagnosis.repeated import find_repeated
from sdpdr.solving.diagnosis.singular import find_nearly_singular
from sdpdr.solving.diagnosis.sources import view_of
from sdpdr.solving.diagnosis.unbounded import find_constant, find_unbounded
from sdpdr.solving.diagnosis.view import UndecidedError, View

if TYPE_CHECKING:
    import cvxpy as cp

Find = Callable[[View], Iterator[Finding]]
# What is read off the numbers of a program; and what solvers propose and proofs establish.
_READ: tuple[Find, ...] = (
    find_entrywise,
    find_repeated,
    find_components,
    find_rounding,
    find_nearly_singular,
    find_scales,
    find_constant,
)
_PROVED: tuple[tuple[str, Find], ...] = (
    ("conflicts", find_conflicts),
    ("unbounded directions", find_unbounded),
    ("penalties", find_penalties),
    ("missing interiors", find_no_interior),
)


@checks_keywords
def diagnose(
    program: Model | Block | SDP | cp.Problem | str | os.PathLike[str],
    *,
    seconds: float | None = 5.0,
    progress: Progress | bool | None = None,
) -> Diagnosis:
    """Find out why a program fails, or why answers to it are hard to trust.

    Ten kinds of findings (`sdpdr.solving.diagnosis.Kind`) name constraints and variables as the
    user did, and say what to write instead. Conflicts, unbounded directions and missing interiors
    are proved by the kernel that proves answers (`sdpdr.certify`).

    Parameters
    ----------
    program : Model, Block, SDP, cvxpy.Problem, or name of a file in SDPA's sparse format
        Solved or not.
    seconds : float, default 5
        For a solve and proofs; None for no limit. Reading the numbers of a program, and loading
        solvers, are not interrupted.
    progress : bool or callable, optional
        Show progress; by default on a terminal only.

    Returns
    -------
    Diagnosis
        The findings, the most severe first. `Diagnosis.undecided` says what was neither found
        nor excluded.

    Raises
    ------
    DataTypeError, DataError, NotAcceptedError, FileFormatError
        If it is no program, or none that has cones.
    ModelError
        If a number is out of the range that is computed with; the error says where.

    Examples
    --------
    >>> import sdpdr
    >>> K = sdpdr.psd("K", 3)
    >>> model = sdpdr.minimize(K[2, 2]) + [
    ...     (K.trace() <= 1.0).named("size"),
    ...     (K[0, 1] >= 0.75).named("close"),
    ...     (K[2, 2] >= 0.1).named("third"),
    ... ]
    >>> found = sdpdr.diagnose(model)
    >>> found[0].kind.value, found[0].constraints
    ('conflict', ('size', 'close'))
    >>> found[0].says.partition(":")[0]
    "No point satisfies 'size' and 'close' together"
    """
    if seconds is not None and not (isinstance(seconds, (int, float)) and seconds >= 0.0):
        raise DataError(f"seconds must be a number, zero or more, or None; it is {seconds!r}.")
    try:
        view = view_of(program, Deadline(seconds))
    except TooLargeError as why:
        return Diagnosis((), (str(why),))
    findings, undecided = list[Finding](), list[str]()
    steps = len(_READ) + len(_PROVED)
    # What overflows is looked at where it arrives, as in the kernel.
    with np.errstate(all="ignore"), show_count(progress, "diagnosing", steps) as count:
        for find in _READ:
            findings += find(view)
            count(1)
        for what, find in _PROVED:
            # Without an answer there is nothing to say of the others.
            if any(finding.severity is Severity.ERROR for finding in findings):
                break
            try:
                _require_time(view)
                findings += find(view)
            except UndecidedError as why:
                undecided.append(f"{what} ({why})")
            count(1)
    found = [_as_cause(finding, findings) for finding in findings]
    ordered = sorted(found, key=lambda finding: finding.place)
    return Diagnosis(tuple(ordered), tuple(undecided))


def _require_time(view: View) -> None:
    """Raise an `UndecidedError` when nothing is left of the time."""
    if view.deadline.is_over():
        raise UndecidedError(
            f"{in_seconds(view.deadline.seconds)} s were over; pass more `seconds`"
        )


def _as_cause(finding: Finding, findings: Sequence[Finding]) -> Finding:
    """A finding that explains why there is no answer, as severe as that; else the finding."""
    for other in findings:
        shares_rows = set(finding.constraints) & set(other.constraints)
        shares_names = set(finding.variables) & set(other.variables)
        is_cause = finding.kind is Kind.ENTRYWISE and other.kind is Kind.CONFLICT and shares_rows
        drifts = finding.data.get("is_centred") and other.kind is Kind.UNBOUNDED and shares_names
        if is_cause or drifts:
            return replace(finding, severity=Severity.ERROR)
    return finding
