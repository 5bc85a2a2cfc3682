"""Proofs of a solution file, next to the file of its program."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from sdpdr.base.errors import FileFormatError
from sdpdr.program.backward import backward_error
from sdpdr.program.run import Status
from sdpdr.program.sdpa import read_sdpa
from sdpdr.program.sdpa.solutions import read_solution
from sdpdr.program.solution import Solution
from sdpdr.solving.verify.given import Settings
from sdpdr.solving.verify.sdp_answer import verify_point

# How far a point may miss constraints, relatively, that its solver takes for a solution.
_MISSES = 1e-2
_NO_SOLUTION = "its point is no solution, and nothing in it says what the solver claimed"


def verify_files(
    program: str | os.PathLike[str], answer: str | os.PathLike[str], settings: Settings
) -> Solution:
    """What is proved of a solution that CSDP, SDPA or SDPLR wrote.

    Parameters
    ----------
    program, answer : str or path
        The program in SDPA's sparse format, and the solution.
    settings : Settings

    Raises
    ------
    FileFormatError
        If there is no such file, or one is not complete, or the solution is of another program.
    """
    program, answer = Path(program), Path(answer)
    for path in (program, answer):
        if not path.is_file():
            what = "is a directory" if path.is_dir() else "there is no such file"
            raise FileFormatError(f"{path}: {what}. Check its name.")
    sdp = read_sdpa(program)
    point, writer = read_solution(answer, sdp)
    solution = verify_point(sdp, point, settings, who=writer, status=f"in {answer.name}")
    is_empty = solution.status in (Status.INFEASIBLE, Status.UNBOUNDED)
    if not is_empty or backward_error(sdp, point.values) <= _MISSES:
        return solution
    # Solvers write what shows that there is no solution in the place of one.
    return replace(solution, claimed=replace(solution.claimed, value=None, message=_NO_SOLUTION))
