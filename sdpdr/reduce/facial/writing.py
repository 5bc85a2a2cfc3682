"""The program on narrower faces: variables, rows and matrix inequalities, without rounding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.products import product
from sdpdr.linalg import LinearMap, Products, SvecMap, VectorMap
from sdpdr.linalg.exact import Vector, whole
from sdpdr.program.echelon import Echelon
from sdpdr.program.point import PsdVariable, Variable
from sdpdr.program.rows import Expression, Rows
from sdpdr.program.standard import fresh_name
from sdpdr.reduce.facial.bases import (
    basis_of,
    doubles,
    image,
    image_of,
    in_basis,
    is_identity,
    reads,
    speaks,
    unit_rows,
)
from sdpdr.reduce.facial.narrowed import Consequences, Narrowed


def narrower(now: Narrowed, proved: Sequence[Consequences]) -> Narrowed:
    """The program on what more was proved."""
    return _Writer(now, proved).written()


def without_unread(now: Narrowed) -> Narrowed:
    """The program without rows and columns of narrowed matrices that nothing reads.

    A positive semidefinite matrix is one without them, and zeros in their place make it one
    again; left in, nothing would bound them.
    """
    unread = []
    for v in now.sdp.psd_variables:
        if not is_identity(now.bases[v.name]):
            seen = np.zeros(v.n, dtype=bool)
            for side in now.sdp.expressions():
                if v.name in side:
                    seen |= reads(side[v.name])
            unread += [(v.name, {int(k): Fraction(1)}) for k in np.flatnonzero(~seen)]
    vectors = tuple((name, now.outwards(name, vector)) for name, vector in unread)
    return narrower(now, [Consequences(vectors)]) if vectors else now


class _Writer:
    """Writes a program on narrower faces."""

    def __init__(self, now: Narrowed, proved: Sequence[Consequences]) -> None:
        self._now, self._sdp = now, now.sdp
        null: dict[str, list[Vector]] = {}
        for name, vector in (one for p in proved for one in p.vectors):
            inner = image(now.bases[name], dict(vector))
            if inner:
                null.setdefault(name, []).append(inner)
        self._stated = list[tuple[str, Array]]()
        self._bases = {name: self._basis(name, vectors) for name, vectors in null.items()}

    def _basis(self, name: str, vectors: Sequence[Vector]) -> sp.csr_array:
        """V of a matrix, where all coefficients can be written in it; else a selection."""
        n = self._sdp.variable(name).extents[0]
        V = basis_of(vectors, n)
        if V is not None and self._suits(name, V):
            return V
        echelon = Echelon()
        for vector in vectors:
            echelon.insert(vector)
        selection = basis_of([{i: Fraction(1)} for i in echelon.units], n)
        assert selection is not None
        for pivot in sorted(echelon.mixed):
            scale = whole(echelon.vectors[pivot].values())
            u = np.zeros(n)
            for i, a in echelon.vectors[pivot].items():
                u[i] = float(a * scale) if doubles([a * scale]) else np.nan
            if np.all(np.isfinite(u)):
                u = np.ldexp(u, -int(np.frexp(np.abs(u).max())[1]))
                self._stated.append((name, selection.T @ u))
        return selection

    def _suits(self, name: str, V: sp.csr_array) -> bool:
        """Whether all that the program says of a matrix can be written in a basis."""
        sdp = self._sdp
        stated = [r.lhs[name] for r in sdp.rows if name in r.lhs and states_face(r)]
        sides = [sdp.objective, *(r.lhs for r in sdp.rows if not states_face(r))]
        # In a matrix inequality a root of two is in rows as well.
        return (
            not any(name in lmi.lhs for lmi in sdp.lmis)
            and product(self._now.bases[name], V)[1] is None
            and all(isinstance(a, Products) and doubles([*image_of(V, a).values()]) for a in stated)
            and all(in_basis(side[name], V) is not None for side in sides if name in side)
        )

    def written(self) -> Narrowed:
        """The program, and where its rows come from."""
        now, sdp = self._now, self._sdp
        bases = dict(now.bases)
        for name, V in self._bases.items():
            bases[name], rounding = product(now.bases[name], V)
            assert rounding is None  # or a selection would have been taken
        variables = [v for v in map(self._variable, sdp.variables) if v is not None]
        self._names = {v.name for v in variables}
        self._sources = dict[str, Index]()
        rows = [one for r in sdp.rows for one in self._rows(r)]
        taken = set(sdp.labels) | set(now.original.labels)
        for name, u in self._stated:
            label = fresh_name(f"{name}.face", taken)
            taken.add(label)
            rows.append(Rows(label, "==", {name: Products(u.size, u)}, np.zeros(u.size)))
        if not variables:
            # Solvers take no program without variables; this one does not matter.
            name = fresh_name("nothing", taken | {v.name for v in now.original.variables})
            variables, bases[name] = [PsdVariable(name, 1)], sp.csr_array((0, 1))
            one = SvecMap(1, np.ones((1, 1)))
            rows.append(Rows(name, "==", {name: one}, np.ones(1)))
        reduced = replace(
            sdp,
            variables=tuple(variables),
            objective=self._side(sdp.objective),
            rows=tuple(rows),
            lmis=tuple(replace(lmi, lhs=self._side(lmi.lhs)) for lmi in sdp.lmis),
        )
        return Narrowed(now.original, reduced, bases, self._sources)

    def _variable(self, v: Variable) -> Variable | None:
        """What is left of a variable, if anything is."""
        V = self._bases.get(v.name)
        if V is None or not isinstance(v, PsdVariable):
            return v
        return replace(v, n=V.shape[1]) if V.shape[1] else None

    def _side(self, side: Expression) -> dict[str, LinearMap | VectorMap]:
        """An expression in the variables that are left."""
        found: dict[str, LinearMap | VectorMap] = {}
        for name, a in side.items():
            if name in self._names:
                changed = in_basis(a, self._bases[name]) if name in self._bases else a
                assert changed is not None
                found[name] = changed
        return found

    def _rows(self, r: Rows) -> Iterator[Rows]:
        """A group without the rows that say nothing any more."""
        if states_face(r) and next(iter(r.lhs)) in self._bases:
            yield from self._products(r)
            return
        lhs, kept = self._side(r.lhs), np.arange(r.m)
        if r.lhs.keys() & self._bases.keys():
            broken = r.rhs != 0.0 if r.relation == "==" else r.rhs < 0.0
            kept = np.flatnonzero(broken | speaks(lhs, r.m))
        if kept.size or not r.m:
            self._remember(r.label, kept)
            yield replace(r, lhs=lhs).take(kept)

    def _remember(self, label: str, at: Index) -> None:
        if label in self._now.sources:
            self._sources[label] = self._now.sources[label][at]

    def _products(self, r: Rows) -> Iterator[Rows]:
        """Rows K u = 0, which stay what they are: M (V^T u) = 0."""
        ((name, a),) = r.lhs.items()
        assert isinstance(a, Products)
        V = self._bases[name]
        image = image_of(V, a)
        if image:
            u = np.zeros(V.shape[1])
            u[list(image)] = [float(x) for x in image.values()]
            kept = unit_rows(V)
            if kept is not None:
                self._remember(r.label, kept)
            yield Rows(r.label, "==", {name: Products(u.size, u)}, np.zeros(u.size))


def states_face(r: Rows) -> bool:
    """Whether a group says K u = 0."""
    single = len(r.lhs) == 1 and r.relation == "==" and not np.any(r.rhs)
    return single and all(isinstance(a, Products) for a in r.lhs.values())
