"""Tables in files: text, NPY, NPZ and Parquet, read and written."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.checks import choice
from sdpdr.base.distances import with_unknown
from sdpdr.base.errors import FileFormatError
from sdpdr.base.files import write_file
from sdpdr.lab.tables.table import ReadOptions, Table, default_names
from sdpdr.lab.tables.text import read_text

STDIN = Path("-")
_TEXT = (".csv", ".tsv", ".txt", ".data", ".dat")
_OTHERS = (".npy", ".npz", ".parquet")
_SHEETS = (".xlsx", ".xls", ".ods")
WRITABLE = (".csv", ".tsv", *_OTHERS, ".csv.gz", ".tsv.gz")
# Kinds of NumPy types that hold numbers and words.
_KINDS = "biufUSO"
# Arrays of NPZ files that scipy.sparse.save_npz has written.
_SPARSE_ARRAYS = {"format", "shape", "data"}
# Options that only text has.
_TEXT_OPTIONS = ("sep", "decimal", "drop_lines")


def read_table(path: Path, options: ReadOptions | None = None, *, distances: bool = False) -> Table:
    r"""Read a table of text, perhaps compressed, NPY, NPZ or Parquet, by its suffix.

    With ``distances``, an array may be the condensed vector of SciPy. What can be read in two ways
    is refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "points.csv")
    ...     _ = path.write_text("x,y,kind\n1,2,a\n3,4,b\n")
    ...     table = read_table(path)
    >>> table.numbers(["x", "y"])
    array([[1., 2.],
           [3., 4.]])
    """
    options = ReadOptions() if options is None else options
    suffix, name = suffix_of(path), called(path)
    _require_readable(path, suffix)
    if suffix in _TEXT:
        text = _decoded(name, _content(path, name))
        return read_text(name, text, options, distances=distances)
    if path.suffix.lower() in _COMPRESSED:
        raise FileFormatError(
            f"{name} is compressed, and only text is read so. Unpack it, and pass {path.stem}."
        )
    if given := [f"--{key.replace('_', '-')}" for key in _TEXT_OPTIONS if getattr(options, key)]:
        raise FileFormatError(f"{name} is not text: leave out {', '.join(given)}.")
    named = suffix == ".parquet"
    frame = _read_parquet(path) if named else _read_arrays(path, options.key, distances)
    if not len(frame):
        raise FileFormatError(
            f"{name} names columns ({', '.join(frame)}) and has no row below them. Give it one row "
            "per point."
        )
    return Table(name, frame, options=options, named=named)


def suffix_of(path: Path) -> str:
    """Return the suffix that gives the format, ``.csv`` of ``t.csv.gz``, pipes and ``-``."""
    if path == STDIN or (not path.suffix and path.is_fifo()):
        return ".csv"
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() or ".csv" if last in _COMPRESSED else last


def called(path: Path) -> str:
    """Return the name of a table for messages."""
    if path == STDIN:
        return "stdin.csv"
    return f"{path.name}.csv" if not path.suffix and path.is_fifo() else path.name


def _require_readable(path: Path, suffix: str) -> None:
    """Refuse a path that is not a readable file of a known format."""
    if path == STDIN:
        return
    if path.exists() and not path.is_file() and not path.is_fifo():
        what = "directory" if path.is_dir() else "device"
        raise FileFormatError(f"{path} is a {what}. Name a file, a pipe, or `-`.")
    if suffix in _SHEETS:
        raise FileFormatError(f"{path} is a spreadsheet. Save the sheet with the table as .csv.")
    if suffix not in (*_TEXT, *_OTHERS):
        raise FileFormatError(
            f"{path}: files called {suffix or 'without a suffix'} cannot be read. Choose one of "
            f"{', '.join((*_TEXT, *_OTHERS))}; text may be compressed "
            f"({', '.join(_COMPRESSED)}), and `-` is text from the standard input."
        )
    if not path.exists():
        raise FileFormatError(f"{path}: there is no such file. Check the name and the directory.")
    if not os.access(path, os.R_OK):
        raise FileFormatError(f"{path}: you may not read it. Ask its owner, or chmod u+r {path}")


# -- text -----------------------------------------------------------------------------------------


_COMPRESSED: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
)


def _content(path: Path, name: str) -> bytes:
    """The bytes of a text, decompressed."""
    if path == STDIN:
        # By descriptor, since `sys.stdin` may be None.
        with open(0, "rb", closefd=False) as stream:
            return stream.read()
    data = path.read_bytes()
    try:
        return _COMPRESSED.get(path.suffix.lower(), bytes)(data)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise FileFormatError(
            f"{name} is not a text table: {str(error).rstrip('.')}. Save it again, as text or "
            "compressed as its name says."
        ) from None


def _decoded(name: str, data: bytes) -> str:
    """The text of bytes: UTF-8, or the two other encodings that spreadsheets write."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    if b"\0" in data:
        line = 1 + data[: data.index(b"\0")].count(b"\n")
        raise FileFormatError(
            f"{name}, line {line}: expected text, found a byte of zero. The file is damaged, not "
            "text, or in UTF-16 without its mark: save it as text in UTF-8."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


# -- arrays and Parquet ---------------------------------------------------------------------------


def _read_arrays(path: Path, key: str | None, distances: bool) -> pd.DataFrame:
    """An array of NPY; or one of NPZ, and beside it the others of its length."""
    try:
        arrays = np.load(path, allow_pickle=False)
        if not isinstance(arrays, np.ndarray):
            with arrays as stored:
                arrays = dict(stored)
            if set(arrays) >= _SPARSE_ARRAYS:
                arrays = sp.load_npz(path)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise FileFormatError(
            f"{path.name} cannot be read as {path.suffix}: {str(error).rstrip('.')}. Save it as a "
            "plain array of numbers with numpy.save or numpy.savez."
        ) from None
    if sp.issparse(arrays):
        arrays = _from_sparse(path.name, arrays, distances)
    if isinstance(arrays, np.ndarray):
        return _as_frame(path.name, arrays, distances)
    if key is None and len(arrays) != 1:
        raise FileFormatError(
            f"{path.name} holds several arrays: {', '.join(arrays) or 'none'}. "
            "Choose one with --key."
        )
    chosen = next(iter(arrays)) if key is None else key
    choice("array", chosen, arrays)
    frame = _as_frame(path.name, arrays.pop(chosen), distances)
    beside = {name: array for name, array in arrays.items() if array.shape == (len(frame),)}
    return pd.concat([frame, pd.DataFrame(beside)], axis=1) if beside else frame


def _from_sparse(name: str, stored: Any, distances: bool) -> np.ndarray:
    """A sparse array as a dense one; a graph of distances with ``nan`` where it stores none."""
    is_square = len(set(stored.shape)) == 1
    if distances:
        array = with_unknown(stored) if is_square else stored.toarray()
        return np.where(np.isfinite(array), array, np.nan)
    if is_square and not stored.diagonal().any():
        raise FileFormatError(
            f"{name} holds a sparse square with zeros on its diagonal, as graphs of neighbours do. "
            "If its entries are distances, add --metric precomputed; a table of points can be "
            "saved dense, with numpy.save."
        )
    return np.asarray(stored.toarray())


def _as_frame(name: str, array: np.ndarray, distances: bool) -> pd.DataFrame:
    if distances and array.ndim == 1 and array.size:
        array = array[:, None]
    if array.ndim != 2 or not array.size:
        raise FileFormatError(
            f"{name} holds an array of shape {array.shape}, but (n, D) is needed: one row per "
            "point, one column per coordinate. For points on a line use X.reshape(-1, 1); for "
            "distances as scipy.spatial.distance.pdist returns them add --metric precomputed."
        )
    if array.dtype.kind not in _KINDS:
        raise FileFormatError(f"{name} holds {array.dtype}; expected real numbers.")
    return pd.DataFrame(array, columns=default_names(array.shape[1]))


def _read_parquet(path: Path) -> pd.DataFrame:
    require_writer(path)
    try:
        frame = pd.read_parquet(path)
        if not isinstance(frame.index, pd.RangeIndex):
            # An index that a CSV file would hold in columns without a name.
            names = [str(name or f"Unnamed: {k}") for k, name in enumerate(frame.index.names)]
            frame = frame.reset_index(names=names)
    except (ValueError, OSError) as error:
        raise FileFormatError(
            f"{path.name} cannot be read as Parquet: {str(error).rstrip('.')}. Save it again, or "
            "give it the suffix of what it is, as .csv of text."
        ) from None
    frame.columns = [str(name) for name in frame.columns]
    return frame


# -- writing --------------------------------------------------------------------------------------


def require_writer(path: Path) -> None:
    """Refuse, before any work, a format whose package is not installed."""
    if suffix_of(path) == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise FileFormatError(
            "Parquet needs a package that is not installed (pyarrow): "
            'pip install "sdpdr[parquet]". CSV and NPY work without.'
        )


def write_table(
    path: Path, Y: Array, names: Sequence[str], beside: Mapping[str, np.ndarray] | None = None
) -> None:
    """Write columns in the format that the suffix of the path gives; whole or not at all.

    Columns ``beside`` Y come first; a name that is taken gets a ``_``. Points without a position
    have empty cells in text. NPY holds Y alone, and NPZ
    holds it as ``embedding``.
    """
    kept: dict[str, np.ndarray] = {}
    for name, column in (beside or {}).items():
        while name in (*names, *kept, "embedding", "file"):
            name += "_"
        kept[name] = np.asarray(column)
    suffix = suffix_of(path)

    def write(place: Path) -> None:
        if suffix in (".npy", ".npz"):
            words: dict[str, Any] = {
                name: column.astype(str) if column.dtype.kind == "O" else column
                for name, column in kept.items()
            }
            with place.open("wb") as file:
                if suffix == ".npy":
                    np.save(file, Y)
                else:
                    np.savez(file, embedding=Y, **words)
            return
        frame = pd.DataFrame({**kept, **dict(zip(names, Y.T, strict=True))})
        if suffix == ".parquet":
            require_writer(path)
            frame.to_parquet(place, index=False)
        else:  # pandas recognizes a compressed file by its suffix
            sep = "\t" if suffix == ".tsv" else ","
            frame.to_csv(place, sep=sep, index=False, lineterminator="\n")

    write_file(path, write)
