r"""Maps whose rows are quadratic or bilinear forms: lengths of edges, entries, the diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix, as_real, from_triples, own_rows, scaled
from sdpdr.base.errors import DataTypeError, ShapeError
from sdpdr.linalg.letters import Letters, Words, subscripted, summed, times
from sdpdr.linalg.maps.combine import Combined, Stacked, Summed
from sdpdr.linalg.maps.given import VectorMap
from sdpdr.linalg.maps.linear import LinearMap
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.svec import SQRT2, selected, selection, svec_index, svec_pairs, svec_size

# An adjoint stays a sum of outer products from this order on, if there are at most this share of n
# vectors, and their outer products fill at least this share of the matrix.
_OUTER_FROM, _VECTOR_SHARE, _ENTRY_SHARE = 200, 0.1, 0.1


def within(pairs: Any, n: int, what: str) -> Index:
    """A copy of pairs of indices 0..n-1, shape (m, 2); an error if one is outside."""
    given = np.asarray(pairs)
    if given.size and given.dtype.kind not in "iu":
        raise DataTypeError(f"indices must be whole numbers; these are {given.dtype}.")
    found: Index = given.astype(np.intp).reshape(-1, 2)
    if found.size and (found.min() < 0 or found.max() >= n):
        raise ShapeError(f"{what} 0..{n - 1}; they range over {found.min()}..{found.max()}.")
    return found


class BilinearForms(LinearMap):
    r"""Rows :math:`f_e^T K g_e`.

    Parameters
    ----------
    left, right : array or sparse array of shape (m, n)
        The vectors f_e and g_e as rows.
    """

    def __init__(self, left: Any, right: Any) -> None:
        self.left = own_rows(left)
        self.right = self.left if right is left else own_rows(right)
        if self.left.shape != self.right.shape:
            raise ShapeError(
                f"left and right vectors must have one shape (m, n); they have "
                f"{self.left.shape} and {self.right.shape}."
            )
        self.m, self.n = (int(k) for k in self.left.shape)

    @property
    def n_entries(self) -> int:
        """Products of entries of both vectors."""
        return int(np.diff(self.left.indptr) @ np.diff(self.right.indptr).astype(np.intp))

    def matrix(self) -> sp.csr_array:
        """Sparse matrix on ``svec(K)``: row e holds all products of entries of f_e and g_e."""
        f, g = self.left, self.right
        f_count, g_count = np.diff(f.indptr), np.diff(g.indptr)
        products = f_count * g_count
        row = np.repeat(np.arange(self.m), products)
        within = np.arange(products.sum()) - np.repeat(np.cumsum(products) - products, products)
        a = f.indptr[row] + within // np.maximum(g_count[row], 1)
        b = g.indptr[row] + within % np.maximum(g_count[row], 1)
        i, j = f.indices[a], g.indices[b]
        values = f.data[a] * g.data[b] * np.where(i == j, 1.0, 0.5)
        shape = (self.m, svec_size(self.n))
        # Halves add up without rounding, so the factor sqrt 2 is applied once, after the sums.
        rows = from_triples(values, row, svec_index(i, j), shape)
        low, high = svec_pairs(rows.indices)
        rows.data *= np.where(low == high, 1.0, SQRT2)
        return rows

    def apply(self, gram: Matrix) -> Array:
        """Values f_e^T K g_e."""
        self._check_order(gram.shape)
        product = self.left @ gram
        if sp.issparse(product):
            return np.asarray((product * self.right).sum(axis=1)).ravel()
        right = self.right.tocoo()
        terms = product[right.row, right.col] * right.data
        return np.bincount(right.row, terms, minlength=self.m).astype(float)

    def apply_factor(self, factor: Array) -> Array:
        """Values (R^T f_e) . (R^T g_e)."""
        self._check_order((factor.shape[0],) * 2)
        return np.einsum("ek,ek->e", self.left @ factor, self.right @ factor)

    def adjoint(self, multipliers: Array) -> Matrix:
        """Sparse symmetric matrix, the sum of y_e (f_e g_e^T + g_e f_e^T) / 2."""
        half = self.left.T @ scaled(self.right, self._check_multipliers(multipliers))
        return ((half + half.T) * 0.5).tocsr()

    def congruence(self, basis: Matrix) -> LinearMap:
        """Forms in the vectors V^T f_e and V^T g_e."""
        return BilinearForms(self.left @ basis, self.right @ basis)

    def take(self, rows: Index) -> LinearMap:
        """Some of the forms."""
        return BilinearForms(self.left[rows], self.right[rows])

    def formula(self, variable: str, letters: Letters) -> Words:
        """Typical row in mathematics."""
        left, right = (letters.matrix_of_rows(side) for side in (self.left, self.right))
        return f"({left} {variable} {right}ᵀ)_ee", rf"({left} {variable} {right}^\top)_{{ee}}"


class QuadraticForms(BilinearForms):
    r"""Rows :math:`f_e^T K f_e`, each the inner product of K with a matrix of rank one.

    Parameters
    ----------
    vectors : array or sparse array of shape (m, n)
        The vectors f_e as rows.

    Examples
    --------
    >>> from sdpdr.linalg import QuadraticForms
    >>> import numpy as np
    >>> QuadraticForms([[1.0, 1.0]]).apply(np.eye(2))
    array([2.])
    """

    def __init__(self, vectors: Any) -> None:
        super().__init__(vectors, vectors)

    @property
    def vectors(self) -> sp.csr_array:
        """The vectors f_e as rows, shape (m, n)."""
        return self.left

    def adjoint(self, multipliers: Array) -> Matrix:
        """The sum of y_e f_e f_e^T: sparse, or an `Outer` if it would be dense."""
        weights = self._check_multipliers(multipliers)
        entries = float(np.square(np.diff(self.left.indptr)).sum())
        are_few = self.m <= _VECTOR_SHARE * self.n
        if self.n < _OUTER_FROM or not are_few or entries < _ENTRY_SHARE * self.n**2:
            return super().adjoint(weights)
        used = np.flatnonzero(weights)
        return Outer(sp.csr_array((self.n, self.n)), self.left[used].toarray().T, weights[used])

    def congruence(self, basis: Matrix) -> LinearMap:
        """Quadratic forms in the vectors V^T f_e."""
        return QuadraticForms(self.left @ basis)

    def take(self, rows: Index) -> LinearMap:
        """Some of the forms."""
        return QuadraticForms(self.left[rows])

    def null_vectors(self, rhs: Array) -> sp.csr_array:
        """The vectors whose form must vanish: f^T K f = 0 and K PSD give K f = 0."""
        vectors = self.left[np.flatnonzero(rhs == 0.0)]
        vectors.sum_duplicates()
        vectors.eliminate_zeros()
        return vectors[np.flatnonzero(np.diff(vectors.indptr))].T.tocsr()

    def formula(self, variable: str, letters: Letters) -> Words:
        """Typical row in mathematics."""
        v = letters.matrix_of_rows(self.left)
        return f"({v} {variable} {v}ᵀ)_ee", rf"({v} {variable} {v}^\top)_{{ee}}"


class _AtPlaces(BilinearForms):
    """Forms that are defined by indices, and made from the order and these indices."""

    _at: Index

    def congruence(self, basis: Matrix) -> LinearMap:
        """A map of the same kind if the basis maps every index to one index."""
        places = selected(basis)
        if places is None or np.any(places[self._at] < 0):
            return super().congruence(basis)
        return type(self)(basis.shape[1], places[self._at])

    def take(self, rows: Index) -> LinearMap:
        """Some of the rows."""
        return type(self)(self.n, self._at[rows])


class SquaredEdgeLengths(_AtPlaces, QuadraticForms):
    r"""Squared lengths of edges, :math:`K_{ii} + K_{jj} - 2 K_{ij} = |y_i - y_j|^2`.

    The adjoint of multipliers w is the Laplacian of the graph with edge weights w.

    Parameters
    ----------
    n : int
        Number of points.
    edges : array_like of shape (m, 2)
        Pairs of point indices.

    Examples
    --------
    >>> from sdpdr.linalg import SquaredEdgeLengths
    >>> import numpy as np
    >>> lengths = SquaredEdgeLengths(3, [[0, 1], [1, 2]])
    >>> lengths.apply_factor(np.array([[0.0], [1.0], [3.0]]))
    array([1., 4.])
    >>> lengths.adjoint(np.ones(2)).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """

    def __init__(self, n: int, edges: Any) -> None:
        self.edges = self._at = within(edges, n, "edges must join points")
        m = self.edges.shape[0]
        values = np.tile([1.0, -1.0], m)
        starts = np.arange(0, 2 * m + 1, 2)
        incidence = sp.csr_array((values, self.edges.ravel(), starts), shape=(m, n))
        super().__init__(incidence)

    def apply_factor(self, factor: Array) -> Array:
        """Squared distances between the rows of R that the edges join."""
        self._check_order((factor.shape[0],) * 2)
        points = as_real(factor)
        steps = points[self.edges[:, 0]] - points[self.edges[:, 1]]
        return np.einsum("ek,ek->e", steps, steps)

    def formula(self, variable: str, letters: Letters) -> Words:
        """Typical row in mathematics."""
        i, j = (letters.places(end) for end in self.edges.T)
        squares = [subscripted(variable, i, i), subscripted(variable, j, j)]
        return summed([*squares, times("-2", subscripted(variable, i, j))])


def lengths_of(linear_map: LinearMap | VectorMap | None) -> tuple[Index, Array] | None:
    """Edges and factors of a map whose rows are multiples of squared lengths; None for others.

    Examples
    --------
    >>> from sdpdr.linalg import SquaredEdgeLengths, lengths_of
    >>> edges, factors = lengths_of(2.0 * SquaredEdgeLengths(3, [[0, 1], [1, 2]]))
    >>> edges.tolist(), factors.tolist()
    ([[0, 1], [1, 2]], [2.0, 2.0])
    """
    if isinstance(linear_map, SquaredEdgeLengths):
        return linear_map.edges, np.ones(linear_map.m)
    if isinstance(linear_map, Combined) and isinstance(linear_map.inner, SquaredEdgeLengths):
        weights = linear_map.weights
        if np.all(np.diff(weights.indptr) == 1):
            return linear_map.inner.edges[weights.indices], weights.data
    return None


def lengths_in(linear_map: LinearMap | VectorMap | None) -> tuple[Index, sp.csr_array] | None:
    """Edges, and the weights of their squared lengths in every row; None for other maps.

    Parameters
    ----------
    linear_map : LinearMap, VectorMap or None

    Returns
    -------
    (array of shape (k, 2), sparse array of shape (m, k)) or None

    Examples
    --------
    >>> from sdpdr.linalg import SquaredEdgeLengths, lengths_in
    >>> one, other = SquaredEdgeLengths(3, [[0, 1]]), SquaredEdgeLengths(3, [[1, 2]])
    >>> edges, weights = lengths_in(one - other)
    >>> edges.tolist(), weights.toarray().tolist()
    ([[0, 1], [1, 2]], [[1.0, -1.0]])
    """
    if isinstance(linear_map, SquaredEdgeLengths):
        return linear_map.edges, sp.csr_array(sp.eye_array(linear_map.m))
    if isinstance(linear_map, Combined):
        inner = lengths_in(linear_map.inner)
        return None if inner is None else (inner[0], sp.csr_array(linear_map.weights @ inner[1]))
    if isinstance(linear_map, (Summed, Stacked)):
        parts = [lengths_in(part) for part in linear_map.maps]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        weights = [part[1] for part in known]
        if isinstance(linear_map, Summed):
            joined = sp.hstack(weights, format="csr")
        else:
            joined = sp.block_diag(weights, format="csr")
        return np.concatenate([part[0] for part in known]), sp.csr_array(joined)
    return None


def lengths_added(one: LinearMap, other: LinearMap) -> LinearMap | None:
    """The sum of multiples of the same lengths as multiples; None where it would be rounded."""
    known, more = lengths_of(one), lengths_of(other)
    if known is None or more is None or one.n != other.n:
        return None
    (edges, a), (others, b) = known, more
    if not np.array_equal(edges, others):
        return None
    total = a + b
    # The rounding error of a sum is a double itself, computed here (Knuth's two-sum).
    lost = (a - (total - (total - a))) + (b - (total - a))
    return None if np.any(lost) else total * SquaredEdgeLengths(one.n, edges)


class Entries(_AtPlaces):
    """Single entries K_ij.

    Parameters
    ----------
    n : int
    pairs : array_like of shape (m, 2)

    Examples
    --------
    >>> from sdpdr.linalg import Entries
    >>> import numpy as np
    >>> Entries(2, [[0, 1]]).apply(np.array([[1.0, 5.0], [5.0, 2.0]]))
    array([5.])
    """

    def __init__(self, n: int, pairs: Any) -> None:
        self.pairs = self._at = within(pairs, n, "entries must lie in rows and columns")
        unit = sp.eye_array(n, format="csr")
        super().__init__(unit[self.pairs[:, 0]], unit[self.pairs[:, 1]])

    def formula(self, variable: str, letters: Letters) -> Words:
        """Typical row in mathematics."""
        return subscripted(variable, *(letters.places(place) for place in self.pairs.T))


class Diagonal(_AtPlaces, QuadraticForms):
    """The diagonal K_11, ..., K_nn, or some of its entries.

    Parameters
    ----------
    n : int
    places : array_like of shape (m,), optional
        All in order by default.
    """

    def __init__(self, n: int, places: Any = None) -> None:
        self.places = self._at = np.asarray(np.arange(n) if places is None else places, np.intp)
        super().__init__(selection(self.places, n))

    def formula(self, variable: str, letters: Letters) -> Words:
        """Typical row in mathematics."""
        i = letters.places(self.places)
        return subscripted(variable, i, i)
