"""The least ratio of energies: oracles, proofs, invariances, and where the alternation stops."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr import datasets, propagation
from sdpdr.errors import DataError, DisconnectedGraphError, IgnoredLabelsWarning
from sdpdr.families.propagate.least_ratio import LabelStep, scale_step
from sdpdr.propagation import (
    PropagationStatus,
    alternating,
    eigen,
    fixed_lam,
    harmonic,
    labelled_graph,
)

NAN = float("nan")
# Random graphs mostly ignore their labels; single tests are about the warning.
pytestmark = pytest.mark.filterwarnings("ignore::sdpdr.errors.IgnoredLabelsWarning")

LEAST = [0.5344192, 0.3946236, 0.1271002, 0.2379277]


def symmetric(n, edges):
    S = np.zeros((n, n))
    for i, j, s in edges:
        S[i, j] = S[j, i] = s
    return S


def path_graph():
    """The path 0 - 2 - 3 - 1 with the dissimilar pair (0, 3)."""
    edges = [(0, 2, 1), (2, 3, 1), (3, 1, 1), (0, 3, -1)]
    return labelled_graph(symmetric(4, edges), [1, -1, NAN, NAN])


def loose_pair():
    """Two nodes similar to both labels and dissimilar to each other."""
    edges = [(0, 2, 1), (0, 3, 1), (1, 2, 1), (1, 3, 1), (2, 3, -1)]
    return labelled_graph(symmetric(4, edges), [1, -1, NAN, NAN])


def random_graph(seed, n=10, known=4):
    return labelled_graph(*datasets.signed_graph(n, known, seed=seed))


def laplacian(S):
    return np.diag(S.sum(axis=1)) - S


def moons(n, known=40):
    rng = np.random.default_rng(0)
    t, side = rng.uniform(0.0, np.pi, n), rng.integers(0, 2, n)
    X = np.column_stack([np.cos(t) + side, np.where(side, 0.3 - np.sin(t), np.sin(t))])
    y = np.full(n, NAN)
    y[:known] = 2.0 * side[:known] - 1.0
    return propagation.near_and_far(X + 0.12 * rng.standard_normal(X.shape), 10), y, side


# -- the optimum ------------------------------------------------------------------------------


def test_the_path_and_random_graphs_have_the_ratios_of_the_oracle():
    found, plain = eigen(path_graph()), harmonic(path_graph())
    assert found.ratio == pytest.approx(0.5, abs=1e-12)
    np.testing.assert_allclose(found.y, [1.0, -1.0, 0.0, -1.0], atol=1e-12)
    np.testing.assert_allclose(plain.y[2:], [1 / 3, -1 / 3], atol=1e-12)
    assert plain.ratio == pytest.approx(0.75, abs=1e-12)
    for seed in range(3):
        found = eigen(random_graph(seed))
        assert found.ratio == pytest.approx(LEAST[seed], abs=6e-8)
        assert found.lam == pytest.approx(found.ratio, rel=1e-12)
        assert found.status is PropagationStatus.OPTIMAL
        assert 0.0 <= found.gap < 1e-12
    found = eigen(random_graph(0))
    expected = [2.493427, 6.788463, 0.477848, 0.800265, -1.98192, -1.190554]
    np.testing.assert_allclose(found.y[4:], expected, atol=6e-7)


def test_the_bound_is_proved_and_cannot_be_raised():
    seed = 1
    graph = random_graph(seed, n=15, known=3)
    found, pencil = eigen(graph), graph.pencil
    assert np.linalg.eigvalsh(pencil.above - found.bound * pencil.below)[0] >= -1e-13
    assert not pencil.proves(found.ratio * (1.0 + 1e-10))
    # Were terms so much larger than what is left of them, rounding could change the sign.
    assert pencil.proves(0.9 * found.ratio)
    assert not replace(pencil, above_radius=1e15 * pencil.above_radius).proves(0.9 * found.ratio)
    across = graph.positive[graph.unlabelled][:, graph.labelled]
    sizes = across @ np.abs(graph.labels[graph.labelled])
    assert np.all(pencil.above_radius[0, 1:] >= np.finfo(float).eps * sizes)
    for u in 5.0 * np.random.default_rng(seed).standard_normal((20, 12)):
        assert graph.ratio(graph.labelling(u)) >= found.bound
    # Interlacing: labellings without labels lie between the two least ratios.
    mu = sl.eigh(pencil.below, pencil.above, eigvals_only=True)[::-1]
    inner = pencil.unlabelled().least()[0]
    assert found.ratio <= inner * (1.0 + 1e-12) <= (1.0 + 2e-12) / mu[1]
    assert found.gap_uu == pytest.approx(1.0 - found.ratio / inner, abs=1e-10)


def test_order_units_and_offsets_change_labels_as_they_should():
    seed = 0
    S, y = datasets.signed_graph(12, 5, seed=seed)
    base = eigen(labelled_graph(S, y))
    order = np.random.default_rng(seed).permutation(12)
    turned = eigen(labelled_graph(S[order][:, order], y[order]))
    np.testing.assert_allclose(turned.y, base.y[order], rtol=1e-7, atol=1e-9)
    moved = eigen(labelled_graph(S, 3.0 - 2.0 * y))
    np.testing.assert_allclose(moved.y, 3.0 - 2.0 * base.y, rtol=1e-7, atol=1e-7)
    selves = eigen(labelled_graph(S + np.diag(np.arange(12.0)), y))
    np.testing.assert_array_equal(selves.y, base.y)
    for unit in (1e-9, 7.0, 1e9):
        assert eigen(labelled_graph(unit * S, y)).status is base.status
        weighed = eigen(labelled_graph(np.maximum(S, 0.0) - unit * np.maximum(-S, 0.0), y))
        np.testing.assert_allclose(weighed.y, base.y, rtol=1e-6, atol=1e-9)
        assert weighed.ratio * unit == pytest.approx(base.ratio, rel=1e-9)


def test_energies_and_the_pencil_are_quadratic_forms():
    """Printed (3.1) equates the sum over ordered pairs with y'Ly; it is twice that."""
    S, labels = datasets.signed_graph(9, 4, seed=2)
    graph = labelled_graph(S, 2.5 * labels + 1.0)
    thin = labelled_graph(sp.csr_array(S), graph.labels).pencil
    y = np.random.default_rng(0).standard_normal(9)
    P = np.zeros((9, 6))
    P[:4, 0], P[4:, 1:] = graph.labels[:4], np.eye(5)
    forms = (graph.pencil.above, thin.above), (graph.pencil.below, thin.below)
    parts = np.maximum(S, 0), np.maximum(-S, 0)
    for energy, part, (form, sparse) in zip(graph.energies(y), parts, forms, strict=True):
        assert energy == pytest.approx(y @ laplacian(part) @ y, rel=1e-12)
        assert np.sum(part * np.square(y[:, None] - y)) == pytest.approx(2.0 * energy, rel=1e-12)
        np.testing.assert_allclose(form, P.T @ laplacian(part) @ P, atol=1e-13)
        np.testing.assert_allclose(sparse.toarray(), form, atol=1e-13)


