r"""Facial reduction with proof: a program that is equivalent, with an interior if all was found.

Programs without a strictly feasible point deceive solvers: their optimum may jump under any
perturbation of the data, and no margin is left for a proof of feasibility. Borwein and Wolkowicz
remove the cause. Where no strictly feasible point exists, some combination of the rows is an
exposing matrix W, positive semidefinite with <W, X> = 0 for every feasible X; so W X = 0, and X
may be restricted to the face :math:`X = V M V^T`. The step is repeated until nothing new is found.

References
----------
Borwein and Wolkowicz, "Regularizing the abstract convex program", J. Math. Anal. Appl. 83, 1981;
Drusvyatskiy and Wolkowicz, "The many faces of degeneracy in conic optimization", Foundations and
Trends in Optimization 3(2), 2017; Permenter, Friberg and Andersen, "Solving conic optimization
problems via self-dual embedding and facial reduction", SIAM J. Optim. 27(3), 2017.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import groupby

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.certify.exposing import Oracle
from sdpdr.program.echelon import Echelon
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.combinations import combination, proposed
from sdpdr.reduce.facial.completed import completed
from sdpdr.reduce.facial.exposure import Exposure, right_sides, side_of, step_of, verify
from sdpdr.reduce.facial.narrowed import Consequences, Narrowed
from sdpdr.reduce.facial.rows import single_rows
from sdpdr.reduce.facial.writing import narrower, without_unread


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
        Of an infeasible program: the right side of the row that no point satisfies, relative to
        the largest one. One of the size of rounding is a theorem about the numbers stored, and
        hardly one about those that were meant.
    """

    original: SDP
    sdp: SDP
    exposures: tuple[Exposure, ...] = ()
    infeasible: str | None = None
    violation: float = 0.0
    _faces: tuple[Narrowed, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        return bool(self.exposures)

    def check(self) -> bool:
        """Verify every step."""
        return verify(self.original, self.exposures)

    def lift(self, point: Point) -> Point:
        """A point of the reduced program as one of the original, with equal objectives.

        Multipliers of rows that expose a face become so large that they are multipliers of the
        original program, and nan where none are found.
        """
        lifted = self.embed(point)
        if not self._faces or not self.original.is_dual_point(lifted.duals):
            return lifted
        rounds = [
            (self._faces[k], tuple(steps))
            for k, (_, steps) in enumerate(groupby(self.exposures, lambda step: len(step.after)))
        ]
        steps = [(now, [(s.multipliers, s.proved) for s in group]) for now, group in rounds]
        return Point(lifted.values, completed(self.original, steps, lifted.duals))

    def embed(self, point: Point) -> Point:
        """A direction of the reduced program as one of the original: zeros for what is gone."""
        return self._faces[-1].lift(point) if self._faces else point

    def push(self, point: Point) -> Point:
        """A point of the original program as one of the reduced, for a start."""
        return self._faces[-1].push(point) if self._faces else point


def facial_reduction(sdp: SDP, *, lend: Oracle | None = None) -> FacialReduction:
    """Restrict a program, with proof, to the faces that its rows confine it to.

    Costs next to nothing where no row is positive semidefinite without a right side: structured
    maps are not multiplied out, and rows K u = 0 are left to `sdpdr.reduce.Face`.

    Parameters
    ----------
    sdp : SDP
    lend : callable, optional
        Solves small programs over a product of cones, to look for combinations of rows as well;
        nothing that it says is believed. `sdpdr.solvers.flat.ask_clarabel` is one.

    Returns
    -------
    FacialReduction

    Examples
    --------
    The rows X_11 = 0 and 2 X_12 + X_33 = 1 leave X_33 = 1, though solvers report values near 0:

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
    SDP(unnamed; matrices [X: 1x1], 0 scalars, 1 rows, 0 matrix inequalities)
    >>> found.check(), found.exposures[0].words
    (True, "row 0 of 'corner' makes the diagonal entry 0 of 'X' vanish, with its row and column")
    """
    now = Narrowed.of(sdp)
    faces, steps = [now], list[Exposure]()
    known = {v.name: Echelon() for v in sdp.psd_variables}
    while True:
        after = tuple(steps)
        for multipliers, proved in single_rows(now):
            if _is_new(proved, known):
                steps.append(step_of(now, multipliers, proved, after))
            if proved.contradiction:
                break
        if len(steps) == len(after) and lend is not None:
            found = proposed(now, lend)
            if found is not None and _is_new(found[1], known):
                steps.append(step_of(now, *found, after))
        if len(steps) == len(after):
            break
        if steps[-1].proved.contradiction:
            size = max(float(np.max(np.abs(b), initial=0.0)) for b in right_sides(sdp))
            violation = abs(side_of(sdp, steps[-1].multipliers)) / size
            return FacialReduction(sdp, sdp, tuple(steps), steps[-1].words, violation)
        now = narrower(now, [step.proved for step in steps[len(after) :]])
        faces.append(now)
    if not steps:
        return FacialReduction(sdp, sdp)
    faces[-1] = without_unread(now)
    return FacialReduction(sdp, faces[-1].sdp, tuple(steps), _faces=tuple(faces))


def exposures_from(sdp: SDP, duals: Mapping[str, Array]) -> tuple[Exposure, ...]:
    """A step near a direction of multipliers that a solver ended with, if one is proved.

    Solvers of programs without interior often diverge along multipliers y with A*(y) nearly
    positive semidefinite and b.y nearly 0.

    Parameters
    ----------
    sdp : SDP
    duals : mapping from label to array
        A direction, of any length: shape (m,) for rows; matrix inequalities are left out.

    Returns
    -------
    tuple of Exposure
        None or one.
    """
    now = Narrowed.of(sdp)
    multipliers = tuple(
        (r.label, e, Fraction(float(y)))
        for r in sdp.rows
        for e, y in enumerate(duals.get(r.label, ()))
        if y and np.isfinite(y)
    )
    proved = combination(now, multipliers) if multipliers else Consequences()
    return (step_of(now, multipliers, proved, ()),) if proved else ()


def _is_new(proved: Consequences, known: Mapping[str, Echelon]) -> bool:
    """Whether a step says more than others: faces that rows state are exposed again and again."""
    vectors = [known[name].insert(dict(vector)) for name, vector in proved.vectors]
    return any(vectors) or bool(replace(proved, vectors=()))
