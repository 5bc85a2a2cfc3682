r"""A program as equations over one cone: on its face, in units that make the numbers about one.

Points are made feasible in coordinates where that is well posed. The program is brought to
equalities (`sdpdr.program.standard`), every matrix to the face that its rows state,
:math:`X = V M V^T`, and all is flattened to

.. math::  \min\ c^T x + \tfrac12 x_f^T Q x_f \quad \text{s.t. } A x = b, \quad
           x = (\operatorname{svec} M_1, \dots, z_+, z_f) \in K .

V holds unit vectors and, for the entries that the null vectors determine, their quotients. Where
all rows are on lengths of edges, which do not change when all points are moved by one vector,
M is the Gram matrix with one point at the origin (`Grounded`), and rows stay sparse. The units are
powers of two, of every row, of every scalar, and by a congruence of every matrix, so that they
round nothing. The matrix A is known to within `radius`, entry by entry, which covers the roots of
two of `svec` and the rounding of the change of basis.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, placed
from sdpdr.base.deadline import ENDLESS, Deadline, Effort, EffortSpentError
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.magnitudes import largest_of_rows, row_magnitudes
from sdpdr.linalg.rounding import near_powers
from sdpdr.linalg.svec import smat, svec, svec_index
from sdpdr.program.attain.basis import Basis, ConeBlock, Grounded, Image, face_basis
from sdpdr.program.certificate.free import unstack
from sdpdr.program.face import null_vectors, visible_rows
from sdpdr.program.point import Factor, PsdVariable, Value
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.standard import with_equations

# The least unit of a non-negative scalar, or of a matrix, beside what fills its rows: rows whose
# slack all but vanishes would look dependent in units of that slack. Free scalars may take all that
# fills a row.
_SMALL = 1e-3
# The same of a diagonal entry of a matrix beside its largest.
_THIN = 1e-5
# Eigenvalues, relative to the largest, that belong to a factor.
_PRESENT = 1e-13
# Order of a matrix beyond which dense factorizations take minutes, and beyond which dense matrices
# do not fit beside each other.
_LARGEST_ORDER, _WIDEST_ORDER = 1200, 4000


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """Equations over a cone; see the module's text.

    Attributes
    ----------
    A, radius : sparse arrays of shape (m, N)
    b : array of shape (m,)
    c, curvature : arrays of shape (N,)
    c_radius : array of shape (N,)
        Bounds on the error of c.
    blocks : tuple of ConeBlock
    nonnegative, free : arrays of int
        Positions of scalars in x.
    effort : Effort
        What the proof has taken so far, which is limited.
    """

    A: sp.csr_array
    radius: sp.csr_array
    b: Array
    c: Array
    c_radius: Array
    curvature: Array
    blocks: tuple[ConeBlock, ...]
    nonnegative: Index
    free: Index
    sdp: SDP
    rows: tuple[Rows, ...]
    _starts: Mapping[str, slice]
    effort: Effort

    @property
    def is_exact(self) -> bool:
        """Whether every entry of A has a known error."""
        return all(block.basis.is_exact for block in self.blocks)

    @property
    def is_narrow(self) -> bool:
        """Whether of some matrix only those entries are in x that rows read."""
        return any(block.places is not None for block in self.blocks)

    @property
    def order(self) -> int:
        """Barrier parameter: rows of all matrices, and the non-negative scalars."""
        return sum(block.order for block in self.blocks) + self.nonnegative.size

    def part(self, name: str) -> slice:
        """Entries of a variable in x."""
        return self._starts[name]

    def value(self, x: Array) -> float:
        """Objective of the minimisation, in floating point, without that on narrow matrices."""
        return float(self.c @ x + 0.5 * (self.curvature @ (x * x)) + self.sdp.constant)

    def vector(self, values: Mapping[str, Value]) -> Array:
        """X of values of the variables; slack that they lack takes what its row leaves."""
        values = _with_slack(self.sdp, values)
        x = np.zeros(self.A.shape[1])
        for block in self.blocks:
            if block.name in values:
                x[block.part] = block.entries_of(values[block.name])
        for v in self.sdp.vector_variables:
            if v.name in values:
                x[self._starts[v.name]] = np.asarray(values[v.name])
        return x

    def factors(self, values: Mapping[str, Value]) -> dict[str, Array]:
        """Factors of all matrices, on their faces; of slack that values lack, those of its row."""
        values = _with_slack(self.sdp, values)
        return {
            block.name: block.basis.reduced_factor(Factor.of(values[block.name], _PRESENT).factor)
            for block in self.blocks
        }

    def values(self, x: Array, names: tuple[str, ...]) -> dict[str, Value]:
        """Values of the variables named."""
        found: dict[str, Value] = {
            v.name: np.zeros((v.n, v.n)) for v in self.sdp.psd_variables if v.name in names
        }
        for block in self.blocks:
            if block.name in names:
                found[block.name] = block.basis.expanded(smat(x[block.part]))
        for v in self.sdp.vector_variables:
            if v.name in names:
                found[v.name] = x[self._starts[v.name]].copy()
        return found

    def multipliers(self, duals: Mapping[str, Array]) -> Array:
        """Multipliers y of all rows, with ``c - A^T y`` for slack, of those by label."""
        parts = (duals[r.label] for r in self.rows)
        # Those of a matrix inequality became those of its equations.
        return -np.concatenate([np.zeros(0), *(y if np.ndim(y) == 1 else -svec(y) for y in parts)])

    def duals(self, given: Mapping[str, Array], y: Array) -> dict[str, Array]:
        """Multipliers by label, of matrix inequalities as matrices; those of no row as given."""
        found = dict(given)
        for label, part in unstack(self.rows, y).items():
            found[label] = -part if np.ndim(given[label]) == 1 else smat(part)
        return found

    def rescaled(self, x: Array) -> Scaled:
        """The program in units in which the point has size about one, and so have the rows."""
        units = np.ones(x.size)
        typical = self._typical(x)
        for block in self.blocks:
            diagonal, filling = np.abs(x[block.diagonal]), typical[block.diagonal]
            least = float(np.min(filling[filling > 0.0], initial=np.inf))
            least = least if np.isfinite(least) else 0.0
            # Of a matrix that is zero nothing is known but what may fill its rows.
            least *= _SMALL if diagonal.any() else 1.0
            floor = max(_THIN * float(np.max(diagonal, initial=0.0)), least) or 1.0
            root = near_powers(np.sqrt(np.maximum(diagonal, floor)))
            i, j = block.pairs
            units[block.part] = root[i] * root[j]
        for scalars, least in ((self.nonnegative, _SMALL), (self.free, 1.0)):
            size = np.maximum(np.abs(x[scalars]), least * typical[scalars])
            units[scalars] = near_powers(np.where(size > 0.0, size, 1.0))
        largest = largest_of_rows(_times(self.A, np.ones(self.b.size), units))
        rows = 1.0 / near_powers(np.where(largest > 0.0, largest, 1.0))
        A, radius = (_times(matrix, rows, units) for matrix in (self.A, self.radius))
        return Scaled(A, radius, rows * self.b, units, rows)

    def _typical(self, x: Array) -> Array:
        """For every entry the size that would fill one of its rows, the smallest such."""
        size, row, column = np.abs(self.A.data), _row_of_each(self.A), self.A.indices
        reached = np.bincount(row, size * np.abs(x[column]), self.b.size)
        rows = (reached + np.abs(self.b))[row]
        filling = np.full(x.size, np.inf)
        known = (size > 0.0) & (rows > 0.0)
        np.minimum.at(filling, column[known], rows[known] / size[known])
        return np.where(np.isfinite(filling), filling, 0.0)


@dataclass(frozen=True, eq=False)
class Scaled:
    """The equations of a `ConeProgram` in units of their own: A' = R A U, b' = R b, x = U x'."""

    A: sp.csr_array
    radius: sp.csr_array
    b: Array
    units: Array
    rows: Array


