r"""Flat programs over a product of cones, the form in which the kernel proves.

.. math::

    \min_x\ c^T x + c_0 \quad\text{s.t.}\quad E x = f,\quad A x + s = b,\quad s \in K,

with multipliers w of equations and z of cones: :math:`E^T w + A^T z + c = 0`, :math:`z \in K^*`
prove the bound :math:`c_0 - f^T w - b^T z`. Entries of matrices are the user's own numbers
(`sdpdr.certify.cones`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix, chosen_rows, placed, transposed
from sdpdr.certify.cones import Cone
from sdpdr.certify.other_cones import Exponential, Power
from sdpdr.certify.symmetric_cones import Nonnegative, SecondOrder, Semidefinite

NONNEGATIVE, SECOND_ORDER, SEMIDEFINITE = "nonnegative", "second-order", "semidefinite"
EXPONENTIAL, POWER = "exponential", "power"
_Found = TypeVar("_Found")
KINDS = (NONNEGATIVE, SECOND_ORDER, SEMIDEFINITE, EXPONENTIAL, POWER)


class Piece(NamedTuple):
    """One cone of a program: its rows of A and b.

    Attributes
    ----------
    kind : one of `KINDS`
    size : int or float
        Numbers of a second-order cone, order of matrices, exponent of a power cone.
    A : sparse array of shape (dim, n)
    b : array of shape (dim,)
    around : sparse array of shape (dim, n + 1), optional
        Radii of the numbers of A and, last, of b.
    units : array, optional
        Powers of two d, if the matrix is D S D in units of its own (`sdpdr.certify.units`).
    """

    kind: str
    size: float
    A: Matrix
    b: Array
    around: Matrix | None = None
    units: Array | None = None


class Answer(NamedTuple):
    """The answer of a solver: point x, slack s of cones, multipliers z of equations and cones."""

    x: Array
    s: Array
    z: Array
    is_solved: bool


class Around(NamedTuple):
    """Radii around rounded numbers of a program that contain the intended ones; None if exact.

    Attributes
    ----------
    c : array of shape (n,) or None
    E : sparse array of shape (m, n + 1) or None
        Radii of the numbers of E and, last, of f.
    A : sparse array of shape (k, n + 1) or None
        Radii of the numbers of A and, last, of b.
    """

    c: Array | None = None
    E: sp.csr_array | None = None
    A: sp.csr_array | None = None

    @property
    def cost(self) -> Array | float:
        """Radii of costs."""
        return 0.0 if self.c is None else self.c

    @property
    def is_exact(self) -> bool:
        """Whether no number is rounded."""
        return all(radii is None for radii in self)


EXACT = Around()


class Part(NamedTuple):
    """Where one cone of a program lies among its rows, and the units of a piece."""

    kind: str
    size: float
    rows: Index
    units: Array | None = None


class Behind(NamedTuple):
    """A proof behind faces.

    Attributes
    ----------
    exposing : tuple of arrays
        Multipliers of equations and cones, or directions, that expose the faces in turn; each is
        next to an exact one, and valid on the faces before it.
    at : array
        Multipliers, or a direction, that prove the claim on the last face.
    """

    exposing: tuple[Array, ...]
    at: Array


@dataclass(frozen=True, eq=False)
class FlatProgram:
    """A program over a product of cones; `build` makes one.

    Attributes
    ----------
    c : array of shape (n,)
    E, f : sparse array of shape (m, n), array of shape (m,)
    A, b : sparse array of shape (k, n), array of shape (k,)
    cones : tuple of (Cone, rows)
        Equal cones together, with their rows of A, copy by copy.
    parts : tuple of Part
        The cones one by one, in the order of rows.
    offset : float
    around : Around
        Proofs hold for all programs within these radii.
    """

    c: Array
    E: sp.csr_array
    f: Array
    A: sp.csr_array
    b: Array
    cones: tuple[tuple[Cone, Index], ...]
    parts: tuple[Part, ...]
    offset: float = 0.0
    around: Around = EXACT

    @cached_property
    def _found(self) -> dict[tuple[str, str], Any]:
        return {}

    def once(
        self,
        what: str,
        side: str,
        find: Callable[[], _Found],
        keep: Callable[[_Found], bool] = lambda found: True,
    ) -> _Found:
        """A property of the program that does not depend on the answer, computed once.

        It is computed again if ``find`` raised an error, or ``keep`` refused the result.
        """
        if (what, side) in self._found:
            known: _Found = self._found[what, side]
            return known
        found = find()
        if keep(found):
            self._found[what, side] = found
        return found

    @cached_property
    def behind(self) -> dict[str, Behind]:
        """Proofs behind faces, by claim: "value", "bound", "infeasible" or "unbounded"."""
        return {}

    @cached_property
    def faceless(self) -> set[str]:
        """Sides, "value" or "bound", for which neither an interior nor an exact face was found.

        An answer of another solver would not change that.
        """
        return set()

    @cached_property
    def dual_equations(self) -> sp.csr_array:
        """The transpose of E and A, one below the other."""
        m, k = self.f.size, self.b.size
        return transposed(placed([(0, 0, self.E), (m, 0, self.A)], (m + k, self.c.size)))

    @cached_property
    def weights(self) -> Array:
        """How often inner products count each row of the cones: off-diagonal entries twice."""
        weights = np.ones(self.b.size)
        for cone, rows in self.cones:
            if isinstance(cone, Semidefinite):
                weights[rows] = np.tile(cone.weight, cone.count)
        return weights

    @property
    def degree(self) -> int:
        """The parameter of the barrier, which is the sum over all cones."""
        return sum(cone.degree for cone, _ in self.cones)

    def points(self, *vectors: Array) -> Iterator[tuple[Cone, list[Array]]]:
        """Yield each cone with its parts of some vectors, each of shape (count, dim)."""
        for cone, rows in self.cones:
            yield cone, [v[rows].reshape(cone.count, cone.dim) for v in vectors]

    def each(self, of: Callable[..., Array], *vectors: Array) -> Array:
        """The vector of the results of ``of(cone, *points)`` for every cone."""
        found = np.empty(self.b.size)
        for (_, rows), (cone, points) in zip(self.cones, self.points(*vectors), strict=True):
            found[rows] = of(cone, *points).ravel()
        return found

    def all_inside(self, s: Array) -> bool:
        """Whether a point is in the interior of all cones, up to rounding."""
        return all(cone.is_inside(*points) for cone, points in self.points(s))

    def all_dual_inside(self, z: Array) -> bool:
        """Whether multipliers are in the interior of all dual cones, up to rounding."""
        return all(cone.is_dual_inside(*points) for cone, points in self.points(z))

    def contain(self, s: Array, radius: Array) -> bool:
        """Whether the box around a point is proved to lie in all cones."""
        return all(cone.contains(*points) for cone, points in self.points(s, radius))

    def dual_contain(self, z: Array, radius: Array) -> bool:
        """Whether the box around multipliers is proved to lie in all dual cones."""
        return all(cone.dual_contains(*points) for cone, points in self.points(z, radius))

    @property
    def centre(self) -> Array:
        """A point in the interior of all cones."""
        return self.each(lambda cone, _: cone.centre(), self.b)

    def own(self, part: Part) -> Index | None:
        """The unknowns that are the entries of a cone's point; None if these are not unknowns."""
        block, radii = chosen_rows(self.A, part.rows), self.around.A
        if radii is not None and chosen_rows(radii, part.rows).nnz:
            return None
        if np.any(self.b[part.rows]) or not np.all(np.diff(block.indptr) == 1):
            return None
        columns = block.indices.astype(np.intp)
        is_own = np.all(block.data == -1.0) and np.unique(columns).size == columns.size
        return columns if is_own else None

    def pieces(self) -> list[Piece]:
        """The cones one by one, as `build` takes them."""
        R = self.around.A
        return [
            Piece(
                kind,
                size,
                chosen_rows(self.A, rows),
                self.b[rows],
                None if R is None else chosen_rows(R, rows),
                units,
            )
            for kind, size, rows, units in self.parts
        ]


