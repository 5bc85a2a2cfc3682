"""Advice in messages, for callers of Python and for users of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_at_command_line = ContextVar("at_command_line", default=False)


def at_command_line() -> bool:
    """Whether a message addresses a user of the command line."""
    return _at_command_line.get()


def either(python: str, command: str) -> str:
    """Return `python`, or `command` while a command of the command line runs.

    Parameters
    ----------
    python, command : str

    Returns
    -------
    str

    Examples
    --------
    >>> either("pass np.sqrt(D)", "write their square roots into the file")
    'pass np.sqrt(D)'
    >>> with for_commands():
    ...     either("pass np.sqrt(D)", "write their square roots into the file")
    'write their square roots into the file'
    """
    return command if at_command_line() else python


@contextmanager
def for_commands() -> Iterator[None]:
    """Address messages to a user of the command line."""
    token = _at_command_line.set(True)
    try:
        yield
    finally:
        _at_command_line.reset(token)
