"""Non-convex unfolding of the documents: an augmented Lagrangian over the coordinates.

A baseline, kept plain: first-order steps without safeguards. The solver ``lowrank`` finds the same
factors with second-order steps, and is the one to use.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import ShapeError, UncertifiedWarning, warn
from sdpdr.base.estimators import Embedding, as_precise, note_columns
from sdpdr.base.parameters import seconds_for
from sdpdr.families.unfold.mvu import mfnu, mvu
from sdpdr.graphs import NeighborGraph, knn
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.linalg.spectral import factor_spectrum, on_principal_axes
from sdpdr.program import Certificate, Factor, certify
from sdpdr.program.face import complete_multipliers

OBJECTIVES = {"variance": mvu, "furthest": mfnu}
RELATIONS = ("inequality", "equality")
# The penalty grows by this factor where a round has not cut the violation to that share.
_GROWTH, _CUT = 3.0, 0.25
# Relative gap from which a converged answer is called a rank too small.
_OPEN = 1e-3


@dataclass(frozen=True, eq=False)
class NonConvexUnfolding:
    """Coordinates from the augmented Lagrangian, with what they are worth.

    Attributes
    ----------
    embedding : array of shape (n, rank)
        Of the nodes; columns orthogonal, by falling size, signs fixed.
    weights : array of shape (m,)
        Multipliers of the edges.
    value : float
        Variance, or sum of squared lengths of furthest pairs.
    violation : float
        Largest relative error of a squared length (of one that grew, for the inequality).
    certificate : Certificate
        Bound on the optimum at any rank that the weights prove.
    rounds, iterations : int
        Of the outer and of the inner loop.
    converged : bool
        Whether the lengths hold to the tolerance.
    stopped : bool
        Whether the time limit ended it.
    """

    embedding: Array
    weights: Array
    value: float
    violation: float
    certificate: Certificate
    rounds: int
    iterations: int
    converged: bool
    stopped: bool = False

    @property
    def bound(self) -> float | None:
        """The bound itself."""
        return self.certificate.bound

    @property
    def gap(self) -> float:
        """Distance of bound and value, relative to the value; ``inf`` without a bound."""
        return float("inf") if self.bound is None else (self.bound - self.value) / self.value

    @property
    def message(self) -> str:
        """How it ended, in words."""
        if self.stopped:
            return (
                f"The time limit ended it with lengths off by {self.violation:.1e}, at the value "
                f"{self.value:.4g} and the bound {self.bound or np.inf:.4g}. Raise time_limit; "
                "None is no limit."
            )
        if not self.converged:
            return (
                f"Lengths off by {self.violation:.1e}: no such placement of this rank near here. "
                "Allow lengths to shrink, or a higher rank."
            )
        if self.gap > _OPEN:
            rank = self.embedding.shape[1]
            return f"Rank {rank} may be too small, or this is a local optimum: try {rank + 1}."
        return "The bound closes on the value: optimal at any rank."


def ncmvu(
    graph: NeighborGraph,
    rank: int = 3,
    isometry: Literal["inequality", "equality"] = "inequality",
    objective: Literal["variance", "furthest"] = "variance",
    *,
    start: ArrayLike | None = None,
    tol: float = 1e-8,
    max_iter: int = 60,
    time_limit: float | None = None,
    seed: int = 0,
) -> NonConvexUnfolding:
    r"""Unfold by moving coordinates: augmented Lagrangian outside, L-BFGS inside.

    .. math::

        \max_{R \in R^{n \times r}}\ \langle C, R R^T\rangle \quad\text{s.t.}\quad
        |r_i - r_j|^2 \;(\le, =)\; d_{ij},

    with C the identity (NCMVU) or the Laplacian of furthest pairs (NC-MFNU). Violations are
    penalised relative to the squared length. It is not convex: with exact lengths, different starts
    end in different places, most of them infeasible. With lengths that may shrink, starts have been
    seen to agree; only the certificate, from the multipliers, proves that an end is the optimum.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    rank : int, default 3
        r, at most n - 1. Higher ranks than the embedding wanted have fewer local optima.
    isometry : {"inequality", "equality"}, default "inequality"
    objective : {"variance", "furthest"}, default "variance"
        ``"furthest"`` needs a graph that knows its points.
    start : array of shape (n, d), optional
        Points of the nodes to begin with, of which the leading r coordinates are taken after
        a rotation to principal axes; drawn at random by default.
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

    Raises
    ------
    DataError
        r is not in 1..n - 1, or the start is not made of numbers.
    UnknownNameError
        The isometry or objective is none of the above.
    DisconnectedGraphError

    References
    ----------
    Vasiloglou thesis, section 3.2 and (2.19)-(2.25); S. Burer and R. D. C. Monteiro, Mathematical
    Programming 95, 2003.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> X, _ = sdpdr.datasets.swiss_roll(12, seed=0)
    >>> found = ncmvu(graphs.knn(X, n_neighbors=4), rank=3)
    >>> round(found.value, 2), found.converged
    (1640.4, True)
    """
    validate.choice("isometry", isometry, RELATIONS)
    validate.choice("objective", objective, OBJECTIVES)
    rank = validate.positive_integer("rank", rank, at_most=graph.n - 1)
    sdp = OBJECTIVES[objective](graph, isometry).to_sdp()
    unit = float(np.mean(graph.sqdist))
    small = NeighborGraph(graph.n, graph.edges, graph.sqdist / unit, graph.counts)
    C = -sp.csr_array(sdp.cost("K"))
    R = _start(small, rank, start, unit, seed)
    w = np.zeros(graph.m)
    s = float(np.sum(R * (C @ R))) / graph.m / small.sqdist**2

    ends = SquaredEdgeLengths(graph.n, graph.edges).vectors
    deadline = Deadline(time_limit)

    def flat(x: Array, w: Array, s: Array) -> tuple[float, Array]:
        value, gradient = _lagrangian(x.reshape(graph.n, rank), w, s, C, small, ends, isometry)
        return value, gradient.ravel()

    def stop(x: Array) -> None:
        if deadline.is_over():
            raise StopIteration

    violation, converged, iterations, done = np.inf, False, 0, 0
    stopped = False
    while done < validate.positive_integer("max_iter", max_iter) and not (converged or stopped):
        done += 1
        inner = minimize(
            flat,
            R.ravel(),
            args=(w, s),
            jac=True,
            method="L-BFGS-B",
            callback=stop,
            options={"maxiter": 3000, "maxcor": 10, "ftol": 1e-15, "gtol": 1e-9},
        )
        R, iterations = inner.x.reshape(R.shape), iterations + int(inner.nit)
        change = _relative_changes(small, R)
        pull = w + s * change * small.sqdist
        if isometry == "inequality":
            pull = np.maximum(pull, 0.0)
        # Zero where the edge is as long as allowed, or slack without a multiplier.
        residual = float(np.max(np.abs(pull - w) / (s * small.sqdist)))
        w, converged = pull, residual <= tol
        stopped = not converged and deadline.is_over()
        s = s * (_GROWTH if residual > _CUT * violation else 1.0)
        violation = residual
    share = graph.counts / np.sum(graph.counts)
    spectrum, vectors = factor_spectrum(np.sqrt(unit) * (R - share @ R))
    factor = vectors * np.sqrt(spectrum)
    change = _relative_changes(graph, factor)
    duals = {r.label: w if r.label == "isometry" else np.zeros(r.m) for r in sdp.rows}
    off = np.abs(change) if isometry == "equality" else np.maximum(change, 0.0)
    return NonConvexUnfolding(
        embedding=factor,
        weights=w,
        value=sdp.report(sdp.primal_value({"K": Factor(factor)})),
        violation=float(np.max(off)),
        certificate=certify(sdp, complete_multipliers(sdp, duals)),
        rounds=done,
        iterations=iterations,
        converged=bool(converged),
        stopped=stopped,
    )


def lagrangian(
    R: Array, w: Array, s: float | Array, C: Any, graph: NeighborGraph, isometry: str = "equality"
) -> tuple[float, Array]:
    r"""Augmented Lagrangian of low-rank unfolding, and its gradient.

    .. math::

        \mathcal L = -\langle C, R R^T\rangle + w^T v + \tfrac s2 |v|^2, \qquad
        \nabla \mathcal L = 2\,(L(w + s v) - C)\, R,

    with :math:`v_e = |r_i - r_j|^2 - d_e`, at the centred R. For the inequality
    :math:`w + s v` is replaced by its positive part, and the last two terms by
    :math:`(|w + s v|_+^2 - |w|^2) / 2s`.

    Parameters
    ----------
    R : array of shape (n, r)
    w : array of shape (m,)
        Multipliers, with the sign of edge weights.
    s : float or array of shape (m,)
        Penalty; :math:`\sigma / d_e^2` penalises relative errors.
    C : array or sparse array of shape (n, n)
    graph : NeighborGraph
    isometry : {"equality", "inequality"}, default "equality"

    Returns
    -------
    value : float
    gradient : array of shape (n, r)

    References
    ----------
    Vasiloglou thesis, (2.20)-(2.24). As printed, the first term lacks its trace, and in the
    gradient the sum over edges lacks the matrix :math:`A_{ij}` of each edge, which multiplies R.
    """
    ends = SquaredEdgeLengths(graph.n, graph.edges).vectors
    return _lagrangian(R, w, s, C, graph, ends, isometry)


def _lagrangian(
    R: Array,
    w: Array,
    s: float | Array,
    C: Any,
    graph: NeighborGraph,
    ends: sp.csr_array,
    isometry: str,
) -> tuple[float, Array]:
    """`lagrangian` with the vectors :math:`e_i - e_j` of the edges computed before."""
    share = graph.counts / np.sum(graph.counts)
    R = R - share @ R
    steps = ends @ R
    v = np.einsum("ek,ek->e", steps, steps) - graph.sqdist
    pull = w + s * v
    if isometry == "inequality":
        pull = np.maximum(pull, 0.0)
    CR = C @ R
    value = -float(np.sum(R * CR)) + 0.5 * float(np.sum((pull**2 - w**2) / s))
    gradient = ends.T @ (2.0 * pull[:, None] * steps) - 2.0 * CR
    return value, gradient - np.outer(share, gradient.sum(axis=0))


def _relative_changes(graph: NeighborGraph, factor: Array) -> Array:
    """Relative changes of the squared lengths."""
    return np.asarray(np.square(graph.lengths(factor)) / graph.sqdist - 1.0)


def _start(
    graph: NeighborGraph, rank: int, start: ArrayLike | None, unit: float, seed: int
) -> Array:
    """Initial coordinates: those given, on their principal axes, or random ones."""
    noise = np.random.default_rng(seed).standard_normal((graph.n, rank))
    if start is None:
        return noise
    points = validate.points(start, at_least=2) / np.sqrt(unit)
    if points.shape[0] != graph.n:
        raise ShapeError(f"the start has {points.shape[0]} points; the graph has {graph.n} nodes.")
    on_axes = on_principal_axes(points)[:, :rank]
    # Coordinates that are exactly zero would stay zero.
    first = 0.1 * noise
    first[:, : on_axes.shape[1]] += on_axes
    return first


@dataclass(eq=False, repr=False)
class NCMVU(Embedding):
    """Estimator of non-convex unfolding; see `ncmvu`. A baseline.

    Parameters
    ----------
    n_components : int, default 2
        Columns of the embedding.
    rank : int, default 3
        Columns while unfolding, at least n_components.
    n_neighbors : int, default 6
        Of fewer other points all are taken, with a ``FewPointsWarning``.
    isometry : {"inequality", "equality"}, default "inequality"
    objective : {"variance", "furthest"}, default "variance"
    connect : {"bridges", "mst", "largest", "error"}, default "bridges"
        What to do about a disconnected graph, see `sdpdr.graphs.knn`.
    start : {"data", "random"}, default "data"
        The principal components of the data, or random coordinates.
    tol : float, default 1e-8
    max_iter : int, default 60
    time_limit : float or None, default 60
        Seconds, after which the point and the multipliers are kept as they are, with a warning;
        "auto" is the default.
    random_state : int, RandomState or Generator, default 0

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    result_ : NonConvexUnfolding
    graph_ : NeighborGraph
    n_neighbors_ : int
        As used.
    n_features_in_ : int

    Raises
    ------
    DataError
        From `fit`, naming what is wrong.

    Warns
    -----
    UncertifiedWarning
        The time limit ended it.

    Examples
    --------
    >>> import sdpdr
    >>> X, _ = sdpdr.datasets.swiss_roll(12, seed=0)
    >>> NCMVU(n_neighbors=4).fit_transform(X).shape
    (12, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    rank: int = 3
    n_neighbors: int = 6
    isometry: Literal["inequality", "equality"] = "inequality"
    objective: Literal["variance", "furthest"] = "variance"
    connect: str = "bridges"
    start: str = "data"
    tol: float = 1e-8
    max_iter: int = 60
    time_limit: float | str | None = 60.0
    random_state: int = 0

    def fit(self, X: Any, y: Any = None) -> NCMVU:
        """Learn the embedding of the rows of X; y is not used."""
        if sp.issparse(X):
            validate.points(X)  # which refuses them
        search = partial(knn, X, connect=self.connect)
        graph, self.n_neighbors_ = validate.all_if_few(self.n_neighbors, search)
        note_columns(self, X)
        validate.choice("start", self.start, ("data", "random"))
        validate.positive_integer(
            "n_components",
            self.n_components,
            at_most=self.rank,
            why=f"as more exceeds rank={self.rank}",
        )
        points = np.asarray(X, dtype=float)[graph.first_samples]
        self.result_ = ncmvu(
            graph,
            self.rank,
            self.isometry,
            self.objective,
            start=points if self.start == "data" else None,
            tol=self.tol,
            max_iter=self.max_iter,
            time_limit=seconds_for(self),
            seed=validate.seed(self.random_state),
        )
        if self.result_.stopped:
            warn(self.result_.message, UncertifiedWarning)
        places = graph.of_samples(self.result_.embedding[:, : self.n_components])
        self.embedding_ = as_precise(places, X)
        self.graph_ = graph
        return self
