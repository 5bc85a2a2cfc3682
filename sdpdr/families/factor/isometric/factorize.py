"""Nonnegative factors whose left one keeps the lengths of a graph: isometric NMF."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.progress import Progress
from sdpdr.families.factor.isometric.problem import IsometricProblem
from sdpdr.families.factor.isometric.recipe import rows_of_nodes
from sdpdr.families.factor.isometric.search import IsometricFactors, IsometricSearch
from sdpdr.families.factor.nonnegative.inputs import (
    factor_pair,
    nonnegative_matrix,
    number_of_components,
)
from sdpdr.families.factor.nonnegative.projection import coordinate_descent
from sdpdr.graphs import FurthestPairs, NeighborGraph

PRODUCTS = ("penalty", "constraint")
# Rows of H below this share of the largest are replaced by random ones.
_VANISHED = 1e-9


def isometric_factors(
    X: ArrayLike,
    graph: NeighborGraph,
    n_components: int,
    *,
    product: Literal["penalty", "constraint"] = "penalty",
    objective: Literal["none", "furthest"] | FurthestPairs = "none",
    pull: float | None = None,
    start: Literal["nmf", "random"] | tuple[ArrayLike, ArrayLike] = "nmf",
    tol: float = 1e-4,
    max_iter: int = 50,
    inner_iter: int = 500,
    spread_bound: float | None = None,
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
    paths to them, which no isometric placement exceeds. With ``product="constraint"`` the first
    term is left out and WH = V is required. The problem is not convex. Multipliers of the lengths
    change from round to round; within a round the Lagrangian is minimized over
    :math:`W, H \ge 0` by L-BFGS-B of memory 10, as in the thesis.

    Parameters
    ----------
    X : array_like of shape (n, m)
        V, nonnegative: a row for each node of the graph.
    graph : NeighborGraph
        Its squared lengths are d. A node that stands for several points counts as many times.
    n_components : int
        k, from 1 to min(n, m).
    product : {"penalty", "constraint"}, default "penalty"
        The form of :math:`V = WH`. As a constraint it is rarely feasible.
    objective : {"none", "furthest"} or FurthestPairs, default "none"
        The pairs to be spread: none, those furthest apart among the rows of X, or others. They
        need a connected graph; those of few nearest neighbours rarely are, on real data.
    pull : float, optional
        :math:`\beta`. Default: 1e-3, or 1 if the product is a constraint.
    start : {"nmf", "random"} or (W, H), default "nmf"
        NMF by scikit-learn, with unit rows of H; uniform random numbers; or the factors given.
    tol : float, default 1e-4
        Largest ``dist`` (and ``rec``, if it is a constraint), and largest relative change of the
        objective from one round to the next, of a settled search.
    max_iter : int, default 50
        Rounds.
    inner_iter : int, default 500
        Steps of L-BFGS-B in a round.
    spread_bound : float, optional
        A proven limit of the spread, for instance ``bound`` of a solution of
        `sdpdr.methods.mfnu` with equality; by default the one from shortest paths.
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
        X or the start do not fit the graph.
    DisconnectedGraphError
        There is an objective, and components of the graph may drift apart without limit.
    InfeasibleError
        The product is a constraint, and V has a rank above k.
    UnknownNameError

    References
    ----------
    Vasiloglou thesis, section 4.4.2, (4.86)-(4.89).

    Examples
    --------
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
    validate.choice("product", product, PRODUCTS)
    validate.positive_number("tol", tol)
    validate.positive_integer("max_iter", max_iter)
    validate.positive_integer("inner_iter", inner_iter)
    problem = IsometricProblem.of(V, graph, k, product, objective, pull, spread_bound, tol)
    x = problem.packed(*_start(problem, start, seed))
    return IsometricSearch(problem, tol, max_iter, inner_iter, time_limit).run(x, progress)


def _start(
    problem: IsometricProblem, start: str | tuple[ArrayLike, ArrayLike], seed: int
) -> tuple[Array, Array]:
    """Factors to begin with; rows of H have unit length unless given."""
    V, k, rng = problem.lagrangian.X, problem.k, np.random.default_rng(seed)
    n, m = V.shape
    if not isinstance(start, str):
        W, H = (nonnegative_matrix(part, name) for part, name in zip(start, "WH", strict=True))
        return factor_pair("a start", W, H, V.shape, k)
    validate.choice("start", start, ("nmf", "random"))
    if start == "random":
        W, H = rng.random((n, k)), rng.random((k, m))
        W *= np.sqrt(np.sum(V**2)) / np.linalg.norm(W @ H)
    else:
        W, H = coordinate_descent(V, k, init="nndsvda", seed=seed)
    size = np.linalg.norm(H, axis=1)
    lost = size <= _VANISHED * size.max()
    H[lost] = rng.random((int(lost.sum()), m))
    size = np.linalg.norm(H, axis=1)
    return problem.unit * W * size, H / size[:, None]
