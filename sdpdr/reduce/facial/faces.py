"""The proved faces of the matrices of a program, and single rows on them, in fractions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, from_places
from sdpdr.linalg import LinearMap
from sdpdr.linalg.exact import LARGEST, Symmetric, Vector, add, matrix_row, whole
from sdpdr.program.echelon import Echelon
from sdpdr.program.sdp import SDP

# Label of a group, number of the row, multiplier.
Multiplier: TypeAlias = "tuple[str, int, Fraction]"


@dataclass(frozen=True)
class Consequences:
    """Statements that are proved for every feasible point.

    Attributes
    ----------
    vectors : tuple of (variable, null vector), the vector as pairs of index and entry
    contradiction : bool
        There is no feasible point.
    """

    vectors: tuple[tuple[str, tuple[tuple[int, Fraction], ...]], ...] = ()
    contradiction: bool = False

    def __bool__(self) -> bool:
        return self.contradiction or bool(self.vectors)

    @property
    def owners(self) -> tuple[str, ...]:
        """Names of the matrices that have null vectors."""
        return tuple(dict.fromkeys(name for name, _ in self.vectors))

    def record(self) -> dict[str, object]:
        """The non-empty fields, ready for JSON."""
        vectors = [[name, [[k, str(x)] for k, x in vector]] for name, vector in self.vectors]
        found = {"vectors": vectors, "contradiction": self.contradiction}
        return {key: value for key, value in found.items() if value}


class Faces:
    """The proved null vectors of every matrix: X = V M V^T with V orthogonal to them.

    V is the unit matrix on places without a pivot (`sdpdr.program.echelon.Echelon`), so that null
    vectors of M are those of X.

    Parameters
    ----------
    sdp : SDP
    proved : iterable of Consequences, optional
    """

    def __init__(self, sdp: SDP, proved: Iterable[Consequences] = ()) -> None:
        self.sdp = sdp
        self.null = {v.name: Echelon() for v in sdp.psd_variables}
        for one in proved:
            self.add(one)

    def add(self, proved: Consequences) -> bool:
        """Insert proved null vectors; True if one of them is new."""
        news = [self.null[name].insert(dict(vector)) for name, vector in proved.vectors]
        return any(news)

    def on_doubles(self) -> Faces:
        """The faces without null vectors that have no multiple in doubles.

        A program cannot state these as rows X u = 0.
        """
        found = Faces(self.sdp)
        found.null = {name: null.filtered(_are_doubles) for name, null in self.null.items()}
        return found

    @property
    def count(self) -> int:
        """Null vectors of all matrices."""
        return sum(len(null.vectors) for null in self.null.values())

    def kept(self, name: str) -> Index:
        """Indices of the rows and columns of a matrix that do not vanish as a whole."""
        n = self.sdp.variable(name).extents[0]
        return np.setdiff1d(np.arange(n), list(self.null[name].units))

    def onto(self, name: str, vector: Array) -> Array:
        """A vector moved onto the face of a matrix, up to rounding."""
        echelon, moved = self.null[name], vector.copy()
        for i in echelon.vectors:
            moved[i] = sum(float(a) * vector[j] for j, a in echelon.row(i).items())
        return moved

    def basis(self, name: str) -> sp.csr_array:
        """V, rounded."""
        n, echelon = self.sdp.variable(name).extents[0], self.null[name]
        return from_places(echelon.basis(n), (n, n - len(echelon.vectors)))

    def matrix(self, name: str, a: LinearMap, e: int) -> Symmetric | None:
        """The exact V^T A V of a row, with the indices of X; None if it would take too long."""
        echelon, keep = self.null[name], np.ones(a.n, dtype=bool)
        keep[list(echelon.units)] = False
        matrix = matrix_row(a, e, keep)
        if matrix is None or not echelon.mixed:
            return matrix
        total: Symmetric = {}
        for (i, j), value in matrix.items():
            for p, f in echelon.row(i).items():
                for q, g in echelon.row(j).items():
                    if i != j or p <= q:
                        # An off-diagonal entry of A also stands for its mirror image.
                        term = value * f * g * (2 if i != j and p == q else 1)
                        add(total, {(min(p, q), max(p, q)): term})
            if len(total) > LARGEST:
                return None
        return total


def multiple_in_integers(vector: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """The least multiple of a vector whose entries are integers."""
    scale = whole(vector.values())
    return {i: a * scale for i, a in vector.items()}


def _are_doubles(vector: Vector) -> bool:
    """Whether a multiple is a vector of doubles."""
    try:
        return all(Fraction(float(a)) == a for a in multiple_in_integers(vector).values())
    except OverflowError:
        return False
