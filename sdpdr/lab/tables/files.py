"""Tables of numbers in files: CSV, TSV, NPY, NPZ and Parquet, read and written."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.checks import choice
from sdpdr.base.columns import told_apart
from sdpdr.base.errors import FileFormatError
from sdpdr.base.files import write_file
from sdpdr.lab.tables.delimited import read_text
from sdpdr.lab.tables.form import AS_FOUND, Form
from sdpdr.lab.tables.frame import FileTable
from sdpdr.lab.tables.text_files import COMPRESSED

HEADER = ("auto", "yes", "no")
# How files begin that are what their suffix says.
_BEGINNINGS = {".npy": b"\x93NUMPY", ".npz": b"PK", ".parquet": b"PAR1"}


def read_table(path: Path, form: Form = AS_FOUND, *, key: str | None = None) -> FileTable:
    r"""Read a table.

    Parameters
    ----------
    path : Path
        The suffix tells the format: one of ``.csv .tsv .txt .md .npy .npz .parquet``; a text table
        may be compressed (``.csv.gz``, ``.bz2``, ``.xz``, ``.zip``).
    form : Form, optional
        What is said of a text; of an array only whether columns are points.
    key : str, optional
        Which array of an NPZ file; not needed if it has only one. Other arrays of one entry per
        row become columns by their names.

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
        A first line that holds numbers, beside text or as 0, 1, 2, ..., was taken for a header by
        default.

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
    suffix = suffix_of(path)
    _require_readable(path, suffix)
    choice("header", form.header, HEADER)
    if suffix in _SEPARATORS:
        found = read_text(path, form, _SEPARATORS[suffix])
    else:
        if path.suffix.lower() in COMPRESSED:
            raise FileFormatError(
                f"{path.name} is compressed, and only text is read so. Unpack it, and pass "
                f"{path.stem}."
            )
        if form.is_of_text:
            raise FileFormatError(
                f"{path.name} is no text: --sep, --decimal, --thousands, --percent, --na-values, "
                "--skip and --drop-lines say nothing of it. Leave them out."
            )
        columns = _READERS[suffix](path, key)
        if form.transpose:
            columns = _transposed(path, columns)
        found = FileTable(path.name, columns, named=suffix == ".parquet")
    if any(len(column) == 0 for column in found.columns.values()):
        raise FileFormatError(
            f"{path.name} names columns ({', '.join(found.columns)}) and has no row below them. "
            "Give it one row per point."
        )
    return found


def suffix_of(path: Path) -> str:
    """What tells the format: the suffix before the one of a compressed file, in small letters.

    Without one before it a compressed file holds CSV, as pandas writes ``t.zip``.
    """
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() or ".csv" if last in COMPRESSED else last


def names_beside(beside: Iterable[str], names: Sequence[str]) -> dict[str, str]:
    """Names under which columns beside an embedding are written: one that is taken gets a ``_``.

    Examples
    --------
    >>> names_beside(["name", "y1"], ["y1", "y2"])
    {'name': 'name', 'y1': 'y1_'}
    """
    taken = {*names, "embedding", "file"}
    found: dict[str, str] = {}
    for name in beside:
        free = name
        while free in taken:
            free += "_"
        found[name] = free
        taken.add(free)
    return found


def require_writer(path: Path) -> None:
    """Refuse, before any work is done, a format that takes a package which is not installed.

    Raises
    ------
    FileFormatError
    """
    if suffix_of(path) == ".parquet":
        _with_arrow()


def write_table(
    path: Path, Y: Array, names: Sequence[str], beside: Mapping[str, np.ndarray] | None = None
) -> None:
    """Write columns in the format that the suffix of the path tells; whole or not at all.

    Parameters
    ----------
    path : Path
    Y : array of shape (n, d)
    names : sequence of str
        One for each column; NPY has no place for them, and NPZ stores the array as
        ``embedding``.
    beside : mapping from name to array of shape (n,), optional
        Columns that come first, by the names of `names_beside`; NPY has no place for them, and NPZ
        stores each by its name.
    """
    called = names_beside(beside or {}, names)
    kept = {called[name]: column for name, column in (beside or {}).items()}
    write = _WRITERS[suffix_of(path)]
    write_file(path, lambda place: write(place, Y, names, kept))


# -- reading ----------------------------------------------------------------------------------


def _require_readable(path: Path, suffix: str) -> None:
    """Refuse what is no file of a format that is known, or is not ours to read."""
    if path.is_dir():
        raise FileFormatError(f"{path} is a directory. Name a file in it.")
    if suffix not in _FORMATS:
        raise FileFormatError(
            f"{path}: files called {suffix or 'without a suffix'} cannot be read. "
            f"Choose one of {', '.join(_FORMATS)}; text may be compressed "
            f"({', '.join(COMPRESSED)}), and sdpdr reads CSV from the standard input as `-`."
        )
    if path.exists() and not path.is_file():
        raise FileFormatError(f"{path} is a device, no file. Name a file, a pipe, or `-`.")
    if not path.is_file():
        raise FileFormatError(f"{path}: there is no such file. Check the name and the directory.")
    if not os.access(path, os.R_OK):
        raise FileFormatError(f"{path}: you may not read it. Ask its owner, or chmod u+r {path}")


