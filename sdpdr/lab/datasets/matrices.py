"""Matrices to factor, those of which only a part was observed, and signed similarities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.lab.datasets.shapes import Sample


@checks_keywords
def matrix(rows: ArrayLike) -> Sample:
    """Return a given matrix, for cards.

    Parameters
    ----------
    rows : array_like of shape (n, m), or (n, p, q) for a stack of matrices

    Returns
    -------
    X : ndarray of shape (n, m) or (n, p, q)
    row : ndarray of int, shape (n,)

    Examples
    --------
    >>> from sdpdr.datasets import matrix
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


@checks_keywords
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
    >>> import numpy as np
    >>> from sdpdr.datasets import random_nonnegative
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


@checks_keywords
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
    >>> from sdpdr.datasets import random_matrices
    >>> random_matrices(2, 3, 4)[0].shape
    (2, 3, 4)
    """
    shape = tuple(validate.positive_integer(k, v) for k, v in (("n", n), ("p", p), ("q", q)))
    return np.random.default_rng(seed).standard_normal(shape), np.arange(n)


@checks_keywords
def partial_signs(
    n: int = 40,
    m: int = 25,
    rank: int = 2,
    share: float = 0.3,
    flips: float = 0.1,
    seed: int = 0,
) -> Sample:
    """Signs of a matrix of low rank, some of them wrong and most of them missing.

    Parameters
    ----------
    n, m : int, default 40 and 25
        Users and items.
    rank : int, default 2
        Rank of the normal matrix whose signs these are.
    share : float, default 0.3
        Share of the signs that are observed, in (0, 1].
    flips : float, default 0.1
        Share of the signs that are flipped, in [0, 1).
    seed : int, default 0

    Returns
    -------
    X : ndarray of shape (n, m)
        1 and -1 where a sign was observed, 0 elsewhere.
    users : ndarray of shape (n, rank)
        The left factor.

    Examples
    --------
    >>> from sdpdr.datasets import partial_signs
    >>> X, users = partial_signs(4, 3, share=0.5, seed=1)
    >>> X
    array([[ 0.,  1., -1.],
           [ 0.,  0., -1.],
           [ 0.,  0.,  0.],
           [ 0.,  1.,  0.]])
    """
    n, m, rank = (validate.positive_integer(k, v) for k, v in (("n", n), ("m", m), ("rank", rank)))
    if not 0.0 < share <= 1.0:
        raise DataError(f"share must lie in (0, 1]; it is {share}.")
    if not 0.0 <= flips < 1.0:
        raise DataError(f"flips must lie in [0, 1); it is {flips}.")
    rng = np.random.default_rng(seed)
    users = rng.standard_normal((n, rank))
    signs = np.sign(users @ rng.standard_normal((m, rank)).T)
    signs[rng.random((n, m)) < flips] *= -1.0
    return np.where(rng.random((n, m)) < share, signs, 0.0), users


@checks_keywords
def signed_graph(n: int = 10, n_labelled: int = 4, density: float = 1.0, seed: int = 0) -> Sample:
    """Random similarities and dissimilarities of nodes, the first of which have labels.

    Parameters
    ----------
    n : int, default 10
    n_labelled : int, default 4
        Their labels are 1, -1, 1, ...
    density : float, default 1.0
        Share of pairs that are similar or dissimilar at all, in (0, 1].
    seed : int, default 0

    Returns
    -------
    S : ndarray of shape (n, n)
        Symmetric with zero diagonal; uniform in [-1, 1], the strict upper triangle of the first
        ``n * n`` numbers of ``numpy.random.default_rng(seed)``. The next as many say which pairs
        are kept.
    y : ndarray of shape (n,)
        nan for nodes without a label.

    Examples
    --------
    >>> from sdpdr.datasets import signed_graph
    >>> S, y = signed_graph(4, 2)
    >>> S.shape, y.tolist()
    ((4, 4), [1.0, -1.0, nan, nan])
    """
    n = validate.positive_integer("n", n, at_least=2)
    known = validate.positive_integer("n_labelled", n_labelled)
    if known > n:
        raise DataError(f"n_labelled={known} is more than n={n}.")
    if not 0.0 < density <= 1.0:
        raise DataError(f"density must lie in (0, 1]; it is {density}.")
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.uniform(-1.0, 1.0, (n, n)), 1)
    if density < 1.0:
        upper = upper * (rng.random((n, n)) < density)
    y = np.full(n, np.nan)
    y[:known] = np.where(np.arange(known) % 2 == 0, 1.0, -1.0)
    return upper + upper.T, y
