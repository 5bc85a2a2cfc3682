"""Reductions: a program becomes another one, and answers travel back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeVar

from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.base.errors import DataTypeError, InfeasibleError, NotAcceptedError
from sdpdr.program.point import Point
from sdpdr.program.run import Verdict
from sdpdr.program.sdp import SDP

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Reduced:
    """A reduced program and the way back.

    Attributes
    ----------
    sdp : SDP
    lift : callable
        Takes a `Point` of the reduced program, primal and dual, to one of the original.
    lift_value : callable
        Takes an objective value of the reduced minimisation to one of the original; the
        identity by default.
    push : callable or None
        Takes a `Point` of the original program to one of the reduced, as far as it is known, for a
        solver to start from. Every reduction of the package has one.
    lift_verdict : callable
        Takes a solver's verdict on the reduced program to one on the original; the identity by
        default.
    narrower : Narrower or None
        Where several steps were taken, and some narrow the program: what the last of these made.
    """

    sdp: SDP
    lift: Callable[[Point], Point]
    lift_value: Callable[[float], float] = lambda value: value
    push: Callable[[Point], Point] | None = None
    lift_verdict: Callable[[Verdict], Verdict] = lambda verdict: verdict
    narrower: Narrower | None = None


class Narrower(NamedTuple):
    """A program with fewer points than the one it was made of, and the steps taken from there."""

    sdp: SDP
    rest: Reduced


class Reduction(ABC):
    """A step from one program to an equivalent one; frozen dataclasses, fields are options."""

    name: ClassVar[str]
    # True if the reduced program has fewer points, so that it may have none if the given one has.
    is_narrower: ClassVar[bool] = False

    def accepts(self, sdp: SDP) -> str | None:
        """None if the reduction applies to the program, else the reason why not."""
        return None

    @abstractmethod
    def _reduce(self, sdp: SDP) -> Reduced:
        """The step itself, for a program that is accepted."""

    def apply(self, sdp: SDP) -> Reduced:
        """Reduce a program.

        Parameters
        ----------
        sdp : SDP

        Returns
        -------
        Reduced
            With ``.sdp`` and ``.lift``.

        Raises
        ------
        NotAcceptedError
            With the reason.
        """
        reason = self.accepts(sdp)
        if reason:
            raise NotAcceptedError(f"reduction {self.name!r} does not apply: {reason}")
        # A user's reduction may write into the program, which is graded afterwards.
        reduced = self._reduce(sdp if self.is_ours() else deepcopy(sdp))
        if not isinstance(reduced, Reduced):
            raise DataTypeError(
                f"reduction {self.name!r} must return a Reduced; it returned {reduced!r}."
            )
        if self.is_narrower:
            reduced = replace(reduced, lift_verdict=_of_narrower)
        of = f"of reduction {self.name!r}"
        return replace(
            reduced,
            lift=_returning(Point, f"lift {of}", reduced.lift),
            lift_verdict=_returning(Verdict, f"lift_verdict {of}", reduced.lift_verdict),
        )

    @classmethod
    def is_ours(cls) -> bool:
        """Whether it is one of this package."""
        return cls.__module__.startswith(f"{__name__.partition('.')[0]}.")


def _returning(kind: type[_T], what: str, way: Callable[[_T], Any]) -> Callable[[_T], _T]:
    """A way back, with an error that says what it should return."""

    def checked(given: _T) -> _T:
        found = way(given)
        if not isinstance(found, kind):
            raise DataTypeError(f"{what} must return a {kind.__name__}; it returned {found!r}.")
        return found

    return checked


def _of_narrower(verdict: Verdict) -> Verdict:
    """The verdict on the whole program: that a part of its points is empty says nothing of it."""
    return Verdict.FAILED if verdict is Verdict.INFEASIBLE else verdict


@dataclass(frozen=True)
class Composed(Reduction):
    """Several reductions in turn; answers are lifted in the opposite order.

    Parameters
    ----------
    steps : sequence of Reduction
    """

    name: ClassVar[str] = "composed"
    steps: Sequence[Reduction] = ()

    def apply(self, sdp: SDP, deadline: Deadline = ENDLESS) -> Reduced:
        """Reduce a program before a deadline.

        Parameters
        ----------
        sdp : SDP
        deadline : Deadline, optional
            No step begins after it.

        Returns
        -------
        Reduced

        Raises
        ------
        NotAcceptedError
            With the reason.
        TimeUpError
            If a step ends after the deadline.
        """
        taken: list[Reduced] = []
        deadline.require()
        for step in self.steps:
            try:
                taken.append(step.apply(sdp))
            except InfeasibleError as error:
                if not taken:
                    raise
                # The reduced program may be narrower than the first, which need not be infeasible.
                names = ", ".join(before.name for before in self.steps[: len(taken)])
                raise NotAcceptedError(
                    f"reduction {step.name!r} finds rows that contradict each other in what "
                    f"{names} made of the program: {error} Ask without them for a verdict."
                ) from error
            sdp = taken[-1].sdp
            deadline.require()

        found = _together(sdp, taken)
        last = max((k for k, step in enumerate(self.steps) if step.is_narrower), default=None)
        if last is None:
            return found
        narrow = taken[last].sdp
        return replace(found, narrower=Narrower(narrow, _together(sdp, taken[last + 1 :])))

    def _reduce(self, sdp: SDP) -> Reduced:
        return self.apply(sdp)


def _together(sdp: SDP, taken: Sequence[Reduced]) -> Reduced:
    """Steps that were taken one after the other, and led to a program."""
    back = taken[::-1]
    pushes = [reduced.push for reduced in taken if reduced.push is not None]
    return Reduced(
        sdp,
        _in_turn([reduced.lift for reduced in back]),
        _in_turn([reduced.lift_value for reduced in back]),
        _in_turn(pushes) if len(pushes) == len(taken) else None,
        _in_turn([reduced.lift_verdict for reduced in back]),
    )


def _in_turn(ways: Sequence[Callable[[_T], _T]]) -> Callable[[_T], _T]:
    """The composition of functions, the first of them applied first."""

    def all_the_way(given: _T) -> _T:
        for way in ways:
            given = way(given)
        return given

    return all_the_way
