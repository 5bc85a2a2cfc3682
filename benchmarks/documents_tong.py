"""Checks of the rows of the Tong thesis; see `documents.py`."""

from __future__ import annotations

import cvxpy as cp
import documents_checks as checks
import numpy as np
from documents_checks import equal, less, optimum, row, same_columns, same_span, solved
from scipy.linalg import eigh, sqrtm
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import sdpdr
from sdpdr import baselines, bilinear, extend, graphs, methods, propagation, reduce

THESIS = "Tong thesis"
RNG = np.random.default_rng(0)
X, GRAPH, EDGES, LENGTHS = checks.CLOUD, checks.GRAPH, checks.EDGES, checks.LENGTHS
FLOWERS, SPECIES, STACK = checks.FLOWERS, checks.SPECIES, checks.STACK
N = len(X)
NAN = float("nan")

# -- embeddings ------------------------------------------------------------------------------------


@row(THESIS, "(2.1)–(2.3)")
def principal_components():
    """The variance and the projection of scikit-learn's principal components."""
    pca = PCA(2).fit(FLOWERS)
    solution = solved(methods.fantope(np.cov(FLOWERS.T), 2))
    equal(solution.value, pca.explained_variance_.sum(), 1e-5)
    projection = pca.components_.T @ pca.components_
    equal(sdpdr.program.as_dense(solution.gram("Z")), projection, 1e-3)


@row(THESIS, "(2.14)")
@row("Review", "(2.8)–(2.12)")
def classical_scaling():
    """Principal components of points, from the points and from their distances."""
    expected = PCA(2).fit_transform(FLOWERS)
    same_columns(baselines.classical_mds(FLOWERS, 2), expected)
    D = squareform(pdist(FLOWERS))
    same_columns(baselines.classical_mds(D, 2, metric="precomputed"), expected)


def require_lle(k):
    """Require that `lle` attains the least energy, of weights solved point by point."""
    Y = baselines.lle(checks.ARC, 2, n_neighbors=k)
    missed = np.eye(len(Y)) - checks.reconstruction_of(checks.ARC, k)
    equal(Y.T @ Y, np.eye(2))
    equal(np.sum((missed @ Y) ** 2), np.linalg.eigvalsh(missed.T @ missed)[1:3].sum(), 1e-4)


@row(THESIS, "(2.15)")
def locally_linear():
    """Orthonormal columns of least energy, with weights solved point by point."""
    require_lle(4)


def require_spectral(k):
    """Require that kernel PCA, Isomap and eigenmaps solve their eigenproblems."""
    points = checks.ARC
    D = squareform(pdist(points))
    gamma = 0.5 / np.median(pdist(points) ** 2)
    H = checks.centring(len(points))
    expected = checks.scaled(H @ np.exp(-gamma * D**2) @ H, 2)
    same_columns(baselines.kernel_pca(points, 2), expected)
    ways = checks.products_of(checks.paths_of(points, k))
    same_columns(baselines.isomap(points, 2, n_neighbors=k), checks.scaled(ways, 2))
    W = checks.adjacency_of(points, k)
    expected = eigh(checks.laplacian_of(W), np.diag(W.sum(axis=1)))[1][:, 1:3]
    found = baselines.laplacian_eigenmaps(points, 2, n_neighbors=k)
    length = np.linalg.norm
    same_columns(found / length(found, axis=0), expected / length(expected, axis=0), 1e-4)


@row(THESIS, "2.1.5, 2.2.1, 2.2.3")
def kernel_and_graph():
    """Eigenvectors by NumPy, and linear functions that solve the pencils of the same graphs."""
    require_spectral(4)
    require_projections("IsoProjection", "LPP")


def require_projections(*names):
    """Require that linear maps solve the pencils of their graphs."""
    points, k = checks.FLOWERS[:12], 3
    n = len(points)
    W, missed = checks.adjacency_of(points, k), np.eye(n) - checks.reconstruction_of(points, k)
    paths = checks.products_of(checks.paths_of(points, k)) if "IsoProjection" in names else None
    pencils = {
        "LPP": (W, np.diag(W.sum(axis=1))),
        "NPE": (np.eye(n) - missed.T @ missed, np.eye(n)),
        "IsoProjection": (paths, np.eye(n)),
    }
    for name in names:
        values, directions = checks.linear_solutions(points, *pencils[name], 2, 0.1)
        given = {"n_neighbors": k, "way": "direct", "alpha": 0.1, "orthonormal": False}
        found = getattr(sdpdr, name)(2, **given).fit(points)
        equal(found.eigenvalues_, values)
        same_columns(found.components_.T, directions)
        regressed = getattr(sdpdr, name)(2, **given | {"way": "regression"}).fit(points)
        responses = checks.pencil_solutions(*pencils[name], 2)[1]
        mass = pencils[name][1] @ np.ones(n)
        centred = points - mass @ points / mass.sum()
        gram = centred.T @ centred + 0.1 * np.eye(points.shape[1])
        same_columns(regressed.components_.T, np.linalg.solve(gram, centred.T @ responses))


