r"""Multipliers scaled until the dual slack is positive semidefinite.

*Scaling.* Where multipliers y may be multiplied by any t > 0, the dual slack
:math:`C + t A^*(y)` is positive semidefinite from some t on, or up to some t: an eigenvalue of the
pencil of its two parts, of which that one is the mass that is definite on the face. For unfolding,
t y are the weights of the Laplacian bound :math:`d^T w / \lambda_2(L(w))` (Sun, Boyd, Xiao,
Diaconis, SIAM Review 48(4), 2006).

*Mixing.* Where penalties limit multipliers, so that scaling leaves the box, y is mixed with the
largest ones allowed. The smallest eigenvalue of the slack is concave along the way, so that the
share at which its chord is zero suffices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix, largest
from sdpdr.certify.bounds.checker import shifted
from sdpdr.certify.bounds.dual_form import FEW, DualForm
from sdpdr.linalg import LinearMap
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.smallest import bordered_lu, smallest_eigenvalue
from sdpdr.linalg.svec import svec_pairs
from sdpdr.linalg.verified import DENSE, is_verified_positive
from sdpdr.program.face import null_vectors

# The first margin is some roundings of the size of the slack, and some more for each row of a dense
# factorization; then they grow by this factor.
_ROUNDINGS, _OF_ROWS, _FACTOR, _LEVELS = 16.0, 64.0, 8.0, 10
# The least eigenvalue, beside the largest diagonal entry, of a matrix that may be a pencil's mass:
# one that is singular but for rounding has no eigenvalues to speak of.
_CLEARLY = 1e-12
_PENALTIES_TOO_SMALL = (
    "even the largest multipliers that penalties allow give no bound; a larger penalty would"
)


def margins(form: DualForm, size: float = 1.0) -> list[float]:
    """What is added to an estimate of size 1 for slack of some size, the smallest first."""
    rows = max((v.n for v in form.sdp.psd_variables if v.n <= DENSE), default=0)
    first = UNIT * (_ROUNDINGS + _OF_ROWS * rows) * size
    return [first * _FACTOR**k for k in range(_LEVELS)]


class LowEnd(NamedTuple):
    """The smallest eigenvalue of a matrix of slack, and the size of the matrix."""

    low: float
    size: float


def low_ends(form: DualForm, y: Array) -> dict[str, LowEnd]:
    """The low ends of all slack, on the face."""
    duals, sdp, found = form.named(y), form.sdp, {}
    for v in sdp.psd_variables:
        slack = sdp.dual_slack(v.name, duals)
        low = smallest_eigenvalue(slack, null_vectors(sdp, v.name))[0]
        found[v.name] = LowEnd(low, max(largest(slack.diagonal()), abs(low)))
    return found


class Scaled(NamedTuple):
    """Multipliers that may prove a bound, and how they were found, or why there are none.

    Where all are multiples of those given, limits on traces prove no more unless they bound the
    objective by themselves: both cost the share that the slack lacks, of the bound or of the limit.
    """

    words: str
    candidates: Iterable[Array]
    are_multiples: bool


def scaled(form: DualForm, y: Array) -> Scaled | None:
    """Multipliers found by scaling or mixing; None where neither applies.

    Raises
    ------
    ArithmeticError
        If no eigenvalue is found.
    """
    if form.given.lmis or not form.is_boxed or not form.sdp.psd_variables or not np.any(y):
        return None
    lower, upper = form.box
    y = np.clip(y, lower, upper)
    scales = [_scales_of(form, v.name, form.named(y)) for v in form.sdp.psd_variables]
    least, most = max(low for low, _ in scales), min(high for _, high in scales)
    is_limited = bool(np.any(_penalized(form)))
    if not least < np.inf or (is_limited and least > 1.0):
        return _mixed(form, y, least)
    # As far down as the slack allows, or as far up where it does not lack anything.
    scale, away = (least, 1.0) if least > 0.0 else (min(most, 1.0 if is_limited else most), -1.0)
    if least > most or scale in (0.0, np.inf):
        return None
    steps = margins(form, _size_beside_cost(form, scale * y))
    words = f"multipliers scaled by {scale:.10g}"
    factors = (scale * (1.0 + away * m) for m in steps)
    return Scaled(words, (np.clip(t * y, lower, upper) for t in factors), True)


def _penalized(form: DualForm) -> Array:
    """Which multipliers have an upper or a lower limit that is not zero."""
    lower, upper = form.box
    return np.asarray((np.isfinite(lower) & (lower != 0.0)) | (np.isfinite(upper) & (upper != 0.0)))


def _scales_of(form: DualForm, name: str, y: Mapping[str, Array]) -> tuple[float, float]:
    """The factors between which slack is positive semidefinite; (inf, inf) if unknown."""
    null, cost = null_vectors(form.sdp, name), form.sdp.cost(name)
    weighted = form.sdp.weighted(name, y)
    if _is_clearly_positive(-1.0 * cost, null):
        low = smallest_eigenvalue(weighted, null, -1.0 * cost, near=1.0)[0]
        return (1.0 / low if low > 0.0 else np.inf), np.inf
    if _is_clearly_positive(cost, null):
        low = smallest_eigenvalue(weighted, null, cost, near=-1.0)[0]
        return 0.0, (-1.0 / low if low < 0.0 else np.inf)
    if _is_clearly_positive(weighted, null):
        if isinstance(cost, Outer) and not cost.sparse.nnz and np.all(cost.weights <= 0.0):
            return _largest_share(cost, weighted, null), np.inf
        low = smallest_eigenvalue(cost, null, weighted, near=-1.0)[0]
        return max(-low, 0.0), np.inf
    return np.inf, np.inf


def _largest_share(cost: Outer, weighted: Matrix, null: Matrix) -> float:
    """The largest eigenvalue of (F F^T, W), that of F^T W^-1 F on the face, where C = -F F^T."""
    weighted = sp.csr_array(weighted)
    bordered = sp.block_array([[weighted, null], [null.T, None]], format="csc")
    right = np.zeros((bordered.shape[0], cost.weights.size))
    right[: cost.shape[0]] = cost.columns * np.sqrt(-cost.weights)
    products = right.T @ bordered_lu(bordered, cost.shape[0])(right)
    return float(np.linalg.eigvalsh((products + products.T) / 2.0)[-1])


def _is_clearly_positive(matrix: Matrix, null: Matrix) -> bool:
    """Whether a matrix is so clearly definite on the face that it may be the mass of a pencil."""
    diagonal = np.asarray(matrix.diagonal())
    size = largest(diagonal)
    if size == 0.0 or (isinstance(matrix, Outer) and not matrix.sparse.nnz):
        return False
    if sp.issparse(matrix) and matrix.nnz == diagonal.size and np.all(diagonal > 0.0):
        return True
    nothing = sp.csr_array(matrix.shape)
    return is_verified_positive(shifted(matrix, -_CLEARLY * size), nothing, null)


def _size_beside_cost(form: DualForm, y: Array) -> float:
    """The size of the slack beside that of the cost, in whose units margins are."""
    found = 1.0
    for v in form.sdp.psd_variables:
        unit = largest(form.sdp.cost(v.name).diagonal())
        if unit > 0.0:
            slack = form.sdp.dual_slack(v.name, form.named(y))
            found = max(found, largest(slack.diagonal()) / unit)
    return found


def _mixed(form: DualForm, y: Array, scale: float) -> Scaled | None:
    """Multipliers between y and the largest that penalties allow."""
    lower, upper = form.box
    top = _largest_allowed(form, y, scale)
    here, there = low_ends(form, y), low_ends(form, top)
    if any(end.low <= 0.0 for end in there.values()):
        return Scaled(_PENALTIES_TOO_SMALL, (), False) if np.any(_penalized(form)) else None

    def share(margin: float) -> float:
        parts = [
            (margin * size - here[name].low) / max(high - here[name].low, 1e-300)
            for name, (high, size) in there.items()
        ]
        return min(max(0.0, *parts), 1.0)

    words = "multipliers mixed with the largest allowed"
    shares = map(share, margins(form))
    mixtures = (np.clip((1.0 - s) * y + s * top, lower, upper) for s in shares)
    return Scaled(words, mixtures, False)


def _largest_allowed(form: DualForm, y: Array, scale: float) -> Array:
    """Multipliers at the limits that penalties set, on the side that adds to traces.

    Those without a limit are stretched beyond what scaling would do, or as large as the cost.
    """
    lower, upper = form.box
    signs, sdp = np.sign(_traces(form)), form.sdp
    cost = max(largest(sdp.cost(v.name).diagonal()) for v in sdp.psd_variables)
    free = 2.0 * scale * y if scale < np.inf else signs * max(largest(y), 2.0 * cost)
    limit = np.where(signs > 0.0, upper, np.where(signs < 0.0, lower, np.inf))
    return np.clip(np.where(np.isfinite(limit) & (limit != 0.0), limit, free), lower, upper)


def _traces(form: DualForm) -> Array:
    """Traces of the coefficients of every row, of all matrices together."""
    found = []
    for r in form.rows:
        total = np.zeros(r.m)
        for linear_map in r.lhs.values():
            if isinstance(linear_map, LinearMap) and not linear_map.is_wide(FEW):
                entries = linear_map.matrix().tocoo()
                i, j = svec_pairs(entries.col)
                total += np.bincount(entries.row, np.where(i == j, entries.data, 0.0), r.m)
        found.append(total)
    return np.concatenate([np.zeros(0), *found])
