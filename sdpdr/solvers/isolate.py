"""A solver in a process of its own, for native code that may hang, crash or ignore a time limit."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from sdpdr.errors import NotAcceptedError, SdpdrError
from sdpdr.files import undone_when_asked_to_end
from sdpdr.program.point import Point
from sdpdr.program.solution import Claim
from sdpdr.solvers.base import Outcome, Verdict
from sdpdr.solvers.screen import failure
from sdpdr.solvers.starved import is_starved, starved_words

Task: TypeAlias = Callable[[], Outcome]

# Seconds that an interrupted child has to hand over the point it has reached.
LAST_WORDS = 5.0
# Bytes of what a process printed; the end is what tells.
_ENOUGH = 100_000
# Not ``-m``: the package imports this module, so running it as well draws a warning.
_PROGRAM = "import sys; from sdpdr.solvers.isolate import _child; _child(*sys.argv[1:])"


def run_isolated(task: Task, name: str, time_limit: float | None) -> Outcome:
    """Run a solver in a child process that is killed when time is up.

    The child searches modules where this process does, so solvers of your own need only live in
    a module that can be imported. It ends with this process, however that ends, as soon as its
    native code lets it look.

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
        With verdict ``TIME_LIMIT`` if it was killed, ``INTERRUPTED`` if it was interrupted and had
        a point to offer, and ``FAILED`` if it crashed or ran out of memory.

    Raises
    ------
    NotAcceptedError
        If the task cannot be pickled.
    SdpdrError
        That which the task raised. Any other error is an outcome that says so.
    KeyboardInterrupt
        If the child was interrupted and did not answer within `LAST_WORDS` seconds.
    """
    pickled = _pickle(task, name)
    with undone_when_asked_to_end(), tempfile.TemporaryDirectory(prefix=".sdpdr-") as place:
        folder = Path(place)
        Path(folder, "question").write_bytes(pickle.dumps((sys.path, name)) + pickled)
        try:
            code = _wait(folder, time_limit)
        except subprocess.TimeoutExpired:
            words = f"{name} was stopped after {time_limit:g} s; it had no point to offer"
            seconds = {"compile": 0.0, "solve": float(time_limit or 0.0)}
            return Outcome(Point(), Verdict.TIME_LIMIT, Claim("killed", message=words), seconds)
        answer = Path(folder, "answer")
        if code != 0 or not answer.exists():
            claim = crash_claim(name, code, last_said(Path(folder, "said")))
            return Outcome(Point(), Verdict.FAILED, claim)
        found: Outcome | SdpdrError = pickle.loads(answer.read_bytes())
    if isinstance(found, SdpdrError):
        raise found
    return found


def _wait(folder: Path, time_limit: float | None) -> int:
    """Exit code of a child that reads the question in a folder and writes the answer there."""
    command = [sys.executable, "-c", _PROGRAM, str(folder)]
    with open(folder / "said", "wb") as said:
        # In a session of its own, the child hears of Ctrl-C from us alone, and once.
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )
    try:
        return child.wait(time_limit)
    except KeyboardInterrupt:
        with suppress(ValueError):  # Windows cannot interrupt a process, only end it
            child.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            if child.wait(LAST_WORDS) == 0:
                return 0
        raise
    finally:
        child.kill()
        child.wait()
        if child.stdin is not None:
            child.stdin.close()


def last_said(path: Path) -> str:
    """The end of what a process printed, which may be a great deal."""
    with open(path, "rb") as stream:
        stream.seek(max(0, path.stat().st_size - _ENOUGH))
        return stream.read().decode("utf-8", errors="replace")


def crash_claim(name: str, code: int, said: str) -> Claim:
    """What to say of a child that ended without an answer."""
    last = (said.strip().splitlines() or [""])[-1]
    if is_starved(said):
        return Claim("out of memory", message=starved_words(name, last))
    if code >= 0:
        return Claim("crashed", message=f"{name} crashed (exit status {code}). {last}".strip())
    known = {number.value: number.name for number in signal.Signals}
    killer = known.get(-code, f"signal {-code}")
    words = f"{name} crashed: its process was ended by {killer}."
    if killer == "SIGKILL":
        words += " Systems end processes so when memory runs out; it may not have fitted in."
    return Claim("crashed", message=f"{words} {last}".strip())


def _pickle(task: Task, name: str) -> bytes:
    try:
        return pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise NotAcceptedError(
            f"solver {name!r} and its program cannot be sent to a child process ({error}); define "
            "their classes and functions at the top level of a module, or do without isolation."
        ) from error


def _child(folder: str) -> None:
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    with open(Path(folder, "question"), "rb") as stream:
        sys.path[:], name = pickle.load(stream)
        task: Task = pickle.load(stream)
    part = Path(folder, "part")
    part.write_bytes(_answer(task, name))
    part.replace(Path(folder, "answer"))


def _answer(task: Task, name: str) -> bytes:
    """What a task returns or raises, pickled."""
    try:
        return pickle.dumps(task())
    except SdpdrError as error:
        return pickle.dumps(error)
    except Exception as error:  # Solvers are other people's code, and may raise anything.
        return pickle.dumps(failure(name, error))


def _end_with_parent(folder: str) -> None:
    """Wait for the end of a stream that nobody writes to: the parent is no more."""
    os.read(0, 1)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
