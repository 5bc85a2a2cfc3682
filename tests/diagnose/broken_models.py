"""Broken programs of each kind, with the constraints and variables to blame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

from sdpdr import graphs, maximize, methods, minimize, psd, scalar, symmetric
from sdpdr.linalg import Entries, Trace, VectorMap
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable
from sdpdr.solving.diagnosis import Kind


class Broken(NamedTuple):
    """A program, and what the first finding has to name."""

    kind: Kind
    name: str
    make: Callable[[], Any]
    constraints: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


BROKEN: list[Broken] = []
C = np.array([[1.0, 0.5], [0.5, 1.0]])
STABLE = np.array([[-1.0, 2.0], [0.0, -3.0]])


def broken(kind: Kind, *constraints: str, variables: tuple[str, ...] = ()) -> Any:
    """A decorator that adds a program to the list."""

    def add(make: Callable[[], Any]) -> Callable[[], Any]:
        BROKEN.append(Broken(kind, make.__name__, make, constraints, variables))
        return make

    return add


# -- conflicts ------------------------------------------------------------------------------------


@broken(Kind.CONFLICT, "demand", "capacity", variables=("x",))
def capacity_below_demand():
    x = scalar("x", 3)
    statements = [
        (x >= 1.0).named("demand"),
        (x[0] + 2.0 * x[1] <= 2.0).named("capacity"),
        (x <= 9.0).named("limit"),
    ]
    return minimize(x.sum()) + statements


@broken(Kind.CONFLICT, "zero", "sum", variables=("K",))
def weakly_infeasible():
    K = psd("K", 3)
    statements = [
        (K[0, 0] == 0.0).named("zero"),
        (2.0 * K[0, 1] + K[2, 2] == -1.0).named("sum"),
        (K[1, 1] <= 5.0).named("other"),
    ]
    return minimize(K[1, 1]) + statements


@broken(Kind.CONFLICT, "exp(x[0]) <= 1.0", "0.5 <= x[0]", variables=("x",))
def exponential_of_cvxpy():
    x = cp.Variable(3, name="x")
    return cp.Problem(cp.Minimize(cp.sum(x)), [cp.exp(x[0]) <= 1, x[0] >= 0.5, x <= 3, x >= -1])


@broken(Kind.CONFLICT, "isometry", "short", variables=("K",))
def triangle_that_does_not_close():
    """Lengths 1, 1 and 3 of a triangle: only its three edges are to blame."""
    graph = graphs.path([1.0, 1.0, 2.0, 1.0])
    K = methods.mvu(graph, isometry="equality")
    return K + (psd("K", 5).distance2(0, 2) >= 9.0).named("short")


# -- unbounded directions -------------------------------------------------------------------------


@broken(Kind.UNBOUNDED, variables=("x",))
def wrong_sign():
    x, y = scalar("x"), scalar("y")
    return minimize(x + y) + (x <= 1.0) + (y >= 0.0) + (x + y <= 4.0)


@broken(Kind.UNBOUNDED, variables=("K",))
def corner_without_a_limit():
    """Unbounded, though no ray shows it: K_01 falls where K_11 grows like its square."""
    K = psd("K", 2)
    return minimize(K[0, 1]) + (K[0, 0] <= 1.0)


@broken(Kind.UNBOUNDED, variables=("X",))
def trace_of_cvxpy():
    X = cp.Variable((2, 2), PSD=True, name="X")
    y = cp.Variable(name="y", nonneg=True)
    return cp.Problem(cp.Maximize(cp.trace(X) - y), [X[0, 1] == 1, y + X[0, 0] <= 3])


@broken(Kind.UNBOUNDED, variables=("X",))
def standard_form_without_rows_on_all_entries():
    rows = Rows("corner", "==", {"X": Entries(2, [[0, 0], [0, 1]])}, np.array([1.0, 0.5]))
    return SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (rows,)).with_cost("X", -np.eye(2))


# -- constraints that repeat or imply each other --------------------------------------------------


@broken(Kind.REPEATED, "again", "once", variables=("x",))
def doubled_inequality():
    x = scalar("x", 2)
    low = (x >= 1.0).named("once")
    return minimize(x.sum()) + low + (2.0 * x[0] >= 2.0).named("again")


@broken(Kind.REPEATED, "first", "second", "sum", variables=("x",))
def equation_that_is_a_sum():
    x = scalar("x", 3)
    statements = [
        (x >= 0.5).named("low"),
        (x[0] + x[1] == 3.0).named("first"),
        (x[1] + x[2] == 5.0).named("second"),
        (x[0] + 2.0 * x[1] + x[2] == 8.0).named("sum"),
    ]
    return minimize(x.sum()) + statements


@broken(Kind.REPEATED, "loose", "tight", variables=("K",))
def looser_limit():
    K = psd("K", 2)
    return maximize(K.sum()) + (K.trace() <= 1.0).named("tight") + (K.trace() <= 2.0).named("loose")


@broken(Kind.REPEATED, "2.0 * x[0] + 2.0 * x[1] == 6.0", "x[0] + x[1] == 3.0", variables=("x",))
def twice_in_cvxpy():
    x = cp.Variable(2, name="x")
    equations = [x[0] + x[1] == 3, 2 * x[0] + 2 * x[1] == 6]
    return cp.Problem(cp.Minimize(cp.norm(x)), equations)


@broken(Kind.REPEATED, "trace", "unit", variables=("X",))
def trace_of_a_given_diagonal():
    X = cp.Variable((3, 3), PSD=True, name="X")
    rows = [(cp.diag(X) == 1).set_label("unit"), (cp.trace(X) == 3).set_label("trace")]
    return cp.Problem(cp.Maximize(cp.sum(X)), rows)


# -- equations that disagree by a rounding --------------------------------------------------------


@broken(Kind.DISAGREEMENT, "total", "parts", variables=("x",))
def total_of_rounded_parts():
    x = scalar("x", 2)
    statements = [
        (x >= 0.0).named("low"),
        (x.sum() == 0.3).named("total"),
        (10.0 * x.sum() == 10.0 * (0.1 + 0.2)).named("parts"),
    ]
    return minimize(x[0]) + statements


@broken(Kind.DISAGREEMENT, "a", "b", "c", variables=("K",))
def trace_given_thrice():
    K = psd("K", 2)
    statements = [
        (K[0, 0] == 1.0 / 3.0).named("a"),
        (K[1, 1] == 2.0 / 3.0).named("b"),
        (K.trace() == 1.0 + 1e-12).named("c"),
    ]
    return minimize(K[0, 1]) + statements


@broken(Kind.DISAGREEMENT, "rows", variables=("x",))
def rows_of_a_standard_form():
    A = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 2.0, 1.0]])
    rows = Rows("rows", "==", {"x": VectorMap(A)}, np.array([1.0, 2.0, 3.0 + 1e-13]))
    x = VectorVariable("x", 3, nonnegative=True)
    return SDP((x,), {"x": VectorMap(np.ones((1, 3)))}, (rows,))


@broken(Kind.DISAGREEMENT, "x[0] + x[1] == 1.0", "3.0 * x[0] + 3.0 * x[1] == 3.0000000001")
def nine_digits_in_cvxpy():
    x = cp.Variable(2, name="x")
    equations = [x[0] + x[1] == 1, 3 * x[0] + 3 * x[1] == 3.0000000001]
    return cp.Problem(cp.Minimize(cp.norm(x)), equations)


@broken(Kind.DISAGREEMENT, "centred", "sum", variables=("K",))
def centred_twice():
    """A right-hand side of zero has no size of its own."""
    K = psd("K", 4)
    statements = [
        (K @ np.ones(4) == 0.0).named("centred"),
        (K.sum() == 1e-13).named("sum"),
        (K.distance2([0, 1, 2], [1, 2, 3]) <= 1.0).named("edges"),
    ]
    return maximize(K.trace()) + statements


# -- no interior ----------------------------------------------------------------------------------


@broken(Kind.NO_INTERIOR, "low", "cap", variables=("x",))
def inequalities_that_leave_a_point():
    x = scalar("x", 3)
    return minimize(x @ [1.0, 2.0, 3.0]) + (x >= 1.0).named("low") + (x.sum() <= 3.0).named("cap")


@broken(Kind.NO_INTERIOR, "zero", variables=("K",))
def diagonal_entry_that_vanishes():
    K = psd("K", 3)
    return minimize(K.trace() + K[0, 1]) + (K[0, 0] == 0.0).named("zero") + (K[1, 2] == 1.0)


@broken(Kind.NO_INTERIOR, "upper", "lower", variables=("t",))
def matrices_that_touch():
    t = scalar("t", 2)
    D = np.diag([1.0, 0.0])
    statements = [
        (t[0] * np.eye(2) >> D).named("upper"),
        (t[0] <= 1.0).named("lower"),
        (t[1] >= 0.0).named("other"),
    ]
    return minimize(t[0] + t[1]) + statements


@broken(Kind.NO_INTERIOR, "X[0, 0] <= 0.0", variables=("X",))
def face_in_cvxpy():
    X = cp.Variable((2, 2), PSD=True, name="X")
    return cp.Problem(cp.Minimize(cp.sum(X)), [X[0, 0] <= 0, X[1, 1] >= 1])


# -- disconnected components ----------------------------------------------------------------------


@broken(Kind.DISCONNECTED, variables=("K",))
def graph_in_two_parts():
    """Without an edge between them, two pairs of points drift apart."""
    K = psd("K", 4)
    edges = (K.distance2([0, 2], [1, 3]) <= [1.0, 2.0]).named("edges")
    return maximize(K.trace()) + (K @ np.ones(4) == 0.0).named("centred") + edges


@broken(Kind.DISCONNECTED, variables=("K",))
def matrix_in_two_blocks():
    K = psd("K", 4)
    return minimize(K.trace()) + (K[0, 1] >= 1.0) + (K[2, 3] >= 1.0)


@broken(Kind.DISCONNECTED, variables=("K",))
def graph_in_two_parts_with_a_sum_of_zero():
    K = psd("K", 4)
    edges = (K.distance2([0, 2], [1, 3]) <= 1.0).named("edges")
    return maximize(K.trace()) + (K.sum() == 0.0).named("centred") + edges


@broken(Kind.DISCONNECTED, variables=("K",))
def points_of_which_only_the_centre_is_known():
    K = psd("K", 5)
    return maximize(K.trace()) + (K.sum() == 0.0).named("centred")


@broken(Kind.DISCONNECTED, variables=("X",))
def matrix_of_cvxpy_in_two_blocks():
    X = cp.Variable((4, 4), symmetric=True, name="X")
    rows = [X >> 0, X[0, 3] == 1, X[1, 2] >= 1]
    return cp.Problem(cp.Minimize(cp.trace(X)), rows)


@broken(Kind.DISCONNECTED, variables=("x", "y"))
def two_programs_in_one():
    x, y = scalar("x", 2), scalar("y", 2)
    return (
        minimize(x.sum() + y.sum())
        + (x[0] + 2.0 * x[1] >= 1.0)
        + (y[0] - y[1] == 3.0)
        + ((y[1] >= 0.0).named("y") + (x[0] >= 0.0).named("x0") + (x[1] >= 0.0).named("x1"))
    )


@broken(Kind.DISCONNECTED, variables=("X", "Y"))
def two_matrices_of_cvxpy():
    X, Y = (cp.Variable((2, 2), PSD=True, name=name) for name in "XY")
    limits = [X[0, 0] + X[1, 1] <= 1, Y[0, 0] + Y[1, 1] <= 2]
    return cp.Problem(cp.Maximize(X[0, 1] + Y[0, 1]), limits)


# -- coefficients that are rounding ---------------------------------------------------------------


@broken(Kind.ROUNDING, "mix", variables=("x",))
def difference_of_decimals():
    x = scalar("x", 2)
    left = 0.1 + 0.2 - 0.3
    return minimize(x.sum()) + (left * x[0] + x[1] >= 1.0).named("mix") + (x[0] >= 1.0).named("low")


@broken(Kind.ROUNDING, "projected", variables=("K",))
def matrix_from_a_factorization():
    """A projection that is the identity, but for what a factorization leaves of its zeros."""
    Q = np.linalg.qr(np.arange(9.0).reshape(3, 3) ** 2 + np.eye(3))[0]
    P = Q @ Q.T
    assert np.any(np.triu(P, 1) != 0.0)
    K = psd("K", 3)
    return minimize(K.sum()) + ((P * K).sum() >= 1.0).named("projected")


@broken(Kind.ROUNDING, "rows", variables=("x",))
def standard_form_with_noise():
    A = np.array([[1.0, 1e-15, 2.0], [3e-17, 1.0, 0.0]])
    rows = Rows("rows", "<=", {"x": VectorMap(A)}, np.ones(2))
    x = VectorVariable("x", 3, nonnegative=True)
    return SDP((x,), {"x": VectorMap(-np.ones((1, 3)))}, (rows,))


@broken(Kind.ROUNDING, "constraints[1]", variables=("x",))
def noise_in_cvxpy():
    x = cp.Variable(3, name="x")
    A = np.array([[1.0, -2.0, 1e-16], [0.0, 1.0, 1.0]])
    return cp.Problem(cp.Minimize(cp.norm(x) + cp.sum(x)), [x <= 9, A @ x == [1.0, 2.0]])


# -- scales ---------------------------------------------------------------------------------------


@broken(Kind.SCALES, "mixed")
def metres_and_nanometres():
    x = scalar("x", 2)
    return minimize(x.sum()) + (1e9 * x[0] + x[1] >= 1.0).named("mixed") + (x >= 0.0).named("low")


@broken(Kind.SCALES, "small", "large")
def constraints_in_other_units():
    K = psd("K", 2)
    statements = [
        (1e-4 * K[0, 1] >= 1e-4).named("small"),
        (1e5 * K[0, 0] + 1e5 * K[0, 1] <= 4e5).named("large"),
    ]
    return minimize(K.trace()) + statements


@broken(Kind.SCALES, "limit", "big")
def limit_that_is_no_limit():
    x = scalar("x", 2)
    return maximize(x.sum()) + (x <= 1.0).named("limit") + (x[0] - x[1] <= 1e10).named("big")


@broken(Kind.SCALES)
def costs_of_cvxpy():
    x = cp.Variable(2, name="x")
    return cp.Problem(cp.Minimize(1e9 * x[0] + x[1]), [x[0] + x[1] >= 1, x[0] - x[1] <= 2, x >= -5])


# -- entrywise comparisons ------------------------------------------------------------------------


@broken(Kind.ENTRYWISE, "bound", variables=("t",))
def identity_above_a_matrix():
    """Infeasible as it is written: off the diagonal zero is to be at least 0.5."""
    t = scalar("t")
    return minimize(t) + (t * np.eye(2) >= C).named("bound")


@broken(Kind.ENTRYWISE, "lyapunov", variables=("P",))
def lyapunov_inequality():
    P = psd("P", 2)
    return minimize(P.trace()) + (-np.eye(2) >= STABLE.T @ P + P @ STABLE).named("lyapunov")


@broken(Kind.ENTRYWISE, "constraints[0]", variables=("S",))
def symmetric_variable_of_cvxpy():
    S = cp.Variable((2, 2), symmetric=True, name="S")
    return cp.Problem(cp.Minimize(cp.trace(S) + S[0, 1]), [S >= C])


@broken(Kind.ENTRYWISE, "above", variables=("S",))
def symmetric_variable():
    S = symmetric("S", 2)
    return minimize(S.trace() + S[0, 1]) + (S >= C).named("above")


# -- penalties ------------------------------------------------------------------------------------


@broken(Kind.PENALTY, "soft", variables=("x",))
def penalized_comparison():
    x = scalar("x", 2)
    return (
        minimize(x.sum())
        + (x >= 1.0).named("low")
        + (x[0] + x[1] >= 3.0).named("soft").penalized(50.0)
    )


@broken(Kind.PENALTY, "objective.0", variables=("x",))
def absolute_values():
    x = scalar("x", 2)
    far = 100.0 * abs(x - [2.0, 3.0]).sum()
    return minimize(x.sum() + far) + (x[0] + x[1] >= 1.0).named("low")


@broken(Kind.PENALTY)
def hinge_of_cvxpy():
    x = cp.Variable(2, name="x")
    return cp.Problem(cp.Minimize(cp.sum(x) + 50 * cp.sum(cp.pos(2 - x[0] - x[1]))), [x >= 0.5])


@broken(Kind.PENALTY, variables=("x",))
def absolute_values_of_cvxpy():
    x = cp.Variable(2, name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(x) + 50 * cp.norm1(x - 1)), [x <= 5])


@broken(Kind.PENALTY, "rows", variables=("x", "slack"))
def slack_of_a_standard_form():
    x, s = VectorVariable("x", 2, nonnegative=True), VectorVariable("slack", 1, nonnegative=True)
    left = {"x": VectorMap(-np.ones((1, 2))), "slack": VectorMap(-np.ones((1, 1)))}
    others = Rows("others", "<=", {"x": VectorMap(np.array([[1.0, -1.0]]))}, np.ones(1))
    cost = {"x": VectorMap(np.array([[1.0, 2.0]])), "slack": VectorMap(np.full((1, 1), 30.0))}
    return SDP((x, s), cost, (Rows("rows", "<=", left, -np.ones(1)), others))
