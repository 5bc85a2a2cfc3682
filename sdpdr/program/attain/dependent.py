"""Rows that follow from others exactly: dependence shown in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sdpdr.linalg.svec import Index
from sdpdr.program.attain.cone import Scaled

# Numbers in an elimination with fractions beyond which it takes too long.
_LARGEST = 40_000


def follow_exactly(scaled: Scaled, rows: Index, others: Index) -> str:
    """Why some rows may not follow from others; empty if it is shown that they do.

    The stored coordinates are taken for exact, which they are where none has been rounded.

    Parameters
    ----------
    scaled : Scaled
    rows : array of int
        Independent rows.
    others : array of int
        Rows that are to follow from them, right sides included.
    """
    words = "rows depend on others, and it is not shown that they follow from them exactly"
    if scaled.A.nnz + scaled.b.size > _LARGEST:
        return words
    basis: dict[int, dict[int, Fraction]] = {}
    for e in np.concatenate([rows, others]):
        row = _reduced(_row(scaled, int(e)), basis)
        if not row:
            continue
        if e in others or set(row) == {-1}:
            return words
        pivot = min(j for j in row if j >= 0)
        basis[pivot] = {j: a / row[pivot] for j, a in row.items()}
    return ""


def _row(scaled: Scaled, e: int) -> dict[int, Fraction]:
    """Coefficients by column, the right side under -1; zeros left out."""
    part = slice(scaled.A.indptr[e], scaled.A.indptr[e + 1])
    entries = zip(scaled.A.indices[part], scaled.A.data[part], strict=True)
    row = {int(j): Fraction(a) for j, a in entries if a}
    return row | ({-1: Fraction(scaled.b[e])} if scaled.b[e] else {})


def _reduced(
    row: dict[int, Fraction], basis: dict[int, dict[int, Fraction]]
) -> dict[int, Fraction]:
    """What is left of a row once the pivots of the basis are eliminated."""
    while True:
        pivot = next((j for j in sorted(row) if j in basis), None)
        if pivot is None:
            return row
        factor = row[pivot]
        for j, a in basis[pivot].items():
            changed = row.get(j, Fraction(0)) - factor * a
            if changed:
                row[j] = changed
            else:
                row.pop(j, None)
