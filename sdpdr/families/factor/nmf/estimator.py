"""Nonnegative matrix factorization as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix, require_squares
from sdpdr.base.estimators import as_precise, checked
from sdpdr.families.factor.nmf.bounds import check_method, nmf_bound
from sdpdr.families.factor.nonnegative.inputs import (
    norm_of,
    number_of_components,
    partial_matrix,
    require_nonnegative,
    residual,
)
from sdpdr.families.factor.nonnegative.least_squares import polish_factors
from sdpdr.families.factor.nonnegative.projection import (
    FactorTransformer,
    coordinate_descent,
    coordinates,
)
from sdpdr.solving.iterate.records import IterationStatus

# Entries of both factors up to which they are polished, by dense systems of that order.
_POLISHED = 1500
# Relative errors of a converged descent, and of an unfinished one, up to which an exact
# factorization may be near. On matrices that have one, of 5 to 60 rows, successful starts were
# within .006 and .087.
_NEAR, _PERHAPS = 1e-2, 0.1
# Iterations of a short descent, and the decrease of its gradient; the rest lowers it as much again.
_SHORT, _DECREASE = 200, 1e-4
# Relative decrease of the squared error below which a polish does not lead to an exact product.
_IDLE = 1e-4


@dataclass(eq=False, repr=False)
class NMF(FactorTransformer):
    r"""Nonnegative matrix factorization :math:`X \approx W H`, with a proved bound on its error.

    Used like `sklearn.decomposition.NMF`, for the Frobenius norm. Two things are added: small
    matrices that *have* a factorization of the rank are factored to rounding, and a lower bound
    says what no factorization can beat. Coordinate descent begins from ``"nndsvda"`` and random
    factors. The best start is run to its end, and polished if its error is so small that an exact
    factorization may be near. With missing entries, the descent is over the known ones.

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
        :math:`|X - WH|_F` over the known entries.
    status_ : IterationStatus
        ``RANK_REACHED`` if that is at most ``tol`` times :math:`|X|_F`, else ``SETTLED``.
    bound_ : float
        No W, H of that rank has a smaller error; 0 if entries are missing, or if sparse data have
        more than 4000 rows and columns.
    gap_ : float
        The share of the error that another factorization might save.
    norm_gap_ : float
        The same amount as a share of :math:`|X|_F`.
    argument_ : str
        The proof of the bound, in words.
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
            Nonnegative; ``nan`` where an entry is missing. Entries that a sparse array does not
            store are zero, and known.
        y : ignored
        """
        check_method("bound", self.bound, X)
        validate.positive_integer("starts", self.starts)
        validate.positive_integer("max_iter", self.max_iter)
        validate.positive_number("tol", self.tol)
        V = self._checked(X)
        require_squares(V.data if sp.issparse(V) else V)
        k = min(2, *V.shape)
        if self.n_components is not None:
            k = number_of_components(self.n_components, V.shape)
        if sp.issparse(V) and sum(V.shape) * k <= _POLISHED:
            V = V.toarray()  # small factors are polished, which takes a dense matrix
        if sp.issparse(V):
            require_nonnegative(V)
        else:
            V = partial_matrix(V)
        seed = validate.seed(self.random_state)
        _, H = nonnegative_factors(V, k, self.starts, self.tol, self.max_iter, seed)
        self.components_, self.n_components_, self.n_iter_ = H, k, self.starts
        W = coordinates(V, H)
        self.reconstruction_err_ = residual(V, W, H)
        self.norm_gap_ = self.reconstruction_err_ / norm_of(V)
        exact = self.norm_gap_ <= self.tol
        self.status_ = IterationStatus.RANK_REACHED if exact else IterationStatus.SETTLED
        self.bound_, self.gap_ = 0.0, 1.0
        self.argument_ = "no bound is known where entries are missing"
        if is_complete(V):
            proof = nmf_bound(V, W, H, method=self.bound)
            self.bound_, self.argument_ = proof.lower, proof.argument
            self.gap_, self.norm_gap_ = proof.gap, proof.norm_gap
        return as_precise(W, X)

    def transform(self, X: Any) -> Array:
        """The W that fits best with the components as they are, by nonnegative least squares.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, m)
            May have negative entries; ``nan`` where an entry is missing.

        Returns
        -------
        array of shape (n, k)
        """
        check_is_fitted(self)
        return as_precise(coordinates(self._checked(X, reset=False), self.components_), X)

    def _checked(self, X: Any, **options: Any) -> Matrix:
        finite = True if sp.issparse(X) else "allow-nan"
        return checked(self, X, accept_sparse="csr", ensure_all_finite=finite, **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def is_complete(X: Matrix) -> bool:
    """Whether no entry is missing."""
    return sp.issparse(X) or not np.isnan(X).any()


def nonnegative_factors(
    X: Matrix, k: int, starts: int, tol: float, max_iter: int, seed: int
) -> tuple[Array, Array]:
    """The best factors of several starts of coordinate descent.

    All make a short descent, and the best of them continues. The others continue only while an
    exact factorization may be near: an error that noise leaves is much the same from all starts.
    """
    short, norm = min(_SHORT, max_iter), norm_of(X)
    begun = [_begun(X, k, start, short, seed) for start in range(starts)]
    begun.sort(key=lambda factors: residual(X, *factors))
    best, least = begun[0], np.inf
    for W, H in begun:
        if max_iter > short:
            W, H = _descended(X, W, H, max_iter - short, seed)
        small = not sp.issparse(X) and W.size + H.size <= _POLISHED
        if small and residual(X, W, H) <= _NEAR * norm:
            W, H = polish_factors(X, W, H, max_iter=max_iter, idle=_IDLE)
        error = residual(X, W, H) / norm
        if error < least:
            best, least = (W, H), error
        if error <= tol or error > _PERHAPS or not small:
            break
    return best


def _begun(X: Matrix, k: int, start: int, steps: int, seed: int) -> tuple[Array, Array]:
    """Factors after a short descent, the first one from singular vectors."""
    if not is_complete(X):
        rng = np.random.default_rng([seed, start])
        W, H = rng.random((X.shape[0], k)), rng.random((k, X.shape[1]))
        size = np.sqrt(np.linalg.norm(np.nan_to_num(X), 2))
        W, H = size / np.linalg.norm(W) * W, size / np.linalg.norm(H) * H
        return _descended_over_known(X, W, H, _DECREASE, steps)
    for init in ("random",) if start else ("nndsvda", "random"):
        found = coordinate_descent(
            X, k, init=init, seed=(seed + start) % 2**31, tol=_DECREASE, steps=steps
        )
        # "nndsvda" divides by zero if the rank of X is below k.
        if all(np.isfinite(F).all() for F in found):
            break
    return found


def _descended(X: Matrix, W: Array, H: Array, steps: int, seed: int) -> tuple[Array, Array]:
    if not is_complete(X):
        return _descended_over_known(X, W, H, _DECREASE**2, steps)
    return coordinate_descent(
        X, W.shape[1], init="custom", seed=seed, tol=_DECREASE, steps=steps, W=W, H=H
    )


def _descended_over_known(
    X: Array, W: Array, H: Array, tol: float, max_iter: int
) -> tuple[Array, Array]:
    r"""Factors that fit the known entries better; scikit-learn's descent takes complete matrices.

    With all else fixed, a column w of W is best at :math:`\max(0, R h / M h^2)`, where R holds the
    known residuals without it, h is its row of H, and M is one where an entry is known (A. Cichocki
    and A.-H. Phan, IEICE Transactions E92-A, 2009). ``tol`` is the relative decrease of the squared
    error in a round that ends the descent.
    """
    W, H, size = W.copy(), H.copy(), np.inf
    mask = (~np.isnan(X)).astype(float)
    for _ in range(max_iter):
        rest = np.nan_to_num(X - W @ H)
        before, size = size, float(np.sum(rest**2))
        if before - size <= tol * size:
            break
        for F, G, R, M in ((W, H, rest, mask), (H.T, W.T, rest.T, mask.T)):
            for f, g in zip(F.T, G, strict=True):
                weight = M @ g**2
                step = np.divide(R @ g, weight, out=np.zeros_like(weight), where=weight > 0.0)
                moved = np.maximum(f + step, 0.0)
                np.subtract(R, M * np.outer(moved - f, g), out=R)
                f[:] = moved
    return W, H
