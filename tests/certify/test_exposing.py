"""What is searched for where there is no interior, and the program on the face that it leaves."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.exposing import _on_faces, _Search, _searched, exposing, of_images, ray, stacked
from sdpdr.certify.faces import DUAL, PRIMAL, face_of
from sdpdr.certify.flat import NONNEGATIVE, SECOND_ORDER, SEMIDEFINITE, Answer, Piece, build
from sdpdr.certify.knowledge import Knowledge
from sdpdr.certify.margin import inside, margin
from sdpdr.certify.prove import Kernel, prove
from sdpdr.certify.reduced import reduced, refuted
from sdpdr.certify.standard import standard
from sdpdr.linalg import Entries, InnerProduct, Trace, VectorMap, svec
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable
from sdpdr.solvers.flat import ask_clarabel

from .test_units import random_program

RNG = np.random.default_rng(0)
MODES = pytest.mark.parametrize(
    ("ray", "within"), [(False, None), (True, None), (True, 7.0)], ids=["face", "ray", "within"]
)


def half_lines(A, b):
    return Piece(NONNEGATIVE, len(b), sp.csr_array(A), np.array(b, dtype=float))


# -- the search ---------------------------------------------------------------------------------


@MODES
def test_multipliers_of_the_search_are_those_that_expose_a_face_or_are_a_ray(ray, within):
    """E'w + A'z = 0, and f'w + b'z is zero or -1; the size of z is one, as small as can be, or
    within some size."""
    program = random_program(0)
    search = _Search(program, PRIMAL, ray=ray, within=within)
    found = search.over(program.pieces(), stacked([], program.c.size))
    m, e = program.f.size, program.centre
    w, z, spare = RNG.normal(size=m), RNG.normal(size=program.b.size), RNG.normal()
    left = [
        program.E.T @ w + program.A.T @ z,
        [-(program.f @ w + program.b @ z) - (1.0 if ray else 0.0)],
    ]
    cost = e @ z if ray and within is None else 0.0
    y = np.concatenate([w, z])
    if not ray:
        left.append([e @ z - 1.0])
    elif within is not None:
        left.append([within - e @ z - spare])
        # The number that is spare comes after the others of its kind.
        y = np.insert(y, m + 2, spare)
    assert found.c + found.dual_equations @ y == pytest.approx(np.concatenate(left))
    assert np.concatenate([found.f, found.b]) @ y == pytest.approx(cost)


@MODES
def test_points_of_the_search_are_directions_of_the_program(ray, within):
    """E d = 0, rows of a face vanish, c'd is zero or -1; the size of -A d likewise."""
    program = random_program(1)
    n = program.c.size
    flat = sp.csr_array(RNG.normal(size=(2, n))), RNG.normal(size=2), None
    search = _Search(program, DUAL, ray=ray, within=within)
    found = search.over(program.pieces(), flat)
    d = RNG.normal(size=n)
    s, gain = -program.A @ d, program.c @ d
    size = program.centre @ s
    missed = [program.E @ d, [gain + 1.0] if ray else [gain, size - 1.0], flat[0] @ d]
    sizes = np.concatenate(missed)
    if not ray:  # whose size is that of the slack, up to its sign
        at = program.f.size + 1
        row = found.E @ d - found.f
        assert row[at] == pytest.approx(-(size - 1.0))
        sizes[at] = row[at]
    assert found.E @ d - found.f == pytest.approx(sizes)
    slack = s if within is None else np.insert(s, 2, within - size)
    assert found.b - found.A @ d == pytest.approx(slack)
    assert found.c @ d == pytest.approx(size if ray and within is None else 0.0)


@pytest.mark.parametrize("side", [PRIMAL, DUAL])
def test_the_number_that_limits_a_size_is_no_part_of_what_is_found(side):
    """It comes after the two other numbers that are not negative."""
    program = random_program(2)

    def counting(whole, seconds=inf):
        k = whole.b.size
        return Answer(np.zeros(whole.c.size), np.arange(1.0, k + 1.0), np.arange(whole.f.size + k),
                      True)  # fmt: skip

    found = _searched(program, side, counting, ray=True, within=3.0)
    k, m = program.b.size, len(found.z) - program.b.size
    assert found.s.tolist() == [1.0, 2.0, *range(4, k + 2)]
    assert found.z.tolist() == [*range(m + 2), *range(m + 3, m + k + 1)]


