"""Points from some of their distances: the program, and a last step by stress."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.linalg import orthogonal_procrustes
from scipy.optimize import least_squares
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import pdist

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.unfold.anchored import anchored_mvu
from sdpdr.families.unfold.mvu import mvu
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg.distances import about_centre
from sdpdr.linalg.smallest import smallest_eigenvalue
from sdpdr.linalg.spectral import fix_signs
from sdpdr.linalg.walks import dijkstra
from sdpdr.model import Model
from sdpdr.model.blocks import Band, Relation, Slack

Penalty: TypeAlias = Literal["square", "absolute"]
Misfit: TypeAlias = "Literal['auto'] | Penalty | Relation"

# Default penalties of a change, in units of the penalty below which points fly apart.
PRICES = {"square": 1000.0, "absolute": 100.0}

# Nodes up to which all eigenvalues are computed.
_DENSE = 500


@checks_keywords
def distance_completion(
    graph: NeighborGraph,
    anchors: ArrayLike | None = None,
    coordinates: ArrayLike | None = None,
    misfit: Misfit = "auto",
    price: float | None = None,
) -> Model:
    r"""Points from some of their distances, which may be noisy; some positions may be known.

    .. math::

        \max_{K \succeq 0,\ K \mathbf 1 = 0}\ \operatorname{tr} K
        - \frac\nu2 \sum_e \Bigl( \frac{q_e(K)}{d_e} - 1 \Bigr)^2, \qquad
        q_{ij}(K) = K_{ii} + K_{jj} - 2 K_{ij},

    with d the squared distances that are known; with anchors the same of `anchored_mvu`, the first
    term being the squared distances from the mean of the anchors, with absolute penalties. The
    weight is :math:`\nu = c / \lambda_2(L(1/d))`, and with anchors the smallest eigenvalue of the
    Laplacian grounded at them, so that c has no unit: were all squared lengths to grow alike, it
    would be by a share of 1/c. With absolute penalties, :math:`\nu |q_e / d_e - 1|`, c = 1 is the
    sharp threshold below which points fly apart for ever. They are exact: where the distances are
    those of points, and multipliers of ``mvu(graph, "equality")`` do not exceed :math:`\nu / d_e`,
    no length changes at all. With many noisy distances they take many times as long.

    The largest trace stands against noise: noisy lengths have no common place in few dimensions,
    and the least misfit alone, or the least trace, crumples points.

    Parameters
    ----------
    graph : NeighborGraph
        Connected, or with an anchor in every part; an edge for every distance that is known.
    anchors, coordinates
        As for `sdpdr.methods.anchored_mvu`.
    misfit : {"auto", "square", "absolute", "equality", "inequality"}, blocks.Band or blocks.Slack
        By default ``"square"``, with anchors ``"absolute"``, which are proved soonest. The last
        four are those of `sdpdr.methods.mvu`.
    price : float, optional
        c > 1; by default 1000 for ``"square"`` and 100 for ``"absolute"``.

    Returns
    -------
    Model
        Over K, or over Z with anchors.

    Raises
    ------
    DisconnectedGraphError, DataError, ShapeError, InfeasibleError
        As `sdpdr.methods.mvu` and `sdpdr.methods.anchored_mvu`; or c is at most 1.

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
    relation = _relation(graph, nodes, misfit, price)
    if np.size(nodes):
        model = anchored_mvu(graph, nodes, coordinates, relation, "anchors")
    else:
        model = mvu(graph, relation)
    return Model(model.blocks, name="distance_completion")


def _relation(
    graph: NeighborGraph, anchors: ArrayLike, misfit: Misfit, price: float | None
) -> Relation:
    """The relation of lengths that ``misfit`` and ``price`` of `distance_completion` name."""
    if isinstance(misfit, (Band, Slack)) or misfit in ("equality", "inequality"):
        return misfit
    validate.choice("misfit", misfit, ("auto", *PRICES, "equality", "inequality"))
    is_absolute = misfit == "absolute" or (misfit == "auto" and np.size(anchors) > 0)
    penalty: Penalty = "absolute" if is_absolute else "square"
    price = PRICES[penalty] if price is None else price
    if validate.positive_number("price", price) <= 1.0:
        raise DataError(
            f"price={price} is too low: at 1 and below, points gain more by flying apart than "
            "their lengths cost. Take 10 to 1000."
        )
    # The least energy sum q_e / d_e of an arrangement of variance one: the second eigenvalue of
    # the Laplacian with weights 1/d, or the first of the one grounded at anchors.
    laplacian = graph.laplacian(1.0 / graph.sqdist)
    free = np.setdiff1d(np.arange(graph.n), anchors)
    constant = np.ones((graph.n, 1)) if free.size == graph.n else None
    stiffness = smallest_eigenvalue(laplacian[free][:, free], constant)[0]
    return Slack(price / stiffness, penalty, relative=True)


