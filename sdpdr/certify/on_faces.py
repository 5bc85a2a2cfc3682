"""Proofs of programs without interior: on a face, or by a ray behind faces."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from sdpdr.certify.attempts import Attempts
from sdpdr.certify.equations import MISSED
from sdpdr.certify.faces import DUAL, PRIMAL
from sdpdr.certify.flat import Answer, Behind, FlatProgram
from sdpdr.certify.knowledge import BOUND, INFEASIBLE, UNBOUNDED, UNPROVED, VALUE, Knowledge
from sdpdr.certify.margin import inside, margin
from sdpdr.certify.proof import bound_proof, value_proof
from sdpdr.certify.reduced import reduced, refuted

# Proves a smaller program from an answer to it, with at most so many more faces.
Inner = Callable[[FlatProgram, Answer, int], Knowledge]


class OnFaces:
    """Proofs of a program without interior: on a face, or by a ray behind faces.

    Parameters
    ----------
    attempts : Attempts
        The attempts at the program itself.
    inner : callable
        Proves the program on a face.
    """

    def __init__(self, attempts: Attempts, inner: Inner) -> None:
        self._attempts, self._known, self._prove = attempts, attempts.known, inner

    def run(self) -> None:
        """Search faces and rays, unless an earlier search near a close answer found no face.

        `FlatProgram.faceless` remembers the side for which none was found.
        """
        known, faceless = self._known, self._attempts.program.faceless
        if faceless:
            return
        self._search()
        if known.status == UNPROVED and not self._attempts.is_late() and self._attempts.is_close:
            missing = VALUE if VALUE not in known.how else BOUND
            faceless |= {missing} - known.how.keys()

    def _search(self) -> None:
        """Search faces and rays of points, and then of multipliers."""
        known = self._known
        if VALUE not in known.how and not self._is_inside(PRIMAL):
            self._without_interior()
        if VALUE in known.how and BOUND not in known.how and not self._is_inside(DUAL):
            # A ray behind faces proves that there are no multipliers. A program with a finite
            # optimum may have none, but not if a point is in the interior.
            if self._is_refuted(DUAL, UNBOUNDED, most=4 if self._attempts.has_interior else 1):
                return
            self._on_face_of_multipliers()

    def _without_interior(self) -> None:
        """Try a ray and a face, the one that the margin indicates first: each takes a solve."""
        known, attempts = self._known, self._attempts
        steps = [lambda: self._is_refuted(PRIMAL, INFEASIBLE, most=1), self._on_face_of_points]
        with suppress(*MISSED):
            if margin(attempts.program, PRIMAL, attempts.solve).is_zero:
                steps.reverse()
        for step in steps:
            is_open = VALUE not in known.how and known.status == UNPROVED
            if is_open and not attempts.is_late():
                step()

    def is_as_claimed(self, claim: str) -> bool:
        """Whether what a solver claims is proved."""
        claimed = self._attempts.answer
        if claim == INFEASIBLE:
            return self._is_refuted(PRIMAL, INFEASIBLE, claimed=claimed)
        if not self._is_inside(PRIMAL):
            return False
        most = 4 if self._attempts.has_interior else 1
        return self._is_refuted(DUAL, UNBOUNDED, most, claimed)

    def _is_inside(self, side: str) -> bool:
        """Whether a side is proved next to the answer, or where the margin is largest."""
        attempts = self._attempts
        if attempts.is_late():
            return False
        try:
            y = inside(attempts.program, side, attempts.solve)
        except MISSED as why:
            self._known.notes.append(f"{side} margin: {why}")
            return False
        program, answer = attempts.program, attempts.answer
        if side == PRIMAL:
            proof = value_proof(program, program.b - program.A @ y)
            return attempts.attempt(proof, answer.x, "a point towards the largest margin", y)
        how = "multipliers towards the largest margin"
        return attempts.attempt(bound_proof(program, y), answer.z, how, y)

    def _is_refuted(
        self, side: str, status: str, most: int = 4, claimed: Answer | None = None
    ) -> bool:
        attempts, known = self._attempts, self._known
        if known.status in (INFEASIBLE, UNBOUNDED) or attempts.is_late():
            return False
        try:
            found = refuted(attempts.program, side, attempts.solve, most, claimed)
        except MISSED as why:
            known.notes.append(f"{status}: {why}")
            return False
        known.status, count = status, len(found.exposing)
        faces = "a face" if count == 1 else f"{count} faces"
        known.how[status] = f"a ray behind {faces}" if count else "a ray"
        known.ray = None if count else found.at
        attempts.program.behind[status] = found
        return True

    def _inner(self, side: str, faces: int) -> Knowledge | None:
        """Prove the program on its face; points are returned in terms of the whole program.

        The proofs are kept in ``behind``, as multipliers of the whole program.
        """
        attempts, behind = self._attempts, self._attempts.program.behind
        try:
            small = reduced(attempts.program, side, attempts.solve)
            answer = attempts.solve(small.program)
        except MISSED as why:
            self._known.notes.append(f"{side} face: {why}")
            return None
        found = self._prove(small.program, answer, faces)
        self._known.notes += found.notes
        if found.x is not None and small.map is not None:
            found.x = small.map @ found.x
        proved = small.program.behind
        if BOUND in found.how and found.z is not None:
            proved[BOUND] = Behind((), found.z)
        if side == PRIMAL:
            for claim in proved.keys() & {BOUND, INFEASIBLE}:
                behind[claim] = small.behind(proved[claim], of_bound=claim == BOUND)
            if VALUE in found.how:
                steps = proved[VALUE].exposing if VALUE in proved else ()
                # The point is that of the solution; multipliers of zero stand for it.
                nothing = np.zeros(small.program.f.size + small.program.b.size)
                behind[VALUE] = small.behind(Behind(steps, nothing))
        elif BOUND in proved:
            # They are multipliers of the whole program, on the boundary of their cones.
            behind[BOUND] = Behind((), small.multipliers(proved[BOUND].at))
        return found

    def _on_face_of_points(self) -> None:
        found, known = self._inner(PRIMAL, self._attempts.faces - 1), self._known
        if found is None:
            return
        # A ray that needs no face is the stronger proof.
        if found.status == INFEASIBLE and self._is_refuted(PRIMAL, INFEASIBLE, most=1):
            return
        if found.status in (INFEASIBLE, UNBOUNDED):
            known.status = found.status
            known.how[found.status] = f"{found.how[found.status]} on a face"
            known.ray = None
        for side, number, at in ((VALUE, found.value, found.x), (BOUND, found.bound, None)):
            if side in found.how:
                known.take(side, number, at, f"{found.how[side]}, on a face")

    def _on_face_of_multipliers(self) -> None:
        found = self._inner(DUAL, 0)
        if found is not None and BOUND in found.how:
            self._known.take(BOUND, found.bound, None, f"{found.how[BOUND]}, on a face")
