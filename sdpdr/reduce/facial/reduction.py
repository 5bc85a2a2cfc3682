r"""Facial reduction with proof: a program that is equivalent, with an interior if all was found.

Programs without a strictly feasible point deceive solvers: their optimum may jump under any
perturbation of the data, and no margin is left for a proof of feasibility. Borwein and Wolkowicz
remove the cause. Where no strictly feasible point exists, some combination of the rows is an
exposing matrix W, positive semidefinite with <W, X> = 0 for every feasible X; so W X = 0, and X
may be restricted to the face :math:`X = V M V^T`. The step is repeated until nothing new is
found. Here every step is decided over the rationals, about the numbers that the program stores
(`sdpdr.reduce.facial.faces`), and is kept with its proof.

Looked for are, in turn and again on each face: rows that are positive semidefinite by themselves
and have no right side (zero diagonals among them), diagonals of matrix inequalities that can only
be zero, cliques of points whose prescribed lengths are exactly flat, and, if a solver is lent,
combinations of rows that the solver finds and rounding to fractions confirms. A row of which the
face leaves nothing, but whose right side is not zero, proves that there is no feasible point.

References
----------
Borwein and Wolkowicz, "Regularizing the abstract convex program", J. Math. Anal. Appl. 83, 1981;
Drusvyatskiy and Wolkowicz, "The many faces of degeneracy in conic optimization", Foundations and
Trends in Optimization 3(2), 2017; Permenter, Friberg and Andersen, "Solving conic optimization
problems via self-dual embedding and facial reduction", SIAM J. Optim. 27(3), 2017; Krislock and
Wolkowicz, SIAM J. Optim. 20(5), 2010 (cliques).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.program.point import Point
from sdpdr.program.rows import Lmi
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.build import build
from sdpdr.reduce.facial.cliques import read_cliques
from sdpdr.reduce.facial.exposure import Exposure, verify
from sdpdr.reduce.facial.faces import Consequences, Faces, Multiplier
from sdpdr.reduce.facial.multipliers import completed
from sdpdr.reduce.facial.rounding import rounded
from sdpdr.reduce.facial.scan import Found, first_places, next_places, proofs
from sdpdr.reduce.facial.search import Lent, direction

# Order of matrices up to which cliques are looked at: a reduction there may turn an unfolding,
# which has a solver of its own, into a program for general ones.
CLIQUES = 60
# Entries of rows that are turned into fractions, which takes seconds; no more are looked at.
_ENTRIES = 1e6


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
    remarks : tuple of str
        What looks like a face but is not proved to be one.
    violation : float
        Of an infeasible program: by how much the rows contradict each other, relative to the
        largest right side. One of the size of rounding is a theorem about the numbers stored,
        and hardly one about those that were meant.
    """

    original: SDP
    sdp: SDP
    exposures: tuple[Exposure, ...] = ()
    infeasible: str | None = None
    remarks: tuple[str, ...] = ()
    violation: float = 0.0
    _lift: Callable[[Point], Point] = field(default=lambda point: point, repr=False)
    _push: Callable[[Point], Point] = field(default=lambda point: point, repr=False)

    def __bool__(self) -> bool:
        return bool(self.exposures)

    def check(self) -> bool:
        """Verify every step in exact rational arithmetic."""
        return verify(self.original, self.exposures)

    def lift(self, point: Point) -> Point:
        """A point of the reduced program as one of the original, with equal objectives.

        Multipliers of rows that expose a face become so large that they are multipliers of the
        original program (`sdpdr.reduce.facial.multipliers`), and nan where none are found.
        """
        lifted = self._lift(point)
        if not self.exposures or not self.original.is_dual_point(lifted.duals):
            return lifted
        return Point(lifted.values, completed(self.original, self.exposures, lifted.duals))

    def embed(self, point: Point) -> Point:
        """A direction of the reduced program as one of the original: zeros for what is gone."""
        return self._lift(point)

    def push(self, point: Point) -> Point:
        """A point of the original program as one of the reduced, for a start."""
        return self._push(point)


