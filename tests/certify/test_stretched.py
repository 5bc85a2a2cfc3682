"""Values in the metric of a point, whose eigenvalues are of very different sizes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.flat import NONNEGATIVE, SEMIDEFINITE, Around, Piece, build
from sdpdr.certify.products import congruence
from sdpdr.certify.proof import bound_proof, value_proof
from sdpdr.certify.stretched import Metric, _factor, _half, stretched
from sdpdr.testing import planted

from ..truth.exact import fractions

ORDER = 4
COLUMN, ROW = np.tril_indices(ORDER)
DIAGONAL = np.flatnonzero(ROW == COLUMN)


def thin_matrix(least):
    """A matrix with one eigenvalue of about ``least``, whose eigenvector has no zeros."""
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.normal(size=(ORDER, ORDER)))[0]
    X = (Q * np.array([least, 1.0, 2.0, 3.0])) @ Q.T
    return (X + X.T) / 2.0


def program_at(X, *, entry=-1.0, radius=0.0, slack=1.0, more=0):
    """Minimise the trace where three inner products and a limit on the trace are those of X."""
    rng = np.random.default_rng(2)
    n = ROW.size + more
    E = np.zeros((3, n))
    E[:, : ROW.size] = rng.integers(-3, 4, (3, ROW.size))
    x = np.append(X[ROW, COLUMN], np.zeros(more))
    limit = np.zeros((1, n))
    limit[0, DIAGONAL] = 1.0
    own = sp.csr_array(entry * np.eye(ROW.size, n))
    pieces = [
        Piece(NONNEGATIVE, 1, sp.csr_array(limit), np.array([np.trace(X) + slack])),
        Piece(SEMIDEFINITE, ORDER, own, np.zeros(ROW.size)),
    ]
    cost = np.zeros(n)
    cost[DIAGONAL] = 1.0
    f = E @ x
    around = Around(E=sp.csr_array(np.full((3, n + 1), radius))) if radius else Around()
    return build(cost, sp.csr_array(E), f, pieces, around=around), x


def proof_of(program):
    """That of values, with unknowns in units of one."""
    proof = value_proof(program, np.ones(program.b.size))
    return replace(proof, squares=np.ones(program.c.size))


def proved(program, x):
    """The value that is proved in the metric of a point."""
    return proof_of(program)._in_metric(x).number


def metric(program, x):
    """That of a point."""
    proof = proof_of(program)
    return Metric(proof.matrices(), proof.squares, x)


@pytest.mark.parametrize("least", [1.0, 1e-9, 1e-13])
def test_a_value_is_proved_however_thin_the_matrix_is(least):
    X = thin_matrix(least)
    program, x = program_at(X)
    found = proved(program, x)
    trace = sum(Fraction(float(v)) for v in x[DIAGONAL])
    assert Fraction(found) >= trace - Fraction(1, 10**12)
    assert found == pytest.approx(np.trace(X), rel=1e-9)


def test_an_exact_metric_has_no_radii():
    program, x = program_at(4.0 * np.eye(ORDER))
    assert not metric(program, x).around.nnz
    assert proved(program, x) == pytest.approx(4.0 * ORDER, rel=1e-12)


def test_a_box_does_not_prove_it():
    program, x = program_at(thin_matrix(1e-13), radius=1e-12)
    slack = program.b - program.A @ x
    proof = value_proof(program, np.ones_like(slack))
    with pytest.raises(UnprovedError):
        proof.near(x, in_box=True)
    assert proof.near(x).number == pytest.approx(float(program.c @ x), rel=1e-9)


def test_the_exact_point_costs_no_more_where_equations_are_missed():
    """The nearest exact point may cost more than x does: what is proved covers it."""
    X = thin_matrix(1e-3)
    program, x = program_at(X)
    moved = x + 1e-9 * np.random.default_rng(3).normal(size=x.size)
    found = proved(program, moved)
    E, f = program.E.toarray(), program.f
    exact = moved + np.linalg.pinv(E) @ (f - E @ moved)
    assert found >= float(program.c @ exact) - 1e-15
    assert found == pytest.approx(float(program.c @ x), rel=1e-5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"entry": -2.0}, "no matrix"),
        ({"slack": -1.0}, "to be inside"),
        ({"slack": -1e-12}, "to be inside"),
    ],
)
def test_what_is_not_shown_is_refused(change, words):
    program, x = program_at(thin_matrix(1e-6), **change)
    with pytest.raises(UnprovedError, match=words):
        proved(program, x)


def test_matrices_with_an_eigenvalue_below_zero_are_refused():
    program, x = program_at(thin_matrix(-1e-9))
    with pytest.raises(UnprovedError, match="not inside"):
        metric(program, x)


def test_points_from_which_no_exact_one_is_near_are_refused():
    program, x = program_at(thin_matrix(1e-6))
    with pytest.raises(UnprovedError, match="to be inside"):
        proved(program, x + 50.0 * np.eye(ORDER)[ROW, COLUMN])


def test_matrices_whose_slack_is_a_sum_are_not_variables():
    program, x = program_at(thin_matrix(1e-6), more=1)
    A = program.A.toarray()
    A[-1, -1] = 1.0
    both = [
        Piece(kind, size, sp.csr_array(A[rows]), program.b[rows])
        for kind, size, rows, _ in program.parts
    ]
    other = build(program.c, program.E, program.f, both)
    with pytest.raises(UnprovedError, match="no matrix"):
        metric(other, x)


def test_matrices_whose_entries_are_rounded_are_not_variables():
    program, _ = program_at(thin_matrix(1e-6))
    (limit, own), n = program.pieces(), program.c.size
    for radius, is_variable in ((0.0, True), (1e-12, False)):
        around = sp.csr_array(np.append(radius, np.zeros(n))[None].repeat(own.b.size, axis=0))
        around.eliminate_zeros()
        other = build(program.c, program.E, program.f, [limit, own._replace(around=around)])
        assert (other.own(other.parts[1]) is not None) is is_variable


def test_radii_of_equations_are_accounted_for():
    X = thin_matrix(1e-6)
    exact, x = program_at(X)
    vague, _ = program_at(X, radius=1e-10)
    one, other = (proved(p, x) for p in (exact, vague))
    # Right sides may be off by so much that the point costs this much more.
    assert other > one + 1e-11
    far, _ = program_at(X, radius=10.0)
    with pytest.raises(UnprovedError):
        proved(far, x)


def test_radii_of_the_metric_and_of_costs_add_to_the_value(monkeypatch):
    """As if each were much larger than it is: next to a point that misses its equations."""
    program, x = program_at(thin_matrix(0.5))
    moved = x + 1e-3 * np.random.default_rng(3).normal(size=x.size)
    value = proved(program, moved)
    vague = replace(program, around=Around(c=np.full(x.size, 1e-6)))
    costly = proved(vague, moved)
    assert costly >= value + 1e-6 * np.sum(np.abs(moved))
    assert costly <= value + 2e-6 * np.sum(np.abs(moved)) + 1e-6

    def blurred(L):
        U, _ = congruence(L)
        return U, sp.csr_array(1e-3 * abs(U))

    monkeypatch.setattr("sdpdr.certify.stretched.congruence", blurred)
    assert 1e-8 < proved(program, moved) - value < 1e-3


def test_the_statement_in_the_metric_says_the_same_of_the_same_points():
    """Equations and costs are those beyond the point, with radii that hold what is not rounded."""
    rng = np.random.default_rng(5)
    vague = Around(np.full(ROW.size, 1e-7), sp.csr_array(np.full((3, ROW.size + 1), 1e-8)))
    program, x = program_at(thin_matrix(0.1), slack=0.1)
    for around in (Around(), vague):
        given = proof_of(replace(program, around=around))
        found, U = stretched(given, x), metric(program, x).U
        assert found.matrices() == []
        for size in (1e-3, 0.05):
            w = size * rng.normal(size=x.size)
            move = U @ w
            missed = found.E @ w - found.f - (given.E @ (x + move) - given.f)
            size_of = np.append(abs(w), 1.0)
            assert np.all(abs(missed) <= found.radii @ size_of + 1e-13)
            assert found.cost @ w == pytest.approx(given.cost @ move, abs=1e-12)
            least = float(np.max(around.cost)) * np.sum(abs(U) @ abs(w))
            assert least <= found.radii_of_cost @ abs(w) <= 1.1 * least + 1e-12
            lies_inside = given.contain(*given.box(x + move, np.zeros(x.size)))
            assert lies_inside or not found.contain(*found.box(w, np.zeros(x.size)))
        assert found.contain(np.zeros(x.size), np.zeros(x.size))
        # A box in which the limit on the trace may be exceeded.
        assert not found.contain(np.zeros(x.size), np.full(x.size, 0.06))


def test_matrices_stay_inside_up_to_half_of_their_own_size():
    """In the metric of the point, where an entry off the diagonal stands for two."""
    program, x = program_at(np.eye(ORDER))
    found = metric(program, x)
    for place, is_off in enumerate(ROW != COLUMN):
        most = 0.5 / np.sqrt(2.0 if is_off else 1.0)
        for share, stays in ((0.99, True), (1.01, False)):
            reach = np.zeros(x.size)
            reach[place] = share * most
            assert found.stays_inside(reach) == stays


@pytest.mark.parametrize("order", [1, 3, 6])
def test_rounding_of_half_of_a_matrix_is_known(order):
    rng, worst = np.random.default_rng(order), 0.0
    for _ in range(50):
        L = np.tril(rng.normal(size=(order, order))) * 10.0 ** rng.integers(-3, 3, (order, 1))
        X = L @ L.T
        left, blur = _half(X, L)
        off = abs(fractions(X) - fractions(L) @ fractions(L).T / 2 - fractions(left))
        assert np.all(off <= fractions(blur))
        worst = max(worst, np.max(blur / np.sqrt(np.outer(X.diagonal(), X.diagonal()))))
    assert 2.0**-53 < worst <= 2 * (order + 4) * 2.0**-53


@pytest.mark.parametrize("power", [-220, 220])
def test_units_of_a_matrix_are_those_of_its_factor(power):
    X = thin_matrix(1e-3)
    np.testing.assert_array_equal(_factor(4.0**power * X), 2.0**power * _factor(X))


def test_rounding_of_the_metric_is_known():
    program, x = program_at(thin_matrix(1e-6))
    found = metric(program, x)
    L = [[Fraction(float(v)) for v in row] for row in found.factors[0]]
    U, around = found.U.toarray(), found.around.toarray()
    is_rounded = False
    for a, (i, j) in enumerate(zip(ROW, COLUMN, strict=True)):
        for b, (p, q) in enumerate(zip(ROW, COLUMN, strict=True)):
            exact = L[i][p] * L[j][q] + (L[i][q] * L[j][p] if p != q else 0)
            missed = abs(Fraction(float(U[a, b])) - exact)
            assert missed <= Fraction(float(around[a, b]))
            is_rounded |= missed > 0
    assert is_rounded
    # And so are its products with equations.
    moved, radii = found.product(program.E, None)
    E = fractions(program.E)
    exact = np.array(
        [
            [
                L[i][p] * L[j][q] + (L[i][q] * L[j][p] if p != q else 0)
                for p, q in zip(ROW, COLUMN, strict=True)
            ]
            for i, j in zip(ROW, COLUMN, strict=True)
        ]
    )
    far = fractions(radii)
    assert np.all(abs(fractions(moved) - E @ exact) <= far)
    assert np.all(far >= abs(E) @ fractions(around))


@pytest.mark.parametrize("radius", [0.0, 1e-12])
def test_multipliers_of_a_thin_matrix_prove_a_bound(radius):
    """min <C, X>, tr X = 1: the least eigenvalue of C, where C - w I has one of about 1e-13."""
    C = thin_matrix(1e-13)
    c = np.where(ROW == COLUMN, 1.0, 2.0) * C[ROW, COLUMN]
    trace, own = np.zeros((1, ROW.size)), sp.csr_array(-np.eye(ROW.size))
    trace[0, DIAGONAL] = 1.0
    around = Around(c=np.full(c.size, radius)) if radius else Around()
    cone = Piece(SEMIDEFINITE, ORDER, own, np.zeros(ROW.size))
    program = build(c, sp.csr_array(trace), np.ones(1), [cone], around=around)
    w = -2e-14 - 100.0 * radius
    z = np.append(-w, c - w * trace[0])
    found = bound_proof(program, z)._in_metric(z).number
    assert found <= np.linalg.eigvalsh(C)[0] - radius
    assert radius or found == pytest.approx(w, rel=1e-1)


@pytest.mark.parametrize("one", [("primal-degenerate", 1015), ("inequalities", 1024)])
def test_points_and_multipliers_of_thin_matrices_are_proved(one):
    """Equations nearly dependent next to the optimum; a box that leaves the dual cone."""
    known = planted(*one)
    solution = sdpdr.solve(known.sdp, "dense")
    assert solution.certified(1e-6)
    assert not list(known.truth.contradictions(solution))
