"""Signed similarities with a few labels."""

from __future__ import annotations

import numpy as np

from sdpdr.datasets.sample import Sample
from sdpdr.errors import DataError
from sdpdr.graphs import validate


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
