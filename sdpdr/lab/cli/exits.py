"""Exit codes: what a shell learns from a run."""

from __future__ import annotations

from enum import IntEnum

from sdpdr.base import errors


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


def of_error(error: Exception) -> Exit:
    """The code of an error that a person can meet."""
    if isinstance(error, _NO_SOLVER):
        return Exit.NO_SOLVER
    return Exit.NO_ANSWER if isinstance(error, _NO_ANSWER) else Exit.BAD_INPUT
