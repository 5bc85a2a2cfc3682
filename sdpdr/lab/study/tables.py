"""Tables of numbers in files: CSV, TSV, NPY, NPZ and Parquet, read and written."""

from __future__ import annotations

import csv
import re
import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from sdpdr.base.arrays import ALLOWED, Array, is_admissible, is_written_admissibly
from sdpdr.base.checks import choice
from sdpdr.base.errors import DataTypeError, FileFormatError, UnknownNameError, VacuousWarning
from sdpdr.base.files import write_file
from sdpdr.lab.study.reading import hint

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
HEADER = ("auto", "yes", "no")
# Names of columns that have none, as files have them and as pandas calls them.
_UNNAMED = re.compile(r"|Unnamed: \d+")
# What begins like a number and is none: a slip, or a name such as 2019Q1.
_SLIP = re.compile(r"[-+]?\.?\d")
# Columns by name, and the lines of a text file that their rows stand on.
_Read: TypeAlias = "tuple[dict[str, np.ndarray], list[int] | None]"


@dataclass(frozen=True, eq=False)
class Frame:
    """Named columns as a file has them.

    Parameters
    ----------
    file : str
        Name of the file, for messages.
    columns : mapping from name to array of shape (n,)
        Of text where a file holds text. Without a header the names are ``"1"``, ``"2"``, ...
    lines : sequence of int, optional
        Of the file, where each row stands.
    index : sequence of str, optional
        First columns without a name, where other programs write the numbers or names of rows.
    separator : str, optional
        What separates the cells of a text file.
    """

    file: str
    columns: Mapping[str, np.ndarray]
    lines: Sequence[int] | None = None
    index: Sequence[str] = ()
    separator: str | None = None

    def select(self, columns: Sequence[str] = (), drop: Sequence[str] = ()) -> Frame:
        """Keep the columns named (all but the index if none is), less those dropped.

        Raises
        ------
        UnknownNameError
            Offering the nearest name.
        """
        for name in (*columns, *drop):
            if name not in self.columns:
                raise UnknownNameError("column", name, [known or "''" for known in self.columns])
        wanted = columns or [name for name in self.columns if name not in self.index]
        kept = {name: self.columns[name] for name in wanted if name not in drop}
        index = [name for name in self.index if name in kept]
        return replace(self, columns=MappingProxyType(kept), index=index)

    def numbers(self) -> Array:
        """The columns side by side as floats, shape (n, D); a missing entry is ``nan``.

        Raises
        ------
        DataTypeError
            A column holds something else; the message names it and how to leave it out.
        FileFormatError
            A number is beyond the range of `sdpdr.base.arrays`; the message names its line.
        """
        if not self.columns:
            raise DataTypeError(f"{self.file}: no column is left. Name or drop fewer of them.")
        return np.column_stack([self._floats(name) for name in self.columns])

    def values(self, name: str) -> np.ndarray:
        """One column: numbers if all its entries are numbers, text otherwise."""
        column = self.select([name]).columns[name]
        try:
            return _as_floats(column)
        except (ValueError, TypeError):
            return column.astype(str)

    def _floats(self, name: str) -> Array:
        column = self.columns[name]
        try:
            numbers = _as_floats(column)
        except (ValueError, TypeError):
            entries = column.tolist()
            row = next((i for i, entry in enumerate(entries) if not _is_number(entry)), 0)
            raise DataTypeError(
                f"{self.file}: column {name!r} holds {entries[row]!r} (row {row + 1}), which is "
                f"not a number. Leave the column out with --drop {shlex.quote(name)}, take others "
                f"with --columns, or encode it.{hint(str(entries[row]), self.separator)}"
            ) from None
        return self._admissible(name, numbers)

    def _admissible(self, name: str, numbers: Array) -> Array:
        """The numbers, if they are in range; those that are not finite are for others to refuse."""
        column = self.columns[name]
        written = column.dtype.kind in "OUS"
        for row in np.flatnonzero(~is_admissible(numbers) | (written & (numbers == 0.0))):
            entry = column[row]
            if isinstance(entry, str):
                wrong = not _is_missing(entry) and _is_far(entry)
            else:
                wrong = bool(np.isfinite(numbers[row])) and not is_admissible(numbers[row])
            if wrong:
                place = (
                    f"line {self.lines[int(row)]}" if self.lines is not None else f"row {row + 1}"
                )
                raise FileFormatError(
                    f"{self.file}, {place}: column {name!r} holds {str(entry)!r}; expected "
                    f"{ALLOWED}. Choose another unit."
                )
        return numbers