def _require_beginning(path: Path, suffix: str) -> None:
    expected = _BEGINNINGS[suffix]
    with path.open("rb") as file:
        found = file.read(len(expected))
    if found != expected:
        raise FileFormatError(
            f"{path.name} cannot be read as {'Parquet' if suffix == '.parquet' else suffix}: "
            f"expected {expected!r} at its beginning, found {found!r}. Save it again, or give it "
            "the suffix of what it is, as .csv of text."
        )


def _read_npy(path: Path, key: str | None) -> dict[str, np.ndarray]:
    return _columns(path, _loaded(path))


def _read_npz(path: Path, key: str | None) -> dict[str, np.ndarray]:
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
    return columns | {name: x for name, x in others.items() if x.shape == (n,)}


def _loaded(path: Path) -> Any:
    _require_beginning(path, path.suffix.lower())
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise FileFormatError(
            f"{path.name} cannot be read as {path.suffix}: {str(error).rstrip('.')}. Save it as a "
            "plain array of numbers with numpy.save or numpy.savez."
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


def _transposed(path: Path, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    if suffix_of(path) == ".parquet" or list(columns) != [str(k + 1) for k in range(len(columns))]:
        raise FileFormatError(
            f"{path.name} has names of columns, and what is to be a name when they are rows is not "
            "known. Transpose it in pandas, or save it as text."
        )
    return {str(k + 1): row for k, row in enumerate(np.column_stack(list(columns.values())))}


def _read_parquet(path: Path, key: str | None) -> dict[str, np.ndarray]:
    pandas = _with_arrow()
    _require_beginning(path, ".parquet")
    try:
        frame = pandas.read_parquet(path)
    except (ValueError, OSError) as error:
        raise FileFormatError(
            f"{path.name} cannot be read as Parquet: {str(error).rstrip('.')}. Save it again."
        ) from None
    if not isinstance(frame.index, pandas.RangeIndex):
        # An index of one's own, which a CSV file would hold in a column without a name.
        names = told_apart([str(name or "") for name in frame.index.names])
        if twice := [name for name in names if name in frame.columns]:
            raise FileFormatError(
                f"{path.name}: a column and an index are called {twice[0]!r}. Rename one."
            )
        frame.index.names = names
        frame = frame.reset_index()
    return {str(name): _entries(frame[name]) for name in frame.columns}


def _entries(column: Any) -> np.ndarray:
    """Entries of a pandas column; whole numbers stay so, since ids may have too many digits."""
    kind = getattr(column.dtype, "kind", "O")
    if kind == "b" and column.hasnans:
        return np.asarray(column.to_numpy(dtype=object, na_value=None))
    if kind == "f" or (kind in "iu" and column.hasnans):
        return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))
    numpy_dtype = getattr(column.dtype, "numpy_dtype", None)
    return np.asarray(column.to_numpy(dtype=numpy_dtype if kind in "iub" else None))


def _with_arrow() -> ModuleType:
    """Pandas, once it is known to have what it reads and writes Parquet through."""
    if importlib.util.find_spec("pyarrow") is None:
        raise FileFormatError(
            "Parquet needs a package that is not installed (pyarrow): "
            'pip install "sdpdr[parquet]". CSV and NPY work without.'
        )
    import pandas

    return pandas


# -- writing ----------------------------------------------------------------------------------


_Columns: TypeAlias = Mapping[str, np.ndarray]


def _write_text(path: Path, Y: Array, names: Sequence[str], kept: _Columns) -> None:
    sep = _SEPARATORS[suffix_of(path)]
    # By itself pandas knows a compressed file by its suffix.
    _table(Y, names, kept).to_csv(path, sep=sep, index=False, na_rep="nan", lineterminator="\n")


def _write_npy(path: Path, Y: Array, names: Sequence[str], kept: _Columns) -> None:
    with path.open("wb") as file:
        np.save(file, Y)


def _write_npz(path: Path, Y: Array, names: Sequence[str], kept: _Columns) -> None:
    plain_columns: dict[str, Any] = {
        name: column.astype(str) if column.dtype.kind == "O" else column
        for name, column in kept.items()
    }
    with path.open("wb") as file:
        np.savez(file, embedding=Y, **plain_columns)


def _write_parquet(path: Path, Y: Array, names: Sequence[str], kept: _Columns) -> None:
    _with_arrow()
    _table(Y, names, kept).to_parquet(path, index=False)


def _table(Y: Array, names: Sequence[str], kept: _Columns) -> Any:
    import pandas

    return pandas.DataFrame({**kept, **dict(zip(names, Y.T, strict=True))})


_SEPARATORS: Mapping[str, str] = MappingProxyType(
    {".csv": ",", ".tsv": "\t", ".txt": "\t", ".md": "|"}
)
_READERS: Mapping[str, Callable[[Path, str | None], dict[str, np.ndarray]]] = MappingProxyType(
    {".npy": _read_npy, ".npz": _read_npz, ".parquet": _read_parquet}
)
_FORMATS = (*_SEPARATORS, *_READERS)
_WRITERS: Mapping[str, Callable[[Path, Array, Sequence[str], _Columns], None]] = MappingProxyType(
    {
        **dict.fromkeys((".csv", ".tsv"), _write_text),
        ".npy": _write_npy,
        ".npz": _write_npz,
        ".parquet": _write_parquet,
    }
)
WRITABLE = (*_WRITERS, ".csv.gz", ".tsv.gz")
"""How names of files end that can be written."""
