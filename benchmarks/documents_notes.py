"""Checks of the rows of the course notes and of the review; see `documents.py`."""

from __future__ import annotations

from itertools import pairwise

import cvxpy as cp
import documents_checks as checks
import numpy as np
from documents_checks import equal, less, optimum, row, same_columns, solved
from documents_tong import require_lle, require_projections, require_spectral
from scipy.linalg import eigh
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA

import sdpdr
from sdpdr import baselines, extend, graphs, methods
from sdpdr.families.unfold.baselines.gplvm import objective
from sdpdr.families.unfold.baselines.stress import sammon_slope

NOTES, REVIEW = "Course notes", "Review"
RNG = np.random.default_rng(0)
X, GRAPH, EDGES, LENGTHS = checks.CLOUD, checks.GRAPH, checks.EDGES, checks.LENGTHS
SIDE = checks.SIDE
N = len(X)

# -- course notes ----------------------------------------------------------------------------------


@row(NOTES, "unfolding")
def unfolding():
    """A chain of unequal steps straightens; the program in cvxpy, with lengths held exactly."""
    steps = np.array([1.0, 2.0, 0.5, 1.5])
    straight = np.cumsum([0.0, *steps])
    variance = np.sum((straight - straight.mean()) ** 2)
    for isometry in ("inequality", "equality"):
        equal(solved(methods.mvu(graphs.path(steps), isometry)).value, variance, 1e-5)
    found = sdpdr.MVU(1, n_neighbors=1).fit(straight[:, None])
    equal(found.solution_.value, variance, 1e-5)
    same_columns(found.embedding_, (straight - straight.mean())[:, None], 1e-3)
    ring = graphs.from_edges(6, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [0, 5]], np.arange(1.0, 7))
    K = checks.gram(6)
    held = [checks.squares(K, ring.edges) == ring.sqdist]
    best = optimum(cp.Maximize(cp.trace(K)), held)
    equal(solved(methods.mvu(ring, "equality")).value, best, 1e-5)


@row(NOTES, "colored")
def colored():
    """The program in cvxpy with the kernel of labels, and with that of numbers."""
    H = checks.centring(N)
    numbers = RNG.standard_normal((N, 2))
    for y, T in ((SIDE, (SIDE[:, None] == SIDE).astype(float)), (numbers, numbers @ numbers.T)):
        K = checks.gram(N)
        held = [checks.squares(K, EDGES) <= LENGTHS]
        best = optimum(cp.Maximize(cp.trace(H @ T @ H @ K)), held)
        equal(solved(methods.colored_mvu(GRAPH, y)).value, best, 1e-5)
        side = methods.side_information(kernel=T)
        equal(side @ side.T, T)
        fitted = sdpdr.ColoredMVU(n_neighbors=3).fit(X, y)
        equal(fitted.solution_.value, best, 1e-5)


@row(NOTES, "actions")
def actions():
    """The program in cvxpy with a constraint for each two steps of one action."""
    steps = ["R", "R", None, "R", "L", None, "L", "R"]
    K = checks.gram(N)
    held = []
    for i in range(N - 1):
        for j in range(i):
            if steps[i] and steps[i] == steps[j]:
                held.append(checks.squares(K, [[i, j]]) == checks.squares(K, [[i + 1, j + 1]]))
    places = np.cumsum([0.0, *np.where(np.array(steps) == "R", 1.0, -1.0)])
    points = np.column_stack([places, 0.3 * np.arange(N)])
    points += 0.1 * RNG.standard_normal(points.shape)
    edges, squared = checks.edges_of(points, 3)
    graph = graphs.from_edges(N, edges, squared)
    best = optimum(cp.Maximize(cp.trace(K)), [*held, checks.squares(K, edges) <= squared])
    without = optimum(cp.Maximize(cp.trace(K)), [checks.squares(K, edges) <= squared])
    assert best < without * (1.0 - 1e-3), "actions make no difference in this example"
    equal(solved(methods.are(graph, steps)).value, best, 1e-4)
    G, there = checks.gram(5), graphs.path([1.0, 1.2, 0.9, 1.1])
    back = [checks.squares(G, there.edges) <= there.sqdist]
    back += [checks.squares(G, [[0, 2], [1, 3], [0, 4], [2, 4]]) == 0.0]
    back += [checks.squares(G, [[i, i + 1]]) == checks.squares(G, [[i + 2, i + 3]]) for i in (0, 1)]
    best = optimum(cp.Maximize(cp.trace(G)), back)
    equal(solved(methods.are(there, "LRLR", inverse={"L": "R"})).value, best, 1e-4)
    fitted = sdpdr.ARE(n_neighbors=3).fit(points, actions=steps)
    less(fitted.action_error_, 1e-4)
    joined = fitted.graph_
    again = [*held, checks.squares(K, joined.edges) <= joined.sqdist]
    equal(fitted.solution_.value, optimum(cp.Maximize(cp.trace(K)), again), 1e-4)


def pairs_of(y):
    """Similar and dissimilar pairs."""
    i, j = np.triu_indices(len(y), 1)
    same = y[i] == y[j]
    return (i[same], j[same]), (i[~same], j[~same])