def vectors_on_faces():
    """A program of cones side by side, and a face of each."""
    n = 3 + 3 + 6
    A = sp.csr_array(-np.eye(n))
    pieces = [
        Piece(NONNEGATIVE, 1, A[:3], np.zeros(3)),
        Piece(SECOND_ORDER, 3, A[3:6], np.zeros(3)),
        Piece(SEMIDEFINITE, 3, A[6:], np.zeros(6)),
    ]
    program = build(np.ones(n), sp.csr_array((0, n)), np.zeros(0), pieces)
    w = np.array([[1.0, -2.0, 1.0]])
    j, i = np.tril_indices(3)
    v = np.concatenate([[2.0, 0.0, 1.0], [5.0, 3.0, 4.0], (w.T @ w)[i, j] * (1 + (i != j))])
    faces = [face_of(part, v[part.rows], PRIMAL, 1e-6) for part in program.parts]
    return program, v, faces


def test_multipliers_of_images_count_as_those_of_the_cones():
    program, _, faces = vectors_on_faces()
    for images in ([face.inside for face in faces], [face.left for face in faces]):
        s = RNG.normal(size=program.b.size)
        mapped = [
            T @ s[part.rows]
            for part, of_one in zip(program.parts, images, strict=True)
            for _, _, T in of_one
        ]
        # In the order of kinds: the ray of the second-order cone is a number.
        mapped = np.concatenate(mapped)
        z = RNG.normal(size=mapped.size)
        assert of_images(program, images, z) @ s == pytest.approx(z @ mapped)


def test_what_was_found_is_read_on_its_faces():
    program, v, faces = vectors_on_faces()
    pieces = [
        Piece(kind, size, T @ piece.A, T @ piece.b)
        for face, piece in zip(faces, program.pieces(), strict=True)
        for kind, size, T in face.inside
    ]
    small = _Search(program, PRIMAL, ray=False).over(pieces, stacked([], program.c.size))
    found = Answer(np.zeros(program.c.size + 2), np.zeros(program.b.size), v, True)
    near = _on_faces(small, faces, found, v, PRIMAL)
    assert of_images(program, [face.inside for face in faces], near.z) == pytest.approx(v)


# -- margins --------------------------------------------------------------------------------------


def test_a_margin_is_how_far_inside_points_and_multipliers_may_be():
    """x >= 0 with the sum 3 lies inside by 3/2; multipliers c + w e - t e may have any size."""
    sum_of_both, minus = sp.csr_array(np.ones((1, 2))), -np.eye(2)
    program = build(np.ones(2), sum_of_both, np.full(1, 1.2), [half_lines(minus, [0, 0])])
    found = margin(program, PRIMAL, ask_clarabel)
    assert found.size == pytest.approx(0.6, abs=1e-6)
    assert inside(program, PRIMAL, ask_clarabel) == pytest.approx([0.6, 0.6], abs=1e-6)
    assert margin(program, DUAL, ask_clarabel).size == pytest.approx(1.0, abs=1e-6)
    nothing = sp.csr_array((0, 2))
    for costs, least in (([0.25, 3.0], 0.25), ([2.0, 3.0], 1.0), ([-0.5, 3.0], -0.5)):
        program = build(np.array(costs), nothing, np.zeros(0), [half_lines(minus, [5, -7])])
        found = margin(program, DUAL, ask_clarabel)
        assert found.size == pytest.approx(least, abs=1e-6)
        assert found.y == pytest.approx(costs, abs=1e-6)
        assert (found.is_positive, found.is_zero) == (least > 0.0, False)
    program = build(np.ones(2), sum_of_both, np.zeros(1), [half_lines(minus, [0, 0])])
    found = margin(program, PRIMAL, ask_clarabel)
    assert (found.is_positive, found.is_zero) == (False, True)
    with pytest.raises(UnprovedError):
        inside(build(np.ones(2), sum_of_both, -np.ones(1), [half_lines(minus, [0, 0])]), PRIMAL,
               ask_clarabel)  # fmt: skip


# -- faces and rays -------------------------------------------------------------------------------

CORNER = Rows("corner", "==", {"X": Entries(3, [[0, 0]])}, np.zeros(1))
ONE = Rows("one", "==", {"X": InnerProduct(np.diag([0.0, 1.0, 2.0]))}, np.ones(1))
TIE = Rows("tie", "<=", {"X": Entries(3, [[0, 1]]), "z": VectorMap([[1.0]])}, np.ones(1))
MEAN = Rows("mean", "==", {"X": InnerProduct(np.ones((3, 3)))}, np.zeros(1))
COSTS = {"X": InnerProduct(np.diag([1.0, 2.0, 1.0]) + 0.25), "z": VectorMap([[1.0]])}
Z = VectorVariable("z", 1, nonnegative=True)


def with_matrix_variable(row):
    return standard(SDP((PsdVariable("X", 3), Z), COSTS, (row, ONE, TIE))).flat


