"""Embeddings of the points of a fit, and the map beside them that places others."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.distances import with_unknown
from sdpdr.base.errors import DataError
from sdpdr.base.estimators import Named, Provided, as_precise, checked
from sdpdr.families.regress.maps import Extension, fit_extension
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.space import directions


def _require_extension(estimator: Placing) -> None:
    if estimator.extension is None:
        raise AttributeError(
            "the embedding is of the points of the fit alone; pass extension='kernel' (or another "
            "kind, see sdpdr.extend.fit_extension) for a map of all points, which gives transform, "
            "trust and score."
        )


class _Framed(Named):
    """Methods that return places, as frames where `set_output` requests them.

    scikit-learn wraps these here, where they are unconditional: what it wraps is available always,
    and the map is not.
    """

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Learn the embedding and return it, shape (n, n_components).

        With an extension, the places that its map gives, as ``fit(X).transform(X)``: the next step
        of a pipeline then sees old and new points alike. ``fit_params`` are passed on to ``fit``.
        """
        self.fit(X, y, **fit_params)
        return np.asarray(self.embedding_ if self.extension is None else self.transform(X))

    def transform(self, X: Any) -> Array:
        """Coordinates of points, by the map learned beside the embedding.

        Points of the fit are not looked up: the map smooths, and ``embedding_`` has their places.
        Points far from all of the fit are placed by little; ``extension_.trust`` says by how much.

        Parameters
        ----------
        X : array_like of shape (m, D), or distances to the samples of the fit, (m, n)

        Returns
        -------
        array of shape (m, n_components)
        """
        check_is_fitted(self, "extension_")
        return as_precise(self.extension_(self._new(X)), X)


class Placing(_Framed, auto_wrap_output_keys=None):  # type: ignore[call-arg]  # of scikit-learn
    """Base of embeddings that learn a map of all points beside them, if they are asked for one."""

    extension: str | None
    metric: str
    random_state: int | None
    n_neighbors_: int
    embedding_: Array
    extension_: Extension
    graph_: NeighborGraph
    _placed: Index

    fit_transform = _Framed.fit_transform
    transform = Provided(_require_extension)(_Framed.transform)

    def _extend(self, X: Any) -> None:
        """Learn the map, the last step of a fit."""
        kind = self._map()
        if kind is None:
            return
        precomputed = self.metric == "precomputed"
        if not precomputed:
            points = validate.points(X)
        else:
            points = with_unknown(X) if sp.issparse(X) else np.asarray(X, dtype=float)
        if not np.isfinite(points).all():
            raise DataError(
                f"extension={self.extension!r} needs all distances between the points of the fit, "
                "and some are not known. Complete them with sdpdr.DistanceCompletion, or fit "
                "without an extension."
            )
        if self.metric == "cosine":
            points = directions(points)
        # Of samples at one place the first, which is one neighbour of a new point, not several.
        self._placed = at = np.sort(self.graph_.first_samples)
        self.extension_ = fit_extension(
            points[np.ix_(at, at)] if precomputed else points[at],
            self.embedding_[at],
            kind,
            precomputed=precomputed,
            n_neighbors=self.n_neighbors_,
            seed=validate.seed_or_none(self.random_state) or 0,
        )

    def _map(self) -> str | None:
        """The kind of map that is learned, if any."""
        return self.extension

    @Provided(_require_extension)
    def trust(self, X: Any) -> Array:
        """How ordinary points are among those of the fit, from 0 to 1; shape (m,).

        The share of samples that lie at least as far from their nearest other one. Below 0.05 a
        place is a guess.
        """
        return self.extension_.trust(self._new(X))

    @Provided(_require_extension)
    def score(self, X: Any, y: Any = None) -> float:
        """One minus the mean relative change of distances to the nearest samples of the fit.

        At most 1, which is reached where all lengths are kept.
        """
        points = self._new(X)
        places, embedded = self.extension_(points), self.extension_.embedding
        k = min(self.n_neighbors_, len(embedded))
        length, near = self.extension_.search(k).kneighbors(points)
        became = np.linalg.norm(places[:, None, :] - embedded[near], axis=2)
        apart = length > 0.0
        return 1.0 - float(np.mean(np.abs(became[apart] / length[apart] - 1.0)))

    def _new(self, X: Any) -> Array:
        check_is_fitted(self, "embedding_")
        points = np.asarray(checked(self, X, reset=False))
        if self.metric == "cosine":
            points = directions(points)
        return points[:, self._placed] if self.extension_.precomputed else points
