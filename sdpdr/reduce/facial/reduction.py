r"""Facial reduction with proof: an equivalent program, whose feasible set may have an interior.

Programs without a strictly feasible point mislead solvers: their optimum may jump under any
perturbation of the data, and no margin is left for a proof of feasibility. Borwein and Wolkowicz
remove the cause. If no strictly feasible point exists, some combination of the rows is an
exposing matrix W, positive semidefinite with <W, X> = 0 for every feasible X; so W X = 0, and X
may be restricted to the face :math:`X = V M V^T`. Here only single rows are tested, which costs
little, in rounds until nothing new is found. Null vectors with several entries become
rows X u = 0, for which `sdpdr.reduce.Face` and the kernel choose a basis of the face. Combinations
of rows, scalars that vanish, and faces of matrix inequalities are left to the proof after the solve
(`sdpdr.certify.exposing`).

References
----------
Borwein and Wolkowicz, "Regularizing the abstract convex program", J. Math. Anal. Appl. 83, 1981;
Drusvyatskiy and Wolkowicz, "The many faces of degeneracy in conic optimization", Foundations and
Trends in Optimization 3(2), 2017; Permenter, Friberg and Andersen, "Solving conic optimization
problems via self-dual embedding and facial reduction", SIAM J. Optim. 27(3), 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.reduce.base import Reduced
from sdpdr.reduce.facial.completed import completed
from sdpdr.reduce.facial.exposure import Exposure, rows_of, step_of, verify
from sdpdr.reduce.facial.faces import Faces
from sdpdr.reduce.facial.on_faces import on_faces
from sdpdr.reduce.facial.rows import is_silent, single_rows


@dataclass(frozen=True, eq=False)
class FacialReduction:
    """A program restricted to the faces that were proved, and the proofs.

    Attributes
    ----------
    original : SDP
    sdp : SDP
        The program on the faces; `original` itself if nothing was found, or if it is infeasible.
    exposures : tuple of Exposure
        The steps, each with its proof.
    infeasible : str or None
        Why there is no feasible point, if that was proved; the last exposure is the proof.
    violation : float
        If the program is infeasible, the right-hand side of the row that no point satisfies,
        relative to the largest one. If it is of the size of rounding, the proof holds for the
        numbers as stored, but perhaps not for those that were meant.
    """

    original: SDP
    sdp: SDP
    exposures: tuple[Exposure, ...] = ()
    infeasible: str | None = None
    violation: float = 0.0
    _narrow: Reduced | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return bool(self.exposures)

    def check(self) -> bool:
        """Verify every step."""
        return verify(self.original, self.exposures)

    def lift(self, point: Point) -> Point:
        """A point of the reduced program as one of the original, with equal objectives.

        Multipliers of rows that expose a face are raised until they are multipliers of the original
        program; they are nan if no multiple suffices.
        """
        lifted = self.embed(point)
        if self._narrow is None or not self.original.is_dual_point(lifted.duals):
            return lifted
        return Point(lifted.values, completed(self.original, self.exposures, lifted.duals))

    def embed(self, point: Point) -> Point:
        """A direction of the reduced program as one of the original, zero on removed parts."""
        return point if self._narrow is None else self._narrow.lift(point)

    def push(self, point: Point) -> Point:
        """A point of the original program as one of the reduced, for a start."""
        if self._narrow is None or self._narrow.push is None:
            return point
        return self._narrow.push(point)


def facial_reduction(sdp: SDP) -> FacialReduction:
    """Restrict a program, with proof, to the faces that its rows confine it to.

    This costs little unless a positive semidefinite row has the right-hand side zero: structured
    maps are not multiplied out, and rows K u = 0 are left to `sdpdr.reduce.Face`.

    Parameters
    ----------
    sdp : SDP

    Returns
    -------
    FacialReduction

    Examples
    --------
    The rows X_11 = 0 and 2 X_12 + X_33 = 1 leave X_33 = 1, though solvers report values near 0:

    >>> from sdpdr.reduce import facial_reduction
    >>> import numpy as np
    >>> from sdpdr.linalg import Entries, InnerProduct
    >>> from sdpdr.program import SDP, PsdVariable, Rows
    >>> form = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 1]])
    >>> rows = (
    ...     Rows("corner", "==", {"X": Entries(3, [[0, 0]])}, np.zeros(1)),
    ...     Rows("sum", "==", {"X": InnerProduct(form)}, np.ones(1)),
    ... )
    >>> sdp = SDP((PsdVariable("X", 3),), {"X": Entries(3, [[2, 2]])}, rows)
    >>> found = facial_reduction(sdp)
    >>> found.sdp
    SDP(unnamed; matrices [X: 2x2], 0 scalars, 1 rows, 0 matrix inequalities)
    >>> found.check(), found.exposures[0].words
    (True, "row 0 of 'corner' makes the diagonal entry 0 of 'X' vanish, with its row and column")
    """
    faces, known, steps = Faces(sdp), Faces(sdp), list[Exposure]()
    seen = set[tuple[str, int]]()
    while True:
        after = tuple(steps)
        for multiplier, proved in single_rows(faces, frozenset(seen)):
            seen.add(multiplier[:2])
            if proved.contradiction or known.add(proved):
                steps.append(step_of(sdp, multiplier, proved, after))
            if proved.contradiction:
                return _refuted(sdp, tuple(steps))
        if len(steps) == len(after):
            break
        for step in steps[len(after) :]:
            faces.add(step.proved)
    if not steps:
        return FacialReduction(sdp, sdp)
    stated = faces.on_doubles()
    whole = stated.count == faces.count
    silent = {
        (label, e) for label, e in seen if is_silent(stated, rows_of(sdp, label), e, whole=whole)
    }
    narrow = on_faces(stated, silent)
    return FacialReduction(sdp, narrow.sdp, tuple(steps), _narrow=narrow)


def _refuted(sdp: SDP, steps: tuple[Exposure, ...]) -> FacialReduction:
    """The result if the last step proves that no point is feasible."""
    label, e, _ = steps[-1].multipliers[0]
    size = max(float(np.max(np.abs(r.rhs), initial=0.0)) for r in sdp.rows)
    violation = abs(float(rows_of(sdp, label).rhs[e])) / size
    return FacialReduction(sdp, sdp, steps, steps[-1].words, violation)
