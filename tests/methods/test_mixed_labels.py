"""Mixed label propagation as programs: solvers, oracles, dual steps, and what print got wrong."""

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import check_block, datasets, methods
from sdpdr.errors import DataError, DisconnectedGraphError, ShapeError
from sdpdr.linalg import smat
from sdpdr.program import as_dense
from sdpdr.propagation import LabelStep, eigen, labelled_graph, scale_step

SOLVERS = ("clarabel", "cvxopt", "scs", "sdpa", "lowrank")
pytestmark = pytest.mark.filterwarnings("ignore::sdpdr.errors.IgnoredLabelsWarning")
NAN = float("nan")
S, Y = datasets.signed_graph(10, 4, seed=0)
PATH = np.zeros((4, 4))
PATH[[0, 2, 3, 0], [2, 3, 1, 3]] = 1.0, 1.0, 1.0, -1.0
PATH = PATH + PATH.T


def graph(seed, n=10, known=4):
    return labelled_graph(*datasets.signed_graph(n, known, seed=seed))


def least(X, y):
    return eigen(labelled_graph(X, y)).ratio


# -- the ratio --------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("make", [methods.mixed_label_propagation, methods.mixed_label_bound])
def test_every_solver_finds_the_least_ratio(make, solver):
    solution = sdpdr.solve(make(S, Y), solver, tol=1e-7)
    assert solution.value == pytest.approx(least(S, Y), rel=2e-6)
    assert solution.bound is not None
    assert abs(solution.gap) < 3e-6


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(k, marks=pytest.mark.nightly) for k in range(2, 6))]
)
def test_there_is_no_duality_gap_and_the_matrix_has_rank_one(seed):
    X, y = datasets.signed_graph(9, 3, seed=seed)
    primal = sdpdr.solve(methods.mixed_label_propagation(X, y), "clarabel", tol=1e-9)
    dual = sdpdr.solve(methods.mixed_label_bound(X, y), "clarabel", tol=1e-9)
    best = eigen(labelled_graph(X, y))
    assert primal.value == pytest.approx(best.ratio, rel=1e-7)
    assert dual.value == pytest.approx(best.ratio, rel=1e-7)
    spectrum = np.linalg.eigvalsh(as_dense(primal.values["K"]))
    assert spectrum[-2] < 1e-4 * spectrum[-1]
    np.testing.assert_allclose(
        methods.labelling_of(primal, X, y), best.y, atol=2e-3 * np.abs(best.y).max()
    )


def test_the_oracle_of_the_path():
    y = [1, -1, NAN, NAN]
    solution = sdpdr.solve(methods.mixed_label_propagation(PATH, y), tol=1e-9)
    assert solution.value == pytest.approx(0.5, rel=1e-7)
    found = methods.labelling_of(solution, PATH, y)
    np.testing.assert_allclose(found, [1, -1, 0, -1], atol=1e-4)
    lam = sdpdr.solve(methods.mixed_label_bound(PATH, y), tol=1e-9).values["lam"]
    assert lam[0] == pytest.approx(0.5, rel=1e-7)


def test_sparse_graphs_stay_sparse_and_give_the_same():
    rng = np.random.default_rng(0)
    bands = [np.diag(rng.uniform(-0.4, 1.0, 30 - d), d) for d in (1, 2, 3)]
    X = sum(bands) + sum(bands).T
    y = np.full(30, NAN)
    y[::10] = 1, -1, 1
    model = methods.mixed_label_propagation(sp.csr_array(X), y)
    assert sp.issparse(model.blocks[1].form)
    for form in ("chordal", "factor"):
        solution = sdpdr.solve(model, form=form, tol=1e-7)
        assert solution.value == pytest.approx(least(X, y), rel=1e-6)


def test_a_factor_gives_the_labelling_too():
    solution = sdpdr.solve(methods.mixed_label_propagation(S, Y), "lowrank", tol=1e-9)
    np.testing.assert_allclose(
        methods.labelling_of(solution, S, Y), eigen(labelled_graph(S, Y)).y, atol=1e-3
    )


