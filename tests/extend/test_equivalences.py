"""What the regressions are equal to: the eigenproblems that they replace."""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold._locally_linear import barycenter_kneighbors_graph
from sklearn.metrics.pairwise import rbf_kernel

from sdpdr import datasets, extend, graphs
from sdpdr.errors import DataError, DuplicatePointsWarning, ShapeError, UncertifiedWarning


def angle(A, B):
    return float(np.max(sl.subspace_angles(A, B)))


def clouds(n=40, m=6, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    centres = 2.0 * rng.standard_normal((classes, m))
    return rng.standard_normal((n, m)) + centres[y] + 5.0, y


def pencils(X, y):
    graph = graphs.knn(X, 5, connect="mst")
    inside = extend.knn_within_classes(X, y, 5)
    return {
        "laplacian": extend.laplacian_pencil(graph),
        "heat": extend.laplacian_pencil(graph, "heat", bandwidth=2.0),
        "reconstruction": extend.reconstruction_pencil(graph),
        "geodesic": extend.geodesic_pencil(graph),
        "classes": extend.class_pencil(y),
        "contrast": extend.contrast_pencil(graph, y),
        "laplacian within classes": extend.laplacian_pencil(inside),
        "reconstruction within classes": extend.reconstruction_pencil(inside),
    }


NAMES = (
    "laplacian", "heat", "reconstruction", "geodesic", "classes", "contrast",
    "laplacian within classes", "reconstruction within classes",
)  # fmt: skip


# -- pencils --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_an_embedding_solves_its_pencil(name):
    pencil = pencils(*clouds())[name]
    found = extend.graph_embedding(pencil, 2)
    W = pencil.weights.toarray() if sp.issparse(pencil.weights) else pencil.weights
    D = np.diag(pencil.masses)
    residual = W @ found.vectors - D @ found.vectors * found.eigenvalues
    assert np.max(np.abs(residual)) < 1e-9
    np.testing.assert_allclose(found.vectors.T @ D @ found.vectors, np.eye(2), atol=1e-9)
    # Among all vectors D-orthogonal to the constant, these are the leading ones.
    values = sl.eigh(W, D, eigvals_only=True)
    if pencil.has_trivial:
        assert np.max(np.abs(pencil.masses @ found.vectors)) < 1e-9
        quotient = W.sum() / pencil.masses.sum()
        values = np.delete(values, np.argmin(np.abs(values - quotient)))
    np.testing.assert_allclose(found.eigenvalues, values[::-1][:2], atol=1e-9)


def of_scikit_learn(X, k):
    M = barycenter_kneighbors_graph(X, k, reg=1e-3)
    return (M + M.T - M.T @ M).toarray()


def test_reconstruction_is_from_each_samples_own_neighbours():
    X, y = clouds()
    graph = graphs.knn(X, 5, connect="none")
    assert graph.degree.max() > 8
    found = extend.reconstruction_pencil(graph).weights.toarray()
    np.testing.assert_allclose(found, of_scikit_learn(X, 5), atol=1e-9)
    within = extend.reconstruction_pencil(extend.knn_within_classes(X, y, 5)).weights.toarray()
    for label in range(3):
        own = y == label
        np.testing.assert_allclose(within[np.ix_(own, own)], of_scikit_learn(X[own], 5), atol=1e-9)
        assert not within[np.ix_(own, ~own)].any()
    # Edges alone do not say whose neighbours they make: all of them count.
    bare = graphs.NeighborGraph(graph.n, graph.edges, graph.sqdist)
    either = extend.reconstruction_pencil(bare).weights.toarray()
    assert np.count_nonzero(either) > np.count_nonzero(found)


def test_edges_that_join_parts_take_part_in_reconstruction():
    X = np.random.default_rng(0).standard_normal((40, 6))
    X[20:] += 10.0
    for connect, parts in (("none", 2), ("mst", 1)):
        graph = graphs.knn(X, 5, connect=connect)
        values = np.linalg.eigvalsh(extend.reconstruction_pencil(graph).weights.toarray())
        assert np.sum(values > 1.0 - 1e-9) == parts


def test_the_constant_stands_in_the_middle_of_the_contrast_pencil():
    X, y = clouds()
    pencil = extend.contrast_pencil(graphs.knn(X, 8, connect="mst"), y, share=0.1)
    W, D = pencil.weights.toarray(), pencil.masses
    np.testing.assert_allclose(W.sum(axis=1), 0.9 * D, atol=1e-12)
    values = sl.eigh(W, np.diag(D), eigvals_only=True)
    assert values[0] < 0.9 - 1e-6


def test_components_keep_their_indicators():
    """Three components: two indicators beside the constant, both with eigenvalue one."""
    X, y = clouds()
    pencil = extend.laplacian_pencil(extend.knn_within_classes(X, y, 4))
    found = extend.graph_embedding(pencil, 2)
    np.testing.assert_allclose(found.eigenvalues, 1.0, atol=1e-10)
    for label in range(3):
        assert np.ptp(found.vectors[y == label], axis=0).max() < 1e-9


def test_a_large_sparse_pencil_agrees_with_the_dense_one():
    X = np.random.default_rng(0).standard_normal((600, 3))
    pencil = extend.laplacian_pencil(graphs.knn(X, 6, connect="mst"))
    found = extend.graph_embedding(pencil, 3)
    dense = extend.graph_embedding(extend.Pencil(pencil.weights.toarray(), pencil.masses), 3)
    np.testing.assert_allclose(found.eigenvalues, dense.eigenvalues, atol=1e-9)
    assert angle(found.vectors, dense.vectors) < 1e-5


def test_eigenvalues_that_agree_but_for_rounding_are_found():
    # In space, five neighbours weigh out most points exactly.
    X, _ = datasets.swiss_roll(1000, seed=0)
    pencil = extend.reconstruction_pencil(graphs.knn(X, 5))
    found = extend.graph_embedding(pencil, 2)
    np.testing.assert_allclose(found.eigenvalues, 1.0, atol=1e-9)
    inner = found.vectors.T @ found.vectors
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-8)


