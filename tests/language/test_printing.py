"""What is printed says what is meant: read again, it has the values of the expression."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import (
    blocks,
    log_det,
    matrix,
    maximize,
    minimize,
    norm,
    parameter,
    pos,
    psd,
    scalar,
    square,
    symmetric,
)
from sdpdr.linalg.letters import Letters
from sdpdr.linalg.svec import svec_pairs
from sdpdr.model.affine import Affine, evaluate, fixed
from sdpdr.model.describe import row_words
from sdpdr.model.language import compare

N = 5
K = psd("K", N)
w = scalar("w", 4)
t = scalar("t")

_TOKEN = re.compile(
    r"\s*(Σ_[ek]|[a-z]+_(?:mean|max|min|largest|det)\b|quad_over_lin|ᵀ|\[\w+,\w+\]|[()⟨⟩|,+−²]"
    r"|_\w,\w+|_[a-z]+|_\d+(?:,\w+)?|[A-Za-z]+'?|[\d.e]+)"
)


def of_triangle(values):
    n = int(np.sqrt(2 * values.size))
    i, j = svec_pairs(np.arange(values.size))
    found = np.zeros((n, n))
    found[i, j] = found[j, i] = values
    return found


MATRICES = {
    "sym": of_triangle,
    "mat": lambda v: v.reshape(2 * (round(np.sqrt(v.size)),)),
    "diag": np.diag,
}


FUNCTIONS = {
    "norm": lambda v, kind=None: np.linalg.norm(v, kind),
    "max": lambda v, other=None: np.max(v) if other is None else np.maximum(v, other),
    "geo_mean": lambda v: np.prod(v) ** (1.0 / np.size(v)),
    "lambda_max": lambda v: np.linalg.eigvalsh(v)[-1],
    "lambda_min": lambda v: np.linalg.eigvalsh(v)[0],
    "sum_largest": lambda v, k: np.sort(np.linalg.eigvalsh(v) if np.ndim(v) == 2 else v)[
        -int(k) :
    ].sum(),
    "root_det": lambda v: np.linalg.det(v) ** (1.0 / len(v)),
    "quad_over_lin": lambda v, over: np.sum(v**2) / np.sum(over),
    "log_det": lambda v: np.linalg.slogdet(v)[1],
}


class Reader:
    """Evaluates what is printed; letters stand for arrays. Products are matrix products where the
    left side is a matrix, and numbers of each row elsewhere."""

    def __init__(self, text, names, order=0):
        self.order = order
        self.tokens = _TOKEN.findall(text)
        self.names = names
        self.within = False  # of bars: the next one closes them

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def take(self):
        return self.tokens.pop(0)

    def sum(self):
        total = self.term()
        while self.peek() in ("+", "−"):
            sign = 1.0 if self.take() == "+" else -1.0
            total = total + sign * self.term()
        return total

    def term(self):
        if self.peek() == "−":
            self.take()
            return -self.term()
        if self.peek() == "Σ_e":
            self.take()
            return np.sum(self.term())
        if self.peek() == "Σ_k":
            name, matrices = [self.take() for _ in range(5)][1::2]
            return np.tensordot(self.names[name], self.names[matrices], 1)
        found = self.factor()
        while self.peek() and (
            self.peek() in ("(", "⟨", "Σ_e")
            or self.peek()[0].isalnum()
            or (self.peek() == "|" and not self.within)
        ):
            right = np.sum(self.take() and self.term()) if self.peek() == "Σ_e" else self.factor()
            if np.shape(found) == (1,) or np.shape(found) == (1, 1):
                found = found.item() * right
            elif np.ndim(found) == 2:
                right = right * np.ones(found.shape[1]) if np.ndim(right) == 0 else right
                found = found @ right
            else:
                found = found * right
        return found

    def factor(self):
        token = self.take()
        if token == "(":
            found = self.sum()
            assert self.take() == ")"
            return self.squared(self.indexed(found))
        if token == "|":
            self.within = True
            found = self.sum()
            assert self.take() == "|"
            self.within = False
            return np.abs(found)
        if token in FUNCTIONS:
            found = [self.take() and self.sum()]
            while self.take() == ",":
                found.append(np.inf if self.peek() == "inf" and self.take() else self.sum())
            return FUNCTIONS[token](*found)
        if token == "⟨":
            left = self.sum()
            assert self.take() == ","
            right = self.sum()
            assert self.take() == "⟩"
            return np.sum(left * right)
        if token in ("sym", "mat", "diag"):
            assert self.take() == "("
            inside = self.sum()
            assert self.take() == ")"
            return self.turned(MATRICES[token](inside))
        if token == "I":
            return np.eye(self.order)
        if token == "tr":
            return np.trace(self.names[self.take()])
        if token == "1" and self.peek() == "ᵀ":
            self.take()
            return np.ones((1, self.names[self.peek()].size))
        if token[0].isdigit():
            return float(token)
        if self.peek() and token + self.peek() in self.names:
            return self.names[token + self.take()]
        found = self.names[token]
        if self.peek() == "ᵀ" and found.ndim == 1:
            self.take()
            return found[None, :]
        if np.ndim(found) == 2 and (self.peek() == "ᵀ" or self.peek().startswith("[")):
            return self.turned(found)
        return self.indexed(found)

    def turned(self, found):
        if self.peek() == "ᵀ":
            self.take()
            return found.T
        if self.peek().startswith("["):
            i, j = (int(p) if p.isdigit() else self.names[p] for p in self.take()[1:-1].split(","))
            return found[np.ix_(np.atleast_1d(i), np.atleast_1d(j))]
        return found

    def squared(self, found):
        if self.peek() != "²":
            return found
        self.take()
        return found**2

    def indexed(self, found):
        if not self.peek().startswith("_"):
            return found
        index = self.take()[1:]
        if index == "ee":
            return np.diag(found)
        if index == "e":
            return found
        parts = index.split(",") if "," in index else list(index) if index.isalpha() else [index]
        return found[tuple(int(p) if p.isdigit() else self.names[p] for p in parts)]


def read(text, where, values, order=0):
    """The values of a printed expression."""
    dense = {k: v.toarray() if sp.issparse(v) else v for k, v in where.items()}
    reader = Reader(text, {**values, **dense}, order)
    found = reader.sum()
    assert not reader.tokens
    return np.ravel(found)


def agrees(expression, values):
    letters = Letters(taken=frozenset({"K", "w", "t"}))
    from sdpdr.model.describe import _affine

    affine = Affine.of(expression)
    text = _affine(affine, letters)[0]
    found = read(text, letters.where, {**values, "t": values["t"][0]})
    expected = evaluate(affine, values)
    np.testing.assert_allclose(
        np.broadcast_to(found, expected.shape), expected, atol=1e-4, err_msg=text
    )


EXPRESSIONS = {
    "an entry": lambda r: K[0, 3],
    "entries": lambda r: K[r.integers(0, N, 4), r.integers(0, N, 4)],
    "a row": lambda r: K[2],
    "distances": lambda r: K.distance2(r.integers(0, N, 4), r.integers(0, N, 4)),
    "the trace": lambda r: K.trace(),
    "the diagonal": lambda r: K.diagonal(),
    "places of the diagonal": lambda r: K.diagonal()[r.integers(0, N, 4)],
    "sums": lambda r: K.sum(axis=1),
    "all": lambda r: K.sum(),
    "a cost": lambda r: K.inner(r.standard_normal((N, N))),
    "forms": lambda r: K.quadratic(r.standard_normal((3, N))),
    "a product": lambda r: K @ r.standard_normal(N),
    "a vector": lambda r: w,
    "combined": lambda r: r.standard_normal((3, 4)) @ w,
    "weighted": lambda r: r.standard_normal(4) @ w,
    "scaled by rows": lambda r: r.standard_normal(4) * w,
    "a sum of entries": lambda r: K[r.integers(0, N, 4), r.integers(0, N, 4)].sum(),
    "weighted distances": lambda r: (
        r.standard_normal(4) @ K.distance2(r.integers(0, N, 4), r.integers(0, N, 4))
    ),
    "a scalar": lambda r: t,
}


@settings(max_examples=50)
@given(
    names=st.lists(st.sampled_from(sorted(EXPRESSIONS)), min_size=1, max_size=3),
    seed=st.integers(0, 10**6),
)
def test_a_printed_sum_can_be_read_again(names, seed):
    rng = np.random.default_rng(seed)
    values = {
        "K": (lambda R: R @ R.T)(rng.standard_normal((N, N))),
        "w": rng.standard_normal(4),
        "t": rng.standard_normal(1),
    }
    total = Affine.of(0.0)
    for name in names:
        part = EXPRESSIONS[name](rng)
        factor = float(rng.integers(-2, 3)) or 0.5
        part = part if name != "a scalar" else part + 0.0
        try:
            total = total + factor * part
        except ValueError:
            continue
    agrees(total, values)


S = symmetric("S", N)
M = matrix("M", (3, 3))
reach, knobs = parameter("p", value=1.5), parameter("q", value=[[0.5, 2.0, 1.0]])


def stack(r, q, n):
    made = r.standard_normal((q, n, n))
    return made + made.transpose(0, 2, 1)


SQUARES = {
    "K": lambda r: 2.0 * K[:3, :3],
    "some places": lambda r: K[np.ix_([0, 3, 1], [0, 3, 1])],
    "S": lambda r: S[2:, 2:],
    "weights times matrices": lambda r: w @ stack(r, 4, 3),
    "one weight": lambda r: w[2] * stack(r, 1, 3)[0],
    "a scalar times I": lambda r: 3.0 * t * np.eye(3),
    "a trace times I": lambda r: K.trace() * np.eye(3),
    "a sum times a matrix": lambda r: w.sum() * stack(r, 1, 3)[0],
    "A K A^T": lambda r: (lambda A: A @ K @ A.T)(r.standard_normal((3, N))),
    "less A S A^T": lambda r: (lambda A: -(A @ S @ A.T))(r.standard_normal((3, N))),
    "numbers": lambda r: stack(r, 1, 3)[0],
    "a symmetric part": lambda r: M + M.T,
    "a parameter times a matrix": lambda r: (reach + 1.0) * K[:3, :3],
    "a diagonal": lambda r: w[:3] * np.eye(3),
    "parameters on a diagonal": lambda r: (knobs * K[0, :3]) * np.eye(3),
}


def point_of(rng):
    root = rng.standard_normal((N, N))
    return {
        "K": root @ root.T,
        "S": rng.standard_normal(N * (N + 1) // 2),
        "M": rng.standard_normal(9),
        "w": rng.standard_normal(4),
        "t": rng.standard_normal(1),
    }


@settings(max_examples=30)
@given(
    left=st.lists(st.sampled_from(sorted(SQUARES)), min_size=1, max_size=2),
    right=st.sampled_from(sorted(SQUARES)),
    relation=st.sampled_from([">>", "<<"]),
    seed=st.integers(0, 10**6),
)
def test_a_printed_matrix_inequality_can_be_read_again(left, right, relation, seed):
    rng = np.random.default_rng(seed)
    sides = [sum(SQUARES[name](rng) for name in left), SQUARES[right](rng)]
    if all(Affine.of(side).is_constant for side in sides):
        return
    statement = compare(Affine.of(sides[0]), relation, sides[1])
    letters = Letters(taken=frozenset("KSMwtpq"))
    from sdpdr.model.describe import _matrix

    point = point_of(rng)
    values = {**point, "t": point["t"][0], "p": reach.value, "q": knobs.value.ravel()}
    for side in (statement.left, statement.right):
        text = _matrix(side, letters)[0]
        reader = Reader(text, {**values, **letters.where}, 3)
        found = reader.sum() if text != "0" else np.zeros((3, 3))
        assert not reader.tokens, text
        expected = evaluate(fixed(side), point).reshape(3, 3)
        np.testing.assert_allclose(found, expected, atol=1e-9, err_msg=text)


def test_matrix_inequalities_say_which_matrix():
    A = np.random.default_rng(0).standard_normal((N, N))
    flow = A.T @ K + K @ A << -np.eye(N)
    assert repr(flow) == "psd: C K + K Cᵀ ⪯ −I"
    assert repr(w @ stack(np.random.default_rng(0), 4, 3) >> t * np.eye(3)) == (
        "psd: Σ_k w_k C_k ⪰ t I"
    )
    model = maximize(log_det(K + 0.5 * np.eye(N))) + (K.trace() <= 1.0)
    assert model.describe().splitlines()[0].split(maxsplit=1)[1] == "log_det(K + 0.5 I)"


def test_rows_read_as_they_were_written():
    i, j, k = np.array([0, 1]), np.array([1, 2]), np.array([3, 4])
    order = (K.distance2(i, j) <= K.distance2(i, k)).named("order")
    assert row_words(next(iter(order.terms())))[0] == (
        "K_ii + K_jj − 2 K_ij ≤ K_ii + K_kk − 2 K_ik"
    )
    assert repr(order) == "order: K_ii + K_jj − 2 K_ij ≤ K_ii + K_kk − 2 K_ik"
    assert row_words(next(iter((K[0, 1] >= 0.2).terms())))[0] == "K_0,1 ≥ 0.2"
    assert "≤ 0" not in repr(K.distance2(i, j) <= K.distance2(i, k))


def test_a_whole_model():
    model = (
        maximize(K.trace() - 2.0 * t)
        + (K.sum(axis=1) == 0.0).named("centred")
        + (K.distance2([0, 1], [1, 2]) <= [1.0, 2.0])
        + 3.0 * abs(K[[0, 1], [2, 3]] - [0.5, 0.25])
        + (t >= 1.0)
        + pos(t - 4.0)
    )
    assert model.describe() == (
        "maximise    tr K − 2 t − Σ_e 3 |K_ij − b_e| − Σ_e max(t − 4, 0)\n"
        "over        K ∈ S^5, K ⪰ 0, t ∈ R^1\n"
        "subject to  K 1 = 0                           centred, 5 rows\n"
        "            K_ii + K_jj − 2 K_ij ≤ b_e        at_most, 2 rows\n"
        "            (penalized)                       abs, 2 rows\n"
        "            t ≥ 1                             at_least, 1 row\n"
        "            (penalized)                       pos, 1 row"
    )
    assert model.legend()["abs"]["b"].tolist() == [0.5, 0.25]


FACTORS = np.random.default_rng(1).standard_normal((4, 4))
FUNCTIONS_OF = {
    "affine": lambda: reach * t + (knobs[0] @ w[:3]) - reach,
    "a length": lambda: reach * norm(w) + t,
    "sizes": lambda: reach * abs(w - 0.5).sum() - t,
    "squares": lambda: reach * square(FACTORS @ w - 1.0).sum() + reach * t,
    "the largest": lambda: reach * w.max() - w.min(),
    "an eigenvalue": lambda: sdpdr.lambda_max(2.0 * S) - reach * sdpdr.lambda_min(K),
    "squares over": lambda: sdpdr.quad_over_lin(w, K[0, 0]) + 1.0,
    "a mean": lambda: sdpdr.geo_mean(K.diagonal()) - t,
    "roots": lambda: reach * sdpdr.root_det(K) + sdpdr.geo_mean(reach * K.diagonal()),
    "a determinant": lambda: reach * log_det(K) + 2.0 * log_det(K + np.eye(N)),
}


@pytest.mark.parametrize("name", FUNCTIONS_OF)
def test_a_goal_prints_the_function_that_was_written(name):
    function, point = FUNCTIONS_OF[name](), point_of(np.random.default_rng(2))
    goal = (maximize if getattr(function, "sign", 1.0) < 0.0 else minimize)(function)
    model = goal + (t >= 0.0)
    text = model.describe().splitlines()[0].split(maxsplit=1)[1]
    where = {k: v for letters in model.legend().values() for k, v in letters.items()}
    values = {**point, "t": point["t"][0], "p": reach.value, "q": knobs.value.ravel()}
    found = read(text, where, values, N)
    assert found.item() == pytest.approx(float(np.sum(function.at(point))), rel=1e-4), text
    assert "objective." not in text
    assert all(f"{v.name} ∈" in model.describe() for v in model.variables() if "." not in v.name)


def test_limits_print_the_function_that_was_written():
    model = (
        minimize(t)
        + (norm(w) <= reach).named("ball")
        + (reach * norm(w) + abs(t) <= t + 4.0).named("sum")
        + (sdpdr.geo_mean(w) >= t).named("mean")
    )
    lines = [line.removeprefix("subject to").strip() for line in model.describe().splitlines()[2:]]
    assert [re.split(r"\s{8}", line)[0] for line in lines] == [
        "norm(w_i) ≤ p",
        "p norm(w_i) + Σ_e |t| ≤ t + 4",
        "geo_mean(w_i) ≥ t",
    ]
    assert "length" not in model.describe()
    assert r"\operatorname{geo\_mean}(w_{i}) \ge t" in model.describe("latex")


def test_blocks_tell_rows_apart_that_share_letters():
    triangle = blocks.Actions(5, [[0, 1], [1, 2]], [[1, 2], [2, 3]])
    assert (
        "K_ii + K_jj − 2 K_ij − (K_jj + K_kk − 2 K_jk) = 0"
        in (blocks.Gram(5) + triangle).describe()
    )


def test_a_name_of_one_sign_is_escaped():
    assert r"\text{over}\quad & \& \in" in (minimize(scalar("&") + 0.0) + (t >= 0)).describe(
        "latex"
    )
    assert r"\text{(50 \% \& more, 1 row)}" in (
        minimize(t) + (t >= 0).named("50 % & more")
    ).describe("latex")


def test_norms_of_matrices_are_printed_as_those_of_matrices():
    K = sdpdr.psd("K", 2)
    for kind, shown in (("nuc", "norm(K, nuc)"), (2, "norm(K, 2)"), (None, "norm(K)")):
        printed = minimize(sdpdr.norm(K, kind)).describe()
        assert printed.splitlines()[0].split(maxsplit=1) == ["minimise", shown]
