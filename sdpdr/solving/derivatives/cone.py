r"""Programs in standard form as equations over a cone of matrices and scalars.

.. math::  \min_x\ c^T x + \tfrac12 x^T Q x \quad\text{s.t.}\quad A x = b,\quad x \in K

x holds the variables and the slack of inequalities, matrices as `sdpdr.linalg.svec`; Q is diagonal
and zero on matrices. `sdpdr.certify.standard` has already restricted matrices to the face that
constraints state.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.flat import NONNEGATIVE, SEMIDEFINITE
from sdpdr.certify.standard import Standard, standard
from sdpdr.linalg.rounding import near_powers
from sdpdr.linalg.svec import SQRT2, full_from_svec, svec_index, svec_pairs, svec_size
from sdpdr.program.point import Point, Value
from sdpdr.program.sdp import SDP

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


@dataclass(frozen=True, eq=False)
class Cone:
    """The cone of the unknowns: matrices, and the places of non-negative and of free scalars."""

    blocks: tuple[Block, ...]
    nonnegative: Index
    free: Index

    @property
    def degree(self) -> int:
        """Parameter of the barrier."""
        return sum(block.order for block in self.blocks) + self.nonnegative.size

    @cached_property
    def scalars(self) -> Index:
        """Places of all scalars."""
        return np.concatenate([self.nonnegative, self.free])


class Reached(NamedTuple):
    """A point, multipliers of the equations, and ``c + Q x - A^T y``."""

    x: Array
    y: Array
    s: Array


@dataclass(frozen=True, eq=False)
class Equations:
    """A program over a cone, possibly in units of its own.

    Attributes
    ----------
    A : sparse array of shape (m, N)
    b : array of shape (m,)
    c, curvature : arrays of shape (N,)
        Costs, and the diagonal of Q.
    cone : Cone
    units, rows : arrays of shapes (N,) and (m,)
        The original x is ``units * x``; equations were multiplied by ``rows``.
    price : float
        What costs were divided by.
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
        """The program in units in which a point, its dual slack and the data have size about one.

        Parameters
        ----------
        x, s : arrays of shape (N,)
        size : float
            Size of objective values.
        """
        units = _units(self, x)
        rows = abs(self.A) @ sp.diags_array(units)
        largest = rows.max(axis=1).toarray().ravel() if rows.nnz else np.zeros(self.b.size)
        rows = 1.0 / near_powers(np.where(largest > 0.0, largest, 1.0))
        A = sp.csr_array(sp.diags_array(rows) @ self.A @ sp.diags_array(units))
        c, curvature = units * self.c, units**2 * self.curvature
        cost = _LEAST * (c + curvature * (x / units))
        sizes = (float(np.max(np.abs(each), initial=0.0)) for each in (units * s, cost))
        price = max(*sizes, _LEAST * size / max(self.cone.degree, 1))
        return Equations(
            A, rows * self.b, c / price, curvature / price, self.cone, units, rows, price
        )

    def unscaled(self, x: Array, y: Array, s: Array) -> Reached:
        """A point and multipliers in the original units."""
        return Reached(x * self.units, y * self.rows * self.price, s / self.units * self.price)


def filling(A: sp.csr_array, right: Array, x: Array) -> Array:
    """The least size of each unknown that fills one of its equations; inf where none says.

    Parameters
    ----------
    A : sparse array of shape (m, N)
        With entries of any sign.
    right : array of shape (m,)
        Sizes that equations add up to besides those of x.
    x : array of shape (N,)
    """
    entries = sp.coo_array(abs(A))
    row, column = entries.coords
    reached = (entries @ np.abs(x) + right)[row]
    found = np.full(A.shape[1], np.inf)
    known = (entries.data > 0.0) & (reached > 0.0)
    np.minimum.at(found, column[known], reached[known] / entries.data[known])
    return found


