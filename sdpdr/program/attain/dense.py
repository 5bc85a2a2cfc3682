r"""Small programs written out, with all entries, for proofs that take milliseconds.

With all variables below each other as one vector v, a program is

.. math::  \min\ c^T v + \tfrac12 v^T Q v \quad \text{s.t. } E v = e, \quad s = M v + t \in K,

K a product of cones of matrices and of half-lines: of the variables themselves, whose rows of M
are those of the identity, of inequalities, and of matrix inequalities; of arrows only heads count
(`sdpdr.program.attain.arrows`). Its dual asks of
multipliers y and :math:`z \in K` that :math:`c + Q v_0 + E^T y - M^T z = 0` for some :math:`v_0`.
Matrices of one order are treated at once: calls for small ones take longer than their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.congruent import BlockColumns
from sdpdr.linalg.svec import smat, svec, svec_size
from sdpdr.program.attain.arrows import ArrowGroup, arrow_labels, head_of, of_head
from sdpdr.program.point import Value, as_dense
from sdpdr.program.sdp import SDP

# A pivot beside the largest from which on rows count as independent.
_INDEPENDENT = 1e-10


@dataclass(frozen=True)
class MatrixGroup:
    """Matrices of one order, one after the other in s; `ArrowGroup` answers the same questions.

    Attributes
    ----------
    order, count : int
    part : slice
    """

    order: int
    count: int
    part: slice

    def _matrices(self, s: Array) -> Array:
        return smat(s[self.part].reshape(self.count, -1))

    def eigenvalues(self, s: Array) -> Array:
        """Those of every matrix, the least first; shape (count, order)."""
        return np.asarray(np.linalg.eigvalsh(self._matrices(s)))

    def spectra(self, s: Array) -> tuple[Array, Array]:
        """The same, and eigenvectors."""
        values, vectors = np.linalg.eigh(self._matrices(s))
        return np.asarray(values), np.asarray(vectors)

    def root(self, values: Array, vectors: Array) -> Array:
        """Matrices of such spectra, for others to be put between; shape (count, order, order)."""
        return np.asarray((vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1))

    def entries(self, values: Array, vectors: Array) -> Array:
        """The part of s of matrices of such spectra."""
        return svec(self.root(values, vectors)).ravel()

    def between(self, root: Array, columns: Array) -> Array:
        """Its part of columns, each between two roots."""
        q = columns.shape[1]
        part = columns.T.reshape(q, self.count, -1)
        seen = part.any(axis=2)
        if seen.all():
            moved = svec(root @ smat(part) @ root)
        else:  # as most columns leave most of several matrices alone
            moved, root = np.zeros(part.shape), root[np.nonzero(seen)[1]]
            moved[seen] = svec(root @ smat(part[seen]) @ root)
        return np.asarray(moved.reshape(q, -1).T)

    def products(self, rows: sp.csr_array) -> Callable[[Array, Array], None]:
        """What adds the products of columns, whose rows are given, between roots to a matrix."""
        begins = range(self.part.start, self.part.stop, svec_size(self.order))
        size, count = svec_size(self.order), rows.shape[1]
        blocks = [BlockColumns.of(self.order, rows[i : i + size]) for i in begins]

        def add(found: Array, roots: Array) -> None:
            for block, root in zip(blocks, roots, strict=True):
                if block.at.size == count:
                    found += block.product(root)
                elif block.at.size:
                    found[np.ix_(block.at, block.at)] += block.product(root)

        return add


Cones: TypeAlias = "tuple[MatrixGroup | ArrowGroup, ...]"


class ColumnProducts:
    """Columns of small programs, and their products in local norms.

    Parameters
    ----------
    cones : tuple of MatrixGroup and ArrowGroup
    linear : slice
        Of half-lines.
    columns : array of shape (k, q)
    """

    def __init__(self, cones: Cones, linear: slice, columns: Array) -> None:
        self.columns, self._cones, self._at = columns, cones, linear

    @cached_property
    def _parts(self) -> tuple[list[Callable[[Array, Any], None]], sp.csr_array]:
        # They take longer to prepare than few columns do to be measured.
        rows = sp.csr_array(self.columns)
        return [group.products(rows) for group in self._cones], rows[self._at]

    def between(self, roots: Sequence[Any], scalars: Array) -> Array:
        """Products of all columns with each other, each between roots.

        Parameters
        ----------
        roots : sequence
            By group.
        scalars : array
            What half-lines are multiplied by.
        """
        found = np.zeros((self.columns.shape[1],) * 2)
        added, half_lines = self._parts
        for add, root in zip(added, roots, strict=True):
            add(found, root)
        linear = half_lines * scalars[:, None]
        products = sp.coo_array(linear.T @ linear)
        found[products.coords[0], products.coords[1]] += products.data
        return found


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
    cones : tuple of MatrixGroup and ArrowGroup
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
    cones: Cones
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
            v[self.columns[variable.name]] = variable.coordinates((value + value.T) / 2.0)
        return v

    def values(self, v: Array) -> dict[str, Value]:
        """Values of all variables."""
        return {w.name: w.value_of(v[self.columns[w.name]]) for w in self.sdp.variables}

    def multipliers(self, duals: Mapping[str, Array]) -> tuple[Array, Array]:
        """The multipliers y, and z without those that are slack of variables."""
        y, z = np.zeros(self.copies.size), np.zeros(self.standing.size + self.said[0].size)
        for r in self.sdp.rows:
            (y if r.relation == "==" else z)[self.places[r.label]] = duals[r.label]
        arrows = arrow_labels(self.sdp)
        for lmi in self.sdp.lmis:
            dual = duals[lmi.label]
            dual = (dual + dual.T) / 2.0
            z[self.places[lmi.label]] = head_of(dual) if lmi.label in arrows else svec(dual)
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
        arrows = arrow_labels(self.sdp)
        for lmi in self.sdp.lmis:
            part = cones[self.places[lmi.label]]
            found[lmi.label] = of_head(lmi.order, part) if lmi.label in arrows else smat(part)
        return found

    # -- what proofs ask for -------------------------------------------------------------

    @cached_property
    def free(self) -> Index:
        """Entries of v that no cone of their own holds."""
        return np.flatnonzero(self.own < 0)

    @cached_property
    def terms(self) -> tuple[Array, Array]:
        """Roundings of an entry of M v + t, and of one of c + E^T y - M^T z, at most.

        Where z is zero for variables, whose slack it is.
        """
        entries = self.M != 0.0
        columns = np.count_nonzero(self.E, axis=0) + np.count_nonzero(entries, axis=0)
        more = 4.0 + self.behind
        return np.count_nonzero(entries, axis=1) + more, columns - (self.own >= 0) + more

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

    def without_prices(self, d: Array) -> Array:
        """What is left of a vector at right angles to the rows of E."""
        if not self.e.size:
            return d
        turned = self._turned(d[:, None], back=True)
        turned[: self.e.size] = 0.0
        return self._turned(turned)[:, 0]

    @cached_property
    def sparse(self) -> sp.csr_array:
        """M without its zeros."""
        return sp.csr_array(self.M)

    @cached_property
    def kernel(self) -> Array:
        """Orthonormal columns that span the vectors with E d = 0."""
        p, m = self.c.size, self.e.size
        return self._turned(np.eye(p, p - m, -m))

    @cached_property
    def within(self) -> Array:
        """M on these vectors."""
        if not self.e.size:
            return self.M
        held = self.own >= 0
        others = np.setdiff1d(np.arange(self.t.size), self.own[held])
        found = np.empty((self.t.size, self.c.size - self.e.size))
        found[self.own[held]] = self.kernel[held]
        if others.size:
            found[others] = self._turned(self.M[others].T, back=True)[self.e.size :].T
        return found

    @cached_property
    def across(self) -> Array:
        """Rows that are zero on ``M d`` wherever ``E d = 0``, of a program without free scalars."""
        others = np.setdiff1d(np.arange(self.t.size), self.own)
        found = np.zeros((self.e.size + others.size, self.t.size))
        found[: self.e.size, self.own] = self.E
        found[self.e.size :, self.own] = -self.M[others]
        found[self.e.size + np.arange(others.size), others] = 1.0
        return found

    @cached_property
    def columns_within(self) -> ColumnProducts:
        """The columns of `within`."""
        return ColumnProducts(self.cones, self.linear, self.within)

    @cached_property
    def columns_across(self) -> ColumnProducts:
        """The rows of `across`."""
        return ColumnProducts(self.cones, self.linear, self.across.T)

    @property
    def is_narrow(self) -> bool:
        """Whether there are fewer of these rows than directions in which a point may move."""
        rows = self.e.size + self.t.size - self.c.size
        return not self.free.size and 0 < rows < self.c.size - self.e.size
