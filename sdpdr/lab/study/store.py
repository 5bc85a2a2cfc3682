"""Results of a study: a journal that loses nothing, and a DuckDB file that is made of it.

A row goes to the journal, one line of JSON that is on the disk before anything else happens; all
that is asked of results is answered from there. Whenever they are closed, the DuckDB file is
written anew for those who like SQL; it also stands for the journal where that was lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sdpdr.base.errors import (
    FileFormatError,
    ResultsDamagedError,
    ResultsError,
    ResultsLockedError,
    require_packages,
)
from sdpdr.base.files import write_file
from sdpdr.lab.study import journal
from sdpdr.lab.study.journal import ResultsJournal
from sdpdr.lab.study.rows import frame_of
from sdpdr.lab.study.schema import COLUMNS, fitted

if TYPE_CHECKING:
    import pandas as pd

SUFFIX = ".duckdb"
EXPORTS = (".parquet", ".csv")
# What is kept of a study besides its rows.
FACTS = ("name", "title", "question", "command", "text", "settings", "started", "finished")
# How DuckDB says, on several systems, that another process has a file open.
_LOCKED = ("Could not set lock", "used by another process", "different configuration")
_LISTED = ", ".join(f'"{column.name}" {column.kind}' for column in COLUMNS)
# Where what is no row lies in the database.
_TABLES = {"fact": "facts", "environment": "environments"}
_Kept = dict[tuple[str, str], dict[str, Any]]


class Results:
    """The rows of a study, which one process at a time may add to, and any may read.

    Parameters
    ----------
    path : str or Path
        Ends in ``.duckdb``; the journal lies beside it. Files that do not exist are made, unless
        they are only read.
    read_only : bool, default False

    Raises
    ------
    ResultsLockedError
        Another process adds rows.
    ResultsDamagedError
        It is not a database, or damaged. The file stays as it is.
    ResultsError
        It is somebody else's database, or cannot be written.
    FileFormatError
        There is no such file, or its name ends otherwise.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Results(Path(folder.name, "small.duckdb")) as results:
    ...     results.add({"key": "a1", "problem": "path-graph", "solver": "scs", "solved": True})
    ...     frame = results.frame()
    >>> frame[["problem", "solved"]].values.tolist()
    [['path-graph', True]]
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.journal = ResultsJournal(self.path.with_suffix(journal.SUFFIX))
        if self.path.suffix != SUFFIX:
            raise FileFormatError(f"results {self.path}: expected a file called *{SUFFIX}.")
        is_there = self.path.is_file()
        if read_only and not is_there and not self.journal.path.is_file():
            raise FileFormatError(f"results {self.path}: there is no such file. Run the study.")
        if self.path.exists() and not is_there:
            raise ResultsError(f"results {self.path}: that is no file. Give another name.")
        if not self.path.parent.is_dir():
            raise FileFormatError(f"results {self.path}: there is no directory for it. Make it.")
        self._is_behind = not read_only and not is_there
        if read_only:
            self._kept = self.journal.last()
            if is_there:
                self._kept = _tables(self.path, self.journal.path) | self._kept
            return
        self.journal.check()
        # Also where nothing is missing from the journal: what is not ours is not written over.
        tables = _tables(self.path, self.journal.path) if is_there else {}
        self.journal.open()
        self._kept = self.journal.last()
        lost = {key: line for key, line in tables.items() if key not in self._kept}
        if lost:
            self._keep(lost)

    def __enter__(self) -> Results:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write the database, if there is anything new, and let others add rows."""
        try:
            if self._is_behind:
                # Where a signal meets DuckDB in the main thread, it raises an error in its place.
                with ThreadPoolExecutor(1) as hand:
                    _written(self.path, lambda beside: hand.submit(self._store, beside).result())
            self._is_behind = False
        finally:
            self.journal.close()

    # -- writing --------------------------------------------------------------------------------

    def add(self, row: Mapping[str, Any]) -> None:
        """Keep a row; one of the same key is replaced."""
        row = fitted(row)
        self._keep({("row", row["key"]): row})

    def add_environment(self, digest: str, content: Mapping[str, Any]) -> None:
        """Keep the description of an environment."""
        self._keep({("environment", digest): {"digest": digest, "content": dict(content)}})

    def state(self, name: str, content: Any) -> None:
        """Keep a fact about the study, such as its title or the keys of its runs."""
        self._keep({("fact", name): {"name": name, "content": content}})

    def _keep(self, more: _Kept) -> None:
        self.journal.append((kind, line) for (kind, _), line in more.items())
        self._kept |= more
        self._is_behind = True

    def _store(self, beside: Path) -> None:
        """Write all that is kept as a database."""
        with imported().connect(str(beside)) as connection:
            connection.register("kept", frame_of(self._all("row").values()))
            connection.execute(f"CREATE TABLE runs ({_LISTED}, PRIMARY KEY (key))")
            connection.execute("INSERT INTO runs SELECT * FROM kept")
            for kind, table in _TABLES.items():
                name = journal.NAMED[kind]
                connection.execute(
                    f"CREATE TABLE {table} ({name} VARCHAR PRIMARY KEY, content VARCHAR)"
                )
                for key, line in self._all(kind).items():
                    values = [key, json.dumps(line["content"])]
                    connection.execute(f"INSERT INTO {table} VALUES (?, ?)", values)

    # -- reading --------------------------------------------------------------------------------

    def keys(self) -> set[str]:
        """Of all runs that are kept."""
        return set(self._all("row"))

    def settled(self) -> set[str]:
        """Of those that need not be begun again.

        A run whose solver was missing, or that was ended from outside each time, says nothing about
        the solver, and may do better next time.
        """
        ended = self._all("row").items()
        return {key for key, row in ended if row.get("outcome") not in ("MISSING", "KILLED")}

    def fact(self, name: str, default: Any = None) -> Any:
        """A fact about the study."""
        return self._kept.get(("fact", name), {"content": default})["content"]

    def meta(self) -> dict[str, Any]:
        """What is known of the study: `FACTS` by name."""
        return {name: self.fact(name) for name in FACTS}

    def environments(self) -> dict[str, dict[str, Any]]:
        """Descriptions of the environments, by their digests."""
        found = self._all("environment")
        return {digest: found[digest]["content"] for digest in sorted(found)}

    def frame(self) -> pd.DataFrame:
        """The rows that the study asks for now, in an order that never changes.

        Rows of earlier settings stay in the file, and are left out here.
        """
        asked = self.fact("keys")
        rows = self._all("row")
        return frame_of(rows.values() if asked is None else [rows[k] for k in asked if k in rows])

    def _all(self, kind: str) -> dict[str, dict[str, Any]]:
        """All lines of a kind, by their names."""
        return {name: line for (k, name), line in self._kept.items() if k == kind}

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as Parquet, with all that is known of the study, or as CSV.

        Raises
        ------
        FileFormatError
            The name ends otherwise.
        ResultsError
            It cannot be written.
        """
        path = Path(path)
        if path.suffix not in EXPORTS:
            raise FileFormatError(f"{path}: expected a file called *{' or *'.join(EXPORTS)}.")
        how = "FORMAT CSV, HEADER"
        if path.suffix == ".parquet":
            about = {"meta": self.meta(), "environments": self.environments()}
            known = ", ".join(f"{k}: {quoted(json.dumps(v))}" for k, v in about.items())
            how = f"FORMAT PARQUET, COMPRESSION ZSTD, KV_METADATA {{{known}}}"
        with imported().connect() as connection:
            connection.register("exported", self.frame())
            _written(path, lambda p: connection.execute(f"COPY exported TO {quoted(p)} ({how})"))


