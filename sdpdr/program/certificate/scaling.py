r"""Programs that reward directions: multipliers scaled, or mixed with the price of slack.

*Scaling.* When the objective maximises <-C, K> with -C positive definite on the face
(variance, for instance) the condition t A*(y) + C >= 0 holds for every t >= 1 / lambda, lambda
being the smallest eigenvalue of the pencil (A*(y), -C). For Maximum Variance Unfolding that is the
Laplacian bound U = d^T w / lambda_2(L(w)) (Sun, Boyd, Xiao, Diaconis, SIAM Review 48(4), 2006).

*Mixing.* When multipliers are boxed by the price of slack, so that scaling leaves the box, y is
mixed with the largest multipliers allowed until the condition holds; lambda is concave.

*Outweighing.* When the objective maximises <R, K> with R >= 0 but not definite (spread of furthest
pairs, side information of low rank), and A*(y) is positive definite on the face, then
t A*(y) - R >= 0 holds for every t >= rho, the largest eigenvalue of the pencil (R, A*(y)). For
R = F F^T that is the largest eigenvalue of F^T A*(y)^+ F, a matrix with as many rows as F has
columns. With R the identity on centred points, 1 / rho is the lambda of scaling. Where rounding
leaves A*(y) singular, a few t next to 1 are tried.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg import lengths_of
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.smallest import bordered_lu, smallest_eigenvalue
from sdpdr.program.boxes import Box, dual_box, within
from sdpdr.program.certificate.account import Account
from sdpdr.program.certificate.arithmetic import Arithmetic, is_mass, is_positive_matrix
from sdpdr.program.certificate.free import Certificate, Duals
from sdpdr.program.face import null_vectors, visible_rows
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

# Within this of 1, scaling costs nothing, and no other argument can do better.
_TIGHT = 1e-9
# A reward this little below zero, relatively, is not negative.
_ROUNDING = 1e-12
# By how much multipliers may be stretched; more costs more than the limit of a trace.
_STRETCHES = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)


def scaled_or_mixed(sdp: SDP, duals: Duals, arithmetic: Arithmetic) -> Certificate | None:
    """The bound of these two arguments; None where neither speaks of such a program."""
    box = None if sdp.lmis or len(sdp.psd_variables) != 1 else dual_box(sdp)
    if box is None:
        return None
    y = within(box, {r.label: duals[r.label] for r in visible_rows(sdp)})
    lam = _pencil_value(sdp, y)
    if lam is None:
        return None
    if any(np.isfinite(side).any() for r in visible_rows(sdp) for side in _limits(r, box)):
        return _mixed(sdp, y, lam, _inside(box) if arithmetic.rigorous else box, arithmetic)
    if lam <= 0.0 and not _limits_lengths(sdp):
        return None
    if lam <= 0.0:
        return Certificate(None, "the multipliers do not connect all points (λ <= 0)")
    return _scaled(sdp, y, lam, arithmetic)


def _limits_lengths(sdp: SDP) -> bool:
    """Whether all rows are on lengths of edges, whose weights must connect all points."""
    name = sdp.psd_variables[0].name
    return all(lengths_of(r.lhs[name]) for r in visible_rows(sdp) if name in r.lhs)


def _scaled(sdp: SDP, y: Duals, lam: float, arithmetic: Arithmetic) -> Certificate:
    needed, best = 1.0 / lam, _best_scale(sdp, y)
    margins = arithmetic.margins(sdp.psd_variables[0].n)
    scaled = (_times(max(needed * (1.0 + margin), best), y) for margin in margins)
    words = f"multipliers scaled by 1/λ, λ = {lam:.10g}; λ {arithmetic.words}"
    return Account(sdp, arithmetic).certificate(scaled, words) or _unverified(lam)


def _times(t: float, y: Duals) -> dict[str, Array]:
    return {label: t * v for label, v in y.items()}


def _unverified(lam: float) -> Certificate:
    return Certificate(None, f"λ = {lam:.6g} could not be verified")


def _best_scale(sdp: SDP, y: Duals) -> float:
    """The t that maximises the dual value along t y when slack is quadratic; else 0."""
    quadratic = 0.0
    for v in sdp.vector_variables:
        if v.curvature is not None:
            u = np.asarray(sdp.dual_slack(v.name, y)) - np.asarray(sdp.cost(v.name))
            quadratic += float(np.sum(np.square(u) / v.curvature))
    linear = -sum(float(r.rhs @ y[r.label]) for r in visible_rows(sdp))
    return max(0.0, linear / quadratic) if quadratic > 0.0 else 0.0


def _mixed(sdp: SDP, y: Duals, lam: float, box: Box, arithmetic: Arithmetic) -> Certificate:
    largest = {label: _largest_allowed(v, lam, *box[label]) for label, v in y.items()}
    top = _pencil_value(sdp, largest)
    if lam < 1.0 and (top is None or top <= 1.0):
        return Certificate(
            None,
            "even the largest multipliers that the price of slack allows "
            "give no bound; a higher price would",
        )

    def mixed(margin: float) -> dict[str, Array]:
        if lam >= 1.0 + margin:
            return within(box, _times((1.0 + margin) / lam, y))
        assert top is not None
        s = min(1.0, (1.0 + margin - lam) / max(top - lam, 1e-300))
        return within(box, {k: (1.0 - s) * v + s * largest[k] for k, v in y.items()})

    words = f"multipliers within the price of slack, λ = {lam:.10g}; {arithmetic.words}"
    margins = arithmetic.margins(sdp.psd_variables[0].n)
    return Account(sdp, arithmetic).certificate(map(mixed, margins), words) or _unverified(lam)


def _limits(rows: Rows, box: Box) -> tuple[Array, Array]:
    """Finite box sides that are not the plain sign of an inequality's multiplier."""
    lower, upper = box[rows.label]
    plain = 0.0 if rows.relation == "<=" else -np.inf
    return np.where(lower == plain, -np.inf, lower), upper


