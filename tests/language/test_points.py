"""A point is read in the shapes in which a solution gives it."""

from __future__ import annotations

import numpy as np
import pytest

from sdpdr import matrix, minimize, norm, parameter, psd, scalar, symmetric
from sdpdr.errors import ShapeError

K, S, X = psd("K", 2), symmetric("S", 3), matrix("X", (2, 3))
t, w = scalar("t"), scalar("w", 4)
EVERY = {"K": K, "S": S, "X": X, "t": t, "w": w}

model = (
    minimize(K.trace() + norm(X - 1.0) + t + (w.sum() - 2.0))
    + (S >> np.eye(3))
    + (t >= S[0, 2] + 1.0)
    + (w >= 0.5)
    + (K[0, 1] == 1.0)
    + (S.trace() <= 5.0)
)
solution = model.solve()


def test_what_a_solution_gives_is_a_point():
    point = {name: solution[expression] for name, expression in EVERY.items()}
    for expression in EVERY.values():
        assert np.allclose((2.0 * expression).at(point), 2.0 * solution[expression])
    own = {**point, "objective.0.top": solution["objective.0.top"]}
    assert model.objective(own) == pytest.approx(solution.value)
    assert model.violations(own) == pytest.approx(model.violations(solution.values))


def test_a_number_is_the_value_of_a_scalar():
    assert (t + 1.0).at({"t": 1.0}) == 2.0
    assert (t + 1.0).at({"t": np.float64(1.0)}) == 2.0
    assert minimize(t).model.objective({"t": 3}) == 3.0


@pytest.mark.parametrize(
    ("expression", "value"),
    [(w, 1.0), (t, np.ones(2)), (S, np.ones((2, 2))), (S, np.triu(np.ones((3, 3)))), (K, 1.0)],
)
def test_values_of_another_size_are_refused_by_shape(expression, value):
    name = next(iter(expression.affine().maps))
    with pytest.raises(ShapeError, match="it was given shape"):
        (2.0 * expression).at({name: value})


def test_a_variable_is_read_by_name_in_its_shape():
    p = parameter("p", value=1.0)
    changed = model + (t >= p)
    changed.solve()
    p.value = 1.5
    answer = changed.solve()
    for name, expression in EVERY.items():
        assert np.shape(answer[name]) == expression.shape
        assert np.array_equal(np.asarray(answer[name]), np.asarray(answer[expression]))
    assert answer.values["S"].shape == (6,)
    assert {name: answer[name] for name in EVERY}.keys() == EVERY.keys()
    assert (answer.gram("S") == answer[S]).all()
