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
from sdpdr.families.regress.penalties import sparse_path
from sdpdr.families.regress.ridge import LinearMapping, choose_ridge
from sdpdr.families.regress.transduction import barycentric_weights, reconstructing
from sdpdr.graphs.search import blocks

# Width and ridge are chosen on at most so many points, and at most so many Gaussians are used. The
# first takes seconds, the second 72 MB.
_CHOSEN_ON, _CENTERS = 1000, 3000
# Points placed at a time, at most 240 MB of kernel values.
_BLOCK = 10_000


class Extension(ABC):
    """A map fitted to embedded points, to be called with new ones.

    Attributes
    ----------
    points : array of shape (n, D), or distances (n, n)
        Which were embedded.
    embedding : array of shape (n, d)
    precomputed : bool
        Whether points are given by their distances to those of the fit.
    error : float
        Root mean square error at points that the map was not fitted to, relative to the spread of
        the embedding.
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
        """Fit the map; its relative error at points left out."""

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Coordinates of points, shape (q, d)."""

    def trust(self, X: Array) -> Array:
        """How ordinary points are, from 0 to 1; shape (q,).

        The share of points of the fit that lie at least as far from their nearest other point as
        this one does. Of points drawn like those of the fit, one in twenty has a trust below 0.05;
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
        size = float(np.sqrt(np.mean(np.sum(spread**2, axis=1))))
        away = float(np.sqrt(np.mean(np.sum(residuals**2, axis=1))))
        return away / max(size, np.finfo(float).tiny)

    def _squares(self, X: Array, chosen: Index) -> Array:
        """Squared distances of points to some of those of the fit."""
        if self.precomputed:
            return np.take(X, chosen, axis=1) ** 2
        return np.asarray(cdist(X, self.points[chosen], "sqeuclidean"))

    def _require_points(self) -> None:
        if self.precomputed:
            raise NotAcceptedError(
                f"extension {self.name!r} needs coordinates, and only distances are known. Use "
                "'kernel' or 'barycentric'."
            )


class KernelExtension(Extension):
    r"""A sum of Gaussians about the points, :math:`f(x) = \sum_i e^{-\gamma|x-x_i|^2} a_i + b`.

    Attributes
    ----------
    coef : array of shape (centres, d)
    intercept : array of shape (d,)
    centers : array of int
        The points with a Gaussian.
    choice : KernelChoice
        Width and ridge with the least leave-one-out error.
    """

    name = "kernel"

    def __call__(self, X: Array) -> Array:
        """Coordinates of points."""
        return np.vstack([self._kernel(X[rows]) @ self.coef for rows in self._blocks(X)]) + (
            self.intercept
        )

    def _fit(self) -> float:
        n, Y = len(self.points), self.embedding
        drawn = np.random.default_rng(self.seed).permutation(n)
        few, self.centers = np.sort(drawn[:_CHOSEN_ON]), np.sort(drawn[:_CENTERS])
        among = self._squares(self.points[few], few)
        typical = float(np.median(among[~np.eye(few.size, dtype=bool)]))
        gammas = [w / max(typical, np.finfo(float).tiny) for w in WIDTHS]
        self.choice = choose_kernel(lambda gamma: np.exp(-gamma * among), Y[few], gammas)
        if self.centers.size == n:
            fitted = fit_kernel(self._kernel(self.points), Y, self.choice.delta)
            self.coef, self.intercept = fitted.coef, fitted.intercept
            return self._relative(fitted.leave_one_out())
        self.intercept = Y.mean(axis=0)
        # (K_nm' K_nm + delta K_mm) a = K_nm' (Y - b), a block of points at a time.
        left = self.choice.delta * self._kernel(self.points[self.centers])
        right = np.zeros((self.centers.size, Y.shape[1]))
        for rows in self._blocks(self.points):
            kernel = self._kernel(self.points[rows])
            left += kernel.T @ kernel
            right += kernel.T @ (Y[rows] - self.intercept)
        self.coef = np.asarray(np.linalg.lstsq(left, right, rcond=None)[0], dtype=float)
        # With few coefficients for many points, the error of the choice holds for all.
        return self._relative(self.choice.error * np.ones((1, Y.shape[1])))

    def _kernel(self, X: Array) -> Array:
        return np.asarray(np.exp(-self.choice.gamma * self._squares(X, self.centers)))

    def _blocks(self, X: Array) -> list[Index]:
        return list(blocks(np.arange(len(X)), _BLOCK)) or [np.arange(0)]


class LinearExtension(Extension):
    """A linear map with a ridge, dense or sparse.

    Attributes
    ----------
    mapping : LinearMapping
    alpha : float
        The ridge, or the lasso penalty relative to the least that leaves no feature.
    """

    name = "linear"
    mapping: LinearMapping

    def __call__(self, X: Array) -> Array:
        """Coordinates of points."""
        return self.mapping(X)

    def _fit(self) -> float:
        self._require_points()
        choice = choose_ridge(self.points, self.embedding)
        self.alpha, self.mapping = choice.alpha, choice.mapping
        return self._relative(choice.residuals)


class SparseExtension(LinearExtension):
    """A linear map of few features, by a lasso whose penalty cross-validation chooses."""

    name = "sparse"

    def _fit(self) -> float:
        self._require_points()
        X, Y = self.points, self.embedding
        shares = np.logspace(0.0, -4.0, 25)
        missed = np.zeros(shares.size)
        order = np.random.default_rng(self.seed).permutation(len(X))
        for held in np.array_split(order, min(5, len(X))):
            kept = np.setdiff1d(order, held)
            maps = _lassos(X[kept], Y[kept], shares)
            missed += [np.sum((mapping(X[held]) - Y[held]) ** 2) for mapping in maps]
        k = int(np.argmin(missed))
        self.alpha, self.mapping = float(shares[k]), _lassos(X, Y, shares[k : k + 1])[0]
        return self._relative(np.full((1, 1), np.sqrt(missed[k] / len(X))))


class BarycentricExtension(Extension):
    """A weighted mean of the nearest points, with the weights that reproduce the new point.

    Attributes
    ----------
    n_neighbors : int
    chosen : array of int
        The points that are used.
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
    """The barycentric map with a tenth of the points, spread out, in place of all.

    In the landmark form of a program, :math:`K = Q L Q^T`, a new row of Q is a mean of the rows of
    landmarks, and so are the coordinates.
    """

    name = "landmark"

    def _fit(self) -> float:
        self._require_points()
        n = len(self.points)
        count = max(min(n, 3 * self.n_neighbors), n // 10)
        self.chosen = self._spread_out(count)
        others = np.setdiff1d(np.arange(n), self.chosen)
        rows = others if others.size else np.arange(n)
        return self._relative(self.embedding[rows] - self(self.points[rows]))

    def _spread_out(self, count: int) -> Index:
        """Points, each as far as possible from all before it."""
        start = int(np.random.default_rng(self.seed).integers(len(self.points)))
        chosen, away = [start], np.full(len(self.points), np.inf)
        while len(chosen) < count:
            away = np.minimum(away, self._squares(self.points, np.array(chosen[-1:]))[:, 0])
            chosen.append(int(np.argmax(away)))
        return np.array(sorted(chosen))


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
    """Fit a map that takes points to their coordinates in an embedding.

    Parameters
    ----------
    points : array of shape (n, D), or distances (n, n)
    embedding : array of shape (n, d)
        Rows that are not finite are left out, with their points.
    kind : {"kernel", "linear", "sparse", "barycentric", "landmark"}, default "kernel"
        ``"kernel"``: Gaussians, width and ridge by exact leave-one-out. ``"linear"``: a ridge
        chosen in the same way. ``"sparse"``: a lasso, whose penalty cross-validation chooses.
        ``"barycentric"``: weighted means of neighbours. ``"landmark"``: the same with a tenth of
        the points, which is smaller to keep.
    precomputed : bool, default False
        Points are given by their distances. There are then no linear maps, and the barycentric
        one returns the coordinates of the nearest point.
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


def _lassos(X: Array, Y: Array, shares: Array) -> list[LinearMapping]:
    """Linear maps with these shares of the least penalty that leaves no feature."""
    paths = [sparse_path(X, y, intercept=True) for y in Y.T]
    coefs = [np.column_stack([p.at(s * p.betas[0]) for p in paths]) for s in shares]
    return [LinearMapping(c, Y.mean(axis=0) - X.mean(axis=0) @ c, "lars") for c in coefs]
