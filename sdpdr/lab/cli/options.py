"""Exit codes, kinds of values, and the options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sdpdr.base import errors
from sdpdr.base.errors import DataError

if TYPE_CHECKING:
    from sdpdr.program import Status

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # not generic in older versions of click


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
# By name, so that help does not wait for the import of programs.
_OF_STATUS = {
    "SOLVED": Exit.OK,
    "INFEASIBLE": Exit.NO_ANSWER,
    "UNBOUNDED": Exit.NO_ANSWER,
    "FAILED": Exit.NO_ANSWER,
    "INTERRUPTED": Exit.INTERRUPTED,
}
LANDMARK = "landmark"
Function = TypeVar("Function", bound=Callable[..., Any])


def exit_of_error(error: Exception) -> Exit:
    """Return the code of an error that a user can meet."""
    if isinstance(error, _NO_SOLVER):
        return Exit.NO_SOLVER
    return Exit.NO_ANSWER if isinstance(error, _NO_ANSWER) else Exit.BAD_INPUT


def exit_of_status(status: Status) -> Exit:
    """Return the code of a graded answer."""
    return _OF_STATUS.get(status.name, Exit.UNCERTIFIED)


# -- kinds of values ------------------------------------------------------------------------------


class Parsed(ParamType):
    """A value that a function reads; its ValueError says what was expected."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name, self._read = name, read

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read a word."""
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except (ValueError, errors.SdpdrError) as error:
            return self.fail(str(error), param, ctx)


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0.0 < number < float("inf"):
        raise ValueError(f"expected a number above 0, got {text!r}")
    return number


POSITIVE = Parsed("NUMBER", _positive)
NAMES = Parsed("A,B,...", lambda text: [name.strip() for name in text.split(",")])
WHOLE = click.IntRange(1)
PATH = click.Path(path_type=Path)


# -- options --------------------------------------------------------------------------------------


def option(usage: str, words: str, **settings: Any) -> Callable[[Any], Any]:
    """Return an option as its help writes it: ``--key NAME``, ``-o/--out PATH``, or a flag.

    Parameters
    ----------
    usage : str
        An option without a name for its value is a flag, unless settings say otherwise.
    words : str
        The help.
    **settings
        As for `click.option`.
    """
    flags, _, metavar = usage.partition(" ")
    if metavar:
        settings["metavar"] = metavar
    elif not settings:
        settings["is_flag"] = True
    return click.option(*flags.split("/"), help=words, **settings)


def apply_all(*decorators: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Return one decorator that adds options in the order in which help lists them."""

    def decorate(function: Function) -> Function:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


AS_JSON = option("--json", "Print JSON instead of tables.")
CARD = click.argument("card", metavar="CARD")


def solver_options(limit: str = "none") -> Callable[[Function], Function]:
    """Return the uniform options of solvers; ``limit`` describes the default time limit."""
    more = "Number of landmarks of --form landmark; more lose less and take longer."
    seconds = f"Seconds of solving; the best point so far is graded (default: {limit})."
    return apply_all(
        option("--solver NAME", "See `sdpdr doctor` (default: auto)."),
        option("--form FORM", "auto, gram, lmi, ... or landmark."),
        option("--landmarks M", more, type=WHOLE),
        option("--tol T", "Relative gap to reach (default: 1e-6).", type=POSITIVE),
        option("--time-limit S", seconds, type=POSITIVE),
        option("--seed N", "For random choices (default: 0).", type=click.IntRange(0)),
    )


def given_solver_options(args: SimpleNamespace) -> dict[str, Any]:
    """Return the options of solvers that were given, as keywords of `sdpdr.solve`.

    Raises
    ------
    DataError
        The landmark form without a number of landmarks, or the reverse.
    """
    if (args.form == LANDMARK) != (args.landmarks is not None):
        raise DataError(
            "--form landmark and --landmarks M go together, as in --form landmark --landmarks 40."
        )
    names = ("solver", "form", "landmarks", "tol", "time_limit", "seed")
    return {name: value for name in names if (value := getattr(args, name)) is not None}


def examples(text: str) -> str:
    """Return an epilog that shows command lines as they are typed."""
    return "\b\nexamples:\n" + "\n".join(f"  {line}" for line in text.strip().splitlines())
