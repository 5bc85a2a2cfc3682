"""Density preserving maps, and the ellipsoid of least volume, as semidefinite programs."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, InfeasibleError, ModelError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.unfold.density import Ellipsoid, whiten
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.given import takes_graph
from sdpdr.model import Model
from sdpdr.model.blocks import Gram
from sdpdr.model.blocks.entries import (
    Dispersion,
    LeastTrace,
    NonNegative,
    RowSums,
    UnitDiagonal,
)
from sdpdr.model.language import maximize, psd, root_det
from sdpdr.program import Solution, as_dense

Variant = Literal["unit", "trace"]
Objective = Literal["most", "least"]


@takes_graph
def density_map(
    graph: NeighborGraph,
    density: ArrayLike | None = None,
    bandwidth: float | None = None,
    variant: Variant = "unit",
    spread: Objective = "most",
) -> Model:
    r"""Density preserving map: a kernel with prescribed densities at all points.

    .. math::

        \max_{K \succeq 0}\ \langle P, K\rangle \quad\text{s.t.}\quad
        \sum_{i \sim j} K_{ij} = f_j,\quad K_{ij} \ge 0 \text{ for every edge},\quad K_{ii} = 1,

    with :math:`P = I - \mathbf 1\mathbf 1^T/n`. On the unit sphere the sum of all squared edge
    lengths is fixed, :math:`\sum_j (\deg j - f_j)`, so the variance can be the objective.
    Without the sphere (``variant="trace"``) the objective is the least :math:`\operatorname{tr} K`
    . The forms printed in the thesis have no such condition and are unbounded, or have the
    solution :math:`K = \operatorname{diag}(f)`.

    Parameters
    ----------
    graph : NeighborGraph
    density : array_like of shape (n,), optional
        f, positive. Default: :math:`f_j = \sum_{i \sim j} \exp(-d_{ij} / 2h^2)`, for which the
        Gaussian kernel itself is feasible.
    bandwidth : float, optional
        h of that kernel, a plain length. Default: the square root of the mean of d.
    variant : {"unit", "trace"}, default "unit"
    spread : {"most", "least"}, default "most"
        For the unit variant: whether to maximise or minimise :math:`\langle P, K\rangle`.

    Returns
    -------
    Model

    Raises
    ------
    DataError, ShapeError
        The densities are not positive numbers, one for each node, or a node has no neighbour.
    InfeasibleError
        On the unit sphere no entry exceeds one, so :math:`f_j \le \deg j`.
    ModelError
        Both a density and a bandwidth, or a bandwidth that is not positive.

    References
    ----------
    Vasiloglou thesis, (6.33)-(6.36), which this replaces; see the method's page.

    Examples
    --------
    >>> from sdpdr.methods import density_map
    >>> from sdpdr import graphs
    >>> density_map(graphs.cycle(5), bandwidth=1.0)
    Gram + UnitDiagonal + RowSums + NonNegative + Dispersion
    """
    validate.choice("variant", variant, ("unit", "trace"))
    validate.choice("spread", spread, ("most", "least"))
    if np.any(graph.degree == 0):
        alone = int(np.flatnonzero(graph.degree == 0)[0])
        raise DataError(f"node {alone} has no neighbour, and so no density; connect or drop it.")
    sums = _densities(graph, density, bandwidth)
    n = graph.n
    c = graph.masses
    rows = (RowSums(n, graph.edges, sums), NonNegative(n, graph.edges))
    if variant == "trace":
        return Model((Gram(n), *rows, LeastTrace(n, c)), name="density_map", maximize=False)
    too_much = np.flatnonzero(sums > graph.degree)
    if too_much.size:
        j = int(too_much[0])
        raise InfeasibleError(
            f"density[{j}] = {sums[j]:g}, but node {j} has {graph.degree[j]} neighbours and no "
            "entry of a kernel with unit diagonal exceeds 1. Lower it, or use variant='trace'."
        )
    blocks = (Gram(n), UnitDiagonal(n), *rows, Dispersion(n, c, most=spread == "most"))
    return Model(blocks, name="density_map", maximize=spread == "most")


def kernel_sums(graph: NeighborGraph, bandwidth: float | None = None) -> Array:
    r"""Densities of a Gaussian kernel on a graph, :math:`\sum_{i \sim j} \exp(-d_{ij} / 2h^2)`."""
    h = float(np.sqrt(np.mean(graph.sqdist)))
    h = h if bandwidth is None else validate.real("bandwidth", bandwidth)
    if not 0.0 < h < np.inf:
        raise ModelError(f"bandwidth must be positive and finite; it is {bandwidth}.")
    weights = np.exp(-graph.sqdist / (2.0 * h**2))
    return np.asarray(graph.adjacency(weights).sum(axis=1), dtype=float).ravel()


def _densities(graph: NeighborGraph, density: ArrayLike | None, bandwidth: float | None) -> Array:
    """The prescribed densities, or those of the Gaussian kernel."""
    if density is not None and bandwidth is not None:
        raise ModelError("give density or bandwidth, not both: the bandwidth makes a density.")
    sums = kernel_sums(graph, bandwidth) if density is None else np.asarray(density, dtype=float)
    if sums.shape != (graph.n,):
        raise ShapeError(
            f"density must have one number for each of the {graph.n} nodes; it has shape "
            f"{sums.shape}."
        )
    bad = np.flatnonzero(~((sums > 0.0) & np.isfinite(sums)))
    if bad.size:
        words = "a wider bandwidth" if density is None else "positive densities"
        raise DataError(f"the density at node {bad[0]} is {sums[bad[0]]}; give {words}.")
    return sums


@checks_keywords
def mvee(X: ArrayLike) -> Model:
    r"""Minimum-volume enclosing ellipsoid of points in white coordinates.

    .. math::

        \max\ (\det Z)^{1/m} \quad\text{s.t.}\quad
        W = \begin{pmatrix} s & z^T \\ z & Z \end{pmatrix} \succeq 0,\quad
        x_i^T Z x_i - 2 z^T x_i + s \le 1 .

    The ellipsoid is :math:`(x - c)^T Z (x - c) \le 1` with :math:`c = Z^{-1} z`. The points are
    moved to mean zero and covariance one first: the problem is the same in all coordinates, but
    solvers fail if the data lie far from the origin. In white coordinates the constraints add up to
    :math:`\operatorname{tr} W \le 1`, which is stated, too, because it helps to prove bounds.
    `ellipsoid_of` returns the ellipsoid in the coordinates of X.
    `sdpdr.density.minimum_ellipsoid` finds it in a fraction of the time.

    Parameters
    ----------
    X : array_like of shape (k, m)
        At least m + 1 of the points affinely independent.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        The points span fewer than m dimensions: their ellipsoid has no volume.

    References
    ----------
    Vasiloglou thesis, (2.9).

    Examples
    --------
    >>> from sdpdr.methods import mvee
    >>> mvee([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    Objective + Enclosing + Trace
    """
    points = whiten(X).points
    W = psd("W", points.shape[1] + 1)
    lifted = np.column_stack([-np.ones(len(points)), points])
    enclosing = (W.quadratic(lifted) <= 1.0).named("enclosing")
    trace = (W.trace() <= 1.0).named("trace")
    return Model((maximize(root_det(W[1:, 1:])), enclosing, trace), name="mvee")


@checks_keywords
def ellipsoid_of(solution: Solution, X: ArrayLike) -> Ellipsoid:
    r"""The ellipsoid in a solution of `mvee`, inflated until it contains all points.

    Parameters
    ----------
    solution : Solution
        A solution of ``mvee(X)``.
    X : array_like of shape (k, m)
        The same points.

    Returns
    -------
    Ellipsoid
        In the coordinates of X. Its ``gap`` follows from the solution's bound b:
        :math:`\det Z \le b^m` in white coordinates.
    """
    white = whiten(X)
    dense = as_dense(solution.gram("W"))
    shape: Array = dense[1:, 1:]
    center: Array = np.asarray(np.linalg.solve(shape, dense[1:, 0]), dtype=float)
    steps = white.points - center
    shape = shape / np.max(np.sum(steps @ shape * steps, axis=1))
    gap = float("inf")
    if solution.bound is not None:
        least = len(shape) * np.log(solution.bound)
        gap = max(0.0, 0.5 * float(least - np.linalg.slogdet(shape)[1]))
    return white.unwhitened(center, shape, gap)
