"""The three standard descriptors, which a daemon may have closed."""

from __future__ import annotations

import os

_HIGHEST = 2


def occupy_standard() -> None:
    """Open those of the first three that are closed, on nothing.

    What is opened next would get their numbers otherwise, and whoever starts a process puts its
    own input and output there.
    """
    while (opened := os.open(os.devnull, os.O_RDWR)) <= _HIGHEST:
        os.set_inheritable(opened, True)
    os.close(opened)
