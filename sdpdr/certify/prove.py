r"""The entry point of the kernel: prove a value and a bound from any solver's answer.

Three arguments are tried in turn, until both sides agree to the tolerance or the budget is spent:
the answer as it is given; the answer moved towards points of the central path, by the smallest step
that can be verified; and, if there is no interior, the same on the smallest face, or a ray. All
that is proved by then is kept.
"""

from __future__ import annotations

import time
from contextlib import suppress
from math import inf

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.certify.attempts import Attempts, Oracle
from sdpdr.certify.equations import MISSED
from sdpdr.certify.flat import Answer, FlatProgram
from sdpdr.certify.knowledge import (
    BOUND,
    OPTIMAL,
    UNPROVED,
    VALUE,
    Knowledge,
)
from sdpdr.certify.on_faces import OnFaces
from sdpdr.certify.path import Path, TooLargeError
from sdpdr.certify.proof import Proof, bound_proof, value_proof
from sdpdr.linalg.rounding import near_powers

# A point, its slack, and multipliers.
Triple = tuple[Array, Array, Array]
# Gap of the first point of the path over the tolerance; the rest is for the losses of the proofs.
_SHARE = 0.3
# Levels of the path that are tried upwards until both sides are proved: before a search for faces,
# and after it.
_FEW, _UPWARDS = 2, 4
# An improvement reduces the gap to this share at most.
_BETTER = 0.9
# Factors between levels.
_UP, _DOWN = 100.0, 0.2
# What is left of a gap where both sides come from elsewhere, rounded.
_CONTRADICTS = 1e-9
_MISTAKE = "their proofs contradict each other, a mistake of sdpdr's own: please report it"
# The unit to which numbers are rounded if the optimum may be zero, relative to the largest.
_DIGITS = 2.0**-20
_FEW_DIGITS = "numbers of few digits"
# Most steps of facial reduction.
_FACES = 3


def prove(
    program: FlatProgram,
    answer: Answer,
    solve: Oracle,
    *,
    tol: float = 1e-6,
    seconds: float = inf,
    claim: str = "",
    stays: bool = False,
    known: Knowledge | None = None,
) -> Knowledge:
    """Prove a value, a bound or a ray of a program from the answer of any solver.

    Parameters
    ----------
    program : FlatProgram
    answer : Answer
        Nothing of it is trusted; without multipliers little can be proved.
    solve : callable of a program and seconds
        An oracle that proposes faces and rays within the seconds, if there is no interior.
    tol : float, default 1e-6
        Relative gap aimed at.
    seconds : float, optional
        CPU seconds, after which the results so far are returned; a step that was begun is finished.
    claim : {"", "infeasible", "unbounded"}, default ""
        The claim of the solver, which is tried first.
    stays : bool, default False
        Whether the point is only moved as little as can be verified, even if other points have a
        better value.
    known : Knowledge, optional
        Collects the results, so that they are kept after an interruption.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sdpdr.certify.flat import NONNEGATIVE, Piece, build
    >>> above_one = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0]]), -np.ones(1))
    >>> program = build(np.ones(1), sp.csr_array((0, 1)), np.zeros(0), [above_one])
    >>> answer = Answer(np.ones(1) + 1e-9, np.full(1, 1e-9), np.ones(1), True)
    >>> known = prove(program, answer, solve=None)
    >>> known.status, round(known.value, 6), round(known.bound, 6)
    ('optimal', 1.0, 1.0)
    """
    known = Knowledge() if known is None else known
    kernel = Kernel(program, answer, solve, tol, seconds, _FACES, known)
    kernel.stays = stays
    return kernel.run(claim)


