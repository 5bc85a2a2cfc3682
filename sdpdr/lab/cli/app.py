"""The ``sdpdr`` command: its subcommands, and how errors become one line and an exit code."""

from __future__ import annotations

import os
import sys
from argparse import Namespace, RawTextHelpFormatter
from collections.abc import Sequence
from importlib import import_module

from sdpdr import __version__
from sdpdr.base.errors import SdpdrError
from sdpdr.base.files import occupy_standard
from sdpdr.base.progress import Log, has_terminal
from sdpdr.lab.cli.console import complain, foretold, like_ctrl_c, note, warnings_in_one_line
from sdpdr.lab.cli.options import COMMANDS, SUMMARIES, Exit, Parser, of_error

_DESCRIPTION = """\
Semidefinite formulations of dimensionality reduction, solved by any solver and graded by us.

Results go to the standard output; progress, warnings and errors to the error output."""


def parser(command: str | None = None) -> Parser:
    """The parser of the command line.

    Parameters
    ----------
    command : str, optional
        The one to be parsed, which alone is imported: of the others, the list needs no more than
        their names. Without one, this list is all that there is.
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
        formatter_class=RawTextHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"sdpdr {__version__}")
    top.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module, summaries in COMMANDS.items():
        if command in summaries:
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
    words = sys.argv[1:] if argv is None else argv
    command = next((word for word in words if word in SUMMARIES), None)
    args = parser(command).parse_args(words)
    if argv is None:
        from sdpdr.solvers.processes.workers import prepare_by_fork

        # This process has imported what the command needs and computed nothing: the time to fork.
        prepare_by_fork()
    with like_ctrl_c() as heard:
        code = _run(args)
    # As a shell reports a process that a signal has ended.
    return 128 + heard[0] if heard and code == Exit.INTERRUPTED else code


def _without_streams() -> None:
    """Let a process whose output is closed, as that of a daemon, print to nowhere."""
    occupy_standard()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
            setattr(sys, name, nowhere)


def _run(args: Namespace) -> int:
    """Run a command, and say in one line what went wrong."""
    # Commands that stand for a part of the package say it in their own words.
    told = getattr(args, "told", str)
    log = Log(None if has_terminal() else note, foretold)
    try:
        with log, warnings_in_one_line(told):
            code = args.run(args)
        sys.stdout.flush()
        return int(code)
    except KeyboardInterrupt:
        reached = f" ({log.doing})" if log.doing else ""
        complain("error", f"interrupted{reached}; nothing was written.")
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone, as `head` does. Nothing may be written to it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.OK)
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