@pytest.mark.integration
def test_sparse_and_dense_agree_on_a_large_graph():
    S, y, side = moons(900)
    dense, thin = eigen(labelled_graph(S.toarray(), y)), eigen(labelled_graph(S, y))
    np.testing.assert_allclose(thin.y, dense.y, atol=1e-6)
    for found in (dense, thin):
        assert found.status is PropagationStatus.OPTIMAL
        assert found.gap < 1e-6
        assert np.mean((found.y > 0) == side) > 0.9


# -- the alternation --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_alternation_stops_short_and_the_test_says_so(seed):
    graph = random_graph(seed)
    found, best = alternating(graph, beta_0=0.3), eigen(graph)
    assert found.ratio == pytest.approx([1.019, 1.030, 0.311][seed], abs=2.1e-3)
    assert found.status is PropagationStatus.STALLED
    assert found.bound == pytest.approx(LEAST[seed], abs=6e-8)
    assert found.history[-1][2] == pytest.approx(found.ratio, rel=1e-12)
    # From the scale of the optimum it stays there.
    scale = 1.0 / np.sqrt(graph.energies(best.y)[1])
    for beta_0 in (None, 0.05, scale):
        found = alternating(graph, beta_0=beta_0)
        assert best.ratio * (1.0 - 1e-10) <= found.ratio
        assert found.bound <= best.ratio
        optimal = found.ratio == pytest.approx(best.ratio, rel=1e-9)
        assert (found.status is PropagationStatus.OPTIMAL) == optimal
    assert found.lam == pytest.approx(best.ratio, rel=1e-6)
    np.testing.assert_allclose(found.y, best.y, atol=1e-4)