def _units(program: Equations, x: Array) -> Array:
    """Powers of two near the sizes of a point; of matrices, congruences by diagonal ones."""
    typical = filling(program.A, np.abs(program.b), x)
    typical[np.isinf(typical)] = 0.0
    units = np.ones(x.size)
    for block in program.cone.blocks:
        diagonal, sizes = np.abs(x[block.diagonal]), typical[block.diagonal]
        least = float(np.max(sizes, initial=0.0))
        # A zero matrix has no size besides the one that fills its constraints.
        least *= _LEAST if diagonal.any() else 1.0
        floor = max(_THIN * float(np.max(diagonal, initial=0.0)), least) or 1.0
        root = near_powers(np.sqrt(np.maximum(diagonal, floor)))
        i, j = block.pairs
        units[block.part] = root[i] * root[j]
    for scalars, share in ((program.cone.nonnegative, _LEAST), (program.cone.free, 1.0)):
        size = np.maximum(np.abs(x[scalars]), share * typical[scalars])
        units[scalars] = near_powers(np.where(size > 0.0, size, 1.0))
    return units


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """A program in standard form over a cone; `cone_program` makes it.

    Attributes
    ----------
    standard : Standard
        The flat program that it was made from.
    equations : Equations
    known : int
        Number of unknowns that are no slack.
    others : array of int
        Rows of cones of the flat program that got slack.
    scale : array of shape (N,)
        What an unknown is multiplied by to be one of the flat program.
    """

    standard: Standard
    equations: Equations
    known: int
    others: Index
    scale: Array

    def reached(self, point: Point) -> Reached | None:
        """A point and its multipliers as those of the equations; None where something is missing."""
        answer, m = self.standard.answer(point), self.standard.flat.f.size
        x = np.concatenate([answer.x[: self.known], answer.s[self.others]]) / self.scale
        y = -np.concatenate([answer.z[:m], answer.z[m + self.others]])
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            return None
        return Reached(x, y, self.equations.slack(x, y))

    def values(self, x: Array) -> dict[str, Value]:
        """Values of all variables, linear in x."""
        return self.standard.values((x * self.scale)[: self.known])

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

    def is_like(self, other: ConeProgram) -> bool:
        """Whether another program has the same cone, equations of the same constraints, and face."""
        mine, its = self.equations, other.equations
        if mine.A.shape != its.A.shape or mine.cone.blocks != its.cone.blocks:
            return False
        labels = [{k: v.tolist() for k, v in p.standard.labels.items()} for p in (self, other)]
        bases = zip(self.standard.blocks, other.standard.blocks, strict=True)
        return labels[0] == labels[1] and all(_same(a.basis, b.basis) for a, b in bases)


def cone_program(sdp: SDP) -> ConeProgram:
    """The program over a cone that a program in standard form is.

    Parameters
    ----------
    sdp : SDP

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> found = cone_program(methods.mvu(graphs.path([1.0, 2.0])).to_sdp())
    >>> found.equations.A.shape, found.equations.cone.degree
    ((2, 5), 4)
    """
    made = standard(sdp)
    flat, known = made.flat, sum(block.places.size for block in made.blocks)
    has_slack = np.ones(flat.b.size, dtype=bool)
    for part in (*made.blocks, *made.squares):
        has_slack[part.rows.ravel()] = False
    others = np.flatnonzero(has_slack)
    slack = np.cumsum(has_slack) - 1 + known
    parts = [(_kind(block), block.order, block.places) for block in made.blocks]
    parts += [(kind, int(k), slack[rows]) for kind, k, rows in flat.parts if has_slack[rows[0]]]
    cone = _cone(parts)
    scale, curvature = np.ones(known + others.size), np.zeros(known + others.size)
    for matrix in cone.blocks:
        i, j = matrix.pairs
        scale[matrix.part] = np.where(i == j, 1.0, 1.0 / SQRT2)
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
        cone,
        np.ones(scale.size),
        np.ones(A.shape[0]),
    )
    return ConeProgram(made, equations, known, others, scale)


def _kind(block: Any) -> str:
    """The cone that a variable is in itself; none where it is free."""
    if block.order:
        return SEMIDEFINITE
    return NONNEGATIVE if block.rows.size else ""


def _cone(parts: Sequence[tuple[str, int, Index]]) -> Cone:
    """The cone of unknowns by kind, order and places."""
    places = {kind: [np.zeros(0, dtype=np.intp)] for kind in (NONNEGATIVE, SEMIDEFINITE, "")}
    for kind, _, at in parts:
        places[kind].append(at)
    blocks = tuple(Block(order, int(at[0])) for kind, order, at in parts if kind == SEMIDEFINITE)
    return Cone(blocks, np.concatenate(places[NONNEGATIVE]), np.concatenate(places[""]))


def _same(one: sp.csr_array | None, other: sp.csr_array | None) -> bool:
    """Whether two bases of a face are equal up to rounding."""
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and bool(np.allclose(one.toarray(), other.toarray(), 1e-12))
