"""Checks of the rows of the Cai thesis; see `documents.py`."""

from __future__ import annotations

import cvxpy as cp
import documents_checks as checks
import numpy as np
from documents_checks import equal, less, optimum, row, same_columns, same_span, solved
from documents_tong import require_projections
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

import sdpdr
from sdpdr import extend, graphs, methods

THESIS = "Cai thesis"
RNG = np.random.default_rng(0)
X, GRAPH, SIDE = checks.CLOUD, checks.GRAPH, checks.SIDE
FLOWERS, SPECIES = checks.FLOWERS, checks.SPECIES
W = checks.adjacency_of(X, 3)
D = np.diag(W.sum(axis=1))


@row(THESIS, "(2.1)–(2.8)")
def graph_embedding():
    """Eigenvectors by SciPy of three pencils, without the constant; a chain in closed form."""
    n = len(X)
    missed = np.eye(n) - checks.reconstruction_of(X, 3)
    ways = checks.products_of(checks.paths_of(X, 3))
    for made, left, right in (
        (extend.laplacian_pencil(GRAPH), W, D),
        (extend.reconstruction_pencil(GRAPH), np.eye(n) - missed.T @ missed, np.eye(n)),
        (extend.geodesic_pencil(GRAPH), ways, np.eye(n)),
        (extend.Pencil(W, np.diag(D)), W, D),
    ):
        values, vectors = checks.pencil_solutions(left, right, 2)
        found = extend.graph_embedding(made, 2)
        equal(found.eigenvalues, values)
        same_columns(found.vectors, vectors)
    chain = extend.graph_embedding(extend.laplacian_pencil(graphs.path([1.0] * 4)), 3)
    equal(chain.eigenvalues, np.cos(np.pi * np.arange(1, 4) / 4.0))


@row(THESIS, "(2.9)–(2.19), (2.34)–(2.43)")
def linear_extensions():
    """Eigenvectors by SciPy among linear functions, with a ridge; regressions on the others."""
    values, directions = checks.linear_solutions(X, W, D, 2, 0.3)
    found = extend.linear_embedding(X, extend.laplacian_pencil(GRAPH), 2, 0.3)
    equal(found.eigenvalues, values)
    same_columns(found.coef, directions)
    less(np.abs(D.sum(axis=1) @ found(X)).max(), 1e-9)
    require_projections("LPP", "NPE", "IsoProjection")
    classes = checks.same_classes(SPECIES)
    values, directions = checks.linear_solutions(FLOWERS, classes, np.eye(24), 2, 0.5)
    fitted = sdpdr.LDA(alpha=0.5, way="direct").fit(FLOWERS, SPECIES)
    equal(fitted.eigenvalues_, values)
    same_columns(fitted.components_.T, directions)
    regressed = sdpdr.LDA(alpha=0.5).fit(FLOWERS, SPECIES)
    equal(regressed.eigenvalues_, values)
    same_span(regressed.components_.T, directions)


def labelled_graph_of(y, k, share):
    """Weights of neighbours, the pencil of known labels and Laplacian, and the one of contrast."""
    near = checks.adjacency_of(FLOWERS, k)
    known = np.diag((y >= 0).astype(float))
    smooth = checks.same_classes(y), known + share * checks.laplacian_of(near)
    same = y[:, None] == y
    between = checks.laplacian_of(near * ~same)
    contrast = share * between + (1.0 - share) * near * same
    return smooth, (contrast, np.diag((near * same).sum(axis=1)))


@row(THESIS, "(2.20)–(2.25)")
def semisupervised_discriminants():
    """The printed pencil, with the mean of labelled points, by SciPy."""
    y, k, share = np.where(np.arange(24) % 3 == 0, SPECIES, -1), 6, 0.2
    (left, right), _ = labelled_graph_of(y, k, share)
    graph = graphs.knn(FLOWERS, k)
    pencil = extend.semisupervised_pencil(graph, y, share)
    values, vectors = checks.pencil_solutions(left, right, 2)
    found = extend.graph_embedding(pencil, 2)
    equal(found.eigenvalues, values)
    same_columns(found.vectors, vectors)
    values, directions = checks.linear_solutions(FLOWERS, left, right, 2, 0.1)
    fitted = sdpdr.SDA(n_neighbors=k, smoothing=share, way="direct", alpha=0.1).fit(FLOWERS, y)
    equal(fitted.eigenvalues_, values)
    same_columns(fitted.components_.T, directions)
    options = {"n_neighbors": k, "smoothing": share, "alpha": 0.1}
    other = sdpdr.SpectralRegression(responses="semisupervised", **options).fit(FLOWERS, y)
    same_span(other.responses_, vectors)
    same_span(sdpdr.SDA(**options).fit(FLOWERS, y).components_.T, other.components_.T)


