"""Files that are written whole or not at all, and standard streams that a daemon may lack.

Every file that this package writes is written here: first under a temporary name in the same
directory, which begins with ``.sdpdr-``, then moved into place in one step. After an exception,
Ctrl-C or a signal that ends the process nothing else is left; ``kill -9`` may leave the temporary
file, which nothing reads and which may be deleted.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn, TypeAlias

_STANDARD = range(3)


def occupy_standard() -> None:
    """Open closed standard streams on the null device."""
    for number in _STANDARD:
        if not _is_open(number):
            # `open` takes the lowest number that is free, which is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


Writer: TypeAlias = Callable[[Path], object]

_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


SDPA_ENDINGS = (".dat-s", ".dat-s.gz")
"""Endings of files in SDPA's sparse format."""


def has_ending(path: str | os.PathLike[str], *endings: str) -> bool:
    """Return whether a name has one of some endings, in capitals or not.

    Examples
    --------
    >>> has_ending("Report.HTML", ".html", ".md"), has_ending("report", ".html")
    (True, False)
    """
    return os.fspath(path).lower().endswith(endings)


def write_file(path: str | os.PathLike[str], write: Writer) -> None:
    """Write one file whole or not at all; see `write_files`."""
    write_files({Path(path): write})


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    write_file(path, lambda beside: beside.write_text(text, encoding="utf-8"))


def write_files(files: Mapping[Path, Writer]) -> None:
    """Write all files under temporary names, then move all of them into place."""
    places = {path: Path(os.path.realpath(path)) for path in files}
    beside = {path: _beside(path, place) for path, place in places.items()}
    with exit_on_signals():
        try:
            for path, write in files.items():
                with _blamed_on(path, beside[path]):
                    write(beside[path])
                    if beside[path] != path:
                        _settle(beside[path], places[path])
            for path, place in places.items():
                if beside[path] != path:
                    with _blamed_on(path, beside[path]):
                        os.replace(beside[path], place)
        finally:
            for path in files:
                if beside[path] != path:
                    beside[path].unlink(missing_ok=True)


def exit_on_signals() -> AbstractContextManager[None]:
    """Let SIGTERM and SIGHUP raise `SystemExit`, so that ``finally`` clauses run."""
    return handle_signals(_leave)


@contextmanager
def handle_signals(handle: Callable[[int, FrameType | None], NoReturn]) -> Iterator[None]:
    """Handle SIGTERM and SIGHUP by a function, unless they have a handler already."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in ours:
            signal.signal(number, handle)
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # a second one would interrupt the `finally` clauses
    raise SystemExit(128 + number)


@contextmanager
def _blamed_on(path: Path, beside: Path) -> Iterator[None]:
    """Let an error about a temporary file name the requested one."""
    try:
        yield
    except OSError as error:
        if error.filename is None or os.fspath(error.filename) != os.fspath(beside):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _beside(path: Path, place: Path) -> Path:
    """Return a temporary name in the same directory; the path itself of a pipe or a device."""
    if place.exists() and not place.is_file():
        return path
    # The last suffix may be that of a compression, and the one before give the format.
    return place.with_name(f".sdpdr-{secrets.token_hex(6)}{''.join(path.suffixes[-2:])}")


def _settle(beside: Path, place: Path) -> None:
    """Flush a new file to disk and give it the permissions of the old one."""
    with open(beside, "rb+") as file:
        os.fsync(file.fileno())
    if place.exists():
        shutil.copymode(place, beside)
