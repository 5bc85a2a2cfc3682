"""Graph embedding and the regressions that replace its eigenproblems, against dense oracles."""

import sys

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from sklearn.linear_model import ElasticNet
from sklearn.manifold._locally_linear import barycenter_kneighbors_graph
from sklearn.metrics.pairwise import rbf_kernel

from sdpdr import datasets, extend, graphs
from sdpdr.errors import (
    DataError,
    DataTypeError,
    DroppedPointsWarning,
    DuplicatePointsWarning,
    ShapeError,
    UncertifiedWarning,
)
from sdpdr.families.regress.kernel import choose_kernel
from sdpdr.families.regress.pencils import within_classes
from sdpdr.families.regress.ridge import choose_ridge


def clouds(n=40, m=6, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    centres = 2.0 * rng.standard_normal((classes, m))
    return rng.standard_normal((n, m)) + centres[y] + 5.0, y


def half_labelled(y):
    return np.where(np.arange(y.size) < 12, y, -1)


def class_responses(y):
    return extend.graph_embedding(extend.class_pencil(y), np.unique(y).size - 1).vectors


def angle(A, B):
    return float(np.max(sl.subspace_angles(A, B)))


PENCILS = {
    "laplacian": lambda X, y: extend.laplacian_pencil(graphs.knn(X, 5, connect="mst")),
    "heat": lambda X, y: extend.laplacian_pencil(graphs.knn(X, 5, connect="mst"), "heat", 2.0),
    "reconstruction": lambda X, y: extend.reconstruction_pencil(graphs.knn(X, 5, connect="mst")),
    "geodesic": lambda X, y: extend.geodesic_pencil(graphs.knn(X, 5, connect="mst")),
    "classes": lambda X, y: extend.class_pencil(y),
    "contrast": lambda X, y: extend.contrast_pencil(graphs.knn(X, 5, connect="mst"), y),
    "within classes": lambda X, y: within_classes(extend.laplacian_pencil, X, y, 5, "euclidean"),
    "semisupervised": lambda X, y: extend.semisupervised_pencil(
        graphs.knn(X, 5, connect="mst"), half_labelled(y), 0.3
    ),
}


def dense(pencil):
    return sp.csr_array(pencil.weights).toarray(), sp.csr_array(pencil.mass_matrix).toarray()


@pytest.mark.daily(3)
@pytest.mark.parametrize("name", PENCILS)
def test_an_embedding_has_the_leading_solutions_besides_the_constant(name):
    pencil = PENCILS[name](*clouds())
    found = extend.graph_embedding(pencil, 2)
    W, D = dense(pencil)
    np.testing.assert_allclose(W @ found.vectors, D @ found.vectors * found.eigenvalues, atol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ D @ found.vectors, np.eye(2), atol=1e-9)
    values = sl.eigh(W, D, eigvals_only=True)
    if pencil.has_trivial:
        np.testing.assert_allclose(D.sum(axis=0) @ found.vectors, 0.0, atol=1e-9)
        values = np.delete(values, np.argmin(np.abs(values - W.sum() / D.sum())))
    np.testing.assert_allclose(found.eigenvalues, values[::-1][:2], atol=1e-9)


def test_reconstruction_is_that_of_scikit_learn():
    X, y = clouds()

    def expected(points):
        M = barycenter_kneighbors_graph(points, 5, reg=1e-3)
        return (M + M.T - M.T @ M).toarray()

    found = extend.reconstruction_pencil(graphs.knn(X, 5, connect="none")).weights.toarray()
    np.testing.assert_allclose(found, expected(X), atol=1e-9)
    within = within_classes(extend.reconstruction_pencil, X, y, 5, "euclidean").weights.toarray()
    own = y == 1
    np.testing.assert_allclose(within[np.ix_(own, own)], expected(X[own]), atol=1e-9)
    assert not within[np.ix_(own, ~own)].any()


def test_samples_that_coincide_get_one_position():
    X, _ = clouds(20)
    with pytest.warns(DuplicatePointsWarning):
        graph = graphs.knn(np.vstack([X, X[:3]]), 4, connect="mst")
    for pencil in (extend.laplacian_pencil(graph), extend.reconstruction_pencil(graph)):
        found = extend.graph_embedding(pencil, 2)
        np.testing.assert_allclose(found.vectors[20:], found.vectors[:3], atol=1e-9)


def test_components_without_a_label_are_refused():
    X, y = clouds()
    X[30:] += 100.0
    with pytest.raises(DataError, match="no labelled sample: 30"):
        extend.semisupervised_pencil(graphs.knn(X, 3, connect="none"), half_labelled(y))
    # Edges of weight zero join nothing.
    corner = [[1.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.9, 0.3, 0.0]]
    graph, y = graphs.complete(corner), np.array([0, 1, -1, -1, -1])
    with pytest.raises(DataError, match="1 of 2 components of the graph have no labelled"):
        extend.semisupervised_pencil(graph, y, weights="cosine")


# -- large sparse pencils --------------------------------------------------------------------------


def solves(pencil, d):
    found = extend.graph_embedding(pencil, d)
    left = pencil.weights @ found.vectors
    right = pencil.masses[:, None] * found.vectors
    np.testing.assert_allclose(left, right * found.eigenvalues, atol=1e-8)
    np.testing.assert_allclose(found.vectors.T @ right, np.eye(d), atol=1e-8)
    np.testing.assert_allclose(pencil.totals @ found.vectors, 0.0, atol=1e-6)
    return found


def test_iterations_find_the_dense_spectrum_of_a_graph_in_parts():
    rng = np.random.default_rng(0)
    X = np.vstack([100.0 * part + rng.standard_normal((60, 3)) for part in range(8)])
    pencil = extend.laplacian_pencil(graphs.knn(X, 5, connect="none"))
    found = solves(pencil, 9)
    np.testing.assert_allclose(found.eigenvalues[:7], 1.0, atol=1e-9)
    inside = found.vectors[:, :7].reshape(8, 60, 7)
    np.testing.assert_allclose(np.ptp(inside, axis=1), 0.0, atol=1e-8)
    small = extend.graph_embedding(extend.Pencil(pencil.weights.toarray(), pencil.masses), 9)
    np.testing.assert_allclose(found.eigenvalues, small.eigenvalues, atol=1e-8)


@pytest.mark.parametrize("points", ["space", "plane"])
def test_clusters_of_eigenvalues_are_found(points):
    """In few dimensions, neighbours reproduce most points exactly, and eigenvalues are equal."""
    X = datasets.swiss_roll(700, seed=0)[0] if points == "space" else None
    X = np.random.default_rng(0).random((700, 2)) if X is None else X
    k = 5 if points == "space" else 6
    found = solves(extend.reconstruction_pencil(graphs.knn(X, k)), 3)
    np.testing.assert_allclose(found.eigenvalues, 1.0, atol=1e-7)


def test_eigenvalues_close_to_others_are_the_dense_ones():
    """For a cloud in many dimensions the wanted eigenvalues lie at the end of a dense spectrum."""
    X = np.random.default_rng(0).standard_normal((600, 20))
    pencil = extend.laplacian_pencil(graphs.knn(X, 5))
    values = sl.eigh(pencil.normalized().toarray(), eigvals_only=True)[::-1]
    np.testing.assert_allclose(solves(pencil, 2).eigenvalues, values[1:3], atol=1e-9)


def test_an_iteration_that_stops_early_warns(monkeypatch):
    monkeypatch.setattr("sdpdr.families.regress.embedding._SHIFTS", 1)
    monkeypatch.setattr("sdpdr.families.regress.embedding._RESTARTS", 1)
    pencil = extend.reconstruction_pencil(graphs.knn(np.random.default_rng(0).random((600, 2)), 6))
    with pytest.warns(UncertifiedWarning, match="nearly equal"):
        extend.graph_embedding(pencil, 2)


# -- linear functions ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PENCILS.keys() - {"semisupervised"}))
def test_with_more_features_than_samples_regression_solves_the_linear_pencil(name):
    """Cai thesis, corollary 3; the mean that is subtracted is that of the masses."""
    X, y = clouds(24, 60)
    pencil = PENCILS[name](X, y)
    found = extend.graph_embedding(pencil, 2)
    fitted = extend.ridge(X, found.vectors, 0.0, weights=pencil.masses)
    direct = extend.linear_embedding(X, pencil, 2)
    np.testing.assert_allclose(fitted(X), found.vectors, atol=1e-8)
    np.testing.assert_allclose(direct.eigenvalues, found.eigenvalues, atol=1e-8)
    assert angle(direct(X), fitted(X)) < 1e-6


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(40, 6), (20, 30)])
def test_directions_solve_the_dense_generalized_eigenproblem(shape, kind):
    X, y = clouds(*shape)
    for name in ("laplacian", "semisupervised"):
        pencil = PENCILS[name](X, y)
        found = extend.linear_embedding(kind(X), pencil, 2, gamma=0.5)
        centred = X - pencil.totals @ X / pencil.totals.sum()
        left = centred.T @ pencil.weights @ centred
        right = centred.T @ pencil.mass_matrix @ centred + 0.5 * np.eye(shape[1])
        values, vectors = sl.eigh(left, right)
        np.testing.assert_allclose(found.eigenvalues, values[::-1][:2], atol=1e-9)
        assert angle(found.coef, vectors[:, -2:]) < 1e-6
        np.testing.assert_allclose(found.coef.T @ right @ found.coef, np.eye(2), atol=1e-8)


