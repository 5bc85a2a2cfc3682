r"""Bounds on the optimal value that we prove ourselves, from any solver's multipliers.

Only the multipliers y of a solver are used, never its word. Four arguments, tried in turn:

*Scaling.* When the objective maximises <-C, K> with -C positive definite on the face (variance,
for instance) the condition t A*(y) + C >= 0 holds for every t >= 1 / lambda, lambda being the
smallest eigenvalue of the pencil (A*(y), -C). For Maximum Variance Unfolding that is the
Laplacian bound U = d^T w / lambda_2(L(w)) (Sun, Boyd, Xiao, Diaconis, SIAM Review 48(4), 2006).

*Mixing.* When multipliers are boxed by the price of slack, so that scaling leaves the box, y is
mixed with the largest multipliers allowed until the condition holds; lambda is concave.

*Shifting.* For a general program, y moves along a combination of rows that sums to the identity
until the dual slack is positive definite (every matrix program with a fixed trace has one).

*Shrinking.* Where no rows give the identity but the cost C is positive definite itself (least
trace, for instance), t y with a t slightly less than one has a positive definite slack.

In each case the final multipliers are verified by the inertia of the dual slack (see
`sdpdr.linalg.inertia`), not by an eigenvalue estimate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.linalg import LinearMap
from sdpdr.linalg.inertia import is_positive_on
from sdpdr.linalg.spectral import complement, smallest_eigenvalue
from sdpdr.linalg.svec import Array, Matrix, smat, svec
from sdpdr.program.boxes import dual_box
from sdpdr.program.face import exposing_rows, null_vectors
from sdpdr.program.sdp import SDP, Rows

MARGINS = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)
Duals = Mapping[str, Array]


@dataclass(frozen=True)
class Certificate:
    """A proven bound on the optimal value, or the reason why there is none.

    Attributes
    ----------
    bound : float or None
        In the sense the person wrote: an upper bound of a maximum, a lower bound of a minimum.
    argument : str
        In words, which argument proves it, or why none does.
    """

    bound: float | None
    argument: str


def certify(sdp: SDP, duals: Duals) -> Certificate:
    """Prove a bound on the optimal value of a program from multipliers of any quality.

    Parameters
    ----------
    sdp : SDP
    duals : mapping from row label to array

    Returns
    -------
    Certificate
    """
    if not all(r.label in duals for r in sdp.rows):
        return Certificate(None, "the solver returned no multipliers")
    if not all(np.isfinite(y).all() for y in duals.values()):
        return Certificate(None, "the multipliers are not finite")
    if _has_no_objective(sdp):
        text = "there is no objective, so every feasible point is optimal"
        return Certificate(sdp.report(sdp.constant), text)
    if sdp.lmis or not sdp.psd_variables:
        return Certificate(None, "bounds are proved for programs over matrix variables only")
    box = dual_box(sdp)
    if box is None:
        return Certificate(None, "a scalar couples several rows, so multipliers are not separable")
    y = {r.label: np.clip(duals[r.label], *box[r.label]) for r in _visible(sdp)}
    boxed = any(np.isfinite(side).any() for r in _visible(sdp) for side in _limits(r, box))
    lam = _pencil_value(sdp, y)
    if lam is not None and lam <= 0.0 and not boxed:
        return Certificate(None, "the multipliers do not connect all points (lambda <= 0)")
    if lam is not None and not boxed:
        return _scaled(sdp, y, lam)
    if lam is not None:
        return _mixed(sdp, y, lam, box)
    return _shifted(sdp, y)


# -- the four arguments -----------------------------------------------------------------------


def _scaled(sdp: SDP, y: Duals, lam: float) -> Certificate:
    name = sdp.psd_variables[0].name
    needed = 1.0 / lam
    for margin in MARGINS:
        t = max(needed * (1.0 + margin), _best_scale(sdp, y))
        scaled = {label: t * v for label, v in y.items()}
        if _is_feasible(sdp, name, scaled):
            text = f"multipliers scaled by 1/λ, λ = {lam:.10g}; λ verified by inertia"
            return Certificate(sdp.report(sdp.dual_value(scaled)), text)
    return Certificate(None, f"λ = {lam:.6g} could not be verified by inertia")


def _best_scale(sdp: SDP, y: Duals) -> float:
    """The t that maximises the dual value along t y when slack is quadratic; else 0."""
    quadratic = 0.0
    for v in sdp.vector_variables:
        if v.curvature is not None:
            u = np.asarray(sdp.dual_slack(v.name, y)) - np.asarray(sdp.cost(v.name))
            quadratic += float(np.sum(np.square(u) / v.curvature))
    linear = -sum(float(r.rhs @ y[r.label]) for r in _visible(sdp))
    return max(0.0, linear / quadratic) if quadratic > 0.0 else 0.0


def _mixed(sdp: SDP, y: Duals, lam: float, box: Mapping[str, tuple[Array, Array]]) -> Certificate:
    name = sdp.psd_variables[0].name
    largest = {label: _largest_allowed(v, lam, *box[label]) for label, v in y.items()}
    top = _pencil_value(sdp, largest)
    if lam < 1.0 and (top is None or top <= 1.0):
        return Certificate(
            None,
            "even the largest multipliers that the price of slack allows "
            "give no bound; a higher price would",
        )
    for margin in MARGINS:
        if lam >= 1.0 + margin:
            t = (1.0 + margin) / lam
            mixed = {label: np.clip(t * v, *box[label]) for label, v in y.items()}
        else:
            assert top is not None
            s = min(1.0, (1.0 + margin - lam) / max(top - lam, 1e-300))
            mixed = {label: (1.0 - s) * v + s * largest[label] for label, v in y.items()}
        if _is_feasible(sdp, name, mixed):
            text = f"multipliers within the price of slack, λ = {lam:.10g}; verified by inertia"
            return Certificate(sdp.report(sdp.dual_value(mixed)), text)
    return Certificate(None, f"λ = {lam:.6g} could not be verified by inertia")


def _shifted(sdp: SDP, y: Duals) -> Certificate:
    y = dict(y)
    text = "dual point as returned; dual slack verified positive definite"
    for v in sdp.psd_variables:
        if _is_feasible(sdp, v.name, y):
            continue
        direction = _identity_rows(sdp, v.name)
        low = smallest_eigenvalue(sdp.dual_slack(v.name, y), null_vectors(sdp, v.name))[0]
        if direction is None:
            shrunk = _shrunk(sdp, v.name, y)
            if shrunk is not None:
                y, text = shrunk, "multipliers shrunk towards the cost; verified positive definite"
                continue
            return Certificate(
                None,
                f"the dual slack of {v.name!r} has eigenvalue {low:.2e}, and "
                "no combination of rows bounds the trace",
            )
        y = _shift_until_feasible(sdp, v.name, y, direction, low)
        if not _is_feasible(sdp, v.name, y):
            return Certificate(None, f"the dual slack of {v.name!r} could not be made positive")
        text = "dual point shifted along rows that fix the trace; verified positive definite"
    if any(r.relation == "<=" and np.any(y[r.label] < 0.0) for r in _visible(sdp)):
        return Certificate(None, "shifting makes multipliers of inequalities negative")
    if not _scalars_feasible(sdp, y):
        return Certificate(None, "multipliers violate the dual constraints of a scalar")
    return Certificate(sdp.report(sdp.dual_value(y)), text)


def _shrunk(sdp: SDP, name: str, y: Duals) -> dict[str, Array] | None:
    """The longest t y with C + t A*(y) positive definite; None if C itself is not."""
    cost, null = sdp.cost(name), null_vectors(sdp, name)
    if len(sdp.psd_variables) > 1 or not _positive(cost, null):
        return None
    low = smallest_eigenvalue(sdp.dual_slack(name, y) - cost, null, cost)[0]
    for margin in MARGINS:
        t = (1.0 - margin) / max(-low, 1.0)
        scaled = {label: t * v for label, v in y.items()}
        if _is_feasible(sdp, name, scaled):
            return scaled
    return None


def _shift_until_feasible(
    sdp: SDP, name: str, y: Duals, direction: Duals, low: float
) -> dict[str, Array]:
    scale = 1.0 + abs(low)
    for margin in MARGINS:
        step = max(0.0, -low) + margin * scale
        moved = {label: v + step * direction.get(label, 0.0) for label, v in y.items()}
        if _is_feasible(sdp, name, moved):
            return moved
    return dict(y)


# -- pieces -----------------------------------------------------------------------------------


def _has_no_objective(sdp: SDP) -> bool:
    curved = any(v.curvature is not None for v in sdp.vector_variables)
    return not curved and not any(np.any(a.matrix().data) for a in sdp.objective.values())


def _visible(sdp: SDP) -> list[Rows]:
    """Rows whose multipliers matter: all but those that merely state a face."""
    hidden = {r.label for v in sdp.psd_variables for r in exposing_rows(sdp, v.name)}
    return [r for r in sdp.rows if r.label not in hidden]


def _limits(rows: Rows, box: Mapping[str, tuple[Array, Array]]) -> tuple[Array, Array]:
    """Finite box sides that are not the plain sign of an inequality's multiplier."""
    lower, upper = box[rows.label]
    plain = 0.0 if rows.relation == "<=" else -np.inf
    return np.where(lower == plain, -np.inf, lower), upper