def largest_order(sdp: SDP) -> int:
    """Order of the largest matrix of a program, variable or inequality."""
    return max([0, *(v.n for v in sdp.psd_variables), *(lmi.order for lmi in sdp.lmis)])


def require_dense_factors(sdp: SDP) -> None:
    """Say so where a matrix is too large for dense factorizations.

    Raises
    ------
    EffortSpentError
    """
    _require(largest_order(sdp), _LARGEST_ORDER)


def _require(order: int, largest: int) -> None:
    if order > largest:
        raise EffortSpentError(
            f"matrices of order {order} are too large for dense "
            "factorizations, and no argument special to the program applies"
        )


def cone_program(sdp: SDP, deadline: Deadline = ENDLESS, *, wide: bool = False) -> ConeProgram:
    """Flatten a program; proofs with it end by the deadline.

    Parameters
    ----------
    sdp : SDP
    deadline : Deadline, optional
    wide : bool, default False
        Also where matrices are too large to be factored. Of one that does not even fit, only those
        entries are kept that rows read, and what the objective is on it is left out.

    Raises
    ------
    EffortSpentError
        Where a matrix is too large, and for others too where rows read too many entries of it, or
        state a face.
    """
    if not wide:
        _require(largest_order(sdp), _LARGEST_ORDER)
    equal = with_equations(sdp)
    rows = visible_rows(equal)
    starts: dict[str, slice] = {}
    bases: dict[str, Basis] = {}
    blocks: list[ConeBlock] = []
    signs: dict[bool, list[Index]] = {True: [], False: []}
    position = 0
    for v in equal.variables:
        if isinstance(v, PsdVariable):
            found = (r.lhs.get(v.name) for r in rows)
            maps = [a for a in found if isinstance(a, LinearMap)]
            basis = bases[v.name] = face_basis(null_vectors(equal, v.name), maps)
            places = _read(basis, maps) if wide and basis.order > _WIDEST_ORDER else None
            block = ConeBlock(v.name, basis.order, position, basis, places)
            size = block.size
            if size:
                blocks.append(block)
        else:
            size = v.size
            signs[v.nonnegative].append(np.arange(position, position + size))
        starts[v.name] = slice(position, position + size)
        position += size
    sizes = {name: part.stop - part.start for name, part in starts.items()}
    effort = Effort(deadline)
    read = {block.name: block.places for block in blocks if block.places is not None}
    A, radius = _columns(rows, bases, sizes, read, effort)
    c, c_radius = _cost(equal, starts, bases, position, set(read))
    return ConeProgram(
        A,
        radius,
        np.concatenate([np.zeros(0), *(r.rhs for r in rows)]),
        c,
        c_radius,
        equal.curvatures(starts, position),
        tuple(blocks),
        np.concatenate([np.zeros(0, dtype=np.int64), *signs[True]]),
        np.concatenate([np.zeros(0, dtype=np.int64), *signs[False]]),
        equal,
        tuple(rows),
        starts,
        effort,
    )


