"""Where to begin: shapes from lengths, among known points or free; random factors elsewhere."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.factorization import symmetric_factor
from sdpdr.linalg.walks import connected_components
from sdpdr.solvers.lowrank.edge.program import EdgeProgram
from sdpdr.solvers.lowrank.edge.start import SHRINK, isomap_start, relaxed
from sdpdr.solvers.lowrank.general.problem import FactorBlock, FactorProblem
from sdpdr.solvers.lowrank.interior.held import Held
from sdpdr.solvers.lowrank.interior.metric import laplacian_matrix

# Noise in all columns, relative to the largest coordinate of a shape; and its largest size, in
# units in which lengths are about one, so that it spoils no lengths of large shapes.
_NOISE, _MOST_NOISE = 1e-2, 0.3
# Strengths with which random points are smoothed, in units of the mean diagonal of the Laplacian;
# and the least square of the size of points.
_STRENGTHS, _LEAST_SIZE = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0), 1e-3
_AGREE, _DIGITS = 1e-9, 9  # agreement of entries of one vector, digits of coordinates of anchors
# Anchors up to which all of their distances are used; beyond, so many distances of each.
_ANCHORS_WITH_ALL, _DISTANCES_OF_EACH = 100, 20


def shape_from_lengths(problem: FactorProblem, block: FactorBlock, seed: int) -> Array | None:
    """Isomap of the squared lengths that rows limit from above; None where they do not join all.

    Lengths that come out too long are relaxed.

    Parameters
    ----------
    problem : FactorProblem
    block : FactorBlock
        The matrix variable.
    seed : int

    Returns
    -------
    array of shape (n, r), or None
        In scaled units.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
    >>> problem = compile_problem(methods.mvu(graphs.path([1.0, 1.0])).to_sdp())
    >>> shape = shape_from_lengths(problem, problem.blocks[0], seed=0)
    >>> (np.abs(shape[:, 0]) * np.sqrt(problem.units.unknown)).round(6).tolist()
    [0.9, 0.0, 0.9]
    """
    program = lengths_of(problem, block)
    if program is None:
        return None
    return relaxed(program, SHRINK * isomap_start(program, seed=seed))


def has_lengths(problem: FactorProblem, block: FactorBlock) -> bool:
    """Whether rows give lengths that join all points of a matrix variable."""
    return lengths_of(problem, block) is not None


def lengths_of(problem: FactorProblem, block: FactorBlock) -> EdgeProgram | None:
    """Limits on lengths that join all points of a matrix variable; None if there are none."""
    vectors, square = _squares(problem, block)
    lengths = _is_difference(vectors)
    if not lengths.any() or block.n < 3:
        return None
    edges, size = vectors[lengths].indices.reshape(-1, 2), _largest(vectors[lengths])
    return _joined(edges, square[lengths] / size, block.n)


def _joined(edges: Index, square: Array, n: int) -> EdgeProgram | None:
    """Limits on the lengths of edges between n points; None where they do not join all."""
    edges = np.sort(edges, axis=1)
    _, first = np.unique(edges[:, 0] * n + edges[:, 1], return_index=True)
    edges, square = edges[first], square[first]
    graph = sp.csr_matrix((np.ones(len(edges)), tuple(edges.T)), shape=(n, n))
    if connected_components(graph)[0] > 1:
        return None
    return EdgeProgram(edges=edges, n=n, sqdist=square)


def shape_among_known(
    problem: FactorProblem, block: FactorBlock, held: Held, seed: int
) -> Array | None:
    r"""Isomap of lengths among free points and known ones, turned onto the known ones.

    Where some points are held, a row on :math:`(e_i - \sum_k a_k e_k)` reads the distance of point
    i from one whose coordinates are a. None where lengths do not join all points.

    Parameters
    ----------
    problem : FactorProblem
    block : FactorBlock
        The matrix variable.
    held : Held
        Its p points that are held.
    seed : int

    Returns
    -------
    array of shape (n, p), or None
        In scaled units.

    Examples
    --------
    A point between two others, whose distances from it are limited:

    >>> from sdpdr import blocks, graphs
    >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
    >>> graph = graphs.from_edges(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> lengths = blocks.AnchoredLengths(graph, [0, 2], np.array([[0.0], [2.0]]), exact=False)
    >>> problem = compile_problem((blocks.Coordinates(1, 1) + lengths).to_sdp())
    >>> shape = shape_among_known(problem, problem.blocks[0], Held.of(problem), seed=0)
    >>> (shape * np.sqrt(problem.units.unknown)).round(6).tolist()
    [[1.0], [1.0]]
    """
    points, base = held.points, held.base
    vectors, square = _squares(problem, block)
    n, free = block.n, np.setdiff1d(np.arange(block.n), points)
    if not square.size or not free.size:
        return None
    known = sp.csr_array(vectors[:, points])
    others = sp.csr_array(vectors[:, free])
    lengths = (np.diff(known.indptr) == 0) & _is_difference(others)
    to_known = np.diff(others.indptr) == 1
    scale = others[to_known].data
    found = -(known[to_known] @ base) / scale[:, None]
    places, which = np.unique(_rounded(found), axis=0, return_inverse=True)
    if len(places) <= base.shape[0]:
        return None
    among = _pairs(len(places), seed)
    edges = np.vstack(
        [
            others[lengths].indices.reshape(-1, 2),
            np.column_stack([others[to_known].indices, free.size + which.ravel()]),
            free.size + among,
        ]
    )
    apart = np.square(places[among[:, 0]] - places[among[:, 1]]).sum(axis=1)
    between, away = square[lengths] / _largest(others[lengths]), square[to_known] / scale**2
    program = _joined(edges, np.concatenate([between, away, apart]), free.size + len(places))
    if program is None:
        return None
    shape = isomap_start(program, seed=seed)
    whole = np.zeros((n, base.shape[1]))
    whole[points], whole[free] = base, _turned(shape, places)[: free.size]
    return whole


def _rounded(places: Array) -> Array:
    """Coordinates without the last digits, in which the same point differs from row to row."""
    size = float(np.max(np.abs(places), initial=0.0)) or 1.0
    return np.asarray(np.round(places / size, _DIGITS) * size)


def _turned(shape: Array, places: Array) -> Array:
    """A shape turned and moved so that its last points come near to places."""
    ours = shape[len(shape) - len(places) :]
    here, there = ours.mean(axis=0), places.mean(axis=0)
    left, _, right = np.linalg.svd((ours - here).T @ (places - there), full_matrices=False)
    return np.asarray((shape - here) @ (left @ right) + there)


def _pairs(count: int, seed: int) -> Index:
    """All pairs of a few points; of many, a path and some at random."""
    if count <= _ANCHORS_WITH_ALL:
        return np.column_stack(np.triu_indices(count, 1))
    rng, path = np.random.default_rng(seed), np.arange(count - 1)
    some = rng.integers(count, size=(_DISTANCES_OF_EACH * count, 2))
    return np.vstack([np.column_stack([path, path + 1]), some[some[:, 0] != some[:, 1]]])


def _squares(problem: FactorProblem, block: FactorBlock) -> tuple[sp.csr_array, Array]:
    """Vectors and right sides of the rows v^T K v that are positive, as rows of a matrix."""
    forms = block.forms
    read = sp.csr_array(forms.matrix[1:])
    read.eliminate_zeros()
    row = np.repeat(np.arange(problem.m), np.diff(read.indptr))
    i, j, value = forms.i[read.indices], forms.j[read.indices], read.data
    vectors = _leading(row, i, j, value, (problem.m, forms.n))
    count = np.diff(vectors.indptr)
    # A matrix of rank one is known by one of its rows; its other entries have to agree.
    missed = np.zeros(problem.m)
    product = np.where(i == j, 1.0, 2.0) * _entries(vectors, row, i) * _entries(vectors, row, j)
    np.maximum.at(missed, row, np.abs(product - value))
    most = np.zeros(problem.m)
    np.maximum.at(most, row, np.abs(value))
    able = (np.diff(read.indptr) == count * (count + 1) // 2) & (missed <= _AGREE * most)
    able &= (count > 0) & (problem.rhs > 0.0)
    able &= np.diff(sp.csr_array(forms.weights[1:]).indptr) == 0
    return sp.csr_array(vectors[able]), problem.rhs[able]


def _leading(row: Index, i: Index, j: Index, value: Array, shape: tuple[int, int]) -> sp.csr_array:
    """For each row the vector whose outer product has its entries beside the largest diagonal."""
    diagonal = np.flatnonzero((i == j) & (value > 0.0))
    order = diagonal[np.lexsort((value[diagonal], row[diagonal]))]
    # The last of each row wins.
    place = np.full(shape[0], -1)
    place[row[order]] = order
    with_one = place[row] >= 0
    head = i[place[row]]
    beside = with_one & ((i == head) | (j == head))
    other = np.where(i == head, j, i)[beside]
    root = np.sqrt(value[place[row[beside]]])
    data = np.where(i == j, 1.0, 0.5)[beside] * value[beside] / root
    found = sp.csr_array((data, (row[beside], other)), shape=shape)
    found.eliminate_zeros()
    return found


def _entries(matrix: sp.csr_array, row: Index, column: Index) -> Array:
    return np.asarray(matrix[row, column]).ravel() if row.size else np.zeros(0)


def _is_difference(vectors: sp.csr_array) -> NDArray[np.bool_]:
    """Whether vectors are multiples of e_i - e_j."""
    total = np.asarray(abs(vectors.sum(axis=1))).ravel()
    pair = np.diff(vectors.indptr) == 2
    size = np.zeros(vectors.shape[0])
    size[pair] = np.sqrt(_largest(sp.csr_array(vectors[pair])))
    return np.asarray(pair & (total <= _AGREE * size))


def _largest(vectors: sp.csr_array) -> Array:
    """Square of the largest coefficient of each."""
    return np.square(abs(vectors).max(axis=1).toarray().ravel())


def smoothed(problem: FactorProblem, block: FactorBlock, factor: Array) -> Array | None:
    r"""A random factor averaged over neighbours, as far as that has it keep its rows better.

    Rows that ask entries :math:`K_{ij} = r_i^T r_j` of neighbours to be positive, or to have sums
    that are, are met by points that vary slowly: by :math:`(I + t B)^{-1} R` with the Laplacian B
    of what rows read, all points of one size, t as large as suits them. Independent points have
    entries about zero there, of either sign.

    Parameters
    ----------
    problem : FactorProblem
    block : FactorBlock
        The matrix variable.
    factor : array of shape (n, r)
        Independent points.

    Returns
    -------
    array of shape (n, r), or None
        In scaled units; None where the points given are no worse.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
    >>> problem = compile_problem(methods.density_map(graphs.cycle(50), bandwidth=1.0).to_sdp())
    >>> factor = np.random.default_rng(0).standard_normal((50, 6))
    >>> smooth = smoothed(problem, problem.blocks[0], factor)
    >>> bool(np.mean(np.sum(smooth * np.roll(smooth, 1, axis=0), axis=1) > 0.0) > 0.9)
    True
    """
    forms = block.forms
    upper = laplacian_matrix(forms)
    if np.count_nonzero(upper.data) == forms.n:
        return None
    diagonal = upper.indptr[1:] - 1
    solver = symmetric_factor(upper)
    best, found = _fitted(problem, block, factor)
    smooth = None
    for strength in _STRENGTHS:
        data = strength * upper.data
        data[diagonal] += 1.0
        solver.factorize(data)
        error, found = _fitted(problem, block, solver.solve_all(factor))
        if error >= best:
            break
        best, smooth = error, found
    return smooth


def _fitted(problem: FactorProblem, block: FactorBlock, factor: Array) -> tuple[float, Array]:
    """Points of one size that meets rows best, and the squares of what they miss them by."""
    factor = block.project(factor)
    size = np.linalg.norm(factor, axis=1, keepdims=True)
    factor = factor / np.maximum(size, np.finfo(float).tiny)
    read = block.forms.values(factor)[1:]
    fit = max(problem.fit(read), _LEAST_SIZE)
    away = fit * read - problem.rhs
    away = np.where(problem.equal, away, np.maximum(away, 0.0))
    return float(away @ away), np.sqrt(fit) * factor


def noisy(shape: Array, rank: int, seed: int) -> Array:
    """A shape in the first columns of a factor, and a little noise in all."""
    rng = np.random.default_rng(seed)
    noise = min(_NOISE * float(np.abs(shape).max()), _MOST_NOISE)
    factor = noise * rng.standard_normal((len(shape), rank))
    used = min(rank, shape.shape[1])
    factor[:, :used] += shape[:, :used]
    return factor
