"""Nonnegative factors whose left one keeps the lengths of a graph, by an augmented Lagrangian."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import Advised, Progress, show_progress
from sdpdr.families.factor.isometric.recipe import rows_of_nodes
from sdpdr.families.factor.nonnegative.inputs import number_of_components
from sdpdr.families.factor.nonnegative.search import short_descent
from sdpdr.families.factor.nonnegative.truncation import eckart_young_bound
from sdpdr.graphs import NeighborGraph, furthest_pairs, geodesics
from sdpdr.linalg import SquaredEdgeLengths

OBJECTIVES = ("none", "furthest")
# Default pull.
_PULL = 1e-3
# An error above this share of the last round's doubles its penalty.
_CUT = 0.5
# First penalty of lengths, relative to that of the product.
_LENGTHS = 0.1
# A spread so many times the largest that lengths allow is diverging.
_RUNAWAY = 1e3
# Rounds in which errors must fall by a tenth; otherwise they have stalled.
_PATIENCE, _PROGRESS = 10, 0.9
# Steps of L-BFGS-B in a round.
_STEPS = 500


class IsometricStatus(Advised):
    """How a search for isometric factors ended; the value of each member is advice."""

    SETTLED = (
        "Lengths hold to the tolerance and the objective has stopped falling. This is a local "
        "optimum; `bound` says how much better others may be at most."
    )
    STALLED = (
        "The errors of lengths have stopped falling: perhaps there are no such factors. Take more "
        "components, or fewer neighbours."
    )
    ITERATION_LIMIT = (
        "The limit of rounds was reached: check `dist` and `rec`, and raise max_iter if they are "
        "not small enough."
    )
    TIME_LIMIT = "The time limit was reached; the best factors so far are returned."
    INTERRUPTED = "Interrupted; the best factors so far are returned."
    DIVERGED = "Distances grew without limit. Take a smaller pull, or objective='none'."


@dataclass(frozen=True, eq=False)
class IsometricFactors:
    r"""Nonnegative factors, how well they fit and how well they keep lengths.

    Attributes
    ----------
    W : array of shape (n, k)
        A row for each node of the graph.
    H : array of shape (k, m)
    status : IsometricStatus
    rec : float
        :math:`|V - WH|_F / |V|_F`.
    dist : float
        :math:`|(|w_i - w_j|^2 - d_{ij})|_2 / |d|_2` over the edges, of SQUARED lengths.
    spread : float
        Sum of squared distances of the pairs pulled apart; 0 without an objective.
    objective : float
        The objective that was minimized: :math:`\tfrac12 \mathrm{rec}^2 -
        \beta\,\mathrm{spread}/S`, without the second term if there are no pairs.
    rec_bound : float
        No factors of k columns have a smaller ``rec``, isometric or not (Eckart-Young).
    bound : float
        No factors with exact lengths have a smaller objective, by ``rec_bound`` and because the
        spread is at most S.
    history : list of dict
        ``objective``, ``rec``, ``dist``, ``spread`` and ``seconds`` after each round.
    """

    W: Array
    H: Array
    status: IsometricStatus
    rec: float
    dist: float
    spread: float
    objective: float
    rec_bound: float
    bound: float
    history: list[dict[str, float]]

    @property
    def gap(self) -> float:
        """Distance of the objective to ``bound``, in the units of the objective."""
        return self.objective - self.bound

    def __repr__(self) -> str:
        return (
            f"IsometricFactors({self.status.name}: rec {self.rec:.2%} (at least "
            f"{self.rec_bound:.2%}), dist {self.dist:.1e})"
        )


@checks_keywords
def isometric_factors(
    X: ArrayLike,
    graph: NeighborGraph,
    n_components: int,
    *,
    objective: Literal["none", "furthest"] = "none",
    pull: float = _PULL,
    tol: float = 1e-4,
    max_iter: int = 50,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
) -> IsometricFactors:
    r"""Isometric nonnegative factors by an augmented Lagrangian.

    .. math::

        \min_{W, H \ge 0}\ \frac{|V - WH|_F^2}{2|V|_F^2}
        - \frac\beta S \sum_i |w_i - w_{f(i)}|^2
        \quad\text{s.t.}\quad |w_i - w_j|^2 = d_{ij} \text{ for every edge } ij,

    where f(i) is the point furthest from i in the data and S the sum of the squares of the shortest
    paths to them, which no isometric placement exceeds. The problem is not convex. Multipliers of
    the lengths change from round to round; within a round the Lagrangian is minimized over
    :math:`W, H \ge 0` by L-BFGS-B of memory 10, as in the thesis, from factors of scikit-learn's
    NMF with unit rows of H.

    Parameters
    ----------
    X : array_like of shape (n, m)
        V, nonnegative: a row for each node of the graph.
    graph : NeighborGraph
        Its squared lengths are d. A node that stands for several points counts as many times.
    n_components : int
        k, from 1 to min(n, m).
    objective : {"none", "furthest"}, default "none"
        The pairs to be spread: none, or those furthest apart among the rows of X. They need a
        connected graph; those of few nearest neighbours rarely are, on real data.
    pull : float, default 1e-3
        :math:`\beta`.
    tol : float, default 1e-4
        Largest ``dist``, and largest relative change of the objective from one round to the next,
        of a settled search.
    max_iter : int, default 50
        Rounds.
    seed : int, default 0
    time_limit : float, optional
        Seconds.
    progress : bool or callable, optional
        By default on a terminal only. A callable receives a mapping each round.

    Returns
    -------
    IsometricFactors

    Raises
    ------
    DataError
        X has negative entries, or k is out of range.
    ShapeError
        X does not fit the graph.
    DisconnectedGraphError
        There is an objective, and components of the graph may drift apart without limit.
    UnknownNameError

    References
    ----------
    Vasiloglou thesis, section 4.4.2, (4.86)-(4.89), where WH = V is required, which factors rarely
    meet (``docs/methods/isometric_nmf.rst``).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.nonnegative import isometric_factors
    >>> from sdpdr import graphs
    >>> t = np.linspace(0, 1, 30)
    >>> W = np.column_stack([1 + np.cos(3 * t), 1 + np.sin(3 * t), t])
    >>> X = W @ np.random.default_rng(1).random((3, 8))
    >>> found = isometric_factors(X, graphs.knn(X, 3), 3, tol=1e-3)
    >>> found.status, found.dist < 1e-3
    (IsometricStatus.SETTLED, True)
    """
    V = rows_of_nodes(graph, X)
    k = number_of_components(n_components, V.shape)
    validate.positive_number("tol", tol)
    validate.positive_integer("max_iter", max_iter)
    validate.choice("objective", objective, OBJECTIVES)
    counted = V if graph.masses is None else np.sqrt(graph.masses)[:, None] * V
    tail = eckart_young_bound(counted, k) / float(np.linalg.norm(counted))
    # Units in which edges have the mean squared length one.
    unit = float(np.sqrt(np.mean(graph.sqdist))) if graph.m else 1.0
    lagrangian = Lagrangian(V / unit, replace(graph, sqdist=graph.sqdist / unit**2))
    beta = longest = 0.0
    if objective == "furthest":
        graph.require_connected(
            "take more neighbours, connect='mst' or connect='largest', or objective='none'"
        )
        furthest = furthest_pairs(V, progress=False).furthest
        beta = validate.non_negative("pull", pull)
        ends, place = np.unique(furthest, return_inverse=True)
        paths = geodesics(graph, ends)[place, np.arange(graph.n)]
        longest = float(np.sum(graph.counts * paths**2))
        between = np.column_stack([np.arange(graph.n), furthest])
        laplacian = SquaredEdgeLengths(graph.n, between).adjoint(graph.counts.astype(float))
        scaled = beta * unit**2 / longest if longest else 0.0
        lagrangian = replace(lagrangian, pairs=laplacian, pull=scaled)
    search = _Search(lagrangian, tol, beta, longest, unit, max_iter, Deadline(time_limit))
    with show_progress(progress, "isometric factors") as report:
        x, status = search.run(_start(lagrangian.X, k, seed), report)
    (W, H), bound = lagrangian.split(x), search.objective(tail, longest)
    return IsometricFactors(
        unit * W, H.copy(), status, **search.measures(x), rec_bound=tail, bound=bound,
        history=search.history,
    )  # fmt: skip


def _start(X: Array, k: int, seed: int) -> Array:
    """All entries of factors by scikit-learn, with unit rows of H."""
    W, H = short_descent(X, k, seed=seed)
    lost = ~H.any(axis=1)
    H[lost] = np.random.default_rng(seed).random((int(lost.sum()), H.shape[1]))
    size = np.linalg.norm(H, axis=1)
    return np.concatenate([(W * size).ravel(), (H / size[:, None]).ravel()])


@dataclass(frozen=True, eq=False)
class Multipliers:
    r"""Multipliers :math:`\lambda` of the lengths; penalties of their errors and the product's."""

    lengths: Array
    length_penalty: float
    product_penalty: float