def _read(basis: Basis, maps: list[LinearMap]) -> Index:
    """Places of ``svec`` that rows read, and the diagonal.

    Raises
    ------
    EffortSpentError
    """
    n = basis.order
    if isinstance(basis, Grounded) or basis.null.shape[1] or any(a.is_wide() for a in maps):
        _require(n, _WIDEST_ORDER)
    k = np.arange(n)
    read = [row_magnitudes(a).indices for a in maps]
    return np.unique(np.concatenate([svec_index(k, k), *read])).astype(np.int64)


def _kept(matrix: sp.csr_array, places: Index) -> sp.csr_array:
    """The columns that are read, which hold all entries."""
    column = np.searchsorted(places, matrix.indices)
    return sp.csr_array((matrix.data, column, matrix.indptr), (matrix.shape[0], places.size))


def _columns(
    rows: list[Rows],
    bases: Mapping[str, Basis],
    sizes: Mapping[str, int],
    read: Mapping[str, Index],
    effort: Effort,
) -> tuple[sp.csr_array, sp.csr_array]:
    """The matrix of all rows on x, and bounds on the errors of its entries."""
    shape = (sum(r.m for r in rows), sum(sizes.values()))
    values, errors = list[tuple[int, int, sp.sparray]](), list[tuple[int, int, sp.sparray]]()
    columns = dict(zip(sizes, np.cumsum([0, *sizes.values()]).tolist(), strict=False))
    row = 0
    for r in rows:
        for name, linear_map in r.lhs.items():
            effort.spend()
            value, error = _image(linear_map, bases.get(name), (r.m, sizes[name]))
            if name in read:
                value, error = (_kept(a, read[name]) for a in (value, error))
            values.append((row, columns[name], value))
            errors.append((row, columns[name], error))
        row += r.m
    return placed(values, shape), placed(errors, shape)


def _image(linear_map: LinearMap | VectorMap, basis: Basis | None, shape: tuple[int, int]) -> Image:
    if isinstance(linear_map, VectorMap):
        return linear_map.matrix(), sp.csr_array(shape)
    assert basis is not None
    return basis.image(linear_map)


def _cost(
    sdp: SDP,
    starts: Mapping[str, slice],
    bases: Mapping[str, Basis],
    size: int,
    narrow: Container[str] = (),
) -> tuple[Array, Array]:
    c, error = np.zeros(size), np.zeros(size)
    for name, linear_map in sdp.objective.items():
        if name in narrow:
            continue
        part = starts[name]
        image = _image(linear_map, bases.get(name), (1, part.stop - part.start))
        c[part], error[part] = (a.toarray().ravel() for a in image)
    return c, error


def _with_slack(sdp: SDP, values: Mapping[str, Value]) -> Mapping[str, Value]:
    """Values of the slack that bringing the program to equalities has added."""
    known = dict(values)
    for rows in sdp.rows:
        missing = [name for name in rows.lhs if name not in known]
        for name in missing:
            given = {k: a for k, a in rows.lhs.items() if k in known}
            left = rows.rhs - sdp.evaluate(given, known, rows.m)
            # The coefficient is the identity for scalars, minus the identity for matrices.
            known[name] = left if sdp.variable(name) in sdp.vector_variables else smat(-left)
    return known


def _row_of_each(A: sp.csr_array) -> Index:
    """The row of every entry stored."""
    return np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))


def _times(A: sp.csr_array, rows: Array, columns: Array) -> sp.csr_array:
    """The matrix with its rows and columns multiplied."""
    found = A.copy()  # SciPy sorts indices in place, which two matrices must not share
    found.data *= rows[_row_of_each(A)] * columns[A.indices]
    return found