def test_samples_that_coincide_get_one_place():
    X, _ = clouds(20)
    doubled = np.vstack([X, X[:3]])
    with pytest.warns(DuplicatePointsWarning):
        graph = graphs.knn(doubled, 4, connect="mst")
    for pencil in (extend.laplacian_pencil(graph), extend.reconstruction_pencil(graph)):
        found = extend.graph_embedding(pencil, 2)
        np.testing.assert_allclose(found.vectors[20:], found.vectors[:3], atol=1e-9)


def test_class_responses_span_the_indicators():
    _, y = clouds(31)
    Y = extend.class_responses(y)
    assert Y.shape == (31, 2)
    np.testing.assert_allclose(Y.T @ Y, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(Y.sum(axis=0), 0.0, atol=1e-12)
    W = extend.class_pencil(y).weights
    np.testing.assert_allclose(W @ Y, Y, atol=1e-12)


# -- spectral regression --------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_with_more_features_than_samples_regression_solves_the_linear_pencil(name):
    """Cai thesis, corollary 3: at full rank the responses are met exactly."""
    X, y = clouds(24, 60)
    pencil = pencils(X, y)[name]
    found = extend.graph_embedding(pencil, 2)
    fitted = extend.ridge(X, found.vectors, 0.0, weights=pencil.masses)
    direct = extend.linear_embedding(X, pencil, 2)
    np.testing.assert_allclose(fitted(X), found.vectors, atol=1e-8)
    np.testing.assert_allclose(direct.eigenvalues, found.eigenvalues, atol=1e-8)
    assert angle(direct(X), fitted(X)) < 1e-6


def test_another_mean_than_that_of_the_masses_misses_the_pencil():
    X, _ = clouds(24, 23)
    pencil = extend.laplacian_pencil(graphs.knn(X, 5, connect="mst"))
    found = extend.graph_embedding(pencil, 1)
    a = extend.ridge(X, found.vectors, 0.0, weights=pencil.masses)
    np.testing.assert_allclose(a(X), found.vectors, atol=1e-8)
    centred = X - X.mean(axis=0)
    plain = np.linalg.lstsq(centred, found.vectors, rcond=None)[0]
    assert np.max(np.abs(centred @ plain - found.vectors)) > 1e-4


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize(("n", "m"), [(40, 6), (20, 30)])
def test_ridge_on_class_responses_spans_regularised_discriminants(alpha, n, m):
    """The span of (X'X + alpha R)^-1 X' Y is that of the penalised pencil, for any R."""
    X, y = clouds(n, m)
    fitted = extend.ridge(X, extend.class_responses(y), alpha)
    direct = extend.linear_embedding(X, extend.class_pencil(y), 2, gamma=alpha)
    assert angle(fitted.coef, direct.coef) < 1e-6
    # The mixing: eigenvectors of the small matrix Y' X (X'X + alpha I)^-1 X' Y.
    centred, Y = X - X.mean(axis=0), extend.class_responses(y)
    small = Y.T @ centred @ fitted.coef
    np.testing.assert_allclose(np.linalg.eigvalsh(small)[::-1], direct.eigenvalues, atol=1e-9)


def test_without_a_penalty_they_are_those_of_scikit_learn():
    X, y = clouds(60, 5)
    fitted = extend.ridge(X, extend.class_responses(y), 0.0)
    reference = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert angle(fitted.coef, reference.scalings_[:, :2]) < 1e-6


def test_a_penalty_on_images_is_a_pencil_too():
    X, y = clouds(40, 12)
    P = extend.grid_laplacian((3, 4)).toarray()
    fitted = extend.ridge(X, extend.class_responses(y), 2.0, penalty=P)
    centred = X - X.mean(axis=0)
    W = extend.class_pencil(y).weights.toarray()
    _, direct = sl.eigh(centred.T @ W @ centred, centred.T @ centred + 2.0 * P.T @ P)
    assert angle(fitted.coef, direct[:, -2:]) < 1e-6


def test_semisupervised_responses_solve_the_large_pencil():
    X, y = clouds(40)
    y = np.where(np.arange(40) < 12, y, -1)
    graph = graphs.knn(X, 5, connect="mst")
    found = extend.semisupervised_responses(graph, y, 0.3)
    known = y >= 0
    W = np.zeros((40, 40))
    W[np.ix_(known, known)] = extend.class_pencil(y[known]).weights.toarray()
    D = np.diag(known.astype(float)) + 0.3 * graph.laplacian().toarray()
    np.testing.assert_allclose(W @ found.vectors, D @ found.vectors * found.eigenvalues, atol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ D @ found.vectors, np.eye(2), atol=1e-9)
    values = sl.eigh(W, D, eigvals_only=True)[::-1]
    assert values[0] == pytest.approx(1.0)  # the constant
    np.testing.assert_allclose(found.eigenvalues, values[1:3], atol=1e-9)


def test_the_large_pencil_itself_has_the_same_solutions():
    X, y = clouds(40)
    y = np.where(np.arange(40) < 12, y, -1)
    graph = graphs.knn(X, 5, connect="mst")
    pencil = extend.semisupervised_pencil(graph, y, 0.3)
    assert pencil.has_trivial
    small = extend.semisupervised_responses(graph, y, 0.3)
    large = extend.graph_embedding(pencil, 2)
    np.testing.assert_allclose(large.eigenvalues, small.eigenvalues, atol=1e-9)
    assert angle(large.vectors, small.vectors) < 1e-6


def test_semisupervised_directions_are_those_of_the_penalised_scatter():
    """S_b a = lambda (S_t + alpha X' L X) a about the mean of the labelled samples."""
    X, y = clouds(40)
    y = np.where(np.arange(40) < 12, y, -1)
    graph, known = graphs.knn(X, 5, connect="mst"), y >= 0
    found = extend.linear_embedding(X, extend.semisupervised_pencil(graph, y, 0.3), 2)
    centred = X - X[known].mean(axis=0)
    between = centred[known].T @ extend.class_pencil(y[known]).weights @ centred[known]
    total = centred[known].T @ centred[known]
    smooth = X.T @ graph.laplacian() @ X
    values, direct = sl.eigh(between, total + 0.3 * smooth)
    np.testing.assert_allclose(found.eigenvalues, values[::-1][:2], atol=1e-9)
    assert angle(found.coef, direct[:, -2:]) < 1e-6
    np.testing.assert_allclose(found.mean, X[known].mean(axis=0), atol=1e-12)


def test_leaving_a_sample_out_of_a_ridge_is_what_it_says():
    X, y = clouds(15, 4)
    Y = extend.class_responses(y)
    choice = extend.choose_ridge(X, Y, [0.5])
    for i in range(15):
        rest = np.delete(np.arange(15), i)
        other = extend.ridge(X[rest], Y[rest], 0.5)
        np.testing.assert_allclose(choice.residuals[i], Y[i] - other(X[i][None])[0], atol=1e-10)


def test_all_labels_known_and_no_smoothing_leave_the_class_responses():
    X, y = clouds(30)
    found = extend.semisupervised_responses(graphs.knn(X, 5, connect="mst"), y, 1e-9)
    assert angle(found.vectors, extend.class_responses(y)) < 1e-6


# -- kernels --------------------------------------------------------------------------------------


def test_without_a_ridge_the_kernel_map_passes_through_the_responses():
    X, _ = clouds(30)
    K, Y = rbf_kernel(X, gamma=0.05), np.random.default_rng(0).standard_normal((30, 2))
    np.testing.assert_allclose(extend.fit_kernel(K, Y, 0.0)(K), Y, atol=1e-6)


def test_more_samples_are_the_same_as_all_at_once():
    X, y = clouds(36)
    y[30:] = 7  # a class that was not there before
    K = rbf_kernel(X, gamma=0.1)
    first = extend.fit_kernel(K[:30, :30], extend.class_responses(y[:30]), 0.01)
    grown = extend.extended(first, K[:30, 30:], K[30:, 30:], extend.class_responses(y))
    batch = extend.fit_kernel(K, extend.class_responses(y), 0.01)
    np.testing.assert_allclose(grown.coef, batch.coef, atol=1e-10)
    np.testing.assert_allclose(grown.factor, batch.factor, atol=1e-12)
    # As printed, the new diagonal lacks the ridge, which is another matrix.
    corner = sl.solve_triangular(first.factor, K[:30, 30:], trans="T")
    printed = K[30:, 30:] - corner.T @ corner
    assert np.max(np.abs(printed - grown.factor[30:, 30:].T @ grown.factor[30:, 30:])) > 5e-3


def test_leave_one_out_is_what_leaving_one_out_gives():
    X, y = clouds(15)
    K, Y = rbf_kernel(X, gamma=0.1), extend.class_responses(y)
    residuals = extend.fit_kernel(K, Y, 0.1, intercept=False).leave_one_out()
    for i in range(15):
        rest = np.delete(np.arange(15), i)
        other = extend.fit_kernel(K[np.ix_(rest, rest)], Y[rest], 0.1, intercept=False)
        np.testing.assert_allclose(residuals[i], Y[i] - other(K[i, rest][None])[0], atol=1e-12)
    choice = extend.choose_kernel(lambda g: rbf_kernel(X, gamma=g), Y, [0.01, 0.1], [0.1, 1.0])
    mine = {(g, d): e for g, d, e in choice.tried}[0.1, 0.1]
    centred = extend.fit_kernel(K, Y, 0.1).leave_one_out()
    assert mine == pytest.approx(np.sqrt(np.mean(centred**2)))
    assert choice.error == min(e for *_, e in choice.tried)


def test_kernel_discriminants_have_the_penalty_of_the_kernel():
    """(K + delta I)^-1 Y spans the pencil with K K + delta K on the right, not K K + delta I."""
    X, y = clouds(25)
    K, Y, delta = rbf_kernel(X, gamma=0.1), extend.class_responses(y), 0.05
    fitted = extend.fit_kernel(K, Y, delta, intercept=False)
    # Class responses without the constant: W less its constant part.
    W = Y @ Y.T
    _, direct = sl.eigh(K @ W @ K, K @ K + delta * K)
    assert angle(fitted.coef, direct[:, -2:]) < 1e-5
    _, other = sl.eigh(K @ W @ K, K @ K + delta * np.eye(25))
    assert angle(fitted.coef, other[:, -2:]) > 1e-3


# -- every solver of the ridge, and sparsity ------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("solver", ["cholesky", "dual", "lsqr"])
@pytest.mark.parametrize(("n", "m"), [(30, 8), (8, 30)])
def test_all_ways_to_a_ridge_agree(kind, solver, n, m):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, m)) * (rng.random((n, m)) < 0.4) + 0.0
    Y = rng.standard_normal((n, 2))
    centred, target = X - X.mean(axis=0), Y - Y.mean(axis=0)
    expected = np.linalg.solve(centred.T @ centred + 0.3 * np.eye(m), centred.T @ target)
    found = extend.ridge(kind(X), Y, 0.3, solver=solver)
    np.testing.assert_allclose(found.coef, expected, atol=1e-8)
    np.testing.assert_allclose(found(kind(X)), centred @ expected + Y.mean(axis=0), atol=1e-8)


