"""A solver in a process of its own, for native code that may hang, crash or ignore a time limit."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from sdpdr.errors import NotAcceptedError
from sdpdr.program.point import Point
from sdpdr.program.solution import Claim
from sdpdr.solvers.base import Outcome, Verdict

Task: TypeAlias = Callable[[], Outcome]

# Not ``-m``: the package imports this module, so running it as well draws a warning.
_PROGRAM = "import sys; from sdpdr.solvers.isolate import _child; _child(*sys.argv[1:])"


def run_isolated(task: Task, name: str, time_limit: float | None) -> Outcome:
    """Run a solver in a child process that is killed when time is up.

    The child searches modules where this process does, so solvers of your own need only live in
    a module that can be imported.

    Parameters
    ----------
    task : callable without arguments
        For instance ``functools.partial(solver.run, sdp)``; it is pickled.
    name : str
        Of the solver, for messages.
    time_limit : float, optional
        Seconds, start of the child included (a second or two).

    Returns
    -------
    Outcome
        With verdict ``TIME_LIMIT`` if it was killed, and ``FAILED`` if it crashed.

    Raises
    ------
    NotAcceptedError
        If the task cannot be pickled.
    """
    pickled = _pickle(task, name)
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder, "question"), Path(folder, "answer")
        question.write_bytes(pickle.dumps(sys.path) + pickled)
        command = [sys.executable, "-c", _PROGRAM, str(question), str(answer)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=time_limit, check=False)
        except subprocess.TimeoutExpired:
            words = f"{name} was stopped after {time_limit:g} s; it had no point to offer"
            seconds = {"compile": 0.0, "solve": float(time_limit or 0.0)}
            return Outcome(Point(), Verdict.TIME_LIMIT, Claim("killed", message=words), seconds)
        if done.returncode != 0 or not answer.exists():
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [""]
            words = f"{name} crashed (exit status {done.returncode}). {last[0]}".strip()
            return Outcome(Point(), Verdict.FAILED, Claim("crashed", message=words))
        outcome: Outcome = pickle.loads(answer.read_bytes())
        return outcome


def _pickle(task: Task, name: str) -> bytes:
    try:
        return pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise NotAcceptedError(
            f"solver {name!r} and its program cannot be sent to a child process ({error}); define "
            "their classes and functions at the top level of a module, or do without isolation."
        ) from error


def _child(question: str, answer: str) -> None:
    with open(question, "rb") as stream:
        sys.path[:] = pickle.load(stream)
        task: Task = pickle.load(stream)
    Path(answer).write_bytes(pickle.dumps(task()))
