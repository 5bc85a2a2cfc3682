r"""Units for the rows and columns of a matrix that make its coefficients alike.

With :math:`X = D X' D`, D diagonal, coefficients become :math:`d_i d_j A_{ij}`. The units are those
in which proofs read the program (`sdpdr.certify.units`): powers of two, so that the change rounds
nothing. Solvers scale rows and whole variables, which does not help if lengths of a millimetre meet
those of a mile.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.certify.flat import EXACT
from sdpdr.certify.standard import as_written
from sdpdr.certify.units import Units
from sdpdr.linalg import LinearMap
from sdpdr.linalg.svec import upper_triangle
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Point, PsdVariable
from sdpdr.program.sdp import SDP
from sdpdr.reduce.base import Reduced, Reduction
from sdpdr.reduce.bases import in_bases, out_of_bases

# Binary digits between the largest and the smallest unit from which the change is worth while.
_WIDE = 12.0
# Orders above this are left alone, because every coefficient is read.
_LARGEST = 300


@dataclass(frozen=True)
class Balance(Reduction):
    """Choose a unit for every row and column of a matrix if its coefficients need them.

    Multipliers stay as they are. Without these units, a max-cut whose points are measured in units
    of 2^20, 1 and 2^-25 is not certified by Clarabel or ``lowrank``.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.reduce import Balance
    >>> from sdpdr.linalg import Diagonal, InnerProduct
    >>> from sdpdr.program import SDP, PsdVariable, Rows
    >>> d = np.array([2.0**20, 1.0])
    >>> rows = Rows("ones", "==", {"X": d**2 * Diagonal(2)}, np.ones(2))
    >>> sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct(np.outer(d, d))}, (rows,))
    >>> balanced = np.abs(Balance().apply(sdp).sdp.cost("X"))
    >>> float(balanced.max() / balanced.min())
    1.0
    """

    name: ClassVar[str] = "balance"

    def accepts(self, sdp: SDP) -> str | None:
        """Programs with a matrix whose coefficients range over more than a thousandfold."""
        if any(_units(sdp, v) is not None for v in sdp.psd_variables):
            return None
        return "the coefficients of every matrix have about the same size in all its rows"

    def _reduce(self, sdp: SDP) -> Reduced:
        found = {v.name: _units(sdp, v) for v in sdp.psd_variables}
        units = {k: sp.diags_array(d, format="csr") for k, d in found.items() if d is not None}
        inverse = {k: sp.diags_array(1.0 / d.diagonal(), format="csr") for k, d in units.items()}
        return Reduced(
            sdp.rewritten(lambda side: in_bases(side, units)),
            lambda point: Point(out_of_bases(point.values, units), point.duals),
            push=lambda point: Point(out_of_bases(point.values, inverse), point.duals),
        )


def _units(sdp: SDP, variable: PsdVariable) -> Array | None:
    """Powers of two for the rows of a matrix; None if they would be much the same."""
    if variable.n > _LARGEST or exposing_rows(sdp, variable.name):
        return None
    if not _is_wide(sdp, variable.name):
        return None
    form = as_written(sdp)
    flat, (block,) = form.flat, (one for one in form.blocks if one.name == variable.name)
    # Costs are to be alike as well: as the coefficients of one more equation.
    E = sp.csr_array(sp.vstack([flat.E, sp.csr_array(flat.c[None])]))
    units = Units.of(replace(flat, E=E, f=np.append(flat.f, 0.0), around=EXACT))
    i, j = upper_triangle(variable.n)
    exponents = np.log2(units.unknowns[block.places[i == j]])
    # All are odd, or all even, and those of D are half of them.
    d = np.exp2((exponents - exponents[0] % 2.0) / 2.0)
    return None if np.max(d) < 2.0**_WIDE * np.min(d) else np.asarray(d)


def _is_wide(sdp: SDP, name: str) -> bool:
    """Whether coefficients of a matrix range as far as units that would be worth while."""
    maps = [side[name] for side in (sdp.objective, *(r.lhs for r in sdp.rows)) if name in side]
    sizes = [np.abs(a.matrix().data) for a in maps if isinstance(a, LinearMap)]
    some = np.concatenate([np.zeros(0), *sizes])
    some = some[some > 0.0]
    return bool(np.max(some, initial=0.0) >= 2.0**_WIDE * np.min(some, initial=np.inf))
