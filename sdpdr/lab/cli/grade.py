"""A graded answer on the terminal, as JSON, and as an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from sdpdr.lab.cli.console import table
from sdpdr.lab.cli.options import Exit
from sdpdr.lab.library.expectation import Finding
from sdpdr.program import Status

_OF_STATUS = {
    Status.SOLVED: Exit.OK,
    Status.INFEASIBLE: Exit.NO_ANSWER,
    Status.UNBOUNDED: Exit.NO_ANSWER,
    Status.FAILED: Exit.NO_ANSWER,
    Status.INTERRUPTED: Exit.INTERRUPTED,
}


def of_status(status: Status) -> Exit:
    """The code of a graded answer."""
    return _OF_STATUS.get(status, Exit.UNCERTIFIED)


def comparison(findings: Sequence[Finding]) -> Table:
    """Expected beside found."""
    rows = [(f.key, f.expected, f.found, "yes" if f.holds else "NO") for f in findings]
    return table(("", "expected", "found", "holds"), rows)


def comparison_record(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The same for JSON."""
    return [asdict(finding) for finding in findings]
