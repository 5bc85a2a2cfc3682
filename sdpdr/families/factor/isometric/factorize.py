"""Nonnegative factors whose left one keeps the lengths of a graph, by an augmented Lagrangian."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import Advised, Progress, show_progress
from sdpdr.families.factor.isometric.recipe import rows_of_nodes
from sdpdr.families.factor.nonnegative.inputs import number_of_components
from sdpdr.families.factor.nonnegative.search import short_descent
from sdpdr.families.factor.nonnegative.truncation import eckart_young_bound
from sdpdr.families.factor.quasi_newton import NONNEGATIVE, minimized
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
    lagrangian = Lagrangian(V, graph)
    if objective == "furthest":
        graph.require_connected(
            "take more neighbours, connect='mst' or connect='largest', or objective='none'"
        )
        lagrangian.pull_apart(furthest_pairs(V).furthest, validate.non_negative("pull", pull))
    tail = eckart_young_bound(np.sqrt(lagrangian.weights) * lagrangian.V, k)
    bound, start = lagrangian.objective(tail, lagrangian.longest), _start(lagrangian.V, k, seed)
    with show_progress(progress, "isometric factors") as report:
        x, status, history = _search(lagrangian, start, tol, max_iter, Deadline(time_limit), report)
    W, H = lagrangian.split(x)
    return IsometricFactors(
        lagrangian.unit * W, H.copy(), status, **lagrangian.measures(x), rec_bound=tail,
        bound=bound, history=history,
    )  # fmt: skip


def _start(V: Array, k: int, seed: int) -> Array:
    """All entries of factors by scikit-learn, with unit rows of H."""
    W, H = short_descent(V, k, seed=seed)
    lost = ~H.any(axis=1)
    H[lost] = np.random.default_rng(seed).random((int(lost.sum()), H.shape[1]))
    size = np.linalg.norm(H, axis=1)
    return np.concatenate([(W * size).ravel(), (H / size[:, None]).ravel()])


class Lagrangian:
    r"""Augmented Lagrangian of isometric nonnegative factors, with its gradient.

    .. math::

        \mathcal L(W, H) = -\frac\beta S \langle L_F, W W^T\rangle
        - \lambda^T r + \tfrac\sigma2 |r|^2 + \tfrac12 \sum_i c_i |R_i|^2,

    with :math:`r_e = |w_i - w_j|^2 - d_e` for every edge e = ij, R = WH - V with rows
    :math:`R_i`, counts c of the nodes divided by the squares of V, and :math:`L_F` the Laplacian of
    pairs to be pulled apart: (4.87) of the thesis, corrected. V is held in the ``unit`` in which
    edges have the mean squared length one.
    """

    pairs: sp.csr_array | None = None
    beta = longest = 0.0

    def __init__(self, V: Array, graph: NeighborGraph) -> None:
        self.graph, self.unit = graph, float(np.sqrt(np.mean(graph.sqdist))) if graph.m else 1.0
        self.V, self.sqdist = V / self.unit, graph.sqdist / self.unit**2
        counts = graph.counts[:, None].astype(float)
        self.weights = counts / float(np.sum(counts * self.V**2))
        self.incidence = SquaredEdgeLengths(graph.n, graph.edges).vectors
        self.transposed = self.incidence.T.tocsr()

    def pull_apart(self, furthest: Index, beta: float) -> None:
        """Pull each node away from the one that is furthest from it."""
        n, counts = self.graph.n, self.graph.counts.astype(float)
        ends, place = np.unique(furthest, return_inverse=True)
        paths = geodesics(self.graph, ends)[place, np.arange(n)]
        between = np.column_stack([np.arange(n), furthest])
        self.pairs = SquaredEdgeLengths(n, between).adjoint(counts)
        self.beta, self.longest = beta, float(np.sum(counts * paths**2))

    def split(self, x: Array) -> tuple[Array, Array]:
        """W and H from all their entries in one vector."""
        n, m = self.V.shape
        k = x.size // (n + m)
        return x[: n * k].reshape(n, k), x[n * k :].reshape(k, m)

    def length_errors(self, W: Array) -> tuple[Array, Array]:
        """The errors r of squared lengths, one for each edge, and the steps along edges."""
        steps = self.incidence @ W
        return np.einsum("ek,ek->e", steps, steps) - self.sqdist, steps

    def evaluate(self, x: Array, multipliers: Array, penalty: float) -> tuple[float, Array]:
        """The value and the gradient."""
        W, H = self.split(x)
        (r, steps), R = self.length_errors(W), W @ H - self.V
        q, Q = penalty * r - multipliers, self.weights * R
        value = -multipliers @ r + 0.5 * penalty * (r @ r) + 0.5 * np.vdot(Q, R)
        left = 2.0 * (self.transposed @ (q[:, None] * steps)) + Q @ H.T
        if self.pairs is not None:
            pulled = self._pull * (self.pairs @ W)
            value -= np.vdot(W, pulled)
            left -= 2.0 * pulled
        return float(value), np.concatenate([left.ravel(), (W.T @ Q).ravel()])

    @property
    def _pull(self) -> float:
        """The weight of the spread in the unit of the lengths."""
        return self.beta * self.unit**2 / self.longest if self.longest else 0.0

    def objective(self, rec: float, spread: float) -> float:
        """The objective that is minimized."""
        return 0.5 * rec**2 - (self.beta * spread / self.longest if self.longest else 0.0)

    def measures(self, x: Array) -> dict[str, float]:
        """The fields of `IsometricFactors` that grade factors."""
        W, H = self.split(x)
        rec = float(np.sqrt(np.sum(self.weights * (W @ H - self.V) ** 2)))
        size = float(np.linalg.norm(self.sqdist)) or 1.0
        dist = float(np.linalg.norm(self.length_errors(W)[0])) / size
        spread = 0.0 if self.pairs is None else self.unit**2 * float(np.vdot(W, self.pairs @ W))
        objective = self.objective(rec, spread)
        return {"objective": objective, "rec": rec, "dist": dist, "spread": spread}


def _search(
    of: Lagrangian, x: Array, tol: float, max_iter: int, deadline: Deadline,
    report: Progress | None,
) -> tuple[Array, IsometricStatus, list[dict[str, float]]]:  # fmt: skip
    """The best point of all rounds, how they ended, and what they found.

    A round is followed by first-order multipliers, and by a double penalty if errors fell too
    little.
    """
    multipliers, penalty = np.zeros(of.graph.m), _LENGTHS / (float(np.sum(of.sqdist**2)) or 1.0)
    best, history = x, list[dict[str, float]]()

    def merit(record: dict[str, float]) -> tuple[float, float]:
        """The key of the best round: its error above ``tol``, then its objective."""
        return (record["dist"] if record["dist"] > tol else 0.0), record["objective"]

    try:
        while len(history) < max_iter:
            if deadline.is_over():
                return best, IsometricStatus.TIME_LIMIT, history
            found = minimized(
                partial(of.evaluate, multipliers=multipliers, penalty=penalty), x, NONNEGATIVE,
                deadline=deadline, maxiter=_STEPS, maxcor=10, ftol=1e-15, gtol=1e-10,
            )  # fmt: skip
            record = of.measures(found)
            if record["spread"] > _RUNAWAY * of.longest or not np.isfinite(found).all():
                return best, IsometricStatus.DIVERGED, history
            x = found
            history.append({**record, "seconds": deadline.spent})
            best = x if min(history, key=merit) is history[-1] else best
            if report is not None:
                value = record["objective"]
                report({**history[-1], "iteration": len(history), "value": value})
            ended = _verdict(history, tol)
            if ended is not None:
                return best, ended, history
            multipliers = multipliers - penalty * of.length_errors(of.split(x)[0])[0]
            before = history[-2]["dist"] if len(history) > 1 else np.inf
            if record["dist"] > max(_CUT * before, tol):
                penalty *= 2.0
    except KeyboardInterrupt:
        return best, IsometricStatus.INTERRUPTED, history
    return best, IsometricStatus.ITERATION_LIMIT, history


def _verdict(history: list[dict[str, float]], tol: float) -> IsometricStatus | None:
    """Whether the search has settled or stalled."""
    errors = [record["dist"] for record in history]
    if errors[-1] <= tol:
        values = [record["objective"] for record in history[-2:]]
        settled = len(values) == 2 and abs(np.diff(values)[0]) <= tol * max(abs(values[-1]), tol)
        return IsometricStatus.SETTLED if settled else None
    stalled = len(errors) > _PATIENCE and (
        min(errors) > tol and min(errors[-_PATIENCE:]) > _PROGRESS * min(errors[:-_PATIENCE])
    )
    return IsometricStatus.STALLED if stalled else None
