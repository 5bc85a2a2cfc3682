"""Results of a study: one DuckDB file, and beside it a journal that loses nothing.

A row goes to the journal first, one line of JSON that is on the disk before anything else happens,
then to the table. Whatever ends the process between the two, the next one to open the results
brings the table up to the journal; and if the table is ever damaged, the journal rebuilds it.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sdpdr.errors import (
    FileFormatError,
    PackageMissingError,
    ResultsDamagedError,
    ResultsError,
    ResultsLockedError,
)
from sdpdr.files import write_file
from sdpdr.study.schema import COLUMNS, fitted

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

SUFFIX, JOURNAL = ".duckdb", ".jsonl"
EXPORTS = (".parquet", ".csv")
READABLE = (SUFFIX, JOURNAL, *EXPORTS)
# What tells apart the rows of one study, in the order in which they are shown.
ORDER = ("problem", "variant", "solver", "form", "tol", "seed", "repeat")
# What is kept of a study besides its rows.
FACTS = ("name", "title", "question", "command", "text", "settings", "started", "finished")
# What a line of the journal is, and which of its entries names it.
_NAMED = {"row": "key", "fact": "name", "environment": "digest"}
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
        self.journal = self.path.with_suffix(JOURNAL)
        if self.path.suffix != SUFFIX:
            raise FileFormatError(f"results {self.path}: expected a file called *{SUFFIX}.")
        if read_only and not self.path.is_file():
            raise FileFormatError(f"results {self.path}: there is no such file. Run the study.")
        if not self.path.parent.is_dir():
            raise FileFormatError(f"results {self.path}: there is no directory for it. Make it.")
        if not read_only:
            _check_journal(self.path, self.journal)
        self._connection = _connected(self.path, self.journal, read_only)
        # Where a signal meets DuckDB in the main thread, it raises an error in the signal's place.
        self._hand = ThreadPoolExecutor(1)
        if not read_only:
            with self._guarded():
                for statement in _TABLES:
                    self._connection.execute(statement)
                self._check_columns()
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
        line = json.dumps({"kind": kind, **content})
        try:
            with open(self.journal, "ab") as file:
                file.write(line.encode("ascii") + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ResultsError(
                f"results {self.journal} cannot be written: {error.strerror}. "
                "Make room or give another place; then run the study again, and it goes on."
            ) from error
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
        _end_last_line(self.journal)
        found = self._connection.execute("SELECT key, wall FROM runs").fetchall()
        kept = {("row", key): wall for key, wall in found}
        last = {(kind, line[_NAMED[kind]]): line for kind, line in _lines(self.journal)}
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
        lines = [
            {"kind": kind, **line}
            for kind, line in (
                *(("fact", {"name": n, "content": json.loads(c)}) for n, c in self._all("facts")),
                *(
                    ("environment", {"digest": n, "content": json.loads(c)})
                    for n, c in self._all("environments")
                ),
                *(
                    ("row", dict(zip([c.name for c in COLUMNS], row, strict=True)))
                    for row in self._all("runs")
                ),
            )
        ]
        if lines:
            text = "".join(f"{json.dumps(line)}\n" for line in lines)
            write_file(self.journal, lambda beside: beside.write_text(text, encoding="ascii"))

    def _all(self, table: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(f"SELECT * FROM {table}").fetchall()

    # -- reading --------------------------------------------------------------------------------

    def keys(self) -> set[str]:
        """Of all runs that are kept."""
        return self._names("runs", "key")

    def _names(self, table: str, column: str) -> set[str]:
        return {
            row[0] for row in self._connection.execute(f"SELECT {column} FROM {table}").fetchall()
        }

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
            frame = self._connection.execute(
                f"SELECT * FROM runs ORDER BY {', '.join(ORDER)}, key"
            ).df()
        return _typed(_asked(frame, self.fact("keys")))

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
            known = ", ".join(f"{k}: {_quoted(json.dumps(v))}" for k, v in about.items())
            how = f"FORMAT PARQUET, COMPRESSION ZSTD, KV_METADATA {{{known}}}"
        self._connection.register("exported", self.frame())

        def write(beside: Path) -> None:
            self._connection.execute(f"COPY exported TO {_quoted(beside)} ({how})")

        with self._guarded():
            write_file(path, write)
        self._connection.unregister("exported")

    # -- trouble --------------------------------------------------------------------------------

    def _check_columns(self) -> None:
        found = [row[0] for row in self._connection.execute("DESCRIBE runs").fetchall()]
        if found != [column.name for column in COLUMNS]:
            raise ResultsError(
                f"results {self.path}: its table 'runs' has other columns than this version of "
                "sdpdr writes. Give another file with --out."
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
            raise _damaged(self.path, self.journal, error) from error
        except duckdb.Error as error:
            raise ResultsError(f"results {self.path}: {' '.join(str(error).split())}") from error


@dataclass(frozen=True, eq=False)
class Read:
    """All that results hold.

    Attributes
    ----------
    frame : DataFrame
        The rows, with the columns of `sdpdr.study.schema.COLUMNS`.
    meta : dict
        What `FACTS` names; less of it for rows from CSV.
    environments : dict
        Machines and versions, by the digest in the rows.
    """

    frame: pd.DataFrame
    meta: dict[str, Any]
    environments: dict[str, dict[str, Any]]


def read_results(path: str | os.PathLike[str]) -> Read:
    """Results from DuckDB's file, from its journal, or from rows exported as Parquet or CSV.

    The journal can be read while the study runs.

    Raises
    ------
    FileFormatError
        There is no such file, its name ends otherwise, or its columns are others.
    ResultsLockedError, ResultsDamagedError
    """
    path = Path(path)
    if path.suffix == SUFFIX:
        with Results(path, read_only=True) as results:
            return Read(results.frame(), results.meta(), results.environments())
    if path.suffix not in READABLE:
        raise FileFormatError(f"{path}: expected results, a file called *{', *'.join(READABLE)}.")
    if not path.is_file():
        raise FileFormatError(f"{path}: there is no such file. Check its name.")
    return _journalled(path) if path.suffix == JOURNAL else _exported(path)


def _journalled(path: Path) -> Read:
    import pandas as pd

    kept: dict[str, dict[str, dict[str, Any]]] = {kind: {} for kind in _NAMED}
    for kind, line in _lines(path):
        kept[kind][line[_NAMED[kind]]] = line
    facts, environments = (
        {name: line["content"] for name, line in kept[kind].items()}
        for kind in ("fact", "environment")
    )
    frame = pd.DataFrame(
        list(kept["row"].values()), columns=[c.name for c in COLUMNS], dtype=object
    )
    frame = _asked(frame.sort_values([*ORDER, "key"]), facts.get("keys"))
    return Read(_typed(frame), {name: facts.get(name) for name in FACTS}, environments)


def _exported(path: Path) -> Read:
    types = {column.name: column.kind for column in COLUMNS}
    # DuckDB takes a path for a pattern.
    place = _quoted(glob.escape(str(path)))
    read = f"read_csv({place}, types = {types})"
    about: dict[str, Any] = {"meta": {"name": path.stem, "title": path.stem}, "environments": {}}
    duckdb = _imported()
    try:
        with duckdb.connect() as connection:
            if path.suffix == ".parquet":
                read = f"read_parquet({place})"
                told = f"SELECT key, value FROM parquet_kv_metadata({place})"
                kept = {bytes(k).decode(): bytes(v) for k, v in connection.execute(told).fetchall()}
                about |= {name: json.loads(kept[name]) for name in about if name in kept}
            frame = connection.execute(f"SELECT * FROM {read}").df()
    except duckdb.Error as error:
        words = " ".join(str(error).split())[:200]
        raise FileFormatError(f"{path} cannot be read as rows of a study ({words}).") from error
    missing = [column.name for column in COLUMNS if column.name not in frame]
    if missing:
        raise FileFormatError(f"{path}: it lacks the columns {', '.join(missing)}.")
    return Read(_typed(frame), about["meta"], about["environments"])


def _quoted(text: object) -> str:
    """A text as SQL writes it."""
    return "'" + str(text).replace("'", "''") + "'"


def _asked(frame: pd.DataFrame, keys: list[str] | None) -> pd.DataFrame:
    """The rows that a study asks for; all where it does not say."""
    if keys is not None:
        frame = frame[frame["key"].isin(set(keys))]
    return frame.reset_index(drop=True)


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns in the types that `sdpdr.study.schema` promises."""
    kinds = {"VARCHAR": "object", "DOUBLE": "float64", "BIGINT": "Int64", "BOOLEAN": "bool"}
    for column in COLUMNS:
        values = frame[column.name]
        if column.kind == "VARCHAR":
            values = values.astype(object).where(values.notna(), "")
        elif column.kind == "BOOLEAN":
            values = values.astype("boolean").fillna(False)
        frame[column.name] = values.astype(kinds[column.kind])
    return frame


