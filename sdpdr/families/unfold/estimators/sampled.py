"""Embeddings of a random sample, in which the other points are placed by a map."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _num_samples

from sdpdr.base import checks as validate
from sdpdr.base.advice import either
from sdpdr.base.arrays import Array, Index
from sdpdr.base.columns import warn_of_unlike_columns
from sdpdr.base.distances import warn_of_seeming_distances
from sdpdr.base.errors import DataError, SampledWarning, UnlikeColumnsWarning, warn
from sdpdr.base.estimators import as_precise, note_columns
from sdpdr.base.progress import enter_phase
from sdpdr.base.rows import counted, rows_of
from sdpdr.families.unfold.estimators.gram import GramEmbedding, LengthEmbedding

# A roll of this size is certified in three seconds; noise in many dimensions takes the minute.
LARGEST = 10_000
# The map that places points if none is requested: it has no parameters and assumes no smoothness.
_PLACING = "barycentric"


def drawn(n: int, m: int, seed: int) -> Index:
    """Rows of a random sample, ascending; a larger sample contains the smaller ones."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:m])


def completed(embedding: Array, rows: Index, places: Array) -> Array:
    """Coordinates of all points: embedded for the sample's rows, by the map for the others.

    Points of the sample that the graph dropped, which are nan, are placed by the map, too.
    """
    found = np.array(places)
    kept = np.isfinite(embedding).all(axis=1)
    found[rows[kept]] = embedding[kept]
    return found


@dataclass(eq=False, repr=False)
class Sampling(GramEmbedding):
    """Base of embeddings of a sample, if all points would take too long.

    The sample is drawn at random, so that its density is that of the data.
    """

    # Largest number of points that `sample="auto"` unfolds.
    largest: ClassVar[int] = LARGEST

    _: KW_ONLY
    sample: int | str | None = "auto"

    def _learn(self, X: Any, y: Any) -> Sampling:
        self.sample_ = None
        points = self._points_to_sample(X)
        rows = None if points is None else self._drawn(len(points))
        if points is None or rows is None:
            super()._learn(X, y)
            self.sample_ = np.arange(self.graph_.index.size)
            return self
        self.sample_ = rows
        warn_of_seeming_distances(points)
        if self.metric == "euclidean":
            warn_of_unlike_columns(X)
        with rows_of(rows), warnings.catch_warnings():
            warnings.simplefilter("ignore", UnlikeColumnsWarning)  # issued for all rows already
            super()._learn(points[rows], None)
        note_columns(self, X)
        enter_phase(f"placing {counted(len(points) - len(rows), 'point')}")
        places = completed(self.embedding_, rows, self.extension_(points))
        self.embedding_ = as_precise(places, X)
        return self

    def _points_to_sample(self, X: Any) -> Array | None:
        """The checked points if a sample may be drawn; None if all are unfolded."""
        if self.sample is None:
            return None
        if isinstance(self.sample, str):
            validate.choice("sample", self.sample, ("auto",))
            known_by_points = self.metric != "precomputed" and not sp.issparse(X)
            if not (known_by_points and self._is_left_to_us()):
                return None
            # The check of points raises an error for anything but a table.
            if X is not None and not np.isscalar(X) and _num_samples(X) <= self.largest:
                return None
        else:
            validate.positive_integer("sample", self.sample)
            if self.metric == "precomputed":
                raise DataError(
                    f"sample={self.sample} places points by their coordinates, and these are known "
                    "by distances. Leave it out, or pass distances of fewer points."
                )
        return validate.points(X)

    def _drawn(self, n: int) -> Index | None:
        """Rows of a sample; None if all are taken."""
        is_requested = isinstance(self.sample, (int, np.integer))
        m = int(self.sample) if is_requested else self.largest  # type: ignore[arg-type]
        if m >= n:
            return None
        if not is_requested:
            warn(
                f"{m} of {n} points, drawn at random, are unfolded, and the others placed "
                "among them. The certificate does not cover placed points. "
                + either(
                    "sample=None unfolds all, a number so many.",
                    "--sample N unfolds N rows, and as many as there are all.",
                ),
                SampledWarning,
            )
        return drawn(n, m, validate.seed_or_none(self.random_state) or 0)

    def _unfolded(self) -> Array:
        return np.asarray(self.embedding_[self.sample_])

    def _map(self) -> str | None:
        placed = self.sample_ is not None and self.extension is None
        return _PLACING if placed else self.extension


@dataclass(eq=False, repr=False)
class SampledEmbedding(Sampling, LengthEmbedding):
    """Base of embeddings that preserve lengths, of a sample if all points would take too long."""