# -- the ridge -------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["svd", "inner products", "lsqr"])
@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
def test_a_ridge_solves_the_normal_equations(route, shape, monkeypatch):
    """With a decomposition, and with LSQR, whose damping is the square root of alpha."""
    limits = {"inner products": ("_QUICK_ENTRIES", 3), "lsqr": ("DENSE", 3)}
    if route in limits:
        monkeypatch.setattr(sys.modules["sdpdr.families.regress.ridge"], *limits[route])
    rng = np.random.default_rng(0)
    n, m = shape
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.4) + 0.0
    Y, weights = rng.standard_normal((n, 2)), rng.uniform(0.5, 2.0, n)
    for P in (None, np.diff(np.eye(m), axis=0), sp.csr_array(np.diff(np.eye(m), axis=0))):
        share = weights / weights.sum()
        centred, target = X - share @ X, Y - share @ Y
        square = np.eye(m) if P is None else np.asarray((P.T @ P) @ np.eye(m))
        system = centred.T @ centred + 0.3 * square
        expected = np.linalg.lstsq(system, centred.T @ target, rcond=1e-12)[0]
        for kind in (np.asarray, sp.csr_array):
            found = extend.ridge(kind(X), Y, 0.3, penalty=P, weights=weights)
            np.testing.assert_allclose(found(kind(X)), centred @ expected + share @ Y, atol=1e-7)
            np.testing.assert_allclose(found.coef, expected, atol=1e-7)


