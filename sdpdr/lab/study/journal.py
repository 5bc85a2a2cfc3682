"""The journal of results, which is the truth: a line of JSON a row, on the disk when it is told."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from sdpdr.base.errors import ResultsError, ResultsLockedError

SUFFIX = ".jsonl"
# What a line can be, and which of its entries names it.
NAMED: Mapping[str, str] = {"row": "key", "fact": "name", "environment": "digest"}
_BEGIN = b'{"kind": '
Line = tuple[str, dict[str, Any]]


class ResultsJournal:
    """Lines that are only ever added to, by one process at a time.

    Parameters
    ----------
    path : Path

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = ResultsJournal(Path(folder, "a.jsonl"))
    ...     journal.open()
    ...     journal.append([("row", {"key": "a", "solved": True})])
    ...     journal.append([("row", {"key": "a", "solved": False})])
    ...     journal.close()
    ...     journal.last()
    {('row', 'a'): {'key': 'a', 'solved': False}}
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None

    def last(self) -> dict[tuple[str, str], dict[str, Any]]:
        """What was said last of everything that has a name."""
        found = {}
        for line in self.path.read_bytes().splitlines() if self.path.exists() else ():
            # Half a line is a run that did not end: it is carried out again.
            with suppress(ValueError):
                content = json.loads(line)
                if _is_ours(content):
                    kind = content.pop("kind")
                    found[kind, content[NAMED[kind]]] = content
        return found

    def open(self) -> None:
        """Be the one that adds lines; half a line that a kill has left at the end is cut off.

        Raises
        ------
        ResultsLockedError
            Another process adds lines.
        ResultsError
            It is somebody else's file, or cannot be written.
        """
        self.check()
        with self._told():
            self._file = open(self.path, "ab")  # noqa: SIM115 - until it is closed
            try:
                _lock(self._file)
            except BlockingIOError:
                self.close()
                raise ResultsLockedError(
                    f"results {self.path} are in use by another process: a study that is running. "
                    "Wait for it, or end it; reports can be written meanwhile."
                ) from None
            whole = self.path.read_bytes().rpartition(b"\n")[0]
            self._file.truncate(len(whole) + 1 if whole else 0)

    def append(self, lines: Iterable[Line]) -> None:
        """Add lines, and return when they are on the disk.

        Raises
        ------
        ResultsError
            They cannot be written.
        """
        assert self._file is not None
        text = "".join(f"{json.dumps({'kind': kind, **content})}\n" for kind, content in lines)
        with self._told():
            self._file.write(text.encode("ascii"))
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let others add lines."""
        if self._file is not None:
            self._file.close()
        self._file = None

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What the system says, in our words."""
        try:
            yield
        except OSError as error:
            raise ResultsError(
                f"results {self.path} cannot be written: {error.strerror}. "
                "Make room or give another place; then run the study again, and it goes on."
            ) from error

    def check(self) -> None:
        """Refuse to write into somebody else's file.

        Raises
        ------
        ResultsError
        """
        if not self.path.exists():
            return
        with self._told(), open(self.path, "rb") as file:
            first = file.readline()
        try:
            ours = _is_ours(json.loads(first))
        except ValueError:  # A kill may have left no more of the first line.
            ours = first.startswith(_BEGIN) or _BEGIN.startswith(first)
        if not ours:
            raise ResultsError(
                f"{self.path} is no journal of results, and lies where one belongs. Give results "
                "another name with --out, or move it away."
            )


def _lock(file: IO[bytes]) -> None:
    """Keep others from locking a file until it is closed, where the system can do that."""
    with suppress(ImportError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_ours(line: object) -> bool:
    return isinstance(line, dict) and NAMED.get(str(line.get("kind"))) in line
