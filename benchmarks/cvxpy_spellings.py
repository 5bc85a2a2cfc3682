"""Semidefinite programs as people write them in cvxpy, beside the same programs written here.

    python benchmarks/cvxpy_spellings.py                     # all, at the smallest size
    python benchmarks/cvxpy_spellings.py unfolding --n 200   # those whose names contain the word

For each program: the CPU seconds of ours as a model, then for each spelling those of cvxpy's own
canonicalization for Clarabel, those of ``sdpdr.solve(problem)``, and its answer. A line is marked
if the spelling takes more than three times the seconds of the model plus those of cvxpy.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from journal import processor_seconds

import sdpdr
from sdpdr import Model, blocks, graphs, maximize, methods, minimize, psd, square

FACTOR, LIMIT = 3.0, 120.0
Write = Callable[..., cp.Problem]


@dataclass
class Family:
    """A program written here, and the ways to write it in cvxpy."""

    model: Callable[..., Model]
    data: Callable[[int], tuple[Any, ...]]
    spellings: dict[str, Write] = field(default_factory=dict)


def rolled(n: int, seed: int = 0) -> graphs.NeighborGraph:
    """Five neighbours of points on a roll."""
    rng = np.random.default_rng(seed)
    t, h = 1.5 * np.pi * (1.0 + 2.0 * rng.random(n)), 10.0 * rng.random(n)
    X = np.column_stack([t * np.cos(t), h, t * np.sin(t)])
    return graphs.knn(X, n_neighbors=5, connect="mst")


# -- unfoldings -----------------------------------------------------------------------------------


def _by_entries(K: Any, i: int, j: int) -> Any:
    return K[i, i] + K[j, j] - 2 * K[i, j]


def _by_trace(K: Any, i: int, j: int) -> Any:
    M = np.zeros(K.shape)
    M[i, i] = M[j, j] = 1.0
    M[i, j] = M[j, i] = -1.0
    return cp.trace(M @ K)


def _by_form(K: Any, i: int, j: int) -> Any:
    v = np.zeros(K.shape[0])
    v[i], v[j] = 1.0, -1.0
    return v @ K @ v


def _scaled(K: Any, i: int, j: int) -> Any:
    return -(K[i, i] + K[j, j] - K[i, j] - K[j, i]) * (1.0 + i)


def _one_by_one(length: Callable[..., Any], sign: float = 1.0) -> Callable[..., list[Any]]:
    def limits(K: Any, graph: graphs.NeighborGraph, *, exact: bool) -> list[Any]:
        found = []
        for (i, j), d in zip(graph.edges.tolist(), graph.sqdist.tolist(), strict=True):
            left, right = length(K, i, j), d * (-(1.0 + i) if sign < 0 else 1.0)
            found.append(left == right if exact else left <= right if sign > 0 else left >= right)
        return found

    return limits


def _at_once(K: Any, graph: graphs.NeighborGraph, *, exact: bool) -> list[Any]:
    i, j = graph.edges.T
    left = cp.diag(K)[i] + cp.diag(K)[j] - 2 * K[i, j]
    return [left == graph.sqdist if exact else left <= graph.sqdist]


def _twice(K: Any, graph: graphs.NeighborGraph, *, exact: bool) -> list[Any]:
    both = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    i, j = both.T
    left, d = cp.diag(K)[i] + cp.diag(K)[j] - 2 * K[i, j], np.tile(graph.sqdist, 2)
    return [left == d if exact else left <= d]


CENTRED: dict[str, Callable[[Any], list[Any]]] = {
    "K @ 1": lambda K: [K @ np.ones(K.shape[0]) == 0],
    "sum(K)": lambda K: [cp.sum(K) == 0],
    "sum of rows": lambda K: [cp.sum(K, axis=0) == 0],
    "row by row": lambda K: [cp.sum(K[i, :]) == 0 for i in range(K.shape[0])],
}
LENGTHS: dict[str, Callable[..., list[Any]]] = {
    "entries": _one_by_one(_by_entries),
    "trace": _one_by_one(_by_trace),
    "v @ K @ v": _one_by_one(_by_form),
    "scaled, turned": _one_by_one(_scaled, -1.0),
    "indices": _at_once,
    "indices, twice": _twice,
}
# Declaration of K, centring, lengths, objective: each choice of each at least once.
UNFOLDINGS = (
    ("PSD", "K @ 1", "entries", cp.trace),
    (">> 0", "sum(K)", "entries", cp.trace),
    ("PSD", "row by row", "trace", cp.trace),
    (">> 0", "K @ 1", "v @ K @ v", lambda K: cp.sum(cp.diag(K))),
    ("PSD", "sum of rows", "indices", cp.trace),
    (">> 0", "sum(K)", "scaled, turned", cp.trace),
    ("PSD", "sum of rows", "indices, twice", cp.trace),
)


def _square(n: int, how: str) -> tuple[Any, list[Any]]:
    if how == "PSD":
        return cp.Variable((n, n), PSD=True, name="K"), []
    K = cp.Variable((n, n), symmetric=True, name="K")
    return K, [K >> 0]


def _unfolding(exact: bool) -> Family:
    def spelled(how: str, centred: str, lengths: str, size: Any) -> Write:
        def write(graph: graphs.NeighborGraph) -> cp.Problem:
            K, cone = _square(graph.n, how)
            rows = CENTRED[centred](K) + LENGTHS[lengths](K, graph, exact=exact)
            return cp.Problem(cp.Maximize(size(K)), cone + rows)

        return write

    spellings = {", ".join(one[:3]): spelled(*one) for one in UNFOLDINGS}
    isometry = "equality" if exact else "inequality"
    return Family(lambda graph: methods.mvu(graph, isometry), lambda n: (rolled(n),), spellings)


def _penalized(penalty: str) -> Family:
    def spelled(cost: Callable[[Any], Any]) -> Write:
        def write(graph: graphs.NeighborGraph) -> cp.Problem:
            K, _ = _square(graph.n, "PSD")
            i, j = graph.edges.T
            change = cp.diag(K)[i] + cp.diag(K)[j] - 2 * K[i, j] - graph.sqdist
            return cp.Problem(cp.Minimize(cost(change) - cp.trace(K)), [cp.sum(K) == 0])

        return write

    squares = {
        "sum_squares": lambda v: 5 * cp.sum_squares(v),
        "norm ** 2": lambda v: 5 * cp.norm(v) ** 2,
        "quad_form": lambda v: 5 * cp.quad_form(v, np.eye(v.size)),
    }
    absolute = {"norm1": lambda v: 10 * cp.norm1(v), "sum, abs": lambda v: 10 * cp.sum(cp.abs(v))}
    spellings = squares if penalty == "square" else absolute
    slack = blocks.Slack(10.0, penalty)
    return Family(
        lambda graph: methods.mvu(graph, slack),
        lambda n: (rolled(n),),
        {name: spelled(cost) for name, cost in spellings.items()},
    )


# -- cuts, theta, completions, sensors, correlations ----------------------------------------------


def random_edges(n: int, degree: int = 4) -> tuple[np.ndarray]:
    """Edges of a random graph."""
    pairs = np.column_stack(np.triu_indices(n, 1))
    rng = np.random.default_rng(1)
    return (pairs[np.sort(rng.choice(len(pairs), degree * n // 2, replace=False))],)


def laplacian(edges: np.ndarray) -> Any:
    """The Laplacian matrix of a graph."""
    n = int(edges.max()) + 1
    i, j = edges.T
    weights = sp.coo_array((np.ones(len(edges)), (i, j)), shape=(n, n))
    return sp.csr_array(sp.csgraph.laplacian(weights + weights.T))


def _cut(edges: np.ndarray) -> Model:
    L = laplacian(edges)
    X = psd("X", L.shape[0])
    return maximize(X.inner(L) / 4.0) + (X.diagonal() == 1.0)


def _cut_diag(edges: np.ndarray) -> cp.Problem:
    L = laplacian(edges).toarray()
    X = cp.Variable(L.shape, PSD=True)
    return cp.Problem(cp.Maximize(cp.trace(L @ X) / 4), [cp.diag(X) == 1])


def _cut_entries(edges: np.ndarray) -> cp.Problem:
    L = laplacian(edges)
    X = cp.Variable(L.shape, symmetric=True)
    ones = [X[i, i] == 1 for i in range(L.shape[0])]
    total = cp.sum([1 - X[i, j] for i, j in edges.tolist()]) / 2
    return cp.Problem(cp.Maximize(total), [X >> 0, *ones])


def _cut_lift(edges: np.ndarray) -> cp.Problem:
    L = laplacian(edges).toarray()
    n = L.shape[0]
    X, x = cp.Variable((n, n), symmetric=True), cp.Variable((n, 1))
    lift = cp.bmat([[np.ones((1, 1)), x.T], [x, X]]) >> 0
    return cp.Problem(cp.Maximize(cp.trace(L @ X) / 4), [lift, cp.diag(X) == 1])


def _cut_dual(edges: np.ndarray) -> cp.Problem:
    L = laplacian(edges).toarray()
    y = cp.Variable(L.shape[0])
    return cp.Problem(cp.Minimize(cp.sum(y)), [cp.diag(y) >> L / 4])


def _theta(edges: np.ndarray) -> Model:
    X = psd("X", int(edges.max()) + 1)
    return maximize(X.sum()) + (X.trace() == 1.0) + (X[edges[:, 0], edges[:, 1]] == 0.0)


def _theta_loop(edges: np.ndarray) -> cp.Problem:
    n = int(edges.max()) + 1
    X = cp.Variable((n, n), PSD=True)
    zeros = [X[i, j] == 0 for i, j in edges.tolist()]
    return cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, *zeros])


def _theta_indices(edges: np.ndarray) -> cp.Problem:
    n = int(edges.max()) + 1
    X = cp.Variable((n, n), symmetric=True)
    zeros = X[edges[:, 0], edges[:, 1]] == 0
    ones = np.ones((n, n))
    return cp.Problem(cp.Maximize(cp.trace(ones @ X)), [X >> 0, cp.trace(X) == 1, zeros])


def low_rank(n: int) -> tuple[Any, ...]:
    """A matrix of rank two, half of whose entries are known."""
    rng = np.random.default_rng(2)
    M = rng.standard_normal((n, 2)) @ rng.standard_normal((2, n))
    i, j = np.nonzero(rng.random((n, n)) < 0.5)
    return n, i, j, M[i, j]


def _completion(n: int, i: Any, j: Any, known: Any) -> Model:
    Z = psd("Z", 2 * n)
    return minimize(0.5 * Z.trace()) + (Z[i, n + j] == known)


def _completion_nuclear(n: int, i: Any, j: Any, known: Any) -> cp.Problem:
    X = cp.Variable((n, n))
    return cp.Problem(cp.Minimize(cp.normNuc(X)), [X[i, j] == known])


def _completion_blocks(n: int, i: Any, j: Any, known: Any) -> cp.Problem:
    Z = cp.Variable((2 * n, 2 * n), PSD=True)
    entries = zip(i.tolist(), j.tolist(), known.tolist(), strict=True)
    rows = [Z[a, n + b] == v for a, b, v in entries]
    return cp.Problem(cp.Minimize(cp.trace(Z) / 2), rows)


def located(n: int) -> tuple[Any, ...]:
    """Sensors in the unit square with distances to each other and to four anchors."""
    rng = np.random.default_rng(3)
    places = rng.random((n, 2))
    anchors = np.array([[0.1, 0.1], [0.1, 0.9], [0.9, 0.1], [0.9, 0.9]])
    pairs = graphs.knn(places, n_neighbors=6, connect="mst").edges
    at, sensor = np.nonzero(np.linalg.norm(anchors[:, None] - places, axis=2) < 0.5)
    between = np.square(places[pairs[:, 0]] - places[pairs[:, 1]]).sum(axis=1)
    ranges = np.square(anchors[at] - places[sensor]).sum(axis=1)
    return n, pairs, between, anchors[at], sensor, ranges


def _rays(n: int, anchors: Any, sensor: Any) -> Any:
    rays = np.zeros((len(sensor), n + 2))
    rays[:, :2] = anchors
    rays[np.arange(len(sensor)), 2 + sensor] = -1.0
    return rays


def _sensors(n: int, pairs: Any, between: Any, anchors: Any, sensor: Any, ranges: Any) -> Model:
    Z = psd("Z", n + 2)
    rays = _rays(n, anchors, sensor)
    rows = (Z.distance2(pairs + 2) == between) + (Z.quadratic(rays) == ranges)
    return minimize(Z.trace()) + (Z[:2, :2] == np.eye(2)) + rows


def _sensors_loop(
    n: int, pairs: Any, between: Any, anchors: Any, sensor: Any, ranges: Any
) -> cp.Problem:
    Z = cp.Variable((n + 2, n + 2), PSD=True)
    rows = [Z[0, 0] == 1, Z[1, 1] == 1, Z[0, 1] == 0]
    rows += [
        _by_entries(Z, i + 2, j + 2) == d
        for (i, j), d in zip(pairs.tolist(), between.tolist(), strict=True)
    ]
    rays = _rays(n, anchors, sensor)
    rows += [v @ Z @ v == r for v, r in zip(rays, ranges.tolist(), strict=True)]
    return cp.Problem(cp.Minimize(cp.trace(Z)), rows)


def _sensors_blocks(
    n: int, pairs: Any, between: Any, anchors: Any, sensor: Any, ranges: Any
) -> cp.Problem:
    X, Y = cp.Variable((2, n)), cp.Variable((n, n), symmetric=True)
    i, j = pairs.T
    squares = np.square(anchors).sum(axis=1)
    to_anchors = [
        a - 2 * v @ X[:, s] + Y[s, s] == r
        for a, v, s, r in zip(squares, anchors, sensor, ranges, strict=True)
    ]
    return cp.Problem(
        cp.Minimize(2 + cp.trace(Y)),
        [
            cp.bmat([[np.eye(2), X], [X.T, Y]]) >> 0,
            cp.diag(Y)[i] + cp.diag(Y)[j] - 2 * Y[i, j] == between,
            *to_anchors,
        ],
    )


def broken(n: int) -> tuple[np.ndarray]:
    """A matrix of correlations with errors, which is indefinite."""
    rng = np.random.default_rng(4)
    A = np.corrcoef(rng.standard_normal((n, 2 * n))) + 0.5 * rng.standard_normal((n, n))
    A = np.clip((A + A.T) / 2.0, -1.0, 1.0)
    np.fill_diagonal(A, 1.0)
    return (A,)


def _nearest(A: np.ndarray) -> Model:
    X = psd("X", len(A))
    return minimize(square(X - A).sum()) + (X.diagonal() == 1.0)


def _nearest_norm(A: np.ndarray) -> cp.Problem:
    X = cp.Variable(A.shape, PSD=True)
    return cp.Problem(cp.Minimize(cp.norm(X - A, "fro")), [cp.diag(X) == 1])


def _nearest_square(A: np.ndarray) -> cp.Problem:
    X = cp.Variable(A.shape, PSD=True)
    return cp.Problem(cp.Minimize(cp.norm(X - A, "fro") ** 2), [cp.diag(X) == 1])


def _nearest_squares(A: np.ndarray) -> cp.Problem:
    X = cp.Variable(A.shape, symmetric=True)
    return cp.Problem(cp.Minimize(cp.sum_squares(X - A)), [X >> 0, cp.diag(X) == 1])


FAMILIES: dict[str, Family] = {
    "unfolding": _unfolding(False),
    "exact unfolding": _unfolding(True),
    "squared penalty": _penalized("square"),
    "absolute penalty": _penalized("absolute"),
    "largest cut": Family(
        _cut,
        random_edges,
        {
            "diag, trace": _cut_diag,
            ">> 0, entries": _cut_entries,
            "lift": _cut_lift,
            "dual": _cut_dual,
        },
    ),
    "theta": Family(_theta, random_edges, {"loop": _theta_loop, ">> 0, indices": _theta_indices}),
    "completion": Family(
        _completion, low_rank, {"nuclear": _completion_nuclear, "blocks": _completion_blocks}
    ),
    "sensors": Family(_sensors, located, {"loop": _sensors_loop, "blocks": _sensors_blocks}),
    "correlation": Family(
        _nearest,
        broken,
        {"norm": _nearest_norm, "squares": _nearest_squares, "norm ** 2": _nearest_square},
    ),
}


def measured(work: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and its CPU seconds."""
    before = processor_seconds()
    found = work()
    return found, processor_seconds() - before


