"""Programs in their multipliers: an answer of theirs is one of the program itself."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.certify.flat import NONNEGATIVE, SECOND_ORDER, SEMIDEFINITE, Piece, build
from sdpdr.solvers.flat import ask_clarabel, ask_dense
from sdpdr.solvers.multiplier_form import multiplier_form


def over_all_symmetric_cones(rng):
    """Two matrices with entries of their own, one without, and two free variables."""
    n = 6 + 3 + 2

    def rows(count, own=()):
        A = 0.3 * rng.normal(size=(count, n))
        if own:
            A[:, :9] = 0.0
            A[range(count), own] = rng.uniform(-3.0, -1.0, count)
        return sp.csr_array(A)

    cones = [(SEMIDEFINITE, 3, rows(6, range(5, -1, -1))), (NONNEGATIVE, 1, rows(4))]
    cones += [(SEMIDEFINITE, 2, rows(3, range(6, 9))), (SECOND_ORDER, 3, rows(3))]
    cones += [(SEMIDEFINITE, 2, rows(3))]
    E = sp.csr_array(rng.normal(size=(2, n)))
    pieces = [Piece(kind, size, A, np.zeros(A.shape[0])) for kind, size, A in cones]
    program = build(np.zeros(n), E, np.zeros(2), pieces)
    # Inside of all cones on both sides.
    e, x = program.centre, rng.normal(size=n)
    cost = -(program.dual_equations @ np.concatenate([rng.normal(size=2), e]))
    return replace(program, c=cost, f=E @ x, b=program.A @ x + e)


@pytest.mark.parametrize("seed", range(3))
def test_an_answer_in_multipliers_is_one_of_the_program(seed):
    program = over_all_symmetric_cones(np.random.default_rng(seed))
    form, m = multiplier_form(program), program.f.size
    assert form.program.c.size == 2 + 4 + 3 + 3
    found, known = form.lift(ask_dense(form.program)), ask_clarabel(program)
    assert found.is_solved
    assert known.is_solved
    x, s, z, _ = found
    assert program.E @ x == pytest.approx(program.f, abs=1e-7)
    assert program.A @ x + s == pytest.approx(program.b, abs=1e-7)
    assert program.dual_equations @ z == pytest.approx(-program.c, abs=1e-7)
    assert program.all_inside(s + 1e-7 * program.centre)
    assert program.all_dual_inside(z[m:] + 1e-7 * program.centre)
    assert program.c @ x == pytest.approx(program.c @ known.x, abs=1e-6)
    assert s @ z[m:] == pytest.approx(0.0, abs=1e-6)


def test_rows_of_an_eliminated_matrix_see_no_variables_of_others():
    """X - Y and Y are matrices: the first owns X, and its rows see Y, which therefore stays."""
    eye = sp.eye_array(3, format="csr")
    first, second = sp.hstack([-eye, eye]), sp.hstack([0.0 * eye, -eye])
    pieces = [Piece(SEMIDEFINITE, 2, sp.csr_array(A), np.zeros(3)) for A in (first, second)]
    E = sp.csr_array([[1.0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 1]])
    program = build(np.array([1.0, 2, 3, -1, 1, 1]), E, np.array([2.0, 1.0]), pieces)
    form, m = multiplier_form(program), program.f.size
    x, s, z, is_solved = form.lift(ask_dense(form.program))
    assert is_solved
    assert program.A @ x + s == pytest.approx(program.b, abs=1e-7)
    assert program.dual_equations @ z == pytest.approx(-program.c, abs=1e-7)
    assert s @ z[m:] == pytest.approx(0.0, abs=1e-6)
    assert program.c @ x == pytest.approx(program.c @ ask_clarabel(program).x, abs=1e-6)


def test_without_variables_of_its_own_a_cone_is_not_eliminated():
    half_line = Piece(NONNEGATIVE, 1, -sp.eye_array(2, format="csr"), np.zeros(2))
    program = build(np.ones(2), sp.csr_array((0, 2)), np.zeros(0), [half_line])
    assert multiplier_form(program) is None