def test_the_damping_is_the_root_of_alpha():
    """As printed, alpha itself would be a ridge of its square."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 5)), rng.standard_normal((20, 1))
    one = extend.ridge(X, Y, 4.0, solver="lsqr").coef
    np.testing.assert_allclose(one, extend.ridge(X, Y, 4.0, solver="cholesky").coef, atol=1e-8)
    assert np.max(np.abs(one - extend.ridge(X, Y, 16.0).coef)) > 1e-3


def test_the_penalty_on_images_is_second_differences():
    A = np.random.default_rng(0).standard_normal((4, 3))

    def differences(m):
        D = -2.0 * np.eye(m) + np.eye(m, k=1) + np.eye(m, k=-1)
        D[0, 0] = D[-1, -1] = -1.0
        return D

    expected = differences(4) @ A + A @ differences(3).T
    found = extend.grid_laplacian((4, 3)) @ A.reshape(-1)
    np.testing.assert_allclose(found, expected.reshape(-1), atol=1e-12)
    # Stored column by column the factors change places.
    printed = np.kron(differences(4), np.eye(3)) + np.kron(np.eye(4), differences(3))
    assert np.max(np.abs(printed @ A.T.reshape(-1) - expected.T.reshape(-1))) > 0.1
    fine = extend.grid_laplacian((4, 3), spacing=(0.25, 1.0 / 3.0))
    np.testing.assert_allclose(
        fine @ A.reshape(-1), (16 * differences(4) @ A + 9 * A @ differences(3).T).reshape(-1)
    )


@pytest.mark.parametrize("ridge", [0.0, 0.7])
def test_points_on_a_sparse_path_meet_their_conditions(ridge):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((25, 8)), rng.standard_normal(25)
    path = extend.sparse_path(X, y, ridge)
    for beta in (0.5, 2.0, float(path.betas[1])):
        a = path.at(beta)
        slope = 2.0 * X.T @ (X @ a - y) + 2.0 * ridge * a
        on = a != 0.0
        np.testing.assert_allclose(slope[on], -beta * np.sign(a[on]), atol=1e-8)
        assert np.all(np.abs(slope[~on]) <= beta + 1e-8)
    assert np.count_nonzero(path.of_cardinality(3)) == 3


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X, y: extend.class_responses(np.zeros(5)), "two"),
        (lambda X, y: extend.ridge(X, X, -1.0), "alpha=-1"),
        (lambda X, y: extend.ridge(X, X[:3]), "40 rows"),
        (lambda X, y: extend.ridge(X, X, solver="magic"), "magic"),
        (lambda X, y: extend.ridge(X, X, 0.0, solver="dual"), "dual"),
        (lambda X, y: extend.Pencil(np.arange(4.0).reshape(2, 2)), "symmetric"),
        (lambda X, y: extend.Pencil(np.eye(2), np.array([1.0, 0.0])), "unbounded"),
        (lambda X, y: extend.graph_embedding(extend.class_pencil(y), 40), "1..39"),
        (lambda X, y: extend.fit_kernel(np.ones((3, 3)), X[:3], 0.0), "coincide"),
        (lambda X, y: extend.linear_embedding(X, extend.class_pencil(y), 7), "1..6"),
        (lambda X, y: extend.contrast_pencil(graphs.knn(X, 5, connect="mst"), y, 2.0), "0, 1"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises((DataError, ShapeError, ValueError), match=words):
        call(*clouds())


def test_a_component_without_a_label_is_named():
    X, y = clouds()
    X[30:] += 100.0
    y = np.where(np.arange(40) < 12, y, -1)
    with pytest.raises(DataError, match="no labelled sample: 30"):
        extend.semisupervised_responses(graphs.knn(X, 3, connect="none"), y)


def test_no_copy_of_an_eigenvalue_is_missed_where_a_graph_falls_into_parts():
    """Indicators of all parts, then the rest: an iteration from one vector finds some only."""
    rng = np.random.default_rng(0)
    X = np.vstack([100.0 * part + rng.standard_normal((60, 3)) for part in range(8)])
    pencil = extend.laplacian_pencil(graphs.knn(X, 5, connect="none"))
    found = extend.graph_embedding(pencil, 9)
    np.testing.assert_allclose(found.eigenvalues[:7], 1.0, atol=1e-9)
    inside = found.vectors[:, :7].reshape(8, 60, 7)
    np.testing.assert_allclose(np.ptp(inside, axis=1), 0.0, atol=1e-8)
    dense = extend.graph_embedding(extend.Pencil(pencil.weights.toarray(), pencil.masses), 9)
    np.testing.assert_allclose(found.eigenvalues, dense.eigenvalues, atol=1e-8)
    gram = found.vectors.T @ pencil.mass(found.vectors)
    np.testing.assert_allclose(gram, np.eye(9), atol=1e-8)


def test_a_cluster_of_eigenvalues_just_below_those_sought_is_no_obstacle():
    # In the plane, six neighbours weigh out every point exactly, and a shift far off sees no gap.
    X = np.random.default_rng(0).random((1500, 2))
    pencil = extend.reconstruction_pencil(graphs.knn(X, 6))
    found = extend.graph_embedding(pencil, 3)
    left = pencil.weights @ found.vectors - found.vectors * found.eigenvalues
    assert np.abs(left).max() < 1e-8
    np.testing.assert_allclose(found.eigenvalues, 1.0, atol=1e-8)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(found.vectors.sum(axis=0), 0.0, atol=1e-6)


def test_an_iteration_that_does_not_end_says_how_far_it_came(monkeypatch):
    monkeypatch.setattr("sdpdr.families.regress.pencil._ROUNDS", 1)
    monkeypatch.setattr("sdpdr.families.regress.pencil._RESTARTS", 1)
    X = np.random.default_rng(0).random((600, 2))
    pencil = extend.reconstruction_pencil(graphs.knn(X, 6))
    with pytest.warns(UncertifiedWarning, match="nearly equal"):
        extend.graph_embedding(pencil, 2)


@pytest.mark.parametrize("seed", range(3))
def test_equal_errors_leave_the_smallest_ridge(seed):
    """Each of n points equally far from all others is told nothing by them, at any ridge."""
    rng = np.random.default_rng(seed)
    X, Y = rng.permutation(np.eye(12)), rng.standard_normal((12, 2))
    choice = extend.choose_ridge(X, Y)
    assert np.ptp([error for _, error in choice.tried]) < 1e-6 * choice.error
    assert choice.alpha == pytest.approx(choice.tried[0][0])


@pytest.mark.parametrize("repeats", [1, 2, 3, 7])
@pytest.mark.parametrize("shape", [(15, 30), (40, 6)])
def test_sparse_rows_choose_the_ridge_of_dense_ones_however_often_they_repeat(shape, repeats):
    """Rows that repeat have singular values of zero, which rounding makes of many sizes."""
    rng = np.random.default_rng(repeats)
    X, Y = rng.random(shape).repeat(repeats, axis=0), rng.standard_normal((shape[0], 2))
    Y = Y.repeat(repeats, axis=0)
    dense, sparse = extend.choose_ridge(X, Y), extend.choose_ridge(sp.csr_array(X), Y)
    assert sparse.alpha == pytest.approx(dense.alpha)
    assert sparse.error == pytest.approx(dense.error, rel=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8, 1.7e9])
def test_sparse_rows_with_a_column_far_from_zero_choose_the_ridge_of_dense_ones(offset):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 40)), rng.standard_normal((30, 2))
    X[:, 0] = offset + 3.0 * X[:, 0]
    X[rng.random(X.shape) < 0.5 * (X < 1e3)] = 0.0
    dense, sparse = extend.choose_ridge(X, Y), extend.choose_ridge(sp.csr_array(X), Y)
    assert sparse.alpha == pytest.approx(dense.alpha, rel=1e-6)
    assert sparse.error == pytest.approx(dense.error, rel=1e-6)


@pytest.mark.parametrize("unit", [1e5, 1e6])
def test_one_column_in_another_unit_leaves_the_others_their_say(unit):
    """Of noise in a large unit the best ridge takes nothing from columns that tell the response."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    Y = X @ rng.standard_normal((5, 2)) + 0.1 * rng.standard_normal((200, 2))
    plain = extend.choose_ridge(X, Y).error
    wide = np.column_stack([X, unit * rng.standard_normal(200)])
    assert extend.choose_ridge(wide, Y).error < 1.05 * plain
