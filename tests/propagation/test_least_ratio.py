"""The least ratio of energies: oracles, proofs, invariances, and where the alternation stops."""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.optimize as so
import scipy.sparse as sp

from sdpdr import datasets, graphs, propagation
from sdpdr.errors import DataError, DisconnectedGraphError, IgnoredLabelsWarning
from sdpdr.propagation import (
    LabelStep,
    PropagationStatus,
    alternating,
    eigen,
    fixed_lam,
    harmonic,
    labelled_graph,
    ratio_bound,
    scale_step,
)

NAN = float("nan")
# Warnings are what single tests are about; elsewhere random graphs ignore their labels.
pytestmark = pytest.mark.filterwarnings("ignore::sdpdr.errors.IgnoredLabelsWarning")

LEAST = [0.5344192, 0.3946236, 0.1271002, 0.2379277]


def path_graph():
    """The path 0 - 2 - 3 - 1 with the dissimilar pair (0, 3)."""
    S = np.zeros((4, 4))
    for i, j, s in [(0, 2, 1), (2, 3, 1), (3, 1, 1), (0, 3, -1)]:
        S[i, j] = S[j, i] = s
    return labelled_graph(S, [1, -1, NAN, NAN])


def random_graph(seed, n=10, known=4, density=1.0):
    return labelled_graph(*datasets.signed_graph(n, known, density, seed))


def laplacian(S):
    return np.diag(S.sum(axis=1)) - S


def moons(n=2000, known=40):
    """Sparse, with the order from which the sparse search is taken."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0.0, np.pi, n)
    side = rng.integers(0, 2, n)
    X = np.column_stack([np.cos(t) + side, np.where(side, 0.3 - np.sin(t), np.sin(t))])
    X += 0.12 * rng.standard_normal(X.shape)
    y = np.full(n, NAN)
    y[:known] = 2.0 * side[:known] - 1.0
    return propagation.near_and_far(X, 10), y, side


# -- oracles ----------------------------------------------------------------------------------


def test_the_path_has_ratio_one_half():
    found = eigen(path_graph())
    assert found.ratio == pytest.approx(0.5, abs=1e-12)
    np.testing.assert_allclose(found.y, [1.0, -1.0, 0.0, -1.0], atol=1e-12)
    plain = harmonic(path_graph())
    np.testing.assert_allclose(plain.y[2:], [1 / 3, -1 / 3], atol=1e-12)
    assert plain.ratio == pytest.approx(0.75, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_random_graphs_have_the_ratios_of_the_oracle(seed):
    found = eigen(random_graph(seed))
    assert found.ratio == pytest.approx(LEAST[seed], abs=6e-8)
    assert found.lam == pytest.approx(found.ratio, rel=1e-12)
    assert found.status is PropagationStatus.OPTIMAL
    assert 0.0 <= found.gap < 1e-12


def test_the_labels_of_the_first_random_graph():
    expected = [2.493427, 6.788463, 0.477848, 0.800265, -1.98192, -1.190554]
    np.testing.assert_allclose(eigen(random_graph(0)).y[4:], expected, atol=6e-7)


@pytest.mark.parametrize(("seed", "stopped"), list(enumerate([1.019, 1.030, 0.311, 0.497])))
def test_the_alternation_stops_short_and_the_test_says_so(seed, stopped):
    graph = random_graph(seed)
    found = alternating(graph, beta_0=0.3)
    assert found.ratio == pytest.approx(stopped, abs=2.1e-3)
    assert found.status is PropagationStatus.STALLED
    assert found.bound == pytest.approx(LEAST[seed], abs=6e-8)
    assert found.gap > 0.4


# -- what the optimum is ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(k, marks=pytest.mark.nightly) for k in (2, 3, 4))]
)
def test_no_descent_from_anywhere_finds_less(seed):
    graph = random_graph(seed)
    least = eigen(graph).ratio
    ends = [
        so.minimize(lambda u: graph.ratio(graph.labelling(u)), start, method="BFGS").fun
        for start in 2.0 * np.random.default_rng(seed).standard_normal((5, 6))
    ]
    assert min(ends) >= least * (1.0 - 1e-12)
    assert min(ends) == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_is_proved_and_cannot_be_raised(seed):
    graph = random_graph(seed, n=15, known=3)
    found = eigen(graph)
    pencil = graph.pencil
    assert np.linalg.eigvalsh(pencil.shifted(found.bound))[0] >= -1e-13
    assert not pencil.proves(found.ratio * (1.0 + 1e-10))
    rng = np.random.default_rng(seed)
    for y in (graph.labelling(5.0 * rng.standard_normal(12)) for _ in range(20)):
        assert graph.ratio(y) >= found.bound


@pytest.mark.parametrize("seed", range(10))
def test_the_least_ratio_lies_below_those_without_labels(seed):
    """The least ratio lies below that without labels, and that below the second one."""
    graph = random_graph(seed)
    pencil = graph.pencil
    mu = sl.eigh(pencil.below, pencil.above, eigvals_only=True)[::-1]
    inner = pencil.unlabelled().least()[0]
    found = eigen(graph)
    assert found.ratio <= inner * (1.0 + 1e-12)
    assert inner <= (1.0 / mu[1]) * (1.0 + 1e-12)
    assert found.gap_uu == pytest.approx(1.0 - found.ratio / inner, abs=1e-10)
    v = np.concatenate([[1.0], found.y[4:]])
    assert found.label_weight == pytest.approx(1.0 / np.linalg.norm(v), rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_order_units_and_offsets_change_labels_as_they_should(seed):
    S, y = datasets.signed_graph(12, 5, seed=seed)
    base = eigen(labelled_graph(S, y))
    order = np.random.default_rng(seed).permutation(12)
    turned = eigen(labelled_graph(S[order][:, order], y[order]))
    np.testing.assert_allclose(turned.y, base.y[order], rtol=1e-7, atol=1e-9)
    moved = eigen(labelled_graph(S, 3.0 - 2.0 * y))
    np.testing.assert_allclose(moved.y, 3.0 - 2.0 * base.y, rtol=1e-7, atol=1e-7)
    positive, negative = np.maximum(S, 0.0), np.maximum(-S, 0.0)
    weighed = eigen(labelled_graph(positive, y, 7.0 * negative))
    np.testing.assert_allclose(weighed.y, base.y, rtol=1e-7, atol=1e-9)
    assert weighed.ratio == pytest.approx(base.ratio / 7.0, rel=1e-12)
    selves = eigen(labelled_graph(S + np.diag(np.arange(12.0)), y))
    np.testing.assert_array_equal(selves.y, base.y)


def test_energies_are_quadratic_forms_and_half_the_printed_sum():
    """Printed (3.1) equates the sum over ordered pairs with y'Ly; it is twice that."""
    S, labels = datasets.signed_graph(8, 3, seed=5)
    graph = labelled_graph(S, labels)
    y = np.random.default_rng(0).standard_normal(8)
    for energy, part in zip(graph.energies(y), (np.maximum(S, 0), np.maximum(-S, 0)), strict=True):
        form = y @ laplacian(part) @ y
        assert energy == pytest.approx(form, rel=1e-12)
        printed = np.sum(part * np.square(y[:, None] - y))
        assert printed == pytest.approx(2.0 * form, rel=1e-12)


