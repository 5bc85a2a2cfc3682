"""Why a program fails, or may fail, in the names of whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sdpdr.base.deadline import Deadline
from sdpdr.solving.diagnosis.conflict import find_conflicts
from sdpdr.solving.diagnosis.finding import Diagnosis, Finding
from sdpdr.solving.diagnosis.sources import view_of
from sdpdr.solving.diagnosis.view import View

Find = Callable[[View], Iterator[Finding]]
# What is read off the numbers of a program, and what solvers are asked for.
_READ: tuple[Find, ...] = ()
_PROVED: tuple[Find, ...] = (find_conflicts,)


def diagnose(program: Any, *, seconds: float = 5.0) -> Diagnosis:
    """Find out why a program fails."""
    view = view_of(program, Deadline(seconds))
    findings = [finding for find in (*_READ, *_PROVED) for finding in find(view)]
    return Diagnosis(tuple(sorted(findings, key=lambda finding: finding.place)))
