"""The command line, ``sdpdr``: see ``sdpdr --help``."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

__all__ = ["EARLY", "before_work", "main"]

EARLY = "interrupted before it began; nothing was written."
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, see `sdpdr.lab.cli.app.main`; Ctrl-C is answered before that is imported."""
    try:
        with before_work():
            from sdpdr.lab.cli.app import main as run
        return run(argv)
    except KeyboardInterrupt:  # before or after the handlers of `app.main`
        _report_interrupt()
        return _INTERRUPTED


@contextmanager
def before_work() -> Iterator[None]:
    """Let Ctrl-C end the process with one line meanwhile, unless there is another handler.

    An exception could come out of any import, some of which catch it.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    _report_interrupt()
    os._exit(_INTERRUPTED)


def _report_interrupt() -> None:
    with suppress(OSError):
        os.write(2, f"error: {EARLY}\n".encode())
