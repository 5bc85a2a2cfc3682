"""The DensityMap and LOOCVUnfolding estimators: what they learn and what they refuse."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone

import sdpdr
from sdpdr import graphs, methods
from sdpdr.blocks import OtherSums, Slack
from sdpdr.errors import (
    DataError,
    DuplicatePointsWarning,
    ModelError,
    NonUniqueWarning,
    SampledWarning,
    SolveFailedError,
    UnknownNameError,
)
from sdpdr.families.unfold.density_map import kernel_sums

ROLL = sdpdr.datasets.swiss_roll(24, seed=0)[0]


def dense(gram):
    return np.asarray(gram)


@pytest.mark.filterwarnings("ignore::sdpdr.errors.NonUniqueWarning")  # its value is that of many
def test_a_map_is_what_the_recipe_solves():
    learned = sdpdr.DensityMap(n_neighbors=4, bandwidth=5.0, tol=1e-7).fit(ROLL)
    graph = graphs.knn(ROLL, 4)
    solution = sdpdr.solve(methods.density_map(graph, bandwidth=5.0), tol=1e-7)
    np.testing.assert_allclose(learned.solution_.value, solution.value, rtol=1e-6)
    np.testing.assert_allclose(learned.density_, kernel_sums(graph, 5.0))
    # The variance is the objective, so the centred spectrum adds up to it.
    np.testing.assert_allclose(learned.eigenvalues_.sum(), solution.value, rtol=1e-5)
    assert learned.solution_.certified(1e-6)


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    "estimator",
    [
        sdpdr.DensityMap(n_neighbors=4, variant="trace"),
        sdpdr.LOOCVUnfolding(
            n_neighbors=3, trace=20000.0, solver="clarabel", form="gram", tol=1e-5
        ),
    ],
)
def test_embeddings_are_centred_components(estimator):
    points = ROLL[:14]
    learned = clone(estimator).fit(points)
    np.testing.assert_allclose(learned.embedding_.mean(axis=0), 0.0, atol=1e-6)
    sizes = np.square(learned.embedding_).sum(axis=0)
    np.testing.assert_allclose(sizes, learned.eigenvalues_[:2], rtol=1e-6, atol=1e-9)
    assert learned.fit_transform(points).shape == (14, 2)


def test_likelihoods_are_leave_one_out_sums():
    learned = sdpdr.LOOCVUnfolding(n_neighbors=3, solver="clarabel", form="gram", tol=1e-5).fit(
        ROLL[:12]
    )
    gram = dense(learned.gram_)
    np.testing.assert_allclose(learned.likelihoods_, gram.sum(axis=1) - np.diag(gram))
    mean = np.exp(np.mean(np.log(learned.likelihoods_)))
    np.testing.assert_allclose(mean, learned.solution_.value, rtol=1e-5)


@pytest.mark.nightly
def test_folding_first_learns_what_a_solver_of_the_whole_program_does():
    named = sdpdr.LOOCVUnfolding(n_neighbors=3, solver="clarabel", form="gram").fit(ROLL[:12])
    learned = sdpdr.LOOCVUnfolding(n_neighbors=3, tol=1e-4, time_limit=None).fit(ROLL[:12])
    assert learned.solution_.certified()
    assert all(run.words.startswith("of the folded kernel") for run in learned.solution_.runs)
    np.testing.assert_allclose(learned.solution_.value, named.solution_.value, rtol=1e-4)
    gram, (i, j) = dense(learned.gram_), learned.graph_.edges.T
    lengths = gram[i, i] + gram[j, j] - 2.0 * gram[i, j]
    np.testing.assert_allclose(lengths, learned.graph_.sqdist, rtol=0.05 + 1e-6)


@pytest.mark.nightly
def test_by_default_the_likelihood_is_proved():
    """Exact lengths of this roll leave no interior, without which nothing is proved."""
    roll = sdpdr.datasets.swiss_roll(40, seed=0)[0]
    learned = sdpdr.LOOCVUnfolding(n_neighbors=5, time_limit=None).fit(1e-5 * roll)
    assert learned.solution_.certified(1e-6)
    assert learned.sample_.size == 40


@pytest.mark.nightly
@pytest.mark.integration
def test_of_many_points_few_are_unfolded_and_the_others_placed_with_a_warning():
    many = sdpdr.datasets.swiss_roll(50, seed=0)[0]
    learner = sdpdr.LOOCVUnfolding(
        n_neighbors=3, connect="mst", isometry=Slack(1.0), time_limit=None, tol=1e-3
    )
    with pytest.warns(SampledWarning, match="30 of 50 points"):
        learner.fit(many)
    assert np.isfinite(learner.embedding_).all()
    assert learner.sample_.size == learner.graph_.n == 30
    unfolded = np.flatnonzero(np.isfinite(learner.likelihoods_))
    np.testing.assert_array_equal(unfolded, learner.sample_)
    assert learner.embedding_.shape == (50, 2)


def test_samples_that_coincide_get_the_same_place_and_likelihood():
    twice = np.vstack([ROLL[:10], ROLL[:1]])
    with pytest.warns(DuplicatePointsWarning):
        learned = sdpdr.LOOCVUnfolding(n_neighbors=3, solver="clarabel", form="gram", tol=1e-5).fit(
            twice
        )
    np.testing.assert_array_equal(learned.embedding_[0], learned.embedding_[10])
    gram = dense(learned.gram_)
    nodes = learned.graph_.index
    samples = gram[np.ix_(nodes, nodes)]
    np.testing.assert_allclose(learned.likelihoods_, samples.sum(axis=1) - np.diag(samples))
    assert learned.likelihoods_.size == 11
    assert OtherSums(10, learned.graph_.counts).apply(gram).size == 10


@pytest.mark.parametrize(
    ("estimator", "error", "words"),
    [
        (sdpdr.DensityMap(n_neighbors=4, bandwidth=-1.0), ModelError, "bandwidth must be positive"),
        (sdpdr.DensityMap(n_neighbors=4, variant="sphere"), UnknownNameError, "trace, unit"),
        (sdpdr.DensityMap(n_components=0, n_neighbors=4), DataError, "n_components"),
        (sdpdr.LOOCVUnfolding(n_neighbors=4, trace=-1.0), ModelError, "positive and finite"),
        (sdpdr.LOOCVUnfolding(n_neighbors=4, isometry="inequality"), ModelError, "one point"),
    ],
)
def test_parameters_without_meaning_are_refused_in_words(estimator, error, words):
    with pytest.raises(error, match=words):
        estimator.fit(ROLL)


@pytest.mark.nightly
@pytest.mark.integration
def test_a_trace_that_no_kernel_has_is_told():
    tight = sdpdr.LOOCVUnfolding(n_neighbors=3, trace=1.0, solver="clarabel", form="gram")
    with pytest.raises(SolveFailedError, match="INFEASIBLE"):
        tight.fit(ROLL[:12])


def test_distances_with_gaps_are_refused():
    """Neighbours that are not known would count as none."""
    D = squareform(pdist(sdpdr.datasets.swiss_roll(30, seed=0)[0]))
    sdpdr.DensityMap(metric="precomputed").fit(D)
    D[3, 20] = D[20, 3] = np.nan
    with pytest.raises(DataError, match=r"needs all distances.*DistanceCompletion"):
        sdpdr.DensityMap(metric="precomputed").fit(D)


def test_a_saturated_variance_is_reported_with_the_share_that_is_shown():
    points = ROLL[:20]
    width = float(np.sqrt(graphs.knn(points, 4).sqdist.mean()))
    learner = sdpdr.DensityMap(n_neighbors=4, bandwidth=0.5 * width)
    with pytest.warns(NonUniqueWarning, match=r"hold \d+% of the kernel") as warned:
        learner.fit(points)
    share = float(learner.explained_variance_ratio_.sum())
    assert f"hold {share:.0%} of" in str(warned[0].message)


def test_a_variance_below_the_largest_raises_no_warning(recwarn):
    learned = sdpdr.DensityMap(n_neighbors=4).fit(ROLL[:20])
    assert learned.solution_.value < 0.99 * 20
    assert not [w for w in recwarn if issubclass(w.category, NonUniqueWarning)]
