"""Checks of the rows of the Vasiloglou thesis; see `documents.py`."""

from __future__ import annotations

import cvxpy as cp
import documents_checks as checks
import numpy as np
from documents_checks import equal, less, optimum, row, solved
from scipy.optimize import minimize
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import NMF as OtherNMF

import sdpdr
from sdpdr import baselines, blocks, density, factorize, graphs, iterate, methods, nonnegative
from sdpdr.families.factor.isometric.factorize import _LENGTHS as LENGTHS_FIRST
from sdpdr.families.factor.isometric.factorize import Lagrangian
from sdpdr.families.factor.polynomial.fit import Misfit
from sdpdr.families.unfold.baselines.ncmvu import lagrangian
from sdpdr.linalg import SquaredEdgeLengths

THESIS = "Vasiloglou thesis"
RNG = np.random.default_rng(0)
SQUARE = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]], dtype=float)
X, GRAPH, EDGES, LENGTHS = checks.CLOUD, checks.GRAPH, checks.EDGES, checks.LENGTHS
N = len(X)
EQUAL, SHORTER = (lambda q, d: q == d), (lambda q, d: q <= d)


def lengths(K, relation=SHORTER):
    """The lengths of the graph of the cloud."""
    return [relation(checks.squares(K, EDGES), LENGTHS)]


# -- unfolding -------------------------------------------------------------------------------------


@row(THESIS, "2.1")
def neighbours():
    """All distances, sorted by NumPy, have the same neighbours and furthest points."""
    roll = sdpdr.datasets.swiss_roll(300, seed=0)[0]
    edges, squared = checks.edges_of(roll, 6)
    graph = graphs.knn(roll, 6)
    equal(graph.edges, edges)
    equal(graph.sqdist, squared)
    far = graphs.furthest_pairs(roll)
    equal(far.furthest, checks.furthest_of(roll))
    equal(far.sqdist, squareform(pdist(roll, "sqeuclidean"))[tuple(far.edges.T)])


@row(THESIS, "(2.3)–(2.7)")
def distances_and_products():
    """Distances of inner products, entry by entry; centred products of distances by H D H."""
    Y = baselines.classical_mds(X, 2)
    D, H = squareform(pdist(X, "sqeuclidean")), checks.centring(N)
    equal(Y @ Y.T, -0.5 * H @ D @ H)
    K = RNG.standard_normal((N, N))
    K += K.T
    lengths_of = SquaredEdgeLengths(N, EDGES)
    expected = [K[i, i] + K[j, j] - 2.0 * K[i, j] for i, j in EDGES]
    equal(lengths_of.apply(K), expected)
    w = RNG.standard_normal(len(EDGES))
    equal(np.sum(K * (lengths_of.adjoint(w) @ np.eye(N))), w @ expected)


@row(THESIS, "3.1")
def maximum_variance():
    """The program in cvxpy; coordinates are eigenvectors times roots of eigenvalues; a polygon."""
    K = checks.gram(N)
    best = optimum(cp.Maximize(cp.trace(K)), lengths(K))
    equal(solved(methods.mvu(GRAPH)).value, best, 1e-5)
    polygon = 7.0 / (4.0 * np.sin(np.pi / 7.0) ** 2)
    equal(solved(methods.mvu(graphs.cycle(7), "equality")).value, polygon, 1e-5)
    learned = sdpdr.MVU(2, n_neighbors=3).fit(X)
    equal(learned.solution_.value, best, 1e-5)
    values = np.linalg.eigvalsh(K.value)[::-1]
    equal(np.sum(learned.embedding_**2, axis=0), values[:2], 1e-3)
    counts = np.ones(N)
    counts[[0, 4]] = 3.0, 2.0
    G = cp.Variable((N, N), PSD=True)
    spread = cp.sum(cp.multiply(counts, cp.diag(G))) - counts @ G @ counts / counts.sum()
    best = optimum(cp.Maximize(spread), lengths(G))
    twice = np.vstack([X, X[[0, 0, 4]]])
    equal(sdpdr.MVU(2, n_neighbors=3).fit(twice).solution_.value, best, 1e-5)


@row(THESIS, "(2.20)–(2.24)")
def moving_coordinates():
    """The optimum of the convex program; gradients are difference quotients."""
    K = checks.gram(N)
    best = optimum(cp.Maximize(cp.trace(K)), lengths(K))
    found = baselines.ncmvu(GRAPH, rank=3)
    equal(found.value, best, 1e-5)
    less(best, found.bound, 1e-5)
    less(np.max(GRAPH.lengths(found.embedding) ** 2 / LENGTHS), 1.0)
    R, w, C = RNG.standard_normal((N, 2)), RNG.random(GRAPH.m), -np.eye(N)
    for isometry in ("inequality", "equality"):
        slope = lagrangian(R, w, 0.7, -C, GRAPH, isometry)[1]
        of = lambda at, kind=isometry: lagrangian(at, w, 0.7, -C, GRAPH, kind)[0]  # noqa: E731
        equal(slope, checks.difference_quotient(of, R), 1e-6)