def facial_reduction(
    sdp: SDP, *, lend: Lent | None = None, cliques_up_to: int = CLIQUES
) -> FacialReduction:
    """Restrict a program, with proof, to the faces that its rows confine it to.

    Costs next to nothing where no row is positive semidefinite without a right side: structured
    maps are not multiplied out, and rows K u = 0 are left to `sdpdr.reduce.Face`.

    Parameters
    ----------
    sdp : SDP
    lend : callable, optional
        Solves small programs (takes an `SDP`, gives a `Point`), to look for combinations of rows
        as well. `sdpdr.solvers.running.lend` is one.
    cliques_up_to : int, default 60
        Order of matrices up to which cliques of exact lengths are looked for.

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
    search = _FaceSearch(sdp, lend, cliques_up_to)
    infeasible = search.run()
    steps = tuple(search.steps)
    if infeasible is not None:
        violation = search.violation()
        return FacialReduction(sdp, sdp, steps, infeasible, search.remarks, violation)
    if not steps:
        return FacialReduction(sdp, sdp, remarks=search.remarks)
    reduced, way = build(search.faces)
    return FacialReduction(sdp, reduced, steps, None, search.remarks, 0.0, way.lift, way.push)


def exposures_from(sdp: SDP, duals: Mapping[str, Array]) -> tuple[Exposure, ...]:
    """Exact exposures near a direction of multipliers that a solver ended with.

    Solvers of programs without interior often diverge along multipliers y with A*(y) nearly
    positive semidefinite and b.y nearly 0. They are rounded to fractions; only what is then
    verified exactly is returned.

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
    faces = Faces(sdp)
    y = {(label, e): float(t) for label, part in duals.items() for e, t in enumerate(part.flat)}
    known = {r.label for r in sdp.rows}
    found = rounded(faces, {place: t for place, t in y.items() if place[0] in known})
    return () if found is None else (_step(faces, *found, "combination", ()),)


class _FaceSearch:
    """The rounds of the search."""

    def __init__(self, sdp: SDP, lend: Lent | None, cliques_up_to: int) -> None:
        self.faces = Faces(sdp, _ENTRIES)
        self.steps: list[Exposure] = []
        self.remarks: tuple[str, ...] = ()
        self._lend = lend
        self._cliques = all(v.n <= cliques_up_to for v in sdp.psd_variables)

    def run(self) -> str | None:
        """All rounds; words of the proof if there is no feasible point."""
        sdp = self.faces.sdp
        infeasible = self._settle(self._take(proofs(self.faces, first_places(sdp))))
        if infeasible is None and self._cliques:
            cliques = read_cliques(sdp)
            self.remarks = tuple(
                f"the lengths among points {points} of {name!r} are flat to within rounding, but "
                "not exactly: nothing is proved"
                for name, points in cliques.nearly
            )
            infeasible = self._settle(self._take(self._combined(cliques.flat), "clique"))
        while infeasible is None and self._lend is not None:
            found = rounded(self.faces, direction(self.faces, self._lend))
            news = self._take(iter([found] if found else []), "combination")
            if not news:
                break
            infeasible = self._settle(news)
        return infeasible

    def violation(self) -> float:
        """How far the last step is from being feasible, relative to the largest right side."""
        sdp = self.faces.sdp
        multipliers = self.steps[-1].multipliers
        lines = [(y, self.faces.line(label, e)) for label, e, y in multipliers]
        side = float(sum(y * line.side for y, line in lines if line is not None))
        size = max(abs(float(y)) for y, _ in lines)
        sides = [r.rhs for r in sdp.rows] + [lmi.constant for lmi in sdp.lmis]
        return abs(side) / (size * max(float(np.abs(b).max(initial=0.0)) for b in sides))

    def _combined(self, candidates: Sequence[Sequence[Multiplier]]) -> Iterator[Found]:
        for multipliers in candidates:
            found = self.faces.consequences(multipliers)
            if found:
                yield tuple(multipliers), found

    def _settle(self, news: list[Exposure]) -> str | None:
        """Rounds of single rows until nothing new is found."""
        while news:
            if news[-1].proved.contradiction:
                return news[-1].words
            joined = _joined([step.proved for step in news])
            self.faces.absorb(joined)
            alone = [step.multipliers[0] for step in news if len(step.multipliers) == 1]
            self.faces.void |= {(label, e) for label, e, _ in alone}
            news = self._take(proofs(self.faces, next_places(self.faces, joined)))
        return None

    def _take(self, found: Iterator[Found], kind: str | None = None) -> list[Exposure]:
        after, news = tuple(self.steps), list[Exposure]()
        for multipliers, proved in found:
            news.append(_step(self.faces, multipliers, proved, kind, after))
            if proved.contradiction:
                break
        self.steps += news
        return news


