r"""Programs in standard form as flat programs, and points and multipliers both ways.

Every number of the flat program is one that the user gave: entries of matrices are not scaled by
roots of two, and a matrix that rows confine to a face, :math:`K u = 0`, is written
:math:`V T V^T` with the numbers of u in V. If products round nevertheless, the flat program has
radii (`sdpdr.certify.flat.Around`). A quadratic cost
:math:`q z^2 / 2` is :math:`q r t` with :math:`(t + r/2, t - r/2, z)` in a second-order cone, r
being the power of two next to the largest right side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, diagonal, largest, placed, rows_as_they_are
from sdpdr.certify.coefficients import Rounded, coefficients, coefficients_of_triangle, unscaled
from sdpdr.certify.flat import (
    NONNEGATIVE,
    SECOND_ORDER,
    SEMIDEFINITE,
    Answer,
    Around,
    FlatProgram,
    Part,
    together,
)
from sdpdr.certify.products import apart, beside, congruence, rounded
from sdpdr.certify.units import Units
from sdpdr.linalg.rounding import near_powers
from sdpdr.linalg.svec import svec_size, upper_triangle
from sdpdr.program.arrows import arrow_labels, head_and_neck, of_arrow, unfolded
from sdpdr.program.echelon import complement
from sdpdr.program.face import complete_multipliers, exposing_rows, is_face_known, null_vectors
from sdpdr.program.point import Point, PsdVariable, Value, as_dense
from sdpdr.program.rows import Expression, Lmi
from sdpdr.program.sdp import SDP, remembered


def _moved_to_face(read: Rounded, face: _Face | None) -> Rounded:
    """Coefficients of a matrix as those of T, if it is V T V^T."""
    rows, radii = read
    return read if face is None else rounded(rows, face.image, face.radii, of_first=radii)


@dataclass(frozen=True, eq=False)
class _Block:
    """A variable among the unknowns.

    Attributes
    ----------
    name : str
    order : int
        The order of a matrix on its face; zero for vectors.
    places : array of int
        Positions among the unknowns.
    rows : array of int
        Rows of its own cone among those of all cones; empty if it has none.
    basis : sparse array or None
        V, if the matrix is V T V^T.
    """

    name: str
    order: int
    places: Index
    rows: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    basis: sp.csr_array | None = None


# The first column of coefficients, the coefficients, and their radii.
_Placed: TypeAlias = "tuple[int, sp.csr_array, sp.csr_array | None]"


@dataclass(frozen=True, eq=False)
class _Squares:
    """Scalars z with a quadratic cost: their places, those of t, three rows for each, and r."""

    places: Index
    halves: Index
    rows: Index
    unit: float


@dataclass(frozen=True, eq=False)
class Standard:
    """A program in standard form as a flat program; `standard` makes it.

    Attributes
    ----------
    sdp : SDP
    flat : FlatProgram
        The minimisation, in its own units.
    units : Units
        The units of the flat program.
    blocks : tuple of _Block
    squares : tuple of _Squares
    arrows : frozenset of str
        Labels of matrix inequalities that are second-order cones here.
    labels : mapping from label to array of int
        Positions of its multipliers among those of the flat program.
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

        Missing parts are nan.
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
        left = self.units.given_costs(flat.c + flat.dual_equations @ own)
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
    """The flat program in the given units, with the entries of all matrices as unknowns."""
    return _Builder(sdp, units=False, faces=False).made()


def with_squares(sdp: SDP, unit: float) -> Standard:
    """The flat program of `as_written`, with a given unit r of quadratic costs, a power of two."""
    return _Builder(sdp, units=False, faces=False, unit=unit).made()


