"""Matrices on a face: a basis of it, as exact as the face is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg import LinearMap, Products, VectorMap
from sdpdr.linalg.exact import whole
from sdpdr.program.echelon import Echelon
from sdpdr.program.point import Factor, PsdVariable, Value, congruent
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.basis import MixedBasis, Selection, doubles

AnyMap: TypeAlias = "LinearMap | VectorMap"


@dataclass(eq=False)
class Basis:
    """How a matrix variable is written: X = S V M V^T S^T, S a selection, V a combination.

    Where V would need rounding, M is the selected part and ``null`` holds vectors u for rows
    M u = 0, which say the same; it is not complete if a vector cannot be written down either.
    """

    selection: Selection
    combination: MixedBasis | None = None
    null: list[Array] = field(default_factory=list)
    complete: bool = True

    @property
    def is_selection(self) -> bool:
        """Whether the selection says all that is known of the face."""
        return self.combination is None and not self.null and self.complete

    @property
    def r(self) -> int:
        """Order of M."""
        return self.selection.r if self.combination is None else self.combination.r

    def restrict(self, linear_map: LinearMap) -> LinearMap:
        """The map in terms of M."""
        linear_map = self.selection.restrict(linear_map)
        if self.combination is None:
            return linear_map
        restricted = self.combination.restrict(linear_map)
        assert restricted is not None  # or the combination would not have been taken
        return restricted

    def image(self, vector: Array) -> Array | None:
        """The vector in terms of M; None if it would be rounded."""
        image = self.selection.image(vector)
        return image if self.combination is None else self.combination.image(image)

    def matrix(self) -> sp.csr_array:
        """S V, shape (n, r)."""
        if self.combination is None:
            return self.selection.matrix
        return sp.csr_array(self.selection.matrix @ self.combination.matrix)

    def lift(self, value: Value) -> Value:
        """X of M; exact where there is no combination."""
        return congruent(value, self.matrix())

    def push(self, value: Value) -> Value:
        """M of X."""
        at = self.selection.kept
        scale = np.ones(at.size)
        if self.combination is not None:
            at = at[self.combination.kept]
            scale = self.combination.matrix[self.combination.kept].diagonal()
        if isinstance(value, Factor):
            return Factor(value.factor[at] / scale[:, None])
        return np.asarray(value)[np.ix_(at, at)] / np.outer(scale, scale)


def basis_of(sdp: SDP, variable: PsdVariable, echelon: Echelon) -> Basis:
    """How a variable is written on the face whose null vectors are known in echelon form."""
    left = np.array([i for i in range(variable.n) if i not in echelon.units], dtype=np.int64)
    selection = Selection(variable.n, left)
    if not echelon.mixed:
        return Basis(selection)
    new = {int(i): k for k, i in enumerate(left)}
    vectors = [
        {new[i]: value for i, value in echelon.vectors[p].items()} for p in sorted(echelon.mixed)
    ]
    small = Echelon()
    for vector in vectors:
        small.insert(vector)
    try:
        combination = MixedBasis(small, left.size)
    except OverflowError:
        combination = None
    if combination is not None and _is_exact(sdp, variable.name, selection, combination):
        return Basis(selection, combination)
    null = []
    for vector in vectors:
        scale = whole(vector.values())
        entries = doubles([value * scale for value in vector.values()])
        if entries is not None:
            u = np.zeros(left.size)
            u[list(vector)] = entries
            null.append(np.ldexp(u, -int(np.frexp(np.abs(u).max())[1])))
    return Basis(selection, null=null, complete=len(null) == len(vectors))


def _is_exact(sdp: SDP, name: str, selection: Selection, combination: MixedBasis) -> bool:
    """Whether every map on a variable can be written in the new basis without rounding."""
    parts = (*(r.lhs for r in sdp.rows if not states_face(r)), *(lmi.lhs for lmi in sdp.lmis))
    maps = [lhs[name] for lhs in (sdp.objective, *parts) if name in lhs]
    faces = [r.lhs[name] for r in sdp.rows if name in r.lhs and states_face(r)]
    return all(
        combination.restrict(selection.restrict(a)) is not None
        for a in maps
        if isinstance(a, LinearMap)
    ) and all(
        combination.image(selection.image(a.vector)) is not None
        for a in faces
        if isinstance(a, Products)
    )


def states_face(r: Rows) -> bool:
    """Whether a group says K u = 0."""
    alone = len(r.lhs) == 1 and r.relation == "==" and not np.any(r.rhs)
    return alone and all(isinstance(a, Products) for a in r.lhs.values())