def test_the_pencil_is_the_form_of_the_labelling():
    S, labels = datasets.signed_graph(9, 4, seed=2)
    graph = labelled_graph(S, 2.5 * labels + 1.0)
    P = np.zeros((9, 6))
    P[:4, 0], P[4:, 1:] = graph.labels[:4], np.eye(5)
    for form, part in (
        (graph.pencil.above, np.maximum(S, 0)),
        (graph.pencil.below, np.maximum(-S, 0)),
    ):
        np.testing.assert_allclose(form, P.T @ laplacian(part) @ P, atol=1e-13)
    thin = labelled_graph(sp.csr_array(S), graph.labels).pencil
    np.testing.assert_allclose(thin.above.toarray(), graph.pencil.above, atol=1e-13)
    np.testing.assert_allclose(thin.below_size.toarray(), graph.pencil.below_size, atol=1e-13)


def test_sparse_and_dense_agree_on_a_large_graph():
    S, y, side = moons(900)
    dense, thin = eigen(labelled_graph(S.toarray(), y)), eigen(labelled_graph(S, y))
    assert thin.ratio == pytest.approx(dense.ratio, rel=1e-9)
    np.testing.assert_allclose(thin.y, dense.y, atol=1e-6)
    for found in (dense, thin):
        assert found.status is PropagationStatus.OPTIMAL
        assert np.mean((found.y > 0) == side) > 0.9


def test_a_large_sparse_graph_is_proved():
    S, y, _ = moons(4000)
    found = eigen(labelled_graph(S, y))
    assert found.status is PropagationStatus.OPTIMAL
    assert found.gap < 1e-6
    assert sp.issparse(labelled_graph(S, y).pencil.above)


