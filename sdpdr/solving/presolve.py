"""Faces and units around a solve: before anything is planned, and on the way back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import InfeasibleError
from sdpdr.base.packages import version_of
from sdpdr.linalg.svec import smat, svec, svec_size
from sdpdr.program.backward import Measured
from sdpdr.program.point import Point
from sdpdr.program.ray import Ray, margin_of
from sdpdr.program.run import Claim, Status
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.reduce import Balance, FacialReduction, Reduced, facial_reduction

# Contradictions of this size, relative to right sides, may be due to the rounding of data.
_DATA_ROUNDING = 1e-12
# How far a point proved feasible on a face may miss the rows of the program, by rounding.
_GROSS = 1e-3
_ROUNDED = "which may be rounding of the data"
_FACE = "the face that {} exposing steps prove"
_MISSES = (
    "the point misses the program by {:.1e}: its face is a mistake of sdpdr's, please report it"
)


@dataclass(frozen=True, eq=False)
class Presolved:
    """A program on its faces and in units that suit it, and the way back.

    Attributes
    ----------
    original : SDP
    faced : FacialReduction or None
        None where nothing was proved to confine the points.
    balanced : Reduced or None
        Units are powers of two, so that it is the same program, and what is proved of it is proved
        of the one before: multipliers, value and bound stay as they are.
    """

    original: SDP
    faced: FacialReduction | None = None
    balanced: Reduced | None = None

    @property
    def sdp(self) -> SDP:
        """What is to be planned and solved."""
        return self._on_face if self.balanced is None else self.balanced.sdp

    @property
    def _on_face(self) -> SDP:
        """The program on its face, in its own units."""
        return self.original if self.faced is None else self.faced.sdp

    @property
    def refutation(self) -> FacialReduction | None:
        """The faces, where they leave no point."""
        return None if self.faced is None or self.faced.infeasible is None else self.faced

    def words(self) -> list[str]:
        """A description of the reductions that were applied, for the user."""
        steps = []
        if self.faced is not None:
            steps.append(_FACE.format(len(self.faced.exposures)))
        if self.balanced is not None:
            steps.append("units in which rows and columns are of like size")
        return steps

    def push(self, start: Solution | Point) -> Solution | Point:
        """A start of the program as one of the presolved one; unknown multipliers begin at zero."""
        # A solution says nan of multipliers that there are none of; from others it is a mistake.
        if isinstance(start, Solution) and any(np.isnan(y).any() for y in start.duals.values()):
            start = Point(start.values, {k: np.nan_to_num(y) for k, y in start.duals.items()})
        if self.faced is not None:
            start = self.faced.push(Point(start.values, start.duals))
        if self.balanced is not None:
            assert self.balanced.push is not None
            start = self.balanced.push(Point(start.values, start.duals))
        return start

    def lift(self, solution: Solution) -> Solution:
        """An answer to the presolved program as one to the original."""
        if self.balanced is not None:
            point = self.balanced.lift(Point(solution.values, solution.duals))
            solution = replace(
                solution,
                values=point.values,
                measured=Measured(self._on_face, point),
                ray=_lifted_ray(solution.ray, self.balanced.lift),
            )
        return solution if self.faced is None else _on_all(solution, self.faced)


def presolve(sdp: SDP) -> Presolved:
    """A program on its faces, and in units of its own where these are needed."""
    faced = facial_reduction(sdp)
    found = Presolved(sdp, faced if faced.exposures else None)
    if found.refutation is not None or Balance().accepts(found.sdp) is not None:
        return found
    return replace(found, balanced=Balance().apply(found.sdp))


def _lifted_ray(ray: Ray | None, lift: Callable[[Point], Point]) -> Ray | None:
    if ray is None:
        return None
    point = lift(Point(ray.values, ray.duals))
    # A side that proves nothing stays empty, though the lift fills it.
    return replace(
        ray, values=point.values if ray.values else {}, duals=point.duals if ray.duals else {}
    )


def _on_all(solution: Solution, faced: FacialReduction) -> Solution:
    """An answer to the program on a face as one to the original.

    Value, bound and grade are those of the reduced program, which is equivalent by the proofs in
    ``exposures``; the point is held against the rows of the original program all the same.
    Multipliers are nan in rows that expose a face where none were found: the original program may
    have none with this value.
    """
    point = faced.lift(Point(solution.values, solution.duals))
    measured = Measured(faced.original, point, on_face=solution.measured)
    if solution.attained is not None and not measured.backward_error <= _GROSS:
        error = measured.backward_error
        words = f"{_MISSES.format(error)} ({solution.attained_by})"
        solution = replace(
            solution, attained=None, attained_by=words, status=Status.INACCURATE, epsilon=error
        )
    return replace(
        solution,
        values=point.values,
        duals=point.duals,
        measured=measured,
        argument=f"{solution.argument}; on {_FACE.format(len(faced.exposures))}",
        exposures=faced.exposures,
        ray=_lifted_ray(solution.ray, faced.embed),
    )


def refuted_solution(faced: FacialReduction, seconds: Mapping[str, float], tol: float) -> Solution:
    """The answer to a program that facial reduction proved infeasible; nothing was solved."""
    assert faced.infeasible is not None
    words = faced.infeasible
    if faced.violation <= _DATA_ROUNDING:  # The data as they were meant may say otherwise.
        words += f"; by {faced.violation:.1g} of the largest right side, {_ROUNDED}"
    unsolved = _unsolved(faced.original, words, "facial reduction", seconds, tol)
    return replace(
        unsolved,
        argument=faced.infeasible,
        exposures=faced.exposures,
        ray=_contradiction(faced),
    )


def contradicted_solution(
    sdp: SDP, error: InfeasibleError, seconds: Mapping[str, float], tol: float
) -> Solution:
    """The answer to a program of which a reduction saw that rows contradict each other exactly."""
    unsolved = _unsolved(sdp, str(error), "reduction", seconds, tol)
    found = _ray(sdp, error.multipliers, str(error))
    return replace(unsolved, ray=found)


def _unsolved(
    sdp: SDP, words: str, form: str, seconds: Mapping[str, float], tol: float
) -> Solution:
    """The claim of infeasibility of a program that no solver was run for."""
    return Solution(
        status=Status.INFEASIBLE,
        value=float("nan"),
        bound=None,
        argument=words,
        values={},
        duals={},
        claimed=Claim("infeasible", message=words, verdict="infeasible"),
        timings=dict(seconds),
        solver="none",
        form=form,
        tol=tol,
        versions={"sdpdr": version_of("sdpdr")},
        maximize=sdp.maximize,
        attained_by="there is no point",
        # What contradicts the rows is verified over the rationals.
        rigorous=True,
    )


def _contradiction(faced: FacialReduction) -> Ray | None:
    """The last step as a ray, where it does not lean on faces of those before it."""
    last = faced.exposures[-1]
    sdp = faced.original
    if last.after:
        return None
    duals = {r.label: np.zeros(r.m) for r in sdp.rows}
    parts = {lmi.label: np.zeros(svec_size(lmi.order)) for lmi in sdp.lmis}
    for label, place, y in last.multipliers:
        (duals if label in duals else parts)[label][place] = float(y)
    duals |= {label: smat(part) for label, part in parts.items()}
    return _ray(sdp, duals, last.words)


def _ray(sdp: SDP, duals: Mapping[str, Array], words: str) -> Ray:
    """Multipliers that contradict the rows exactly, as a ray; those that are missing are zero."""
    complete = {**sdp.zero_point().duals, **duals}
    terms = [r.rhs * complete[r.label] for r in sdp.rows]
    terms += [lmi.constant * svec(complete[lmi.label]) for lmi in sdp.lmis]
    margin = margin_of(np.concatenate([np.zeros(0), *terms]))
    return Ray("infeasible", margin, words, duals=complete if duals else {})
