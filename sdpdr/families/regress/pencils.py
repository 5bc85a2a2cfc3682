r"""Pencils (W, D) of samples: the quotient :math:`y^T W y / y^T D y` that a method maximizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import (
    AddedEdgesWarning,
    DataError,
    FewPointsError,
    FewPointsWarning,
    ShapeError,
    warn,
)
from sdpdr.base.estimators import as_numbers
from sdpdr.base.labels import UNKNOWN, distinct, require_classes
from sdpdr.base.rows import listed, numbered
from sdpdr.families.limits import ROUNDING
from sdpdr.graphs import NeighborGraph, edge_weights, geodesics, knn
from sdpdr.graphs.given import takes_graph
from sdpdr.graphs.weighing import reconstruction_weights

METRICS = ("euclidean", "cosine")


class Pencil:
    r"""Maximize :math:`y^T W y / y^T D y` (Cai thesis, (2.8)).

    Parameters
    ----------
    weights : array_like or sparse array of shape (n, n), optional
        W, symmetric, of any sign. If it is left out, W is ``factor @ factor.T``.
    masses : array of shape (n,), optional
        Diagonal of D, positive; ones by default. With a factor also D itself, positive definite.
    name : str, default "pencil"
    factor : sparse array of shape (n, c), optional
        F with few columns and :math:`F F^T \mathbf 1 = D \mathbf 1`, so that one factorization of D
        solves the pencil.

    Attributes
    ----------
    totals : array of shape (n,)
        :math:`D \mathbf 1`, the weights of the mean that makes the constant vector zero.
    has_trivial : bool
        Whether the constant vector, which does not distinguish samples, solves the pencil.

    Raises
    ------
    DataError
        W is not symmetric, or a mass is not positive, so that the quotient is unbounded.
    ShapeError

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import Pencil
    >>> Pencil(np.array([[0.0, 1.0], [1.0, 0.0]])).has_trivial
    True
    """

    def __init__(
        self,
        weights: Matrix = None,
        masses: Matrix = None,
        name: str = "pencil",
        *,
        factor: Matrix = None,
    ) -> None:
        if factor is None:
            self.weights = weights = validate.symmetric("weights", weights, sparse=True)
        self.factor, self.name = factor, name
        self.n = int(weights.shape[0] if factor is None else factor.shape[0])
        self.masses = np.ones(self.n) if masses is None else masses
        if not sp.issparse(self.masses):
            self.masses = as_numbers("masses", self.masses)
        if self.masses.shape != (self.n,) and (
            factor is None or self.masses.shape != (self.n, self.n)
        ):
            raise ShapeError(f"masses has shape {self.masses.shape}; expected ({self.n},).")
        light = self.masses.ndim == 1 and ~(self.masses > 0.0)
        if np.any(light):
            raise DataError(
                f"{name}: samples {listed(np.flatnonzero(light))} have no weight, so the quotient "
                'is unbounded. Use more neighbours or weights="binary", or leave these samples out.'
            )
        sums = self.times(np.ones(self.n))
        self.totals: Array = sums
        self.has_trivial = True
        if factor is None:
            self.totals = np.asarray(self.mass_matrix @ np.ones(self.n))
            quotient = float(sums.sum() / self.totals.sum())
            residual = np.max(np.abs(sums - quotient * self.totals))
            size = abs(self.weights).sum(axis=1).max()
            self.has_trivial = bool(residual <= ROUNDING * size)

    @cached_property
    def weights(self) -> Matrix:
        """W."""
        return sp.csr_array(self.factor @ self.factor.T)

    @property
    def mass_matrix(self) -> Matrix:
        """D as a matrix, sparse if it is diagonal."""
        if self.masses.ndim == 1:
            return sp.diags_array(self.masses, format="csr")
        return self.masses

    def times(self, B: Array) -> Array:
        """W B."""
        if self.factor is not None:
            return np.asarray(self.factor @ (self.factor.T @ B))
        return np.asarray(self.weights @ B)

    def normalized(self) -> Matrix:
        """:math:`D^{-1/2} W D^{-1/2}` of a diagonal D."""
        scale = sp.diags_array(1.0 / np.sqrt(self.masses))
        scaled = scale @ self.weights @ scale
        return scaled.tocsr() if sp.issparse(scaled) else np.asarray(scaled)


# -- of graphs -------------------------------------------------------------------------------------


@takes_graph
def laplacian_pencil(
    graph: NeighborGraph, weights: str = "binary", bandwidth: float | None = None
) -> Pencil:
    r"""Neighbours attract: Laplacian eigenmaps, and locality preserving projections.

    :math:`W_{ij}` is the weight of an edge and :math:`D_{ii} = \sum_j W_{ij}` (Cai thesis, (2.5)
    and (2.7)). Samples that coincide are joined with weight one.

    Parameters
    ----------
    graph : NeighborGraph
    weights : {"binary", "heat", "cosine"}, default "binary"
    bandwidth : float, optional
        As for `sdpdr.graphs.edge_weights`.
    """
    W = _sample_weights(graph, weights, bandwidth)
    return Pencil(W, _degrees(W), "laplacian")


@takes_graph
def reconstruction_pencil(graph: NeighborGraph) -> Pencil:
    r"""Samples follow their neighbours: locally linear embedding, neighbourhood preserving maps.

    :math:`W = M + M^T - M^T M` with the weights M of sum one that reconstruct every sample from its
    own k nearest ones, and D = I, so that :math:`I - W = (I - M)^T (I - M)` (Cai thesis, (2.1),
    (2.2)).

    Parameters
    ----------
    graph : NeighborGraph
        Every node has a neighbour. If it has edges only, all samples at the other ends are
        neighbours.
    """
    # A sample that coincides with another follows the mean of those at the neighbouring nodes.
    spread = _samples_of(graph)
    M = reconstruction_weights(graph, iterations=1, directed=True)
    M = sp.csr_array(spread @ M @ sp.diags_array(1.0 / spread.sum(axis=0)) @ spread.T)
    return Pencil(sp.csr_array(M + M.T - M.T @ M), None, "reconstruction")


@takes_graph
def geodesic_pencil(graph: NeighborGraph) -> Pencil:
    r"""Distances along the graph: Isomap, and isometric projection.

    :math:`W = -\tfrac12 H S H` with squared lengths S of shortest paths and
    :math:`H = I - \mathbf 1\mathbf 1^T/n`; D = I (Cai thesis, (2.4)).

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    """
    graph.require_connected()
    _require_all(graph)
    squares = geodesics(graph)[np.ix_(graph.index, graph.index)] ** 2
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1)[:, None]
    return Pencil(-0.25 * (squares + squares.T), None, "geodesic")


def within_classes(
    make: Callable[[NeighborGraph], Pencil], X: Any, y: ArrayLike, n_neighbors: int, metric: str
) -> Pencil:
    """The pencil of neighbours searched inside every class (Cai thesis, section 3.3).

    Samples of a class of fewer than three, or of one position, follow their mean.
    """
    n_neighbors = validate.positive_integer("n_neighbors", n_neighbors)
    labels, member, _ = classes_of(y)
    order, weights, masses, few = [], [], [], []
    for k, label in enumerate(labels.tolist()):
        rows = np.flatnonzero(member == k)
        count, graph = rows.size, None
        apart = (X[rows].max(axis=0) - X[rows].min(axis=0)).max() > 0.0
        if not apart:
            count = 1
        elif count > 2:
            try:
                graph = knn(X[rows], n_neighbors, metric=metric, connect="none")
            except FewPointsError as error:
                count = error.most + 1
                if error.most:
                    graph = knn(X[rows], error.most, metric=metric, connect="none")
        if count <= n_neighbors:
            few.append(f"{label!r} ({count})")
        together = np.full((rows.size, rows.size), 1.0 / rows.size)
        own = Pencil(sp.csr_array(together)) if graph is None else make(graph)
        order.append(rows)
        weights.append(own.weights)
        masses.append(own.masses)
    if few:
        warn(
            f"n_neighbors={n_neighbors}, but classes have fewer distinct samples: {listed(few)}. "
            "Each of those was joined to all others of its class.",
            FewPointsWarning,
        )
    back = np.argsort(np.concatenate(order))
    W = sp.csr_array(sp.block_diag(weights, format="csr"))[back][:, back]
    return Pencil(W, np.concatenate(masses)[back], "within classes")


# -- of labels -------------------------------------------------------------------------------------


def class_pencil(y: ArrayLike) -> Pencil:
    r"""Samples of a class attract: linear discriminant analysis.

    :math:`W_{ij} = 1/n_k` for two samples of class k, and D = I (Cai thesis, (2.16)).

    Parameters
    ----------
    y : array_like of shape (n,)
        At least two classes.
    """
    _, member, counts = classes_of(y)
    return Pencil(name="classes", factor=indicators(member, counts))


@takes_graph
def semisupervised_pencil(
    graph: NeighborGraph,
    y: ArrayLike,
    alpha: float = 0.1,
    *,
    weights: str = "binary",
) -> Pencil:
    r"""Labelled samples of a class attract, and all samples follow their neighbours.

    W is that of `class_pencil` on the labelled samples and zero elsewhere;
    :math:`D = \tilde I + \alpha L` with :math:`\tilde I` marking the labelled samples and L the
    Laplacian of the graph (Cai thesis, (2.20)-(2.25)).

    Parameters
    ----------
    graph : NeighborGraph
        Every component has a labelled sample; a `DataError` names others.
    y : array_like of shape (n,)
        -1 if not known.
    alpha : float, default 0.1
        Positive.
    weights : {"binary", "heat", "cosine"}, default "binary"
        Weights of the Laplacian, as for `sdpdr.graphs.edge_weights`.
    """
    _, member, counts = classes_of(y, partly=True)
    alpha = validate.positive_number("alpha", alpha)
    W = _sample_weights(graph, weights, member=member)
    W.eliminate_zeros()  # edges of weight zero join nothing
    count, parts = connected_components(W, directed=False)
    bare = np.setdiff1d(parts, parts[member >= 0])
    if bare.size:
        raise DataError(
            f"{bare.size} of {count} components of the graph have no labelled sample: "
            f"{listed(np.flatnonzero(np.isin(parts, bare)))}. Label one in each, use more "
            "neighbours, or leave them out."
        )
    D = sp.csr_array(sp.diags_array((member >= 0).astype(float)) + alpha * _laplacian(W))
    return Pencil(None, D, "semisupervised", factor=indicators(member, counts))


@takes_graph
def contrast_pencil(
    graph: NeighborGraph,
    y: ArrayLike,
    share: float = 0.1,
    *,
    weights: str = "binary",
) -> Pencil:
    r"""Neighbours of one class attract, those of others repel: locality sensitive analysis.

    With the edges within classes :math:`W_w` and between them :math:`W_b`, and :math:`L_b` the
    Laplacian of the latter, :math:`W = \alpha L_b + (1 - \alpha) W_w` and D the degrees of
    :math:`W_w` (Cai thesis, (2.26)-(2.33)). The constant vector has the eigenvalue :math:`1 -
    \alpha`, in the middle of the spectrum. A sample without a neighbour of its class would have no
    mass; it is joined to itself with weight one, and named by an `AddedEdgesWarning`.

    Parameters
    ----------
    graph : NeighborGraph
    y : array_like of shape (n,)
    share : float, default 0.1
        :math:`\alpha` in [0, 1].
    weights : {"binary", "heat", "cosine"}, default "binary"
        Weights of the edges, as for `sdpdr.graphs.edge_weights`.
    """
    _, member, _ = classes_of(y)
    share = validate.share("share", share)
    pairs = sp.coo_array(_sample_weights(graph, weights, member=member))
    same = member[pairs.row] == member[pairs.col]
    within, between = (
        sp.csr_array((pairs.data[part], (pairs.row[part], pairs.col[part])), pairs.shape)
        for part in (same, ~same)
    )
    alone = ~(_degrees(within) > 0.0)
    if np.any(alone):
        warn(
            f"samples {numbered(np.flatnonzero(alone))} have no neighbour of their class. Each was "
            "joined to itself, so it is only kept apart from its neighbours of other classes. Use "
            "more neighbours.",
            AddedEdgesWarning,
        )
    within = within + sp.diags_array(alone.astype(float))
    W = sp.csr_array(share * _laplacian(between) + (1.0 - share) * within)
    return Pencil(W, _degrees(within), "contrast")


# -- parts of pencils ------------------------------------------------------------------------------


def classes_of(y: ArrayLike, *, partly: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, the class of every sample, and the sizes of the classes.

    If y is known ``partly``, the label -1 is unknown, and so is the class: -1.
    """
    y = np.asarray(y)
    if y.ndim != 1:
        raise ShapeError(f"y has shape {y.shape}; expected (n,).")
    require_classes(y)
    known = y != UNKNOWN if partly else np.ones(y.size, dtype=bool)
    labels, inverse = distinct(y[known])
    if labels.size < 2:
        besides = ", besides missing labels and -1, which are unknown" if partly else ""
        raise DataError(f"y has {labels.size} known classes; expected at least two{besides}.")
    member = np.full(y.size, UNKNOWN, dtype=np.intp)
    member[known] = inverse
    return labels, member, np.bincount(inverse)


