"""Bases of what is orthogonal to some vectors, without rounding."""

from __future__ import annotations

from math import lcm

import scipy.sparse as sp

from sdpdr.program.echelon import Echelon, exact_columns


def complement(null: sp.csr_array) -> sp.csr_array | None:
    """Columns that span what is orthogonal to others, without rounding.

    By elimination in rational numbers; None where a column has numbers that are no doubles, or
    where that takes too long.

    Examples
    --------
    >>> complement(sp.csr_array([[1.0], [1.0], [1.0]])).toarray()
    array([[-1., -1.],
           [ 1.,  0.],
           [ 0.,  1.]])
    """
    vectors, echelon = exact_columns(null), Echelon()
    if vectors is None:
        return None
    for vector in vectors:
        echelon.insert(vector)
    kept = [i for i in range(null.shape[0]) if i not in echelon.vectors]
    column = {place: k for k, place in enumerate(kept)}
    entries = [(i, column[j], a) for i in range(null.shape[0]) for j, a in echelon.row(i).items()]
    scales = [1] * len(kept)
    for _, k, a in entries:
        scales[k] = lcm(scales[k], a.denominator)
    numbers = [a * scales[k] for _, k, a in entries]
    if any(abs(number) >= 2**53 for number in numbers):
        return None
    places = [i for i, _, _ in entries], [k for _, k, _ in entries]
    return sp.csr_array(([float(a) for a in numbers], places), shape=(null.shape[0], len(kept)))