@row(THESIS, "(3.25), (5.31)")
def furthest_neighbours():
    """The program in cvxpy, with the furthest points that NumPy finds."""
    far = np.column_stack([np.arange(N), checks.furthest_of(X)])
    K = checks.gram(N)
    best = optimum(cp.Maximize(cp.sum(checks.squares(K, far))), lengths(K))
    equal(solved(methods.mfnu(GRAPH)).value, best, 1e-5)
    equal(sdpdr.MFNU(n_neighbors=3).fit(X).solution_.value, best, 1e-5)


@row(THESIS, "end of 3.3")
def furthest_pairs_apart():
    """The program in cvxpy; some of these pairs would come closer without it."""
    roll = sdpdr.datasets.swiss_roll(20, seed=0)[0]
    edges, squared = checks.edges_of(roll, 3)
    far = np.column_stack([np.arange(20), checks.furthest_of(roll)])
    D = squareform(pdist(roll, "sqeuclidean"))[tuple(far.T)]
    K = checks.gram(20)
    held = [checks.squares(K, edges) <= squared]
    best = optimum(cp.Maximize(cp.trace(K)), [*held, checks.squares(K, far) >= D])
    without = optimum(cp.Maximize(cp.trace(K)), held)
    assert best < without * (1.0 - 1e-4), "the pairs make no difference in this example"
    equal(solved(methods.mvu_apart(graphs.knn(roll, 3))).value, best, 1e-5)
    fitted = sdpdr.MFNU(n_neighbors=3, objective="variance").fit(roll)
    equal(fitted.solution_.value, best, 1e-5)


@row(THESIS, "(4.26)–(4.30)")
def stochastic_proximity():
    """Points of a plane are placed exactly; the stress is a double loop."""
    learned = baselines.SPE(2, cycles=200).fit(X)
    equal(pdist(learned.embedding_), pdist(X), 1e-2)
    d, Y = squareform(pdist(X)), RNG.standard_normal((N, 2))
    cutoff, above, below = 1.5, 0.0, 0.0
    for i in range(N):
        for j in range(i):
            now = np.linalg.norm(Y[i] - Y[j])
            if d[i, j] <= cutoff or now < d[i, j]:
                above += (now - d[i, j]) ** 2 / d[i, j]
                below += d[i, j]
    equal(baselines.spe_stress(d, Y, cutoff), above / below)
    less(learned.stress_, 1e-4)


@row(THESIS, "(1.90)")
def isometric_separation():
    """Both programs in cvxpy, with all pairs and with furthest pairs pulled apart."""
    y, anchor = checks.SIDE, int(np.flatnonzero(checks.SIDE)[0])
    s = np.where(y == y[anchor], 1.0, -1.0)
    K = cp.Variable((N, N), PSD=True)
    t = cp.Variable()
    sides = cp.multiply(s, K[anchor])
    most = optimum(cp.Maximize(t), [*lengths(K), sides >= t])
    equal(solved(methods.separation_margin(GRAPH, y, [anchor])).value, most, 1e-5)
    margin = 0.3 * most
    held = [*lengths(K), sides >= margin]
    best = optimum(cp.Maximize(checks.spread(K)), held)
    given = {"anchors": [anchor], "margin": margin}
    equal(solved(methods.ism(GRAPH, y, furthest="all", **given)).value, best, 1e-5)
    fitted = sdpdr.ISM(n_neighbors=3, furthest="all", **given).fit(X, y)
    equal(fitted.solution_.value, best, 1e-5)
    far = np.column_stack([np.arange(N), checks.furthest_of(X)])
    best = optimum(cp.Maximize(cp.sum(checks.squares(K, far))), held)
    equal(solved(methods.ism(GRAPH, y, **given)).value, best, 1e-5)
    given["margin"], price = 1.5 * most, 0.7
    missed = cp.sum(cp.pos(given["margin"] - sides))
    best = optimum(cp.Maximize(checks.spread(K) - price * missed), lengths(K))
    soft = methods.ism(GRAPH, y, furthest="all", slack=price, **given)
    equal(solved(soft).value, best, 1e-5)
    K, chain = cp.Variable((4, 4), PSD=True), graphs.path([1.0, 2.0, 1.5])
    held = [checks.squares(K, chain.edges) <= chain.sqdist]
    held += [cp.multiply([1.0, 1.0, 1.0, -1.0], K[0]) >= 0.05]
    best = optimum(cp.Maximize(checks.spread(K)), held)
    straight = methods.ism(chain, [1, 1, 1, 0], anchors=[0], margin=0.05, furthest="all")
    equal(solved(straight).value, best, 1e-5)


