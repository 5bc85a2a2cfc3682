"""A step of facial reduction with its proof, which anybody can check."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from operator import is_

import scipy.sparse as sp

from sdpdr.base.arrays import from_places
from sdpdr.base.errors import ModelError
from sdpdr.linalg.exact import Symmetric, add
from sdpdr.program.point import PsdVariable
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.faces import Consequences, Faces, Multiplier


@dataclass(frozen=True)
class Exposure:
    r"""Rows whose combination forces every feasible point onto a face, or leaves none.

    The multipliers are exact fractions; `check` verifies the argument of
    `sdpdr.reduce.facial.faces` over the rationals, about the numbers that the program stores.

    Attributes
    ----------
    variable : str
        The matrix (or vector of scalars, or matrix inequality) that is confined.
    kind : {"diagonal", "row", "matrix inequality", "clique", "combination", "contradiction"}
    words : str
        Why, in a sentence.
    multipliers : tuple of (label, number of the row, Fraction)
        The exposing matrix is W = sum of y_e A_e. For a matrix inequality the number is a place
        in ``svec``, and its entry, that of the matrix, counts with a minus.
    proved : Consequences
        Null vectors of the matrix, scalars that vanish, and so on.
    after : tuple of Exposure
        Steps taken before, on whose face W is positive semidefinite.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.linalg import Entries
    >>> from sdpdr.program import SDP, PsdVariable, Rows
    >>> rows = Rows("corner", "==", {"X": Entries(2, [[0, 0]])}, np.zeros(1))
    >>> sdp = SDP((PsdVariable("X", 2),), {}, (rows,))
    >>> from sdpdr.reduce.facial.reduction import facial_reduction
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
        """Verify the step, and those before it, in exact rational arithmetic.

        Parameters
        ----------
        sdp : SDP
            The program that was reduced.
        """
        return verify(sdp, (*self.after, self))

    def record(self) -> dict[str, object]:
        """What it says and proves, ready for JSON; fractions are written out.

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

    def matrix(self, sdp: SDP, variable: str | None = None) -> sp.csr_array:
        """The exposing matrix W on the face known before, as doubles; shape (n, n).

        Raises
        ------
        ModelError
            If the program does not have the rows of this step.
        """
        name = self.variable if variable is None else variable
        v = sdp.variable(name)
        if not isinstance(v, PsdVariable):
            raise ModelError(f"{name!r} is a vector of scalars; exposing matrices are on matrices.")
        faces, total = Faces(sdp), dict[tuple[int, int], Fraction]()
        faces.absorb_all(e.proved for e in self.after)
        for label, e, y in self.multipliers:
            line = faces.line(label, e)
            if line is None:
                raise ModelError(f"this program has no row {e} of {label!r} with exact numbers.")
            add(total, line.matrices.get(name, {}), y)
        return _sparse(total, v.n)


def verify(sdp: SDP, exposures: tuple[Exposure, ...]) -> bool:
    """Verify steps in turn, in exact rational arithmetic.

    Each may lean on those before it, as many as its ``after`` names, and on no others.

    Parameters
    ----------
    sdp : SDP
    exposures : tuple of Exposure
    """
    faces, known = Faces(sdp), tuple[Exposure, ...]()
    for count, step in enumerate(exposures):
        if step.after is not known:
            if not len(known) <= len(step.after) <= count:
                return False
            if not all(map(is_, step.after, exposures)):
                return False
            faces.absorb_all(e.proved for e in step.after[len(known) :])
            known = step.after
        if not step.proved or faces.consequences(step.multipliers) != step.proved:
            return False
    return True


def _sparse(matrix: Symmetric, n: int) -> sp.csr_array:
    upper = from_places(((i, j, a) for (i, j), a in matrix.items()), (n, n))
    return sp.csr_array(upper + sp.triu(upper, 1).T)
