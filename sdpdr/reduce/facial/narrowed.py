r"""Programs on faces that were proved, written without rounding, and the way to them and back.

Zero rows and columns of a matrix are left out. For other null vectors :math:`X = V M V^T` with
integers in V if all coefficients in terms of M are doubles; otherwise rows :math:`M u = 0` say the
same.
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
from sdpdr.program.point import Factor, Point, PsdVariable, Value, congruent
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.bases import is_identity, own_rows

# Label of a group, number of the row, multiplier.
Multiplier: TypeAlias = "tuple[str, int, Fraction]"


@dataclass(frozen=True)
class Consequences:
    """What is proved of every feasible point, in terms of the original program.

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
        """Names of the matrices that are confined."""
        return tuple(dict.fromkeys(name for name, _ in self.vectors))

    def record(self) -> dict[str, object]:
        """The same ready for JSON, without what is empty."""
        vectors = [[name, [[k, str(x)] for k, x in vector]] for name, vector in self.vectors]
        found = {"vectors": vectors, "contradiction": self.contradiction}
        return {key: value for key, value in found.items() if value}


@dataclass(frozen=True, eq=False)
class Narrowed:
    """A program on the faces proved so far.

    Attributes
    ----------
    original, sdp : SDP
    bases : mapping from variable to sparse array
        V with X = V M V^T; a row of each column holds nothing else.
    sources : mapping from label to array of int
        The numbers that rows have in the original program.
    """

    original: SDP
    sdp: SDP
    bases: Mapping[str, sp.csr_array]
    sources: Mapping[str, Index]

    @cached_property
    def _own(self) -> dict[str, tuple[Index, Array]]:
        known = {v.name for v in self.original.psd_variables}
        return {name: own_rows(V) for name, V in self.bases.items() if name in known}

    @classmethod
    def of(cls, sdp: SDP) -> Narrowed:
        """The program itself, on no face yet."""
        bases = {v.name: sp.eye_array(v.n, format="csr") for v in sdp.psd_variables}
        return cls(sdp, sdp, bases, {r.label: np.arange(r.m) for r in sdp.rows})

    def origin(self, label: str, e: int) -> int | None:
        """The number of a row in the original program.

        None for a row M u = 0 that states a face that the original program does not state.
        """
        source = self.sources.get(label)
        return None if source is None else int(source[e])

    def place(self, label: str, e: int) -> int | None:
        """The number that a row of the original program has now; None if it was left out."""
        found = np.flatnonzero(self.sources.get(label, np.zeros(0)) == e)
        return int(found[0]) if found.size else None

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
            elif isinstance(v, PsdVariable) and not is_identity(self.bases[v.name]):
                values[v.name] = congruent(point.values[v.name], self.bases[v.name])
            else:
                values[v.name] = point.values[v.name]
        return Point(values, self._duals(point.duals) if point.duals else {})

    def _duals(self, duals: Mapping[str, Array]) -> dict[str, Array]:
        """Multipliers of all rows of the original program, zero for those left out."""
        full = {label: np.array(y) for label, y in self.original.zero_point().duals.items()}
        for label, at in self.sources.items():
            if label in duals:
                full[label][at] = duals[label]
        return full | {k.label: duals[k.label] for k in self.original.lmis if k.label in duals}

    def push(self, point: Point) -> Point:
        """A point of the original program as one of this, without what is off the face."""
        values: dict[str, Value] = {}
        for v in self.sdp.variables:
            if v.name not in point.values:
                continue
            value = values[v.name] = point.values[v.name]
            if isinstance(v, PsdVariable):
                rows, scales = self._own[v.name]
                if isinstance(value, Factor):
                    values[v.name] = Factor(value.factor[rows] / scales[:, None])
                else:
                    values[v.name] = value[np.ix_(rows, rows)] / np.outer(scales, scales)
        given = {label: np.nan_to_num(y) for label, y in point.duals.items()}
        duals = {label: given[label][at] for label, at in self.sources.items() if label in given}
        duals |= {k.label: given[k.label] for k in self.sdp.lmis if k.label in given}
        return Point(values, duals)
