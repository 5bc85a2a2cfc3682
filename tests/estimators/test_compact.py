"""The second stage of density maps: the value is kept, the trace beyond the picture falls."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import NonUniqueWarning, UncertifiedWarning
from sdpdr.families.unfold.iterated import GIVEN_UP, compact
from sdpdr.iterate import IterationStatus, Trailing

ROLL = sdpdr.datasets.swiss_roll(20, seed=0)[0]
GRAPH = graphs.knn(ROLL, 4)
# Of a narrow kernel every variance that points on a sphere can have is reached.
NARROW = 0.5 * float(np.sqrt(GRAPH.sqdist.mean()))
MAP = sdpdr.DensityMap(n_neighbors=4)


def share(learned):
    return float(learned.explained_variance_ratio_.sum())


@pytest.fixture(scope="module")
def saturated():
    """Without the second stage and with it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonUniqueWarning)
        plain = sdpdr.DensityMap(n_neighbors=4, bandwidth=NARROW).fit(ROLL)
    both = sdpdr.DensityMap(n_neighbors=4, bandwidth=NARROW, compact=True).fit(ROLL)
    return plain, both


@pytest.mark.nightly
@pytest.mark.integration
def test_the_trace_beyond_the_picture_falls_and_never_rises(saturated):
    plain, both = saturated
    trailing = Trailing(2, centred=True)
    before = trailing.excess(plain.gram_)
    steps = [before, *(record.excess for record in both.second_stage_.history)]
    assert np.all(np.diff(steps) <= 1e-4 * before)
    assert trailing.excess(both.gram_) == pytest.approx(min(steps), abs=1e-9)
    assert trailing.excess(both.gram_) < before
    assert share(both) > share(plain)


@pytest.mark.nightly
@pytest.mark.integration
def test_the_kernel_keeps_the_value_and_the_densities(saturated):
    plain, both = saturated
    np.testing.assert_allclose(both.solution_.value, plain.solution_.value, rtol=1e-6)
    model = methods.density_map(GRAPH, bandwidth=NARROW)
    kernel = {"K": np.asarray(both.gram_)}
    least = (1.0 - GIVEN_UP) * plain.solution_.value
    assert model.objective(kernel) >= least - 1e-4
    assert max(model.violations(kernel).values()) < 1e-4
    # What is shown is what the kernel says.
    sizes = np.square(both.embedding_).sum(axis=0)
    np.testing.assert_allclose(sizes, both.eigenvalues_[:2], rtol=1e-6)


def test_a_flat_kernel_stays_as_it_is():
    """Of rank two already, nothing is left to lower."""
    program = methods.density_map(GRAPH, variant="trace").to_sdp()
    state = compact(program, sdpdr.solve(program, tol=1e-8), rank=2)
    assert state.status is IterationStatus.RANK_REACHED
    assert len(state.history) == 1


def test_a_saturated_variance_is_told_with_the_share_that_is_shown():
    learner = sdpdr.DensityMap(n_neighbors=4, bandwidth=NARROW)
    with pytest.warns(NonUniqueWarning, match=r"hold \d+% of the kernel.*compact=True") as told:
        learner.fit(ROLL)
    assert f"hold {share(learner):.0%} of" in str(told[0].message)


def test_a_variance_below_the_largest_is_not_told(recwarn):
    learned = MAP.fit(ROLL)
    assert learned.solution_.value < 0.99 * len(ROLL)
    assert learned.second_stage_ is None
    assert not [w for w in recwarn if issubclass(w.category, NonUniqueWarning)]


@pytest.mark.nightly
def test_no_time_for_the_second_stage_leaves_the_first_with_a_warning(monkeypatch):
    monkeypatch.setattr(
        "sdpdr.families.unfold.estimators.kernels.compact",
        lambda *given, **options: compact(*given, **{**options, "time_limit": 0.0}),
    )
    learner = sdpdr.DensityMap(n_neighbors=4, compact=True)
    with pytest.warns(UncertifiedWarning, match="second stage, TIME_LIMIT"):
        learner.fit(ROLL)
    np.testing.assert_array_equal(learner.gram_, learner.solution_.gram())


@pytest.mark.nightly
def test_a_second_stage_that_lost_the_value_is_not_kept(saturated, monkeypatch):
    """As it may when its time is over: a kernel far from feasible is compact for nothing."""
    plain, both = saturated
    state = both.second_stage_
    lost = replace(state.history[state.best_iteration], infeasibility=1e-2)
    history = tuple(lost if r.iteration == lost.iteration else r for r in state.history)
    monkeypatch.setattr(
        "sdpdr.families.unfold.estimators.kernels.compact",
        lambda *args, **options: replace(state, history=history),
    )
    learned = sdpdr.DensityMap(n_neighbors=4, bandwidth=NARROW, compact=True).fit(ROLL)
    np.testing.assert_array_equal(learned.gram_, plain.gram_)


def test_of_as_many_components_as_points_nothing_is_left():
    assert sdpdr.DensityMap(19, n_neighbors=4, compact=True).fit(ROLL).second_stage_ is None
