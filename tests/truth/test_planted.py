"""Planted programs have the values they say, in exact arithmetic; solvers are judged by them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sdpdr
from sdpdr.errors import UnknownNameError
from sdpdr.program import VectorVariable
from sdpdr.testing import KINDS, planted

from .exact import (
    dual_slack,
    dual_value,
    fractions,
    is_positive,
    is_psd,
    left_sides,
    matrices,
    objective,
)

pytestmark = pytest.mark.integration

SEEDS = range(2)
WITHOUT_POINT = {"chain", "chain-to-nothing", "impossible"}
WITHOUT_MULTIPLIERS = WITHOUT_POINT | {"face-unattained", "endless"}


# A second or more to solve.
SLOW = {"several", "thin"}


def instances(seeds, without=frozenset(), slow=frozenset()):
    """A program of each kind and seed; all but the first of the seeds are slow tests."""
    return [
        pytest.param(
            kind,
            seed,
            id=f"{kind}-{seed}",
            marks=() if seed == seeds[0] and kind not in slow else pytest.mark.nightly,
        )
        for kind in KINDS
        if kind not in without
        for seed in seeds
    ]


def in_sense(sdp, value):
    return -value if sdp.maximize else value


def is_free(sdp, name):
    v = sdp.variable(name)
    return isinstance(v, VectorVariable) and not v.nonnegative


@pytest.mark.daily(8)
@pytest.mark.parametrize(("kind", "seed"), instances(SEEDS, WITHOUT_POINT))
def test_planted_points_are_feasible_and_have_the_value_exactly(kind, seed):
    program = planted(kind, seed)
    sdp = program.sdp
    for rows in sdp.rows:
        for reached, b in zip(left_sides(rows, program.values), rows.rhs.tolist(), strict=True):
            assert reached == b if rows.relation == "==" else reached <= b
    for v in sdp.variables:
        assert is_free(sdp, v.name) or is_positive(sdp, v.name, program.values[v.name])
    if program.truth.verdict == "optimal":
        assert in_sense(sdp, objective(sdp, program.values)) == program.truth.value


@pytest.mark.daily(7)
@pytest.mark.parametrize(("kind", "seed"), instances(SEEDS, WITHOUT_MULTIPLIERS))
def test_planted_multipliers_are_feasible_and_have_the_same_value_exactly(kind, seed):
    program = planted(kind, seed)
    sdp, duals = program.sdp, program.duals
    for v in sdp.variables:
        slack = dual_slack(sdp, v.name, duals)
        if is_free(sdp, v.name):
            assert all(s == 0 for s in slack)
        else:
            assert is_positive(sdp, v.name, slack)
    assert all(y >= 0 for y in duals.get("limits", ()))
    assert in_sense(sdp, dual_value(sdp, duals)) == program.truth.value


@pytest.mark.nightly
@pytest.mark.parametrize("seed", SEEDS)
def test_rays_of_impossible_programs_are_exact(seed):
    """A combination of the rows is psd, and its right side is negative."""
    program = planted("impossible", seed)
    (rows,) = program.sdp.rows
    for name, linear_map in rows.lhs.items():
        weighted = zip(program.ray["equations"], matrices(linear_map), strict=True)
        assert is_positive(program.sdp, name, sum(y * a for y, a in weighted))
    right = zip(program.ray["equations"], rows.rhs.tolist(), strict=True)
    assert sum(y * Fraction(b) for y, b in right) < 0


@pytest.mark.parametrize("seed", SEEDS)
def test_rays_of_endless_programs_are_exact(seed):
    """A psd direction that no row sees, and that improves."""
    program = planted("endless", seed)
    (rows,) = program.sdp.rows
    direction = fractions(program.ray["X1"])
    assert is_psd(direction)
    assert all((a * direction).sum() == 0 for a in matrices(rows.lhs["X1"]))
    assert (matrices(program.sdp.objective["X1"])[0] * direction).sum() < 0


def test_the_same_seed_gives_the_same_program_and_another_gives_another():
    first, again, other = planted("mixed", 1), planted("mixed", 1), planted("mixed", 2)
    assert first.truth == again.truth
    assert np.array_equal(first.sdp.rows[0].rhs, again.sdp.rows[0].rhs)
    assert first.sdp.rows[0].rhs.tolist() != other.sdp.rows[0].rhs.tolist()


def test_an_unknown_kind_offers_the_nearest():
    with pytest.raises(UnknownNameError, match="several"):
        planted("severl", 0)


def test_exact_definiteness_can_fail():
    assert is_psd([[1, 1], [1, 1]])
    assert not is_psd([[1, 1], [1, Fraction(1) - Fraction(1, 2**60)]])
    assert not is_psd([[0, 1], [1, 5]])


@pytest.mark.daily(6)
@pytest.mark.parametrize(("kind", "seed"), instances(range(101, 104), slow=SLOW))
def test_auto_says_nothing_wrong_about_planted_programs(kind, seed):
    program = planted(kind, seed)
    answer = sdpdr.solve(program.sdp, rigorous=True)
    assert program.truth.contradictions(answer) == ()


@pytest.mark.nightly
def test_auto_certifies_nearly_all_that_have_an_interior_on_both_sides():
    """`make truth` asks for 99 of 100; here is room for one failure among twenty."""
    kinds = [kind for kind in KINDS if planted(kind, 0).interior]
    inside = [planted(kind, 200 + seed) for kind in kinds for seed in range(3)]
    answers = [sdpdr.solve(program.sdp, tol=1e-6) for program in inside]
    missed = [p for p, a in zip(inside, answers, strict=True) if not a.certified(1e-6)]
    assert 20 * len(missed) <= len(inside), missed
