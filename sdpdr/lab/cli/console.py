"""The terminal: where things are said, requests to end, and files that appear together."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import FrameType
from typing import Any, NoReturn, TextIO

import numpy as np
from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, FileFormatError, SdpdrWarning, UnlikeColumnsWarning
from sdpdr.base.files import Writer, when_asked_to_end, write_files
from sdpdr.base.progress import has_terminal

# Columns for tables where nobody says how wide the output is: files and pipes.
WIDTH = 160
_HYPERPARAMETER = re.compile(r"[a-z_]+=|[a-z]+_[a-z_]+ |--")


def say(content: object = "") -> None:
    """Print a text or a table of rich; lines end where their words end."""
    if isinstance(content, str):
        sys.stdout.write(f"{content}\n")
        return
    known = has_terminal(sys.stdout) or "COLUMNS" in os.environ
    console = Console(width=None if known else WIDTH, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        console.print(content)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def say_json(content: object) -> None:
    """Print as JSON."""
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


class _Forgiving:
    """A stream that leads nowhere once it cannot be written to."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write as far as that is possible."""
        with self._forgiven():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Have written what is not yet."""
        with self._forgiven():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @contextmanager
    def _forgiven(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            lead_nowhere(self._stream)


def lead_nowhere(stream: TextIO) -> None:
    """Drop what a stream still holds and will be given, also when the process ends."""
    with suppress(OSError):  # not every stream is one of the system
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def errors_forgiven() -> redirect_stderr[Any]:
    """Let an error output that is full, or has lost its reader, change nothing meanwhile."""
    return redirect_stderr(_Forgiving(sys.stderr))


def note(words: str) -> None:
    """Print one line on the error output: what was done besides the result."""
    sys.stderr.write(f"{words}\n")


def complain(kind: str, words: object) -> None:
    """Print one line on the error output."""
    sys.stderr.write(f"{kind}: {' '.join(str(words).split())}\n")


# Seconds that are not worth a word before, and those after which there may be a shorter way.
_SOON, _LONG = 1.0, 60.0


def foretold(what: str, seconds: float, words: str) -> None:
    """Print what is predicted of long work before it begins."""
    if seconds > _SOON:
        shorter = "; of a table, --sample N embeds N rows and places the others"
        note(f"{what}: predicted to take {words}{shorter if seconds > _LONG else ''}")


def grid(rows: Mapping[str, object]) -> Table:
    """A column of names and one of values."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, str(value))
    return table


def table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[str] = ()
) -> Table:
    """A table with a line under its head; ``right`` names the columns that hold numbers."""
    built = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for k, head in enumerate(heads):
        numeric = head in right
        justify: JustifyMethod = "right" if numeric else "left"
        built.add_column(head, justify=justify, overflow="fold", no_wrap=numeric or k == 0)
    for row in rows:
        built.add_row(*map(str, row))
    return built


@contextmanager
def warnings_in_one_line(told: Callable[[object], str] = str) -> Iterator[None]:
    """Our own warnings become lines ``warning: ...``, once each; others are shown as always."""
    shown, said = warnings.showwarning, set[str]()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, SdpdrWarning):
            shown(message, category, filename, lineno, file, line)
        elif (words := told(message)) not in said:
            said.add(words)
            complain("warning", words)

    with warnings.catch_warnings():
        warnings.simplefilter("always", SdpdrWarning)
        # Told of the table by the names of its columns, unless --scale says something of them.
        warnings.simplefilter("ignore", UnlikeColumnsWarning)
        warnings.showwarning = show
        yield


@contextmanager
def like_ctrl_c() -> Iterator[list[int]]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does, so that solvers hand over the best point.

    Yields the signals that were heard.
    """
    heard: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        heard.append(number)
        raise KeyboardInterrupt

    with when_asked_to_end(interrupt):
        yield heard


FIGURES = (".png", ".svg", ".pdf")


def check_target(path: Path, suffixes: Sequence[str]) -> None:
    """Refuse, before any work is done, a file that could not be written at its end.

    Raises
    ------
    FileFormatError
    """
    if not path.name.lower().endswith(tuple(suffixes)):
        raise FileFormatError(
            f"{path}: cannot write files called {path.suffix or 'without a suffix'}. "
            f"Choose {'one of ' if len(suffixes) > 1 else ''}{', '.join(suffixes)}."
        )
    if path.is_dir():
        raise FileFormatError(f"{path} is a directory. Add the name of a file.")
    # What is written is where a link leads to; a pipe or a device is not replaced.
    place = Path(os.path.realpath(path)) if path.is_symlink() else path
    replaced = place.is_file() or not place.exists()
    if replaced and not place.parent.is_dir():
        raise FileFormatError(f"{path}: there is no directory {place.parent}. Make it first.")
    changed = place.parent if replaced else place
    if not os.access(changed, os.W_OK):
        raise FileFormatError(f"{path}: you may not write to {changed}. Choose another place.")
    if replaced:
        _try_to_write(path, changed)


def _try_to_write(path: Path, folder: Path) -> None:
    """Write beside a place, since permission is not all: a disk is full, or holds no files."""
    try:
        with NamedTemporaryFile(prefix=".sdpdr-", dir=folder) as file:
            file.write(b"\0")
    except OSError as error:
        raise FileFormatError(
            f"{path}: nothing can be written in the directory {folder} ({error.strerror}). Choose "
            "another place."
        ) from None


def check_targets(targets: Iterable[Path | None], sources: Iterable[Path]) -> None:
    """Refuse to write two files to one place, or over one that is read.

    Raises
    ------
    FileFormatError
    """
    read = set(map(os.path.realpath, sources))
    seen: set[str] = set()
    for path in targets:
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in read:
            raise FileFormatError(
                f"{path} is read by this command and would be written over. Choose another name."
            )
        if place in seen:
            raise FileFormatError(f"{path} is to be written twice. Choose two names.")
        seen.add(place)


@contextmanager
def about(file: str) -> Iterator[None]:
    """Errors of the data begin with the name of the file; those of a hyperparameter do not."""
    try:
        yield
    except DataError as error:
        words = str(error)
        if file not in words and not _HYPERPARAMETER.match(words):
            error.args = (f"{file}: {words}", *error.args[1:])
        raise


# By the command that is carried out.
written: list[Path] = []


def write_all(files: Mapping[Path, Writer]) -> None:
    """Write every file beside its place, then move all of them into place and say so."""
    write_files(files)
    written.extend(files)
    for path in files:
        note(f"wrote {path}")


def record_writer(record: Mapping[str, Any]) -> Writer:
    """Writer of a record as JSON."""
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    # Names of files may hold bytes that are no letters.
    return lambda path: path.write_text(text, encoding="utf-8", errors="replace")


def figure_writer(
    Y: Array,
    colour: np.ndarray | None,
    title: str,
    told: Mapping[str, np.ndarray] | None = None,
) -> Writer:
    """Writer of a picture of an embedding, in the format of the path's suffix.

    Points without a place are left out.
    """
    from sdpdr.lab.plot import embedding
    from sdpdr.lab.plot.style import literal

    placed = np.isfinite(Y).all(axis=1)
    shown = None if colour is None else colour[placed]
    return lambda path: embedding(Y[placed], shown, title=literal(title)).savefig(path)
