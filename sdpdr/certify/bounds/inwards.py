r"""Multipliers moved inwards, until the dual slack is positive semidefinite.

At y + r d the slack of a matrix is :math:`S + r W`. Its smallest eigenvalue is a concave function
of r with the derivative :math:`u^T W u`, u being the eigenvector, so that Newton's method finds the
least r at which it is zero. There are three ways inwards, tried in this order:

*Along y.* Where y may be multiplied by any positive number, W is the slack without its cost, or
its negative. For unfolding, such multiples are the weights of the Laplacian bound
:math:`d^T w / \lambda_2(L(w))` (Sun, Boyd, Xiao, Diaconis, SIAM Review 48(4), 2006).

*Along the identity.* Least squares find multipliers d with :math:`A^*(d)` near the identity. If
constraints bound the trace it is the identity, and the bound on the objective falls by the bound on
the trace times the absolute value of the smallest eigenvalue (Jansson, Chaykin, Keil, SIAM J.
Numer. Anal. 46(1), 2007).

*Towards a multiple of these.* The cost may be positive where they are not. Where penalties limit
multipliers, the limits themselves are taken.

The slack of free scalars is zero on all ways: directions are projected onto its equations, and so
are the multipliers that others are mixed with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array, Index, largest, placed
from sdpdr.certify.bounds.dual_form import DualForm
from sdpdr.certify.equations import Equations, UnprovedError
from sdpdr.linalg import LinearMap
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.smallest import smallest_eigenvalue
from sdpdr.linalg.svec import svec_size
from sdpdr.linalg.verified import DENSE
from sdpdr.program.face import null_vectors
from sdpdr.program.sdp import SDP, remembered

# The first margin is some roundings of the size of the slack, and some more for each row of a dense
# factorization. Then margins grow by this factor, up to a millionth.
_ROUNDINGS, _OF_ROWS, _FACTOR, _LARGEST = 16.0, 64.0, 8.0, 1e-6
# Where larger multipliers are better, they become so many times as large at most.
_LARGE = 2.0**20
# Newton steps; one so short is the last, since the next error is about its square.
_STEPS, _SHORT = 10, 1e-6
# Iterations of least squares, which only guess a direction.
_ITERATIONS = 300
# Constraints with more entries than this, and more than sparse rows usually have, are not read.
_FEW = 1_000_000
# Multipliers of sign-bound constraints that least squares left at zero, as a share of the largest.
_LITTLE = 1e-3
_INNER = "multipliers mixed with larger ones"
_NOT_POSITIVE = "the dual slack of {!r} does not become positive semidefinite"
_TOO_SMALL = (
    "even the largest multipliers that the penalties allow prove no bound; increase the penalties"
)


@dataclass(frozen=True, eq=False)
class Way:
    """A direction d, or multipliers d to be mixed with.

    Attributes
    ----------
    words : str
        How multipliers on the way are described.
    d : array
    is_point : bool
        Whether y is mixed with d: :math:`(y + r d) / (1 + r)`.
    least : float
        The smallest r. Below zero the way leads outwards too, to better bounds.
    trouble : str
        Message if the slack does not grow.
    """

    words: str
    d: Array
    is_point: bool = False
    least: float = 0.0
    trouble: str = _NOT_POSITIVE

    def at(self, y: Array, r: float) -> Array:
        """Multipliers on the way."""
        return (y + r * self.d) / (1.0 + r * self.is_point)


def ways(form: DualForm, y: Array) -> Iterator[Way]:
    """Ways inwards from multipliers within their limits."""
    if np.any(y) and not form.free.any():
        # Inwards is where the bound gets worse.
        grows = bool(form.b @ y > 0.0)
        words = "multipliers scaled"
        yield Way(words, y, least=-1.0) if grows else Way(words, -y, least=-_LARGE)
    v = identity_multipliers(form.given)
    along = _within_equations(form, v, 0.0 * form.c)
    if largest(along) > UNIT * along.size * largest(v):
        yield Way("multipliers moved inwards", along)
    lower, upper = form.box
    limit = np.where(v > 0.0, upper, np.where(v < 0.0, lower, np.inf))
    is_limited = np.isfinite(limit) & (limit != 0.0)
    costs = [largest(form.sdp.cost(u.name).diagonal()) for u in form.sdp.psd_variables]
    inner = np.clip((2.0 * max([0.0, *costs]) or 1.0) * v, lower, upper)
    words, trouble = _INNER, _TOO_SMALL if np.any(is_limited) else _NOT_POSITIVE
    d = _within_equations(form, np.where(is_limited, limit, inner), -form.c)
    yield Way(words, d, is_point=True, trouble=trouble)


def _within_equations(form: DualForm, v: Array, right: Array) -> Array:
    """The multipliers nearest to some that give free scalars the right sides; zero without any."""
    try:
        return Equations(form.columns[form.free], right[form.free], np.ones(v.size)).near(v)[0]
    except UnprovedError:
        return np.zeros(v.size)


@remembered
def identity_multipliers(sdp: SDP) -> Array:
    """Multipliers whose slack without its cost is near the identity, all with allowed signs.

    Constraints of too many entries have no part in it.
    """
    form = sdp.remembered(DualForm)
    coefficients, target = _coefficients(form)
    sizes = np.sqrt(np.asarray(coefficients.multiply(coefficients).sum(axis=1)).ravel())
    lower, upper = form.box
    sign = np.where(lower == 0.0, 1.0, 0.0) - np.where(upper == 0.0, 1.0, 0.0)
    rows, v = np.flatnonzero(sizes), np.zeros(sizes.size)
    while rows.size:
        scaled = sp.csr_array(sp.diags_array(1.0 / sizes[rows]) @ coefficients[rows])
        v[rows] = spl.lsqr(scaled.T.tocsr(), target, iter_lim=_ITERATIONS)[0] / sizes[rows]
        is_wrong = v[rows] * sign[rows] < 0.0
        if not np.any(is_wrong):
            break
        v[rows[is_wrong]], rows = 0.0, rows[~is_wrong]
    if not form.free.any():
        return v
    # So that a box around multipliers is within their limits.
    return np.where(v == 0.0, _LITTLE * largest(v) * sign, v)


def _coefficients(form: DualForm) -> tuple[sp.csr_array, Array]:
    """The coefficients of each constraint in the slack, and the entries of the identity."""
    sdp, blocks, targets, at = form.sdp, [], list[Index](), 0
    for v in sdp.psd_variables:
        start = 0
        for rows in form.rows:
            linear_map = rows.lhs.get(v.name)
            if isinstance(linear_map, LinearMap) and not linear_map.is_wide(_FEW):
                blocks.append((start, at, linear_map.matrix()))
            start += rows.m
        targets.append(np.cumsum(np.arange(1, v.n + 1)) - 1 + at)
        at += svec_size(v.n)
    # Scalars of a single constraint limit the sign of its multiplier, and are not fitted.
    is_fitted = form.free | (np.diff(form.columns.indptr) > 1)
    blocks.append((0, at, sp.csr_array(form.columns.T @ sp.diags_array(is_fitted.astype(float)))))
    targets.append(np.flatnonzero(form.nonnegative & is_fitted) + at)
    found = placed(blocks, (form.b.size, at + form.c.size))
    # Entries that no constraint reads say nothing, and there may be very many.
    seen = np.unique(found.indices)
    target = np.isin(seen, np.concatenate(targets)).astype(float)
    compact = (found.data, np.searchsorted(seen, found.indices), found.indptr)
    return sp.csr_array(compact, shape=(form.b.size, seen.size)), target


def shares(form: DualForm, y: Array, way: Way) -> list[float]:
    """Shares r to try in turn, with margins that grow.

    Raises
    ------
    UnprovedError
        If slack does not grow on the way.
    ArithmeticError
        If no eigenvalue is found.
    """
    least, unit = _of_scalars(form, y, way)
    for v in form.sdp.psd_variables:
        r, one = _of_matrix(form, v.name, y, way)
        least, unit = max(least, r), max(unit, one)
    rows = max((v.n for v in form.sdp.psd_variables if v.n <= DENSE), default=0)
    margin, found = UNIT * (_ROUNDINGS + _OF_ROWS * rows), list[float]()
    while margin < _LARGEST:
        found.append(least + margin * unit)
        margin *= _FACTOR
    return found


def _of_matrix(form: DualForm, name: str, y: Array, way: Way) -> tuple[float, float]:
    """Where the slack of a matrix becomes positive semidefinite, and its size over its growth."""
    sdp, null, r, unit = form.sdp, null_vectors(form.sdp, name), 0.0, 0.0
    growth = (sdp.dual_slack if way.is_point else sdp.weighted)(name, form.named(way.d))
    for _ in range(_STEPS):
        scale = 1.0 + r * way.is_point
        slack = sdp.dual_slack(name, form.named(way.at(y, r)))
        low, u = smallest_eigenvalue(slack, null)
        low, size = low * scale, scale * max(largest(slack.diagonal()), abs(low))
        rate = float(u @ (growth @ u)) / max(float(u @ u), 1e-300)
        if not rate > UNIT * u.size * largest(growth.diagonal()):
            if low >= 0.0:
                return max(r, way.least), unit
            raise UnprovedError(way.trouble.format(name))
        before, r, unit = r, max(r - low / rate, way.least), size / rate
        if abs(r - before) <= _SHORT * (1.0 + abs(r)):
            break
    return r, unit


def _of_scalars(form: DualForm, y: Array, way: Way) -> tuple[float, float]:
    """The same for nonnegative scalars."""
    some = form.nonnegative
    slack, growth = (form.c + form.columns @ y)[some], (form.columns @ way.d)[some]
    growth = growth + way.is_point * form.c[some]
    bad = np.flatnonzero(some)[(slack < 0.0) & (growth <= 0.0)]
    if bad.size:
        name = next(n for n, place in form.places.items() if place.start <= bad[0] < place.stop)
        scalar = f"scalar {bad[0] - form.places[name].start} of {name!r}"
        raise UnprovedError(f"the dual slack of {scalar} does not become positive")
    grows = growth > 0.0
    r = -slack[grows] / growth[grows]
    least = float(np.max(r, initial=way.least))
    sizes = (np.abs(form.c) + abs(form.columns) @ np.abs(y))[some][grows] / growth[grows]
    return least, float(np.max(sizes[r >= least], initial=0.0))
