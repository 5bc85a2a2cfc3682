"""Exit codes, commands, and the options that several of them share."""

from __future__ import annotations

import math
import sys
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace, RawTextHelpFormatter
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sdpdr.base import errors
from sdpdr.base.errors import DataError

if TYPE_CHECKING:
    from sdpdr.program import Status


class Exit(IntEnum):
    """Exit codes, each with its meaning."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Exit:
        """Keep the meaning beside the number."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    OK = 0, "done; every answer is certified to its tolerance and as expected"
    UNCERTIFIED = 1, "an answer is not certified to its tolerance, or not as expected"
    USAGE = 2, "the command line is not understood"
    BAD_INPUT = 3, "the data, a file, a card or a name cannot be used"
    NO_SOLVER = 4, "the solver is missing, has no licence, or does not take the program"
    NO_ANSWER = 5, "infeasible, unbounded, or the solver failed"
    INTERRUPTED = 130, "interrupted (143: by SIGTERM); the best point so far, if any, is written"


_NO_SOLVER = (
    errors.SolverMissingError,
    errors.SolverLicenceError,
    errors.NotAcceptedError,
    errors.CompileError,
)
_NO_ANSWER = (errors.InfeasibleError, errors.SolveFailedError)
# By name, since help must not wait for the import of programs.
_OF_STATUS = {
    "SOLVED": Exit.OK,
    "INFEASIBLE": Exit.NO_ANSWER,
    "UNBOUNDED": Exit.NO_ANSWER,
    "FAILED": Exit.NO_ANSWER,
    "INTERRUPTED": Exit.INTERRUPTED,
}


def of_error(error: Exception) -> Exit:
    """The code of an error that a person can meet."""
    if isinstance(error, _NO_SOLVER):
        return Exit.NO_SOLVER
    return Exit.NO_ANSWER if isinstance(error, _NO_ANSWER) else Exit.BAD_INPUT


def of_status(status: Status) -> Exit:
    """The code of a graded answer."""
    return _OF_STATUS.get(status.name, Exit.UNCERTIFIED)


LANDMARK = "landmark"
Command = Callable[[Namespace], Exit]
# Commands by the modules that carry them out, and what the list of commands says of each.
COMMANDS = {
    "doctor": {"doctor": "what is installed, licensed, and works"},
    "problems": {
        "list": "the problem library",
        "show": "a problem in mathematics, what is expected of it, and the plan to solve it",
    },
    "solve": {
        "solve": "solve a problem of the library, grade the answer, compare it with the expected"
    },
    "embed": {"embed": "embed a table of points or distances (CSV, TSV, NPY, NPZ, Parquet)"},
    "transform": {"transform": "place new rows by a model that `sdpdr embed --save` wrote"},
    "sdpa": {
        "export": "write a problem in SDPA sparse format, which most solvers read",
        "sdp": "solve and grade any program in SDPA sparse format",
    },
    "study": {
        "demo": "unfold real data, compare all solvers, and write a report",
        "study": "compare solvers on many problems, fairly, and report",
    },
    "app": {"completion": "a script that lets a shell complete commands, options and files"},
}
SUMMARIES = {name: words for module in COMMANDS.values() for name, words in module.items()}


