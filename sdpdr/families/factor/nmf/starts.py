"""Nonnegative factors by coordinate descent: the best of several starts, run to its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.families.factor.nonnegative.inputs import PartialMatrix, SparseMatrix
from sdpdr.families.factor.nonnegative.polish import polish_factors, random_factors
from sdpdr.families.factor.nonnegative.projection import coordinate_descent

Factors: TypeAlias = tuple[Array, Array]
Known: TypeAlias = PartialMatrix | SparseMatrix

# Entries of both factors up to which they are polished, by dense systems of that order.
POLISH = 1500
# Relative errors of a converged descent, and of an unfinished one, up to which an exact
# factorization may be near. On matrices that have one, of 5 to 60 rows, successful starts were
# within .006 and .087.
_NEAR, _PERHAPS = 1e-2, 0.1
# Iterations of a short descent, and the decrease of its gradient; the rest lowers it as much again.
_SHORT, _DECREASE = 200, 1e-4
# Relative decrease of the squared error below which a polish does not lead to an exact product.
_IDLE = 1e-4


@dataclass(frozen=True)
class Starts:
    """Descents from several starts.

    All make a short descent, and the best of them continues. The others continue only while an
    exact factorization may be near: an error that noise leaves is much the same from all starts.

    Attributes
    ----------
    known : PartialMatrix or SparseMatrix
    k : int
        Number of components.
    starts : int
    tol : float
        Relative error at which a factorization counts as exact.
    max_iter : int
        Iterations of a descent.
    seed : int
    """

    known: Known
    k: int
    starts: int
    tol: float
    max_iter: int
    seed: int

    def descended(self) -> tuple[Array, int]:
        """H of the best factors, and the number of starts."""
        short = min(_SHORT, self.max_iter)
        begun = [self._begin(start, short) for start in range(self.starts)]
        begun.sort(key=lambda factors: self.known.error(*factors))
        best, least = begun[0][1], np.inf
        for factors in begun:
            W, H = self._finish(*factors, self.max_iter - short)
            error = self.known.error(W, H)
            if error < least:
                best, least = H, error
            if error <= self.tol or error > _PERHAPS or not self._is_small(W, H):
                break
        return best, self.starts

    def _begin(self, start: int, steps: int) -> Factors:
        if not self.known.is_complete:
            assert isinstance(self.known, PartialMatrix)
            W, H = random_factors(self.known, self.k, [self.seed, start])
            return descend_with_gaps(self.known, W, H, _DECREASE, steps)
        init = "random" if start else "nndsvda"
        seed = (self.seed + start) % 2**31
        X, k = self.known.values, self.k
        found = coordinate_descent(X, k, init=init, seed=seed, tol=_DECREASE, steps=steps)
        if all(np.all(np.isfinite(F)) for F in found):
            return found
        # "nndsvda" divides by zero if the rank of X is below k.
        return coordinate_descent(X, k, init="random", seed=seed, tol=_DECREASE, steps=steps)

    def _finish(self, W: Array, H: Array, steps: int) -> Factors:
        if steps > 0 and not self.known.is_complete:
            assert isinstance(self.known, PartialMatrix)
            W, H = descend_with_gaps(self.known, W, H, _DECREASE**2, steps)
        elif steps > 0:
            W, H = coordinate_descent(
                self.known.values, self.k, init="custom", seed=self.seed, tol=_DECREASE,
                steps=steps, W=W, H=H,
            )  # fmt: skip
        if not self._is_small(W, H) or self.known.error(W, H) > _NEAR:
            return W, H
        assert isinstance(self.known, PartialMatrix)
        found = polish_factors(self.known, W, H, max_iter=self.max_iter, idle=_IDLE)
        return found.W, found.H

    def _is_small(self, W: Array, H: Array) -> bool:
        return isinstance(self.known, PartialMatrix) and W.size + H.size <= POLISH


def descend_with_gaps(
    known: PartialMatrix, W: Array, H: Array, tol: float, max_iter: int
) -> Factors:
    r"""Factors that fit the known entries better, by coordinate descent.

    With all else fixed, a column w of W is best at :math:`\max(0, R h / M h^2)`, where R holds the
    known residuals without it, h is its row of H, and M is one where an entry is known. Columns of
    W are updated in turn, then rows of H. scikit-learn's descent takes complete matrices only.

    Parameters
    ----------
    known : PartialMatrix
    W : array of shape (n, k)
    H : array of shape (k, m)
        Where to begin.
    tol : float
        Relative decrease of the squared error in a round that ends the descent.
    max_iter : int
        Rounds.

    References
    ----------
    A. Cichocki and A.-H. Phan, "Fast local algorithms for large scale nonnegative matrix and tensor
    factorizations", IEICE Transactions E92-A, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.nonnegative import partial_matrix
    >>> known = partial_matrix([[1.0, 2.0], [2.0, np.nan]])
    >>> W, H = descend_with_gaps(known, np.ones((2, 1)), np.ones((1, 2)), 1e-12, 100)
    >>> (W @ H).round(5)
    array([[1., 2.],
           [2., 4.]])
    """
    W, H = W.copy(), H.copy()
    size = np.inf
    for _ in range(max_iter):
        residuals = known.mask * (known.values - W @ H)
        before, size = size, float(np.sum(residuals**2))
        if before - size <= tol * size:
            break
        _update_columns(W, H, residuals, known.mask)
        _update_columns(H.T, W.T, residuals.T, known.mask.T)
    return W, H


def _update_columns(W: Array, H: Array, residuals: Array, mask: Array) -> None:
    """Update every column of W in turn, and the residuals with it, in place."""
    for w, h in zip(W.T, H, strict=True):
        weight = mask @ h**2
        step = np.divide(residuals @ h, weight, out=np.zeros_like(weight), where=weight > 0.0)
        moved = np.maximum(w + step, 0.0)
        residuals -= mask * np.outer(moved - w, h)
        w[:] = moved
