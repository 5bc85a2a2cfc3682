"""NumPy's functions of expressions are those of their values, or are refused."""

from __future__ import annotations

import numpy as np
import pytest

from sdpdr import matrix, maximize, norm, psd, scalar, symmetric
from sdpdr.errors import ModelError, ShapeError, UnknownNameError
from sdpdr.model.affine import evaluate

K, S, w, t, X = psd("K", 4), symmetric("S", 3), scalar("w", 3), scalar("t"), matrix("X", (2, 3))
A = np.arange(6.0).reshape(2, 3) - 2.0

FUNCTIONS = {
    "a sum of two": lambda K, S, w, t, X: K[:2, :3] + X,
    "a sum of two shapes": lambda K, S, w, t, X: t + w + X,
    "a difference": lambda K, S, w, t, X: 1.0 - A - X,
    "a product with numbers": lambda K, S, w, t, X: A * w - 2.0 * X,
    "a quotient": lambda K, S, w, t, X: X / (A + 3.0),
    "places": lambda K, S, w, t, X: K[[0, -1, 2, 2]] + w[[-1, 0, 0, 1]][:, None],
    "a matrix from the right": lambda K, S, w, t, X: (X @ A.T).T + (K @ np.ones((4, 2)))[:2],
    "a matrix from the left": lambda K, S, w, t, X: A @ S + (A @ w)[:, None] - np.ones((2, 2)) @ X,
    "the methods": lambda K, S, w, t, X: S.T.reshape(-1).sum() + K.trace() + K.diagonal().sum(),
    "block": lambda K, S, w, t, X: np.block([[S, X.T], [X, np.eye(2)]]),
    "block of scalars": lambda K, S, w, t, X: np.block([[1.0, t], [t, 2.0]]),
    "column_stack": lambda K, S, w, t, X: np.column_stack([w, S]),
    "concatenate": lambda K, S, w, t, X: np.concatenate([X, A], axis=1),
    "cumsum": lambda K, S, w, t, X: np.cumsum(w),
    "diag of a matrix": lambda K, S, w, t, X: np.diag(K),
    "diag beside": lambda K, S, w, t, X: np.diag(K, 1),
    "diag of a vector": lambda K, S, w, t, X: np.diag(w),
    "diagonal": lambda K, S, w, t, X: np.diagonal(X),
    "diff": lambda K, S, w, t, X: np.diff(X),
    "dot": lambda K, S, w, t, X: np.dot(A, w),
    "dstack": lambda K, S, w, t, X: np.dstack([X, A]),
    "expand_dims": lambda K, S, w, t, X: np.expand_dims(w, 1),
    "flip": lambda K, S, w, t, X: np.flip(X, 1),
    "hstack": lambda K, S, w, t, X: np.hstack([w, t, [1.0, 2.0]]),
    "kron": lambda K, S, w, t, X: np.kron(np.eye(2), X),
    "mean": lambda K, S, w, t, X: np.mean(w),
    "mean of a method": lambda K, S, w, t, X: K.mean(),
    "moveaxis": lambda K, S, w, t, X: np.moveaxis(X, 0, 1),
    "multiply": lambda K, S, w, t, X: np.multiply(A, X),
    "negative": lambda K, S, w, t, X: np.negative(w),
    "outer": lambda K, S, w, t, X: np.outer([1.0, 2.0], w),
    "positive": lambda K, S, w, t, X: +S,
    "ravel": lambda K, S, w, t, X: np.ravel(X) + X.flatten(),
    "repeat": lambda K, S, w, t, X: np.repeat(w, 2),
    "reshape": lambda K, S, w, t, X: np.reshape(X, (3, 2)),
    "roll": lambda K, S, w, t, X: np.roll(w, 1),
    "stack": lambda K, S, w, t, X: np.stack([w, np.ones(3)], axis=1),
    "subtract": lambda K, S, w, t, X: np.subtract(1.0, w),
    "sum": lambda K, S, w, t, X: np.sum(K),
    "sum along an axis": lambda K, S, w, t, X: np.sum(X, axis=-1),
    "lists of lists": lambda K, S, w, t, X: np.hstack([w[None], [[t, 1.0]]]),
    "a list beside": lambda K, S, w, t, X: np.hstack([w, [t, 2.0]]),
    "a new axis": lambda K, S, w, t, X: K[None],
    "a new axis beside a row": lambda K, S, w, t, X: K[1, None, [0, 2]],
    "all but the last": lambda K, S, w, t, X: K[..., -1],
    "a norm by its name": lambda K, S, w, t, X: np.linalg.norm(X, ord="nuc"),
    "sum along axes": lambda K, S, w, t, X: np.sum(S, axis=(1, 0)),
    "sums that stay": lambda K, S, w, t, X: np.sum(K, axis=1, keepdims=True),
    "tile": lambda K, S, w, t, X: np.tile(w, (2, 1)),
    "trace": lambda K, S, w, t, X: np.trace(K) + np.trace(S),
    "transpose": lambda K, S, w, t, X: np.transpose(X),
    "triu": lambda K, S, w, t, X: np.triu(S, 1),
    "true_divide": lambda K, S, w, t, X: np.true_divide(w, 4.0),
    "vdot": lambda K, S, w, t, X: np.vdot(A, X),
    "vstack": lambda K, S, w, t, X: np.vstack([w, X]),
    "least": lambda K, S, w, t, X: w.min(),
    "length": lambda K, S, w, t, X: np.linalg.norm(w),
    "squares": lambda K, S, w, t, X: np.square(w).sum() + (X**2).sum(),
    "sizes": lambda K, S, w, t, X: np.abs(w).sum(),
    "a sum of sizes": lambda K, S, w, t, X: np.sum(np.abs(X)),
}