@dataclass(frozen=True, eq=False)
class Lagrangian:
    r"""Augmented Lagrangian of isometric nonnegative factors, with its gradient.

    .. math::

        \mathcal L(W, H) = -\beta \langle L_F, W W^T\rangle
        - \lambda^T r + \tfrac{\sigma_1}2 |r|^2 + \tfrac{\sigma_2}2 \sum_i c_i |R_i|^2,

    with :math:`r_e = |w_i - w_j|^2 - d_e` for every edge e = ij, R = WH - V with rows
    :math:`R_i`, counts c of the nodes, and :math:`L_F` the Laplacian of pairs to be spread: (4.87)
    of the thesis, corrected.
    """

    X: Array
    graph: NeighborGraph
    pairs: sp.csr_array | None = None
    pull: float = 0.0

    @cached_property
    def incidence(self) -> sp.csr_array:
        """Rows e_i - e_j, one for each edge."""
        return SquaredEdgeLengths(self.graph.n, self.graph.edges).vectors

    @cached_property
    def _transposed(self) -> sp.csr_array:
        return self.incidence.T.tocsr()

    @cached_property
    def counts(self) -> Array | float:
        """Counts of the nodes as a column, or one."""
        return 1.0 if self.graph.masses is None else self.graph.masses[:, None]

    def split(self, x: Array) -> tuple[Array, Array]:
        """W and H from all their entries in one vector."""
        n, m = self.X.shape
        k = x.size // (n + m)
        return x[: n * k].reshape(n, k), x[n * k :].reshape(k, m)

    def length_errors(self, W: Array) -> Array:
        """The errors r of squared lengths, one for each edge."""
        steps = self.incidence @ W
        return np.asarray(np.einsum("ek,ek->e", steps, steps) - self.graph.sqdist)

    def evaluate(self, x: Array, at: Multipliers) -> tuple[float, Array]:
        """The value and the gradient."""
        W, H = self.split(x)
        steps = self.incidence @ W
        r = np.einsum("ek,ek->e", steps, steps) - self.graph.sqdist
        R = W @ H - self.X
        q = at.length_penalty * r - at.lengths
        Q = at.product_penalty * self.counts * R
        value = -at.lengths @ r + 0.5 * at.length_penalty * (r @ r) + 0.5 * np.vdot(Q, R)
        left = 2.0 * (self._transposed @ (q[:, None] * steps)) + Q @ H.T
        if self.pairs is not None:
            pulled = self.pairs @ W
            value -= self.pull * np.vdot(W, pulled)
            left -= 2.0 * self.pull * pulled
        return float(value), np.concatenate([left.ravel(), (W.T @ Q).ravel()])


