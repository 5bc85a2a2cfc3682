"""The table of cvxpy's words and ours in the guide: both sides of every row have one value."""

from __future__ import annotations

import re
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import matrix, minimize, parameter, psd, scalar, symmetric
from sdpdr.base.from_cvxpy import SPELLINGS
from sdpdr.model import language

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "from_cvxpy.rst"
ROWS = re.findall(r"\* - ``(cp\.[^`]*)``\n +- ``([^`=]*(?:axis=1[^`=]*)?)``\n", GUIDE.read_text())

RNG = np.random.default_rng(0)
SQUARE = RNG.standard_normal((3, 3))
NUMBERS = {
    "K": SQUARE @ SQUARE.T + np.eye(3),
    "S": SQUARE + SQUARE.T,
    "M": RNG.standard_normal((2, 3)),
    "x": RNG.uniform(0.5, 2.0, 3),
    "t": np.array(1.7),
}
GIVEN = {"A": RNG.standard_normal((2, 3)), "P": SQUARE.T @ SQUARE, "np": np, "cp": cp}
OURS = {
    **{"K": psd("K", 3), "S": symmetric("S", 3), "M": matrix("M", (2, 3))},
    **{"x": scalar("x", 3), "t": scalar("t")},
}
POINT = {
    **{"K": NUMBERS["K"], "S": NUMBERS["S"][[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]},
    **{"M": NUMBERS["M"].ravel(), "x": NUMBERS["x"], "t": NUMBERS["t"].reshape(1)},
}


def test_the_page_shows_the_lines_of_which_messages_speak():
    shown = re.findall(r"\* - ``([^`]*cp\.[^`]*)``\n +- ``([^`]*)``\n", GUIDE.read_text())
    assert tuple(shown) == SPELLINGS


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("trace", "write K.trace()"),
        ("Variable", 'write K = psd("K", 3)'),
        ("Maximize", "write model = maximize(g) + a"),
        ("exp", "write sum_exp(x)"),
        ("sqrt", "write geo_mean(np.hstack([t, 1.0]))"),
    ],
)
def test_names_of_cvxpy_lead_to_ours(name, instead):
    with pytest.raises(AttributeError, match=re.escape(instead)):
        getattr(sdpdr, name)


@pytest.mark.parametrize(("theirs", "ours"), ROWS)
def test_both_words_have_one_value(theirs, ours):
    variables = {}
    for name, numbers in NUMBERS.items():
        variables[name] = cp.Variable(numbers.shape, name=name, symmetric=name in "KS")
        variables[name].value = numbers
    expected = np.asarray(eval(theirs, GIVEN | variables).value)
    expression = eval(ours, vars(language) | GIVEN | OURS)
    found = np.asarray(expression.at(POINT))
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-6, atol=1e-9)


def test_a_life_in_the_words_of_the_table():
    """Near the optimum the value grows by the square of the distance, so 1e-6 of it is 4e-3."""
    x, lam = scalar("x", 2), parameter("lam", value=1.0)
    goal = minimize(sdpdr.sum_squares(x - 3.0) + lam * sdpdr.norm(x, 1))
    model = goal + (x <= 2.0).named("limits")
    model += [x[0] >= 0.0]
    solution = model.solve()
    assert solution[x] == pytest.approx([2.0, 2.0], abs=5e-3)
    assert solution.dual("limits") == pytest.approx([1.0, 1.0], abs=1e-2)
    assert solution[sdpdr.sum_squares(x) - 1.0] == pytest.approx(7.0, abs=5e-2)
    assert solution[goal.function] == pytest.approx(solution.value, rel=1e-6)
    lam.value = 4.0
    assert model.solve()[x] == pytest.approx([1.0, 1.0], abs=5e-3)
    assert goal.solve()[x] == pytest.approx([1.0, 1.0], abs=5e-3)
    assert str(model) == model.describe()
    assert model._repr_latex_().startswith("$$\n\\begin{aligned}")
    assert "x ∈ R^2" in goal.describe()
