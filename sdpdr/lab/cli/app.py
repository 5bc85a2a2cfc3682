"""The ``sdpdr`` command: lazy subcommands, and how errors become one line and an exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from types import FrameType, MappingProxyType, ModuleType
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from sdpdr import __version__
from sdpdr.base.files import occupy_standard, when_asked_to_end
from sdpdr.lab.cli import before_work
from sdpdr.lab.cli.command import State, flushed, output_failed
from sdpdr.lab.cli.options import Exit, examples
from sdpdr.lab.cli.terminal import error

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "doctor": ("doctor", "Show what is installed, licensed, and works."),
        "list": ("problems", "List the problem library."),
        "show": ("problems", "Show a problem, what is expected of it, and the plan to solve it."),
        "solve": ("solve", "Solve a problem of the library and compare it with its answer."),
        "embed": ("embed", "Embed a table of points or distances."),
        "transform": ("transform", "Place new rows by a map that `sdpdr embed --save` wrote."),
        "export": ("sdpa", "Write a problem in SDPA sparse format, which most solvers read."),
        "sdp": ("sdpa", "Solve and grade any program in SDPA sparse format."),
        "study": ("study", "Compare solvers on many problems, and report."),
        "demo": ("study", "Unfold real data, compare all solvers, and write a report."),
    }
)
"""Commands: the module that holds each, which is imported when it is used, and its summary."""


def _module_of(command: str) -> ModuleType:
    return import_module(f"{__package__}.{COMMANDS[command][0]}")


class LazyGroup(click.Group):
    """A group that imports the module of a command when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(_module_of(cmd_name), f"{cmd_name}_command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command; an unknown one is answered with the nearest name."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete names of commands without importing any."""
        found = [
            CompletionItem(name, help=summary)
            for name, (_, summary) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


_CODES = "\n".join(f"  {int(code):<5}{code.meaning}" for code in Exit)


@click.group(
    cls=LazyGroup,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"\b\nexit codes:\n{_CODES}\n\n"
    + examples(
        "sdpdr doctor\n"
        "sdpdr solve swiss-roll-100\n"
        "sdpdr embed data.csv --n-neighbors 6 --out embedding.csv --figure embedding.svg"
    ),
)
@click.version_option(__version__, message="sdpdr %(version)s")
def cli() -> None:
    """Semidefinite formulations of dimensionality reduction, solved by any solver and graded.

    Results go to the standard output; progress, warnings and errors to the error output.
    `sdpdr COMMAND --help` lists the options of a command, and --debug shows the traceback of an
    error.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        Default: the arguments of the process.

    Returns
    -------
    int
        A code of `sdpdr.lab.cli.options.Exit`; 128 and the number of the signal where one ended
        the command.
    """
    _ensure_streams()
    # Figures go to files, and the package of a notebook's windows may be missing.
    os.environ.pop("MPLBACKEND", None)
    words = list(sys.argv[1:] if argv is None else argv)
    state = State("--debug" in words, argv is None)
    words = [word for word in words if word != "--debug"]
    if argv is None and "_SDPDR_COMPLETE" in os.environ:
        instruction = os.environ["_SDPDR_COMPLETE"]
        return click.shell_completion.shell_complete(
            cli, {}, "sdpdr", "_SDPDR_COMPLETE", instruction
        )
    heard: list[int] = []
    try:
        with _signals_as_interrupt(heard):
            with before_work():
                if words and words[0] in COMMANDS:
                    _module_of(words[0])
            with cli.make_context("sdpdr", words, obj=state) as context:
                code = int(cli.invoke(context))
    except click.UsageError as wrong:
        name = wrong.ctx.command_path if wrong.ctx else "sdpdr"
        error(f"{wrong.format_message()} (see `{name} --help`)")
        return int(Exit.USAGE)
    except click.exceptions.Exit as done:  # after --help or --version
        return flushed(done.exit_code)
    except OSError as problem:  # help that cannot be printed
        return output_failed(problem)
    except KeyboardInterrupt:  # after the command, or as it began
        error("interrupted.")
        code = int(Exit.INTERRUPTED)
    # As a shell reports a process that a signal ended.
    return 128 + heard[0] if heard and code == Exit.INTERRUPTED else code


@contextmanager
def _signals_as_interrupt(heard: list[int]) -> Iterator[None]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does, so that solvers return their best points."""

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        heard.append(number)
        raise KeyboardInterrupt

    with when_asked_to_end(interrupt):
        yield


def _ensure_streams() -> None:
    """Let a process whose output is closed, such as a daemon, print to the null device."""
    occupy_standard()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            null = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
            setattr(sys, name, null)
        elif isinstance(stream, io.TextIOWrapper):
            # An encoding that lacks mathematical letters must not stop the output.
            stream.reconfigure(errors="replace")