def test_similarities_may_be_passed_apart():
    together = methods.mixed_label_propagation(S, Y)
    apart = methods.mixed_label_propagation(
        np.maximum(S, 0.0), Y, dissimilarity=np.maximum(-S, 0.0)
    )
    for one, other in zip(together.blocks[1:], apart.blocks[1:], strict=True):
        np.testing.assert_array_equal(one.form, other.form)


# -- the steps of the alternation -------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("beta", [0.05, 0.3, 2.0])
def test_the_step_in_the_values_has_no_duality_gap(seed, beta):
    X, y = datasets.signed_graph(10, 4, seed=seed)
    pencil = graph(seed).pencil
    lam, spread = LabelStep(pencil)(beta)
    v = np.concatenate([[beta], spread])
    value = v @ pencil.above @ v
    solution = sdpdr.solve(methods.mixed_label_step(X, y, beta=beta), "clarabel", tol=1e-9)
    assert solution.value == pytest.approx(value, rel=1e-6)
    assert solution.values["lam"][0] == pytest.approx(lam, abs=1e-4)
    # The matrix inequality at the optimum has the values in its null space.
    inner = pencil.shifted(lam)[1:, 1:]
    printed = -beta * np.linalg.solve(inner, pencil.shifted(lam)[1:, 0])
    np.testing.assert_allclose(printed, spread, atol=1e-6)


@pytest.mark.parametrize("solver", ["clarabel", "cvxopt", "scs", "sdpa"])
def test_every_solver_finds_the_step(solver):
    solution = sdpdr.solve(methods.mixed_label_step(S, Y, beta=0.3), solver, tol=1e-7)
    assert solution.value == pytest.approx(1.0195541254, rel=3e-6)


def test_the_printed_value_of_the_step_lacks_a_constant():
    """(3.6) at its best weight falls short of the minimum by beta^2 yl'L_+ll yl; not so ours."""
    g, beta = graph(0), 0.3
    pencil, known = g.pencil, g.labels[:4]
    above, below = (np.diag(M.sum(axis=1)) - M for M in (g.positive, g.negative))
    lam, spread = LabelStep(pencil)(beta)
    a11 = (above - lam * below)[4:, 4:]
    a12 = (above - lam * below)[4:, :4] @ known
    a22 = 1.0 - beta**2 * known @ below[:4, :4] @ known
    printed = lam * a22 - beta**2 * a12 @ np.linalg.solve(a11, a12)
    v = np.concatenate([[beta], spread])
    constant = beta**2 * known @ above[:4, :4] @ known
    assert constant > 0.1
    assert printed + constant == pytest.approx(v @ pencil.above @ v, rel=1e-9)
    ours = sdpdr.solve(methods.mixed_label_step(S, Y, beta=beta), "clarabel", tol=1e-9).value
    assert ours == pytest.approx(printed + constant, rel=1e-7)
    assert ours != pytest.approx(printed, rel=0.01)


