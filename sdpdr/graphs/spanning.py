"""Shortest edges that join what is apart: minimum spanning trees of points."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from sdpdr.graphs.arrays import Array, Index
from sdpdr.graphs.pairs import sorted_pairs
from sdpdr.graphs.space import Space
from sdpdr.linalg.trees import spanning_forest


def shortest_links(space: Space, labels: Index) -> Index:
    """Edges of least total length that connect the parts of a set of points.

    Borůvka's method: every part chooses the shortest edge that leaves it, the edges chosen that
    form no cycle are kept, and the parts they join become one; the number of parts at least
    halves in each round. Exact up to rounding, O(n) memory for points in few dimensions.

    Parameters
    ----------
    space : Space
    labels : ndarray of shape (n,)
        Part of each point, numbered from 0. With ``arange(n)`` the result is a minimum spanning
        tree of the points.

    Returns
    -------
    ndarray of shape (parts - 1, 2)
        Pairs (i, j), i < j, sorted.

    Examples
    --------
    >>> from sdpdr.graphs.space import make_space
    >>> line = make_space([[0.0], [1.0], [3.0], [6.0]])
    >>> shortest_links(line, np.array([0, 0, 1, 2]))
    array([[1, 2],
           [2, 3]])
    """
    links = [np.empty((0, 2), dtype=np.int64)]
    while (parts := int(labels.max()) + 1) > 1:
        ends, length = _nearest_outside(space, labels)
        order = np.lexsort((length, labels))
        _, first = np.unique(labels[order], return_index=True)
        chosen = order[first]
        # Row p of this matrix holds the one edge that part p chose, so rows name edges.
        choices = csr_array(
            (length[chosen], (np.arange(parts), labels[ends[chosen]])), shape=(parts, parts)
        )
        forest = spanning_forest(choices)
        kept = chosen[forest.nonzero()[0]]
        links.append(np.column_stack([kept, ends[kept]]))
        _, merged = connected_components(forest, directed=False)
        labels = merged.astype(np.int64)[labels]
    return sorted_pairs(np.concatenate(links))[0]


def _nearest_outside(space: Space, labels: Index) -> tuple[Index, Array]:
    """Nearest point in another part, for each point, and its squared distance.

    Two labels that differ do so in some binary digit. Searching from the points with digit 0
    among those with digit 1 and back, for each digit, therefore meets every pair of parts, at
    the price of log2(parts) searches instead of one for each part.
    """
    end = np.zeros(space.n, dtype=np.int64)
    best = np.full(space.n, np.inf)
    for digit in range(int(labels.max()).bit_length()):
        ones = (labels >> digit) & 1
        zero, one = np.flatnonzero(ones == 0), np.flatnonzero(ones)
        for here, there in ((zero, one), (one, zero)):
            found = there[space.nearest_between(here, there)]
            length = space.sqdist(here, found)
            closer = length < best[here]
            end[here[closer]], best[here[closer]] = found[closer], length[closer]
    return end, best
