"""Reading results: a study's own, and rows that were exported; and what is no table."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdpdr.base.errors import FileFormatError
from sdpdr.lab.study import journal
from sdpdr.lab.study.rows import typed
from sdpdr.lab.study.schema import COLUMNS
from sdpdr.lab.study.store import EXPORTS, SUFFIX, Results, imported, quoted

if TYPE_CHECKING:
    import pandas as pd

_OTHERS = (";", "\t", "|", ",", " ")
# Those that stand in words of people too, so that one number beside them says nothing.
_IN_WORDS = (",", " ")


def hint(text: str, expected: str | None) -> str:
    r"""What a cell or line says about its separators and decimal marks, and what to do.

    Parameters
    ----------
    text : str
        A cell that is not a number, or a line that has the wrong number of cells.
    expected : str or None
        The separator that the file should have; None where it has none.

    Returns
    -------
    str
        A sentence with a blank before it; empty if there is nothing to say.

    Examples
    --------
    >>> hint("1,5;2,25", ",").partition(".")[0]
    " It seems to be separated by ';' and to have decimal commas"
    >>> hint("1,5", "\t").partition(".")[0], hint("green", ",")
    (' It seems to have decimal commas', '')
    """
    if expected is None:
        return ""
    if _is_decimal_comma(text) and expected != ",":
        return " It seems to have decimal commas. Write them as points."
    for other in _OTHERS:
        parts = [part.strip() for part in text.split(other)]
        enough = all if other in _IN_WORDS else any
        if other != expected and len(parts) > 1 and enough(map(_is_number, parts)):
            commas = other != "," and any(map(_is_decimal_comma, parts))
            words = " and to have decimal commas" if commas else ""
            option = ", decimal=','" if commas else ""
            separator = r"\s+" if other == " " else other
            return (
                f" It seems to be separated by {other!r}{words}. Write it anew: "
                f"pandas.read_csv(FILE, sep={separator!r}{option}).to_csv(NEW, index=False)."
            )
    return ""


def _is_decimal_comma(text: str) -> bool:
    return text.count(",") == 1 and _is_number(text)


def _is_number(text: str) -> bool:
    with suppress(ValueError):
        float(text.replace(",", ".", 1))
        return True
    return False


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
        words = " ".join(str(error).split())[:200]
        raise FileFormatError(f"{path} cannot be read as rows of a study ({words}).") from error
    missing = [column.name for column in COLUMNS if column.name not in frame]
    if missing:
        raise FileFormatError(f"{path}: it lacks the columns {', '.join(missing)}.")
    return Read(typed(frame), about["meta"], about["environments"])
