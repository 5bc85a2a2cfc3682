r"""Programs on faces that were proved, written without rounding, and the way to them and back.

Zero rows and columns of a matrix are left out. For other null vectors :math:`X = V M V^T` with
integers in V, where all coefficients in terms of M are doubles; elsewhere rows :math:`M u = 0` say
the same. Scalars that vanish are left out, inequalities that hold with equality become equations,
and rows of a matrix inequality that vanish become equations as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, from_places
from sdpdr.linalg import BilinearForms, LinearMap, Products, SvecMap, VectorMap
from sdpdr.linalg.exact import Mask, Symmetric, Vector, add, matrix_row, whole
from sdpdr.linalg.maps.combine import some_of_rows
from sdpdr.linalg.svec import near_unscaled, selected, svec_index, svec_pairs, svec_size
from sdpdr.program.echelon import Echelon
from sdpdr.program.point import Factor, Point, PsdVariable, Value, Variable, as_dense, congruent
from sdpdr.program.rows import Expression, Lmi, Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.standard import fresh_name

# Rows and orders up to which coefficients are written in a new basis, row by row, in fractions.
# Beyond, rows M u = 0 state the face, for which `Face` has a sparse basis.
_ROWS, _ORDER = 5000, 400


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
        rows, scales = alone(self.bases[name])
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
                values[v.name] = value if _is_identity(V) else congruent(value, V)
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
                if source in self.left:
                    for entry, y in zip(at.tolist(), duals[label].tolist(), strict=True):
                        put(full[source], entry, y)
                else:
                    full[source][at] = duals[label]
        return full

    def push(self, point: Point) -> Point:
        """A point of the original program as one of this, without what is off the face."""
        values: dict[str, Value] = {}
        for v in self.sdp.variables:
            if v.name not in point.values:
                continue
            value = point.values[v.name]
            if isinstance(v, PsdVariable):
                rows, scales = alone(self.bases[v.name])
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

    def narrower(self, proved: Sequence[Consequences]) -> Narrowed:
        """The program on what more was proved."""
        return _Writer(self, proved).written()

    def without_unread(self) -> Narrowed:
        """The program without rows and columns of narrowed matrices that nothing reads.

        A positive semidefinite matrix is one without them, and zeros in their place make it one
        again; left in, nothing would bound them.
        """
        unread = []
        for v in self.sdp.psd_variables:
            if not _is_identity(self.bases[v.name]):
                seen = np.logical_or.reduce(
                    [np.zeros(v.n, dtype=bool)]
                    + [_read(side[v.name]) for side in self.sdp.expressions() if v.name in side]
                )
                unread += [(v.name, {int(k): Fraction(1)}) for k in np.flatnonzero(~seen)]
        vectors = tuple((name, self.outwards(name, vector)) for name, vector in unread)
        return self.narrower([Consequences(vectors)]) if vectors else self


def put(matrix: Array, entry: int, y: float) -> None:
    """Add the multiplier of an entry to a symmetric matrix of multipliers, in place."""
    i, j = svec_pairs(entry)
    matrix[i, j] += y if i == j else y / 2.0
    if i != j:
        matrix[j, i] = matrix[i, j]


def alone(V: sp.csr_array) -> tuple[Index, Array]:
    """For each column a row that holds nothing else, and its entry."""
    rows = np.flatnonzero(np.diff(V.indptr) == 1)
    columns, first = np.unique(V.indices[V.indptr[rows]], return_index=True)
    assert columns.size == V.shape[1]
    return rows[first], V.data[V.indptr[rows[first]]]


def basis_of(null: Sequence[Vector], n: int) -> sp.csr_array | None:
    """Integer columns that span what is orthogonal to some vectors; None if no doubles hold them.

    Examples
    --------
    >>> basis_of([{0: Fraction(2), 2: Fraction(1)}], 3).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0], [-2.0, 0.0]]
    """
    echelon = Echelon()
    for vector in null:
        echelon.insert(vector)
    kept = [i for i in range(n) if i not in echelon.vectors]
    new = {i: k for k, i in enumerate(kept)}
    entries = [(i, j, a) for i in range(n) for j, a in echelon.row(i).items()]
    columns: dict[int, list[Fraction]] = {}
    for _, j, a in entries:
        columns.setdefault(j, []).append(a)
    scale = {j: whole(column) for j, column in columns.items()}
    scaled = [(i, new[j], a * scale[j]) for i, j, a in entries]
    return from_places(scaled, (n, len(kept))) if doubles([a for *_, a in scaled]) else None


def doubles(values: Sequence[Fraction]) -> bool:
    """Whether all fractions are doubles."""
    try:
        return all(Fraction(float(value)) == value for value in values)
    except OverflowError:
        return False


class _Writer:
    """Writes a program on narrower faces."""

    def __init__(self, now: Narrowed, proved: Sequence[Consequences]) -> None:
        self._now, self._sdp = now, now.sdp
        null: dict[str, list[Vector]] = {}
        for name, vector in (one for p in proved for one in p.vectors):
            inner = _image(now.bases[name], dict(vector))
            if inner:
                null.setdefault(name, []).append(inner)
        self._zeros = {one for p in proved for one in p.zeros}
        self._tight = {one for p in proved for one in p.tight}
        self._vanishing = {one for p in proved for one in p.vanishing}
        self._stated = list[tuple[str, Array]]()
        self._bases = {name: self._basis(name, vectors) for name, vectors in null.items()}
        self._kept = {
            v.name: np.array([(v.name, int(k)) not in self._zeros for k in now.kept[v.name]], bool)
            for v in self._sdp.vector_variables
        }

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
            and all(
                isinstance(a, Products) and doubles([*_image_of(V, a).values()]) for a in stated
            )
            and all(_in_basis(side[name], V) is not None for side in sides if name in side)
        )

    def written(self) -> Narrowed:
        """The program, and where its parts come from."""
        now, sdp = self._now, self._sdp
        bases = {k: V @ self._bases[k] if k in self._bases else V for k, V in now.bases.items()}
        kept = {name: at[self._kept[name]] for name, at in now.kept.items() if name in self._kept}
        self._variables = [v for v in map(self._variable, sdp.variables) if v is not None]
        self._names = {v.name for v in self._variables}
        self._sources = dict[str, tuple[str, Index]]()
        self._left = dict(now.left)
        rows = [one for r in sdp.rows for one in self._rows(r)]
        lmis = []
        for lmi in sdp.lmis:
            smaller, equations = self._lmi(lmi)
            lmis += smaller
            rows += equations
        taken = {r.label for r in rows} | set(sdp.labels) | set(now.left)
        for name, u in self._stated:
            label = fresh_name(f"{name}.face", taken)
            taken.add(label)
            rows.append(Rows(label, "==", {name: Products(u.size, u)}, np.zeros(u.size)))
        if not self._variables:
            # Solvers take no program without variables; this one does not matter.
            self._variables = [PsdVariable("nothing", 1)]
            one = SvecMap(1, np.ones((1, 1)))
            rows.append(Rows("nothing", "==", {"nothing": one}, np.ones(1)))
        reduced = replace(
            sdp,
            variables=tuple(self._variables),
            objective=self._side(sdp.objective),
            rows=tuple(rows),
            lmis=tuple(lmis),
        )
        bases["nothing"] = sp.csr_array((0, 1))
        return Narrowed(now.original, reduced, bases, kept, self._sources, self._left)

    def _variable(self, v: Variable) -> Variable | None:
        """What is left of a variable, if anything is."""
        if isinstance(v, PsdVariable):
            V = self._bases.get(v.name)
            if V is None or V.shape[1] == v.n:
                return v
            return replace(v, n=V.shape[1]) if V.shape[1] else None
        mask = self._kept[v.name]
        if mask.all():
            return v
        curvature = None if v.curvature is None else v.curvature[mask]
        return replace(v, size=int(mask.sum()), curvature=curvature) if mask.any() else None

    def _side(self, side: Expression) -> dict[str, LinearMap | VectorMap]:
        """An expression in the variables that are left."""
        found: dict[str, LinearMap | VectorMap] = {}
        for name, a in side.items():
            if name not in self._names:
                continue
            if isinstance(a, VectorMap):
                mask = self._kept[name]
                found[name] = a if mask.all() else VectorMap(a.matrix()[:, mask])
            else:
                changed = _in_basis(a, self._bases[name]) if name in self._bases else a
                assert changed is not None
                found[name] = changed
        return found

    def _is_changed(self, side: Expression) -> bool:
        return any(
            name in self._bases or (name in self._kept and not self._kept[name].all())
            for name in side
        )

    def _rows(self, r: Rows) -> Iterator[Rows]:
        """A group without rows that say nothing any more; its equations apart."""
        now = self._now
        origins = now.sources.get(r.label)
        if states_face(r) and next(iter(r.lhs)) in self._bases:
            yield from self._products(r)
            return
        tight = np.zeros(r.m, dtype=bool)
        if r.relation == "<=" and origins is not None:
            tight = np.array([(origins[0], int(e)) in self._tight for e in origins[1]], dtype=bool)
        lhs, speaks = self._side(r.lhs), np.ones(r.m, dtype=bool)
        if self._is_changed(r.lhs):
            broken = r.rhs != 0.0 if r.relation == "==" else r.rhs < 0.0
            speaks = broken | _speaks(lhs, r.m)
        labels = {one.label for one in self._sdp.rows}
        for mask, label, relation in (
            (speaks & ~tight, r.label, r.relation),
            (speaks & tight, fresh_name(f"{r.label}.tight", labels) if tight.any() else "", "=="),
        ):
            at = np.flatnonzero(mask)
            if at.size or (not r.m and label):
                self._remember(r.label, label, at)
                some = lhs if at.size == r.m else {name: a.take(at) for name, a in lhs.items()}
                yield Rows(label, relation, some, r.rhs[at])

    def _remember(self, old: str, new: str, at: Index) -> None:
        if old in self._now.sources:
            source, rows = self._now.sources[old]
            self._sources[new] = source, rows[at]

    def _products(self, r: Rows) -> Iterator[Rows]:
        """Rows K u = 0, which stay what they are: M (V^T u) = 0."""
        ((name, a),) = r.lhs.items()
        assert isinstance(a, Products)
        V = self._bases[name]
        image = _image_of(V, a)
        if image:
            u = np.zeros(V.shape[1])
            u[list(image)] = [float(x) for x in image.values()]
            kept = _unit_rows(V)
            if kept is not None:
                self._remember(r.label, r.label, kept)
            yield Rows(r.label, "==", {name: Products(u.size, u)}, np.zeros(u.size))

    def _lmi(self, lmi: Lmi) -> tuple[list[Lmi], list[Rows]]:
        """A matrix inequality without rows that vanish, and equations that say so."""
        lhs, left = self._side(lmi.lhs), self._now.left[lmi.label]
        gone = np.array([(lmi.label, int(k)) in self._vanishing for k in left], dtype=bool)
        if not gone.any():
            return [replace(lmi, lhs=lhs)], []
        i, j = svec_pairs(np.arange(svec_size(lmi.order)))
        lost, inside = np.flatnonzero(gone[i] | gone[j]), np.flatnonzero(~(gone[i] | gone[j]))
        self._left[lmi.label] = left[~gone]
        smaller = []
        if inside.size:
            some = {name: a.take(inside) for name, a in lhs.items()}
            smaller.append(Lmi(lmi.label, int((~gone).sum()), some, lmi.constant[inside]))
        some = {name: _entries(a, lost) for name, a in lhs.items()}
        side = np.where(i == j, lmi.constant, near_unscaled(lmi.constant))[lost]
        chosen = np.flatnonzero(_speaks(some, lost.size) | (side != 0.0))
        at = lost[chosen]
        if not at.size:
            return smaller, []
        label = fresh_name(f"{lmi.label}.face", {*self._sdp.labels, *self._sources})
        self._sources[label] = (lmi.label, svec_index(left[i[at]], left[j[at]]))
        some = {name: a.take(chosen) for name, a in some.items()}
        return smaller, [Rows(label, "==", some, side[chosen])]


def _entries(a: LinearMap | VectorMap, at: Index) -> LinearMap | VectorMap:
    """The negatives of entries of what a matrix inequality adds up, not scaled as in ``svec``."""
    rows = sp.coo_array(-a.matrix()[at])
    i, j = svec_pairs(at[rows.row])
    data = np.where(i == j, rows.data, near_unscaled(rows.data))
    if isinstance(a, VectorMap):
        return VectorMap(sp.csr_array((data, (rows.row, rows.col)), shape=rows.shape))
    p, q = svec_pairs(rows.col)
    data = np.where((i != j) & (p != q), rows.data / 2.0, data)
    data = np.where((i == j) & (p != q), near_unscaled(rows.data), data)
    entries = sp.csr_array((data, (rows.row, rows.col)), shape=rows.shape)
    return SvecMap.from_natural(a.n, entries)


def _in_basis(a: LinearMap | VectorMap, V: sp.csr_array) -> LinearMap | None:
    """The map M -> A(V M V^T); None where its numbers would be rounded, or take too long."""
    assert isinstance(a, LinearMap)
    if _unit_rows(V) is not None:
        return a if _is_identity(V) else a.congruence(V)
    if a.m > _ROWS or a.n > _ORDER:
        return None
    every, rows = np.ones(a.n, dtype=bool), list[Symmetric]()
    for e in range(a.m):
        matrix = matrix_row(a, e, every)
        if matrix is None:
            return None
        rows.append(_congruence(matrix, V))
    # Points that coincide, say, leave lengths what they are.
    if not isinstance(a, SvecMap):
        same, every = a.congruence(V), np.ones(V.shape[1], dtype=bool)
        if not isinstance(same, SvecMap) and all(
            matrix_row(same, e, every) == row for e, row in enumerate(rows)
        ):
            return same
    entries = [(e, i, j, x) for e, row in enumerate(rows) for (i, j), x in row.items()]
    if not doubles([x for *_, x in entries]):
        return None
    found = from_places(
        ((e, int(svec_index(i, j)), x) for e, i, j, x in entries), (a.m, svec_size(V.shape[1]))
    )
    return SvecMap.from_natural(V.shape[1], found)


def _congruence(matrix: Symmetric, V: sp.csr_array) -> Symmetric:
    """The matrix V^T A V."""
    total: Symmetric = {}
    for (i, j), a in matrix.items():
        for p, f in _row(V, i):
            for q, g in _row(V, j):
                if i != j or p <= q:
                    # An entry beside the diagonal of A stands for its mirror image, too.
                    term = a * f * g * (2 if i != j and p == q else 1)
                    add(total, {(min(p, q), max(p, q)): term})
    return total


def _row(V: sp.csr_array, i: int) -> list[tuple[int, Fraction]]:
    part = slice(V.indptr[i], V.indptr[i + 1])
    return [
        (int(k), Fraction(float(a))) for k, a in zip(V.indices[part], V.data[part], strict=True)
    ]


def _image(V: sp.csr_array, vector: Vector) -> Vector:
    """V^T u."""
    total: Vector = {}
    for i, a in vector.items():
        add(total, dict(_row(V, i)), a)
    return total


def _image_of(V: sp.csr_array, a: Products) -> Vector:
    return _image(V, {int(k): Fraction(float(a.vector[k])) for k in np.flatnonzero(a.vector)})


def _is_identity(V: sp.csr_array) -> bool:
    return V.shape[0] == V.shape[1]


def _unit_rows(V: sp.csr_array) -> Index | None:
    """The rows that the columns of a selection pick; None of any other basis."""
    places = selected(V)
    kept = None if places is None else np.flatnonzero(places >= 0)
    return kept if kept is not None and kept.size == V.shape[1] else None


def states_face(r: Rows) -> bool:
    """Whether a group says K u = 0."""
    single = len(r.lhs) == 1 and r.relation == "==" and not np.any(r.rhs)
    return single and all(isinstance(a, Products) for a in r.lhs.values())


def _speaks(side: Expression, m: int) -> Mask:
    """Rows that have a coefficient; may name some that have none."""

    def leaf(a: LinearMap) -> Mask:
        if isinstance(a, SvecMap):
            return np.asarray(abs(a.matrix()).sum(axis=1) > 0.0)
        if isinstance(a, BilinearForms):
            return (np.diff(a.left.indptr) > 0) & (np.diff(a.right.indptr) > 0)
        return np.ones(a.m, dtype=bool)

    found = np.zeros(m, dtype=bool)
    for a in side.values():
        if isinstance(a, VectorMap):
            found |= np.asarray(abs(a.matrix()).sum(axis=1) > 0.0)
        else:
            found |= some_of_rows(a, leaf)
    return found


def _read(a: LinearMap | VectorMap) -> Mask:
    """Rows and columns of the matrix that a map reads; all of them where many are."""
    seen = np.zeros(a.n, dtype=bool)
    if isinstance(a, LinearMap) and not a.is_wide():
        seen[a.pattern()] = True
        return seen
    return ~seen
