r"""Programs in standard form as flat ones, and points and multipliers there and back.

Every number of the flat program is one that the person gave: entries of matrices are not scaled by
roots of two, and a matrix that rows confine to a face, :math:`K u = 0`, is written
:math:`V T V^T` with columns of V whose numbers are those of u. Where products round nevertheless,
the flat program says by how much (`sdpdr.certify.flat.Around`). A quadratic cost
:math:`q z^2 / 2` is :math:`q r t` with :math:`(t + r/2, t - r/2, z)` in a second-order cone, r
being the power of two next to the largest right side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, placed, rows_as_they_are
from sdpdr.certify.coefficients import Rounded, coefficients, coefficients_of_triangle, unscaled
from sdpdr.certify.complement import complement
from sdpdr.certify.flat import (
    NONNEGATIVE,
    SECOND_ORDER,
    SEMIDEFINITE,
    Answer,
    Around,
    FlatProgram,
    Piece,
    build,
)
from sdpdr.certify.products import added, below, beside, pairs_of_rows, product, rounded
from sdpdr.certify.units import Units
from sdpdr.linalg.rounding import near_powers
from sdpdr.linalg.svec import selection, svec_size
from sdpdr.program.arrows import arrow_labels, head_and_neck, of_arrow, unfolded
from sdpdr.program.face import complete_multipliers, exposing_rows, is_face_known, null_vectors
from sdpdr.program.point import Point, PsdVariable, Value, as_dense
from sdpdr.program.rows import Expression, Lmi
from sdpdr.program.sdp import SDP, remembered


def _moved_to_face(read: Rounded, face: _Face | None) -> Rounded:
    """Coefficients of a matrix as those of T, where it is V T V^T."""
    if face is None:
        return read
    rows, radii = read
    found, around = product(rows, face.image)
    size = abs(rows) if radii is None else sp.csr_array(abs(rows) + radii)
    of_face = None if face.radii is None else size @ face.radii
    of_rows = None if radii is None else radii @ abs(face.image)
    return found, added(around, of_face, of_rows)


@dataclass(frozen=True, eq=False)
class _Block:
    """A variable among the unknowns.

    Attributes
    ----------
    name : str
    order : int
        The order of what is left of a matrix on its face; zero for vectors.
    places : array of int
        Among the unknowns.
    rows : array of int
        Its own cone among the rows of all cones; empty where it has none.
    basis : sparse array or None
        V, where a matrix is V T V^T.
    """

    name: str
    order: int
    places: Index
    rows: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    basis: sp.csr_array | None = None


@dataclass(frozen=True, eq=False)
class _Squares:
    """Scalars z with a quadratic cost: their places, those of t, three rows for each, and r."""

    places: Index
    halves: Index
    rows: Index
    unit: float


@dataclass(frozen=True, eq=False)
class Standard:
    """A program in standard form as a flat one; `of` makes it.

    Attributes
    ----------
    sdp : SDP
    flat : FlatProgram
        The minimisation, in units of its own.
    units : Units
        Those.
    blocks : tuple of _Block
    squares : tuple of _Squares
    arrows : frozenset of str
        Labels of matrix inequalities that are second-order cones here.
    labels : mapping from label to array of int
        Where its multipliers are among those of the flat program.
    """

    sdp: SDP
    flat: FlatProgram
    units: Units
    blocks: tuple[_Block, ...]
    squares: tuple[_Squares, ...]
    arrows: frozenset[str]
    labels: Mapping[str, Index]

    def answer(self, point: Point) -> Answer:
        """A point and multipliers of the standard form as those of the flat program.

        What is missing is nan.
        """
        flat, m = self.flat, self.flat.f.size
        x, z = np.zeros(flat.c.size), np.zeros(m + flat.b.size)
        for block in self.blocks:
            value = point.values.get(block.name)
            entries = np.nan if value is None else _entries(block, as_dense(value))
            x[block.places] = entries
        for square in self.squares:
            x[square.halves] = x[square.places] ** 2 / (2.0 * square.unit)
        for label, rows in self.labels.items():
            y = np.asarray(point.duals.get(label, np.nan), dtype=float)
            if label in self.arrows and y.ndim == 2:
                y = of_arrow(y)
            z[rows] = _doubled(y) if y.ndim == 2 else y
        own, costs = self.units.multipliers(z), self.units.given_costs(flat.c)
        left = self.units.given_costs(flat.c + flat.E.T @ own[:m] + flat.A.T @ own[m:])
        for block in self.blocks:
            if block.rows.size:
                z[m + block.rows] = left[block.places]
        for square in self.squares:
            q, u = costs[square.halves], left[square.places]
            z[m + square.rows] = np.stack([(q + u * u / q) / 2.0, (q - u * u / q) / 2.0, u], 1)
        x = self.units.point(x)
        return Answer(x, flat.b - flat.A @ x, self.units.multipliers(z), True)

    def values(self, x: Array) -> dict[str, Value]:
        """A point of the flat program as one of the standard form."""
        x, found = self.units.given_point(x), dict[str, Value]()
        for block in self.blocks:
            if isinstance(self.sdp.variable(block.name), PsdVariable):
                T, V = _matrix(block.order, x[block.places]), block.basis
                found[block.name] = T if V is None else np.asarray(V @ (V @ T).T)
            else:
                found[block.name] = x[block.places]
        return found

    def duals(self, z: Array) -> dict[str, Array]:
        """Multipliers of the flat program as those of the standard form."""
        z = self.units.given_multipliers(z)
        orders = {lmi.label: lmi.order for lmi in self.sdp.lmis}
        found = {}
        for label, rows in self.labels.items():
            y, order = z[rows], orders.get(label)
            if order is not None:
                is_arrow = label in self.arrows
                y = unfolded(order, y) if is_arrow else _halved(order, y)
            found[label] = y
        return complete_multipliers(self.sdp, found)


@remembered
def standard(sdp: SDP) -> Standard:
    """The flat program of a standard form.

    Parameters
    ----------
    sdp : SDP

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> found = standard(methods.mvu(graphs.path([1.0, 2.0])).to_sdp())
    >>> [kind for kind, *_ in found.flat.parts], found.flat.c.size
    (['nonnegative', 'semidefinite'], 3)
    """
    return _Builder(sdp, units=True).made()


@remembered
def as_written(sdp: SDP) -> Standard:
    """The same with the entries of all matrices as unknowns, on whatever faces they lie."""
    return _Builder(sdp, units=False, faces=False).made()


def with_squares(sdp: SDP, unit: float) -> Standard:
    """The same with a power of two as the unit r of squares, which does not follow right sides."""
    return _Builder(sdp, units=False, faces=False, unit=unit).made()


class _Builder:
    """Gathers rows and cones of a program."""

    def __init__(
        self, sdp: SDP, *, units: bool, faces: bool = True, unit: float | None = None
    ) -> None:
        self.sdp, self._at, self._has_units = sdp, 0, units
        self._arrows = arrow_labels(sdp) if units else frozenset[str]()
        self._faces = {v.name: _face(sdp, v.name) for v in sdp.psd_variables if faces}
        self._blocks, size = dict[str, _Block](), 0
        for v in sdp.variables:
            order, face = 0, self._faces.get(v.name)
            if isinstance(v, PsdVariable):
                order = v.n if face is None else face.basis.shape[1]
            places = np.arange(size, size + (v.size if face is None else svec_size(order)))
            size += places.size
            basis = None if face is None else face.basis
            self._blocks[v.name] = _Block(v.name, order, places, basis=basis)
        self._known = size
        sides = [r.rhs for r in sdp.rows] + [lmi.constant for lmi in sdp.lmis] if units else []
        largest = float(np.max(np.abs(np.concatenate([np.zeros(1), *sides])))) or 1.0
        self._unit = unit or float(near_powers(np.array([largest]))[0])
        self._curved = [v for v in sdp.vector_variables if v.curvature is not None]
        self._n = size + sum(v.size for v in self._curved)
        stated = {
            r.label for name, face in self._faces.items() if face for r in exposing_rows(sdp, name)
        }
        self._rows = [r for r in sdp.rows if r.label not in stated]
        self._pieces, self._labels = list[Piece](), dict[str, Index]()

    def made(self) -> Standard:
        """The flat program, on the face that rows state."""
        sdp, n = self.sdp, self._n
        equal = [r for r in self._rows if r.relation == "=="]
        images = [(*self._image(r.lhs, coefficients, r.m), r.rhs) for r in equal]
        at = 0
        for r in equal:
            self._labels[r.label] = np.arange(at, at + r.m)
            at += r.m
        for r in self._rows:
            if r.relation == "<=":
                side, around = self._image(r.lhs, coefficients, r.m)
                rows = self._add(Piece(NONNEGATIVE, 1, side, r.rhs, around))
                self._labels[r.label] = at + rows
        for scalars in sdp.vector_variables:
            if scalars.nonnegative:
                self._own(scalars.name, NONNEGATIVE)
        squares = self._squares()
        for lmi in sdp.lmis:
            if lmi.label in self._arrows:
                self._limit(lmi, at)
        for matrix in sdp.psd_variables:
            self._own(matrix.name, SEMIDEFINITE)
        for lmi in sdp.lmis:
            if lmi.label not in self._arrows:
                self._limit(lmi, at)
        E = sp.csr_array(sp.vstack([sp.csr_array((0, n)), *(one[0] for one in images)]))
        radii = below([(one[1], one[0].shape[0]) for one in images], n + 1)
        f = np.concatenate([np.zeros(0), *(one[2] for one in images)])
        cost, around = self._image(sdp.objective, coefficients, 1)
        c = cost.toarray().ravel()
        for square, v in zip(squares, self._curved, strict=True):
            assert v.curvature is not None
            c[square.halves] = square.unit * v.curvature
        costs = None if around is None else around.toarray().ravel()[:-1]
        flat = build(c, E, f, self._pieces, sdp.constant, around=Around(costs, radii))
        units = Units.of(flat) if self._has_units else Units.given(flat)
        own, blocks = units.program(flat), tuple(self._blocks.values())
        return Standard(sdp, own, units, blocks, squares, self._arrows, self._labels)

    def _limit(self, lmi: Lmi, first: int) -> None:
        """The cone of a matrix inequality: matrices, or second-order where it is an arrow."""
        side, around = self._image(lmi.lhs, coefficients_of_triangle, svec_size(lmi.order))
        j, i = np.tril_indices(lmi.order)
        b, blur = lmi.constant.copy(), np.zeros(lmi.constant.size)
        b[i != j], blur[i != j] = unscaled(b[i != j])
        if np.any(blur):
            nothing = sp.csr_array((b.size, self._n + 1)) if around is None else around
            last = placed([(0, self._n, sp.csr_array(blur[:, None]))], nothing.shape)
            around = sp.csr_array(nothing + last)
        piece = Piece(SEMIDEFINITE, lmi.order, -side, b, around)
        if lmi.label in self._arrows:
            both, around = rounded(head_and_neck(lmi.order), beside(-side, b), around)
            b = both[:, [-1]].toarray().ravel()
            piece = Piece(SECOND_ORDER, lmi.order + 1, both[:, :-1], b, around)
        self._labels[lmi.label] = first + self._add(piece)

    def _add(self, piece: Piece) -> Index:
        """Add a cone; where its rows are. Kinds come in the order of flat programs."""
        self._pieces.append(piece)
        self._at += piece.b.size
        return np.arange(self._at - piece.b.size, self._at)

    def _image(
        self, side: Expression, read: Callable[..., Rounded], m: int
    ) -> tuple[sp.csr_array, sp.csr_array | None]:
        """Coefficients of the unknowns, and their radii."""
        found, radii = list[Any](), list[Any]()
        for name, linear_map in side.items():
            at = self._blocks[name].places
            rows, around = _moved_to_face(read(linear_map), self._faces.get(name))
            start = int(at[0]) if at.size else 0
            found.append((0, start, rows))
            if around is not None:
                radii.append((0, start, around))
        rows = placed(found, (m, self._n))
        return rows, placed(radii, (m, self._n + 1)) if radii else None

    def _own(self, name: str, kind: str) -> None:
        """The cone that a variable is in itself."""
        block = self._blocks[name]
        A, b = selection(block.places, self._n, -1.0), np.zeros(block.places.size)
        rows = self._add(Piece(kind, block.order or 1, A, b))
        self._blocks[name] = replace(block, rows=rows)

    def _squares(self) -> tuple[_Squares, ...]:
        found, half = [], self._known
        for v in self._curved:
            places, halves = self._blocks[v.name].places, np.arange(half, half + v.size)
            half += v.size
            rows = [
                self._add(self._square(int(p), int(t))) for p, t in zip(places, halves, strict=True)
            ]
            found.append(
                _Squares(
                    places, halves, np.reshape(np.array(rows, dtype=np.intp), (-1, 3)), self._unit
                )
            )
        return tuple(found)

    def _square(self, place: int, half: int) -> Piece:
        columns = np.array([half, half, place])
        A = rows_as_they_are(-np.ones(3), columns, np.arange(4), (3, self._n))
        return Piece(SECOND_ORDER, 3, A, self._unit * np.array([0.5, -0.5, 0.0]))


class _Face(NamedTuple):
    """Matrices V T V^T: V, the map from the triangle of T, and its radii."""

    basis: sp.csr_array
    image: sp.csr_array
    radii: sp.csr_array | None


def _face(sdp: SDP, name: str) -> _Face | None:
    """The face that rows state, where its basis needs no rounding."""
    null = null_vectors(sdp, name)
    if not null.shape[1] or not is_face_known(sdp, name):
        return None
    V = complement(null)
    return None if V is None else _Face(V, *pairs_of_rows(V))


def _entries(block: _Block, value: Array) -> Array:
    if not block.order:
        return value
    j, i = np.tril_indices(block.order)
    if block.basis is None:
        return np.asarray(value[i, j])
    # A row of each column of V holds nothing else.
    V = block.basis
    alone = np.flatnonzero(np.diff(V.indptr) == 1)
    first = np.unique(V.indices[V.indptr[alone]], return_index=True)[1]
    rows = alone[first]
    own = V.data[V.indptr[rows]]
    return np.asarray(value[rows[i], rows[j]] / (own[i] * own[j]))


def _matrix(order: int, triangle: Array) -> Array:
    j, i = np.tril_indices(order)
    found = np.empty((order, order))
    found[i, j] = found[j, i] = triangle
    return found


def _doubled(matrix: Array) -> Array:
    j, i = np.tril_indices(matrix.shape[0])
    return np.asarray(np.where(i == j, 1.0, 2.0) * matrix[i, j])


def _halved(order: int, triangle: Array) -> Array:
    j, i = np.tril_indices(order)
    return _matrix(order, triangle / np.where(i == j, 1.0, 2.0))
