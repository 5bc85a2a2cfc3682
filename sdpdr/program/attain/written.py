"""Small programs written out with all their entries (see `sdpdr.program.attain.dense`)."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, places_of_rows
from sdpdr.linalg.magnitudes import is_written_exactly, row_magnitudes, row_terms
from sdpdr.linalg.maps import LinearMap
from sdpdr.linalg.rounding import gamma
from sdpdr.linalg.svec import svec_size
from sdpdr.program.attain.arrows import ArrowGroup, arrow_labels, heads
from sdpdr.program.attain.dense import Cones, DenseProgram, MatrixGroup
from sdpdr.program.face import stated_labels
from sdpdr.program.point import side_by_side
from sdpdr.program.rows import Expression, Lmi
from sdpdr.program.sdp import SDP

# Entries of M up to which a program counts as small, and up to which it is written out where
# Newton steps would be next.
_ENTRIES, _MORE_ENTRIES = 1_000_000, 4_000_000
# Operations that it takes to write an entry, beside the cube of rows that Newton steps take: 0.1 s
# for 4e6 entries, and 1.4 s for the steps of 900 rows.
_WRITTEN = 30.0
# What rounding may have made of a row beside its length; of terms that cancel it may be all.
_BLUR = 1e-12
_KIND = itemgetter(0, 1)


def written_out(sdp: SDP) -> DenseProgram | None:
    """A program with all its entries.

    None where it is large, where rows state a face, or where entries are what is left of terms that
    cancel, so that rounding may have made them.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.linalg import Trace
    >>> from sdpdr.program.point import PsdVariable
    >>> from sdpdr.program.rows import Rows
    >>> one = Rows("one", "<=", {"X": Trace(2)}, np.ones(1))
    >>> program = written_out(SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (one,)))
    >>> program.M.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -0.0, -1.0]]
    """
    return written_at_length(sdp) if 0 < _entries(sdp) <= _ENTRIES else None


def is_worth_writing(sdp: SDP) -> bool:
    """Whether a program is not small, and to write it out takes less than to step along its path.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> is_worth_writing(methods.mvu(graphs.path([1.0, 2.0])).to_sdp())
    False
    """
    entries = _entries(sdp)
    # Newton steps have a row for every entry of a matrix inequality, arrow or not.
    rows = sdp.n_rows + sum(svec_size(lmi.order) for lmi in sdp.lmis)
    return _ENTRIES < entries <= _MORE_ENTRIES and rows**3 >= _WRITTEN * entries


def _entries(sdp: SDP) -> int:
    """Of M, or of all rows if there are more."""
    p = sum(v.size for v in sdp.variables)
    return p * max(_rows_of_cones(sdp), sdp.n_rows, 1)


def written_at_length(sdp: SDP) -> DenseProgram | None:
    """A program with all its entries, of any size; None for the other reasons of `written_out`."""
    if stated_labels(sdp):
        return None
    program = _Writer(sdp).program()
    return None if _is_blurred(program) else program


def _is_blurred(program: DenseProgram) -> bool:
    """Whether rounding may have changed a row by more than a trace of it."""
    if not program.behind:
        return False
    share = gamma(program.behind)
    return any(
        bool(np.any(share * np.linalg.norm(sizes, axis=-1) > _BLUR * np.linalg.norm(rows, axis=-1)))
        for rows, sizes in zip((program.E, program.M), program.summands, strict=False)
    )


def _rows_of_cones(sdp: SDP) -> int:
    own = sum(v.size for v in sdp.variables if v.is_signed)
    limits = sum(r.m for r in sdp.rows if r.relation == "<=")
    arrows = arrow_labels(sdp)
    sizes = (lmi.order + 1 if lmi.label in arrows else svec_size(lmi.order) for lmi in sdp.lmis)
    return own + limits + sum(sizes)


def _distinct(rows: Array) -> tuple[Index, Index]:
    """Rows of which no other before is the same, and for each row which of these it is."""
    first: dict[bytes, int] = {}
    copies = [first.setdefault(row.tobytes(), len(first)) for row in rows + 0.0]
    distinct = np.unique(np.array(copies, dtype=np.int64), return_index=True)[1]
    return distinct, np.array(copies, dtype=np.int64)


def _taken(matrix: sp.csr_array, rows: Index | None) -> Array:
    """A matrix, or some of its rows, with all entries.

    SciPy takes several times as long to choose rows as to write them out.
    """
    if rows is None:
        return np.asarray(matrix.toarray())
    place = places_of_rows(matrix, rows)
    found = np.zeros((rows.size, matrix.shape[1]))
    row = np.repeat(np.arange(rows.size), np.diff(matrix.indptr)[rows])
    found[row, matrix.indices[place]] = matrix.data[place]
    return found


class _Writer:
    """A program under construction."""

    def __init__(self, sdp: SDP) -> None:
        self.sdp = sdp
        self.p = sum(v.size for v in sdp.variables)
        self.columns = side_by_side(sdp.variables)
        self.places: dict[str, slice] = {}
        self.k = _rows_of_cones(sdp)
        self.M, self.t = np.zeros((self.k, self.p)), np.zeros(self.k)
        self.summands, self.behind = np.zeros((self.k, self.p)), 0
        self.own = np.full(self.p, -1)

    def program(self) -> DenseProgram:
        """What is written."""
        cones = self._matrices()
        start = cones[-1].part.stop if cones else 0
        self._half_lines(start)
        equations = [r for r in self.sdp.rows if r.relation == "=="]
        E, position = np.zeros((sum(r.m for r in equations), self.p)), 0
        of_E, of_c = np.zeros(E.shape), np.zeros((1, self.p))
        for r in equations:
            self.places[r.label] = slice(position, position + r.m)
            self._fill(E, of_E, self.places[r.label], r.lhs)
            position += r.m
        c = np.zeros((1, self.p))
        self._fill(c, of_c, slice(0, 1), self.sdp.objective)
        e = np.concatenate([np.zeros(0), *(r.rhs for r in equations)])
        distinct, copies = _distinct(np.column_stack([E, e]))
        E, e = E[distinct], e[distinct]
        said = self._said(E, e, start)
        standing = np.setdiff1d(np.arange(self.k), said[0])
        kept = standing if said[0].size else slice(None)  # without a copy, mostly
        return DenseProgram(
            self.sdp,
            E,
            e,
            self.M[kept],
            self.t[kept],
            c[0],
            (of_E[distinct], self.summands[kept], of_c[0]),
            self.behind,
            self.sdp.curvatures(self.columns, self.p),
            cones,
            slice(start, standing.size),
            self.own,
            self.columns,
            self.places,
            distinct,
            copies,
            standing,
            said,
        )

    def _said(self, E: Array, e: Array, start: int) -> tuple[Index, Index, Array]:
        """Inequalities that have no interior since equations say more (see `said`)."""
        zero = np.flatnonzero((np.count_nonzero(E, axis=1) == 1) & (e == 0.0))
        column = np.argmax(E[zero] != 0.0, axis=1)
        equation = np.full(self.p, -1)
        equation[column] = zero
        limits = np.arange(start + np.count_nonzero(self.own >= start), self.k)
        limits = limits[(np.count_nonzero(self.M[limits], axis=1) == 1) & (self.t[limits] == 0.0)]
        at = np.argmax(self.M[limits] != 0.0, axis=1)
        limits, at = limits[equation[at] >= 0], at[equation[at] >= 0]
        return limits, equation[at], self.M[limits, at] / E[equation[at], at]

    def _fill(
        self,
        matrix: Array,
        summands: Array,
        place: slice,
        lhs: Expression,
        rows: Index | None = None,
    ) -> None:
        for name, linear_map in lhs.items():
            found = _taken(linear_map.matrix(), rows)
            matrix[place, self.columns[name]] = found
            if not isinstance(linear_map, LinearMap) or is_written_exactly(linear_map):
                summands[place, self.columns[name]] = np.abs(found)
                continue
            summands[place, self.columns[name]] = _taken(row_magnitudes(linear_map), rows)
            self.behind = max(self.behind, row_terms(linear_map))

    def _is_itself(self, name: str, place: slice) -> None:
        column = self.columns[name]
        self.own[column] = np.arange(place.start, place.stop)
        for matrix in (self.M, self.summands):
            matrix[self.own[column], np.arange(column.start, column.stop)] = 1.0

    def _matrices(self) -> Cones:
        """Of all cones but half-lines: those of one order together, arrows after the others."""
        arrows = arrow_labels(self.sdp)
        cones: list[tuple[bool, int, str, Lmi | None]] = []
        cones += [(False, v.n, v.name, None) for v in self.sdp.psd_variables]
        cones += [(a.label in arrows, a.order, a.label, a) for a in self.sdp.lmis]
        groups, position = list[MatrixGroup | ArrowGroup](), 0
        for (is_arrow, order), group in groupby(sorted(cones, key=_KIND), _KIND):
            members, start = list(group), position
            rows = heads(order) if is_arrow else np.arange(svec_size(order))
            for *_, name, lmi in members:
                place = slice(position, position + rows.size)
                position = place.stop
                if lmi is None:
                    self._is_itself(name, place)
                    continue
                self.places[name] = place
                self._fill(self.M, self.summands, place, lmi.lhs, rows if is_arrow else None)
                self.t[place] = lmi.constant[rows]
            kind = ArrowGroup if is_arrow else MatrixGroup
            if order:
                groups.append(kind(order, len(members), slice(start, position)))
        return tuple(groups)

    def _half_lines(self, position: int) -> None:
        for v in self.sdp.vector_variables:
            if v.nonnegative:
                place = slice(position, position + v.size)
                self._is_itself(v.name, place)
                position = place.stop
        for r in self.sdp.rows:
            if r.relation == "<=":
                place = self.places[r.label] = slice(position, position + r.m)
                self._fill(self.M, self.summands, place, r.lhs)
                np.negative(self.M[place], out=self.M[place])
                self.t[place] = r.rhs
                position = place.stop
