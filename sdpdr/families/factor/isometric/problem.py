"""Isometric factorization in units of the edges: its bounds and its augmented Lagrangian."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, InfeasibleError
from sdpdr.families.factor.nonnegative.truncation import singular_tail
from sdpdr.graphs import FurthestPairs, NeighborGraph, furthest_pairs, geodesics
from sdpdr.linalg import SquaredEdgeLengths


@dataclass(frozen=True, eq=False)
class Multipliers:
    r"""Multipliers and penalties of the augmented Lagrangian.

    Attributes
    ----------
    lengths : array of shape (edges,)
        :math:`\lambda`.
    product : array of shape (n, m) or None
        M, of the constraint WH = V; None for zeros.
    length_penalty, product_penalty : float
        :math:`\sigma_1, \sigma_2`.
    """

    lengths: Array
    product: Array | None
    length_penalty: float
    product_penalty: float


@dataclass(frozen=True, eq=False)
class IsometricLagrangian:
    r"""Augmented Lagrangian of isometric nonnegative factors.

    .. math::

        \mathcal L(W, H) = -\beta \langle L_F, W W^T\rangle
        - \lambda^T r - \langle M, R\rangle
        + \tfrac{\sigma_1}2 |r|^2 + \tfrac{\sigma_2}2 \sum_i c_i |R_i|^2,

    with :math:`r_e = |w_i - w_j|^2 - d_e` for every edge e = ij, R = WH - V with rows
    :math:`R_i`, and :math:`L_F` the Laplacian of pairs to be spread. With
    :math:`q = \sigma_1 r - \lambda`, :math:`Q = \sigma_2 \operatorname{diag}(c) R - M` and
    L(q) the Laplacian of the graph with weights q,

    .. math::

        \frac{\partial\mathcal L}{\partial W} = 2 L(q) W - 2\beta L_F W + Q H^T, \qquad
        \frac{\partial\mathcal L}{\partial H} = W^T Q .

    Parameters
    ----------
    X : array of shape (n, m)
        V.
    graph : NeighborGraph
        With n nodes.
    pairs : sparse array of shape (n, n), optional
        :math:`L_F`; zero by default.
    pull : float, default 0
        :math:`\beta`.
    weights : array of shape (n,), optional
        c; ones by default.

    References
    ----------
    Vasiloglou thesis, (4.87)-(4.89). In (4.87) the sum over l belongs inside the parentheses. The
    printed gradients multiply the terms of M and :math:`\sigma_2` by W or H where the other factor
    belongs, twice over for :math:`\sigma_2`.
    """

    X: Array
    graph: NeighborGraph
    pairs: sp.csr_array | None = None
    pull: float = 0.0
    weights: Array | None = None

    @cached_property
    def incidence(self) -> sp.csr_array:
        """Rows e_i - e_j, one for each edge."""
        return SquaredEdgeLengths(self.graph.n, self.graph.edges).vectors

    @cached_property
    def _transposed(self) -> sp.csr_array:
        return self.incidence.T.tocsr()

    @cached_property
    def counts(self) -> Array | float:
        """C as a column, or one."""
        return 1.0 if self.weights is None else np.asarray(self.weights, dtype=float)[:, None]

    def split(self, x: Array) -> tuple[Array, Array]:
        """W and H from all their entries in one vector."""
        n, m = self.X.shape
        k = x.size // (n + m)
        return x[: n * k].reshape(n, k), x[n * k :].reshape(k, m)

    def length_errors(self, W: Array) -> Array:
        """The errors r of squared lengths, one for each edge."""
        steps = self.incidence @ W
        return np.asarray(np.einsum("ek,ek->e", steps, steps) - self.graph.sqdist)

    def spread(self, W: Array) -> float:
        """Sum of squared distances of the pairs."""
        return 0.0 if self.pairs is None else float(np.vdot(W, self.pairs @ W))

    def evaluate(self, W: Array, H: Array, at: Multipliers) -> tuple[float, Array, Array]:
        """The value and both gradients."""
        steps = self.incidence @ W
        r = np.einsum("ek,ek->e", steps, steps) - self.graph.sqdist
        R = W @ H - self.X
        q = at.length_penalty * r - at.lengths
        Q = at.product_penalty * self.counts * R
        value = -at.lengths @ r + 0.5 * at.length_penalty * (r @ r) + 0.5 * np.vdot(Q, R)
        if at.product is not None:
            value -= np.vdot(at.product, R)
            Q = Q - at.product
        left = 2.0 * (self._transposed @ (q[:, None] * steps)) + Q @ H.T
        if self.pairs is not None and self.pull:
            pulled = self.pairs @ W
            value -= self.pull * np.vdot(W, pulled)
            left -= 2.0 * self.pull * pulled
        return float(value), left, W.T @ Q

    def flat(self, x: Array, at: Multipliers) -> tuple[float, Array]:
        """The value and the gradient, by all entries in one vector."""
        value, left, right = self.evaluate(*self.split(x), at)
        return value, np.concatenate([left.ravel(), right.ravel()])


OBJECTIVES = ("none", "furthest")
# Default pull if the product is a penalty.
PULL = 1e-3


@dataclass(frozen=True, eq=False)
class IsometricProblem:
    r"""The problem in units in which edges have mean squared length one.

    Attributes
    ----------
    lagrangian : IsometricLagrangian
    k : int
    unit : float
        Length of one unit in the data.
    exact : bool
        Whether the product is a constraint.
    pull : float
        :math:`\beta`.
    spread_unit : float
        S, the spread if all pairs were as far apart as the shortest paths between them.
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
        """From the arguments of `isometric_factors`, checked."""
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
        """Factors in these units, in one vector."""
        return np.concatenate([W.ravel() / self.unit, H.ravel()])

    def unpacked(self, x: Array) -> tuple[Array, Array]:
        """Factors in the units of the data."""
        W, H = self.lagrangian.split(x)
        return self.unit * W, H.copy()

    def objective(self, rec: float, spread: float) -> float:
        """The objective that is minimized."""
        pulled = self.pull * spread / self.spread_unit if self.spread_unit else 0.0
        return (0.0 if self.exact else 0.5 * rec**2) - pulled

    @property
    def bound(self) -> float:
        """A lower bound on the objective of all isometric factors."""
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
            f"the furthest pairs are of {found.furthest.size} points, but the graph has {graph.n} "
            "nodes. Find them with graphs.furthest_pairs(X)."
        )
    return found


def _laplacian(pairs: FurthestPairs, graph: NeighborGraph) -> Any:
    """The Laplacian of the pairs, each weighted by the count of its node."""
    ends = np.column_stack([np.arange(graph.n), pairs.furthest])
    return SquaredEdgeLengths(graph.n, ends).adjoint(graph.counts.astype(float))


def _limit(pairs: FurthestPairs, graph: NeighborGraph) -> float:
    """Sum of squared shortest paths: no placement with these lengths has a larger spread."""
    ends, place = np.unique(pairs.furthest, return_inverse=True)
    paths = geodesics(graph, ends)[place, np.arange(graph.n)]
    return float(np.sum(graph.counts * paths**2))
