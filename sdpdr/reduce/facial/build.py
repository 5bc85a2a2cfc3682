"""The program on the faces that were proved, and the way back to the original one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import Products, SvecMap, VectorMap
from sdpdr.linalg.exact import Mask
from sdpdr.linalg.svec import smat, svec, svec_size
from sdpdr.program.point import Point, PsdVariable, Value, Variable, as_dense
from sdpdr.program.rows import Expression, Lmi, Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.standard import fresh_name
from sdpdr.reduce.facial.basis import AnyMap, Basis, Selection, basis_of, states_face
from sdpdr.reduce.facial.coefficients import read, touched
from sdpdr.reduce.facial.faces import Faces


def build(faces: Faces) -> tuple[SDP, _Way]:
    """The reduced program, equivalent by what was proved, and the way back.

    Rows and columns of a matrix that nothing reads any more are left out as well: a positive
    semidefinite matrix is one without them, and zeros in their place make it one again.
    """
    sdp = faces.sdp
    bases = {
        v.name: basis_of(sdp, v, faces.echelons[v.name])
        for v in sdp.psd_variables
        if faces.echelons[v.name].vectors
    }
    reduced, way = _written(faces, bases)
    unread = False
    for v in reduced.psd_variables:
        basis = bases.get(v.name, Basis(Selection(v.n, np.arange(v.n))))
        seen = _read(reduced, v)
        if v.name in faces.echelons and basis.is_selection and not seen.all():
            n = basis.selection.n
            bases[v.name], unread = Basis(Selection(n, basis.selection.kept[seen])), True
    return _written(faces, bases) if unread else (reduced, way)


def _read(sdp: SDP, variable: PsdVariable) -> Mask:
    """Rows and columns of a matrix that the program reads."""
    seen = np.zeros(variable.n, dtype=bool)
    for lhs in sdp.expressions():
        if variable.name in lhs:
            seen |= read(lhs[variable.name])
    return seen


def _written(faces: Faces, bases: dict[str, Basis]) -> tuple[SDP, _Way]:
    """The program in terms of some bases."""
    sdp = faces.sdp
    kept = {
        name: np.array([k for k in range(sdp.variable(name).size) if k not in zeros])
        for name, zeros in faces.zeros.items()
        if zeros
    }
    way = _Way(sdp, bases, kept)
    change = _Change(faces, way)
    variables = [v for v in map(way.variable, sdp.variables) if v is not None]
    rows = [one for r in sdp.rows for one in change.rows(r)]
    lmis = []
    for lmi in sdp.lmis:
        small, equations = change.lmi(lmi)
        lmis += small
        rows += equations
    rows += way.face_rows(r.label for r in rows)
    if not variables:
        variables, more = _nothing()
        # Rows that nobody could read exactly still have to hold, without variables.
        rows += more
    reduced = replace(
        sdp,
        variables=tuple(variables),
        objective=change.expression(sdp.objective, None),
        rows=tuple(rows),
        lmis=tuple(lmis),
    )
    return reduced, way


def _nothing() -> tuple[list[Variable], list[Rows]]:
    """A variable that does not matter: solvers cannot take programs without any."""
    one = SvecMap(1, np.ones((1, 1)))
    return [PsdVariable("nothing", 1)], [Rows("nothing", "==", {"nothing": one}, np.ones(1))]


class _Way:
    """The way between points of the reduced program and points of the original one."""

    def __init__(self, sdp: SDP, bases: dict[str, Basis], kept: dict[str, Index]) -> None:
        self.sdp, self.bases, self.kept = sdp, bases, kept
        # Where each group of the reduced program comes from: label and rows there.
        self.sources: dict[str, tuple[str, Index]] = {}
        # Rows of matrix inequalities that are left.
        self.orders: dict[str, Index] = {}
        self.equations: dict[str, tuple[str, Index]] = {}

    def variable(self, v: Variable) -> Variable | None:
        """The variable of the reduced program; None where nothing is left of it."""
        if isinstance(v, PsdVariable):
            r = self.bases[v.name].r if v.name in self.bases else v.n
            return (v if r == v.n else replace(v, n=r)) if r else None
        if v.name not in self.kept:
            return v
        return replace(v, size=self.kept[v.name].size) if self.kept[v.name].size else None

    def face_rows(self, taken: Iterable[str]) -> list[Rows]:
        """Rows M u = 0 for null vectors that no basis expresses without rounding."""
        labels, found = {*taken, *(lmi.label for lmi in self.sdp.lmis)}, []
        for name, basis in self.bases.items():
            for u in basis.null:
                label = fresh_name(f"{name}.face", labels)
                labels.add(label)
                found.append(Rows(label, "==", {name: Products(basis.r, u)}, np.zeros(basis.r)))
        return found

    def lift(self, point: Point) -> Point:
        """A point of the original program: matrices embedded, zeros for what was dropped."""
        values: dict[str, Value] = {}
        for v in self.sdp.variables if point.values else ():
            if v.name not in point.values:
                values[v.name] = np.zeros(v.extents)
            elif v.name in self.bases:
                values[v.name] = self.bases[v.name].lift(point.values[v.name])
            elif v.name in self.kept:
                full = np.zeros(v.size)
                full[self.kept[v.name]] = as_dense(point.values[v.name])
                values[v.name] = full
            else:
                values[v.name] = point.values[v.name]
        return Point(values, self._duals(point.duals) if point.duals else {})

    def _duals(self, duals: Mapping[str, Array]) -> dict[str, Array]:
        full: dict[str, Array] = {r.label: np.zeros(r.m) for r in self.sdp.rows}
        for label, (source, at) in self.sources.items():
            if label in duals and duals[label].size == at.size:
                full[source][at] = duals[label]
        for lmi in self.sdp.lmis:
            left = self.orders.get(lmi.label, np.arange(lmi.order))
            z = np.zeros((lmi.order, lmi.order))
            if lmi.label in duals:
                z[np.ix_(left, left)] = duals[lmi.label]
            full[lmi.label] = z
        for label, (source, at) in self.equations.items():
            if label in duals:
                entries = np.zeros(svec_size(full[source].shape[0]))
                entries[at] = -duals[label]
                full[source] = full[source] + smat(entries)
        return full

    def push(self, point: Point) -> Point:
        """A point of the original program as one of the reduced; what is off the face is lost."""
        values: dict[str, Value] = {}
        for v in self.sdp.variables:
            if v.name not in point.values or self.variable(v) is None:
                continue
            value = point.values[v.name]
            if v.name in self.bases:
                value = self.bases[v.name].push(value)
            elif v.name in self.kept:
                value = as_dense(value)[self.kept[v.name]]
            values[v.name] = value
        # Unknown multipliers of the original program may be known ones of the reduced.
        given = {label: np.nan_to_num(y) for label, y in point.duals.items()}
        duals: dict[str, Array] = {}
        for label, (source, at) in self.sources.items():
            if source in given:
                duals[label] = given[source][at]
        for lmi in self.sdp.lmis:
            left = self.orders.get(lmi.label, np.arange(lmi.order))
            if lmi.label in given and left.size:
                duals[lmi.label] = given[lmi.label][np.ix_(left, left)]
        for label, (source, at) in self.equations.items():
            if source in given:
                duals[label] = -svec(given[source])[at]
        return Point(values, duals)


class _Change:
    """Rows and matrix inequalities in the reduced variables."""

    def __init__(self, faces: Faces, way: _Way) -> None:
        self._faces, self._way = faces, way
        # Rows that vanish on a face are needed for as long as nothing else states the face.
        self._keeps_all = not all(basis.complete for basis in way.bases.values())
        # Only the rows of V at pivots are not those of the unit matrix.
        pivots = {name: echelon.vectors for name, echelon in faces.echelons.items()}
        zeros = [(name, k) for name, places in faces.zeros.items() for k in places]
        self._places = faces.places(pivots, zeros)

    def expression(self, lhs: Expression, chosen: Index | None) -> dict[str, AnyMap]:
        """An expression in the reduced variables, some of its rows."""
        changed: dict[str, AnyMap] = {}
        for name, a in lhs.items():
            if self._way.variable(self._faces.sdp.variable(name)) is None:
                continue
            if chosen is not None:
                a = a.take(chosen)
            if isinstance(a, VectorMap):
                if name in self._way.kept:
                    a = VectorMap(a.matrix()[:, self._way.kept[name]])
            elif name in self._way.bases:
                a = self._way.bases[name].restrict(a)
            changed[name] = a
        return changed

    def rows(self, r: Rows) -> list[Rows]:
        """What is left of a group: nothing, itself, or inequalities and equations apart."""
        products = self._products(r)
        if products is not None:
            return products
        left = self._visible(r.label, r.lhs, r.m)
        tight = np.zeros(r.m, dtype=bool)
        tight[sorted(self._faces.tight[r.label])] = True
        found = []
        for mask, label, relation in (
            (left & ~tight, r.label, r.relation),
            (left & tight, f"{r.label}.tight", "=="),
        ):
            at = np.flatnonzero(mask)
            if at.size or (r.m == 0 and label == r.label):
                self._way.sources[label] = (r.label, at)
                lhs = self.expression(r.lhs, None if at.size == r.m else at)
                found.append(Rows(label, relation, lhs, r.rhs[at]))
        return found

    def _products(self, r: Rows) -> list[Rows] | None:
        """Rows K u = 0, which stay what they are: M (V^T u) = 0."""
        if not states_face(r):
            return None
        ((name, a),) = r.lhs.items()
        if name not in self._way.bases:
            return None
        assert isinstance(a, Products)
        basis = self._way.bases[name]
        u = basis.image(a.vector) if basis.r else None
        if u is None or not np.any(u):
            return []
        if basis.combination is None:
            self._way.sources[r.label] = (r.label, basis.selection.kept)
        return [Rows(r.label, "==", {name: Products(basis.r, u)}, np.zeros(basis.r))]

    def lmi(self, lmi: Lmi) -> tuple[list[Lmi], list[Rows]]:
        """A matrix inequality without the rows that vanish, and equations that say they do."""
        lost = self._faces.lost(lmi)
        if not lost.any():
            return [replace(lmi, lhs=self.expression(lmi.lhs, None))], []
        inside = np.flatnonzero(~lost)
        left = np.setdiff1d(np.arange(lmi.order), sorted(self._faces.vanishing[lmi.label]))
        self._way.orders[lmi.label] = left
        small = []
        if left.size:
            lhs = self.expression(lmi.lhs, inside)
            small.append(Lmi(lmi.label, left.size, lhs, lmi.constant[inside]))
        at = np.array(
            [p for p in np.flatnonzero(lost) if not self._is_void(lmi.label, int(p))],
            dtype=np.int64,
        )
        if not at.size:
            return small, []
        label = f"{lmi.label}.face"
        self._way.equations[label] = (lmi.label, at)
        return small, [Rows(label, "==", self.expression(lmi.lhs, at), -lmi.constant[at])]

    def _visible(self, label: str, lhs: Expression, m: int) -> Mask:
        """Rows that say anything on the face."""
        left = np.ones(m, dtype=bool)
        for e in np.flatnonzero(touched(lhs, self._places, m)):
            left[e] = not self._is_void(label, int(e))
        return left

    def _is_void(self, label: str, e: int) -> bool:
        if self._keeps_all:
            return False
        if (label, e) in self._faces.void:
            return True
        line = self._faces.line(label, e)
        return line is not None and line.is_void
