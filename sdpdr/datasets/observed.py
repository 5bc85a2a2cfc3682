"""Matrices of which only a part was observed."""

from __future__ import annotations

import numpy as np

from sdpdr.datasets.sample import Sample
from sdpdr.errors import DataError
from sdpdr.graphs import validate


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
        Of the normal matrix whose signs they are.
    share : float, default 0.3
        How many are observed, in (0, 1].
    flips : float, default 0.1
        How many are turned round, in [0, 1).
    seed : int, default 0

    Returns
    -------
    X : ndarray of shape (n, m)
        1 and -1 where a sign was observed, 0 elsewhere.
    users : ndarray of shape (n, rank)
        The left factor.

    Examples
    --------
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