@row(THESIS, "(2.26)–(2.33)")
def local_discriminants():
    """The printed pencil by SciPy."""
    k, share = 6, 0.2
    _, (left, right) = labelled_graph_of(SPECIES, k, share)
    pencil = extend.contrast_pencil(graphs.knn(FLOWERS, k), SPECIES, share)
    equal(np.asarray(pencil.weights.toarray()), left)
    equal(pencil.masses, np.diag(right))
    values, directions = checks.linear_solutions(FLOWERS, left, right, 2, 0.1)
    fitted = sdpdr.LSDA(2, n_neighbors=k, smoothing=share, alpha=0.1).fit(FLOWERS, SPECIES)
    equal(fitted.eigenvalues_, values)
    same_columns(fitted.components_.T, directions)


# -- regressions -----------------------------------------------------------------------------------


def ridge_of(X, Y, alpha, P=None):
    """Normal equations of a ridge with an intercept."""
    P = np.eye(X.shape[1]) if P is None else P
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    coef = np.linalg.solve(A.T @ A + alpha * P.T @ P, A.T @ B)
    return coef, Y.mean(axis=0) - X.mean(axis=0) @ coef


@row(THESIS, "(3.1)–(3.9)")
def spectral_regression():
    """Normal equations in NumPy; the program in cvxpy; responses are constant on classes."""
    Y, alpha, P = RNG.standard_normal((24, 2)), 0.7, RNG.standard_normal((3, 4))
    for penalty in (None, P):
        coef, intercept = ridge_of(FLOWERS, Y, alpha, penalty)
        found = extend.ridge(FLOWERS, Y, alpha, penalty=penalty)
        equal(found.coef, coef)
        equal(found.intercept, intercept)
        solution = solved(methods.regression(FLOWERS, Y[:, 0], alpha, penalty=penalty))
        equal(solution["a"], coef[:, 0], 1e-3)
    a, b = cp.Variable(4), cp.Variable()
    square = cp.sum_squares(FLOWERS @ a + b - Y[:, 0])
    best = optimum(cp.Minimize(square + alpha * cp.sum_squares(P @ a) + 2.0 * cp.norm1(a)))
    model = methods.regression(FLOWERS, Y[:, 0], alpha, 2.0, P)
    equal(solved(model).value, best, 1e-5)
    fitted = sdpdr.SpectralRegression(alpha=alpha).fit(FLOWERS, SPECIES)
    for rows in (np.flatnonzero(k == SPECIES) for k in range(3)):
        less(np.ptp(fitted.responses_[rows], axis=0).max(), 1e-9)
    equal(fitted.responses_.T @ fitted.responses_, np.eye(2))
    equal(fitted.components_.T, ridge_of(FLOWERS, fitted.responses_, alpha)[0])
    given = sdpdr.SpectralRegression(alpha=alpha).fit(FLOWERS, Y)
    coef, intercept = ridge_of(FLOWERS, Y, alpha)
    equal(given.transform(FLOWERS), FLOWERS @ coef + intercept)


@row(THESIS, "(4.1)–(4.12)")
def with_kernels():
    """The linear system in NumPy; errors at points left out, by fits without them."""
    K, Y, delta = rbf_kernel(FLOWERS, gamma=0.2), RNG.standard_normal((24, 2)), 0.05
    found = extend.fit_kernel(K, Y, delta)
    mean = Y.mean(axis=0)
    equal(found.coef, np.linalg.solve(K + delta * np.eye(24), Y - mean))
    equal(found(K), K @ found.coef + mean)
    i, rest = 3, np.arange(24) != 3
    left = np.linalg.solve(K[rest][:, rest] + delta * np.eye(23), (Y - mean)[rest])
    equal(found.leave_one_out()[i], Y[i] - mean - K[i, rest] @ left)
    fitted = sdpdr.SpectralRegression(kernel="rbf", gamma=0.2, alpha=delta).fit(FLOWERS, SPECIES)
    centred = fitted.responses_ - fitted.responses_.mean(axis=0)
    equal(fitted.dual_coef_, np.linalg.solve(K + delta * np.eye(24), centred))
    equal(fitted.transform(FLOWERS), K @ fitted.dual_coef_ + fitted.responses_.mean(axis=0))


@row(THESIS, "section 4.5")
def more_samples():
    """Rows that are added to the factor give the factor of the whole matrix, in NumPy."""
    K, Y, delta = rbf_kernel(FLOWERS, gamma=0.2), RNG.standard_normal((24, 2)), 0.05
    first = extend.fit_kernel(K[:15, :15], Y[:15], delta)
    grown = extend.extended(first, K[:15, 15:], K[15:, 15:], Y)
    equal(grown.factor.T @ grown.factor, K + delta * np.eye(24))
    equal(grown.coef, np.linalg.solve(K + delta * np.eye(24), Y - Y.mean(axis=0)))
    equal(grown.fitted, K @ grown.coef + grown.intercept)
    others = np.arange(24) != 3
    rest = np.linalg.solve(
        (K + delta * np.eye(24))[np.ix_(others, others)], grown.responses[others]
    )
    equal(grown.leave_one_out()[3], grown.responses[3] - K[3, others] @ rest)