def test_a_harmonic_labelling_without_dissimilarity_is_no_start():
    """Nodes 1 and 2 are alike, so the scale falls to zero while their difference stays."""
    edges = [(0, 1, 1), (0, 2, 1), (0, 3, 1), (3, 4, 1), (3, 5, 1), (1, 2, -1)]
    graph = labelled_graph(symmetric(6, edges), [1, NAN, NAN, -1, NAN, NAN])
    for beta_0 in (None, 1.0):
        with pytest.raises(DataError, match="Use eigen, fixed_lam or harmonic"):
            alternating(graph, beta_0=beta_0)
    with pytest.raises(DataError, match="not attained"):
        eigen(graph)
    for advised in (harmonic(graph), fixed_lam(graph)):
        np.testing.assert_allclose(advised.y, [1, 1, 1, -1, -1, -1], atol=1e-9)


def test_the_step_in_the_values_is_globally_optimal():
    S, y = datasets.signed_graph(10, 4, seed=0)
    for sparse in (False, True):
        pencil = labelled_graph(sp.csr_array(S) if sparse else S, y).pencil
        a, b = (np.asarray(m.todense() if sparse else m) for m in (pencil.above, pencil.below))
        for beta in (0.05, 0.3, 2.0):
            lam, spread = LabelStep(pencil)(beta)
            v = np.concatenate([[beta], spread])
            slack = v @ b @ v - 1.0
            assert slack >= -1e-9
            assert lam * slack == pytest.approx(0.0, abs=1e-9)
            # Stationary, with a positive semidefinite Hessian: the S-lemma's conditions.
            np.testing.assert_allclose(((a - lam * b) @ v)[1:], 0.0, atol=1e-8)
            assert np.linalg.eigvalsh((a - lam * b)[1:, 1:])[0] >= -1e-9


def test_the_step_in_the_scale_takes_no_negative_one():
    """Values that contradict the labels are best met by one, which (3.5) excludes."""
    assert scale_step(path_graph().pencil, np.array([-2.0, 2.0])) == 0.0


def test_the_hard_case_adds_a_null_vector():
    beta, pencil = 0.2, loose_pair().pencil
    lam, spread = LabelStep(pencil)(beta)
    np.testing.assert_allclose(np.abs(spread), 0.5, atol=1e-8)
    assert spread.sum() == pytest.approx(0.0, abs=1e-8)
    assert lam == pytest.approx(1.0, rel=1e-9)
    v = np.concatenate([[beta], spread])
    assert v @ pencil.above @ v == pytest.approx(1.0 + 4.0 * beta**2, rel=1e-8)


# -- degenerate graphs ------------------------------------------------------------------------


def test_an_infimum_that_is_not_attained_is_named():
    graph = loose_pair()
    with pytest.raises(DataError, match="least ratio, 1, is not attained"):
        eigen(graph)
    assert graph.ratio(graph.labelling([1e4, -1e4])) == pytest.approx(1.0, rel=1e-7)


