"""Solvers that misbehave, each in one way, for whoever has to survive them.

They live in a plain module, so that a child process finds them where this folder is on its path.
All have a solver's fields; those of their own say in which way they misbehave.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sdpdr.program import SDP, Claim, Point
from sdpdr.program.run import Verdict
from sdpdr.solvers import Clarabel, Outcome, Solver
from sdpdr.solvers.external import PROBLEM, SOLUTION, ExternalSolver
from sdpdr.solvers.external_files import Answer, FiledProgram, read_csdp_solution

PROGRAMS = Path(__file__).parent / "programs"
NASTY = "\x1b[31m<script>alert('boo')</script>\x00\x07\r\n\ud7ff\u202e|`$(id)`\t</td>\n"
MB = 1 << 20


@dataclass(frozen=True)
class Double(Solver):
    """A solver that is always there and takes the Gram form and its dual."""

    name: ClassVar[str] = "double"
    package: ClassVar[str] = "numpy"
    module: ClassVar[str] = "numpy"
    forms: ClassVar[tuple[str, ...]] = ("gram", "lmi")
    licence: ClassVar[str] = "none"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """An honest answer."""
        return Clarabel(tol=self.tol, time_limit=self.time_limit).run(sdp)


@dataclass(frozen=True)
class Liar(Double):
    """Claims an optimum that it has not: verdict SOLVED, and a wrong point.

    ``lie`` is "zero" (nothing but zeros), "scaled" (a hundred times the answer, multipliers zero),
    "short" (a tenth of the answer short, with the right multipliers), "value" (the right point and
    a value that it has not), "shape", "nan", "nothing" (no point), "infeasible" or "unbounded".
    """

    name: ClassVar[str] = "liar"
    lie: str = "zero"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """A wrong answer, with confidence."""
        told = Outcome(Point(), Verdict.SOLVED, Claim("optimal", 0.0, 7), {"solve": 1e-3})
        if self.lie in ("infeasible", "unbounded"):
            return replace(told, verdict=Verdict[self.lie.upper()], claim=Claim(self.lie))
        if self.lie == "nothing":
            return told
        if self.lie == "zero":
            return replace(told, point=sdp.zero_point())
        right = super().run(sdp)
        if self.lie == "value":
            return replace(right, claim=replace(right.claim, value=-1e9))
        change = {
            "scaled": (lambda x: 100.0 * x, np.zeros_like),
            "short": (lambda x: 0.9 * x, np.copy),
            "shape": (lambda x: x[:-1], np.copy),
            "nan": (lambda x: x * np.nan, np.copy),
        }
        of_values, of_duals = change[self.lie]
        values = {name: of_values(np.asarray(x)) for name, x in right.point.values.items()}
        duals = {label: of_duals(y) for label, y in right.point.duals.items()}
        return replace(told, point=Point(values, duals), claim=right.claim)


@dataclass(frozen=True)
class Hanger(Double):
    """Never comes back, and listens to no signal that can be ignored.

    ``where`` is "python" (a loop), "c" (a call that keeps the interpreter's lock, so that no other
    thread and no handler of a signal runs) or "busy" (a loop that uses the processor).
    """

    name: ClassVar[str] = "hanger"
    where: str = "python"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """Never returns."""
        for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
            signal.signal(number, signal.SIG_IGN)
        while True:
            if self.where == "c":
                ctypes.PyDLL(None).sleep(3600)
            elif self.where == "python":
                time.sleep(3600.0)


@dataclass(frozen=True)
class Glutton(Double):
    """Takes memory, touches it and keeps it, until somebody ends it.

    Every ``step`` bytes it waits for ``pause`` seconds. Having taken ``most`` bytes it gives up,
    for the sake of the machine. With ``shameless`` it goes on when memory is refused.
    """

    name: ClassVar[str] = "glutton"
    step: int = 50 * MB
    most: int = 4096 * MB
    pause: float = 0.01
    shameless: bool = False

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """Returns only if nobody minds."""
        kept = []
        while sum(block.nbytes for block in kept) < self.most:
            try:
                kept.append(np.ones(self.step // 8))
            except MemoryError:
                if not self.shameless:
                    raise
            time.sleep(self.pause)
        words = f"{sum(block.nbytes for block in kept) / MB:.0f} MB, and nobody minded"
        return Outcome(Point(), Verdict.FAILED, Claim("full", message=words))


@dataclass(frozen=True)
class Crasher(Double):
    """Takes its process down.

    ``how`` is "segfault", "abort", "kill" (as systems do when memory runs out), "exit" (with
    status 0 and no answer), "status" (with status 3), "system exit" (by an exception that is no
    `Exception`) or "raise".
    """

    name: ClassVar[str] = "crasher"
    how: str = "segfault"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """Never returns."""
        if self.how == "segfault":
            ctypes.string_at(0)
        if self.how == "abort":
            os.abort()
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how in ("exit", "status"):
            os._exit(0 if self.how == "exit" else 3)
        if self.how == "system exit":
            sys.exit("I am leaving")
        raise ArithmeticError("the pivot is zero")


class Unpicklable:
    """What cannot be sent to another process."""

    def __reduce__(self) -> Any:
        raise TypeError("this cannot travel")


@dataclass(frozen=True)
class Babbler(Double):
    """Prints megabytes of nonsense, control characters and markup, then returns no outcome.

    ``returns`` is "text", "none", "parts" (an outcome whose parts are of other types),
    "unpicklable" or "words" (an outcome, all of whose words are nasty).
    """

    name: ClassVar[str] = "babbler"
    returns: str = "text"
    megabytes: int = 4

    def run(self, sdp: SDP, progress: Any = None) -> Any:
        """Anything but an answer."""
        noise = (NASTY * (MB // len(NASTY) + 1)).encode("utf-8", "replace")[:MB] + b"\xff\xfe\n"
        for stream in (1, 2):
            for _ in range(self.megabytes):
                rest = noise
                while rest:
                    rest = rest[os.write(stream, rest) :]
        if self.returns == "text":
            return NASTY
        if self.returns == "unpicklable":
            return Unpicklable()
        if self.returns == "parts":
            return Outcome("here", "optimal", {"status": NASTY}, 3.0)  # type: ignore[arg-type]  # texts where objects belong
        if self.returns == "words":
            point = Point(sdp.zero_point().values)
            return Outcome(point, Verdict.SOLVED, Claim(NASTY, 1.0, 2, NASTY), {"solve": 0.0})
        return None


# -- programs ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProgramDouble(ExternalSolver):
    """A small Python script that takes the place of a program; its answer is read as CSDP's."""

    package: ClassVar[str] = "python3"
    program: ClassVar[str] = sys.executable
    licence: ClassVar[str] = "none"
    version_words: ClassVar[tuple[str, ...]] = ("--version",)
    script: ClassVar[str]

    def command(self, folder: Path) -> list[str]:
        """The script and the two files."""
        return [str(PROGRAMS / self.script), PROBLEM, SOLUTION]

    def verdict(self, code: int, folder: Path, said: str) -> tuple[Verdict, str]:
        """Success is success."""
        solved = (Verdict.SOLVED, "solved")
        return solved if code == 0 else (Verdict.FAILED, f"exit status {code}")

    def objective(self, folder: Path, said: str) -> tuple[float | None, int | None]:
        """It never says."""
        return None, None

    def answer(self, folder: Path, program: FiledProgram) -> Answer:
        """From its solution file."""
        return read_csdp_solution(folder / SOLUTION, program)