@row(THESIS, "(2.13)–(2.15), (6.32), (2.107)")
def leave_one_out():
    """The geometric mean of sums of a bounded kernel, and the least trace, in cvxpy."""
    points = X[:6]
    edges, squared = checks.edges_of(points, 2)
    graph = graphs.knn(points, 2, connect="mst")
    equal(graph.edges, edges)
    K = cp.Variable((6, 6), PSD=True)
    sums = cp.sum(K, axis=0) - cp.diag(K)
    held = [checks.squares(K, edges) == squared, K >= 0, cp.trace(K) <= 12.0]
    best = optimum(cp.Maximize(cp.geo_mean(sums)), held)
    equal(solved(methods.loocv(graph, trace=12.0)).value, best, 1e-5)
    spread = 2.0 * np.sum((points - points.mean(axis=0)) ** 2)
    best = optimum(cp.Maximize(cp.geo_mean(sums)), [*held[:2], cp.trace(K) <= spread])
    equal(solved(methods.loocv(graph)).value, best, 1e-5)
    best = optimum(cp.Maximize(cp.geo_mean(sums)), held)
    fitted = sdpdr.LOOCVUnfolding(n_neighbors=2, trace=12.0, isometry="equality").fit(points)
    equal(fitted.solution_.value, best, 1e-4)
    hexagon = np.exp(1j * np.arange(6) * np.pi / 3.0)
    ring = np.column_stack([hexagon.real, hexagon.imag])
    folded = sdpdr.LOOCVUnfolding(n_neighbors=2, trace=60.0, isometry="equality", tol=1e-5)
    solution = folded.fit(ring).solution_
    for number in (solution.value, solution.bound):
        equal(number, 5.0 / 6.0 * 60.0 - 1.5, 1e-5)
    K = checks.gram(6)
    least = optimum(cp.Minimize(cp.trace(K)), [checks.squares(K, edges) == squared])
    equal(solved(methods.fold(graph)).value, least, 1e-5)


@row(THESIS, "(6.33), (6.36)")
def density_preserving():
    """Both variants in cvxpy, with the sums of a Gaussian kernel over neighbours."""
    h = 0.8
    weights = np.zeros((N, N))
    weights[tuple(EDGES.T)] = np.exp(-LENGTHS / (2.0 * h**2))
    weights += weights.T
    K = cp.Variable((N, N), PSD=True)
    near = (weights > 0.0).astype(float)
    held = [cp.sum(cp.multiply(near, K), axis=1) == weights.sum(axis=1)]
    held += [K[i, j] >= 0 for i, j in EDGES.tolist()]
    sphere = cp.diag(K) == 1
    most = optimum(cp.Maximize(checks.spread(K)), [*held, sphere])
    least = optimum(cp.Minimize(checks.spread(K)), [*held, sphere])
    trace = optimum(cp.Minimize(cp.trace(K)), held)
    equal(solved(methods.density_map(GRAPH, bandwidth=h)).value, most, 1e-5)
    equal(solved(methods.density_map(GRAPH, bandwidth=h, spread="least")).value, least, 1e-5)
    equal(solved(methods.density_map(GRAPH, bandwidth=h, variant="trace")).value, trace, 1e-5)
    planted = np.zeros((N, N))
    planted[tuple(EDGES.T)] = RNG.random(len(EDGES)) ** 8
    uneven = (planted + planted.T).sum(axis=1)
    rows = cp.sum(cp.multiply(near, K), axis=1) == uneven
    free = optimum(cp.Minimize(cp.trace(K)), [rows])
    best = optimum(cp.Minimize(cp.trace(K)), [rows, *held[1:]])
    assert free < best * (1.0 - 1e-3), "signs make no difference in this example"
    uneven_map = methods.density_map(GRAPH, density=uneven, variant="trace")
    equal(solved(uneven_map).value, best, 1e-5)
    fitted = sdpdr.DensityMap(n_neighbors=3, bandwidth=h).fit(X)
    equal(fitted.solution_.value, most, 1e-5)


@row(THESIS, "(2.9)")
def least_ellipsoid():
    """The largest determinant of a map that takes all points into the unit ball, in cvxpy."""
    A, b = cp.Variable((2, 2), PSD=True), cp.Variable(2)
    inside = [cp.norm(A @ x + b) <= 1 for x in X]
    best = optimum(cp.Maximize(cp.log_det(A)), inside)
    volume = np.pi * np.exp(-best)
    exact = density.minimum_ellipsoid(X)
    equal(exact.volume, volume, 1e-5)
    assert exact.contains(X).all(), "points lie outside"
    rough = density.minimum_ellipsoid(X, max_iter=1)
    less(np.log(rough.volume / volume), rough.gap)
    equal(methods.ellipsoid_of(solved(methods.mvee(X)), X).volume, volume, 1e-4)
    equal(exact.center, -np.linalg.solve(A.value, b.value), 1e-3)


@row(THESIS, "(2.65)–(2.70)")
def convex_iteration():
    """The second program in cvxpy; a chain straightens to its full length."""
    K = RNG.standard_normal((5, 5))
    K = K @ K.T
    W = cp.Variable((5, 5), PSD=True)
    least = optimum(cp.Minimize(cp.trace(K @ W)), [cp.lambda_max(W) <= 1, cp.trace(W) == 3.0])
    cost = iterate.Trailing(2).cost(K, np.zeros((5, 0)), 0, np.random.default_rng(0))
    equal(cost.apply(K), [least], 1e-5)
    path = graphs.path([1.0, 2.0, 1.5, 1.0])
    found = iterate.rank_constrained(path, rank=1, share=0.95)
    places = found.embedding_
    equal(np.diff(places[:, 0]) ** 2, path.sqdist, 1e-6)
    straight = np.cumsum([0.0, *np.sqrt(path.sqdist)])
    less(0.95 * np.sum((straight - straight.mean()) ** 2), np.sum(places**2))


