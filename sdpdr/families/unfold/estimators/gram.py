"""Base of the estimators that learn a Gram matrix: data in, embedding out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataTypeError, LostLengthsWarning, warn
from sdpdr.base.estimators import (
    as_precise,
    note_columns,
)
from sdpdr.base.parameters import require_kinds
from sdpdr.families.regress.maps import KINDS
from sdpdr.families.unfold.estimators.placing import Placing
from sdpdr.families.unfold.estimators.time_limit import DefaultTimeLimit
from sdpdr.families.unfold.verdict import POOR, LengthsKept, Reporting, lengths_kept
from sdpdr.graphs import NeighborGraph, knn
from sdpdr.graphs.selection import resolve_n_neighbors
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.model import Model, Var
from sdpdr.model.affine import evaluate
from sdpdr.model.blocks import Relation
from sdpdr.program import Solution
from sdpdr.program.point import Point, Value, congruent, principal_places
from sdpdr.solving.grade import CUT_SHORT
from sdpdr.solving.solve import solve


@dataclass(eq=False, repr=False)
class GramEmbedding(  # type: ignore[call-arg]  # scikit-learn has no types
    Reporting,
    DefaultTimeLimit,
    Placing,
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
    auto_wrap_output_keys=None,
):
    """Base of embeddings from a Gram matrix.

    Columns of ``embedding_`` are principal axes of all samples: samples that coincide are one node,
    which counts as often as they occur. As in scikit-learn's Isomap, columns have names
    (``get_feature_names_out``), and ``set_output(transform="pandas")`` returns frames.

    Fields are hyperparameters, which `sdpdr.MVU` describes. A subclass is a dataclass that adds
    fields to those of its base, and returns its recipe from ``_model``.
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | str = 6
    metric: str = "euclidean"
    angles: bool = False
    connect: str = "bridges"
    extension: str | None = None
    solver: Any = "auto"
    form: str = "auto"
    tol: float | None = None
    time_limit: float | str | None = "auto"
    random_state: int | None = None

    # Whether the Gram matrix is centred already, at the mean of all samples.
    _is_centred: ClassVar[bool] = True

    @abstractmethod
    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        """The recipe, from the graph and the arguments of `fit` (a row for each sample)."""

    def fit(self, X: Any, y: Any = None) -> GramEmbedding:
        """Learn the embedding of the rows of X.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, D), or distances (n, n)
            Distances if ``metric="precomputed"``. NaN, inf and entries that a sparse array does not
            store are unknown, and such pairs have no edge. An extension needs dense points.
        y : array_like, optional
            Side information, for methods that use any.
        """
        require_kinds(self)
        return self._learn(X, y)

    def _learn(self, X: Any, y: Any) -> GramEmbedding:
        """Learn the embedding of all rows of X."""
        if self.extension is not None:
            validate.choice("extension", self.extension, KINDS)
        graph = self._graph(X)
        self._keep(graph, self._answer(graph, X, y))
        self._extend(X)
        return self

    def _graph(self, X: Any, search: Callable[..., NeighborGraph] = knn) -> NeighborGraph:
        """The graph of neighbours among the rows of X; of all other rows if there are too few.

        Sets ``n_features_in_``, ``feature_names_in_`` and ``n_neighbors_``.
        """
        if self.extension is not None and sp.issparse(X) and self.metric != "precomputed":
            raise DataTypeError(
                f"X is sparse, and extension={self.extension!r} is a map of dense points. Leave "
                "the extension out, or reduce X first, with sklearn.decomposition.TruncatedSVD."
            )
        # The type of the embedding, which only the fit uses.
        self._dtype = as_precise([], X).dtype
        near = resolve_n_neighbors(self.n_neighbors, X, metric=self.metric)
        found = partial(search, X, metric=self.metric, angles=self.angles, connect=self.connect)
        graph, self.n_neighbors_ = validate.all_if_few(near, found)
        note_columns(self, X)
        why = "the number of distinct points"
        validate.positive_integer("n_components", self.n_components, at_most=graph.n, why=why)
        return graph

    def _answer(self, graph: NeighborGraph, X: Any, y: Any) -> Solution:
        """The solution that contains the embedding."""
        return self._solved(self._model(graph, X, y))

    def _solved(self, model: Model, start: Point | None = None) -> Solution:
        """The solution of a model, with the options of the estimator."""
        return solve(
            model,
            self.solver if start is None else "lowrank",
            self.form,
            landmarks=getattr(self, "landmarks", None),
            start=start,
            tol=self.tol,
            time_limit=self._limit(),
            seed=validate.seed_or_none(self.random_state),
        )

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        """Set the attributes that follow from a solution, and warn if it is not certified."""
        self._require_point(solution)
        self.gram_ = solution.gram()
        places = self._places(graph, solution)
        self.embedding_ = graph.of_samples(places).astype(self._dtype)
        self.graph_, self.solution_ = graph, solution
        self._compare(places)

    def _places(self, graph: NeighborGraph, solution: Solution) -> Array:
        """Coordinates of the nodes; sets ``eigenvalues_``."""
        return self._on_axes(graph, solution.gram())

    def _on_axes(self, graph: NeighborGraph, gram: Value) -> Array:
        """Principal components of the nodes, each counted as often as it has samples."""
        gram = self._centred(graph, gram)
        self.eigenvalues_, places = principal_places(gram, graph.masses, self.n_components)
        return places

    def _centred(self, graph: NeighborGraph, gram: Value) -> Value:
        """The Gram matrix of the nodes about the mean of all samples."""
        if self._is_centred:
            return gram
        return congruent(gram, np.eye(graph.n) - graph.counts / graph.counts.sum())

    def _compare(self, places: Array) -> None:
        """Hook: measure how well the coordinates of the nodes preserve the data."""

    def _verdict(self) -> str:
        return self._lengths_verdict(self._unfolded()[self.graph_.first_samples])

    def _lengths_verdict(self, places: Array) -> str:
        """How much of the lengths of edges coordinates of the nodes keep, with advice."""
        kept = self._kept(places)
        return f"{kept} {self._advice(kept)}".rstrip()

    def _unfolded(self) -> Array:
        """The coordinates of the samples that the graph is about."""
        return self.embedding_

    def _kept(self, places: Array) -> LengthsKept:
        """The share of the lengths of edges that coordinates of the nodes keep."""
        gram = self._centred(self.graph_, self.gram_)
        rank = len(self.eigenvalues_)
        return lengths_kept(
            self.graph_, places, principal_places(gram, self.graph_.masses, rank)[1]
        )

    def _advice(self, kept: LengthsKept) -> str:
        """What to write to keep more of the lengths."""
        has_ended = self.solution_.status not in CUT_SHORT
        return kept.advice(has_ended, getattr(self, "isometry", "inequality"))

    @property
    def explained_variance_ratio_(self) -> Array:
        """Share of each column of the embedding in the sum of ``eigenvalues_``."""
        check_is_fitted(self, "eigenvalues_")
        shares = self.eigenvalues_[: self.n_components] / np.sum(self.eigenvalues_)
        return np.pad(shares, (0, self.n_components - shares.size))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = self.extension is None
        if self.extension is None:
            tags.transformer_tags = None
        return tags


def squared_lengths(graph: NeighborGraph, gram: Value) -> Array:
    """Squared lengths of the edges of a graph, between points with the given Gram matrix."""
    return evaluate(SquaredEdgeLengths(graph.n, graph.edges) @ Var("K"), {"K": gram})


@dataclass(eq=False, repr=False)
class LengthEmbedding(GramEmbedding):
    """Base of embeddings that constrain the lengths of edges."""

    _: KW_ONLY
    isometry: Relation = "inequality"
    landmarks: int | None = None

    def _compare(self, places: Array) -> None:
        left = float(np.sum(np.square(self.graph_.lengths(places))))
        self.length_kept_ = left / float(self.graph_.sqdist.sum())

    def _warn_of_lost_lengths(self, places: Array) -> None:
        """Warn if the embedding has less than half of the squared length of edges."""
        if self.length_kept_ < POOR:
            warn(self._lengths_verdict(places), LostLengthsWarning)
