"""Unfolding as many points as there is time for, and placing the others among them."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.columns import warn_of_unlike_columns
from sdpdr.base.distances import warn_of_seeming_distances
from sdpdr.base.errors import DataError, SampledWarning, UnlikeColumnsWarning, warn
from sdpdr.base.estimators import as_precise, note_columns
from sdpdr.base.parameters import require_kinds
from sdpdr.base.progress import working
from sdpdr.base.rows import counted, rows_of
from sdpdr.base.weights import checked_weights, weighing
from sdpdr.families.unfold.estimators.gram import GramEmbedding, LengthEmbedding
from sdpdr.families.unfold.estimators.units import (
    in_counts,
    out_of_counts,
    state_out_of_counts,
    unit_of_counts,
)
from sdpdr.graphs import NeighborGraph, knn
from sdpdr.graphs.search import seconds_of_search
from sdpdr.graphs.selection import as_asked
from sdpdr.model.blocks import Slack
from sdpdr.program import Solution
from sdpdr.solving.planning import plan

# So many points are unfolded in any case; of noise in ten dimensions they take longer than there is
# time by default, and are kept as they are then.
FEW = 2000
# Times the seconds predicted that there must be: predictions are up to 1.4 times too low, and what
# a limit ends on a busy machine has no proof.
_RESERVE = 3.0
# The map that places points where none was asked for: it needs no choice and no smoothness.
_PLACING = "barycentric"


def drawn(n: int, m: int, seed: int) -> Index:
    """Rows of a sample, ascending: the first so many of a random order, which a larger one has too.

    Parameters
    ----------
    n, m : int
        How many points there are, and how many are drawn.
    seed : int

    Examples
    --------
    >>> bool(np.isin(drawn(100, 5, seed=0), drawn(100, 9, seed=0)).all())
    True
    """
    return np.sort(_order(n, seed)[:m])


def _order(n: int, seed: int) -> Index:
    return np.random.default_rng(seed).permutation(n)


def completed(embedding: Array, rows: Index, places: Array) -> Array:
    """Places of all points: of a sample its own, of the others those that its map gives.

    Points of the sample that its graph dropped are placed as those outside of it.

    Parameters
    ----------
    embedding : array of shape (m, d)
        Of the sample, nan where a point was dropped.
    rows : array of int, shape (m,)
        Its rows among all points.
    places : array of shape (n, d)
        What the map says of all points.

    Examples
    --------
    >>> completed(np.array([[1.0], [np.nan]]), np.array([0, 2]), np.array([[5.0], [6.0], [7.0]]))
    array([[1.],
           [6.],
           [7.]])
    """
    found = np.array(places)
    kept = np.isfinite(embedding).all(axis=1)
    found[rows[kept]] = embedding[kept]
    return found


def points_that_count(X: Any, weights: Array | None) -> Array:
    """Points, of which those without weight need not be numbers; these are nan then.

    Raises
    ------
    DataError, DataTypeError

    Examples
    --------
    >>> X = [[0.0], [1.0], [np.nan], [3.0]]
    >>> points_that_count(X, np.array([1.0, 1.0, 0.0, 2.0])).ravel()
    array([ 0.,  1., nan,  3.])
    """
    if weights is None or weights.all():
        return validate.points(X)
    with weighing(X, None, weights) as (part, _, _):
        counting = validate.points(part)
    points = np.full((weights.size, counting.shape[1]), np.nan)
    points[weights > 0.0] = counting
    # Words among them are as little of a point as gaps are.
    with suppress(ValueError):
        idle = _safe_indexing(X, np.flatnonzero(weights == 0.0))
        points[weights == 0.0] = check_array(idle, dtype=float, ensure_all_finite=False)
    points[~np.isfinite(points).all(axis=1)] = np.nan
    return points


@dataclass(eq=False, repr=False)
class Sampling(GramEmbedding):
    """Base of embeddings of a sample, where all points would take too long.

    A sample is drawn at random, so that it is as dense where the data are; ``_affordable`` says how
    large it is.
    """

    _: KW_ONLY
    sample: int | str | None = "auto"

    def fit(self, X: Any, y: Any = None) -> Sampling:
        """Learn the embedding of the rows of X.

        Parameters
        ----------
        X : array_like of shape (n, D), or distances (n, n) if ``metric="precomputed"``
        y : ignored

        Returns
        -------
        self
        """
        return self._learn(X, y)

    def _learn(self, X: Any, y: Any, weights: Array | None = None) -> Sampling:
        require_kinds(self)
        self.sample_ = None
        points = self._points_to_sample(X, weights)
        rows = None if points is None else self._drawn(points, weights)
        if points is None or rows is None:
            super()._learn(X, y, weights)
            self.sample_ = np.arange(self.graph_.index.size)
            return self
        self.sample_ = rows
        known = np.isfinite(points).all(axis=1)
        # Not a copy, where none is needed: there may be millions.
        numbers = points if known.all() else points[known]
        warn_of_seeming_distances(numbers)
        if self.metric == "euclidean":
            warn_of_unlike_columns(X if known.all() else numbers)
        with rows_of(rows), warnings.catch_warnings():
            warnings.simplefilter("ignore", UnlikeColumnsWarning)  # told of all rows
            super()._learn(points[rows], None, None if weights is None else weights[rows])
        note_columns(self, X)
        working(f"placing {counted(len(points) - len(rows), 'point')}")
        places = np.full((len(points), self.embedding_.shape[1]), np.nan)
        places[known] = self.extension_(numbers)
        self.embedding_ = as_precise(completed(self.embedding_, rows, places), X)
        return self

    def _points_to_sample(self, X: Any, weights: Array | None) -> Array | None:
        """The points, checked, if they might not all be unfolded."""
        if self.sample is None:
            return None
        if isinstance(self.sample, str):
            validate.choice("sample", self.sample, ("auto",))
            by_name = not self._is_left_to_us()
            known_by_points = self.metric != "precomputed" and not sp.issparse(X)
            if by_name or not known_by_points:
                return None
            # What is no table is refused by the check of points.
            if X is not None and not np.isscalar(X) and _num_samples(X) <= self._few():
                return None
        else:
            validate.positive_integer("sample", self.sample)
            if self.metric == "precomputed":
                raise DataError(
                    f"sample={self.sample} places points by their coordinates, and these are known "
                    "by distances. Pass sample=None, or distances of fewer points."
                )
        return points_that_count(X, weights)

    def _drawn(self, points: Array, weights: Array | None) -> Index | None:
        """Rows of a sample, of those that weigh anything; None where all of these are taken."""
        some = np.arange(len(points)) if weights is None else np.flatnonzero(weights)
        n, seed = some.size, validate.seed_or_none(self.random_state) or 0
        if isinstance(self.sample, (int, np.integer)):
            m = int(self.sample)
        else:
            m = self._affordable(points[some[_order(n, seed)]])
        return some[drawn(n, m, seed)] if m < n else None

    def _few(self) -> int:
        """So many points are unfolded always."""
        return FEW

    @abstractmethod
    def _affordable(self, points: Array) -> int:
        """How many of the first points to unfold; warns where that is not all."""

    def _map(self) -> str | None:
        placed = self.sample_ is not None and self.extension is None
        return _PLACING if placed else self.extension


@dataclass(eq=False, repr=False)
class SampledInTime(Sampling):
    """Base of embeddings of a sample that is doubled as long as it is predicted to end in time.

    Their samples may have weights.
    """

    # Names of attributes that are iterations.
    _iterations: ClassVar[tuple[str, ...]] = ()

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SampledInTime:
        """Learn the embedding of the rows of X.

        Columns are principal axes of all rows unfolded, as often as they occur or count, about
        their mean; those that are placed beside a sample are measured from its mean, on its axes.

        Parameters
        ----------
        X : array_like of shape (n, D), or distances (n, n) if ``metric="precomputed"``
        y : ignored
        sample_weight : array_like of shape (n,), optional
            How much each row counts in the variance, the centre and the axes, 0 or more; two is
            as if it were there twice. Rows of weight 0 have no part in the fit, nor a place
            (``nan``); or they are placed, where a sample is unfolded and they are numbers. The map
            of ``extension`` does not heed weights. A common factor of all is one of
            ``eigenvalues_`` and of objectives, and changes nothing else, but where lengths have a
            price (`Slack`), which counts beside them.

        Returns
        -------
        self
        """
        self._learn(X, y, checked_weights(sample_weight, X))
        return self

    def _answer(self, graph: NeighborGraph, X: Any, y: Any) -> Solution:
        """Of counts in a unit of their own: solvers stop by sizes, some of which are absolute."""
        # A price has the unit of the variance that it is weighed against.
        priced = isinstance(getattr(self, "isometry", None), Slack)
        unit = 1.0 if priced else unit_of_counts(graph)
        found = self._optimum(in_counts(graph, unit), X, y)
        for name in self._iterations:
            state = getattr(self, name)
            setattr(self, name, None if state is None else state_out_of_counts(state, unit))
        return out_of_counts(found, unit)

    def _optimum(self, graph: NeighborGraph, X: Any, y: Any) -> Solution:
        """The solution that the embedding is read off."""
        return super()._answer(graph, X, y)

    def _affordable(self, points: Array) -> int:
        """How many of the first points to unfold."""
        n, m = len(points), self._few()
        given = self._limit()
        limit = np.inf if given is None else given
        while m < n:
            more = min(2 * m, n)
            seconds = self._predicted(points[:more], limit)
            if _RESERVE * seconds > limit:
                warn(
                    f"{m} of {n} points, drawn at random, are unfolded, and the others placed "
                    f"among them: {more} are predicted to take {seconds:.0f} s, more than a third "
                    f"of {limit:g}. Nothing is proved of points that were placed. sample=None "
                    "unfolds all, a number so many; a larger time_limit allows for more.",
                    SampledWarning,
                )
                return m
            m = more
        return n

    def _predicted(self, points: Array, limit: float) -> float:
        """Seconds for a search for neighbours and for the unfolding."""
        seconds = seconds_of_search(*points.shape)
        if seconds > limit:
            return seconds
        with warnings.catch_warnings():
            # What is true of the graph of a trial need not be of that which is unfolded.
            warnings.simplefilter("ignore")
            near = as_asked(self.n_neighbors, points, metric=self.metric)
            search = partial(knn, points, metric=self.metric, angles=self.angles, connect="bridges")
            graph, _ = validate.all_if_few(near, search)
            cost = plan(self._model(graph, points, None)).cost
        return seconds if cost is None else seconds + cost.seconds


@dataclass(eq=False, repr=False)
class SampledEmbedding(SampledInTime, LengthEmbedding):
    """Base of embeddings that keep lengths, of a sample where all points would take too long."""