def read_table(path: Path, *, key: str | None = None, header: str = "auto") -> Frame:
    r"""Read a table.

    Parameters
    ----------
    path : Path
        The suffix tells the format: one of ``.csv .tsv .txt .npy .npz .parquet``.
    key : str, optional
        Which array of an NPZ file; not needed if it has only one. Other arrays of one entry per
        row become columns by their names.
    header : {"auto", "yes", "no"}, default "auto"
        Whether the first line of a text file names the columns. By default it does if it has no
        number, or has text above a number.

    Raises
    ------
    FileFormatError
        The file is missing, of an unknown format, without rows, or not what its suffix says. Or
        its first line holds numbers and what may be a misspelt one, and nobody said what it is.
    DataTypeError
        An array holds objects, text or complex numbers.

    Warns
    -----
    VacuousWarning
        A first line that holds numbers beside text was taken for a header by default.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "points.csv")
    ...     _ = path.write_text("x,y,kind\n1,2,a\n3,4,b\n")
    ...     frame = read_table(path)
    >>> frame.select(drop=["kind"]).numbers()
    array([[1., 2.],
           [3., 4.]])
    """
    if path.is_dir():
        raise FileFormatError(f"{path} is a directory. Name a file in it.")
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        raise FileFormatError(
            f"{path}: files called {suffix or 'without a suffix'} cannot be read. "
            f"Choose one of {', '.join(_READERS)}."
        )
    if not path.is_file():
        raise FileFormatError(f"{path}: there is no such file. Check the name and the directory.")
    choice("header", header, HEADER)
    columns, lines = _READERS[suffix](path, key, header)
    if any(len(column) == 0 for column in columns.values()):
        raise FileFormatError(
            f"{path.name} names columns ({', '.join(columns)}) and has no row below them. Give it "
            "one row per point."
        )
    index = list(takewhile(_UNNAMED.fullmatch, columns))
    return Frame(path.name, MappingProxyType(columns), lines, index, _SEPARATORS.get(suffix))


def write_table(path: Path, Y: Array, names: Sequence[str]) -> None:
    """Write columns in the format that the suffix of the path tells; whole or not at all.

    Parameters
    ----------
    path : Path
    Y : array of shape (n, d)
    names : sequence of str
        One for each column; NPY has no place for them, and NPZ stores the array as
        ``embedding``.
    """
    write = _WRITERS[path.suffix.lower()]
    write_file(path, lambda beside: write(beside, Y, names))


# -- reading ----------------------------------------------------------------------------------


def _read_text(path: Path, key: str | None, header: str) -> _Read:
    delimiter = _SEPARATORS[path.suffix.lower()]
    try:
        # utf-8-sig also takes the mark that spreadsheets put first.
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, skipinitialspace=True)
            lines = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{path.name} is not a text table: {error}.") from None
    if not lines:
        raise FileFormatError(f"{path.name} is empty. Give it one line per point.")
    width = len(lines[0][1])
    for number, row in lines:
        if len(row) != width:
            raise FileFormatError(
                f"{path.name}, line {number}: expected {width} cells as in the first line, found "
                f"{len(row)}. Mend the line, or its separator: {delimiter!r} is expected."
                f"{hint(delimiter.join(row), delimiter)}"
            )
    rows = [[cell.strip() for cell in row] for _, row in lines]
    named = header == "yes" or (header == "auto" and _has_header(rows))
    if named and header == "auto":
        _question_header(f"{path.name}, line {lines[0][0]}", rows[0])
    names = rows.pop(0) if named else [str(k + 1) for k in range(width)]
    if len(set(names)) < width:
        repeated = next(name for name in names if names.count(name) > 1)
        raise FileFormatError(f"{path.name}: two columns are called {repeated!r}. Rename one.")
    cells = np.array(rows, dtype=object).reshape(len(rows), width)
    numbers = [number for number, _ in lines][1 if named else 0 :]
    return {name: cells[:, k] for k, name in enumerate(names)}, numbers


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    if _is_pandas_array(rows[0]):
        return True
    first = [_is_number(cell) for cell in rows[0]]
    if len(rows) == 1 or not any(first):
        return not any(first)
    below = [_is_number(cell) and cell.lower() not in MISSING for cell in rows[1]]
    return any(under and not above for above, under in zip(first, below, strict=True))


def _is_pandas_array(names: Sequence[str]) -> bool:
    """Whether it is the header that pandas writes above an array."""
    return names == ["", *map(str, range(len(names) - 1))]


def _question_header(place: str, names: Sequence[str]) -> None:
    """Refuse or tell a header that may be a row, which would be lost without a word."""
    if _is_pandas_array(names):
        return
    numbers = [name for name in names if _is_number(name) and not _is_missing(name)]
    if not numbers:
        return
    choice = "Choose --header yes if it names the columns, and --header no if it is a row."
    for name in names:
        if _SLIP.match(name) and not _is_number(name):
            raise FileFormatError(
                f"{place}: expected numbers or names of columns; found {name!r}, which is not a "
                f"number, beside {numbers[0]!r}, which is one. Mend it if it is to be one. {choice}"
            )
    warnings.warn(
        f"{place} is taken for the names of the columns, though {numbers[0]!r} is a number. "
        f"{choice}",
        VacuousWarning,
        stacklevel=4,
    )


def _read_npy(path: Path, key: str | None, header: str) -> _Read:
    return _columns(path, _loaded(path)), None