def with_matrix_inequality():
    """t I - C is singular on a face, since its corner is 1 - z with z >= 1 and z <= 1."""
    parts = [np.diag([0.0, 1.0, 1.0]), np.diag([-1.0, 0.0, 0.0])]
    lhs = {"t": VectorMap(svec(parts[0])[:, None]), "z": VectorMap(svec(parts[1])[:, None])}
    C = np.array([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.5, 2.0]])
    least = Rows("least", "<=", {"z": VectorMap([[-1.0]])}, -np.ones(1))
    cost = {"t": VectorMap([[1.0]]), "z": VectorMap([[0.5]])}
    variables = (VectorVariable("t", 1), Z)
    return standard(SDP(variables, cost, (least,), (Lmi("limit", 3, lhs, -svec(C)),))).flat


def with_a_shifted_matrix():
    """The slack of a matrix of variables is not that matrix: no other one takes its place."""
    program = with_matrix_variable(CORNER)
    (rows,) = (part.rows for part in program.parts if part.kind == SEMIDEFINITE)
    b = program.b.copy()
    b[rows] = [0.0, 0.0, 0.25, 0.0, 0.125, -0.25]
    return replace(program, b=b)


WITHOUT_INTERIOR = {
    "a shifted matrix": with_a_shifted_matrix,
    "an entry": lambda: with_matrix_variable(CORNER),
    "a mean": lambda: with_matrix_variable(MEAN),
    "a matrix inequality": with_matrix_inequality,
}


@pytest.mark.parametrize("name", WITHOUT_INTERIOR)
def test_an_exposing_vector_vanishes_on_all_points(name):
    program = WITHOUT_INTERIOR[name]()
    found = exposing(program, PRIMAL, ask_clarabel)
    m = program.f.size
    assert program.dual_equations @ found.at == pytest.approx(0.0 * program.c, abs=1e-9)
    assert np.concatenate([program.f, program.b]) @ found.at == pytest.approx(0.0, abs=1e-9)
    assert program.all_dual_inside(found.at[m:] + 1e-6 * program.centre)
    assert program.centre @ found.at[m:] > 0.1


@pytest.mark.parametrize("name", WITHOUT_INTERIOR)
def test_a_program_on_its_face_has_the_same_points_and_bounds(name):
    program = WITHOUT_INTERIOR[name]()
    here = reduced(program, PRIMAL, ask_clarabel)
    assert reduced(program, PRIMAL, ask_clarabel) is here
    small = here.program
    answer = ask_clarabel(small)
    assert answer.is_solved
    # A matrix that is a variable stays one, of a smaller order.
    assert (here.map is None) == (name in ("a matrix inequality", "a shifted matrix"))
    S = sp.eye_array(program.c.size) if here.map is None else here.map
    u = RNG.normal(size=small.c.size)
    assert small.c @ u == pytest.approx(program.c @ (S @ u))
    x = S @ answer.x
    s = program.b - program.A @ x
    assert program.E @ x == pytest.approx(program.f, abs=1e-6)
    assert program.all_inside(s + 1e-6 * program.centre)
    assert not program.all_inside(s - 1e-6 * program.centre)
    z = here.multipliers(answer.z)
    assert program.dual_equations @ z == pytest.approx(-program.c, abs=1e-6)
    bound, same = (np.concatenate([p.f, p.b]) @ y for p, y in ((program, z), (small, answer.z)))
    assert bound == pytest.approx(same, abs=1e-7)
    assert -bound == pytest.approx(program.c @ x, abs=1e-5)


def test_a_program_on_the_face_of_its_multipliers_has_the_same_bound():
    """min x + y with x + y >= 1, x <= 1 and a number that costs nothing: x is no more than one."""
    rows = half_lines([[-1.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]], [-1.0, 1.0, 0.0])
    program = build(np.array([1.0, 1.0, 0.0]), sp.csr_array((0, 3)), np.zeros(0), [rows])
    found = exposing(program, DUAL, ask_clarabel)
    s = -program.A @ found.at
    assert program.c @ found.at == pytest.approx(0.0, abs=1e-9)
    assert np.all(s >= -1e-9)
    assert s.sum() == pytest.approx(1.0, abs=1e-6)
    here = reduced(program, DUAL, ask_clarabel)
    z = here.multipliers(ask_clarabel(here.program).z)
    assert program.dual_equations @ z == pytest.approx(-program.c, abs=1e-6)
    assert program.b @ z == pytest.approx(-1.0, abs=1e-6)


