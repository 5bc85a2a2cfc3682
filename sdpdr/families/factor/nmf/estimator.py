"""Non-negative matrix factorization with scikit-learn's face."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix, require_squares
from sdpdr.base.errors import DataTypeError
from sdpdr.base.estimators import as_precise, checked
from sdpdr.families.factor.nmf.nmf import nmf
from sdpdr.families.factor.nmf.nmf_bound import METHODS, nmf_bound
from sdpdr.families.factor.nmf.search import Factorization
from sdpdr.families.factor.nmf.starts import POLISH, Starts
from sdpdr.families.factor.nonnegative.inputs import (
    PartialMatrix,
    SparseMatrix,
    number_of_components,
    partial_matrix,
)
from sdpdr.families.factor.nonnegative.projection import FactorTransformer, coordinates
from sdpdr.solving.iterate.records import IterationStatus

SOLVERS = ("auto", "lift", "polish", "scikit-learn")


@dataclass(eq=False, repr=False)
class NMF(FactorTransformer):
    r"""Non-negative matrix factorization :math:`X \approx W H`, with what is proved of its error.

    As `sklearn.decomposition.NMF` in use, for the Frobenius norm. Two things are added: matrices
    that *have* a factorization of the rank are factored to rounding, and a lower bound says what no
    factorization can beat.

    Parameters
    ----------
    n_components : int, optional
        k. By default 2, or fewer if X has fewer rows or columns.
    solver : {"auto", "lift", "polish", "scikit-learn"}, default "auto"
        ``"lift"`` is `sdpdr.factorize.nmf`, convex iteration on semidefinite programs of order
        n + m + k; ``"polish"`` is `sdpdr.nonnegative.polish_factors` from random factors;
        ``"scikit-learn"`` is its coordinate descent, from ``"nndsvda"`` and random factors, the
        best of them to its end, and polished where the error is so small that an exact
        factorization may be near; it alone takes sparse data, as they are. ``"auto"`` is
        ``"scikit-learn"``, or, with missing entries, the same with a coordinate descent over the
        known ones: on matrices that have a factorization they find it about as often as the lift,
        and a hundred times faster (see the method's page).
    starts : int, default 5
        How many starts. The lift and the polish make none after one that fits exactly.
    tol : float, default 1e-6
        Relative error at which the factorization counts as exact.
    max_iter : int, default 1000
        Of coordinate descent, and of the polish.
    bound : {"eckart_young", "auto", "overlap", "cones"}, default "eckart_young"
        The first alone for sparse data, with up to 4000 rows or columns.
        How the error is bounded from below, see `sdpdr.nmf_bound`; all but the first take seconds.
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
        ``RANK_REACHED`` if that is at most ``tol`` times :math:`|X|_F`, else how the iteration
        ended; ``SETTLED`` of other solvers.
    bound_ : float
        No W, H of that rank has a smaller error; 0 where entries are missing, or where sparse data
        have too many rows and columns.
    gap_ : float
        The share of the error that another factorization might save.
    argument_ : str
        What proves the bound.
    factorization_ : Factorization or None
        History and state of the lift.
    n_iter_ : int
        Programs of the lift; starts of other solvers.
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
            Non-negative; ``nan`` where an entry is not known. What a sparse array does not store
            is zero, and known.
        y : ignored
        """
        validate.choice("solver", self.solver, SOLVERS)
        validate.choice("bound", self.bound, METHODS)
        validate.positive_integer("starts", self.starts)
        validate.positive_integer("max_iter", self.max_iter)
        validate.positive_number("tol", self.tol)
        given = self._checked(X)
        require_squares(given.data if sp.issparse(given) else given)
        k = min(2, *given.shape)
        if self.n_components is not None:
            k = number_of_components(self.n_components, given.shape)
        known = self._known(given, k)
        seed = validate.seed(self.random_state)
        if self.solver == "lift":
            assert isinstance(known, PartialMatrix)
            options = {"starts": self.starts, "tol": self.tol, "seed": seed, **(self.options or {})}
            found = nmf(known.with_gaps(), k, **options)
            self.factorization_, self.status_ = found, found.status
            self.components_, self.n_iter_ = found.factors()[1], len(found.history)
        else:
            self.factorization_ = None
            search = Starts(known, k, self.starts, self.tol, self.max_iter, seed)
            polish = self.solver == "polish"
            self.components_, self.n_iter_ = search.polished() if polish else search.descended()
        W = coordinates(known.with_gaps(), self.components_)
        self._grade(known, k, W)
        return as_precise(W, X)

    def transform(self, X: Any) -> Array:
        """Non-negative least squares: the W that fits best with the components as they are.

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
        finite = True if self.solver == "scikit-learn" or sp.issparse(X) else "allow-nan"
        sparse = "csr" if self.solver in ("auto", "scikit-learn") else False
        return checked(self, X, accept_sparse=sparse, ensure_all_finite=finite, **options)

    def _known(self, given: Matrix, k: int) -> PartialMatrix | SparseMatrix:
        if not sp.issparse(given):
            return partial_matrix(given)
        if self.bound not in ("eckart_young", "auto"):
            raise DataTypeError(
                f"X is sparse, and bound={self.bound!r} is proved by dense programs. Pass "
                "bound='eckart_young', or X.toarray() if X is small."
            )
        known = SparseMatrix(given)
        # So small that factors are polished, which takes a dense matrix.
        return partial_matrix(given.toarray()) if sum(given.shape) * k <= POLISH else known

    def _grade(self, known: PartialMatrix | SparseMatrix, k: int, W: Array) -> None:
        self.n_components_ = k
        share = known.error(W, self.components_)
        self.reconstruction_err_ = share * known.norm
        if share <= self.tol:
            self.status_ = IterationStatus.RANK_REACHED
        elif self.factorization_ is None:
            self.status_ = IterationStatus.SETTLED
        self.bound_, self.gap_ = 0.0, 1.0
        self.argument_ = "no bound is known where entries are missing"
        if isinstance(known, SparseMatrix):
            self._bound_sparse(known, k)
        elif known.is_complete:
            proof = nmf_bound(known.values, W, self.components_, method=self.bound)
            self.bound_, self.gap_, self.argument_ = proof.lower, proof.gap, proof.argument

    def _bound_sparse(self, known: SparseMatrix, k: int) -> None:
        upper = self.reconstruction_err_
        self.bound_ = min(known.singular_tail(k), upper)
        self.gap_ = (upper - self.bound_) / max(upper, np.finfo(float).tiny)
        self.argument_ = (
            "the singular values beyond the first k"
            if self.bound_
            else "no bound is known: singular values take a dense matrix of too large an order"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.solver != "scikit-learn"
        tags.input_tags.sparse = self.solver in ("auto", "scikit-learn")
        return tags
