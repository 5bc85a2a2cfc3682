"""Points with coordinates, dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse, triu
from scipy.spatial.distance import cdist

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import DataError
from sdpdr.base.rows import numbered
from sdpdr.graphs.blocks import BLOCK, blocks
from sdpdr.graphs.furthest import HULL_FEATURES, furthest_points
from sdpdr.graphs.space import Search, Space

# Up to this many features a tree is faster for many points: for unstructured points in 8 dimensions
# it takes a third of the time of brute force at 80,000 points, but in 12 three times as long at
# 20,000.
TREE_FEATURES = 8
# Numbers of dense points that are subtracted at a time: 1 MB, which stays in the cache.
_GATHERED = 1 << 17


@dataclass(frozen=True, eq=False)
class Points(Space):
    """Points with coordinates X of shape (n, D), an array or a csr_array."""

    X: Any
    tolerance: float = 0.0

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.X.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the coordinates are a sparse array."""
        return bool(issparse(self.X))

    @cached_property
    def centered(self) -> Any:
        """Points, moved to their mean unless sparse: inner products lose digits far from it."""
        return self.X if self.is_sparse else self.X - self.X.mean(axis=0)

    @cached_property
    def norms(self) -> Array:
        """Lengths of the centred points, shape (n,)."""
        squares = self.centered * self.centered
        return np.sqrt(np.asarray(squares.sum(axis=1)).ravel())

    @property
    def terms(self) -> int:
        """Largest number of terms in a length or an inner product."""
        return int(2 * np.diff(self.X.indptr).max() if self.is_sparse else self.X.shape[1])

    @property
    def rounding(self) -> float:
        """Bound on the relative error of a sum over the features."""
        return float(8.0 * (self.terms + 8) * np.finfo(float).eps)

    def doubt(self, rows: Index, sqdist: Array) -> Array:
        """Bound on the error of squared lengths computed by inner products."""
        norm = self.norms[rows]
        return self.rounding * (np.square(norm) + np.square(norm + np.sqrt(sqdist)))

    def sqdist(self, first: Index, second: Index) -> Array:
        """Sums of squared differences: equal lengths come out equal, short ones exact."""
        shape = np.broadcast_shapes(np.shape(first), np.shape(second))
        i, j = (np.broadcast_to(index, shape).ravel() for index in (first, second))
        sqdist = np.empty(i.size)
        numbers = BLOCK if self.is_sparse else _GATHERED
        for part in blocks(np.arange(i.size), max(1, numbers // max(1, self.terms))):
            away = self.X[i[part]] - self.X[j[part]]
            if self.is_sparse:
                sqdist[part] = (away * away).sum(axis=1)
            else:
                sqdist[part] = np.einsum("ij,ij->i", away, away)
        return sqdist.reshape(shape)

    def sqdist_to_all(self) -> Array:
        """See `Space`."""
        if not self.is_sparse:
            return np.asarray(cdist(self.X, self.X, "sqeuclidean"))
        sqdist = self._by_products(np.arange(self.n))
        np.fill_diagonal(sqdist, 0.0)
        return sqdist

    def _by_products(self, rows: Index) -> Array:
        """Squared lengths to all points by inner products, with an error up to `doubt`."""
        from sklearn.metrics.pairwise import euclidean_distances  # here, as it takes long to import

        return np.asarray(euclidean_distances(self.centered[rows], self.centered, squared=True))

    def search(self, targets: Index) -> Search:
        """See `Space`; by scikit-learn."""
        from sklearn.neighbors import NearestNeighbors  # here, since it takes long to import

        in_tree = not self.is_sparse and self.X.shape[1] <= TREE_FEATURES
        # Brute force takes inner products, which lose digits far from the origin; a tree does not.
        given = self.X if in_tree else self.centered
        library = NearestNeighbors(algorithm="kd_tree" if in_tree else "brute").fit(given[targets])

        def nearest(sources: Index, width: int) -> tuple[Index, Array]:
            reach, found = library.kneighbors(given[sources], width)
            outside = np.square(reach[:, -1])
            doubt = self.rounding * outside if in_tree else self.doubt(sources, outside)
            return found, np.maximum(outside - doubt, 0.0)

        return nearest

    def furthest(self) -> Index:
        """See `Space`."""
        if not self.is_sparse and self.X.shape[1] <= HULL_FEATURES:
            return furthest_points(self.X, self.tolerance)
        furthest = np.empty(self.n, dtype=np.intp)
        for part in blocks(np.arange(self.n), max(1, BLOCK // self.n)):
            sqdist = self._by_products(part)
            longest = sqdist.max(axis=1)
            equal = sqdist >= (longest - 2.0 * self.doubt(part, longest))[:, None]
            furthest[part] = equal.argmax(axis=1)
        return furthest

    def pairs_within(self, radius: float) -> Index:
        """See `Space`."""
        from sklearn.neighbors import radius_neighbors_graph  # here, since it takes long to import

        square = np.square([radius * (1.0 + 1e-9) + self.tolerance])
        reach = float(np.sqrt(square + self.doubt(np.arange(self.n), square).max())[0])
        near = triu(radius_neighbors_graph(self.centered, reach), k=1)
        pairs = np.column_stack(near.nonzero()).astype(np.intp)
        # The length, not its square: a radius that is itself the length of a pair must hold it.
        return pairs[np.sqrt(self.sqdist(*pairs.T)) <= radius + self.tolerance]

    def representatives(self) -> Index:
        """See `Space`."""
        # Equal points have equal components along any direction: few pairs must be compared.
        direction = np.random.default_rng(0).standard_normal(self.X.shape[1])
        component = self.centered @ direction
        order = np.argsort(component, kind="stable")
        # Components of equal rows may differ by rounding, depending on their position in the table.
        reach = self.tolerance + self.rounding * self.norms.max()
        reach *= np.linalg.norm(direction)
        starts = np.flatnonzero(np.diff(component[order], prepend=-np.inf) > reach)
        sizes = np.diff(starts, append=self.n)
        same = np.arange(self.n)
        for start, size in zip(starts[sizes > 1], sizes[sizes > 1], strict=True):
            group = np.sort(order[start : start + size])
            while group.size > 1:
                equal = self.sqdist(group[0], group) <= self.tolerance**2
                same[group[equal]] = group[0]
                group = group[~equal]
        return same

    def take(self, nodes: Index) -> Points:
        """See `Space`."""
        return replace(self, X=self.X[nodes])

    def fresh(self) -> Points:
        """See `Space`."""
        return replace(self)


def directions(X: Matrix) -> Matrix:
    """Rows scaled to length one, dense or sparse as they are; none of them may be zero."""
    X = csr_array(X) if issparse(X) else X
    largest = abs(X).max(axis=1)
    largest = largest.toarray() if issparse(largest) else largest
    empty = np.flatnonzero(largest == 0.0)
    if empty.size:
        raise DataError(
            f"metric='cosine' compares directions, and rows of zeros have none: "
            f"{numbered(empty)}. Leave those rows out."
        )
    # Scaled by its largest entry first, so that squares of large entries do not overflow.
    scaled = diags_array(1.0 / largest) @ X
    squares = scaled.multiply(scaled) if issparse(scaled) else np.square(scaled)
    unit = diags_array(1.0 / np.sqrt(np.asarray(squares.sum(axis=1)).ravel())) @ scaled
    return csr_array(unit) if issparse(unit) else unit
