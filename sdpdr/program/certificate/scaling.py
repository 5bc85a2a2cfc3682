r"""Programs that reward every direction: multipliers scaled, or mixed with the price of slack.

*Scaling.* When the objective maximises <-C, K> with -C positive definite on the face
(variance, for instance) the condition t A*(y) + C >= 0 holds for every t >= 1 / lambda, lambda
being the smallest eigenvalue of the pencil (A*(y), -C). For Maximum Variance Unfolding that is the
Laplacian bound U = d^T w / lambda_2(L(w)) (Sun, Boyd, Xiao, Diaconis, SIAM Review 48(4), 2006).

*Mixing.* When multipliers are boxed by the price of slack, so that scaling leaves the box, y is
mixed with the largest multipliers allowed until the condition holds; lambda is concave.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.spectral import smallest_eigenvalue
from sdpdr.program.boxes import dual_box
from sdpdr.program.certificate.account import Account
from sdpdr.program.certificate.arithmetic import Arithmetic, is_mass
from sdpdr.program.certificate.free import Certificate, Duals, visible_rows
from sdpdr.program.face import null_vectors
from sdpdr.program.limits import edge_lengths
from sdpdr.program.sdp import SDP, Rows

Box = Mapping[str, tuple[Array, Array]]


def scaled_or_mixed(sdp: SDP, duals: Duals, arithmetic: Arithmetic) -> Certificate | None:
    """The bound of these two arguments; None where neither speaks of such a program."""
    box = None if sdp.lmis or len(sdp.psd_variables) != 1 else dual_box(sdp)
    if box is None:
        return None
    y = {r.label: np.clip(duals[r.label], *box[r.label]) for r in visible_rows(sdp)}
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
    return all(edge_lengths(r.lhs[name]) for r in visible_rows(sdp) if name in r.lhs)


def _scaled(sdp: SDP, y: Duals, lam: float, arithmetic: Arithmetic) -> Certificate:
    needed, best = 1.0 / lam, _best_scale(sdp, y)
    for margin in arithmetic.margins(sdp.psd_variables[0].n):
        t = max(needed * (1.0 + margin), best)
        scaled = {label: t * v for label, v in y.items()}
        value = Account(sdp, arithmetic).value(scaled)
        if value is not None:
            text = f"multipliers scaled by 1/λ, λ = {lam:.10g}; λ {arithmetic.words}"
            return Certificate(sdp.report(value), text, arithmetic.rigorous, scaled)
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
    for margin in arithmetic.margins(sdp.psd_variables[0].n):
        if lam >= 1.0 + margin:
            t = (1.0 + margin) / lam
            mixed = {label: np.clip(t * v, *box[label]) for label, v in y.items()}
        else:
            assert top is not None
            s = min(1.0, (1.0 + margin - lam) / max(top - lam, 1e-300))
            mixed = {
                label: np.clip((1.0 - s) * v + s * largest[label], *box[label])
                for label, v in y.items()
            }
        value = Account(sdp, arithmetic).value(mixed)
        if value is not None:
            text = f"multipliers within the price of slack, λ = {lam:.10g}; {arithmetic.words}"
            return Certificate(sdp.report(value), text, arithmetic.rigorous, mixed)
    return Certificate(None, f"λ = {lam:.6g} could not be verified")


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
