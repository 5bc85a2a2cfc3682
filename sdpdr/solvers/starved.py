"""Solvers that run out of memory: how to tell, and what to say."""

from __future__ import annotations

# How Python, C++, Rust and PARDISO word it.
_SIGNS = (
    "MemoryError",
    "bad_alloc",
    "memory allocation of",
    "annot allocate memory",
    "ut of memory",
    "not enough memory",
    "nsufficient memory",
)


def is_starved(words: str) -> bool:
    """Whether the words of an error, or of a process, speak of memory.

    Examples
    --------
    >>> is_starved("terminate called after throwing an instance of 'std::bad_alloc'")
    True
    >>> is_starved("memory of former failures")
    False
    """
    return any(sign in words for sign in _SIGNS)


def starved_words(name: str, detail: str = "") -> str:
    """What happened, and what to do about it.

    Examples
    --------
    >>> starved_words("scs").split(".")[0]
    'scs did not fit into memory'
    """
    words = (
        f"{name} did not fit into memory. Use solver 'lowrank', fewer points or neighbours, "
        'landmarks (form="landmark"), or more memory.'
    )
    return f"{words} ({detail})" if detail else words