# -- the alternation --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_the_alternation_never_beats_the_optimum_and_knows_when_it_meets_it(seed):
    graph = random_graph(seed, n=14, known=5)
    least = eigen(graph).ratio
    for beta_0 in (None, 5.0, 0.5, 0.05):
        found = alternating(graph, beta_0=beta_0)
        assert found.ratio >= least * (1.0 - 1e-10)
        bound = pytest.approx(least, rel=1e-9)
        assert (found.status is PropagationStatus.OPTIMAL) == (found.ratio == bound)
        assert found.bound <= least
        assert found.history[-1][2] == pytest.approx(found.ratio, rel=1e-12)


def test_from_the_scale_of_the_optimum_the_alternation_stays_there():
    for seed in range(4):
        graph = random_graph(seed)
        best = eigen(graph)
        beta = 1.0 / np.sqrt(graph.energies(best.y)[1])
        found = alternating(graph, beta_0=beta)
        assert found.status is PropagationStatus.OPTIMAL
        assert found.lam == pytest.approx(best.ratio, rel=1e-6)
        np.testing.assert_allclose(found.y, best.y, atol=1e-4)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_step_in_the_values_is_globally_optimal(sparse):
    for seed in range(4):
        S, y = datasets.signed_graph(10, 4, seed=seed)
        pencil = labelled_graph(sp.csr_array(S) if sparse else S, y).pencil
        step = LabelStep(pencil)
        a, b = (np.asarray(m.todense() if sparse else m) for m in (pencil.above, pencil.below))
        for beta in (0.05, 0.3, 2.0):
            lam, spread = step(beta)
            v = np.concatenate([[beta], spread])
            slack = v @ b @ v - 1.0
            assert slack >= -1e-9
            assert lam * slack == pytest.approx(0.0, abs=1e-9)
            # Stationary, with a positive semidefinite Hessian: the S-lemma's conditions.
            residual = ((a - lam * b) @ v)[1:]
            np.testing.assert_allclose(residual, 0.0, atol=1e-8)
            assert np.linalg.eigvalsh((a - lam * b)[1:, 1:])[0] >= -1e-9


def test_the_weight_is_zero_exactly_if_the_harmonic_values_differ_enough():
    graph = random_graph(1)
    step = LabelStep(graph.pencil)
    enough = 1.0 / np.sqrt(graph.energies(harmonic(graph).y)[1])
    assert step(1.001 * enough)[0] == 0.0
    np.testing.assert_allclose(step(2.0 * enough)[1], 2.0 * enough * harmonic(graph).y[4:])
    assert step(0.999 * enough)[0] > 0.0


def loose_pair():
    """Two nodes alike to both labels and dissimilar to each other: pulling them apart is free of
    the labels."""
    S = np.zeros((4, 4))
    S[:2, 2:] = 1.0
    S[2, 3] = -1.0
    return labelled_graph(S + S.T, [1, -1, NAN, NAN])


@pytest.mark.parametrize("beta", [0.2, 1.0, 5.0])
def test_the_hard_case_adds_a_null_vector(beta):
    pencil = loose_pair().pencil
    lam, spread = LabelStep(pencil)(beta)
    np.testing.assert_allclose(np.abs(spread), 0.5, atol=1e-8)
    assert spread.sum() == pytest.approx(0.0, abs=1e-8)
    v = np.concatenate([[beta], spread])
    assert lam == pytest.approx(1.0, rel=1e-9)
    assert v @ pencil.above @ v == pytest.approx(1.0 + 4.0 * beta**2, rel=1e-8)


def test_the_step_in_the_scale_is_that_of_a_fine_grid():
    for seed in range(6):
        pencil = random_graph(seed).pencil
        spread = LabelStep(pencil)(0.3)[1] * np.linspace(0.8, 1.4, 6)
        grid = np.linspace(0.0, 20.0, 400_001)
        a, b = pencil.above, pencil.below
        side = np.concatenate([[0.0], spread])
        above = a[0, 0] * grid**2 + 2 * grid * (a @ side)[0] + side @ a @ side
        below = b[0, 0] * grid**2 + 2 * grid * (b @ side)[0] + side @ b @ side
        best = grid[np.argmin(np.where(below >= 1.0, above, np.inf))]
        assert scale_step(pencil, spread) == pytest.approx(best, abs=1e-4)


