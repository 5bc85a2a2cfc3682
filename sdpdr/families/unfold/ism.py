"""Isometric separation maps: unfolding with hyperplanes between classes."""

from __future__ import annotations

from numbers import Real
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.advice import either
from sdpdr.base.errors import InfeasibleError, ModelError, UnknownNameError
from sdpdr.families.unfold.labelled import Labelled, encoded, labelled
from sdpdr.families.unfold.mvu import mfnu, mvu, stretch_of
from sdpdr.graphs import FurthestPairs, NeighborGraph
from sdpdr.graphs.given import takes_graph
from sdpdr.model import Block, Model, soften
from sdpdr.model.blocks import Centered, Gram, Isometry, Relation, Variance
from sdpdr.model.blocks.entries import Dispersion
from sdpdr.model.blocks.separation import Separation
from sdpdr.model.language import maximize, psd, scalar

Furthest: TypeAlias = "FurthestPairs | Literal['auto', 'all']"


@takes_graph
def ism(
    graph: NeighborGraph,
    y: ArrayLike | None = None,
    anchors: ArrayLike | None = None,
    margin: float | None = None,
    furthest: Furthest = "auto",
    slack: float | None = None,
    isometry: Relation = "inequality",
) -> Model:
    r"""Isometric separation map: unfold, with the classes on two sides of a hyperplane.

    .. math::

        \max_{K \succeq 0}\ \langle L_F, K\rangle \quad\text{s.t.}\quad
        K_{ii} + K_{jj} - 2K_{ij} \;(\le, =)\; d_{ij} \text{ for every edge},\quad
        s_i K_{Ai} \ge \gamma \text{ for every labelled } i .

    The hyperplane passes through the origin, its normal is the anchor's own point
    :math:`y_A`, and :math:`s_i = 1` if i has the anchor's label, else -1. The sign of
    :math:`K_{Ai}` predicts the labels of the other points. With more classes, each has an anchor,
    and the largest :math:`K_{A_c i}` predicts.

    The dual: edge weights w and :math:`\mu \ge 0` with :math:`L(w) - L_F - \sum_i \mu_i s_i
    (e_A e_i^T + e_i e_A^T)/2 \succeq 0` bound the optimum by :math:`d^T w - \gamma \sum_i \mu_i`.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    y : array_like, optional
        A label for each node (or each sample from which the graph was made), -1 if unknown.
        Without any label this is maximum (furthest-neighbour) variance unfolding.
    anchors : array_like of int, optional
        Labelled nodes, one for each class; for two classes one anchor is enough. Default: the
        node of each class (of the second of two) that is furthest along the graph from others.
    margin : float, optional
        :math:`\gamma > 0`, in units of squared length. Default: the smaller of a tenth of the
        median of d and half of a margin that is possible for any labels.
    furthest : {"auto", "all"} or FurthestPairs, default "auto"
        Pairs to pull apart: each point and the point furthest from it; or all pairs, so that the
        objective is the variance about the mean; or the given pairs.
    slack : float, optional
        Penalty C: constraints may be violated by :math:`\xi`, at a cost of :math:`C\xi`. If it is
        too low, most constraints are violated, and :math:`K_{AA} < \gamma`.
    isometry : {"inequality", "equality", "band:0.05", ...}, Band or Slack, default "inequality"

    Returns
    -------
    Model

    Raises
    ------
    DataError, ShapeError
        One class only, labels of another length, an anchor without a label, no furthest pairs.
    ModelError
        The margin is not positive. (With :math:`\gamma = 0`, as printed, the normal vanishes
        and nothing is separated.)
    InfeasibleError
        The margin is larger than any map allows, or one point has two labels.

    References
    ----------
    Vasiloglou thesis, chapter 5, (1.90); Vasiloglou, Gray and Anderson, "Learning isometric
    separation maps", 2009.

    Examples
    --------
    >>> from sdpdr.methods import ism
    >>> from sdpdr import graphs
    >>> line = graphs.path([1.0, 1.0, 1.0])
    >>> ism(line, ["a", None, None, "b"], margin=0.5, furthest="all")
    Gram + Lengths + Dispersion + Separation + Reach
    """
    unfolding = _unfolding(graph, furthest, isometry)
    if y is None or not encoded(y)[0].size:
        return unfolding
    labels = labelled(graph, y, anchors)
    gamma = labels.default_margin if margin is None else float(margin)
    separation: Block = Separation(labels.codes, labels.anchors, gamma)
    # The origin lies on the hyperplane, so points are not centred.
    blocks = [b for b in unfolding.blocks if not isinstance(b, (Centered, Variance))]
    if furthest == "all":
        blocks.append(Dispersion(graph.n, np.asarray(graph.counts, dtype=float)))
    if slack is None:
        _require_conceivable(labels, gamma, isometry)
        blocks += [separation, *_reach(labels, isometry, gamma)]
    elif isinstance(slack, Real) and np.isfinite(slack) and slack > 0:
        blocks.append(soften(separation, slack))
    else:
        raise ModelError(f"the penalty slack must be positive and finite; it is {slack!r}.")
    return Model(tuple(blocks), name="ism")


