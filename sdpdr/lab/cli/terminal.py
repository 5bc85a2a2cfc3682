"""The terminal: results on the standard output, information and errors on the error output."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from sdpdr.base.errors import SdpdrWarning, UnlikeColumnsWarning

if TYPE_CHECKING:
    from rich.table import Table

# Columns of tables in files and pipes, whose width nobody says.
WIDTH = 160
written: list[Path] = []
"""Files that the command at hand has written."""


def echo(content: object = "") -> None:
    """Print a text or a table of rich on the standard output."""
    if isinstance(content, str):
        sys.stdout.write(f"{content}\n")
        return
    from rich.console import Console

    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console(width=None if known else WIDTH, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        console.print(content)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def echo_json(content: object) -> None:
    """Print as JSON on the standard output."""
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def info(message: str) -> None:
    """Print one line on the error output: what was done besides the result."""
    _to_errors(f"{message}\n")


def error(message: object, kind: str = "error") -> None:
    """Print an error or a warning in one line on the error output."""
    _to_errors(f"{kind}: {' '.join(str(message).split())}\n")


def _to_errors(text: str) -> None:
    """Write; an error output that is full, or has lost its reader, changes no outcome."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Drop what a stream still holds and will be given, also when the process ends."""
    with suppress(OSError):  # not every stream is one of the system
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


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
        elif (words := translate(message)) not in printed:
            printed.add(words)
            error(words, "warning")

    with warnings.catch_warnings():
        warnings.simplefilter("always", SdpdrWarning)
        # The command line warns of a table by the names of its columns, unless --scale is given.
        warnings.simplefilter("ignore", UnlikeColumnsWarning)
        warnings.showwarning = show
        yield