def _inside(box: Box) -> dict[str, tuple[Array, Array]]:
    """The box without its rim, whose limits -c / a are rounded; a limit of zero is exact."""

    def inwards(side: Array, towards: float) -> Array:
        moved = np.nextafter(np.nextafter(side, towards), towards)
        return np.where(np.isfinite(side) & (side != 0.0), moved, side)

    return {k: (inwards(low, np.inf), inwards(high, -np.inf)) for k, (low, high) in box.items()}


def _largest_allowed(y: Array, lam: float, lower: Array, upper: Array) -> Array:
    """Multipliers at the price of slack; where there is none, stretched beyond λ = 1."""
    free = 2.0 * y / lam if lam > 0.0 else np.maximum(np.abs(y), 1.0)
    return np.clip(np.where(np.isfinite(upper), upper, free), lower, upper)


def _pencil_value(sdp: SDP, y: Duals) -> float | None:
    """Smallest eigenvalue of (A*(y), -C) on the face; None where -C is not definite there."""
    name = sdp.psd_variables[0].name
    null, reward = null_vectors(sdp, name), -1.0 * sdp.cost(name)
    if isinstance(reward, Outer) or not is_mass(reward, null):
        return None
    weighted = sdp.dual_slack(name, y) + reward
    return smallest_eigenvalue(weighted, null, reward, near=1.0)[0]


# -- outweighing ------------------------------------------------------------------------------


def outweighed(sdp: SDP, duals: Duals, arithmetic: Arithmetic) -> tuple[Certificate, bool] | None:
    """The bound of this argument, and whether it is tight; None where it does not apply."""
    if sdp.lmis or len(sdp.psd_variables) != 1 or sdp.vector_variables:
        return None
    box = dual_box(sdp)
    if box is None:
        return None
    y = within(box, {r.label: duals[r.label] for r in visible_rows(sdp)})
    name = sdp.psd_variables[0].name
    null, reward, weighted = null_vectors(sdp, name), -1.0 * sdp.cost(name), sdp.weighted(name, y)
    if not _is_reward(reward, null) or (isinstance(reward, Outer) and not sp.issparse(weighted)):
        return None
    if not is_mass(weighted, null):
        return _stretched(sdp, y, arithmetic)
    share = _largest_share(reward, null, weighted)
    if share is None:
        return None
    scales = (share * (1.0 + margin) for margin in arithmetic.margins(sdp.psd_variables[0].n))
    words = f"multipliers scaled by ρ = {share:.10g}, which outweigh the reward; {arithmetic.words}"
    found = Account(sdp, arithmetic).certificate((_times(t, y) for t in scales), words)
    return None if found is None else (found, share <= 1.0 + _TIGHT)


def _stretched(sdp: SDP, y: Duals, arithmetic: Arithmetic) -> tuple[Certificate, bool] | None:
    """The bound of multipliers a little larger, where rounding leaves no pencil to say how much."""
    for stretch in _STRETCHES:
        words = f"multipliers stretched by {stretch:.0e}; {arithmetic.words}"
        found = Account(sdp, arithmetic).certificate([_times(1.0 + stretch, y)], words)
        if found is not None:
            return found, stretch <= _TIGHT
    return None


def _is_reward(reward: Matrix, null: sp.csr_array) -> bool:
    """Whether a matrix is positive semidefinite on the face, to rounding."""
    if isinstance(reward, Outer):
        return bool(np.all(reward.weights >= 0.0)) and not reward.sparse.nnz
    size = _ROUNDING * float(np.abs(reward.diagonal()).max())
    lift = sp.eye_array(reward.shape[0], format="csr") * size
    return is_positive_matrix(reward + (lift if sp.issparse(reward) else lift.toarray()), null)


def _largest_share(reward: Matrix, null: sp.csr_array, weighted: Matrix) -> float | None:
    """The largest eigenvalue of (R, A*(y)) on the face, where R >= 0 and A*(y) > 0."""
    if isinstance(reward, Outer):
        return _share_of_columns(reward, weighted, null)
    share = -smallest_eigenvalue(-1.0 * reward, null, weighted, near=-1.0)[0]
    return share if share > 0.0 else None


def _share_of_columns(reward: Outer, weighted: Matrix, null: sp.csr_array) -> float:
    bordered = sp.block_array([[weighted, null], [null.T, None]], format="csc")
    right = np.zeros((bordered.shape[0], reward.weights.size))
    right[: reward.shape[0]] = reward.columns * np.sqrt(reward.weights)
    products = right.T @ bordered_lu(bordered, reward.shape[0])(right)
    return float(np.linalg.eigvalsh((products + products.T) / 2.0)[-1])
