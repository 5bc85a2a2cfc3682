"""Answers that cvxpy problems keep: whole, in part, not at all, and as they stand."""

import json
import math

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import Status
from sdpdr.errors import DataError, DataTypeError
from sdpdr.model.conic.flat import flat_problem
from sdpdr.model.conic.kept import duals_of, kept_multipliers, kept_point, values_of
from sdpdr.model.conic.labels import labels_of

pytestmark = pytest.mark.integration


def every_cone():
    """A problem of which cvxpy keeps all, and with nothing that is symmetric by accident."""
    x, t, X = cp.Variable(3), cp.Variable(), cp.Variable((3, 3), symmetric=True)
    u, y, Z = cp.Variable(2), cp.Variable(3), cp.Variable((2, 3))
    C = np.array([[1.0, 2.0, 0.0], [2.0, -1.0, 0.5], [0.0, 0.5, 3.0]])
    w = cp.Variable(3)
    rows = [
        *(cp.sum(x) == 1, x >= 0.1, x[0] <= 0.7, cp.SOC(t, x)),
        *(cp.SOC(w, Z, axis=0), cp.sum(Z, axis=1) == np.array([1.0, 2.0])),
        *(X >> 0, cp.trace(X) <= 2, X[0, 1] == 0.1),
        *(cp.constraints.ExpCone(x, np.ones(3), y), cp.sum(y) <= 5),
        *(cp.constraints.PowCone3D(y[:2], y[1:], u, [0.3, 0.6]),),
    ]
    cost = t + cp.trace(C @ X) + cp.sum(w) - u[0] - 0.5 * u[1] - x[1]
    return cp.Problem(cp.Minimize(cost), rows)


def entropy():
    x = cp.Variable(4, name="x")
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1]), math.log(4.0)


def forbid_solving(monkeypatch):
    """Let whoever solves fail."""

    def refuse(*args, **kwargs):
        raise AssertionError("this was to be proved without solving")

    for name in ("cvxpy_answer", "completing"):
        monkeypatch.setattr(f"sdpdr.solving.verify.{name}.ask_solver", refuse)


@pytest.mark.parametrize("solver", [cp.CLARABEL, cp.SCS])
def test_an_answer_over_every_cone_is_proved_without_solving(solver, monkeypatch):
    problem = every_cone()
    problem.solve(solver=solver)
    flat = flat_problem(problem)
    z = kept_multipliers(flat)
    m = flat.program.f.size
    missed = flat.program.c + flat.program.E.T @ z[:m] + flat.program.A.T @ z[m:]
    np.testing.assert_allclose(missed, 0.0, atol=1e-3)
    forbid_solving(monkeypatch)
    found = sdpdr.verify(problem, seconds=60.0)
    assert found.status is Status.SOLVED
    assert found.claimed.message == ""
    assert found.solver == solver.lower()
    assert 0.0 < found.moved < 1e-2
    assert found.claimed.value == problem.value


def test_an_answer_is_read_in_the_shapes_of_its_problem():
    problem = every_cone()
    problem.solve(solver=cp.CLARABEL)
    for repair in (True, False):
        found = sdpdr.verify(problem, repair=repair, seconds=60.0)
        for v in problem.variables():
            np.testing.assert_allclose(found[v.name()], v.value, atol=1e-2)
        assert "constraint" in found.report() or "variable" in found.report()


