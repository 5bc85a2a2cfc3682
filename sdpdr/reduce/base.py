"""Reductions: a program becomes another one, and answers travel back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.base.errors import DataTypeError, InfeasibleError, NotAcceptedError
from sdpdr.linalg import LinearMap
from sdpdr.program.point import Factor, Point, Value, congruent
from sdpdr.program.rows import Expression
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
        Takes a `Point` of the original program to one of the reduced, for a solver to start from:
        whatever is known of it. Every reduction of the package has one.
    lift_verdict : callable
        Takes what a solver says of the reduced program to what this means for the original; the
        identity by default.
    """

    sdp: SDP
    lift: Callable[[Point], Point]
    lift_value: Callable[[float], float] = lambda value: value
    push: Callable[[Point], Point] | None = None
    lift_verdict: Callable[[Verdict], Verdict] = lambda verdict: verdict


class Reduction(ABC):
    """A step from one program to an equivalent one; frozen dataclasses, fields are options."""

    name: ClassVar[str]
    # Whether the new program has fewer points, so that it may have none where the old one has.
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
        # Others may write where they like, and what they write is not what is graded.
        reduced = self._reduce(sdp if self.is_ours() else deepcopy(sdp))
        if not isinstance(reduced, Reduced):
            raise DataTypeError(
                f"reduction {self.name!r} must return a Reduced; it returned {reduced!r}."
            )
        if self.is_narrower:
            reduced = replace(reduced, lift_verdict=_of_narrower)
        return reduced if self.is_ours() else replace(reduced, **_checked(self.name, reduced))

    @classmethod
    def is_ours(cls) -> bool:
        """Whether it is one of this package."""
        return cls.__module__.startswith(f"{__name__.partition('.')[0]}.")


def in_bases(expression: Expression, bases: Mapping[str, Matrix]) -> Expression:
    """The maps of an expression where X = V M V^T, with a basis V for some of the matrices."""
    return {
        name: a.congruence(bases[name]) if name in bases and isinstance(a, LinearMap) else a
        for name, a in expression.items()
    }


def out_of_bases(values: Mapping[str, Value], bases: Mapping[str, Matrix]) -> dict[str, Value]:
    """Values X = V M V^T of all matrices that have a basis V; others as they are."""
    return {name: congruent(x, bases[name]) if name in bases else x for name, x in values.items()}


def into_bases(values: Mapping[str, Value], bases: Mapping[str, Matrix]) -> dict[str, Value]:
    """The M nearest to X = V M V^T, for all matrices that have a basis V; others as they are.

    Examples
    --------
    >>> into_bases({"X": 4.0 * np.ones((2, 2))}, {"X": np.ones((2, 1))})
    {'X': array([[4.]])}
    """
    return {
        name: _coordinates(x, bases[name]) if name in bases else x for name, x in values.items()
    }


def _coordinates(value: Value, V: Matrix) -> Value:
    if sp.issparse(V):
        factors = spl.splu(sp.csc_array(V.T @ V))
        solve = factors.solve
    else:
        solve = partial(np.linalg.solve, V.T @ V)
    if isinstance(value, Factor):
        return Factor(solve(np.asarray(V.T @ value.factor)))
    half = solve(np.asarray(V.T @ np.asarray(value)))
    return np.asarray(solve(np.asarray(V.T @ half.T)))


def among_zeros(y: Array, kept: NDArray[np.bool_]) -> Array:
    """Multipliers of the rows kept, with zeros for the others."""
    full = np.zeros(kept.size)
    full[kept] = y
    return full


def _checked(name: str, reduced: Reduced) -> dict[str, Any]:
    """The ways back of a reduction that somebody wrote, which say what they should return."""

    def lift(point: Point) -> Point:
        found = reduced.lift(point)
        if not isinstance(found, Point):
            raise DataTypeError(f"lift of reduction {name!r} must return a Point; it is {found!r}.")
        return found

    def lift_verdict(verdict: Verdict) -> Verdict:
        found = reduced.lift_verdict(verdict)
        if not isinstance(found, Verdict):
            raise DataTypeError(
                f"lift_verdict of reduction {name!r} must return a Verdict; it is {found!r}."
            )
        return found

    return {"lift": lift, "lift_verdict": lift_verdict}


def _of_narrower(verdict: Verdict) -> Verdict:
    """What a verdict on a program with fewer points says of the whole: not that it has none."""
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
        """Reduce a program, in time.

        Parameters
        ----------
        sdp : SDP
        deadline : Deadline, optional
            No step begins after it, and what ends after it is of no use.

        Returns
        -------
        Reduced

        Raises
        ------
        NotAcceptedError
            With the reason.
        TimeUpError
            When the time is up.
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

        back = taken[::-1]
        pushes = [reduced.push for reduced in taken if reduced.push is not None]
        return Reduced(
            sdp,
            _in_turn([reduced.lift for reduced in back]),
            _in_turn([reduced.lift_value for reduced in back]),
            _in_turn(pushes) if len(pushes) == len(taken) else None,
            _in_turn([reduced.lift_verdict for reduced in back]),
        )

    def _reduce(self, sdp: SDP) -> Reduced:
        return self.apply(sdp)


def _in_turn(ways: Sequence[Callable[[_T], _T]]) -> Callable[[_T], _T]:
    def all_the_way(given: _T) -> _T:
        for way in ways:
            given = way(given)
        return given

    return all_the_way
