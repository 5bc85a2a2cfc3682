"""Bounds for programs of any kind: several matrices, matrix inequalities, scalars of all sorts."""

from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs
from sdpdr.linalg import (
    Diagonal,
    InnerProduct,
    Products,
    SquaredEdgeLengths,
    SvecMap,
    Trace,
    VectorMap,
    svec,
)
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable, certify
from sdpdr.program.sizes import gap_scale

from ..reduce.programs import optimal_program


@pytest.mark.nightly
@pytest.mark.parametrize("size", [0.0, 1e-6, 30.0])
@pytest.mark.parametrize("rigorous", [False, True])
def test_disturbed_multipliers_of_mixed_programs_prove_nothing_beyond_the_optimum(size, rigorous):
    bounds = []
    for seed in range(0, 16, 2):
        sdp, optimal = optimal_program(seed)
        value, duals = sdp.primal_value(optimal.values), dict(optimal.duals)
        lhs = {"K": Trace(4), "signed": VectorMap(np.ones((1, 3)))}
        most = np.trace(optimal.values["K"]) + optimal.values["signed"].sum() + 0.5
        sdp = replace(sdp, rows=(*sdp.rows, Rows("trace", "<=", lhs, np.array([most]))))
        duals["trace"] = np.zeros(1)
        rng = np.random.default_rng(seed)
        for label, y in duals.items():
            noise = size * rng.standard_normal(y.shape)
            duals[label] = y + (noise + noise.T if y.ndim == 2 else noise)
        bound = certify(sdp, duals, rigorous=rigorous).bound
        assert bound is None or bound <= value + 1e-10 * (1.0 + abs(value))
        bounds.append(bound)
    # Free scalars need exact equations, which not every disturbed multiplier of a cone allows.
    assert any(bound is not None for bound in bounds)


# -- limits make up for what is lacking ------------------------------------------------------------


def test_a_fixed_diagonal_limits_the_trace():
    n, rng = 6, np.random.default_rng(0)
    root = rng.standard_normal((n, n))
    cost = root + root.T
    ones = Rows("ones", "==", {"X": Diagonal(n)}, np.ones(n))
    sdp = SDP((PsdVariable("X", n),), {"X": InnerProduct(cost)}, (ones,))
    y = np.abs(cost).sum(axis=1)
    good = certify(sdp, {"ones": y})
    assert "satisfy all equations" in good.argument
    bound = certify(sdp, {"ones": np.zeros(n)}).bound
    assert bound >= n * np.linalg.eigvalsh(cost)[0] * (1 + 1e-9)
    for _ in range(20):
        signs = rng.choice([-1.0, 1.0], n)
        assert bound <= signs @ cost @ signs


def test_shortest_paths_limit_the_trace_of_a_centred_matrix():
    # The objective is indefinite, so that scaling has nothing to say.
    graph = graphs.path([1.0, 2.0, 1.0])
    cost = np.diag([1.0, -1.0, 2.0, -3.0])
    rows = (
        Rows("centred", "==", {"K": Products(4)}, np.zeros(4)),
        Rows("lengths", "<=", {"K": SquaredEdgeLengths(4, graph.edges)}, graph.sqdist),
    )
    sdp = SDP((PsdVariable("K", 4),), {"K": InnerProduct(cost)}, rows)
    solved = sdpdr.solve(sdp, "clarabel")
    slightly_off = {label: 0.999999 * y for label, y in solved.duals.items()}
    certificate = certify(sdp, slightly_off)
    assert certificate.bound == pytest.approx(solved.value, rel=1e-4)
    assert certificate.bound <= solved.value + 1e-6
    nothing = certify(sdp, {label: 0.0 * y for label, y in solved.duals.items()})
    assert nothing.bound <= solved.value


def test_a_box_bounds_a_linear_program_whatever_the_multipliers_are():
    # Minimise -x - y with x + y <= 3 in the unit box: the optimum is -2.
    rows = (
        Rows("sum", "<=", {"z": VectorMap([[1.0, 1.0]])}, np.array([3.0])),
        Rows("box", "<=", {"z": VectorMap(np.eye(2))}, np.ones(2)),
    )
    sdp = SDP((VectorVariable("z", 2, nonnegative=True),), {"z": VectorMap([[-1.0, -1.0]])}, rows)
    for y in (-1.0, 0.0, 0.5, 1.0, 7.0):
        for rigorous in (False, True):
            duals = {"sum": np.array([y]), "box": np.array([0.3, 0.0])}
            bound = certify(sdp, duals, rigorous=rigorous).bound
            assert bound is not None
            assert bound <= -2.0
    assert certify(sdp, {"sum": np.zeros(1), "box": np.ones(2)}).bound == pytest.approx(-2.0)