@row(THESIS, "(2.103)–(2.106), 6.2")
def within_a_rank():
    """No step of cvxpy from the matrix found lowers the objective, which eigenvalues give."""
    kappa, r = 0.7, 1
    K = checks.gram(N)

    def require_a_fixed_point(state, relation, within):
        found = sdpdr.program.as_dense(state.solution.gram())
        values, vectors = np.linalg.eigh(found)
        trailing = values[:-r].sum()
        objective = kappa * trailing - values[-r:].sum()
        equal(state.objective, objective, 1e-5)
        W = vectors[:, :-r] @ vectors[:, :-r].T
        step = cp.Maximize(cp.trace(K) - (1.0 + kappa) * cp.trace(W @ K))
        equal(optimum(step, lengths(K, relation)), -objective, within)

    state = iterate.minimum_volume(GRAPH, rank=r, kappa=kappa)
    require_a_fixed_point(state, SHORTER, 1e-4)
    less(state.bound, state.objective)
    fitted = sdpdr.MVE(r, n_neighbors=3, kappa=kappa).fit(X)
    equal(np.sum(fitted.embedding_**2), -state.objective, 1e-2)
    best = optimum(cp.Maximize(cp.trace(K)), lengths(K))
    found = iterate.rank_constrained(GRAPH, rank=2, isometry="inequality", share=0.9)
    less(np.max(GRAPH.lengths(found.embedding_) ** 2 / LENGTHS), 1.0, 1e-5)
    equal(found.variance, 0.9 * best, 1e-5)
    less(0.9 * best, np.sum(found.embedding_**2), 1e-4)


# -- factorization ---------------------------------------------------------------------------------


def lift_of(V, k):
    """The joint matrix of factors, of their products and of V, in cvxpy: Z, W, H, both products."""
    n, m = V.shape
    Z = cp.Variable((k + n + m, k + n + m), PSD=True)
    held = [Z[:k, :k] == np.eye(k), Z[k : k + n, k + n :] == V]
    return Z, Z[k : k + n, :k], Z[:k, k + n :], held


@row(THESIS, "(1.37)–(1.44)")
def completely_positive_cone():
    """The program in cvxpy; the square of four sides has the nonnegative rank four."""
    V = SQUARE + 0.1 * np.arange(16).reshape(4, 4)
    Z = cp.Variable((8, 8), PSD=True)
    best = optimum(cp.Minimize(0.5 * cp.trace(Z)), [Z >= 0, Z[:4, 4:] == V])
    equal(solved(methods.nmf_dnn(V)).value, best, 1e-5)
    for free in (V, np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])):
        model = methods.nmf_dnn(free, nonnegative=False)
        equal(solved(model).value, np.linalg.norm(free, "nuc"), 1e-5)
    assert solved(methods.nmf_dnn(free)).value > np.linalg.norm(free, "nuc") * (1.0 + 1e-3)
    assert factorize.nonnegative_rank_bound(SQUARE).lower == 4
    planted = RNG.random((6, 2)) @ RNG.random((2, 5))
    assert factorize.nonnegative_rank_bound(planted).lower == 2


@row(THESIS, "(2.45), 4.2.1")
def clipped_singular_vectors():
    """Each pair of singular vectors, clipped under the sign of the larger product of norms."""
    V = RNG.random((5, 4)) ** 3
    W, H = nonnegative.clipped_svd(V, 3)
    left, sizes, right = np.linalg.svd(V)
    for k in range(3):
        pairs = [
            sizes[k] * np.outer(np.maximum(s * left[:, k], 0.0), np.maximum(s * right[k], 0.0))
            for s in (1.0, -1.0)
        ]
        equal(np.outer(W[:, k], H[k]), max(pairs, key=np.linalg.norm))
    less(0.0, min(W.min(), H.min()), 0.0)


@row(THESIS, "(2.46)–(2.50)")
def all_entries_in_one_lift():
    """The large lift in cvxpy, whose value does not depend on k."""
    V, k = checks.MATRIX[:2], 2
    n = sum(V.shape) * k
    Z = cp.Variable((n, n), PSD=True)
    held = [Z >= 0]
    for i, j in np.ndindex(V.shape):
        at = [(i * k + term, (V.shape[0] + j) * k + term) for term in range(k)]
        held.append(sum(Z[pair] for pair in at) == V[i, j])
    best = optimum(cp.Minimize(0.5 * cp.trace(Z)), held)
    for other in (1, 2):
        equal(solved(methods.nmf_shor(V, other)).value, best, 1e-5)


