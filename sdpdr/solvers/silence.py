"""Keep native code from writing to the terminal behind Python's back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silence() -> Iterator[None]:
    """Send the process's standard output to nowhere while the block runs.

    Some solvers print from C, which ``contextlib.redirect_stdout`` does not reach; so the file
    descriptor itself is redirected and put back.
    """
    sys.stdout.flush()
    saved = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(nowhere)
