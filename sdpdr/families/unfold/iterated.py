"""Few dimensions by sequences of programs: minimum volume embedding, and a prescribed rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, InfeasibleError
from sdpdr.families.limits import ROUNDING
from sdpdr.families.unfold.mvu import isometric, mvu
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.given import takes_graph
from sdpdr.model.blocks import Relation
from sdpdr.program import Solution
from sdpdr.solving.iterate.convex import ConvexIteration
from sdpdr.solving.iterate.directions import Trailing
from sdpdr.solving.iterate.programs import Start
from sdpdr.solving.iterate.purify import Purified
from sdpdr.solving.iterate.records import IterationStatus, State
from sdpdr.solving.solve import solve


@takes_graph
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

    over the Gram matrices of `sdpdr.methods.mvu`. The objective is concave. Replacing the sum of
    trailing eigenvalues by its majoriser :math:`\langle W, K\rangle` at the present K gives a
    semidefinite program, and the sequence of optima never rises. It ends in a local optimum. No
    tight bound is known; minus the optimum of maximum variance unfolding is a proved lower bound
    (``state.bound``), since the sum is not negative.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    rank : int, default 2
        r, from 1 to n - 1; at n - 1 the method is maximum variance unfolding.
    kappa : float, default 1.0
        Penalty of the variance outside r dimensions, at least -1. At -1 the method is maximum
        variance unfolding for every r.
    isometry : {"inequality", "equality", "band:0.05", ...}, Band or Slack, default "inequality"
        If lengths may shrink and kappa >= 0, trailing dimensions can be dropped at no cost: the
        optimum is that of low-rank maximum variance unfolding, and the embedding is flat. If they
        may not, flattening competes with preserving lengths.
    start : array of shape (n, d), Factor or Solution, optional
        The initial points or matrix, whose leading eigenvectors are used; by default the solution
        of maximum variance unfolding.
    **options
        Options of `ConvexIteration`: ``tol``, ``max_iter``, ``restarts``, ``seed``, ``solver``,
        ``form``, ``accuracy``, ``time_limit``, ``progress``.

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
    A ring of six equal steps unfolds into a regular hexagon, whose variance is 6.

    >>> from sdpdr.iterate import minimum_volume
    >>> from sdpdr import graphs
    >>> state = minimum_volume(graphs.cycle(6), rank=2)
    >>> state.status, round(state.objective, 3), round(state.bound, 3)
    (IterationStatus.SETTLED, -6.0, -6.0)
    """
    rank = validate.positive_integer(
        "rank", rank, at_most=graph.n - 1, why=f"the dimension of {graph.n} centred points"
    )
    if not (np.isfinite(validate.real("kappa", kappa)) and kappa >= -1.0):
        raise DataError(
            f"kappa must be at least -1, where the method is MVU; it is {kappa}. Below, the "
            "objective is no longer concave and a step may raise it."
        )
    direction = Trailing(rank, graph.masses)
    return ConvexIteration(
        mvu(graph, isometry), rank, direction=direction, weight=1.0 + kappa, start=start, **options
    ).run()


# Factor of the least variance after a stall.
_LOWERED = 0.8


@dataclass(frozen=True, eq=False)
class RankConstrained:
    """An embedding of prescribed rank, and its variance relative to the largest.

    Attributes
    ----------
    state : State
        The result of the convex iteration that ended the search.
    purified : Purified or None
        The matrix, truncated to the rank and corrected until the lengths hold; None if there is no
        point.
    variance : float
        The least variance required in that iteration.
    largest : Solution
        Maximum variance unfolding of the same graph at any rank, with its bound.
    attempts : int
        Number of least variances that were tried.
    """

    state: State
    purified: Purified | None
    variance: float
    largest: Solution
    attempts: int

    @property
    def status(self) -> IterationStatus:
        """How the search ended."""
        return self.state.status

    @property
    def share(self) -> float:
        """The least variance relative to the largest at any rank."""
        return self.variance / float(self.largest.value)

    @property
    def embedding_(self) -> Array:
        """Coordinates of exactly the rank, shape (n, rank)."""
        self.state.solution  # noqa: B018  # raises with the reason where there is none
        assert self.purified is not None
        return self.purified.factor

    def __repr__(self) -> str:
        return (
            f"RankConstrained({self.status.name} at {self.share:.0%} of the largest variance; "
            f"{self.purified})"
        )