@takes_graph
def separation_margin(
    graph: NeighborGraph,
    y: ArrayLike,
    anchors: ArrayLike | None = None,
    isometry: Relation = "inequality",
) -> Model:
    r"""The largest margin of an isometric separation map: its value is :math:`\gamma_{\max}`.

    .. math::

        \max_{K \succeq 0,\ t}\ t \quad\text{s.t.}\quad
        K_{ii} + K_{jj} - 2K_{ij} \;(\le, =)\; d_{ij},\quad s_i K_{Ai} \ge t .

    It depends on the anchors. The largest multipliers show which points and edges limit it.
    Dual: :math:`\min d^T w` s.t. :math:`L(w) \succeq \sum_i \mu_i s_i
    (e_A e_i^T + e_i e_A^T)/2`, :math:`\mu \ge 0`, :math:`\sum_i \mu_i = 1`.

    Parameters
    ----------
    graph, y, anchors, isometry
        As for `ism`, whose errors it raises.

    Returns
    -------
    Model

    References
    ----------
    Vasiloglou thesis, chapter 5 (which takes the margin to be zero).

    Examples
    --------
    Two points at the squared distance 4 can be at +-1 on a line:

    >>> from sdpdr.methods import separation_margin
    >>> import sdpdr
    >>> pair = sdpdr.graphs.path([2.0])
    >>> round(sdpdr.solve(separation_margin(pair, [0, 1])).value, 5)
    1.0
    """
    labels = labelled(graph, y, anchors)
    t = scalar("margin", 1, nonnegative=True)
    sides = Separation(labels.codes, labels.anchors).sides
    separation = (sides >= t).named("separation")
    blocks = (Gram(graph.n), Isometry(graph, isometry), separation, maximize(t))
    return Model((*blocks, *_reach(labels, isometry)), name="separation_margin")


def _unfolding(graph: NeighborGraph, furthest: Furthest, isometry: Relation) -> Model:
    """The model without labels."""
    if isinstance(furthest, FurthestPairs) or furthest == "auto":
        return mfnu(graph, isometry, None if furthest == "auto" else furthest)
    if furthest == "all":
        return mvu(graph, isometry)
    raise UnknownNameError("furthest", furthest, ("auto", "all", "FurthestPairs"))


def _require_conceivable(labels: Labelled, margin: float, isometry: Relation) -> None:
    """Raise an error if paths along the graph show that the margin is too large."""
    stretch = stretch_of(isometry)
    if np.isinf(stretch):
        return
    limit, (anchor, other) = labels.largest_conceivable_margin(stretch)
    if margin > limit:
        raise InfeasibleError(
            f"margin={margin:g} is more than {limit:.6g}, the largest margin that the path along "
            f"the graph from anchor {anchor} to point {other}, of another class, allows. "
            + either(
                "The largest margin is the value of methods.separation_margin(graph, y, anchors).",
                "Take a smaller one.",
            )
        )


def _reach(labels: Labelled, isometry: Relation, margin: float = 0.0) -> tuple[Block, ...]:
    """The redundant bound on the trace, unless lengths may grow without bound.

    No point is further from the origin than its reach. With this constraint, multipliers of any
    accuracy prove a bound, at any size. Without it the margin of 300 points has no proved bound,
    and 1,000 points end at a gap of 1e-5 after four times as long. Penalized constraints need none:
    there, multipliers are bounded by the penalty.
    """
    stretch = stretch_of(isometry)
    if np.isinf(stretch):
        return ()
    reach = labels.reach(margin, stretch)
    K = psd("K", reach.size)
    return ((K.trace() <= float(reach @ reach)).named("reach"),)
