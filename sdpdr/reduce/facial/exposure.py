"""A step of facial reduction with its proof, which can be checked independently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.faces import Consequences, Faces, Multiplier
from sdpdr.reduce.facial.rows import single_row


@dataclass(frozen=True)
class Exposure:
    """A row that forces every feasible point onto a face, or proves that there is none.

    Attributes
    ----------
    variable : str
        The matrix that the face belongs to.
    words : str
        Why, in a sentence.
    multipliers : tuple of (label, number of the row, Fraction)
        One row, with 1 or -1.
    proved : Consequences
        Null vectors of matrices, or that there is no feasible point.
    after : tuple of Exposure
        Steps taken before, on whose face the row is positive semidefinite.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.linalg import Entries
    >>> from sdpdr.program import SDP, PsdVariable, Rows
    >>> rows = Rows("corner", "==", {"X": Entries(2, [[0, 0]])}, np.zeros(1))
    >>> sdp = SDP((PsdVariable("X", 2),), {}, (rows,))
    >>> from sdpdr.reduce import facial_reduction
    >>> exposure, = facial_reduction(sdp).exposures
    >>> exposure.check(sdp), exposure.null_vectors("X")
    (True, ({0: Fraction(1, 1)},))
    """

    variable: str
    words: str
    multipliers: tuple[Multiplier, ...]
    proved: Consequences
    after: tuple[Exposure, ...] = field(default=(), repr=False)

    def check(self, sdp: SDP) -> bool:
        """Verify the step, and those before it, over the rationals.

        Parameters
        ----------
        sdp : SDP
            The program that was reduced.
        """
        return verify(sdp, (*self.after, self))

    def record(self) -> dict[str, object]:
        """The step ready for JSON; fractions are written out.

        ``after`` is the number of steps before it, in the order of `Solution.exposures`.
        """
        return {
            "variable": self.variable,
            "words": self.words,
            "multipliers": [[label, e, str(y)] for label, e, y in self.multipliers],
            "after": len(self.after),
            "proved": self.proved.record(),
        }

    def null_vectors(self, variable: str | None = None) -> tuple[dict[int, Fraction], ...]:
        """Vectors u with X u = 0 that the step adds, as mappings from places to entries."""
        name = self.variable if variable is None else variable
        return tuple(dict(vector) for owner, vector in self.proved.vectors if owner == name)


def verify(sdp: SDP, exposures: Sequence[Exposure]) -> bool:
    """Verify steps in turn; each may use the first steps only, as many as its ``after`` has.

    Parameters
    ----------
    sdp : SDP
    exposures : sequence of Exposure
    """
    faces, known = Faces(sdp), tuple[Exposure, ...]()
    for count, step in enumerate(exposures):
        if len(step.after) != len(known):
            if not len(known) < len(step.after) <= count:
                return False
            for one in exposures[len(known) : len(step.after)]:
                faces.add(one.proved)
            known = step.after
        if not step.proved or _proves(faces, step.multipliers) != step.proved:
            return False
    return True


def _proves(faces: Faces, multipliers: Sequence[Multiplier]) -> Consequences:
    """What the multiplier of a step proves on a face."""
    if len(multipliers) != 1 or abs(multipliers[0][2]) != 1:
        return Consequences()
    ((label, e, y),) = multipliers
    return single_row(faces, rows_of(faces.sdp, label), e, int(y))


def rows_of(sdp: SDP, label: str) -> Rows:
    """The rows with a label."""
    return next(r for r in sdp.rows if r.label == label)


def step_of(
    sdp: SDP, multiplier: Multiplier, proved: Consequences, after: tuple[Exposure, ...]
) -> Exposure:
    """The step of one row on the face of the steps before it, with its explanation."""
    words = _words(sdp, multiplier, proved, is_on_face=bool(after))
    owner = (*proved.owners, multiplier[0])[0]
    return Exposure(owner, words, (multiplier,), proved, after)


def _words(sdp: SDP, multiplier: Multiplier, proved: Consequences, *, is_on_face: bool) -> str:
    """Why a step holds."""
    label, e, y = multiplier
    row = f"row {e} of {label!r}"
    if proved.contradiction:
        where = " on the face that other rows leave" if is_on_face else ""
        side = rows_of(sdp, label).rhs[e]
        what = "at most" if y < 0 else "at least"
        return (
            f"the left side of {row} is {what} zero{where}, but is to be {side:.6g}: nothing is "
            "feasible"
        )
    if len(proved.vectors) == 1 and len(proved.vectors[0][1]) == 1:
        ((name, (place,)),) = proved.vectors
        words = f"makes the diagonal entry {place[0]} of {name!r} vanish, with its row and column"
        return f"{row} {words}"
    names = [name for name, _ in proved.vectors]
    found = [f"{names.count(name)} null vectors of {name!r}" for name in dict.fromkeys(names)]
    how = "is positive semidefinite on the face and must vanish"
    return f"{row} {how}: {', '.join(found)}"
