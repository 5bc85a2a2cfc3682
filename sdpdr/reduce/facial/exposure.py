"""A step of facial reduction with its proof, which anybody can check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sdpdr.base.arrays import Array
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.combinations import combination
from sdpdr.reduce.facial.narrowed import Consequences, Multiplier, Narrowed, part_of
from sdpdr.reduce.facial.rows import single_row
from sdpdr.reduce.facial.writing import narrower


@dataclass(frozen=True)
class Exposure:
    """Rows whose combination forces every feasible point onto a face, or leaves none.

    Attributes
    ----------
    variable : str
        The matrix (or vector of scalars, or matrix inequality) that is confined.
    kind : {"diagonal", "row", "matrix inequality", "combination", "contradiction"}
    words : str
        Why, in a sentence.
    multipliers : tuple of (label, number of the row, Fraction)
        A single row has 1 or -1, and `check` verifies it over the rationals. A combination has
        numbers near exact ones, and `check` proves that these exist, with all rounding accounted
        for. For a matrix inequality the number is a place in ``svec``, and its entry, that of the
        matrix, counts with a minus.
    proved : Consequences
        Null vectors of the matrix, scalars that vanish, and so on.
    after : tuple of Exposure
        Steps taken before, on whose face the combination is positive semidefinite.

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
    kind: str
    words: str
    multipliers: tuple[Multiplier, ...]
    proved: Consequences
    after: tuple[Exposure, ...] = field(default=(), repr=False)

    def check(self, sdp: SDP) -> bool:
        """Verify the step, and those before it.

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
            "kind": self.kind,
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
    """Verify steps in turn; each may lean on as many of those before it as its ``after`` has.

    Parameters
    ----------
    sdp : SDP
    exposures : sequence of Exposure
    """
    now, known = Narrowed.of(sdp), tuple[Exposure, ...]()
    for count, step in enumerate(exposures):
        if len(step.after) != len(known):
            if not len(known) < len(step.after) <= count:
                return False
            now = narrower(now, [one.proved for one in exposures[len(known) : len(step.after)]])
            known = step.after
        if not step.proved or _proves(now, step.multipliers) != step.proved:
            return False
    return True


def _proves(now: Narrowed, multipliers: Sequence[Multiplier]) -> Consequences:
    """What the multipliers of a step prove on a face."""
    if len(multipliers) == 1 and abs(multipliers[0][2]) == 1:
        ((label, e, y),) = multipliers
        place = now.place(label, e)
        if place is None:
            return Consequences()
        return single_row(now, part_of(now.sdp, place[0]), place[1], int(y))
    return combination(now, multipliers)


def right_sides(sdp: SDP) -> list[Array]:
    """Right sides of rows, and constants of matrix inequalities, in the order of labels."""
    return [r.rhs for r in sdp.rows] + [lmi.constant for lmi in sdp.lmis]


def side_of(sdp: SDP, multipliers: Sequence[Multiplier]) -> float:
    """The right side of a single row."""
    label, e, _ = multipliers[0]
    return float(dict(zip(sdp.labels, right_sides(sdp), strict=True))[label][e])


def step_of(
    now: Narrowed,
    multipliers: tuple[Multiplier, ...],
    proved: Consequences,
    after: tuple[Exposure, ...],
) -> Exposure:
    """The step that multipliers take on a face, in words as well."""
    kind, words = _words(now, multipliers, proved)
    owner = (*proved.owners, multipliers[0][0])[0]
    return Exposure(owner, kind, words, multipliers, proved, after)


def _words(
    now: Narrowed, multipliers: Sequence[Multiplier], proved: Consequences
) -> tuple[str, str]:
    """What kind of step it is, and why it holds."""
    (label, e, y), *others = multipliers
    kind, rows = "row", f"row {e} of {label!r}"
    if label in now.left:
        kind, rows = "matrix inequality", f"entry {e} (in svec) of the matrix inequality {label!r}"
    if others:
        labels = ", ".join(sorted({repr(name) for name, _, _ in multipliers}))
        kind, rows = "combination", f"a combination of {len(multipliers)} rows of {labels}"
    if proved.contradiction:
        where = " on the face that other rows leave" if now.sdp is not now.original else ""
        side = side_of(now.original, multipliers)
        what = "at most" if y < 0 else "at least"
        return "contradiction", (
            f"the left side of {rows} is {what} zero{where}, but is to be {side:.6g}: nothing is "
            "feasible"
        )
    if len(proved.vectors) == 1 and len(proved.vectors[0][1]) == 1 and kind == "row":
        ((name, (place,)),) = proved.vectors
        words = f"makes the diagonal entry {place[0]} of {name!r} vanish, with its row and column"
        return "diagonal", f"{rows} {words}"
    found = [
        f"{len([1 for owner, _ in proved.vectors if owner == name])} null vectors of {name!r}"
        for name in dict.fromkeys(name for name, _ in proved.vectors)
    ]
    found += [f"entry {k} of {name!r} is zero" for name, k in proved.zeros]
    found += [f"row {i} of {name!r} is zero" for name, i in proved.vanishing]
    found += [f"row {k} of {name!r} holds with equality" for name, k in proved.tight]
    how = "is positive semidefinite on the face and must vanish"
    return kind, f"{rows} {how}: {', '.join(found)}"
