"""Whether native code with threads has computed here, or in the process that this one is a fork of.

Threads of native code (Rust's in Clarabel, those of BLAS libraries) do not survive a fork, and a
caller that waits for one of them waits forever. In such a process native solvers run in a worker.
"""

from __future__ import annotations

import os


class _Native:
    has_computed = False
    is_inherited = False

    @classmethod
    def after_fork(cls) -> None:
        cls.is_inherited = cls.is_inherited or cls.has_computed


def native_code_runs() -> None:
    """Record that native code, perhaps with threads, computes in this process."""
    _Native.has_computed = True


def is_fork_of_native() -> bool:
    """Return whether this process was forked from one in which native code had computed."""
    return _Native.is_inherited


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Native.after_fork)
