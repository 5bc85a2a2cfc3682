"""Directions are closed forms: tight where they are made, above the excess elsewhere."""

import cvxpy as cp
import numpy as np
import pytest

from sdpdr.errors import DataError, UnknownNameError
from sdpdr.iterate import LogDet, Schur, Trailing
from sdpdr.program import Factor
from sdpdr.solving.iterate.directions import find_direction

N, R = 7, 2
NO_NULL = np.zeros((N, 0))


def draw(seed, rank=N, n=N):
    factor = np.random.default_rng(seed).standard_normal((n, rank))
    return factor @ factor.T


def lift(X, extra=0.0):
    """[[I, X'], [X, X X' + extra I]]."""
    m, k = X.shape
    return np.block([[np.eye(k), X.T], [X, X @ X.T + extra * np.eye(m)]])


def value(cost, matrix):
    return float(cost.apply(matrix)[0])


def rng():
    return np.random.default_rng(0)


def test_trailing_is_the_optimum_of_the_second_program():
    """Dattorro's second step as a semidefinite program has this value and this solution."""
    X = draw(0)
    W = cp.Variable((N, N), symmetric=True)
    limits = [W >> 0, np.eye(N) - W >> 0, cp.trace(W) == N - R]
    problem = cp.Problem(cp.Minimize(cp.trace(X @ W)), limits)
    problem.solve(solver="CLARABEL")
    trailing = Trailing(R)
    assert problem.value == pytest.approx(trailing.excess(X), rel=1e-6)
    ours = trailing.cost(X, NO_NULL, 0, rng()).adjoint(np.ones(1)).toarray()
    np.testing.assert_allclose(W.value, ours, atol=1e-4)


@pytest.mark.parametrize("direction", [Trailing(R), Schur(R)], ids=lambda d: d.name)
@pytest.mark.parametrize("seed", range(2))
def test_tight_at_home_and_above_the_excess_elsewhere(direction, seed):
    if direction.name == "schur":
        X = np.random.default_rng(seed).standard_normal((2, N - R, R))
        here, there = lift(X[0], 0.3), lift(X[1], 0.1)
    else:
        here, there = draw(seed), draw(seed + 100)
    cost = direction.cost(here, NO_NULL, 0, rng())
    assert value(cost, here) == pytest.approx(direction.excess(here), rel=1e-9)
    assert value(cost, there) >= direction.excess(there) - 1e-9


@pytest.mark.parametrize("direction", [Trailing(R), LogDet(R), Schur(R)], ids=lambda d: d.name)
def test_a_factor_gives_what_its_matrix_gives(direction):
    X = np.random.default_rng(1).standard_normal((N - R, R))
    matrix = lift(X, 0.5)
    factor = Factor(np.linalg.cholesky(matrix))
    dense, thin = (direction.cost(v, NO_NULL, 0, rng()) for v in (matrix, factor))
    np.testing.assert_allclose(value(thin, matrix), value(dense, matrix), rtol=1e-9)
    assert direction.excess(factor) == pytest.approx(direction.excess(matrix), rel=1e-9)


def test_logdet_is_the_gradient_of_its_surrogate():
    X, direction = draw(5), LogDet(R, delta=0.5)
    delta = 0.5 * np.trace(X) / N
    cost = direction.cost(X, NO_NULL, 0, rng())
    step = 1e-6 * draw(6)

    def surrogate(matrix):
        return delta * np.linalg.slogdet(matrix + delta * np.eye(N))[1]

    change = surrogate(X + step) - surrogate(X - step)
    assert value(cost, 2 * step) == pytest.approx(change, rel=1e-4)


def test_weights_are_rows_repeated():
    """Cost, excess and size of merged points are those of the points themselves."""
    counts = np.array([2, 1, 3])
    X, Y = draw(3, n=3), draw(4, n=3)

    def whole(matrix):
        return np.repeat(np.repeat(matrix, counts, axis=0), counts, axis=1)

    merged, apart = Trailing(1, weights=counts.astype(float)), Trailing(1)
    assert merged.excess(X) == pytest.approx(apart.excess(whole(X)))
    assert merged.size(X) == pytest.approx(np.trace(whole(X)))
    costs = (
        merged.cost(X, np.zeros((3, 0)), 0, rng()),
        apart.cost(whole(X), np.zeros((6, 0)), 0, rng()),
    )
    assert value(costs[0], Y) == pytest.approx(value(costs[1], whole(Y)))


def test_schur_keeps_sparsity():
    X = np.random.default_rng(0).standard_normal((50, 2))
    sparse = Schur(2).cost(lift(X), np.zeros((52, 0)), 0, rng()).adjoint(np.ones(1))
    assert sparse.nnz == 4 + 2 * 100 + 50
    trailing = Trailing(2).cost(lift(X), np.zeros((52, 0)), 0, rng()).adjoint(np.ones(1))
    assert trailing.nnz > 2000


def test_directions_that_do_not_fit_the_matrix_are_named():
    with pytest.raises(UnknownNameError, match="Did you mean 'trailing'"):
        find_direction("trailling", 2)
    with pytest.raises(DataError, match="rank 3, not for 2"):
        find_direction(Trailing(3), 2)
    with pytest.raises(DataError, match="shrink"):
        LogDet(2, shrink=0.0)
    with pytest.raises(DataError, match="add up to 5"):
        Schur(2, parts=(1, 2)).check("Z", 7, 0)
    with pytest.raises(DataError, match="identity"):
        Schur(3).check("Z", 3, 0)
    with pytest.raises(DataError, match=r"1\.\.6.*K u = 0"):
        Trailing(7).check("K", 7, 1)
