"""Factors of symmetric matrices: all libraries say the same of every matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdpdr.errors import PackageMissingError, UnknownNameError
from sdpdr.linalg import ldl, mkl
from sdpdr.linalg.factorization import symmetric_factor

BACKENDS = [
    "qdldl",
    "scipy",  # what stands in the place of qdldl where that is not installed
    pytest.param(
        "mkl", marks=pytest.mark.skipif(not mkl.available(), reason="mkl is not installed")
    ),
]


@pytest.fixture
def backend(request, monkeypatch):
    if request.param != "scipy":
        return request.param
    monkeypatch.setattr(ldl, "_qdldl", lambda: None)
    return "qdldl"


def random_upper(n, density, seed, shift):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n)) * (rng.random((n, n)) < density)
    return sp.csc_array(np.triu(A + A.T + shift * np.eye(n)))


def full(upper):
    return (upper + sp.triu(upper, 1).T).toarray()


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(2, 40), st.integers(0, 99), st.sampled_from([-3.1, 0.37, 5.3]))
def test_inertia_and_solution_are_those_of_the_matrix(backend, n, seed, shift):
    upper = random_upper(n, 0.2, seed, shift)
    spectrum = np.linalg.eigvalsh(full(upper))
    if abs(spectrum).min() < 1e-6:
        return
    factor = symmetric_factor(upper, backend)
    right = np.arange(1.0, n + 1)
    assert factor.factorize(upper.data) == np.sum(spectrum < 0)
    solution = factor.solve(right)
    error = np.linalg.norm(full(upper) @ solution - right)
    assert error <= 1e-6 * np.linalg.norm(right) * abs(spectrum).max() / abs(spectrum).min()
    assert factor.nnz >= upper.nnz - n


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_a_singular_matrix_has_no_inertia(backend):
    upper = sp.csc_array(np.triu(np.ones((2, 2))))
    assert symmetric_factor(upper, backend).factorize(upper.data) == -1


def test_unknown_and_missing_libraries_are_named(monkeypatch):
    upper = random_upper(3, 0.5, 0, 5.0)
    with pytest.raises(UnknownNameError, match="Did you mean 'qdldl'"):
        symmetric_factor(upper, "qldl")
    monkeypatch.setattr(mkl, "available", lambda: False)
    with pytest.raises(PackageMissingError, match=r"sdpdr\[mkl\]"):
        symmetric_factor(upper, "mkl")
    assert symmetric_factor(upper).backend == "qdldl"


def test_a_build_that_does_not_fit_numpy_is_refused(monkeypatch):
    qdldl = pytest.importorskip("qdldl")

    class Nonsense:
        def __init__(self, matrix, upper):
            pass

        def factors(self):
            return sp.csc_array((2, 2)), np.array([2.0, 2.0]), np.zeros(2, int)

    ldl._qdldl.cache_clear()
    monkeypatch.setattr(qdldl, "Solver", Nonsense)
    with pytest.raises(PackageMissingError, match=r"qdldl .* is not compatible with NumPy .*"):
        ldl._qdldl()
    monkeypatch.undo()
    assert ldl._qdldl() is qdldl