@row(THESIS, "(2.16)–(2.19)")
def landmarks():
    """The program in cvxpy with K = Q L Q'; paths are no shorter than straight lines."""
    Q = RNG.standard_normal((N, 4))
    T = checks.centring(N) @ Q
    K = T @ cp.Variable((4, 4), PSD=True) @ T.T
    best = optimum(cp.Maximize(cp.trace(K)), [checks.squares(K, EDGES) <= LENGTHS])
    restricted = sdpdr.solve(methods.mvu(GRAPH), via=[reduce.Landmark(Q)], progress=False)
    equal(restricted.value, best, 1e-5)
    K = checks.gram(N)
    whole = optimum(cp.Maximize(cp.trace(K)), [checks.squares(K, EDGES) <= LENGTHS])
    fitted = sdpdr.MVU(2, n_neighbors=3, form="landmark", landmarks=5).fit(X)
    less(fitted.solution_.value, whole, 1e-5)
    less(np.max(checks.squares(sdpdr.program.as_dense(fitted.gram_), EDGES).value / LENGTHS), 1.0)
    equal(sdpdr.MVU(2, n_neighbors=3).fit(X).solution_.value, whole, 1e-5)
    assert np.all(graphs.geodesics(GRAPH) >= squareform(pdist(X)) * (1.0 - 1e-12))


# -- factorization of signs ------------------------------------------------------------------------

SIGNS = np.array([[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]])


@row(THESIS, "(2.24)–(2.27)")
def maximum_margin():
    """The trace norm, hinge and squared losses in cvxpy, without offsets and with them."""
    c, ridge, seen = 0.4, 2.0, SIGNS != 0
    M, b, d = cp.Variable(SIGNS.shape), cp.Variable((3, 1)), cp.Variable((1, 4))
    hinge = cp.sum(cp.pos(1 - cp.multiply(SIGNS, M)[seen]))
    best = optimum(cp.Minimize(cp.normNuc(M) + c * hinge))
    for model in (methods.mmmf(SIGNS, c=c), methods.mmmf_dual(SIGNS, c=c)):
        equal(solved(model).value, best, 1e-5)
    equal(sdpdr.MMMF(c).fit(SIGNS).value_, best, 1e-5)
    Z, t = cp.Variable((7, 7), PSD=True), cp.Variable()
    hinge = cp.sum(cp.pos(1 - cp.multiply(SIGNS, Z[:3, 3:])[seen]))
    best = optimum(cp.Minimize(t + c * hinge), [cp.diag(Z) <= t])
    for model in (methods.mmmf(SIGNS, c=c, norm="max"), methods.mmmf_dual(SIGNS, c=c, norm="max")):
        equal(solved(model).value, best, 1e-5)
    scores = M + b @ np.ones((1, 4)) + np.ones((3, 1)) @ d
    offsets = 0.5 * ridge * (cp.sum_squares(b) + cp.sum_squares(d))
    hinge = cp.sum(cp.pos(1 - cp.multiply(SIGNS, scores)[seen]))
    best = optimum(cp.Minimize(cp.normNuc(M) + c * (hinge + offsets)))
    fitted = sdpdr.MMMF(c, ridge=ridge).fit(SIGNS)
    equal(fitted.value_, best, 1e-5)
    less(fitted.bound_, best, 1e-6)
    least = sdpdr.MMMF().least_penalty(SIGNS)
    for share, is_zero in ((0.98, True), (1.02, False)):
        penalized = cp.normNuc(M) + share * least * cp.sum(cp.pos(1 - cp.multiply(SIGNS, M)[seen]))
        optimum(cp.Minimize(penalized))
        assert (np.abs(M.value).max() < 1e-4) == is_zero, "the least penalty is another"
    ratings = np.array([[1, 1, 5, NAN], [NAN, 2, 4, NAN], [5, 5, 1, 2]])
    known = ~np.isnan(ratings)
    missed = scores[known] - (ratings - np.nanmean(ratings))[known]
    best = optimum(cp.Minimize(cp.normNuc(M) + c * (0.5 * cp.sum_squares(missed) + offsets)))
    fitted = sdpdr.RatingMMMF(c, ridge=ridge, tol=1e-7).fit(ratings)
    equal(fitted.value_, best, 1e-5)
    less(fitted.bound_, best, 1e-6)