def test_a_penalty_on_images_is_second_differences():
    A = np.random.default_rng(0).standard_normal((4, 3))

    def differences(m):
        D = -2.0 * np.eye(m) + np.eye(m, k=1) + np.eye(m, k=-1)
        D[0, 0] = D[-1, -1] = -1.0
        return D

    fine = extend.grid_laplacian((4, 3), spacing=(0.25, 1.0 / 3.0))
    expected = 16 * differences(4) @ A + 9 * A @ differences(3).T
    np.testing.assert_allclose(fine @ A.reshape(-1), expected.reshape(-1))
    # For images stored column by column, the factors are swapped.
    printed = np.kron(differences(4), np.eye(3)) + np.kron(np.eye(4), differences(3))
    plain = differences(4) @ A + A @ differences(3).T
    assert np.max(np.abs(printed @ A.T.reshape(-1) - plain.T.reshape(-1))) > 0.1


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(15, 4), (12, 20)])
def test_leave_one_out_residuals_are_those_of_maps_without_the_sample(kind, shape):
    X, y = clouds(*shape)
    Y, n = class_responses(y), shape[0]
    choice = choose_ridge(kind(X), Y, alphas=[0.5])
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        other = extend.ridge(X[rest], Y[rest], 0.5)
        np.testing.assert_allclose(choice.residuals[i], Y[i] - other(X[i][None])[0], atol=1e-8)
    np.testing.assert_allclose(choice.mapping(X), extend.ridge(X, Y, 0.5)(X), atol=1e-9)


@pytest.mark.parametrize("shape", [(15, 30), (40, 6)])
@pytest.mark.parametrize(("repeats", "offset"), [(3, 0.0), (1, 1.7e9)])
def test_sparse_rows_choose_the_ridge_of_dense_ones(shape, repeats, offset):
    """Repeated rows have singular values of zero; times have means far beyond their spread."""
    rng = np.random.default_rng(repeats)
    X, Y = rng.random(shape) * (rng.random(shape) < 0.5), rng.standard_normal((shape[0], 2))
    X[:, 0] = offset + 3.0 * rng.standard_normal(shape[0])
    X, Y = X.repeat(repeats, axis=0), Y.repeat(repeats, axis=0)
    dense, sparse = choose_ridge(X, Y), choose_ridge(sp.csr_array(X), Y)
    assert sparse.alpha == pytest.approx(dense.alpha, rel=1e-6)
    assert sparse.error == pytest.approx(dense.error, rel=1e-6)


