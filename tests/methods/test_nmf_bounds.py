"""The convex programs beside non-negative factorizations: values, laws, collapses."""

import numpy as np
import pytest

import sdpdr
from sdpdr import methods
from sdpdr.blocks import Stated
from sdpdr.errors import DataError, DataTypeError
from sdpdr.families.factor.nmf.bounds import overlap_bound
from sdpdr.model import Model, check_block

V3 = np.array([[0.45, 0.434, 0.35], [0.70, 0.64, 0.43], [0.22, 0.01, 0.30]])
SQUARE = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]], dtype=float)
LATIN = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2]], dtype=float)
CLOSED = np.array([[0.9, 0.6, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.7]])


@pytest.mark.nightly
def test_values_are_those_computed_elsewhere():
    """Twice the values, as printed: without and with Z >= 0, of every lift, of the small cones."""
    for V, trace, dnn, cones in (
        (V3, 3.148557, 3.148557, 8.686757),
        (SQUARE, 4.0 + 4.0 * np.sqrt(2.0), 8.0 * np.sqrt(2.0), 32.0),
        (LATIN, 18.928203, 18.928203, 54.0),
    ):
        for model, value in (
            (methods.nmf_dnn(V, nonnegative=False), trace),
            (methods.nmf_dnn(V), dnn),
            (methods.nmf_shor(V, 2), dnn),
            (methods.nmf_cones(V), cones),
        ):
            solution = sdpdr.solve(model, "clarabel", tol=1e-7)
            assert 2.0 * solution.value == pytest.approx(value, rel=2e-6)
            assert 2.0 * solution.bound == pytest.approx(value, rel=2e-6)


def test_the_value_is_a_norm_below_every_factorization():
    for seed in range(2):
        rng = np.random.default_rng(seed)
        W, H = rng.random((5, 4)) ** 4, rng.random((4, 3)) ** 4
        size = np.linalg.norm(W, axis=0) @ np.linalg.norm(H, axis=1)
        value = sdpdr.solve(methods.nmf_dnn(W @ H), "clarabel").bound
        assert np.linalg.norm(W @ H, "nuc") * (1.0 - 1e-6) <= value <= size


def test_any_factorization_is_a_feasible_point():
    rng = np.random.default_rng(0)
    W, H = rng.random((5, 3)), rng.random((3, 4))
    W, H = W / np.linalg.norm(W, axis=0), H * np.linalg.norm(W, axis=0)[:, None]
    balance = np.sqrt(np.linalg.norm(H, axis=1))
    B = np.vstack([W * balance, (H / balance[:, None]).T])
    model = methods.nmf_dnn(W @ H)
    assert max(model.violations({"Z": B @ B.T}).values()) < 1e-12
    size = np.linalg.norm(W, axis=0) @ np.linalg.norm(H, axis=1)
    assert model.objective({"Z": B @ B.T}) == pytest.approx(size)


def test_points_of_both_programs_become_points_of_the_other():
    rng, k = np.random.default_rng(0), 2
    W, H = rng.random((3, k)), rng.random((4, k))
    small, lifted = methods.nmf_dnn(W @ H.T), methods.nmf_shor(W @ H.T, k)
    z = np.concatenate([W.ravel(), H.ravel()])
    Z = np.outer(z, z)
    assert max(lifted.violations({"Z": Z}).values()) < 1e-14
    slices = sum(Z[at::k, at::k] for at in range(k))
    assert max(small.violations({"Z": slices}).values()) < 1e-14
    assert small.objective({"Z": slices}) == pytest.approx(lifted.objective({"Z": Z}))
    back = np.zeros_like(Z)
    back[::k, ::k] = slices
    assert max(lifted.violations({"Z": back}).values()) < 1e-14
    assert lifted.objective({"Z": back}) == pytest.approx(small.objective({"Z": slices}))


# -- what k components can explain ----------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("V", "k", "error"),
    [(SQUARE, 3, 0.126004), (SQUARE, 2, 0.5), (CLOSED, 2, 0.250947), (V3, 2, 0.030549)],
    ids=["square-3", "square-2", "closed-2", "V3-2"],
)
def test_errors_that_the_program_proves(V, k, error):
    solution = sdpdr.solve(methods.nmf_overlap(V, k), "clarabel", tol=1e-8)
    assert solution.certified(1e-6)
    proved = np.sqrt(1.0 - min(1.0, solution.bound / np.linalg.norm(V)) ** 2)
    assert proved == pytest.approx(error, abs=2e-6)


def test_without_signs_it_is_the_bound_of_eckart_and_young():
    V = np.random.default_rng(2).standard_normal((3, 5))
    overlap, rank, length, projection, *_ = methods.nmf_overlap(np.abs(V), 2).blocks
    ball = (rank, length, projection)
    solution = sdpdr.solve(Model((overlap, *ball)), "clarabel", tol=1e-8)
    V = np.abs(V)
    best = np.linalg.norm(np.linalg.svd(V)[1][:2])
    assert solution.value == pytest.approx(best, rel=1e-7)


def test_any_multipliers_bound_the_overlap():
    rng, k = np.random.default_rng(0), 2
    V = rng.random((3, 4))
    Z = rng.random((200, 3, k)) ** 4 @ rng.random((200, k, 4)) ** 4
    explained = np.sum(V * Z, axis=(1, 2)) / np.linalg.norm(Z, axis=(1, 2))
    for scale in (0.0, 0.1, 1.0):
        for _ in range(20):
            B, N = scale * rng.standard_normal((3, 4)), scale * rng.standard_normal((7, 7))
            assert explained.max() <= overlap_bound(V, k, B, N + N.T)


# -- blocks and wrong input -----------------------------------------------------------------------


def test_blocks_obey_the_laws():
    for model in (
        methods.nmf_shor(V3, 2),
        methods.nmf_cones(SQUARE[:3, :2]),
        methods.nmf_overlap(V3[:2], 1),
        methods.nmf_products(V3[:2, :2], 1),
        methods.nmf_lift(V3[:2], 2, sparsity=0.4),
    ):
        terms = [term for block in model.blocks for term in block.terms()]
        assert "every law holds" in check_block(Stated("whole", terms, model.variables()))


def test_matrices_that_cannot_be_factored_are_named():
    for make in [
        methods.nmf_dnn,
        methods.nmf_cones,
        lambda X: methods.nmf_shor(X, 1),
        lambda X: methods.nmf_overlap(X, 1),
    ]:
        for X, words in (
            ([[1.0, 2.0], [3.0, -1.0]], r"X\[1, 1\] = -1"),
            ([[1.0, np.nan], [3.0, 1.0]], "NaN"),
            ([[0.0, 0.0], [0.0, 0.0]], "zero"),
            ([1.0, 2.0], "2D array"),
        ):
            with pytest.raises(DataError, match=words):
                make(X)


def test_numbers_of_components_out_of_range_are_named():
    for make in [methods.nmf_shor, methods.nmf_overlap]:
        with pytest.raises(DataError, match="k=4 is out of range: a 3 x 3"):
            make(V3, 4)
        with pytest.raises(DataError, match="k=0"):
            make(V3, 0)
        with pytest.raises(DataTypeError, match=r"k=1\.5"):
            make(V3, 1.5)
