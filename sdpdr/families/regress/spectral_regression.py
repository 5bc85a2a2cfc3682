"""Spectral regression: an embedding learned as a function."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS
from sklearn.utils.multiclass import type_of_target

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.base.labels import UNKNOWN, unknown, warn_of_signs
from sdpdr.base.parameters import require_kernel
from sdpdr.families.regress.learner import PencilLearner
from sdpdr.families.regress.penalties import sparse_path
from sdpdr.families.regress.pencils import Pencil
from sdpdr.families.regress.ridge import LinearMapping

KINDS = (
    "auto", "given", "classes", "semisupervised", "laplacian", "reconstruction", "geodesic",
    "contrast",
)  # fmt: skip


@dataclass(eq=False, repr=False)
class SpectralRegression(PencilLearner):
    r"""Spectral regression: responses from a graph or labels, then least squares.

    .. math::

        \max_y \frac{y^T W y}{y^T D y}, \qquad\text{then}\qquad
        \min_{a, b}\ |X a + b - y|^2 + \alpha |P a|^2 + \beta |a|_1
        \quad\text{or}\quad (K + \alpha I) a = y - b .

    The embedding is a function, so it maps new points, too. The eigenproblem is that of the
    samples alone, sparse or solved in closed form. The intercept b takes the D-weighted mean of the
    samples to that of their responses; if some labels are unknown, that is the mean of the labelled
    samples, from which the spread between classes is measured (Cai thesis, (2.24)).

    Parameters
    ----------
    n_components : int, optional
        By default one less than there are classes; for graphs two at least, or without labels; and
        no more than X has columns for linear functions; all columns of given responses. Responses
        ``"classes"`` and ``"semisupervised"`` come in the order of separation, as in `sdpdr.LDA`.
    responses : str or Pencil, default "auto"
        ``"classes"``: the labels y (discriminant analysis). ``"semisupervised"``: labels, -1 if
        unknown, carried along a graph. ``"contrast"``: neighbours of one class against those of
        others. ``"laplacian"`` and ``"reconstruction"``: the graph alone, searched within the
        classes if y is given.
        ``"geodesic"``: paths along the graph. ``"given"``: y is the embedding, (n, d).
        ``"auto"``: depends on y; without y ``"laplacian"``.
    n_neighbors, metric, weights, connect
        As for `sdpdr.estimators.GraphProjection`.
    alpha : float, "loo" or "auto", default "auto"
        The ridge; ``"loo"`` chooses it, and the width of an rbf kernel, by exact leave-one-out,
        without a penalty matrix or a cardinality.
        ``"auto"`` does so for data of up to 2000 samples or columns and ten million entries, and
        for kernels of up to 2000 samples; with a penalty matrix, a cardinality or more data it is
        0.1.
    penalty : array or sparse array of shape (p, m), optional
        P; see `sdpdr.extend.grid_laplacian` for images. The identity by default.
    cardinality : int, optional
        Largest number of nonzero coefficients of each component of linear functions, from a lasso
        or, with alpha > 0, an elastic net. If X is a kernel matrix, it limits the samples on
        which each function depends (Cai thesis, (5.7)).
    kernel : str or callable, optional
        As in scikit-learn, or ``"precomputed"``; linear functions by default.
    gamma : float, optional
        Width of the kernel; one over twice the mean squared distance by default.
    smoothing : float, default 0.1
        Penalty on differences of neighbours (``"semisupervised"``), or the share of
        repulsion (``"contrast"``).

    Attributes
    ----------
    components_ : array of shape (n_components, m)
        Coefficients of linear functions.
    dual_coef_ : array of shape (n, n_components)
        Coefficients of kernel functions.
    intercept_ : array of shape (n_components,)
    responses_ : array of shape (n, n_components)
        The coordinates that the map was fitted to.
    eigenvalues_ : array of shape (n_components,)
        Eigenvalues of the pencil or, with labels, the shares that `sdpdr.LDA` describes; absent for
        given responses.
    classes_ : array
        With labels.
    alpha_, gamma_ : float
        As used.
    n_features_in_ : int

    Raises
    ------
    DataError, ShapeError, UnknownNameError, NotAcceptedError, DisconnectedGraphError
        From `fit`.

    References
    ----------
    Cai thesis, chapters 3 to 6.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> import sdpdr
    >>> X, y = load_iris(return_X_y=True)
    >>> sdpdr.SpectralRegression().fit(X, y).transform(X).shape
    (150, 2)
    >>> sparse = sdpdr.SpectralRegression(cardinality=2).fit(X, y)
    >>> int(np.count_nonzero(sparse.components_, axis=1).max())
    2
    """

    n_components: int | None = None
    _: KW_ONLY
    responses: str | Pencil = "auto"
    n_neighbors: int = 5
    metric: str = "euclidean"
    weights: str = "binary"
    alpha: float | str = "auto"
    penalty: Any = None
    cardinality: int | None = None
    kernel: Any = None
    gamma: float | None = None
    connect: str = "none"
    smoothing: float = 0.1

    mapping_: Any = field(init=False)

    def _check_options(self) -> None:
        super()._check_options()
        if isinstance(self.responses, str):
            validate.choice("responses", self.responses, KINDS)
        elif not isinstance(self.responses, Pencil):
            raise DataError(
                f"responses={self.responses!r}: expected a name or a Pencil. For a graph, pass "
                "sdpdr.extend.laplacian_pencil(graph)."
            )
        if self.kernel is not None:
            require_kernel(self.kernel, ("precomputed", *PAIRWISE_KERNEL_FUNCTIONS))
            if self.penalty is not None or self.cardinality is not None:
                raise DataError(
                    "a penalty or cardinality applies to linear functions. Drop it, or pass the "
                    "kernel matrix as X and no kernel: its columns are then the features."
                )
        if self.cardinality is not None:
            validate.positive_integer("cardinality", self.cardinality)
            if self.penalty is not None:
                raise DataError("a cardinality needs no penalty matrix. Leave one of them out.")
        if self.alpha == "loo" and (self.penalty is not None or self.cardinality is not None):
            raise DataError(
                "alpha='loo' chooses a plain ridge, with no penalty matrix or cardinality. Pass a "
                "number alpha."
            )

    def _chosen_kind(self, y: Any) -> tuple[str, str]:
        if isinstance(self.responses, Pencil):
            return self.responses.name, type(self).__name__
        kind = self.responses
        if kind == "auto":
            if y is None:
                kind = "laplacian"
            elif y.ndim == 2 or type_of_target(y).startswith("continuous"):
                kind = "given"
            else:
                kind = "semisupervised" if unknown(y).any() else "classes"
            if kind == "semisupervised":
                warn_of_signs(y, "pass responses='semisupervised'")
        return kind, f"SpectralRegression(responses={kind!r})"

    def _learn(self, X: Any, y: Any, kind: str) -> None:
        mapping, Y = self._map_of_responses(X, y, kind)
        if self.cardinality is not None:
            mapping = self._fit_sparse(X, Y)
        self.__dict__.pop("classes_", None)  # of an earlier fit
        if y is not None and y.ndim == 1 and kind != "given":
            self.classes_ = np.unique(y[y != UNKNOWN] if kind == "semisupervised" else y)
        self.mapping_, self.intercept_, self.responses_ = mapping, mapping.intercept, Y
        if self.kernel is None:
            self.components_ = mapping.coef.T
        else:
            self._X, self.dual_coef_ = X, mapping.coef

    def _map_of_responses(self, X: Any, y: Any, kind: str) -> tuple[Any, Array]:
        """The map before it is made sparse, and the responses that it is fitted to."""
        if isinstance(self.responses, Pencil):
            return self._regress(X, None, self.responses)
        if kind != "given":
            return self._regress(X, y, self._pencil(kind, X, y))
        Y = np.asarray(y, dtype=float).reshape(len(y), -1)
        most, why = Y.shape[1], "columns of y"
        d = most if self.n_components is None else self.n_components
        Y = Y[:, : validate.positive_integer("n_components", d, at_most=most, why=why)]
        self.__dict__.pop("eigenvalues_", None)  # of an earlier fit
        return self._fit_map(X, Y, None)[0], Y

    def _fit_sparse(self, X: Any, Y: Array) -> LinearMapping:
        """Each response on at most ``cardinality`` columns."""
        k = self.cardinality
        assert k is not None
        paths = [sparse_path(X, y, self.alpha_, k) for y in Y.T]
        coef = np.column_stack([path.of_cardinality(k) for path in paths])
        return LinearMapping(coef, Y.mean(axis=0) - np.ravel(X.mean(axis=0)) @ coef)
