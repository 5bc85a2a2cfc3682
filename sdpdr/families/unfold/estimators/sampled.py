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
        rows = self._rows(X)
        if rows is None:
            self.sample_ = None
            super()._learn(X, y)
            self.sample_ = np.arange(self.graph_.index.size)
            return self
        points, self.sample_ = validate.points(X), rows
        warn_of_seeming_distances(points)
        if self.metric == "euclidean":
            warn_of_unlike_columns(X)
        with rows_of(rows), warnings.catch_warnings():
            warnings.simplefilter("ignore", UnlikeColumnsWarning)  # issued for all rows already
            super()._learn(points[rows], None)
        note_columns(self, X)
        enter_phase(f"placing {counted(len(points) - len(rows), 'point')}")
        places = np.array(self.extension_(points))
        # Points of the sample that the graph dropped, which are nan, are placed by the map, too.
        kept = np.isfinite(self.embedding_).all(axis=1)
        places[rows[kept]] = self.embedding_[kept]
        self.embedding_ = as_precise(places, X)
        return self

    def _rows(self, X: Any) -> Index | None:
        """Rows of a sample; None if all are unfolded."""
        if self.sample is None:
            return None
        is_ours, by_distances = isinstance(self.sample, str), self.metric == "precomputed"
        if is_ours:
            validate.choice("sample", self.sample, ("auto",))
            if by_distances or sp.issparse(X) or not self._is_left_to_us():
                return None
        elif by_distances:
            raise DataError(
                f"sample={self.sample} places points by their coordinates, and these are known "
                "by distances. Leave it out, or pass distances of fewer points."
            )
        m = self.largest if is_ours else validate.positive_integer("sample", self.sample)
        n = (
            0 if X is None or np.isscalar(X) else _num_samples(X)
        )  # no table, which is refused later
        if n <= m:
            return None
        if is_ours:
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
