"""Spectral regression with scikit-learn's face: an embedding learned as a function."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.columns import warn_of_unlike_columns
from sdpdr.base.errors import DataError, NotAcceptedError, ShapeError
from sdpdr.base.estimators import Provided, checked
from sdpdr.base.labels import warn_of_mark, warn_of_signs
from sdpdr.base.parameters import require_kernel
from sdpdr.base.weights import weighing
from sdpdr.families.regress.kernel import KernelMapping, extended
from sdpdr.families.regress.penalties import require_ridge
from sdpdr.families.regress.pencil import Pencil
from sdpdr.families.regress.regressing import Regressing
from sdpdr.families.regress.respond import (
    KINDS,
    LABELLED,
    OF_CLASSES,
    Responses,
    checked_target,
    kind_of,
)
from sdpdr.families.regress.weights import laplacian_pencil
from sdpdr.graphs import NeighborGraph

# Responses of samples, not of pairs of them.
_OF_SAMPLES = ("classes", "semisupervised", "given")


def _require_kernel(estimator: SpectralRegression) -> None:
    if estimator.kernel is None or estimator.cardinality is not None:
        raise AttributeError(
            "samples are added to a kernel map with a ridge only: pass kernel='rbf' or another, "
            "and no cardinality."
        )


def _require_given(estimator: SpectralRegression) -> None:
    if getattr(estimator, "eigenvalues_", None) is not None:
        raise AttributeError(
            "score compares places with those that were given, and these responses were found: "
            "sdpdr.LDA and sdpdr.SDA score the classes that they tell."
        )


@dataclass(eq=False, repr=False)
class SpectralRegression(Regressing):
    r"""Spectral regression: responses from a graph or labels, then least squares.

    .. math::

        \max_y \frac{y^T W y}{y^T D y}, \qquad\text{then}\qquad
        \min_{a, b}\ |X a + b - y|^2 + \alpha |P a|^2 + \beta |a|_1
        \quad\text{or}\quad (K + \alpha I) a = y - b .

    An embedding learned in this way is a function, so new points have a place. The eigenproblem
    is that of the samples alone, sparse or solved in closed form, and the regression takes data of
    any shape.

    With labels of some samples only, b is not a minimiser: it lets the map take the mean
    :math:`\bar x` of the labelled samples to the mean :math:`\bar y` of their responses, as the
    spread between classes is measured from there (Cai thesis, (2.24)). What is minimised is
    :math:`|(X - \mathbf 1 \bar x^T) a - (y - \bar y)|^2 + \alpha |P a|^2` over a, of all samples,
    with :math:`b = \bar y - \bar x^T a`.

    Parameters
    ----------
    n_components : int, optional
        By default one less than there are classes, of graphs two where that is more or there are
        no labels, and no more than X has for linear functions; all columns of given responses.
        Those of ``"classes"`` and
        ``"semisupervised"`` come in the order of how well what a ridge makes of them separates
        classes, as of `sdpdr.LDA`.
    responses : str, NeighborGraph or Pencil, default "auto"
        ``"classes"``: the labels y (discriminant analysis). ``"semisupervised"``: labels, -1 where
        not known, carried along a graph. ``"contrast"``: neighbours of one class against those of
        others. ``"laplacian"`` and ``"reconstruction"``: the graph alone, or searched within the
        classes if y is given; a graph of one's own has the pencil of ``"laplacian"``.
        ``"geodesic"``: paths along the graph. ``"given"``: y is the embedding, (n, d).
        ``"auto"``: by y; without any ``"laplacian"``.
    n_neighbors : int, default 5
    metric : {"euclidean", "cosine"}, default "euclidean"
        Of the search for neighbours, as for `sdpdr.graphs.knn`.
    weights : {"binary", "heat", "cosine"}, default "binary"
        Of edges, as for `sdpdr.graphs.edge_weights`, for the responses ``"laplacian"``,
        ``"semisupervised"`` and ``"contrast"``. All others, as ``"classes"``, which ``"auto"`` is
        where all labels are known, refuse any but the default.
    bandwidth : float, optional
        Of ``"heat"``; by default from the lengths of the edges.
    alpha : float, "loo" or "auto", default "auto"
        The ridge; ``"loo"`` chooses it, and the width of an rbf kernel, by exact leave-one-out.
        ``"auto"`` does so for data of up to 2000 samples or columns and ten million entries, and
        for kernels of up to 2000 samples; with a penalty matrix, a cardinality or more data it is
        0.1.
    penalty : array or sparse array of shape (p, m), optional
        P; see `sdpdr.extend.grid_laplacian` for images. The identity by default.
    cardinality : int, optional
        At most so many coefficients that are not zero, for each component, from a lasso or, with
        alpha > 0, an elastic net.
    kernel : str or callable, optional
        As in scikit-learn, or ``"precomputed"``; linear functions by default.
    gamma : float, optional
        Of the kernel; one over twice the mean squared distance by default.
    connect : {"none", "mst", "bridges"}, default "none"
        What to do with a graph of several parts: leave it, or add edges between them, as
        `sdpdr.graphs.knn` does.
    smoothing : float, default 0.1
        Price of differing from neighbours (``"semisupervised"``), or the share of
        repulsion (``"contrast"``).
    solver : {"auto", "cholesky", "dual", "lsqr", "svd"}, default "auto"
        See `sdpdr.extend.ridge`.
    random_state : int, RandomState or Generator, default 0

    Attributes
    ----------
    components_ : array of shape (n_components, m)
        Of linear functions.
    dual_coef_ : array of shape (n, n_components)
        Of kernel functions.
    intercept_ : array of shape (n_components,)
    responses_ : array of shape (n, n_components)
        What was regressed on.
    eigenvalues_ : array of shape (n_components,)
        Of the pencil, or, of labels, the shares that `sdpdr.LDA` describes; absent for given
        responses.
    classes_ : array
        If there were labels.
    alpha_, gamma_ : float
        As used.
    solver_ : str
    n_features_in_ : int

    Raises
    ------
    DataError, ShapeError, UnknownNameError, NotAcceptedError, DisconnectedGraphError
        From `fit`.

    Warns
    -----
    AddedEdgesWarning
        ``responses="contrast"``, and samples have no neighbour of their class: each is joined to
        the nearest of them.

    References
    ----------
    Cai thesis, chapters 3 to 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import sdpdr
    >>> X, y = load_iris(return_X_y=True)
    >>> sdpdr.SpectralRegression().fit(X, y).transform(X).shape
    (150, 2)
    >>> sparse = sdpdr.SpectralRegression(cardinality=2).fit(X, y)
    >>> int(np.count_nonzero(sparse.components_, axis=1).max())
    2
    """

    _: KW_ONLY
    responses: str | NeighborGraph | Pencil = "auto"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SpectralRegression:
        """Find the responses and regress on them.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, m), or kernel matrix (n, n)
        y : array_like of shape (n,) or (n, d), optional
            Labels, or an embedding.
        sample_weight : array_like of shape (n,), optional
            How much each sample counts, 0 or more: two is as if it were there twice, and 0 as if it
            were not. For responses ``"classes"``, ``"semisupervised"`` and ``"given"``; those of
            graphs weigh pairs.

        Returns
        -------
        self
        """
        self._check_options()
        if sample_weight is not None and self.kernel is not None and self.cardinality is not None:
            raise NotAcceptedError(
                "a cardinality of a kernel map counts samples, and one that counts for several "
                "would be several: repeat rows instead of sample_weight, or drop one of the three."
            )
        with weighing(X, y, sample_weight) as (X, y, weights):
            if self._is_precomputed and weights is not None and np.shape(X) != (weights.size,) * 2:
                raise NotAcceptedError(
                    "sample_weight is 0 of rows of a precomputed kernel: leave those rows and "
                    "columns out, of this matrix and of those for transform."
                )
            return self._learn(X, y, weights)

    def _learn(self, X: Any, y: Any, weights: Array | None) -> SpectralRegression:
        """`fit`, of samples that may have weights."""
        found = checked(self, X, accept_sparse=self._sparse_allowed, ensure_min_samples=2)
        points = found if self._is_precomputed else validate.varying(found)
        y = checked_target(y, points.shape[0], columns=self.responses == "given")
        if self._goes_by_distance(y):
            warn_of_unlike_columns(X)
        self._regress(points, self._respond(points, y, weights))
        return self

    @Provided(_require_kernel)
    def partial_fit(self, X: Any, y: Any = None) -> SpectralRegression:
        """Add samples to a kernel map: the factor grows, nothing is factored anew.

        The result is that of `fit` on all samples, with the width and ridge of the first.

        Parameters
        ----------
        X : array_like of shape (p, m)
        y : array_like of shape (p,) or (p, d), optional
            Labels, of new classes too, or places.

        Returns
        -------
        self
        """
        if not hasattr(self, "mapping_"):
            return self.fit(X, y)
        if self._is_precomputed:
            raise NotAcceptedError("a precomputed kernel cannot grow: fit on the whole matrix.")
        if self._weights is not None:
            raise NotAcceptedError(
                "samples are added to a fit without sample_weight only: fit on all of them."
            )
        before = self._y
        if (y is None) != (before is None):
            raise DataError("y must be given to every call, or to none.")
        new = checked(self, X, reset=False)
        old, factor = self._X, self.mapping_
        assert isinstance(factor, KernelMapping)
        everything = np.vstack([old, new])
        if y is not None and before is not None:
            added = np.asarray(y)
            if added.ndim != before.ndim or len(added) != len(new):
                raise ShapeError(f"y must have {len(new)} rows like those of before.")
            both = np.concatenate([before, added])
            y = checked_target(both, len(everything), columns=self.responses == "given")
        found = self._respond(everything, y, None)
        between, among = self._kernel(old, new), self._kernel(new, new)
        grown = extended(factor, between, among, self.responses_)
        self.mapping_ = grown.turned(self._order(found, grown.fitted))
        self._keep(everything)
        return self

    @Provided(_require_given)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Coefficient of determination of the places of other samples, where responses are given.

        Parameters
        ----------
        X : array_like or sparse array of shape (q, m)
        y : array_like of shape (q,) or (q, n_components)
            Where an embedding has them.
        sample_weight : array_like of shape (q,), optional

        Returns
        -------
        float
            One less the share of the variance that is missed, in the mean of the columns.
        """
        places = np.asarray(self.transform(X), dtype=float)
        return float(
            r2_score(np.reshape(y, (len(places), -1)), places, sample_weight=sample_weight)
        )

    def _goes_by_distance(self, y: np.ndarray | None) -> bool:
        """Whether neighbours or a kernel of distances have to do with the map."""
        if self.kernel is not None:
            return isinstance(self.kernel, str) and self.kernel in ("rbf", "laplacian")
        if not isinstance(self.responses, str) or self.metric != "euclidean":
            return False
        return kind_of(y, self.responses) not in ("classes", "given")

    def _check_options(self) -> None:
        if isinstance(self.responses, str):
            validate.choice("responses", self.responses, KINDS)
        elif not isinstance(self.responses, (NeighborGraph, Pencil)):
            raise DataError(
                f"responses must be a word, a graph or a Pencil; they are {self.responses!r}."
            )
        self._check_graph()
        require_ridge(self.alpha)
        if self.kernel is not None and self.penalty is not None:
            raise DataError("penalty is on the coefficients of linear functions; drop the kernel.")
        if self.cardinality is not None:
            validate.positive_integer("cardinality", self.cardinality)
            if self.penalty is not None or self.alpha == "loo":
                raise DataError("a cardinality goes with a number alpha and no penalty matrix.")
        known = ("precomputed", *PAIRWISE_KERNEL_FUNCTIONS)
        if self.kernel is not None:
            require_kernel(self.kernel, known)

    def _respond(self, X: Any, y: np.ndarray | None, weights: Array | None) -> Responses:
        """Set ``responses_`` and what belongs to them."""
        kind: str | Pencil
        if isinstance(self.responses, str):
            kind = kind_of(y, self.responses)
        elif isinstance(self.responses, NeighborGraph):
            kind = laplacian_pencil(self.responses, **self._weighing)
        else:
            kind = self.responses
        if y is not None and isinstance(kind, str) and kind in OF_CLASSES:
            warn_of_mark(y, f"SpectralRegression(responses={kind!r})")
        if y is not None and kind == "semisupervised" and kind != self.responses:
            warn_of_signs(y, "pass responses='semisupervised'")
        searches = isinstance(kind, str) and kind not in ("given", "classes")
        if searches and self._is_precomputed:
            raise NotAcceptedError(
                "neighbours cannot be searched in a kernel matrix: pass a Pencil, or labels."
            )
        self._check_weights("laplacian" if isinstance(self.responses, NeighborGraph) else kind)
        if weights is not None and kind not in _OF_SAMPLES:
            name = kind.name if isinstance(kind, Pencil) else kind
            raise NotAcceptedError(
                f"the responses, {name!r}, are made of pairs of samples, which sample_weight does "
                "not weigh. Leave it out; weights of pairs are those of the graph, or a Pencil."
            )
        found = self._responses(X, y, kind, weights)
        self._y, self._weights, self.responses_ = y, weights, found.vectors
        for name, value in (("eigenvalues_", found.eigenvalues), ("classes_", found.classes)):
            self.__dict__.pop(name, None)  # of an earlier fit
            if value is not None:
                setattr(self, name, value)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._sparse_allowed)
        tags.input_tags.pairwise = self._is_precomputed
        tags.target_tags.required = self.responses in LABELLED
        return tags
