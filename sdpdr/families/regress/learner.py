"""The base of estimators that solve a graph's pencil and fit a map to its solutions."""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.columns import warn_of_unlike_columns
from sdpdr.base.errors import (
    DataError,
    DuplicatePointsWarning,
    NotAcceptedError,
    ShapeError,
    UnlikeColumnsWarning,
)
from sdpdr.base.estimators import Transformer, as_precise, checked
from sdpdr.base.labels import require_known, warn_of_mark
from sdpdr.families.limits import NEGLIGIBLE, QUICK
from sdpdr.families.regress.embedding import graph_embedding, untied
from sdpdr.families.regress.kernel import (
    WIDTHS,
    choose_kernel,
    fit_kernel,
    kernel_values,
)
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
    choose_ridge,
    fixed_ridge,
    is_quick,
    require_ridge,
    ridge,
)
from sdpdr.graphs import knn
from sdpdr.graphs.weighing import WEIGHTS
from sdpdr.linalg.spectral import fix_signs, gram_spectrum

CONNECT = ("none", "mst", "bridges")
LABELLED = ("given", "classes", "semisupervised", "contrast")
# Kinds of pencils that use classes if there are any, and have no meaning for unknown labels.
OF_CLASSES = ("classes", "contrast", "laplacian", "reconstruction")


