"""Where to begin: shapes from lengths, among known points or free; random factors elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import QuadraticForms, lengths_of
from sdpdr.linalg.walks import connected_components
from sdpdr.program.attain.framed import fixed_block
from sdpdr.program.sdp import SDP
from sdpdr.solvers.lowrank.edge.program import EdgeProgram
from sdpdr.solvers.lowrank.edge.start import isomap_start

_NOISE = 1e-2  # of a shape, in all columns
_FEW, _SOME = 100, 20  # known points all of whose distances are used; of more, how many each


def shape_from_lengths(sdp: SDP, name: str, seed: int) -> Array | None:
    """Isomap of the squared lengths that rows limit from above; None where they do not join all.

    Parameters
    ----------
    sdp : SDP
    name : str
        Of the matrix variable.
    seed : int

    Returns
    -------
    array of shape (n, r), or None

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.mvu(graphs.path([1.0, 1.0])).to_sdp()
    >>> shape_from_lengths(sdp, "K", seed=0)[:, 0].round(6).tolist() in ([-1, 0, 1], [1, 0, -1])
    True
    """
    n = next(v.n for v in sdp.psd_variables if v.name == name)
    found = list(_lengths(sdp, name))
    if not found or n < 3:
        return None
    edges = np.concatenate([e for e, _ in found])
    square = np.concatenate([d for _, d in found])
    return _isomap(edges, square, n, seed)


def _isomap(edges: Index, square: Array, n: int, seed: int) -> Array | None:
    """A shape of n points with such lengths; None where they do not join all."""
    edges = np.sort(edges, axis=1)
    _, first = np.unique(edges[:, 0] * n + edges[:, 1], return_index=True)
    edges, square = edges[first], square[first]
    graph = sp.csr_matrix((np.ones(len(edges)), tuple(edges.T)), shape=(n, n))
    if connected_components(graph)[0] > 1:
        return None
    return isomap_start(EdgeProgram(edges=edges, n=n, sqdist=square), seed=seed)


def shape_among_known(sdp: SDP, name: str, seed: int) -> Array | None:
    r"""Isomap of lengths among free points and known ones, turned onto the known ones.

    Where a block of the matrix is fixed, a row on :math:`(e_i - \sum_k a_k e_k)` reads the distance
    of point i from one whose coordinates are a. None where no block is fixed, or where lengths do
    not join all points.

    Parameters
    ----------
    sdp : SDP
    name : str
        Of the matrix variable.
    seed : int

    Returns
    -------
    array of shape (n, p), or None
        With p fixed points, which it meets.

    Examples
    --------
    A point between two others, whose distances from it are limited:

    >>> from sdpdr import blocks, graphs
    >>> graph = graphs.from_edges(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> lengths = blocks.AnchoredLengths(graph, [0, 2], np.array([[0.0], [2.0]]), exact=False)
    >>> sdp = (blocks.Coordinates(1, 1) + lengths).to_sdp()
    >>> shape_among_known(sdp, "Z", seed=0).round(6).tolist()
    [[1.0], [1.0]]
    """
    frame = fixed_block(sdp)
    if frame is None:
        return None
    points, base = frame[0], np.linalg.cholesky(frame[1])
    vectors, square = _quadratic(sdp, name)
    if not square.size:
        return None
    known = sp.csr_array(vectors[:, points])
    n, free = vectors.shape[1], np.setdiff1d(np.arange(vectors.shape[1]), points)
    others = sp.csr_array(vectors[:, free])
    count = np.diff(others.indptr)
    lengths = (count == 2) & (np.diff(known.indptr) == 0) & (abs(others.sum(axis=1)) < 1e-12)
    held = count == 1
    size = np.square(np.maximum(abs(others).max(axis=1).toarray().ravel(), 1e-300))
    scale = others[held].data
    places, which = np.unique(-(known[held] @ base) / scale[:, None], axis=0, return_inverse=True)
    if len(places) <= base.shape[0]:
        return None
    among = _pairs(len(places), seed)
    edges = np.vstack(
        [
            others[lengths].indices.reshape(-1, 2),
            np.column_stack([others[held].indices, free.size + which.ravel()]),
            free.size + among,
        ]
    )
    apart = np.square(places[among[:, 0]] - places[among[:, 1]]).sum(axis=1)
    sqdist = np.concatenate([(square / size)[lengths], (square / size)[held], apart])
    shape = _isomap(edges, sqdist, free.size + len(places), seed)
    if shape is None:
        return None
    found = np.zeros((n, base.shape[1]))
    found[points], found[free] = base, _turned(shape, places)[: free.size]
    return found


def _turned(shape: Array, places: Array) -> Array:
    """A shape turned and moved so that its last points come near to places."""
    ours = shape[len(shape) - len(places) :]
    here, there = ours.mean(axis=0), places.mean(axis=0)
    left, _, right = np.linalg.svd((ours - here).T @ (places - there), full_matrices=False)
    return np.asarray((shape - here) @ (left @ right) + there)


def _pairs(count: int, seed: int) -> Index:
    """All pairs of a few points; of many, a path and some at random."""
    if count <= _FEW:
        return np.column_stack(np.triu_indices(count, 1))
    rng, path = np.random.default_rng(seed), np.arange(count - 1)
    some = rng.integers(count, size=(_SOME * count, 2))
    return np.vstack([np.column_stack([path, path + 1]), some[some[:, 0] != some[:, 1]]])


def _quadratic(sdp: SDP, name: str) -> tuple[sp.csr_array, Array]:
    """Vectors and right sides of rows that limit, or price, quadratic forms of a matrix."""
    n = next(v.n for v in sdp.psd_variables if v.name == name)
    vectors, square = [sp.csr_array((0, n))], [np.zeros(0)]
    for rows in sdp.rows:
        linear_map = rows.lhs.get(name)
        if isinstance(linear_map, QuadraticForms):
            positive = np.flatnonzero(rows.rhs > 0.0)
            vectors.append(linear_map.vectors[positive])
            square.append(rows.rhs[positive])
    return sp.csr_array(sp.vstack(vectors)), np.concatenate(square)


def noisy(shape: Array, rank: int, seed: int) -> Array:
    """A shape in the first columns of a factor, and a little noise in all."""
    rng = np.random.default_rng(seed)
    factor = _NOISE * float(np.abs(shape).max()) * rng.standard_normal((len(shape), rank))
    used = min(rank, shape.shape[1])
    factor[:, :used] += shape[:, :used]
    return factor


def _lengths(sdp: SDP, name: str) -> Iterator[tuple[Index, Array]]:
    """Edges and squared lengths of rows that are exact or limit from above."""
    for rows in sdp.rows:
        found = lengths_of(rows.lhs.get(name))
        if found is not None:
            edges, factor = found
            upper = (factor > 0.0) & (rows.rhs > 0.0)
            yield edges[upper], (rows.rhs / np.where(upper, factor, 1.0))[upper]
