"""Small programs whose answers are known, one row of a table each.

Values in closed form are written as formulas. Those of neighbour graphs, which have none, are
optima on which two interior-point methods agreed to seven digits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sdpdr import datasets, graphs, methods
from sdpdr.blocks import Band, Slack
from sdpdr.errors import DuplicatePointsWarning
from sdpdr.linalg import (
    Diagonal,
    Entries,
    InnerProduct,
    SquaredEdgeLengths,
    SvecMap,
    Trace,
    VectorMap,
    svec,
)
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable

LENGTHS = np.array([1.0, 2.0, 0.5, 1.5, 1.0, 3.0, 0.7])
SQRT5 = np.sqrt(5.0)


@dataclass(frozen=True)
class Case:
    """A program and what is known of it.

    Parameters
    ----------
    name : str
    build : callable
        Makes the program.
    value : float
        Optimal value in the sense of the person; not a number where there is none.
    verdict : {"optimal", "infeasible", "unbounded"}
    values, duals : mapping
        An optimal point where one is known in closed form.
    digits : float
        Relative accuracy of `value` itself.
    interior : bool
        Whether feasible points have a neighbourhood, on a face that is proved; without one the
        point returned cannot be proved feasible, and the best grade is optimal nearby.
    """

    name: str
    build: Callable[[], SDP]
    value: float = float("nan")
    verdict: Literal["optimal", "infeasible", "unbounded"] = "optimal"
    values: Mapping[str, np.ndarray] = field(default_factory=dict)
    duals: Mapping[str, np.ndarray] = field(default_factory=dict)
    digits: float = 1e-10
    interior: bool = True

    def __repr__(self) -> str:
        return self.name


# -- programs written by hand -------------------------------------------------------------------


def rows_of(*matrices: np.ndarray) -> SvecMap:
    """The map K -> (<F_1, K>, ..., <F_m, K>)."""
    return SvecMap(len(matrices[0]), np.array([svec(f) for f in matrices]))


def linear_program() -> SDP:
    """Maximise 3 x + 2 y in a polygon with the corner (3, 1)."""
    lhs = VectorMap([[1.0, 1.0], [1.0, 3.0], [1.0, 0.0]])
    return SDP(
        (VectorVariable("z", 2, nonnegative=True),),
        {"z": VectorMap([[-3.0, -2.0]])},
        (Rows("polygon", "<=", {"z": lhs}, np.array([4.0, 6.0, 3.0])),),
        maximize=True,
    )


def linear_over_matrices() -> SDP:
    """Minimise <diag(1, 2, 3), X> with tr X = 1."""
    trace = Rows("trace", "==", {"X": Trace(3)}, np.ones(1))
    return SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.diag([1.0, 2.0, 3.0]))}, (trace,))


def theta() -> SDP:
    """Lovász's number of the cycle of five nodes (IEEE Trans. Inform. Theory 25(1), 1979)."""
    edges = np.array([(i, (i + 1) % 5) for i in range(5)])
    rows = (
        Rows("trace", "==", {"X": Trace(5)}, np.ones(1)),
        Rows("edges", "==", {"X": Entries(5, edges)}, np.zeros(5)),
    )
    everything = InnerProduct(-np.ones((5, 5)))
    return SDP((PsdVariable("X", 5),), {"X": everything}, rows, maximize=True)


def theta_primal() -> np.ndarray:
    cycle = np.roll(np.eye(5), 1, axis=1) + np.roll(np.eye(5), -1, axis=1)
    return (np.eye(5) + (SQRT5 - 1) / 2 * (np.ones((5, 5)) - np.eye(5) - cycle)) / 5


def max_cut() -> SDP:
    """Goemans and Williamson's bound on the largest cut of a triangle (J. ACM 42(6), 1995)."""
    laplacian = 3.0 * np.eye(3) - np.ones((3, 3))
    unit = Rows("diagonal", "==", {"X": Diagonal(3)}, np.ones(3))
    return SDP((PsdVariable("X", 3),), {"X": InnerProduct(-laplacian / 4)}, (unit,), maximize=True)


def nearest_correlation() -> SDP:
    """Minimise |X - A|^2 / 2 over correlation matrices; A has -0.8 everywhere off the diagonal."""
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    rows = (
        Rows("diagonal", "==", {"X": Diagonal(3)}, np.ones(3)),
        Rows(
            "distance", "==", {"X": Entries(3, pairs), "z": VectorMap(-np.eye(3))}, np.full(3, -0.8)
        ),
    )
    # Every entry off the diagonal counts twice in the norm, hence curvature 2.
    scalars = VectorVariable("z", 3, curvature=np.full(3, 2.0))
    return SDP((PsdVariable("X", 3), scalars), {}, rows)


TRIDIAGONAL = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])


