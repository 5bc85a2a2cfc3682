"""Pairs of neighbours, and the shortest edges that join what is apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, triu

from sdpdr.base.arrays import Array, Index
from sdpdr.graphs.search import at_most, ranked
from sdpdr.graphs.space import Space
from sdpdr.linalg.walks import linked_parts, members, spanning_forest

# Parts of which each is joined to all others.
PARTS = 30


def from_table(table: Index, values: ArrayLike = True) -> csr_array:
    """Matrix A with A[i, j] true, or a value, when j stands in row i of a table (n, k)."""
    n, k = table.shape
    start = np.arange(0, n * k + 1, k)
    entries = np.broadcast_to(np.asarray(values), (n, k)).ravel()
    return csr_array((entries, table.ravel(), start), shape=(n, n))


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


def first_forest(pairs: Index) -> Index:
    """Positions of pairs, in order, that join all that pairs do; of a cycle the last one goes.

    Examples
    --------
    >>> first_forest(np.array([[4, 9], [9, 2], [2, 4], [9, 4]])).tolist()
    [0, 1]
    """
    if not len(pairs):
        return np.empty(0, dtype=np.int64)
    known, ends = np.unique(pairs, return_inverse=True)
    links, position = sorted_pairs(ends)
    first = np.full(len(links), len(pairs))
    np.minimum.at(first, position, np.arange(len(pairs)))
    # The later a pair, the longer.
    ranks = csr_array((first + 1.0, tuple(links.T)), shape=(known.size, known.size))
    return np.sort(spanning_forest(ranks).data.astype(np.int64) - 1)


# Neighbours of each point looked up beforehand. Edges of a minimum spanning tree are so short that
# these hold nearly all of them: of a swiss roll of 100,000 points all but a few hundred.
NEARBY = 8
# A search through all points is put off while at least this share of the parts can do without.
ENOUGH = 0.1


def shortest_links(space: Space, labels: Index) -> Index:
    """Edges of least total length that connect the parts of a set of points.

    Borůvka's method: every part chooses the shortest edge that leaves it, and the parts joined
    become one. Edges are compared by length (`sdpdr.graphs.search` says what is equal), then by
    their smaller and their larger end, so that no two are equal: the result is unique, and the
    edges chosen form no cycle. Of lengths that make a chain, each equal to the next and the ends
    not, they may; then the longest edge of the cycle is left out. A part whose shortest edge is not
    known without a search waits while others can go on. O(n) memory for points in few dimensions.

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

    References
    ----------
    March, Ram and Gray, "Fast Euclidean minimum spanning tree: algorithm, analysis, and
    applications", KDD 2010 (the same with two trees walked together).

    Examples
    --------
    >>> from sdpdr.graphs.space import make_space
    >>> line = make_space([[0.0], [1.0], [3.0], [6.0]])
    >>> shortest_links(line, np.array([0, 0, 1, 2]))
    array([[1, 2],
           [2, 3]])
    """
    links = [np.empty((0, 2), dtype=np.int64)]
    parts = int(labels.max()) + 1
    here = np.arange(space.n)
    ends = space.nearest(min(NEARBY, space.n - 1)) if parts == space.n > 1 else here[:, None]
    sqdist = space.sqdist(here[:, None], ends)
    while parts > 1:
        chosen = _without_cycles(space, labels, _chosen(space, labels, ends, sqdist))
        links.append(chosen)
        labels = linked_parts(parts, labels[chosen])[labels]
        parts = int(labels.max()) + 1
    return sorted_pairs(np.concatenate(links))[0]


def bridges(space: Space, labels: Index, each: int) -> Index:
    """Short edges that hold the parts of a set of points where they lie.

    Of the smaller of two parts the ``each`` points nearest to the other are joined to what is
    nearest to them there. Of pairs of equal length (`sdpdr.graphs.search` says what is equal) the
    one with the smaller indices comes first. Every part is joined to every other while they are at
    most `PARTS`; of more, those that `shortest_links` joins.

    Parameters
    ----------
    space : Space
    labels : ndarray of shape (n,)
        Part of each point, numbered from 0.
    each : int
        Edges between two parts.

    Returns
    -------
    ndarray of shape (m, 2)
        Pairs (i, j), i < j, sorted.

    Examples
    --------
    >>> from sdpdr.graphs.space import make_space
    >>> line = make_space([[0.0], [1.0], [3.0], [6.0]])
    >>> bridges(line, np.array([0, 0, 1, 1]), 2)
    array([[0, 2],
           [1, 2]])
    """
    parts = int(labels.max()) + 1
    if parts <= PARTS:
        pairs = np.column_stack(np.triu_indices(parts, 1))
    else:
        pairs = sorted_pairs(labels[shortest_links(space, labels)])[0]
    own, found = members(labels), []
    for pair in pairs:
        near, far = sorted((own[p] for p in pair), key=len)
        ends = space.nearest_between(near, far)
        found.append(_shortest(space, np.column_stack([near, ends]), each))
    return sorted_pairs(np.concatenate(found))[0]


def _shortest(space: Space, pairs: Index, each: int) -> Index:
    """The shortest of some pairs whose lengths are known, of equals the first."""
    pairs, _ = sorted_pairs(pairs)
    length = _away(space, *pairs.T)
    first = ranked(length[None], space.tolerance)[0][0, :each]
    return pairs[first[np.isfinite(length[first])]]


def _chosen(space: Space, labels: Index, ends: Index, sqdist: Array) -> Index:
    """Shortest edge out of each part for which it is known; some are. Pairs (i, j), i < j.

    Of each point ``ends`` holds others, nearest first. Where all are in its own part, what is
    outside is no nearer than the last of them, and is looked up, to be kept, if it matters.
    """
    here = np.arange(space.n)
    # The largest part, which would take longest to search, can wait for the others to join it.
    others = labels != np.bincount(labels).argmax()
    for has_looked in (False, True):
        outside = labels[ends] != labels[:, None]
        live = outside.any(axis=1)
        column = np.where(live, outside.argmax(axis=1), -1)
        length = sqdist[here, column]
        best = np.full(labels.max() + 1, np.inf)
        np.minimum.at(best, labels[live], length[live])
        # The last of a point's list may be longer, by a tie, than others that are not in it.
        doubtful = ~live & at_most(length, best[labels], 2.0 * space.tolerance)
        sure = np.bincount(labels[doubtful], minlength=len(best)) == 0
        if has_looked or sure.mean() >= ENOUGH:
            break
        rows = np.flatnonzero(doubtful & others)
        found, away = _nearest_outside(space, labels, rows)
        ends[rows], sqdist[rows] = found[:, None], away[:, None]
    equal = at_most(length, best[labels], space.tolerance)
    shortest = np.flatnonzero(live & sure[labels] & equal)
    pairs = np.sort(np.column_stack([shortest, ends[shortest, column[shortest]]]), axis=1)
    part = labels[shortest]
    order = np.lexsort((*pairs.T[::-1], part))
    _, first = np.unique(part[order], return_index=True)
    return sorted_pairs(pairs[order[first]])[0]


def _without_cycles(space: Space, labels: Index, pairs: Index) -> Index:
    """Of edges between parts those that join them, the shorter first, without a cycle."""
    pairs = pairs[np.argsort(space.sqdist(*pairs.T), kind="stable")]
    return np.asarray(pairs[first_forest(labels[pairs])])


def _nearest_outside(space: Space, labels: Index, rows: Index) -> tuple[Index, Array]:
    """Nearest point in another part, for each of some points, and its squared distance.

    Two labels that differ do so in some binary digit. Searching from the points with digit 0
    among those with digit 1 and back, for each digit, therefore meets every pair of parts, at
    the price of log2(parts) searches instead of one for each part.
    """
    end = np.full(len(rows), space.n)
    best = np.full(len(rows), np.inf)
    for digit in range(int(labels.max()).bit_length()):
        one = (labels >> digit) & 1
        for side in (0, 1):
            here = np.flatnonzero(one[rows] == side)
            there = np.flatnonzero(one != side)
            if here.size == 0:
                continue
            found = space.nearest_between(rows[here], there)
            length = _away(space, rows[here], found)
            equal = at_most(length, best[here], space.tolerance) & (found < end[here])
            closer = equal | ~at_most(best[here], length, space.tolerance)
            end[here[closer]], best[here[closer]] = found[closer], length[closer]
    return end, best


def _away(space: Space, i: Index, j: Index) -> Array:
    """Squared distances, infinite where they are not known."""
    length = np.full(len(i), np.inf)
    known = space.known(i, j)
    length[known] = space.sqdist(i[known], j[known])
    return length