@row(THESIS, "(5.1)–(5.7)")
def few_entries():
    """The program and both lassos in cvxpy, along the path; no more entries than asked for."""
    A, B = np.cov(FLOWERS.T), np.eye(4) + 0.3
    Z = cp.Variable((4, 4), PSD=True)
    goal = cp.trace(A @ Z) - 0.2 * cp.sum(cp.abs(Z))
    best = optimum(cp.Maximize(goal), [cp.trace(B @ Z) == 1])
    equal(solved(methods.sparse_direction(A, B, 0.2)).value, best, 1e-5)
    y, ridge = FLOWERS @ [1.0, 0.0, -0.5, 0.2] + RNG.standard_normal(24), 0.4
    path = extend.sparse_path(FLOWERS, y, ridge)
    a, b = cp.Variable(4), cp.Variable()
    square = cp.sum_squares(FLOWERS @ a + b - y) + ridge * cp.sum_squares(a)
    for beta in (3.0, 15.0, 40.0):
        optimum(cp.Minimize(square + beta * cp.norm1(a)))
        equal(path.at(beta), a.value, 1e-4)
        model = methods.regression(FLOWERS, y, ridge, beta)
        equal(solved(model)["a"], a.value, 1e-3)
    fitted = sdpdr.SpectralRegression(cardinality=2).fit(FLOWERS, SPECIES)
    responses = fitted.responses_
    for found, response in zip(fitted.components_, responses.T, strict=True):
        assert np.count_nonzero(found) == 2
        steps = extend.sparse_path(FLOWERS, response, fitted.alpha_)
        equal(found, steps.of_cardinality(2))
    K, alpha = rbf_kernel(FLOWERS, gamma=0.2), cp.Variable(24)
    path = extend.sparse_path(K, y)
    for beta in (0.5, 2.0):
        optimum(cp.Minimize(cp.sum_squares(K @ alpha + b - y) + beta * cp.norm1(alpha)))
        equal(path.at(beta), alpha.value, 1e-3)
    fitted = sdpdr.SpectralRegression(cardinality=5, alpha=0.0).fit(K, SPECIES)
    assert np.all(np.count_nonzero(fitted.components_, axis=1) <= 5)


@row(THESIS, "(6.1)–(6.7)")
def smooth_pictures():
    """Second differences of a picture, pixel by pixel; the regression by its normal equations."""
    shape, (h, g) = (3, 4), (1.0, 0.5)
    picture = RNG.standard_normal(shape)
    around, expected = np.pad(picture, 1, mode="edge"), np.zeros(shape)
    for i, j in np.ndindex(shape):
        here = around[i + 1, j + 1]
        expected[i, j] = (around[i, j + 1] + around[i + 2, j + 1] - 2.0 * here) / h**2
        expected[i, j] += (around[i + 1, j] + around[i + 1, j + 2] - 2.0 * here) / g**2
    P = extend.grid_laplacian(shape, (h, g))
    equal(P @ picture.ravel(), expected.ravel())
    pictures = RNG.standard_normal((24, 12)) + np.eye(3)[SPECIES] @ RNG.standard_normal((3, 12))
    fitted = sdpdr.SpectralRegression(penalty=P, alpha=0.6).fit(pictures, SPECIES)
    equal(fitted.components_.T, ridge_of(pictures, fitted.responses_, 0.6, P.toarray())[0], 1e-5)


@row(THESIS, "section 3.5.3")
def relevance_feedback():
    """First by distance; then by the response of a regression on labels and neighbours."""
    signs = set()
    for asked in (0, 12, 20):
        objects, query = np.delete(FLOWERS, asked, axis=0), FLOWERS[asked]
        relevant = np.delete(SPECIES, asked) == SPECIES[asked]
        search = extend.RelevanceFeedback(n_shown=12).fit(objects).ask(query)
        apart = cdist(objects, query[None])[:, 0]
        before, shown = search.ranking_, search.shown()
        equal(before, np.argsort(apart))
        equal(shown, before[:12])
        search.label(shown, relevant[shown])
        labels = np.full(23, -1)
        labels[shown] = relevant[shown]
        known = np.append(labels[before], 1)
        learned = sdpdr.SpectralRegression(responses="semisupervised", connect="mst")
        learned.fit(np.vstack([objects[before], query]), known)
        places = learned.transform(objects)[:, 0]
        ahead = places[labels == 1].mean() - places[labels == 0].mean()
        signs.add(np.sign(ahead))
        equal(search.ranking_, np.argsort(-np.sign(ahead) * places))
        less(relevant[before[:7]].mean(), relevant[search.ranking_[:7]].mean())
    assert len(signs) == 2, "relevant objects come last in all of these maps, or in none"