@row(THESIS, "(2.51)–(2.54)")
def small_cones():
    """The printed program in cvxpy, with a block for each entry of the matrix."""
    V, k = checks.MATRIX[:2] + 0.1, 2
    n, m = V.shape
    A = [cp.Variable((k, k), PSD=True) for _ in range(n)]
    B = [cp.Variable((k, k), PSD=True) for _ in range(m)]
    held = []
    for i, j in np.ndindex(V.shape):
        block = cp.Variable((2 * k, 2 * k), PSD=True)
        held += [block[:k, :k] == A[i], block[k:, k:] == B[j], cp.trace(block[:k, k:]) == V[i, j]]
    objective = 0.5 * (m * sum(map(cp.trace, A)) + n * sum(map(cp.trace, B)))
    equal(solved(methods.nmf_cones(V)).value, optimum(cp.Minimize(objective), held), 1e-5)


@row(THESIS, "(2.55)–(2.60)")
def each_product_lifted():
    """The program in cvxpy, with costs that tell the components apart."""
    V, k = np.array([[1.0, 2.0], [3.0, 1.0]]), 2
    left, right = RNG.random((2, k)), RNG.random((k, 2))
    W, H, T, S = (cp.Variable((2, k)) for _ in range(4))
    held, sums = [W >= 0, H >= 0], np.zeros((2, 2)).tolist()
    for i, j, a in np.ndindex(2, 2, k):
        block = cp.Variable((3, 3), PSD=True)
        entries = {(0, 0): 1, (0, 1): W[i, a], (0, 2): H[j, a], (1, 1): T[i, a], (2, 2): S[j, a]}
        held += [block[at] == value for at, value in entries.items()]
        sums[i][j] += block[1, 2]
    held += [sums[i][j] == V[i, j] for i, j in np.ndindex(2, 2)]
    cost = cp.sum(T) + cp.sum(S) - cp.sum(cp.multiply(left, W)) - cp.sum(cp.multiply(right.T, H))
    best = optimum(cp.Minimize(cost), held)
    equal(solved(methods.nmf_products(V, k, left=left, right=right)).value, best, 1e-5)


@row(THESIS, "(2.61)–(2.64)")
def sparse_factors():
    """The lift in cvxpy with Hoyer's sums; factors that exist are found, with that sparsity."""
    V, k, s = checks.MATRIX, 2, 0.6
    n = len(V)
    Z, W, H, held = lift_of(V, k)
    p = n * k
    squares = cp.trace(Z[k : k + n, k : k + n])
    held += [W >= 0, H >= 0, squares == 1.0, cp.sum(W) == np.sqrt(p) - (np.sqrt(p) - 1.0) * s]
    best = optimum(cp.Minimize(squares + cp.trace(Z[k + n :, k + n :])), held)
    lifted = solved(methods.nmf_lift(V, k, sparsity=s))
    equal(lifted.value, best, 1e-5)
    found = sdpdr.program.as_dense(lifted.gram("Z"))[k : k + n, :k]
    equal(found.sum(), np.sqrt(p) - (np.sqrt(p) - 1.0) * s, 1e-5)
    planted = np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 2.0], [0.3, 0.4]]) @ RNG.random((2, 5))
    fitted = sdpdr.NMF(2).fit(planted)
    less(fitted.reconstruction_err_, 1e-6)
    W = fitted.transform(planted)
    equal(W @ fitted.components_, planted, 1e-5)
    less(0.0, min(W.min(), fitted.components_.min()), 0.0)


@row(THESIS, "(2.71)–(2.73), (2.111)")
def rank_iteration():
    """Twice the trace norm; the lift in cvxpy with signs, and with an error; planted factors."""
    V, k = checks.MATRIX, 2
    n = len(V)
    equal(solved(methods.nmf_lift(V, k)).value, 2.0 * np.linalg.norm(V, "nuc"), 1e-5)
    Z, _, _, held = lift_of(V, k)
    traces = cp.trace(Z) - k
    best = optimum(cp.Minimize(traces), [*held, Z >= 0])
    equal(solved(methods.nmf_lift(V, k, dnn=True)).value, best, 1e-5)
    Z, W, H, held = lift_of(V, k)
    near = cp.norm(Z[k : k + n, k + n :] - V, "fro") <= 0.3
    traces = cp.trace(Z) - k
    best = optimum(cp.Minimize(traces), [held[0], near, W >= 0, H >= 0])
    equal(solved(methods.nmf_lift(V, k, error=0.3)).value, best, 1e-5)
    planted = RNG.random((4, 2)) @ RNG.random((2, 3))
    W, H = factorize.nmf(planted, 2).factors()
    equal(W @ H, planted, 1e-5)
    less(0.0, min(W.min(), H.min()), 0.0)
    best = min(
        OtherNMF(2, init="random", random_state=seed, max_iter=5000, tol=1e-10).fit(V)
        .reconstruction_err_
        for seed in range(10)
    )  # fmt: skip
    fitted = sdpdr.NMF(2).fit(V)
    less(fitted.reconstruction_err_, best, 1e-4)
    sizes = np.linalg.svd(V, compute_uv=False)
    equal(fitted.bound_, np.sqrt(np.sum(sizes[2:] ** 2)))


