"""Density preserving maps, in forms that have an answer."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.blocks import Gram
from sdpdr.blocks.entries import Dispersion, LeastTrace, NonNegative, RowSums, UnitDiagonal
from sdpdr.errors import DataError, InfeasibleError, ModelError, ShapeError, UnknownNameError
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg.svec import Array
from sdpdr.model import Model

Variant = Literal["unit", "trace"]
Objective = Literal["most", "least"]


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
    lengths is fixed, :math:`\sum_j (\deg j - f_j)`, so the variance is free to be the objective.
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
        h of that kernel, a plain length. Default: the root of the mean of d.
    variant : {"unit", "trace"}, default "unit"
    spread : {"most", "least"}, default "most"
        Of the unit form: whether to maximise or to minimise :math:`\langle P, K\rangle`.

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
    >>> from sdpdr import graphs
    >>> density_map(graphs.cycle(5), bandwidth=1.0)
    Gram + UnitDiagonal + RowSums + NonNegative + Dispersion
    """
    if variant not in ("unit", "trace"):
        raise UnknownNameError("variant", variant, ("unit", "trace"))
    if spread not in ("most", "least"):
        raise UnknownNameError("spread", spread, ("most", "least"))
    if np.any(graph.degree == 0):
        alone = int(np.flatnonzero(graph.degree == 0)[0])
        raise DataError(f"node {alone} has no neighbour, and so no density; join or drop it.")
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
    r"""Densities of a Gaussian kernel on a graph, :math:`\sum_{i \sim j} \exp(-d_{ij} / 2h^2)`.

    Parameters
    ----------
    graph : NeighborGraph
    bandwidth : float, optional
        h. Default: the root of the mean of d.

    Returns
    -------
    array of shape (n,)

    Raises
    ------
    ModelError
        The bandwidth is not positive and finite.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> kernel_sums(graphs.path([1.0, 1.0])).round(4)
    array([0.6065, 1.2131, 0.6065])
    """
    h = float(np.sqrt(np.mean(graph.sqdist))) if bandwidth is None else float(bandwidth)
    if not 0.0 < h < np.inf:
        raise ModelError(f"bandwidth must be positive and finite; it is {bandwidth}.")
    weights = np.exp(-graph.sqdist / (2.0 * h**2))
    return np.asarray(graph.adjacency(weights).sum(axis=1), dtype=float).ravel()


def _densities(graph: NeighborGraph, density: ArrayLike | None, bandwidth: float | None) -> Array:
    if density is None:
        sums = kernel_sums(graph, bandwidth)
        words = "a wider bandwidth"
    elif bandwidth is not None:
        raise ModelError("give density or bandwidth, not both: the bandwidth makes a density.")
    else:
        sums = np.asarray(density, dtype=float)
        words = "positive densities"
    if sums.shape != (graph.n,):
        raise ShapeError(
            f"density must have one number for each of the {graph.n} nodes; it has shape "
            f"{sums.shape}."
        )
    bad = np.flatnonzero(~((sums > 0.0) & np.isfinite(sums)))
    if bad.size:
        j = int(bad[0])
        raise DataError(f"the density at node {j} is {sums[j]}; give {words}.")
    return sums