def _largest_allowed(y: Array, lam: float, lower: Array, upper: Array) -> Array:
    """Multipliers at the price of slack; where there is none, stretched beyond λ = 1."""
    free = 2.0 * y / lam if lam > 0.0 else np.maximum(np.abs(y), 1.0)
    return np.clip(np.where(np.isfinite(upper), upper, free), lower, upper)


def _pencil_value(sdp: SDP, y: Duals) -> float | None:
    """Smallest eigenvalue of (A*(y), -C) on the face; None where -C is not positive there."""
    if len(sdp.psd_variables) != 1:
        return None
    name = sdp.psd_variables[0].name
    null, reward = null_vectors(sdp, name), -1.0 * sdp.cost(name)
    if not _positive(reward, null):
        return None
    weighted = sdp.dual_slack(name, y) + reward
    return smallest_eigenvalue(weighted, null, reward)[0]


def _is_feasible(sdp: SDP, name: str, y: Duals) -> bool:
    return _positive(sdp.dual_slack(name, y), null_vectors(sdp, name))


def _positive(matrix: Matrix, null: sp.csr_array) -> bool:
    if sp.issparse(matrix) and matrix.nnz < 0.2 * matrix.shape[0] ** 2:
        return is_positive_on(matrix, null)
    basis = complement(null)
    try:
        sl.cholesky(basis.T @ (matrix @ basis))
    except np.linalg.LinAlgError:
        return False
    return True


def _scalars_feasible(sdp: SDP, y: Duals) -> bool:
    for v in sdp.vector_variables:
        s = np.asarray(sdp.dual_slack(v.name, y))
        if (v.nonnegative and np.any(s < 0.0)) or (
            not v.nonnegative and v.curvature is None and np.any(s != 0.0)
        ):
            return False
    return True


def _identity_rows(sdp: SDP, name: str) -> dict[str, Array] | None:
    """Multipliers z >= 0 where needed, on rows of this variable alone, with A*(z) = identity."""
    rows = [r for r in _visible(sdp) if set(r.lhs) == {name}]
    maps = [r.lhs[name] for r in rows]
    if not rows or not all(isinstance(a, LinearMap) for a in maps):
        return None
    stacked = sp.vstack([a.matrix() for a in maps], format="csr")
    target = svec(np.eye(maps[0].n))
    z = spl.lsqr(stacked.T, target, atol=1e-15, btol=1e-15, iter_lim=10 * stacked.shape[0])[0]
    error = smat(stacked.T @ z - target)
    if np.linalg.norm(error) > 1e-9:
        return None
    parts = np.split(z, np.cumsum([r.m for r in rows])[:-1])
    return {r.label: part for r, part in zip(rows, parts, strict=True)}