# -- labels and known coordinates ------------------------------------------------------------------


@row(THESIS, "(2.28)–(2.32)")
def discriminants():
    """scikit-learn's directions; shares of the total spread; the ratio has no better directions."""
    W = checks.same_classes(SPECIES)
    equal(extend.class_pencil(SPECIES).weights.toarray(), W)
    values, directions = checks.linear_solutions(FLOWERS, W, np.eye(24), 2)
    fitted = sdpdr.LDA(alpha=0.0).fit(FLOWERS, SPECIES)
    equal(fitted.eigenvalues_, values)
    same_span(fitted.components_.T, directions)
    other = LinearDiscriminantAnalysis(solver="eigen").fit(FLOWERS, SPECIES)
    same_span(fitted.components_.T, other.scalings_[:, :2])
    centred = FLOWERS - FLOWERS.mean(axis=0)
    A, B = centred.T @ W @ centred, centred.T @ centred
    found = extend.trace_ratio(A, B, 2)
    V = found.components
    equal(V.T @ V, np.eye(2))
    equal(found.value, np.trace(V.T @ A @ V) / np.trace(V.T @ B @ V))
    less(abs(np.linalg.eigvalsh(A - found.value * B)[-2:].sum()), 1e-8 * np.trace(B))
    less(found.value, found.bound)
    less(found.bound, found.value * (1.0 + 1e-6))


def completed(form, Y):
    """Unknown rows that minimize a quadratic form."""
    unknown = np.isnan(Y)
    right = -form[np.ix_(unknown, ~unknown)] @ Y[~unknown]
    return np.where(unknown, 0.0, Y) + np.bincount(
        np.flatnonzero(unknown), np.linalg.solve(form[np.ix_(unknown, unknown)], right), len(Y)
    )


@row(THESIS, "(2.33)–(2.38)")
def known_coordinates():
    """Linear systems of both forms in NumPy; the program in cvxpy, anchors in its matrix."""
    arc, angles, n, k = checks.ARC, checks.ANGLES, len(checks.ARC), 4
    graph = graphs.knn(arc, k)
    Y = np.where(np.arange(n) % 10 == 0, angles, NAN)
    missed = np.eye(n) - checks.reconstruction_of(arc, k)
    found = extend.semisupervised_lle(graph, Y)[:, 0]
    equal(found, completed(missed.T @ missed, Y), 1e-5)
    less(np.abs(found - angles).max(), 0.05)
    r = 2
    values, vectors = np.linalg.eigh(checks.products_of(checks.paths_of(arc, k)))
    form = values[-1] * np.eye(n) - (vectors * values) @ vectors.T - values[-1] / n
    for i in range(1, r):
        form -= (values[-1] - values[-1 - i]) * np.outer(vectors[:, -1 - i], vectors[:, -1 - i])
    for known in (Y, Y**2):
        found = extend.semisupervised_isomap(graph, known, r)[:, 0]
        equal(found, completed(form, known), 1e-5)

    nodes, rest = np.array([0, 4, 7]), np.array([1, 2, 3, 5, 6, 8])
    places = X[nodes] @ np.array([[0.8, -0.6], [0.6, 0.8]])
    anchored = places - places.mean(axis=0)
    rows = np.zeros((N, 2 + len(rest)))
    rows[nodes, :2], rows[rest, 2 + np.arange(len(rest))] = anchored, 1.0
    Z = cp.Variable((2 + len(rest), 2 + len(rest)), PSD=True)
    G = rows @ Z @ rows.T
    joins = ~np.isin(EDGES, nodes).all(axis=1)
    held = [Z[:2, :2] == np.eye(2), checks.squares(G, EDGES[joins]) <= 1.3 * LENGTHS[joins]]
    longer = graphs.from_edges(N, EDGES, 1.3 * LENGTHS)
    for about, goal in (("mean", checks.spread(G)), ("anchors", cp.trace(Z) - 2)):
        best = optimum(cp.Maximize(goal), held)
        model = methods.anchored_mvu(longer, nodes, places, about=about)
        equal(solved(model).value, best, 1e-5)
    stretched = methods.anchored_mvu(graphs.path([1.0, 2.0, 1.5]), [0], [[0.0]], about="anchors")
    equal(solved(stretched).value, 1.0**2 + 3.0**2 + 4.5**2, 1e-5)
    Y = np.full((N, 2), NAN)
    Y[nodes] = places
    placed = sdpdr.AnchoredMVU(n_neighbors=3, isometry="inequality").fit(1.3**0.5 * X, Y)
    best = optimum(cp.Maximize(checks.spread(G)), held)
    equal(placed.solution_.value, best, 1e-5)
    equal(placed.embedding_[rest], (rows @ Z.value @ rows.T)[np.ix_(rest, nodes)] @ np.linalg.pinv(
        anchored).T + places.mean(axis=0), 1e-2)  # fmt: skip


