"""Multipliers next to those that are given, by which the checker proves a bound.

Multipliers that the kernel has proved a bound by verify as they are, or scaled up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.certify.bounds.dual_form import DualForm
from sdpdr.certify.bounds.inwards import shares, ways
from sdpdr.certify.check_proof import (
    SMALLEST,
    NotProvedError,
    Program,
    as_columns,
    multipliers,
    power_of_two,
)
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.proof_file.program import cleaned
from sdpdr.certify.proof_file.values import Found, value_at, with_sigma
from sdpdr.program.sdp import SDP

# Shares by which multipliers grow until their slack is definite by more than rounding. The least
# costs nothing beside gaps of 1e-6, and each next one ten times as much.
_SHARES = (0.0, *(10.0**k for k in range(-10, 1)))
# No block has rows that are products with vectors.
NONE: Mapping[int, int] = {}
# Orders of matrices up to which null vectors are cleared of a slack.
_DENSE = 3000
# Beside the largest, what of a slack is in the direction of null vectors by rounding alone.
_AWAY = 1e-13


def inwards(sdp: SDP, duals: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
    """Multipliers whose slack is definite by more and more, on all ways inwards of the kernel.

    The kernel stops at the first that it verifies; the checker allows for more rounding.
    """
    form = sdp.remembered(DualForm)
    y = form.stack(duals)
    for way in ways(form, y):
        with suppress(UnprovedError, ArithmeticError):
            yield from (form.duals(way.at(y, r)) for r in shares(form, y, way))


def find_bound(
    P: Program,
    y: Array,
    *,
    ray: bool = False,
    images: Mapping[int, int] = NONE,
    scaled: bool = True,
) -> Found | str:
    """The bound that is proved by multipliers next to y, or why there is none.

    Parameters
    ----------
    P : Program
    y : array of shape (m + 1,)
        Multipliers of the objective, one or zero, and of rows.
    ray : bool, default False
        Whether the multipliers are to show that no point is feasible.
    images : mapping from block to int, optional
        The first of the rows of a block that are K f, for a null vector (f, -1).
    scaled : bool, default True
        Whether multipliers that prove nothing as they are may grow.
    """
    signed, troubles = P.inequality & ~P.equation, list[str]()
    y = np.where(signed, np.maximum(y, 0.0), y)
    for share in _SHARES if scaled else _SHARES[:1]:
        moved = np.r_[y[:1], (1.0 + share) * y[1:]]
        w = witness_of_multipliers(P, moved, ray=ray, images=images)
        try:
            at = multipliers(P, w, ray=ray)
            number = -value_at(at)
        except NotProvedError as why:
            troubles.append(f"multipliers {'scaled up' if share else 'as they are'}: {why}")
            continue
        kept = {name: x for name, x in w.items() if name != "a" or np.any(x)}
        return Found(number, with_sigma(kept, at), number)
    return "; ".join(dict.fromkeys(troubles))


def witness_of_multipliers(
    P: Program, y: Array, *, ray: bool = False, images: Mapping[int, int] = NONE
) -> dict[str, Array]:
    """Multipliers of rows as a point of the dual program, with units in which they move."""
    y = cleaned(y)
    s = combined(P, y)[P.E :]
    curved = np.flatnonzero(P.q)
    t = np.zeros(curved.size) if ray else cleaned(s[curved] / P.q[curved])
    unit = np.zeros(P.m + 1)
    if np.any(~P.sign & (P.q == 0) & ~P.fixed):
        unit[P.equation] = power_of_two(max(1.0, float(np.abs(y).max())))
        # Steps up to one keep a sign.
        positive = P.inequality & ~P.equation & (y > 2.0 * SMALLEST)
        unit[positive] = 0.5 * power_of_two(y[positive])
        for _, _, rows in P.cones:
            if np.any(y[rows]):
                unit[rows] = power_of_two(float(np.abs(y[rows]).max()))
    largest = max(float(np.abs(t).max(initial=0.0)), 1e4 * SMALLEST)
    unit_t = power_of_two(np.maximum(np.abs(t), 1e-3 * largest))
    return {"z": np.r_[y, t], "unit": np.r_[unit, unit_t], "a": null_multipliers(P, y, images)}


def combined(P: Program, y: Array) -> Array:
    """The sum of rows, as coefficients of entries, those off the diagonal twice, and scalars."""
    found: Array = np.bincount(P.column, P.value * y[P.row], P.E + P.p).astype(float)
    return found


def slack(P: Program, k: int, y: Array) -> sp.csr_array:
    """The upper triangle of the sum of y_i A_ik."""
    (a, b), n = P.columns(k), int(P.n[k])
    i, j = P.i[a:b], P.j[a:b]
    entries = combined(P, y)[a:b] * np.where(i == j, 1.0, 0.5)
    return sp.csr_array((entries, (i, j)), shape=(n, n))


def null_multipliers(P: Program, y: Array, images: Mapping[int, int]) -> Array:
    """Those of null vectors for which the dual slack S maps their complement to itself.

    They are zero where it does so already, or is too large for dense matrices.
    """
    found = [np.zeros(0)]
    for k, vectors in enumerate(P.U):
        n, p = int(P.n[k]), len(vectors)
        a = np.zeros((p, n))
        columns = [c for c, (i, _) in enumerate(vectors) if i[-1] >= images.get(k, n)]
        if columns:
            # With u = (f, -1), the diagonal entry d < 0 of K f becomes d f f' elsewhere. Other
            # null vectors take away what f has in common with them.
            diagonal, null = slack(P, k, y).diagonal(), as_columns(vectors, n).toarray()
            others = np.delete(np.arange(p), columns)
            for c in columns:
                row = vectors[c][0][-1]
                a[c, row] = min(diagonal[row], 0.0)
                shares = np.linalg.lstsq(null[:, others], null[:, c], rcond=None)[0]
                a[others, row] = -a[c, row] * shares
        elif p and n <= _DENSE:
            S, null = slack(P, k, y), as_columns(vectors, n).toarray()
            moved = S @ null + sp.triu(S, 1).T @ null
            across = moved - null @ np.linalg.lstsq(null, moved, rcond=None)[0]
            if np.max(np.abs(across)) > _AWAY * np.max(np.abs(S.data), initial=0.0):
                # With G the inverse of U' U: S - U G U' S - S U G U' + U G U' S U G U'.
                G = np.linalg.pinv(null.T @ null)
                a = 0.5 * G @ (null.T @ moved) @ G @ null.T - G @ moved.T
        found.append(a.ravel())
    return cleaned(np.concatenate(found))
