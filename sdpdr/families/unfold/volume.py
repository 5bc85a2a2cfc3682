"""Minimum volume embedding: the variance in r dimensions, against that in all others."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.families.unfold.mvu import mvu
from sdpdr.graphs import NeighborGraph
from sdpdr.model.blocks import Relation
from sdpdr.solving.iterate.convex import ConvexIteration
from sdpdr.solving.iterate.directions import Trailing
from sdpdr.solving.iterate.programs import Start
from sdpdr.solving.iterate.records import State


def volume_iteration(
    graph: NeighborGraph,
    rank: int = 2,
    kappa: float = 1.0,
    isometry: Relation = "inequality",
    **options: Any,
) -> ConvexIteration:
    """The iteration behind `minimum_volume`, with the same parameters, not yet run."""
    _check_rank(rank, graph)
    if not (np.isfinite(kappa) and kappa >= -1.0):
        raise DataError(
            f"kappa must be at least -1, where the method is MVU; it is {kappa}. Below, the "
            "objective is no longer concave and a step may raise it."
        )
    return ConvexIteration(
        mvu(graph, isometry),
        rank,
        direction=Trailing(rank, weights_of(graph)),
        weight=1.0 + kappa,
        **options,
    )


def minimum_volume(
    graph: NeighborGraph,
    rank: int = 2,
    kappa: float = 1.0,
    isometry: Relation = "inequality",
    *,
    start: Start | None = None,
    **options: Any,
) -> State:
    r"""Minimum volume embedding: unfold into r dimensions and flatten all others.

    .. math::

        \min_{K}\ \kappa \sum_{i > r} \lambda_i(K) - \sum_{i \le r} \lambda_i(K)
        = -\operatorname{tr} K + (1 + \kappa) \sum_{i > r} \lambda_i(K)

    over the Gram matrices of `sdpdr.methods.mvu`. The objective is concave; replacing the sum of
    trailing eigenvalues by its majoriser :math:`\langle W, K\rangle` at the present K gives a
    semidefinite program, and the sequence of their optima never rises. It ends in a local optimum.
    No bound is known that closes the gap; what is proved is that no matrix does better than minus
    the optimum of maximum variance unfolding (``state.bound``), since the sum is not negative.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    rank : int, default 2
        r, from 1 to n - 1; at n - 1 the method is maximum variance unfolding.
    kappa : float, default 1.0
        Price of the variance outside r dimensions, at least -1, where the method is maximum
        variance unfolding for every r.
    isometry : {"inequality", "equality"}, Band or Slack, default "inequality"
        Where lengths may shrink, and kappa >= 0, trailing dimensions can be dropped at no cost:
        the optimum is that of low-rank maximum variance unfolding, and the embedding flat. Where
        they may not, flattening competes with keeping them.
    start : array of shape (n, d), Factor or Solution, optional
        The points or matrix whose leading eigenvectors come first; by default those of maximum
        variance unfolding.
    **options
        Of `ConvexIteration`: ``tol``, ``max_iter``, ``restarts``, ``seed``, ``solver``, ``form``,
        ``accuracy``, ``time_limit``, ``progress``.

    Returns
    -------
    State
        With ``history``, ``status``, ``objective``, ``bound``, ``embedding(r)``.

    Raises
    ------
    DataError
        If r is not in 1..n - 1 or kappa is below -1.
    DisconnectedGraphError

    References
    ----------
    B. Shaw and T. Jebara, "Minimum volume embedding", AISTATS 2007; Vasiloglou thesis, section 6.2.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> X, _ = sdpdr.datasets.swiss_roll(20, seed=0)
    >>> state = minimum_volume(graphs.knn(X, n_neighbors=4), rank=2)
    >>> state.status
    IterationStatus.SETTLED
    >>> round(state.objective), round(state.bound)
    (-2867, -2904)
    """
    return volume_iteration(graph, rank, kappa, isometry, start=start, **options).run()


def weights_of(graph: NeighborGraph) -> Array | None:
    """How many points each node stands for; None if one each."""
    return None if np.all(graph.counts == 1) else np.asarray(graph.counts, dtype=float)


def _check_rank(rank: int, graph: NeighborGraph) -> None:
    if validate.positive_integer("rank", rank) > graph.n - 1:
        raise DataError(
            f"rank must lie in 1..{graph.n - 1}, the dimension of {graph.n} centred points; it is "
            f"{rank}."
        )
