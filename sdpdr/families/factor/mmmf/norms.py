r"""The trace norm and the max-norm as functions of factors.

The trace norm of M is the least :math:`\tfrac12 (|U|^2 + |V|^2)` over :math:`M = U V^T`, the
max-norm the least square of a longest row.

The dual norm of P is the spectral norm for the trace norm; for the max-norm it is at most
:math:`|\operatorname{diag}(a)^{-1/2} P \operatorname{diag}(b)^{-1/2}|_2` for any positive a and b
that add up to one each.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.linalg.verified import is_verified_positive

NORMS = ("trace", "max")

# Iterations that align rows with slopes.
_ALIGNING = 100
# Singular values relative to the largest that count as zero.
_ZERO = 1e-9
_EPS = float(np.finfo(float).eps)
# Shares of their mean that are added to all scales: a small scale makes its row weigh much, and is
# known to the accuracy of the others only.
_EVENED = (1e-9, 1e-7, 1e-5)
# Relative margins that a verified norm tries.
_MARGINS = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8)


class TraceFactors:
    """The trace norm of factors as they are."""

    name = "trace"

    @staticmethod
    def encode(F: Array) -> Array:
        """Parameters of factors, for a search without constraints."""
        return F.ravel()

    @staticmethod
    def decode(x: Array, n: int) -> tuple[Array, float]:
        """Factors and their norm."""
        return x.reshape(n, -1), 0.5 * float(x @ x)

    @staticmethod
    def pull(x: Array, F: Array, slope: Array) -> Array:
        """The gradient of the norm and of what has the given slope in the factors."""
        return x + slope.ravel()


class MaxFactors:
    r"""The max-norm: rows of length :math:`\sqrt t` in one dimension more, which no other row sees.

    The first numbers are vectors of which the directions count, the last is the logarithm of t.
    """

    name = "max"

    @staticmethod
    def encode(F: Array) -> Array:
        """Parameters of factors, for a search without constraints."""
        squares = np.sum(np.square(F), axis=1)
        t = max(float(np.max(squares)), 1e-300)
        own = np.sqrt(np.maximum(1.0 - squares / t, 1e-4))
        return np.append(np.column_stack([F / np.sqrt(t), own]).ravel(), np.log(t))

    @staticmethod
    def decode(x: Array, n: int) -> tuple[Array, float]:
        """Factors and their norm."""
        W, t = x[:-1].reshape(n, -1), float(np.exp(x[-1]))
        return np.sqrt(t) * (W / np.linalg.norm(W, axis=1)[:, None])[:, :-1], t

    @staticmethod
    def pull(x: Array, F: Array, slope: Array) -> Array:
        """The gradient of the norm and of what has the given slope in the factors."""
        W, t = x[:-1].reshape(len(F), -1), float(np.exp(x[-1]))
        lengths = np.linalg.norm(W, axis=1)[:, None]
        whole = np.sqrt(t) * np.column_stack([slope, np.zeros(len(F))])
        units = W / lengths
        tangent = (whole - np.sum(whole * units, axis=1)[:, None] * units) / lengths
        return np.append(tangent.ravel(), t + 0.5 * float(np.sum(slope * F)))


Factors: TypeAlias = TraceFactors | MaxFactors


def aligned(P: sp.csr_array, V: Array) -> tuple[Array, Array]:
    r"""Unit rows of a large :math:`\langle P, U V^T \rangle`, one side after the other.

    The largest is the dual of the max-norm, and the lengths of P V and :math:`P^T U` are then the
    scales that prove it.
    """
    V = _unit_rows(V)
    for _ in range(_ALIGNING):
        U = _unit_rows(P @ V)
        V = _unit_rows(P.T @ U)
    return U, V


def _unit_rows(F: Array) -> Array:
    lengths = np.linalg.norm(F, axis=1)[:, None]
    return np.asarray(F / np.where(lengths > 0.0, lengths, 1.0))


def principal(U: Array, V: Array, norm: str) -> tuple[Array, Array, float]:
    """Balanced factors of the same product, and the norm they prove.

    Columns, the longest first, are orthogonal: on each side for the trace norm, of both sides
    together for the max-norm.
    """
    if not U.shape[1]:
        return U, V, 0.0
    (left, R), (right, S) = np.linalg.qr(U), np.linalg.qr(V)
    inner, sizes, outer = np.linalg.svd(R @ S.T, full_matrices=False)
    if norm == "trace":
        kept = sizes > _ZERO * max(sizes[0], 1e-300)
        roots = np.sqrt(sizes[kept])
        sides = (left @ inner[:, kept], right @ outer[kept].T)
        return sides[0] * roots, sides[1] * roots, float(np.sum(sizes))
    longest = [np.sqrt(np.max(np.sum(np.square(F), axis=1))) for F in (U, V)]
    if not all(longest):
        return U[:, :0], V[:, :0], 0.0
    ratio = np.sqrt(longest[1] / longest[0])
    # Turned together: a turn of both sides keeps the lengths of rows, which are all that counts.
    squares, axes = np.linalg.eigh(ratio**2 * R.T @ R + S.T @ S / ratio**2)
    axes = axes[:, squares > _ZERO * squares[-1]][:, ::-1]
    return ratio * U @ axes, V @ axes / ratio, float(longest[0] * longest[1])


def evened(scale: Array) -> Array:
    """Positive scales that add up to about one."""
    return np.asarray(np.maximum(scale, 0.01 * np.mean(scale)) / np.sum(scale))


def factor_norm(U: Array, V: Array, norm: str) -> float:
    """The norm that factors prove for their product: an upper bound on that of the matrix."""
    if norm == "trace":
        return float(np.linalg.norm(U) * np.linalg.norm(V))
    longest = [float(np.max(np.sum(np.square(F), axis=1), initial=0.0)) for F in (U, V)]
    return float(np.sqrt(longest[0] * longest[1]))


def dual_norm(
    P: sp.csr_array,
    norm: str,
    scales: tuple[ArrayLike, ArrayLike] | None = None,
    *,
    rigorous: bool = False,
) -> float:
    """An upper bound on the dual of a norm: the spectral norm of P, or of P scaled.

    Parameters
    ----------
    P : sparse array of shape (p, q)
    norm : {"trace", "max"}
    scales : pair of arrays, optional
        Of rows and columns, for the max-norm.
    rigorous : bool, default False

    Raises
    ------
    UnknownNameError
        For another norm.

    Examples
    --------
    >>> P = sp.csr_array([[1.0, 1.0], [1.0, -1.0]])
    >>> round(dual_norm(P, "trace"), 6), round(dual_norm(P, "max"), 6)
    (1.414214, 2.828427)
    """
    validate.choice("norm", norm, NORMS)
    p, q = P.shape
    tried = [(np.ones(p), np.ones(q))]
    if norm == "max":
        given = (abs(P).sum(axis=1), abs(P).sum(axis=0)) if scales is None else scales
        sides = [np.asarray(scale, dtype=float) for scale in given]
        tried = [(_unit_sum(sides[0], even), _unit_sum(sides[1], even)) for even in _EVENED]
    sizes = [_scaled_norm(P, a, b) for a, b in tried]
    best = int(np.argmin(sizes))
    size = sizes[best] * (1.0 + 8.0 * (p + q) * _EPS)
    return _verified(sp.csr_array(P), *tried[best], size) if rigorous else size


def _scaled_norm(P: sp.csr_array, a: Array, b: Array) -> float:
    """The largest singular value, from the smaller of the two matrices of inner products."""
    dense = (sp.diags_array(a**-0.5) @ P @ sp.diags_array(b**-0.5)).toarray()
    p, q = dense.shape
    gram = dense @ dense.T if p < q else dense.T @ dense
    last = min(p, q) - 1
    return float(np.sqrt(max(0.0, sl.eigvalsh(gram, subset_by_index=(last, last))[0])))


def _unit_sum(scale: Array, even: float) -> Array:
    """Positive scales that add up to one, or slightly less, so that rounding makes it no more."""
    scale = np.maximum(scale, 0.0)
    scale = scale + even * max(float(np.mean(scale)), 1e-300)
    return np.asarray(scale / (np.sum(scale) * (1.0 + 2.0 * scale.size * _EPS)))


def _verified(P: sp.csr_array, a: Array, b: Array, size: float) -> float:
    """The least of a few numbers t with [[t diag(a), P], [P^T, t diag(b)]] verified positive."""
    diagonal = sp.diags_array(np.concatenate([a, b]))
    offset = sp.block_array([[None, P], [P.T, None]], format="csr")
    for margin in _MARGINS:
        t = size * (1.0 + margin)
        radius = _EPS * t * abs(diagonal)
        if is_verified_positive(sp.csr_array(t * diagonal + offset), sp.csr_array(radius)):
            return t
    return float("inf")
