"""Linear maps of the graph-embedding family: projections, and discriminants among them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.estimators import Transformer, as_precise, checked, weighing
from sdpdr.base.labels import (
    UNKNOWN,
    as_vector,
    distinct,
    require_classes,
    require_known,
    unknown,
    warn_of_many,
    warn_of_mark,
    warn_of_signs,
)
from sdpdr.families.regress.classes import class_responses
from sdpdr.families.regress.linear import linear_embedding
from sdpdr.families.regress.responses import (
    LABELLED,
    OF_CLASSES,
    GraphOptions,
    checked_target,
    default_dimension,
    fit_linear,
    kind_of,
    respond,
)
from sdpdr.families.regress.ridge import ALPHA, choose_ridge, is_quick, require_ridge

# A row adds a direction if this share of it lies outside the span of the rows before it.
_INDEPENDENT = 1e-9
# The spread within classes is at least this share of the variance.
_SPREAD = 1e-9


@dataclass(eq=False, repr=False)
class GraphProjection(Transformer):
    r"""Base of linear maps that solve a graph's pencil as well as linear functions can.

    .. math:: X^T W X a = \lambda\, (X^T D X + \gamma I)\, a

    is solved directly (``way="direct"``), or replaced by its responses and a ridge
    (``"regression"``). With all labels known, `LDA` finds the same columns in both ways, up to
    their lengths; the others differ as the solutions y of the pencil differ from linear functions.

    Parameters
    ----------
    n_components : int, optional
        By default one less than there are classes; two at least, except for `LDA` and `SDA`, whose
        pencils have no more solutions. Two without labels. Never more than X has columns.
    n_neighbors : int, default 5
        If there are fewer other points, or fewer of a class, all of them, with a warning.
    metric : {"euclidean", "cosine"}, default "euclidean"
        Of the search for neighbours, as for `sdpdr.graphs.knn`.
    weights : {"binary", "heat", "cosine"}, default "binary"
        Of the edges, as for `sdpdr.graphs.edge_weights`.
    bandwidth : float, optional
        Of ``"heat"``; by default from the lengths of the edges.
    connect : {"none", "mst", "bridges"}, default "none"
        Whether to add edges between the components of the graph, as `sdpdr.graphs.knn` does.
    alpha : float, "loo" or "auto", default "auto"
        The ridge. ``"loo"`` chooses it by exact leave-one-out of the regression on the responses
        or, in the direct way, on the classes, in units of the mean degree; without labels it is
        0.1 there. ``"auto"`` does so for data of up to 2000 samples or columns and ten million
        entries, and uses 0.1 for more.
    smoothing : float, default 0.1
        `SDA`: penalty on differences of neighbours. `LSDA`: share of repulsion.
    way : {"regression", "direct"}, default "regression"
        Of `LSDA`, "direct".
    orthonormal : bool, default False
        Whether components are made orthonormal, one by one, so that no distance is longer than in
        the data. Of `IsoProjection`, True.

    Attributes
    ----------
    components_ : array of shape (d, m)
    intercept_ : array of shape (d,)
    eigenvalues_ : array of shape (d,)
        Of the samples' pencil, or in the direct way of the pencil among linear functions.
    n_components_ : int
        d.
    alpha_ : float
        As used.
    n_features_in_ : int

    Raises
    ------
    DataError, ShapeError, DisconnectedGraphError, UnknownNameError
        From `fit`.

    References
    ----------
    Cai thesis, sections 2.2 and 3.1.
    """

    n_components: int | None = None
    _: KW_ONLY
    alpha: float | str = "auto"
    way: str = "regression"
    orthonormal: bool = False

    kind: ClassVar[str]

    def fit(self, X: Any, y: Any = None) -> GraphProjection:
        """Learn the map.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, m)
            Sparse data stay sparse: their mean is subtracted in products.
        y : array_like of shape (n,), optional
            Labels. `LPP` and `NPE` then search neighbours within the classes.

        Returns
        -------
        self
        """
        return self._learn(X, y)

    def _learn(self, X: Any, y: Any, weights: Array | None = None) -> GraphProjection:
        """`fit`, of samples that may have weights."""
        validate.choice("way", self.way, ("regression", "direct"))
        require_ridge(self.alpha)
        options = GraphOptions.of(self)
        by_distance = self.kind != "classes" and options.metric == "euclidean"
        found = checked(self, X, by_distance=by_distance, accept_sparse="csr", ensure_min_samples=3)
        X = validate.varying(found)
        y = self._labels(y, X.shape[0])
        if self.way == "direct":
            self._solve_directly(X, y, options, weights)
        else:
            self._regress(X, y, options, weights)
        if self.orthonormal:
            self._orthonormalize(X, weights)
        self.n_components_ = len(self.components_)
        return self

    def _labels(self, y: Any, n: int) -> np.ndarray | None:
        y = None if y is None else as_vector(y)
        labels = checked_target(y, n, instead=self._instead)
        kind_of(labels, self.kind)
        if labels is not None and self.kind != "geodesic":
            require_classes(labels)
        if labels is not None and self.kind in OF_CLASSES:
            warn_of_mark(labels, type(self).__name__)
        return labels

    @property
    def _instead(self) -> str:
        """Advice for unknown labels."""
        if self.kind == "semisupervised":
            return "mark unknown labels by -1, None, nan or a blank"
        return "drop those samples, or use sdpdr.SDA, which learns from them too"

    def _most(self, y: np.ndarray | None) -> int:
        """The default number of components, if the data have as many columns."""
        if y is None or self.kind not in ("classes", "semisupervised"):
            return default_dimension(y)
        known = y if self.kind == "classes" else y[y != UNKNOWN]
        return max(np.unique(known).size - 1, 1)

    def _regress(
        self, X: Matrix, y: np.ndarray | None, options: GraphOptions, weights: Array | None
    ) -> None:
        columns = X.shape[1]
        of_classes = self.kind in ("classes", "semisupervised")
        most = min(self._most(y), columns) if of_classes else columns
        d = min(self._most(y), columns) if self.n_components is None else self.n_components
        why = f"since X has {columns} columns" + " and classes have one response less" * of_classes
        d = validate.positive_integer("n_components", d, at_most=most, why=why)
        found = respond(self.kind, X, y, options, d, weights)
        mapping, self.alpha_ = fit_linear(X, found, self.alpha)
        values, turn = found.ordered(mapping(X))
        mapping = mapping.turned(turn[:, :d])
        self.components_, self.intercept_ = mapping.coef.T, mapping.intercept
        self.eigenvalues_ = np.asarray(values)[:d]

    def _solve_directly(
        self, X: Matrix, y: np.ndarray | None, options: GraphOptions, weights: Array | None
    ) -> None:
        pencil = options.pencil(self.kind, X, y, weights)
        if not isinstance(self.alpha, str):
            self.alpha_ = float(self.alpha)
        elif y is None or self.kind == "semisupervised" or not (self.alpha == "loo" or is_quick(X)):
            self.alpha_ = ALPHA
        else:
            degree = pencil.totals.sum() / (pencil.n if weights is None else weights.sum())
            responses = class_responses(y, weights)
            self.alpha_ = float(degree) * choose_ridge(X, responses, sample_weight=weights).alpha
        found = linear_embedding(X, pencil, self.n_components, self.alpha_, most=self._most(y))
        self.components_, self.intercept_ = found.coef.T, -found.mean @ found.coef
        self.eigenvalues_ = found.eigenvalues

    def _orthonormalize(self, X: Matrix, weights: Array | None) -> None:
        """Gram-Schmidt, twice for accuracy, without rows that depend on those before."""
        basis, kept = np.zeros((0, X.shape[1])), list[int]()
        for k, row in enumerate(self.components_):
            rest = row
            for _ in range(2):
                rest = rest - (basis @ rest) @ basis
            length = np.linalg.norm(rest)
            if length > _INDEPENDENT * np.linalg.norm(row):
                basis, kept = np.vstack([basis, rest / length]), [*kept, k]
        if self.n_components is not None:
            why = "since no more of the directions found are independent"
            validate.positive_integer("n_components", self.n_components, at_most=len(kept), why=why)
        self.components_, self.eigenvalues_ = basis, self.eigenvalues_[kept]
        share = np.ones(X.shape[0]) if weights is None else weights
        self.intercept_ = -basis @ np.asarray(X.T @ (share / share.sum())).ravel()

    def transform(self, X: Any) -> Array:
        """Coordinates of points, shape (q, n_components)."""
        check_is_fitted(self, "components_")
        points = checked(self, X, accept_sparse="csr", reset=False)
        return as_precise(points @ self.components_.T + self.intercept_, X)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.kind in LABELLED
        return tags


@dataclass(eq=False, repr=False)
class LPP(GraphProjection):
    """Locality preserving projections: neighbours attract.

    With labels, neighbours are searched within classes. If each class is connected, the responses
    are those of `LDA`, but their mean weights samples by their numbers of neighbours.

    Attributes are those of `sdpdr.estimators.GraphProjection`.

    Parameters
    ----------
    n_components, n_neighbors, metric, weights, bandwidth, connect, alpha, way, orthonormal
        As for `sdpdr.estimators.GraphProjection`.

    References
    ----------
    X. He and P. Niyogi, "Locality preserving projections", NIPS 2003; Cai thesis, (2.7).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> LPP(n_components=2).fit_transform(load_iris().data).shape
    (150, 2)
    """

    _: KW_ONLY
    n_neighbors: int = 5
    metric: str = "euclidean"
    weights: str = "binary"
    bandwidth: float | None = None
    connect: str = "none"

    kind: ClassVar[str] = "laplacian"


@dataclass(eq=False, repr=False)
class NPE(GraphProjection):
    """Neighbourhood preserving embedding: samples follow their neighbours.

    Attributes are those of `sdpdr.estimators.GraphProjection`.

    Parameters
    ----------
    n_components, n_neighbors, metric, connect, alpha, way, orthonormal
        As for `sdpdr.estimators.GraphProjection`.

    References
    ----------
    X. He, D. Cai, S. Yan and H.-J. Zhang, "Neighborhood preserving embedding", ICCV 2005; Cai
    thesis, (2.2).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> NPE(n_components=2).fit_transform(load_wine().data).shape
    (178, 2)
    """

    _: KW_ONLY
    n_neighbors: int = 5
    metric: str = "euclidean"
    connect: str = "none"

    kind: ClassVar[str] = "reconstruction"


@dataclass(eq=False, repr=False)
class IsoProjection(GraphProjection):
    """Isometric projection: distances along the graph, by a linear map.

    Labels are ignored, except for the default number of components. Attributes are those of
    `sdpdr.estimators.GraphProjection`.

    Parameters
    ----------
    n_components, n_neighbors, metric, alpha, way
        As for `sdpdr.estimators.GraphProjection`.
    orthonormal : bool, default True
        Components come in the order in which distances spread along them.
    connect : {"none", "mst", "bridges"}, default "bridges"
        How the components of the graph are joined, since all points must be.

    References
    ----------
    D. Cai, X. He and J. Han, "Isometric projection", AAAI 2007; Cai thesis, (2.4).

    Examples
    --------
    >>> import sdpdr
    >>> X, _ = sdpdr.datasets.s_curve(100, seed=0)
    >>> IsoProjection(n_components=2).fit_transform(X).shape
    (100, 2)
    """

    _: KW_ONLY
    n_neighbors: int = 5
    metric: str = "euclidean"
    connect: str = "bridges"
    orthonormal: bool = True

    kind: ClassVar[str] = "geodesic"


@dataclass(eq=False, repr=False)
class LSDA(GraphProjection):
    """Locality sensitive discriminant analysis: neighbours of a class against all others.

    A sample without a neighbour of its class would have no weight. It is joined to the nearest
    sample of its class, with a warning that names it; the only sample of a class to itself. With
    ``weights="cosine"``, a sample at right angles to all others of its class is refused. Attributes
    are those of `sdpdr.estimators.GraphProjection`.

    Parameters
    ----------
    n_components, metric, weights, bandwidth, connect, alpha, smoothing, orthonormal
        As for `sdpdr.estimators.GraphProjection`.
    n_neighbors : int, optional
        By default ten, or all others if there are fewer.
    way : {"regression", "direct"}, default "direct"
        Its responses are concentrated where classes meet, far from linear functions.

    Warns
    -----
    AddedEdgesWarning
        Samples have no neighbour of their class with a positive weight.
    FewPointsWarning
        Classes have one sample.

    References
    ----------
    D. Cai, X. He, K. Zhou, J. Han and H. Bao, "Locality sensitive discriminant analysis", IJCAI
    2007; Cai thesis, (2.26)-(2.33).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LSDA(n_components=2, n_neighbors=8).fit(X, y).transform(X).shape
    (150, 2)
    """

    _: KW_ONLY
    n_neighbors: int | None = None
    metric: str = "euclidean"
    weights: str = "binary"
    bandwidth: float | None = None
    connect: str = "none"
    smoothing: float = 0.1
    way: str = "direct"

    kind: ClassVar[str] = "contrast"


# -- discriminants ---------------------------------------------------------------------------------


class Discriminant(ClassifierMixin, GraphProjection):  # type: ignore[misc]  # as elsewhere
    """Base of maps learned from classes, which predict the class of the nearest mean."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Discriminant:
        """Learn the map, and the means of the classes.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, m)
        y : array_like of shape (n,)
            Labels.
        sample_weight : array_like of shape (n,), optional
            Nonnegative: with a weight of two a sample counts twice, with 0 not at all. Edges of the
            graph are not weighted.

        Returns
        -------
        self
        """
        with weighing(X, y, sample_weight) as (X, y, weights):
            return self._classify(X, y, weights)

    def _classify(self, X: Any, y: Any, weights: Array | None) -> Discriminant:
        classes = None
        if y is not None:
            y = as_vector(y)
            require_classes(y)
            warn_of_many(y)
            if self.kind == "semisupervised":
                warn_of_signs(y)
                classes, y = self._coded(y)
            require_known(y, self._instead)
        self._learn(X, y, weights)
        known = y != UNKNOWN if self.kind == "semisupervised" else np.ones(len(y), dtype=bool)
        found, codes = np.unique(y[known], return_inverse=True)
        self.classes_ = found if classes is None else classes
        places = np.asarray(self.transform(X), dtype=float)[known]
        each = np.ones(len(places)) if weights is None else weights[known]
        sums = np.zeros((len(found), places.shape[1]))
        np.add.at(sums, codes, each[:, None] * places)
        self.means_ = sums / np.bincount(codes, each)[:, None]
        # Lengths in units of the spread within classes.
        least = _SPREAD * max(float(places.var()), np.finfo(float).tiny)
        within = np.atleast_2d(np.cov((places - self.means_[codes]).T, bias=True, aweights=each))
        self._units = np.linalg.inv(np.linalg.cholesky(within + least * np.eye(len(within)))).T
        return self

    @staticmethod
    def _coded(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The known classes, and the number of the class of every sample, -1 if unknown."""
        known, codes = ~unknown(y), np.full(y.size, UNKNOWN)
        classes, codes[known] = distinct(y[known])
        # Beside None or nan, labels are objects or floats; classes have the type of the others.
        return np.array(classes.tolist()), codes

    def predict(self, X: Any) -> Any:
        """The class of the nearest mean, in units of the spread within classes; shape (q,)."""
        places = np.asarray(self.transform(X))
        nearest = pairwise_distances_argmin(places @ self._units, self.means_ @ self._units)
        return self.classes_[nearest]


@dataclass(eq=False, repr=False)
class LDA(Discriminant):
    """Regularized linear discriminant analysis: samples of a class attract.

    Columns come in the order of separation: each has the largest spread between classes, relative
    to its total spread and the ridge, of what those before it leave. ``eigenvalues_`` are these
    shares, at most one. Attributes are those of `sdpdr.estimators.GraphProjection`, and
    ``classes_`` and ``means_``, the means of the classes in the embedding.

    Parameters
    ----------
    n_components, alpha, way, orthonormal
        As for `sdpdr.estimators.GraphProjection`. No predicted class depends on ``orthonormal``.

    References
    ----------
    Cai thesis, (2.10)-(2.19).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> LDA().fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    kind: ClassVar[str] = "classes"


@dataclass(eq=False, repr=False)
class SDA(Discriminant):
    r"""Semi-supervised discriminant analysis: labels, and neighbours of all samples.

    Unknown labels are -1, None, nan or blank; with two classes and no missing label, one of them
    may be -1. Attributes are those of `LDA`; both spreads are those of labelled samples.

    ``way="direct"`` solves (2.25) of the thesis, with ``smoothing`` for its :math:`\alpha`, twice
    that of (2.19), since (2.21) leaves out a factor of two. ``way="regression"`` solves the pencil
    of samples, (3.2), and fits linear functions to its solutions, which are not linear; the two
    differ.

    Parameters
    ----------
    n_components, n_neighbors, metric, weights, bandwidth, connect, alpha, smoothing
        As for `sdpdr.estimators.GraphProjection`.
    way, orthonormal
        As for `sdpdr.estimators.GraphProjection`.

    References
    ----------
    D. Cai, X. He and J. Han, "Semi-supervised discriminant analysis", ICCV 2007; Cai thesis,
    (2.20)-(2.25).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> y[::2] = -1
    >>> SDA(n_neighbors=8).fit(X, y).transform(X).shape
    (150, 2)
    """

    _: KW_ONLY
    n_neighbors: int = 5
    metric: str = "euclidean"
    weights: str = "binary"
    bandwidth: float | None = None
    connect: str = "none"
    smoothing: float = 0.1

    kind: ClassVar[str] = "semisupervised"