def largest_eigenvalue(sign: float = 1.0) -> SDP:
    """Minimise ``sign`` t with t I - F PSD."""
    identity = VectorMap(svec(np.eye(3))[:, None])
    cone = Lmi("cone", 3, {"t": identity}, -svec(TRIDIAGONAL))
    return SDP((VectorVariable("t", 1),), {"t": VectorMap([[sign]])}, lmis=(cone,))


def hyperbola() -> SDP:
    """Minimise x + y with [[x, 1], [1, y]] PSD."""
    corners = np.column_stack([svec(np.diag([1.0, 0.0])), svec(np.diag([0.0, 1.0]))])
    cone = Lmi("cone", 2, {"z": VectorMap(corners)}, svec(np.array([[0.0, 1.0], [1.0, 0.0]])))
    return SDP((VectorVariable("z", 2),), {"z": VectorMap([[1.0, 1.0]])}, lmis=(cone,))


def impossible_hyperbola() -> SDP:
    """Find x with [[x, 1], [1, -x]] PSD."""
    diagonal = VectorMap(svec(np.diag([1.0, -1.0]))[:, None])
    cone = Lmi("cone", 2, {"x": diagonal}, svec(np.array([[0.0, 1.0], [1.0, 0.0]])))
    return SDP((VectorVariable("x", 1),), {}, lmis=(cone,))


def sum_of_squares() -> SDP:
    """Largest c with x^4 - 2 x^2 + 3 - c a sum of squares (Parrilo, Math. Program. 96, 2003)."""
    i, j = np.indices((3, 3))
    products = rows_of(*[(i + j == power).astype(float) for power in range(5)])
    lhs = {"Q": products, "c": VectorMap(np.eye(5)[:, :1])}
    rows = Rows("powers", "==", lhs, np.array([3.0, 0.0, -2.0, 0.0, 1.0]))
    return SDP(
        (PsdVariable("Q", 3), VectorVariable("c", 1)),
        {"c": VectorMap([[-1.0]])},
        (rows,),
        maximize=True,
    )


def too_small_a_trace() -> SDP:
    """Minimise X_11 + 2 X_22 with tr X = 1 and X_12 = 1, which no PSD matrix has."""
    rows = (
        Rows("trace", "==", {"X": Trace(2)}, np.ones(1)),
        Rows("entry", "==", {"X": Entries(2, np.array([(0, 1)]))}, np.ones(1)),
    )
    return SDP((PsdVariable("X", 2),), {"X": InnerProduct(np.diag([1.0, 2.0]))}, rows)


def no_limit() -> SDP:
    """Maximise tr X with X_11 = X_22."""
    balance = Rows("balance", "==", {"X": rows_of(np.diag([1.0, -1.0]))}, np.zeros(1))
    return SDP((PsdVariable("X", 2),), {"X": -1.0 * Trace(2)}, (balance,), maximize=True)


def least_trace(n: int = 20) -> SDP:
    """Minimise the variance with edges that may only grow: the mirror image of unfolding."""
    graph = swiss_graph(n)
    sdp = methods.mvu(graph).to_sdp()
    grown = Rows("isometry", "<=", {"K": -1.0 * SquaredEdgeLengths(n, graph.edges)}, -graph.sqdist)
    return SDP(sdp.variables, {"K": Trace(n)}, (sdp.rows[0], grown))


# -- unfoldings ---------------------------------------------------------------------------------


def swiss_graph(n: int, k: int = 4) -> graphs.NeighborGraph:
    return graphs.knn(datasets.swiss_roll(n, 0)[0], n_neighbors=k)


def swiss_with_duplicates() -> graphs.NeighborGraph:
    points = datasets.swiss_roll(20, 0)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DuplicatePointsWarning)
        return graphs.knn(np.vstack([points, points[:3]]), n_neighbors=4)


def spiral_graph() -> graphs.NeighborGraph:
    return graphs.knn(datasets.spiral(20)[0], n_neighbors=3)


def mvu(graph: Callable[[], graphs.NeighborGraph], relation: object = "inequality"):
    return lambda: methods.mvu(graph(), relation).to_sdp()


def impossible_triangle() -> graphs.NeighborGraph:
    """Sides 1, 1 and 3, which no three points have."""
    return graphs.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1.0, 1.0, 9.0])


def gaussian() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((6, 3))


LINE = np.concatenate([[0.0], np.cumsum(LENGTHS)])
LINE = LINE - LINE.mean()
LINE_WEIGHTS = -np.cumsum(LINE)[:-1] / LENGTHS
ANGLES = 2 * np.pi * np.arange(8) / 8
OCTAGON = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]) / (2 * np.sin(np.pi / 8))
# At 1 / lambda_2 of the graph with unit weights, lengthening starts to pay more than it costs.
CHEAP = Slack(0.9 * 0.25 / np.sin(np.pi / 8) ** 2, "absolute")
COMPLETE = gaussian() - gaussian().mean(axis=0)