@row(NOTES, "metrics")
def xing():
    """The printed program in cvxpy, with square roots; full metrics and diagonal ones."""
    (i, j), (a, b) = pairs_of(SIDE)
    scatter = (X[i] - X[j]).T @ (X[i] - X[j])
    steps = X[a] - X[b]
    A = cp.Variable((2, 2), PSD=True)
    roots = cp.sum([cp.sqrt(cp.sum(cp.multiply(np.outer(d, d), A))) for d in steps])
    for diagonal in (False, True):
        held = [roots >= 1] + ([A[0, 1] == 0] if diagonal else [])
        best = optimum(cp.Minimize(cp.trace(scatter @ A)), held)
        fitted = sdpdr.XingMetric(diagonal=diagonal).fit(X, SIDE)
        equal(fitted.value_, best, 1e-4)
        less(fitted.bound_, best, 1e-6)
        equal(fitted.get_mahalanobis_matrix(), A.value, 1e-2)
        g = solved(methods.xing(X, SIDE, diagonal=diagonal)).value
        equal(1.0 / g**2, best, 1e-4)


@row(NOTES, "(1)")
def ghodsi():
    """An eigenvalue, a mean of eigenvalues, and the program with its ridge in cvxpy."""
    (i, j), (a, b) = pairs_of(checks.SPECIES)
    points, y = checks.FLOWERS, checks.SPECIES
    near, far = points[i] - points[j], points[a] - points[b]
    C = near.T @ near / len(near) - far.T @ far / len(far)
    values = np.linalg.eigvalsh(C)
    equal(solved(methods.ghodsi(points, y)).value, values[0], 1e-5)
    equal(solved(methods.ghodsi(points, y, cap=0.5)).value, values[:2].mean(), 1e-5)
    A, ridge = cp.Variable((4, 4), PSD=True), 2.0
    goal = cp.trace(C @ A) + 0.5 * ridge * cp.sum_squares(A)
    best = optimum(cp.Minimize(goal), [cp.trace(A) == 1, cp.lambda_max(A) <= 0.5])
    equal(solved(methods.ghodsi(points, y, cap=0.5, ridge=ridge)).value, best, 1e-5)
    fitted = sdpdr.GhodsiMetric(2, ridge=ridge).fit(points, y)
    equal(fitted.value_, best, 1e-5)
    equal(fitted.bound_, best, 1e-5)
    equal(fitted.get_mahalanobis_matrix(), A.value, 1e-3)
    sums = near.T @ near - far.T @ far
    summed = sdpdr.GhodsiMetric(1, normalize=False).fit(points, y)
    equal(summed.value_, np.linalg.eigvalsh(sums)[0])


# -- review ----------------------------------------------------------------------------------------


@row(REVIEW, "(2.1)–(2.7)")
def principal_components():
    """Variances and scores of scikit-learn's principal components."""
    points = checks.FLOWERS
    pca = PCA(2).fit(points)
    equal(solved(methods.fantope(np.cov(points.T), 2)).value, pca.explained_variance_.sum(), 1e-5)
    same_columns(baselines.kernel_pca(points, 2, kernel="linear"), pca.transform(points))


@row(REVIEW, "(2.13)")
def stresses():
    """Sums of squares in NumPy, slopes that vanish; an order is kept after a distortion."""
    points, Y = checks.FLOWERS[:10], RNG.standard_normal((10, 2))
    D = squareform(pdist(points))
    equal(baselines.stress(D, Y), np.sum((pdist(points) - pdist(Y)) ** 2))
    found = baselines.metric_mds(points, 2, max_iter=5000, tol=1e-13)
    slopes = checks.difference_quotient(lambda at: baselines.stress(D, at), found)
    less(np.abs(slopes).max(), 1e-3)
    start = baselines.classical_mds(points, 2)
    less(baselines.stress(D, found), 0.9 * baselines.stress(D, start))
    tied, now = np.round(pdist(points)), pdist(Y)
    fitted, levels = cp.Variable(45), np.unique(tied)
    rising = [
        cp.max(fitted[tied == low]) <= cp.min(fitted[tied == high])
        for low, high in pairwise(levels)
    ]
    least = optimum(cp.Minimize(cp.sum_squares(fitted - now)), rising)
    stress = baselines.kruskal_stress(np.round(D), Y)
    equal(stress, np.sqrt(least / np.sum(now**2)), 1e-5)
    plane = squareform(pdist(X))
    bent = baselines.nonmetric_mds(plane**1.5, 2, metric="precomputed", max_iter=2000)
    less(baselines.kruskal_stress(plane, bent), 1e-2)
    less(0.98, np.corrcoef(pdist(bent), pdist(X))[0, 1])


