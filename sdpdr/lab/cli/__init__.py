"""The command line, ``sdpdr``: see ``sdpdr --help``."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

__all__ = ["EARLY", "main", "nothing_begun"]

EARLY = "interrupted before it began; nothing was written."
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, see `sdpdr.lab.cli.app.main`; Ctrl-C is answered before that is imported."""
    try:
        with nothing_begun():
            from sdpdr.lab.cli.app import main as run
        return run(argv)
    except KeyboardInterrupt:  # between what handles it
        _say_early()
        return _INTERRUPTED


@contextmanager
def nothing_begun() -> Iterator[None]:
    """Let Ctrl-C end the process with one line meanwhile; not where somebody else handles it.

    An exception could come out of any import, some of which catch it.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    _say_early()
    os._exit(_INTERRUPTED)


def _say_early() -> None:
    with suppress(OSError):
        os.write(2, f"error: {EARLY}\n".encode())
