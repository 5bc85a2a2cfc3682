"""The journal of results: a line of JSON a row, on the disk before anything else happens."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sdpdr.base.errors import ResultsError
from sdpdr.base.files import write_text

SUFFIX = ".jsonl"
# What a line can be, and which of its entries names it.
NAMED: Mapping[str, str] = {"row": "key", "fact": "name", "environment": "digest"}
_BEGIN = b'{"kind": '
Line = tuple[str, dict[str, Any]]


class Journal:
    """Lines that are only ever added to.

    Parameters
    ----------
    path : Path

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder, "a.jsonl"))
    ...     journal.append("row", {"key": "a", "solved": True})
    ...     journal.append("row", {"key": "a", "solved": False})
    ...     journal.last()
    {('row', 'a'): {'key': 'a', 'solved': False}}
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> Iterator[Line]:
        """Kind and content of every line."""
        if not self.path.exists():
            return
        for line in self.path.read_bytes().splitlines():
            # Half a line is a run that did not end: it is carried out again.
            with suppress(ValueError):
                content = json.loads(line)
                if _is_ours(content):
                    yield content.pop("kind"), content

    def last(self) -> dict[tuple[str, str], dict[str, Any]]:
        """What was said last of everything that has a name."""
        return {(kind, line[NAMED[kind]]): line for kind, line in self.lines()}

    def append(self, kind: str, content: Mapping[str, Any]) -> None:
        """Add a line, and return when it is on the disk.

        Raises
        ------
        ResultsError
            It cannot be written.
        """
        line = json.dumps({"kind": kind, **content})
        try:
            with open(self.path, "ab") as file:
                file.write(line.encode("ascii") + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ResultsError(
                f"results {self.path} cannot be written: {error.strerror}. "
                "Make room or give another place; then run the study again, and it goes on."
            ) from error

    def write(self, lines: Iterable[Line]) -> None:
        """Write all lines anew."""
        write_text(self.path, "".join(f"{json.dumps({'kind': k, **c})}\n" for k, c in lines))

    def check(self) -> None:
        """Refuse to write into somebody else's file.

        Raises
        ------
        ResultsError
        """
        if not self.path.exists():
            return
        with open(self.path, "rb") as file:
            first = file.readline()
        if not first.endswith(b"\n"):  # A kill may have left no more of the first line.
            ours = first.startswith(_BEGIN) or _BEGIN.startswith(first)
        else:
            try:
                ours = _is_ours(json.loads(first))
            except ValueError:
                ours = first.startswith(_BEGIN)
        if not ours:
            raise ResultsError(
                f"{self.path} is no journal of results, and lies where one belongs. Give results "
                "another name with --out, or move it away."
            )

    def mend(self) -> None:
        """Cut off half a line that a kill has left at the end."""
        if self.path.exists():
            whole = self.path.read_bytes().rpartition(b"\n")[0]
            size = len(whole) + 1 if whole else 0
            if size < self.path.stat().st_size:
                os.truncate(self.path, size)


def _is_ours(line: object) -> bool:
    return isinstance(line, dict) and NAMED.get(str(line.get("kind"))) in line
