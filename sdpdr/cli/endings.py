"""Requests to end: Ctrl-C and the signals by which systems and schedulers ask."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def like_ctrl_c() -> Iterator[list[int]]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does, so that solvers hand over the best point.

    Yields the signals that were heard. Nothing is done outside the main thread, where Python sets
    no handlers, nor to the handlers of somebody else.
    """
    heard: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        heard.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield heard
        return
    ours = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in ours:
            signal.signal(number, interrupt)
        yield heard
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
