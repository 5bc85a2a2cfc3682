"""An embedding of some points as a map of all points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, NotAcceptedError, ShapeError, UnknownNameError
from sdpdr.families.regress.kernel import KernelChoice, choose_kernel, fit_kernel
from sdpdr.families.regress.ridge import RIDGES, LinearMapping, choose_ridge, ridge
from sdpdr.families.regress.sparse import sparse_path
from sdpdr.families.regress.transduction import barycentric_weights

# Beyond this many points, width and ridge are chosen on a sample, and as many centres serve.
_CHOSEN_ON, _CENTERS, _BLOCK = 1000, 3000, 10_000
_WIDTHS = tuple(2.0**p for p in range(-8, 5, 2))
_FOLDS = 5


@dataclass(frozen=True, eq=False)
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

    points: Array
    embedding: Array
    precomputed: bool
    error: float
    nearest: Array

    name: ClassVar[str]

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Coordinates of points, shape (q, d)."""

    @classmethod
    @abstractmethod
    def fit(cls, given: Given) -> Extension:
        """Fitted to an embedding."""

    def trust(self, X: Array) -> Array:
        """How ordinary points are, from 0 to 1; shape (q,).

        The share of points of the fit that lie at least as far from their nearest other point as
        this one does. Of points drawn like those of the fit, one in twenty has a trust below 0.05;
        a point far from all has 0, and no map of these points knows where it belongs.
        """
        closer = np.searchsorted(self.nearest, self._distances(X), side="left")
        return np.asarray(1.0 - closer / self.nearest.size)

    def _distances(self, X: Array) -> Array:
        if self.precomputed:
            return np.asarray(X.min(axis=1))
        search = NearestNeighbors(n_neighbors=1).fit(self.points)
        return np.asarray(search.kneighbors(X)[0][:, 0])


@dataclass(frozen=True, eq=False)
class Given:
    """What every kind is fitted to: parameters of `fit_extension`."""

    points: Array
    embedding: Array
    precomputed: bool
    n_neighbors: int
    seed: int

    @property
    def nearest(self) -> Array:
        """Distance of every point to its nearest other one, ascending."""
        if self.precomputed:
            apart = self.points + np.diag(np.full(len(self.points), np.inf))
            return np.sort(apart.min(axis=1))
        search = NearestNeighbors(n_neighbors=1).fit(self.points)
        return np.sort(search.kneighbors()[0][:, 0])

    def relative(self, residuals: Array, rows: Index | slice = slice(None)) -> float:
        """Root mean square of residuals over the spread of the embedding."""
        spread = self.embedding - self.embedding.mean(axis=0)
        size = float(np.sqrt(np.mean(np.sum(spread**2, axis=1))))
        away = float(np.sqrt(np.mean(np.sum(residuals[rows] ** 2, axis=1))))
        return away / max(size, np.finfo(float).tiny)

    def common(self, error: float) -> tuple[Array, Array, bool, float, Array]:
        """The attributes that all kinds share."""
        return self.points, self.embedding, self.precomputed, error, self.nearest


@dataclass(frozen=True, eq=False)
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

    coef: Array
    intercept: Array
    centers: Index
    choice: KernelChoice
    name: ClassVar[str] = "kernel"

    def __call__(self, X: Array) -> Array:
        """Coordinates of points."""
        away = (
            X[:, self.centers] ** 2 if self.precomputed else _squares(X, self.points[self.centers])
        )
        return np.asarray(np.exp(-self.choice.gamma * away) @ self.coef + self.intercept)

    @classmethod
    def fit(cls, given: Given) -> KernelExtension:
        """Fitted to an embedding."""
        n = len(given.points)
        drawn = np.random.default_rng(given.seed).permutation(n)
        few, centers = np.sort(drawn[:_CHOSEN_ON]), np.sort(drawn[:_CENTERS])
        among = _among(given, few, few)
        typical = float(np.median(among[~np.eye(few.size, dtype=bool)]))
        gammas = [w / max(typical, np.finfo(float).tiny) for w in _WIDTHS]
        choice = choose_kernel(
            lambda gamma: np.exp(-gamma * among), given.embedding[few], gammas, RIDGES
        )
        if centers.size == n:
            kernel = np.exp(-choice.gamma * _among(given, centers, centers))
            fitted = fit_kernel(kernel, given.embedding, choice.delta)
            error = given.relative(fitted.leave_one_out())
            return cls(*given.common(error), fitted.coef, fitted.intercept, centers, choice)
        b = given.embedding.mean(axis=0)
        coef = _on_centers(given, centers, choice, given.embedding - b)
        # Few coefficients for many points: what is missed where the choice was made stands for all.
        error = given.relative(choice.error * np.ones((1, b.size)))
        return cls(*given.common(error), coef, b, centers, choice)


