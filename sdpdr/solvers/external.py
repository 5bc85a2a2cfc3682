"""Solvers that are programs of their own: a file in, a file out, and a process that can be ended.

Whatever such a program does (crash, hang, print something else, stop half-way through its file) is
a verdict in words. What it writes is only a proposal: `sdpdr.solve` measures the point and proves
its own bound.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import IO, ClassVar

from sdpdr.base.deadline import Deadline
from sdpdr.base.files import exit_on_signals
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.program.sdpa.solutions import Answer
from sdpdr.solvers.base import Availability, Outcome, Progress, Solver
from sdpdr.solvers.external_files import FiledProgram, filed
from sdpdr.solvers.processes.ends import crash_claim, last_said, stopped

PROBLEM, SOLUTION, SAID = "problem.dat-s", "solution", "said"
# One thread, as for all solvers.
_THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
_SHOWN = {
    Verdict.INFEASIBLE: FiledProgram.shows_infeasible,
    Verdict.UNBOUNDED: FiledProgram.shows_unbounded,
}
# What reading a file raises that is not what it should be.
_UNREADABLE = (ValueError, LookupError, OSError)
# Seconds to wait for the version of a program, and bytes in which it is looked for.
_VERSION_SECONDS, _VERSION_BYTES = 2.0, 10_000


@dataclass(frozen=True)
class ExternalSolver(Solver):
    """A solver that is a program on the PATH and takes SDPA sparse files (options as in `Solver`).

    ``options`` go to its parameter file, by its own names.
    """

    program: ClassVar[str]
    module: ClassVar[str] = ""
    forms: ClassVar[tuple[str, ...]] = ("gram", "lmi", "chordal", "chordal-lmi")
    # To write a large file takes long.
    is_native: ClassVar[bool] = True
    # Where its sources are, if Debian has no package of that name.
    source: ClassVar[str] = ""
    # Environment variables that it is run with.
    environment: ClassVar[Mapping[str, str]] = {}
    # Words that make it tell its version and do nothing else.
    version_words: ClassVar[tuple[str, ...]] = ()
    # What to say of some of its own words for failures.
    remarks: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def availability(cls) -> Availability:
        """Whether the program is on the PATH."""
        path = shutil.which(cls.program)
        if path is None:
            words = f"program {cls.program!r} is missing: {cls.remedy()}"
            return Availability(False, False, "", words)
        return Availability(True, True, _version((path, *cls.version_words)), "")

    @classmethod
    def remedy(cls) -> str:
        """How to get it."""
        if cls.source:
            return f"build it from {cls.source} and put it on the PATH as {cls.program!r}"
        return f"apt-get install {cls.package}"

    def write(self, program: FiledProgram, path: Path) -> None:
        """Write the file; for programs that do not take all that may be in one."""
        program.write(path)

    @abstractmethod
    def command(self, folder: Path) -> list[str]:
        """Write the parameters into the folder; the words that follow the program's name."""

    @abstractmethod
    def verdict(self, code: int, folder: Path, said: str) -> tuple[Verdict, str]:
        """What an exit status and the files mean, and the program's own words for it."""

    @abstractmethod
    def objective(self, folder: Path, said: str) -> tuple[float | None, int | None]:
        """The value of the file's maximisation and the number of iterations, where it says so."""

    @abstractmethod
    def answer(self, folder: Path, program: FiledProgram) -> Answer:
        """Read the solution; `ValueError`, `LookupError` or `OSError` where it is not whole."""

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Write a file, have it solved within the time limit, and read the solution."""
        deadline = Deadline(self.time_limit)
        with exit_on_signals(), tempfile.TemporaryDirectory(prefix=".sdpdr-") as place:
            folder, program = Path(place), filed(sdp)
            self.write(program, folder / PROBLEM)
            seconds = {"compile": deadline.spent}
            try:
                # The whole path, since it runs in another folder.
                path = os.path.abspath(shutil.which(self.program) or self.program)
                code = self._wait(folder, [path, *self.command(folder)], deadline)
            except subprocess.TimeoutExpired:
                late = self._late(folder, program)
                return replace(late, seconds={**late.seconds, **seconds})
            except OSError as error:
                claim = Claim("error", message=f"{self.name} could not be started: {error}")
                return Outcome(Point(), Verdict.FAILED, claim, seconds)
            seconds["solve"] = deadline.spent - seconds["compile"]
            return self._outcome(code, folder, program, seconds)

    def _wait(self, folder: Path, command: list[str], deadline: Deadline) -> int:
        """Exit status of the program; all that it has started is ended with it."""
        with open(folder / SAID, "wb") as said:
            child = _start(command, said, folder, self.environment)
        try:
            return child.wait(deadline.left())
        finally:
            _end_group(child)

    def _late(self, folder: Path, program: FiledProgram) -> Outcome:
        """The outcome of a run that was ended, with what it had written if that is whole."""
        try:
            point = program.point(self.answer(folder, program))
        except _UNREADABLE:
            return stopped(self.name, self.time_limit)
        late = stopped(self.name, self.time_limit, "it had written a point by then")
        return replace(late, point=point)

    def _outcome(
        self, code: int, folder: Path, program: FiledProgram, seconds: dict[str, float]
    ) -> Outcome:
        said = last_said(folder / SAID)
        if self.verbose:
            sys.stdout.write(said)
        if code < 0 or code in (134, 137, 139):  # the last as a shell reports a signal
            return Outcome(
                Point(), Verdict.FAILED, crash_claim(self.name, min(code, 128 - code), said)
            )
        verdict, words = self.verdict(code, folder, said)
        if verdict is Verdict.FAILED:
            last = (said.strip().splitlines() or ["It said nothing."])[-1][:200]
            message = f"{self.name} ended with {words}. {self.remarks.get(words, last)}"
            return Outcome(Point(), verdict, Claim(words, message=message), seconds)
        value, iterations = self.objective(folder, said)
        claim = Claim(words, None if value is None else program.value(value), iterations)
        try:
            answer = self.answer(folder, program)
            if verdict not in _SHOWN:
                return Outcome(program.point(answer), verdict, claim, seconds)
            is_shown = _SHOWN[verdict](program, answer)
        except _UNREADABLE as error:
            why = getattr(error, "strerror", None) or error  # without the name of the folder
            message = f"{self.name} wrote no solution that can be read ({why})."
            return Outcome(Point(), Verdict.FAILED, Claim(words, message=message), seconds)
        if not is_shown:
            message = f"{self.name} says {words!r}, and what it wrote does not prove it."
            return Outcome(Point(), Verdict.FAILED, replace(claim, message=message), seconds)
        if program.is_dual:
            verdict = verdict.mirrored
        return Outcome(Point(), verdict, claim, seconds)


def _start(
    command: list[str],
    said: IO[bytes],
    folder: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own, so that it ends with all it has started."""
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **_THREADS, **environment},
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _end_group(child: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.wait()


@lru_cache
def _version(command: tuple[str, ...]) -> str:
    """The first number with dots that a program prints."""
    with tempfile.TemporaryFile() as said:
        try:
            child = _start(list(command), said)
        except OSError:
            return "unknown"
        try:
            child.wait(_VERSION_SECONDS)
        except subprocess.TimeoutExpired:
            return "unknown"
        finally:
            _end_group(child)
        said.seek(0)
        found = re.search(r"\d+(?:\.\d+)+", said.read(_VERSION_BYTES).decode("latin-1"))
    return found[0] if found else "unknown"


def last_number(pattern: str, said: str, sign: float = 1.0) -> float | None:
    """The last number that a pattern finds in the words of a program, with a sign."""
    found = re.findall(pattern, said, re.MULTILINE)
    with suppress(IndexError, ValueError):
        return sign * float(found[-1])
    return None


def last_count(pattern: str, said: str) -> int | None:
    """The last whole number that a pattern finds in the words of a program."""
    found = re.findall(pattern, said, re.MULTILINE)
    return int(found[-1]) if found else None
