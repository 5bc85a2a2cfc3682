"""Who neighbours whom, as sparse boolean matrices, and the pairs that follow from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, triu

from sdpdr.graphs.arrays import Index


def from_table(table: Index) -> csr_array:
    """Matrix A with A[i, j] true when j stands in row i of a table of neighbours (n, k)."""
    n, k = table.shape
    start = np.arange(0, n * k + 1, k)
    return csr_array((np.ones(n * k, dtype=bool), table.ravel(), start), shape=(n, n))


def from_pairs(n: int, pairs: Index) -> csr_array:
    """Symmetric matrix of the pairs (i, j), shape (p, 2)."""
    i, j = pairs.T
    half = csr_array((np.ones(len(pairs), dtype=bool), (i, j)), shape=(n, n))
    return csr_array(half + half.T)


def upper_pairs(matrix: csr_array) -> Index:
    """Pairs (i, j), i < j, with A[i, j] or A[j, i]: distinct, sorted, shape (m, 2)."""
    upper = csr_array(triu(matrix + matrix.T, k=1))
    upper.sort_indices()
    i = np.repeat(np.arange(upper.shape[0]), np.diff(upper.indptr))
    return np.column_stack([i, upper.indices]).astype(np.int64)


def clique_pairs(matrix: csr_array) -> Index:
    r"""Every pair inside a neighbourhood {i} + N(i), N(i) = {j : A[i, j]}.

    The off-diagonal pattern of :math:`A^T A + A + A^T`. The side matters: two points share a
    neighbourhood when some third one points at both, which is a product over the rows of A.
    """
    return upper_pairs(matrix.T @ matrix + matrix)


def sorted_pairs(pairs: ArrayLike) -> tuple[Index, Index]:
    """Pairs turned to i < j, distinct and sorted; and for each pair passed its position there."""
    ends = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
    order = np.lexsort(ends.T[::-1])
    ends = ends[order]
    # np.unique of rows would compare them as bytes, ten times as slowly.
    new = np.ones(len(ends), dtype=bool)
    new[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    position = np.empty(len(ends), dtype=np.int64)
    position[order] = np.cumsum(new) - 1
    return ends[new], position
