"""Points from some of their distances: the program, and refinement by stress."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.linalg import orthogonal_procrustes
from scipy.optimize import minimize
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import pdist

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.limits import DENSE, SMALL
from sdpdr.families.unfold.anchored import anchored_mvu, missed_lengths
from sdpdr.families.unfold.mvu import mvu
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.given import takes_graph
from sdpdr.linalg.distances import about_centre
from sdpdr.linalg.smallest import smallest_eigenvalue
from sdpdr.linalg.spectral import fix_signs
from sdpdr.linalg.walks import dijkstra
from sdpdr.model import Model
from sdpdr.model.blocks import Relation, Slack
from sdpdr.model.blocks.isometry import as_relation

Penalty: TypeAlias = Literal["square", "absolute"]

# Default penalties of a change, in units of the penalty below which points fly apart.
DEFAULT_PENALTIES = {"square": 1000.0, "absolute": 100.0}
# Most steps of a refinement, and the gain of a step, in squares of the root mean square length,
# below which it ends.
_STEPS, _LEAST_GAIN = 1000, 1e-16
# Misfit, relative to the root mean square length, below which lengths are exact; share of the
# misfit by which shortest paths must be better.
_EXACT, _BETTER = 1e-6, 1e-3


@takes_graph
def distance_completion(
    graph: NeighborGraph,
    anchors: ArrayLike | None = None,
    coordinates: ArrayLike | None = None,
    misfit: Relation = "auto",
    penalty: float | None = None,
) -> Model:
    r"""Find points from some of their distances, which may be noisy; some positions may be known.

    .. math::

        \max_{K \succeq 0,\ K \mathbf 1 = 0}\ \operatorname{tr} K
        - \frac\nu2 \sum_e \Bigl( \frac{q_e(K)}{d_e} - 1 \Bigr)^2, \qquad
        q_{ij}(K) = K_{ii} + K_{jj} - 2 K_{ij},

    with d the known squared distances. With anchors it is `anchored_mvu` with absolute penalties,
    whose first term is the sum of squared distances from the mean of the anchors. The weight is
    :math:`\nu = c / \lambda_2(L(1/d))`, with anchors the smallest eigenvalue of the Laplacian
    grounded at them. So c has no unit: if all squared lengths grew by the same share, it would be
    1/c. With absolute penalties, :math:`\nu |q_e / d_e - 1|`, the program is unbounded below the
    sharp threshold c = 1. These penalties are exact: if there are points with the given distances,
    and multipliers of ``mvu(graph, "equality")`` do not exceed :math:`\nu / d_e`, no length
    changes. With many noisy distances they take many times as long.

    Maximising the trace counters noise: noisy lengths do not fit in few dimensions, and minimising
    the misfit alone, or the trace, crumples the points.

    Parameters
    ----------
    graph : NeighborGraph
        Connected, or with an anchor in every component; its edges are the known distances.
    anchors, coordinates
        As for `sdpdr.methods.anchored_mvu`.
    misfit : {"auto", "square", "absolute"} or a relation of lengths, default "auto"
        By default ``"square"``, and with anchors ``"absolute"``, which are the fastest to prove.
        The relations are those of `sdpdr.methods.mvu`.
    penalty : float, optional
        c > 1; by default 1000 for ``"square"`` and 100 for ``"absolute"``.

    Returns
    -------
    Model
        Over K, or over Z with anchors.

    Raises
    ------
    DisconnectedGraphError, DataError, ShapeError, InfeasibleError
        As for `sdpdr.methods.mvu` and `sdpdr.methods.anchored_mvu`; or c is at most 1.

    References
    ----------
    Biswas, Liang, Toh, Wang and Ye, "Semidefinite programming approaches for sensor network
    localization with noisy distance measurements", IEEE Trans. Autom. Sci. Eng. 3 (2006), who
    stretch noisy networks by a term as this one; Weinberger, Sha, Zhu and Saul, "Graph Laplacian
    regularization for large-scale semidefinite programming", NIPS 2006.

    Examples
    --------
    >>> from sdpdr.methods import distance_completion
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> square = graphs.from_edges(4, [[0, 1], [1, 2], [2, 3], [0, 3], [0, 2]], [1, 1, 1, 1, 2.0])
    >>> K = sdpdr.solve(distance_completion(square, misfit="absolute")).gram()
    >>> round(float(K[1, 1] + K[3, 3] - 2 * K[1, 3]), 4)
    2.0
    """
    nodes: ArrayLike = [] if anchors is None else anchors
    relation = _relation(graph, nodes, misfit, penalty)
    if np.size(nodes):
        model = anchored_mvu(graph, nodes, coordinates, relation, "anchors")
    else:
        model = mvu(graph, relation)
    return Model(model.blocks, name="distance_completion")


def _relation(
    graph: NeighborGraph, anchors: ArrayLike, misfit: Relation, penalty: float | None
) -> Relation:
    """The relation of lengths for ``misfit`` and ``penalty`` of `distance_completion`."""
    penalties = ("auto", *DEFAULT_PENALTIES)
    if not isinstance(misfit, str) or misfit not in penalties:
        relation = as_relation(misfit, "misfit", penalties)
        if penalty is not None:
            raise DataError(
                f"penalty={penalty} has no effect for misfit={misfit!r}: leave it out, or pass "
                "misfit='square' or 'absolute'."
            )
        return relation
    is_absolute = misfit == "absolute" or (misfit == "auto" and np.size(anchors) > 0)
    kind: Penalty = "absolute" if is_absolute else "square"
    penalty = DEFAULT_PENALTIES[kind] if penalty is None else penalty
    if validate.positive_number("penalty", penalty) <= 1.0:
        raise DataError(
            f"penalty={penalty} is too low: at 1 and below, moving points apart gains more than "
            "the changed lengths cost. Pass 10 to 1000."
        )
    # The minimum of sum q_e / d_e at variance one: the second eigenvalue of the Laplacian with
    # weights 1/d, or the first one of the Laplacian grounded at anchors.
    laplacian = graph.laplacian(1.0 / graph.sqdist)
    free = np.setdiff1d(np.arange(graph.n), anchors)
    constant = np.ones((graph.n, 1)) if free.size == graph.n else None
    stiffness = smallest_eigenvalue(laplacian[free][:, free], constant)[0]
    return Slack(penalty / stiffness, kind, relative=True)


@takes_graph
def refine(graph: NeighborGraph, positions: ArrayLike, anchors: ArrayLike | None = None) -> Array:
    r"""Move points to a local minimum of raw stress, :math:`\sum_e (|y_i - y_j| - l_e)^2`.

    The problem is not convex: the result depends on the initial points, and has no certificate.
    Without anchors the mean does not change. By L-BFGS with the gradient :math:`2 L(w) Y`,
    :math:`w_e = 1 - l_e / |y_i - y_j|`, and at most 1000 steps.

    Parameters
    ----------
    graph : NeighborGraph
        With the lengths l, the square roots of ``graph.sqdist``.
    positions : array_like of shape (n, r)
    anchors : array_like of int, optional
        Points that do not move.

    Returns
    -------
    array of shape (n, r)

    Raises
    ------
    ShapeError
        There is not one position for each node.

    Examples
    --------
    >>> from sdpdr.methods import refine
    >>> from sdpdr import graphs
    >>> refine(graphs.path([1.0, 1.0]), [[0.0], [0.7], [2.0]], anchors=[0, 2]).ravel().round(6)
    array([0., 1., 2.])
    """
    Y = np.array(positions, dtype=float)
    if Y.ndim != 2 or len(Y) != graph.n:
        raise ShapeError(
            f"positions must have shape ({graph.n}, r), a row for each node; they have {Y.shape}."
        )
    unit = float(np.sqrt(np.mean(graph.sqdist)))
    free = np.setdiff1d(np.arange(graph.n), [] if anchors is None else anchors)
    if not free.size:
        return Y
    wanted = np.sqrt(graph.sqdist)

    def stress(x: Array) -> tuple[float, Array]:
        Y[free] = unit * x.reshape(free.size, -1)
        lengths = graph.lengths(Y)
        missed = (lengths - wanted) / unit
        # Points that coincide have no direction in which to part.
        weights = missed / np.where(lengths > 0.0, lengths, np.inf)
        return float(missed @ missed), 2.0 * (graph.laplacian(weights) @ Y)[free].ravel()

    options = {"maxiter": _STEPS, "maxfun": 2 * _STEPS, "ftol": _LEAST_GAIN, "gtol": 0.0}
    found = minimize(stress, Y[free].ravel() / unit, jac=True, method="L-BFGS-B", options=options)
    Y[free] = unit * found.x.reshape(free.size, -1)
    return Y


def refine_from_both(
    graph: NeighborGraph, relaxed: Array, anchors: Index, coordinates: Array
) -> tuple[Array, str]:
    """The better result of `refine` from positions of the program and from shortest paths.

    Returns the positions, and "program" or "paths". Paths are tried only if lengths are still
    missed, and for as many points as dense matrices are for.
    """
    places = refine(graph, relaxed, anchors)
    misfit = missed_lengths(graph, places).share
    if graph.n <= DENSE and misfit > _EXACT:
        start = along_paths(graph, relaxed.shape[1], anchors, coordinates)
        other = refine(graph, start, anchors)
        if missed_lengths(graph, other).share < (1.0 - _BETTER) * misfit:
            return other, "paths"
    return places, "program"


def along_paths(graph: NeighborGraph, r: int, anchors: Index, coordinates: Array) -> Array:
    """Classical scaling of shortest paths, in r dimensions.

    Paths include the distances between anchors. The result is moved and rotated so that anchors
    come nearest to their coordinates, which they then get. Takes three or four times the memory of
    n^2 numbers: 274 MB for 3000 points, in two seconds.
    """
    kept = ~np.isin(graph.edges, anchors).all(axis=1)
    first, second = np.triu_indices(anchors.size, 1)
    i, j = np.vstack([graph.edges[kept], np.column_stack([anchors[first], anchors[second]])]).T
    lengths = np.append(np.sqrt(graph.sqdist[kept]), pdist(coordinates) if first.size else [])
    paths = dijkstra(sp.csr_array((lengths, (i, j)), shape=(graph.n, graph.n)), np.arange(graph.n))
    Y = classically_scaled(paths, r)
    if anchors.size:
        own, said = Y[anchors].mean(axis=0), coordinates.mean(axis=0)
        turn, _ = orthogonal_procrustes(Y[anchors] - own, coordinates - said)
        Y = (Y - own) @ turn + said
        Y[anchors] = coordinates
    return Y


def classically_scaled(D: Array, r: int) -> Array:
    """Classical scaling of plain distances; columns of negative eigenvalues are zero."""
    n = len(D)
    products = about_centre(np.square(D), np.ones(n))
    if n <= SMALL or r >= n - 1:
        values, vectors = np.linalg.eigh(products)
        values, vectors = values[-r:], vectors[:, -r:]
    else:
        values, vectors = eigsh(products, r, which="LA", v0=np.cos(np.arange(n)))
    order = np.argsort(-values)
    return fix_signs(vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0)))
