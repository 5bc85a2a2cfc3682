"""A solver in a process of its own, for native code that may hang, crash or ignore a time limit."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Claim
from sdpdr.solvers.base import Outcome, Solver, Verdict


def run_isolated(solver: Solver, sdp: SDP, time_limit: float | None) -> Outcome:
    """Run a solver in a child process that is killed when time is up.

    Parameters
    ----------
    solver : Solver
    sdp : SDP
    time_limit : float, optional
        Seconds, start of the child included (a second or two).

    Returns
    -------
    Outcome
        With verdict ``TIME_LIMIT`` if it was killed, and ``FAILED`` if it crashed.
    """
    with tempfile.TemporaryDirectory() as folder:
        task, answer = Path(folder, "task"), Path(folder, "answer")
        task.write_bytes(pickle.dumps((solver, sdp)))
        command = [sys.executable, "-m", "sdpdr.solvers.isolate", str(task), str(answer)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=time_limit, check=False)
        except subprocess.TimeoutExpired:
            words = f"{solver.name} was stopped after {time_limit:g} s; it had no point to offer"
            seconds = {"compile": 0.0, "solve": float(time_limit or 0.0)}
            return Outcome(Point(), Verdict.TIME_LIMIT, Claim("killed", message=words), seconds)
        if done.returncode != 0 or not answer.exists():
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [""]
            words = f"{solver.name} crashed (exit status {done.returncode}). {last[0]}"
            return Outcome(Point(), Verdict.FAILED, Claim("crashed", message=words))
        outcome: Outcome = pickle.loads(answer.read_bytes())
        return outcome


def _child(task: str, answer: str) -> None:
    solver, sdp = pickle.loads(Path(task).read_bytes())
    Path(answer).write_bytes(pickle.dumps(solver.run(sdp)))


if __name__ == "__main__":
    _child(*sys.argv[1:])
