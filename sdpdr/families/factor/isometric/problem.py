"""The program of isometric factors: data in units of their edges, objective and bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, InfeasibleError
from sdpdr.families.factor.isometric.lagrangian import IsometricLagrangian
from sdpdr.families.factor.nonnegative.truncation import singular_tail
from sdpdr.graphs import FurthestPairs, NeighborGraph, furthest_pairs, geodesics
from sdpdr.linalg import SquaredEdgeLengths

OBJECTIVES = ("none", "furthest")
# Default pull where the product is a penalty.
PULL = 1e-3


@dataclass(frozen=True, eq=False)
class IsometricProblem:
    r"""What is to be minimised, in units in which edges have mean squared length one.

    Attributes
    ----------
    lagrangian : IsometricLagrangian
    k : int
    unit : float
        Plain length of one unit.
    exact : bool
        Whether the product is a constraint.
    pull : float
        :math:`\beta`.
    spread_unit : float
        S, the spread if all pairs were as far apart as shortest paths are long.
    rec_bound, spread_bound : float
        As of `IsometricFactors`.
    """

    lagrangian: IsometricLagrangian
    k: int
    unit: float
    exact: bool
    pull: float
    spread_unit: float
    rec_bound: float
    spread_bound: float

    @classmethod
    def of(
        cls,
        V: Array,
        graph: NeighborGraph,
        k: int,
        product: str,
        objective: str | FurthestPairs,
        pull: float | None,
        spread_bound: float | None,
        tol: float,
    ) -> IsometricProblem:
        """What `isometric_factors` was asked, checked."""
        exact = product == "constraint"
        pairs = _pairs(V, graph, objective)
        unit = float(np.sqrt(np.mean(graph.sqdist))) if graph.m else 1.0
        small = replace(graph, sqdist=graph.sqdist / unit**2)
        weights = graph.masses
        counted = V if weights is None else np.sqrt(weights)[:, None] * V
        tail = singular_tail(counted, k) / float(np.linalg.norm(counted))
        if exact and tail > tol:
            raise InfeasibleError(
                f"no product of factors with {k} columns is X: the nearest matrix of rank {k} is "
                f"{tail:.2%} away (Eckart-Young). Take more components, or product='penalty'."
            )
        beta, spread, limit, laplacian = 0.0, 0.0, 0.0, None
        if pairs is not None:
            beta = (1.0 if exact else PULL) if pull is None else validate.non_negative("pull", pull)
            laplacian = _laplacian(pairs, graph)
            spread = limit = _limit(pairs, graph)
            if spread_bound is not None:
                limit = min(spread, float(spread_bound))
        scaled = beta / spread * unit**2 if spread else 0.0
        lagrangian = IsometricLagrangian(V / unit, small, laplacian, scaled, weights)
        return cls(lagrangian, k, unit, exact, beta, spread, tail, limit)

    def packed(self, W: Array, H: Array) -> Array:
        """Factors in these units, in a row."""
        return np.concatenate([W.ravel() / self.unit, H.ravel()])

    def unpacked(self, x: Array) -> tuple[Array, Array]:
        """Factors in the units of the data."""
        W, H = self.lagrangian.split(x)
        return self.unit * W, H.copy()

    def objective(self, rec: float, spread: float) -> float:
        """What is minimised."""
        pulled = self.pull * spread / self.spread_unit if self.spread_unit else 0.0
        return (0.0 if self.exact else 0.5 * rec**2) - pulled

    @property
    def bound(self) -> float:
        """No isometric factors have a smaller objective."""
        return self.objective(self.rec_bound, self.spread_bound)


def _pairs(V: Array, graph: NeighborGraph, objective: str | FurthestPairs) -> FurthestPairs | None:
    if not isinstance(objective, FurthestPairs):
        validate.choice("objective", objective, OBJECTIVES)
        if objective == "none":
            return None
    graph.require_connected(
        "take more neighbours, connect='mst' or connect='largest', or objective='none'"
    )
    found = furthest_pairs(V, progress=False) if isinstance(objective, str) else objective
    if found.furthest.size != graph.n:
        raise DataError(
            f"the furthest pairs are of {found.furthest.size} points, the graph has {graph.n} "
            "nodes. Find them with graphs.furthest_pairs(X)."
        )
    return found


def _laplacian(pairs: FurthestPairs, graph: NeighborGraph) -> Any:
    """Of the pairs, one for each point, counted as often as its node."""
    ends = np.column_stack([np.arange(graph.n), pairs.furthest])
    return SquaredEdgeLengths(graph.n, ends).adjoint(graph.counts.astype(float))


def _limit(pairs: FurthestPairs, graph: NeighborGraph) -> float:
    """Sum of squared shortest paths: no placement with these lengths has a larger spread."""
    ends, place = np.unique(pairs.furthest, return_inverse=True)
    paths = geodesics(graph, ends)[place, np.arange(graph.n)]
    return float(np.sum(graph.counts * paths**2))