def on_line(relation: object, name: str, *slack: str) -> Case:
    """A path unfolds to a straight line, whatever its lengths may do below the limit."""
    return Case(
        f"mvu path, {name}",
        mvu(lambda: graphs.path(LENGTHS), relation),
        float(LINE @ LINE),
        values={"K": np.outer(LINE, LINE)} | {name: np.zeros(7) for name in slack},
        duals={"centered": np.zeros(8), "isometry": LINE_WEIGHTS},
    )


def complete(relation: str) -> Case:
    """All distances are given, so classical scaling is the only answer or the largest one."""
    return Case(
        f"mvu complete graph, {relation}",
        mvu(lambda: graphs.complete(gaussian()), relation),
        float(np.sum(COMPLETE**2)),
        values={"K": COMPLETE @ COMPLETE.T},
        # The sum of all squared distances is n tr K, so equal weights 1 / n prove it.
        duals={"centered": np.zeros(6), "isometry": np.full(15, 1.0 / 6.0)},
        interior=relation != "equality",
    )


CASES = (
    Case(
        "linear program",
        linear_program,
        11.0,
        values={"z": np.array([3.0, 1.0])},
        duals={"polygon": np.array([2.0, 0.0, 1.0])},
    ),
    Case(
        "smallest diagonal entry",
        linear_over_matrices,
        1.0,
        values={"X": np.diag([1.0, 0.0, 0.0])},
        duals={"trace": np.array([-1.0])},
    ),
    Case(
        "theta of a pentagon",
        theta,
        SQRT5,
        values={"X": theta_primal()},
        duals={"trace": np.array([SQRT5]), "edges": np.full(5, 5.0 - SQRT5)},
    ),
    Case(
        "max-cut of a triangle",
        max_cut,
        9 / 4,
        values={"X": (3.0 * np.eye(3) - np.ones((3, 3))) / 2},
        duals={"diagonal": np.full(3, 0.75)},
    ),
    Case(
        "nearest correlation matrix",
        nearest_correlation,
        0.27,
        values={"X": (3.0 * np.eye(3) - np.ones((3, 3))) / 2, "z": np.full(3, 0.3)},
        duals={"diagonal": np.full(3, 0.3), "distance": np.full(3, 0.6)},
    ),
    Case(
        "largest eigenvalue",
        largest_eigenvalue,
        2.0 + np.sqrt(2.0),
        values={"t": np.array([2.0 + np.sqrt(2.0)])},
        duals={"cone": np.outer([1.0, np.sqrt(2.0), 1.0], [1.0, np.sqrt(2.0), 1.0]) / 4},
    ),
    Case(
        "hyperbola",
        hyperbola,
        2.0,
        values={"z": np.ones(2)},
        duals={"cone": np.array([[1.0, -1.0], [-1.0, 1.0]])},
    ),
    Case(
        "sum of squares",
        sum_of_squares,
        2.0,
        values={"Q": np.outer([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]), "c": np.array([2.0])},
        duals={"powers": np.array([1.0, 0.0, 1.0, 0.0, 1.0])},
    ),
    Case("too small a trace", too_small_a_trace, verdict="infeasible"),
    Case("impossible hyperbola", impossible_hyperbola, verdict="infeasible"),
    Case("no limit", no_limit, verdict="unbounded"),
    Case("eigenvalue without limit", lambda: largest_eigenvalue(-1.0), verdict="unbounded"),
    on_line("inequality", "inequality"),
    on_line("equality", "equality"),
    on_line(Slack(30.0, "absolute"), "penalized", "isometry.over", "isometry.under"),
    Case(
        "mvu octagon",
        mvu(lambda: graphs.cycle(8)),
        2.0 / np.sin(np.pi / 8) ** 2,
        values={"K": OCTAGON @ OCTAGON.T},
        duals={"centered": np.zeros(8), "isometry": np.full(8, 0.25 / np.sin(np.pi / 8) ** 2)},
    ),
    complete("inequality"),
    complete("equality"),
    Case("mvu impossible triangle", mvu(impossible_triangle, "equality"), verdict="infeasible"),
    Case("mvu slack too cheap", mvu(lambda: graphs.cycle(8), CHEAP), verdict="unbounded"),
    Case("mvu swiss roll", mvu(lambda: swiss_graph(20)), 2904.10621, digits=1e-8),
    Case("mvu duplicates", mvu(swiss_with_duplicates), 3285.868, digits=5e-7),
    Case("mvu band", mvu(spiral_graph, Band(0.1)), 1791.06528, digits=1e-8),
    Case("mvu square slack", mvu(spiral_graph, Slack(1.0)), 1767.90974, digits=1e-8),
    Case("least trace", least_trace, 711.93360, digits=1e-8),
)