def test_values_that_no_scale_makes_differ_are_refused():
    """Node 1 of 0 - 1 - 2 at the label of the node that it is dissimilar to, whose label is 0."""
    S = np.zeros((3, 3))
    S[0, 1], S[1, 2] = 1.0, -1.0
    pencil = labelled_graph(S + S.T, [1, NAN, 0]).pencil
    with pytest.raises(DataError, match="no scale"):
        scale_step(pencil, np.zeros(1))


def test_bad_first_scales_are_refused():
    for beta_0 in (0.0, -1.0, float("inf"), NAN):
        with pytest.raises(DataError, match="beta_0=.*must be positive and finite"):
            alternating(path_graph(), beta_0=beta_0)


# -- degenerate graphs ------------------------------------------------------------------------


def test_an_infimum_that_is_not_attained_is_named():
    with pytest.raises(DataError, match="least ratio, 1, is not attained"):
        eigen(loose_pair())
    graph = loose_pair()
    assert ratio_bound(graph) == pytest.approx(1.0, rel=1e-6)
    ratios = [graph.ratio(graph.labelling([t, -t])) for t in (1.0, 10.0, 1e4)]
    assert np.all(np.diff(ratios) < 0.0)
    assert 1.0 < ratios[-1] < 1.0 + 1e-7


def test_parts_with_one_label_each_cost_nothing():
    S = np.zeros((5, 5))
    S[0, 2] = S[1, 3] = S[3, 4] = 1.0
    S[2, 4] = -1.0
    for method in (eigen, alternating):
        found = method(labelled_graph(S + S.T, [2, 5, NAN, NAN, NAN]))
        np.testing.assert_array_equal(found.y, [2, 5, 2, 5, 5])
        assert (found.ratio, found.bound, found.gap) == (0.0, 0.0, 0.0)
        assert found.status is PropagationStatus.OPTIMAL
    S[2, 4], S[1, 4] = 0.0, -1.0
    with pytest.raises(DataError, match="0/0"):
        eigen(labelled_graph(S + S.T, [2, 5, NAN, NAN, NAN]))


def test_without_dissimilarity_the_harmonic_labelling_is_returned_and_it_says_so():
    S = np.ones((4, 4))
    for method in (eigen, alternating):
        with pytest.warns(IgnoredLabelsWarning, match="no ratio to minimise"):
            found = method(labelled_graph(S, [1, -1, 1, NAN]))
        assert found.status is PropagationStatus.NO_DISSIMILARITY
        assert found.y[3] == pytest.approx(1.0 / 3.0)
    # A dissimilar pair of nodes with equal labels is none.
    S[0, 2] = S[2, 0] = -1.0
    with pytest.warns(IgnoredLabelsWarning, match="no ratio to minimise"):
        eigen(labelled_graph(S, [1, -1, 1, NAN]))


def test_dissimilarity_of_labelled_nodes_alone_changes_nothing():
    S, y = datasets.signed_graph(8, 3, seed=1)
    S = np.abs(S)
    S[0, 1] = S[1, 0] = -2.0
    found = eigen(labelled_graph(S, y))
    np.testing.assert_allclose(found.y, harmonic(labelled_graph(S, y)).y, atol=1e-10)
    assert found.gap_uu == 1.0
    for beta_0 in (None, 0.01):
        turns = alternating(labelled_graph(S, y), beta_0=beta_0)
        assert turns.status is PropagationStatus.OPTIMAL
        np.testing.assert_allclose(turns.y, found.y, atol=1e-10)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_of_similarity_do_not_matter(unit):
    S, y = datasets.signed_graph(10, 4, seed=0)
    base, other = (labelled_graph(u * S, y) for u in (1.0, unit))
    for method in (eigen, alternating):
        np.testing.assert_allclose(method(other).y, method(base).y, rtol=1e-6)
        assert method(other).status is method(base).status
    weighed = labelled_graph(np.maximum(S, 0.0), y, unit * np.maximum(-S, 0.0))
    assert eigen(weighed).ratio * unit == pytest.approx(eigen(base).ratio, rel=1e-9)
    assert eigen(weighed).status is PropagationStatus.OPTIMAL


@pytest.mark.parametrize("method", [eigen, alternating])
def test_constant_labels_are_refused(method):
    S, y = datasets.signed_graph(6, 3, seed=0)
    with pytest.raises(DataError, match=r"labels must take two values; all 3 of them are 4"):
        method(labelled_graph(S, np.where(np.isnan(y), y, 4.0)))


