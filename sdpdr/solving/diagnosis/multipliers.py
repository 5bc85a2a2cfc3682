"""Multipliers of a conflict as fractions, checked without rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.certify.flat import NONNEGATIVE, SEMIDEFINITE
from sdpdr.linalg.exact import range_of
from sdpdr.solving.diagnosis.subsets import Mask
from sdpdr.solving.diagnosis.view import View

# Denominators that are tried, and rows and entries that fractions are quick on.
_DENOMINATORS = (1, 2, 12, 120, 1000)
_ROWS, _ENTRIES = 60, 3000


def exact_multipliers(view: View, kept: Mask, ray: Array) -> dict[str, list[Fraction]] | None:
    """Multipliers of constraints as fractions that prove the conflict exactly.

    Those of cones of variables follow from them. None where no small fractions do.
    """
    named, program = view.stated, view.stated.program
    rows = np.flatnonzero(kept & named.owned)
    if not 0 < rows.size <= _ROWS or program.around.E is not None or program.around.A is not None:
        return None
    sizes = np.abs(ray[rows])
    if not sizes.max() > 0.0:
        return None
    unit = sizes[sizes > 1e-6 * sizes.max()].min()
    for most in _DENOMINATORS:
        found = {int(k): Fraction(float(ray[k] / unit)).limit_denominator(most) for k in rows}
        if _contradicts(view, found):
            return {
                label: [found.get(int(k), Fraction(0)) for k in at]
                for label, at in named.constraints.items()
                if kept[at].any()
            }
    return None


def _contradicts(view: View, weights: dict[int, Fraction]) -> bool:
    """Whether weights of constraints prove that no point satisfies them, in exact arithmetic."""
    program, owned = view.stated.program, view.stated.owned
    m = program.f.size
    total, right, count = dict[int, Fraction](), Fraction(0), 0
    for k, weight in weights.items():
        matrix, side, row = (program.E, program.f, k) if k < m else (program.A, program.b, k - m)
        begin, end = matrix.indptr[row], matrix.indptr[row + 1]
        count += end - begin
        if count > _ENTRIES:
            return False
        for j, a in zip(matrix.indices[begin:end], matrix.data[begin:end], strict=True):
            total[int(j)] = total.get(int(j), Fraction(0)) + weight * Fraction(float(a))
        right += weight * Fraction(float(side[row]))
    total = {j: value for j, value in total.items() if value}
    if right >= 0:
        return False
    for part in program.parts:
        rows = m + part.rows
        if owned[rows].all():
            if not _is_in_dual(part.kind, [weights.get(int(k), Fraction(0)) for k in rows]):
                return False
            continue
        # The cone of a variable, whose rows are -x: what is left of its unknowns is its multiplier.
        own = [program.A[[row]] for row in part.rows]
        if any(row.nnz != 1 or row.data[0] != -1.0 for row in own) or program.b[part.rows].any():
            continue
        left = [total.pop(int(row.indices[0]), Fraction(0)) for row in own]
        if not _is_in_dual(part.kind, left):
            return False
    return not total


def _is_in_dual(kind: str, z: list[Fraction]) -> bool:
    """Whether multipliers lie in the dual of a cone: triangles have what is off it doubled."""
    if kind == NONNEGATIVE:
        return min(z) >= 0
    if kind != SEMIDEFINITE:
        return not any(z)
    order = round((2 * len(z)) ** 0.5 - 0.5)
    j, i = np.tril_indices(order)
    entries = {
        (int(p), int(q)): value if p == q else value / 2
        for p, q, value in zip(i, j, z, strict=True)
        if value
    }
    return range_of(entries) is not None
