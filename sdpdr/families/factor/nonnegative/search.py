"""Nonnegative factors by scikit-learn's coordinate descent, from several starts."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn import decomposition
from sklearn.exceptions import ConvergenceWarning

from sdpdr.base.arrays import Array, Matrix
from sdpdr.families.factor.nonnegative.inputs import norm_of, residual
from sdpdr.families.factor.nonnegative.least_squares import fit_factors
from sdpdr.families.factor.nonnegative.truncation import closed_form

# Entries of both factors up to which all starts are taken to their end.
SMALL = 1500
# Starts of coordinate descent, and entries of a matrix up to which they take negligible time.
_STARTS, _QUICK = 9, 2500
# Relative error of a descent up to which an exact factorization may be near. On matrices that have
# one, of 5 to 60 rows, successful starts were within .087.
_PERHAPS = 0.1
# Iterations of a short descent, and the decrease of its gradient; the rest lowers it as much again.
_SHORT, _DECREASE = 200, 1e-4


def factors_found(V: Matrix, k: int, seed: int) -> tuple[Array, Array]:
    """Nonnegative factors of about the least error: in closed form, or of several starts."""
    if not sp.issparse(V):
        if (exact := closed_form(V, k)) is not None:
            return exact
        if k == min(V.shape):
            n, m = V.shape
            return (np.eye(n), V) if n <= m else (V, np.eye(m))
    starts = _STARTS if np.prod(V.shape) <= _QUICK else 1
    return nonnegative_factors(V, k, starts=starts, seed=seed, max_iter=2000)


def nonnegative_factors(
    X: Matrix, k: int, *, starts: int, seed: int, tol: float = 1e-6, max_iter: int = 1000
) -> tuple[Array, Array]:
    """The best factors of several starts of coordinate descent.

    All make a short descent, and the best of them continues. The others continue only while an
    exact factorization may be near: an error that noise leaves is much the same from all starts.
    """
    short, norm = min(_SHORT, max_iter), norm_of(X)
    begun = [short_descent(X, k, start, steps=short, seed=seed) for start in range(starts)]
    begun.sort(key=lambda factors: residual(X, *factors))
    best, least = begun[0], np.inf
    for W, H in begun:
        if max_iter > short:
            W, H = coordinate_descent(
                X, k, init="custom", seed=seed, tol=_DECREASE, steps=max_iter - short, W=W, H=H
            )
        small = not sp.issparse(X) and W.size + H.size <= SMALL
        may_be_exact = small and residual(X, W, H) <= _PERHAPS * norm
        if may_be_exact:
            W, H = fit_factors(X, W, H)
        error = residual(X, W, H) / norm
        if error < least:
            best, least = (W, H), error
        if error <= tol or not may_be_exact:
            break
    return best


def short_descent(
    X: Matrix, k: int, start: int = 0, *, steps: int = _SHORT, seed: int
) -> tuple[Array, Array]:
    """Factors after a short descent, the first one from singular vectors."""
    for init in ("random",) if start else ("nndsvda", "random"):
        found = coordinate_descent(
            X, k, init=init, seed=(seed + start) % 2**31, tol=_DECREASE, steps=steps
        )
        # "nndsvda" divides by zero if the rank of X is below k.
        if all(np.isfinite(F).all() for F in found):
            break
    return found


def coordinate_descent(
    X: Matrix, k: int, *, init: str, seed: int, tol: float, steps: int, **begin: Array
) -> tuple[Array, Array]:
    """Factors by scikit-learn's coordinate descent; ``init="custom"`` begins from W and H.

    Its function is called and not its estimator, which may answer with data frames.
    """
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        # Unconverged factors are welcome: other starts follow, and a bound grades them.
        warnings.simplefilter("ignore", ConvergenceWarning)
        W, H, _ = decomposition.non_negative_factorization(
            X, n_components=k, init=init, tol=tol, max_iter=steps, random_state=seed, **begin
        )
    return W, H