@row(THESIS, "ours; near 2.4")
def completed_distances():
    """Both penalties in cvxpy; a minimum of stress; distances that were left out come back."""
    penalty = 10.0
    laplacian = checks.laplacian_of(GRAPH.adjacency(1.0 / LENGTHS).toarray())
    nu = penalty / np.linalg.eigvalsh(laplacian)[1]
    K = checks.gram(N)
    changes = checks.squares(K, EDGES) / LENGTHS - 1
    best = optimum(cp.Maximize(cp.trace(K) - 0.5 * nu * cp.sum_squares(changes)))
    equal(solved(methods.distance_completion(GRAPH, penalty=penalty)).value, best, 1e-5)
    other = optimum(cp.Maximize(cp.trace(K) - nu * cp.norm1(changes)))
    model = methods.distance_completion(GRAPH, misfit="absolute", penalty=penalty)
    equal(solved(model).value, other, 1e-4)

    def stress(Y):
        steps = Y[EDGES[:, 0]] - Y[EDGES[:, 1]]
        return np.sum((np.linalg.norm(steps, axis=1) - np.sqrt(LENGTHS)) ** 2)

    start = X + 0.2 * RNG.standard_normal(X.shape)
    refined = methods.refine(GRAPH, start)
    less(np.abs(checks.difference_quotient(stress, refined)).max(), 1e-5)
    less(stress(refined), 0.1 * stress(start))
    D = squareform(pdist(X))
    partial = D.copy()
    for i, j in ((0, 1), (2, 5), (3, 8), (4, 7)):
        partial[i, j] = partial[j, i] = NAN
    known = np.argwhere(np.triu(~np.isnan(partial), 1))
    fitted = sdpdr.DistanceCompletion(penalty=penalty).fit(partial)
    equal(fitted.distances_, D, 1e-4)
    squared = D[tuple(known.T)] ** 2
    again = methods.distance_completion(graphs.from_edges(N, known, squared), penalty=penalty)
    equal(fitted.solution_.value, solved(again).value, 1e-5)


@row(THESIS, "(2.39)–(2.48)")
def functions_on_a_basis():
    """Least squares in NumPy; slopes are difference quotients; centres that move fit better."""
    waves = np.sin(np.outer([1.0, 2.0, 3.0], checks.ANGLES))
    z, ridge = checks.ANGLES, 1e-2
    at = np.array([0.2, 1.1, 2.0, 2.9, 0.5, 0.7, 0.6, 0.8])

    def misfit(at):
        basis = np.exp(-(((z[:, None] - at[:4]) / at[4:]) ** 2))
        weights = waves @ basis @ np.linalg.inv(basis.T @ basis + ridge * np.eye(4))
        return np.sum((weights @ basis.T - waves) ** 2) + ridge * np.sum(weights**2)

    value, by_center, by_width = extend.basis_misfit(waves, z, at[:4], at[4:], ridge)
    equal(value, misfit(at))
    slopes = checks.difference_quotient(misfit, at)
    equal(np.concatenate([by_center, by_width]), slopes, 1e-5)
    fixed = extend.BasisExpansion(4, grid=z, width=0.9, ridge=1e-9).fit(waves)
    basis = np.exp(-(((z[:, None] - np.linspace(z[0], z[-1], 4)) / 0.9) ** 2))
    rest = waves.T - basis @ np.linalg.lstsq(basis, waves.T)[0]
    equal(fixed.misfit_, np.sum(rest**2), 1e-4)
    moved = extend.BasisExpansion(4, grid=z, width=0.9, max_moves=100).fit(waves)
    less(moved.misfit_, 0.5 * fixed.misfit_)