def _read_npz(path: Path, key: str | None, header: str) -> _Read:
    with _loaded(path) as arrays:
        if key is None and len(arrays.files) != 1:
            raise FileFormatError(
                f"{path.name} holds several arrays: {', '.join(arrays.files) or 'none'}. "
                "Choose one with --key."
            )
        chosen = arrays.files[0] if key is None else key
        choice("array", chosen, arrays.files)
        columns = _columns(path, arrays[chosen])
        n = len(next(iter(columns.values())))
        others = {name: arrays[name] for name in arrays.files if name != chosen}
    return columns | {name: x for name, x in others.items() if x.shape == (n,)}, None


def _loaded(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise FileFormatError(
            f"{path.name} cannot be read as {path.suffix}: {error}. Save it as a plain array of "
            "numbers with numpy.save or numpy.savez."
        ) from None


def _columns(path: Path, array: np.ndarray) -> dict[str, np.ndarray]:
    if array.dtype.names:
        return {name: array[name] for name in array.dtype.names}
    if array.ndim != 2 or not array.size:
        raise FileFormatError(
            f"{path.name} holds an array of shape {array.shape}, but (n, D) is needed: one row per "
            "point, one column per coordinate. For points on a line use X.reshape(-1, 1)."
        )
    return {str(k + 1): array[:, k] for k in range(array.shape[1])}


def _read_parquet(path: Path, key: str | None, header: str) -> _Read:
    try:
        frame = _with_arrow().read_parquet(path)
    except (ValueError, OSError) as error:
        raise FileFormatError(f"{path.name} cannot be read as Parquet: {error}.") from None
    numeric = set(frame.select_dtypes(["number", "bool"]).columns)
    columns = {
        str(name): frame[name].to_numpy(dtype=float, na_value=np.nan)
        if name in numeric
        else frame[name].to_numpy()
        for name in frame.columns
    }
    return columns, None


def _with_arrow() -> ModuleType:
    """Pandas, once it is known to have what it reads and writes Parquet through."""
    if find_spec("pyarrow") is None:
        raise FileFormatError(
            "Parquet needs a package that is not installed (pyarrow): "
            'pip install "sdpdr[parquet]". CSV and NPY work without.'
        )
    import pandas

    return pandas


def _as_floats(column: np.ndarray) -> Array:
    if column.dtype.kind not in "biufOUS":
        raise TypeError(f"{column.dtype} is not a kind of number")
    if column.dtype.kind in "OUS":
        column = np.array([np.nan if _is_missing(x) else x for x in column], dtype=object)
        if any(map(_is_underscored, column)):
            raise ValueError("an underscore is no part of a number")
    return column.astype(float)


def _is_missing(entry: object) -> bool:
    return entry is None or (isinstance(entry, str) and entry.lower() in MISSING)


def _is_underscored(entry: object) -> bool:
    """Whether Python would read 1_5 as fifteen, which in a file is a slip."""
    return isinstance(entry, str) and "_" in entry


def _is_far(entry: str) -> bool:
    """Whether a word is a number beyond the range, and not one of the words for infinity."""
    return any(c.isdigit() for c in entry) and not is_written_admissibly(entry)


def _is_number(entry: object) -> bool:
    if _is_underscored(entry):
        return False
    try:
        float(entry)  # type: ignore[arg-type]  # whether it is a number is the question
    except (ValueError, TypeError):
        return _is_missing(entry)
    return True


# -- writing ----------------------------------------------------------------------------------


def _write_text(path: Path, Y: Array, names: Sequence[str]) -> None:
    import pandas

    table, sep = pandas.DataFrame(Y, columns=list(names)), _SEPARATORS[path.suffix.lower()]
    table.to_csv(path, sep=sep, index=False, na_rep="nan", lineterminator="\n")


def _write_npy(path: Path, Y: Array, names: Sequence[str]) -> None:
    with path.open("wb") as file:
        np.save(file, Y)


def _write_npz(path: Path, Y: Array, names: Sequence[str]) -> None:
    with path.open("wb") as file:
        np.savez(file, embedding=Y)


def _write_parquet(path: Path, Y: Array, names: Sequence[str]) -> None:
    _with_arrow().DataFrame(Y, columns=list(names)).to_parquet(path, index=False)


_SEPARATORS: Mapping[str, str] = MappingProxyType({".csv": ",", ".tsv": "\t", ".txt": "\t"})
_READERS: Mapping[str, Callable[[Path, str | None, str], _Read]] = MappingProxyType(
    {
        **dict.fromkeys(_SEPARATORS, _read_text),
        ".npy": _read_npy,
        ".npz": _read_npz,
        ".parquet": _read_parquet,
    }
)
_WRITERS: Mapping[str, Callable[[Path, Array, Sequence[str]], None]] = MappingProxyType(
    {
        **dict.fromkeys((".csv", ".tsv"), _write_text),
        ".npy": _write_npy,
        ".npz": _write_npz,
        ".parquet": _write_parquet,
    }
)
WRITABLE = tuple(_WRITERS)