class Parser(ArgumentParser):
    """A parser that says in one line what it does not understand."""

    _words: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """End the process."""
        hint = self._order()
        self.exit(int(Exit.USAGE), f"error: {message}{hint} (see `{self.prog} --help`)\n")

    def _order(self) -> str:
        """What to write where an option that may stand alone has taken a file for its value."""
        alone = [flag for action in self._actions for flag in action.option_strings
                 if action.nargs == "?"]  # fmt: skip
        for flag, word in zip(self._words, self._words[1:], strict=False):
            if flag in alone and (word == "-" or Path(word).is_file()):
                return f". If {word} is the table, write it first: {word} {flag}"
        return ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does; remembers the words, which an error may be about."""
        self._words = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print; argparse says nothing of help that its reader does not get."""
        file = sys.stderr if file is None else file
        file.write(message)
        file.flush()

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does; an option that is not known is answered with the nearest one."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            used = getattr(found, "parser", self)
            near = get_close_matches(unknown[0].partition("=")[0], used._option_string_actions, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            used.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return found


def add_command(
    commands: Any,
    name: str,
    run: Command,
    examples: str,
    *,
    summary: str = "",
    with_json: bool = True,
) -> ArgumentParser:
    """Add a subcommand with its help, and the options that all have."""
    summary = summary or SUMMARIES[name]
    parser: ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog="examples:\n" + "".join(f"  {line}\n" for line in examples.strip().splitlines()),
        formatter_class=RawTextHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, parser=parser)
    if with_json:
        add_argument(parser, "--json", "print JSON instead of tables")
    parser.add_argument("--debug", action="store_true", default=SUPPRESS, help=SUPPRESS)
    return parser


def add_argument(group: Any, usage: str, words: str, **settings: Any) -> None:
    """Add an argument as its help writes it: ``--key NAME``, ``-o/--out PATH``, or ``FILE``.

    Parameters
    ----------
    group : ArgumentParser, or a group of its arguments
    usage : str
        An option without a name for its value is yes or no, unless settings say otherwise.
    words : str
        The help.
    **settings
        As for `argparse.ArgumentParser.add_argument`.
    """
    name, *values = usage.split(" ")
    names = name.split("/")
    if not name.startswith("-"):
        names, settings["metavar"] = [name.lower()], name
    elif values:
        settings["metavar"] = values[0] if len(values) == 1 else tuple(values)
    elif not settings.keys() & {"choices", "action"}:
        settings["action"] = "store_true"
    group.add_argument(*names, help=words, **settings)


def add_card(parser: ArgumentParser) -> None:
    """Add the name of a card."""
    add_argument(parser, "CARD", "a name from `sdpdr list`, FAMILY@SIZE, or a TOML file")


def add_solver_options(parser: ArgumentParser, limit: str = "none") -> None:
    """Add the uniform options of solvers; ``limit`` is the time limit where none is given."""
    from sdpdr.solvers import FORMS  # here, since a list of commands needs none of it

    add = partial(add_argument, parser.add_argument_group("solving"))
    add("--solver NAME", "see `sdpdr doctor` (default: auto)")
    add("--form FORM", f"{', '.join(('auto', *FORMS, LANDMARK))}\n(default: auto)")
    many = "of the landmark form: how many; more lose less and take longer"
    add("--landmarks M", many, type=whole)
    add("--tol T", "relative gap aimed at (default: 1e-6)", type=positive)
    words = (
        "seconds of solving, to which start, reading and grading add some; the best point\n"
        f"so far is graded (default: {limit})"
    )
    add("--time-limit S", words, type=positive)
    add("--seed N", "for random choices (default: 0)", type=partial(whole, least=0))


def solver_options(args: Namespace) -> dict[str, Any]:
    """What was asked for, as keywords of `sdpdr.solve`.

    Raises
    ------
    DataError
        The landmark form without a number of landmarks, or the other way round.
    """
    if (args.form == LANDMARK) != (args.landmarks is not None):
        raise DataError(
            "--form landmark and --landmarks M go together, as in --form landmark --landmarks 40."
        )
    names = ("solver", "form", "landmarks", "tol", "time_limit", "seed")
    return {name: value for name in names if (value := getattr(args, name)) is not None}


def positive(text: str) -> float:
    """A number above zero, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 < number < math.inf:
        raise ArgumentTypeError(f"expected a number above 0, got {text!r}")
    return number


def whole(text: str, least: int = 1, what: str = "") -> int:
    """A whole number from the least on, for argparse; ``what`` is expected, in words."""
    if not text.isdecimal() or int(text) < least:
        expected = what or f"a whole number from {least} on"
        raise ArgumentTypeError(f"expected {expected}, got {text!r}")
    return int(text)