def test_equal_errors_choose_the_smallest_ridge():
    """Points equally far from all others learn nothing from them, with any ridge."""
    rng = np.random.default_rng(0)
    X, Y = rng.permutation(np.eye(12)), rng.standard_normal((12, 2))
    ridges = [1e-8, 1e-4, 1.0]
    errors = [choose_ridge(X, Y, alphas=[alpha]).error for alpha in ridges]
    assert np.ptp(errors) < 1e-6 * errors[0]
    assert choose_ridge(X, Y, alphas=ridges).alpha == 1e-8


def test_one_column_in_another_unit_does_not_suppress_the_others():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    Y = X @ rng.standard_normal((5, 2)) + 0.1 * rng.standard_normal((200, 2))
    for unit in (1e6, 1e10):
        wide = np.column_stack([X, unit * rng.standard_normal(200)])
        assert choose_ridge(wide, Y).error < 1.05 * choose_ridge(X, Y).error


@pytest.mark.parametrize("ridge", [0.0, 0.7])
def test_points_on_a_sparse_path_are_those_of_scikit_learn(ridge):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((25, 8)), rng.standard_normal(25)
    path = extend.sparse_path(X, y, ridge)
    for beta in (0.5, 2.0, float(path.betas[1])):
        net = ElasticNet(beta / 50 + ridge / 25, l1_ratio=beta / (beta + 2 * ridge), tol=1e-12)
        np.testing.assert_allclose(path.at(beta), net.fit(X, y).coef_, atol=1e-8)
    assert np.count_nonzero(path.of_cardinality(3)) == 3


# -- kernels ---------------------------------------------------------------------------------------


def test_added_samples_give_the_map_of_all_samples():
    X, y = clouds(36)
    y[30:] = 7  # a new class
    K = rbf_kernel(X, gamma=0.1)
    first = extend.fit_kernel(K[:30, :30], class_responses(y[:30]), 0.01)
    grown = extend.extended(first, K[:30, 30:], K[30:, 30:], class_responses(y))
    batch = extend.fit_kernel(K, class_responses(y), 0.01)
    np.testing.assert_allclose(grown.coef, batch.coef, atol=1e-10)
    np.testing.assert_allclose(grown.factor, batch.factor, atol=1e-12)
    # As printed, the new diagonal lacks the ridge.
    corner = sl.solve_triangular(first.factor, K[:30, 30:], trans="T")
    printed = K[30:, 30:] - corner.T @ corner
    assert np.max(np.abs(printed - grown.factor[30:, 30:].T @ grown.factor[30:, 30:])) > 5e-3


def test_leave_one_out_of_a_kernel_is_refitting():
    X, y = clouds(15)
    K, Y = rbf_kernel(X, gamma=0.1), class_responses(y)
    residuals = extend.fit_kernel(K, Y, 0.1).leave_one_out()
    for i in range(15):  # the mean of Y, which is zero, is kept
        rest = np.delete(np.arange(15), i)
        coef = np.linalg.solve(K[np.ix_(rest, rest)] + 0.1 * np.eye(14), Y[rest])
        np.testing.assert_allclose(residuals[i], Y[i] - K[i, rest] @ coef, atol=1e-12)
    choice = choose_kernel(lambda g: rbf_kernel(X, gamma=g), Y, [0.01, 0.1])
    for gamma, delta, error in choice.tried:
        fitted = extend.fit_kernel(rbf_kernel(X, gamma=gamma), Y, delta)
        assert error == pytest.approx(np.sqrt(np.mean(fitted.leave_one_out() ** 2)), rel=1e-4)
    assert choice.error == min(error for *_, error in choice.tried)


def test_kernel_discriminants_have_the_penalty_of_the_kernel():
    """(K + delta I)^-1 Y spans the pencil with K K + delta K on the right, not K K + delta I."""
    X, y = clouds(25)
    K, Y, delta = rbf_kernel(X, gamma=0.1), class_responses(y), 0.05
    fitted = extend.fit_kernel(K, Y, delta)
    W = Y @ Y.T
    _, direct = sl.eigh(K @ W @ K, K @ K + delta * K)
    assert angle(fitted.coef, direct[:, -2:]) < 1e-5
    _, other = sl.eigh(K @ W @ K, K @ K + delta * np.eye(25))
    assert angle(fitted.coef, other[:, -2:]) > 1e-3


# -- the trace ratio, and faults -------------------------------------------------------------------


