"""Pairs of neighbours, and the shortest edges that join the components of a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, triu

from sdpdr.base.arrays import Array, Index
from sdpdr.graphs.blocks import BLOCK, blocks
from sdpdr.graphs.space import Space
from sdpdr.graphs.ties import at_most, ranked
from sdpdr.linalg.walks import connected_components, linked_parts, members, spanning_forest

# Up to this many components, each is joined to all others.
PARTS = 30


def from_table(table: Index, values: ArrayLike = True) -> csr_array:
    """Matrix A with A[i, j] true, or a value, when j stands in row i of a table (n, k)."""
    n, k = table.shape
    start = np.arange(0, n * k + 1, k)
    entries = np.broadcast_to(np.asarray(values), (n, k)).ravel()
    return csr_array((entries, table.ravel(), start), shape=(n, n))


def from_pairs(n: int, pairs: Index) -> csr_array:
    """Symmetric matrix of the pairs (i, j), shape (p, 2)."""
    half = csr_array((np.ones(len(pairs), dtype=bool), tuple(pairs.T)), shape=(n, n))
    return csr_array(half + half.T)


def upper_pairs(matrix: csr_array) -> Index:
    """Pairs (i, j), i < j, with A[i, j] or A[j, i]: distinct, sorted, shape (m, 2)."""
    upper = csr_array(triu(matrix + matrix.T, k=1))
    upper.sort_indices()
    i = np.repeat(np.arange(upper.shape[0]), np.diff(upper.indptr))
    return np.column_stack([i, upper.indices]).astype(np.intp)


def clique_pairs(matrix: csr_array) -> Index:
    r"""Every pair inside a neighbourhood {i} + N(i): the pattern of :math:`A^T A + A + A^T`."""
    return upper_pairs(matrix.T @ matrix + matrix)


def sorted_pairs(pairs: ArrayLike) -> tuple[Index, Index]:
    """Return the distinct pairs, sorted, with i < j, and the position of each given pair there."""
    ends = np.sort(np.asarray(pairs, dtype=np.intp).reshape(-1, 2), axis=1)
    order = np.lexsort(ends.T[::-1])
    ends = ends[order]
    # np.unique of rows compares them as bytes, which takes ten times as long.
    new = np.ones(len(ends), dtype=bool)
    new[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    position = np.empty(len(ends), dtype=np.intp)
    position[order] = np.cumsum(new) - 1
    return ends[new], position


def first_forest(pairs: Index) -> Index:
    """Return positions of pairs that form a spanning forest, without the last pair of each cycle.

    Examples
    --------
    >>> first_forest(np.array([[4, 9], [9, 2], [2, 4], [9, 4]])).tolist()
    [0, 1]
    """
    if not len(pairs):
        return np.empty(0, dtype=np.intp)
    known, ends = np.unique(pairs, return_inverse=True)
    links, position = sorted_pairs(ends)
    first = np.full(len(links), len(pairs))
    np.minimum.at(first, position, np.arange(len(pairs)))
    # The weight of a pair is its position, so that the forest prefers early pairs.
    ranks = csr_array((first + 1.0, tuple(links.T)), shape=(known.size, known.size))
    return np.sort(spanning_forest(ranks).data.astype(np.intp) - 1)


def shortest_links(space: Space, labels: Index) -> Index:
    """Return edges of least total length, shape (parts - 1, 2), that connect all components.

    Borůvka's method: every part but the largest, which would take longest to search, chooses the
    shortest edge that leaves it, and joined parts become one. Edges of equal length are ordered
    by their smaller and then their larger end, so the result is unique.

    Examples
    --------
    >>> from sdpdr.graphs.data import make_space
    >>> line = make_space([[0.0], [1.0], [3.0], [6.0]])
    >>> shortest_links(line, np.array([0, 0, 1, 2]))
    array([[1, 2],
           [2, 3]])
    """
    links = [np.empty((0, 2), dtype=np.intp)]
    while (parts := int(labels.max()) + 1) > 1:
        rows = np.flatnonzero(labels != np.bincount(labels).argmax())
        ends, length = _nearest_outside(space, labels, rows)
        best = np.full(parts, np.inf)
        np.minimum.at(best, labels[rows], length)
        kept = at_most(length, best[labels[rows]], space.tolerance)
        pairs = np.sort(np.column_stack([rows, ends]), axis=1)[kept]
        part = labels[rows][kept]
        order = np.lexsort((*pairs.T[::-1], part))
        chosen = sorted_pairs(pairs[order[np.unique(part[order], return_index=True)[1]]])[0]
        # Chains of equal lengths may close a cycle, whose longest edge is left out.
        chosen = chosen[np.argsort(space.sqdist(*chosen.T), kind="stable")]
        links.append(chosen[first_forest(labels[chosen])])
        labels = linked_parts(parts, labels[links[-1]])[labels]
    return sorted_pairs(np.concatenate(links))[0]


def smallest_k(space: Space) -> int:
    """Smallest number of neighbours whose graph of distinct points is connected.

    The number of neighbours to search for is doubled until all points are connected. Pairs inside a
    component are left out, so that memory grows with the pairs between components.
    """
    space.require_joined()
    n, k = space.n, 1
    forest = csr_array((n, n))
    while forest.nnz < n - 1:
        labels = np.asarray(connected_components(forest)[1], dtype=np.intp)
        found = []
        for rows in blocks(np.arange(n), max(1, BLOCK // k)):
            table = space.nearest(k, rows=rows)
            row, rank = np.nonzero(labels[table] != labels[rows, None])
            found.append(np.column_stack([rows[row], table[row, rank], rank + 1]))
        i, j, ranks = np.concatenate(found).T
        forest = spanning_forest(forest + csr_array((ranks.astype(float), (i, j)), shape=(n, n)))
        k = min(2 * k, n - 1)
    return int(forest.data.max(initial=1.0))


def smallest_radius(space: Space) -> float:
    """Smallest radius whose graph of distinct points is connected."""
    tree = shortest_links(space, np.arange(space.n))
    return float(np.sqrt(space.sqdist(*tree.T).max()))


def bridges(space: Space, labels: Index, each: int) -> Index:
    """Return short edges, shape (m, 2), that fix the components relative to each other.

    From the smaller of two components, the ``each`` points nearest to the other one are joined to
    their nearest points there. Up to `PARTS` components are joined pairwise; beyond, only those
    that `shortest_links` joins.

    Examples
    --------
    >>> from sdpdr.graphs.data import make_space
    >>> line = make_space([[0.0], [1.0], [3.0], [6.0]])
    >>> bridges(line, np.array([0, 0, 1, 1]), 2)
    array([[0, 2],
           [1, 2]])
    """
    parts = int(labels.max()) + 1
    if parts <= PARTS:
        joined = np.column_stack(np.triu_indices(parts, 1))
    else:
        joined = sorted_pairs(labels[shortest_links(space, labels)])[0]
    own, found = members(labels), []
    for pair in joined:
        near, far = sorted((own[p] for p in pair), key=len)
        pairs = sorted_pairs(np.column_stack([near, space.nearest_between(near, far)]))[0]
        length = space.sqdist_or_inf(*pairs.T)
        first = ranked(length[None], space.tolerance)[0][0, :each]
        found.append(pairs[first[np.isfinite(length[first])]])
    return sorted_pairs(np.concatenate(found))[0]


def _nearest_outside(space: Space, labels: Index, rows: Index) -> tuple[Index, Array]:
    """The nearest point in another part for each of some points, and its squared distance.

    Two different labels differ in some binary digit. So searching from the points with digit 0
    among those with digit 1 and back, for each digit, covers every pair of parts with
    log2(parts) searches instead of one for each part.
    """
    end = np.full(len(rows), space.n)
    best = np.full(len(rows), np.inf)
    for digit in range(int(labels.max()).bit_length()):
        one = (labels >> digit) & 1
        for side in (0, 1):
            here = np.flatnonzero(one[rows] == side)
            if here.size == 0:
                continue
            found = space.nearest_between(rows[here], np.flatnonzero(one != side))
            length = space.sqdist_or_inf(rows[here], found)
            equal = at_most(length, best[here], space.tolerance) & (found < end[here])
            closer = equal | ~at_most(best[here], length, space.tolerance)
            end[here[closer]], best[here[closer]] = found[closer], length[closer]
    return end, best