def test_values_and_multipliers_go_there_and_back():
    problem = every_cone()
    problem.solve(solver=cp.CLARABEL)
    flat = flat_problem(problem)
    values = values_of(flat, kept_point(flat).x)
    for v in problem.variables():
        np.testing.assert_array_equal(values[v.name()], v.value)
    duals = duals_of(flat, kept_multipliers(flat))
    for constraint, label in labels_of(problem):
        kept = np.concatenate([np.ravel(dual.value) for dual in constraint.dual_variables])
        found = np.sort(duals[label].ravel())
        np.testing.assert_allclose(found, np.sort(kept), atol=1e-15)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ({"symmetric": True}, [[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]]),
        ({"PSD": True}, [[2.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 4.0]]),
        ({"NSD": True}, [[-2.0, 1.0, 0.5], [1.0, -3.0, 0.25], [0.5, 0.25, -4.0]]),
        ({"diag": True}, [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]),
        ({"sparsity": ([0, 1], [2, 0])}, [[0.0, 0.0, 7.0], [8.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        ({"nonneg": True}, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
        ({"nonpos": True}, [[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0], [-7.0, -8.0, -9.0]]),
        ({"bounds": [-9.0, 9.0]}, [[1.0, 2.0, -3.0], [4.0, 5.0, 6.0], [-7.0, 8.0, 9.0]]),
        ({}, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
    ],
    ids=lambda given: next(iter(given), "plain") if isinstance(given, dict) else "",
)
def test_values_of_every_attribute_are_placed_and_read_back(attribute, value):
    X, number = cp.Variable((3, 3), name="X", **attribute), np.array(value)
    cost = cp.sum(cp.multiply(np.arange(9.0).reshape(3, 3), X))
    flat = flat_problem(cp.Problem(cp.Minimize(cost), [X[0, 1] >= -100]))
    X.save_value(number)
    x, is_whole = kept_point(flat)
    assert is_whole
    np.testing.assert_allclose(values_of(flat, x)["X"], number, rtol=1e-14)
    assert flat.program.c @ x == pytest.approx(np.sum(np.arange(9.0).reshape(3, 3) * number))


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        ({"PSD": True}, "symmetric"),
        ({"symmetric": True}, "symmetric"),
        ({"diag": True}, "diagonal"),
    ],
)
def test_values_against_an_attribute_are_no_point_as_they_stand(attribute, words):
    """Programs read one triangle, or the diagonal, and say nothing of the other entries."""
    X = cp.Variable((2, 2), name="X", **attribute)
    problem = cp.Problem(cp.Minimize(cp.trace(X)), [X[0, 0] >= 1, X[1, 1] >= 1])
    X.save_value(np.array([[1.0, 0.0], [9.0, 1.0]]))
    found = sdpdr.verify(problem, repair=False)
    assert found.attained is None
    assert words in found.attained_by
    X.value = np.eye(2)
    assert sdpdr.verify(problem, repair=False).attained == 2.0


def test_attributes_of_semidefinite_problems_need_no_multipliers(monkeypatch):
    """Those of nonneg=True and PSD=True follow from the others."""
    x, X = cp.Variable(3, nonneg=True), cp.Variable((2, 2), PSD=True)
    problem = cp.Problem(
        cp.Minimize(x[0] + 2 * x[1] + 3 * x[2] + cp.trace(X)), [cp.sum(x) >= 1, X[0, 1] == 1]
    )
    problem.solve(solver=cp.CLARABEL)
    forbid_solving(monkeypatch)
    assert sdpdr.verify(problem, seconds=60.0).attained == pytest.approx(3.0, rel=1e-6)


def test_dual_values_of_a_matrix_inequality_about_a_variable_are_not_missing():
    X = cp.Variable((3, 3), symmetric=True)
    rows = [X >> 0, X[0, 1] == 1, X[1, 2] >= 0.5]
    problem = cp.Problem(cp.Minimize(cp.trace(X)), rows)
    problem.solve(solver=cp.CLARABEL)
    found = sdpdr.verify(problem, seconds=60.0)
    assert (found.status, found.claimed.message) == (Status.SOLVED, "")


def test_where_multipliers_are_missing_one_solve_finds_them_and_it_is_said():
    problem, optimum = entropy()
    problem.variables()[0].value = np.full(4, 0.25)
    found = sdpdr.verify(problem, seconds=60.0)
    assert found.status is Status.SOLVED
    assert found.moved < 1e-3
    assert found["x"].shape == (4,)
    assert found.attained <= optimum * (1 + 1e-15) <= found.bound * (1 + 2e-15)
    x = cp.Variable(2)
    least = cp.Problem(cp.Minimize(cp.norm1(x)), [x[0] + 2 * x[1] == 2])
    least.solve(solver=cp.CLARABEL)
    least.constraints[0].dual_variables[0].save_value(None)
    found = sdpdr.verify(least, seconds=60.0)
    assert "one solve by Clarabel found the multipliers" in found.claimed.message
    assert found.attained == pytest.approx(1.0, rel=1e-6)


def test_a_point_as_it_stands_is_exact_or_says_what_it_misses():
    problem, optimum = entropy()
    problem.solve(solver=cp.CLARABEL)
    x = problem.variables()[0]
    x.value = np.full(4, 0.25)
    found = sdpdr.verify(problem, repair=False, seconds=60.0)
    assert found.status is Status.SOLVED
    assert found.moved == 0.0
    np.testing.assert_array_equal(found["x"], x.value)
    x.value = np.array([0.125, 0.125, 0.25, 0.5])
    found = sdpdr.verify(problem, repair=False, seconds=60.0)
    assert found.status is Status.INACCURATE
    assert found.attained == pytest.approx(1.75 * math.log(2.0), rel=1e-6)
    assert found.attained <= 1.75 * math.log(2.0)
    x.value = np.array([0.25, 0.25, 0.25, 0.25 + 1e-9])
    found = sdpdr.verify(problem, repair=False, seconds=60.0)
    assert found.attained is None
    assert "constraints[0]" in found.attained_by
    assert "by 1.0e-09" in found.attained_by
    assert found.bound == pytest.approx(optimum, rel=1e-6)
    x.value = np.array([-0.25, 0.25, 0.5, 0.5])
    assert sdpdr.verify(problem, repair=False, seconds=60.0).attained is None


def test_no_point_is_proved_as_it_stands_that_is_not_all_there():
    """What is missing would be chosen as is best, and be no point of anybody's."""
    x = cp.Variable(2)
    half = cp.Problem(cp.Minimize(cp.norm(x)), [cp.sum(x) == 2])
    for value in ([3.0, np.nan], [3.0, 1.0j]):
        x.save_value(np.array(value))
        found = sdpdr.verify(half, repair=False, seconds=60.0)
        assert found.attained is None
        assert "finite values" in found.attained_by
        assert found.bound is not None


def test_values_that_are_no_numbers_are_none():
    """cvxpy computes values of what it adds from them, and evaluates atoms, which fail."""
    x = cp.Variable(2)
    least = cp.Problem(cp.Maximize(cp.lambda_min(cp.diag(x)) - cp.norm1(x)), [x <= 1])
    x.save_value(np.full(2, np.nan))
    for repair in (True, False):
        found = sdpdr.verify(least, repair=repair, seconds=60.0)
        assert (found.attained is not None) == repair
        assert found.bound == pytest.approx(0.0, abs=1e-6)
    assert np.all(np.isnan(x.value))


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ({"hermitian": True}, [[0.5, 0.5j], [-0.5j, 0.5]], ""),
        ({"hermitian": True}, [[0.5, 0.5j], [0.0, 0.5]], "Hermitian"),
        ({"complex": True}, [[0.5, 0.5j], [2.0, 0.5]], ""),
        ({"complex": True}, [[0.5, 0.5j], [2.0, 0.25]], "misses constraints[0]"),
        ({"imag": True}, [[0.0, 0.5j], [1.0, 0.0]], "imaginary"),
    ],
)
def test_complex_values_are_proved_as_they_stand(attribute, value, words):
    Z = cp.Variable((2, 2), name="Z", **attribute)
    rows = [cp.real(cp.trace(Z)) == (0 if "imag" in attribute else 1), cp.abs(Z[0, 1]) <= 1]
    problem = cp.Problem(cp.Maximize(cp.imag(Z[0, 1])), rows)
    Z.save_value(np.array(value))
    flat = flat_problem(problem)
    if not words:
        np.testing.assert_array_equal(values_of(flat, kept_point(flat).x)["Z"], Z.value)
    found = sdpdr.verify(problem, repair=False, seconds=60.0)
    assert (found.attained is None) == bool(words)
    assert words in found.attained_by
    assert found.attained is None or found.attained <= 0.5