# -- labels along similar pairs and against dissimilar ones ----------------------------------------

S = np.array(
    [[0, 1, -1, 0, 0], [1, 0, 1, -0.5, 0], [-1, 1, 0, 2, 1], [0, -0.5, 2, 0, -1], [0, 0, 1, -1, 0]]
)
Y_KNOWN = np.array([1.0, NAN, -1.0, NAN, NAN])


def energies(y):
    """Energies of similar and of dissimilar pairs, by a double loop."""
    near = far = 0.0
    for i in range(len(y)):
        for j in range(i):
            near += max(S[i, j], 0.0) * (y[i] - y[j]) ** 2
            far += max(-S[i, j], 0.0) * (y[i] - y[j]) ** 2
    return near, far


def of_scale(v):
    """The labelling with a scale of its labels, and the other values."""
    y = v[0] * Y_KNOWN
    y[np.isnan(Y_KNOWN)] = v[1:]
    return y


def form_of(function, n):
    """The matrix of a quadratic form, from its values."""
    unit, pairs = np.eye(n), np.ndindex(n, n)
    values = [function(unit[i] + unit[j]) - function(unit[i]) - function(unit[j]) for i, j in pairs]
    return np.reshape(values, (n, n)) / 2.0


@row(THESIS, "(3.1)–(3.12)")
def mixed_labels():
    """The pencil of both energies, from their values; a step of the alternation on a grid."""
    graph = propagation.labelled_graph(S, Y_KNOWN)
    for _ in range(3):
        y = of_scale(np.append(1.0, RNG.standard_normal(3)))
        equal(graph.energies(y), energies(y))
    A = form_of(lambda v: energies(of_scale(v))[0], 4)
    B = form_of(lambda v: energies(of_scale(v))[1], 4)
    least = 1.0 / eigh(B, A)[0][-1]
    v = eigh(B, A)[1][:, -1]
    equal(solved(methods.mixed_label_propagation(S, Y_KNOWN)).value, least, 1e-5)
    found = propagation.eigen(graph)
    equal(found.ratio, least)
    equal(found.y, of_scale(v / v[0]))
    less(found.bound, least)
    less(least * (1.0 - 1e-3), found.bound)
    apart = energies(propagation.harmonic(graph).y)[1]
    for beta in np.sqrt(np.array([0.3, 0.7, 2.0]) / apart):
        first = propagation.alternating(graph, beta_0=beta, max_iter=1).y
        less(1.0, energies(beta * first)[1], 1e-6)
    held = propagation.fixed_lam(graph, share=0.5).y
    unknown = np.isnan(Y_KNOWN)

    def mixed(at):
        y = Y_KNOWN.copy()
        y[unknown] = at
        near, far = energies(y)
        return near - 0.5 * least * far

    less(np.abs(checks.difference_quotient(mixed, held[unknown])).max(), 1e-6)
    other = propagation.alternating(graph)
    near, far = energies(other.y)
    equal(other.ratio, near / far)
    less(least, other.ratio)
    beta = other.history[-1][0]
    lam, gamma, corner = cp.Variable(nonneg=True), cp.Variable(), np.outer(*[np.eye(4)[0]] * 2)
    scale = np.diag([beta, 1.0, 1.0, 1.0])
    definite = scale @ (A - lam * B) @ scale + (lam - gamma) * corner >> 0
    step = optimum(cp.Maximize(gamma), [definite])
    equal(solved(methods.mixed_label_step(S, Y_KNOWN, beta=beta)).value, step, 1e-4)
    near, far = energies(beta * other.y)
    equal(near, step, 1e-3)
    less(1.0, far, 1e-4)
    equal(solved(methods.mixed_label_bound(S, Y_KNOWN)).value, least, 1e-5)
    solution = solved(methods.mixed_label_propagation(S, Y_KNOWN))
    equal(methods.labelling_of(solution, S, Y_KNOWN), of_scale(v / v[0]), 1e-2)
    labels = [1, -1, 0, -1, -1]
    fitted = sdpdr.MixedLabelPropagation("eigen", affinity="precomputed").fit(S, labels)
    equal(fitted.propagations_[0].ratio, least)
    plain = sdpdr.MixedLabelPropagation(affinity="precomputed").fit(S, labels).propagations_[0].y
    positive = np.maximum(S, 0.0)
    means = positive @ plain / positive.sum(axis=1)
    equal(plain[[1, 3, 4]], means[[1, 3, 4]])