def test_rays_show_that_there_is_no_point_or_no_limit():
    apart = build(np.zeros(2), sp.csr_array([[1.0, 2.0]]), -np.full(1, 3.0),
                  [half_lines(-np.eye(2), [0, 0])])  # fmt: skip
    free = build(np.array([-2.0, 1.0]), sp.csr_array([[1.0, -1.0]]), np.ones(1),
                 [half_lines(-np.eye(2), [0, 0])])  # fmt: skip
    z = ray(apart, PRIMAL, ask_clarabel)
    assert apart.dual_equations @ z == pytest.approx(np.zeros(2), abs=1e-9)
    assert np.concatenate([apart.f, apart.b]) @ z == pytest.approx(-1.0)
    assert np.all(z[1:] >= 0.0)
    d = ray(free, DUAL, ask_clarabel)
    assert free.E @ d == pytest.approx(np.zeros(1), abs=1e-9)
    assert free.c @ d == pytest.approx(-1.0)
    assert np.all(d >= 0.0)
    # What a solver ended with shows the same, and is not asked for then.
    for program, side, claimed in ((apart, PRIMAL, z), (free, DUAL, d)):
        nothing = np.zeros(program.c.size)
        grown = 1e6 * claimed
        answer = Answer(nothing, nothing, grown, True)
        if side == DUAL:
            answer = Answer(grown, grown, np.zeros(3), True)
        again = ray(program, side, None, answer)
        assert again == pytest.approx(claimed, abs=1e-6)
    # One of many directions, far along which the answer is.
    many = build(np.array([-1.0, 0.0, -1.0]), sp.csr_array([[1.0, -1.0, 1.0]]), np.ones(1),
                 [half_lines(-np.eye(3), [0, 0, 0])])  # fmt: skip
    d = np.array([0.75, 1.0, 0.25])
    for far in (1.0, 2.0**20):
        answer = Answer(far * d, far * d, np.zeros(4), True)
        assert ray(many, DUAL, None, answer) == pytest.approx(d, abs=1e-9)
    for program, side in ((free, PRIMAL), (apart, DUAL)):
        with pytest.raises(UnprovedError):
            ray(program, side, ask_clarabel)


def test_a_refutation_behind_faces_holds_of_the_program():
    """X_00 = 0 leaves X_01 = 0, which is to be one: the ray is right on the face alone."""
    ties = Rows("ties", "==", {"X": Entries(3, [[0, 0], [0, 1]])}, np.array([0.0, 1.0]))
    program = standard(SDP((PsdVariable("X", 3),), {"X": Trace(3)}, (ties,))).flat
    found = refuted(program, PRIMAL, ask_clarabel)
    (first,) = found.exposing
    right = np.concatenate([program.f, program.b])
    for z, value in ((first, 0.0), (found.at, -1.0)):
        assert program.dual_equations @ z == pytest.approx(0.0 * program.c, abs=1e-9)
        assert right @ z == pytest.approx(value, abs=1e-9)
    with pytest.raises(UnprovedError, match="behind that many faces"):
        refuted(program, PRIMAL, ask_clarabel, most=1)


@pytest.mark.parametrize(("faces", "is_proved"), [(1, False), (2, True)])
def test_faces_are_looked_for_as_many_times_as_is_allowed(faces, is_proved):
    """X_00 = 0 leaves X_02 = 0, which X_11 is: two steps, and X_33 = 1 behind them."""
    chain = Entries(4, [[0, 0], [3, 3]]), Entries(4, [[1, 1]]) - Entries(4, [[0, 2]])
    rows = (
        Rows("ends", "==", {"X": chain[0]}, np.array([0.0, 1.0])),
        Rows("tie", "==", {"X": chain[1]}, np.zeros(1)),
    )
    program = standard(SDP((PsdVariable("X", 4),), {"X": Trace(4)}, rows)).flat
    kernel = Kernel(program, ask_clarabel(program), ask_clarabel, 1e-6, inf, faces, Knowledge())
    known = kernel.run()
    assert (known.status == "optimal") is is_proved
    assert ("value" in known.how) is is_proved
    if is_proved:
        assert known.how["value"].endswith(", on a face, on a face")
        assert known.bound <= program.c @ known.x + 1e-6
        assert program.E @ known.x == pytest.approx(program.f, abs=1e-9)


@pytest.mark.parametrize("name", ["an entry", "a mean"])
def test_a_bound_behind_a_face_is_remembered_with_its_costs(name):
    program = WITHOUT_INTERIOR[name]()
    known = prove(program, ask_clarabel(program), ask_clarabel)
    assert known.status == "optimal"
    found = program.behind["bound"]
    assert program.dual_equations @ found.at == pytest.approx(-program.c, abs=1e-6)
    right = np.concatenate([program.f, program.b])
    assert program.offset - right @ found.at == pytest.approx(known.bound, abs=1e-6)
    for z in found.exposing:
        assert program.dual_equations @ z == pytest.approx(0.0 * program.c, abs=1e-9)
