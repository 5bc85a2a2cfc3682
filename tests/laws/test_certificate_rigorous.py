"""A rigorous bound is never on the wrong side of an optimum known exactly, not by one bit."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import graphs, methods
from sdpdr.linalg import Diagonal, InnerProduct, SvecMap, Trace, VectorMap, svec
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable, certify


def path_optimum(lengths):
    """The sum over all pairs of squared distances on a straight line, over n."""
    lengths = [Fraction(x) for x in lengths]
    positions = [sum(lengths[:i], Fraction(0)) for i in range(len(lengths) + 1)]
    return sum((a - b) ** 2 for a, b in combinations(positions, 2)) / len(positions)


def duals(sdp, weights):
    return {r.label: np.zeros(r.m) if r.label == "centered" else weights for r in sdp.rows}


def beyond(bound, optimum):
    return Fraction(bound) < optimum


def disturbances(weights, rng):
    """From the weights themselves and their last bits to anything at all."""
    yield weights
    yield np.nextafter(weights, np.inf)
    yield np.nextafter(weights, -np.inf)
    for size in (1e-16, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3, 0.3):
        yield weights * (1 + size * rng.standard_normal(weights.shape))
    for factor in (1 - 1e-15, 1 - 1e-12, 1e-8, 3.0, 1e9):
        yield factor * weights


@pytest.mark.nightly
@settings(max_examples=10, derandomize=True)
@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=9),
    relation=st.sampled_from(["inequality", "equality"]),
    seed=st.integers(0, 1000),
)
def test_disturbed_multipliers_of_a_path_prove_nothing_beyond_its_optimum(lengths, relation, seed):
    sdp = methods.mvu(graphs.path(np.array(lengths, dtype=float)), relation).to_sdp()
    optimum = path_optimum(lengths)
    line = np.concatenate([[0.0], np.cumsum(lengths)])
    exact = -np.cumsum(line - line.mean())[:-1] / lengths
    for weights in disturbances(exact, np.random.default_rng(seed)):
        certificate = certify(sdp, duals(sdp, weights), rigorous=True)
        assert certificate.rigorous == (certificate.bound is not None)
        assert certificate.bound is None or not beyond(certificate.bound, optimum)
    sharp = certify(sdp, duals(sdp, exact), rigorous=True).bound
    assert sharp == pytest.approx(float(optimum), rel=1e-10)


def programs():
    """Small rational programs of every kind, their exact optimum and optimal multipliers."""
    for n in (3, 4, 7):
        laplacian = n * np.eye(n) - np.ones((n, n))
        ones = Rows("diagonal", "==", {"X": Diagonal(n)}, np.ones(n))
        cut = SDP((PsdVariable("X", n),), {"X": InnerProduct(-laplacian)}, (ones,), maximize=True)
        yield f"max-cut {n}", cut, Fraction(n * n), {"diagonal": np.full(n, float(n))}
    trace = Rows("trace", "==", {"X": Trace(3)}, np.ones(1))
    third = SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.diag([0.1, 2.0, 3.0]))}, (trace,))
    yield "eigenvalue", third, Fraction(0.1), {"trace": np.array([-0.1])}
    polygon = VectorMap([[1.0, 1.0], [1.0, 3.0], [1.0, 0.0]])
    linear = SDP(
        (VectorVariable("z", 2, nonnegative=True),),
        {"z": VectorMap([[-3.0, -2.0]])},
        (Rows("polygon", "<=", {"z": polygon}, np.array([4.0, 6.0, 3.0])),),
        maximize=True,
    )
    yield "linear", linear, Fraction(11), {"polygon": np.array([2.0, 0.0, 1.0])}
    free = VectorMap([[0.1, 0.3], [0.7, -0.2]])
    # Largest eigenvalue of diag(1, 3) through a free scalar and an equality that defines it.
    cone = Lmi("cone", 2, {"t": VectorMap(svec(np.eye(2))[:, None])}, -svec(np.diag([1.0, 3.0])))
    largest = SDP((VectorVariable("t", 1),), {"t": VectorMap([[1.0]])}, lmis=(cone,))
    yield "largest eigenvalue", largest, Fraction(3), {"cone": np.diag([0.0, 1.0])}
    # Minimise t / 10 + s / 5 over free t, s with ten t's and fives' odd coefficients fixed.
    rows = Rows("rows", "==", {"f": free, "X": SvecMap(1, [[0.0], [1.0]])}, np.array([1.0, 2.0]))
    fixed = SDP(
        (VectorVariable("f", 2), PsdVariable("X", 1)),
        {"f": VectorMap([[0.3, 0.9]]), "X": InnerProduct(np.ones((1, 1)))},
        (rows,),
    )
    # f costs (0.3, 0.9) = 3 (0.1, 0.3) as stored, nearly: solve the two equations exactly.
    a, b, c, d = (Fraction(x) for x in (0.1, 0.3, 0.7, -0.2))
    p, q = Fraction(0.3), Fraction(0.9)
    y0, y1 = -(p * d - q * c) / (a * d - b * c), -(a * q - b * p) / (a * d - b * c)
    assert 1 + y1 >= 0
    yield "free", fixed, -(y0 + 2 * y1), {"rows": np.array([float(y0), float(y1)])}


PROGRAMS = list(programs())


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("sdp", "optimum", "exact"), [p[1:] for p in PROGRAMS], ids=[p[0] for p in PROGRAMS]
)
def test_programs_of_every_kind(sdp, optimum, exact):
    sign = -1 if sdp.maximize else 1
    rng = np.random.default_rng(1)
    sharp = certify(sdp, exact, rigorous=True)
    assert sharp.bound == pytest.approx(float(optimum), rel=1e-10)
    assert "all rounding accounted for" in sharp.argument
    (label,) = exact
    for y in disturbances(exact[label], rng):
        if y.ndim == 2:
            y = (y + y.T) / 2
        bound = certify(sdp, {label: y}, rigorous=True).bound
        assert bound is not None
        assert sign * Fraction(bound) <= sign * optimum


def test_a_solution_carries_a_rigorous_bound():
    model = methods.mvu(graphs.path([1.0, 2.0, 1.0]))
    solution = sdpdr.solve(model, rigorous=True)
    assert solution.status is sdpdr.Status.SOLVED
    assert solution.rigorous
    assert Fraction(solution.bound) >= path_optimum([1, 2, 1])
    assert solution.record()["rigorous"] is True
    assert not sdpdr.solve(model).rigorous


def test_data_beyond_the_range_of_exact_products_are_refused_in_words():
    sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
    # Neither graphs nor solves take such lengths; who certifies by hand may have them.
    sdp = replace(sdp, rows=tuple(replace(r, rhs=1e300 * r.rhs) for r in sdp.rows))
    certificate = certify(sdp, duals(sdp, np.array([1.0, 1.0])), rigorous=True)
    assert certificate.bound is None
    assert "units" in certificate.argument