@dataclass(frozen=True, eq=False)
class LinearExtension(Extension):
    """A linear map with a ridge, dense or sparse.

    Attributes
    ----------
    mapping : LinearMapping
    alpha : float
        The ridge, or the price of the sum of sizes for a sparse map.
    """

    mapping: LinearMapping
    alpha: float
    name: ClassVar[str] = "linear"

    def __call__(self, X: Array) -> Array:
        """Coordinates of points."""
        return self.mapping(X)

    @classmethod
    def fit(cls, given: Given) -> LinearExtension:
        """Fitted to an embedding."""
        _needs_points(given, cls.name)
        X, Y = given.points, given.embedding
        choice = choose_ridge(X, Y)
        error = given.relative(choice.residuals)
        return cls(*given.common(error), ridge(X, Y, choice.alpha), choice.alpha)


@dataclass(frozen=True, eq=False)
class SparseExtension(LinearExtension):
    """A linear map of few features, by a lasso whose price cross-validation chooses."""

    name: ClassVar[str] = "sparse"

    @classmethod
    def fit(cls, given: Given) -> SparseExtension:
        """Fitted to an embedding."""
        _needs_points(given, cls.name)
        X, Y = given.points, given.embedding
        order = np.random.default_rng(given.seed).permutation(len(X))
        shares = np.logspace(0.0, -4.0, 25)
        missed = np.zeros(shares.size)
        for held in np.array_split(order, min(_FOLDS, len(X))):
            kept = np.setdiff1d(order, held)
            coefs, b = _lassos(X[kept], Y[kept], shares)
            away = [
                np.sum((X[held] @ a + b0 - Y[held]) ** 2) for a, b0 in zip(coefs, b, strict=True)
            ]
            missed += away
        k = int(np.argmin(missed))
        coefs, b = _lassos(X, Y, shares[k : k + 1])
        spread = np.sum((Y - Y.mean(axis=0)) ** 2)
        error = float(np.sqrt(missed[k] / max(spread, np.finfo(float).tiny)))
        return cls(*given.common(error), LinearMapping(coefs[0], b[0], "lars"), float(shares[k]))


@dataclass(frozen=True, eq=False)
class BarycentricExtension(Extension):
    """The mean of the nearest points' places, with the weights that reproduce the new point.

    Attributes
    ----------
    n_neighbors : int
    chosen : array of int
        The points that may serve.
    """

    n_neighbors: int
    chosen: Index
    name: ClassVar[str] = "barycentric"

    def __call__(self, X: Array) -> Array:
        """Coordinates of points."""
        places = self.embedding[self.chosen]
        if self.precomputed:
            return np.asarray(places[np.argmin(X[:, self.chosen], axis=1)])
        near, weights = barycentric_weights(self.points[self.chosen], X, self.n_neighbors)
        return np.einsum("mk,mkd->md", weights, places[near])

    @classmethod
    def fit(cls, given: Given) -> BarycentricExtension:
        """Fitted to an embedding."""
        everyone = np.arange(len(given.points))
        if given.precomputed:
            apart = given.points + np.diag(np.full(everyone.size, np.inf))
            placed = given.embedding[np.argmin(apart, axis=1)]
        else:
            near, weights = barycentric_weights(
                given.points, given.points, given.n_neighbors, leave_self=True
            )
            placed = np.einsum("mk,mkd->md", weights, given.embedding[near])
        error = given.relative(given.embedding - placed)
        return cls(*given.common(error), given.n_neighbors, everyone)