@row(REVIEW, "(2.14)")
def sammon():
    """The printed stress in NumPy, whose slopes vanish; less than that of classical scaling."""
    points = checks.FLOWERS[:10]
    d = pdist(points)

    def stress(Y):
        return np.sum((d - pdist(Y)) ** 2 / d) / d.sum()

    Y = RNG.standard_normal((10, 2))
    equal(sammon_slope(squareform(d), Y)[1], checks.difference_quotient(stress, Y), 1e-5)
    found = baselines.Sammon(2, tol=1e-9).fit(points)
    equal(found.stress_, stress(found.embedding_))
    less(np.abs(checks.difference_quotient(stress, found.embedding_)).max(), 1e-6)
    less(found.stress_, 0.9 * stress(baselines.classical_mds(points, 2)))


@row(REVIEW, "(2.15)")
def laplacian_eigenmaps():
    """Eigenvectors of the graph's Laplacian by SciPy, and linear functions that are nearest."""
    require_spectral(4)
    require_projections("LPP")


@row(REVIEW, "section 2.5")
def kernel_eigenmaps():
    """Eigenvectors by SciPy of the kernel's largest entries; a new object at its printed place."""
    points, k, gamma = checks.FLOWERS, 5, 0.3
    kernel = np.exp(-gamma * squareform(pdist(points)) ** 2)
    largest = kernel >= np.sort(kernel, axis=1)[:, -1 - k][:, None]
    W = kernel * (largest | largest.T)
    values, vectors = eigh(W, np.diag(W.sum(axis=1)))
    learned = extend.KernelEigenmaps(2, n_neighbors=k, gamma=gamma).fit(points)
    equal(learned.eigenvalues_, values[::-1][1:3])
    same_columns(learned.embedding_, vectors[:, ::-1][:, 1:3])
    new = points[:3] + 0.05
    w = np.exp(-gamma * np.sum((new[:, None] - points) ** 2, axis=2))
    least = np.sort(kernel, axis=1)[:, -1 - k]
    w = w * ((w >= np.sort(w, axis=1)[:, -1 - k][:, None]) | (w >= least))
    expected = w @ learned.embedding_ / (w.sum(axis=1)[:, None] * learned.eigenvalues_)
    equal(learned.transform(new), expected)


@row(REVIEW, "(2.18), (2.19)")
def latent_variables():
    """The printed likelihood in NumPy, whose slopes vanish; probabilistic components for lines."""
    points = np.column_stack([checks.ARC, checks.ANGLES])
    points += 0.1 * np.random.default_rng(0).standard_normal(points.shape)
    centred = points - points.mean(axis=0)
    n, m = points.shape

    def likelihood(places, signal, noise, kernel):
        K = signal * kernel(places) + noise * np.eye(n)
        value = n * m * np.log(2.0 * np.pi) + m * np.linalg.slogdet(K)[1]
        return -0.5 * (value + np.trace(centred.T @ np.linalg.solve(K, centred)))

    bells = lambda places: np.exp(-0.5 * squareform(pdist(places)) ** 2)  # noqa: E731
    Y = RNG.standard_normal((n, 1))
    of = lambda at: -likelihood(at, 0.7, 0.3, bells)  # noqa: E731
    slope = objective(Y, 0.7, 0.3, centred)[1]
    equal(slope, checks.difference_quotient(of, Y), 1e-5)
    found = baselines.GPLVM(1, tol=1e-7).fit(points)
    at = found.embedding_, found.signal_, found.noise_
    equal(found.log_likelihood_, likelihood(*at, bells), 1e-5)
    slopes = checks.difference_quotient(lambda Y: likelihood(Y, *at[1:], bells), at[0])
    less(np.abs(slopes).max(), 0.1)
    for k in (1, 2):
        slope = (
            likelihood(*at[:k], at[k] * 1.001, *at[k + 1 :], bells)
            - likelihood(*at[:k], at[k] / 1.001, *at[k + 1 :], bells)
        ) / 0.002
        less(abs(slope), 0.1)
    of = lambda at: -likelihood(at, 0.7, 0.3, lambda Y: Y @ Y.T)  # noqa: E731
    slope = objective(Y, 0.7, 0.3, centred, "linear")[1]
    equal(slope, checks.difference_quotient(of, Y), 1e-5)
    linear = baselines.GPLVM(1, kernel="linear").fit(points)
    rest = np.linalg.eigvalsh(centred @ centred.T / m)[:-1]
    equal(linear.noise_, rest.mean())
    given = linear.embedding_, linear.signal_, linear.noise_
    equal(linear.log_likelihood_, likelihood(*given, lambda Y: Y @ Y.T))
    for scale in (0.98, 1.02):
        other = likelihood(scale * given[0], *given[1:], lambda Y: Y @ Y.T)
        less(other, linear.log_likelihood_)


@row(REVIEW, "(2.16), (2.17)")
def isomap_and_lle():
    """Scaling of shortest paths and least energies by NumPy, and their linear functions."""
    require_spectral(4)
    require_lle(4)
    require_projections("IsoProjection", "NPE")


@row(REVIEW, "(2.20)")
def kernel_pca():
    """Eigenvectors of a centred kernel by NumPy; linear kernels are principal components."""
    require_spectral(4)
    points = checks.FLOWERS
    expected = PCA(2).fit_transform(points)
    same_columns(baselines.kernel_pca(points, 2, kernel="linear"), expected)
