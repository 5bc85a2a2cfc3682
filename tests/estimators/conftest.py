"""Points with classes, and pairs of them, that learners of metrics are tested on."""

import numpy as np
import pytest
from sklearn.datasets import load_iris


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def pairs(iris):
    """Pairs of points and their signs, as metric-learn takes them."""
    X, y = iris
    rng = np.random.default_rng(0)
    index = rng.permutation(150)[:120].reshape(60, 2)
    sign = np.where(y[index[:, 0]] == y[index[:, 1]], 1, -1)
    return X[index], sign
