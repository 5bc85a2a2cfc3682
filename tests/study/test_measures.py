"""Measures: laws, closed forms, and what is done where something is missing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdpdr.errors import DataError
from sdpdr.lab.study.measures import (
    at_tolerance,
    claims,
    disagreements,
    growth,
    means,
    not_installed,
    outcome_counts,
    performance_profile,
    refused_everywhere,
    runs_by_median,
    shifted_geometric_mean,
)
from sdpdr.lab.study.schema import frame_of

TIMES = st.lists(st.floats(0.0, 1e6), min_size=1, max_size=20)


def record(problem="a", solver="p", seconds=1.0, **more):
    return {"problem": problem, "solver": solver, "form": "lmi", "tol": 1e-6, "solve": seconds,
            "solved": True, "outcome": "SOLVED", "claim_accuracy": "true", "time_limit": 10.0,
            "method": "mvu"} | more  # fmt: skip


def runs(*records):
    return runs_by_median(frame_of(records))


@given(TIMES, st.floats(0.01, 100.0))
def test_a_shifted_mean_lies_between_geometric_and_arithmetic(times, shift):
    mean = shifted_geometric_mean(times, shift)
    assert min(times) - 1e-6 <= mean <= np.mean(times) * (1 + 1e-9) + 1e-9
    assert shifted_geometric_mean(times, 0.0) <= mean + 1e-6 * (1.0 + mean)


def test_repeats_become_one_line_with_medians_and_the_worst_end():
    line, absent = runs(
        record("b", seconds=None, outcome="KILLED", solved=False),
        record(repeat=0, seconds=1.0, peak_memory=5),
        record(repeat=1, seconds=9.0, peak_memory=7, claim_accuracy="near"),
        record(repeat=2, seconds=2.0, solved=False, outcome="CRASHED", message="why"),
    ).to_dict("records")
    assert (line["seconds"], line["peak_memory"], line["repeats"]) == (2.0, 7, 3)
    assert (line["solved"], line["outcome"], line["message"]) == (False, "CRASHED", "why")
    assert line["claim_accuracy"] == "near"
    assert np.isnan(absent["seconds"])


def test_a_frame_without_the_columns_is_refused():
    with pytest.raises(DataError, match="lacks the columns"):
        runs_by_median(frame_of([record()]).drop(columns="solve"))


def test_unsolved_instances_count_as_the_limit_and_who_never_ran_has_no_rank():
    absent = {"seconds": None, "solved": False, "outcome": "MISSING"}
    refused = absent | {"outcome": "REFUSED"}
    found = runs(
        record("a", "p", 1.0), record("b", "p", 2.0),
        record("a", "q", 0.1), record("b", "q", 0.2, solved=False, outcome="CRASHED"),
        record("a", "r", **absent), record("b", "r", **absent),
        record("a", "s", **refused), record("b", "s", **refused),
    )  # fmt: skip
    table = means(found).set_index("contestant")
    assert list(table.index) == ["p lmi", "q lmi"]
    assert table["solved"].tolist() == [2, 1]
    assert table.loc["q lmi", "mean"] == pytest.approx(shifted_geometric_mean([0.1, 10.0]))
    assert table["ratio"].min() == 1.0
    assert (not_installed(found), refused_everywhere(found)) == (["r lmi"], ["s lmi"])
    assert list(performance_profile(found, 1e-6).ratios) == ["p lmi", "q lmi"]
    nobody = found[found["solver"].isin(["r", "s"])]
    assert means(nobody).empty
    assert performance_profile(nobody, 1e-6).ratios.empty


def test_instances_without_a_run_of_some_contestant_are_left_out():
    found = runs(record("a", "p"), record("b", "p"), record("a", "q"))
    assert at_tolerance(found, 1e-6)["instance"].unique().tolist() == ["a"]
    assert means(found)["instances"].tolist() == [1, 1]


def test_tolerances_are_not_mixed():
    found = runs(record(seconds=1.0), record(seconds=5.0, tol=1e-3), record("b", tol=1e-3))
    assert means(found)["tol"].tolist() == [1e-6, 1e-3]
    assert performance_profile(found, 1e-3).ratios.shape == (2, 1)


def test_laws_of_a_performance_profile():
    rng = np.random.default_rng(0)
    times, solved = rng.exponential(size=(6, 3)), rng.random((6, 3)) < 0.7
    scale = rng.exponential(size=6)

    def profile(factor):
        return performance_profile(
            runs(
                *(
                    record(f"i{i}", f"s{k}", factor[i] * times[i, k], solved=bool(solved[i, k]))
                    for i in range(6)
                    for k in range(3)
                )
            ),
            1e-6,
        )

    found = profile(np.ones(6))
    # Units of time do not matter, instance by instance.
    np.testing.assert_allclose(profile(1.0 + scale).ratios, found.ratios)
    np.testing.assert_allclose(found.share(1e300), solved.mean(axis=0))
    assert found.share(1.0).sum() == pytest.approx(solved.any(axis=1).mean())
    for who in found.ratios:
        tau, share = found.curve(who, 1e300)
        assert tau[0] == 1.0
        assert (np.diff(share) >= 0).all()
        np.testing.assert_allclose(share, [found.share(t)[who] for t in tau])


def test_outcomes_and_claims_are_counted():
    found = runs(
        record("a"), record("b", solved=False, outcome="CRASHED", claim_accuracy=""),
        record("c", solved=False, outcome="INACCURATE", claim_accuracy="overstated"),
    )  # fmt: skip
    (counts,) = outcome_counts(found).to_dict("records")
    assert counts == {"SOLVED": 1, "INACCURATE": 1, "CRASHED": 1}
    (worths,) = claims(found).to_dict("records")
    assert {word: n for word, n in worths.items() if n} == {"true": 1, "overstated": 1, "none": 1}


@pytest.mark.parametrize("power", [0.0, 3.0])
def test_growth_finds_the_power_and_the_sizes(power):
    sizes = [10, 20, 40, 80]
    found = growth(
        runs(
            *(record(f"f@{n}", seconds=0.01 * n**power, family="f", n=n) for n in sizes),
            record("f@160", seconds=1.0, family="f", n=160, solved=False),
            record("f@10", "few", family="f", n=10),
            record("other"),
        )
    ).set_index("contestant")
    assert found.loc["p lmi", "exponent"] == pytest.approx(power, abs=1e-9)
    assert found.loc["p lmi", ["sizes", "largest_solved", "first_failed"]].tolist() == [4, 80, 160]
    assert np.isnan(found.loc["few lmi", "exponent"])
    assert growth(runs(record())).empty


def test_verified_answers_that_contradict_one_another_are_found():
    frame = frame_of(
        [
            record("a", "judge", value=1.0, certified=True),
            record("a", "near", value=1.0 + 5e-6),
            record("a", "far", value=1.1),
            record("b", "judge", value=0.0, bound=1e-9, gap=1e-8, certified=True),
            record("b", "small", value=3e-7, bound=3.1e-7, gap=1e-7),
            record("c", "judge", value=1.0, certified=True),
            record("c", "other", outcome="INFEASIBLE"),
            record("d", "wrong", value=2.0, reference=1.0, relative_error=1.0, solved=False),
            record("e", "crash", outcome="CRASHED", solved=False),
        ]
    )
    found = disagreements(frame)
    assert found["contestant"].tolist() == ["far lmi", "other lmi", "wrong lmi"]
    assert found["against"].tolist() == ["judge lmi", "judge lmi", "what is known"]
    assert disagreements(frame_of([record()])).empty
