"""Second-order PCA as programs: oracles by several solvers, and the misprints of the text."""

import numpy as np
import pytest

import sdpdr
from sdpdr import blocks, check_block, methods
from sdpdr.bilinear import interior_point
from sdpdr.errors import DataError, ShapeError

F1 = 31.569991


def stack_of(seed, shape=(4, 5, 4)):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.integration
@pytest.mark.parametrize("solver", ["clarabel", "scs"])
@pytest.mark.parametrize(("recipe", "share"), [(methods.sopca, 1.0), (methods.sopca_dual, 0.5)])
def test_solvers_meet_the_oracle_with_a_proof(solver, recipe, share):
    """The text has (4.5) and (4.8) equal; a factor of two is lost in its proof."""
    solution = sdpdr.solve(recipe(stack_of(0), 2), solver, tol=1e-7)
    assert solution.value == pytest.approx(share * F1, rel=2e-6)
    assert abs(solution.gap) < 1e-6


def test_the_interior_point_agrees_with_both_programs_for_two_numbers_of_columns():
    stack = stack_of(3, (3, 4, 3))
    found = interior_point(stack, (3, 1), tol=1e-8)
    there = sdpdr.solve(methods.sopca(stack, (3, 1)), "clarabel")
    half = sdpdr.solve(methods.sopca_dual(stack, (3, 1)), "clarabel")
    assert 2 * found.value == pytest.approx(there.value, rel=1e-6)
    assert found.value == pytest.approx(half.value, rel=1e-6)


@pytest.mark.integration
@pytest.mark.parametrize("block", [blocks.Splittings, blocks.KeptNorms])
def test_blocks_obey_the_laws(block):
    assert "compilers" in check_block(block(stack_of(0, (2, 3, 2))))


def test_centering_subtracts_the_mean_matrix():
    stack = stack_of(0, (3, 3, 2))
    value = sdpdr.solve(methods.sopca(stack + 5.0, 1, center=True), "clarabel").value
    centred = stack - stack.mean(axis=0)
    assert value == pytest.approx(2 * interior_point(centred, 1).value, rel=1e-5)


@pytest.mark.parametrize("recipe", [methods.sopca, methods.sopca_dual])
def test_bad_input_is_named(recipe):
    with pytest.raises(DataError, match="n_components=5"):
        recipe(stack_of(0), 5)
    with pytest.raises(ShapeError, match="one shape"):
        recipe([np.ones((2, 2)), np.ones((3, 2))])
    with pytest.raises(DataError, match="zero"):
        recipe(np.zeros((2, 2, 2)))
