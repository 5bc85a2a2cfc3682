"""What cannot be said is refused in one sentence that says what to write."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from sdpdr import (
    blocks,
    matrix,
    maximize,
    minimize,
    norm,
    parameter,
    pos,
    psd,
    quad_form,
    scalar,
    solve_many,
    square,
    symmetric,
)
from sdpdr.errors import (
    DataTypeError,
    EntrywiseWarning,
    ModelError,
    OutOfRangeError,
    ShapeError,
    VacuousWarning,
)

K = psd("K", 3)
S = symmetric("S", 3)
w = scalar("w", 4)
t = scalar("t")
X = matrix("X", (2, 3))

MISTAKES = {
    "a product of two": (lambda: K[0, 1] * w, ModelError, "K and w.*not linear"),
    "a quotient": (lambda: 1.0 / t, ModelError, "multiply both sides"),
    "by zero": (lambda: w / 0.0, ModelError, "division by zero"),
    "a power": (lambda: w**3, ModelError, r"square\(v\).*power\(v, 3\)"),
    "a matrix product of two": (lambda: X @ (X.T), ModelError, "one side of @ must be"),
    "shapes of a sum": (lambda: w + X, ShapeError, r"\(4,\) \+ \(2, 3\)"),
    "shapes of a comparison": (lambda: w <= np.ones(3), ShapeError, r"\(4,\) <= \(3,\)"),
    "shapes of a product": (lambda: np.ones((2, 3)) @ w, ShapeError, r"\(2, 3\) @ \(4,\)"),
    "of psd products": (lambda: K @ np.ones(4), ShapeError, r"\(3, 3\) @ \(4,\)"),
    "sizes above a limit": (lambda: abs(w) >= 1.0, ModelError, "abs.* no convex set"),
    "a strict inequality": (lambda: w < 1.0, ModelError, "write <="),
    "unequal": (lambda: w != 1.0, ModelError, "no convex set"),
    "a truth value": (lambda: bool(w[0]), ModelError, "neither true nor false"),
    "a chain": (lambda: 0.0 <= w <= 1.0, ModelError, r"\(a <= x\) \+ \(x <= b\)"),
    "words": (lambda: w <= "one", DataTypeError, r"shape \(4,\) <= a str"),
    "nothing": (lambda: w + None, DataTypeError, r"\+ a NoneType"),
    "a block": (lambda: w + blocks.Gram(3), DataTypeError, "blocks and comparisons are added"),
    "an expression in a model": (
        lambda: maximize(t) + (t <= 1.0) + t,
        ModelError,
        "alone is no constraint",
    ),
    "a name twice": (lambda: psd("A A", 3), ModelError, "two variables of 'A A' are called 'A'"),
    "a twin that is nonnegative": (
        lambda: scalar("z", 2) + scalar("z", 2, nonnegative=True),
        ModelError,
        "'z', a vector of 2 and a vector of 2 that is nonnegative; make it once",
    ),
    "a place": (lambda: w[4], OutOfRangeError, r"shape \(4,\)"),
    "three places": (lambda: K[0, 1, 2], OutOfRangeError, "2-dimensional.*3 were indexed"),
    "places that are no numbers": (lambda: K[0.5, 1], OutOfRangeError, "only integers"),
    "pairs": (lambda: K.distance2([0, 1, 2]), ShapeError, r"pairs of shape \(m, 2\)"),
    "a cost": (lambda: K.inner(np.eye(4)), ShapeError, r"\(3, 3\).*\(4, 4\)"),
    "no square matrix": (lambda: X >> 0, ShapeError, "square matrices"),
    "no identity": (lambda: S >> 1.0, ShapeError, r"t \* numpy.eye\(3\).*ones for X - t >> 0"),
    "an array of apart ones": (
        lambda: np.array([[t, w[0]], [w[0], 1.0]]) >> 0,
        ShapeError,
        "numpy.array stay apart, numpy.block makes one matrix",
    ),
    "an array of apart rows": (
        lambda: np.r_[w, t] >= 0,
        ModelError,
        "numpy.hstack for numpy.array",
    ),
    "no symmetry": (lambda: symmetric_of(), ModelError, r"\(A \+ A.T\) / 2"),
    "a trace": (lambda: X.trace(), ShapeError, "square matrix has a trace"),
    "an objective of several": (lambda: maximize(w), ShapeError, r"Write \.sum\(\)"),
    "an objective of none": (lambda: maximize(3.0), DataTypeError, "K.trace"),
    "a convex maximum": (lambda: maximize(abs(t)), ModelError, "write minimize"),
    "a concave minimum": (lambda: minimize(t - abs(t)), ModelError, "write maximize"),
    "the largest square": (
        lambda: maximize(square(K).sum()),
        ModelError,
        "maximize takes a concave function, and this one is convex",
    ),
    "a penalty to be paid out": (
        lambda: minimize(t) + (t >= 0.0) + -square(t),
        ModelError,
        r"no block; write minimize\(\.\.\.\) or maximize",
    ),
    "a square by hand": (lambda: w * w, ModelError, r"square\(v\) for v \* v"),
    "convex equal": (lambda: abs(w).sum() == 1.0, ModelError, "write <="),
    "convex less concave": (lambda: abs(t) - square(t), ModelError, "neither"),
    "a negative penalty": (
        lambda: abs(w) * [1.0, -1.0, 1.0, 1.0],
        ModelError,
        r"weights of abs\(v\) of shape \(4,\) must be positive and finite, or zero.* -1",
    ),
    "penalties that do not fit": (
        lambda: pos(w) * np.ones(3),
        ShapeError,
        r"weights of shape \(3,\) do not fit an expression of shape \(4,\)",
    ),
    "a function of numbers": (lambda: pos(3.0), ModelError, "takes an expression"),
    "several expressions": (lambda: w * [t, t], DataTypeError, "numpy.stack"),
    "a form of numbers": (lambda: quad_form(np.ones(3), K), ModelError, r"S\.quadratic\(v\)"),
    "a form of other vectors": (lambda: K.quadratic(np.ones(4)), ShapeError, r"\(3,\); .*\(4,\)"),
    "a vector of two axes": (lambda: scalar("y", (2, 3)), ShapeError, r"matrix\('y', \(2, 3\)\)"),
    "a function in a model": (lambda: minimize(t) + norm(w), ModelError, r"write minimize\("),
    "a number in a model": (
        lambda: minimize(t) + 3,
        ModelError,
        r"blocks and models; .*of type int; numbers .*minimize\(f \+ 3\.0\)",
    ),
    "cvxpy in a model": (
        lambda: minimize(t) + cp.Minimize(cp.Variable()),
        ModelError,
        r"type Minimize; write from_cvxpy\(function\)",
    ),
    "a variable of cvxpy": (lambda: w + cp.Variable(4), DataTypeError, r"sdpdr\.atom\(cvxpy\.norm"),
    "a function of a variable of cvxpy": (
        lambda: norm(cp.Variable(4)),
        ModelError,
        r"type Variable; cvxpy's variables do not mix",
    ),
    "a product of three": (
        lambda: parameter("lam", value=1.0) * t * w,
        ModelError,
        r"\(in lam, t and w\)",
    ),
    "a place that is an expression": (
        lambda: K[t],
        OutOfRangeError,
        "given <expression.*only integers",
    ),
    "a word for a place": (lambda: K[..., "a"], OutOfRangeError, "no such part of an expression"),
    "no number": (lambda: w <= np.nan, ModelError, r"shape \(4,\) <= .* has nan in it"),
    "no limit": (lambda: w <= np.inf, ModelError, r"inf in it.*x\[k\] <= b\[k\]"),
    "a limit that nothing reaches": (lambda: w >= np.inf, ModelError, "no finite value satisfies"),
    "the larger part": (lambda: max(K[0, 1], K[0, 2]), ModelError, r"stack\(\[a, b\]\)\.max\(\)"),
    "the smaller part": (lambda: min(w), ModelError, r"stack\(\[a, b\]\)\.min\(\)"),
    "a choice": (lambda: t or w, ModelError, "add constraints instead of joining them"),
    "two that are joined": (lambda: (w <= 1.0) and (w >= 0.0), ModelError, "for a <= x <= b or"),
    "a stored value": (lambda: K.value, AttributeError, r"write solution\[expression\]"),
    "a stored value of a norm": (lambda: norm(w).value, AttributeError, "expression.at"),
    "a matrix of none": (lambda: S >> np.nan * np.eye(3), ModelError, "has nan in it"),
    "an infinite goal": (lambda: minimize(t + np.inf), ModelError, "has inf in it"),
    "a sum by Python": (lambda: sum(abs(w)), DataTypeError, r"\.sum\(\)"),
    "a median of sizes": (
        lambda: np.median(abs(w)),
        ModelError,
        r"numpy\.median of abs\(v\) of shape \(4,\)",
    ),
    "the larger of two": (
        lambda: max(norm(w), norm(X)),
        ModelError,
        "scalar t with f <= t and g <= t",
    ),
    "a weighed goal": (lambda: 2 * minimize(t), ModelError, r"minimize\(2\.0 \* f\)"),
    "both of two": (lambda: (w <= 1.0) & (w >= 0.0), ModelError, r"\(a <= x\) \+ \(x <= b\)"),
    "sizes of several, added": (
        lambda: abs(w) + abs(w - 1.0) <= 1.0,
        ModelError,
        r"abs\(x\)\.sum\(\) \+ abs\(y\)\.sum\(\) <= b",
    ),
    "a power of a norm": (lambda: norm(w) ** 3, ModelError, "to the power 3 .*sum_squares"),
    "over a norm": (lambda: 1.0 / norm(w), ModelError, r"quad_over_lin\(1\.0, t\)"),
    "a product with a norm": (lambda: norm(w) @ w, ModelError, r"\(weights \* f\)\.sum"),
    "a part of a norm": (lambda: norm(w)[0], ModelError, r"one number and has no part 0"),
    "no name": (lambda: psd("", 3), DataTypeError, "needs a name"),
    "one name for two": (
        lambda: minimize(t) + (t >= 1.0).named("low") + (w >= 1.0).named("low"),
        ModelError,
        "named 'low' already; .* such as 'low_2'",
    ),
    "a name that is a number": (lambda: (w <= 1.0).named(3), DataTypeError, "name is a str"),
    "a sum of two kinds": (
        lambda: parameter("w", value=2.0) + w,
        ModelError,
        "two different things",
    ),
    "two orders of one name": (
        lambda: maximize(K.trace()) + (K.trace() <= 1.0) + (psd("K", 4)[0, 3] >= 0.5),
        ModelError,
        "'K', a matrix of order 3 and a matrix of order 4; make it once",
    ),
    "a variable called as a parameter": (
        lambda: (t <= 1.0) + (w <= parameter("t", value=2.0)),
        ModelError,
        r"'t', a scalar and a parameter of shape \(\)",
    ),
    "one of a block": (
        lambda: blocks.Gram(4) + (K[0, 1] >= 0.5),
        ModelError,
        "order 4 and a matrix of order 3",
    ),
    "a form of two": (lambda: w @ w, ModelError, r"quad_form\(v, P\)"),
    "all of a large matrix": (lambda: psd("K", 5000) <= 1.0, ModelError, r"K\[i, j\]"),
    "a shape": (lambda: w.reshape(3), ShapeError, "4 values have no shape"),
    "a value for a shape": (
        lambda: parameter("mu", 1.0),
        DataTypeError,
        r"whole number or several.*given 1\.0\. .*parameter\('mu', value=1\.0\)",
    ),
    "one length of a matrix": (
        lambda: matrix("Q", 3),
        ShapeError,
        r"matrix takes two lengths.*given 3\. Write scalar\('Q', 3\)",
    ),
    "a grid of one number": (
        lambda: solve_many(minimize(abs(t)), {"lam": 0.1}),
        DataTypeError,
        r"'lam' was given 0\.1\. Write \[0\.1\]",
    ),
    "an axis twice": (lambda: S.sum(axis=(0, -2)), OutOfRangeError, r"\(0, -2\).*duplicate"),
    "the largest of rows": (lambda: X.max(axis=1), ModelError, r"row\.max\(\) for row in X"),
    "an axis": (lambda: w.sum(axis=1), OutOfRangeError, "axis 1"),
    "by an expression": (lambda: w / t, ModelError, r"division by an expression \(in t\)"),
    "the other strict one": (lambda: w > 1.0, ModelError, "write >="),
    "the least of a concave form": (
        lambda: minimize(t - quad_form(w, np.eye(4))),
        ModelError,
        "minimize takes a convex function, and this one is concave",
    ),
    "a convex floor": (lambda: abs(w).sum() >= 1.0, ModelError, "convex function >="),
    "a penalty that is no number": (lambda: abs(w) * np.nan, ModelError, "or zero.* nan"),
    "a weight below zero": (
        lambda: list((w <= 1.0).penalized(-1.0).terms()),
        ModelError,
        "weights of a penalty must be positive and finite, or zero.* -1",
    ),
    "penalties as a number": (lambda: maximize(t - abs(w)), ShapeError, r"write \.sum\(\)"),
    "a norm of several": (lambda: norm([w[0], t]), ModelError, "list; .*numpy.hstack"),
    "a set in a model": (lambda: minimize(t) + {t >= 0.0}, ModelError, "type set; .*as a list"),
    "a word in a model": (lambda: minimize(t) + "t", ModelError, "type str; compare"),
    "another place that is one": (lambda: w[t], OutOfRangeError, "given <expression"),
    "a strict limit": (lambda: norm(w) < 1.0, ModelError, r"shape \(\).*write f <= limit"),
    "a goal with a sign": (lambda: -maximize(t), ModelError, r"minimize\(-f\) for -maximize"),
    "an order below zero": (lambda: symmetric("Q", -1), ModelError, "it is -1"),
    "cases that are numbers": (
        lambda: solve_many(minimize(abs(t)), [1]),
        DataTypeError,
        r"\[\{'lam': 0\.1\}, .*given 1 in place of a mapping",
    ),
    "an axis of another kind": (lambda: X.mean("rows"), DataTypeError, "given 'rows'"),
    "a shape of words": (lambda: X.reshape("a"), ShapeError, "6 values have no shape"),
}


def symmetric_of():
    return matrix("Y", (3, 3)) >> 0


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name):
    mistake, kind, words = MISTAKES[name]
    with pytest.raises(kind, match=words) as caught:
        mistake()
    assert str(caught.value).count(". ") <= 1


def test_advice_on_the_larger_of_two_works():
    larger = np.stack([K[0, 1], K[0, 2]]).max()
    assert larger.at({"K": np.array([[1.0, 2.0, 3.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0]])}) == 3.0


IDENTITY, ONES = np.eye(3), np.ones((3, 3))
ENTRY_BY_ENTRY = [lambda: t * IDENTITY >= ONES, lambda: S + K <= -IDENTITY, lambda: IDENTITY >= K]
AS_MEANT = [
    lambda: K >= 0.0,
    lambda: K >= ONES,
    lambda: t * IDENTITY >= 0.0,
    lambda: t * IDENTITY >> ONES,
    lambda: (t * IDENTITY).ravel() >= ONES.ravel(),
]


@pytest.mark.parametrize("compare", ENTRY_BY_ENTRY)
def test_a_diagonal_matrix_is_hardly_ever_a_bound_on_entries(compare):
    with pytest.warns(EntrywiseWarning, match=r"write (>>|<<) if .*A\.ravel\(\)"):
        compare()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("compare", AS_MEANT)
def test_bounds_on_entries_are_made_in_silence(compare):
    compare()


def test_equal_is_never_false_in_silence():
    assert (w == 1.0).relation == "=="
    with pytest.raises(ModelError):
        bool(w == w)


def test_a_variable_that_nothing_joins_to_the_objective_is_named():
    """Such as a misspelt one, whose constraint would have no effect without a word."""
    K, G = psd("K", 3), psd("G", 3)
    model = maximize(K.trace()) + (K.diagonal() <= 1.0)
    with pytest.warns(VacuousWarning, match="'G' has no effect on the value"):
        (model + (G[0, 0] <= 1.0)).to_sdp()
    (model + (G[0, 0] <= K[0, 1])).to_sdp()
