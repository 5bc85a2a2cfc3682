"""Results of a study: one DuckDB file, and beside it a journal that loses nothing.

A row goes to the journal first, one line of JSON that is on the disk before anything else happens,
then to the table. Whatever ends the process between the two, the next one to open the results
brings the table up to the journal; and if the table is ever damaged, the journal rebuilds it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sdpdr.base.errors import (
    FileFormatError,
    PackageMissingError,
    ResultsDamagedError,
    ResultsError,
    ResultsLockedError,
)
from sdpdr.base.files import write_file
from sdpdr.lab.study import journal
from sdpdr.lab.study.journal import Journal
from sdpdr.lab.study.rows import ORDER, asked, typed
from sdpdr.lab.study.schema import COLUMNS, fitted

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

SUFFIX = ".duckdb"
EXPORTS = (".parquet", ".csv")
# What is kept of a study besides its rows.
FACTS = ("name", "title", "question", "command", "text", "settings", "started", "finished")
# How DuckDB says, on several systems, that another process has a file open.
_LOCKED = ("Could not set lock", "used by another process", "different configuration")
_LISTED = ", ".join(f'"{column.name}" {column.kind}' for column in COLUMNS)
_TABLES = (
    f"CREATE TABLE IF NOT EXISTS runs ({_LISTED}, PRIMARY KEY (key))",
    "CREATE TABLE IF NOT EXISTS facts (name VARCHAR PRIMARY KEY, content VARCHAR)",
    "CREATE TABLE IF NOT EXISTS environments (digest VARCHAR PRIMARY KEY, content VARCHAR)",
)


class Results:
    """The rows of a study, in a file that one process at a time may have open.

    Parameters
    ----------
    path : str or Path
        Ends in ``.duckdb``. A file that does not exist is made, unless it is only read.
    read_only : bool, default False

    Raises
    ------
    ResultsLockedError
        Another process has it open.
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
        self.journal = Journal(self.path.with_suffix(journal.SUFFIX))
        if self.path.suffix != SUFFIX:
            raise FileFormatError(f"results {self.path}: expected a file called *{SUFFIX}.")
        if read_only and not self.path.is_file():
            raise FileFormatError(f"results {self.path}: there is no such file. Run the study.")
        if not self.path.parent.is_dir():
            raise FileFormatError(f"results {self.path}: there is no directory for it. Make it.")
        if not read_only:
            self.journal.check()
        self._connection = _connected(self.path, self.journal.path, read_only)
        # Where a signal meets DuckDB in the main thread, it raises an error in the signal's place.
        self._hand = ThreadPoolExecutor(1)
        with self._guarded():
            if not read_only:
                for statement in _TABLES:
                    self._connection.execute(statement)
            self._check_columns()
            if not read_only:
                self._catch_up()

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
        """Let others have the file."""
        self._hand.shutdown()
        self._connection.close()

    # -- writing --------------------------------------------------------------------------------

    def add(self, row: Mapping[str, Any]) -> None:
        """Keep a row; one of the same key is replaced."""
        self._write("row", fitted(row))

    def add_environment(self, digest: str, content: Mapping[str, Any]) -> None:
        """Keep the description of an environment."""
        self._write("environment", {"digest": digest, "content": dict(content)})

    def state(self, name: str, content: Any) -> None:
        """Keep a fact about the study, such as its title or the keys of its runs."""
        self._write("fact", {"name": name, "content": content})

    def _write(self, kind: str, content: dict[str, Any]) -> None:
        self.journal.append(kind, content)
        with self._guarded():
            self._hand.submit(self._insert, kind, content).result()

    def _insert(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "row":
            marks = ", ".join("?" for _ in COLUMNS)
            values = list(fitted(content).values())
            self._connection.execute(f"INSERT OR REPLACE INTO runs VALUES ({marks})", values)
            return
        table, name = ("facts", "name") if kind == "fact" else ("environments", "digest")
        values = [content[name], json.dumps(content["content"])]
        self._connection.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", values)

    def _catch_up(self) -> None:
        """Bring the tables up to the journal: to all of it, should they be new."""
        self.journal.mend()
        found = self._connection.execute("SELECT key, wall FROM runs").fetchall()
        kept = {("row", key): wall for key, wall in found}
        last = self.journal.last()
        missing = [
            (kind, line)
            for (kind, name), line in last.items()
            # A run that was carried out again took another time.
            if kind != "row" or kept.get((kind, name), -1.0) != line.get("wall")
        ]
        if missing:
            self._connection.execute("BEGIN")
            for kind, line in missing:
                self._insert(kind, line)
            self._connection.execute("COMMIT")
        if not last:
            self._begin_journal()

    def _begin_journal(self) -> None:
        """Write the tables into a journal that was lost."""
        names = [column.name for column in COLUMNS]
        facts, environments = self._all("facts"), self._all("environments")
        lines = [
            *(("fact", {"name": n, "content": json.loads(c)}) for n, c in facts),
            *(("environment", {"digest": n, "content": json.loads(c)}) for n, c in environments),
            *(("row", dict(zip(names, row, strict=True))) for row in self._all("runs")),
        ]
        if lines:
            self.journal.write(lines)

    def _all(self, table: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(f"SELECT * FROM {table}").fetchall()

    # -- reading --------------------------------------------------------------------------------

    def keys(self) -> set[str]:
        """Of all runs that are kept."""
        return self._keys("true")

    def settled(self) -> set[str]:
        """Of those that need not be begun again.

        A run whose solver was missing, or that was ended from outside each time, says nothing about
        the solver, and may do better next time.
        """
        return self._keys("outcome NOT IN ('MISSING', 'KILLED')")

    def _keys(self, condition: str) -> set[str]:
        with self._guarded():
            found = self._connection.execute(f"SELECT key FROM runs WHERE {condition}").fetchall()
        return {row[0] for row in found}

    def fact(self, name: str, default: Any = None) -> Any:
        """A fact about the study."""
        with self._guarded():
            found = self._connection.execute(
                "SELECT content FROM facts WHERE name = ?", [name]
            ).fetchall()
        return json.loads(found[0][0]) if found else default

    def meta(self) -> dict[str, Any]:
        """What is known of the study: `FACTS` by name."""
        return {name: self.fact(name) for name in FACTS}

    def environments(self) -> dict[str, dict[str, Any]]:
        """Descriptions of the environments, by their digests."""
        with self._guarded():
            found = self._connection.execute("SELECT digest, content FROM environments").fetchall()
        return {digest: json.loads(content) for digest, content in sorted(found)}

    def frame(self) -> pd.DataFrame:
        """The rows that the study asks for now, in an order that never changes.

        Rows of earlier settings stay in the file, and are left out here.
        """
        with self._guarded():
            frame = self._connection.execute(f"SELECT * FROM runs ORDER BY {', '.join(ORDER)}").df()
        return typed(asked(frame, self.fact("keys")))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as Parquet, with all that is known of the study, or as CSV.

        Raises
        ------
        FileFormatError
            The name ends otherwise.
        """
        path = Path(path)
        if path.suffix not in EXPORTS:
            raise FileFormatError(f"{path}: expected a file called *{' or *'.join(EXPORTS)}.")
        how = "FORMAT CSV, HEADER"
        if path.suffix == ".parquet":
            about = {"meta": self.meta(), "environments": self.environments()}
            known = ", ".join(f"{k}: {quoted(json.dumps(v))}" for k, v in about.items())
            how = f"FORMAT PARQUET, COMPRESSION ZSTD, KV_METADATA {{{known}}}"
        self._connection.register("exported", self.frame())

        def write(beside: Path) -> None:
            self._connection.execute(f"COPY exported TO {quoted(beside)} ({how})")

        with self._guarded():
            write_file(path, write)
        self._connection.unregister("exported")

    # -- trouble --------------------------------------------------------------------------------

    def _check_columns(self) -> None:
        found = [row[0] for row in self._connection.execute("DESCRIBE runs").fetchall()]
        if found != [column.name for column in COLUMNS]:
            raise ResultsError(
                f"results {self.path}: its table 'runs' has other columns than this version of "
                "sdpdr writes. Give another file with --out; or, if another version wrote it, move "
                f"it away and keep {self.journal.path.name}, from which it is rebuilt."
            )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """What DuckDB says, in our words."""
        import duckdb

        try:
            yield
        except (
            duckdb.IOException,
            duckdb.FatalException,
            duckdb.InternalException,
            duckdb.SerializationException,
        ) as error:
            raise _damaged(self.path, self.journal.path, error) from error
        except duckdb.Error as error:
            raise ResultsError(f"results {self.path}: {' '.join(str(error).split())}") from error


def quoted(text: object) -> str:
    """A text as SQL writes it."""
    return "'" + str(text).replace("'", "''") + "'"


def _connected(path: Path, journal: Path, read_only: bool) -> duckdb.DuckDBPyConnection:
    duckdb = imported()
    try:
        return duckdb.connect(str(path), read_only=read_only)
    except duckdb.Error as error:
        if any(words in str(error) for words in _LOCKED):
            raise ResultsLockedError(
                f"results {path} are in use by another process: a study that is running, or a "
                f"database shell. Wait for it, or end it. Meanwhile {journal.name} can be read."
            ) from error
        raise _damaged(path, journal, error) from error


def _damaged(path: Path, journal: Path, error: Exception) -> ResultsError:
    words = " ".join(str(error).split())[:200]
    remedy = "there is no journal beside it to rebuild it from."
    if journal.is_file():
        remedy = (
            f"its rows are in {journal.name} as well: move {path.name} away and run the study "
            "again, which rebuilds it from there and goes on."
        )
    return ResultsDamagedError(
        f"results {path} cannot be read as a database ({words}); the file was left as it is, and "
        f"{remedy}"
    )


def imported() -> Any:
    """DuckDB; what is missing is told in our words."""
    try:
        import duckdb
        import pandas  # noqa: F401 - DuckDB hands over frames of it
    except ImportError as error:
        raise PackageMissingError(
            f'studies need the package {error.name!r}: pip install "sdpdr[study]"'
        ) from error
    return duckdb