def test_the_trace_ratio_is_at_least_that_of_any_directions_and_proved():
    rng = np.random.default_rng(0)
    A, B = (M @ M.T for M in rng.standard_normal((2, 6, 6)))
    found = extend.trace_ratio(A, B, 2)
    assert found.value <= found.bound <= found.value * (1.0 + 1e-9)

    def ratio(V):
        V = np.linalg.qr(V)[0]
        return np.trace(V.T @ A @ V) / np.trace(V.T @ B @ V)

    assert ratio(found.components) == pytest.approx(found.value)
    assert max(ratio(V) for V in rng.standard_normal((200, 6, 2))) < found.value
    # The ratio trace is another problem.
    assert ratio(sl.eigh(A, B)[1][:, -2:]) < found.value - 1e-3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X, y: extend.class_pencil(np.zeros(5)), "two"),
        (lambda X, y: extend.Pencil(np.arange(4.0).reshape(2, 2)), "symmetric"),
        (lambda X, y: extend.Pencil(np.eye(2), np.array([1.0, 0.0])), "unbounded"),
        (lambda X, y: extend.graph_embedding(extend.class_pencil(y), 3), "1..2"),
        (lambda X, y: extend.contrast_pencil(graphs.knn(X, 5, connect="mst"), y, 2.0), "0, 1"),
        (lambda X, y: extend.ridge(X, X, -1.0), "alpha=-1"),
        (lambda X, y: extend.ridge(X, X[:3]), "40 rows"),
        (lambda X, y: extend.ridge(X, X, penalty=np.eye(4)), "6 columns"),
        (lambda X, y: extend.fit_kernel(np.ones((3, 3)), X[:3], 0.0), "coincide"),
        (lambda X, y: extend.linear_embedding(X, extend.class_pencil(y), 7), "1..6"),
        (lambda X, y: extend.trace_ratio(np.eye(3), np.zeros((3, 3))), "vanish"),
        (
            lambda X, y: choose_ridge(sp.eye_array(4100, format="csr"), np.zeros(4100)),
            r"order 4100 here, above 4000\. Pass a number alpha",
        ),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises((DataError, ShapeError), match=words):
        call(*clouds())


def test_lists_are_taken_as_arrays():
    X, y = clouds(12, 3)
    Y, K, L = class_responses(y), X @ X.T + np.eye(12), graphs.path(np.ones(11)).laplacian()
    known = np.where(np.arange(12) % 4 == 0, X[:, 0], np.nan)
    pairs = [
        (extend.ridge(X, Y).coef, extend.ridge(X.tolist(), Y.tolist()).coef),
        (extend.fit_kernel(K, Y).coef, extend.fit_kernel(K.tolist(), Y.tolist()).coef),
        (extend.sparse_path(X, X[:, 0]).coefs, extend.sparse_path(X.tolist(), X[:, 0].tolist())[1]),
        (extend.transduce(L, known), extend.transduce(L.toarray().tolist(), known.tolist())),
        (extend.trace_ratio(K, K)[1], extend.trace_ratio(K.tolist(), K.tolist())[1]),
        (extend.Pencil(K).weights, extend.Pencil(K.tolist(), [1.0] * 12).weights),
    ]
    for of_arrays, of_lists in pairs:
        np.testing.assert_allclose(of_lists, of_arrays)


SPOILED = np.where(np.eye(12, 3) > 0, np.nan, 1.0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: extend.ridge(SPOILED, np.ones(12)), DataError, "not finite: 0, 1, 2"),
        (lambda: extend.ridge(np.eye(12), SPOILED), DataError, "responses of samples 0, 1, 2"),
        (lambda: extend.sparse_path(SPOILED, np.ones(12)), DataError, "not finite: 0, 1, 2"),
        (lambda: extend.fit_extension(SPOILED, np.ones((12, 1))), DataError, "not finite: 0, 1, 2"),
        (
            lambda: extend.fit_kernel(np.triu(np.ones((3, 3))), [1, 2, 3]),
            DataError,
            "not symmetric",
        ),
        (lambda: extend.trace_ratio(np.triu(np.ones((3, 3))), np.eye(3)), DataError, "symmetric"),
        (lambda: extend.laplacian_pencil(np.eye(4)), DataTypeError, r"graphs\.knn\(X"),
        (lambda: extend.semisupervised_lle(np.eye(4), np.ones(4)), DataTypeError, "graph of"),
        (lambda: graphs.geodesics(np.eye(4)), DataTypeError, "takes a graph of neighbours"),
        (lambda: graphs.transitions(np.eye(4), "RR"), DataTypeError, "takes a graph"),
    ],
)
def test_what_is_no_table_matrix_or_graph_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_graphs_that_dropped_samples_are_refused():
    X, _ = clouds()
    X[35:] += 100.0
    with pytest.warns(DroppedPointsWarning):
        graph = graphs.knn(X, 3, connect="largest")
    with pytest.raises(DataError, match="dropped samples"):
        extend.laplacian_pencil(graph)
