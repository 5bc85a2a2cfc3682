"""Progress of long work: a line on the terminal that updates itself, and nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from rich.console import Console

Progress: TypeAlias = Callable[[Mapping[str, Any]], None]


@contextmanager
def show_progress(progress: Progress | bool | None, what: str) -> Iterator[Progress | None]:
    """Yield a function to report iterations to.

    Parameters
    ----------
    progress : bool or callable, optional
        A callable is passed on; True and False force the display; by default it shows on a
        terminal only.
    what : str
        What is being done.
    """
    if callable(progress):
        yield progress
        return
    wanted = sys.stderr.isatty() if progress is None else progress
    if not wanted:
        yield None
        return
    console = Console(stderr=True)
    with console.status(f"solving: {what}") as status:

        def report(record: Mapping[str, Any]) -> None:
            bound = record.get("bound")
            shown = "" if bound is None else f", bound {bound:.6g}"
            status.update(
                f"solving: {what}, iteration {record['iteration']}, "
                f"value {record['value']:.6g}{shown}, {record['seconds']:.1f} s"
            )

        yield report