def indicators(member: np.ndarray, counts: np.ndarray) -> sp.csr_array:
    """F such that F F^T projects onto the indicators of classes."""
    known = np.flatnonzero(member >= 0)
    values = 1.0 / np.sqrt(counts[member[known]])
    return sp.csr_array((values, (known, member[known])), shape=(member.size, counts.size))


def _require_all(graph: NeighborGraph) -> None:
    if np.any(graph.index < 0):
        gone = listed(np.flatnonzero(graph.index < 0))
        raise DataError(f"the graph dropped samples {gone}; build it with connect='mst' or 'none'.")


def _samples_of(graph: NeighborGraph) -> sp.csr_array:
    """One row for each sample, with a one at its node."""
    _require_all(graph)
    index = graph.index
    return sp.csr_array((np.ones(index.size), (np.arange(index.size), index)))


def _sample_weights(
    graph: NeighborGraph,
    weights: str,
    bandwidth: float | None = None,
    member: np.ndarray | None = None,
) -> sp.csr_array:
    """Weights of pairs of samples; those that share a node have weight one."""
    spread = _samples_of(graph)
    n = spread.shape[0]
    if member is not None and member.size != n:
        raise ShapeError(f"y has {member.size} labels; the graph was made of {n} samples.")
    W = spread @ graph.adjacency(edge_weights(graph, weights, bandwidth)) @ spread.T
    if np.any(graph.counts > 1):
        W = W + spread @ spread.T - sp.eye_array(n)
    return sp.csr_array(W)


def _degrees(W: sp.csr_array) -> Array:
    return np.asarray(W.sum(axis=1)).ravel()


def _laplacian(W: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(sp.diags_array(_degrees(W)) - W)
