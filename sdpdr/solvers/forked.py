"""Forks of processes in which native code has computed: its threads stay behind.

Pools of threads (Rust's in Clarabel, those of BLAS libraries) are not there in a forked process,
and whoever waits for one waits for ever. Solvers then run in a worker, see `sdpdr.solvers.running`.
"""

from __future__ import annotations

import os


class _Native:
    has_computed = False
    is_inherited = False

    @classmethod
    def begin_again(cls) -> None:
        """Take note of a fork."""
        cls.is_inherited = cls.is_inherited or cls.has_computed


def native_code_runs() -> None:
    """Take note that native code, perhaps with threads, computes in this process."""
    _Native.has_computed = True


def is_fork_of_native() -> bool:
    """Whether this process was forked off one in which native code had computed."""
    return _Native.is_inherited


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Native.begin_again)