def least_error(V, k):
    """The least error of nonnegative factors that SciPy finds from many starts."""
    n, m = V.shape

    def misfit(x):
        W, H = np.square(x[: n * k]).reshape(n, k), np.square(x[n * k :]).reshape(k, m)
        return np.linalg.norm(V - W @ H)

    starts = np.random.default_rng(2).random((10, (n + m) * k))
    return min(minimize(misfit, x, method="L-BFGS-B").fun for x in starts)


@row(THESIS, "(3.80)–(3.84)")
def global_factorization():
    """No bound exceeds the error of factors that SciPy finds; the overlap in cvxpy."""
    V = checks.MATRIX
    best = least_error(V, 2)
    cones = nonnegative.cone_search(V, 2, tol=0.02)
    less(cones.lower, best, 1e-4)
    less(best, cones.lower + 0.02 * np.linalg.norm(V), 1e-4)
    equal(np.linalg.norm(V - cones.W @ cones.H), cones.upper)
    single = np.array([[1.0, 2.0], [3.0, 4.0]])
    boxes = nonnegative.box_search(single, 1, 1.0, 4.0, tol=0.02)
    rest = np.linalg.svd(single, compute_uv=False)[1]
    less(boxes.lower, rest)
    less(rest, boxes.lower + 0.02 * np.linalg.norm(single))
    V, k, n = SQUARE, 3, 4
    P, Q = (cp.Variable((2 * n, 2 * n), PSD=True) for _ in range(2))
    ball = [cp.trace(P[:n, :n]) <= k, cp.trace(P[n:, n:]) <= 1, cp.lambda_max(P[:n, :n]) <= 1]
    length = [cp.trace(Q) <= 2.0 * np.sqrt(k), Q >= 0, P[:n, n:] == Q[:n, n:]]
    overlap = optimum(cp.Maximize(cp.sum(cp.multiply(V, P[:n, n:]))), [*ball, *length])
    equal(solved(methods.nmf_overlap(V, k)).value, overlap, 1e-5)
    assert overlap < np.linalg.norm(V) * (1.0 - 1e-3), "singular values say as much"
    bound = sdpdr.nmf_bound(V, k=k, method="overlap")
    equal(bound.lower, np.sqrt(np.sum(V**2) - overlap**2), 1e-3)
    less(bound.lower, bound.upper)
    for method in ("auto", "eckart_young", "overlap", "cones"):
        bound = sdpdr.nmf_bound(checks.MATRIX, k=2, method=method, tol=0.02)
        less(bound.lower, best, 1e-4)
        less(bound.upper, best, 1e-4)
        equal(np.linalg.norm(checks.MATRIX - bound.W @ bound.H), bound.upper)
        less(0.0, min(bound.W.min(), bound.H.min()), 0.0)
        poor = sdpdr.nmf_bound(
            checks.MATRIX, np.ones((3, 2)), np.ones((2, 3)), method=method, tol=0.02
        )
        less(poor.lower, best, 1e-4)  # which nothing cuts off at the error of what was found
    less(best, bound.lower + 0.02 * np.linalg.norm(checks.MATRIX), 1e-4)
    sizes = np.linalg.svd(checks.MATRIX, compute_uv=False)
    equal(sdpdr.nmf_bound(checks.MATRIX, k=1, method="eckart_young").lower,
          np.sqrt(np.sum(sizes[1:] ** 2)))  # fmt: skip


def require_copositive(M):
    """Require that a form is not negative at points of a grid of the simplex."""
    points = np.random.default_rng(0).dirichlet(np.full(len(M), 0.3), 4000)
    less(0.0, np.einsum("pi,ij,pj->p", points, M, points).min(), 1e-3)