@checks_keywords
def refine(graph: NeighborGraph, places: ArrayLike, anchors: ArrayLike | None = None) -> Array:
    r"""Move points to a local minimum of raw stress, :math:`\sum_e (|y_i - y_j| - l_e)^2`.

    Not a convex problem: the result depends on where the points begin, and nothing is proved of
    it. Without anchors the mean stays where it is. SciPy's trust region with the sparse Jacobian,
    of which each row holds two unit vectors, and at most 100 evaluations.

    Parameters
    ----------
    graph : NeighborGraph
        With the lengths l, the square roots of ``graph.sqdist``.
    places : array_like of shape (n, r)
    anchors : array_like of int, optional
        Points that stay where they are.

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
    Y = np.array(places, dtype=float)
    if Y.ndim != 2 or len(Y) != graph.n:
        raise ShapeError(
            f"places must have shape ({graph.n}, r), a row for each node; they have {Y.shape}."
        )
    free = np.setdiff1d(np.arange(graph.n), [] if anchors is None else anchors)
    moving = np.flatnonzero(np.isin(graph.edges, free).any(axis=1))
    if not moving.size:
        return Y
    i, j = graph.edges[moving].T
    lengths, center = np.sqrt(graph.sqdist[moving]), Y.mean(axis=0)
    # Where the coordinates of each point are among the unknowns, -1 where they are known.
    columns = np.full(Y.shape, -1, dtype=np.int64)
    columns[free] = np.arange(free.size * Y.shape[1]).reshape(free.size, -1)
    row = np.repeat(np.arange(moving.size), Y.shape[1])
    row, column = np.append(row, row), np.append(columns[i].ravel(), columns[j].ravel())
    kept = column >= 0

    def steps(x: Array) -> tuple[Array, Array]:
        Y[free] = x.reshape(free.size, -1)
        apart = Y[i] - Y[j]
        return apart, np.linalg.norm(apart, axis=1)

    def jacobian(x: Array) -> sp.csr_matrix:
        apart, norm = steps(x)
        units = (apart / np.where(norm > 0.0, norm, 1.0)[:, None]).ravel()
        entries = np.append(units, -units)[kept]
        # SciPy's least_squares knows matrices, not arrays.
        return sp.csr_matrix((entries, (row[kept], column[kept])), shape=(moving.size, x.size))

    found = least_squares(
        lambda x: steps(x)[1] - lengths, Y[free].ravel(), jacobian, tr_solver="lsmr", max_nfev=100,
        xtol=1e-12, ftol=1e-12, gtol=1e-12,
    )  # fmt: skip
    Y[free] = found.x.reshape(free.size, -1)
    if free.size == graph.n:
        # SciPy steps in a plane, which it fills up by any direction where Newton's is the gradient,
        # as of two points: by a shift, too.
        Y += center - Y.mean(axis=0)
    return Y


def along_paths(graph: NeighborGraph, r: int, anchors: Index, coordinates: Array) -> Array:
    """Positions in r dimensions that fit shortest paths best: classical scaling.

    Anchors, between which all distances are known, are joined first; the rest is moved and rotated
    so that they come nearest to their coordinates, which they then have. Takes three or four times
    the memory of n^2 numbers: 274 MB for 3000 points, in two seconds.
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
    """Classical scaling of plain distances; no column where an eigenvalue is negative counts."""
    n = len(D)
    products = about_centre(np.square(D), np.ones(n))
    if n <= _DENSE or r >= n - 1:
        values, vectors = np.linalg.eigh(products)
        values, vectors = values[-r:], vectors[:, -r:]
    else:
        values, vectors = eigsh(products, r, which="LA", v0=np.cos(np.arange(n)))
    order = np.argsort(-values)
    return fix_signs(vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0)))
