"""Linear maps of the graph-embedding family: one core."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.columns import UNKNOWN, warn_of_mark
from sdpdr.base.estimators import as_precise, checked
from sdpdr.families.regress.classes import class_responses
from sdpdr.families.regress.leave_out import ALPHA, choose_ridge, is_quickly_left_out
from sdpdr.families.regress.linear import linear_embedding
from sdpdr.families.regress.pencil import Pencil
from sdpdr.families.regress.respond import (
    LABELLED,
    OF_CLASSES,
    Responding,
    Responses,
    checked_target,
    default_dimension,
    kind_of,
)
from sdpdr.families.regress.ridge import LinearMapping, ridge

WAYS = ("regression", "direct")
# Share of the largest spread of distances that that of a direction has.
_SPREAD = 1e-9


@dataclass(eq=False, repr=False)
class GraphProjection(Responding):
    r"""Base of linear maps that solve a graph's pencil as well as linear functions can.

    .. math:: X^T W X a = \lambda\, (X^T D X + \gamma I)\, a

    is solved directly (``way="direct"``), or replaced by its responses and a ridge
    (``"regression"``). For labels alone the two find the same columns, of lengths of their own; for
    others they differ as the solutions y of the pencil differ from linear functions. Solutions of
    `LSDA` are far from linear ones, concentrated where classes meet, so that it is solved directly
    unless asked otherwise.

    Parameters
    ----------
    n_components : int, optional
        One less than there are classes for `LDA` and `SDA`, whose pencils have no more. Of the
        others two, or, with labels, one less than there are classes where that is more;
        `IsoProjection`, which heeds none, then keeps all directions along which distances spread.
        Never more than X has columns.
    n_neighbors : int, default 5
        Of `LSDA`, None: ten, or all others where there are fewer. Of fewer other points, or
        fewer of a class, all are taken, with a ``FewPointsWarning``.
    metric : {"euclidean", "cosine"}, default "euclidean"
        Of the search for neighbours, as for `sdpdr.graphs.knn`.
    weights : {"binary", "heat", "cosine"}, default "binary"
        Of the edges, as for `sdpdr.graphs.edge_weights`: of `LPP`, `SDA` and `LSDA`. The others
        are not made of weights of edges, and refuse any but the default.
    bandwidth : float, optional
        Of ``"heat"``; by default from the lengths of the edges.
    connect : {"none", "mst", "bridges"}, default "none"
        What to do with a graph of several parts: leave it, or add edges between them, as
        `sdpdr.graphs.knn` does. `IsoProjection` needs all points joined: default "bridges".
    alpha : float, "loo" or "auto", default "auto"
        The ridge of either way. ``"loo"`` chooses it by exact leave-one-out: of the regression on
        the responses, or, of the pencil solved directly, of that on the classes, in units of the
        mean degree. Where there is none (a pencil without labels) it is 0.1. ``"auto"`` does so for
        data of up to 2000 samples or columns and ten million entries, and is 0.1 for more.
    smoothing : float, default 0.1
        `SDA`: price of differing from neighbours. `LSDA`: share of repulsion.
    way : {"regression", "direct"}, default "regression"
        Of `LSDA`, "direct".
    random_state : int, RandomState or Generator, default 0

    Attributes
    ----------
    components_ : array of shape (n_components, m)
    intercept_ : array of shape (n_components,)
    eigenvalues_ : array of shape (n_components,)
        Of the samples' pencil, or of that among linear functions.
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

    _: KW_ONLY
    alpha: float | str = "auto"
    way: str = "regression"

    kind: ClassVar[str]

    def fit(self, X: Any, y: Any = None) -> GraphProjection:
        """Learn the map.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, m)
            Sparse data are never made dense: their mean is taken off in products.
        y : array_like of shape (n,), optional
            Labels. `LPP` and `NPE` search neighbours within the classes then.

        Returns
        -------
        self
        """
        validate.choice("way", self.way, WAYS)
        if isinstance(self.alpha, str):
            validate.choice("alpha", self.alpha, ("auto", "loo"))
        near = self.kind != "classes" and self.metric == "euclidean"
        options: dict[str, Any] = {"accept_sparse": "csr", "ensure_min_samples": 3}
        X = validate.varying(checked(self, X, by_distance=near, **options))
        y = None if y is None else column_or_1d(y, warn=True)
        labels = checked_target(y, X.shape[0], instead=self._instead)
        kind_of(labels, self.kind)
        if labels is not None and self.kind in OF_CLASSES:
            warn_of_mark(labels, type(self).__name__)
        if self.way == "direct":
            return self._directly(X, labels)
        found = self._responses(X, labels, self.kind)
        self.alpha_ = self._ridge(X, found.vectors)
        mapping = ridge(X, found.vectors, self.alpha_, weights=found.masses)
        return self._keep(X, found, mapping)

    @property
    def _instead(self) -> str:
        """What to do about labels that are not known."""
        if self.kind == "semisupervised":
            return "mark unknown labels by -1, None or nan"
        return "drop those samples, or take sdpdr.SDA, which learns of them too"

    def _keep(self, X: Matrix, found: Responses, mapping: LinearMapping) -> GraphProjection:
        """Keep what fits the responses found."""
        self.components_, self.intercept_ = mapping.coef.T, mapping.intercept
        self.eigenvalues_ = found.eigenvalues
        return self

    def _directly(self, X: Matrix, y: np.ndarray | None) -> GraphProjection:
        pencil, classes = self._pencil(X, y, self.kind), None
        if y is not None and self.kind != "semisupervised":
            classes = class_responses(y)
        self.alpha_ = self._ridge(X, classes, float(np.mean(pencil.totals)))
        most = self._most(X, y)
        found = linear_embedding(X, pencil, self.n_components, self.alpha_, most=most)
        d = self._kept(found.eigenvalues, y)
        coef = found.coef[:, :d]
        self.components_, self.intercept_ = coef.T, -found.mean @ coef
        self.eigenvalues_ = found.eigenvalues[:d]
        return self

    def _most(self, X: Matrix, y: np.ndarray | None) -> int:
        """How many directions solve the pencil where no number is asked."""
        if y is None or self.kind not in ("classes", "semisupervised"):
            return default_dimension(y)
        known = y != UNKNOWN if self.kind == "semisupervised" else np.full(y.shape, True)
        return max(np.unique(y[known]).size - 1, 1)

    def _kept(self, eigenvalues: Array, y: np.ndarray | None) -> int:
        """How many of them are kept."""
        return eigenvalues.size

    def _ridge(self, X: Matrix, responses: Array | None, unit: float = 1.0) -> float:
        if not isinstance(self.alpha, str):
            return float(self.alpha)
        chosen = self.alpha == "loo" or is_quickly_left_out(X)
        return ALPHA if responses is None or not chosen else unit * choose_ridge(X, responses).alpha

    def transform(self, X: Any) -> Array:
        """Places of points, shape (q, n_components)."""
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

    Parameters and attributes as of `sdpdr.estimators.GraphProjection`.

    References
    ----------
    X. He and P. Niyogi, "Locality preserving projections", NIPS 2003; Cai thesis, (2.7).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> LPP(n_components=2).fit_transform(load_iris().data).shape
    (150, 2)
    """

    kind = "laplacian"


@dataclass(eq=False, repr=False)
class NPE(GraphProjection):
    """Neighbourhood preserving embedding: samples follow their neighbours.

    Parameters and attributes as of `sdpdr.estimators.GraphProjection`.

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

    kind = "reconstruction"


