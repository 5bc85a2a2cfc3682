"""Second-order PCA as programs: oracles by several solvers, and what the text prints otherwise."""

import numpy as np
import pytest

import sdpdr
from sdpdr import blocks, check_block, methods
from sdpdr.bilinear import interior_point
from sdpdr.errors import DataError, ShapeError
from sdpdr.linalg import smat
from sdpdr.model.affine import evaluate
from sdpdr.program import as_dense

F1 = {0: 31.569991, 1: 27.285487, 2: 32.697829}


def stack_of(seed, shape=(4, 5, 4)):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("solver", ["clarabel", "cvxopt", "scs"])
def test_solvers_meet_the_oracle_with_a_proof(solver):
    solution = sdpdr.solve(methods.sopca(stack_of(0), 2), solver, tol=1e-7)
    assert solution.value == pytest.approx(F1[0], rel=2e-6)
    assert abs(solution.gap) < 1e-6


@pytest.mark.parametrize(
    "solver", ["clarabel", *(pytest.param(s, marks=pytest.mark.nightly) for s in ("cvxopt", "scs"))]
)
def test_solvers_find_half_of_it_by_the_dual(solver):
    """The text has (4.5) and (4.8) equal; a factor of two is lost in its proof."""
    solution = sdpdr.solve(methods.sopca_dual(stack_of(0), 2), solver, tol=1e-7)
    assert 2 * solution.value == pytest.approx(F1[0], rel=2e-6)
    assert abs(solution.gap) < 1e-6


@pytest.mark.parametrize(
    ("solver", "recipe"),
    [("lowrank", methods.sopca), ("sdpa", methods.sopca), ("sdpa", methods.sopca_dual)],
)
def test_further_solvers_agree_on_a_small_stack(solver, recipe):
    stack = stack_of(3, (2, 3, 2))
    solution = sdpdr.solve(recipe(stack, 1), solver, tol=1e-7)
    share = 2.0 if recipe is methods.sopca else 1.0
    assert solution.value == pytest.approx(share * interior_point(stack, 1).value, rel=2e-6)
    assert abs(solution.gap) < 1e-6


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_the_other_oracles(seed):
    for recipe, share in ((methods.sopca, 1.0), (methods.sopca_dual, 0.5)):
        solution = sdpdr.solve(recipe(stack_of(seed), 2), "clarabel")
        assert solution.value == pytest.approx(share * F1[seed], rel=1e-6)


@pytest.mark.parametrize(("k", "value"), [(1, 4.466994), (2, 6.316937), (3, 6.986588)])
def test_theorem_4_1(k, value):
    stack = stack_of(0, (1, 4, 3))
    solution = sdpdr.solve(methods.sopca(stack, k), "clarabel")
    assert solution.value == pytest.approx(value, abs=1e-5)
    assert value == pytest.approx(2 * np.linalg.svd(stack[0])[1][:k].sum(), abs=1e-6)


@pytest.mark.parametrize("ks", [(3, 1), pytest.param(2, marks=pytest.mark.nightly)])
def test_the_interior_point_agrees_with_the_programs(ks):
    stack = stack_of(3, (3, 4, 3))
    found = interior_point(stack, ks, tol=1e-8)
    there = sdpdr.solve(methods.sopca(stack, ks), "clarabel")
    half = sdpdr.solve(methods.sopca_dual(stack, ks), "clarabel")
    assert 2 * found.value == pytest.approx(there.value, rel=1e-6)
    assert found.value == pytest.approx(half.value, rel=1e-6)


def test_the_relaxed_projections_are_fractional():
    """Theorem 4.5 supposes rank k; the optimum has five and four positive eigenvalues in part."""
    solution = sdpdr.solve(methods.sopca_dual(stack_of(0), 2), "clarabel", tol=1e-8)
    left = np.linalg.eigvalsh(as_dense(solution.values["T_P"]))
    right = np.linalg.eigvalsh(as_dense(solution.values["T_Q"]))
    assert left == pytest.approx([0.0, 0.0, 0.283, 0.717, 1.0], abs=2e-3)
    assert right == pytest.approx([0.0, 0.387, 0.613, 1.0], abs=2e-3)
    found = interior_point(stack_of(0), 2, tol=1e-8)
    assert found.left == pytest.approx(as_dense(solution.values["T_P"]), abs=2e-3)


def test_a_common_factor_of_both_sides_moves_nothing():
    """(P_i, Q_i) and (c P_i, Q_i / c) are both feasible: at the optimum the two parts are equal."""
    solution = sdpdr.solve(methods.sopca(stack_of(0), 2), "clarabel")
    model = methods.sopca(stack_of(0), 2)
    splittings = model.blocks[0]
    sums = [
        np.linalg.eigvalsh(smat(evaluate(total, solution.values)))[-2:].sum()
        for total in (splittings.rows, splittings.columns)
    ]
    assert sums[0] == pytest.approx(sums[1], rel=1e-4)
    assert sum(sums) == pytest.approx(solution.value, rel=1e-5)


@pytest.mark.parametrize("shape", [(2, 3, 2), (1, 2, 4)])
def test_blocks_obey_the_laws(shape):
    stack = stack_of(0, shape)
    assert "compilers" in check_block(blocks.Splittings(stack))
    assert "compilers" in check_block(blocks.KeptNorms(stack))


def test_totals_of_the_splittings():
    rng = np.random.default_rng(0)
    splittings = blocks.Splittings(rng.standard_normal((2, 3, 2)))
    values = {f"W{i}": (lambda F: F @ F.T)(rng.standard_normal((5, 5))) for i in range(2)}
    total = values["W0"] + values["W1"]
    assert smat(evaluate(splittings.rows, values)) == pytest.approx(total[:3, :3])
    assert smat(evaluate(splittings.columns, values)) == pytest.approx(total[3:, 3:])


def test_centering_subtracts_the_mean_matrix():
    stack = stack_of(0, (3, 3, 2))
    centred = stack - stack.mean(axis=0)
    a = sdpdr.solve(methods.sopca(stack + 5.0, 1, center=True), "clarabel").value
    assert a == pytest.approx(2 * interior_point(centred, 1).value, rel=1e-5)


@pytest.mark.parametrize("recipe", [methods.sopca, methods.sopca_dual])
def test_bad_input_is_named(recipe):
    with pytest.raises(DataError, match="n_components=5"):
        recipe(stack_of(0), 5)
    with pytest.raises(ShapeError, match="one shape"):
        recipe([np.ones((2, 2)), np.ones((3, 2))])
    with pytest.raises(DataError, match="zero"):
        recipe(np.zeros((2, 2, 2)))
