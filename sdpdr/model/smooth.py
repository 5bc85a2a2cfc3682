"""Smooth convex functions: values, gradients, and how cvxpy writes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg.svec import SQRT2, full_from_svec, order_of, smat, svec, svec_pairs

# What logarithms are kept away from, relative to the largest of the values.
_TINY = 1e-14


class SmoothFunction(ABC):
    """A convex function f with a gradient, wherever it is finite.

    What is proved of a model with f is proved of f as cvxpy writes it.

    Attributes
    ----------
    word : str
        How it is printed.
    is_concave : bool
        Whether people think of its negative, which is what the word stands for then.
    """

    word: str
    is_concave: bool = False

    @abstractmethod
    def value(self, values: Array) -> float:
        """f; infinite outside of where it is defined."""

    @abstractmethod
    def gradient(self, values: Array) -> Array:
        """The gradient of f at a point where it is finite."""

    @abstractmethod
    def express(self, cvxpy: Any, values: Any) -> Any:
        """The function of a cvxpy expression; `cvxpy` is the module."""

    def root(self, values: Array) -> Array | None:
        """A matrix R with the second derivatives of f as R^T R; None where nobody knows one."""
        return None

    def inside(self, values: Array) -> Array:
        """A point near the one given that has a gradient; the point itself by default."""
        return values


class LessLogDet(SmoothFunction):
    r""":math:`-\log\det S`, with gradient :math:`-S^{-1}`, in svec coordinates.

    Examples
    --------
    >>> round(LessLogDet().value(svec(np.diag([2.0, 0.5]))), 12) + 0.0
    0.0
    >>> LessLogDet().gradient(svec(np.diag([2.0, 0.5])))
    array([-0.5, -0. , -2. ])
    """

    word = "log det"
    is_concave = True

    def value(self, values: Array) -> float:
        """Infinite where S is not positive definite."""
        try:
            root = np.linalg.cholesky(smat(values))
        except np.linalg.LinAlgError:
            return float("inf")
        return float(-2.0 * np.sum(np.log(np.diag(root))))

    def gradient(self, values: Array) -> Array:
        """The inverse, negative."""
        return -svec(np.linalg.inv(smat(values)))

    def root(self, values: Array) -> Array:
        """The map from X to the matrix with S^-1/2 on either side of it."""
        spectrum, vectors = np.linalg.eigh(smat(values))
        half = (vectors / np.sqrt(spectrum)) @ vectors.T
        i, j = svec_pairs(np.arange(values.size))
        # Column (i, j) is the symmetric product of columns i and j of the root.
        outer = half[:, None, i] * half[None, :, j]
        both = (outer + outer.transpose(1, 0, 2)) * np.where(i == j, 0.5, 1.0 / SQRT2)
        return np.where(i == j, 1.0, SQRT2)[:, None] * both[i, j]

    def inside(self, values: Array) -> Array:
        """With eigenvalues that are not too small."""
        spectrum, vectors = np.linalg.eigh(smat(values))
        lifted = _positive(spectrum)
        return values if lifted is spectrum else svec((vectors * lifted) @ vectors.T)

    def express(self, cvxpy: Any, values: Any) -> Any:
        """By cvxpy's own function."""
        n = order_of(values.size)
        return -cvxpy.log_det(cvxpy.reshape(full_from_svec(n) @ values, (n, n), order="F"))


class LogSumExp(SmoothFunction):
    r""":math:`\log \sum_i e^{v_i}`.

    Examples
    --------
    >>> round(LogSumExp().value(np.zeros(2)), 6), LogSumExp().gradient(np.zeros(2))
    (0.693147, array([0.5, 0.5]))
    """

    word = "log sum exp"

    def value(self, values: Array) -> float:
        """Finite wherever numbers are."""
        top = float(np.max(values))
        return top + float(np.log(np.sum(np.exp(values - top))))

    def gradient(self, values: Array) -> Array:
        """Shares of the exponentials."""
        shares = np.exp(values - np.max(values))
        return np.asarray(shares / shares.sum())

    def root(self, values: Array) -> Array:
        """Of diag(p) - p p^T, for the shares p."""
        shares = self.gradient(values)
        return np.sqrt(shares)[:, None] * (np.eye(shares.size) - shares)

    def express(self, cvxpy: Any, values: Any) -> Any:
        """By cvxpy's own function."""
        return cvxpy.log_sum_exp(values)


