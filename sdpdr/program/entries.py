"""Data matrices of a program as lists of entries, the way files hold them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap, SvecMap, VectorMap
from sdpdr.linalg.svec import near_unscaled, svec_pairs
from sdpdr.program.point import PsdVariable, Variable
from sdpdr.program.sdp import SDP


@dataclass(frozen=True, eq=False)
class FileEntries:
    """Entries of block-diagonal symmetric matrices F_0 (the cost), F_1, ..., F_m (the rows).

    Attributes
    ----------
    place : array of int, shape (4, p)
        Number of the matrix, number of the block, row and column in the block. Blocks, rows and
        columns count from 1.
    value : array of shape (p,)
        Entries F_ij, not scaled as in ``svec``.
    """

    place: Index
    value: Array

    def __neg__(self) -> FileEntries:
        return FileEntries(self.place, -self.value)

    def take(self, chosen: NDArray[np.bool_] | Index | slice) -> FileEntries:
        """Some of the entries."""
        return FileEntries(self.place[:, chosen], self.value[chosen])

    def by_block(self, n_blocks: int) -> Iterator[FileEntries]:
        """Group the entries: those of block 1, of block 2, and so on."""
        block = self.place[1]
        ordered = self.take(np.argsort(block, kind="stable"))
        ends = np.searchsorted(ordered.place[1], np.arange(1, n_blocks + 2))
        for start, end in pairwise(ends.tolist()):
            yield ordered.take(slice(start, end))

    def upper(self) -> tuple[FileEntries, NDArray[np.bool_]]:
        """Sort each non-zero entry into the upper triangle, and say which ones clash.

        An entry may stand in both triangles if its values agree. It clashes where it stands
        twice in one place, or differs from its mirror image.
        """
        matrix, block, i, j = self.place
        places = np.stack([matrix, block, np.minimum(i, j), np.maximum(i, j)])
        order = np.lexsort((i, *places[::-1]))
        places, row, value = places[:, order], i[order], self.value[order]
        again = np.zeros(order.size, dtype=bool)
        again[1:] = (places[:, 1:] == places[:, :-1]).all(axis=0)
        clash = np.zeros(order.size, dtype=bool)
        clash[order] = again & ((row == np.roll(row, 1)) | (value != np.roll(value, 1)))
        return FileEntries(places, value).take(~again & (value != 0.0)), clash

    def linear_map(self, variable: Variable, m: int) -> SvecMap | VectorMap:
        """Make the rows <F_1, Y>, ..., <F_m, Y> on one block, or the single row <F_0, Y>."""
        row = np.maximum(self.place[0] - 1, 0)
        i, j = self.place[2:] - 1
        if isinstance(variable, PsdVariable):
            return SvecMap.from_entries(variable.n, m, row, i, j, self.value)
        return variable.rows(sp.csr_array((self.value, (row, i)), shape=(m, variable.size)))


def entries_of(sdp: SDP, variables: list[Variable]) -> FileEntries:
    """The entries of a program in equality form, sorted; F_0 is the negative of the cost.

    Parameters
    ----------
    sdp : SDP
    variables : list of variables
        In the order of the blocks.
    """
    parts = []
    for block, v in enumerate(variables, start=1):
        first = 1
        if v.name in sdp.objective:
            parts.append(-_coefficients(sdp.objective[v.name], v, block, 0))
        for r in sdp.rows:
            if v.name in r.lhs:
                parts.append(_coefficients(r.lhs[v.name], v, block, first))
            first += r.m
    if not parts:
        return FileEntries(np.zeros((4, 0), dtype=np.intp), np.zeros(0))
    place = np.concatenate([part.place for part in parts], axis=1)
    joined = FileEntries(place, np.concatenate([part.value for part in parts]))
    return joined.take(np.lexsort(place[::-1]))


def _coefficients(
    linear_map: LinearMap | VectorMap, variable: Variable, block: int, first: int
) -> FileEntries:
    """The symmetric matrices of a map's rows, numbered from ``first``."""
    kept = False
    matrix = linear_map.matrix()
    if isinstance(linear_map, SvecMap) and linear_map.keeps_entries:
        kept, matrix = True, linear_map.natural()
    rows = matrix.tocoo()
    rows.sum_duplicates()
    i = j = rows.col.astype(np.intp)
    value = rows.data
    if isinstance(variable, PsdVariable):
        i, j = svec_pairs(rows.col)
        value = value if kept else np.where(i == j, value, near_unscaled(value))
    number = rows.row.astype(np.intp) + first
    place = np.stack([number, np.full_like(number, block), i + 1, j + 1])
    return FileEntries(place, value).take(value != 0.0)
