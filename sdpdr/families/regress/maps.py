"""An embedding of some points as a map of all points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, NotAcceptedError, ShapeError
from sdpdr.families.regress.kernel import WIDTHS, choose_kernel, fit_kernel
from sdpdr.families.regress.penalties import RIDGES, choose_ridge, sparse_path
from sdpdr.families.regress.ridge import LinearMapping, ridge
from sdpdr.families.regress.transduction import barycentric_weights, reconstructing
from sdpdr.graphs.search import blocks

# Beyond this many points, width and ridge are chosen on a sample, and as many centres serve.
_CHOSEN_ON, _CENTERS, _BLOCK = 1000, 3000, 10_000
_FOLDS = 5


class Extension(ABC):
    """A map fitted to embedded points, to be called with new ones.

    Attributes
    ----------
    points : array of shape (n, D), or distances (n, n)
        What was embedded.
    embedding : array of shape (n, d)
    precomputed : bool
        Whether points are given by their distances to those of the fit.
    error : float
        Root mean square of what the map misses at points it was not fitted to, relative to the
        spread of the embedding.
    nearest : array of shape (n,)
        Distance of every point of the fit to its nearest other one, ascending.
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
        """Find what the map is made of; its relative error at points left out."""

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Coordinates of points, shape (q, d)."""

    def trust(self, X: Array) -> Array:
        """How ordinary points are, from 0 to 1; shape (q,).

        The share of points of the fit that lie at least as far from their nearest other point as
        this one does. Of points drawn like those of the fit, one in twenty has a trust below 0.05;
        a point far from all has 0, and no map of these points knows where it belongs.
        """
        away, _ = self.search(1).kneighbors(X)
        closer = np.searchsorted(self.nearest, away[:, 0], side="left")
        return np.asarray(1.0 - closer / self.nearest.size)

    def search(self, k: int) -> NearestNeighbors:
        """A search for the k points of the fit that are nearest to others, or to each other."""
        metric = "precomputed" if self.precomputed else "minkowski"
        return NearestNeighbors(n_neighbors=k, metric=metric).fit(self.points)

    def _others(self) -> tuple[Array, Index]:
        """Distance of every point to its nearest other one, and which that is."""
        distance, near = self.search(1).kneighbors()
        return distance[:, 0], near[:, 0]

    def _relative(self, residuals: Array) -> float:
        """Root mean square of residuals over the spread of the embedding."""
        spread = self.embedding - self.embedding.mean(axis=0)
        size = float(np.sqrt(np.mean(np.sum(spread**2, axis=1))))
        away = float(np.sqrt(np.mean(np.sum(residuals**2, axis=1))))
        return away / max(size, np.finfo(float).tiny)

    def _squares(self, X: Array, chosen: Index) -> Array:
        """Squared distances of points to some of those of the fit."""
        if self.precomputed:
            return np.take(X, chosen, axis=1) ** 2
        return _squares(X, self.points[chosen])

    def _needs_points(self) -> None:
        if self.precomputed:
            raise NotAcceptedError(
                f"extension {self.name!r} needs coordinates, and these points are known by "
                "distances. Use 'kernel' or 'barycentric'."
            )


class KernelExtension(Extension):
    r"""A sum of Gaussians about the points, :math:`f(x) = \sum_i e^{-\gamma|x-x_i|^2} a_i + b`.

    Attributes
    ----------
    coef : array of shape (centres, d)
    intercept : array of shape (d,)
    centers : array of int
        The points that Gaussians stand about.
    choice : KernelChoice
        Width and ridge of the least leave-one-out error.
    """

    name = "kernel"

    def __call__(self, X: Array) -> Array:
        """Coordinates of points."""
        places = np.empty((len(X), self.coef.shape[1]))
        for rows in blocks(np.arange(len(X)), _BLOCK):
            away = self._squares(X[rows], self.centers)
            places[rows] = np.exp(-self.choice.gamma * away) @ self.coef
        return np.asarray(places + self.intercept)

    def _fit(self) -> float:
        n, Y = len(self.points), self.embedding
        drawn = np.random.default_rng(self.seed).permutation(n)
        few, self.centers = np.sort(drawn[:_CHOSEN_ON]), np.sort(drawn[:_CENTERS])
        among = self._squares(self.points[few], few)
        typical = float(np.median(among[~np.eye(few.size, dtype=bool)]))
        gammas = [w / max(typical, np.finfo(float).tiny) for w in WIDTHS]
        self.choice = choose_kernel(lambda gamma: np.exp(-gamma * among), Y[few], gammas, RIDGES)
        if self.centers.size == n:
            kernel = np.exp(-self.choice.gamma * self._squares(self.points, self.centers))
            fitted = fit_kernel(kernel, Y, self.choice.delta)
            self.coef, self.intercept = fitted.coef, fitted.intercept
            return self._relative(fitted.leave_one_out())
        self.intercept = Y.mean(axis=0)
        self.coef = self._on_centers(Y - self.intercept)
        # Few coefficients for many points: what is missed where the choice was made stands for all.
        return self._relative(self.choice.error * np.ones((1, Y.shape[1])))

    def _on_centers(self, Y: Array) -> Array:
        r"""Coefficients of Gaussians about some points, fitted to all.

        .. math:: (K_{nm}^T K_{nm} + \delta K_{mm})\, a = K_{nm}^T Y,

        summed a block of points at a time.
        """
        centers, gamma = self.centers, self.choice.gamma
        gram = self.choice.delta * np.exp(-gamma * self._squares(self.points[centers], centers))
        right = np.zeros((centers.size, Y.shape[1]))
        for rows in blocks(np.arange(len(self.points)), _BLOCK):
            kernel = np.exp(-gamma * self._squares(self.points[rows], centers))
            gram += kernel.T @ kernel
            right += kernel.T @ Y[rows]
        return np.asarray(np.linalg.lstsq(gram, right, rcond=None)[0])


class LinearExtension(Extension):
    """A linear map with a ridge, dense or sparse.

    Attributes
    ----------
    mapping : LinearMapping
    alpha : float
        The ridge, or the price relative to the least that leaves no feature.
    """

    name = "linear"
    mapping: LinearMapping

    def __call__(self, X: Array) -> Array:
        """Coordinates of points."""
        return self.mapping(X)

    def _fit(self) -> float:
        self._needs_points()
        choice = choose_ridge(self.points, self.embedding)
        self.alpha, self.mapping = choice.alpha, ridge(self.points, self.embedding, choice.alpha)
        return self._relative(choice.residuals)


class SparseExtension(LinearExtension):
    """A linear map of few features, by a lasso whose price cross-validation chooses."""

    name = "sparse"

    def _fit(self) -> float:
        self._needs_points()
        X, Y = self.points, self.embedding
        order = np.random.default_rng(self.seed).permutation(len(X))
        shares = np.logspace(0.0, -4.0, 25)
        missed = np.zeros(shares.size)
        for held in np.array_split(order, min(_FOLDS, len(X))):
            kept = np.setdiff1d(order, held)
            maps = _lassos(X[kept], Y[kept], shares)
            missed += [np.sum((mapping(X[held]) - Y[held]) ** 2) for mapping in maps]
        k = int(np.argmin(missed))
        self.alpha, self.mapping = float(shares[k]), _lassos(X, Y, shares[k : k + 1])[0]
        spread = np.sum((Y - Y.mean(axis=0)) ** 2)
        return float(np.sqrt(missed[k] / max(spread, np.finfo(float).tiny)))


class BarycentricExtension(Extension):
    """The mean of the nearest points' places, with the weights that reproduce the new point.

    Attributes
    ----------
    n_neighbors : int
    chosen : array of int
        The points that may serve.
    """

    name = "barycentric"
    chosen: Index

    def __call__(self, X: Array) -> Array:
        """Coordinates of points."""
        near, weights = reconstructing(
            X, self.points, self.chosen, self.n_neighbors, precomputed=self.precomputed
        )
        return np.einsum("mk,mkd->md", weights, self.embedding[self.chosen[near]])

    def _fit(self) -> float:
        self.chosen = np.arange(len(self.points))
        if self.precomputed:
            placed = self.embedding[self._others()[1]]
        else:
            near, weights = barycentric_weights(
                self.points, self.points, self.n_neighbors, leave_self=True
            )
            placed = np.einsum("mk,mkd->md", weights, self.embedding[near])
        return self._relative(self.embedding - placed)


class LandmarkExtension(BarycentricExtension):
    """As the barycentric one, with a tenth of the points, spread out, to serve for all.

    In the landmark form of a program, :math:`K = Q L Q^T`, a new row of Q is a mean of the rows of
    landmarks, and so are the places.
    """

    name = "landmark"

    def _fit(self) -> float:
        self._needs_points()
        n = len(self.points)
        count = max(min(n, 3 * self.n_neighbors), n // 10)
        self.chosen = _spread_out(self.points, count, self.seed)
        others = np.setdiff1d(np.arange(n), self.chosen)
        rows = others if others.size else np.arange(n)
        return self._relative(self.embedding[rows] - self(self.points[rows]))


KINDS: dict[str, type[Extension]] = {
    kind.name: kind
    for kind in (
        KernelExtension,
        LinearExtension,
        SparseExtension,
        BarycentricExtension,
        LandmarkExtension,
    )
}


def fit_extension(
    points: Array,
    embedding: Array,
    kind: str = "kernel",
    *,
    precomputed: bool = False,
    n_neighbors: int = 6,
    seed: int = 0,
) -> Extension:
    """Fit a map that takes points to where an embedding has them.

    Parameters
    ----------
    points : array of shape (n, D), or distances (n, n)
    embedding : array of shape (n, d)
        Rows that are not finite are left out, with their points.
    kind : {"kernel", "linear", "sparse", "barycentric", "landmark"}, default "kernel"
        ``"kernel"``: Gaussians, width and ridge by exact leave-one-out. ``"linear"``: a ridge
        chosen in the same way. ``"sparse"``: a lasso, whose price cross-validation chooses.
        ``"barycentric"``: means of neighbours' places. ``"landmark"``: of a tenth of all points,
        to keep little.
    precomputed : bool, default False
        Points are known by their distances. There are then no linear maps, and the barycentric
        one takes the nearest point's place.
    n_neighbors : int, default 6
        Of the barycentric kinds.
    seed : int, default 0

    Returns
    -------
    Extension

    Raises
    ------
    UnknownNameError
    DataError
        Fewer than three points are embedded.
    NotAcceptedError
        The kind needs coordinates, and there are distances only.

    References
    ----------
    Cai thesis, chapters 3 to 5; Tong thesis, section 2.2.

    Examples
    --------
    >>> t = np.linspace(0.0, 3.0, 40)[:, None]
    >>> points = np.hstack([np.cos(t), np.sin(t)])
    >>> arc = fit_extension(points, t)
    >>> new = np.array([[np.cos(1.234), np.sin(1.234)], [5.0, 5.0]])
    >>> bool(abs(arc(new)[0, 0] - 1.234) < 1e-3), arc.trust(new).round(2)
    (True, array([1., 0.]))
    """
    validate.choice("extension", kind, KINDS)
    points, Y = np.asarray(points, dtype=float), np.asarray(embedding, dtype=float)
    if len(points) != len(Y) or Y.ndim != 2:
        raise ShapeError(f"{len(points)} points have an embedding of shape {Y.shape}.")
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    if placed.size < 3:
        raise DataError(f"{placed.size} points are embedded; a map needs three distinct ones.")
    points = points[np.ix_(placed, placed)] if precomputed else points[placed]
    return KINDS[kind](points, Y[placed], precomputed, n_neighbors, seed)


def _squares(X: Array, Z: Array) -> Array:
    return np.asarray(cdist(X, Z, "sqeuclidean"))


def _lassos(X: Array, Y: Array, shares: Array) -> list[LinearMapping]:
    """Linear maps at shares of the least price that leaves nothing."""
    paths = [sparse_path(X, y, intercept=True) for y in Y.T]
    coefs = [np.column_stack([p.at(s * p.betas[0]) for p in paths]) for s in shares]
    return [LinearMapping.through_means(X, Y, coef, "lars") for coef in coefs]


def _spread_out(points: Array, count: int, seed: int) -> Index:
    """Each as far as possible from all before it."""
    chosen = [int(np.random.default_rng(seed).integers(len(points)))]
    away = _squares(points, points[chosen])[:, 0]
    while len(chosen) < count:
        chosen.append(int(np.argmax(away)))
        away = np.minimum(away, _squares(points, points[chosen[-1:]])[:, 0])
    return np.array(sorted(chosen))
