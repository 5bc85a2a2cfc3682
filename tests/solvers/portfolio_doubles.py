"""Solvers that bring a part of an answer, or none, for a portfolio that has to make do with them.

They live in a plain module, so that a child process finds them where this folder is on its path.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sdpdr.errors import NotAcceptedError
from sdpdr.program import SDP, Claim, Point
from sdpdr.program.run import Verdict
from sdpdr.solvers import Clarabel, Outcome, Solver


@dataclass(frozen=True)
class Honest(Solver):
    """A solver that is always there and takes the Gram form."""

    name: ClassVar[str] = "honest"
    package: ClassVar[str] = "numpy"
    module: ClassVar[str] = "numpy"
    forms: ClassVar[tuple[str, ...]] = ("gram",)
    licence: ClassVar[str] = "none"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """The answer."""
        return Clarabel(tol=self.tol).run(sdp)


@dataclass(frozen=True)
class Finder(Honest):
    """Has a point and no multipliers."""

    name: ClassVar[str] = "finder"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """The answer, without a proof."""
        right = super().run(sdp)
        return replace(right, point=Point(right.point.values), verdict=Verdict.INACCURATE)


@dataclass(frozen=True)
class Prover(Honest):
    """Has multipliers, and zeros for a point."""

    name: ClassVar[str] = "prover"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """The proof, without the answer."""
        right = super().run(sdp)
        point = Point(sdp.zero_point().values, right.point.duals)
        return replace(right, point=point, verdict=Verdict.INACCURATE)


@dataclass(frozen=True)
class Failing(Honest):
    """Gives up."""

    name: ClassVar[str] = "failing"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """Nothing."""
        return Outcome(Point(), Verdict.FAILED, Claim("gave up"))


@dataclass(frozen=True)
class Raising(Honest):
    """Raises an error of ours, which comes out of a solve."""

    name: ClassVar[str] = "raising"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """Raises."""
        raise NotAcceptedError("not this program")


@dataclass(frozen=True)
class Boaster(Honest):
    """Claims an optimum that it has not."""

    name: ClassVar[str] = "boaster"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """Zeros, with confidence."""
        return Outcome(sdp.zero_point(), Verdict.SOLVED, Claim("optimal", 0.0))


@dataclass(frozen=True)
class Hanging(Honest):
    """Looks at no clock and never comes back."""

    name: ClassVar[str] = "hanging"
    obeys_time_limit: ClassVar[bool] = False

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """Sleeps."""
        time.sleep(3600.0)
        raise AssertionError("nobody stopped it")


@dataclass(frozen=True)
class Crashing(Honest):
    """Takes its process down."""

    name: ClassVar[str] = "crashing"
    obeys_time_limit: ClassVar[bool] = False

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """Aborts."""
        os.abort()


@dataclass(frozen=True)
class Interrupted(Honest):
    """Somebody presses Ctrl-C while it runs."""

    name: ClassVar[str] = "interrupted"

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        """Raises."""
        raise KeyboardInterrupt


ALL = (Honest, Finder, Prover, Failing, Raising, Boaster, Hanging, Crashing, Interrupted)
BY_NAME = {double.name: double for double in ALL}


def works() -> Outcome:
    """A task that computes for a quarter of a second."""
    begin = time.process_time()
    while time.process_time() < begin + 0.25:
        pass
    return Outcome(Point(), Verdict.SOLVED, Claim("optimal"))
