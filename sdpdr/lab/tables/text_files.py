"""Text files, compressed or not: in which encoding, and opened; and tables out of pipes."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import re
import shutil
import zipfile
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, BinaryIO, TextIO

from sdpdr.base.errors import FileFormatError
from sdpdr.base.progress import working
from sdpdr.base.rows import listed

# Bytes of text that are looked at together.
_BLOCK = 2**20


def _unzipped(raw: BinaryIO) -> Any:
    archive = zipfile.ZipFile(raw)
    # Macs put a folder of their own beside what they compress.
    names = [name for name in archive.namelist() if not re.search(r"/$|^__MACOSX/", name)]
    if len(names) != 1:
        held = f"{len(names)} files ({listed(names)})" if names else "no file"
        raise FileFormatError(
            f"{Path(raw.name).name} holds {held}; expected one, the table. Unpack it, and pass "
            "that."
        )
    return archive.open(names[0])


COMPRESSED: Mapping[str, Callable[[BinaryIO], Any]] = MappingProxyType(
    {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zip": _unzipped}
)
"""Suffixes after that of a text table, and what undoes them."""


STDIN = Path("-")


def called(path: Path) -> str:
    """What a table is called: the standard input and a pipe without a suffix hold CSV.

    Examples
    --------
    >>> called(STDIN), called(Path("data/t.tsv"))
    ('stdin.csv', 't.tsv')
    """
    if path == STDIN:
        return "stdin.csv"
    return f"{path.name}.csv" if path.is_fifo() and not path.suffix else path.name


@contextmanager
def at_hand(path: Path) -> Iterator[Path]:
    """The path of a file that can be read again: a copy of what comes out of a pipe."""
    if path != STDIN and not path.is_fifo():
        yield path
        return
    with TemporaryDirectory(prefix="sdpdr-") as folder:
        copy = Path(folder, called(path))
        working(f"reading {copy.name}")
        # By number, since a process may have been started without it.
        number = 0 if path == STDIN else os.open(path, os.O_RDONLY)
        with open(number, "rb", closefd=number != 0) as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target)
        yield copy


def encoding_of(path: Path) -> str:
    """UTF-8, or the two others that spreadsheets write."""
    undo = COMPRESSED.get(path.suffix.lower(), nullcontext)
    with _blamed(path), path.open("rb") as raw, undo(raw) as stream:
        mark = stream.read(2)
        if mark in (b"\xff\xfe", b"\xfe\xff"):
            return "utf-16"
        # It also takes the mark that spreadsheets put first.
        encoding, decoder, line = "utf-8-sig", getincrementaldecoder("utf-8")(), 1
        block = mark
        while block:
            if b"\0" in block:
                line += block[: block.index(b"\0")].count(b"\n")
                raise FileFormatError(
                    f"{path.name}, line {line}: expected text, found a byte of zero. The file is "
                    "damaged, no text, or in UTF-16 without its mark: save it as text in UTF-8."
                )
            line += block.count(b"\n")
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                encoding = "cp1252"
            block = stream.read(_BLOCK)
    return encoding


@contextmanager
def opened(path: Path, encoding: str) -> Iterator[tuple[TextIO, BinaryIO]]:
    """The text of a file, and the file on disk, whose position tells how much is read."""
    undo = COMPRESSED.get(path.suffix.lower(), nullcontext)
    with _blamed(path), path.open("rb") as raw, undo(raw) as stream:
        yield io.TextIOWrapper(stream, encoding=encoding, newline=""), raw


@contextmanager
def _blamed(path: Path) -> Iterator[None]:
    """Say of a file that cannot be read that it is no table."""
    try:
        yield
    except (
        UnicodeDecodeError, csv.Error, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
        gzip.BadGzipFile,
    ) as error:  # fmt: skip
        raise FileFormatError(
            f"{path.name} is not a text table: {str(error).rstrip('.')}. Save it again, as text or "
            "compressed as its name says."
        ) from None
