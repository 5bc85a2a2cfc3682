"""Memory: how much a process may have, and amounts of it in words."""

from __future__ import annotations

import os


def available() -> float:
    """Bytes that a process may have: those of the machine, or its own limit if that is less."""
    limits = [float("inf")]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES"))
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # Only POSIX has it.
        return min(limits)
    soft = getrlimit(RLIMIT_AS)[0]
    return min([*limits, *([] if soft == RLIM_INFINITY else [float(soft)])])


def in_words(memory: float) -> str:
    """Bytes in words."""
    for unit, size in (("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40)):
        number = memory / size
        if number < 999.5:
            return f"{number:.2g} {unit}" if number < 99.5 else f"{number:.0f} {unit}"
    return "1000+ TiB"
