"""Scale and Dual: values kept, answers lifted, the dual of the dual is the program itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdpdr import graphs, methods
from sdpdr.blocks import Band, Slack
from sdpdr.linalg import VectorMap
from sdpdr.program import Factor, Point, PsdVariable, as_dense, dimacs_errors
from sdpdr.reduce import Composed, Dual, Scale

from .programs import optimal_program

RELATIONS = ["inequality", "equality", Band(0.1), Slack(2.0), Slack(30.0, "absolute")]


def random_point(sdp, seed=0):
    """Values and multipliers in the cones, feasible for nothing else."""
    rng = np.random.default_rng(seed)
    values = {}
    for v in sdp.variables:
        if isinstance(v, PsdVariable):
            root = rng.standard_normal((v.n, v.n))
            values[v.name] = root @ root.T
        else:
            draw = rng.standard_normal(v.size)
            values[v.name] = np.abs(draw) if v.nonnegative else draw
    duals = {r.label: np.abs(rng.standard_normal(r.m)) for r in sdp.rows}
    for lmi in sdp.lmis:
        root = rng.standard_normal((lmi.order, lmi.order))
        duals[lmi.label] = root @ root.T
    return Point(values, duals)


def assert_same_point(one, other, rtol=1e-12):
    assert set(one.values) == set(other.values)
    assert set(one.duals) == set(other.duals)
    for name, value in one.values.items():
        np.testing.assert_allclose(as_dense(value), as_dense(other.values[name]), rtol, 1e-12)
    for label, y in one.duals.items():
        np.testing.assert_allclose(y, other.duals[label], rtol, 1e-12)


# -- scale --------------------------------------------------------------------------------------


def unscaled(reduced, point):
    """The point of the scaled program that is lifted to the one given; lifting is a diagonal."""
    ones = {name: np.ones(as_dense(x).shape) for name, x in point.values.items()}
    factors = reduced.lift(Point(ones, {k: np.ones(y.shape) for k, y in point.duals.items()}))
    values = {name: as_dense(x) / factors.values[name] for name, x in point.values.items()}
    return Point(values, {k: y / factors.duals[k] for k, y in point.duals.items()})


def ill_scaled(seed):
    """The optimal program with rows, costs and right sides of all sizes, and its optimal point."""
    sdp, point = optimal_program(seed)
    rng = np.random.default_rng(seed)
    rows, duals = [], dict(point.duals)
    for r in sdp.rows:
        size = 10.0 ** rng.uniform(-6, 6, r.m)
        rows.append(replace(r, lhs={name: size * a for name, a in r.lhs.items()}, rhs=size * r.rhs))
        duals[r.label] = duals[r.label] / size
    return replace(sdp, rows=tuple(rows)), Point(point.values, duals)


@pytest.mark.parametrize("seed", range(2))
def test_an_optimal_point_is_optimal_for_the_scaled_program(seed):
    sdp, point = ill_scaled(seed)
    reduced = Scale().apply(sdp)
    small = unscaled(reduced, point)
    assert dimacs_errors(reduced.sdp, small).worst() < 1e-12
    assert_same_point(reduced.lift(small), point)
    value = reduced.lift_value(reduced.sdp.primal_value(small.values))
    assert value == pytest.approx(sdp.primal_value(point.values))


@pytest.mark.parametrize("seed", range(2))
def test_values_on_both_sides_are_kept_at_any_point(seed):
    sdp, _ = ill_scaled(seed)
    reduced = Scale().apply(sdp)
    point = random_point(reduced.sdp, seed)
    lifted = reduced.lift(point)
    assert reduced.lift_value(reduced.sdp.primal_value(point.values)) == pytest.approx(
        sdp.primal_value(lifted.values), rel=1e-10
    )
    assert reduced.lift_value(reduced.sdp.dual_value(point.duals)) == pytest.approx(
        sdp.dual_value(lifted.duals), rel=1e-10
    )


def test_rows_and_costs_have_size_one_afterwards():
    reduced = Scale().apply(ill_scaled(0)[0]).sdp
    for r in reduced.rows:
        squares = sum(a.matrix().multiply(a.matrix()).sum(axis=1) for a in r.lhs.values())
        np.testing.assert_allclose(np.sqrt(squares), 1.0)
    costs = np.concatenate([np.abs(a.matrix().data) for a in reduced.objective.values()])
    assert costs.max() == pytest.approx(1.0)


def test_a_factor_is_lifted_as_a_factor():
    reduced = Scale().apply(methods.mvu(graphs.path([10.0, 20.0])).to_sdp())
    factor = np.random.default_rng(0).standard_normal((3, 2))
    dense = reduced.lift(Point({"K": factor @ factor.T})).values["K"]
    lifted = reduced.lift(Point({"K": Factor(factor)})).values["K"]
    assert isinstance(lifted, Factor)
    np.testing.assert_allclose(lifted.dense(), dense)


# -- dual ---------------------------------------------------------------------------------------


def as_dual_point(sdp, point):
    """The optimal pair of the dual: matrices are multipliers there and multipliers unknowns."""
    values = dict(point.duals)
    for v in sdp.vector_variables:
        if v.curvature is not None:
            values[f"{v.name}*"] = np.asarray(sdp.dual_slack(v.name, point.duals))
    return Point(values, point.values)


@pytest.mark.parametrize("seed", range(2))
def test_an_optimal_pair_is_optimal_for_the_dual(seed):
    sdp, point = optimal_program(seed)
    reduced = Dual().apply(sdp)
    turned = as_dual_point(sdp, point)
    assert dimacs_errors(reduced.sdp, turned).worst() < 1e-12
    assert_same_point(reduced.lift(turned), point)
    assert reduced.sdp.maximize is not sdp.maximize
    assert reduced.sdp.report(reduced.sdp.primal_value(turned.values)) == pytest.approx(
        sdp.report(sdp.primal_value(point.values))
    )


@pytest.mark.parametrize("seed", range(2))
def test_the_dual_of_any_point_has_the_negative_value(seed):
    sdp, _ = optimal_program(seed)
    reduced = Dual().apply(sdp)
    point = random_point(sdp, seed)
    turned = as_dual_point(sdp, point)
    value = reduced.lift_value(reduced.sdp.primal_value(turned.values))
    assert value == pytest.approx(sdp.dual_value(point.duals))


def without_curvature(sdp):
    names = {v.name for v in sdp.vector_variables if v.curvature is not None}

    def kept(maps):
        return {name: a for name, a in maps.items() if name not in names}

    return replace(
        sdp,
        variables=tuple(v for v in sdp.variables if v.name not in names),
        objective=kept(sdp.objective),
        rows=tuple(replace(r, lhs=kept(r.lhs)) for r in sdp.rows),
        lmis=tuple(replace(lmi, lhs=kept(lmi.lhs)) for lmi in sdp.lmis),
    )


def assert_same_maps(one, other):
    assert set(one) == set(other)
    for name, a in one.items():
        assert isinstance(a, VectorMap) == isinstance(other[name], VectorMap)
        np.testing.assert_allclose(a.matrix().toarray(), other[name].matrix().toarray(), atol=1e-14)


def twice(sdp):
    return Composed((Dual(), Dual())).apply(sdp)


PROGRAMS = {f"all features {seed}": without_curvature(optimal_program(seed)[0]) for seed in (0,)}
PROGRAMS |= {
    str(relation): methods.mvu(graphs.grid(2, 3), relation).to_sdp()
    for relation in RELATIONS
    if relation != Slack(2.0)
}


@pytest.mark.parametrize("sdp", PROGRAMS.values(), ids=PROGRAMS)
def test_the_dual_of_the_dual_is_the_program(sdp):
    again = twice(sdp).sdp
    assert {(v.name, v.size, type(v)) for v in again.variables} == {
        (v.name, v.size, type(v)) for v in sdp.variables
    }
    for v in again.vector_variables:
        assert v.nonnegative == sdp.variable(v.name).nonnegative
    for name in {v.name for v in sdp.variables}:
        np.testing.assert_allclose(dense(again.cost(name)), dense(sdp.cost(name)), atol=1e-14)
    rows = {r.label: r for r in again.rows}
    assert set(rows) == {r.label for r in sdp.rows}
    for r in sdp.rows:
        assert rows[r.label].relation == r.relation
        np.testing.assert_allclose(rows[r.label].rhs, r.rhs)
        assert_same_maps(rows[r.label].lhs, r.lhs)
    for one, other in zip(again.lmis, sdp.lmis, strict=True):
        np.testing.assert_allclose(one.constant, other.constant)
        assert_same_maps(one.lhs, other.lhs)
    assert (again.constant, again.maximize) == (sdp.constant, sdp.maximize)


def dense(cost):
    return cost.toarray() if hasattr(cost, "toarray") else np.asarray(cost)


def test_scale_and_dual_compose_in_either_order():
    sdp, point = ill_scaled(1)
    scaled = Scale().apply(sdp)
    first = as_dual_point(scaled.sdp, unscaled(scaled, point))
    turned = Dual().apply(sdp)
    second = unscaled(Scale().apply(turned.sdp), as_dual_point(sdp, point))
    for steps, small in [((Scale(), Dual()), first), ((Dual(), Scale()), second)]:
        reduced = Composed(steps).apply(sdp)
        assert dimacs_errors(reduced.sdp, small).worst() < 1e-9
        assert_same_point(reduced.lift(small), point)
        value = reduced.lift_value(reduced.sdp.primal_value(small.values))
        assert value == pytest.approx(sdp.primal_value(point.values))
