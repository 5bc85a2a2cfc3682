"""Matrices to factor."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.datasets.sample import Sample
from sdpdr.errors import DataError
from sdpdr.graphs import validate


def matrix(rows: ArrayLike) -> Sample:
    """A matrix that is written out, for cards.

    Parameters
    ----------
    rows : array_like of shape (n, m), or (n, p, q) for a stack of matrices

    Returns
    -------
    X : ndarray of shape (n, m) or (n, p, q)
    row : ndarray of int, shape (n,)

    Examples
    --------
    >>> matrix([[1, 2], [3, 4]])[0]
    array([[1., 2.],
           [3., 4.]])
    """
    try:
        X = np.asarray(rows, dtype=float)
    except (TypeError, ValueError):
        raise DataError("rows must be numbers, as many in each row.") from None
    if X.ndim not in (2, 3) or not X.size:
        raise DataError(f"rows must have shape (n, m) or (n, p, q); they have {X.shape}.")
    return X, np.arange(len(X))


def random_nonnegative(
    n: int = 10, m: int = 10, rank: int = 3, density: float = 1.0, seed: int = 0
) -> Sample:
    """A non-negative matrix that is the product of two random non-negative factors.

    Parameters
    ----------
    n, m : int, default 10
        Its shape.
    rank : int, default 3
        Columns of the factors.
    density : float, default 1.0
        Share of their entries that are not zero, in (0, 1].
    seed : int, default 0

    Returns
    -------
    X : ndarray of shape (n, m)
    W : ndarray of shape (n, rank)
        The first factor, uniform in [0, 1] where it is not zero. The first ``n * rank`` numbers of
        ``numpy.random.default_rng(seed)`` are its entries, the next as many say which are kept.

    Examples
    --------
    >>> X, W = random_nonnegative(4, 3, rank=2)
    >>> X.shape, W.shape, int(np.linalg.matrix_rank(X))
    ((4, 3), (4, 2), 2)
    """
    n, m = (validate.positive_integer(k, v) for k, v in (("n", n), ("m", m)))
    k = validate.positive_integer("rank", rank)
    if not 0.0 < density <= 1.0:
        raise DataError(f"density must lie in (0, 1]; it is {density}.")
    rng = np.random.default_rng(seed)
    W = rng.random((n, k)) * (rng.random((n, k)) < density)
    H = rng.random((k, m)) * (rng.random((k, m)) < density)
    return W @ H, W


def random_matrices(n: int = 4, p: int = 5, q: int = 4, seed: int = 0) -> Sample:
    """A stack of matrices with independent standard normal entries.

    Parameters
    ----------
    n : int, default 4
        How many.
    p, q : int, default 5 and 4
        Shape of each.
    seed : int, default 0

    Returns
    -------
    X : ndarray of shape (n, p, q)
    index : ndarray of int, shape (n,)

    Examples
    --------
    >>> random_matrices(2, 3, 4)[0].shape
    (2, 3, 4)
    """
    shape = tuple(validate.positive_integer(k, v) for k, v in (("n", n), ("p", p), ("q", q)))
    return np.random.default_rng(seed).standard_normal(shape), np.arange(n)