def _joined(proved: Sequence[Consequences]) -> Consequences:
    return Consequences(
        tuple(one for p in proved for one in p.vectors),
        tuple(one for p in proved for one in p.zeros),
        tuple(one for p in proved for one in p.tight),
        tuple(one for p in proved for one in p.vanishing),
    )


def _step(
    faces: Faces,
    multipliers: Sequence[Multiplier],
    proved: Consequences,
    kind: str | None,
    after: tuple[Exposure, ...],
) -> Exposure:
    kind, words = _words(faces, multipliers, proved, kind)
    owners = [name for name, _ in (*proved.vectors, *proved.zeros, *proved.vanishing)]
    owner = (owners or [multipliers[0][0]])[0]
    return Exposure(owner, kind, words, tuple(multipliers), proved, after)


def _words(
    faces: Faces, multipliers: Sequence[Multiplier], proved: Consequences, kind: str | None
) -> tuple[str, str]:
    """What kind of step it is, and why it holds."""
    label, e, _ = multipliers[0]
    rows = f"row {e} of {label!r}"
    inequality = any(isinstance(p, Lmi) and p.label == label for p in faces.sdp.lmis)
    if inequality:
        rows = f"entry {e} (in svec) of the matrix inequality {label!r}"
    if len(multipliers) > 1:
        labels = ", ".join(sorted({repr(name) for name, _, _ in multipliers}))
        rows = f"a combination of {len(multipliers)} rows of {labels}"
    if proved.contradiction:
        return "contradiction", _contradiction(faces, multipliers, rows)
    kind = kind or ("matrix inequality" if inequality else "row")
    if len(proved.vectors) == 1 and len(proved.vectors[0][1]) == 1 and kind == "row":
        ((name, (place,)),) = proved.vectors
        words = f"makes the diagonal entry {place[0]} of {name!r} vanish, with its row and column"
        return "diagonal", f"{rows} {words}"
    told = [
        f"{len([1 for owner, _ in proved.vectors if owner == name])} null vectors of {name!r}"
        for name in dict.fromkeys(name for name, _ in proved.vectors)
    ]
    told += [f"entry {k} of {name!r} is zero" for name, k in proved.zeros]
    told += [f"row {i} of {name!r} is zero" for name, i in proved.vanishing]
    told += [f"row {k} of {name!r} holds with equality" for name, k in proved.tight]
    how = "is positive semidefinite on the face and must vanish"
    return kind, f"{rows} {how}: {', '.join(told)}"


def _contradiction(faces: Faces, multipliers: Sequence[Multiplier], rows: str) -> str:
    lines = [(faces.line(label, e), y) for label, e, y in multipliers]
    void = all(line is None or line.is_void for line, _ in lines)
    sign = -1 if len(lines) == 1 and lines[0][1] < 0 else 1
    # Exactly: what contradicts may be all that rounding of the terms would leave.
    side = float(sign * sum(y * line.side for line, y in lines if line is not None))
    what = "is zero" if void else "is at most zero" if sign < 0 else "is at least zero"
    where = " on the face that other rows leave" if any(_known(faces)) else ""
    return f"the left side of {rows} {what}{where}, but is to be {side:.6g}: nothing is feasible"


def _known(faces: Faces) -> Iterator[bool]:
    """Whether each variable is confined."""
    yield from (bool(echelon.vectors) for echelon in faces.echelons.values())
    yield from map(bool, faces.zeros.values())
