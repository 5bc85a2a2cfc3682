r"""Rows of a program in one matrix, and their slack scalars.

A scalar that only one row reads can satisfy that row exactly for all matrices, since the row
determines it. With signs, this takes one scalar that raises the row and one that lowers it; if
there is only one, the row must have room on the other side. An inequality has such a scalar by
itself, its slack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, placed
from sdpdr.linalg.maps.given import SvecMap
from sdpdr.program.face import visible_rows
from sdpdr.program.point import Value, side_by_side
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP, remembered


@dataclass(frozen=True, eq=False)
class Scalars:
    """Coefficients of all scalars, side by side, in some rows and in the objective.

    Attributes
    ----------
    sdp : SDP
    groups : tuple of Rows
    b : array of shape (m,)
        Right-hand sides.
    B : sparse array of shape (m, q)
        Coefficients of the scalars in the rows.
    places : mapping from name to slice
        Positions of the scalars of a variable.
    cost, curvature : arrays of shape (q,)
    signed : array of bool, shape (q,)
        Which scalars are not negative.
    """

    sdp: SDP
    groups: tuple[Rows, ...]
    b: Array
    B: sp.csr_array
    places: Mapping[str, slice]
    cost: Array
    curvature: Array
    signed: NDArray[np.bool_]

    @classmethod
    def of(cls, sdp: SDP, groups: Iterable[Rows]) -> Scalars:
        """The scalars of a program, in some of its rows."""
        groups, scalars = tuple(groups), sdp.vector_variables
        places, starts = side_by_side(scalars), np.cumsum([0, *(r.m for r in groups)]).tolist()
        parts = [
            (start, places[name].start, linear_map.matrix())
            for rows, start in zip(groups, starts, strict=False)
            for name, linear_map in rows.lhs.items()
            if name in places
        ]
        q = sum(v.size for v in scalars)
        B = placed(parts, (starts[-1], q))
        B.sum_duplicates()
        B.eliminate_zeros()
        signed = [np.zeros(0, dtype=bool), *(np.full(v.size, v.nonnegative) for v in scalars)]
        return Scalars(
            sdp=sdp,
            groups=groups,
            b=np.concatenate([np.zeros(0), *(rows.rhs for rows in groups)]),
            B=B,
            places=places,
            cost=np.concatenate([np.zeros(0), *(np.asarray(sdp.cost(v.name)) for v in scalars)]),
            curvature=sdp.curvatures(places, q),
            signed=np.concatenate(signed),
        )


@dataclass(frozen=True, eq=False)
class Layout(Scalars):
    """All rows of a program but those that state faces, and their slack scalars.

    Attributes
    ----------
    equal : array of bool, shape (m,)
        Which rows are equations.
    row, entry : arrays of shape (q,)
        The one row that reads a scalar, and the coefficient; -1 for all others.
    """

    equal: NDArray[np.bool_]
    row: Index
    entry: Array

    @property
    def demands(self) -> NDArray[np.bool_]:
        """Which equations have no slack scalar, and so have to be solved."""
        has_own = np.zeros(self.b.size, dtype=bool)
        has_own[self.row[self.row >= 0]] = True
        return self.equal & ~has_own

    def scalars(self, values: Mapping[str, Value]) -> Array:
        """All scalars of a point, none of them of the wrong sign."""
        parts = [np.asarray(values[v.name], dtype=float) for v in self.sdp.vector_variables]
        z = np.concatenate([np.zeros(0), *parts])
        return np.where(self.signed, np.maximum(z, 0.0), z)

    def split(self, z: Array) -> dict[str, Array]:
        """Scalars by variable."""
        scalars = self.sdp.vector_variables
        ends = np.cumsum([v.size for v in scalars])
        return {v.name: z[end - v.size : end] for v, end in zip(scalars, ends, strict=True)}

    def taken(self, chosen: NDArray[np.bool_]) -> list[Rows]:
        """Some of the rows, group by group."""
        parts = np.split(chosen, np.cumsum([rows.m for rows in self.groups])[:-1])
        some = zip(self.groups, parts, strict=True) if self.groups else ()
        return [rows.take(part) for rows, part in some if part.any()]

    def takers(self, solved: NDArray[np.bool_]) -> tuple[Index, Index]:
        """For every row the scalars that take what is left above, and below; -1 where none does.

        The one of an inequality itself has the number q. Among several the cheapest takes all.
        Rows that are solved as equations have none.
        """
        q, m = self.cost.size, self.b.size
        own = np.flatnonzero(self.row >= 0)
        own = own[~solved[self.row[own]]]
        limits = np.flatnonzero(~self.equal & ~solved)
        row = np.concatenate([self.row[own], limits])
        who = np.concatenate([own, np.full(limits.size, q)])
        free = np.concatenate([~self.signed[own], np.zeros(limits.size, dtype=bool)])
        side = np.concatenate([np.sign(self.entry[own]), np.ones(limits.size)])
        rate = np.concatenate([self.cost[own] / np.abs(self.entry[own]), np.zeros(limits.size)])
        order = np.lexsort((np.where(free, -np.inf, rate), row))
        found = []
        for sign in (1.0, -1.0):
            some = order[(free | (side == sign))[order]]
            rows, first = np.unique(row[some], return_index=True)
            takers = np.full(m, -1)
            takers[rows] = who[some[first]]
            found.append(takers)
        return found[0], found[1]


@remembered
def layout(sdp: SDP) -> Layout:
    """Rows and scalars of a program.

    Examples
    --------
    >>> from sdpdr import minimize, psd, sum_squares
    >>> X = psd("X", 2)
    >>> found = layout((minimize(sum_squares(X - np.eye(2))) + (X.diagonal() == 1.0)).to_sdp())
    >>> found.demands.tolist(), found.row.tolist()
    ([False, False, False, True, True], [0, 1, 2])
    """
    # Rows without variables, which sums that cancel leave, are dropped if they hold.
    some = (r for r in visible_rows(sdp) if r.lhs or not r.hold_at_zero.all())
    found = Scalars.of(sdp, _gathered(some))
    row, entry = _own_rows(found)
    equal = [np.zeros(0, dtype=bool), *(np.full(r.m, r.relation == "==") for r in found.groups)]
    return Layout(**vars(found), equal=np.concatenate(equal), row=row, entry=entry)


def _own_rows(found: Scalars) -> tuple[Index, Array]:
    """The one row that reads a scalar, and its coefficient there; no matrix inequality does."""
    B = sp.csc_array(found.B)
    is_alone = np.diff(B.indptr) == 1
    for lmi in found.sdp.lmis:
        for name in lmi.lhs.keys() & found.places.keys():
            is_alone[found.places[name]] = False
    own = np.flatnonzero(is_alone)
    row, entry = np.full(B.shape[1], -1), np.zeros(B.shape[1])
    row[own], entry[own] = B.indices[B.indptr[own]], B.data[B.indptr[own]]
    return row, entry


def _gathered(groups: Iterable[Rows]) -> Iterator[Rows]:
    """The rows, with groups of one row each, as cvxpy gives them, joined to larger groups."""
    for key, group in groupby(groups, _kind):
        first, *others = group
        if not others:
            yield first
            continue
        ((name, linear_map),) = first.lhs.items()
        rows = (first, *others)
        stacked = sp.vstack([one.lhs[name].matrix() for one in rows], format="csr")
        lhs = {name: SvecMap(linear_map.n, stacked)}
        yield Rows(str(key), first.relation, lhs, np.concatenate([one.rhs for one in rows]))


def _kind(rows: Rows) -> tuple[str, str] | int:
    """A key that is equal for groups that one matrix can hold: one relation and one plain map."""
    maps = list(rows.lhs.items())
    is_plain = len(maps) == 1 and type(maps[0][1]) is SvecMap
    return (rows.relation, maps[0][0]) if is_plain else id(rows)