@dataclass(frozen=True, eq=False)
class LandmarkExtension(BarycentricExtension):
    """As the barycentric one, with a tenth of the points, spread out, to serve for all.

    In the landmark form of a program, :math:`K = Q L Q^T`, a new row of Q is a mean of the rows of
    landmarks, and so are the places.
    """

    name: ClassVar[str] = "landmark"

    @classmethod
    def fit(cls, given: Given) -> LandmarkExtension:
        """Fitted to an embedding."""
        _needs_points(given, cls.name)
        count = max(min(len(given.points), 3 * given.n_neighbors), len(given.points) // 10)
        chosen = _spread_out(given.points, count, given.seed)
        near, weights = barycentric_weights(given.points[chosen], given.points, given.n_neighbors)
        placed = np.einsum("mk,mkd->md", weights, given.embedding[chosen][near])
        others = np.setdiff1d(np.arange(len(given.points)), chosen)
        rows = others if others.size else slice(None)
        error = given.relative(given.embedding - placed, rows)
        return cls(*given.common(error), given.n_neighbors, chosen)


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
    if kind not in KINDS:
        raise UnknownNameError("extension", kind, KINDS)
    points, Y = np.asarray(points, dtype=float), np.asarray(embedding, dtype=float)
    if len(points) != len(Y) or Y.ndim != 2:
        raise ShapeError(f"{len(points)} points have an embedding of shape {Y.shape}.")
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    if placed.size < 3:
        raise DataError(f"{placed.size} points are embedded; a map needs three at least.")
    points = points[np.ix_(placed, placed)] if precomputed else points[placed]
    return KINDS[kind].fit(Given(points, Y[placed], precomputed, n_neighbors, seed))


def _needs_points(given: Given, kind: str) -> None:
    if given.precomputed:
        raise NotAcceptedError(
            f"extension {kind!r} needs coordinates, and these points are known by distances. Use "
            "'kernel' or 'barycentric'."
        )


def _squares(X: Array, Z: Array) -> Array:
    return np.asarray(cdist(X, Z, "sqeuclidean"))


def _among(given: Given, rows: Index, columns: Index) -> Array:
    """Squared distances."""
    if given.precomputed:
        return np.asarray(given.points[np.ix_(rows, columns)] ** 2)
    return _squares(given.points[rows], given.points[columns])


def _on_centers(given: Given, centers: Index, choice: KernelChoice, Y: Array) -> Array:
    r"""Coefficients of Gaussians about some points, fitted to all.

    .. math:: (K_{nm}^T K_{nm} + \delta K_{mm})\, a = K_{nm}^T Y,

    summed a block of points at a time.
    """
    gram = choice.delta * np.exp(-choice.gamma * _among(given, centers, centers))
    right = np.zeros((centers.size, Y.shape[1]))
    for start in range(0, len(given.points), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(given.points)))
        kernel = np.exp(-choice.gamma * _among(given, rows, centers))
        gram += kernel.T @ kernel
        right += kernel.T @ Y[rows]
    return np.asarray(np.linalg.lstsq(gram, right, rcond=None)[0])


def _lassos(X: Array, Y: Array, shares: Array) -> tuple[list[Array], list[Array]]:
    """Coefficients and intercepts at shares of the least price that leaves nothing."""
    x_mean, y_mean = X.mean(axis=0), Y.mean(axis=0)
    paths = [sparse_path(X, y, intercept=True) for y in Y.T]
    coefs = [np.column_stack([p.at(s * p.betas[0]) for p in paths]) for s in shares]
    return coefs, [y_mean - x_mean @ a for a in coefs]


def _spread_out(points: Array, count: int, seed: int) -> Index:
    """Each as far as possible from all before it."""
    chosen = [int(np.random.default_rng(seed).integers(len(points)))]
    away = _squares(points, points[chosen])[:, 0]
    while len(chosen) < count:
        chosen.append(int(np.argmax(away)))
        away = np.minimum(away, _squares(points, points[chosen[-1:]])[:, 0])
    return np.array(sorted(chosen))
