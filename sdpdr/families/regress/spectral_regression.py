"""Spectral regression with scikit-learn's face: an embedding learned as a function."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.columns import warn_of_unlike_columns
from sdpdr.base.errors import DataError, NotAcceptedError, ShapeError
from sdpdr.base.estimators import Provided, as_precise, checked
from sdpdr.base.labels import warn_of_mark
from sdpdr.base.parameters import require_kernel
from sdpdr.base.weights import weighing
from sdpdr.families.regress.kernel import WIDTHS, KernelMapping, choose_kernel, extended, fit_kernel
from sdpdr.families.regress.leave_out import (
    ALPHA,
    DECOMPOSED,
    choose_ridge,
    is_quickly_left_out,
    require_ridge,
)
from sdpdr.families.regress.pencil import Pencil
from sdpdr.families.regress.respond import (
    KINDS,
    LABELLED,
    OF_CLASSES,
    Responding,
    Responses,
    checked_target,
    kind_of,
)
from sdpdr.families.regress.ridge import LinearMapping, ridge
from sdpdr.families.regress.sparse import sparse_path
from sdpdr.families.regress.weights import laplacian_pencil
from sdpdr.graphs import NeighborGraph

# Responses of samples, not of pairs of them.
_OF_SAMPLES = ("classes", "semisupervised", "given")


def _variances(X: Array, weights: Array | None) -> Array:
    """Of every column."""
    return np.average(
        np.square(X - np.average(X, axis=0, weights=weights)), axis=0, weights=weights
    )


def _require_kernel(estimator: SpectralRegression) -> None:
    if estimator.kernel is None or estimator.cardinality is not None:
        raise AttributeError(
            "samples are added to a kernel map with a ridge only: pass kernel='rbf' or another, "
            "and no cardinality."
        )


@dataclass(eq=False, repr=False)
class SpectralRegression(Responding):
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
    alpha: float | str = "auto"
    penalty: Any = None
    cardinality: int | None = None
    kernel: Any = None
    gamma: float | None = None
    solver: str = "auto"

    mapping_: LinearMapping | KernelMapping = field(init=False)

    # -- fitting ----------------------------------------------------------------------------------

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
        return self._regress(points, self._respond(points, y, weights))

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
        return self._keep(everything)

    @property
    def _is_precomputed(self) -> bool:
        """Whether X holds values of a kernel."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

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
            if value is not None:
                setattr(self, name, value)
        return found

    # -- regression -------------------------------------------------------------------------------

    def _regress(self, X: Any, found: Responses) -> SpectralRegression:
        self._leaves_out = self._is_left_out(X)
        self.alpha_ = ALPHA if isinstance(self.alpha, str) else float(self.alpha)
        inputs, weights = X, found.sample_weight
        if self.kernel is not None:
            self._choose_width(X)
            inputs = self._kernel(X, X)
        elif self._leaves_out:
            self.alpha_ = choose_ridge(X, self.responses_, sample_weight=weights).alpha
        if self.cardinality is None:
            mapping = self._dense(inputs, found)
            fitted = mapping.fitted if isinstance(mapping, KernelMapping) else mapping(inputs)
            self.mapping_ = mapping.turned(self._order(found, fitted))
        else:
            if found.labels is not None:
                plain = ridge(inputs, self.responses_, self.alpha_, sample_weight=weights)
                self._order(found, plain(inputs))
            self.mapping_ = self._sparse(inputs)
        return self._keep(X)

    def _dense(self, inputs: Any, found: Responses) -> LinearMapping | KernelMapping:
        """By a ridge, of all responses."""
        if self.kernel is not None:
            return fit_kernel(
                inputs, self.responses_, self.alpha_, sample_weight=found.sample_weight
            )
        return ridge(
            inputs,
            self.responses_,
            self.alpha_,
            penalty=self.penalty,
            weights=found.masses,
            sample_weight=found.sample_weight,
            solver=self.solver,
        )

    def _order(self, found: Responses, fitted: Array) -> Array:
        """Turn responses of classes to the order of separation, and cut them; others stay."""
        if found.labels is None:
            return np.eye(self.responses_.shape[1])
        self.eigenvalues_, turn = self._ordered(found, fitted)
        self.responses_ = self.responses_ @ turn
        return turn

    def _is_left_out(self, X: Any) -> bool:
        """Whether the ridge is chosen by leaving out."""
        if self.alpha != "auto":
            return self.alpha == "loo"
        if self.cardinality is not None or self.penalty is not None:
            return False
        if self.kernel is not None:
            return bool(X.shape[0] <= DECOMPOSED)
        return is_quickly_left_out(X)

    def _sparse(self, X: Any) -> LinearMapping:
        """Each response on at most ``cardinality`` columns."""
        assert self.cardinality is not None
        k = self.cardinality
        options: dict[str, Any] = {"intercept": True, "sample_weight": self._weights}
        paths = [sparse_path(X, y, self.alpha_, k, **options) for y in self.responses_.T]
        coef = np.column_stack([path.of_cardinality(k) for path in paths])
        return LinearMapping.through_means(X, self.responses_, coef, "lars", self._weights)

    def _choose_width(self, X: Array) -> None:
        spread = 2.0 * float(np.mean(_variances(X, self._weights))) * X.shape[1]
        typical = max(spread, np.finfo(float).tiny)
        self.gamma_ = 1.0 / (2.0 * typical) if self.gamma is None else float(self.gamma)
        if not self._leaves_out:
            return
        gammas = [self.gamma_]
        if self.gamma is None and self.kernel == "rbf":
            gammas = [w / typical for w in WIDTHS]
        choice = choose_kernel(
            lambda g: self._kernel(X, X, g), self.responses_, gammas, None, self._weights
        )
        self.alpha_, self.gamma_ = choice.delta, choice.gamma

    def _kernel(self, X: Array, Z: Array, gamma: float | None = None) -> Array:
        if self._is_precomputed:
            return X
        options = {}
        if not callable(self.kernel):
            options = {"gamma": self.gamma_ if gamma is None else gamma, "filter_params": True}
        return np.asarray(pairwise_kernels(X, Z, metric=self.kernel, **options))

    def _keep(self, X: Any) -> SpectralRegression:
        self.intercept_ = self.mapping_.intercept
        self.solver_ = getattr(self.mapping_, "solver", "cholesky")
        if self.kernel is None:
            self.components_ = self.mapping_.coef.T
        else:
            self._X, self.dual_coef_ = X, self.mapping_.coef
        return self

    # -- using ------------------------------------------------------------------------------------

    def transform(self, X: Any) -> Array:
        """Places of points, shape (q, n_components).

        Parameters
        ----------
        X : array_like or sparse array of shape (q, m), or kernel values to the samples, (q, n)
        """
        check_is_fitted(self, "mapping_")
        points = checked(self, X, accept_sparse=self._sparse_allowed, reset=False)
        inputs = points if self.kernel is None else self._kernel(points, self._X)
        return as_precise(self.mapping_(inputs), X)

    def leave_one_out(self) -> Array:
        """Residuals of a kernel map at every sample when it is left out, (n, n_components).

        All of it, where it counts for several.
        """
        check_is_fitted(self, "mapping_")
        if not isinstance(self.mapping_, KernelMapping):
            raise NotAcceptedError("this is for kernel maps; see sdpdr.extend.choose_ridge.")
        return self.mapping_.leave_one_out()

    @property
    def _sparse_allowed(self) -> str | bool:
        return "csr" if self.kernel is None else False

    @property
    def _n_features_out(self) -> int:
        return int(self.responses_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._sparse_allowed)
        tags.input_tags.pairwise = self._is_precomputed
        tags.target_tags.required = self.responses in LABELLED
        return tags
