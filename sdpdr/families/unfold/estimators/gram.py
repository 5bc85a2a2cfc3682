"""What all estimators share that learn a Gram matrix: data in, embedding out."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import TransformerTags

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, UncertifiedWarning
from sdpdr.families.unfold.estimators.extending import Extending
from sdpdr.graphs import NeighborGraph, knn
from sdpdr.model import Model
from sdpdr.model.blocks import Relation
from sdpdr.program import Solution, Status
from sdpdr.solving.solve import solve


@dataclass(eq=False, repr=False)
class GramEmbedding(Extending, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of embeddings read off a Gram matrix.

    Fields are hyperparameters: a subclass has those of its base and adds its own, as a dataclass
    again. ``_model`` names its recipe.
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int = 6
    metric: str = "euclidean"
    angles: bool = False
    connect: str = "error"
    extension: str | None = None
    solver: Any = "auto"
    form: str = "auto"
    tol: float | None = None
    time_limit: float | None = None
    random_state: int | None = None

    @abstractmethod
    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        """The recipe, of the graph and of what `fit` was given (a row for each sample)."""

    def fit(self, X: Any, y: Any = None) -> GramEmbedding:
        """Learn the embedding of the rows of X.

        Parameters
        ----------
        X : array_like of shape (n, D), or distances (n, n) if ``metric="precomputed"``
        y : array_like, optional
            Side information, for methods that use any.

        Returns
        -------
        self
        """
        graph = knn(
            self._checked(X),
            self.n_neighbors,
            metric=self.metric,
            angles=self.angles,
            connect=self.connect,
        )
        self._check_components(graph)
        solution = solve(
            self._model(graph, X, y),
            self.solver,
            self.form,
            landmarks=getattr(self, "landmarks", None),  # of those that take the landmark form
            tol=self.tol,
            time_limit=self.time_limit,
            seed=self.random_state,
        )
        self._keep(graph, solution)
        self._extend(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Learn the embedding and return it, shape (n, n_components).

        With an extension, the places that its map gives, as ``fit(X).transform(X)``: what comes
        after in a pipeline then sees old and new points alike.
        """
        return self.fit(X, y)._returned(X)

    def _checked(self, X: Any) -> Any:
        """Set ``n_features_in_`` and ``feature_names_in_``; the graph checks the values."""
        self._check_n_features_and_names(X)
        return X

    def _check_n_features_and_names(self, X: Any) -> None:
        columns = getattr(X, "columns", None)
        if columns is not None and all(isinstance(name, str) for name in columns):
            self.feature_names_in_ = np.asarray(columns, dtype=object)
        shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
        if len(shape) == 2:
            self.n_features_in_ = int(shape[1])

    def _check_components(self, graph: NeighborGraph) -> None:
        d = self.n_components
        if isinstance(d, bool) or not isinstance(d, (int, np.integer)) or not 1 <= d <= graph.n:
            raise DataError(
                f"n_components must be a whole number in 1..{graph.n} (the number of distinct "
                f"points); it is {d!r}."
            )

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        if not solution.values:
            solution.raise_for_status()
        if solution.status not in (Status.SOLVED, Status.OPTIMAL_NEARBY):
            warnings.warn(
                f"{solution.status.name}: {solution.advice} (gap {solution.gap:.1e})",
                UncertifiedWarning,
                stacklevel=3,
            )
        nodes = self._places(graph, solution)
        self.embedding_ = np.full((graph.index.size, nodes.shape[1]), np.nan)
        placed = graph.index >= 0
        self.embedding_[placed] = nodes[graph.index[placed]]
        self.gram_ = solution.gram()
        self.eigenvalues_ = solution.spectrum()
        self.graph_, self.solution_ = graph, solution

    def _places(self, graph: NeighborGraph, solution: Solution) -> Array:
        """Coordinates of the nodes."""
        return solution.embedding(self.n_components)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.transformer_tags = None if self.extension is None else TransformerTags()
        return tags


@dataclass(eq=False, repr=False)
class LengthEmbedding(GramEmbedding):
    """Base of embeddings that say what becomes of the lengths of edges, at any size."""

    _: KW_ONLY
    isometry: Relation = "inequality"
    landmarks: int | None = None
