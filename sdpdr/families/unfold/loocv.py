"""Maximum leave-one-out cross-validation unfolding."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.errors import ModelError
from sdpdr.families.limits import ROUNDING
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.given import takes_graph
from sdpdr.linalg.distances import about_centre
from sdpdr.model import Affine, Block, Model, Var
from sdpdr.model.blocks import Centered, Gram, Isometry, Relation, Slack
from sdpdr.model.blocks.entries import (
    LeastTrace,
    NonNegative,
    OtherSums,
    TraceAtMost,
    UnitDiagonal,
)
from sdpdr.model.blocks.geomean import GeometricMean
from sdpdr.model.blocks.isometry import as_relation

# Ratio of the trace to that of the moved points, so that there is an interior.
_ROOM = 1.5


@takes_graph
def loocv(
    graph: NeighborGraph,
    trace: float | None = None,
    unit: bool = False,
    minimum: float | None = None,
    isometry: Relation = "equality",
) -> Model:
    r"""Maximum leave-one-out likelihood: every point is likely, given all others.

    .. math::

        \max_{K \succeq 0,\, K \ge 0}\ \Bigl(\prod_j f_j\Bigr)^{1/n},\quad
        f_j = \sum_{i \ne j} K_{ij} \quad\text{s.t.}\quad
        K_{ii} + K_{jj} - 2K_{ij} = d_{ij} \text{ for every edge},\quad
        \operatorname{tr} K \le \tau .

    K is a kernel, and :math:`f_j` the density at j estimated from the other points. K must be
    bounded, because :math:`K + t\,\mathbf 1\mathbf 1^T` stays feasible and is better for every
    t: by a trace, by a unit diagonal, or by minimising the trace at a given mean. The points
    fold rather than unfold: by the inequality of the means the optimum is at most
    :math:`(n-1)\tau/n - c`, where c is the least centred trace that the lengths allow, and it
    tends to this as :math:`\tau` grows.

    Parameters
    ----------
    graph : NeighborGraph
        Connected. A node that stands for c points counts as c coinciding points.
    trace : float, optional
        :math:`\tau`. Default, for graphs made from points or distances: twice the variance of
        the points, :math:`2 \sum_i |x_i - \bar x|^2`.
    unit : bool, default False
        :math:`K_{ii} = 1` instead of a bounded trace, with all lengths scaled so that the
        longest edge has length one (an angle of 60 degrees).
    minimum : float, optional
        Minimise :math:`\operatorname{tr} K` instead, with a geometric mean of at least this.
    isometry : {"equality", "band:0.05", ...}, Band or Slack, default "equality"
        Lengths that may shrink freely are refused, because all points would coincide.

    Returns
    -------
    Model

    Raises
    ------
    DisconnectedGraphError
        The graph is disconnected, so positions of components are not related.
    ModelError
        K is not bounded, or in more than one way, or a bound is not positive; or lengths may
        shrink.

    References
    ----------
    Vasiloglou thesis, (2.13)-(2.15) and (6.32), the latter without a bound on K.

    Examples
    --------
    >>> from sdpdr.methods import loocv
    >>> from sdpdr import graphs
    >>> loocv(graphs.path([1.0, 1.0]), trace=3.0)
    Gram + NonNegative + Lengths + TraceAtMost + GeometricMean
    """
    graph.require_connected()
    n = graph.n
    if isometry == "inequality":
        raise ModelError(
            "with isometry='inequality' all points fall into one point, K = (tau / n) 11^T, which "
            "has the largest mean of all. Use 'equality', 'band:0.05' or 'slack:1.0'."
        )
    if sum((trace is not None, bool(unit), minimum is not None)) > 1:
        raise ModelError("give one of trace, unit=True and minimum, not several.")
    given = [value for value in (trace, minimum) if value is not None]
    given = [validate.real("trace" if minimum is None else "minimum", value) for value in given]
    if not all(0.0 < value < np.inf for value in given):
        raise ModelError(
            f"the limit must be positive and finite; it is {given[0]}. Without a limit the mean "
            "grows for ever, since K + t 11^T stays feasible."
        )
    scale = float(np.max(graph.sqdist)) if unit else 1.0
    edges = NeighborGraph(n, graph.edges, graph.sqdist / scale)
    blocks: list[Block] = [Gram(n), NonNegative(n), Isometry(edges, isometry)]
    if unit:
        blocks.append(UnitDiagonal(n))
    elif minimum is None:
        limit = 2.0 * _variance(graph) if trace is None else float(trace)
        blocks.append(TraceAtMost(n, limit, graph.masses))
    else:
        blocks.append(LeastTrace(n, graph.masses))
    blocks.append(GeometricMean(leave_one_out(graph.counts), minimum))
    return Model(tuple(blocks), name="loocv", maximize=minimum is None)


@takes_graph
def fold(graph: NeighborGraph, isometry: Relation = "equality") -> Model:
    r"""The least centred trace that lengths allow: points are folded together, not unfolded.

    .. math::

        c = \min_{K \succeq 0,\, K\mathbf 1 = 0} \operatorname{tr} K \quad\text{s.t.}\quad
        K_{ii} + K_{jj} - 2K_{ij} = d_{ij} \text{ for every edge}.

    Leave-one-out unfolding with a bounded trace is nearly this program, which has constraints for
    edges only: see `sdpdr.iterate.solve_loocv`.

    Parameters
    ----------
    graph, isometry
        As for `loocv`, whose errors it raises; `Slack` is refused, too.

    Returns
    -------
    Model

    Examples
    --------
    >>> from sdpdr.methods import fold
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> round(sdpdr.solve(fold(graphs.cycle(4))).value, 4)
    1.0
    """
    graph.require_connected()
    isometry = as_relation(isometry)
    if isometry == "inequality" or isinstance(isometry, Slack):
        raise ModelError(
            f"isometry={isometry!r} does not keep lengths, and without them all points "
            "fold into one: pass 'equality' or 'band:0.05'."
        )
    n, masses = graph.n, graph.masses
    blocks = (Gram(n), Centered(n, masses), Isometry(graph, isometry), LeastTrace(n, masses))
    return Model(blocks, name="fold", maximize=False)


def leave_one_out(counts: ArrayLike) -> Affine:
    r"""The sums :math:`f_j = \sum_{i \ne j} K_{ij}`, one for each of the samples of the nodes."""
    counts = np.asarray(counts, dtype=float)
    n = counts.size
    if np.all(counts == 1.0):
        return OtherSums(n) @ Var("K")
    copies = np.repeat(np.arange(n), counts.astype(int))
    return sp.eye_array(n, format="csr")[copies] @ OtherSums(n, counts) @ Var("K")


def _variance(graph: NeighborGraph) -> float:
    """Sum of squared distances of all samples from their mean."""
    space = graph.provenance.space
    if space is None:
        raise ModelError(
            "nothing limits K, and the mean grows for ever, since K + t 11^T stays feasible. "
            "Give trace, unit=True or minimum (or a graph made from points, whose variance will "
            "do)."
        )
    c = np.asarray(graph.counts, dtype=float)
    return float(c @ space.sqdist_to_all() @ c / (2.0 * c.sum()))


def roomy_trace(graph: NeighborGraph) -> float:
    """Twice the variance, or more if the points themselves need nearly as much.

    Points that are moved away from the origin until none of their products is negative are a
    feasible kernel. Its trace may exceed twice the variance, and there may be no smaller one.
    """
    twice, needed = 2.0 * _variance(graph), _enough_trace(graph)
    return max(twice, _ROOM * needed) if np.isfinite(needed) else twice


def _enough_trace(graph: NeighborGraph) -> float:
    """Trace of the points themselves, moved until they are feasible; infinite if unknown."""
    space = graph.provenance.space
    if space is None:
        return float("inf")
    c = np.asarray(graph.counts, dtype=float)
    gram = about_centre(space.sqdist_to_all(), c)
    if np.linalg.eigvalsh(gram)[0] < -ROUNDING * np.max(np.diag(gram)):
        return float("inf")
    # f_j grows by (N - 1) t, every entry by t, and the trace by N t; centred sums are -K_jj.
    others = max(c.sum() - 1.0, 1.0)
    shift = max(-float(np.min(gram)), float(np.max(np.diag(gram))) / others)
    return float(c @ np.diag(gram) + c.sum() * shift)
