"""Results of a study: a journal of JSON lines that loses nothing, and exports of its records.

Every line of ``NAME.jsonl`` is on the disk before the next run begins. It holds a record of a run,
a fact about the study, or the description of a machine; the last line with a name replaces earlier
ones. One process at a time adds lines; any process may read them meanwhile.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pandas as pd

from sdpdr.base.errors import (
    FileFormatError,
    ResultsDamagedError,
    ResultsError,
    ResultsLockedError,
    require_packages,
)
from sdpdr.base.files import has_ending, write_file
from sdpdr.lab.study.schema import COLUMNS, OUTCOMES, converted, frame_of, with_types

SUFFIX = ".jsonl"
EXPORTS = (".parquet", ".csv")
# Facts about a study besides its records and their keys.
_FACTS = ("name", "title", "question", "command", "text", "started", "finished", "settings")
# Kinds of lines, and which entry of a line is its name.
_NAMED: Mapping[str, str] = {"row": "key", "fact": "name", "environment": "digest"}
_BEGINNING = b'{"kind": '
_Lines = dict[tuple[str, str], dict[str, Any]]


class Results:
    """The journal of a study, open for adding records."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = _checked(Path(path))
        if not self.path.parent.is_dir():
            raise FileFormatError(
                f"results {self.path}: there is no directory {self.path.parent}. Make it first."
            )
        _read_lines(self.path)
        with self._explained():
            # Without a buffer, so that nothing is left to be written when the file is closed.
            self._file: IO[bytes] = open(self.path, "ab", buffering=0)  # noqa: SIM115 - see close
        try:
            with self._explained():
                _lock(self._file)
                # Another process may have added lines between the two.
                self._lines = _read_lines(self.path)
                self._file.truncate(self.path.read_bytes().rfind(b"\n") + 1)
        except BlockingIOError:
            self.close()
            raise ResultsLockedError(
                f"results {self.path} are in use by another process: a study that is running. "
                "Wait for it, or end it; reports can be written meanwhile."
            ) from None
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the journal, so that other processes can add records."""
        self._file.close()

    def add(self, record: Mapping[str, Any]) -> None:
        """Keep a record; it replaces one of the same key."""
        self._append("row", converted(record))

    def add_environment(self, digest: str, content: Mapping[str, Any]) -> None:
        """Keep the description of a machine."""
        self._append("environment", {"digest": digest, "content": dict(content)})

    def set_fact(self, name: str, content: Any) -> None:
        """Keep a fact about the study, such as its title or the keys of its runs."""
        if self.fact(name, self) != content:
            self._append("fact", {"name": name, "content": content})

    def _append(self, kind: str, line: dict[str, Any]) -> None:
        """Add a line, whole or not at all, and return when it is on the disk."""
        text = f"{json.dumps({'kind': kind, **line})}\n".encode("ascii")
        before = os.fstat(self._file.fileno()).st_size
        try:
            with self._explained(len(text)):
                rest = text
                while rest:
                    rest = rest[self._file.write(rest) :]
                os.fsync(self._file.fileno())
        except ResultsError:
            with suppress(OSError):
                self._file.truncate(before)
            raise
        self._lines[kind, line[_NAMED[kind]]] = line

    def fact(self, name: str, default: Any = None) -> Any:
        """Return a fact about the study."""
        return self._lines.get(("fact", name), {"content": default})["content"]

    def environments(self) -> set[str]:
        """Return the digests of the machines that are described."""
        return {name for kind, name in self._lines if kind == "environment"}

    def settled(self) -> set[str]:
        """Return the keys of the runs that need not be repeated."""
        return {
            name
            for (kind, name), line in self._lines.items()
            if kind == "row" and line["outcome"] not in ("MISSING", "KILLED")
        }

    @contextmanager
    def _explained(self, size: int = 0) -> Iterator[None]:
        """Turn errors of the system into ours, with the file, the missing bytes and advice."""
        try:
            yield
        except BlockingIOError:
            raise
        except OSError as error:
            words = ""
            if size:
                free = shutil.disk_usage(self.path.parent).free
                words = f" ({size:,} bytes to add, {free:,} bytes free)"
            raise ResultsError(
                f"results {self.path} cannot be written: {error.strerror}{words}. What is in the "
                "file is kept: make room or give another place, then run the study again, and it "
                "goes on."
            ) from error


@dataclass(frozen=True, eq=False)
class LoadedResults:
    """The content of a file of results.

    Attributes
    ----------
    frame : DataFrame
        The records that the study requires, with the columns of `sdpdr.lab.study.schema.COLUMNS`.
    meta : mapping
        Facts about the study: title, question, settings, text, the number of ``runs`` that it
        requires, and others.
    environments : mapping
        Machines and versions, by the digest in the records.
    n_hidden : int, default 0
        Number of records of other settings that the journal holds besides.
    """

    frame: pd.DataFrame
    meta: Mapping[str, Any]
    environments: Mapping[str, Mapping[str, Any]]
    n_hidden: int = 0

    @property
    def n_missing(self) -> int:
        """Number of runs that the study requires and that have no record yet."""
        return int(self.meta.get("runs") or len(self.frame)) - len(self.frame)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the records as Parquet, with all that is known about the study, or as CSV.

        Raises
        ------
        FileFormatError
            The name ends otherwise.
        ResultsError
            The file cannot be written.
        PackageMissingError
        """
        path = Path(path)
        if not has_ending(path, *EXPORTS):
            raise FileFormatError(f"{path}: expected a file called *{' or *'.join(EXPORTS)}.")
        try:
            if has_ending(path, ".csv"):
                write_file(path, lambda beside: self.frame.to_csv(beside, index=False))
            else:
                write_file(path, self._write_parquet)
        except OSError as error:
            raise ResultsError(f"{path} cannot be written: {error.strerror}.") from error

    def _write_parquet(self, path: Path) -> None:
        require_packages("Parquet files", "study", "pyarrow")
        import pyarrow
        import pyarrow.parquet

        about = {"meta": dict(self.meta), "environments": dict(self.environments)}
        table = pyarrow.Table.from_pandas(self.frame, preserve_index=False)
        table = table.replace_schema_metadata({k: json.dumps(v) for k, v in about.items()})
        pyarrow.parquet.write_table(table, path, compression="zstd")