def _connected(path: Path, journal: Path, read_only: bool) -> duckdb.DuckDBPyConnection:
    duckdb = _imported()
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


def _end_last_line(journal: Path) -> None:
    """A kill may have left half a line; what comes next must not be glued to it."""
    if journal.exists() and journal.read_bytes()[-1:] not in (b"", b"\n"):
        with open(journal, "ab") as file:
            file.write(b"\n")


def _is_ours(line: object) -> bool:
    return isinstance(line, dict) and _NAMED.get(str(line.get("kind"))) in line


def _check_journal(path: Path, journal: Path) -> None:
    """Refuse to write into somebody else's file."""
    if journal.exists() and journal.stat().st_size and next(_lines(journal), None) is None:
        raise ResultsError(
            f"results {path}: {journal.name} beside it is no journal of results. Give another "
            "name with --out, or move it away."
        )


def _lines(journal: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Kind and content of the lines of a journal."""
    if not journal.exists():
        return
    for line in journal.read_bytes().splitlines():
        # Half a line is a run that did not end: it is carried out again.
        with suppress(ValueError):
            content = json.loads(line)
            if _is_ours(content):
                yield content.pop("kind"), content


def _imported() -> Any:
    try:
        import duckdb
        import pandas  # noqa: F401 - DuckDB hands over frames of it
    except ImportError as error:
        raise PackageMissingError(
            f'studies need the package {error.name!r}: pip install "sdpdr[study]"'
        ) from error
    return duckdb
