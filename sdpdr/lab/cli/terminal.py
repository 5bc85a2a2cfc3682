"""Results on the standard output, messages on the error output, and files, all or none."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdpdr.base.errors import (
    FileFormatError,
    LostLengthsWarning,
    SdpdrWarning,
    UnlikeColumnsWarning,
)
from sdpdr.base.files import Writer, occupy_standard, write_files

if TYPE_CHECKING:
    from rich.table import Table

# Width of tables in files and pipes, in characters.
WIDTH = 160
written: list[Path] = []
"""Files that the command at hand has written."""


def ensure_streams() -> None:
    """Print symbols that an encoding lacks by their Unicode names, and replace missing streams."""
    occupy_standard()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            null = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
            setattr(sys, name, null)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="namereplace")


def echo(content: object = "") -> None:
    """Print a text or a table of rich on the standard output."""
    if not isinstance(content, str):
        from rich.console import Console

        known = sys.stdout.isatty() or "COLUMNS" in os.environ
        width = None if known else WIDTH
        console = Console(width=width, markup=False, highlight=False, emoji=False)
        with console.capture() as captured:
            console.print(content)
        content = "\n".join(line.rstrip() for line in captured.get().splitlines())
    sys.stdout.write(f"{content}\n")


def echo_json(content: object) -> None:
    """Print as JSON on the standard output."""
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def info(message: str) -> None:
    """Print one line on the error output."""
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()


def error(message: object, kind: str = "error") -> None:
    """Print an error or a warning in one line on the error output."""
    info(f"{kind}: {' '.join(str(message).split())}")


def grid(rows: Mapping[str, object]) -> Table:
    """Return a column of names and one of values."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, str(value))
    return table


def table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[str] = ()
) -> Table:
    """Return a table with a line under its head; ``right`` names the columns of numbers."""
    from rich import box
    from rich.table import Table

    built = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for k, head in enumerate(heads):
        numeric = head in right
        justify: Any = "right" if numeric else "left"
        built.add_column(head, justify=justify, overflow="fold", no_wrap=numeric or k == 0)
    for row in rows:
        built.add_row(*map(str, row))
    return built


@contextmanager
def warnings_as_lines(translate: Callable[[object], str] = str) -> Iterator[None]:
    """Print warnings of the package as lines ``warning: ...``, each once; leave others alone."""
    shown, printed = warnings.showwarning, set[str]()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if not issubclass(category, SdpdrWarning):
            shown(message, category, *where, **more)
        elif (words := translate(message)) not in printed:
            printed.add(words)
            error(words, "warning")

    with warnings.catch_warnings():
        warnings.simplefilter("always", SdpdrWarning)
        # The command line warns of a table by the names of its columns, unless --scale is given.
        warnings.simplefilter("ignore", UnlikeColumnsWarning)
        # The first line of a result says how much of the lengths is kept.
        warnings.simplefilter("ignore", LostLengthsWarning)
        warnings.showwarning = show
        yield


# -- files ----------------------------------------------------------------------------------------


def check_targets(
    targets: Iterable[tuple[Path, Sequence[str]]], sources: Iterable[Path] = ()
) -> None:
    """Refuse, before any work, files that cannot be written, are read, or are named twice.

    Each target comes with the suffixes that it may have.
    """
    read, seen = set(map(os.path.realpath, sources)), set[str]()
    for path, suffixes in targets:
        if not path.name.lower().endswith(tuple(suffixes)):
            raise FileFormatError(
                f"{path}: cannot write files called {path.suffix or 'without a suffix'}. "
                f"Choose {'one of ' if len(suffixes) > 1 else ''}{', '.join(suffixes)}."
            )
        _require_writable(path)
        place = os.path.realpath(path)
        if place in read:
            raise FileFormatError(
                f"{path} is read by this command and would be written over. Choose another name."
            )
        if place in seen:
            raise FileFormatError(f"{path} is to be written twice. Choose two names.")
        seen.add(place)


def _require_writable(path: Path) -> None:
    if path.is_dir():
        raise FileFormatError(f"{path} is a directory. Add the name of a file.")
    # The target of a link is written; a pipe or a device is not replaced.
    place = Path(os.path.realpath(path)) if path.is_symlink() else path
    if place.exists() and not place.is_file():
        return
    if not os.access(place.parent, os.W_OK):
        raise FileFormatError(
            f"{path}: nothing can be written in the directory {place.parent}. Make it first, or "
            "choose another place."
        )


def write_all(files: Mapping[Path, Writer]) -> None:
    """Write all files or none, and report each."""
    write_files(files)
    written.extend(files)
    for path in files:
        info(f"wrote {path}")


def record_writer(record: Mapping[str, Any]) -> Writer:
    """Return a writer of a record as JSON."""
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    # Names of files may hold bytes that are not valid text.
    return lambda path: path.write_text(text, encoding="utf-8", errors="replace")
