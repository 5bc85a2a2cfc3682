"""Non-convex unfolding of the documents: an augmented Lagrangian over the coordinates.

A baseline, kept plain: first-order steps without safeguards. The solver ``lowrank`` finds the same
factors with second-order steps, and is the one to use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import ShapeError
from sdpdr.certify import Certificate, certify
from sdpdr.families.unfold.mvu import mvu
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.given import takes_graph
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.linalg.spectral import factor_spectrum, on_principal_axes
from sdpdr.program import Factor
from sdpdr.program.face import complete_multipliers

RELATIONS = ("inequality", "equality")
# The penalty grows by this factor if a round has not cut the violation to this share.
_GROWTH, _CUT = 3.0, 0.25
# Relative gap above which the message says that the rank may be too small.
_OPEN = 1e-3


@dataclass(frozen=True, eq=False)
class NonConvexUnfolding:
    """Coordinates from the augmented Lagrangian, with their certificate; see `ncmvu`."""

    embedding: Array
    value: float
    violation: float
    certificate: Certificate
    converged: bool
    stopped: bool

    @property
    def bound(self) -> float | None:
        """Bound on the optimum at any rank."""
        return self.certificate.bound

    @property
    def gap(self) -> float:
        """Distance of bound and value, relative to the value; ``inf`` without a bound."""
        return float("inf") if self.bound is None else (self.bound - self.value) / self.value

    @property
    def message(self) -> str:
        """An explanation of how the search ended."""
        if not self.converged:
            end = "The time limit" if self.stopped else "The last round"
            return (
                f"{end} ended it with lengths off by {self.violation:.1e}, at the value "
                f"{self.value:.4g} and the bound {self.bound or np.inf:.4g}. Raise time_limit or "
                "max_iter, allow lengths to shrink, or take a higher rank."
            )
        if self.gap > _OPEN:
            rank = self.embedding.shape[1]
            return f"Rank {rank} may be too small, or this is a local optimum: try {rank + 1}."
        return "The bound closes on the value: optimal at any rank."


@takes_graph
def ncmvu(
    graph: NeighborGraph,
    rank: int = 3,
    isometry: Literal["inequality", "equality"] = "inequality",
    *,
    start: ArrayLike | None = None,
    tol: float = 1e-8,
    max_iter: int = 60,
    time_limit: float | None = None,
    seed: int = 0,
) -> NonConvexUnfolding:
    r"""Unfold by moving coordinates: augmented Lagrangian outside, L-BFGS inside.

    .. math::

        \max_{R \in R^{n \times r}}\ \operatorname{tr} R R^T \quad\text{s.t.}\quad
        |r_i - r_j|^2 \;(\le, =)\; d_{ij}.

    Violations are penalized relative to the squared length. It is not convex; only the certificate,
    from the multipliers, proves that an end is the optimum.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    rank : int, default 3
        r, at most n - 1. Ranks above the dimension of the embedding have fewer local optima.
    isometry : {"inequality", "equality"}, default "inequality"
    start : array of shape (n, d), optional
        Initial points of the nodes, whose r principal axes are used; random by default.
    tol : float, default 1e-8
        Largest relative error of a squared length aimed at.
    max_iter : int, default 60
        Rounds of multipliers.
    time_limit : float, optional
        Seconds, after which the point and the multipliers are kept as they are.
    seed : int, default 0

    Returns
    -------
    NonConvexUnfolding
        With ``embedding`` (n, rank) of the nodes, columns orthogonal and by falling size, its
        ``value``, the variance, the largest relative ``violation`` of a squared length, the
        ``certificate`` from the multipliers with its ``bound`` and ``gap``, ``converged``,
        ``stopped`` (by the time limit) and a ``message``.

    Raises
    ------
    DataError, DataTypeError, UnknownNameError, DisconnectedGraphError
        Naming the argument that cannot be used.

    References
    ----------
    Vasiloglou thesis, section 3.2 and (2.19)-(2.25); S. Burer and R. D. C. Monteiro, Mathematical
    Programming 95, 2003.

    Examples
    --------
    >>> from sdpdr.baselines import ncmvu
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> X, _ = sdpdr.datasets.swiss_roll(12, seed=0)
    >>> found = ncmvu(graphs.knn(X, n_neighbors=4), rank=3)
    >>> round(found.value, 2), found.converged
    (1640.4, True)
    """
    validate.choice("isometry", isometry, RELATIONS)
    rank = validate.positive_integer("rank", rank, at_most=graph.n - 1)
    max_iter = validate.positive_integer("max_iter", max_iter)
    sdp, unit = mvu(graph, isometry).to_sdp(), float(np.mean(graph.sqdist))
    small = replace(graph, sqdist=graph.sqdist / unit)
    C = -sp.csr_array(sdp.cost("K"))
    R = _start(graph, rank, start, seed) / np.sqrt(unit)
    w, s = np.zeros(graph.m), float(np.sum(R * (C @ R))) / graph.m / small.sqdist**2
    ends = SquaredEdgeLengths(graph.n, graph.edges).vectors
    deadline, violation, converged = Deadline(time_limit), np.inf, False

    def flat(x: Array, w: Array, s: Array) -> tuple[float, Array]:
        value, gradient = lagrangian(x.reshape(R.shape), w, s, C, small, isometry, ends)
        return value, gradient.ravel()

    def stop(x: Array) -> None:
        if deadline.is_over():
            raise StopIteration

    options = {"maxiter": 3000, "maxcor": 10, "ftol": 1e-15, "gtol": 1e-9}
    for _ in range(max_iter):
        inner = minimize(
            flat, R.ravel(), args=(w, s), jac=True, method="L-BFGS-B", callback=stop,
            options=options,
        )  # fmt: skip
        R = inner.x.reshape(R.shape)
        pull = _pull(ends @ R, w, s, small, isometry)
        # Zero if the edge has its length, or is shorter and has no multiplier.
        before, violation = violation, float(np.max(np.abs(pull - w) / (s * small.sqdist)))
        w, converged = pull, violation <= tol
        if converged or deadline.is_over():
            break
        s = s * (_GROWTH if violation > _CUT * before else 1.0)
    spectrum, vectors = factor_spectrum(np.sqrt(unit) * _centred(R, graph))
    factor = vectors * np.sqrt(spectrum)
    change = np.square(graph.lengths(factor)) / graph.sqdist - 1.0
    duals = {r.label: w if r.label == "isometry" else np.zeros(r.m) for r in sdp.rows}
    return NonConvexUnfolding(
        embedding=factor,
        value=sdp.report(sdp.primal_value({"K": Factor(factor)})),
        violation=float(np.max(np.abs(change) if isometry == "equality" else change, initial=0.0)),
        certificate=certify(sdp, complete_multipliers(sdp, duals)),
        converged=converged,
        stopped=not converged and deadline.is_over(),
    )


def lagrangian(
    R: Array,
    w: Array,
    s: float | Array,
    C: Any,
    graph: NeighborGraph,
    isometry: str = "equality",
    ends: Any = None,
) -> tuple[float, Array]:
    r"""Augmented Lagrangian at the centred R, and its gradient :math:`2\,(L(w + s v) - C)\, R`.

    With :math:`v_e = |r_i - r_j|^2 - d_e` it is :math:`-\langle C, R R^T\rangle + w^T v +
    \tfrac s2 |v|^2`; for the inequality :math:`w + s v` is replaced by its positive part, and the
    last two terms by :math:`(|w + s v|_+^2 - |w|^2) / 2s`. (2.20) of the Vasiloglou thesis lacks a
    trace, and the last term of (2.24) the matrix of each edge, which multiplies R. ``ends`` are the
    vectors :math:`e_i - e_j` of the edges, if they are at hand.
    """
    R, share = _centred(R, graph), graph.counts / np.sum(graph.counts)
    ends = SquaredEdgeLengths(graph.n, graph.edges).vectors if ends is None else ends
    steps, CR = ends @ R, C @ R
    pull = _pull(steps, w, s, graph, isometry)
    value = -float(np.sum(R * CR)) + 0.5 * float(np.sum((pull**2 - w**2) / s))
    gradient = 2.0 * (ends.T @ (pull[:, None] * steps) - CR)
    return value, gradient - np.outer(share, gradient.sum(axis=0))


def _pull(steps: Array, w: Array, s: float | Array, graph: NeighborGraph, isometry: str) -> Array:
    """The next multipliers, w + s v, or their positive part for the inequality."""
    pull = w + s * (np.einsum("ek,ek->e", steps, steps) - graph.sqdist)
    return np.maximum(pull, 0.0) if isometry == "inequality" else pull


def _centred(R: Array, graph: NeighborGraph) -> Array:
    """Coordinates about the mean of all samples."""
    return np.asarray(R - graph.counts @ R / np.sum(graph.counts))


def _start(graph: NeighborGraph, rank: int, start: ArrayLike | None, seed: int) -> Array:
    """Initial coordinates: those given, on their principal axes, or random ones."""
    noise = np.random.default_rng(seed).standard_normal((graph.n, rank))
    noise *= float(np.sqrt(np.mean(graph.sqdist)))
    if start is None:
        return noise
    points = validate.points(start, at_least=2)
    if points.shape[0] != graph.n:
        raise ShapeError(f"the start has {points.shape[0]} points; the graph has {graph.n} nodes.")
    on_axes = on_principal_axes(points)[:, :rank]
    # Coordinates that are exactly zero would stay zero.
    first = 0.1 * noise
    first[:, : on_axes.shape[1]] += on_axes
    return first
