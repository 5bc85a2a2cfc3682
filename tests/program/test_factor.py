"""A matrix kept as a factor is read as the array that it stands for, and not formed for it."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays, basic_indices, integer_array_indices

from sdpdr.program import Factor

SHAPES = st.tuples(st.integers(1, 6), st.integers(0, 4))
FACTORS = SHAPES.flatmap(
    lambda shape: arrays(float, shape, elements=st.floats(-4.0, 4.0, width=16))
).map(Factor)
NUMBERS = st.floats(-9.0, 9.0, width=16)


def agree(found, expected):
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-12)


def lines(n):
    """Whatever chooses along one axis: a number, a slice, a list, places or a mask."""
    places = st.integers(-n, n - 1)
    return st.one_of(
        places,
        places.map(np.int32),
        st.slices(n),
        st.lists(places, max_size=4),
        st.lists(places, max_size=4).map(lambda chosen: np.array(chosen, dtype=int)),
        arrays(bool, n),
    )


def is_array(part):
    return isinstance(part, (list, np.ndarray))


@pytest.mark.nightly
@given(FACTORS, st.data())
def test_every_index_chooses_what_it_chooses_of_the_matrix(K, data):
    n, dense = len(K), K.dense()
    row, column = data.draw(lines(n)), data.draw(lines(n))
    keys = [row, (row,), (row, slice(None)), (slice(None), column), (..., column), (None, row)]
    if not (is_array(row) and is_array(column)):
        keys.append((row, column))
    keys.append(data.draw(basic_indices(K.shape, allow_newaxis=True)))
    keys.append(data.draw(integer_array_indices(K.shape)))
    keys.append(data.draw(arrays(bool, K.shape)))
    keys.append(np.ix_(np.arange(n)[::2], np.arange(n)[1:]))
    for key in keys:
        agree(K[key], dense[key])


@pytest.mark.parametrize("key", [3, -4, (0, 3), (slice(None), [0, 5]), (0, 0, 0), "K", 1.0])
def test_an_index_that_is_none_is_refused_as_an_arrays_is(key):
    K = Factor(np.ones((3, 1)))
    with pytest.raises(IndexError):
        K.dense()[key]
    with pytest.raises(IndexError):
        K[key]


@pytest.mark.nightly
@given(FACTORS, st.data())
def test_products_from_both_sides(K, data):
    n, dense = len(K), K.dense()
    for shape in [(n,), (n, 2), (2, n, 3)]:
        other = data.draw(arrays(float, shape, elements=NUMBERS))
        agree(K @ other, dense @ other)
        agree(np.matmul(K, other), dense @ other)
        flipped = np.swapaxes(other, -1, -2) if other.ndim > 1 else other
        agree(flipped @ K, flipped @ dense)
    agree(K @ K, dense @ dense)
    weights = sp.csr_array(np.triu(np.ones((n, n))))
    agree(K @ weights, dense @ weights)
    agree(weights @ K, weights @ dense)


@pytest.mark.parametrize("other", [np.ones(4), np.ones((4, 2)), 2.0])
def test_products_that_do_not_fit_are_refused(other):
    with pytest.raises(ValueError, match="matmul"):
        Factor(np.ones((3, 1))) @ other


@given(FACTORS, NUMBERS)
def test_numbers_scale_it(K, by):
    for scaled in (K * by, by * K, np.float64(by) * K, K * np.float32(by)):
        agree(scaled, by * K.dense())
        assert isinstance(scaled, Factor) == (by > 0.0)
    if by > 0.0:
        agree(K / by, K.dense() / by)
        assert isinstance(K / by, Factor)


@given(FACTORS, NUMBERS, st.data())
def test_all_other_operations_are_those_of_the_matrix(K, number, data):
    dense = K.dense()
    matrix = data.draw(arrays(float, K.shape, elements=NUMBERS))
    for other in (matrix, number, matrix[0], K):
        theirs = other.dense() if isinstance(other, Factor) else other
        for operate in (operator.add, operator.sub, operator.mul, operator.ge, operator.eq):
            agree(operate(K, other), operate(dense, theirs))
            agree(operate(other, K), operate(theirs, dense))
    agree(-K, -dense)
    agree(abs(K), abs(dense))
    agree(np.exp(K / 1e3), np.exp(dense / 1e3))
    agree(np.add.reduce(K), dense.sum(axis=0))
    agree(np.round(K, 1), np.round(dense, 1))


@given(FACTORS)
def test_sums_diagonals_and_spectra(K):
    dense = K.dense()
    for axis in (None, 0, 1, -1, -2, (0, 1)):
        agree(K.sum(axis), dense.sum(axis))
        agree(np.sum(K, axis=axis), dense.sum(axis))
    agree(np.sum(K, axis=0, keepdims=True), dense.sum(axis=0, keepdims=True))
    agree(K.diagonal(), dense.diagonal())
    agree(K.trace(), np.trace(dense))
    agree(np.mean(K), dense.mean())
    np.testing.assert_allclose(np.linalg.eigvalsh(K), np.linalg.eigvalsh(dense))
    agree(list(K), dense)
    agree(K.T, dense.T)


def test_it_has_what_an_array_has():
    K = Factor(np.arange(6.0).reshape(3, 2))
    assert (K.shape, K.ndim, K.size, len(K), K.dtype) == ((3, 3), 2, 9, 3, np.float64)
    assert (np.shape(K), np.ndim(K), np.size(K)) == ((3, 3), 2, 9)
    assert np.asarray(K).dtype == np.float64
    assert np.asarray(K, dtype=np.float32).dtype == np.float32
    assert np.array(K, copy=True).shape == (3, 3)
    assert repr(K) == "Factor(K = R R^T, 3 x 3, rank <= 2)"
    agree(pickle.loads(pickle.dumps(K)), K.dense())


def test_it_is_not_written_to():
    K = Factor(np.ones((2, 1)))
    with pytest.raises(TypeError):
        K[0, 0] = 2.0
    with pytest.raises(TypeError, match="not written to"):
        K += 1.0
    with pytest.raises(ValueError, match="no array of its entries"):
        K.__array__(copy=False)


def test_the_matrix_is_not_formed_to_be_read(monkeypatch):
    n = 200_000
    K = Factor(np.random.default_rng(0).standard_normal((n, 3)))
    monkeypatch.setattr(Factor, "dense", lambda self: pytest.fail("the matrix was formed"))
    v, W, S = np.ones(n), np.ones((2, n)), sp.eye_array(n, format="csr")
    assert (K @ v).shape == (v @ K).shape == K.sum(axis=0).shape == K[7].shape == (n,)
    assert (W @ K).shape == (2, n)
    assert (S[:2] @ K[:, :4]).shape == K[:2, [5, 6, 7, 8]].shape == (2, 4)
    pairs = np.array([[0, 1], [5, n - 1]])
    assert K[pairs[:, 0], pairs[:, 1]].shape == (2,)
    assert K[np.ix_(pairs[0], pairs[1])].shape == (2, 2)
    assert K[np.arange(n) < 3, :3].shape == (3, 3)
    assert K[..., 4].shape == K.diagonal().shape == (n,)
    assert (3.0 * K / 2.0).trace() == pytest.approx(1.5 * K.trace())
    assert np.sum(K) == pytest.approx(v @ (K @ v), rel=1e-6)


READ = {
    **dict.fromkeys(("max", "min", "mean", "std", "var", "argmax", "any", "all", "tolist"), ()),
    **dict.fromkeys(("copy", "ravel", "flatten", "squeeze", "cumsum", "nonzero", "conj"), ()),
    **{"round": (2,), "reshape": (-1,), "astype": (np.float32,), "clip": (0.0, 1.0), "item": (0,)},
    **{"transpose": (), "swapaxes": (0, 1), "take": ([0],), "argsort": (), "dot": (np.eye(4),)},
}


@pytest.mark.parametrize("name", READ)
def test_what_an_array_has_a_factor_has(name):
    K = Factor(np.random.default_rng(0).standard_normal((4, 2)))
    found, expected = (getattr(value, name)(*READ[name]) for value in (K, K.dense()))
    np.testing.assert_array_equal(found, expected)
    assert name in dir(K)


def test_what_writes_to_an_array_a_factor_has_not():
    K = Factor(np.ones((3, 1)))
    with pytest.raises(AttributeError, match=r"'sort'; it is not written to: numpy.array\(K\)"):
        K.sort()
    with pytest.raises(AttributeError, match="no attribute 'maximum'$"):
        K.maximum()
    assert not hasattr(K, "toarray")
    K.copy()[:] = 0.0
    assert K.max() == 1.0
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(K)).mean(axis=0), np.ones(3))