@dataclass
class _Search:
    """Rounds of L-BFGS-B, each followed by an update of the multipliers and their penalty."""

    lagrangian: Lagrangian
    tol: float
    beta: float
    longest: float
    unit: float
    max_iter: int
    deadline: Deadline

    def __post_init__(self) -> None:
        of = self.lagrangian
        self.history: list[dict[str, float]] = []
        self.size = float(np.sum(of.counts * of.X**2)), float(np.sum(of.graph.sqdist**2)) or 1.0

    def run(self, x: Array, report: Progress | None) -> tuple[Array, IsometricStatus]:
        """The best point of all rounds, and how they ended."""
        of = self.lagrangian
        at = Multipliers(np.zeros(of.graph.m), _LENGTHS / self.size[1], 1.0 / self.size[0])
        best = x
        try:
            while len(self.history) < self.max_iter:
                if self.deadline.is_over():
                    return best, IsometricStatus.TIME_LIMIT
                found = self._descend(x, at)
                record = self.measures(found)
                far = record["spread"] > _RUNAWAY * self.longest
                if far or not np.isfinite(found).all():
                    return best, IsometricStatus.DIVERGED
                x = found
                self.history.append({**record, "seconds": self.deadline.spent})
                if min(self.history, key=self._merit) is self.history[-1]:
                    best = x
                if report is not None:
                    value = record["objective"]
                    report({**self.history[-1], "iteration": len(self.history), "value": value})
                ended = self._verdict()
                if ended is not None:
                    return best, ended
                at = self._updated(x, at)
        except KeyboardInterrupt:
            return best, IsometricStatus.INTERRUPTED
        return best, IsometricStatus.ITERATION_LIMIT

    def _descend(self, x: Array, at: Multipliers) -> Array:
        def stop(z: Array) -> None:
            if self.deadline.is_over():
                raise StopIteration

        found = minimize(
            self.lagrangian.evaluate, x, args=(at,), jac=True, method="L-BFGS-B",
            bounds=[(0.0, None)] * x.size, callback=stop,
            options={"maxiter": _STEPS, "maxcor": 10, "ftol": 1e-15, "gtol": 1e-10},
        )  # fmt: skip
        return np.asarray(found.x)

    def _updated(self, x: Array, at: Multipliers) -> Multipliers:
        """First-order multipliers, and a penalty that is doubled if errors fell too little."""
        W, _ = self.lagrangian.split(x)
        lengths = at.lengths - at.length_penalty * self.lagrangian.length_errors(W)
        errors = [record["dist"] for record in self.history[-2:]]
        slow = len(errors) == 2 and errors[1] > max(_CUT * errors[0], self.tol)
        stiff = (2.0 if slow else 1.0) * at.length_penalty
        return replace(at, lengths=lengths, length_penalty=stiff)

    def objective(self, rec: float, spread: float) -> float:
        """The objective that is minimized."""
        pulled = self.beta * spread / self.longest if self.longest else 0.0
        return 0.5 * rec**2 - pulled

    def measures(self, x: Array) -> dict[str, float]:
        """The fields of `IsometricFactors` that grade factors."""
        of = self.lagrangian
        W, H = of.split(x)
        rec = float(np.sqrt(np.sum(of.counts * (W @ H - of.X) ** 2) / self.size[0]))
        dist = float(np.linalg.norm(of.length_errors(W)) / np.sqrt(self.size[1]))
        spread = 0.0 if of.pairs is None else self.unit**2 * float(np.vdot(W, of.pairs @ W))
        objective = self.objective(rec, spread)
        return {"objective": objective, "rec": rec, "dist": dist, "spread": spread}

    def _merit(self, record: dict[str, float]) -> tuple[float, float]:
        """The key of the best round: its error above ``tol``, then its objective."""
        error = record["dist"]
        return (error if error > self.tol else 0.0), record["objective"]

    def _verdict(self) -> IsometricStatus | None:
        """Whether the search has settled or stalled."""
        errors = [record["dist"] for record in self.history]
        if errors[-1] > self.tol:
            if len(errors) <= _PATIENCE:
                return None
            lately, before = min(errors[-_PATIENCE:]), min(errors[:-_PATIENCE])
            stalled = min(lately, before) > self.tol and lately > _PROGRESS * before
            return IsometricStatus.STALLED if stalled else None
        if len(errors) < 2:
            return None
        before, now = (record["objective"] for record in self.history[-2:])
        settled = abs(before - now) <= self.tol * max(abs(now), self.tol)
        return IsometricStatus.SETTLED if settled else None