@dataclass(frozen=True)
class GarbageProgram(ProgramDouble):
    """Writes and prints garbage, and says that all went well."""

    name: ClassVar[str] = "garbage-program"
    script: ClassVar[str] = "garbage.py"


@dataclass(frozen=True)
class HangingProgram(ProgramDouble):
    """Ignores signals, as does the child that it starts."""

    name: ClassVar[str] = "hanging-program"
    script: ClassVar[str] = "hang.py"


@dataclass(frozen=True)
class SilentProgram(ProgramDouble):
    """Ends with status 0, having written nothing."""

    name: ClassVar[str] = "silent-program"
    script: ClassVar[str] = "silence.py"


@dataclass(frozen=True)
class AbortingProgram(ProgramDouble):
    """Calls abort."""

    name: ClassVar[str] = "aborting-program"
    script: ClassVar[str] = "abort.py"


@dataclass(frozen=True)
class LyingProgram(ProgramDouble):
    """Writes a whole solution file, all of it wrong."""

    name: ClassVar[str] = "lying-program"
    script: ClassVar[str] = "lie.py"


FIVE: tuple[type[Double], ...] = (Liar, Hanger, Glutton, Crasher, Babbler)
FIVE_PROGRAMS: tuple[type[ProgramDouble], ...] = (
    LyingProgram,
    HangingProgram,
    SilentProgram,
    AbortingProgram,
    GarbageProgram,
)
DOUBLES: Mapping[str, type[Solver]] = {cls.name: cls for cls in (*FIVE, *FIVE_PROGRAMS)}
"""All of them, by name."""
