r"""Programs on faces that were proved, written without rounding, and the way to them and back.

Zero rows and columns of a matrix are left out. For other null vectors :math:`X = V M V^T` with
integers in V, where all coefficients in terms of M are doubles; elsewhere rows :math:`M u = 0` say
the same. Scalars that vanish are left out, inequalities that hold with equality become equations,
and rows of a matrix inequality that vanish become equations as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.exact import Vector
from sdpdr.linalg.svec import svec_index, svec_pairs
from sdpdr.program.point import Factor, Point, PsdVariable, Value, as_dense, congruent
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.bases import is_identity, own_rows

# Label of a group, number of the row (of a matrix inequality: place in svec), multiplier.
Multiplier: TypeAlias = "tuple[str, int, Fraction]"


@dataclass(frozen=True)
class Consequences:
    """What is proved of every feasible point, in terms of the original program.

    Attributes
    ----------
    vectors : tuple of (variable, null vector), the vector as pairs of index and entry
    zeros : tuple of (variable, number of a scalar that vanishes)
    tight : tuple of (label, number of an inequality that is an equation)
    vanishing : tuple of (label, row of a matrix inequality that is zero)
    contradiction : bool
        There is no feasible point.
    """

    vectors: tuple[tuple[str, tuple[tuple[int, Fraction], ...]], ...] = ()
    zeros: tuple[tuple[str, int], ...] = ()
    tight: tuple[tuple[str, int], ...] = ()
    vanishing: tuple[tuple[str, int], ...] = ()
    contradiction: bool = False

    def __bool__(self) -> bool:
        known = (self.vectors, self.zeros, self.tight, self.vanishing)
        return self.contradiction or any(known)

    @property
    def owners(self) -> tuple[str, ...]:
        """Names of all that is confined."""
        found = (*self.vectors, *self.zeros, *self.vanishing, *self.tight)
        return tuple(dict.fromkeys(name for name, _ in found))

    def record(self) -> dict[str, object]:
        """The same ready for JSON, without what is empty."""
        vectors = [[name, [[k, str(x)] for k, x in vector]] for name, vector in self.vectors]
        found = {
            "vectors": vectors,
            "zeros": [list(zero) for zero in self.zeros],
            "tight": [list(row) for row in self.tight],
            "vanishing": [list(row) for row in self.vanishing],
            "contradiction": self.contradiction,
        }
        return {key: value for key, value in found.items() if value}


@dataclass(frozen=True, eq=False)
class Narrowed:
    """A program on the faces proved so far.

    Attributes
    ----------
    original, sdp : SDP
    bases : mapping from variable to sparse array
        V with X = V M V^T; a row of each column holds nothing else.
    kept : mapping from variable to array of int
        The scalars that are left.
    sources : mapping from label to (label, rows) of the original program
        Where rows come from; for entries of a matrix inequality, which they state with a minus,
        the rows are places in ``svec``.
    left : mapping from label to array of int
        Rows of matrix inequalities that are left.
    """

    original: SDP
    sdp: SDP
    bases: Mapping[str, sp.csr_array]
    kept: Mapping[str, Index]
    sources: Mapping[str, tuple[str, Index]]
    left: Mapping[str, Index]

    @cached_property
    def _own(self) -> dict[str, tuple[Index, Array]]:
        known = {v.name for v in self.original.psd_variables}
        return {name: own_rows(V) for name, V in self.bases.items() if name in known}

    @classmethod
    def of(cls, sdp: SDP) -> Narrowed:
        """The program itself, on no face yet."""
        bases = {v.name: sp.eye_array(v.n, format="csr") for v in sdp.psd_variables}
        kept = {v.name: np.arange(v.size) for v in sdp.vector_variables}
        sources = {r.label: (r.label, np.arange(r.m)) for r in sdp.rows}
        left = {lmi.label: np.arange(lmi.order) for lmi in sdp.lmis}
        return cls(sdp, sdp, bases, kept, sources, left)

    def origin(self, label: str, e: int) -> tuple[str, int] | None:
        """The row of the original program, or entry of a matrix inequality; None if there is none.

        A row M u = 0 that states a face of the original program has none.
        """
        if label in self.left:
            i, j = self.left[label][list(svec_pairs(e))]
            return label, int(svec_index(i, j))
        source = self.sources.get(label)
        return None if source is None else (source[0], int(source[1][e]))

    def place(self, label: str, e: int) -> tuple[str, int] | None:
        """Where a row of the original program, or entry of a matrix inequality, is now."""
        for new, (source, at) in self.sources.items():
            if source == label and e in at:
                return new, int(np.flatnonzero(at == e)[0])
        if label in self.left:
            i, j = (np.flatnonzero(self.left[label] == k) for k in svec_pairs(e))
            return (label, int(svec_index(i[0], j[0]))) if i.size and j.size else None
        return None

    def outwards(self, name: str, vector: Vector) -> tuple[tuple[int, Fraction], ...]:
        """A null vector of M as one of X."""
        rows, scales = self._own[name]
        found = {int(rows[k]): a / Fraction(float(scales[k])) for k, a in vector.items()}
        return tuple(sorted(found.items()))

    def lift(self, point: Point) -> Point:
        """A point of the original program: matrices embedded, zeros for what is left out."""
        values: dict[str, Value] = {}
        for v in self.original.variables if point.values else ():
            if v.name not in point.values:
                values[v.name] = np.zeros(v.extents)
            elif isinstance(v, PsdVariable):
                V, value = self.bases[v.name], point.values[v.name]
                values[v.name] = value if is_identity(V) else congruent(value, V)
            else:
                values[v.name] = np.zeros(v.size)
                np.asarray(values[v.name])[self.kept[v.name]] = as_dense(point.values[v.name])
        return Point(values, self._duals(point.duals) if point.duals else {})

    def _duals(self, duals: Mapping[str, Array]) -> dict[str, Array]:
        full = {label: np.array(y) for label, y in self.original.zero_point().duals.items()}
        for label, left in self.left.items():
            if label in duals:
                full[label][np.ix_(left, left)] = duals[label]
        for label, (source, at) in self.sources.items():
            if label in duals and duals[label].size == at.size:
                for e, y in zip(at.tolist(), duals[label].tolist(), strict=True):
                    add_to(full[source], e, y)
        return full

    def push(self, point: Point) -> Point:
        """A point of the original program as one of this, without what is off the face."""
        values: dict[str, Value] = {}
        for v in self.sdp.variables:
            if v.name not in point.values:
                continue
            value = point.values[v.name]
            if isinstance(v, PsdVariable):
                rows, scales = self._own[v.name]
                if isinstance(value, Factor):
                    values[v.name] = Factor(value.factor[rows] / scales[:, None])
                else:
                    values[v.name] = value[np.ix_(rows, rows)] / np.outer(scales, scales)
            else:
                values[v.name] = as_dense(value)[self.kept[v.name]]
        given = {label: np.nan_to_num(y) for label, y in point.duals.items()}
        duals = {
            k: given[k][np.ix_(at, at)] for k, at in self.left.items() if at.size and k in given
        }
        for label, (source, at) in self.sources.items():
            if source in self.left and source in given:
                i, j = svec_pairs(at)
                duals[label] = np.where(i == j, 1.0, 2.0) * given[source][i, j]
            elif source in given:
                duals[label] = given[source][at]
        return Point(values, duals)


def add_to(multipliers: Array, e: int, y: float) -> None:
    """Add to the multiplier of a row, or of an entry of a matrix inequality, in place."""
    if multipliers.ndim == 1:
        multipliers[e] += y
        return
    i, j = svec_pairs(e)
    # The entry of the matrix counts once, and stands on both sides of the diagonal.
    multipliers[i, j] += y if i == j else y / 2.0
    if i != j:
        multipliers[j, i] = multipliers[i, j]


def part_of(sdp: SDP, label: str) -> Rows | Lmi:
    """The rows, or the matrix inequality, of a label."""
    parts: tuple[Rows | Lmi, ...] = (*sdp.rows, *sdp.lmis)
    return next(part for part in parts if part.label == label)
