"""Spanning trees of sparse graphs."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree

from sdpdr.linalg.walks import short_indices


def spanning_forest(weights: Any) -> sp.csr_array:
    """Shortest spanning tree of every component of a graph, as a sparse matrix of its edges.

    Parameters
    ----------
    weights : sparse array of shape (n, n)
        Positive lengths of the edges, each in one triangle at least.

    Examples
    --------
    >>> forest = spanning_forest(sp.csr_array([[0.0, 1.0, 3.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    >>> [(int(i), int(j)) for i, j in zip(*forest.nonzero())]
    [(0, 1), (1, 2)]
    """
    return sp.csr_array(minimum_spanning_tree(short_indices(sp.csr_array(weights))))
