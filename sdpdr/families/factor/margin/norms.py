r"""The trace norm and the max-norm as functions of factors.

The trace norm of M is the least :math:`\tfrac12 (|U|^2 + |V|^2)` over :math:`M = U V^T`, the
max-norm the least square of a longest row.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array

# Turns in which rows are aligned with slopes.
_ALIGNING = 100
# Singular values relative to the largest that count as zero.
_ZERO = 1e-9


class TraceFactors:
    """The trace norm of factors as they are."""

    name = "trace"

    @staticmethod
    def encode(F: Array) -> Array:
        """Numbers that stand for factors."""
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
        """Numbers that stand for factors."""
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
