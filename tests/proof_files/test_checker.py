"""The arithmetic of the checker, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.certify.check_proof import (
    EXPONENTIAL,
    POWER,
    SECOND_ORDER,
    NotProvedError,
    System,
    are_singular_values_above,
    as_columns,
    dual,
    in_cone,
    is_semidefinite,
    program_of,
    take_faces,
    whole,
)

from .files import (
    Contents,
    curved,
    distance,
    entropy,
    inequality,
    lower_near,
    multipliers,
    pentagon,
    unfolding,
    upper,
    write,
)

ONE = 10**40
ZERO = np.array([0, 0, 0], object)


def _nothing(d):
    """The norm of what is added to a matrix, where nothing is."""
    return 0.0


def fractions(*numbers):
    return [Fraction(x) for x in numbers]


def point(*numbers):
    """A point of a cone, in integers."""
    return np.array([int(Fraction(x) * ONE) for x in numbers], object)


def test_doubles_are_integers_in_units_of_a_power_of_two():
    rng = np.random.default_rng(0)
    x = rng.normal(size=50) * 10.0 ** rng.integers(-49, 49, 50)
    for some in (x, x[:1], np.zeros(3), np.array([0.0, 1e-49, -3.0])):
        assert [Fraction(v, 2**220) for v in whole(some)] == list(map(Fraction, some))


def test_cones_at_their_boundaries():
    third = Fraction(1, 3)
    assert in_cone(SECOND_ORDER, 0.0, point(5, 3, 4), ZERO, dual=False)
    assert not in_cone(SECOND_ORDER, 0.0, point(5, 3, 4), ZERO + 10**10, dual=True)
    assert in_cone(EXPONENTIAL, 0.0, point(0, 1, 1 + third / 10**20), ZERO, dual=False)
    assert not in_cone(EXPONENTIAL, 0.0, point(0, 1, 1 - third / 10**20), ZERO, dual=False)
    assert in_cone(EXPONENTIAL, 0.0, point(-1, 0, 0), ZERO, dual=False)
    assert not in_cone(EXPONENTIAL, 0.0, point(1, 0, 9), ZERO, dual=False)
    assert in_cone(EXPONENTIAL, 0.0, point(0, 2, 3), ZERO, dual=True)
    assert not in_cone(EXPONENTIAL, 0.0, point(0, -2, 3), ZERO, dual=True)
    eighth = Fraction(1, 8)
    for sign in (-1, 1):
        inside, outside = (sign * (2 + d * eighth / 10**20) for d in (-1, 1))
        assert in_cone(POWER, 0.25, point(16, 1, inside), ZERO, dual=False)
        assert not in_cone(POWER, 0.25, point(16, 1, outside), ZERO, dual=False)
        assert in_cone(POWER, 0.25, point(4, 0.75, inside), ZERO, dual=True)
        assert not in_cone(POWER, 0.25, point(4, 0.75, outside), ZERO, dual=True)


@pytest.mark.parametrize("kind", [SECOND_ORDER, EXPONENTIAL, POWER])
def test_points_of_a_cone_and_of_its_dual_have_products_that_are_not_negative(kind):
    rng = np.random.default_rng(len(kind))
    points = [point(*row) for row in rng.normal(size=(300, 3)) + np.array([0.0, 0.5, 0.5])]
    primal, dual = (
        [x for x in points if in_cone(kind, 0.3, x, ZERO, dual=side)] for side in (False, True)
    )
    assert len(primal) > 9
    assert len(dual) > 9
    products = [x @ y for x in primal for y in dual]
    assert min(products) >= 0


def exact_minor_signs(M):
    """Whether a symmetric matrix is positive definite, by elimination in fractions."""
    M = [[Fraction(float(x)) for x in row] for row in M]
    for k in range(len(M)):
        if M[k][k] <= 0:
            return False
        for i in range(k + 1, len(M)):
            share = M[i][k] / M[k][k]
            M[i] = [a - share * b for a, b in zip(M[i], M[k], strict=True)]
    return True


def test_matrices_are_definite_only_where_fractions_agree():
    rng, said = np.random.default_rng(5), []
    for trial in range(60):
        B = np.round(8.0 * rng.normal(size=(6, 6)))
        S = B @ B.T * 2.0 ** rng.integers(-9, 9) - np.eye(6) * 10.0 ** -rng.integers(1, 17)
        S = S if trial % 2 else S - np.linalg.eigvalsh(S)[0] * np.eye(6)
        S = np.tril(S) + np.tril(S, -1).T
        found = is_semidefinite(sp.csr_array(S), _nothing, sp.csc_array((6, 0)))
        said.append(found)
        assert not found or exact_minor_signs(S)
    assert 20 < sum(said) < 60


@pytest.mark.parametrize("n", [40, 700])
def test_a_laplacian_is_definite_beside_ones_and_by_no_more(n):
    ring = sp.diags_array([-1.0, -1.0], offsets=[1, n - 1], shape=(n, n))
    S = sp.csr_array(2.0 * sp.eye_array(n) + ring + ring.T)
    U = sp.csc_array(np.ones((n, 1)))
    least = 2.0 - 2.0 * np.cos(2.0 * np.pi / n)
    eye = sp.eye_array(n)
    assert is_semidefinite(sp.csr_array(S - 0.999 * least * eye), _nothing, U)
    assert not is_semidefinite(sp.csr_array(S - 1.001 * least * eye), _nothing, U)
    assert not is_semidefinite(S, _nothing, sp.csc_array((n, 0)))
    assert is_semidefinite(S, lambda d: 0.5 * least * np.max(d) ** 2, U)
    assert not is_semidefinite(S, lambda d: 1.001 * least * np.max(d) ** 2, U)


def test_singular_values_are_bounded_from_below():
    rng = np.random.default_rng(2)
    for _ in range(20):
        J = sp.csr_array(rng.normal(size=(5, 9)) * (rng.random((5, 9)) < 0.7))
        least = np.linalg.svd(J.toarray())[1][-1]
        assert are_singular_values_above((1.0 - 1e-9) * least, J)
        assert not are_singular_values_above((1.0 + 1e-9) * least, J)
    assert not are_singular_values_above(1e-9, sp.csr_array([[1.0, 2.0], [2.0, 4.0]]))


def program(C):
    """The least eigenvalue of a matrix: the minimum of <C, X> over matrices of trace one."""
    n = len(C)
    i, j = np.triu_indices(n)
    place = np.r_[i, :n], np.r_[j, :n]
    row = np.r_[0 * i, np.ones(n, int)]
    lists = dict.fromkeys(("inequalities", "cones", "nonnegative", "q", "U"), ())
    A = [row, 0 * row, *place, np.r_[C[i, j], np.ones(n)]]
    return program_of({"sense": 1, "n": [n], "A": A, "B": [[], [], []], "b": [0.0, 1.0], **lists})


def test_value_and_bound_enclose_what_fractions_say():
    """The least eigenvalue of [[a, b], [b, c]] is the smaller root of (a - t)(c - t) - b b."""
    rng = np.random.default_rng(9)
    for _ in range(15):
        C = np.round(64.0 * rng.normal(size=(2, 2))) / 8.0 * 10.0 ** rng.integers(-6, 6)
        C[0, 1] = C[1, 0]
        P = program(C)
        values, Q = np.linalg.eigh(C)
        size = float(np.abs(C).max())

        def below(t, C=C):
            a, b, c, t = fractions(C[0, 0], C[0, 1], C[1, 1], t)
            return t <= min(a, c) and (a - t) * (c - t) >= b * b

        for away in (1e-13, 1e-9, 0.1):
            bound = lower_near(P, multipliers(P, [1.0, -(values[0] - away * size)]))
            assert below(bound)
            assert values[0] - bound <= 1.01 * away * size
        for wrong in (1e-14, 1e-6, 1.0):
            with pytest.raises(NotProvedError):
                lower_near(P, multipliers(P, [1.0, -(values[0] + wrong * size)]))
        w = {
            "rank": np.array([1]),
            "R": Q[:, 0],
            "z": np.zeros(0),
            "unit": np.ones(2),
        }
        value = upper(P, w)
        assert not below(value + 1e-15 * size)
        assert value - values[0] <= 1e-13 * size


def test_an_equation_that_the_point_misses_by_far_is_not_solved():
    P = program(np.diag([1.0, 2.0]))
    w = {"rank": np.array([1]), "z": np.zeros(0), "unit": np.ones(2)}
    assert upper(P, {**w, "R": np.array([1.01, 0.0])}) < 1.2
    for R in ([9.0, 0.0], [0.0, 0.0], [0.1, 0.0]):
        with pytest.raises(NotProvedError):
            upper(P, {**w, "R": np.array(R)})


@pytest.mark.daily(3)
@pytest.mark.parametrize("make", [pentagon, unfolding, curved, inequality, distance, entropy])
def test_multipliers_that_prove_a_bound_are_a_point_of_the_dual_program(make, tmp_path):
    """All entries of the slack, and all multipliers of null vectors, are unknowns of it."""
    file = Contents.of(write(make, tmp_path / "answer.proof").path)
    P = program_of(file.program)
    take_faces(P, file.proof.get("faces", []))
    z, D = file.proof["dual"]["z"], dual(P)
    size = sum(n * len(U) for n, U in zip(P.n, P.U, strict=True))
    v = np.r_[z, file.proof["dual"].get("a", np.zeros(size))]
    assert v.size == D.p
    point = {"rank": np.full(D.K, -1), "R": [], "z": v, "unit": 0.0 * v}
    at = System(D, point)
    miss = at.miss
    assert np.abs(miss[at.solved]).max() < 1e-9
    assert miss[D.inequality & ~D.dropped].max(initial=0.0) < 1e-9
    for kind, exponent, rows in D.cones:
        assert in_cone(kind, exponent, -at.exact[rows], 0 * at.exact[rows], dual=True)
    assert np.all(v[D.sign] >= 0.0)
    for U, (rows, factors, i, j, n, _) in zip(P.U, at.matrices, strict=True):
        S = np.zeros((n, n))
        S[i, j] = S[j, i] = -miss[rows] * factors
        Q = sl.null_space(as_columns(U, n).toarray().T) if U else np.eye(n)
        assert np.linalg.eigvalsh(Q.T @ S @ Q)[0] > -1e-9
    curvature = 0.5 * float(D.q @ v**2)
    bound = file.proof["claims"]["bound"] * file.program["sense"]
    assert miss[0] + curvature == pytest.approx(-bound, rel=1e-6)