def point(seed):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((4, 2))
    return {
        "K": factor @ factor.T,
        "S": rng.standard_normal(6),
        **{name: rng.standard_normal(size) for name, size in (("w", 3), ("t", 1), ("X", 6))},
    }


@pytest.mark.daily(20)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_expressions_is_that_of_their_values(name):
    expression = FUNCTIONS[name](K, S, w, t, X)
    for seed in range(3):
        values = point(seed)
        numbers = FUNCTIONS[name](*(variable.at(values) for variable in (K, S, w, t, X)))
        found = expression.at(values)
        assert np.shape(found) == np.shape(numbers)
        np.testing.assert_allclose(found, numbers, rtol=1e-12, atol=1e-12)


REFUSED = {
    "exp": (lambda: np.exp(t), r"numpy\.exp .*sum_exp"),
    "maximum": (lambda: np.maximum(w, 0.0), r"numpy\.maximum .*pos\(v\)"),
    "det": (lambda: np.linalg.det(K), r"numpy\.linalg\.det .*log_det"),
    "a function that is not known": (lambda: np.sort(w), r"numpy\.sort of an expression is not"),
    "an option": (lambda: np.max(X, initial=0), r"numpy\.max of an expression: .*'initial'"),
    "the largest of columns": (lambda: np.max(X, axis=0), r"along axis 0 .*row\.max\(\)"),
    "an option of a norm": (lambda: np.linalg.norm(X, axis=1), r"numpy\.linalg\.norm .*'axis'"),
    "a reduction": (lambda: np.add.reduce(w), r"numpy\.add"),
    "a power": (lambda: np.power(2.0, w), r"numpy\.power"),
    "shapes": (lambda: np.vstack([w, K]), r"numpy\.vstack of shapes \(3,\), \(4, 4\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_refused(name):
    call, words = REFUSED[name]
    with pytest.raises((ModelError, ShapeError), match=words):
        call()


def test_means_of_groups_are_one_row():
    """NumPy alone would take the mean of an expression for the expression."""
    one, other = [(0, 1), (0, 2)], [(1, 2), (1, 3)]
    fair = np.mean(K.distance2(one)) == np.mean(K.distance2(other))
    assert fair.terms()[0].lhs.m == 1


def test_parts_keep_their_structure():
    large = psd("L", 50_000)
    assert np.trace(large).maps["L"].n_entries == 50_000
    assert np.diag(large).maps["L"].n_entries == 50_000


@pytest.mark.filterwarnings("ignore::sdpdr.errors.VacuousWarning")
def test_a_value_of_any_expression_in_a_solution():
    model = maximize(K.trace()) + (K.diagonal() <= [1.0, 2.0, 3.0, 4.0]) + (K[0, 1] == 0.5)
    model += [X == A, t >= 3.0, -norm(w) >= -1.0]
    solution = model.solve()
    assert solution[X] == pytest.approx(A, abs=1e-6)
    assert solution[X[1]] == pytest.approx(A[1], abs=1e-6)
    assert solution[K.trace()] == pytest.approx(solution.value, rel=1e-9)
    assert solution[K][0, 1] == pytest.approx(0.5, abs=1e-6)
    assert np.shape(solution[t]) == ()
    with pytest.raises(UnknownNameError, match="unknown variable 's'.*Known: K"):
        solution[scalar("s") + 1.0]


def test_a_number_beside_a_matrix_is_taken_from_every_entry():
    values = point(0)
    (term,) = (K - t >> 0).terms()
    (written,) = (K - t * np.ones((4, 4)) >> 0).terms()
    (identity,) = (K >> t * np.eye(4)).terms()
    one, other, apart = (evaluate(part.lhs, values) for part in (term, written, identity))
    assert np.array_equal(one, other)
    assert not np.allclose(one, apart)


def test_distances_are_read_from_any_square_matrix():
    values = point(1)
    pairs = [(0, 1), (0, -1)]
    for matrix_ in (S, 2.0 * K[:3, :3], np.ones((3, 2)) @ X):
        D = matrix_.at(values)
        known = [D[i, i] + D[j, j] - D[i, j] - D[j, i] for i, j in pairs]
        np.testing.assert_allclose(matrix_.distance2(pairs).at(values), known, atol=1e-12)
    assert np.allclose(K.distance2(pairs).at(values), (1.0 * K).distance2(pairs).at(values))
    with pytest.raises(ShapeError, match=r"square matrix; this has shape \(2, 3\)"):
        X.distance2(0, 1)