class PencilLearner(Transformer):
    """Base of `GraphProjection` and `sdpdr.SpectralRegression`.

    Subclasses are dataclasses. An option that is no field of theirs has the value given here.
    """

    responses: Any
    n_components: int | None = None
    alpha: float | str = "auto"
    penalty: Any = None
    cardinality: int | None = None
    kernel: Any = None
    gamma: float | None = None
    n_neighbors: int = 5
    metric: str = "euclidean"
    weights: str = "binary"
    connect: str = "none"
    smoothing: float = 0.1
    # What to do about labels that are missing, for the error that names them.
    _instead: ClassVar[str] = "mark unknown labels by -1"

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the responses and regress on them.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, m), or kernel matrix (n, n)
            Sparse data stay sparse: their mean is subtracted in products.
        y : array_like of shape (n,) or (n, d), optional
            Labels, or an embedding. With labels, neighbours of ``"laplacian"`` (`sdpdr.LPP`) and
            ``"reconstruction"`` (`sdpdr.NPE`) are searched within the classes.

        Returns
        -------
        self
        """
        self._check_options()
        found = checked(self, X, accept_sparse=self._sparse_allowed, ensure_min_samples=2)
        points = found if self._is_precomputed else validate.varying(found)
        target = self._target(y, points.shape[0])
        kind = self._kind(target)
        if self._goes_by_distance(kind):
            warn_of_unlike_columns(X)
        self._learn(points, target, kind)
        return self

    @abstractmethod
    def _learn(self, X: Any, y: Any, kind: str) -> None:
        """Set the attributes that follow from checked data."""

    def transform(self, X: Any) -> Array:
        """Coordinates of points, shape (q, n_components).

        Parameters
        ----------
        X : array_like or sparse array of shape (q, m), or kernel values to the samples, (q, n)
        """
        check_is_fitted(self, "mapping_")
        points = checked(self, X, accept_sparse=self._sparse_allowed, reset=False)
        if self.kernel is not None:
            points = kernel_values(self.kernel, points, self._X, self.gamma_)
        return as_precise(self.mapping_(points), X)

    # -- options and arguments ---------------------------------------------------------------------

    def _check_options(self) -> None:
        validate.choice("connect", self.connect, CONNECT)
        validate.choice("metric", self.metric, METRICS)
        validate.choice("weights", self.weights, WEIGHTS)
        require_ridge(self.alpha)

    def _target(self, y: Any, n: int) -> Any:
        """The target of n samples, if any; a single column of labels as a vector."""
        if y is None:
            return None
        y = np.asarray(y)
        if y.shape[:1] != (n,):
            raise ShapeError(
                f"Found input variables with inconsistent numbers of samples: X has {n} rows, y "
                f"has shape {y.shape}."
            )
        require_known(y, self._instead)
        is_column = y.ndim == 2 and y.shape[1] == 1 and self.responses != "given"
        return y[:, 0] if is_column else y

    def _kind(self, y: Any) -> str:
        """The kind of responses, if y is passed where it is needed."""
        kind, who = self._chosen_kind(y)
        if y is None and kind in LABELLED:
            raise DataError(
                f"{kind!r} responses requires y to be passed, but the target y is None. Pass a "
                "label for each sample, or choose responses that need none."
            )
        if y is not None and kind in OF_CLASSES:
            warn_of_mark(y, who)
        return kind

    def _chosen_kind(self, y: Any) -> tuple[str, str]:
        """The kind of responses, and what chose it, for warnings."""
        return self.responses, type(self).__name__

    def _goes_by_distance(self, kind: str) -> bool:
        """Whether the map depends on Euclidean distances."""
        if self.kernel is not None:
            return isinstance(self.kernel, str) and self.kernel in ("rbf", "laplacian")
        by_graph = isinstance(self.responses, str) and kind not in ("classes", "given")
        return by_graph and self.metric == "euclidean"

    @property
    def _sparse_allowed(self) -> str | bool:
        return "csr" if self.kernel is None else False

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    # -- responses, and the map that is fitted to them ---------------------------------------------

    def _pencil(self, kind: str, X: Any, y: Any) -> Pencil:
        """The pencil of a kind; neighbours are searched within classes if y is given."""
        if kind not in ("laplacian", "semisupervised", "contrast") and self.weights != "binary":
            raise DataError(
                f"weights={self.weights!r}: the responses {kind!r} are not made of weights of "
                "edges. Leave it out."
            )
        if kind == "classes":
            return class_pencil(y)
        if self._is_precomputed:
            raise NotAcceptedError(
                "neighbours cannot be searched in a kernel matrix: pass a Pencil, or labels."
            )
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

    def _regress(self, X: Any, y: Any, pencil: Pencil) -> tuple[Any, Array]:
        """The map fitted to the responses of a pencil, and these; sets ``eigenvalues_``."""
        if pencil.n != X.shape[0]:
            raise ShapeError(f"the pencil has {pencil.n} samples, X has {X.shape[0]}.")
        d = self._dimension(pencil, y, X.shape[1] if self.kernel is None else sys.maxsize)
        labelled = pencil.factor is not None
        Y, values = graph_embedding(pencil, default_dimension(y, pencil) if labelled else d)
        mapping, fitted = self._fit_map(X, Y, pencil.totals)
        if labelled:
            values, rotation = by_separation(pencil, Y, fitted)
            mapping, Y = mapping.rotated(rotation[:, :d]), Y @ rotation[:, :d]
        self.eigenvalues_ = values[:d]
        return mapping, Y

    def _dimension(self, pencil: Pencil, y: np.ndarray | None, columns: int) -> int:
        """The number of directions, by default one less than there are classes."""
        default, why = default_dimension(y, pencil), f"since X has {self.n_features_in_} columns"
        most = columns
        if pencil.factor is not None:
            most, why = min(default, columns), f"{why} and classes have one response less"
        d = min(default, columns) if self.n_components is None else self.n_components
        return validate.positive_integer("n_components", d, at_most=most, why=why)

    def _fit_map(self, X: Any, Y: Array, totals: Array | None) -> tuple[Any, Array]:
        """The map fitted to responses, and its values; sets ``alpha_``, and ``gamma_`` of a kernel.

        ``totals`` are weights of the mean that a linear map subtracts, equal ones by default.
        """
        if self.kernel is not None:
            mapping = self._fit_kernel_map(X, Y)
            return mapping, mapping.fitted
        # A sparse map is fitted about plain means, and so is the one that orders its responses.
        is_plain = self.cardinality is not None or totals is None or bool(np.all(totals == 1.0))
        may_choose = self.penalty is None and self.cardinality is None
        alpha, linear = fixed_ridge(self.alpha, may_choose and is_quick(X)), None
        if alpha is None:
            choice = choose_ridge(X, Y)
            alpha, linear = choice.alpha, choice.mapping
        if linear is None or not is_plain:
            weights = None if is_plain else totals
            linear = ridge(X, Y, alpha, penalty=self.penalty, weights=weights)
        self.alpha_ = alpha
        return linear, linear(X)

    def _fit_kernel_map(self, X: Any, Y: Array) -> Any:
        typical = max(2.0 * float(np.sum(np.var(X, axis=0))), np.finfo(float).tiny)
        self.gamma_ = 1.0 / (2.0 * typical) if self.gamma is None else float(self.gamma)
        alpha = fixed_ridge(self.alpha, X.shape[0] <= QUICK)
        if alpha is None:
            gammas = [self.gamma_]
            if self.gamma is None and self.kernel == "rbf":
                gammas = [width / typical for width in WIDTHS]
            choice = choose_kernel(partial(kernel_values, self.kernel, X, X), Y, gammas)
            alpha, self.gamma_ = choice.delta, choice.gamma
        self.alpha_ = alpha
        return fit_kernel(kernel_values(self.kernel, X, X, self.gamma_), Y, alpha)

    @property
    def _n_features_out(self) -> int:
        return int(self.mapping_.intercept.size)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._sparse_allowed)
        tags.input_tags.pairwise = self._is_precomputed
        tags.target_tags.required = self.responses in LABELLED
        return tags


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
    if not wide.any():  # all classes have one mean, so that the map is constant
        return spread, np.eye(spread.size)
    white = basis[:, wide] / np.sqrt(spread[wide])
    shares, rotation = gram_spectrum((means @ white).T @ means @ white)
    ordered = np.hstack([untied(shares, white @ rotation), basis[:, ~wide]])
    rotation = np.linalg.qr(ordered)[0]
    # Signs are those of the rotated responses, which no basis of Y decides.
    rotated = Y @ rotation
    rotation = rotation * np.sign(np.sum(rotated * fix_signs(rotated), axis=0))
    return np.append(shares, np.zeros(int(np.sum(~wide)))), rotation
