"""The ``sdpdr`` command: lazy subcommands, shared options, and errors as one line and a code."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from functools import reduce
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import FrameType, MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

import click

from sdpdr import __version__
from sdpdr.base import errors
from sdpdr.base.advice import for_commands
from sdpdr.base.files import handle_signals
from sdpdr.lab.cli.advice import in_options
from sdpdr.lab.cli.terminal import (
    echo,
    ensure_streams,
    error,
    grid,
    warnings_as_lines,
    written,
)

if TYPE_CHECKING:
    from sdpdr.program import Solution, Status

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # not generic in older versions of click


class Exit(IntEnum):
    """Exit codes."""

    OK = 0
    UNCERTIFIED = 1
    USAGE = 2
    BAD_INPUT = 3
    NO_SOLVER = 4
    NO_ANSWER = 5
    INTERRUPTED = 130


MEANINGS = """\
  0    done; every answer is certified to its tolerance and as expected
  1    an answer is not certified to its tolerance, or not as expected
  2    the command line is not understood
  3    the data, a file, a card or a name cannot be used
  4    the solver is missing, has no licence, or does not take the program
  5    infeasible, unbounded, or the solver failed
  130  interrupted (143: by SIGTERM); the best point so far, if any, is written
"""
_NO_SOLVER = (
    errors.SolverMissingError,
    errors.SolverLicenceError,
    errors.NotAcceptedError,
    errors.CompileError,
)
# Key in click's context of the function that writes keywords as options.
_TRANSLATE = "sdpdr.translate"
# By name, so that help does not wait for the import of programs.
_OF_STATUS = {
    "SOLVED": Exit.OK,
    **dict.fromkeys(("INFEASIBLE", "UNBOUNDED", "FAILED"), Exit.NO_ANSWER),
    "INTERRUPTED": Exit.INTERRUPTED,
}


def exit_of_error(problem: Exception) -> Exit:
    """Return the code of an error that a user can meet."""
    if isinstance(problem, _NO_SOLVER):
        return Exit.NO_SOLVER
    no_answer = isinstance(problem, errors.InfeasibleError | errors.SolveFailedError)
    return Exit.NO_ANSWER if no_answer else Exit.BAD_INPUT


def exit_of_status(status: Status) -> Exit:
    """Return the code of a graded answer."""
    return _OF_STATUS.get(status.name, Exit.UNCERTIFIED)


# -- options --------------------------------------------------------------------------------------


class Parsed(ParamType):
    """A type of option that a function parses; its ValueError becomes a usage error."""

    def __init__(self, name: str, read: Callable[[str], Any], expected: str = "") -> None:
        self.name, self._read, self._expected = name, read, expected

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Parse a text; defaults stay as they are."""
        try:
            return self._read(value) if isinstance(value, str) else value
        except (ValueError, errors.SdpdrError) as problem:
            expected = f"expected {self._expected}; got {value!r}"
            return self.fail(expected if self._expected else str(problem), param, ctx)


POSITIVE = click.FloatRange(0.0, min_open=True)
NAMES = Parsed("A,B,...", lambda text: [name.strip() for name in text.split(",")])
WHOLE = click.IntRange(1)
PATH = click.Path(path_type=Path)


def option(usage: str, help: str, **settings: Any) -> Callable[[Any], Any]:
    """Return an option, written as in its help: ``--key NAME``, ``-o/--out PATH``, or a flag."""
    flags, _, metavar = usage.partition(" ")
    if metavar:
        settings["metavar"] = metavar
    elif not settings:
        settings["is_flag"] = True
    return click.option(*flags.split("/"), help=help, **settings)


def list_option(usage: str, help: str, kind: Parsed) -> Callable[[Any], Any]:
    """Return an option whose value is a tuple; given several times, it has the items of all."""
    return option(usage, help, type=kind, multiple=True, callback=_joined)


