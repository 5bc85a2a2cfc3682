"""A program that lies: how to build it, what is true of it, and why solvers believe another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sdpdr.library.lies.truth import Truth
from sdpdr.model import Model
from sdpdr.program import SDP

CHAPTERS: Mapping[str, str] = {
    "faces": "Faces: the cone touches the equations at its boundary",
    "attainment": "Values that no point attains, and gaps that stay",
    "infeasible": "No point at all, or one by a hair",
    "scales": "Scales: what is small beside what",
    "families": "Everyday programs",
}


@dataclass(frozen=True, eq=False)
class Lie:
    r"""A program on which solvers say what is not so.

    Attributes
    ----------
    name : str
    program : str
        In mathematics, in one line of plain text.
    chapter : str
        A key of `CHAPTERS`.
    build : callable
        Makes the program or model anew.
    truth : Truth
    proof : str
        Why that is true.
    why : str
        Why it deceives solvers, in one sentence.
    seen : str
        What solvers were seen to answer.
    reference : str
        Where it is from; empty for our own.
    options : mapping
        With which it has to be given to `sdpdr.solve`, a form for instance.
    large : bool
        Whether it takes general solvers seconds.
    """

    name: str
    program: str
    chapter: str
    build: Callable[[], SDP | Model]
    truth: Truth
    proof: str
    why: str
    seen: str
    reference: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    large: bool = False

    def sdp(self) -> SDP:
        """The standard form."""
        built = self.build()
        return built.to_sdp() if isinstance(built, Model) else built

    def __repr__(self) -> str:
        return self.name
