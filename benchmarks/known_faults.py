"""Programs that once got no proof, with variations: status, value, bound and CPU seconds.

    python benchmarks/known_faults.py           all of them
    python benchmarks/known_faults.py P3 P7     some

P1 to P16 are kinds of programs, each in several versions: unbounded without a ray, cost in the dual
cone, matrix inequalities that are singular throughout, optimum zero, log det, entropy, reductions
that start from a point, bases of landmarks, ``rigorous=True``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import cvxpy as cp
import numpy as np
from journal import processor_seconds

import sdpdr
from sdpdr import graphs, maximize, methods, minimize, psd, reduce, scalar
from sdpdr.errors import SdpdrError
from sdpdr.model import Model

RNG = np.random.default_rng(0)


def p1() -> Iterator[tuple[str, Callable[[], object]]]:
    """Unbounded, and no ray shows it."""
    for n in (2, 3, 5):
        K = psd("K", n)
        yield (
            f"order {n}, <=",
            lambda K=K: sdpdr.solve(minimize(K[0, 1]) + (K.diagonal()[:1] <= 1.0)),
        )
        yield f"order {n}, ==", lambda K=K: sdpdr.solve(minimize(K[0, 1]) + (K[0, 0] == 1.0))
    t, v = scalar("t"), scalar("v", 2)
    yield "geometric mean", lambda: sdpdr.solve(maximize(sdpdr.geo_mean(np.hstack([t, 1.0]))))
    yield "parabola", lambda: sdpdr.solve(maximize(v[0]) + (sdpdr.square(v[0]).sum() <= v[1]))
    X = cp.Variable((2, 2), PSD=True)
    problem = cp.Problem(cp.Minimize(1e6 * X[0, 1]), [1e3 * X[0, 0] <= 1])
    yield "from cvxpy, scaled", lambda: sdpdr.solve(sdpdr.from_cvxpy(problem))


def p2() -> Iterator[tuple[str, Callable[[], object]]]:
    """Source localisation from differences of ranges; the optimum is zero."""
    for unit in (1.0, 20.0, 2.0**-20, 2.0**20):
        yield f"unit {unit:g}", lambda unit=unit: sdpdr.solve(localisation(unit))


def localisation(unit: float) -> Model:
    """Minimize the errors of squared differences of ranges over a lifted position."""
    anchors = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0], [20.0, 20.0]]) / unit
    ranges = np.linalg.norm(anchors - np.array([1.0, 1.0]) / unit, axis=1)
    Z, t = psd("Z", 4), scalar("t", 3, nonnegative=True)
    model = minimize(t.sum()) + (Z[3, 3] == 1.0)
    for k in range(1, 4):
        # |x - a_k| = r_k - r_0 + |x - a_0| becomes linear in x and r = |x - a_0|.
        difference = ranges[k] - ranges[0]
        w = np.array([*(-2.0 * (anchors[k] - anchors[0])), -2.0 * difference])
        c = difference**2 - anchors[k] @ anchors[k] + anchors[0] @ anchors[0]
        a = np.append(w, -c)
        model += np.outer(a, a).ravel() @ Z.ravel() <= t[k - 1]
    return model


def p3() -> Iterator[tuple[str, Callable[[], object]]]:
    """Laplacian inequalities: every coefficient has the null vector 1."""
    for n in (4, 5, 8):
        for unit in (1.0, 2.0**10, 2.0**-20):
            yield f"{n} nodes, unit {unit:g}", lambda n=n, unit=unit: sdpdr.solve(stiff(n, unit))


def stiff(n: int, unit: float) -> Model:
    """Choose weights of the complete graph so that the second eigenvalue is largest."""
    edges = [(i, j) for i in range(n) for j in range(i)]
    w, t = scalar("w", len(edges), nonnegative=True), scalar("t")
    matrices = np.zeros((len(edges), n, n))
    for k, (i, j) in enumerate(edges):
        matrices[k][[i, j, i, j], [i, j, j, i]] = [1.0, 1.0, -1.0, -1.0]
    costs = unit * (1.0 + np.arange(len(edges)) % 3)
    total = (w @ matrices.reshape(len(edges), -1)).reshape(n, n)
    return maximize(t) + (costs @ w == 6.0 * unit) + (total >> t * (n * np.eye(n) - 1.0))


def p4() -> Iterator[tuple[str, Callable[[], object]]]:
    """Multipliers of symmetric equations are symmetric."""
    for n in (2, 3):
        X = cp.Variable((n * n, n * n), PSD=True)
        C = RNG.standard_normal((n * n, n * n))
        equations = cp.partial_trace(X, [n, n]) == np.eye(n)
        problem = cp.Problem(cp.Minimize(cp.trace((C + C.T) @ X)), [equations])
        yield f"partial trace {n}", lambda p=problem, e=equations: symmetric(p, e)
    P = cp.Variable((3, 3), symmetric=True)
    A = np.diag([-1.0, -2.0, -3.0]) + np.triu(np.ones((3, 3)), 1)
    equations = cp.Zero(A.T @ P + P @ A + np.eye(3))
    problem = cp.Problem(cp.Minimize(cp.trace(P)), [equations, P >> 0])
    yield "Lyapunov", lambda p=problem, e=equations: symmetric(p, e)


def symmetric(problem: cp.Problem, equations: cp.Constraint) -> str:
    """Solve through cvxpy, and say how far the multiplier is from symmetric."""
    problem.solve(solver=sdpdr.CVXPY())
    y = np.asarray(equations.dual_value)
    status = problem.solver_stats.extra_stats.status.name
    return f"{status}, asymmetry {np.max(np.abs(y - y.T)):.1e} of {np.max(np.abs(y)):.1e}"


def p5() -> Iterator[tuple[str, Callable[[], object]]]:
    """Relaxations of Gromov-Wasserstein distances; for isometric clouds the optimum is zero."""
    for n, isometric in ((3, True), (4, True), (4, False)):
        for unit in (1.0, 100.0):
            yield (
                f"{n} points, {'isometric' if isometric else 'generic'}, unit {unit:g}",
                lambda n=n, isometric=isometric, unit=unit: sdpdr.solve(
                    transport(n, isometric, unit)
                ),
            )


def transport(n: int, isometric: bool, unit: float) -> Model:
    """The quadratic assignment of two clouds' distances, relaxed to one matrix."""
    rng = np.random.default_rng(1)
    first = unit * rng.standard_normal((n, 2))
    second = (first @ [[0.0, 1.0], [-1.0, 0.0]])[rng.permutation(n)]
    if not isometric:
        second = unit * rng.standard_normal((n, 2))
    D, E = (np.linalg.norm(P[:, None] - P[None], axis=2) for P in (first, second))
    cost = (D[:, None, :, None] - E[None, :, None, :]) ** 2 / n**2
    N = n * n
    Z = psd("Z", N + 1)
    lifted = np.zeros((N + 1, N + 1))
    lifted[:N, :N] = cost.reshape(N, N)
    model = minimize(lifted.ravel() @ Z.ravel()) + (Z[N, N] == 1.0) + (Z.ravel() >= 0.0)
    for k in range(n):
        for row in (np.arange(N) // n == k, np.arange(N) % n == k):
            a = np.append(row.astype(float), -1.0)
            model += a @ Z == 0.0
    return model


def p6() -> Iterator[tuple[str, Callable[[], object]]]:
    """The largest determinant below two matrices, one of them badly conditioned."""
    for condition in (1e2, 1e4, 1e6):
        Q = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
        P = Q @ np.diag([1.0, condition**-0.5, 1.0 / condition]) @ Q.T
        P, K = (P + P.T) / 2.0, psd("K", 3)
        yield (
            f"condition {condition:g}",
            lambda P=P, K=K: sdpdr.solve(
                maximize(sdpdr.log_det(K)) + (P - K >> 0) + (np.eye(3) - K >> 0)
            ),
        )


def p7() -> Iterator[tuple[str, Callable[[], object]]]:
    """No Lyapunov function: two coupled centres."""
    for speed in (1.0, 2.0, 0.1):
        J = speed * np.array([[0.0, 1.0], [-1.0, 0.0]])
        A = np.block([[J, np.eye(2)], [np.zeros((2, 2)), J]])
        P = psd("P", 4)
        yield (
            f"speed {speed:g}",
            lambda A=A, P=P: sdpdr.solve(
                minimize(P.trace()) + (A.T @ P + P @ A << 0) + (P >> np.eye(4))
            ),
        )


def p8() -> Iterator[tuple[str, Callable[[], object]]]:
    """Reductions push a start."""
    model = methods.mvu(graphs.knn(sdpdr.datasets.swiss_roll(30, seed=0)[0], n_neighbors=4))
    start = sdpdr.solve(model)
    for step in (reduce.Scale(), reduce.Dual(), reduce.Face(), reduce.Chordal()):
        yield step.name, lambda step=step: sdpdr.solve(model, "lowrank", via=[step], start=start)


def p10() -> Iterator[tuple[str, Callable[[], object]]]:
    """A factorization that is exact: the gap beside the size of the matrix."""
    for shape, rank in (((12, 10), 3), ((8, 8), 2), ((20, 6), 4)):
        V = sdpdr.datasets.random_nonnegative(*shape, rank=rank)[0]
        yield f"{shape} rank {rank}", lambda V=V, rank=rank: str(sdpdr.nmf_bound(V, k=rank))


def p12() -> Iterator[tuple[str, Callable[[], object]]]:
    """Logarithms and entropies of what is never positive."""
    x = scalar("x", 2)
    box = (x >= 0.0) + (x <= 1.0)
    yield "entropy", lambda: sdpdr.solve(maximize(sdpdr.entropy(x - 2.0)) + box)
    yield "logarithm", lambda: sdpdr.solve(maximize(sdpdr.sum_log(-1.0 - x)) + box)
    K = psd("K", 2)
    yield "log det", lambda: sdpdr.solve(maximize(sdpdr.log_det(K)) + (K[0, 0] + K[1, 1] <= -1.0))
    v = cp.Variable(2)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(v - 2))), [v >= 0, v <= 1])
    yield "through cvxpy", lambda: through_cvxpy(problem)


