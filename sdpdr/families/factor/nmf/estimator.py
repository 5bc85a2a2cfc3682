"""Nonnegative matrix factorization as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix, require_squares
from sdpdr.base.estimators import as_precise, checked
from sdpdr.families.factor.nmf.nmf import nmf
from sdpdr.families.factor.nmf.nmf_bound import check_method, nmf_bound
from sdpdr.families.factor.nmf.search import Factorization
from sdpdr.families.factor.nmf.starts import POLISH, Starts
from sdpdr.families.factor.nonnegative.inputs import (
    SparseMatrix,
    number_of_components,
    partial_matrix,
)
from sdpdr.families.factor.nonnegative.projection import FactorTransformer, coordinates
from sdpdr.solving.iterate.records import IterationStatus

SOLVERS = ("auto", "lift")


@dataclass(eq=False, repr=False)
class NMF(FactorTransformer):
    r"""Nonnegative matrix factorization :math:`X \approx W H`, with a proved bound on its error.

    Used like `sklearn.decomposition.NMF`, for the Frobenius norm. Two things are added: small
    matrices that *have* a factorization of the rank are factored to rounding, and a lower bound
    says what no factorization can beat.

    Parameters
    ----------
    n_components : int, optional
        k. By default 2, or fewer if X has fewer rows or columns.
    solver : {"auto", "lift"}, default "auto"
        ``"auto"`` is scikit-learn's coordinate descent, from ``"nndsvda"`` and random factors. The
        best start is run to its end, and polished if its error is so small that an exact
        factorization may be near. With missing entries, the descent is over the known ones.
        ``"lift"`` is `sdpdr.factorize.nmf`, convex iteration on semidefinite programs of order
        n + m + k: it finds an exact factorization about as often, a hundred times slower, and
        takes further constraints (``options``).
    starts : int, default 5
        Number of starts. The lift makes none after one that fits exactly.
    tol : float, default 1e-6
        Relative error at which the factorization counts as exact.
    max_iter : int, default 1000
        Iterations of coordinate descent.
    bound : {"eckart_young", "auto", "overlap", "cones"}, default "eckart_young"
        The method of the lower bound, see `sdpdr.nmf_bound`; all but the first take seconds, and
        sparse data of more than 60 rows and columns allow the first two only.
    random_state : int, RandomState or None, default 0
    options : mapping, optional
        Further arguments of `sdpdr.factorize.nmf`, for the lift.

    Attributes
    ----------
    components_ : array of shape (k, m)
        H.
    n_components_ : int
        k.
    reconstruction_err_ : float
        :math:`|X - WH|_F` over the known entries.
    status_ : IterationStatus
        ``RANK_REACHED`` if that is at most ``tol`` times :math:`|X|_F`, else how the lift ended,
        or ``SETTLED``.
    bound_ : float
        No W, H of that rank has a smaller error; 0 if entries are missing, or if sparse data have
        more than 4000 rows and columns.
    gap_ : float
        The share of the error that another factorization might save.
    norm_gap_ : float
        The same amount as a share of :math:`|X|_F`.
    argument_ : str
        The proof of the bound, in words.
    factorization_ : Factorization or None
        History and state of the lift.
    n_iter_ : int
        Programs of the lift, or the number of starts.
    n_features_in_ : int
    feature_names_in_ : array of str

    Raises
    ------
    DataError
        From `fit`: a negative entry, nothing but zeros, a number of components out of range.

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
    solver: str = "auto"
    starts: int = 5
    tol: float = 1e-6
    max_iter: int = 1000
    bound: str = "eckart_young"
    random_state: Any = 0
    options: Mapping[str, Any] | None = None

    factorization_: Factorization | None = field(init=False)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the factors, and return W, of shape (n, k).

        Parameters
        ----------
        X : array_like or sparse array of shape (n, m)
            Nonnegative; ``nan`` where an entry is not known. Entries that a sparse array does not
            store are zero, and known.
        y : ignored
        """
        validate.choice("solver", self.solver, SOLVERS)
        check_method("bound", self.bound, X)
        validate.positive_integer("starts", self.starts)
        validate.positive_integer("max_iter", self.max_iter)
        validate.positive_number("tol", self.tol)
        given = self._checked(X)
        require_squares(given.data if sp.issparse(given) else given)
        k = min(2, *given.shape)
        if self.n_components is not None:
            k = number_of_components(self.n_components, given.shape)
        if sp.issparse(given) and sum(given.shape) * k <= POLISH:
            given = given.toarray()  # small factors are polished, which takes a dense matrix
        known = SparseMatrix(given) if sp.issparse(given) else partial_matrix(given)
        seed = validate.seed(self.random_state)
        self.factorization_ = None
        if self.solver == "lift":
            options = {"starts": self.starts, "tol": self.tol, "seed": seed, **(self.options or {})}
            self.factorization_ = nmf(known.with_gaps(), k, **options)
            H, self.n_iter_ = self.factorization_.factors()[1], len(self.factorization_.history)
        else:
            search = Starts(known, k, self.starts, self.tol, self.max_iter, seed)
            H, self.n_iter_ = search.descended()
        W = coordinates(known.with_gaps(), H)
        self.components_, self.n_components_ = H, k
        error = known.error(W, H)
        self.reconstruction_err_ = error * known.norm
        if error <= self.tol:
            self.status_ = IterationStatus.RANK_REACHED
        else:
            lift = self.factorization_
            self.status_ = IterationStatus.SETTLED if lift is None else lift.status
        self.bound_, self.gap_, self.norm_gap_ = 0.0, 1.0, error
        self.argument_ = "no bound is known where entries are missing"
        if known.is_complete:
            proof = nmf_bound(known.values, W, H, method=self.bound)
            self.bound_, self.argument_ = proof.lower, proof.argument
            self.gap_, self.norm_gap_ = proof.gap, proof.norm_gap
        return as_precise(W, X)

    def transform(self, X: Any) -> Array:
        """The W that fits best with the components as they are, by nonnegative least squares.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, m)
            May have negative entries; ``nan`` where an entry is not known.

        Returns
        -------
        array of shape (n, k)
        """
        check_is_fitted(self)
        return as_precise(coordinates(self._checked(X, reset=False), self.components_), X)

    def _checked(self, X: Any, **options: Any) -> Matrix:
        finite = True if sp.issparse(X) else "allow-nan"
        sparse = "csr" if self.solver == "auto" else False
        return checked(self, X, accept_sparse=sparse, ensure_all_finite=finite, **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self.solver == "auto"
        return tags