class SumExp(SmoothFunction):
    r""":math:`\sum_i e^{v_i}`.

    Examples
    --------
    >>> SumExp().value(np.zeros(2))
    2.0
    """

    word = "sum exp"

    def value(self, values: Array) -> float:
        """Infinite where numbers end."""
        with np.errstate(over="ignore"):
            return float(np.sum(np.exp(values)))

    def gradient(self, values: Array) -> Array:
        """The exponentials."""
        return np.exp(values)

    def root(self, values: Array) -> Array:
        """Roots of the exponentials."""
        return np.diag(np.exp(0.5 * values))

    def express(self, cvxpy: Any, values: Any) -> Any:
        """By cvxpy's own function."""
        return cvxpy.sum(cvxpy.exp(values))


class Logistic(SmoothFunction):
    r""":math:`\sum_i \log (1 + e^{v_i})`.

    Examples
    --------
    >>> Logistic().gradient(np.zeros(2))
    array([0.5, 0.5])
    """

    word = "sum logistic"

    def value(self, values: Array) -> float:
        """Finite wherever numbers are."""
        return float(np.sum(np.logaddexp(0.0, values)))

    def gradient(self, values: Array) -> Array:
        """The logistic function."""
        return np.exp(-np.logaddexp(0.0, -values))

    def root(self, values: Array) -> Array:
        """Roots of the slopes of the logistic function."""
        return np.diag(np.exp(-0.5 * (np.logaddexp(0.0, -values) + np.logaddexp(0.0, values))))

    def express(self, cvxpy: Any, values: Any) -> Any:
        """By cvxpy's own function."""
        return cvxpy.sum(cvxpy.logistic(values))


class LessSumLog(SmoothFunction):
    r""":math:`-\sum_i \log v_i`.

    Examples
    --------
    >>> LessSumLog().gradient(np.array([1.0, 2.0]))
    array([-1. , -0.5])
    """

    word = "sum log"
    is_concave = True

    def value(self, values: Array) -> float:
        """Infinite where one is not positive."""
        return float(-np.sum(np.log(values))) if np.all(values > 0.0) else float("inf")

    def gradient(self, values: Array) -> Array:
        """The inverses, negative."""
        return np.asarray(-1.0 / values)

    def root(self, values: Array) -> Array:
        """The inverses."""
        return np.diag(1.0 / values)

    def inside(self, values: Array) -> Array:
        """Not too small."""
        return _positive(values)

    def express(self, cvxpy: Any, values: Any) -> Any:
        """By cvxpy's own function."""
        return -cvxpy.sum(cvxpy.log(values))


class LessEntropy(SmoothFunction):
    r""":math:`\sum_i v_i \log v_i`, zero where a value is.

    Examples
    --------
    >>> LessEntropy().value(np.array([0.0, 1.0]))
    0.0
    """

    word = "entropy"
    is_concave = True

    def value(self, values: Array) -> float:
        """Infinite where one is negative."""
        if np.any(values < 0.0):
            return float("inf")
        positive = values[values > 0.0]
        return float(np.sum(positive * np.log(positive)))

    def gradient(self, values: Array) -> Array:
        """One more than the logarithms."""
        return 1.0 + np.log(values)

    def root(self, values: Array) -> Array:
        """Roots of the inverses."""
        return np.diag(1.0 / np.sqrt(values))

    def inside(self, values: Array) -> Array:
        """Not too small."""
        return _positive(values)

    def express(self, cvxpy: Any, values: Any) -> Any:
        """By cvxpy's own function."""
        return -cvxpy.sum(cvxpy.entr(values))


@dataclass(frozen=True, eq=False)
class Given(SmoothFunction):
    """A convex function of the user's own, by its value, its gradient and cvxpy.

    Bounds are proved of what ``written`` returns; nothing tests that ``of`` is the same function.

    Parameters
    ----------
    of : callable
        Takes an array, returns a number.
    slope : callable
        Takes an array, returns one of the same size.
    written : callable
        Takes a cvxpy expression, returns one.
    word : str

    Examples
    --------
    >>> given = Given(lambda v: float(v @ v), lambda v: 2.0 * v, lambda e: (e**2).sum(), "|v|²")
    >>> given.gradient(np.ones(2))
    array([2., 2.])
    """

    of: Callable[[Array], float]
    slope: Callable[[Array], Array]
    written: Callable[[Any], Any]
    word: str = "f"

    def value(self, values: Array) -> float:
        """As given."""
        return float(self.of(values))

    def gradient(self, values: Array) -> Array:
        """As given."""
        return np.asarray(self.slope(values), dtype=float)

    def express(self, cvxpy: Any, values: Any) -> Any:
        """As given."""
        return self.written(values)


def _positive(values: Array) -> Array:
    """Values of which none is nearly zero beside the largest; the same array where that is so."""
    least = _TINY * max(float(np.max(values, initial=0.0)), _TINY)
    return values if np.min(values, initial=np.inf) >= least else np.maximum(values, least)