def build(
    c: Array,
    E: Matrix,
    f: Array,
    pieces: Sequence[Piece],
    offset: float = 0.0,
    *,
    around: Around = EXACT,
) -> FlatProgram:
    """A program of equations and single cones.

    Parameters
    ----------
    c : array of shape (n,)
    E, f : sparse array of shape (m, n), array of shape (m,)
    pieces : sequence of Piece
        In any order; those without rows are left out.
    offset : float, default 0
    around : Around, optional
        Radii of costs and equations; pieces have their own.

    Examples
    --------
    >>> half_line = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0]]), np.zeros(1))
    >>> program = build(np.ones(1), sp.csr_array((0, 1)), np.zeros(0), [half_line])
    >>> program.all_inside(np.ones(1)), program.degree
    (True, 1)
    """
    if not any(len(one.b) for one in pieces):
        # The slack 1 of the row 0 <= 1, so that there is a cone.
        pieces = [Piece(NONNEGATIVE, 1, sp.csr_array((1, len(c))), np.ones(1))]
    ordered = in_order(pieces)
    parts = _parts(ordered)
    return FlatProgram(
        np.asarray(c, dtype=float),
        sp.csr_array(E),
        np.asarray(f, dtype=float),
        sp.csr_array(sp.vstack([one.A for one in ordered])),
        np.concatenate([one.b for one in ordered]),
        together(parts),
        parts,
        float(offset),
        Around(around.c, around.E, _radii(ordered, len(c))),
    )


def in_order(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces that have rows, in the order of `build`."""
    return sorted((one for one in pieces if len(one.b)), key=lambda one: KINDS.index(one.kind))


def _parts(pieces: Sequence[Piece]) -> tuple[Part, ...]:
    """Where each piece lies among the rows of all."""
    ends = np.cumsum([len(one.b) for one in pieces]).tolist()
    return tuple(
        Part(one.kind, one.size, np.arange(end - len(one.b), end), one.units)
        for one, end in zip(pieces, ends, strict=True)
    )


def together(parts: Sequence[Part]) -> tuple[tuple[Cone, Index], ...]:
    """Equal cones together, with their rows."""
    alike: dict[tuple[str, float], list[Part]] = {}
    for part in parts:
        size = 0.0 if part.kind in (NONNEGATIVE, POWER) else part.size
        alike.setdefault((part.kind, size), []).append(part)
    return tuple(
        (_cone(kind, members), np.concatenate([part.rows for part in members]))
        for (kind, _), members in alike.items()
    )


def _radii(pieces: Sequence[Piece], n: int) -> sp.csr_array | None:
    if all(one.around is None for one in pieces):
        return None
    return sp.csr_array(
        sp.vstack(
            [
                sp.csr_array((len(one.b), n + 1)) if one.around is None else one.around
                for one in pieces
            ]
        )
    )


def cone_of(part: Part) -> Cone:
    """The cone of one part alone."""
    return _cone(part.kind, [part])


def _cone(kind: str, members: Sequence[Part]) -> Cone:
    count, size = len(members), int(members[0].size)
    if kind == NONNEGATIVE:
        return Nonnegative(1, sum(part.rows.size for part in members))
    if kind == SECOND_ORDER:
        return SecondOrder(count, size)
    if kind == SEMIDEFINITE:
        return Semidefinite(count, size)
    return Exponential(count) if kind == EXPONENTIAL else Power(np.array([p.size for p in members]))