def test_complex_multipliers_are_recorded_as_two_lists():
    Z = cp.Variable((2, 2), hermitian=True, name="Z")
    problem = cp.Problem(cp.Minimize(cp.real(cp.trace(Z))), [Z >> 0, cp.imag(Z[0, 1]) == 1])
    problem.solve(solver="CLARABEL")
    record = json.loads(json.dumps(sdpdr.verify(problem).record()))
    parts, _ = record["duals"].values()
    found = np.array(parts["real"]) + 1.0j * np.array(parts["imaginary"])
    np.testing.assert_allclose(found, problem.constraints[0].dual_value, atol=1e-5)


def test_a_vertex_that_is_exactly_feasible_does_not_move():
    """No box around it is in the cone, and a point inside would be far away."""
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(0), [x >= 1, cp.sum(x) <= 5])
    x.value = np.ones(3)
    found = sdpdr.verify(problem, seconds=60.0)
    assert (found.status, found.moved) == (Status.SOLVED, 0.0)


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("value", "feasible"),
    [
        ([[1.0, 1.0], [1.0, 1.0]], True),
        ([[1.0, 1.0], [1.0, 1.0 - 2.0**-52]], False),
        ([[0.0, 0.0], [0.0, 2.0]], True),
    ],
)
def test_matrices_on_the_boundary_are_told_from_those_beyond(value, feasible):
    X = cp.Variable((2, 2), symmetric=True)
    problem = cp.Problem(cp.Minimize(cp.trace(X)), [X >> 0, cp.sum(X) >= 1])
    X.value = np.array(value)
    found = sdpdr.verify(problem, repair=False, seconds=60.0)
    assert (found.attained is not None) == feasible
    if feasible:
        assert found.attained == 2.0


def test_semidefinite_problems_are_proved_on_their_faces_without_solving(monkeypatch):
    """An unfolding has no interior: its rows sum to zero."""
    K = cp.Variable((6, 6), PSD=True, name="K")
    lengths = [K[i, i] + K[i + 1, i + 1] - 2 * K[i, i + 1] <= 1 for i in range(5)]
    problem = cp.Problem(cp.Maximize(cp.trace(K)), [*lengths, *(cp.sum(K, axis=0) == 0,)])
    problem.solve(solver=cp.CLARABEL)
    forbid_solving(monkeypatch)
    for repair in (True, False):
        found = sdpdr.verify(problem, repair=repair, seconds=60.0)
        assert found.bound == pytest.approx(17.5, rel=1e-6)
        assert found.bound >= 17.5
        assert (found.status is Status.SOLVED) == repair
        assert (found.solver, found.claimed.value) == ("clarabel", problem.value)


