"""Linear maps of the graph-embedding family: projections, and discriminants among them."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import (
    DataError,
    DuplicatePointsWarning,
    ShapeError,
    UnlikeColumnsWarning,
)
from sdpdr.base.estimators import Transformer, as_precise, checked
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
from sdpdr.families.limits import NEGLIGIBLE, ROUNDING
from sdpdr.families.regress.embedding import graph_embedding, linear_embedding, untied
from sdpdr.families.regress.pencils import (
    METRICS,
    Pencil,
    class_pencil,
    contrast_pencil,
    geodesic_pencil,
    laplacian_pencil,
    reconstruction_pencil,
    semisupervised_pencil,
    within_classes,
)
from sdpdr.families.regress.ridge import (
    ALPHA,
    LinearMapping,
    choose_ridge,
    is_quick,
    require_ridge,
    ridge,
)
from sdpdr.graphs import knn
from sdpdr.linalg.spectral import fix_signs, gram_spectrum

WEIGHTS = ("binary", "heat", "cosine")
CONNECT = ("none", "mst", "bridges")
LABELLED = ("given", "classes", "semisupervised", "contrast")
# Kinds of pencils that use classes if there are any, and have no meaning for unknown labels.
OF_CLASSES = ("classes", "contrast", "laplacian", "reconstruction")


class OfGraphs(Transformer):
    """The base of `GraphProjection` and `sdpdr.SpectralRegression`: pencils, and regression."""

    n_components: int | None = None
    alpha: float | str = "auto"
    penalty: Any = None
    cardinality: int | None = None
    n_neighbors: int = 5
    metric: str = "euclidean"
    weights: str = "binary"
    connect: str = "none"
    smoothing: float = 0.1
    # The kernel map that is enlarged, with kernel values of new samples, during a `partial_fit`.
    _grown: Any = None

    def _check_options(self) -> None:
        validate.choice("connect", self.connect, CONNECT)
        validate.choice("metric", self.metric, METRICS)
        validate.choice("weights", self.weights, WEIGHTS)
        require_ridge(self.alpha)

    def _pencil(self, kind: str, X: Any, y: Any) -> Pencil:
        """The pencil of a kind; neighbours are searched within classes if y is given."""
        if kind not in ("laplacian", "semisupervised", "contrast") and self.weights != "binary":
            raise DataError(
                f"weights={self.weights!r}: the responses {kind!r} are not made of weights of "
                "edges. Leave it out."
            )
        if kind == "classes":
            return class_pencil(y)
        smoothing = validate.real("smoothing", self.smoothing)
        make: Any = {
            "laplacian": partial(laplacian_pencil, weights=self.weights),
            "reconstruction": reconstruction_pencil,
            "geodesic": geodesic_pencil,
            "contrast": partial(contrast_pencil, y=y, share=smoothing, weights=self.weights),
            "semisupervised": partial(
                semisupervised_pencil, y=y, alpha=smoothing, weights=self.weights
            ),
        }[kind]
        with warnings.catch_warnings():
            # The estimator has warned about the columns of the data as they were passed.
            warnings.simplefilter("ignore", UnlikeColumnsWarning)
            # Pencils have a row for each sample, whether or not samples share a node.
            warnings.simplefilter("ignore", DuplicatePointsWarning)
            if kind in ("laplacian", "reconstruction") and y is not None:
                return within_classes(make, X, y, self.n_neighbors, self.metric)
            search = partial(knn, X, metric=self.metric, connect=self.connect)
            return make(validate.all_if_few(self.n_neighbors, search)[0])

    def _target(self, y: Any, n: int, instead: str, columns: bool = False) -> Any:
        """The target of n samples, if any; a single column as a vector unless ``columns``."""
        if y is None:
            return None
        y = np.asarray(y)
        if y.shape[:1] != (n,):
            raise ShapeError(
                f"Found input variables with inconsistent numbers of samples: X has {n} rows, y "
                f"has shape {y.shape}."
            )
        require_known(y, instead)
        return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 and not columns else y

    def _dimension(self, pencil: Pencil, y: np.ndarray | None, columns: int) -> int:
        """The number of directions, by default one less than there are classes."""
        default, why = default_dimension(y, pencil), f"since X has {self.n_features_in_} columns"
        most = columns
        if pencil.factor is not None:
            most, why = min(default, columns), f"{why} and classes have one response less"
        d = min(default, columns) if self.n_components is None else self.n_components
        return validate.positive_integer("n_components", d, at_most=most, why=why)

    def _regress(self, X: Any, y: Any, pencil: Pencil, columns: int) -> tuple[Any, Array]:
        """The map fitted to the responses of a pencil, and these; sets ``eigenvalues_``."""
        d = self._dimension(pencil, y, columns)
        labelled = pencil.factor is not None
        Y, values = graph_embedding(pencil, default_dimension(y, pencil) if labelled else d)
        mapping, fitted = self._fit_map(X, Y, pencil.totals)
        if labelled:
            values, turn = by_separation(pencil, Y, fitted)
            mapping, Y = mapping.turned(turn[:, :d]), Y @ turn[:, :d]
        self.eigenvalues_ = values[:d]
        return mapping, Y

    def _fit_map(self, X: Any, Y: Array, totals: Array | None) -> tuple[Any, Array]:
        """The linear map fitted to responses, and its values; sets ``alpha_``.

        ``totals`` are weights of the mean that is subtracted, equal ones by default.
        """
        alpha = self.alpha
        free = self.penalty is None and self.cardinality is None
        if alpha == "loo" or (alpha == "auto" and free and is_quick(X)):
            choice = choose_ridge(X, Y)
            self.alpha_ = choice.alpha
            if totals is None or np.all(totals == 1.0):
                return choice.mapping, choice.mapping(X)
        else:
            self.alpha_ = ALPHA if isinstance(alpha, str) else float(alpha)
        mapping = ridge(X, Y, self.alpha_, penalty=self.penalty, weights=totals)
        return mapping, mapping(X)


def require_labels(kind: str, y: Any) -> None:
    """Refuse a kind that needs labels without them."""
    if y is None and kind in LABELLED:
        raise DataError(
            f"{kind!r} responses requires y to be passed, but the target y is None. Pass a label "
            "for each sample, or choose responses that need none."
        )


def default_dimension(y: np.ndarray | None, pencil: Pencil) -> int:
    """One less than there are classes, and two at least if the pencil has more solutions."""
    if pencil.factor is not None:
        return int(pencil.factor.shape[1]) - 1
    return 2 if y is None else max(np.unique(y).size - 1, 2)


def by_separation(pencil: Pencil, Y: Array, fitted: Array) -> tuple[Array, Array]:
    r"""Shares of the spread between classes, and the rotation of responses to that order.

    With responses Y and fitted values F, each direction q has the largest spread between classes
    relative to its total spread and ridge, :math:`q^T Y^T F q`, of what those before it leave.
    """
    centre = pencil.totals @ fitted / pencil.totals.sum()
    means = pencil.factor.T @ (fitted - centre)
    total = (Y - Y.mean(axis=0)).T @ fitted
    spread, basis = gram_spectrum(total)
    wide = spread > NEGLIGIBLE * spread[0]
    white = basis[:, wide] / np.sqrt(spread[wide])
    shares, turn = gram_spectrum((means @ white).T @ means @ white)
    ordered = np.hstack([untied(shares, white @ turn), basis[:, ~wide]])
    turn = np.linalg.qr(ordered)[0]
    # Signs are those of the turned responses, which no basis of Y decides.
    turned = Y @ turn
    turn = turn * np.sign(np.sum(turned * fix_signs(turned), axis=0))
    return np.append(shares, np.zeros(int(np.sum(~wide)))), turn


@dataclass(eq=False, repr=False)
class GraphProjection(OfGraphs):
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

    def _learn(self, X: Any, y: Any) -> GraphProjection:
        validate.choice("way", self.way, ("regression", "direct"))
        self._check_options()
        near = self.kind != "classes" and self.metric == "euclidean"
        found = checked(self, X, by_distance=near, accept_sparse="csr", ensure_min_samples=3)
        X, y = validate.varying(found), None if y is None else as_vector(y)
        y = self._target(y, X.shape[0], self._instead)
        require_labels(self.kind, y)
        if y is not None and self.kind != "geodesic":
            require_classes(y)
        if y is not None and self.kind in OF_CLASSES:
            warn_of_mark(y, type(self).__name__)
        pencil = self._pencil(self.kind, X, y)
        if self.way == "direct":
            mapping = self._solve_directly(X, y, pencil)
        else:
            mapping, _ = self._regress(X, y, pencil, X.shape[1])
        self.components_, self.intercept_ = mapping.coef.T, mapping.intercept
        if self.orthonormal:
            self._orthonormalize(X)
        self.n_components_ = len(self.components_)
        return self

    @property
    def _instead(self) -> str:
        """Advice for unknown labels."""
        if self.kind == "semisupervised":
            return "mark unknown labels by -1, None, nan or a blank"
        return "drop those samples, or use sdpdr.SDA, which learns from them too"

    def _solve_directly(self, X: Matrix, y: np.ndarray | None, pencil: Pencil) -> LinearMapping:
        if not isinstance(self.alpha, str):
            self.alpha_ = float(self.alpha)
        elif y is None or self.kind == "semisupervised" or not (self.alpha == "loo" or is_quick(X)):
            self.alpha_ = ALPHA
        else:
            classes = class_pencil(y)
            responses = graph_embedding(classes, default_dimension(y, classes)).vectors
            self.alpha_ = float(pencil.totals.mean()) * choose_ridge(X, responses).alpha
        found = linear_embedding(
            X, pencil, self.n_components, self.alpha_, default=default_dimension(y, pencil)
        )
        assert found.eigenvalues is not None
        self.eigenvalues_ = found.eigenvalues
        return found

    def _orthonormalize(self, X: Matrix) -> None:
        """Orthonormal rows with the same spans, up to the first that depends on those before."""
        basis, R = np.linalg.qr(self.components_.T)
        free = np.abs(np.diag(R)) > ROUNDING * np.linalg.norm(R, axis=0)
        most = int(np.argmin(np.append(free, False)))
        if self.n_components is not None:
            why = "since no more of the directions found are independent"
            validate.positive_integer("n_components", self.n_components, at_most=most, why=why)
        self.components_ = (basis * np.sign(np.diag(R))).T[:most]
        self.eigenvalues_ = self.eigenvalues_[:most]
        self.intercept_ = -self.components_ @ np.ravel(X.mean(axis=0))

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

    kind: ClassVar[str] = "laplacian"


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

    kind: ClassVar[str] = "reconstruction"


@dataclass(eq=False, repr=False)
class IsoProjection(GraphProjection):
    """Isometric projection: distances along the graph, by a linear map.

    Labels are ignored, except for the default number of components.

    Parameters
    ----------
    n_components, n_neighbors, metric, alpha, way
        As for `sdpdr.estimators.GraphProjection`, which documents the attributes, too.
    orthonormal : bool, default True
        Components come in the order in which distances spread along them.
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

    kind: ClassVar[str] = "geodesic"


