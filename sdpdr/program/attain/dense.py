r"""Small programs written out, with all entries, for proofs that take milliseconds.

With all variables below each other as one vector v, a program is

.. math::  \min\ c^T v + \tfrac12 v^T Q v \quad \text{s.t. } E v = e, \quad s = M v + t \in K,

K a product of cones of matrices and of half-lines: of the variables themselves, whose rows of M
are those of the identity, of inequalities, and of matrix inequalities. Its dual asks of
multipliers y and :math:`z \in K` that :math:`c + Q v_0 + E^T y - M^T z = 0` for some :math:`v_0`.
Matrices of one order are treated at once: calls for small ones take longer than their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.magnitudes import is_written_exactly, row_magnitudes, row_terms
from sdpdr.linalg.maps import LinearMap
from sdpdr.linalg.rounding import gamma
from sdpdr.linalg.svec import smat, svec, svec_size
from sdpdr.program.face import stated_labels
from sdpdr.program.point import PsdVariable, Value, as_dense
from sdpdr.program.sdp import SDP, Expression, Lmi

# Entries of M up to which a program counts as small.
_ENTRIES = 1_000_000
# A pivot beside the largest from which on rows count as independent.
_INDEPENDENT = 1e-10
# What rounding may have made of a row beside its length; of terms that cancel it may be all.
_BLUR = 1e-12


@dataclass(frozen=True)
class Group:
    """Matrices of one order, one after the other in s.

    Attributes
    ----------
    order, count : int
    part : slice
    """

    order: int
    count: int
    part: slice

    def matrices(self, s: Array) -> Array:
        """Shape (count, order, order)."""
        return smat(s[self.part].reshape(self.count, -1))

    def rows(self, matrices: Array) -> Array:
        """The part of s of such matrices."""
        return svec(matrices).ravel()


@dataclass(frozen=True, eq=False)
class DenseProgram:
    """A program written out (see the module's text).

    Attributes
    ----------
    sdp : SDP
    E, M : arrays of shapes (m, p), (k, p)
    e, t, c : arrays of shapes (m,), (k,), (p,)
    summands : tuple of arrays
        Sizes of the terms that the entries of E, M and c are sums of.
    behind : int
        Rounded operations behind one of these entries.
    curvature : array of shape (p,)
        The diagonal of Q.
    groups : tuple of Group
    linear : slice
        Of half-lines in s.
    own : array of int of shape (p,)
        The entry of s that is an entry of v, -1 where there is none.
    columns : mapping from variable name to slice of v
    places : mapping from label to slice of all cones, or of all equations
    distinct, copies : arrays of int
        Of all equations, those that are rows of E, and which of these each is equal to.
    standing : array of int
        Of all cones, the entries that s has.
    said : tuple of arrays
        Inequalities on a number that an equation says is zero, which are not in s: their entries
        among all cones, that equation of each, and the quotient of their coefficients.
    """

    sdp: SDP
    E: Array
    e: Array
    M: Array
    t: Array
    c: Array
    summands: tuple[Array, Array, Array]
    behind: int
    curvature: Array
    groups: tuple[Group, ...]
    linear: slice
    own: Index
    columns: Mapping[str, slice]
    places: Mapping[str, slice]
    distinct: Index
    copies: Index
    standing: Index
    said: tuple[Index, Index, Array]

    # -- points and multipliers ---------------------------------------------------------

    def vector(self, values: Mapping[str, Value]) -> Array:
        """The vector v of values."""
        v = np.zeros(self.c.size)
        for variable in self.sdp.variables:
            value = as_dense(values[variable.name])
            if isinstance(variable, PsdVariable):
                value = svec((value + value.T) / 2.0)
            v[self.columns[variable.name]] = value
        return v

    def values(self, v: Array) -> dict[str, Value]:
        """Values of all variables."""
        return {
            variable.name: smat(v[part]) if isinstance(variable, PsdVariable) else v[part].copy()
            for variable, part in ((w, self.columns[w.name]) for w in self.sdp.variables)
        }

    def multipliers(self, duals: Mapping[str, Array]) -> tuple[Array, Array]:
        """The multipliers y, and z without those that are slack of variables."""
        y, z = np.zeros(self.copies.size), np.zeros(self.standing.size + self.said[0].size)
        for r in self.sdp.rows:
            (y if r.relation == "==" else z)[self.places[r.label]] = duals[r.label]
        for lmi in self.sdp.lmis:
            dual = duals[lmi.label]
            z[self.places[lmi.label]] = svec((dual + dual.T) / 2.0)
        entries, equations, quotients = self.said
        summed = np.zeros(self.e.size)
        np.add.at(summed, self.copies, y)
        # Whoever says the same pays the same.
        np.subtract.at(summed, equations, quotients * z[entries])
        return summed, z[self.standing]

    def duals(self, y: Array, z: Array) -> dict[str, Array]:
        """Multipliers by label."""
        all_equations = np.zeros(self.copies.size)
        all_equations[self.distinct] = y
        cones = np.zeros(self.standing.size + self.said[0].size)
        cones[self.standing] = z
        found = {
            r.label: (all_equations if r.relation == "==" else cones)[self.places[r.label]].copy()
            for r in self.sdp.rows
        }
        return found | {lmi.label: smat(cones[self.places[lmi.label]]) for lmi in self.sdp.lmis}

    # -- what proofs ask for -------------------------------------------------------------

    @cached_property
    def free(self) -> Index:
        """Entries of v that no cone of their own holds."""
        return np.flatnonzero(self.own < 0)

    @cached_property
    def others(self) -> Array:
        """M with zeros in the rows of variables."""
        found = self.M.copy()
        found[self.own[self.own >= 0]] = 0.0
        return found

    @cached_property
    def sizes(self) -> tuple[Array, Array, Array]:
        """Sizes of the terms of E, M and `others`."""
        E, M, _ = self.summands
        others = M.copy()
        others[self.own[self.own >= 0]] = 0.0
        return E, M, others

    @cached_property
    def terms(self) -> tuple[Array, Array]:
        """Roundings of an entry of M v + t, and of one of c + E^T y - M^T z, at most."""
        E, M, others = self.sizes
        columns = np.count_nonzero(E, axis=0) + np.count_nonzero(others, axis=0)
        more = 4.0 + self.behind
        return np.count_nonzero(M, axis=1) + more, columns + more

    @cached_property
    def heights(self) -> Array:
        """Lengths of the columns of E."""
        return np.asarray(np.linalg.norm(self.E, axis=0))

    @cached_property
    def spread(self) -> Array:
        """Lengths of the rows of M."""
        return np.asarray(np.sqrt(np.einsum("kp,kp->k", self.M, self.M)))

    @cached_property
    def _factor(self) -> tuple[Array, Array]:
        """E^T as LAPACK factors it, reflections below a triangle, and what goes with them.

        Raises
        ------
        numpy.linalg.LinAlgError
            If rows depend on each other, or nearly do.
        """
        m, p = self.E.shape
        reflections, scales, _, _ = sl.lapack.dgeqrf(self.E.T)
        pivots = np.abs(np.diagonal(reflections))
        if p < m or not np.min(pivots) > _INDEPENDENT * np.max(pivots):
            raise np.linalg.LinAlgError("the equations depend on each other")
        return reflections, scales

    @cached_property
    def stretch(self) -> float:
        """A bound on how far a solution of E d = r lies from 0, beside the length of r."""
        if not self.e.size:
            return 0.0
        inverse, _ = sl.lapack.dtrtri(self._factor[0][: self.e.size])
        return 2.0 * float(np.linalg.norm(np.triu(inverse)))

    def shortest(self, r: Array) -> Array:
        """The shortest d with E d = r."""
        half = np.zeros((self.c.size, 1))
        half[: r.size], _ = sl.lapack.dtrtrs(self._factor[0][: r.size], r[:, None], trans=1)
        return self._turned(half)[:, 0]

    def prices(self, right: Array) -> Array:
        """Multipliers y for which E^T y is nearest to what is given."""
        m = self.e.size
        turned = self._turned(right[:, None], back=True)[:m]
        return np.asarray(sl.lapack.dtrtrs(self._factor[0][:m], turned)[0][:, 0])

    def _turned(self, columns: Array, *, back: bool = False) -> Array:
        """Columns, turned as the reflections of the factorization do, or back."""
        found, _, _ = sl.lapack.dormqr(
            "L", "T" if back else "N", *self._factor, columns, lwork=64 * columns.shape[1]
        )
        return np.asarray(found)

    @cached_property
    def kernel(self) -> Array:
        """Orthonormal columns that span the vectors with E d = 0."""
        p, m = self.c.size, self.e.size
        return self._turned(np.eye(p, p - m, -m))

    @cached_property
    def within(self) -> Array:
        """M on these vectors."""
        return self.M @ self.kernel if self.e.size else self.M


def written_out(sdp: SDP) -> DenseProgram | None:
    """A program with all its entries.

    None where it is large, where rows state a face, or where entries are what is left of terms that
    cancel, so that rounding may have made them.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.linalg import Trace
    >>> from sdpdr.program.sdp import Rows
    >>> one = Rows("one", "<=", {"X": Trace(2)}, np.ones(1))
    >>> program = written_out(SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (one,)))
    >>> program.M.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -0.0, -1.0]]
    """
    p, rows = sum(v.size for v in sdp.variables), _rows_of_cones(sdp)
    if not 0 < p * max(rows, 1) <= _ENTRIES or sdp.n_rows * p > _ENTRIES or stated_labels(sdp):
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
    own = sum(v.size for v in sdp.variables if isinstance(v, PsdVariable) or v.nonnegative)
    limits = sum(r.m for r in sdp.rows if r.relation == "<=")
    return own + limits + sum(svec_size(lmi.order) for lmi in sdp.lmis)


def _distinct(rows: Array) -> tuple[Index, Index]:
    """Rows of which no other before is the same, and for each row which of these it is."""
    first: dict[bytes, int] = {}
    copies = [first.setdefault(row.tobytes(), len(first)) for row in rows + 0.0]
    distinct = np.unique(np.array(copies, dtype=np.int64), return_index=True)[1]
    return distinct, np.array(copies, dtype=np.int64)


class _Writer:
    """A program under construction."""

    def __init__(self, sdp: SDP) -> None:
        self.sdp = sdp
        ends = np.cumsum([0, *(v.size for v in sdp.variables)]).tolist()
        self.p = ends[-1]
        pairs = zip(sdp.variables, ends, ends[1:], strict=False)
        self.columns = {v.name: slice(a, b) for v, a, b in pairs}
        self.places: dict[str, slice] = {}
        self.k = _rows_of_cones(sdp)
        self.M, self.t = np.zeros((self.k, self.p)), np.zeros(self.k)
        self.summands, self.behind = np.zeros((self.k, self.p)), 0
        self.own = np.full(self.p, -1)

    def program(self) -> DenseProgram:
        """What is written."""
        groups = self._matrices()
        start = groups[-1].part.stop if groups else 0
        self._half_lines(start)
        equations = [r for r in self.sdp.rows if r.relation == "=="]
        E, position = np.zeros((sum(r.m for r in equations), self.p)), 0
        of_E, of_c = np.zeros(E.shape), np.zeros((1, self.p))
        for r in equations:
            self.places[r.label] = slice(position, position + r.m)
            self._fill(E, of_E, self.places[r.label], r.lhs)
            position += r.m
        c, curvature = np.zeros((1, self.p)), np.zeros(self.p)
        self._fill(c, of_c, slice(0, 1), self.sdp.objective)
        for w in self.sdp.vector_variables:
            if w.curvature is not None:
                curvature[self.columns[w.name]] = w.curvature
        e = np.concatenate([np.zeros(0), *(r.rhs for r in equations)])
        distinct, copies = _distinct(np.column_stack([E, e]))
        E, e = E[distinct], e[distinct]
        said = self._said(E, e, start)
        standing = np.setdiff1d(np.arange(self.k), said[0])
        return DenseProgram(
            self.sdp,
            E,
            e,
            self.M[standing],
            self.t[standing],
            c[0],
            (of_E[distinct], self.summands[standing], of_c[0]),
            self.behind,
            curvature,
            groups,
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

    def _fill(self, matrix: Array, summands: Array, place: slice, lhs: Expression) -> None:
        for name, linear_map in lhs.items():
            found = linear_map.matrix().toarray()
            matrix[place, self.columns[name]] = found
            if not isinstance(linear_map, LinearMap) or is_written_exactly(linear_map):
                summands[place, self.columns[name]] = np.abs(found)
                continue
            summands[place, self.columns[name]] = row_magnitudes(linear_map).toarray()
            self.behind = max(self.behind, row_terms(linear_map))

    def _is_itself(self, name: str, place: slice) -> None:
        column = self.columns[name]
        self.own[column] = np.arange(place.start, place.stop)
        for matrix in (self.M, self.summands):
            matrix[self.own[column], np.arange(column.start, column.stop)] = 1.0

    def _matrices(self) -> tuple[Group, ...]:
        cones: list[tuple[int, str, Lmi | None]] = []
        cones += [(v.n, v.name, None) for v in self.sdp.psd_variables]
        cones += [(lmi.order, lmi.label, lmi) for lmi in self.sdp.lmis]
        groups, position = list[Group](), 0
        for order in sorted({n for n, _, _ in cones if n}):
            start, members = position, [cone for cone in cones if cone[0] == order]
            for _, name, lmi in members:
                place = slice(position, position + svec_size(order))
                position = place.stop
                if lmi is None:
                    self._is_itself(name, place)
                    continue
                self.places[name] = place
                self._fill(self.M, self.summands, place, lmi.lhs)
                self.t[place] = lmi.constant
            groups.append(Group(order, len(members), slice(start, position)))
        self.places |= {name: slice(0, 0) for n, name, lmi in cones if not n and lmi is not None}
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