def quoted(text: object) -> str:
    """A text as SQL writes it."""
    return "'" + str(text).replace("'", "''") + "'"


def _tables(path: Path, journal_path: Path) -> _Kept:
    """What a database holds, as the lines of a journal."""
    duckdb = imported()
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            names = [row[0] for row in connection.execute("DESCRIBE runs").fetchall()]
            if names != [column.name for column in COLUMNS]:
                raise ResultsError(
                    f"results {path}: its table 'runs' has other columns than this version of "
                    "sdpdr writes. Give another file with --out; or, if another version wrote it, "
                    f"move it away and keep {journal_path.name}, from which it is rebuilt."
                )
            kept = {
                (kind, name): {journal.NAMED[kind]: name, "content": json.loads(content)}
                for kind, table in _TABLES.items()
                for name, content in connection.execute(f"SELECT * FROM {table}").fetchall()
            }
            rows = connection.execute("SELECT * FROM runs").fetchall()
    except duckdb.CatalogException as error:
        raise ResultsError(f"results {path} are not ours: {in_short(error)}") from error
    except duckdb.Error as error:
        if any(words in str(error) for words in _LOCKED):
            raise ResultsLockedError(
                f"results {path} are in use by another process, such as a database shell. End it."
            ) from error
        raise _damaged(path, journal_path, error) from error
    return kept | {("row", row[0]): dict(zip(names, row, strict=True)) for row in rows}


def _damaged(path: Path, journal: Path, error: Exception) -> ResultsError:
    remedy = "there is no journal beside it to rebuild it from."
    if journal.is_file():
        remedy = (
            f"its rows are in {journal.name} as well: move {path.name} away and run the study "
            "again, which rebuilds it from there and goes on."
        )
    return ResultsDamagedError(
        f"results {path} cannot be read as a database ({in_short(error)}); the file was left as "
        f"it is, and {remedy}"
    )


def _written(path: Path, write: Callable[[Path], object]) -> None:
    """Have DuckDB write a file, whole or not at all; what it says is told in our words."""
    duckdb = imported()
    try:
        write_file(path, write)
    except duckdb.Error as error:
        raise ResultsError(f"results {path} cannot be written: {in_short(error)}") from error


def in_short(error: Exception) -> str:
    """What DuckDB says, on one line."""
    return " ".join(str(error).split())[:200]


def imported() -> Any:
    """DuckDB; what is missing is told in our words."""
    require_packages("studies", "study", "duckdb")
    import duckdb

    return duckdb