@row(THESIS, "(2.74)–(2.79)")
def completely_positive_factors():
    """A closed form, Parrilo's cone in cvxpy, planted factors, and a cycle that has none."""
    B = RNG.random((4, 5))
    A, k = B @ B.T, 3
    Z = cp.Variable((4 + k, 4 + k), PSD=True)
    held = [Z[:k, :k] == np.eye(k), Z[k:, k:] == A, Z[k:, :k] >= 0]
    best = optimum(cp.Maximize(cp.sum(Z[k:, :k])), held)
    equal(best, np.sqrt(k * A.sum()), 1e-4)
    equal(solved(methods.cp_lift(A, k)).value, best, 1e-5)
    program = methods.cp_lift(A, 5).to_sdp()
    for sign, fits in ((1.0, True), (-1.0, False)):
        rows = np.vstack([np.eye(5), sign * B])
        assert (violation(program, rows @ rows.T) < 1e-9) == fits, "the lift lacks a constraint"
    for factor in (
        factorize.completely_positive(A).factor,
        sdpdr.CompletelyPositive(affinity="precomputed").fit(A).embedding_,
    ):
        equal(factor @ factor.T, A, 1e-6)
        less(0.0, factor.min(), 0.0)
    even = RNG.random((5, 5)) + np.diag(np.full(5, 6.0))
    even += even.T
    for dominant in (even, even * np.outer(np.arange(1.0, 6), np.arange(1.0, 6))):
        found = factorize.completely_positive(dominant)
        equal(found.factor @ found.factor.T, dominant, 1e-12)
        assert "dominant" in found.proof, found.proof
    cycle = 1.8 * np.eye(5) + np.roll(np.eye(5), 1, axis=0) + np.roll(np.eye(5), -1, axis=0)
    M, P = cp.Variable((5, 5), symmetric=True), [cp.Variable((5, 5), PSD=True) for _ in range(5)]
    rest = [M - own for own in P]
    held = [cp.trace(M) <= 5.0]
    for i, j, k in np.ndindex(5, 5, 5):
        total = rest[i][j, k] + rest[j][i, k] + rest[k][i, j]
        held.append(total == 0.0 if i == j == k else total >= 0.0)
    held += [M[i, j] <= 2.5 for i, j in zip(*np.triu_indices(5, 1), strict=True)]
    least = optimum(cp.Minimize(cp.sum(cp.multiply(cycle, M))), held)
    equal(solved(methods.copositive_cut(cycle)).value, least, 1e-5)
    refuted = factorize.completely_positive(cycle).certificate
    require_copositive(np.asarray(refuted.matrix, dtype=float))
    assert np.sum(np.asarray(refuted.matrix, dtype=float) * cycle) < 0.0


def require_augmented_lagrangian(graph, V, k):
    """Require the printed function, its slopes, and a second round with first-order multipliers."""
    n, unit = graph.n, np.sqrt(np.mean(graph.sqdist))
    of = Lagrangian(V, graph)
    far = checks.furthest_of(V)
    of.pull_apart(far, 0.3)
    at = RNG.random((n + V.shape[1]) * k)
    y, steps = RNG.standard_normal(graph.m), graph.edges.T

    def value(x):
        W, H = x[: n * k].reshape(n, k), x[n * k :].reshape(k, -1)
        r = np.sum((W[steps[0]] - W[steps[1]]) ** 2, axis=1) - graph.sqdist / unit**2
        rest = np.sum((W @ H - V / unit) ** 2) / np.sum((V / unit) ** 2)
        pull = 0.3 * np.sum((W - W[far]) ** 2) * unit**2 / of.longest
        return -y @ r + 0.5 * 1.7 * r @ r + 0.5 * rest - pull

    equal(of.evaluate(at, y, 1.7)[0], value(at))
    equal(of.evaluate(at, y, 1.7)[1], checks.difference_quotient(value, at), 1e-5)
    rounds = [nonnegative.isometric_factors(V, graph, k, tol=1e-9, max_iter=r) for r in (1, 2)]
    points = [np.concatenate([(f.W / unit).ravel(), f.H.ravel()]) for f in rounds]
    of, penalty = Lagrangian(V, graph), LENGTHS_FIRST * unit**4 / np.sum(graph.sqdist**2)
    first = -penalty * of.length_errors(of.split(points[0])[0])[0]
    slope = of.evaluate(points[1], first, penalty)[1]
    less(np.abs(slope[points[1] > 1e-6]).max(), 1e-5)


@row(THESIS, "(4.85)–(4.89)")
def isometric_factors():
    """The program in cvxpy; the lift holds planted factors; errors of the factors found anew."""
    W = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0], [2.0, 1.5]])
    H = np.array([[0.8, 0.6, 0.0], [0.0, 0.6, 0.8]])
    V, k = W @ H, 2
    n, m = V.shape
    edges, squared = checks.edges_of(W, 2)
    graph = graphs.from_edges(n, edges, squared)
    rough = V + 0.2 * RNG.random(V.shape)
    Z = cp.Variable((n + m, n + m), PSD=True)
    far = np.column_stack([np.arange(n), checks.furthest_of(rough)])
    held = [Z >= 0, Z[:n, n:] == rough, cp.trace(Z[:n, :n]) <= np.sum(rough**2)]
    held += [cp.trace(Z[n:, n:]) <= k]
    pulled = cp.Maximize(cp.sum(checks.squares(Z, far)))
    for isometry, relation in (("equality", EQUAL), ("inequality", SHORTER)):
        best = optimum(pulled, [*held, relation(checks.squares(Z, edges), 1.5 * squared)])
        longer = graphs.from_edges(n, edges, 1.5 * squared)
        model = methods.isometric_nmf(longer, rough, isometry, n_components=k)
        equal(solved(model).value, best, 1e-5)
    model = methods.isometric_nmf_lift(graph, V, k)
    program = model.to_sdp()
    rows = np.vstack([np.eye(k), W, H.T])
    less(violation(program, rows @ rows.T), 1e-9)
    for wrong in (np.vstack([np.eye(k), 1.1 * W, H.T / 1.1]), np.vstack([np.eye(k), W, 1.1 * H.T])):
        assert violation(program, wrong @ wrong.T) > 0.1, "the lift lacks a constraint"
    negative = np.vstack([np.eye(k), -W, -H.T])
    assert violation(program, negative @ negative.T) > 0.1, "the lift lacks the signs of factors"
    require_augmented_lagrangian(longer, rough, k)
    fitted = sdpdr.IsoNMF(k, n_neighbors=2).fit(W)
    again = fitted.result_
    less(0.0, min(again.W.min(), again.H.min()), 0.0)
    wanted = checks.edges_of(W, 2)
    found = np.sum((again.W[wanted[0][:, 0]] - again.W[wanted[0][:, 1]]) ** 2, axis=1)
    less(np.linalg.norm(found - wanted[1]) / np.linalg.norm(wanted[1]), 1e-3)
    less(np.linalg.norm(W - again.W @ again.H) / np.linalg.norm(W), 1e-2)