def _joined(context: Any, parameter: Any, given: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    del context, parameter  # of click's callbacks
    return tuple(chain.from_iterable(given))


def apply_all(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return one decorator that adds options in the order in which help lists them."""
    return lambda function: reduce(lambda made, add: add(made), reversed(decorators), function)


AS_JSON = option("--json", "Print JSON instead of tables.")
VERBOSE = option("-v/--verbose", "Also print what proves the answer, errors and seconds.")
GAP_SCALE = option(
    "--gap-scale S",
    "Size of the optimum below which the gap is absolute; no gap is small relative to zero.",
    type=POSITIVE,
)
CARD = click.argument("card", metavar="CARD")


def solver_options(limit: str = "none") -> Callable[[Any], Any]:
    """Return the uniform options of solvers; ``limit`` describes the default time limit."""
    more = "Number of landmarks, for the form landmark; more lose less and take longer."
    seconds = f"Seconds of solving; the best point so far is graded (default: {limit})."
    return apply_all(
        option("--solver NAME", "See `sdpdr doctor` (default: auto)."),
        option("--form FORM", "auto, factor, gram, lmi, chordal, chordal-lmi, cvxpy or landmark."),
        option("--landmarks M", more, type=WHOLE),
        option("--tol T", "Relative gap to reach (default: 1e-6).", type=POSITIVE),
        option("--time-limit S", seconds, type=POSITIVE),
        option("--seed N", "For random choices (default: 0).", type=click.IntRange(0)),
    )


def given_solver_options(args: SimpleNamespace) -> dict[str, Any]:
    """Return the options of solvers that were given, as keywords of `sdpdr.solve`."""
    names = ("solver", "form", "landmarks", "tol", "time_limit", "seed", "gap_scale")
    return {name: value for name in names if (value := getattr(args, name, None)) is not None}


# -- commands -------------------------------------------------------------------------------------


def _examples(text: str) -> str:
    return "\b\nexamples:\n" + "\n".join(f"  {line}" for line in text.strip().splitlines())


def command(
    name: str,
    examples: str,
    *options: Callable[[Any], Any],
    keywords: Mapping[str, str] = MappingProxyType({}),
    epilog: str = "",
) -> Callable[[Callable[[SimpleNamespace], int]], click.Command]:
    """Return a decorator that makes a command of a function of one namespace.

    Keywords in messages of the package become its options; ``keywords`` gives the text before the
    value of further ones.
    """

    def decorate(function: Callable[[SimpleNamespace], int]) -> click.Command:
        def run(**given: Any) -> int:
            context = click.get_current_context()
            own = {
                str(option.name): f"{option.opts[-1]} "
                for option in context.command.params
                if isinstance(option, click.Option) and not option.is_flag
            }
            context.meta[_TRANSLATE] = in_options({**keywords, **own})
            with for_commands():
                return _reported(lambda: function(SimpleNamespace(**given)))

        made = click.command(name, help=function.__doc__, epilog=_examples(examples) + epilog)
        return made(apply_all(*options)(run))

    return decorate


def translated(message: object) -> str:
    """Return a message of the package with keywords as options of the running command."""
    return str(click.get_current_context().meta[_TRANSLATE](message))


def print_answer(solution: Solution, args: SimpleNamespace) -> None:
    """Print in a sentence whether an answer is proved; with --verbose, also `print_proofs`."""
    from sdpdr.program.report import facts

    echo(translated(facts(solution)["status"]))
    if args.verbose:
        print_proofs(solution)


def print_proofs(solution: Solution) -> None:
    """Print what proves an answer, what the solver claimed, errors and seconds."""
    from sdpdr.program.report import facts

    said = facts(solution)
    del said["status"]
    echo()
    echo(grid({name: translated(text) for name, text in said.items()}))


def _reported(run: Callable[[], int]) -> int:
    """Run a command, and report in one line what went wrong."""
    from sdpdr.base.progress import Log  # here, since help needs none of rich

    debug = bool(click.get_current_context().obj)
    written.clear()
    log = Log()
    try:
        with log, warnings_as_lines(translated):
            return int(run())
    except KeyboardInterrupt:
        reached = f" ({log.doing})" if log.doing and not written else ""
        files = ", ".join(map(str, written))
        error(f"interrupted{reached}; {f'{files} had been' if files else 'nothing was'} written.")
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:  # see `main`
        raise
    except (errors.SdpdrError, OSError, MemoryError) as problem:
        if debug:
            raise
        if not isinstance(problem, MemoryError):
            error(translated(problem))
            return int(exit_of_error(problem))
        from sdpdr.solvers.processes.ends import starved_words

        error(starved_words("The command", str(problem)))
        return int(Exit.NO_ANSWER)


# -- the program ----------------------------------------------------------------------------------

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "doctor": ("problems", "Show what is installed, licensed, and works."),
        "list": ("problems", "List the problem library."),
        "show": ("problems", "Show a problem, what is expected of it, and the plan to solve it."),
        "solve": ("problems", "Solve a problem of the library and compare it with its answer."),
        "embed": ("embed", "Embed a table of points or distances."),
        "transform": ("transform", "Place new rows by a map that `sdpdr embed --save` wrote."),
        "export": ("problems", "Write a problem in SDPA sparse format, which most solvers read."),
        "sdp": ("problems", "Solve and grade any program in SDPA sparse format."),
        "verify": ("verify", "Prove a solution that another program wrote, without solving."),
        "diagnose": ("diagnose", "Find out why a program fails, and what to write instead."),
        "check": ("check", "Check proof files without solving anything."),
        "study": ("study", "Compare solvers on many problems, and report."),
        "demo": ("study", "Unfold real data, compare all solvers, and write a report."),
    }
)
"""Commands: the module that holds each, which is imported when it is used, and its summary."""


class LazyCommand(click.Command):
    """A command whose module is imported when it is used."""

    def load(self) -> click.Command:
        """Import the command."""
        module = import_module(f"{__package__}.{COMMANDS[str(self.name)][0]}")
        command: click.Command = getattr(module, f"{self.name}_command")
        return command

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        """Return the context of the command itself."""
        return self.load().make_context(*given, **more)


_LAZY = {name: LazyCommand(name, short_help=summary) for name, (_, summary) in COMMANDS.items()}


class _InOrder(click.Group):
    """A group that lists its commands in the order of a first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names."""
        return list(self.commands)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command of a line; commands of `sdpdr study` are offered with their name."""
        if args[0] not in self.commands:
            studies = LazyCommand("study").load()
            if isinstance(studies, click.Group) and args[0] in studies.commands:
                ctx.fail(f"No such command {args[0]!r}. Did you mean 'study {args[0]}'?")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_InOrder,
    commands=_LAZY,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"\b\nexit codes:\n{MEANINGS}\n"
    + _examples(
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
    """Run a command, by default the one that the process was started with; return its exit code.

    It is one of `Exit`, or 128 and the number of the signal where one ended the command.
    """
    ensure_streams()
    # Figures go to files, and the package of a notebook's windows may be missing.
    os.environ.pop("MPLBACKEND", None)
    if argv is None:
        if instruction := os.environ.get("_SDPDR_COMPLETE"):
            return click.shell_completion.shell_complete(
                cli, {}, "sdpdr", "_SDPDR_COMPLETE", instruction
            )
        # Python frees memory at exit, which may take a second: Ctrl-C changes nothing any more.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    given = list(sys.argv[1:] if argv is None else argv)
    arguments = [word for word in given if word != "--debug"]
    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        received.append(number)
        raise KeyboardInterrupt

    try:
        # SIGTERM and SIGHUP do what Ctrl-C does, so that solvers return their best points.
        with (
            handle_signals(interrupt),
            cli.make_context("sdpdr", arguments, obj=arguments != given) as context,
        ):
            code = int(cli.invoke(context))
            sys.stdout.flush()
    except click.UsageError as wrong:
        name = wrong.ctx.command_path if wrong.ctx else "sdpdr"
        error(f"{wrong.format_message()} (see `{name} --help`)")
        return int(Exit.USAGE)
    except click.exceptions.Exit as done:  # after --help or --version
        return done.exit_code
    except OSError as problem:  # the output is full, or its reader has left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or it would be tried again at exit
        if isinstance(problem, BrokenPipeError):
            return int(Exit.OK)
        error(problem)
        return int(exit_of_error(problem))
    except KeyboardInterrupt:  # after the command, or as it began
        error("interrupted.")
        code = int(Exit.INTERRUPTED)
    # The exit code by which a shell reports that a signal ended a process.
    return 128 + received[0] if received and code == Exit.INTERRUPTED else code
