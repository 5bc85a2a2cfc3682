"""Embeddings of a random sample, among which the other points are placed."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _num_samples

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.columns import warn_of_unlike_columns
from sdpdr.base.distances import warn_of_seeming_distances
from sdpdr.base.errors import DataError, SampledWarning, UnlikeColumnsWarning, warn
from sdpdr.base.estimators import as_precise, checked_weights, note_columns
from sdpdr.base.parameters import require_kinds
from sdpdr.base.progress import working
from sdpdr.base.rows import counted, rows_of
from sdpdr.families.unfold.estimators.gram import GramEmbedding, LengthEmbedding

# A roll of so many points is certified in three seconds; noise in many dimensions takes the minute.
LARGEST = 10_000
# Largest weight over the typical one: from 1e15 on bounds of density maps were wrong by rounding.
_UNLIKE = 1e12
# The map that places points where none is requested: it needs no choice and no smoothness.
_PLACING = "barycentric"


def drawn(n: int, m: int, seed: int) -> Index:
    """Rows of a random sample, ascending; a larger sample contains the smaller ones."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:m])


def completed(embedding: Array, rows: Index, places: Array) -> Array:
    """Coordinates of all points: embedded for the sample's rows, by the map for the others.

    Points of the sample that its graph dropped, which are nan, are placed by the map too.
    """
    found = np.array(places)
    kept = np.isfinite(embedding).all(axis=1)
    found[rows[kept]] = embedding[kept]
    return found


@dataclass(eq=False, repr=False)
class Sampling(GramEmbedding):
    """Base of embeddings of a sample, where all points would take too long.

    A sample is drawn at random, so that it is as dense where the data are.
    """

    # Points that `sample="auto"` unfolds at most.
    largest: ClassVar[int] = LARGEST

    _: KW_ONLY
    sample: int | str | None = "auto"

    def _learn(self, X: Any, y: Any, weights: Array | None = None) -> Sampling:
        require_kinds(self)
        self.sample_ = None
        points = self._points_to_sample(X)
        rows = None if points is None else self._drawn(len(points), weights)
        if points is None or rows is None:
            super()._learn(X, y, weights)
            self.sample_ = np.arange(self.graph_.index.size)
            return self
        self.sample_ = rows
        warn_of_seeming_distances(points)
        if self.metric == "euclidean":
            warn_of_unlike_columns(X)
        with rows_of(rows), warnings.catch_warnings():
            warnings.simplefilter("ignore", UnlikeColumnsWarning)  # issued for all rows already
            super()._learn(points[rows], None, None if weights is None else weights[rows])
        note_columns(self, X)
        working(f"placing {counted(len(points) - len(rows), 'point')}")
        places = completed(self.embedding_, rows, self.extension_(points))
        self.embedding_ = as_precise(places, X)
        return self

    def _points_to_sample(self, X: Any) -> Array | None:
        """The points, checked, if they might not all be unfolded."""
        if self.sample is None:
            return None
        if isinstance(self.sample, str):
            validate.choice("sample", self.sample, ("auto",))
            known_by_points = self.metric != "precomputed" and not sp.issparse(X)
            if not (known_by_points and self._is_left_to_us()):
                return None
            # The check of points refuses anything that is no table.
            if X is not None and not np.isscalar(X) and _num_samples(X) <= self.largest:
                return None
        else:
            validate.positive_integer("sample", self.sample)
            if self.metric == "precomputed":
                raise DataError(
                    f"sample={self.sample} places points by their coordinates, and these are known "
                    "by distances. Pass sample=None, or distances of fewer points."
                )
        return validate.points(X)

    def _drawn(self, n: int, weights: Array | None) -> Index | None:
        """Rows of a sample of those with a weight; None where all of these are taken."""
        some = np.arange(n) if weights is None else np.flatnonzero(weights)
        is_requested = isinstance(self.sample, (int, np.integer))
        m = int(self.sample) if is_requested else self.largest  # type: ignore[arg-type]
        if m >= some.size:
            return None
        if not is_requested:
            warn(
                f"{m} of {some.size} points, drawn at random, are unfolded, and the others placed "
                "among them. Nothing is proved of points that were placed. sample=None unfolds "
                "all, a number so many.",
                SampledWarning,
            )
        return some[drawn(some.size, m, validate.seed_or_none(self.random_state) or 0)]

    def _map(self) -> str | None:
        placed = self.sample_ is not None and self.extension is None
        return _PLACING if placed else self.extension


@dataclass(eq=False, repr=False)
class WeightedSampling(Sampling):
    """Base of embeddings of a sample whose rows may have weights."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> WeightedSampling:
        """Learn the embedding of the rows of X.

        Columns are principal axes of all rows unfolded, as often as they occur or count, about
        their mean; rows placed beside a sample are measured from its mean, on its axes.

        Parameters
        ----------
        X : array_like of shape (n, D), or distances (n, n) if ``metric="precomputed"``
        y : ignored
        sample_weight : array_like of shape (n,), optional
            How much each row counts in the variance, the centre and the axes, 0 or more; two is
            as if it were there twice. Rows of weight 0 have no part in the fit, nor coordinates
            (``nan``), and need not be numbers; where a sample is unfolded, they are placed. The
            map of ``extension`` does not use weights. A common factor of all is one of
            ``eigenvalues_`` and of objectives, and changes nothing else, unless lengths have a
            penalty (`Slack`), which counts beside them.

        Returns
        -------
        self
        """
        weights = checked_weights(sample_weight, X)
        if weights is not None:
            used = weights[weights > 0.0]
            if used.max() > _UNLIKE * float(np.quantile(used, 0.5, method="lower")):
                raise DataError(
                    f"sample_weight ranges from {used.min():g} to {used.max():g}: beside the "
                    "largest the others are nothing. Give 0 to rows that are not to count."
                )
        self._learn(X, y, weights)
        return self


@dataclass(eq=False, repr=False)
class SampledEmbedding(WeightedSampling, LengthEmbedding):
    """Base of embeddings that keep lengths, of a sample where all points would take too long."""
