"""State of the attempts to prove a program: results, accepted losses, and the budget."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from sdpdr.base.arrays import Array, largest
from sdpdr.certify.equations import MISSED
from sdpdr.certify.flat import Answer, FlatProgram
from sdpdr.certify.knowledge import BOUND, VALUE, Knowledge
from sdpdr.certify.proof import Proof, Proved

# A solver that is called for proposals, with a number of seconds; its answers are not trusted.
Oracle = Callable[[FlatProgram, float], Answer]
# Loss of a side, over the tolerance, that is negligible.
_NEGLIGIBLE = 1e-4
# Largest share of the way inside by which a point is moved if ``stays`` is requested.
_LITTLE = 1e-5


class Attempts:
    """The state of one proof.

    Parameters
    ----------
    program : FlatProgram
    answer : Answer
        Missing parts are replaced by points inside the cones.
    oracle : callable of a flat program and seconds
    tol : float
    seconds : float
        The budget.
    faces : int
        Steps of facial reduction that are left.
    known : Knowledge
        Collects the results.
    """

    def __init__(
        self,
        program: FlatProgram,
        answer: Answer,
        oracle: Oracle,
        tol: float,
        seconds: float,
        faces: int,
        known: Knowledge,
    ) -> None:
        self._has_point, self._has_multipliers = (
            bool(np.all(np.isfinite(v))) for v in (answer.x, answer.z)
        )
        nothing, centre = np.zeros(program.c.size), program.centre
        if not self._has_point:
            answer = answer._replace(x=nothing, s=centre)
        if not self._has_multipliers:
            answer = answer._replace(z=np.concatenate([np.zeros(program.f.size), centre]))
        self.program, self.answer, self._oracle = program, answer, oracle
        self.tol, self.faces = tol, faces
        self._start, self._seconds = time.process_time(), seconds
        self.known, self.has_interior, self.stays = known, False, False
        self._right = np.concatenate([program.f, program.b])

    def left(self) -> float:
        """Seconds of the budget that are left."""
        return self._seconds - (time.process_time() - self._start)

    def is_late(self) -> bool:
        """Whether the budget is spent."""
        return self.left() < 0.0

    def solve(self, program: FlatProgram) -> Answer:
        """The proposal of the oracle, within the budget."""
        return self._oracle(program, max(self.left(), 0.0))

    @property
    def is_done(self) -> bool:
        """Whether both sides agree to the tolerance."""
        return self.known.gap <= self.tol or self.known.is_nothing

    @property
    def is_close(self) -> bool:
        """Whether relative residuals of the answer are at most the root of the tolerance."""
        program, (x, s, z, _) = self.program, self.answer
        E, A, dual = program.E, program.A, program.dual_equations
        sides = (
            (E @ x - program.f, abs(E) @ abs(x) + abs(program.f)),
            (A @ x + s - program.b, abs(A) @ abs(x) + abs(program.b)),
            (dual @ z + program.c, abs(dual) @ abs(z) + abs(program.c)),
        )
        most = np.sqrt(self.tol)
        return all(np.linalg.norm(off) <= most * np.linalg.norm(sizes) for off, sizes in sides)

    def attempt(self, proof: Proof, y: Array, how: str, inside: Array | None = None) -> bool:
        """Prove a side for y, or for y moved towards ``inside`` as little as can be verified."""
        most = _LITTLE if self.stays and proof.side == VALUE else 1.0
        try:
            if inside is None:
                found = proof.near(y, in_box=True)
            else:
                found = proof.towards(y, inside, most, self._least_share(proof, y, inside))
        except MISSED as why:
            self.known.notes.append(f"{proof.side}, {how}: {why}")
            return False
        self._take(proof.side, found, how)
        if proof.side == VALUE:
            # The box around the point lies in the cones: where it is not at their tips, inside.
            self.has_interior |= self.program.all_inside(self.program.b - self.program.A @ found.at)
        return True

    def _least_share(self, proof: Proof, y: Array, inside: Array) -> float:
        """The share of the way to ``inside`` whose loss is negligible relative to the tolerance."""
        loss = float(proof.cost @ inside - proof.cost @ y)
        return min(_NEGLIGIBLE * self.tol * self._size() / max(loss, 1e-300), 0.1)

    def _take(self, side: str, found: Proved, how: str) -> None:
        """Keep a proved number after the offset is added, with the rounding of the sum."""
        number, offset = found.number, self.program.offset
        if offset:
            away = 4.0 * np.finfo(float).eps * (abs(number) + abs(offset))
            number += offset + (away if side == VALUE else -away)
        self.known.take(side, number, found.at, how)

    def _size(self) -> float:
        """An estimate of the number that the gap is relative to."""
        program, (x, _, z, _) = self.program, self.answer
        offset, b, known = program.offset, self._right, self.known
        # Proved numbers are more reliable than those of a solver.
        proved = {VALUE: known.value, BOUND: known.bound}
        # A bound of zero, which costs in the dual cone prove at once, gives no size.
        sizes = [abs(number) for side, number in proved.items() if side in known.how and number]
        claimed = [abs(float(program.c @ x) + offset), abs(offset - float(b @ z))]
        terms = (float(np.abs(program.c) @ np.abs(x)), float(np.abs(b) @ np.abs(z)))
        return max(
            *(sizes or claimed),
            # One of the two sides may be far off.
            1e-4 * (min(terms) if sizes else max(terms)),
            1e-6 * float(np.sum(np.abs(program.c)) * largest(x)),
            1e-12,
        )