@pytest.mark.parametrize("method", [eigen, alternating, harmonic, lambda g: fixed_lam(g, 0.1)])
def test_parts_without_a_label_are_named(method):
    S = np.zeros((6, 6))
    S[0, 1] = S[1, 2] = S[3, 5] = 1.0
    S[2, 3] = S[2, 4] = -1.0
    graph = labelled_graph(S + S.T, [1, NAN, -1, NAN, NAN, NAN])
    with pytest.raises(DisconnectedGraphError, match=r"nodes 3, 5 .*\(2 such parts") as caught:
        method(graph)
    assert [c.tolist() for c in caught.value.components] == [[3, 5], [4]]
    inner, kept = graph.reached_part()
    assert kept.tolist() == [0, 1, 2]
    assert inner.unreached.size == 0


@pytest.mark.filterwarnings("error::sdpdr.errors.IgnoredLabelsWarning")
def test_labels_that_hardly_decide_are_warned_of():
    with pytest.warns(IgnoredLabelsWarning, match=r"come within 1\.3e-02"):
        eigen(random_graph(2))
    found = eigen(path_graph())  # no warning
    assert found.gap_uu > 0.05


# -- the theorem ------------------------------------------------------------------------------


def test_the_matrix_inequality_of_theorem_3_1_is_reversed():
    """x^2 <= 1 implies x^2 <= 4: F2-block <= lam F1-block for lam = 2; the printed >= for none."""
    first, second = np.diag([1.0, -1.0]), np.diag([1.0, -4.0])
    assert np.linalg.eigvalsh(2.0 * first - second)[0] >= 0.0
    grid = np.linspace(0.0, 100.0, 10_001)
    assert all(np.linalg.eigvalsh(second - lam * first)[0] < 0.0 for lam in grid)


def test_the_lemma_needs_a_strictly_feasible_point():
    """x^2 <= 0 implies x <= 0, yet no multiple of the one form exceeds the other."""
    first, second = np.diag([1.0, 0.0]), np.array([[0.0, 0.5], [0.5, 0.0]])
    grid = np.logspace(-3, 6, 200)
    assert all(np.linalg.eigvalsh(lam * first - second)[0] < 0.0 for lam in grid)


# -- what may be passed -----------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("S", "y", "message"),
    [
        ([[0, 1, 0], [1, 0, NAN], [0, NAN, 0]], [1, -1, NAN], r"S\[1, 2\] is nan"),
        ([[0, 1, 0], [2, 0, 1], [0, 1, 0]], [1, -1, NAN], r"not symmetric: S\[0, 1\] = 1, S\[1, 0"),
        ([[0, 1, 0], [1, 0, 1]], [1, -1], r"square matrix; it has shape \(2, 3\)"),
        ([[0, 1], [1, 0]], [1, -1, NAN], r"shape \(2,\), one label a node; it has \(3,\)"),
        ([[0, 1], [1, 0]], [1, -1], "every node has a label"),
        ([[0, 1], [1, 0]], [NAN, NAN], "no node has a label"),
        ([[0, 1], [1, 0]], [np.inf, NAN], r"y\[0\] is infinite"),
    ],
)
def test_bad_input_is_named(S, y, message, sparse):
    matrix = sp.csr_array(np.array(S, dtype=float)) if sparse else S
    with pytest.raises(ValueError, match=message):
        labelled_graph(matrix, y)


def test_dissimilarity_apart_must_fit_and_be_non_negative():
    with pytest.raises(ValueError, match="dissimilarity"):
        labelled_graph(np.ones((3, 3)), [1, -1, NAN], np.ones((2, 2)))
    with pytest.raises(DataError, match=r"dissimilarity has an entry of -1"):
        labelled_graph(np.ones((3, 3)), [1, -1, NAN], -np.ones((3, 3)))


def test_the_graph_of_near_and_far_points():
    X = np.random.default_rng(3).standard_normal((60, 4))
    S = propagation.near_and_far(X, 5).toarray()
    D = np.linalg.norm(X[:, None] - X, axis=2)
    near = np.argsort(D + np.diag(np.full(60, np.inf)), axis=1)[:, :5]
    expected = np.zeros((60, 60))
    furthest = np.argmax(D, axis=1)
    expected[np.arange(60), furthest] = expected[furthest, np.arange(60)] = -1.0
    rows = np.repeat(np.arange(60), 5)
    expected[rows, near.ravel()] = expected[near.ravel(), rows] = 1.0
    np.testing.assert_array_equal(S, expected)
    np.testing.assert_array_equal(
        -np.minimum(S, 0.0).sum() / 2.0, len(graphs.furthest_pairs(X).edges)
    )
