"""Linear maps of the graph-embedding family: projections, and discriminants among them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import pairwise_distances_argmin

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Matrix
from sdpdr.base.labels import (
    UNKNOWN,
    as_vector,
    distinct,
    require_classes,
    unknown,
    warn_of_many,
    warn_of_signs,
)
from sdpdr.families.limits import ROUNDING
from sdpdr.families.regress.embedding import graph_embedding, linear_embedding
from sdpdr.families.regress.learner import PencilLearner, default_dimension
from sdpdr.families.regress.pencils import Pencil, class_pencil
from sdpdr.families.regress.ridge import (
    ALPHA,
    LinearMapping,
    choose_ridge,
    fixed_ridge,
    is_quick,
)


@dataclass(eq=False, repr=False)
class GraphProjection(PencilLearner):
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
        Metric of the search for neighbours, as for `sdpdr.graphs.knn`.
    weights : {"binary", "heat", "cosine"}, default "binary"
        Weights of the edges, as for `sdpdr.graphs.edge_weights`.
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
        For `LSDA`, the default is "direct".
    orthonormal : bool, default False
        Whether components are made orthonormal, one by one, so that no distance is longer than in
        the data. For `IsoProjection`, the default is True.

    Attributes
    ----------
    components_ : array of shape (d, m)
    intercept_ : array of shape (d,)
    eigenvalues_ : array of shape (d,)
        Eigenvalues of the samples' pencil, or in the direct way of the pencil among linear
        functions.
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

    def _check_options(self) -> None:
        validate.choice("way", self.way, ("regression", "direct"))
        super()._check_options()

    _instead = "drop those samples, or use sdpdr.SDA, which learns from them too"

    def _target(self, y: Any, n: int) -> Any:
        return super()._target(None if y is None else as_vector(y), n)

    def _learn(self, X: Any, y: Any, kind: str) -> None:
        pencil = self._pencil(kind, X, y)
        if self.way == "direct":
            self.mapping_ = self._solve_directly(X, y, pencil)
        else:
            self.mapping_, _ = self._regress(X, y, pencil)
        if self.orthonormal:
            self._orthonormalize(X)
        self.components_, self.intercept_ = self.mapping_.coef.T, self.mapping_.intercept
        self.n_components_ = len(self.components_)

    def _solve_directly(self, X: Matrix, y: np.ndarray | None, pencil: Pencil) -> LinearMapping:
        alpha = fixed_ridge(self.alpha, is_quick(X))
        self.alpha_ = ALPHA if alpha is None else alpha
        if alpha is None and y is not None and self.responses != "semisupervised":
            classes = class_pencil(y)
            responses = graph_embedding(classes, default_dimension(y, classes)).vectors
            self.alpha_ = float(pencil.totals.mean()) * choose_ridge(X, responses).alpha
        found = linear_embedding(
            X, pencil, self.n_components, self.alpha_, default=default_dimension(y, pencil)
        )
        self.eigenvalues_: Any = found.eigenvalues
        return found

    def _orthonormalize(self, X: Matrix) -> None:
        """Orthonormal columns with the same spans, up to the first that depends on those before."""
        basis, R = np.linalg.qr(self.mapping_.coef)
        free = np.abs(np.diag(R)) > ROUNDING * np.linalg.norm(R, axis=0)
        most = int(np.argmin(np.append(free, False)))
        if self.n_components is not None:
            why = "since no more of the directions found are independent"
            validate.positive_integer("n_components", self.n_components, at_most=most, why=why)
        coef = (basis * np.sign(np.diag(R)))[:, :most]
        self.eigenvalues_ = self.eigenvalues_[:most]
        self.mapping_ = LinearMapping(coef, -np.ravel(X.mean(axis=0)) @ coef)


@dataclass(eq=False, repr=False)
class LPP(GraphProjection):
    """Locality preserving projections: neighbours attract.

    With labels, neighbours are searched within classes. If each class is connected, the responses
    are those of `LDA`, but their mean weights samples by their numbers of neighbours.

    Parameters
    ----------
    n_components, n_neighbors, metric, weights, connect, alpha, way, orthonormal
        As for `sdpdr.estimators.GraphProjection`, which documents the attributes, too.

    References
    ----------
    X. He and P. Niyogi, "Locality preserving projections", NIPS 2003; Cai thesis, (2.7).

    Examples
    --------
    >>> from sdpdr import LPP
    >>> from sklearn.datasets import load_iris
    >>> LPP(n_components=2).fit_transform(load_iris().data).shape
    (150, 2)
    """

    _: KW_ONLY
    n_neighbors: int = 5
    metric: str = "euclidean"
    weights: str = "binary"
    connect: str = "none"

    responses = "laplacian"


@dataclass(eq=False, repr=False)
class NPE(GraphProjection):
    """Neighbourhood preserving embedding: samples follow their neighbours.

    Parameters
    ----------
    n_components, n_neighbors, metric, connect, alpha, way, orthonormal
        As for `sdpdr.estimators.GraphProjection`, which documents the attributes, too.

    References
    ----------
    X. He, D. Cai, S. Yan and H.-J. Zhang, "Neighborhood preserving embedding", ICCV 2005; Cai
    thesis, (2.2).

    Examples
    --------
    >>> from sdpdr import NPE
    >>> from sklearn.datasets import load_wine
    >>> NPE(n_components=2).fit_transform(load_wine().data).shape
    (178, 2)
    """

    _: KW_ONLY
    n_neighbors: int = 5
    metric: str = "euclidean"
    connect: str = "none"

    responses = "reconstruction"


@dataclass(eq=False, repr=False)
class IsoProjection(GraphProjection):
    """Isometric projection: distances along the graph, by a linear map.

    Labels are ignored, except for the default number of components.

    Parameters
    ----------
    n_components, n_neighbors, metric, alpha, way
        As for `sdpdr.estimators.GraphProjection`, which documents the attributes, too.
    orthonormal : bool, default True
        Components are sorted by the spread of the distances along them before they are made
        orthonormal.
    connect : {"none", "mst", "bridges"}, default "bridges"
        How the components of the graph are joined, since all points must be.

    References
    ----------
    D. Cai, X. He and J. Han, "Isometric projection", AAAI 2007; Cai thesis, (2.4).

    Examples
    --------
    >>> from sdpdr import IsoProjection
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

    responses = "geodesic"


