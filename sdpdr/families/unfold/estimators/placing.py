"""A map of all points that an embedding learns beside its coordinates: transform, trust, score."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.distances import completing, with_unknown
from sdpdr.base.errors import DataError, DataTypeError
from sdpdr.base.estimators import Named, Provided, as_precise, checked
from sdpdr.families.regress.maps import Extension, fit_extension
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.points import directions

# The functions of scikit-learn's pipelines and unions that look whether a step has `transform`.
_STEPS_CHECKED = ("_validate_steps", "_validate_transformers")


def _require_extension(estimator: Placing) -> None:
    """Raise an error if no map was requested."""
    if estimator.extension is not None:
        return
    advice = (
        "the embedding is of the points of the fit alone; pass extension='kernel' (or another "
        "kind, see sdpdr.extend.fit_extension) for a map of all points, which gives transform, "
        "trust and score."
    )
    # A pipeline tests with `hasattr`, which hides an AttributeError, and raises a TypeError without
    # advice. Two frames up is the caller that looked for the method.
    if sys._getframe(2).f_code.co_name in _STEPS_CHECKED:
        name = type(estimator).__name__
        raise DataTypeError(
            f"{name}() has no transform, which a step of a pipeline needs: {advice}"
        )
    raise AttributeError(advice)


class _Framed(Named):
    """The methods that return coordinates, as frames if `set_output` requests them.

    scikit-learn wraps these methods, and wrapped methods are always available; `Placing` makes
    them available only if there is a map.
    """

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Learn the embedding and return it, shape (n, n_components).

        With an extension, return the coordinates that its map gives, as ``fit(X).transform(X)``, so
        that the next step of a pipeline sees old and new points alike. ``fit_params`` are passed to
        ``fit``.
        """
        self.fit(X, y, **fit_params)
        return np.asarray(self.embedding_ if self.extension is None else self.transform(X))

    def transform(self, X: Any) -> Array:
        """Coordinates of points, by the map that was learned with the embedding.

        X holds m points, or distances to the samples of the fit, (m, n). Points of the fit are
        mapped, too: the map smooths, and ``embedding_`` has their positions. The coordinates of
        points far from all of the fit are unreliable, see ``extension_.trust``.
        """
        check_is_fitted(self, "extension_")
        return as_precise(self.extension_(self._new(X)), X)


class Placing(_Framed, auto_wrap_output_keys=None):  # type: ignore[call-arg]  # of scikit-learn
    """Base of embeddings that also learn a map of all points, if one is requested."""

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
        """Learn the map, as the last step of a fit."""
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
                f"and some are unknown. Leave it out, or complete them: {completing()}"
            )
        if self.metric == "cosine":
            points = directions(points)
        # Samples at one place are one neighbour of a new point, so only the first is kept.
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
        """The kind of map that is learned; None for no map."""
        return self.extension

    @Provided(_require_extension)
    def trust(self, X: Any) -> Array:
        """How typical points are compared with those of the fit, from 0 to 1; shape (m,).

        The share of samples that lie at least as far from their nearest other sample. Below 0.05
        the coordinates are a guess.
        """
        return self.extension_.trust(self._new(X))

    @Provided(_require_extension)
    def score(self, X: Any, y: Any = None) -> float:
        """One minus the mean relative change of distances to the nearest samples of the fit.

        At most 1, which means that all lengths are preserved.
        """
        points = self._new(X)
        places, embedded = self.extension_(points), self.extension_.embedding
        k = min(self.n_neighbors_, len(embedded))
        length, near = self.extension_.search(k).kneighbors(points)
        became = np.linalg.norm(places[:, None, :] - embedded[near], axis=2)
        apart = length > 0.0
        return 1.0 - float(np.mean(np.abs(became[apart] / length[apart] - 1.0)))

    def _new(self, X: Any) -> Array:
        """Points, or distances to samples, in the form that the map takes."""
        check_is_fitted(self, "embedding_")
        points = np.asarray(checked(self, X, reset=False))
        if self.metric == "cosine":
            points = directions(points)
        return points[:, self._placed] if self.extension_.precomputed else points
