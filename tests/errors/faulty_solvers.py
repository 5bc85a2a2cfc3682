"""Solvers that misbehave, each in one way.

They live in a module of their own, so that a child process can import them as well.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from sdpdr.program import SDP, Claim, Point, PsdVariable
from sdpdr.program.run import Verdict
from sdpdr.solvers import Clarabel, Outcome, Solver
from sdpdr.solvers.processes.ends import post

# Longer than any test may take.
FOR_EVER = 3600.0
MB = 1 << 20
NASTY = "\x1b[31m<script>alert('boo')</script>\x00\x07\r\n\ud7ff\u202e|`$(id)`\t</td>\n"


@dataclass(frozen=True)
class Faulty(Solver):
    """A solver that is always there and reads the Gram form."""

    name: ClassVar[str] = "faulty"
    package: ClassVar[str] = "numpy"
    module: ClassVar[str] = "numpy"
    forms: ClassVar[tuple[str, ...]] = ("gram",)

    def run(self, sdp: SDP, progress=None) -> Outcome:
        return honest(sdp)


def honest(sdp: SDP) -> Outcome:
    return Clarabel(tol=1e-8).run(sdp)


def spoiled(name, *, values=None, duals=None, alone=False, **said):
    """A solver that changes an honest answer: its numbers, or what it says of them."""

    def run(self, sdp: SDP, progress=None) -> Outcome:
        outcome = honest(sdp)
        point = outcome.point
        changed = {k: values(v) if values else v for k, v in point.values.items()}
        told = {k: duals(y) if duals else y for k, y in point.duals.items()}
        return replace(outcome, point=Point(changed, {} if alone else told), **said)

    return type(name, (Faulty,), {"run": run, "__module__": __name__})


# -- those that fail --------------------------------------------------------------------------


@dataclass(frozen=True)
class Crasher(Faulty):
    """Raises an error, or takes its process down.

    ``how`` is "raise", "segfault", "abort", "kill" (as systems do when memory runs out), "exit"
    (with status 0 and no answer), "status" (with status 3) or "system exit".
    """

    how: str = "raise"

    def run(self, sdp, progress=None):
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


class PanicException(BaseException):
    """What native code written in Rust raises, by its name alone."""


class Panics(Faulty):
    def run(self, sdp, progress=None):
        raise PanicException("Eigval error: Eigen(1)")


class Starves(Faulty):
    def run(self, sdp, progress=None):
        raise MemoryError("no room for the Schur complement")


class Glutton(Faulty):
    """Takes memory, touches it and keeps it, up to 4 GiB for the sake of the machine."""

    def run(self, sdp, progress=None):
        kept = []
        while len(kept) < 80:
            kept.append(np.ones(50 * MB // 8))
            time.sleep(0.01)
        return Outcome(Point(), Verdict.FAILED, Claim("full"))


def interrupt(options):
    """Press Ctrl-C for the process of the caller, where the options name it."""
    if "caller" in options:
        os.kill(options["caller"], signal.SIGINT)


class Waits(Faulty):
    """Works until it is interrupted, and has a point to offer then."""

    def run(self, sdp, progress=None):
        try:
            interrupt(self.options)
            time.sleep(FOR_EVER)
        except KeyboardInterrupt:
            outcome = super().run(sdp)
            return replace(outcome, verdict=Verdict.INTERRUPTED, claim=Claim("interrupted"))
        return super().run(sdp)


class Hangs(Faulty):
    obeys_time_limit = False

    def run(self, sdp, progress=None):
        interrupt(self.options)
        time.sleep(FOR_EVER)


class Stubborn(Faulty):
    """Hangs, and does not hear when it is asked to end."""

    def run(self, sdp, progress=None):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        time.sleep(FOR_EVER)


class Posts(Stubborn):
    """Hands over a point, then a better one, and hangs; multipliers would lead to a better yet."""

    def run(self, sdp, progress=None):
        outcome = super(Stubborn, self).run(sdp)
        for share in (0.5, 0.9):
            post(Point({name: share * value for name, value in outcome.point.values.items()}))
        return super().run(sdp)


class PostsAndDies(Faulty):
    def run(self, sdp, progress=None):
        post(super().run(sdp).point)
        os.kill(os.getpid(), signal.SIGSEGV)


class PostsAndLeavesAChild(Posts):
    """The same, having started a process in a session of its own."""

    def run(self, sdp, progress=None):
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        Path(self.options["pids"]).write_text(f"{os.getpid()} {child.pid}")
        return super().run(sdp)


class Prints(Faulty):
    """Prints garbage, from Python, from C, and a great deal of it; then it is honest."""

    def run(self, sdp, progress=None):
        print("=" * 100_000)
        os.write(1, b"\xff\x00?" * 100_000)
        ctypes.CDLL(None).puts(b"from C")
        return super().run(sdp)


class Silent(Faulty):
    """Claims success and returns no point."""

    def run(self, sdp, progress=None):
        return Outcome(Point(), Verdict.SOLVED, Claim("optimal", 3.0))


class Garbles(Faulty):
    """Returns an object that cannot be unpickled."""

    def run(self, sdp, progress=None):
        return Unreadable()


class Unreadable:
    def __reduce__(self):
        return refuse, ()


def refuse():
    raise ArithmeticError("the seal is broken")


class Unpicklable:
    """An object that cannot be sent to another process."""

    def __reduce__(self):
        raise TypeError("this cannot travel")


@dataclass(frozen=True)
class Babbler(Faulty):
    """Prints megabytes of nonsense, control characters and markup, then returns no outcome.

    ``returns`` is "text", "none", "parts" (an outcome whose parts are of other types),
    "unpicklable" or "words" (an outcome, all of whose texts are nasty).
    """

    returns: str = "text"
    megabytes: int = 4

    def run(self, sdp, progress=None):
        noise = (NASTY * (MB // len(NASTY) + 1)).encode("utf-8", "replace")[:MB] + b"\xff\xfe\n"
        for stream in (1, 2):
            for _ in range(self.megabytes):
                rest = noise
                while rest:
                    rest = rest[os.write(stream, rest) :]
        claim = Claim(NASTY, 1.0, 2, NASTY)
        return {
            "text": NASTY,
            "none": None,
            "parts": Outcome("here", "optimal", {"status": NASTY}, 3.0),
            "unpicklable": Unpicklable(),
            "words": Outcome(Point(sdp.zero_point().values), Verdict.SOLVED, claim, {"solve": 0.0}),
        }[self.returns]


class EndsTheForkServer(Faulty):
    """Ends the process that forks workers, as another program may."""

    def run(self, sdp, progress=None):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(FOR_EVER)


# -- those that lie, or return numbers that are none -------------------------------------------

InfiniteMultipliers = spoiled("InfiniteMultipliers", duals=lambda y: np.full_like(y, np.inf))
# A feasible point 10 % short of the optimum, and one 10 % beyond every limit.
Shrinks = spoiled("Shrinks", values=lambda v: 0.9 * v)
ShrinksAlone = spoiled("ShrinksAlone", values=lambda v: 0.9 * v, alone=True)
Stretches = spoiled("Stretches", values=lambda v: 1.1 * v)
# Multipliers that prove little, and nothing.
FlatMultipliers = spoiled("FlatMultipliers", duals=np.ones_like)
NegativeMultipliers = spoiled("NegativeMultipliers", duals=np.negative)
Boasts = spoiled("Boasts", claim=Claim("optimal", -1e9))
Modest = spoiled("Modest", verdict=Verdict.FAILED, claim=Claim("gave up"))
CriesInfeasible = spoiled("CriesInfeasible", verdict=Verdict.INFEASIBLE, claim=Claim("infeasible"))
ShrinksAndCriesInfeasible = spoiled(
    "ShrinksAndCriesInfeasible",
    values=lambda v: 0.9 * v,
    verdict=Verdict.INFEASIBLE,
    claim=Claim("infeasible"),
)
ShrinksAndCriesUnbounded = spoiled(
    "ShrinksAndCriesUnbounded",
    values=lambda v: 0.9 * v,
    verdict=Verdict.UNBOUNDED,
    claim=Claim("unbounded"),
)


class CriesInfeasibleAlone(Faulty):
    """Says that there is no answer, and has none."""

    def run(self, sdp, progress=None):
        return Outcome(Point(), Verdict.INFEASIBLE, Claim("infeasible"))


class Nonsense(Faulty):
    """Random numbers of random sizes and signs under a random verdict; the seed is the option."""

    forms = ("gram", "lmi")

    def run(self, sdp, progress=None):
        rng = np.random.default_rng(self.seed)

        def noise(*shape):
            sizes = (0.0, 1e-300, 1e-8, 1.0, 1e8, 1e99)
            draw = rng.standard_normal(shape)
            return rng.choice(sizes) * (np.abs(draw) if rng.random() < 0.5 else draw)

        values = {
            v.name: noise(v.n, v.n) if isinstance(v, PsdVariable) else noise(v.size)
            for v in sdp.variables
        }
        duals = {r.label: noise(r.m) for r in sdp.rows}
        duals |= {lmi.label: noise(lmi.order, lmi.order) for lmi in sdp.lmis}
        verdict = list(Verdict)[rng.integers(len(Verdict))]
        return Outcome(Point(values, duals), verdict, Claim("trust me", float(rng.normal())))
