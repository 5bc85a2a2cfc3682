"""What a diagnosis finds, one by one and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum, IntEnum
from io import StringIO
from typing import TYPE_CHECKING, Any

from sdpdr.base.packages import needs_packages

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group

# Columns of a table that is printed where there is no terminal.
_WIDTH = 100


class Severity(IntEnum):
    """How much a finding matters; the most severe comes first."""

    ERROR = 0
    """The program has no answer: it is infeasible or unbounded."""
    WARNING = 1
    """The program probably does not say what was meant, or answers to it are hard to trust."""
    NOTE = 2
    """The program can be written in a better way."""


class Kind(Enum):
    """Kinds of findings; causes come before their consequences."""

    ENTRYWISE = "entrywise comparison"
    DISAGREEMENT = "equations disagree by a rounding"
    DISCONNECTED = "disconnected components"
    CONFLICT = "conflict"
    UNBOUNDED = "unbounded direction"
    NO_INTERIOR = "no interior"
    ROUNDING = "coefficients that are rounding"
    SCALES = "scales differ"
    REPEATED = "repeated or implied constraints"
    PENALTY = "penalty exceeds all multipliers"


_ORDER = {kind: place for place, kind in enumerate(Kind)}


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or can be better, in a program.

    Attributes
    ----------
    kind : Kind
    severity : Severity
    constraints : tuple of str
        Labels of the constraints that it is about.
    variables : tuple of str
        Names of the variables.
    says : str
        What was found, in a sentence.
    instead : str
        What to write instead.
    is_proved : bool
        Whether it is a theorem about the numbers of the program, all rounding accounted for.
    data : mapping
        Numbers behind it: ``"multipliers"`` of a conflict or a face by label, ``"rows"`` of a
        constraint that take part, the ``"direction"`` of an unbounded program by variable.
    """

    kind: Kind
    severity: Severity
    constraints: tuple[str, ...]
    variables: tuple[str, ...]
    says: str
    instead: str
    is_proved: bool = False
    data: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands among others: by severity, and causes before consequences."""
        return int(self.severity), _ORDER[self.kind]

    def record(self) -> dict[str, Any]:
        """Return everything but the data, with plain words for kind and severity."""
        return {
            **{name: getattr(self, name) for name in _COLUMNS},
            "severity": self.severity.name.lower(),
            "kind": self.kind.value,
        }

    def __str__(self) -> str:
        return f"{self.severity.name.lower()}, {self.kind.value}: {self.says} {self.instead}"


_COLUMNS = [one.name for one in fields(Finding) if one.name != "data"]


@dataclass(frozen=True)
class Diagnosis:
    """The findings about a program; `sdpdr.diagnose` makes one.

    It is a sequence of findings, the most severe first, and prints as a table.

    Attributes
    ----------
    findings : tuple of Finding
    undecided : tuple of str
        What was neither found nor excluded, and why.
    """

    findings: tuple[Finding, ...]
    undecided: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, k: int) -> Finding:
        return self.findings[k]

    def of_kind(self, kind: Kind | str) -> tuple[Finding, ...]:
        """Return the findings of one kind.

        Parameters
        ----------
        kind : Kind or str
            A member, its name or its value.

        Examples
        --------
        >>> import sdpdr
        >>> x = sdpdr.scalar("x")
        >>> found = sdpdr.diagnose(sdpdr.minimize(x) + (x <= 1.0))
        >>> [finding.variables for finding in found.of_kind("unbounded direction")]
        [('x',)]
        """
        return tuple(f for f in self.findings if kind in (f.kind, f.kind.name, f.kind.value))

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each finding, with the columns of `Finding` but for its data.

        Examples
        --------
        >>> import sdpdr
        >>> x = sdpdr.scalar("x")
        >>> sdpdr.diagnose(sdpdr.minimize(x) + (x <= 1.0)).to_frame()["kind"].tolist()
        ['unbounded direction']
        """
        with needs_packages("a frame"):
            import pandas as pd

        return pd.DataFrame([finding.record() for finding in self.findings], columns=_COLUMNS)

    def record(self) -> dict[str, Any]:
        """Return the findings and what is not decided, ready for JSON."""
        return {
            "findings": [finding.record() for finding in self.findings],
            "undecided": list(self.undecided),
        }

    def __rich__(self) -> Group:
        """Return the table that a terminal shows, and what is not decided below it."""
        from rich import box
        from rich.console import Group
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for head in ("severity", "kind", "what was found, and what to write instead"):
            table.add_column(head, overflow="fold")
        for finding in self.findings:
            words = f"{finding.says} {finding.instead}"
            table.add_row(finding.severity.name.lower(), finding.kind.value, words)
        below = (f"Not decided: {words}." for words in self.undecided)
        return Group(table if self.findings else self._nothing, *below)

    @property
    def _nothing(self) -> str:
        return (
            "Nothing was found, but not all is decided." if self.undecided else "Nothing was found."
        )

    def _as_lines(self) -> str:
        """The findings one by one, where there is no rich, which makes tables."""
        lines = [f"{f.severity.name.lower()}: {f.says} {f.instead}" for f in self.findings]
        below = [f"Not decided: {words}." for words in self.undecided]
        return "\n".join([*(lines or [self._nothing]), *below])

    def __str__(self) -> str:
        try:
            from rich.console import Console
        except ModuleNotFoundError:
            return self._as_lines()
        sheet = StringIO()
        Console(file=sheet, width=_WIDTH, markup=False, highlight=False).print(self)
        return "\n".join(line.rstrip() for line in sheet.getvalue().splitlines())
