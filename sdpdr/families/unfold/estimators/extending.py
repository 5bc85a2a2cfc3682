"""New points for estimators whose own program knows only those of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import UnknownNameError
from sdpdr.families.regress.maps import KINDS, Extension, fit_extension


def _is_extended(estimator: Extending) -> bool:
    if estimator.extension is None:
        raise AttributeError(
            "the embedding is of the points of the fit alone; pass extension='kernel' (or another "
            "kind, see sdpdr.extend.fit_extension) for a map of all points."
        )
    return True


class Extending:
    """Mixin of embeddings that learn a map of all points where ``extension`` names one."""

    extension: str | None
    metric: str
    n_neighbors: int
    random_state: int | None
    embedding_: Array
    extension_: Extension

    def _extend(self, X: Any) -> None:
        """The last step of a fit."""
        if self.extension is None:
            return
        if self.extension not in KINDS:
            raise UnknownNameError("extension", self.extension, KINDS)
        precomputed = self.metric == "precomputed"
        points = np.asarray(X, dtype=float) if precomputed else validate.points(X)
        self.extension_ = fit_extension(
            points,
            self.embedding_,
            self.extension,
            precomputed=precomputed,
            n_neighbors=self.n_neighbors,
            seed=self.random_state or 0,
        )
        # Columns of distances to samples that were left out of the graph.
        self._placed = np.flatnonzero(np.isfinite(self.embedding_).all(axis=1))

    def _returned(self, X: Any) -> Array:
        """What ``fit_transform`` gives."""
        return np.asarray(self.embedding_ if self.extension is None else self.transform(X))

    @available_if(_is_extended)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def transform(self, X: Any) -> Array:
        """Coordinates of points, by the map learned beside the embedding.

        Points of the fit are not looked up: the map smooths, and ``embedding_`` has their places.

        Parameters
        ----------
        X : array_like of shape (m, D), or distances to the samples of the fit, (m, n)

        Returns
        -------
        array of shape (m, n_components)
        """
        return self.extension_(self._new(X))

    @available_if(_is_extended)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def trust(self, X: Any) -> Array:
        """How ordinary points are among those of the fit, from 0 to 1; shape (m,).

        The share of samples that lie at least as far from their nearest other one. Below 0.05 a
        place is a guess.
        """
        return self.extension_.trust(self._new(X))

    @available_if(_is_extended)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def score(self, X: Any, y: Any = None) -> float:
        """One less the mean relative change of distances to the nearest samples of the fit.

        Parameters
        ----------
        X : array_like of shape (m, D), or (m, n)
        y : ignored

        Returns
        -------
        float
            At most 1, which is reached where all lengths are kept.
        """
        points = self._new(X)
        places, embedded = self.extension_(points), self.extension_.embedding
        k = min(self.n_neighbors, len(embedded))
        if self.extension_.precomputed:
            near = np.argsort(points, axis=1, kind="stable")[:, :k]
            length = np.take_along_axis(points, near, axis=1)
        else:
            search = NearestNeighbors(n_neighbors=k).fit(self.extension_.points)
            length, near = search.kneighbors(points)
        became = np.linalg.norm(places[:, None, :] - embedded[near], axis=2)
        apart = length > 0.0
        return 1.0 - float(np.mean(np.abs(became[apart] / length[apart] - 1.0)))

    def _new(self, X: Any) -> Array:
        check_is_fitted(self, "embedding_")
        points = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
        return points[:, self._placed] if self.extension_.precomputed else points