class _Rows:
    """Collects rows, whose coefficients are given block by block."""

    def __init__(self, n: int) -> None:
        self.n, self.m = n, 0
        self._blocks, self._radii, self._sides = list[Any](), list[Any](), [np.zeros(0)]

    def add(self, side: Array, blocks: Sequence[_Placed], blur: Array | None = None) -> Index:
        """Add rows with right-hand sides and their radii; returns the positions of the rows."""
        start = self.m
        for column, rows, around in blocks:
            self._blocks.append((start, column, rows))
            if around is not None:
                self._radii.append((start, column, around))
        if blur is not None and np.any(blur):
            self._radii.append((start, 0, beside(sp.csr_array((blur.size, self.n)), blur)))
        self._sides.append(side)
        self.m += side.size
        return np.arange(start, self.m)

    def gathered(self) -> tuple[sp.csr_array, Array, sp.csr_array | None]:
        """Coefficients, right-hand sides, and radii of both."""
        A, shape = placed(self._blocks, (self.m, self.n)), (self.m, self.n + 1)
        return A, np.concatenate(self._sides), placed(self._radii, shape) if self._radii else None


class _Builder:
    """Collects rows and cones of a program."""

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
        side = max(map(largest, sides), default=0.0) or 1.0
        self._unit = unit or float(near_powers(np.array([side]))[0])
        self._curved = [v for v in sdp.vector_variables if v.curvature is not None]
        self._n = size + sum(v.size for v in self._curved)
        stated = {
            r.label for name, face in self._faces.items() if face for r in exposing_rows(sdp, name)
        }
        self._rows = [r for r in sdp.rows if r.label not in stated]
        self._cones, self._parts, self._labels = _Rows(self._n), list[Part](), dict[str, Index]()

    def made(self) -> Standard:
        """The flat program, on the faces that rows state."""
        sdp, equations = self.sdp, _Rows(self._n)
        for r in self._rows:
            if r.relation == "==":
                self._labels[r.label] = equations.add(r.rhs, self._image(r.lhs))
        at = equations.m
        for r in self._rows:
            if r.relation == "<=":
                self._labels[r.label] = at + self._add(NONNEGATIVE, 1, r.rhs, self._image(r.lhs))
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
        if not self._parts:
            self._add(NONNEGATIVE, 1, np.ones(1), [])  # 0 <= 1, so that there is a cone
        objective = _Rows(self._n)
        objective.add(np.zeros(1), self._image(sdp.objective))
        cost, _, around = objective.gathered()
        c = cost.toarray().ravel()
        for square, v in zip(squares, self._curved, strict=True):
            assert v.curvature is not None
            c[square.halves] = square.unit * v.curvature
        costs = None if around is None else around.toarray().ravel()[:-1]
        (E, f, of_equations), (A, b, of_cones) = equations.gathered(), self._cones.gathered()
        parts, radii = tuple(self._parts), Around(costs, of_equations, of_cones)
        flat = FlatProgram(c, E, f, A, b, together(parts), parts, sdp.constant, radii)
        units = Units.of(flat) if self._has_units else Units.given(flat)
        own, blocks = units.program(flat), tuple(self._blocks.values())
        return Standard(sdp, own, units, blocks, squares, self._arrows, self._labels)

    def _limit(self, lmi: Lmi, first: int) -> None:
        """Add the cone of a matrix inequality, second-order if it is an arrow."""
        blocks = self._image(lmi.lhs, coefficients_of_triangle, -1.0)
        i, j = upper_triangle(lmi.order)
        b, blur = lmi.constant.copy(), np.zeros(lmi.constant.size)
        off = np.flatnonzero((i != j) & (b != 0.0))
        if off.size:
            b[off], blur[off] = unscaled(b[off])
        if lmi.label not in self._arrows:
            rows = self._add(SEMIDEFINITE, lmi.order, b, blocks, blur)
        else:
            triangle = _Rows(self._n)
            triangle.add(b, blocks, blur)
            A, b, around = triangle.gathered()
            both, around = rounded(head_and_neck(lmi.order), beside(A, b), around)
            A, b = apart(both)
            rows = self._add(SECOND_ORDER, lmi.order + 1, b, [(0, A, around)])
        self._labels[lmi.label] = first + rows

    def _add(
        self, kind: str, size: int, b: Array, blocks: list[_Placed], blur: Array | None = None
    ) -> Index:
        """Add a cone; returns the positions of its rows. Calls follow the order of `KINDS`."""
        rows = self._cones.add(b, blocks, blur)
        if rows.size:
            self._parts.append(Part(kind, size, rows))
        return rows

    def _image(
        self,
        side: Expression,
        read: Callable[..., Rounded] = coefficients,
        sign: float = 1.0,
    ) -> list[_Placed]:
        """Coefficients of the unknowns."""
        found = list[_Placed]()
        for name, linear_map in side.items():
            rows, around = _moved_to_face(read(linear_map), self._faces.get(name))
            rows = rows_as_they_are(sign * rows.data, rows.indices, rows.indptr, rows.shape)
            found.append((_first(self._blocks[name]), rows, around))
        return found

    def _own(self, name: str, kind: str) -> None:
        """Add the cone of a variable itself."""
        block = self._blocks[name]
        count = block.places.size
        own = (_first(block), diagonal(-np.ones(count)), None)
        rows = self._add(kind, block.order or 1, np.zeros(count), [own])
        self._blocks[name] = replace(block, rows=rows)

    def _squares(self) -> tuple[_Squares, ...]:
        """Add three rows for each scalar with a quadratic cost."""
        found, half = [], self._known
        for v in self._curved:
            places, halves = self._blocks[v.name].places, np.arange(half, half + v.size)
            half += v.size
            columns, m = np.stack([halves, halves, places], axis=1).ravel(), 3 * v.size
            A = rows_as_they_are(-np.ones(m), columns, np.arange(m + 1), (m, self._n))
            b = np.tile(self._unit * np.array([0.5, -0.5, 0.0]), v.size)
            rows = self._cones.add(b, [(0, A, None)]).reshape(-1, 3)
            self._parts += [Part(SECOND_ORDER, 3, three) for three in rows]
            found.append(_Squares(places, halves, rows, self._unit))
        return tuple(found)


