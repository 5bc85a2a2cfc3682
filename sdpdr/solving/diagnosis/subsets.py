"""Some rows of a program, and how few of them prove the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.certify.flat import NONNEGATIVE, SEMIDEFINITE, Around, FlatProgram, Piece, build

Mask = NDArray[np.bool_]
# Multipliers beside the largest that count: interior-point methods leave 1e-8 of those that vanish.
_COUNTS = 1e-6


@dataclass(frozen=True, eq=False)
class Proved:
    """Rows that something is proved of, and the multipliers that prove it.

    Attributes
    ----------
    kept : array of bool
    multipliers : array
        Zero for rows that are not kept; nan where a proof took faces first.
    """

    kept: Mask
    multipliers: Array

    @classmethod
    def by(cls, kept: Mask, multipliers: Array | None) -> Proved:
        """What multipliers of the rows that are kept prove; None if they are not known."""
        every = np.zeros(kept.size)
        # Where no cone is left, one that says nothing comes last.
        count = np.count_nonzero(kept)
        every[kept] = np.nan if multipliers is None else multipliers[:count]
        return cls(kept, every)

    @property
    def counts(self) -> Mask:
        """Which rows have multipliers that count beside the largest, or unknown ones."""
        sizes = np.abs(self.multipliers)
        unknown = np.isnan(sizes)
        return unknown if unknown.any() else sizes > _COUNTS * np.max(sizes, initial=0.0)


Prove = Callable[[Mask], "Proved | None"]


def some_rows(program: FlatProgram, kept: Mask) -> FlatProgram:
    """A program with some of its rows; of a matrix those of all entries between some of its rows.

    Other cones stay if all of their rows do.
    """
    m, pieces = program.f.size, list[Piece]()
    for piece, part in zip(program.pieces(), program.parts, strict=True):
        rows = kept[m + part.rows]
        some = piece
        if not rows.all():
            around = None if piece.around is None else piece.around[rows]
            some = piece._replace(A=piece.A[rows], b=piece.b[rows], around=around)
        if piece.kind == SEMIDEFINITE and not rows.all():
            diagonal = rows[np.cumsum(np.arange(1, int(piece.size) + 1)) - 1]
            units = None if piece.units is None else piece.units[diagonal]
            some = some._replace(size=float(np.count_nonzero(diagonal)), units=units)
        if rows.all() or piece.kind in (NONNEGATIVE, SEMIDEFINITE):
            pieces.append(some)
    E, radii = program.E[kept[:m]], program.around.E
    around = program.around._replace(E=None if radii is None else radii[kept[:m]], A=None)
    return build(program.c, E, program.f[kept[:m]], pieces, program.offset, around=around)


def used_columns(program: FlatProgram) -> FlatProgram:
    """The question of a feasible point alone: no cost, and no unknown without a coefficient."""
    used = np.unique(np.concatenate([program.E.indices, program.A.indices]))
    last = np.append(used, program.c.size)
    pieces = [
        piece._replace(
            A=sp.csr_array(piece.A)[:, used],
            around=None if piece.around is None else sp.csr_array(piece.around)[:, last],
        )
        for piece in program.pieces()
    ]
    radii = program.around.E
    around = Around(E=None if radii is None else radii[:, last])
    return build(np.zeros(used.size), program.E[:, used], program.f, pieces, around=around)


def split(rows: Index, groups: Index) -> list[Index]:
    """Rows by group, in the order of groups.

    Examples
    --------
    >>> [part.tolist() for part in split(np.array([0, 1, 2]), np.array([5, 3, 5]))]
    [[1], [0, 2]]
    """
    rows = rows[np.argsort(groups[rows], kind="stable")]
    return np.split(rows, np.flatnonzero(np.diff(groups[rows])) + 1) if rows.size else []


def fewest(
    proved: Proved, groups: Sequence[Index], needed: Index, prove: Prove, deadline: Deadline
) -> tuple[Proved, bool]:
    """Leave out as many groups of rows as can be, while the same is proved of those that are kept.

    Groups without a multiplier go first. Then halves of the groups are tried, then their halves,
    and at last one by one, so that what is left cannot do without any of them.

    Parameters
    ----------
    proved : Proved
    groups : sequence of arrays of int
    needed : array of int
        The number of the cone of each row, of which all rows stay or go; negative of rows that
        always stay.
    prove : callable
    deadline : Deadline

    Returns
    -------
    proved : Proved
    is_complete : bool
        Whether each group that is left was tried by itself.
    """
    proved = _of_needed(proved, groups, needed, prove)
    open_ = [rows for rows in groups if proved.kept[rows].any()]
    size = max(len(open_) // 2, 1)
    while True:
        at = 0
        while at < len(open_):
            if deadline.is_over():
                return proved, False
            fewer = proved.kept.copy()
            for rows in open_[at : at + size]:
                fewer[rows] = False
            found = prove(fewer) if fewer.any() else None
            if found is None:
                at += size
                continue
            proved = _of_needed(found, groups, needed, prove)
            at = sum(bool(proved.kept[rows].any()) for rows in open_[:at])
            open_ = [rows for rows in open_ if proved.kept[rows].any()]
        if size == 1:
            return proved, True
        size = max(size // 2, 1)


def _of_needed(proved: Proved, groups: Sequence[Index], cones: Index, prove: Prove) -> Proved:
    """The same of the groups alone that have multipliers, if that is proved as well.

    They stay whole: with some rows of one gone, another group may be needed in their place.
    """
    used = cones[proved.counts]
    wanted = (cones < 0) | np.isin(cones, used[used >= 0])
    for rows in groups:
        wanted[rows] = wanted[rows].any()
    fewer = proved.kept & wanted
    return proved if np.array_equal(fewer, proved.kept) else prove(fewer) or proved
