"""A solver in a process started for it alone, on systems that cannot fork."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from sdpdr.base.errors import SdpdrError
from sdpdr.program.point import Point
from sdpdr.program.run import Verdict
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.processes.child import answer
from sdpdr.solvers.processes.ends import crash_claim, last_said, listen, stopped

# Not ``-m``: the package imports this module, so running it as well draws a warning.
_PROGRAM = "import sys; from sdpdr.solvers.processes.alone import _child; _child(*sys.argv[1:])"
# Seconds that Python and the imports of a child take; they are not the solver's.
_START = 3.0


def run_alone(task: bytes, name: str, time_limit: float | None) -> Outcome:
    """Run a pickled task in a new process; see `sdpdr.solvers.processes.isolate.run_isolated`."""
    with tempfile.TemporaryDirectory(prefix=".sdpdr-") as place:
        folder = Path(place)
        (folder / "question").write_bytes(pickle.dumps((sys.path, name)) + task)
        try:
            code = _wait(folder, None if time_limit is None else time_limit + _START)
        except subprocess.TimeoutExpired:
            return stopped(name, time_limit)
        written = folder / "answer"
        if code != 0 or not written.exists():
            claim = crash_claim(name, code, last_said(folder / "said"))
            return Outcome(Point(), Verdict.FAILED, claim)
        found: Outcome | SdpdrError = pickle.loads(written.read_bytes())
    if isinstance(found, SdpdrError):
        raise found
    return found


def _wait(folder: Path, time_limit: float | None) -> int:
    """Exit code of a child that reads the question in a folder and writes the answer there."""
    with open(folder / "said", "wb") as said:
        child = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
    try:
        return child.wait(time_limit)
    finally:
        child.kill()
        child.wait()
        if child.stdin is not None:
            child.stdin.close()


def _child(folder: str) -> None:
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    listen(lambda point: None)
    with open(Path(folder, "question"), "rb") as stream:
        sys.path[:], name = pickle.load(stream)
        task = stream.read()
    part = Path(folder, "part")
    part.write_bytes(answer(task, name))
    part.replace(Path(folder, "answer"))


def _end_with_parent(folder: str) -> None:
    """Wait for the end of a stream that nobody writes to: the parent is no more."""
    os.read(0, 1)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