def violation(program, Z):
    """How much a symmetric matrix Z misses the rows of a program."""
    worst = 0.0
    for rows in program.rows:
        off = rows.lhs["Z"].apply(Z) - rows.rhs
        off = np.abs(off) if rows.relation == "==" else (off if rows.relation == "<=" else -off)
        worst = max(worst, float(np.max(off)))
    return worst


@row(THESIS, "(2.95)–(2.102)")
def any_factorization():
    """The least trace with a given product is twice the trace norm; planted factors are read."""
    V, k = checks.MATRIX, 2
    lift = blocks.FactorLift(k, *V.shape)
    known = blocks.Known(lift.order, lift.product(), V.ravel(), lift.gram)
    Z = sdpdr.psd("Z", lift.order)
    model = sdpdr.Model([lift, known, sdpdr.minimize(Z.trace())])
    equal(solved(model).value, k + 2.0 * np.linalg.norm(V, "nuc"), 1e-5)
    W, H = RNG.random((3, k)), RNG.random((3, k))
    rows = np.vstack([np.eye(k), W, H])
    planted = rows @ rows.T
    for found, expected in zip(lift.read(planted), (W, H), strict=True):
        equal(found, expected)
    for pairs, expected in ((lift.left(), W), (lift.right(), H), (lift.product(), W @ H.T)):
        equal(planted[tuple(pairs.T)], expected.ravel())


@row(THESIS, "(3.115)–(3.119), (4.120)")
def under_a_polynomial():
    """Soft thresholds of singular values; one variable by a grid; planted factors come back."""
    V, weight = np.array([[0.9, -0.6, 0.1], [1.0, 0.2, 0.4]]), 0.3
    model = methods.polynomial_factorization(V, (1.0,), 2, nonnegative=False, regularization=weight)
    sizes = np.linalg.svd(V, compute_uv=False)
    kept = np.maximum(sizes - weight, 0.0)
    expected = 0.5 * np.sum((sizes - kept) ** 2) + weight * kept.sum()
    equal(solved(model).value, expected, 1e-5)
    target, t = 1.3, np.linspace(0.0, 3.0, 300_001)
    best = np.min(0.5 * (t + 0.5 * t**2 - target) ** 2 + weight * t)
    found = factorize.polynomial([[target]], (1.0, 0.5), lift="moments", regularization=weight)
    equal(found.objective, best, 1e-6)
    less(found.bound, best, 1e-6)
    less(best - found.bound, 1e-3 * target**2)
    V, c = RNG.random((3, 4)), np.array([1.0, 0.5, 0.2])
    squares = Misfit(V, True, unknown=True, regularization=weight)

    def value(x):
        return squares.at(x[:6].reshape(3, 2), x[6:14].reshape(4, 2), np.append(1.0, x[14:]))

    at = np.concatenate([RNG.random(14), c[1:]])
    W, H = at[:6].reshape(3, 2), at[6:14].reshape(4, 2)
    rest = W @ H.T + 0.5 * (W @ H.T) ** 2 + 0.2 * (W @ H.T) ** 3 - V
    size = np.sqrt(weight) * at[:14]
    equal(value(at).objective, 0.5 * np.sum(rest**2) + 0.5 * size @ size)
    slope = squares._slopes(W, H, c).T @ np.concatenate([rest.ravel(), size])
    equal(slope, checks.difference_quotient(lambda x: value(x).objective, at), 1e-5)
    T = np.outer([1.0, 0.5, 0.8], [0.7, 1.2])
    found = factorize.polynomial(T + 0.5 * T**2, (1.0, 0.5))
    equal(found.W @ found.H, T, 1e-6)
    equal(found.product(), T + 0.5 * T**2, 1e-6)
    model = methods.polynomial_factorization(T + 0.5 * T**2, (1.0, 0.5))
    names = list(model.size()["matrices"])
    ways = {name: iterate.Schur(1) for name in names}
    state = iterate.ConvexIteration(
        model, 1, tuple(names), ways, solver="clarabel", form="lmi", progress=False
    ).run()
    equal(state.solution.gram("Z")[1:4, 4:], T, 1e-3)
    fitted = sdpdr.PolynomialFactorization(coefficients=(1.0, 0.5)).fit(T + 0.5 * T**2)
    equal(fitted.transform(T + 0.5 * T**2) @ fitted.components_, T, 1e-6)