@takes_graph
def rank_constrained(
    graph: NeighborGraph,
    rank: int = 2,
    isometry: Relation = "equality",
    *,
    share: float = 0.9,
    variance: float | None = None,
    retries: int = 0,
    **options: Any,
) -> RankConstrained:
    r"""Maximum variance unfolding within r dimensions, by convex iteration.

    .. math::

        \text{find } K \succeq 0:\quad \operatorname{rank} K \le r,\quad K\mathbf 1 = 0,\quad
        K_{ii} + K_{jj} - 2 K_{ij} \;(=, \le)\; d_{ij},\quad
        \operatorname{tr} K \ge v.

    The least variance v is a share of the optimum of maximum variance unfolding at any rank.
    `ConvexIteration` minimises the sum of the trailing eigenvalues over
    `sdpdr.methods.isometric`, and its answer is truncated and polished. If it stalls, v may be
    lowered, and the search continues from there.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    rank : int, default 2
        r, from 1 to n - 1.
    isometry : {"equality", "inequality", "band:0.05", ...}, Band or Slack, default "equality"
        If lengths may shrink, a low rank can be reached by shorter edges: use equality or a `Band`
        for an isometric result.
    share : float, default 0.9
        v relative to the optimum of maximum variance unfolding, in (0, 1].
    variance : float, optional
        The value of v, instead of ``share``.
    retries : int, default 0
        How often v may be lowered to four fifths after a stall.
    **options
        Options of `ConvexIteration`.

    Returns
    -------
    RankConstrained
        A stall is a status ("rank not reached") with the best answer, not an exception.

    Raises
    ------
    InfeasibleError
        If v exceeds the proved bound of maximum variance unfolding.
    DataError, DisconnectedGraphError

    References
    ----------
    Vasiloglou thesis, section 6.2.1, (2.101)-(2.105).

    Examples
    --------
    A path of equal steps; straight on a line, it has a variance of 10.

    >>> import numpy as np
    >>> from sdpdr.iterate import rank_constrained
    >>> from sdpdr import graphs
    >>> found = rank_constrained(graphs.path([1.0] * 4), rank=1, share=0.95)
    >>> found.status, round(float(np.sum(found.embedding_**2)), 6)
    (IterationStatus.RANK_REACHED, 10.0)
    """
    if variance is not None:
        validate.positive_number("variance", variance)
    elif not (np.isfinite(share) and 0.0 < share <= 1.0):
        raise DataError(f"share must lie in (0, 1]; it is {share}. Or name a variance.")
    validate.positive_integer("retries", retries, at_least=0)
    direction = Trailing(rank, graph.masses)
    solving = {k: options[k] for k in ("solver", "form", "seed", "time_limit") if k in options}
    largest = solve(mvu(graph, isometry), progress=False, **solving)
    if not largest.values:
        largest.raise_for_status()
    bound = largest.value if largest.bound is None else max(largest.bound, largest.value)
    floor = share * float(largest.value) if variance is None else float(variance)
    if floor > bound * (1.0 + ROUNDING):
        raise InfeasibleError(
            f"no embedding of this graph has a variance of {floor:.6g}: the largest, at any rank, "
            f"is {largest.value:.6g} (proved bound {bound:.6g}). Pass a smaller one."
        )
    model = isometric(graph, isometry, floor)
    iteration = ConvexIteration(model, rank, direction=direction, **options)
    state, attempts = iteration.run(), 1
    while state.status is IterationStatus.STALLED and attempts <= retries:
        floor *= _LOWERED
        last = state.solution
        iteration = replace(iteration, model=isometric(graph, isometry, floor), start=last)
        state, attempts = iteration.run(), attempts + 1
    purified = None if state.best is None else iteration.purify(state)
    return RankConstrained(state, purified, floor, largest, attempts)