def test_the_printed_inequality_with_its_constant_is_ours():
    """(3.8), scaled by beta in the first row, is our matrix inequality less the constant."""
    g, beta, lam, gamma = graph(0), 0.7, 0.2, 0.1
    known = g.labels[:4]
    above, below = (np.diag(M.sum(axis=1)) - M for M in (g.positive, g.negative))
    L = above - lam * below
    a12 = L[4:, :4] @ known
    a22 = 1.0 - beta**2 * known @ below[:4, :4] @ known
    corner = (lam * a22 - gamma) / beta**2 + known @ above[:4, :4] @ known
    printed = np.block([[np.full((1, 1), corner), a12[None]], [a12[:, None], L[4:, 4:]]])
    scale = np.diag([beta] + [1.0] * 6)
    term = next(iter(methods.mixed_label_step(S, Y, beta=beta).blocks[0].terms()))
    values = {"lam": np.array([lam]), "gamma": np.array([gamma])}
    ours = term.lhs.constant + sum(m.apply(values[k]) for k, m in term.lhs.maps.items())
    np.testing.assert_allclose(smat(ours), scale @ printed @ scale, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_step_in_the_scale(seed):
    X, y = datasets.signed_graph(10, 4, seed=seed)
    g = graph(seed)
    spread = 1.2 * LabelStep(g.pencil)(0.3)[1]
    beta = scale_step(g.pencil, spread)
    v = np.concatenate([[beta], spread])
    solution = sdpdr.solve(methods.mixed_scale_step(X, y, spread=spread), "clarabel", tol=1e-9)
    assert solution.value <= v @ g.pencil.above @ v * (1.0 + 1e-7)
    if beta > 0.0:
        assert solution.value == pytest.approx(v @ g.pencil.above @ v, rel=1e-6)
        lam = solution.values["lam"][0]
        form = g.pencil.shifted(lam)
        if form[0, 0] > 1e-6:  # (3.10)
            assert -(form[0, 1:] @ spread) / form[0, 0] == pytest.approx(beta, abs=1e-4)


def test_the_printed_step_in_the_scale_lacks_a_constant():
    """(3.9) leaves out y_u'L_+uu y_u: its value is less by that, whatever the scale."""
    g = graph(0)
    spread = LabelStep(g.pencil)(0.3)[1]
    missing = spread @ g.pencil.above[1:, 1:] @ spread
    assert missing > 0.1
    solution = sdpdr.solve(methods.mixed_scale_step(S, Y, spread=spread), "clarabel", tol=1e-9)
    lam, gamma = solution.values["lam"][0], solution.values["gamma"][0]
    b11 = g.pencil.shifted(lam)[0, 0]
    b12 = g.pencil.shifted(lam)[0, 1:] @ spread
    printed = -lam * (spread @ g.pencil.below[1:, 1:] @ spread - 1.0) - gamma
    assert np.linalg.det([[b11, b12], [b12, printed]]) < -1e-3
    assert np.linalg.det([[b11, b12], [b12, printed + missing]]) == pytest.approx(0.0, abs=1e-6)


def test_the_dual_in_the_scale_does_not_know_its_sign():
    """Values that contradict the labels are best met by a negative scale, which (3.5) excludes."""
    y = [1, -1, NAN, NAN]
    spread = np.array([-2.0, 2.0])
    pencil = labelled_graph(PATH, y).pencil
    beta = scale_step(pencil, spread)
    assert beta == 0.0
    v = np.concatenate([[beta], spread])
    solution = sdpdr.solve(methods.mixed_scale_step(PATH, y, spread=spread), "clarabel", tol=1e-9)
    assert solution.value < 0.9 * (v @ pencil.above @ v)


# -- blocks and bad input ---------------------------------------------------------------------


def test_blocks_obey_their_laws():
    models = (
        methods.mixed_label_propagation(S, Y),
        methods.mixed_label_bound(sp.csr_array(S), Y),
        methods.mixed_label_step(S, Y, beta=0.3),
        methods.mixed_scale_step(S, Y, spread=np.arange(6.0)),
    )
    for model in models:
        for block in model.blocks:
            assert check_block(block)


@pytest.mark.parametrize(
    "make",
    [
        methods.mixed_label_propagation,
        methods.mixed_label_bound,
        lambda X, y: methods.mixed_label_step(X, y, beta=1.0),
        lambda X, y: methods.mixed_scale_step(X, y, spread=[1.0]),
    ],
)
def test_graphs_without_an_answer_are_refused(make):
    X = np.array([[0.0, 1.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 1.0, 0.0]])
    with pytest.raises(DataError, match="labels must take two values"):
        make(X, [1, 1, NAN])
    with pytest.raises(DataError, match="no ratio to minimise"):
        make(np.abs(X), [1, -1, NAN])
    with pytest.raises(DisconnectedGraphError, match="nodes 2 are joined"):
        make(np.array([[0, 1, -1], [1, 0, 0], [-1, 0, 0]]), [1, -1, NAN])


def test_other_bad_input_is_named():
    for beta in (0.0, -1.0, NAN):
        with pytest.raises(DataError, match="beta=.* must be positive"):
            methods.mixed_label_step(S, Y, beta=beta)
    with pytest.raises(ShapeError, match="6 labels are unknown"):
        methods.mixed_scale_step(S, Y, spread=[1.0])
