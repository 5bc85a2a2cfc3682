r"""Units for the rows and columns of a matrix that make its coefficients similar in size.

With :math:`X = D X' D`, D diagonal, coefficients become :math:`d_i d_j A_{ij}`. The units are found
by least squares, :math:`\log_2 |A_{e,ij}| \approx \rho_e + a_i + a_j` over all coefficients of rows
and cost. They are powers of two, :math:`d_i = 2^{-a_i}`, so the change causes no rounding. Solvers
scale rows and whole variables, which does not help if one matrix mixes millimetres and miles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.linalg.magnitudes import largest_of_rows
from sdpdr.linalg.svec import svec_pairs
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Point, PsdVariable
from sdpdr.program.sdp import SDP
from sdpdr.reduce.base import Reduced, Reduction
from sdpdr.reduce.bases import in_bases, out_of_bases

# Binary digits between the largest and the smallest unit from which the change is worth while.
_WIDE = 12.0
# Largest share of the range of coefficients within rows that the units may leave. If more is left,
# small coefficients are not due to units, but for instance to rounding of zero.
_ALIKE = 0.5
# Coefficients below this share of the largest of their row may be rounding of zero. They determine
# units only if there are more coefficients than unknowns, and units explain all but this share.
_NEGLIGIBLE, _EXPLAINED = 2.0**-50, 0.1
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
    maps = [r.lhs[variable.name] for r in sdp.rows if variable.name in r.lhs]
    maps += [sdp.objective[variable.name]] if variable.name in sdp.objective else []
    if not maps:
        return None
    matrices = [a.matrix() for a in maps]
    sizes = np.abs(np.concatenate([a.data for a in matrices]))
    if not np.max(sizes, initial=0.0) >= 2.0**_WIDE * np.min(sizes[sizes > 0.0], initial=np.inf):
        return None
    stacked = sp.csr_array(sp.vstack(matrices))
    stacked.eliminate_zeros()
    largest = largest_of_rows(stacked)
    entries = stacked.tocoo()
    below = np.log2(largest[entries.row] / np.abs(entries.data))
    # Coefficients of a row differ by their units; n of these are tied by n - 1 rows.
    if (variable.n - 1) * np.max(below) < _WIDE:
        return None
    solid = np.abs(entries.data) > _NEGLIGIBLE * largest[entries.row]
    if not solid.all() and entries.data.size > entries.shape[0] + variable.n:
        units = _fitted(entries, np.ones(entries.data.size, dtype=bool), variable.n, _EXPLAINED)
        if units is not None:
            return units
    return _fitted(entries, solid, variable.n, _ALIKE)


def _fitted(entries: sp.coo_array, known: NDArray[np.bool_], n: int, left: float) -> Array | None:
    """Units fitted to some coefficients; None if they leave more than ``left`` of the range."""
    sizes = np.log2(np.abs(entries.data[known]))
    if sizes.size == 0 or np.ptp(sizes) < _WIDE:
        return None
    i, j = svec_pairs(entries.col[known])
    count, m = np.arange(sizes.size), entries.shape[0]
    place = np.concatenate([entries.row[known], m + i, m + j])
    design = sp.csr_array(
        (np.ones(3 * sizes.size), (np.tile(count, 3), place)), shape=(sizes.size, m + n)
    )
    fitted = spl.lsqr(design, sizes, atol=1e-6, btol=1e-6)[0]
    exponents = fitted[m:]
    used = np.unique(np.concatenate([i, j]))
    if np.ptp(exponents[used]) < _WIDE:
        return None
    rows = entries.row[known]
    mean = np.bincount(rows, sizes, m) / np.maximum(np.bincount(rows, minlength=m), 1)
    if np.ptp(sizes - design @ fitted) > left * np.ptp(sizes - mean[rows]):
        return None
    return np.asarray(np.exp2(-np.round(exponents)))