class Kernel(Attempts):
    """The order of all attempts."""

    _path: Path | None = None

    @property
    def _least(self) -> float:
        """The first level of the path."""
        return _SHARE * self.tol * self._size() / self.program.degree

    def inner(self, program: FlatProgram, answer: Answer, faces: int) -> Knowledge:
        """Prove a smaller program in the time that is left."""
        known = Knowledge(scale=self.known.scale, nothing=self.known.nothing)
        left, oracle = self.left(), self._oracle
        return Kernel(program, answer, oracle, self.tol, left, faces, known).run()

    def run(self, claim: str = "") -> Knowledge:
        """Run all attempts in turn; results are checked for overflow, so it gives no warnings."""
        with np.errstate(all="ignore"):
            return self._run(claim)

    def _run(self, claim: str) -> Knowledge:
        known = self.known
        if not (claim and OnFaces(self, self.inner).is_as_claimed(claim)):
            self._as_given()
            # Where a side is missing there is no path to follow.
            if self._has_point and self._has_multipliers:
                self._beyond()
            elif claim:
                OnFaces(self, self.inner).run()
        if known.is_nothing and known.gap > self.tol:
            self._rounded_to_zero()
        if known.gap < -_CONTRADICTS:
            # One of two proofs that contradict each other is wrong, so neither is kept.
            known.notes.append(f"{VALUE} and {BOUND}: {_MISTAKE}")
            known.forget()
        if known.status == UNPROVED and known.gap <= self.tol:
            known.status = OPTIMAL
        known.seconds, known.is_late = time.process_time() - self._start, self.is_late()
        return known

    def _beyond(self) -> None:
        """Attempts near the answer: on the central path and on faces."""
        is_followed = not self.is_done and not self.is_late() and self._on_path()
        has_faces = self.faces > 0 and not self.stays
        if self._lacks_a_side() and has_faces and not self.is_late():
            OnFaces(self, self.inner).run()
        is_open = self.known.status == UNPROVED and not self.is_done
        if is_open and self._path is not None and not is_followed and not self.program.faceless:
            self._along_path(_FEW, _UPWARDS)

    def _lacks_a_side(self) -> bool:
        known = self.known
        return known.status == UNPROVED and not (VALUE in known.how and BOUND in known.how)

    def _proofs(self) -> tuple[Proof, Proof]:
        """The proofs of both sides, in the metric of the answer."""
        answer = self.answer
        return value_proof(self.program, answer.s), bound_proof(self.program, answer.z)

    def _as_given(self) -> None:
        program, (x, _, z, _) = self.program, self.answer
        values, bounds = self._proofs()
        free = self._free_multipliers()
        if free is not None:
            with suppress(*MISSED, ArithmeticError):
                self._take(BOUND, bounds.at(free), "costs that lie in the dual cone")
        slack = program.b - program.A @ x
        if self._has_point and program.contain(slack, np.zeros_like(slack)):
            how = "the point as it is given"
            _ = self.attempt(values, x, how) or self._at(values, x, how)
        cones = z[program.f.size :]
        if self._has_multipliers and program.dual_contain(cones, np.zeros_like(cones)):
            how = "the multipliers as they are given"
            _ = self.attempt(bounds, z, how) or self._at(bounds, z, how)

    def _rounded_to_zero(self) -> None:
        """Prove zero itself at numbers of few digits, if both sides are next to it."""
        known, answer = self.known, self.answer
        sides = zip(self._proofs(), (known.x, known.z), (answer.x, answer.z), strict=True)
        for proof, found, given in sides:
            y = given if found is None else found
            unit = _DIGITS * float(near_powers(np.max(np.abs(y), initial=1.0, keepdims=True))[0])
            near = unit * np.rint(y / unit)
            if not self._at(proof, near, _FEW_DIGITS):
                # Some entries of a solution may have many digits, so try a box around these.
                self.attempt(proof, near, _FEW_DIGITS)

    def _at(self, proof: Proof, y: Array, how: str) -> bool:
        """Prove a side for y itself, if it satisfies all equations exactly."""
        try:
            self._take(proof.side, proof.at(y), how)
        except (*MISSED, ArithmeticError):
            return False
        return True

    def _free_multipliers(self) -> Array | None:
        """The costs as multipliers, if each variable with a cost has a row of A to itself."""
        program, A = self.program, self.program.A
        alone = np.flatnonzero(np.diff(A.indptr) == 1)
        columns, first = np.unique(A.indices[A.indptr[alone]], return_index=True)
        rows = alone[first]
        z = np.zeros(program.f.size + program.b.size)
        z[program.f.size + rows] = -program.c[columns] / A.data[A.indptr[rows]]
        return None if np.any(program.c + A.T @ z[program.f.size :]) else z

    def _on_path(self) -> bool:
        """Try the first levels of the path, and others if both sides are proved on one of them."""
        try:
            self._path = Path(self.program, self.is_late)
        except TooLargeError as why:
            self.known.notes.append(f"central path: {why}")
            return False
        return self._along_path(0, _FEW)

    def _along_path(self, first: int, most: int) -> bool:
        """Go up to a level that proves both sides, and then down while proofs succeed.

        Returns whether one of the first ``most`` levels proves both sides.
        """
        lowest = self._up(self._least * _UP**first, most)
        if lowest is not None:
            self._down(*lowest)
        return lowest is not None

    def _up(self, mu: float, most: int) -> tuple[float, Triple] | None:
        """The lowest level that proves both sides, and its point, slack and multipliers.

        The search goes on upwards while the gap improves: the answer, moved a little towards a
        point further inside, may be better than the point of a lower level.
        """
        lowest = None
        for count in range(1, _UPWARDS + 1):
            if self.is_late() or self.is_done:
                break
            gap = self.known.gap
            here = self._level(self.answer[:3], mu)
            if lowest is not None and not self.known.gap < _BETTER * gap:
                break
            if here is not None and lowest is None:
                lowest = mu, here
            if lowest is None and count == most:
                break
            mu *= _UP
        return lowest

    def _down(self, mu: float, now: Triple) -> None:
        """Go down from a level, where points of the path are better, until half a step fails."""
        factor = _DOWN
        while not (self.is_late() or self.is_done):
            here = self._level(now, factor * mu)
            if here is not None:
                mu, now, factor = factor * mu, here, _DOWN
            elif factor == _DOWN:
                factor = np.sqrt(_DOWN)
            else:
                return

    def _level(self, now: Triple, mu: float) -> Triple | None:
        """Centre from ``now`` to a level; its triple if it proves both sides, else None."""
        assert self._path is not None
        found = self._path.centre(*now, mu)
        if found is None:
            self.known.notes.append(f"central path at {mu:.0e}: {self._path.why}")
            return None
        point, multipliers = found
        is_proved = self._is_proved_at(point, multipliers)
        return (point, self.program.b - self.program.A @ point, multipliers) if is_proved else None

    def _is_proved_at(self, point: Array, multipliers: Array) -> bool:
        """Whether both sides are proved, moved towards a point of the path.

        A missing side is tried first, since the other may be good enough already.
        """
        program, (x, _, z, _), how = self.program, self.answer, "towards the central path"
        values = value_proof(program, program.b - program.A @ point), x, f"a point {how}", point
        bounds = bound_proof(program, multipliers), z, f"multipliers {how}", multipliers
        is_proved = True
        for attempt in sorted((values, bounds), key=lambda one: one[0].side in self.known.how):
            if self.is_done:
                break
            is_proved &= self.attempt(*attempt)
        return is_proved