def lines(name: str, n: int, spellings: str) -> Iterator[str]:
    """The model, and each spelling."""
    family, data = FAMILIES[name], FAMILIES[name].data(n)
    model = family.model(*data)
    solution, ours = measured(lambda: sdpdr.solve(model, time_limit=LIMIT))
    head = f"{name}, {n}"
    yield _line(head, "model", None, ours, solution)
    for spelling, write in family.spellings.items():
        if spellings not in spelling:
            continue
        problem = write(*data)
        _, cvxpy = measured(lambda p=problem: p.get_problem_data(cp.CLARABEL))
        problem = write(*data)
        limit = LIMIT + cvxpy
        solution, seconds = measured(lambda p=problem, t=limit: sdpdr.solve(p, time_limit=t))
        is_slow = seconds > FACTOR * ours + cvxpy
        yield _line(head, spelling, cvxpy, seconds, solution) + (" SLOW" if is_slow else "")


def _line(head: str, spelling: str, cvxpy: float | None, seconds: float, solution: Any) -> str:
    theirs = "" if cvxpy is None else f"{cvxpy:.2f}"
    return (
        f"{head:24} {spelling:34} {theirs:>7} {seconds:7.2f} {solution.status.name:15} "
        f"{solution.value:.8g}  gap {solution.gap:.1e}  {solution.solver}"
    )


def main() -> None:
    """Print one line for each program and spelling."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[""])
    parser.add_argument("--n", type=int, nargs="+", default=[60])
    parser.add_argument("--spelling", default="", help="only spellings that contain this")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    # Imports are no part of any measurement.
    sdpdr.solve(sdpdr.from_cvxpy(_theta_loop(*random_edges(5))))
    chosen = [name for name in FAMILIES if any(word in name for word in given.names)]
    for n, name in itertools.product(given.n, chosen):
        for line in lines(name, n, given.spelling):
            print(line, flush=True)


if __name__ == "__main__":
    main()
