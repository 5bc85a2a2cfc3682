"""Whether a model minimises or maximises is what its goals say, whatever the signs of the data."""

import numpy as np
import pytest

import sdpdr
from sdpdr.blocks import Gram, LeastTrace, Stated, Variance
from sdpdr.linalg import InnerProduct
from sdpdr.model import Affine, Maximize, Minimize, Model, Var

HOLLOW = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
DATA = {
    "hollow": HOLLOW,
    "negated": -HOLLOW,
    "definite": np.eye(3),
    "negative definite": -np.eye(3),
    "indefinite": np.diag([1.0, -2.0, 0.0]),
    "zero": np.zeros((3, 3)),
}


def product(matrix):
    return InnerProduct(matrix) @ Var("K")


@pytest.mark.parametrize("name", DATA)
def test_both_compilers_and_the_words_agree(name):
    least = Gram(3) + Stated("goal", [Minimize(product(DATA[name]))])
    most = Gram(3) + Stated("goal", [Maximize(product(DATA[name]))])
    assert least.describe().splitlines()[0] == "minimise    ⟨C, K⟩"
    assert most.describe().splitlines()[0] == "maximise    ⟨C, K⟩"
    assert (least.to_sdp().maximize, most.to_sdp().maximize) == (False, True)
    senses = [type(m.to_cvxpy().objective).__name__ for m in (least, most)]
    assert senses == ["Minimize", "Maximize"]
    gram = np.outer([1.0, 2.0, -1.0], [1.0, 2.0, -1.0])
    expected = float(np.sum(DATA[name] * gram))
    assert least.objective({"K": gram}) == pytest.approx(expected)
    assert most.objective({"K": gram}) == pytest.approx(expected)


def test_goals_of_both_kinds_are_a_minimisation_of_their_difference():
    model = Gram(3) + Variance(3) + LeastTrace(3, 2.0 * np.ones(3))
    assert not model.is_maximization
    assert model.objective({"K": np.eye(3)}) == pytest.approx(2.0 * 3.0 - 3.0)
    assert Model(model.blocks, maximize=True).objective({"K": np.eye(3)}) == pytest.approx(-3.0)


@pytest.mark.parametrize("kind", [Minimize, Maximize])
def test_a_goal_is_one_value(kind):
    with pytest.raises(sdpdr.errors.ShapeError, match="an objective has one value; .* has 2"):
        kind(Affine({}, np.zeros(2)))