def read_results(path: str | os.PathLike[str]) -> LoadedResults:
    """Read results from a journal, also while the study runs, or from Parquet.

    Parameters
    ----------
    path : str or Path
        ``*.jsonl`` or ``*.parquet``.

    Raises
    ------
    FileFormatError
        There is no such file, its name ends otherwise, or it has other columns.
    ResultsDamagedError
        A line of the journal is damaged.
    ResultsError
        The file is not a journal of results.
    PackageMissingError
    """
    path = Path(path)
    if not has_ending(path, ".parquet"):
        _checked(path)
    if not path.is_file():
        raise FileFormatError(f"results {path}: there is no such file. Check its name.")
    return _from_journal(path) if has_ending(path, SUFFIX) else _from_parquet(path)


def find_results(name: str) -> Path:
    """Return the path of results, given it or the name of a study that was run in this folder."""
    path = Path(name)
    if path.suffix and not has_ending(path, ".toml"):
        return path
    found = Path(f"{path.stem}{SUFFIX}")
    if not found.is_file():
        raise FileFormatError(
            f"there are no results {found} here. Run the study first, `sdpdr study run {name}`, "
            "or name a file of results."
        )
    return found


def _checked(path: Path) -> Path:
    """The path of a journal."""
    if not has_ending(path, SUFFIX):
        raise FileFormatError(
            f"results {path}: expected a file called *{SUFFIX}. Write {path.with_suffix(SUFFIX)} "
            "instead; records can be read from *.parquet as well."
        )
    if path.exists() and not path.is_file():
        raise ResultsError(f"results {path}: this is not a file. Give another name with --out.")
    return path


def _read_lines(path: Path) -> _Lines:
    """Return the last line of each name; half a line at the end is left out."""
    whole, _, rest = (path.read_bytes() if path.exists() else b"").rpartition(b"\n")
    lines = whole.split(b"\n") if whole else []
    found: _Lines = {}
    for number, raw in enumerate(lines, start=1):
        line, wrong = _parsed(raw)
        if wrong and number == 1:
            raise _not_ours(path)
        if wrong:
            raise ResultsDamagedError(
                f"results {path}, line {number}: {wrong}. Delete this line and run the study "
                "again: it repeats only what is missing."
            )
        kind = line.pop("kind")
        found[kind, line[_NAMED[kind]]] = line
    # A kill may have left no more than a part of the first line.
    if not lines and not (rest.startswith(_BEGINNING) or _BEGINNING.startswith(rest)):
        raise _not_ours(path)
    return found


def _parsed(raw: bytes) -> tuple[dict[str, Any], str]:
    """Parse a line; also return what is wrong with it, an empty text if nothing is."""
    try:
        line = json.loads(raw)
        named = isinstance(line[_NAMED[line["kind"]]], str)
    except (ValueError, TypeError, KeyError):
        named = False
    if not named:
        return {}, "this is not a record of a study"
    if line["kind"] != "row":
        return line, "" if "content" in line else f"the {line['kind']} has no content"
    if line.get("outcome") not in OUTCOMES:
        return line, f"outcome is {line.get('outcome')!r}, which is none of a run"
    try:
        converted(line)
    except (ValueError, TypeError) as error:
        return line, f"a value does not fit its column ({error})"
    return line, ""


def _not_ours(path: Path) -> ResultsError:
    return ResultsError(
        f"{path} is not a journal of results. Give results another name with --out, or move the "
        "file away."
    )


def _lock(file: IO[bytes]) -> None:
    """Lock the file against other processes until it is closed, if the system can."""
    with suppress(ImportError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _from_journal(path: Path) -> LoadedResults:
    kept: dict[str, dict[str, Any]] = {kind: {} for kind in _NAMED}
    for (kind, name), line in _read_lines(path).items():
        kept[kind][name] = line if kind == "row" else line["content"]
    requested = kept["fact"].get("keys") or list(kept["row"])
    records = [kept["row"][key] for key in requested if key in kept["row"]]
    return LoadedResults(
        frame_of(converted(record) for record in records),
        {name: kept["fact"].get(name) for name in _FACTS} | {"runs": len(requested)},
        {name: content or {} for name, content in sorted(kept["environment"].items())},
        len(kept["row"]) - len(records),
    )


def _from_parquet(path: Path) -> LoadedResults:
    require_packages("Parquet files", "study", "pyarrow")
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise FileFormatError(f"{path} cannot be read as Parquet: {error}.") from error
    stored = table.schema.metadata or {}
    about: dict[str, Any] = {"meta": {"title": path.stem}, "environments": {}}
    about |= {name: json.loads(stored[name.encode()]) for name in about if name.encode() in stored}
    return LoadedResults(_of_columns(table.to_pandas(), path), about["meta"], about["environments"])


def _of_columns(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The columns of the schema, in its order and its types."""
    missing = [column.name for column in COLUMNS if column.name not in frame]
    if missing:
        raise FileFormatError(
            f"{path}: the columns {', '.join(missing)} are missing. Expected an export of a study."
        )
    return with_types(frame[[column.name for column in COLUMNS]].copy())