@row(THESIS, "(3.13)")
def mixed_graphs():
    """Slopes of the printed objective vanish, with a kernel and without one."""
    graph = propagation.labelled_graph(S, Y_KNOWN)
    known, K = ~np.isnan(Y_KNOWN), np.exp(-np.abs(np.subtract.outer(*[np.arange(5.0)] * 2)))

    def objective(f, inverse):
        mixed = sum(
            0.5 * abs(S[i, j]) * (f[i] - np.sign(S[i, j]) * f[j]) ** 2 for i, j in np.ndindex(5, 5)
        )
        return np.sum((f - Y_KNOWN)[known] ** 2) + 0.3 * f @ inverse @ f + 0.7 * mixed

    given = {"ridge": 0.3, "smoothness": 0.7}
    for kernel, inverse in ((None, np.eye(5)), (K, np.linalg.inv(K))):
        f = propagation.mixed_graph(graph, kernel=kernel, **given).y
        slope = checks.difference_quotient(lambda at, form=inverse: objective(at, form), f)
        less(np.abs(slope).max(), 1e-6)
    labels = [1, -1, 0, -1, -1]
    fitted = sdpdr.MixedLabelPropagation("mixed_graph", affinity="precomputed", **given)
    scores = fitted.fit(S, labels).scores_
    f = propagation.mixed_graph(graph, **given).y
    equal(scores, f / np.abs(f).max())


# -- stacks of matrices ----------------------------------------------------------------------------


@row(THESIS, "(4.1), (4.6)")
def low_rank_matrices():
    """Each basis is the leading eigenvectors of its printed sum, given the other one."""
    found = bilinear.glram(STACK, 2, tol=1e-13, max_iter=5000)
    A, B = found.rows, found.columns
    equal(found.value, np.sum((A.T @ STACK @ B) ** 2))
    rows, columns = (sum(N @ N.T for N in part) for part in (STACK @ B, STACK.mT @ A))
    for basis, scatter in ((A, rows), (B, columns)):
        equal(basis.T @ basis, np.eye(2))
        same_span(basis, np.linalg.eigh(scatter)[1][:, -2:], 1e-4)
    fitted = sdpdr.SOPCA(2, method="glram", tol=1e-13, max_iter=5000).fit(STACK)
    same_span(fitted.rows_, A, 1e-5)
    centred = STACK - STACK.mean(axis=0)
    closed = bilinear.two_d_svd(STACK, 2)
    for basis, part in ((closed.rows, centred), (closed.columns, centred.mT)):
        same_span(basis, np.linalg.eigh(sum(M @ M.T for M in part))[1][:, -2:])
    fitted = sdpdr.SOPCA(2, method="2dsvd", center=True).fit(STACK)
    small = fitted.rows_.T @ centred @ fitted.columns_
    equal(fitted.transform(STACK), small)
    back = STACK.mean(axis=0) + fitted.rows_ @ small @ fitted.columns_.T
    equal(fitted.inverse_transform(small), back)


@row(THESIS, "(4.2)–(4.4)")
def one_matrix():
    """Twice the sum of the leading singular values."""
    sizes = np.linalg.svd(STACK[0], compute_uv=False)
    for k in (1, 2):
        equal(solved(methods.sopca(STACK[:1], k)).value, 2.0 * sizes[:k].sum(), 1e-5)


