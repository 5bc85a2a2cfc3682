"""Tables without spread, of one column, or counted from one: what is wrong is said as it is."""

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import extend
from sdpdr.errors import DataError
from sdpdr.families.regress.ridge import choose_ridge

LINEAR = [sdpdr.LDA, sdpdr.SDA, sdpdr.LPP, sdpdr.NPE, sdpdr.LSDA, sdpdr.IsoProjection,
          sdpdr.SpectralRegression]  # fmt: skip
CLASSES = np.repeat([0, 1, 2], 10)


def cloud(columns):
    return np.random.default_rng(0).standard_normal((30, columns)) + CLASSES[:, None]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("learner", LINEAR)
def test_rows_that_are_all_equal_are_said_to_be_so(learner, kind):
    X = kind(np.tile(cloud(4)[:1], (30, 1)))
    for alpha in ("auto", 0.1):
        with pytest.raises(DataError, match="all 30 points are equal"):
            learner(alpha=alpha).fit(X, CLASSES)


def test_kernels_and_ridges_of_rows_that_are_all_equal_are_refused_by_that_name():
    X = np.full((30, 4), 0.3)
    with pytest.raises(DataError, match="all 30 points are equal"):
        sdpdr.SpectralRegression(kernel="rbf").fit(X, CLASSES)
    with pytest.raises(DataError, match="all 30 points are equal"):
        choose_ridge(X, cloud(1))


@pytest.mark.daily(7)
@pytest.mark.parametrize("labels", [None, CLASSES])
@pytest.mark.parametrize("way", ["regression", "direct"])
@pytest.mark.parametrize("learner", LINEAR)
@pytest.mark.filterwarnings("ignore::sdpdr.errors.AddedEdgesWarning")
def test_a_linear_map_of_one_column_has_one(learner, way, labels):
    options = {} if learner is sdpdr.SpectralRegression else {"way": way}
    if labels is None and learner(**options).__sklearn_tags__().target_tags.required:
        pytest.skip("needs labels")
    X = cloud(1)
    found = learner(**options).fit(X, labels)
    assert found.transform(X).shape == (30, 1)
    assert found.get_feature_names_out().size == 1
    with pytest.raises(DataError, match=r"n_components=2 is out of range: it must lie in 1\.\.1"):
        learner(n_components=2, **options).fit(X, labels)


def test_maps_that_are_not_linear_have_more_columns_than_the_data():
    X = cloud(1)
    assert sdpdr.SpectralRegression(kernel="rbf").fit(X, CLASSES).transform(X).shape == (30, 2)
    given = np.column_stack([X, 2.0 * X, X + 1.0])
    assert sdpdr.SpectralRegression().fit(X, given).transform(X).shape == (30, 3)


@pytest.mark.parametrize("wrong", [0, -1])
def test_kernel_eigenmaps_have_a_component_at_least(wrong):
    with pytest.raises(DataError, match=f"n_components={wrong} is too small"):
        extend.KernelEigenmaps(n_components=wrong).fit(cloud(3))