class _Face(NamedTuple):
    """Matrices V T V^T: V, the map from the triangle of T, and its radii."""

    basis: sp.csr_array
    image: sp.csr_array
    radii: sp.csr_array | None


def _face(sdp: SDP, name: str) -> _Face | None:
    """The face that rows state, if it has an exact basis."""
    null = null_vectors(sdp, name)
    if not null.shape[1] or not is_face_known(sdp, name):
        return None
    V = complement(null)
    return None if V is None else _Face(V, *congruence(V))


def _first(block: _Block) -> int:
    """The position of its first unknown."""
    return int(block.places[0]) if block.places.size else 0


def _entries(block: _Block, value: Array) -> Array:
    if not block.order:
        return value
    i, j = upper_triangle(block.order)
    if block.basis is None:
        return np.asarray(value[i, j])
    # Each column of V has a row in which no other column has an entry.
    V = block.basis
    alone = np.flatnonzero(np.diff(V.indptr) == 1)
    first = np.unique(V.indices[V.indptr[alone]], return_index=True)[1]
    rows = alone[first]
    own = V.data[V.indptr[rows]]
    return np.asarray(value[rows[i], rows[j]] / (own[i] * own[j]))


def _matrix(order: int, triangle: Array) -> Array:
    i, j = upper_triangle(order)
    found = np.empty((order, order))
    found[i, j] = found[j, i] = triangle
    return found


def _doubled(matrix: Array) -> Array:
    i, j = upper_triangle(matrix.shape[0])
    return np.asarray(np.where(i == j, 1.0, 2.0) * matrix[i, j])


def _halved(order: int, triangle: Array) -> Array:
    i, j = upper_triangle(order)
    return _matrix(order, triangle / np.where(i == j, 1.0, 2.0))
