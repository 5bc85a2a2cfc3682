"""Solvers that misbehave, each in one way, for tests of what must survive them.

They live in a plain module, so that a child process finds them where this folder is on its path.
All have a solver's fields; those of their own say in which way they misbehave.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sdpdr.program import SDP, Claim, Point
from sdpdr.program.run import Verdict
from sdpdr.solvers import Clarabel, Outcome, Solver

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
    """Claims an optimum at zero, or with the lie "infeasible" that there is no point."""

    name: ClassVar[str] = "liar"
    lie: str = "zero"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """A wrong answer, with confidence."""
        if self.lie == "infeasible":
            return Outcome(Point(), Verdict.INFEASIBLE, Claim(self.lie), {"solve": 1e-3})
        claim = Claim("optimal", 0.0, 7)
        return Outcome(sdp.zero_point(), Verdict.SOLVED, claim, {"solve": 1e-3})


@dataclass(frozen=True)
class Hanger(Double):
    """Never comes back: native code keeps the interpreter's lock, so that no signal is heard."""

    name: ClassVar[str] = "hanger"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """Never returns."""
        for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
            signal.signal(number, signal.SIG_IGN)
        while True:
            ctypes.PyDLL(None).sleep(3600)


@dataclass(frozen=True)
class Glutton(Double):
    """Takes memory, touches it and keeps it, up to 4 GiB for the sake of the machine."""

    name: ClassVar[str] = "glutton"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """Returns only if nobody minds."""
        kept = []
        while len(kept) < 80:
            kept.append(np.ones(50 * MB // 8))
            time.sleep(0.01)
        return Outcome(Point(), Verdict.FAILED, Claim("full", message="nobody minded"))


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
