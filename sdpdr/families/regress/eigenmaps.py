"""Laplacian eigenmaps of a kernel, for objects without coordinates, old and new."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, euclidean_distances
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, DisconnectedGraphError
from sdpdr.base.estimators import Transformer, as_precise, checked
from sdpdr.base.parameters import require_kernel
from sdpdr.base.rows import listed
from sdpdr.families.limits import ROUNDING
from sdpdr.families.regress.embedding import graph_embedding
from sdpdr.families.regress.kernel import kernel_values
from sdpdr.families.regress.pencils import Pencil


@dataclass(eq=False, repr=False)
class KernelEigenmaps(Transformer):
    r"""Laplacian eigenmaps whose weights are a sparse kernel matrix.

    .. math:: \min_X \sum_{ij} w_{ij} |x_i - x_j|^2 \quad\text{subject to}\quad
              X^T D X = I,\ X^T D \mathbf 1 = 0, \qquad D = \operatorname{diag}(W \mathbf 1) .

    W keeps those entries of the matrix :math:`k(y_i, y_j)`, its diagonal included, that are among
    the ``n_neighbors`` + 1 largest of either row. Only the kernel is used, so objects need not be
    vectors. Solutions satisfy :math:`W x = \lambda D x`, which places a new object z, with the
    values w(z) of the kernel that the same rule keeps; for an object of the fit these are its
    coordinates, exactly:

    .. math:: x(z) = \frac{\sum_j w_j(z)\, x_j}{\lambda \sum_j w_j(z)}

    Parameters
    ----------
    n_components : int, default 2
    n_neighbors : int, optional
        From 1 to n - 1; by default the smallest number with which the graph is connected.
    kernel : str or callable, default "rbf"
        As in scikit-learn, or ``"precomputed"``.
    gamma : float, optional
        Width of the kernel. For ``"rbf"``, one over twice the median of the squared distances by
        default; scikit-learn's own default for others.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        With :math:`X^T D X = I`.
    eigenvalues_ : array of shape (n_components,)
        :math:`\lambda`, largest first and below one; :math:`1 - \lambda` is the energy of each.
    weights_ : sparse array of shape (n, n)
    n_neighbors_ : int
    gamma_ : float, or None
    n_features_in_ : int

    Raises
    ------
    DataError, DisconnectedGraphError, UnknownNameError
        From `fit`: negative weights, a disconnected graph, an unknown kernel, or more components
        than positive eigenvalues.

    References
    ----------
    Review of dimensionality reduction, section 2.5, whose text prints the constraint as
    :math:`X^T D X = 1` and a solution of d + 1 columns; Bengio and others, NIPS 16 (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import KernelEigenmaps
    >>> from sdpdr import datasets
    >>> X, _ = datasets.s_curve(80)
    >>> maps = KernelEigenmaps().fit(X)
    >>> bool(np.allclose(maps.transform(X), maps.embedding_))
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = None
    kernel: Any = "rbf"
    gamma: float | None = None

    def fit(self, X: Any, y: Any = None) -> KernelEigenmaps:
        """Find the coordinates of objects; y is ignored.

        Parameters
        ----------
        X : array_like of shape (n, m), or kernel matrix (n, n)
        """
        require_kernel(self.kernel, ("precomputed", *PAIRWISE_KERNEL_FUNCTIONS))
        near = self.kernel in ("rbf", "laplacian")
        self._X = X = checked(self, X, by_distance=near, ensure_min_samples=2)
        self.gamma_ = self.gamma
        if self.kernel == "rbf" and self.gamma is None:
            squares = euclidean_distances(X, squared=True)[np.triu_indices(len(X), 1)]
            apart = squares[squares > 0.0]
            self.gamma_ = 0.5 / float(np.median(apart)) if apart.size else 1.0
        kernel = kernel_values(self.kernel, X, X, self.gamma_)
        if self.kernel == "precomputed":
            kernel = validate.symmetric("X", kernel)
        if self.n_neighbors is None:
            counts = range(1, len(X) - 1)
            enough = bisect_left(counts, True, key=lambda k: not _parts(kernel, k).any())
            self.n_neighbors_ = 1 + enough
        else:
            self.n_neighbors_ = validate.n_neighbors(self.n_neighbors, len(X))
        part = _parts(kernel, self.n_neighbors_)
        if part.any():
            nodes = [np.flatnonzero(part == p) for p in range(int(part.max()) + 1)]
            nodes.sort(key=len, reverse=True)
            raise DisconnectedGraphError(
                f"the kernel joins {len(part)} objects in {len(nodes)} parts, of sizes "
                f"{', '.join(str(len(p)) for p in nodes[:5])}. Use more neighbours or a wider "
                "kernel, or embed each part by itself.",
                nodes,
            )
        self._least = _rank_value(kernel, self.n_neighbors_)
        self.weights_ = _kept(kernel, self._least, self._least)
        pencil = Pencil(self.weights_, self.weights_.sum(axis=1), "kernel")
        self.embedding_, self.eigenvalues_ = graph_embedding(pencil, self.n_components)
        if self.eigenvalues_[-1] <= ROUNDING:
            raise DataError(
                f"component {len(self.eigenvalues_)} has the eigenvalue "
                f"{self.eigenvalues_[-1]:.3g}, by which new objects are divided: choose "
                f"n_components <= {int(np.sum(self.eigenvalues_ > ROUNDING))}."
            )
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the coordinates of objects and return them, shape (n, n_components)."""
        return as_precise(self.fit(X, y).embedding_, X)

    def transform(self, X: Any) -> Array:
        """Coordinates of objects, shape (q, n_components).

        Parameters
        ----------
        X : array_like of shape (q, m), or kernel values to the objects of the fit, (q, n)

        Raises
        ------
        DataError
            The kernel of an object with all of the fit is zero.
        """
        check_is_fitted(self, "embedding_")
        points = checked(self, X, reset=False)
        kernel = kernel_values(self.kernel, points, self._X, self.gamma_)
        weights = _kept(kernel, _rank_value(kernel, self.n_neighbors_), self._least)
        totals = np.asarray(weights.sum(axis=1))
        lost = np.flatnonzero(~(totals > 0.0))
        if lost.size:
            raise DataError(
                f"the kernel joins rows {listed(lost)} to no object of the fit. Use a wider "
                "kernel, or leave them out."
            )
        return as_precise(weights @ self.embedding_ / (totals[:, None] * self.eigenvalues_), X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _rank_value(kernel: Array, n_neighbors: int) -> Array:
    """The (k + 1)-th largest value of each row, the object itself counted."""
    position = kernel.shape[1] - 1 - n_neighbors
    return np.asarray(np.partition(kernel, position, axis=1)[:, position])


def _kept(kernel: Array, of_rows: Array, of_columns: Array) -> sp.csr_array:
    """Values that reach the least kept value of their row or column, ties included."""
    least = np.minimum(of_rows[:, None], of_columns)
    weights = np.where(kernel >= least - ROUNDING * np.abs(least), kernel, 0.0)
    if np.any(weights < 0.0):
        i, j = np.argwhere(weights < 0.0)[0]
        raise DataError(
            f"the kernel is {weights[i, j]:.3g} between objects {i} and {j}; expected weights of 0 "
            "or more. Use fewer neighbours, or a kernel without negative values."
        )
    return sp.csr_array(weights)


def _parts(kernel: Array, n_neighbors: int) -> Array:
    """The connected component of every object, with this number of neighbours."""
    kernel = np.maximum(kernel, 0.0)
    least = _rank_value(kernel, n_neighbors)
    return np.asarray(connected_components(_kept(kernel, least, least), directed=False)[1])
