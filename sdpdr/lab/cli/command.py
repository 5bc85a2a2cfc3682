"""A command that reports its errors in one line, and whose functions return exit codes."""

from __future__ import annotations

import atexit
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import click

from sdpdr.base.errors import SdpdrError
from sdpdr.lab.cli.options import Exit, apply_all, examples, exit_of_error
from sdpdr.lab.cli.terminal import discard, error, warnings_as_lines, written


@dataclass(frozen=True)
class State:
    """What a command is told of its process.

    Attributes
    ----------
    debug : bool
        Whether errors show their traceback.
    owns_process : bool
        Whether the process runs this command alone.
    """

    debug: bool = False
    owns_process: bool = False


def command(
    name: str,
    shown: str,
    *options: Callable[[Any], Any],
    translate: Callable[[object], str] = str,
    epilog: str = "",
) -> Callable[[Callable[[SimpleNamespace], int]], click.Command]:
    """Return a decorator that makes a command of a function of one namespace.

    Parameters
    ----------
    name : str
    shown : str
        Examples for its help, one a line.
    *options
        Decorators of click, in the order in which help lists them.
    translate : callable, default str
        Rewrites messages of the package in the words of the command line.
    epilog : str
        What follows the examples in its help.
    """

    def decorate(function: Callable[[SimpleNamespace], int]) -> click.Command:
        def run(**given: Any) -> int:
            state: State = click.get_current_context().obj or State()
            if state.owns_process:
                # Memory is given back when the work is done, which may take a second.
                atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
            return _reported(lambda: function(SimpleNamespace(**given)), translate, state.debug)

        words = f"{examples(shown)}{epilog}"
        made = click.command(name, help=function.__doc__, epilog=words)
        return made(apply_all(*options)(run))

    return decorate


def _reported(run: Callable[[], int], translate: Callable[[object], str], debug: bool) -> int:
    """Run a command, and report in one line what went wrong."""
    from sdpdr.base.progress import Log  # here, since help needs none of rich

    written.clear()
    log = Log()
    try:
        with log, warnings_as_lines(translate):
            code = run()
        return flushed(int(code))
    except KeyboardInterrupt:
        reached = f" ({log.doing})" if log.doing and not written else ""
        files = ", ".join(map(str, written))
        error(f"interrupted{reached}; {f'{files} had been' if files else 'nothing was'} written.")
        return int(Exit.INTERRUPTED)
    except BrokenPipeError as problem:
        return output_failed(problem)
    except MemoryError as problem:
        if debug:
            raise
        from sdpdr.solvers.processes.ends import starved_words

        error(starved_words("The command", str(problem)))
        return int(Exit.NO_ANSWER)
    except (SdpdrError, OSError) as problem:
        if debug:
            raise
        error(translate(problem))
        return int(exit_of_error(problem))


def flushed(code: int) -> int:
    """Return a code once the standard output is written."""
    try:
        sys.stdout.flush()
    except OSError as problem:
        return output_failed(problem)
    return code


def output_failed(problem: OSError) -> int:
    """Return the code where output cannot be written: 0 if its reader has left, as `head` does."""
    discard(sys.stdout)  # or it would be tried again at exit
    if isinstance(problem, BrokenPipeError):
        return int(Exit.OK)
    error(problem)
    return int(exit_of_error(problem))
