r"""Matrices on their face, :math:`X = V M V^T`, and maps in terms of M.

Two bases are in use. `Pivoted` solves for the rows of X that the null vectors determine.
`Grounded` serves points about a centre, :math:`K u = 0` with u > 0, whose rows are lengths of
edges: M is the Gram matrix of all points relative to one of them, and
:math:`V = (I - \mathbf 1 u^T / u^T \mathbf 1) E` moves the centre to the origin. Lengths do not
notice, so that rows on them are read off M as they are off K.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import EffortSpentError
from sdpdr.linalg import BilinearForms, LinearMap, SquaredEdgeLengths, SvecMap, lengths_of
from sdpdr.linalg.magnitudes import row_magnitudes, row_terms
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.svec import SQRT2, svec, svec_index, svec_pairs, svec_size
from sdpdr.program.point import Factor, Value, as_dense

# Numbers in a change of basis beyond which a program counts as too large to be treated so.
_LARGEST = 30_000_000
# Roundings behind an entry: a root of two, twice, two products and the sums of `matrix()`.
_OPERATIONS = 8
Image = tuple[sp.csr_array, sp.csr_array]


@dataclass(frozen=True, eq=False)
class Pivoted:
    r"""X = V M V^T with V the identity on most rows and :math:`-N_P^{-T} N_R^T` on the others.

    Parameters
    ----------
    null : sparse array of shape (n, p)
        N, whose rows P are chosen by pivoting.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> Pivoted(sp.csr_array(np.ones((3, 1)))).matrix.toarray()
    array([[-1., -1.],
           [ 1.,  0.],
           [ 0.,  1.]])
    """

    null: sp.csr_array

    @cached_property
    def _split(self) -> tuple[Index, Index]:
        n, p = self.null.shape
        if p == 0:
            return np.zeros(0, dtype=np.int64), np.arange(n)
        order = sl.qr(self.null.toarray().T, mode="r", pivoting=True)[1]
        return np.sort(order[:p]), np.sort(order[p:])

    @cached_property
    def matrix(self) -> sp.csr_array:
        """V, shape (n, n - p)."""
        n, p = self.null.shape
        chosen, kept = self._split
        if p == 0:
            return sp.eye_array(n, format="csr")
        dense = self.null.toarray()
        placed = np.zeros((n, n - p))
        placed[kept, np.arange(n - p)] = 1.0
        placed[chosen] = -np.linalg.solve(dense[chosen].T, dense[kept].T)
        return sp.csr_array(placed)

    @property
    def order(self) -> int:
        """Of M."""
        return int(self.null.shape[0] - self.null.shape[1])

    @property
    def is_exact(self) -> bool:
        """Whether every entry of V is one quotient, and so has a known relative error."""
        square = self.null.toarray()[self._split[0]]
        return bool(np.all(np.count_nonzero(square, axis=0) == 1))

    def reduced(self, gram: Array) -> Array:
        """M of a matrix X on the face."""
        kept = self._split[1]
        return np.asarray(gram[np.ix_(kept, kept)])

    def expanded(self, small: Array) -> Array:
        """X of a matrix M."""
        return np.asarray(self.matrix @ (self.matrix @ small).T)

    def reduced_factor(self, factor: Array) -> Array:
        """A factor of M, of one of a matrix on the face."""
        return np.asarray(factor[self._split[1]])

    def expanded_factor(self, small: Array) -> Array:
        """A factor of X, of one of M."""
        return np.asarray(self.matrix @ small)

    def image(self, linear_map: LinearMap) -> Image:
        """The map on svec(M), and bounds on the errors of its entries."""
        size, rows = row_magnitudes(linear_map), sp.csr_array(linear_map.matrix())
        error = 2.0 * UNIT * (_OPERATIONS + row_terms(linear_map))
        if not self.null.shape[1]:
            return rows, sp.csr_array(error * size)
        basis = self._on_svec
        error += 2.0 * UNIT * int(np.max(np.diff(size.indptr), initial=0))
        return sp.csr_array(rows @ basis), sp.csr_array(error * (size @ abs(basis)))

    @cached_property
    def _on_svec(self) -> sp.csr_array:
        """The matrix T with svec(V M V^T) = T svec(M)."""
        basis = self.matrix
        n = basis.shape[0]
        count = np.diff(basis.indptr)
        if float(count.sum()) ** 2 > _LARGEST:
            words = f"a matrix of order {n} on a face is too large to be written out"
            raise EffortSpentError(words)
        i, j = svec_pairs(np.arange(svec_size(n)))
        forms = BilinearForms(basis[i], basis[j]).matrix()
        return sp.csr_array(sp.diags_array(np.where(i == j, 1.0, SQRT2)) @ forms)


@dataclass(frozen=True, eq=False)
class Grounded:
    """K about its centre as a Gram matrix with the first point at the origin.

    Parameters
    ----------
    weights : array of shape (n,)
        u > 0 with K u = 0.
    """

    weights: Array
    is_exact = True

    @property
    def order(self) -> int:
        """Of M."""
        return self.weights.size - 1

    @cached_property
    def _basis(self) -> Array:
        n = self.weights.size
        moved = np.outer(np.ones(n), self.weights[1:] / float(np.sum(self.weights)))
        return np.asarray(np.eye(n)[:, 1:] - moved)

    def reduced(self, gram: Array) -> Array:
        """M of a matrix K on the face."""
        return np.asarray(gram[1:, 1:] - gram[1:, :1] - gram[:1, 1:] + gram[0, 0])

    def expanded(self, small: Array) -> Array:
        """K of a matrix M."""
        return np.asarray(self._basis @ (small @ self._basis.T))

    def reduced_factor(self, factor: Array) -> Array:
        """A factor of M, of one of a matrix on the face."""
        return np.asarray(factor[1:] - factor[0])

    def expanded_factor(self, small: Array) -> Array:
        """A factor of K, of one of M."""
        points = np.vstack([np.zeros(small.shape[1]), small])
        return np.asarray(points - (self.weights @ points) / float(np.sum(self.weights)))

    def image(self, linear_map: LinearMap) -> Image:
        """The map on svec(M), and bounds on the errors of its entries."""
        lengths = lengths_of(linear_map)
        if lengths is None:
            return self._changed(linear_map)
        edges, scale = lengths
        n = self.weights.size
        full = scale * SquaredEdgeLengths(n, edges)
        pick = sp.eye_array(n, format="csr")[:, 1:]
        rows = sp.csr_array(full.congruence(pick).matrix())
        rows.eliminate_zeros()
        return rows, sp.csr_array((2.0 * UNIT * _OPERATIONS) * abs(rows))

    def _changed(self, linear_map: LinearMap) -> Image:
        n = self.weights.size
        if float(linear_map.m) * n * n > _LARGEST:
            raise EffortSpentError(f"{linear_map.m} rows on a matrix of order {n} are too many")
        # Differences in the basis may be smaller than their rounding errors.
        moved = np.outer(np.ones(n), self.weights[1:] / float(np.sum(self.weights)))
        terms = SvecMap(n, row_magnitudes(linear_map))
        size = terms.congruence(np.eye(n)[:, 1:] + moved).matrix()
        rows = linear_map.congruence(self._basis).matrix()
        roundings = 5 * n + row_terms(linear_map) + _OPERATIONS
        return sp.csr_array(rows), sp.csr_array((2.0 * UNIT * roundings) * size)


def face_basis(null: sp.csr_array, maps: list[LinearMap]) -> Pivoted | Grounded:
    """The basis that suits the rows on a matrix."""
    dense = null.toarray() if null.shape[1] == 1 else np.zeros(1)
    if np.all(dense > 0.0) and all(lengths_of(a) is not None for a in maps):
        return Grounded(dense.ravel())
    return Pivoted(null)


Basis: TypeAlias = Pivoted | Grounded


@dataclass(frozen=True, eq=False)
class ConeBlock:
    """A matrix variable on its face.

    Attributes
    ----------
    name : str
    order : int
    start : int
        Of its entries in x.
    basis : Pivoted or Grounded
    places : array of int, optional
        Which entries of its ``svec`` are in x, ascending, the diagonal among them; by default all.
    """

    name: str
    order: int
    start: int
    basis: Basis
    places: Index | None = None

    @property
    def size(self) -> int:
        """Number of its entries in x."""
        return svec_size(self.order) if self.places is None else self.places.size

    @property
    def part(self) -> slice:
        """Its entries in x."""
        return slice(self.start, self.start + self.size)

    @cached_property
    def pairs(self) -> tuple[Index, Index]:
        """Rows and columns of its entries in x."""
        return svec_pairs(np.arange(self.size) if self.places is None else self.places)

    @cached_property
    def diagonal(self) -> Index:
        """Where in x its diagonal stands."""
        k = np.arange(self.order)
        places = svec_index(k, k)
        return self.start + (
            places if self.places is None else np.searchsorted(self.places, places)
        )

    def entries_of(self, value: Value) -> Array:
        """The part of x that a value of the variable is."""
        if self.places is not None:
            return self.products(Factor.of(value, 0.0).factor)
        gram = as_dense(value)
        return svec(self.basis.reduced((gram + gram.T) / 2.0))

    def products(self, factor: Array) -> Array:
        """The part of x that the product of a factor and its transpose is."""
        if self.places is None:
            return svec(factor @ factor.T)
        i, j = self.pairs
        return np.einsum("ek,ek->e", factor[i], factor[j]) * np.where(i == j, 1.0, SQRT2)
