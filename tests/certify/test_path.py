"""Newton steps of the central path solve the equations that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr import graphs, methods
from sdpdr.certify.flat import NONNEGATIVE, SECOND_ORDER, SEMIDEFINITE, Piece, build
from sdpdr.certify.path import Path, _Arrow
from sdpdr.certify.standard import standard
from sdpdr.linalg import Diagonal, Entries, Trace
from sdpdr.linalg.congruent import BlockColumns
from sdpdr.linalg.svec import smat, svec
from sdpdr.program import SDP, PsdVariable, Rows

from .test_units import random_program


def matrix_program():
    """A matrix that is a variable, with two equations and limits on some of its entries."""
    rows = (
        Rows("diagonal", "==", {"X": Diagonal(3)[[0, 1]]}, np.array([1.0, 2.0])),
        Rows("limits", "<=", {"X": Entries(3, [[0, 1], [2, 2]])}, np.array([0.5, 3.0])),
    )
    return standard(SDP((PsdVariable("X", 3),), {"X": Trace(3)}, rows)).flat


def numbers_and_a_matrix():
    """Both are variables, in units of their own, beside equations and a cone that is none."""
    rng = np.random.default_rng(8)
    own = sp.csr_array(np.hstack([np.diag([-2.0, -0.5, -8.0]), np.zeros((3, 6))]))
    pieces = [
        Piece(NONNEGATIVE, 1, own, np.array([0.5, 0.0, 0.0])),
        Piece(SECOND_ORDER, 3, sp.csr_array(rng.normal(size=(3, 9))), np.array([9.0, 0.0, 0.0])),
        Piece(SEMIDEFINITE, 3, -4.0 * sp.eye_array(6, 9, k=3), np.zeros(6)),
    ]
    return build(rng.normal(size=9), sp.csr_array(rng.normal(size=(2, 9))), np.ones(2), pieces)


def several_matrices():
    """Equal matrices that share unknowns, with numbers, and equations for some unknowns alone."""
    rng = np.random.default_rng(9)
    seen = [sp.random_array((3, 7), density=0.6, rng=rng, format="csr") for _ in range(3)]
    pieces = [Piece(SEMIDEFINITE, 2, A, np.array([1.0, 0.2, 1.0])) for A in seen]
    pieces.append(Piece(NONNEGATIVE, 1, sp.csr_array(np.eye(7)[:4]), np.ones(4)))
    return build(rng.normal(size=7), sp.csr_array(np.eye(7)[5:]), 0.1 * np.ones(2), pieces)


PROGRAMS = {
    "numbers and a matrix": numbers_and_a_matrix,
    "points": lambda: random_program(0),
    "points of several matrices": several_matrices,
    "multipliers": matrix_program,
    "inequalities": lambda: standard(methods.mvu(graphs.path([1.0, 2.0, 3.0])).to_sdp()).flat,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("mu", [1e-3, 10.0])
def test_a_step_solves_the_equations_of_newton_from_any_point(name, mu, monkeypatch):
    """Both sides hold after it, and the multipliers are those of the barrier next to the slack.

    At once: refinement would make up for a wrong solution.
    """
    monkeypatch.setattr("sdpdr.certify.path._REFINEMENTS", 1)
    # Matrices one by one, however small they are.
    monkeypatch.setattr("sdpdr.certify.path._MATRIX_CALLS", 0.0)
    program = PROGRAMS[name]()
    path, rng, m = Path(program, lambda: False), np.random.default_rng(0), program.f.size
    assert bool(path.own_rows.size) == (not name.startswith("points"))
    own = program.A.toarray()[path.own_rows]
    np.testing.assert_array_equal(own[np.arange(len(own)), path.own_columns], path.own_entries)
    assert np.count_nonzero(own) == len(own)
    for _ in range(5):
        noise = rng.normal(size=program.b.size)
        shares = (v for v in 0.5 ** np.arange(20) if program.all_inside(program.centre + v * noise))
        s = program.centre + 0.9 * next(shares) * noise
        x, w = rng.normal(size=program.c.size), rng.normal(size=m)
        dx, z, ds, length = path._step(x, s, w, mu)
        close = {"abs": 1e-7 * (1.0 + np.abs(z).max() + np.abs(dx).max())}
        assert program.E @ (x + dx) == pytest.approx(program.f, **close)
        assert program.A @ (x + dx) + s + ds == pytest.approx(program.b, **close)
        missed = program.c + program.E.T @ z[:m] + program.A.T @ z[m:]
        assert missed == pytest.approx(0.0 * missed, **close)
        step = 1e-7 / max(1.0, length)
        slope = program.each(lambda cone, v: cone.gradient(v), s + step * ds)
        slope = slope - program.each(lambda cone, v: cone.gradient(v), s - step * ds)
        slope = slope / (2.0 * step)
        gradient = program.each(lambda cone, v: cone.gradient(v), s)
        size = np.abs(gradient).max() + np.abs(slope).max()
        assert -z[m:] / mu == pytest.approx(gradient + slope, abs=1e-5 * size)
        assert length == pytest.approx(np.sqrt(ds @ slope), rel=1e-4)


@pytest.mark.parametrize("shares", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (6, 2, 1), (40, 2, 1)])
def test_scaled_products_are_those_of_the_matrices(shares):
    """Columns with one entry, with all, and with those of four rows; one column is empty."""
    rng, order = np.random.default_rng(0), 12
    size = order * (order + 1) // 2
    columns = np.zeros((size, sum(shares) + 1))
    for k, kind in enumerate(np.repeat([0, 1, 2], shares)):
        seen = (rng.integers(size), slice(None), slice(0, 10))[kind]
        columns[seen, k] = rng.normal(size=columns[seen, k].shape)
    root = rng.normal(size=(order, order))
    block = BlockColumns.of(order, sp.csr_array(columns))
    scaled = svec(root @ smat(columns.T) @ root.T)[block.at]
    assert block.at.size == sum(shares)
    assert block.product(root) == pytest.approx(scaled @ scaled.T, abs=1e-10)


def test_a_system_with_a_zero_on_its_diagonal_is_singular():
    with pytest.raises(np.linalg.LinAlgError):
        _Arrow(np.diag([0.0, 1.0]), np.zeros(1, dtype=np.intp))
