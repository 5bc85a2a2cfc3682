"""Before the first iteration a check of boundedness and a start; after the last, exact limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import splu

from sdpdr.base.errors import DisconnectedGraphError, ModelError
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.walks import connected_components, dijkstra
from sdpdr.solvers.lowrank.edge.certificate import heavy_weights
from sdpdr.solvers.lowrank.edge.program import EdgeProgram, Matrix, Vector

_RANK_WITH_LOWER_LIMITS = 8  # unrolling under equalities needs room to move
_FULL_RANK_SIZE = 25  # up to this size lower limits get every column there is
FEW_COLUMNS = 6  # at most so many at first, whatever the answer will need
# Scale of a start by Isomap, whose lengths are a little too long almost everywhere.
SHRINK = 0.9
# From 20 to 100 landmarks rolls of 10,000 and 100,000 points took as many iterations.
_LANDMARKS, _WAYS = (20, 100), 2_000_000
_SIGNIFICANT = 0.03  # share of the leading eigenvalue below which an Isomap direction is noise


def require_bounded(program: EdgeProgram) -> None:
    """Raise an error when variance can grow without limit.

    Raises
    ------
    DisconnectedGraphError
        When edges with an upper limit do not join all points.
    ModelError
        When penalties are too low to hold the points together.

    Examples
    --------
    >>> require_bounded(EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0, penalty=0.6))
    """
    limited = np.isfinite(program.upper)
    i, j = program.edges[limited].T
    graph = csr_matrix((np.ones(len(i)), (i, j)), shape=(program.n, program.n))
    count, label = connected_components(graph)
    if count > 1:
        parts = sorted((np.flatnonzero(label == k) for k in range(count)), key=len, reverse=True)
        raise DisconnectedGraphError(
            f"the edges with an upper limit join the {program.n} points into {count} separate "
            f"parts (largest: {len(parts[0])} points), which may drift apart for ever; use more "
            "neighbours, add edges between the parts, or solve each part alone.",
            parts,
        )
    if np.isfinite(program.penalty[limited]).any():
        strength = program.remembered(heavy_weights)[1]
        if strength < 1:
            raise ModelError(
                "penalties are too low to hold the points together, so variance is unbounded: the "
                "Laplacian weighted with the penalties has second smallest eigenvalue "
                f"{strength:.3g}, and needs at least 1. Multiply penalties by {1 / strength:.3g} "
                "or more, or use a stiffness."
            )


def isomap_start(program: EdgeProgram, rank: int | None = None, seed: int = 0) -> Matrix:
    r"""Embed by landmark Isomap: classical scaling of graph distances to a few landmarks.

    With :math:`G` the squared shortest-path lengths from the landmarks, :math:`\bar g` their
    mean over landmarks, and :math:`V \Lambda V^T` the leading part of the doubly centred block
    of G, every point gets :math:`-\tfrac12 (g_i - \bar g)^T V \Lambda^{-1/2}`. There are 100
    landmarks, and fewer beyond 20,000 points, whose paths take longer than they help.

    Parameters
    ----------
    program : EdgeProgram
        Lengths of the paths are the square roots of ``sqdist``.
    rank : int, optional
        Columns wanted; those Isomap cannot fill hold small noise. Default: the significant
        directions and one more, between three and six (never more than n - 1).
    seed : int, default 0

    Returns
    -------
    (n, rank) array, centred for the masses of the program.

    References
    ----------
    de Silva and Tenenbaum (2003), landmark multidimensional scaling.

    Examples
    --------
    >>> path = EdgeProgram(edges=[[0, 1], [1, 2]], n=3, sqdist=[1.0, 1.0])
    >>> np.abs(isomap_start(path, rank=1).round(6).ravel()).tolist()
    [1.0, 0.0, 1.0]
    """
    rng = np.random.default_rng(seed)
    n_landmarks = int(np.clip(_WAYS // program.n, *_LANDMARKS))
    spectrum, basis, sqdist, mean = _landmark_scaling(program, n_landmarks, rng)
    if rank is None:
        rank = first_rank(program, spectrum)
    rank = min(rank, program.n - 1)
    used = min(rank, int((spectrum > 1e-8 * spectrum[0]).sum()))
    R = np.empty((program.n, rank))
    R[:, :used] = -0.5 * (sqdist.T - mean) @ (basis[:, :used] / np.sqrt(spectrum[:used]))
    R[:, used:] = 1e-3 * R[:, :used].std() * rng.standard_normal((program.n, rank - used))
    return program.centred(R)


def landmark_spectrum(program: EdgeProgram, n_landmarks: int) -> Vector:
    """Eigenvalues of landmark Isomap, descending; some are negative, since paths are not straight.

    Examples
    --------
    >>> path = EdgeProgram(edges=[[0, 1], [1, 2]], n=3, sqdist=1.0)
    >>> spectrum = landmark_spectrum(path, 3)
    >>> round(float(spectrum[0]), 12), bool(abs(spectrum[1:]).max() < 1e-12)
    (2.0, True)
    """
    return _landmark_scaling(program, n_landmarks, np.random.default_rng(0))[0]


def first_rank(program: EdgeProgram, spectrum: Vector | None = None) -> int:
    """Columns that the engine begins with: by the spectrum, or more under limits from below.

    Examples
    --------
    >>> path = EdgeProgram(edges=[[0, 1], [1, 2]], n=3, sqdist=1.0)
    >>> first_rank(path, np.array([2.0, 0.0, 0.0]))
    2
    """
    if spectrum is None:
        wanted = program.n - 1 if program.n <= _FULL_RANK_SIZE else _RANK_WITH_LOWER_LIMITS
    else:
        significant = int((spectrum > _SIGNIFICANT * spectrum[0]).sum())
        wanted = min(max(significant + 1, 3), FEW_COLUMNS)
    return min(wanted, program.n - 1)


def _landmark_scaling(
    program: EdgeProgram, n_landmarks: int, rng: np.random.Generator
) -> tuple[Vector, Matrix, Matrix, Vector]:
    """Spectrum and basis of the centred block, squared paths to all points, and their means."""
    landmarks = rng.choice(program.n, min(n_landmarks, program.n), replace=False)
    i, j = program.edges.T
    graph = csr_matrix((np.sqrt(program.sqdist), (i, j)), shape=(program.n, program.n))
    sqdist = dijkstra(graph, indices=landmarks) ** 2
    apart = np.isinf(sqdist)  # The program is unbounded, which others say in words.
    sqdist[apart] = np.max(sqdist[~apart])
    mean = sqdist[:, landmarks].mean(axis=0)
    block = -0.5 * (sqdist[:, landmarks] - mean - mean[:, None] + mean.mean())
    spectrum, basis = np.linalg.eigh(block)
    return spectrum[::-1], basis[:, ::-1], sqdist, mean


_SWEEPS = 40
_SWEEP = 0.75  # share of the way that an edge is moved into its limits in one sweep
_MOMENTUM = 0.75  # share of the last move that is made again: without it three times the sweeps


def relaxed(program: EdgeProgram, R: Matrix) -> Matrix:
    r"""Shorten and lengthen edges towards their limits, all at once, again and again.

    Isomap has the shape and its paths have noise: single edges come out ten times too long, and an
    interior-point method spends most of its iterations on them. In a sweep every edge outside its
    limits pulls its ends along it, with a weight that is larger for shorter edges, and every point
    moves by the weighted mean of these shifts. A sweep costs as much as one gradient.

    Parameters
    ----------
    program : EdgeProgram
    R : (n, r) array

    Returns
    -------
    (n, r) array

    References
    ----------
    Müller, Heidelberger, Hennix, Ratcliff, Position based dynamics, Journal of Visual
    Communication and Image Representation 18 (2007), for the sweeps of computer graphics.

    Examples
    --------
    >>> pair = EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0)
    >>> 0.8 < float(np.ptp(relaxed(pair, np.array([[-5.0], [5.0]])))) <= 1.0
    True
    """
    difference, incidence = program.difference, program.difference.T.tocsr()
    joined = abs(incidence)
    urgency = 1.0 / np.sqrt(program.sqdist)
    moved = np.zeros_like(R)
    for _ in range(_SWEEPS):
        delta = difference @ R
        square = np.maximum(np.einsum("ij,ij->i", delta, delta), np.finfo(float).tiny)
        allowed = np.clip(square, program.lower, program.upper)
        pull = np.where(allowed == square, 0.0, urgency)
        if not pull.any():
            break
        excess = pull * (1.0 - np.sqrt(allowed / square))
        shift = incidence @ (excess[:, None] * delta)
        shift /= np.maximum(joined @ pull, np.finfo(float).tiny)[:, None]
        moved = _MOMENTUM * moved - _SWEEP * shift
        R = R + moved
    return program.centred(R)


_RESTORING_STEPS = 25
# Rows of lengths become dependent where exact lengths have no interior; then steps only halve the
# distance, and need all the digits there are. Where they are too long, more shortens them.
_DAMPING, _SHORTER, _MOTIONS = 1e-15, 100.0, 1e-12
_ACTIVE = 1e-6  # share of the length within which a limit counts as active
_REACHED = 1e-14
# Roundings of coordinates by which a limit is kept where there is room on both sides of a length,
# so that the point can be proved to lie within: coordinates are moved once more on the way there.
_ROUNDINGS = 64.0


def restored(
    program: EdgeProgram,
    R: Matrix,
    late: Callable[[], bool] = lambda: False,
    *,
    careful: bool = False,
) -> Matrix:
    r"""A point nearby that keeps all hard limits, by Gauss-Newton steps of least length.

    With large multipliers a violation of 1e-8 is worth more than the gap aimed at: the value is
    then too good to be true, and beyond the bound. Each step solves :math:`J X = r` for the
    smallest X, with J the derivatives of the relative squared lengths that are at their limit
    or beyond, and r what they miss it by. Where a length has limits on both sides, they are kept
    by more than rounding.

    Parameters
    ----------
    program : EdgeProgram
    R : (n, r) array
    late : callable, optional
        Says when time is up; no further step is then begun.
    careful : bool, default False
        Whether to take no step that misses limits by more, and a shorter one in its place: where
        rows depend on each other, long steps meet limits best, and short ones change the point
        least.

    Returns
    -------
    (n, r) array
        The point with the smallest violation on the way, R itself if none is smaller.

    Examples
    --------
    >>> path = EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0, lower=1.0)
    >>> R = restored(path, np.array([[-0.50001], [0.5]]))
    >>> round(float(np.ptp(R)), 12)
    1.0
    """
    best, least, damping = R, np.inf, _DAMPING
    for _ in range(_RESTORING_STEPS):
        active, missing, worst = _missing(program, R)
        if worst < least:
            best, least = R, worst
            damping = max(damping / _SHORTER, _DAMPING)
        elif careful:
            damping *= _SHORTER
            R = best
            active, missing, worst = _missing(program, R)
        if worst <= _REACHED or not active.any() or late():
            break
        try:
            step = _least(_derivatives(program, R, active), missing, damping)
        except RuntimeError:  # dependent to the last digit
            break
        R = program.centred(R + step.reshape(R.shape))
    return best


def _least(J: sp.csr_array, missing: Vector, damping: float) -> Vector:
    """The smallest X with J X = missing, as nearly as there is one.

    By the smaller of both normal equations, which say the same: of a graph with more active edges
    than coordinates the larger one fills in.
    """
    if J.shape[0] <= J.shape[1]:
        normal = sp.csc_array(J @ J.T + damping * sp.eye_array(J.shape[0]))
        return np.asarray(J.T @ splu(normal).solve(missing))
    # Motions of all points are in its null space: rounding along them must not count.
    damping = max(damping, _MOTIONS)
    normal = sp.csc_array(J.T @ J + damping * sp.eye_array(J.shape[1]))
    return np.asarray(splu(normal).solve(J.T @ missing))


def _missing(program: EdgeProgram, R: Matrix) -> tuple[np.ndarray, Vector, float]:
    """Edges at a hard limit or beyond, what they miss it by, and the largest violation."""
    hard, q = program.hard, program.lengths(R)
    near = _ACTIVE * program.sqdist
    margin = _margin(program, R)
    lower, upper = program.lower + margin, program.upper - margin
    low, high = q < lower + near, q > upper - near
    active = hard & (low | high)
    # In a narrow band a length may be near both.
    high &= ~low | (q - lower > upper - q)
    limit = np.where(high, upper, lower)
    beyond = np.maximum(np.maximum(q - upper, lower - q), 0.0)
    worst = float(np.max(np.where(hard, beyond, 0.0) / program.sqdist))
    return active, ((limit - q) / program.sqdist)[active], worst


def _margin(program: EdgeProgram, R: Matrix) -> Vector:
    """By how much limits are kept: nothing of a length that is fixed, or limited on one side."""
    width = program.upper - program.lower
    largest = float(np.abs(R).max(initial=0.0))
    blur = _ROUNDINGS * UNIT * (program.sqdist + largest * np.sqrt(program.sqdist))
    return np.where(np.isfinite(width), np.minimum(blur, width / 4.0), 0.0)


def _derivatives(program: EdgeProgram, R: Matrix, active: np.ndarray) -> sp.csr_array:
    edges = program.edges[active]
    rank = R.shape[1]
    slope = 2.0 * (R[edges[:, 0]] - R[edges[:, 1]]) / program.sqdist[active, None]
    columns = edges[:, :, None] * rank + np.arange(rank)
    values = np.stack([slope, -slope], axis=1)
    starts = np.arange(0, 2 * rank * len(edges) + 1, 2 * rank)
    return sp.csr_array((values.ravel(), columns.ravel(), starts), shape=(len(edges), R.size))
