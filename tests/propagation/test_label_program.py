"""Mixed label propagation as programs: solvers, oracles, dual steps, misprints."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import check_block, datasets, methods
from sdpdr.errors import DataError, DisconnectedGraphError, ShapeError
from sdpdr.families.propagate.least_ratio import LabelStep, scale_step
from sdpdr.program import as_dense
from sdpdr.propagation import eigen, labelled_graph

pytestmark = pytest.mark.filterwarnings("ignore::sdpdr.errors.IgnoredLabelsWarning")
NAN = float("nan")
S, Y = datasets.signed_graph(10, 4, seed=0)
LEAST = 0.5344192
PATH = np.zeros((4, 4))
PATH[[0, 2, 3, 0], [2, 3, 1, 3]] = 1.0, 1.0, 1.0, -1.0
PATH = PATH + PATH.T
PATH_LABELS = [1, -1, NAN, NAN]


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize(
    ("solver", "make"),
    [
        ("clarabel", methods.mixed_label_propagation),
        ("lowrank", methods.mixed_label_propagation),
        ("scs", methods.mixed_label_bound),
    ],
)
def test_every_solver_finds_the_least_ratio(make, solver):
    solution = sdpdr.solve(make(S, Y), solver, tol=1e-7)
    assert solution.value == pytest.approx(LEAST, rel=2e-6)
    assert abs(solution.gap) < 3e-6


def test_there_is_no_duality_gap_and_the_matrix_has_rank_one():
    primal = sdpdr.solve(methods.mixed_label_propagation(PATH, PATH_LABELS), "clarabel", tol=1e-9)
    dual = sdpdr.solve(methods.mixed_label_bound(PATH, PATH_LABELS), "clarabel", tol=1e-9)
    assert primal.value == pytest.approx(0.5, rel=1e-7)
    assert dual.values["lam"][0] == pytest.approx(0.5, rel=1e-7)
    spectrum = np.linalg.eigvalsh(as_dense(primal.values["K"]))
    assert spectrum[-2] < 1e-4 * spectrum[-1]
    found = methods.labelling_of(primal, PATH, PATH_LABELS)
    np.testing.assert_allclose(found, [1, -1, 0, -1], atol=1e-3)


@pytest.mark.integration
def test_sparse_graphs_stay_sparse_and_give_the_same():
    rng = np.random.default_rng(0)
    bands = [np.diag(rng.uniform(-0.4, 1.0, 30 - d), d) for d in (1, 2, 3)]
    X = sum(bands) + sum(bands).T
    y = np.full(30, NAN)
    y[::10] = 1, -1, 1
    model = methods.mixed_label_propagation(sp.csr_array(X), y)
    assert model.to_sdp().rows[0].lhs["K"].n_entries < 28**2 / 2
    least = eigen(labelled_graph(X, y)).ratio
    assert sdpdr.solve(model, form="chordal", tol=1e-7).value == pytest.approx(least, rel=1e-6)


# -- the steps of the alternation -------------------------------------------------------------


def test_the_step_in_the_values_has_no_duality_gap_and_print_lacks_a_constant():
    """(3.6) at its best weight falls short of the minimum by beta^2 yl'L_+ll yl."""
    beta = 0.3
    g = labelled_graph(S, Y)
    known, pencil = g.labels[:4], g.pencil
    lam, spread = LabelStep(pencil)(beta)
    v = np.concatenate([[beta], spread])
    value = v @ pencil.above @ v
    solution = sdpdr.solve(methods.mixed_label_step(S, Y, beta=beta), "clarabel", tol=1e-9)
    assert solution.value == pytest.approx(value, rel=1e-6)
    assert solution.values["lam"][0] == pytest.approx(lam, abs=1e-4)
    above, below = (np.diag(M.sum(axis=1)) - M for M in (g.positive, g.negative))
    L = above - lam * below
    a12, a22 = L[4:, :4] @ known, 1.0 - beta**2 * known @ below[:4, :4] @ known
    printed = lam * a22 - beta**2 * a12 @ np.linalg.solve(L[4:, 4:], a12)
    constant = beta**2 * known @ above[:4, :4] @ known
    assert printed + constant == pytest.approx(value, rel=1e-7)
    assert constant > 1e-3
    np.testing.assert_allclose(-beta * np.linalg.solve(L[4:, 4:], a12), spread, atol=1e-6)


def test_the_step_in_the_scale_has_no_duality_gap_and_print_lacks_a_constant():
    """(3.9) leaves out y_u'L_+uu y_u: its value is less by that, whatever the scale."""
    X, y, pencil = S, Y, labelled_graph(S, Y).pencil
    spread = 1.2 * LabelStep(pencil)(0.3)[1]
    beta = scale_step(pencil, spread)
    v = np.concatenate([[beta], spread])
    solution = sdpdr.solve(methods.mixed_scale_step(X, y, spread=spread), "clarabel", tol=1e-9)
    assert solution.value <= v @ pencil.above @ v * (1.0 + 1e-7)
    if beta > 0.0:
        assert solution.value == pytest.approx(v @ pencil.above @ v, rel=1e-6)
    lam, gamma = solution.values["lam"][0], solution.values["gamma"][0]
    form = pencil.above - lam * pencil.below
    b11, b12 = form[0, 0], form[0, 1:] @ spread
    printed = -lam * (spread @ pencil.below[1:, 1:] @ spread - 1.0) - gamma
    missing = spread @ pencil.above[1:, 1:] @ spread
    assert missing > 0.1
    assert np.linalg.det([[b11, b12], [b12, printed]]) < -1e-3
    assert np.linalg.det([[b11, b12], [b12, printed + missing]]) == pytest.approx(0.0, abs=1e-5)


@pytest.mark.integration
def test_blocks_obey_their_laws():
    for model in (
        methods.mixed_label_propagation(S, Y),
        methods.mixed_label_bound(sp.csr_array(S), Y),
        methods.mixed_label_step(S, Y, beta=0.3),
    ):
        assert all(check_block(block) for block in model.blocks), model.name


def test_graphs_without_an_answer_are_refused():
    X = np.array([[0.0, 1.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 1.0, 0.0]])
    apart = np.array([[0, 1, -1], [1, 0, 0], [-1, 0, 0]])
    for make in (
        methods.mixed_label_propagation,
        methods.mixed_label_bound,
        partial(methods.mixed_label_step, beta=1.0),
        partial(methods.mixed_scale_step, spread=[1.0]),
    ):
        with pytest.raises(DataError, match="labels must take two values"):
            make(X, [1, 1, NAN])
        with pytest.raises(DataError, match="no ratio to minimise"):
            make(np.abs(X), [1, -1, NAN])
        with pytest.raises(DisconnectedGraphError, match="nodes 2 are connected to no labelled"):
            make(apart, [1, -1, NAN])
    with pytest.raises(DataError, match="beta=.* must be positive"):
        methods.mixed_label_step(S, Y, beta=0.0)
    with pytest.raises(ShapeError, match="6 labels are unknown"):
        methods.mixed_scale_step(S, Y, spread=[1.0])