@dataclass(eq=False, repr=False)
class IsoProjection(GraphProjection):
    """Isometric projection: distances along the graph, by a linear map.

    Components are orthonormal, in the order in which distances spread along them, so that no
    distance is longer than in the data. Those along which distances spread at all, which are kept
    by default where there are labels, are a turn of the data where no direction is left out; with
    more variables than samples some are.

    Parameters and attributes as of `sdpdr.estimators.GraphProjection`.

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
    connect: str = "bridges"

    kind: ClassVar[str] = "geodesic"

    def _keep(self, X: Matrix, found: Responses, mapping: LinearMapping) -> GraphProjection:
        return super()._keep(X, found, mapping)._turned(X)

    def _directly(self, X: Matrix, y: np.ndarray | None) -> GraphProjection:
        return super()._directly(X, y)._turned(X)

    def _turned(self, X: Matrix) -> GraphProjection:
        """With components orthonormal, one by one; of all, those that the others do not span."""
        basis, small = np.linalg.qr(self.components_.T)
        along = np.diag(small)
        kept = np.abs(along) > _SPREAD * np.linalg.norm(self.components_, axis=1)
        if self.n_components is not None:
            kept[:] = True
        self.components_ = (basis * np.where(along < 0.0, -1.0, 1.0)).T[kept]
        self.intercept_ = -self.components_ @ np.asarray(X.mean(axis=0)).ravel()
        self.eigenvalues_ = np.asarray(self.eigenvalues_)[kept]
        return self

    def _of_pencil(self, pencil: Pencil, X: Any, y: np.ndarray | None, default: int) -> Responses:
        found = super()._of_pencil(pencil, X, y, self._most(X, y))
        assert found.eigenvalues is not None
        d = self._kept(found.eigenvalues, y)
        return replace(found, vectors=found.vectors[:, :d], eigenvalues=found.eigenvalues[:d])

    def _most(self, X: Matrix, y: np.ndarray | None) -> int:
        return default_dimension(y) if y is None else min(X.shape[1], X.shape[0] - 1)

    def _kept(self, eigenvalues: Array, y: np.ndarray | None) -> int:
        if y is None or self.n_components is not None:
            return eigenvalues.size
        return max(int(np.sum(eigenvalues > _SPREAD * eigenvalues[0])), 1)


@dataclass(eq=False, repr=False)
class LSDA(GraphProjection):
    """Locality sensitive discriminant analysis: neighbours of a class against all others.

    A sample none of whose neighbours is of its class would weigh nothing. It is joined to the
    nearest sample of its class, with a warning that names it; the only one of a class to itself.

    Parameters and attributes as of `sdpdr.estimators.GraphProjection`.

    Warns
    -----
    AddedEdgesWarning
        Samples have no neighbour of their class.
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
    way: str = "direct"

    kind: ClassVar[str] = "contrast"
