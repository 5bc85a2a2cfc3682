r"""Programs in standard form as equations over a cone of matrices and scalars.

.. math::  \min_x\ c^T x + \tfrac12 x^T Q x \quad\text{s.t.}\quad A x = b,\quad x \in K

x holds the variables and the slack of inequalities, matrices as `sdpdr.linalg.svec`; Q is diagonal
and zero on matrices. `sdpdr.certify.standard` has already restricted matrices to the face that
constraints state.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.flat import SEMIDEFINITE
from sdpdr.certify.standard import Standard, in_given_units
from sdpdr.linalg.rounding import near_powers
from sdpdr.linalg.svec import SQRT2, full_from_svec, svec_index, svec_pairs, svec_size
from sdpdr.program.point import Point, Value
from sdpdr.program.sdp import SDP
from sdpdr.solvers.flat import ask_clarabel

# A scalar's unit is at least this share of the value that would fill one of its constraints. If
# its slack were the unit, a constraint with almost no slack would look dependent on others.
_LEAST = 1e-3
# The same for a diagonal entry, relative to the largest of its matrix.
_THIN = 1e-5


class Block(NamedTuple):
    """A matrix of some order among the unknowns, from a first place on."""

    order: int
    start: int

    @property
    def part(self) -> slice:
        """Where its `svec` is."""
        return slice(self.start, self.start + svec_size(self.order))

    @property
    def diagonal(self) -> Index:
        """Where its diagonal is."""
        k = np.arange(self.order)
        return self.start + svec_index(k, k)

    @property
    def pairs(self) -> tuple[Index, Index]:
        """Rows and columns of the matrix, by entry of its `svec`."""
        return svec_pairs(np.arange(svec_size(self.order)))


class Cone(NamedTuple):
    """The cone of the unknowns: matrices, and the places of non-negative and of free scalars."""

    blocks: tuple[Block, ...]
    nonnegative: Index
    free: Index

    @property
    def degree(self) -> int:
        """Parameter of the barrier, at least 1."""
        return max(sum(block.order for block in self.blocks) + self.nonnegative.size, 1)


class Reached(NamedTuple):
    """A point, multipliers of the equations, and ``c + Q x - A^T y``."""

    x: Array
    y: Array
    s: Array


@dataclass(frozen=True, eq=False)
class Equations:
    """A program over a cone: costs c, the diagonal of Q, and A x = b.

    The original x is ``units * x``, equations were multiplied by ``rows``, costs by 1 / ``price``.
    """

    A: sp.csr_array
    b: Array
    c: Array
    curvature: Array
    cone: Cone
    units: Array
    rows: Array
    price: float = 1.0

    def value(self, x: Array) -> float:
        """The cost of a point."""
        return float(self.c @ x + 0.5 * (self.curvature @ (x * x)))

    def slack(self, x: Array, y: Array) -> Array:
        """The dual slack of multipliers."""
        return np.asarray(self.c + self.curvature * x - self.transposed @ y)

    @cached_property
    def transposed(self) -> sp.csr_array:
        """A^T by rows."""
        return sp.csr_array(self.A.T)

    @cached_property
    def matrices(self) -> tuple[tuple[Index, sp.csr_array], ...]:
        """For each block, the equations that contain it, and their matrices below each other."""
        found = []
        for block in self.cone.blocks:
            n, part = block.order, self.A[:, block.part]
            rows = np.flatnonzero(np.diff(part.indptr))
            full = sp.csr_array(part[rows] @ full_from_svec(n).T)
            found.append((rows, full.reshape((rows.size * n, n)).tocsr()))
        return tuple(found)

    def in_units_of(self, x: Array, s: Array, size: float) -> Equations:
        """The program in units in which a point, its dual slack, the data and values are near one.

        ``size`` is that of values.
        """
        units = self._units(x)
        largest = abs(self.A @ sp.diags_array(units)).max(axis=1).toarray().ravel()
        rows = 1.0 / near_powers(np.where(largest > 0.0, largest, 1.0))
        A = sp.csr_array(sp.diags_array(rows) @ self.A @ sp.diags_array(units))
        slack = float(np.max(np.abs(units * s), initial=0.0))
        price = max(slack, _LEAST * size / self.cone.degree)
        c, curvature = units * self.c / price, units**2 * self.curvature / price
        return Equations(A, rows * self.b, c, curvature, self.cone, units, rows, price)

    def _units(self, x: Array) -> Array:
        """Powers of two near the sizes of a point; of matrices, congruences by diagonal ones."""
        typical, units = filling(self.A, np.abs(self.b), np.abs(x)), np.ones(x.size)
        typical[np.isinf(typical)] = 0.0
        for block in self.cone.blocks:
            diagonal = np.abs(x[block.diagonal])
            # A zero matrix has no size besides the one that fills its constraints.
            share = _LEAST if diagonal.any() else 1.0
            least = share * float(np.max(typical[block.diagonal]))
            floor = max(_THIN * float(np.max(diagonal)), least) or 1.0
            root = near_powers(np.sqrt(np.maximum(diagonal, floor)))
            i, j = block.pairs
            units[block.part] = root[i] * root[j]
        for scalars, share in ((self.cone.nonnegative, _LEAST), (self.cone.free, 1.0)):
            size = np.maximum(np.abs(x[scalars]), share * typical[scalars])
            units[scalars] = near_powers(np.where(size > 0.0, size, 1.0))
        return units


def filling(A: sp.csr_array, right: Array, sizes: Array) -> Array:
    """The least size of each unknown that fills an equation; inf where equations say nothing.

    An equation adds up to some right side besides what unknowns of given sizes contribute.
    """
    entries = sp.coo_array(abs(A))
    row, column = entries.coords
    reached = (entries @ sizes + right)[row]
    found = np.full(sizes.size, np.inf)
    known = (entries.data > 0.0) & (reached > 0.0)
    np.minimum.at(found, column[known], reached[known] / entries.data[known])
    return found


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """A program in standard form over a cone; `cone_program` makes it.

    The first ``known`` unknowns are those of the flat program, the others slack of its rows
    ``others``; times ``scale`` they are entries of matrices.
    """

    standard: Standard
    equations: Equations
    known: int
    others: Index
    scale: Array

    def reached(self, point: Point) -> Reached | None:
        """A point and its multipliers as those of the equations; None if something is missing."""
        answer, m = self.standard.answer(point), self.standard.flat.f.size
        x = np.concatenate([answer.x[: self.known], answer.s[self.others]]) / self.scale
        y = -np.concatenate([answer.z[:m], answer.z[m + self.others]])
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            return None
        return Reached(x, y, self.equations.slack(x, y))

    def solved(self) -> Point:
        """A point and multipliers near the optimum, from Clarabel."""
        answer = ask_clarabel(self.standard.flat)
        return Point(self.standard.values(answer.x), self.standard.duals(answer.z))

    def values(self, x: Array) -> dict[str, Value]:
        """Values of all variables, linear in x."""
        full = np.zeros(self.standard.flat.c.size)
        full[: self.known] = (x * self.scale)[: self.known]
        return self.standard.values(full)

    def duals(self, y: Array) -> dict[str, Array]:
        """Multipliers of all constraints."""
        flat = self.standard.flat
        z, m = np.zeros(flat.f.size + flat.b.size), flat.f.size
        z[:m], z[m + self.others] = -y[:m], -y[m:]
        return self.standard.duals(z)

    def is_among(self, names: Container[str]) -> NDArray[np.bool_]:
        """Which unknowns belong to some variables."""
        found = np.zeros(self.scale.size, dtype=bool)
        for block in self.standard.blocks:
            found[block.places] = block.name in names
        return found

    def is_like(self, other: ConeProgram, x: Array) -> bool:
        """Whether another program has the same cone and constraints, and x means the same there."""
        mine, its = self.equations, other.equations
        if mine.A.shape != its.A.shape or mine.cone.blocks != its.cone.blocks:
            return False
        here, there = self.values(x), other.values(x)
        labels = [[(k, v.size) for k, v in p.standard.labels.items()] for p in (self, other)]
        same = here.keys() == there.keys() and labels[0] == labels[1]
        return same and all(np.allclose(here[k], there[k], rtol=1e-12) for k in here)


def cone_program(sdp: SDP) -> ConeProgram:
    """The program over a cone that a program in standard form is.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> found = cone_program(methods.mvu(graphs.path([1.0, 2.0])).to_sdp())
    >>> found.equations.A.shape, found.equations.cone.degree
    ((2, 5), 4)
    """
    made = in_given_units(sdp)
    flat, known = made.flat, sum(block.places.size for block in made.blocks)
    has_slack = np.ones(flat.b.size, dtype=bool)
    for rows in (*(block.rows for block in made.blocks), *(s.rows for s in made.squares)):
        has_slack[rows.ravel()] = False
    others = np.flatnonzero(has_slack)
    slack = np.cumsum(has_slack) - 1 + known
    blocks = [Block(b.order, int(b.places[0])) for b in made.blocks if b.order]
    is_free = np.zeros(known + others.size, dtype=bool)
    for block in made.blocks:
        is_free[block.places] = not block.rows.size
    for kind, order, rows, _ in flat.parts:
        if kind == SEMIDEFINITE and has_slack[rows[0]]:
            blocks.append(Block(int(order), int(slack[rows[0]])))
    is_nonnegative, scale, curvature = ~is_free, np.ones(is_free.size), np.zeros(is_free.size)
    for matrix in blocks:
        i, j = matrix.pairs
        scale[matrix.part] = np.where(i == j, 1.0, 1.0 / SQRT2)
        is_nonnegative[matrix.part] = False
    for square in made.squares:
        curvature[square.places] = flat.c[square.halves]
    A = sp.block_array(
        [[flat.E[:, :known], None], [flat.A[others][:, :known], sp.eye_array(others.size)]]
    )
    equations = Equations(
        sp.csr_array(A @ sp.diags_array(scale)),
        np.concatenate([flat.f, flat.b[others]]),
        np.append(flat.c[:known], np.zeros(others.size)) * scale,
        curvature,
        Cone(tuple(blocks), np.flatnonzero(is_nonnegative), np.flatnonzero(is_free)),
        np.ones(scale.size),
        np.ones(A.shape[0]),
    )
    return ConeProgram(made, equations, known, others, scale)