def require_searches(k):
    """Require a sweep of Algorithm 1 by roots of matrices, and polar factors that ascend."""
    first = bilinear.alternating(STACK, k, max_iter=0)
    A = np.eye(STACK.shape[1])[:, :k]
    root = sum(np.real(sqrtm(M.T @ A @ A.T @ M)) for M in STACK)
    B = np.linalg.eigh(root)[1][:, -k:]
    root = sum(np.real(sqrtm(M @ B @ B.T @ M.T)) for M in STACK)
    same_span(first.rows, np.linalg.eigh(root)[1][:, -k:])
    same_span(first.columns, B)
    found = bilinear.ascent(STACK, k, tol=1e-14, max_iter=5000)
    less(0.0, np.diff(found.history).min(), 1e-9)
    A, B = found.rows, found.columns
    for basis, part in ((A, STACK @ B), (B, STACK.mT @ A)):
        u, _, vt = np.linalg.svd(basis.T @ part)
        total = sum(M @ (x @ y).T for M, x, y in zip(part, u, vt, strict=True))
        polar = basis.T @ total
        equal(polar, polar.T, 1e-5)
        equal(total, basis @ polar, 1e-5)
    less(max(first.history), found.value)


@row(THESIS, "(4.5)–(4.10)")
def second_order():
    """The relaxation in cvxpy and half of it; bases attain what they claim, and no bases more."""
    k, (n, p, q) = 2, STACK.shape
    W = [cp.Variable((p + q, p + q), PSD=True) for _ in range(n)]
    held = [w[:p, p:] == M for w, M in zip(W, STACK, strict=True)]
    sums = sum(w[:p, :p] for w in W), sum(w[p:, p:] for w in W)
    best = optimum(cp.Minimize(sum(cp.lambda_sum_largest(P, k) for P in sums)), held)
    equal(solved(methods.sopca(STACK, k)).value, best, 1e-5)
    equal(solved(methods.sopca_dual(STACK, k)).value, best / 2.0, 1e-5)
    fitted = sdpdr.SOPCA(k).fit(STACK)
    kept = fitted.rows_.T @ STACK @ fitted.columns_
    equal(fitted.objective_, np.linalg.svd(kept, compute_uv=False).sum())
    less(fitted.objective_, best / 2.0, 1e-5)
    equal(fitted.upper_bound_, best / 2.0, 1e-3)
    less(best / 2.0, fitted.upper_bound_, 1e-6)
    early = bilinear.interior_point(STACK, k, max_iter=2)
    less(early.value, best / 2.0)
    less(best / 2.0, early.bound)
    equal(early.gap, early.bound / early.value - 1.0)
    require_searches(k)
    for seed in range(20):
        A, B = (
            np.linalg.qr(np.random.default_rng(seed).standard_normal((m, k)))[0] for m in (p, q)
        )
        less(np.linalg.svd(A.T @ STACK @ B, compute_uv=False).sum(), fitted.objective_)


@row(THESIS, "(5.3)–(5.20)")
def bags_of_points():
    """The likeliest weights in cvxpy; scores of bags by the printed formula, point by point."""
    covers, prior = RNG.random((8, 4)) ** 2, np.array([0.1, 0.2, 0.3, 0.4])
    alpha = cp.Variable(4, nonneg=True)
    likelihood = cp.sum(cp.log(covers @ alpha))
    for strength in (0.0, 2.0):
        goal = likelihood + (strength * prior @ cp.log(alpha) if strength else 0.0)
        best = optimum(cp.Maximize(goal), [cp.sum(alpha) == 1])
        found = extend.mixture_weights(covers, prior if strength else None, strength)
        equal(found.value, best, 1e-4)
        less(best, found.bound, 1e-5)
    bags = [np.random.default_rng(k).standard_normal((12 + 3 * k, 2)) + 2.0 * k for k in range(4)]
    index = extend.BagIndex(25, radius=1.2, strength=7.0).fit(bags)
    query = bags[2][:6] + 0.1

    def near(points):
        return np.linalg.norm(points[:, None] - index.centers_, axis=2) <= 1.2

    shares, sizes = [], []
    for bag in bags:
        seen = near(bag)
        seen = seen[seen.any(axis=1)]
        shares.append((seen / seen.sum(axis=1, keepdims=True)).mean(axis=0))
        sizes.append(len(seen))
    behind, scores = np.mean(shares, axis=0), []
    seen = near(query)
    seen = seen[seen @ behind > 0.0]
    for share, size in zip(shares, sizes, strict=True):
        ratios = size / 7.0 * (seen @ share) / (seen @ behind)
        score = np.sum(np.log(1.0 + ratios)) + len(seen) * np.log(7.0 / (size + 7.0))
        scores.append(score if ratios.any() else -np.inf)
    ranked = np.argsort(scores)[::-1]
    found, values = index.query(query, 4)
    equal(found, ranked[: len(found)])
    equal(values, np.array(scores)[found])
    assert found[0] == 2
