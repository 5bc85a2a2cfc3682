r"""The door of the kernel: what is proved of a program, from any solver's answer.

In turn, until both sides agree to the tolerance or the budget is spent: the answer as it is given;
points of the central path nearby, towards which it is moved as little as can be verified; where
there is no interior, the same on the smallest face, or a ray. What was proved by then is kept.
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
# Gap of the first point of the path, over the tolerance: what is left goes to the proofs.
_SHARE = 0.3
# Levels of the path that are tried upwards until both sides are proved, before faces are looked
# for, and after.
_FEW, _UPWARDS = 2, 4
# What is left at most of a gap that gets better.
_BETTER = 0.9
# Factors between levels.
_UP, _DOWN = 100.0, 0.2
# What is left of a gap where both sides come from elsewhere, rounded.
_CONTRADICTS = 1e-9
_MISTAKE = "their proofs contradict each other, a mistake of sdpdr's own: please report it"
# Beside the largest, the last digit of what is rounded where the optimum is next to zero.
_DIGITS = 2.0**-20
_FEW_DIGITS = "numbers of few digits"
# Steps of facial reduction.
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
    """What can be proved of a program, from the answer of any solver.

    Parameters
    ----------
    program : FlatProgram
    answer : Answer
        Nothing of it is believed; without multipliers little is proved.
    solve : callable of a program and seconds
        Proposes faces and rays, where there is no interior, in no more time.
    tol : float, default 1e-6
        Relative gap aimed at.
    seconds : float, optional
        Processor seconds, after which what is known is returned. A step that was begun is finished.
    claim : {"", "infeasible", "unbounded"}, default ""
        What the solver says; that is looked at first.
    stays : bool, default False
        Whether the point is to stay where it is, moved as little as can be verified, though others
        have a better value.
    known : Knowledge, optional
        Where all is gathered, also what was proved before an interruption.

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
        """What is proved of a smaller program in the time that is left."""
        known = Knowledge(scale=self.known.scale, nothing=self.known.nothing)
        left, oracle = self.left(), self._oracle
        return Kernel(program, answer, oracle, self.tol, left, faces, known).run()

    def run(self, claim: str = "") -> Knowledge:
        """All in turn; numbers that overflow on the way are looked at where they arrive."""
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
            # Two theorems that contradict each other are none: a mistake of the kernel's.
            known.notes.append(f"{VALUE} and {BOUND}: {_MISTAKE}")
            known.forget()
        if known.status == UNPROVED and known.gap <= self.tol:
            known.status = OPTIMAL
        known.seconds, known.is_late = time.process_time() - self._start, self.is_late()
        return known

    def _beyond(self) -> None:
        """What lies next to the answer, on the path and on faces."""
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
        """Proofs of both sides in the sizes of the answer."""
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
        """Zero itself, where both sides are next to it: at numbers of few digits."""
        known, answer = self.known, self.answer
        sides = zip(self._proofs(), (known.x, known.z), (answer.x, answer.z), strict=True)
        for proof, found, given in sides:
            y = given if found is None else found
            unit = _DIGITS * float(near_powers(np.max(np.abs(y), initial=1.0, keepdims=True))[0])
            near = unit * np.rint(y / unit)
            if not self._at(proof, near, _FEW_DIGITS):
                # As the box around numbers next to them, of which some have many digits.
                self.attempt(proof, near, _FEW_DIGITS)

    def _at(self, proof: Proof, y: Array, how: str) -> bool:
        """Prove a side for y itself, if it satisfies all equations exactly."""
        try:
            self._take(proof.side, proof.at(y), how)
        except (*MISSED, ArithmeticError):
            return False
        return True

    def _free_multipliers(self) -> Array | None:
        """Those that the cost is by itself, where every variable that costs is in a cone."""
        program, A = self.program, self.program.A
        alone = np.flatnonzero(np.diff(A.indptr) == 1)
        columns, first = np.unique(A.indices[A.indptr[alone]], return_index=True)
        rows = alone[first]
        z = np.zeros(program.f.size + program.b.size)
        z[program.f.size + rows] = -program.c[columns] / A.data[A.indptr[rows]]
        return None if np.any(program.c + A.T @ z[program.f.size :]) else z

    def _on_path(self) -> bool:
        """The first levels of the path, and all others where both sides are proved on them."""
        try:
            self._path = Path(self.program, self.is_late)
        except TooLargeError as why:
            self.known.notes.append(f"central path: {why}")
            return False
        return self._along_path(0, _FEW)

    def _along_path(self, first: int, most: int) -> bool:
        """Up to a level that proves both sides, ``most`` in vain; then down as far as it goes.

        Returns whether there was such a level.
        """
        lowest = self._up(self._least * _UP**first, most)
        if lowest is not None:
            self._down(*lowest)
        return lowest is not None

    def _up(self, mu: float, most: int) -> tuple[float, Triple] | None:
        """The lowest level that proves both sides, and what is there.

        Up to one that neither side gets better by: the answer, moved a little towards a point
        further inside, may be better than the point of a lower level.
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
        """Down from a level, where points of the path become better, until a half step fails."""
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
        """Point, slack and multipliers of a level that proves both sides, from others; or None."""
        assert self._path is not None
        found = self._path.centre(*now, mu)
        if found is None:
            self.known.notes.append(f"central path at {mu:.0e}: {self._path.why}")
            return None
        point, multipliers = found
        is_proved = self._is_proved_at(point, multipliers)
        return (point, self.program.b - self.program.A @ point, multipliers) if is_proved else None

    def _is_proved_at(self, point: Array, multipliers: Array) -> bool:
        """Whether both sides are proved, towards a point of the path; first one that is missing.

        The other may do as it is.
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