def test_components_with_one_label_each_cost_nothing():
    edges, y = [(0, 2, 1), (1, 3, 1), (3, 4, 1)], [2, 5, NAN, NAN, NAN]
    for method in (eigen, alternating):
        found = method(labelled_graph(symmetric(5, [*edges, (2, 4, -1)]), y))
        np.testing.assert_array_equal(found.y, [2, 5, 2, 5, 5])
        assert (found.ratio, found.bound, found.gap) == (0.0, 0.0, 0.0)
        assert found.status is PropagationStatus.OPTIMAL
        with pytest.raises(DataError, match="0/0"):
            method(labelled_graph(symmetric(5, [*edges, (1, 4, -1)]), y))


def test_without_dissimilarity_the_harmonic_labelling_is_returned_with_a_warning():
    S = np.ones((4, 4))
    S[0, 2] = S[2, 0] = -1.0  # two nodes with equal labels are no dissimilar pair
    with pytest.warns(IgnoredLabelsWarning, match="no ratio to minimise"):
        found = eigen(labelled_graph(S, [1, -1, 1, NAN]))
    assert found.status is PropagationStatus.NO_DISSIMILARITY
    assert found.y[3] == pytest.approx(1.0 / 3.0)


def test_dissimilarity_of_labelled_nodes_alone_changes_nothing():
    S, y = datasets.signed_graph(8, 3, seed=1)
    S = np.abs(S)
    S[0, 1] = S[1, 0] = -2.0
    graph = labelled_graph(S, y)
    for found in (eigen(graph), alternating(graph)):
        np.testing.assert_allclose(found.y, harmonic(graph).y, atol=1e-10)
        assert found.gap_uu == 1.0
        assert found.status is PropagationStatus.OPTIMAL


def test_components_without_a_label_are_named():
    S = symmetric(6, [(0, 1, 1), (1, 2, 1), (3, 5, 1), (2, 3, -1), (2, 4, -1)])
    graph = labelled_graph(S, [1, NAN, -1, NAN, NAN, NAN])
    for method in (eigen, alternating, harmonic, fixed_lam):
        with pytest.raises(DisconnectedGraphError, match=r"nodes 3, 5 .*\(2 such comp") as caught:
            method(graph)
        assert [c.tolist() for c in caught.value.components] == [[3, 5], [4]]
    for method in (eigen, alternating):
        with pytest.raises(DataError, match="must take two values; all 2 of them are 1"):
            method(labelled_graph(S, [1, NAN, 1, NAN, NAN, NAN]))


@pytest.mark.filterwarnings("error::sdpdr.errors.IgnoredLabelsWarning")
def test_labels_that_hardly_decide_are_warned_of():
    with pytest.warns(IgnoredLabelsWarning, match=r"come within 1\.3e-02"):
        eigen(random_graph(2))
    assert eigen(path_graph()).gap_uu > 0.05  # no warning


def test_bad_input_is_named():
    for S, y, message in (
        ([[0, 1, 0], [1, 0, NAN], [0, NAN, 0]], [1, -1, NAN], r"S\[1, 2\] is nan"),
        ([[0, 1, 0], [2, 0, 1], [0, 1, 0]], [1, -1, NAN], r"not symmetric: S\[0, 1\] = 1, S\[1, 0"),
        ([[0, 1, 0], [1, 0, 1]], [1, -1], r"square matrix; it has shape \(2, 3\)"),
        ([[0, 1], [1, 0]], [1, -1, NAN], r"shape \(2,\), one label a node; it has \(3,\)"),
        ([[0, 1], [1, 0]], [1, -1], "every node has a label"),
        ([[0, 1], [1, 0]], [NAN, NAN], "no node has a label"),
        ([[0, 1], [1, 0]], [np.inf, NAN], r"y\[0\] is infinite"),
    ):
        for matrix in (S, sp.csr_array(np.array(S, dtype=float))):
            with pytest.raises(ValueError, match=message):
                labelled_graph(matrix, y)
