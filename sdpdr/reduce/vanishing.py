"""Whether rows vanish on a face: what is left of them there, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import islice
from math import isqrt

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.exact import exact_terms
from sdpdr.linalg.exact_rows import Symmetric, add
from sdpdr.program.echelon import Echelon, exact_columns
from sdpdr.program.rows import Expression

# Terms of all rows that may be looked at.
_TERMS = 500_000
# Only the size of a number asks for this; whether it is zero does not.
_ROOT_TWO = Fraction(isqrt(2 * 10**80), 10**40)


def remainders(lhs: Expression, rows: Index, null: Mapping[str, sp.csr_array]) -> Array:
    """How large rows are on the face orthogonal to null vectors, beside what they are off it.

    Zero is exact: every matrix on the face has the value zero. Not a number says that the terms
    are too many.

    Parameters
    ----------
    lhs : mapping from variable name to map
        On matrix variables only.
    rows : array of indices
    null : mapping from variable name to sparse array of shape (n, p)
        Null vectors as columns.

    Examples
    --------
    >>> from sdpdr.linalg import SquaredEdgeLengths
    >>> lengths, null = SquaredEdgeLengths(2, [[0, 1]]), sp.csr_array(np.array([[1.0], [-1.0]]))
    >>> remainders({"K": lengths}, np.array([0]), {"K": null})
    array([0.])
    """
    found = np.full(len(rows), np.nan)
    faces = {name: _face(null[name]) for name in lhs}
    budget = _TERMS
    for place, e in enumerate(rows):
        before, after = Fraction(0), Fraction(0)
        for name, linear_map in lhs.items():
            terms = list(islice(exact_terms(linear_map, [int(e)]), budget + 1))
            budget -= len(terms)
            face = faces[name]
            if budget < 0 or face is None:
                break
            plain: Symmetric = {}
            rooted: Symmetric = {}
            for _, i, j, (p, q) in terms:
                share = Fraction(1 if i == j else 2)
                add(plain, {(i, j): p / share} if p else {})
                add(rooted, {(i, j): q / share} if q else {})
            before = max(before, _largest(plain, rooted))
            after = max(after, _largest(face.restrict(plain), face.restrict(rooted)))
        else:
            found[place] = float(after / before) if after else 0.0
            continue
        if budget < 0:
            break
    return found


def _face(null: sp.csr_array) -> Echelon | None:
    vectors = exact_columns(null)
    if vectors is None:
        return None
    face = Echelon()
    for vector in vectors:
        face.insert(vector)
    return face


def _largest(plain: Symmetric, rooted: Symmetric) -> Fraction:
    """The largest entry of P + sqrt(2) Q in size; zero only where both are."""
    zero = Fraction(0)
    entries = (
        abs(plain.get(k, zero) + _ROOT_TWO * rooted.get(k, zero))
        for k in plain.keys() | rooted.keys()
    )
    return max(entries, default=zero)