def test_free_scalars_have_their_equations_restored():
    # Largest eigenvalue as the least t with t I - F PSD; tr Z = 1 is the equation of t.
    f = np.diag([1.0, 2.0, 5.0])
    cone = Lmi("cone", 3, {"t": VectorMap(svec(np.eye(3))[:, None])}, -svec(f))
    sdp = SDP((VectorVariable("t", 1),), {"t": VectorMap([[1.0]])}, lmis=(cone,))
    for z in (np.diag([0.0, 0.0, 0.9]), np.diag([0.01, -0.02, 1.2]), np.zeros((3, 3))):
        bound = certify(sdp, {"cone": z}).bound
        assert bound is not None
        assert bound <= 5.0
    exact = certify(sdp, {"cone": np.diag([0.0, 0.0, 1.0 + 1e-9])})
    assert exact.bound == pytest.approx(5.0, rel=1e-6)


def halves_of_a_trace():
    """<M, X> = a and <I - M, X> = 1 - a, neither of which limits anything alone."""
    rng = np.random.default_rng(2)
    root, cost = rng.standard_normal((2, 4, 4))
    mixed, cost = root + root.T, cost + cost.T
    maps = SvecMap(4, np.array([svec(mixed), svec(np.eye(4) - mixed)]))
    inside = np.eye(4) / 4
    rows = Rows("rows", "==", {"X": maps}, maps.apply(inside))
    return SDP((PsdVariable("X", 4),), {"X": InnerProduct(cost)}, (rows,))


def test_multipliers_move_along_rows_that_add_up_to_a_trace():
    sdp = halves_of_a_trace()
    solved = sdpdr.solve(sdp, "clarabel")
    for rigorous in (False, True):
        for shift in (-0.5, 0.0, 3.0):
            # Any shift along (1, 1) is made good, so all give the same bound.
            certificate = certify(sdp, {"rows": solved.duals["rows"] + shift}, rigorous=rigorous)
            assert certificate.bound <= solved.value + 1e-7
            assert certificate.bound >= solved.value - max(shift, 0.0) * 1.0 - 1e-5
            # Those kept have been moved already.
            assert shift >= 0 or "moved" in certificate.argument or "shift" in certificate.argument


def test_a_free_scalar_without_limits_is_named():
    # Minimise f, of which nothing is asked.
    rows = Rows("trace", "==", {"X": Trace(2)}, np.ones(1))
    sdp = SDP(
        (PsdVariable("X", 2), VectorVariable("f", 1)),
        {"X": InnerProduct(np.eye(2)), "f": VectorMap([[1.0]])},
        (rows,),
    )
    certificate = certify(sdp, {"trace": np.array([-1.0])})
    assert certificate.bound is None
    assert "free scalar 0 of 'f'" in certificate.argument


# -- nothing at stake ------------------------------------------------------------------------------


def zero_optimum(scale):
    """Minimise X_22 with trace ``scale``: the optimum is zero."""
    trace = Rows("trace", "==", {"X": Trace(2)}, np.array([scale]))
    return SDP((PsdVariable("X", 2),), {"X": InnerProduct(np.diag([0.0, 1.0]))}, (trace,))


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_an_optimum_of_zero_is_certified_beside_a_scale_that_was_given(scale):
    sdp = zero_optimum(scale)
    assert gap_scale(sdp) == pytest.approx(scale / np.sqrt(2))
    solution = sdpdr.solve(sdp, "clarabel", gap_scale=gap_scale(sdp))
    assert solution.gap_scale == gap_scale(sdp)
    assert abs(solution.value) < 1e-6 * solution.gap_scale
    assert solution.certified()
    assert solution.status is sdpdr.Status.SOLVED
    assert solution.record()["gap_scale"] == solution.gap_scale


@pytest.mark.parametrize("factor", [1e-3, 7.0])
def test_the_scale_of_gaps_follows_the_units(factor):
    sdp = zero_optimum(1.0)
    assert gap_scale(zero_optimum(factor)) == pytest.approx(factor * gap_scale(sdp))
    cost = InnerProduct(factor * np.diag([0.0, 1.0]))
    assert gap_scale(SDP(sdp.variables, {"X": cost}, sdp.rows)) == pytest.approx(
        factor * gap_scale(sdp)
    )
    rows = (Rows("trace", "==", {"X": factor * Trace(2)}, np.array([factor])),)
    assert gap_scale(SDP(sdp.variables, sdp.objective, rows)) == pytest.approx(gap_scale(sdp))
