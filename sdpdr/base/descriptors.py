"""The three standard descriptors, which a daemon may have closed."""

from __future__ import annotations

import os

_STANDARD = range(3)


def occupy_standard() -> None:
    """Open those of the first three that are closed, on nothing.

    What is opened next would get their numbers otherwise, and whoever starts a process puts its
    own input and output there.
    """
    for number in _STANDARD:
        if not _is_open(number):
            # The lowest number that is free, which is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
