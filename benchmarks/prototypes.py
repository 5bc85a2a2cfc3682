"""Programs that the package does not ship, each written with operators in at most eight lines.

    python benchmarks/prototypes.py                        the table of the documentation
    python benchmarks/prototypes.py --programs kmeans      some programs; the others stay
    python benchmarks/prototypes.py --table                the table again, nothing solved

Each is solved as ``sdpdr.solve(model)`` solves it, with a time limit. What came of it is kept in
``benchmarks/prototypes.json``.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from tables import write_table

import sdpdr
from sdpdr import Model, graphs, log_det, maximize, methods, minimize, psd, scalar, square

KEPT = Path(__file__).with_suffix(".json")
TOL, LIMIT = 1e-6, 60.0


# -- the models -----------------------------------------------------------------------------------


def largest_cut(laplacian: Any) -> Model:
    """Sides of a graph with most edges between them."""
    X = psd("X", laplacian.shape[0])
    return maximize(X.inner(laplacian) / 4.0) + (X.diagonal() == 1.0)


def cut_with_triangles(laplacian: Any, triples: Any) -> Model:
    """A largest cut in which two of every three nodes are on one side."""
    X, (i, j, k) = psd("X", laplacian.shape[0]), triples.T
    a, b, c = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]).T[:, :, None]
    triangles = (a * X[i, j] + b * X[i, k] + c * X[j, k] >= -1.0).named("triangles")
    return maximize(X.inner(laplacian) / 4.0) + (X.diagonal() == 1.0) + triangles


def sensors(n: int, pairs: Any, lengths: Any, rays: Any, ranges: Any, penalty: str) -> Model:
    """Sensors in the plane, from squared distances to each other and to anchors."""
    Z = psd("Z", n + 2)  # [[I, Y], [Y', Y Y']]
    between = Z.distance2(pairs + 2) - lengths
    to_anchors = Z.quadratic(rays) - ranges
    fixed = Z[:2, :2] == np.eye(2)
    if penalty == "none":
        return fixed + (between == 0.0).named("between") + (to_anchors == 0.0).named("anchors")
    pay = abs if penalty == "absolute" else square
    return fixed + minimize(pay(between).sum() + pay(to_anchors).sum())


def molecule_stretched(n: int, bonds: Any, length: Any, near: Any, sqdist: Any) -> Model:
    """Exact bonds, other distances within a tenth, as much variance as they leave."""
    K = psd("K", n)
    centred = maximize(K.trace()) + (K.sum(axis=1) == 0.0).named("centred")
    exact = (K.distance2(bonds) == length).named("bonds")
    within = abs(K.distance2(near) - sqdist) <= 0.1 * sqdist
    return centred + exact + within


def molecule_least(n: int, pairs: Any, sqdist: Any) -> Model:
    """Exact distances, least trace."""
    K = psd("K", n)
    exact = (K.distance2(pairs) == sqdist).named("lengths")
    return minimize(K.trace()) + (K.sum(axis=1) == 0.0).named("centred") + exact


def molecule_penalized(n: int, pairs: Any, sqdist: Any, penalty: float) -> Model:
    """Variance, less penalties on errors of noisy distances."""
    K = psd("K", n)
    misfit = abs(K.distance2(pairs) - sqdist).sum()
    return maximize(K.trace() - penalty * misfit) + (K.sum(axis=1) == 0.0).named("centred")


def temporal_order(graph: Any, lags: int) -> Model:
    """An unfolding in which later points are farther away."""
    K, model = psd("K", graph.n), methods.mvu(graph)
    for s in range(1, lags + 1):
        t = np.arange(graph.n - s - 1)
        model = model + (K.distance2(t, t + s) <= K.distance2(t, t + s + 1)).named(f"lag_{s}")
    return model


def roundest(graph: Any) -> Model:
    """The unfolding with as much variance in all directions as lengths leave."""
    n = graph.n
    K = psd("K", n)
    shorter = (K.distance2(graph.edges) <= graph.sqdist).named("shorter")
    return maximize(log_det(K + 0.01 * np.eye(n))) + (K.sum(axis=1) == 0.0) + shorter


def phase_lift(A: Any, b: Any) -> Model:
    """A vector from the squares of its products."""
    X = psd("X", A.shape[1])
    return minimize(X.trace()) + (X.quadratic(A) == b)


def kmeans(sqdist: Any, k: int) -> Model:
    """The relaxation of Peng and Wei."""
    Z = psd("Z", len(sqdist))
    rows = (Z.sum(axis=1) == 1.0).named("rows")
    return minimize(Z.inner(sqdist)) + (Z >= 0.0) + rows + (Z.trace() == float(k))


def fastest_mixing(graph: Any) -> Model:
    """Probabilities of steps along edges that forget the start soonest."""
    p, s, one = scalar("p", graph.m, nonnegative=True), scalar("s"), np.eye(graph.n)
    steps = one[graph.edges[:, 0]] - one[graph.edges[:, 1]]
    walk = one - 1.0 / graph.n - p @ (steps[:, :, None] * steps[:, None, :])
    leaving = (abs(steps).T @ p <= 1.0).named("leaving")
    return (
        minimize(s) + leaving + (walk << s * one).named("above") + (walk >> -s * one).named("below")
    )


def design(points: Any) -> Model:
    """Weights of experiments whose least informed direction is informed best."""
    m, d = points.shape
    w, t = scalar("w", m, nonnegative=True), scalar("t")
    information = w @ (points[:, :, None] * points[:, None, :])
    return maximize(t) + (w.sum() == 1.0) + (information >> t * np.eye(d))


def halves(adjacency: Any) -> Model:
    """Two communities of one size."""
    X = psd("X", adjacency.shape[0])
    ones = (X.diagonal() == 1.0).named("ones")
    return maximize(X.inner(adjacency)) + ones + (X.sum(axis=1) == 0.0).named("balanced")


def communities(adjacency: Any) -> Model:
    """Two communities of any sizes, less the edges expected by chance in them (modularity)."""
    X = psd("X", adjacency.shape[0])
    return maximize(X.inner(adjacency - adjacency.mean())) + (X.diagonal() == 1.0)


def alignment(kernels: Any, target: Any) -> Model:
    """Weights of kernels whose sum is nearest to a target."""
    w = scalar("w", len(kernels))
    return minimize(square(w @ kernels - target).sum()) + (w >= 0.0)


def nonparametric_kernel(laplacian: Any, pairs: Any, sign: Any, penalty: float) -> Model:
    """A kernel smooth on a graph, which is paid to obey links."""
    K, (i, j) = psd("K", laplacian.shape[0]), pairs.T
    broken = abs(K[i, j] - sign).sum()
    return minimize(K.inner(laplacian) + penalty * broken) + (K.diagonal() == 1.0)


def completion(shape: tuple[int, int], i: Any, j: Any, value: Any) -> Model:
    """A matrix of least trace norm with some entries known."""
    p, q = shape
    Z = psd("Z", p + q)  # [[A, X], [X', B]]
    return minimize(Z.trace() / 2.0) + (Z[i, p + j] == value)


def nearest_correlation(given: Any) -> Model:
    """A correlation matrix near to a matrix that is none."""
    X = psd("X", len(given))
    return minimize(square(X - given).sum()) + (X.diagonal() == 1.0)


def lyapunov(A: Any, decay: float) -> Model:
    """A Lyapunov function of a stable system, with the least trace."""
    P = psd("P", len(A))
    return minimize(P.trace()) + (A.T @ P + P @ A << -decay * np.eye(len(A)))


# -- data -----------------------------------------------------------------------------------------


def random_laplacian(n: int) -> Any:
    """The Laplacian of a graph with some six edges at a node."""
    A = sp.random_array((n, n), density=6.0 / n, rng=np.random.default_rng(0))
    joined = sp.csr_array((A + A.T > 0).astype(float))
    joined.setdiag(0.0)
    return sp.csr_array(sp.diags_array(joined.sum(axis=1)) - joined)


def cut_data(n: int, triangles: int | None = None) -> tuple[Any, Any]:
    """A graph, and triples of nodes; all of them if it is not said how many."""
    every = np.array(list(itertools.combinations(range(n), 3)))
    rng = np.random.default_rng(1)
    chosen = every if triangles is None else rng.choice(every, triangles, replace=False)
    return random_laplacian(n), chosen


def sensor_data(n: int, noise: float, penalty: str) -> tuple[Any, ...]:
    """Points of the unit square, one in twenty of them an anchor, four of these in the corners."""
    rng = np.random.default_rng(0)
    P, anchors = rng.uniform(size=(n, 2)), max(4, n // 20)
    P[:4] = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    graph = graphs.radius(P, 1.6 * np.sqrt(np.log(n) / (np.pi * n)), connect="mst")
    sqdist = graph.sqdist * (1.0 + noise * rng.standard_normal(graph.m)) ** 2
    first, second = np.sort(graph.edges, axis=1).T - anchors
    free, mixed = first >= 0, (first < 0) & (second >= 0)
    rays = np.hstack([P[first[mixed] + anchors], -np.eye(n - anchors)[second[mixed]]])
    pairs = np.column_stack([first, second])[free]
    return n - anchors, pairs, sqdist[free], rays, sqdist[mixed], penalty


def chain(n: int, noise: float = 0.0) -> tuple[Any, Any, Any]:
    """A chain in space: near pairs, their squared distances, and which of them are bonds."""
    rng = np.random.default_rng(0)
    steps = rng.standard_normal((n, 3))
    for k in range(1, n):
        steps[k] = 0.7 * (steps[k - 1] + steps[k])
    P = np.cumsum(3.8 * steps / np.linalg.norm(steps, axis=1)[:, None], axis=0)
    P = 0.5 * (P + P.mean(axis=0))
    i, j = np.triu_indices(n, 1)
    sqdist = np.square(P[i] - P[j]).sum(axis=1)
    near = (sqdist < 36.0) | (j - i <= 2)
    seen = sqdist[near] * (1.0 + noise * rng.standard_normal(near.sum()))
    return np.column_stack([i, j])[near], seen, (j - i <= 2)[near]


def stretched_data(n: int) -> tuple[Any, ...]:
    """A chain with bonds and other near pairs apart."""
    pairs, sqdist, bond = chain(n)
    return n, pairs[bond], sqdist[bond], pairs[~bond], sqdist[~bond]


def spiral(n: int) -> Any:
    """A rolled strip, its points in the order in which they were seen."""
    t = np.linspace(0.0, 6.0 * np.pi, n)
    X = np.column_stack([t * np.cos(t), t * np.sin(t), np.random.default_rng(0).uniform(0, 5, n)])
    return graphs.knn(X, n_neighbors=6)


def rolled(n: int) -> Any:
    """Neighbours on a swiss roll."""
    X, _ = sdpdr.datasets.swiss_roll(n, seed=0)
    return graphs.knn(X, n_neighbors=min(6, n - 1))


def phase_data(n: int) -> tuple[Any, Any]:
    """Four and a half measurements for every unknown."""
    rng = np.random.default_rng(0)
    A, x = rng.standard_normal((int(4.5 * n), n)), rng.standard_normal(n)
    return A, np.square(A @ x)


def cluster_data(n: int) -> tuple[Any, int]:
    """Three clouds in the plane."""
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], n // 3, axis=0)
    X = centres + rng.standard_normal(centres.shape)
    return np.square(X[:, None] - X[None]).sum(axis=-1), 3


def block_graph(n: int) -> Any:
    """A graph with two communities."""
    rng, side = np.random.default_rng(0), np.repeat([0, 1], n // 2)
    likely = np.where(side[:, None] == side, 20.0 / n, 3.0 / n)
    upper = np.triu(rng.uniform(size=(n, n)) < likely, 1).astype(float)
    return upper + upper.T


def iris(n: int) -> tuple[Any, Any]:
    """Flowers that differ, and their kinds."""
    X, kind = load_iris(return_X_y=True)
    _, first = np.unique(X, axis=0, return_index=True)
    chosen = np.sort(first)[np.linspace(0, len(first) - 1, n).astype(int)]
    return X[chosen], kind[chosen]


def kernel_data(n: int) -> tuple[Any, Any]:
    """Kernels of the iris, and whether two flowers are of one kind."""
    X, kind = iris(n)
    y = np.where(kind == 0, 1.0, -1.0)
    return np.array([rbf_kernel(X, gamma=g) for g in (0.01, 0.1, 1.0, 10.0)]), np.outer(y, y)


def link_data(n: int) -> tuple[Any, Any, Any, float]:
    """Neighbours of the iris, and links that say who is alike."""
    X, kind = iris(n)
    graph = graphs.knn(X, n_neighbors=6, connect="mst")
    pairs = np.random.default_rng(0).choice(n, (max(n // 8, 2), 2), replace=False)
    same = kind[pairs[:, 0]] == kind[pairs[:, 1]]
    return graph.laplacian(), pairs, np.where(same, 1.0, -1.0), 10.0


def low_rank_data(p: int, q: int) -> tuple[Any, ...]:
    """A matrix of rank two, known at half of its places."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((p, 2)) @ rng.standard_normal((2, q))
    i, j = np.divmod(np.sort(rng.choice(p * q, p * q // 2, replace=False)), q)
    return (p, q), i, j, M[i, j]


def broken_correlations(n: int) -> Any:
    """Correlations, each with an error of its own."""
    rng = np.random.default_rng(0)
    given = np.corrcoef(rng.standard_normal((n, 3 * n))) + 0.3 * rng.standard_normal((n, n))
    symmetric = (given + given.T) / 2.0
    np.fill_diagonal(symmetric, 1.0)
    return symmetric


def stable_matrix(n: int) -> tuple[Any, float]:
    """A matrix whose eigenvalues have negative real parts, and how fast to decay."""
    A = np.random.default_rng(0).standard_normal((n, n))
    return A - (np.linalg.eigvals(A).real.max() + 1.0) * np.eye(n), 1.0


# -- the list -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prototype:
    """A model, what makes its data, and the sizes of a benchmark and of a test."""

    words: str
    model: Callable[..., Model]
    data: Callable[..., Any]
    size: tuple[Any, ...]
    small: tuple[Any, ...]

    def build(self, size: tuple[Any, ...]) -> Model:
        """The model of a size."""
        data = self.data(*size)
        return self.model(*data) if isinstance(data, tuple) else self.model(data)

    @property
    def lines(self) -> int:
        """Lines of the model, without its head and docstring."""
        _, _, body = inspect.getsource(self.model).rpartition('"""')
        return len(body.strip().splitlines())


def points(m: int, d: int) -> Any:
    """Random points."""
    return np.random.default_rng(0).standard_normal((m, d))


def chain_with_penalty(n: int) -> tuple[Any, ...]:
    """A chain seen with noise."""
    pairs, sqdist, _ = chain(n, 0.05)
    return n, pairs, sqdist, 6000.0


PROTOTYPES: dict[str, Prototype] = {
    "maxcut": Prototype("largest cut", largest_cut, random_laplacian, (100,), (12,)),
    "triangles": Prototype(
        "largest cut with 200 triangles", cut_with_triangles, cut_data, (100, 200), (12, 10)
    ),
    "metric": Prototype("largest cut, all triangles", cut_with_triangles, cut_data, (20,), (6,)),
    "snl": Prototype("sensors", sensors, sensor_data, (100, 0.0, "none"), (14, 0.0, "none")),
    "snl_l1": Prototype(
        "noisy sensors", sensors, sensor_data, (100, 0.05, "absolute"), (24, 0.05, "absolute")
    ),
    "snl_l2": Prototype(
        "noisy sensors, squares", sensors, sensor_data, (100, 0.05, "square"), (24, 0.05, "square")
    ),
    "edm": Prototype("molecule, stretched", molecule_stretched, stretched_data, (60,), (12,)),
    "edm_least": Prototype(
        "molecule, least trace", molecule_least, lambda n: (n, *chain(n)[:2]), (60,), (8,)
    ),
    "edm_l1": Prototype("noisy molecule", molecule_penalized, chain_with_penalty, (60,), (10,)),
    "temporal": Prototype(
        "unfolding in temporal order", temporal_order, lambda n: (spiral(n), 3), (100,), (15,)
    ),
    "logdet": Prototype("roundest unfolding", roundest, rolled, (30,), (9,)),
    "phaselift": Prototype("phases", phase_lift, phase_data, (20,), (4,)),
    "kmeans": Prototype("clusters", kmeans, cluster_data, (30,), (9,)),
    "fmmc": Prototype("fastest mixing", fastest_mixing, graphs.grid, (5, 5), (3, 3)),
    "design": Prototype("E-optimal design", design, points, (50, 10), (10, 3)),
    "halves": Prototype("two halves", halves, block_graph, (60,), (12,)),
    "communities": Prototype("two communities", communities, block_graph, (60,), (12,)),
    "mkl": Prototype("several kernels", alignment, kernel_data, (60,), (10,)),
    "npkl": Prototype("nonparametric kernel", nonparametric_kernel, link_data, (80,), (16,)),
    "completion": Prototype("completion", completion, low_rank_data, (30, 20), (6, 5)),
    "correlation": Prototype(
        "nearest correlations", nearest_correlation, broken_correlations, (30,), (6,)
    ),
    "lyapunov": Prototype("Lyapunov function", lyapunov, stable_matrix, (15,), (4,)),
}


# -- a run ----------------------------------------------------------------------------------------


def processor_seconds() -> float:
    """Seconds of this process and of all below it: workers stay, and wait for the next program."""
    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(t.user + t.system + t.children_user + t.children_system for t in times)


def start_worker() -> None:
    """Have the process there that workers are forked off; its start is nobody's time."""
    model = methods.mvu(graphs.path([1.0, 1.0]))
    sdpdr.solve(model, "clarabel", time_limit=LIMIT, progress=False)


def solve(prototype: Prototype) -> dict[str, Any]:
    """Solve a model as its user would, and tell what came of it."""
    model = prototype.build(prototype.size)
    size = model.size()
    # What is smooth, but not semidefinite, has no rows in the standard form.
    sdp = None if model.is_smooth else model.to_sdp()
    lmis = [] if sdp is None else [lmi.order for lmi in sdp.lmis]
    orders = [*size["matrices"].values(), *lmis]
    before = processor_seconds()
    found = sdpdr.solve(model, tol=TOL, time_limit=LIMIT, progress=False)
    return {
        "order": max(orders, default=0),
        "rows": sum(size["rows"].values()) if sdp is None else sdp.n_rows,
        "status": found.status.name,
        "gap": None if found.gap is None or not np.isfinite(found.gap) else found.gap,
        "epsilon": found.epsilon,
        "certified": found.certified(TOL),
        "seconds": round(processor_seconds() - before, 2),
        "solver": f"{found.solver}, {found.form}",
        "value": found.value,
        "bound": found.bound,
        "attained": found.attained,
        "said": [found.argument, found.attained_by, found.claimed.message],
    }


# -- the table ------------------------------------------------------------------------------------


def kept() -> dict[str, Any]:
    """What was measured before."""
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def keep(name: str, found: dict[str, Any]) -> None:
    """Put a measurement in the place of the one before."""
    records = kept() | {name: found}
    KEPT.write_text(json.dumps(dict(sorted(records.items())), indent=1) + "\n", encoding="utf-8")


def gap_of(found: dict[str, Any]) -> str:
    """What is proved of an answer."""
    return "—" if found["gap"] is None else f"{found['gap']:.0e}"


def rows() -> Iterator[tuple[object, ...]]:
    """Rows of the table, in the order of the list."""
    records = kept()
    for name, prototype in PROTOTYPES.items():
        if found := records.get(name):
            solved = (found["order"], found["rows"], f"``{found['status']}``", gap_of(found))
            told = (found["solver"], f"{found['seconds']:.2g}")
            yield (f"``{name}``: {prototype.words}", prototype.lines, *solved, *told)


def write() -> None:
    """Write the table of the documentation."""
    head = ("Program", "Lines", "Order", "Rows", "Status", "Gap", "Solver", "Seconds")
    command = "python benchmarks/prototypes.py"
    write_table("prototypes", head, rows(), command=command, notes=NOTES)


NOTES = (
    "Lines of the model, without data; the largest order of a matrix; rows; what ``sdpdr.solve`` "
    f"says within {LIMIT:.0f} seconds at a tolerance of {TOL:g}; the distance of what is proved "
    "attainable from what is proved to bound it, relative to the value; CPU seconds, "
    "proofs included. One thread.",
    "Where there is no gap, no value is proved attainable: in ``snl``, "
    "``edm_least`` and ``phaselift`` exact data leave no interior, in the last of them one matrix "
    "of rank one: no feasible point has a neighbourhood in the cone, which every proof in doubles "
    "needs. The point is optimal for data that differ in late digits. In ``edm_least`` the "
    "multipliers reach 1e5 besides, and the bound lacks a digit.",
)


def main() -> None:
    """Solve what is asked for, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", nargs="+", choices=PROTOTYPES, default=list(PROTOTYPES))
    parser.add_argument("--table", action="store_true", help="solve nothing")
    given = parser.parse_args()
    if not given.table:
        start_worker()
    for name in () if given.table else given.programs:
        found = solve(PROTOTYPES[name])
        print(name, *found.items(), flush=True)
        keep(name, found)
        write()
    write()


if __name__ == "__main__":
    main()
