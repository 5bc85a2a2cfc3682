"""The six DIMACS errors against values worked out by hand, and the identities they rest on."""

import numpy as np
import pytest

from sdpdr import graphs, methods
from sdpdr.linalg import InnerProduct, SvecMap, VectorMap
from sdpdr.program import SDP, Factor, Point, PsdVariable, Rows, VectorVariable, dimacs_errors

from ..reduce.programs import optimal_program


def little():
    """Minimise 4 K11 + K22 + 2 z s.t. K11 + K22 + z = 3, K12 <= 1 / 2, K PSD, z >= 0."""
    total = SvecMap.from_entries(2, 1, np.zeros(2, int), np.arange(2), np.arange(2), np.ones(2))
    corner = SvecMap.from_entries(
        2, 1, np.array([0]), np.array([0]), np.array([1]), np.array([0.5])
    )
    return SDP(
        variables=(PsdVariable("K", 2), VectorVariable("z", 1, nonnegative=True)),
        objective={"K": InnerProduct(np.diag([4.0, 1.0])), "z": VectorMap([[2.0]])},
        rows=(
            Rows("total", "==", {"K": total, "z": VectorMap([[1.0]])}, np.array([3.0])),
            Rows("corner", "<=", {"K": corner}, np.array([0.5])),
        ),
    )


def point(k, z, total, corner):
    return Point(
        {"K": np.array(k, float), "z": np.array([float(z)])},
        {"total": np.array([float(total)]), "corner": np.array([float(corner)])},
    )


def test_six_errors_by_hand():
    # K has eigenvalues 4 and -2; the rows miss by 3 - (2 - 1) = 2 and 3 - 1/2; s = 2 - 2 = 0;
    # S = diag(4, 1) - 2 I with -4 / 2 off the diagonal.
    errors = dimacs_errors(little(), point([[1, 3], [3, 1]], -1, -2, -4))
    assert errors.primal_rows == pytest.approx(np.hypot(2.0, 2.5) / (1 + 3))
    assert errors.primal_cone == pytest.approx(2.0 / (1 + 3))
    assert errors.dual_rows == 0.0
    s = np.array([[2.0, -2.0], [-2.0, -1.0]])
    assert errors.dual_cone == pytest.approx(max(4.0, -np.linalg.eigvalsh(s)[0]) / (1 + 4))
    primal, dual = 4.0 + 1.0 - 2.0, -(3.0 * -2.0 + 0.5 * -4.0)
    scale = 1 + abs(primal) + abs(dual)
    assert errors.duality_gap == pytest.approx((primal - dual) / scale)
    products = np.sum(s * [[1, 3], [3, 1]]) + (-1.0) * 0.0 + (0.5 - 3.0) * (-4.0)
    assert errors.complementarity == pytest.approx(products / scale)


def test_a_free_scalar_is_graded_by_stationarity():
    sdp = SDP(
        (VectorVariable("z", 2),),
        {"z": VectorMap([[3.0, 0.0]])},
        (Rows("pin", "==", {"z": VectorMap(np.eye(2))}, np.array([0.0, 7.0])),),
    )
    errors = dimacs_errors(sdp, Point({"z": np.zeros(2)}, {"pin": np.array([1.0, -3.0])}))
    assert errors.dual_rows == pytest.approx(np.hypot(4.0, 3.0) / (1 + 3))
    assert errors.primal_rows == pytest.approx(7.0 / (1 + 7))
    assert errors.dual_cone == errors.primal_cone == 0.0


def test_what_is_missing_is_not_a_number():
    full = point([[0, 0], [0, 3]], 0, -1, 0)
    no_duals = dimacs_errors(little(), Point(full.values))
    assert no_duals.primal_rows == 0.0
    assert np.isnan([no_duals.dual_rows, no_duals.dual_cone, no_duals.duality_gap]).all()
    assert no_duals.worst() == np.inf
    assert no_duals.primal() == 0.0
    no_values = dimacs_errors(little(), Point({}, full.duals))
    assert no_values.dual_cone == 0.0
    assert no_values.primal() == np.inf


def test_a_factor_is_graded_like_the_matrix_it_stands_for():
    factor = np.random.default_rng(0).standard_normal((2, 2))
    dense = point(factor @ factor.T, 0.3, -0.7, 0.2)
    low_rank = Point({**dense.values, "K": Factor(factor)}, dense.duals)
    one, other = dimacs_errors(little(), dense), dimacs_errors(little(), low_rank)
    assert other.primal_cone == 0.0
    for field in ("primal_rows", "dual_rows", "dual_cone", "duality_gap", "complementarity"):
        assert getattr(one, field) == pytest.approx(getattr(other, field), abs=1e-12)


def test_on_a_face_only_the_face_is_graded():
    # The straight line with its known weights: S = L(w) - I has eigenvalue -1 along ones, and
    # the multipliers of the centring, which states the face, do not matter.
    graph = graphs.path([1.0, 1.0])
    sdp = methods.mvu(graph, "equality").to_sdp()
    line = np.array([[-1.0], [0.0], [1.0]])
    for hidden in (np.zeros(3), np.array([5.0, -3.0, 1.0])):
        duals = {"centered": hidden, "isometry": np.array([1.0, 1.0])}
        assert dimacs_errors(sdp, Point({"K": Factor(line)}, duals)).worst() < 1e-12


# -- identities ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_dual_slack_and_value_are_those_of_the_lagrangian(seed):
    sdp, p = optimal_program(seed)
    rng = np.random.default_rng(seed + 100)

    def lagrangian(values):
        total = sdp.primal_value(values)
        for r in sdp.rows:
            total -= p.duals[r.label] @ sdp.slack(r, values)
        return total - np.sum(sdp.lmi_value(sdp.lmis[0], values) * p.duals["cone"])

    zero = sdp.zero_point().values
    for name, q in [("free", 2), ("signed", 3)]:
        step = rng.standard_normal(q)
        change = lagrangian({**zero, name: step}) - lagrangian(zero)
        assert change == pytest.approx(step @ sdp.dual_slack(name, p.duals))
    step = rng.standard_normal((4, 4))
    step = step + step.T
    change = lagrangian({**zero, "K": step}) - lagrangian(zero)
    assert change == pytest.approx(np.sum(step * sdp.dual_slack("K", p.duals)))
    best = -sdp.dual_slack("curved", p.duals) / sdp.variable("curved").curvature
    assert lagrangian({**zero, "curved": best}) == pytest.approx(sdp.dual_value(p.duals))
    for _ in range(2):
        other = best + 0.1 * rng.standard_normal(2)
        assert lagrangian({**zero, "curved": other}) >= sdp.dual_value(p.duals) - 1e-9


@pytest.mark.parametrize("seed", range(2))
def test_the_gap_is_the_sum_of_all_products_with_slack(seed):
    sdp, p = optimal_program(seed)
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((3, 3))
    duals = {"fixed": rng.standard_normal(3), "most": rng.uniform(size=3), "cone": root @ root.T}
    p = Point(p.values, duals)
    # Stationarity in the free scalars is made to hold by their cost.
    slack = sdp.dual_slack("free", p.duals)
    sdp = sdp.with_cost("free", sdp.cost("free") - slack)
    errors = dimacs_errors(sdp, p)
    assert errors.primal_rows == pytest.approx(0.0, abs=1e-12)
    assert errors.dual_rows == pytest.approx(0.0, abs=1e-12)
    assert errors.duality_gap == pytest.approx(errors.complementarity, rel=1e-9)
    assert errors.complementarity > 0.01 or errors.dual_cone > 0.0
