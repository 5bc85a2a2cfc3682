"""Proofs of both sides of an answer: bounds by multipliers, and values by feasible points."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.program.attain import (
    Attained,
    InterruptedProofError,
    attain,
    central_multipliers,
    inward_multipliers,
)
from sdpdr.program.attain.attain import INTERRUPTED, better_value
from sdpdr.program.attain.corrected import even_lengths
from sdpdr.program.attain.local import Sides, both_sides
from sdpdr.program.attain.written import is_worth_writing
from sdpdr.program.backward import dual_backward_error
from sdpdr.program.certificate import Certificate, certify
from sdpdr.program.certificate.account import Account
from sdpdr.program.certificate.arithmetic import Plain, Rigorous
from sdpdr.program.certificate.certify import by_objective, may_bound_itself
from sdpdr.program.certificate.free import has_no_objective
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Factor, Point
from sdpdr.program.rays.faces import on_faces
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import is_nothing

# How far from the value, relatively, a bound may be to say anything.
_WORTH = 1e-2
_ON_A_FACE = "multipliers on a face of those that are feasible; "


@dataclass(frozen=True, eq=False)
class Proofs:
    """How bounds and values of a program are proved.

    Parameters
    ----------
    sdp : SDP
    tol : float
        How near the two sides are to come.
    deadline : Deadline, optional
        No step towards a feasible point, and none towards a tighter bound, begins after it.
    rigorous : bool, default False
        Account for all rounding.
    gap_scale : float, default 0
        A size of the objective below which the two sides are compared absolutely.
    """

    sdp: SDP
    tol: float
    deadline: Deadline = ENDLESS
    rigorous: bool = False
    gap_scale: float = 0.0

    def of(
        self, given: Point, goal: float | None = None, *, hurried: bool = False
    ) -> tuple[Certificate, Attained]:
        """A bound with the multipliers that prove it, and a value.

        Who is hurried does not wait for a tighter bound. Of small programs both sides are first
        tried by dense linear algebra, which takes a tenth of the time where it leads anywhere.

        Raises
        ------
        InterruptedProofError
            In place of a KeyboardInterrupt, with what was proved by then.
        """
        known = _Known(Attained(None, INTERRUPTED, given.values), Certificate(None, INTERRUPTED))
        try:
            return self._proved(given, goal, known, hurried=hurried)
        except KeyboardInterrupt as error:
            attained = known.attained
            if isinstance(error, InterruptedProofError):
                attained = better_value(self.sdp, attained, error.attained)
            raise InterruptedProofError(attained, known.certificate) from None

    def _proved(
        self, given: Point, goal: float | None, known: _Known, *, hurried: bool
    ) -> tuple[Certificate, Attained]:
        """The same, which says on the way what is known by then."""
        idle = self._by_objective(given)
        # Squares are slack that closes a point whatever it is, and lengths that are to be alike are
        # averaged, which takes less than both sides.
        closes = any(v.curvature is not None for v in self.sdp.vector_variables)
        closes = closes or self.sdp.remembered(even_lengths) is not None
        skips = self.rigorous or idle is not None or closes
        sides = Sides() if skips else self._sides(given)
        if (met := _met(sides)) is not None:
            return met
        known.attained = sides.attained or known.attained
        certificate = self.certified(given, goal) if idle is None else idle
        if closes and not self.rigorous:
            near = self.attained(given, certificate.bound, path=False)
            if near.value is not None and self._is_tight(certificate, near.value):
                return certificate, near
            sides = self._sides(given)
            known.attained = sides.attained or known.attained
        if idle is None:
            certificate = self._on_a_face(certificate, given)
        if sides.certificate:
            certificate = self._better(certificate, sides.certificate)
        known.certificate = certificate
        met = _met(sides) or self._met_before_path(certificate, given)
        if met is not None:
            return met
        known.attained = self._also_attained(sides.attained, certificate, given)
        if not hurried:
            certificate = self._tightened(certificate, known.attained, given)
        return certificate, known.attained

    def _by_objective(self, given: Point) -> Certificate | None:
        """What multipliers of zero prove, where others could hardly prove more; else None.

        Those of a solver are noise there, and may prove nothing.
        """
        if has_no_objective(self.sdp) or not may_bound_itself(self.sdp):
            return None
        value = self.sdp.report(value_of(self.sdp, given))
        above = value - self.sdp.constant
        enough = 0.5 * self.tol * max(abs(value), self.gap_scale)
        if not (above <= enough or is_nothing(self.sdp, above)):
            return None
        return by_objective(self.sdp, rigorous=self.rigorous)

    def _on_a_face(self, certificate: Certificate, given: Point) -> Certificate:
        """The bound, or a better one where multipliers lie at the boundary of what is feasible."""
        value = value_of(self.sdp, given)
        if not given.duals or self.deadline.is_over() or self._is_tight(certificate, value):
            return certificate
        if not self.sdp.is_dual_point(given.duals) or has_no_objective(self.sdp):
            return certificate
        arithmetic = Rigorous() if self.rigorous else Plain()
        for relaxation in on_faces(self.sdp, given.duals):
            if self.rigorous and not relaxation.is_exact:
                continue
            with suppress(ArithmeticError, np.linalg.LinAlgError):
                account = Account(relaxation.sdp, arithmetic)
                found = account.certificate([relaxation.duals], _ON_A_FACE + arithmetic.words)
                if found is not None and self._better(certificate, found) is found:
                    certificate = replace(found, duals=relaxation.lift(found.duals))
            if self._is_tight(certificate, value):
                break
        return certificate

    def _sides(self, given: Point, *, large: bool = False) -> Sides:
        return both_sides(self.sdp, given, self.tol, self.gap_scale, self.deadline, large=large)

    def _met_before_path(
        self, certificate: Certificate, given: Point
    ) -> tuple[Certificate, Attained] | None:
        """Both sides, where no Newton step along the central path is needed; else None.

        To look for the nearest feasible point takes least, then dense linear algebra. Who works
        with factors has arguments of its own.
        """
        narrow = any(isinstance(value, Factor) for value in given.values.values())
        if self.rigorous or narrow or self.deadline.is_over() or not is_worth_writing(self.sdp):
            return None
        near = self.attained(given, certificate.bound, path=False)
        if near.value is not None and self._is_tight(certificate, near.value):
            return certificate, near
        return _met(self._sides(given, large=True))

    def _also_attained(
        self, known: Attained | None, certificate: Certificate, given: Point
    ) -> Attained:
        """A value that is proved already, unless it is far from the bound and another is nearer."""
        if known is None or known.value is None:
            return self.attained(given, certificate.bound)
        if self._is_tight(certificate, known.value):
            return known
        found = self.attained(given, certificate.bound)
        better = better_value(self.sdp, found, known)
        # The multipliers may prove a bound though the point is not the better one.
        return replace(better, duals=found.duals or better.duals)

    def certified(self, point: Point, goal: float | None = None) -> Certificate:
        """A bound, with all multipliers that prove it: those of a point, moved if need be."""
        if not point.duals and (self.sdp.rows or self.sdp.lmis):
            return Certificate(None, "the solver returned no multipliers")
        certificate = certify(
            self.sdp, point.duals, rigorous=self.rigorous, goal=goal, deadline=self.deadline
        )
        if not certificate.duals:
            return replace(certificate, duals=point.duals)
        duals = complete_multipliers(self.sdp, {**point.duals, **certificate.duals})
        return replace(certificate, duals=duals)

    def attained(
        self, point: Point, bound: float | None, *, path: bool = True, near: bool = False
    ) -> Attained:
        """The value of a point that is proved feasible, as near to a bound as may be."""
        return attain(
            self.sdp,
            point,
            goal=float("nan") if bound is None else bound,
            tol=self.tol,
            rigorous=self.rigorous,
            path=path,
            near=near,
            deadline=self.deadline,
        )

    def _tightened(self, certificate: Certificate, attained: Attained, given: Point) -> Certificate:
        """The bound, or a better one from multipliers moved inwards where it is far from the value.

        Those given are moved: what proves the bound so far may have been moved far already.
        """
        goal = value_of(self.sdp, given) if attained.value is None else attained.value
        if self.deadline.is_over() or not certificate.duals or self._is_tight(certificate, goal):
            return certificate
        if not self.gap_scale and is_nothing(self.sdp, certificate.bound, attained.value):
            return certificate
        # Along the path to that point, or else after all that is nearer.
        inward = inward_multipliers(self.sdp, given, self.tol, self.deadline)
        central = central_multipliers(self.sdp, given, self.tol, self.deadline)
        for duals in chain([attained.duals], inward) if attained.duals else chain(inward, central):
            certificate = self._better(certificate, self.certified(Point(given.values, duals)))
            if self.deadline.is_over() or self._is_tight(certificate, goal):
                break
        return self._unless_poor(certificate, given, goal)

    def _unless_poor(self, certificate: Certificate, given: Point, goal: float) -> Certificate:
        """A bound, or none where it is worthless beside multipliers that are right for data nearby.

        As of programs whose dual has no interior: what proves anything there lies far from the
        optimum.
        """
        bound, tol = certificate.bound, self.tol
        if bound is None or not abs(goal - bound) > _WORTH * abs(goal):
            return certificate
        claimed = self.sdp.report(self.sdp.dual_value(given.duals))
        error = dual_backward_error(self.sdp, given.duals)
        if abs(goal - claimed) > tol * abs(goal) or not error <= tol:
            return certificate
        words = f"the multipliers hold for data nearby, and no more than {bound:.6g} is proved"
        return Certificate(None, words, duals=given.duals)

    def _better(self, one: Certificate, other: Certificate) -> Certificate:
        """The tighter of two bounds, the first one on ties."""
        if other.bound is None or one.bound is None:
            return one if other.bound is None else other
        tighter = other.bound < one.bound if self.sdp.maximize else other.bound > one.bound
        return other if tighter else one

    def _is_tight(self, certificate: Certificate, goal: float) -> bool:
        """Whether a bound leaves half of the tolerance to what is attained."""
        if certificate.bound is None or not np.isfinite(goal):
            return False
        away = self.sdp.report(goal) - self.sdp.report(certificate.bound)
        return away <= 0.5 * self.tol * max(abs(goal), self.gap_scale)


@dataclass(eq=False)
class _Known:
    """What is proved so far."""

    attained: Attained
    certificate: Certificate


def _met(sides: Sides) -> tuple[Certificate, Attained] | None:
    """Both sides; None unless they are as near as is wanted."""
    if sides.certificate is None or sides.attained is None or not sides.meet:
        return None
    return sides.certificate, sides.attained


def value_of(sdp: SDP, point: Point) -> float:
    """The objective at a point, in the sense of the person; ``nan`` where there is none."""
    return sdp.report(sdp.primal_value(point.values)) if point.values else float("nan")
