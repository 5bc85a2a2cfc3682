"""The laws that every linear map must obey, as a function to call on a map of one's own."""

from __future__ import annotations

import numpy as np

from sdpdr.linalg.maps import LinearMap
from sdpdr.linalg.svec import Matrix, svec


def check_map(linear_map: LinearMap, *, seed: int = 0, tol: float = 1e-10) -> None:
    r"""Test a map's methods against each other at random points.

    The laws are :math:`\langle A(K), y\rangle = \langle K, A^*(y)\rangle`; ``apply_factor`` =
    ``apply`` of the product; ``matrix`` and ``pattern`` agree with ``apply``; ``congruence``
    agrees with ``apply`` of V M V^T; and every null vector is one.

    Parameters
    ----------
    linear_map : LinearMap
    seed : int, default 0
    tol : float, default 1e-10
        Relative error allowed.

    Raises
    ------
    AssertionError
        Naming the law that fails and by how much.

    Examples
    --------
    >>> from sdpdr.linalg import Trace
    >>> check_map(Trace(4))
    """
    rng = np.random.default_rng(seed)
    n, m = linear_map.n, linear_map.m
    root = rng.standard_normal((n, n))
    gram = root + root.T
    factor = rng.standard_normal((n, 3))
    y = rng.standard_normal(m)
    values = linear_map.apply(gram)

    def agree(law: str, got: object, expected: object) -> None:
        got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
        assert got.shape == expected.shape, f"{law}: shapes {got.shape} and {expected.shape}"
        error = float(np.max(np.abs(got - expected), initial=0.0))
        scale = 1.0 + float(np.max(np.abs(expected), initial=0.0))
        assert error <= tol * scale, f"{law}: they differ by {error:.1e} (scale {scale:.1e})"

    adjoint = _dense(linear_map.adjoint(y))
    agree("adjoint is symmetric", adjoint, adjoint.T)
    agree("<A(K), y> = <K, A*(y)>", values @ y, np.sum(gram * adjoint))
    product = factor @ factor.T
    agree("apply_factor = apply", linear_map.apply_factor(factor), linear_map.apply(product))
    agree("matrix @ svec(K) = A(K)", linear_map.matrix() @ svec(gram), values)

    outside = np.ones((n, n), dtype=bool)
    i, j = linear_map.pattern().T
    outside[i, j] = outside[j, i] = False
    agree("pattern holds all entries read", linear_map.apply(gram * ~outside), values)

    basis = rng.standard_normal((n, max(1, n - 1)))
    small = basis.T @ gram @ basis
    lifted = linear_map.apply(basis @ small @ basis.T)
    agree("congruence", linear_map.congruence(basis).apply(small), lifted)

    null = linear_map.null_vectors(np.zeros(m)).toarray()
    for u in null.T:
        seen = np.max(np.abs(linear_map.apply(np.outer(u, u))), initial=0.0)
        assert seen > 0.0, "null_vectors: a vector that the map does not see"


def _dense(matrix: Matrix) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
