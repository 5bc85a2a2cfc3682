"""The ``sdpdr`` command: its subcommands, and how errors become one line and an exit code."""

from __future__ import annotations

import atexit
import io
import os
import signal
import sys
from argparse import Action, ArgumentParser, Namespace, RawTextHelpFormatter, _SubParsersAction
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from sdpdr import __version__
from sdpdr.base.errors import SdpdrError, require_packages
from sdpdr.base.files import occupy_standard
from sdpdr.base.progress import Log, has_terminal
from sdpdr.lab.cli import nothing_begun
from sdpdr.lab.cli.console import (
    complain,
    errors_forgiven,
    foretold,
    lead_nowhere,
    like_ctrl_c,
    note,
    say,
    warnings_in_one_line,
    written,
)
from sdpdr.lab.cli.options import (
    COMMANDS,
    SUMMARIES,
    Exit,
    Parser,
    add_argument,
    add_command,
    of_error,
)

_DESCRIPTION = """\
Semidefinite formulations of dimensionality reduction, solved by any solver and graded by us.

Results go to the standard output; progress, warnings and errors to the error output."""


class _Listing(RawTextHelpFormatter):
    """A list of commands, each on one line with what it does, however long its name."""

    def add_argument(self, action: Action) -> None:
        """Make room; what lies deeper is not reckoned with elsewhere."""
        super().add_argument(action)
        if isinstance(action, _SubParsersAction):
            wanted = max(map(len, action.choices)) + 2 * self._indent_increment
            self._action_max_length = max(self._action_max_length, wanted)


SHELLS = ("bash", "zsh", "tcsh")


def parser(command: str | None = None, *, every: bool = False) -> Parser:
    """The parser of the command line.

    Parameters
    ----------
    command : str, optional
        The one to be parsed, which alone is imported: of the others, the list needs no more than
        their names. Without one, this list is all that there is.
    every : bool, default False
        Whether all are.
    """
    codes = "\n".join(f"  {int(code):<5}{code.meaning}" for code in Exit)
    top = Parser(
        prog="sdpdr",
        description=_DESCRIPTION,
        epilog=(
            f"exit codes:\n{codes}\n\n"
            "examples:\n"
            "  sdpdr doctor\n"
            "  sdpdr solve swiss-roll-100\n"
            "  sdpdr embed data.csv --n-neighbors 6 --out embedding.csv --figure embedding.svg\n\n"
            "`sdpdr COMMAND --help` tells the options of a command."
        ),
        formatter_class=_Listing,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"sdpdr {__version__}")
    top.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module, summaries in COMMANDS.items():
        if every or command in summaries:
            import_module(f"{__package__}.{module}").add(commands)
            continue
        for name, summary in summaries.items():
            commands.add_parser(name, help=summary)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        Default: the arguments of the process.

    Returns
    -------
    int
        A code of `sdpdr.lab.cli.options.Exit`; a command line that is not understood ends the
        process with 2, as `argparse` does. 128 and the number of the signal where one asked it to
        end.
    """
    _without_streams()
    _without_windows()
    with errors_forgiven():
        return _main(sys.argv[1:] if argv is None else argv, owns_process=argv is None)


def _main(words: Sequence[str], *, owns_process: bool) -> int:
    command = next((word for word in words if word in SUMMARIES), None)
    try:
        with nothing_begun():
            args = parser(command).parse_args(words)
    except OSError as error:  # help that cannot be printed
        return _unheard(error)
    if owns_process:
        # What is done stays done while memory is given back, which may take a second.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    heard: list[int] = []
    try:
        with like_ctrl_c() as heard:
            code = _run(args)
    except KeyboardInterrupt:  # after the command, or as it began
        complain("error", "interrupted.")
        code = int(Exit.INTERRUPTED)
    # As a shell reports a process that a signal has ended.
    return 128 + heard[0] if heard and code == Exit.INTERRUPTED else code


def add(commands: Any) -> None:
    """Add the command that knows all others."""
    own = add_command(
        commands,
        "completion",
        run_completion,
        "sdpdr completion bash > ~/.local/share/bash-completion/completions/sdpdr\n"
        "sdpdr completion zsh > ~/.zfunc/_sdpdr",
        with_json=False,
    )
    add_argument(own, "SHELL", ", ".join(SHELLS), choices=SHELLS)


def run_completion(args: Namespace) -> Exit:
    """Print the script.

    Raises
    ------
    PackageMissingError
    """
    require_packages("scripts of completion", "completion", "shtab")
    import shtab

    whole = parser(every=True)
    for one in _parsers(whole):
        for action in one._actions:
            if action.type is Path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # read by shtab
    say(shtab.complete(whole, args.shell))
    return Exit.OK


def _parsers(whole: ArgumentParser) -> Iterator[ArgumentParser]:
    """A parser and those of its commands."""
    yield whole
    for action in whole._actions:
        if isinstance(action, _SubParsersAction):
            for one in action.choices.values():
                yield from _parsers(one)


def _without_streams() -> None:
    """Let a process whose output is closed, as that of a daemon, print to nowhere."""
    occupy_standard()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
            setattr(sys, name, nowhere)
        elif isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            # An encoding that lacks the letters of mathematics is no reason to say nothing.
            stream.reconfigure(errors="replace")


def _without_windows() -> None:
    """Forget which windows figures are to be shown in: they go to files, and its package may lack.

    Notebooks say so to every process that they start.
    """
    os.environ.pop("MPLBACKEND", None)


def _unheard(error: OSError) -> int:
    """The code where the output cannot be written: none if the reader has gone, as `head` does."""
    lead_nowhere(sys.stdout)  # or it would be tried again at exit
    if isinstance(error, BrokenPipeError):
        return int(Exit.OK)
    complain("error", error)
    return int(of_error(error))


def _run(args: Namespace) -> int:
    """Run a command, and say in one line what went wrong."""
    # Commands that stand for a part of the package say it in their own words.
    told = getattr(args, "told", str)
    written.clear()
    log = Log(None if has_terminal() else note, foretold)
    try:
        with log, warnings_in_one_line(told):
            code = args.run(args)
        sys.stdout.flush()
        return int(code)
    except KeyboardInterrupt:
        reached = f" ({log.doing})" if log.doing and not written else ""
        left = f"{', '.join(map(str, written))} had been" if written else "nothing was"
        complain("error", f"interrupted{reached}; {left} written.")
        return int(Exit.INTERRUPTED)
    except BrokenPipeError as error:
        return _unheard(error)
    except MemoryError as error:
        if args.debug:
            raise
        from sdpdr.solvers.processes.ends import starved_words

        complain("error", starved_words("The command", str(error)))
        return int(Exit.NO_ANSWER)
    except (SdpdrError, OSError) as error:
        if args.debug:
            raise
        complain("error", told(error))
        return int(of_error(error))
