"""An embedding of some points as a map of all points."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, NotAcceptedError, ShapeError
from sdpdr.base.estimators import as_numbers
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.regress.kernel import WIDTHS, choose_kernel, fit_kernel
from sdpdr.families.regress.ridge import LinearMapping, as_data, choose_ridge
from sdpdr.families.regress.transduction import barycentric_weights, reconstructing
from sdpdr.graphs.blocks import BLOCK, blocks

# Width and ridge are chosen on at most so many points, and the map is fitted to at most so many.
# The first takes seconds, the second 72 MB. All 6000 points of a roll on 3000 Gaussians, by normal
# equations, took 17 times as long and lost digits: errors were 75 times those of 3000 points.
_CHOSEN_ON, _CENTERS = 1000, 3000
_TINY = float(np.finfo(float).tiny)


class Extension:
    """A map fitted to embedded points, to be called with new ones; see `fit_extension`.

    ``error`` is the root mean square error at points that the map was not fitted to, relative to
    the spread of the embedding; ``nearest`` (n,) the distance of every point of the fit to its
    nearest other one, ascending.
    """

    name: ClassVar[str]

    def __init__(
        self, points: Array, embedding: Array, precomputed: bool, n_neighbors: int, seed: int
    ) -> None:
        self.points, self.embedding, self.precomputed = points, embedding, precomputed
        self.n_neighbors, self.seed = n_neighbors, seed
        self.nearest = np.sort(self._others()[0])
        self.error = self._fit()

    @abstractmethod
    def _fit(self) -> float:
        """Fit the map; its relative error at points left out."""

    def __call__(self, X: Array) -> Array:
        """Coordinates of points, shape (q, d)."""
        raise NotImplementedError

    def trust(self, X: Array) -> Array:
        """A score of how ordinary points are, from 0 to 1; shape (q,).

        The share of points of the fit that lie at least as far from their nearest other point as
        this one does. One in twenty points drawn like those of the fit has a trust below 0.05;
        a point far from all has 0, and its coordinates are a guess.
        """
        away, _ = self.search(1).kneighbors(X)
        closer = np.searchsorted(self.nearest, away[:, 0], side="left")
        return np.asarray(1.0 - closer / self.nearest.size)

    def search(self, k: int) -> NearestNeighbors:
        """A search for the k points of the fit that are nearest to others, or to each other."""
        metric = "precomputed" if self.precomputed else "minkowski"
        return NearestNeighbors(n_neighbors=k, metric=metric).fit(self.points)

    def _others(self) -> tuple[Array, Index]:
        """Distance of every point to its nearest other one, and the number of that one."""
        distance, near = self.search(1).kneighbors()
        return distance[:, 0], near[:, 0]

    def _relative(self, residuals: Array) -> float:
        """Root mean square of residuals relative to the spread of the embedding."""
        spread = self.embedding - self.embedding.mean(axis=0)
        size, away = (np.sqrt(np.mean(np.sum(Z**2, axis=1))) for Z in (spread, residuals))
        return float(away / max(size, _TINY))


class KernelExtension(Extension):
    r"""A sum of Gaussians about the points, :math:`f(x) = \sum_i e^{-\gamma|x-x_i|^2} a_i + b`."""

    name = "kernel"

    def __call__(self, X: Array) -> Array:
        """Coordinates of points."""
        coordinates = np.empty((len(X), len(self.intercept)))
        for part in blocks(np.arange(len(X)), max(1, BLOCK // self.centers.size)):
            coordinates[part] = self._kernel(X[part]) @ self.coef
        return coordinates + self.intercept

    def _fit(self) -> float:
        n, Y = len(self.points), self.embedding
        drawn = np.random.default_rng(self.seed).permutation(n)
        few, self.centers = np.sort(drawn[:_CHOSEN_ON]), np.sort(drawn[:_CENTERS])
        among = self._squares(self.points[few], few)
        typical = float(np.median(among[~np.eye(few.size, dtype=bool)]))
        gammas = [w / max(typical, _TINY) for w in WIDTHS]
        self.choice = choose_kernel(lambda gamma: np.exp(-gamma * among), Y[few], gammas)
        fitted = fit_kernel(
            self._kernel(self.points[self.centers]), Y[self.centers], self.choice.delta
        )
        self.coef, self.intercept = fitted.coef, fitted.intercept
        return self._relative(fitted.leave_one_out())

    def _squares(self, X: Array, chosen: Index) -> Array:
        if self.precomputed:
            return np.take(X, chosen, axis=1) ** 2
        return np.asarray(cdist(X, self.points[chosen], "sqeuclidean"))

    def _kernel(self, X: Array) -> Array:
        return np.asarray(np.exp(-self.choice.gamma * self._squares(X, self.centers)))


class LinearExtension(Extension):
    """A linear map with a ridge, dense or sparse."""

    name = "linear"
    mapping: LinearMapping

    def __call__(self, X: Array) -> Array:
        """Coordinates of points."""
        return self.mapping(X)

    def _fit(self) -> float:
        if self.precomputed:
            raise NotAcceptedError(
                f"extension {self.name!r} needs coordinates, and only distances are known. Use "
                "'kernel' or 'barycentric'."
            )
        choice = choose_ridge(self.points, self.embedding)
        self.mapping = choice.mapping
        return self._relative(choice.residuals)


class BarycentricExtension(Extension):
    """A weighted mean of the nearest points, with the weights that reproduce the new point."""

    name = "barycentric"

    def __call__(self, X: Array) -> Array:
        """Coordinates of points."""
        near, weights = reconstructing(
            X, self.points, np.arange(len(self.points)), self.n_neighbors,
            precomputed=self.precomputed,
        )  # fmt: skip
        return np.einsum("mk,mkd->md", weights, self.embedding[near])

    def _fit(self) -> float:
        if self.precomputed:
            return self._relative(self.embedding - self.embedding[self._others()[1]])
        near, weights = barycentric_weights(self.points, None, self.n_neighbors)
        estimate = np.einsum("mk,mkd->md", weights, self.embedding[near])
        return self._relative(self.embedding - estimate)


KINDS: dict[str, type[Extension]] = {
    kind.name: kind for kind in (KernelExtension, LinearExtension, BarycentricExtension)
}


@checks_keywords
def fit_extension(
    points: Array,
    embedding: Array,
    kind: str = "kernel",
    *,
    precomputed: bool = False,
    n_neighbors: int = 6,
    seed: int = 0,
) -> Extension:
    """Fit a map that takes points to their coordinates in an embedding.

    Parameters
    ----------
    points : array_like of shape (n, D), or distances (n, n)
    embedding : array_like of shape (n, d)
        Rows that are not finite are left out, with their points.
    kind : {"kernel", "linear", "barycentric"}, default "kernel"
        ``"kernel"``: Gaussians about at most 3000 points, drawn at random, width and ridge by exact
        leave-one-out. ``"linear"``: a ridge
        chosen in the same way. ``"barycentric"``: weighted means of neighbours.
    precomputed : bool, default False
        Points are given by their distances. There are then no linear maps, and the barycentric
        one returns the coordinates of the nearest point.
    n_neighbors : int, default 6
        Number of neighbours of the barycentric kind.
    seed : int, default 0

    Returns
    -------
    Extension
        Called with points (q, D), it returns their coordinates (q, d), and ``.trust(points)`` how
        ordinary they are, from 0 to 1; ``.error`` is its relative error at points left out.

    Raises
    ------
    UnknownNameError, DataError, NotAcceptedError
        Fewer than three points are embedded; the kind needs coordinates, and there are distances
        only.

    References
    ----------
    Cai thesis, chapters 3 to 5; Tong thesis, section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import fit_extension
    >>> t = np.linspace(0.0, 3.0, 40)[:, None]
    >>> arc = fit_extension(np.hstack([np.cos(t), np.sin(t)]), t)
    >>> new = np.array([[np.cos(1.234), np.sin(1.234)], [5.0, 5.0]])
    >>> bool(abs(arc(new)[0, 0] - 1.234) < 1e-3), arc.trust(new).round(2)
    (True, array([1., 0.]))
    """
    validate.choice("extension", kind, KINDS)
    points, Y = as_data(points, "points", sparse=False), as_numbers("embedding", embedding)
    if len(points) != len(Y) or Y.ndim != 2:
        raise ShapeError(f"{len(points)} points have an embedding of shape {Y.shape}.")
    embedded = np.flatnonzero(np.isfinite(Y).all(axis=1))
    if embedded.size < 3:
        raise DataError(f"{embedded.size} points are embedded; a map needs three distinct ones.")
    points = points[np.ix_(embedded, embedded)] if precomputed else points[embedded]
    return KINDS[kind](points, Y[embedded], precomputed, n_neighbors, seed)
