"""Facial reduction: every step is proved; the reduced program is equivalent, with an interior."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space

import sdpdr
from sdpdr import graphs, methods
from sdpdr.linalg import (
    InnerProduct,
    Products,
    QuadraticForms,
    SquaredEdgeLengths,
    Trace,
    VectorMap,
    svec,
)
from sdpdr.program import (
    SDP,
    Factor,
    Lmi,
    Point,
    PsdVariable,
    Rows,
    VectorVariable,
    as_dense,
)
from sdpdr.program.face import null_vectors
from sdpdr.reduce import facial_reduction
from sdpdr.reduce.facial import Consequences, verify

from .degenerate_programs import anything, entries, planted, program


def solved(sdp):
    return sdpdr.solve(sdp, "clarabel", tol=1e-7)


def order(found):
    """Orders of matrices on their faces, of which rows state a part."""
    sdp = found.sdp
    return {v.name: v.n - null_vectors(sdp, v.name).shape[1] for v in sdp.psd_variables}


def on_face(found):
    """Columns that span the face of X."""
    vectors = [u for step in found.exposures for u in step.null_vectors("X")]
    columns = np.zeros((found.original.variable("X").n, len(vectors)))
    for k, u in enumerate(vectors):
        columns[list(u), k] = [float(a) for a in u.values()]
    return null_space(columns.T)


# -- the gallery --------------------------------------------------------------------------------


INFEASIBLE = {
    "weakly": program(2, [], ([(1, 1, 1)], 0), ([(1, 2, 1)], 2)),
    "negative diagonal": program(1, [], ([(1, 1, 1)], -1e-7)),
    "negative trace": program(2, [(1, 1, 1)], ([(1, 1, 1), (2, 2, 1)], -1), relation="<="),
    "negated": program(2, [], ([(1, 1, -1), (1, 2, 1), (2, 2, -1)], 3)),
    "after a chain": program(
        3, [], ([(2, 3, 1)], 1), ([(2, 2, 1), (1, 2, 5)], 0), ([(1, 1, 1)], 0)
    ),
    "merged points": program(
        2, [], ([(1, 1, 1), (1, 2, -1), (2, 2, 1)], 0), ([(1, 1, 1), (2, 2, -1)], 1)
    ),
    "nothing left": program(1, [(1, 1, 1)], ([(1, 1, 0)], 1)),
    "scalars": program(
        1, [], ([(1, 1, 1)], 0), ([(1, 1, 1)], 1), scalars=([[1, 2], [0, -3]], True)
    ),
}


@pytest.mark.parametrize("sdp", INFEASIBLE.values(), ids=INFEASIBLE)
def test_infeasible_programs_are_proved_infeasible(sdp):
    found = facial_reduction(sdp)
    assert "nothing is feasible" in found.infeasible
    assert found.sdp is sdp
    assert found.check()
    assert found.exposures[-1].proved.contradiction
    assert found.violation > 0.0


# -- planted faces ------------------------------------------------------------------------------


@pytest.mark.nightly
@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_planted_faces_are_found_exactly_and_leave_an_interior(seed):
    sdp, r, _, inside = planted(seed)
    found = facial_reduction(sdp)
    assert found.infeasible is None
    assert found.check()
    assert order(found) == {"X": r}
    small = found.push(Point({"X": inside}))
    assert np.linalg.matrix_rank(small.values["X"]) == r
    for rows in found.sdp.rows:
        np.testing.assert_allclose(found.sdp.slack(rows, small.values), 0.0, atol=1e-9)
    np.testing.assert_allclose(found.lift(small).values["X"], inside, rtol=1e-12)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_any_point_of_the_face_keeps_its_objective_and_its_rows(seed):
    sdp, r, _, _ = planted(seed)
    found = facial_reduction(sdp)
    root = on_face(found) @ np.random.default_rng(seed).standard_normal((r, r))
    for value in (root @ root.T, Factor(root)):
        small = found.push(Point({"X": value}))
        before, after = sdp.primal_value({"X": value}), found.sdp.primal_value(small.values)
        assert before == pytest.approx(after, rel=1e-9, abs=1e-9)
        for rows in found.sdp.rows:
            if "face" in rows.label:
                np.testing.assert_allclose(found.sdp.slack(rows, small.values), 0.0, atol=1e-7)
        lifted = found.lift(small).values["X"]
        assert isinstance(lifted, Factor) is isinstance(value, Factor)
        np.testing.assert_allclose(as_dense(lifted), as_dense(value), atol=1e-9)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_a_forged_step_does_not_pass(seed):
    sdp, _, _, _ = planted(seed)
    step = facial_reduction(sdp).exposures[0]
    label, e, y = step.multipliers[0]
    assert step.check(sdp)
    assert not replace(step, multipliers=((label, e, -y),)).check(sdp)
    forged = replace(step.proved, vectors=(*step.proved.vectors, ("X", ((0, Fraction(7)),))))
    assert not replace(step, proved=forged).check(sdp)
    # A step must not lean on what was not verified before it.
    assert not verify(sdp, (replace(step, after=(step,)),))
    moved = tuple(replace(r, rhs=r.rhs + 1.0) for r in sdp.rows)
    assert not step.check(replace(sdp, rows=moved))


def test_forged_signs_and_places_do_not_pass():
    step = facial_reduction(INFEASIBLE["weakly"]).exposures[0]
    upper = program(2, [(2, 2, 1)], ([(1, 1, -1)], 0), relation="<=")
    vectors = Consequences((("X", ((0, Fraction(1)),)),))
    forged = replace(step, multipliers=(("rows", 0, Fraction(-1)),), proved=vectors)
    assert not forged.check(upper)


def test_bases_of_later_faces_are_exact_too():
    """X = z z^T with z = (a^3, a^2, a, 1), of which no double holds the first."""
    a = 2.0**26 + 1.0
    u = np.array([[1.0, -a, 0, 0], [0, 1.0, -a, 0], [0, 0, 1.0, -a]])
    forms = [np.outer(v, v) for v in u]
    # Semidefinite on the face before only.
    for k in (1, 2):
        beside = np.outer(u[k - 1], [1.0, 0.0, 0.0, 1.0])
        forms[k] = forms[k] + (beside + beside.T) / 2.0
    labels = ("first", "second", "third")
    rows = [
        Rows(label, "==", {"X": InnerProduct(form)}, np.zeros(1))
        for label, form in zip(labels, forms, strict=True)
    ]
    rows.append(Rows("one", "==", {"X": entries(4, [(4, 4, 1)])}, np.ones(1)))
    sdp = SDP((PsdVariable("X", 4),), {"X": entries(4, [(4, 4, 1)])}, tuple(rows))
    found = facial_reduction(sdp)
    assert found.check()
    z = [Fraction(a) ** k for k in (3, 2, 1, 0)]
    vectors = [u for step in found.exposures for u in step.null_vectors("X")]
    assert len(vectors) == 3
    assert all(sum(x * z[k] for k, x in u.items()) == 0 for u in vectors)
    # No multiple of the third null vector is a vector of doubles, so its row stays.
    assert [r.label for r in found.sdp.rows] == ["third", "one", "X.face", "X.face'"]


def violation(sdp, values):
    """Largest amount by which a point breaks a row or a cone."""
    worst = [0.0]
    for r in sdp.rows:
        slack = sdp.slack(r, values)
        worst.append(np.max(np.abs(slack) if r.relation == "==" else -slack, initial=0.0))
    matrices = [sdp.lmi_value(lmi, values) for lmi in sdp.lmis]
    matrices += [values[v.name] for v in sdp.psd_variables]
    worst += [-np.linalg.eigvalsh(matrix)[0] for matrix in matrices]
    worst += [-np.min(values[v.name]) for v in sdp.vector_variables if v.nonnegative]
    return max(worst)


@pytest.mark.nightly
def test_a_feasible_point_is_never_cut_off():
    """Every step holds at a point that is feasible exactly, whatever the program."""
    for seed in range(60):
        sdp, values = anything(seed)
        assert violation(sdp, values) < 1e-9
        found = facial_reduction(sdp)
        assert found.infeasible is None
        assert found.check()
        for step in found.exposures:
            for name, vector in step.proved.vectors:
                product = sum(float(a) * values[name][:, k] for k, a in vector)
                np.testing.assert_allclose(product, 0.0, atol=1e-12)
        small = found.push(Point(values))
        inside = {"nothing": np.ones((1, 1)), **small.values}
        assert violation(found.sdp, inside) < 1e-9
        assert found.sdp.primal_value(inside) == pytest.approx(sdp.primal_value(values))
        assert violation(sdp, found.lift(Point(inside)).values) < 1e-9


# -- rows and scalars ----------------------------------------------------------------------------


def test_a_chain_of_zero_rows_is_followed_to_its_end():
    n = 6
    rows = [([(1, 1, 1)], 0)]
    rows += [([(k, k, 1), (k - 1, k, 3), (k - 1, n, 1)], 0) for k in range(2, n)]
    found = facial_reduction(program(n, [(n, n, 1)], *rows[::-1], ([(n, n, 1)], 4)))
    assert found.check()
    assert order(found) == {"X": 1}
    assert [len(e.after) for e in found.exposures] == list(range(n - 1))
    assert found.sdp.n_rows == 1
    np.testing.assert_array_equal(
        found.lift(Point({"X": np.array([[4.0]])})).values["X"], np.diag([0, 0, 0, 0, 0, 4.0])
    )


def test_non_negative_scalars_beside_a_matrix_do_not_hide_its_face():
    sdp = program(
        2,
        [(2, 2, 1)],
        ([(1, 1, 1)], 0),
        ([(2, 2, 1)], 5),
        scalars=([[2, 0, 1], [1, 1, 0]], True),
    )
    found = facial_reduction(sdp)
    assert found.check()
    assert found.exposures[0].null_vectors("X") == ({0: Fraction(1)},)
    # The row still says that two of the scalars vanish.
    assert [r.m for r in found.sdp.rows] == [2]
    lifted = found.lift(Point({"X": np.ones((1, 1)), "z": np.array([0.0, 4.0, 0.0])}))
    np.testing.assert_array_equal(lifted.values["X"], np.diag([0.0, 1.0]))
    assert found.push(lifted).values["X"].tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("matrix", "nonnegative"), [([[1, 0]], False), ([[-2, 0]], False), ([[-1]], True)]
)
def test_a_scalar_that_may_make_up_for_the_matrix_rules_the_step_out(matrix, nonnegative):
    sdp = program(1, [(1, 1, 1)], ([(1, 1, 1)], 0), scalars=(matrix, nonnegative))
    assert facial_reduction(sdp).sdp is sdp


def test_a_program_with_a_single_point_stays_a_program():
    sdp = program(2, [(1, 1, 1)], ([(1, 1, 1), (2, 2, 3)], 0))
    found = facial_reduction(sdp)
    answer = solved(found.sdp)
    assert answer.value == pytest.approx(0.0, abs=1e-9)
    lifted = found.lift(Point(answer.values, answer.duals))
    np.testing.assert_array_equal(lifted.values["X"], np.zeros((2, 2)))
    np.testing.assert_array_equal(lifted.duals["rows"], [0.0])


def test_null_vectors_that_no_whole_basis_holds_become_rows():
    v = np.array([0.1, 0.3, -0.7])
    flat = QuadraticForms(np.vstack([v, [1.0, 0.0, 0.0]]))
    sdp = SDP(
        (PsdVariable("X", 3),),
        {"X": Trace(3)},
        (Rows("flat", "==", {"X": flat}, np.array([0.0, 1.0])),),
    )
    found = facial_reduction(sdp)
    assert found.check()
    (added,) = (r for r in found.sdp.rows if r.label == "X.face")
    # The row says the same of the numbers stored: its vector is an exact multiple.
    ratios = {Fraction(a) / Fraction(b) for a, b in zip(added.lhs["X"].vector, v, strict=True)}
    assert len(ratios) == 1
    assert solved(found.sdp).value == pytest.approx(solved(sdp).value, rel=1e-4)


def test_a_row_is_left_where_doubles_hold_no_multiple_of_its_null_vector():
    """<B B^T, X> + 2^60 Y_11 = 0: both vanish, and B^T u = 0 takes integers of sixty digits."""
    B = np.random.default_rng(0).integers(-(2**20), 2**20, size=(4, 3)).astype(object)
    corner = InnerProduct(np.diag([2.0**60, 0.0]))
    gram = InnerProduct((B @ B.T).astype(float))
    rows = Rows("sum", "==", {"X": gram, "Y": corner}, np.zeros(1))
    found = facial_reduction(SDP((PsdVariable("X", 4), PsdVariable("Y", 2)), {}, (rows,)))
    assert "sum" in [r.label for r in found.sdp.rows]
    assert found.sdp.variable("Y").n == 1


# -- near misses --------------------------------------------------------------------------------

NEAR = {
    "tiny right side": program(2, [(2, 2, 1)], ([(1, 1, 1)], 1e-300), ([(2, 2, 1)], 1)),
    "positive to rounding": program(
        2, [(1, 1, 1)], ([(1, 1, 1), (1, 2, -1 - 2**-52), (2, 2, 1)], 0), ([(2, 2, 1)], 1)
    ),
    "an inequality of the other sign": program(
        2, [(1, 1, 1)], ([(1, 1, -1)], 0), ([(2, 2, 1)], 1), relation="<="
    ),
}


@pytest.mark.parametrize("sdp", NEAR.values(), ids=NEAR)
def test_near_misses_are_left_alone(sdp):
    found = facial_reduction(sdp)
    assert found.sdp is sdp
    assert not found
    assert found.check()


@pytest.mark.parametrize("a", [0.1, 0.7, 0.25, 3.0])
@pytest.mark.parametrize("b", [0.3, 0.9, 0.5])
def test_forms_that_are_singular_to_rounding_are_decided_exactly(a, b):
    """[[a^2, a b], [a b, b^2]] with rounded products is definite, singular, or neither."""
    entry = [Fraction(a * a), Fraction(a * b), Fraction(b * b)]
    determinant = entry[0] * entry[2] - entry[1] ** 2
    sdp = program(2, [(1, 1, 1)], ([(1, 1, a * a), (1, 2, a * b), (2, 2, b * b)], 0))
    found = facial_reduction(sdp)
    count = sum(len(e.null_vectors()) for e in found.exposures)
    assert count == (2 if determinant > 0 else 1 if determinant == 0 else 0)
    assert found.check()


# -- what the proof after a solve finds ---------------------------------------------------------


def test_faces_of_combinations_are_proved_after_the_solve():
    """X_11 - X_22 = 1 and X_22 + X_33 - X_11 = -1, so that X_33 = 0."""
    sdp = program(
        3, [(1, 1, 1)], ([(1, 1, 1), (2, 2, -1)], 1), ([(2, 2, 1), (3, 3, 1), (1, 1, -1)], -1)
    )
    assert facial_reduction(sdp).sdp is sdp
    assert solved(sdp).certified(1e-6)
    assert solved(sdp).value == pytest.approx(1.0, rel=1e-5)


def test_contradictions_among_several_rows_are_proved_after_the_solve():
    sdp = program(2, [], ([(1, 1, 1), (2, 2, -1)], 1), ([(2, 2, 2), (1, 1, -1)], -2))
    assert facial_reduction(sdp).infeasible is None
    assert solved(sdp).status is sdpdr.Status.INFEASIBLE


def test_faces_of_matrix_inequalities_are_proved_after_the_solve():
    """min z_2 with [[0, z_1, 0], [z_1, z_2, 1], [0, 1, 1]] >= 0, so that z_1 = 0."""
    table = np.zeros((3, 3, 2))
    table[0, 1, 0] = table[1, 0, 0] = table[1, 1, 1] = 1.0
    constant = np.zeros((3, 3))
    constant[1, 2] = constant[2, 1] = constant[2, 2] = 1.0
    lhs = VectorMap(np.column_stack([svec(table[..., k]) for k in range(2)]))
    variables, cost = (VectorVariable("z", 2),), {"z": VectorMap([[0.0, 1.0]])}
    sdp = SDP(variables, cost, (), (Lmi("cone", 3, {"z": lhs}, svec(constant)),))
    assert facial_reduction(sdp).sdp is sdp
    answer = solved(sdp)
    assert answer.certified(1e-6)
    assert answer.value == pytest.approx(1.0, rel=1e-5)


# -- cost ---------------------------------------------------------------------------------------


def test_large_unfoldings_are_passed_by_without_writing_out_their_rows(monkeypatch):
    sdp = methods.mvu(graphs.grid(60, 60), "equality").to_sdp()

    def refuse(self, *args):
        raise AssertionError(f"{type(self).__name__} was written out")

    for kind in (Products, SquaredEdgeLengths, QuadraticForms, Trace):
        for method in ("matrix", "pattern", "congruence", "adjoint"):
            monkeypatch.setattr(kind, method, refuse, raising=False)
    assert facial_reduction(sdp).sdp is sdp


def test_a_program_of_which_nothing_is_left_is_narrowed_again():
    """The second row says something only once the first has emptied the matrix before it."""
    rows = (([(1, 1, 1)], 0), ([(2, 2, 1), (1, 2, 1)], 0))
    found = facial_reduction(program(2, [], *rows))
    assert [v.n for v in found.sdp.psd_variables] == [1]
    assert found.check()
    lifted = found.lift(Point({"nothing": np.ones((1, 1))}, {"nothing": np.zeros(1)}))
    np.testing.assert_array_equal(lifted.values["X"], np.zeros((2, 2)))
