"""Mistakes in models are refused early, in words that name the block and say what to do."""

import numpy as np
import pytest

from sdpdr import graphs
from sdpdr.blocks import Band, Centered, Gram, Isometry, Slack, Variance
from sdpdr.errors import CompileError, ModelError, ShapeError, UnknownNameError
from sdpdr.linalg import SquaredEdgeLengths, Trace
from sdpdr.model import (
    Affine,
    Equal,
    InCone,
    Minimize,
    Model,
    Penalize,
    Var,
    from_cvxpy,
    relax,
    soften,
)

GRAPH = graphs.path([1.0, 2.0])
K = Var("K")
LENGTHS = SquaredEdgeLengths(3, GRAPH.edges) @ K


RAW = from_cvxpy(lambda v: [v["K"][0, 0] <= 1.0], name="first_norm")

MISTAKES = [
    # models
    (lambda: (Gram(3) + Gram(3)).variables(), ModelError, "'K' is declared twice; give one"),
    (lambda: Model((Centered(3),)).variables(), ModelError, r"no block declares.*add Gram\(n\)"),
    (lambda: Model(()).to_sdp(), ModelError, "no block declares a variable"),
    (
        lambda: (Gram(3) + Isometry(GRAPH, gram="G")).to_sdp(),
        ModelError,
        "'isometry' uses the variable 'G', which no block declares; declared are K",
    ),
    (
        lambda: (Gram(3) + RAW).to_sdp(),
        CompileError,
        "'first_norm' cannot be lowered.*sdpdr.from_cvxpy",
    ),
    (
        lambda: (Gram(3) + RAW).objective({"K": np.eye(3)}),
        ModelError,
        "'first_norm' is written in cvxpy; only cvxpy",
    ),
    (
        lambda: (Gram(4) + Centered(3)).to_sdp(),
        ShapeError,
        "centered: the map on 'K' must take order 4 to 3 rows; it takes 3 to 3",
    ),
    (
        lambda: (Gram(3) + Variance(3)).describe("html"),
        UnknownNameError,
        "style 'html'.*latex, text",
    ),
    # blocks
    (
        lambda: Isometry(GRAPH, "equal"),
        UnknownNameError,
        "isometry 'equal'. Did you mean 'equality'",
    ),
    (lambda: Isometry(GRAPH, 0.1), UnknownNameError, r"unknown isometry 0.1.*band:0.05"),
    (lambda: Band(0.0), ModelError, r"lie in \(0, 1\); it is 0.0"),
    (lambda: Slack(0.0), ModelError, "must be positive; it is 0.0"),
    (lambda: Slack(1.0, "cubic"), UnknownNameError, "penalty 'cubic'.*absolute, square"),
    # soften and relax
    (lambda: list(relax(Isometry(GRAPH), 0.1).terms()), ModelError, "'isometry' has a AtMost term"),
    (lambda: relax(Isometry(GRAPH), 1.5), ModelError, "strictly between 0 and 1; it is 1.5"),
    (
        lambda: list(soften(Isometry(GRAPH), 1.0, square=True).terms()),
        ModelError,
        "penalizes equalities only.*Use square=False",
    ),
    (
        lambda: list(soften(Variance(3), 1.0).terms()),
        ModelError,
        "'variance' has a Maximize term.*no right side.*Equal and AtMost",
    ),
    (
        lambda: list(soften(Isometry(GRAPH), [1.0, 2.0, 3.0]).terms()),
        ShapeError,
        "weight must have 2 values or one",
    ),
    # terms and expressions
    (lambda: Equal(LENGTHS, [1.0, 2.0, 3.0]), ShapeError, r"Equal: the left side has 2.*\(3,\)"),
    (lambda: Minimize(LENGTHS), ShapeError, "an objective has one value; this expression has 2"),
    (lambda: InCone(LENGTHS, "exponential"), ModelError, "'psd' or 'nonnegative'.*'exponential'"),
    (lambda: InCone(LENGTHS, "psd"), ValueError, "2 is not n .*no svec length"),
    (lambda: Penalize(LENGTHS, 0.0, "cubic", 1.0), ModelError, "'positive' or 'square'.*'cubic'"),
    (
        lambda: Gram(3) + 1.0,
        ModelError,
        "adds blocks and models; it was given an object of type float; numbers .*minimize",
    ),
    (lambda: Penalize(LENGTHS, 0.0, "square", np.inf), ModelError, "positive and finite"),
    (lambda: Affine({"K": Trace(3)}, np.zeros(2)), ShapeError, "map on 'K' has 1, the rest 2"),
    (lambda: SquaredEdgeLengths(2, GRAPH.edges), ShapeError, r"join points 0\.\.1"),
]


@pytest.mark.parametrize(("mistake", "kind", "words"), MISTAKES, ids=[m[2][:30] for m in MISTAKES])
def test_mistakes_are_named(mistake, kind, words):
    with pytest.raises(kind, match=words):
        mistake()


def test_a_vector_variable_with_curvature_is_free_and_its_curvature_positive():
    from sdpdr.program.point import VectorVariable

    with pytest.raises(ValueError, match="'z': a quadratic cost needs a free vector"):
        VectorVariable("z", 2, nonnegative=True, curvature=np.ones(2))
    with pytest.raises(ValueError, match="'z': curvature must be 2 positives"):
        VectorVariable("z", 2, curvature=np.array([1.0, 0.0]))