@dataclass(eq=False, repr=False)
class LSDA(GraphProjection):
    """Locality sensitive discriminant analysis.

    Neighbours of one class attract, those of other classes repel.

    A sample without a neighbour of its class is only kept apart from its neighbours of other
    classes, with an `AddedEdgesWarning` that names it.

    Parameters
    ----------
    n_components, metric, weights, connect, alpha, smoothing, orthonormal
        As for `sdpdr.estimators.GraphProjection`, which documents the attributes, too.
    n_neighbors : int, default 10
    way : {"regression", "direct"}, default "direct"
        Its responses are concentrated where classes meet, far from linear functions.

    References
    ----------
    D. Cai, X. He, K. Zhou, J. Han and H. Bao, "Locality sensitive discriminant analysis", IJCAI
    2007; Cai thesis, (2.26)-(2.33).

    Examples
    --------
    >>> from sdpdr import LSDA
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LSDA(n_components=2, n_neighbors=8).fit(X, y).transform(X).shape
    (150, 2)
    """

    _: KW_ONLY
    n_neighbors: int = 10
    metric: str = "euclidean"
    weights: str = "binary"
    connect: str = "none"
    smoothing: float = 0.1
    way: str = "direct"

    responses = "contrast"


# -- discriminants ---------------------------------------------------------------------------------


class Discriminant(ClassifierMixin, GraphProjection):  # type: ignore[misc]  # as elsewhere
    """Base of maps learned from classes, which predict the class of the nearest mean."""

    def fit(self, X: Any, y: Any = None) -> Discriminant:
        """Learn the map, and the means of the classes.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, m)
        y : array_like of shape (n,)
            Labels.

        Returns
        -------
        self
        """
        is_partly = self.responses == "semisupervised"
        known: Any = slice(None)
        if y is not None:
            y = as_vector(y)
            require_classes(y)
            warn_of_many(y)
            if is_partly:
                warn_of_signs(y)
                known = ~unknown(y)
                classes, codes = distinct(y[known])
                y = np.full(y.size, UNKNOWN)
                y[known] = codes
        super().fit(X, y)
        if not is_partly:
            classes, codes = distinct(y)
        # Beside None or nan, labels are objects or floats; classes have the type of the others.
        self.classes_ = np.array(classes.tolist()) if is_partly else classes
        embedded = np.asarray(self.transform(X), dtype=float)[known]
        member = codes == np.arange(classes.size)[:, None]
        self.means_ = member @ embedded / member.sum(axis=1)[:, None]
        # Lengths in units of the spread within classes.
        least = ROUNDING * max(float(embedded.var()), np.finfo(float).tiny)
        within = np.atleast_2d(np.cov((embedded - self.means_[codes]).T, bias=True))
        self._units = np.linalg.inv(np.linalg.cholesky(within + least * np.eye(len(within)))).T
        return self

    def predict(self, X: Any) -> Any:
        """The class of the nearest mean, in units of the spread within classes; shape (q,)."""
        embedded = np.asarray(self.transform(X))
        nearest = pairwise_distances_argmin(embedded @ self._units, self.means_ @ self._units)
        return self.classes_[nearest]


@dataclass(eq=False, repr=False)
class LDA(Discriminant):
    """Regularized linear discriminant analysis: samples of a class attract.

    Columns come in the order of separation: each has the largest spread between classes, relative
    to its total spread and the ridge, of what those before it leave. ``eigenvalues_`` are these
    shares, at most one.

    Parameters
    ----------
    n_components, alpha, way, orthonormal
        As for `sdpdr.estimators.GraphProjection`, which documents the other attributes, too. No
        predicted class depends on ``orthonormal``.

    Attributes
    ----------
    classes_, means_ : array
        The classes, and their means in the embedding.

    References
    ----------
    Cai thesis, (2.10)-(2.19).

    Examples
    --------
    >>> from sdpdr import LDA
    >>> from sklearn.datasets import load_iris
    >>> LDA().fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    responses = "classes"


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
    n_components, n_neighbors, metric, weights, connect, alpha, smoothing
        As for `sdpdr.estimators.GraphProjection`.
    way, orthonormal
        As for `sdpdr.estimators.GraphProjection`.

    References
    ----------
    D. Cai, X. He and J. Han, "Semi-supervised discriminant analysis", ICCV 2007; Cai thesis,
    (2.20)-(2.25).

    Examples
    --------
    >>> from sdpdr import SDA
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
    connect: str = "none"
    smoothing: float = 0.1

    responses = "semisupervised"
    _instead = "mark unknown labels by -1, None, nan or a blank"
