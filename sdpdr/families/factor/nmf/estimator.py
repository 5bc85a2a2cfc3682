"""Nonnegative matrix factorization as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, require_squares
from sdpdr.base.estimators import as_precise, checked
from sdpdr.families.factor.nmf.bounds import check_method, nmf_bound
from sdpdr.families.factor.nonnegative.inputs import (
    norm_of,
    number_of_components,
    require_nonnegative,
    residual,
)
from sdpdr.families.factor.nonnegative.projection import FactorTransformer, coordinates
from sdpdr.families.factor.nonnegative.search import SMALL, nonnegative_factors
from sdpdr.solving.iterate.records import IterationStatus


@dataclass(eq=False, repr=False)
class NMF(FactorTransformer):
    r"""Nonnegative matrix factorization :math:`X \approx W H`, with a proved bound on its error.

    Used like `sklearn.decomposition.NMF`, for the Frobenius norm. Two things are added: small
    matrices that *have* a factorization of the rank are factored to rounding, and a lower bound
    says what no factorization can beat. Coordinate descent begins from ``"nndsvda"`` and random
    factors. The best start is run to its end, and polished if its error is so small that an exact
    factorization may be near. `sdpdr.factorize.nmf` takes matrices with missing entries.

    Parameters
    ----------
    n_components : int, optional
        k. By default 2, or fewer if X has fewer rows or columns.
    starts : int, default 5
        Number of starts.
    tol : float, default 1e-6
        Relative error at which the factorization counts as exact.
    max_iter : int, default 1000
        Iterations of coordinate descent.
    bound : {"eckart_young", "auto", "overlap", "cones"}, default "eckart_young"
        The method of the lower bound, see `sdpdr.nmf_bound`; all but the first take seconds, and
        sparse data of more than 60 rows and columns allow the first two only.
    random_state : int, RandomState or None, default 0

    Attributes
    ----------
    components_ : array of shape (k, m)
        H.
    n_components_ : int
        k.
    reconstruction_err_ : float
        :math:`|X - WH|_F`.
    status_ : IterationStatus
        ``RANK_REACHED`` if that is at most ``tol`` times :math:`|X|_F`, else ``SETTLED``.
    bound_ : float
        No W, H of that rank has a smaller error; 0 if sparse data have more than 4000 rows and
        columns.
    gap_ : float
        The share of the error that another factorization might save.
    norm_gap_ : float
        The same amount as a share of :math:`|X|_F`.
    argument_ : str
        The argument for the bound.
    n_iter_ : int
        The number of starts.
    n_features_in_ : int
    feature_names_in_ : array of str

    Raises
    ------
    DataError
        From `fit`: a negative entry, only zeros, a number of components out of range.

    References
    ----------
    Vasiloglou thesis, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> import sdpdr
    >>> X, _ = sdpdr.datasets.random_nonnegative(6, 5, rank=2)
    >>> model = sdpdr.NMF(n_components=2)
    >>> W = model.fit_transform(X)
    >>> bool(np.allclose(model.inverse_transform(W), X, atol=1e-12)), model.status_
    (True, IterationStatus.RANK_REACHED)
    """

    n_components: int | None = None
    _: KW_ONLY
    starts: int = 5
    tol: float = 1e-6
    max_iter: int = 1000
    bound: str = "eckart_young"
    random_state: Any = 0

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the factors, and return W, of shape (n, k).

        Parameters
        ----------
        X : array_like or sparse array of shape (n, m)
            Nonnegative.
        y : ignored
        """
        check_method("bound", self.bound, X)
        validate.positive_integer("starts", self.starts)
        validate.positive_integer("max_iter", self.max_iter)
        validate.positive_number("tol", self.tol)
        V = checked(self, X, accept_sparse="csr")
        require_squares(V.data if sp.issparse(V) else V)
        k = min(2, *V.shape)
        if self.n_components is not None:
            k = number_of_components(self.n_components, V.shape)
        if sp.issparse(V) and sum(V.shape) * k <= SMALL:
            V = V.toarray()  # small factors are polished, which takes a dense matrix
        require_nonnegative(V)
        seed = validate.seed(self.random_state)
        _, H = nonnegative_factors(
            V, k, starts=self.starts, seed=seed, tol=self.tol, max_iter=self.max_iter
        )
        self.components_, self.n_components_, self.n_iter_ = H, k, self.starts
        W = coordinates(V, H)
        self.reconstruction_err_ = residual(V, W, H)
        self.norm_gap_ = self.reconstruction_err_ / norm_of(V)
        exact = self.norm_gap_ <= self.tol
        self.status_ = IterationStatus.RANK_REACHED if exact else IterationStatus.SETTLED
        proof = nmf_bound(V, W, H, method=self.bound)
        self.bound_, self.argument_ = proof.lower, proof.argument
        self.gap_, self.norm_gap_ = proof.gap, proof.norm_gap
        return as_precise(W, X)

    def transform(self, X: Any) -> Array:
        """The W that fits best with the components as they are, by nonnegative least squares.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, m)
            May have negative entries.

        Returns
        -------
        array of shape (n, k)
        """
        check_is_fitted(self)
        rows = checked(self, X, accept_sparse="csr", reset=False)
        return as_precise(coordinates(rows, self.components_), X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