def test_what_is_proved_is_written_to_a_file(tmp_path):
    from sdpdr.certify.check_proof import check

    problem, optimum = entropy()
    problem.solve(solver=cp.CLARABEL)
    found = sdpdr.verify(problem, seconds=60.0)
    found.write_proof(tmp_path / "entropy.proof")
    proved = check(tmp_path / "entropy.proof")
    assert proved["value"] == pytest.approx(optimum, rel=1e-6)
    assert proved["bound"] == pytest.approx(optimum, rel=1e-6)


def test_proofs_of_infeasible_and_unbounded_have_the_names_of_the_problem():
    x = cp.Variable(3, name="x")
    contradicting = [x >= 1, cp.sum(x) <= 2]
    for objective in (cp.sum(x), cp.exp(x[0])):
        problem = cp.Problem(cp.Minimize(objective), contradicting)
        problem.solve(solver="CLARABEL")
        found = sdpdr.verify(problem)
        assert found.status is Status.INFEASIBLE
        assert not found.ray.values
        assert "'1.0 <= x' and 'Sum(x) <= 2.0' together" in str(found)
    problem = cp.Problem(cp.Minimize(x[0] + cp.exp(x[1])), [x <= 1])
    problem.solve(solver="CLARABEL")
    found = sdpdr.verify(problem)
    assert found.status is Status.UNBOUNDED
    assert found.argument == found.ray.argument
    assert not found.ray.duals
    assert found.ray.values["x"][0] < 0.0
    assert np.max(found.ray.values["x"][1:]) <= 1e-9


def test_what_is_no_answer_is_refused():
    problem, _ = entropy()
    with pytest.raises(DataTypeError, match=r"cvxpy.Problem keeps its own"):
        sdpdr.verify(problem, {"x": np.zeros(4)})
    for wrong in ({"tol": -1.0}, {"seconds": 0.0}, {"gap_scale": -1.0}, {"repair": "no"}):
        with pytest.raises(DataError, match="must be"):
            sdpdr.verify(problem, **wrong)


def test_numbers_at_the_end_of_the_range_end_in_time():
    """The pair on the central path begins at the square of the size of a point."""
    c, x = 1e-99, cp.Variable(3)
    cone = cp.PowCone3D(c * x[0], c * x[1], x[2], 0.5)
    problem = cp.Problem(cp.Minimize(cp.sum(x[:2])), [cone, x[2] == 1])
    x.value = np.array([1.0 / c, 1.0 / c, 1.0])
    found = sdpdr.verify(problem, seconds=2.0)
    optimum = 2.0 / c
    assert found.bound is None or found.bound <= optimum * (1.0 + 1e-9)
    assert found.attained is None or found.attained >= optimum * (1.0 - 1e-9)


@pytest.mark.parametrize("cost", [cp.sum, lambda x: cp.sum(cp.exp(x))], ids=["linear", "exp"])
def test_a_problem_without_an_answer_says_whose_answer_is_proved(cost):
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cost(x)), [x >= 1])
    said = str(sdpdr.verify(problem))
    assert said.startswith("SOLVED")
    assert "The problem has no answer: one solve by Clarabel found the one" in said
    x.value = np.zeros(2)
    found = sdpdr.verify(problem)
    assert found.is_refuted
    assert found.claimed.value == pytest.approx(cost(x).value)
    assert "which is refuted; the point proved differs from the one given" in str(found)
    x.value = np.ones(2)
    found = sdpdr.verify(problem)
    assert not found.is_refuted
    assert "which nothing contradicts" in str(found)
    problem.solve(solver=cp.CLARABEL)
    assert "clarabel claimed" in str(sdpdr.verify(problem))


@pytest.mark.parametrize("outside", [np.diag([1.0, 1.0, -1.0]), np.diag([1.0, 1.0, 0.0])])
def test_a_point_outside_of_a_domain_is_refuted(outside):
    """The optimum of log det K with trace 3 is 0, and the point that is proved is another one."""
    K = cp.Variable((3, 3), symmetric=True, name="K")
    K.value = outside
    found = sdpdr.verify(cp.Problem(cp.Maximize(cp.log_det(K)), [cp.trace(K) <= 3]))
    assert found.is_refuted
    assert found.moved > 0.1
    assert "the point given is outside" in found.claimed.message
    assert "claimed a point at which the objective is not finite, which is refuted" in str(found)
    assert found.value == pytest.approx(0.0, abs=1e-6)