def through_cvxpy(problem: cp.Problem) -> str:
    """Solve through cvxpy; the status in its words."""
    problem.solve(solver=sdpdr.CVXPY())
    return str(problem.status)


def p14() -> Iterator[tuple[str, Callable[[], object]]]:
    """An unfolding in a basis of landmarks: some coefficients are nothing but rounding."""
    for n, size in ((300, 10), (1000, 10), (1000, 20)):
        graph = graphs.knn(sdpdr.datasets.swiss_roll(n, seed=0)[0], n_neighbors=6)
        step = reduce.Landmark(graphs.laplacian_basis(graph, size))
        yield (
            f"{n} points, {size} vectors",
            lambda graph=graph, step=step: sdpdr.solve(methods.mvu(graph), via=[step]),
        )


def p15() -> Iterator[tuple[str, Callable[[], object]]]:
    """Equipartition, plain and rigorous: no interior on the side of the matrix."""
    for n in (20, 40):
        W = np.triu(RNG.uniform(size=(n, n)) < 0.3, 1).astype(float)
        L = np.diag((W + W.T).sum(axis=1)) - W - W.T
        K = psd("K", n)
        model = minimize((L.ravel() @ K.ravel()) / 4.0) + (K.diagonal() == 1.0) + (K.sum() == 0.0)
        for rigorous in (False, True):
            yield (
                f"{n} nodes{', rigorous' if rigorous else ''}",
                lambda model=model, rigorous=rigorous: sdpdr.solve(model, rigorous=rigorous),
            )


KINDS = {f.__name__.upper(): f for f in (p1, p2, p3, p4, p5, p6, p7, p8, p10, p12, p14, p15)}


def said(answer: Any) -> str:
    """An answer on one line."""
    if isinstance(answer, str):
        return answer.splitlines()[0]
    parts = {name: getattr(answer, name) for name in ("value", "bound", "gap")}
    numbers = ", ".join(f"{name} {x:.8g}" for name, x in parts.items() if x is not None)
    narrower = getattr(answer, "narrower", None)
    apart = "" if narrower is None else f"; narrower program: {said(narrower)}"
    return f"{answer.status.name}, {numbers}{apart}"


def main() -> None:
    """Print a line for each program as soon as it is solved."""
    sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])))  # imports are not counted
    for name in sys.argv[1:] or KINDS:
        for version, solve in KINDS[name]():
            before = processor_seconds()
            try:
                line = said(solve())
            except SdpdrError as error:
                line = f"{type(error).__name__}: {str(error)[:100]}"
            except cp.SolverError as error:
                line = f"SolverError: {str(error)[:100]}"
            print(
                f"{name:4} {version:28} {processor_seconds() - before:6.2f} s  {line}", flush=True
            )


if __name__ == "__main__":
    main()
