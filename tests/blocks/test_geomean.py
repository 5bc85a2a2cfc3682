"""The geometric mean: the tree is exact for every number of values, and so is its count."""

import numpy as np
import pytest

import sdpdr
from sdpdr import check_block
from sdpdr.blocks import Gram, LeastTrace
from sdpdr.errors import ModelError
from sdpdr.linalg import Diagonal, VectorMap
from sdpdr.model import Affine, AtMost, Block, Model, Var
from sdpdr.model.blocks.geomean import GeometricMean
from sdpdr.program.point import VectorVariable

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17]


def diagonal(m):
    return Diagonal(m) @ Var("K")


@pytest.mark.daily(1)
@pytest.mark.parametrize("m", [1, 3])
def test_a_geometric_mean_keeps_the_laws_of_blocks(m):
    assert "compilers" in check_block(GeometricMean(diagonal(m)))
    assert "compilers" in check_block(GeometricMean(diagonal(m), at_least=0.5, name="h"))


@pytest.mark.nightly
@pytest.mark.parametrize("m", [1, 2, 3, 6, 11])
def test_under_upper_limits_the_optimum_is_their_mean(m):
    limits = np.random.default_rng(m).uniform(0.5, 4.0, m)

    class Below(Block):
        def terms(self):
            yield AtMost(diagonal(m), limits)

    model = Gram(m) + Below() + GeometricMean(diagonal(m))
    solution = sdpdr.solve(model, "clarabel", "gram", tol=1e-7)
    np.testing.assert_allclose(solution.value, np.exp(np.mean(np.log(limits))), rtol=1e-6)
    np.testing.assert_allclose(solution.bound, solution.value, rtol=1e-5)


@pytest.mark.daily(1)
@pytest.mark.parametrize("solver", ["clarabel", "lowrank"])
def test_the_least_trace_at_a_given_mean(solver):
    weights = np.array([1.0, 2.0, 4.0])
    values = weights * Diagonal(3) @ Var("K")
    model = Gram(3) + GeometricMean(values, at_least=2.0) + LeastTrace(3)
    solution = sdpdr.solve(Model(model.blocks, maximize=False), solver, tol=1e-7)
    # min sum k_i with (prod w_i k_i)^(1/3) >= 2: all k_i equal.
    np.testing.assert_allclose(solution.value, 3.0 * 2.0 / 2.0, rtol=1e-6)


def test_values_may_be_vectors_and_constants():
    class Two(Block):
        def variables(self):
            yield VectorVariable("z", 2)

        def terms(self):
            yield AtMost(np.eye(2) @ Var("z"), [3.0, 5.0])

    values = Affine({"z": VectorMap(np.eye(2))}, np.array([1.0, 4.0]))
    solution = sdpdr.solve(Two() + GeometricMean(values), "clarabel", "gram", tol=1e-8)
    np.testing.assert_allclose(solution.value, 6.0, rtol=1e-6)


@pytest.mark.parametrize("wrong", [0.0, np.nan])
def test_a_mean_that_is_not_positive_is_refused(wrong):
    with pytest.raises(ModelError, match="at_least must be positive"):
        GeometricMean(diagonal(2), wrong)


def test_no_values_are_refused():
    with pytest.raises(ModelError, match="at least one value"):
        GeometricMean(Affine({}, np.zeros(0)))
