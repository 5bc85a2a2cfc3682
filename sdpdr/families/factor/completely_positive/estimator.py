"""Completely positive factorization of an affinity as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.neighbors import kneighbors_graph

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import in_seconds
from sdpdr.base.errors import DataError, UncertifiedWarning, warn
from sdpdr.base.estimators import Embedding, as_precise, note_columns
from sdpdr.base.parameters import seconds_for
from sdpdr.families.factor.completely_positive.factorize import CpStatus, completely_positive
from sdpdr.families.factor.completely_positive.symmetric import (
    best_square,
    eigenvalue_bound,
    square_residual,
)
from sdpdr.families.factor.nonnegative.copositive import obvious_certificate
from sdpdr.families.factor.nonnegative.inputs import symmetric_matrix


@dataclass(eq=False, repr=False)
class CompletelyPositive(
    ClusterMixin,  # type: ignore[misc]  # scikit-learn has no types
    Embedding,
):
    r"""Soft clusters from a nonnegative factor of an affinity, :math:`A = B B^T`, :math:`B \ge 0`.

    Without ``n_components`` the question is whether A has such a factor at all, and
    `sdpdr.factorize.completely_positive` answers it with a factor, a certificate, or neither; that
    is for matrices of a few dozen rows. With it, B has that many columns and is fitted by local
    searches, exactly or not: symmetric NMF.

    Parameters
    ----------
    n_components : int, optional
        Columns of B, the number of clusters.
    affinity : {"auto", "precomputed", "knn"}, default "auto"
        How A is made of X. ``"precomputed"``: X is A, such as a kernel matrix of scikit-learn.
        ``"knn"``: mutual neighbours have the weight one, others one half, and rows and columns are
        divided by the square roots of their sums, as for normalised cuts. ``"auto"``:
        ``"precomputed"`` if X has as many columns as rows, else ``"knn"``.
    n_neighbors : int, default 10
        For ``"knn"``; the point itself is the first.
    starts : int, default 5
        Random starts; without ``n_components``, for each number of columns tried.
    tol : float, default 1e-8
        Residual up to which A counts as factored.
    time_limit : float or None, default 10.0
        Seconds, without ``n_components``. If the time is over, the status is ``UNDECIDED``; "auto"
        is the default.
    random_state : int, RandomState or Generator, default 0

    Attributes
    ----------
    embedding_ : array of shape (n, k)
        B. Without ``n_components``, k is what was found; a refuted A may have no column.
    memberships_ : array of shape (n, k)
        Rows of B divided by their sums; rows of zeros stay.
    labels_ : array of shape (n,)
        The column with the largest entry; -1 for a row of zeros.
    affinity_matrix_ : array of shape (n, n)
        A.
    residual_ : float
        :math:`|A - B B^T|_F / |A|_F`.
    bound_ : float
        No B with as many columns fits better.
    status_ : CpStatus
        Status of A: ``CP`` if the residual is within ``tol``, ``NOT_CP`` with a certificate, else
        ``UNDECIDED``.
    certificate_ : Refutation or None
    n_features_in_ : int

    Raises
    ------
    DataError
        From `fit`: the affinity is not symmetric or not finite, or ``n_components`` exceeds n.

    Warns
    -----
    UncertifiedWarning
        The time limit ended the search before anything was decided.

    References
    ----------
    Vasiloglou thesis, section 4.2.8; D. Kuang, S. Yun and H. Park, "SymNMF: nonnegative low-rank
    approximation of a similarity matrix for graph clustering", Journal of Global Optimization 62,
    2015.

    Examples
    --------
    >>> import numpy as np
    >>> import sdpdr
    >>> A = [[2.0, 2.0, 0.0], [2.0, 3.0, 1.0], [0.0, 1.0, 2.0]]
    >>> found = sdpdr.CompletelyPositive().fit(A)
    >>> found.status_, bool(np.allclose(found.embedding_ @ found.embedding_.T, A))
    (CpStatus.CP, True)
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> X = [[0.0], [0.1], [5.0], [5.2]]
    >>> sdpdr.CompletelyPositive(2).fit(rbf_kernel(X)).labels_.tolist() in (
    ...     [0, 0, 1, 1], [1, 1, 0, 0])
    True
    """

    n_components: int | None = None
    _: KW_ONLY
    affinity: str = "auto"
    n_neighbors: int = 10
    starts: int = 5
    tol: float = 1e-8
    time_limit: float | str | None = 10.0
    random_state: int = 0

    def fit(self, X: Any, y: Any = None) -> CompletelyPositive:
        """Factor the affinity of the rows of X.

        Parameters
        ----------
        X : array_like of shape (n, D), or the affinity (n, n)
        y : ignored

        Returns
        -------
        self
        """
        validate.positive_number("tol", self.tol)
        A = self._affinity(X)
        self.affinity_matrix_ = A
        seed = validate.seed(self.random_state)
        if self.n_components is None:
            limit = seconds_for(self)
            found = completely_positive(
                A, starts=self.starts, tol=self.tol, seed=seed, time_limit=limit
            )
            B, self.status_, self.certificate_ = found.factor, found.status, found.certificate
        else:
            B = self._nearest(A, seed)
            self.status_, self.certificate_ = CpStatus.CP, None
            if square_residual(A, B) > self.tol:
                self.certificate_ = obvious_certificate(A, self.tol)
                refuted = self.certificate_ is not None
                self.status_ = CpStatus.NOT_CP if refuted else CpStatus.UNDECIDED
        self.residual_, self.bound_ = square_residual(A, B), eigenvalue_bound(A, B.shape[1])
        if self.n_components is None and found.timed_out and self.status_ is CpStatus.UNDECIDED:
            warn(
                f"the time limit of {in_seconds(limit)} s ended the search: {self.status_.name}. "
                f"The best factor of {B.shape[1]} columns, of a residual of {self.residual_:.1e}, "
                "is returned. Raise time_limit, or pass None.",
                UncertifiedWarning,
            )
        sums = B.sum(axis=1)
        used = sums > 0.0
        shares = np.where(used[:, None], B / np.where(used, sums, 1.0)[:, None], 0.0)
        self.memberships_ = as_precise(shares, X)
        self.labels_ = np.full(len(B), -1)
        if used.any():
            self.labels_[used] = np.argmax(B[used], axis=1)
        self.embedding_ = as_precise(B, X)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags

    def _nearest(self, A: Array, seed: int) -> Array:
        """The nearest factor found, columns by decreasing length."""
        n, k = len(A), validate.positive_integer("n_components", self.n_components)
        if k > n:
            raise DataError(f"n_components={k} is out of range: X has order {n}. Pass 1 to {n}.")
        starts = validate.positive_integer("starts", self.starts)
        size = 2.0 * np.sqrt(float(np.mean(np.maximum(A, 0.0))) / k)
        B, _ = best_square(A, k, starts, seed, size=size)
        return B[:, np.argsort(-np.linalg.norm(B, axis=0), kind="stable")]

    def _affinity(self, X: Any) -> Array:
        validate.choice("affinity", self.affinity, ("auto", "precomputed", "knn"))
        chosen = self.affinity
        if chosen == "auto":
            shape = np.shape(X)
            chosen = "precomputed" if len(shape) == 2 and shape[0] == shape[1] else "knn"
        if chosen == "precomputed":
            A = symmetric_matrix(X)
            note_columns(self, X)
            return A
        points = validate.points(X, at_least=2)
        note_columns(self, X)
        k = min(validate.positive_integer("n_neighbors", self.n_neighbors), len(points))
        directed = kneighbors_graph(points, k, include_self=True).toarray()
        joined = (directed + directed.T) / 2.0
        root = np.sqrt(joined.sum(axis=1))
        return symmetric_matrix(joined / np.outer(root, root))
