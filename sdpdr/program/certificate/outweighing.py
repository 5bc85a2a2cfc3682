r"""Programs that reward some directions only: multipliers scaled until they outweigh the reward.

When the objective maximises <R, K> with R >= 0 but not definite (spread of furthest pairs, side
information of low rank), and A*(y) is positive definite on the face, then t A*(y) - R >= 0 holds
for every t >= rho, the largest eigenvalue of the pencil (R, A*(y)). For R = F F^T that is the
largest eigenvalue of F^T A*(y)^+ F, a matrix with as many rows as F has columns. With R the
identity on centred points, 1 / rho is the lambda_2 of `sdpdr.program.certificate.scaling`.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Matrix
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.spectral import lu, smallest_eigenvalue
from sdpdr.program.boxes import dual_box
from sdpdr.program.certificate.account import Account
from sdpdr.program.certificate.arithmetic import Arithmetic, is_mass, is_positive_matrix
from sdpdr.program.certificate.free import Certificate, Duals, visible_rows
from sdpdr.program.face import null_vectors
from sdpdr.program.sdp import SDP

# Within this of 1, scaling costs nothing, and no other argument can do better.
_TIGHT = 1e-9
# A reward this little below zero, relatively, is not negative.
_ROUNDING = 1e-12


def outweighed(sdp: SDP, duals: Duals, arithmetic: Arithmetic) -> tuple[Certificate, bool] | None:
    """The bound of this argument, and whether it is tight; None where it does not apply."""
    if sdp.lmis or len(sdp.psd_variables) != 1 or sdp.vector_variables:
        return None
    box = dual_box(sdp)
    if box is None:
        return None
    y = {r.label: np.clip(duals[r.label], *box[r.label]) for r in visible_rows(sdp)}
    share = _largest_share(sdp, y)
    if share is None:
        return None
    for margin in arithmetic.margins(sdp.psd_variables[0].n):
        t = share * (1.0 + margin)
        scaled = {label: t * v for label, v in y.items()}
        value = Account(sdp, arithmetic).value(scaled)
        if value is not None:
            text = f"multipliers scaled by ρ = {share:.10g}, which outweigh the reward; "
            text += arithmetic.words
            tight = share <= 1.0 + _TIGHT
            return Certificate(sdp.report(value), text, arithmetic.rigorous, scaled), tight
    return None


def _largest_share(sdp: SDP, y: Duals) -> float | None:
    """The largest eigenvalue of (R, A*(y)) on the face; None unless R >= 0 and A*(y) > 0 there."""
    name = sdp.psd_variables[0].name
    null, reward = null_vectors(sdp, name), -1.0 * sdp.cost(name)
    weighted: Matrix = sp.csr_array(reward.shape)
    for r in visible_rows(sdp):
        if name in r.lhs:
            weighted = weighted + r.lhs[name].adjoint(y[r.label])
    if not is_mass(weighted, null):
        return None
    if isinstance(reward, Outer):
        if np.any(reward.weights < 0.0) or reward.sparse.nnz or not sp.issparse(weighted):
            return None
        return _share_of_columns(reward, weighted, null)
    size = _ROUNDING * float(np.abs(reward.diagonal()).max())
    lift = sp.eye_array(reward.shape[0], format="csr") * size
    if not is_positive_matrix(reward + (lift if sp.issparse(reward) else lift.toarray()), null):
        return None
    share = -smallest_eigenvalue(-1.0 * reward, null, weighted, near=-1.0)[0]
    return share if share > 0.0 else None


def _share_of_columns(reward: Outer, weighted: Matrix, null: sp.csr_array) -> float:
    bordered = sp.block_array([[weighted, null], [null.T, None]], format="csc")
    right = np.zeros((bordered.shape[0], reward.weights.size))
    right[: reward.shape[0]] = reward.columns * np.sqrt(reward.weights)
    products = right.T @ lu(bordered).solve(right)
    return float(np.linalg.eigvalsh((products + products.T) / 2.0)[-1])