@dataclass(eq=False, repr=False)
class LSDA(GraphProjection):
    """Locality sensitive discriminant analysis: neighbours of a class against all others.

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

    kind: ClassVar[str] = "contrast"


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
        classes = None
        if y is not None:
            y = as_vector(y)
            require_classes(y)
            warn_of_many(y)
        if y is not None and self.kind == "semisupervised":
            warn_of_signs(y)
            known, codes = ~unknown(y), np.full(y.size, UNKNOWN)
            classes, codes[known] = distinct(y[known])
            y = codes
        self._learn(X, y)
        self._describe(X, y)
        if classes is not None:
            # Beside None or nan, labels are objects or floats; classes have the type of the others.
            self.classes_ = np.array(classes.tolist())
        return self

    def _describe(self, X: Any, y: np.ndarray) -> None:
        """Classes, their means in the embedding, and the spread within them."""
        known = y != UNKNOWN if self.kind == "semisupervised" else np.ones(len(y), dtype=bool)
        self.classes_, codes = np.unique(y[known], return_inverse=True)
        places = np.asarray(self.transform(X), dtype=float)[known]
        member = codes == np.arange(self.classes_.size)[:, None]
        self.means_ = member @ places / member.sum(axis=1)[:, None]
        # Lengths in units of the spread within classes.
        least = ROUNDING * max(float(places.var()), np.finfo(float).tiny)
        within = np.atleast_2d(np.cov((places - self.means_[codes]).T, bias=True))
        self._units = np.linalg.inv(np.linalg.cholesky(within + least * np.eye(len(within)))).T

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

    kind: ClassVar[str] = "semisupervised"
