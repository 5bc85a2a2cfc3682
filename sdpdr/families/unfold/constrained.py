"""Isometric placements of a rank and of a least variance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, InfeasibleError
from sdpdr.families.unfold.mvu import isometric, mvu
from sdpdr.families.unfold.volume import weights_of
from sdpdr.graphs import NeighborGraph
from sdpdr.model.blocks import Relation
from sdpdr.program import Solution
from sdpdr.solving.iterate.convex import ConvexIteration
from sdpdr.solving.iterate.directions import Direction, LogDet, Trailing
from sdpdr.solving.iterate.purify import Purified
from sdpdr.solving.iterate.records import IterationStatus, State
from sdpdr.solving.solve import solve

# Relative excess over the proven largest variance that rounding may explain.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class RankConstrained:
    """A placement of some rank, and what it had to give up.

    Attributes
    ----------
    state : State
        Of the convex iteration that ended the search.
    purified : Purified or None
        Its matrix, truncated to the rank and mended until the lengths hold; None without a point.
    variance : float
        The least variance asked for in that iteration.
    largest : Solution
        Maximum variance unfolding of the same graph at any rank, with its bound.
    attempts : int
        How many least variances were tried.
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
        self.state.solution  # noqa: B018  # says why there is none
        assert self.purified is not None
        return self.purified.factor

    def __repr__(self) -> str:
        return (
            f"RankConstrained({self.status.name} at {self.share:.0%} of the largest variance; "
            f"{self.purified})"
        )


def rank_constrained(
    graph: NeighborGraph,
    rank: int = 2,
    isometry: Relation = "equality",
    *,
    share: float = 0.9,
    variance: float | None = None,
    retries: int = 0,
    shrink: float = 0.8,
    direction: str | Direction = "trailing",
    **options: Any,
) -> RankConstrained:
    r"""Maximum variance unfolding within r dimensions, by convex iteration.

    .. math::

        \text{find } K \succeq 0:\quad \operatorname{rank} K \le r,\quad K\mathbf 1 = 0,\quad
        K_{ii} + K_{jj} - 2 K_{ij} \;(=, \le)\; d_{ij},\quad
        \operatorname{tr} K \ge v.

    Maximum variance unfolding without the rank comes first; a share of its optimum is the least
    variance v. Then `ConvexIteration` lowers the sum of the trailing eigenvalues over
    `sdpdr.methods.isometric`, and its answer is truncated and polished. If it stalls, v may be
    lowered and the search taken up again from there.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    rank : int, default 2
        r, from 1 to n - 1.
    isometry : {"equality", "inequality"}, Band or Slack, default "equality"
        Where lengths may only shrink, a low rank costs nothing but shorter edges: use equality or
        a `Band` if the result is to be called isometric.
    share : float, default 0.9
        v relative to the optimum of maximum variance unfolding, in (0, 1].
    variance : float, optional
        v itself, in place of ``share``.
    retries : int, default 0
        How often v may be lowered after a stall.
    shrink : float, default 0.8
        Factor on v each time.
    direction : {"trailing", "logdet"} or Direction, default "trailing"
    **options
        Of `ConvexIteration`.

    Returns
    -------
    RankConstrained
        A stall is a status ("rank not reached"), with the best answer; never an exception.

    Raises
    ------
    InfeasibleError
        If v exceeds the proven optimum of maximum variance unfolding.
    DataError
        If r is not in 1..n - 1, or a share not in (0, 1].
    DisconnectedGraphError

    References
    ----------
    Vasiloglou thesis, section 6.2.1, (2.101)-(2.105).

    Examples
    --------
    A path of equal steps on a line: of its foldings, the flat one has a variance of 10.

    >>> from sdpdr import graphs
    >>> found = rank_constrained(graphs.path([1.0] * 4), rank=1, share=0.95)
    >>> found.status, found.purified.held()
    (IterationStatus.RANK_REACHED, True)
    >>> round(float(np.sum(found.embedding_**2)), 6)
    10.0
    """
    least = _least(share, variance, shrink)
    validate.positive_integer("retries", retries, at_least=0)
    counts = weights_of(graph)
    if direction == "trailing":
        direction = Trailing(rank, counts)
    elif direction == "logdet":
        direction = LogDet(rank, weights=counts)
    solving = {k: options[k] for k in ("solver", "form", "seed", "time_limit") if k in options}
    largest = solve(mvu(graph, isometry), progress=False, **solving)
    if not largest.values:
        largest.raise_for_status()
    bound = largest.value if largest.bound is None else max(largest.bound, largest.value)
    floor = least * float(largest.value) if variance is None else least
    if floor > bound * (1.0 + _ROUNDING):
        raise InfeasibleError(
            f"no placement of this graph has a variance of {floor:.6g}: the largest, at any rank, "
            f"is {largest.value:.6g} (proven bound {bound:.6g}). Ask for less."
        )
    iteration = ConvexIteration(
        isometric(graph, isometry, floor), rank, direction=direction, **options
    )
    state, attempts = iteration.run(), 1
    while state.status is IterationStatus.STALLED and attempts <= retries:
        floor *= shrink
        last = state.solution
        iteration = replace(iteration, model=isometric(graph, isometry, floor), start=last)
        state, attempts = iteration.run(), attempts + 1
    purified = None
    if state.best is not None:
        purified = iteration.purify(state)
    return RankConstrained(state, purified, floor, largest, attempts)


def _least(share: float, variance: float | None, shrink: float) -> float:
    if not 0.0 < shrink < 1.0:
        raise DataError(f"shrink must lie between 0 and 1; it is {shrink}.")
    if variance is not None:
        return validate.positive_number("variance", variance)
    if not (np.isfinite(share) and 0.0 < share <= 1.0):
        raise DataError(f"share must lie in (0, 1]; it is {share}. Or name a variance.")
    return float(share)
