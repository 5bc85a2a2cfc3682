r"""Points brought back to equalities by a scaling that keeps them positive semidefinite.

*Diagonal.* Where all rows on a matrix fix diagonal entries, :math:`X_{ii} = b_i > 0` (max-cut,
correlation matrices), or sums of them without an entry in common,
:math:`\sum_i a_{ei} X_{ii} = b_e` with positive coefficients (a trace, boxes with slack on the
diagonal), :math:`D X D` with
:math:`D_{ii}^2 = b_e / \sum_k a_{ek} X_{kk}` satisfies them: the rows of a factor are scaled.

*One number.* Where exactly one row has a right side that is not zero, and the others are
equalities with zeros (a fixed trace, an ellipsoid), :math:`(b / \langle A, X\rangle)\, X`
satisfies it and leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg import BilinearForms, LinearMap
from sdpdr.linalg.magnitudes import is_written_exactly, least_share
from sdpdr.linalg.svec import svec_pairs
from sdpdr.program.point import Factor, Value, congruent
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

_Values = Mapping[str, Value]
# Coefficients of which so much is left are sums of positive terms.
_POSITIVE = 1.0 - 1e-9


def rescale(sdp: SDP, values: _Values) -> _Values:
    """The point with every matrix scaled where one of the two forms fits; others as they are.

    Parameters
    ----------
    sdp : SDP
    values : mapping from variable name to array or Factor

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.linalg import Diagonal, InnerProduct
    >>> from sdpdr.program.point import Factor, PsdVariable
    >>> from sdpdr.program.rows import Rows
    >>> ones = Rows("ones", "==", {"X": Diagonal(2)}, np.ones(2))
    >>> sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct(np.eye(2))}, (ones,))
    >>> rescale(sdp, {"X": Factor(np.array([[2.0], [-0.5]]))})["X"].factor.tolist()
    [[1.0], [-1.0]]
    """
    for v in sdp.psd_variables:
        groups = [r for r in sdp.rows if v.name in r.lhs]
        if any(v.name in lmi.lhs for lmi in sdp.lmis):
            continue
        found = rescaled_by(groups, v.name, v.n, values)
        if found is not None:
            values = {**values, v.name: congruent(values[v.name], sp.diags_array(found[0]))}
    return values


def rescaled_by(
    groups: list[Rows], name: str, n: int, values: _Values
) -> tuple[Array, Literal["diagonal", "single"]] | None:
    """Factors for the rows of a factor, and which of the two forms fits; None if neither does."""
    if any(set(r.lhs) != {name} or r.relation != "==" for r in groups):
        return None
    diagonal = _diagonal(groups, name, n, values)
    if diagonal is not None:
        return diagonal, "diagonal"
    single = _single(groups, name, values)
    return None if single is None else (np.full(n, single), "single")


def _diagonal(groups: list[Rows], name: str, n: int, values: _Values) -> Array | None:
    """Factors of the rows of a factor, where all that is asked for is a diagonal."""
    factors, seen = np.ones(n), np.zeros(n, dtype=bool)
    present = values[name].diagonal()
    for rows in groups:
        if rows.m == 0:
            continue
        linear_map = rows.lhs[name]
        assert isinstance(linear_map, LinearMap)
        if np.any(rows.rhs <= 0.0) or not may_be_diagonal(linear_map):
            return None
        matrix = linear_map.matrix()
        i, j = svec_pairs(matrix.indices)
        if np.any(i != j) or np.any(seen[i]) or np.unique(i).size != i.size:
            return None
        if np.any(matrix.data <= 0.0) or np.any(np.diff(matrix.indptr) == 0):
            return None
        if not is_written_exactly(linear_map) and least_share(linear_map) < _POSITIVE:
            return None
        seen[i] = True
        reached = np.add.reduceat(matrix.data * present[i], matrix.indptr[:-1])
        if np.any(reached <= 0.0):
            return None
        factors[i] = np.repeat(np.sqrt(rows.rhs / reached), np.diff(matrix.indptr))
    return factors if seen.any() else None


def may_be_diagonal(linear_map: LinearMap) -> bool:
    """Rules out large maps without writing them out."""
    return not isinstance(linear_map, BilinearForms) or bool(
        np.all(np.diff(linear_map.left.indptr) == 1)
    )


def _single(groups: list[Rows], name: str, values: _Values) -> float | None:
    """One factor for all rows, where one equality alone has a right side."""
    found = [(r, e) for r in groups for e in np.flatnonzero(r.rhs)[:2]]
    if len(found) != 1:
        return None
    rows, e = found[0]
    linear_map, value = rows.lhs[name], values[name]
    assert isinstance(linear_map, LinearMap)
    single = linear_map[[e]]
    reached = (
        single.apply_factor(value.factor) if isinstance(value, Factor) else single.apply(value)
    )
    ratio = float(rows.rhs[e]) / float(reached[0]) if reached[0] else 0.0
    return float(np.sqrt(ratio)) if 0.0 < ratio < np.inf else None
