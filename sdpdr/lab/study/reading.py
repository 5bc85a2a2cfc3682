"""Reading results: a study's own, and rows that were exported."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdpdr.base.errors import FileFormatError
from sdpdr.lab.study import journal
from sdpdr.lab.study.rows import typed
from sdpdr.lab.study.schema import COLUMNS
from sdpdr.lab.study.store import EXPORTS, SUFFIX, Results, imported, in_short, quoted

if TYPE_CHECKING:
    import pandas as pd

READABLE = (SUFFIX, journal.SUFFIX, *EXPORTS)


@dataclass(frozen=True, eq=False)
class Read:
    """All that results hold.

    Attributes
    ----------
    frame : DataFrame
        The rows, with the columns of `sdpdr.lab.study.schema.COLUMNS`.
    meta : mapping
        What `sdpdr.lab.study.store.FACTS` names; less of it for rows from CSV.
    environments : mapping
        Machines and versions, by the digest in the rows.
    """

    frame: pd.DataFrame
    meta: Mapping[str, Any]
    environments: Mapping[str, Mapping[str, Any]]


def read_results(path: str | os.PathLike[str]) -> Read:
    """Results of a study by either of its files, or from rows exported as Parquet or CSV.

    They can be read while the study runs.

    Raises
    ------
    FileFormatError
        There is no such file, its name ends otherwise, or its columns are others.
    ResultsLockedError, ResultsDamagedError
    """
    path = Path(path)
    if path.suffix not in READABLE:
        raise FileFormatError(f"{path}: expected results, a file called *{', *'.join(READABLE)}.")
    if path.suffix != SUFFIX and not path.is_file():
        raise FileFormatError(f"{path}: there is no such file. Check its name.")
    if path.suffix in EXPORTS:
        return _exported(path)
    with Results(path.with_suffix(SUFFIX), read_only=True) as results:
        return Read(results.frame(), results.meta(), results.environments())


def _exported(path: Path) -> Read:
    types = {column.name: column.kind for column in COLUMNS}
    # DuckDB takes a path for a pattern.
    place = quoted(glob.escape(str(path)))
    read = f"read_csv({place}, types = {types})"
    about: dict[str, Any] = {"meta": {"name": path.stem, "title": path.stem}, "environments": {}}
    duckdb = imported()
    try:
        with duckdb.connect() as connection:
            if path.suffix == ".parquet":
                read = f"read_parquet({place})"
                told = f"SELECT key, value FROM parquet_kv_metadata({place})"
                kept = {bytes(k).decode(): bytes(v) for k, v in connection.execute(told).fetchall()}
                about |= {name: json.loads(kept[name]) for name in about if name in kept}
            frame = connection.execute(f"SELECT * FROM {read}").df()
    except duckdb.Error as error:
        words = f"{path} cannot be read as rows of a study ({in_short(error)})."
        raise FileFormatError(words) from error
    missing = [column.name for column in COLUMNS if column.name not in frame]
    if missing:
        raise FileFormatError(f"{path}: it lacks the columns {', '.join(missing)}.")
    return Read(typed(frame), about["meta"], about["environments"])
