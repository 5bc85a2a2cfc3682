"""The quality of an embedding: neighbourhoods, lengths, and distance from a known truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.rows import listed
from sdpdr.families.limits import NEGLIGIBLE, QUICK
from sdpdr.graphs import NeighborGraph, knn
from sdpdr.graphs.given import takes_graph

__all__ = [
    "Quality",
    "align",
    "edge_changes",
    "procrustes",
    "quality",
]

# Neighbours that are compared by default, as many as `knn` joins.
NEIGHBORS = 6
# Field and description of every measure, in the order of the table.
MEASURES = {
    "trustworthiness": "trustworthiness",
    "continuity": "continuity",
    "edge_rms": "edge lengths, rms relative error",
    "edge_max": "edge lengths, worst relative error",
    "edge_rms_scaled": "edge lengths, rms after the best scale",
    "procrustes": "distance from the truth, scaled",
    "procrustes_rigid": "distance from the truth, rigid",
    "share": "share of the trace",
}


@dataclass(frozen=True)
class Quality:
    """The quality of an embedding; prints as a table.

    Attributes
    ----------
    n, n_components, n_edges : int
        Distinct points, columns of the embedding, edges of the graph.
    n_neighbors : int
        The number of neighbours for trustworthiness and continuity.
    trustworthiness, continuity : float or None
        In [0, 1], 1 is best. ``None`` if the graph holds no points.
    edge_rms, edge_max : float
        Relative error of the plain (not squared) lengths of edges, 0 is best.
    edge_scale, edge_rms_scaled : float
        The factor of the embedding that minimises the rms (0 if all points coincide), and the rms
        at this factor, which measures how uneven the changes are, in any unit.
    procrustes, procrustes_rigid : float or None
        Relative distance from the truth after alignment, with and without scaling; ``None``
        without a truth.
    share : float or None
        Part of the trace of the Gram matrix that the columns hold; ``None`` without a spectrum.
    sample : int or None
        Number of points among which trustworthiness and continuity were computed, if not all.
    """

    n: int
    n_components: int
    n_edges: int
    n_neighbors: int
    trustworthiness: float | None
    continuity: float | None
    edge_rms: float
    edge_max: float
    edge_scale: float
    edge_rms_scaled: float
    procrustes: float | None = None
    procrustes_rigid: float | None = None
    share: float | None = None
    sample: int | None = None

    def facts(self) -> dict[str, str]:
        """The available measures: their descriptions, with their values as text.

        ``pandas.DataFrame({name: quality(X, Y).facts(), ...}).T`` is a table of several.
        """
        known = {words: getattr(self, name) for name, words in MEASURES.items()}
        return {words: _written(value) for words, value in known.items() if value is not None}

    def __str__(self) -> str:
        line = f"{self.n} points, {self.n_edges} edges, {self.n_neighbors} neighbours"
        if self.sample is not None:
            line += f"; neighbours of {self.sample} points drawn with seed 0"
        facts = self.facts()
        width = max(map(len, facts))
        return "\n".join([line, *(f"{k:<{width}}  {number:>9}" for k, number in facts.items())])


def _written(value: float) -> str:
    """A number as text."""
    value = 0.0 if abs(value) < NEGLIGIBLE else value
    return f"{value:.4f}" if value == 0.0 or 1e-4 <= abs(value) < 1e4 else f"{value:.1e}"


@checks_keywords
def quality(
    X: ArrayLike | NeighborGraph,
    embedding: ArrayLike,
    *,
    truth: ArrayLike | None = None,
    spectrum: ArrayLike | None = None,
    n_neighbors: int | None = None,
) -> Quality:
    r"""Measure the quality of an embedding, of any method.

    - *Neighbourhoods*: trustworthiness (no strangers come near; `sklearn.manifold.trustworthiness`)
      and continuity (no neighbours are lost), the same with data and embedding exchanged. They use
      ranks alone, so no unit matters. With more than 2000 points, a sample of 2000 is compared.
    - *Lengths*: relative error of the lengths of edges, as they are and, for methods that fix no
      unit, after multiplication by the best factor :math:`\sum \rho_e / \sum \rho_e^2`, with
      :math:`\rho_e` the ratio of new to old length.
    - *Truth*, if known: Procrustes distance, see ``procrustes``.
    - *Share* of the trace of the Gram matrix that the columns hold.

    Parameters
    ----------
    X : NeighborGraph, or array_like of shape (n, D)
        For data, the lengths are those of the graph of ``n_neighbors``, connected or not. For
        distances pass ``graphs.knn(D, metric="precomputed")``.
    embedding : array_like of shape (n, d)
        A row for each point; for a graph, a row for each node or each sample.
    truth : array_like of shape (n, q), optional
        Coordinates that the embedding should have, up to a rigid motion.
    spectrum : array_like of shape (r,), optional
        Eigenvalues of the Gram matrix of the embedding, for the share: ``solution.spectrum()``,
        or ``eigenvalues_`` of an estimator.
    n_neighbors : int, optional
        k, less than n/2; by default 6, or fewer for fewer than 13 points.

    Returns
    -------
    Quality

    Raises
    ------
    DataError, ShapeError
        The arguments cannot be used or do not fit together.

    References
    ----------
    Venna and Kaski, "Neighborhood preservation in nonlinear projection methods", ICANN 2001.

    Examples
    --------
    >>> from sdpdr import quality
    >>> import sdpdr
    >>> X, _ = sdpdr.datasets.swiss_roll(100, seed=0)
    >>> unfolding = sdpdr.MVU(n_neighbors=4).fit(X)
    >>> print(quality(X, unfolding.embedding_, spectrum=unfolding.eigenvalues_, n_neighbors=4))
    100 points, 249 edges, 4 neighbours
    trustworthiness                            0.9291
    continuity                                 0.9880
    edge lengths, rms relative error           0.2636
    edge lengths, worst relative error         0.8923
    edge lengths, rms after the best scale     0.2482
    share of the trace                         0.9738
    """
    n = X.n if isinstance(X, NeighborGraph) else len(_coordinates("X", X))
    k = max(1, min(NEIGHBORS, (n - 1) // 2)) if n_neighbors is None else n_neighbors
    why = "fewer than half of the points"
    k = validate.positive_integer("n_neighbors", k, at_most=(n - 1) // 2, why=why)
    graph = X if isinstance(X, NeighborGraph) else knn(X, k, connect="none")
    Y = _coordinates("the embedding", embedding, graph)
    space, rows = graph.provenance.space, np.arange(graph.n)
    if graph.n > QUICK:
        rows = np.sort(np.random.default_rng(0).choice(graph.n, QUICK, replace=False))
    trustworthiness = continuity = None
    if space is not None:
        apart, now = space.take(rows).sqdist_to_all(), cdist(Y[rows], Y[rows], "sqeuclidean")
        trustworthiness, continuity = _kept(apart, now, k), _kept(now, apart, k)
    if not graph.m:
        raise DataError("the graph has no edges, so there are no lengths to keep.")
    change = edge_changes(graph, Y)
    ratio = 1.0 + change
    scale = float(ratio.sum() / (ratio @ ratio)) if ratio.any() else 0.0
    known = None if truth is None else _coordinates("truth", truth, graph)
    return Quality(
        n=graph.n,
        n_components=Y.shape[1],
        n_edges=graph.m,
        n_neighbors=k,
        trustworthiness=trustworthiness,
        continuity=continuity,
        edge_rms=_rms(change),
        edge_max=float(np.abs(change).max()),
        edge_scale=scale,
        edge_rms_scaled=_rms(scale * ratio - 1.0),
        procrustes=None if known is None else procrustes(known, Y),
        procrustes_rigid=None if known is None else procrustes(known, Y, scaling=False),
        share=None if spectrum is None else _share(spectrum, Y.shape[1]),
        sample=None if space is None or len(rows) == graph.n else len(rows),
    )


@takes_graph
def edge_changes(graph: NeighborGraph, Y: ArrayLike) -> Array:
    """Relative change of the plain (not squared) length of each edge, negative if it shrank.

    Parameters
    ----------
    graph : NeighborGraph
    Y : array_like of shape (n, d)
        A row for each node.

    Returns
    -------
    array of shape (m,)

    Raises
    ------
    ShapeError, DataError
        Y does not fit the graph.

    Examples
    --------
    >>> from sdpdr.families.unfold.quality import edge_changes
    >>> from sdpdr import graphs
    >>> edge_changes(graphs.path([1.0, 2.0]), [[0.0], [1.0], [2.0]])
    array([ 0. , -0.5])
    """
    points = _coordinates("the embedding", Y, graph)
    return np.asarray(graph.lengths(points) / np.sqrt(graph.sqdist) - 1.0)


def align(truth: ArrayLike, Y: ArrayLike, *, scaling: bool = True) -> Array:
    """Move, rotate, reflect and scale an embedding so that it is as close as possible to the truth.

    Parameters
    ----------
    truth : array_like of shape (n, q)
    Y : array_like of shape (n, d)
        The array with fewer columns is padded with zeros.
    scaling : bool, default True
        Whether the embedding may be scaled.

    Returns
    -------
    array of shape (n, max(q, d))

    Raises
    ------
    ShapeError, DataError
        The two do not fit together, or all points of one coincide.

    References
    ----------
    Gower and Dijksterhuis, "Procrustes Problems", Oxford University Press 2004, chapters 4 and 6.

    Examples
    --------
    >>> from sdpdr.families.unfold.quality import align
    >>> corner = [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]
    >>> align(corner, [[5.0, 5.0], [5.0, 9.0], [3.0, 5.0]]).round(9) + 0.0
    array([[0., 0.],
           [2., 0.],
           [0., 1.]])
    """
    _, laid, middle = _aligned(truth, Y, scaling)
    return np.asarray(laid + middle)


def procrustes(truth: ArrayLike, Y: ArrayLike, *, scaling: bool = True) -> float:
    r"""Distance of an embedding from the truth after the best alignment, relative to the truth.

    :math:`\min \|T - s\,YQ - \mathbf 1 b^\top\|_F / \|T - \bar T\|_F` over orthogonal Q, shifts b
    and, if ``scaling``, factors s. Zero is best; with scaling, one is the worst possible.

    Parameters
    ----------
    truth, Y, scaling
        As for `align`, whose errors it raises.

    Returns
    -------
    float

    Examples
    --------
    >>> from sdpdr.families.unfold.quality import procrustes
    >>> square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    >>> larger = [[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [0.0, 3.0]]
    >>> round(procrustes(square, larger), 9), round(procrustes(square, larger, scaling=False), 9)
    (0.0, 2.0)
    """
    target, laid, _ = _aligned(truth, Y, scaling)
    return float(np.linalg.norm(target - laid) / np.linalg.norm(target))


def _aligned(truth: ArrayLike, Y: ArrayLike, scaling: bool) -> tuple[Array, Array, Array]:
    """The centred truth, the aligned embedding, and the mean of the truth."""
    target, points = _coordinates("truth", truth), _coordinates("the embedding", Y)
    if len(target) != len(points):
        raise ShapeError(
            f"truth has {len(target)} rows but the embedding has {len(points)}: pass one each."
        )
    width = max(target.shape[1], points.shape[1])
    target, points = (np.pad(A, ((0, 0), (0, width - A.shape[1]))) for A in (target, points))
    for name, array in (("truth", target), ("the embedding", points)):
        if not np.ptp(array, axis=0).any():
            raise DataError(f"all points of {name} coincide, so there is nothing to align.")
    middle = target.mean(axis=0)
    target, points = target - middle, points - points.mean(axis=0)
    left, sizes, right = np.linalg.svd(points.T @ target)
    factor = float(sizes.sum() / np.sum(points**2)) if scaling else 1.0
    return target, factor * points @ left @ right, middle


def _kept(truth: Array, guess: Array, k: int) -> float:
    """Trustworthiness of the neighbours in ``guess``, from squared distances of all pairs.

    Points at equal distances are ordered by their numbers.
    """
    n = len(truth)
    # A point comes before all others, and has the rank zero.
    order, near = (np.argsort(D - np.eye(n), axis=1, kind="stable") for D in (truth, guess))
    ranks = np.take_along_axis(np.argsort(order, axis=1), near[:, 1 : k + 1], axis=1)
    return 1.0 - 2.0 * float(np.maximum(ranks - k, 0).sum()) / (n * k * (2.0 * n - 3.0 * k - 1.0))


def _coordinates(name: str, values: ArrayLike, graph: NeighborGraph | None = None) -> Array:
    """Finite coordinates of points; of the nodes of a graph, for which rows of samples will do."""
    rows = np.asarray(values, dtype=float)
    if rows.ndim != 2 or rows.size == 0:
        raise ShapeError(
            f"{name} has shape {rows.shape}; pass one row of coordinates for each point."
        )
    if graph is not None and len(rows) != graph.n:
        if len(rows) != graph.index.size:
            raise ShapeError(
                f"{name} has {len(rows)} rows, but there are {graph.n} nodes made from "
                f"{graph.index.size} samples: pass one row for each node or sample."
            )
        rows = rows[graph.first_samples]
    missing = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if missing.size:
        raise DataError(f"{name} has NaN or infinity in rows {listed(missing)}.")
    return rows


def _share(spectrum: ArrayLike, d: int) -> float:
    """Share of the d largest eigenvalues in their sum."""
    values = np.sort(np.maximum(np.asarray(spectrum, dtype=float).ravel(), 0.0))[::-1]
    if not (np.isfinite(values).all() and values.any()):
        raise DataError("a spectrum needs finite eigenvalues, at least one of them positive.")
    return float(values[:d].sum() / values.sum())


def _rms(values: Array) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
