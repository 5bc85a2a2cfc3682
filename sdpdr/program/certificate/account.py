r"""What multipliers are worth once everything they lack is paid for.

For a feasible point and any multipliers (y >= 0 on inequalities) the objective is the dual value
plus :math:`\sum_k \langle S_k, X_k\rangle + s^T z` plus terms that are not negative. Hence, with
:math:`S_k + t_k I \succeq 0` on the face, :math:`\operatorname{tr} X_k \le \tau_k` and
:math:`l \le z \le u`,

.. math::  p^* \ge d(y) - \sum_k t_k \tau_k + \sum_j \min_{l_j \le z_j \le u_j} s_j z_j .

(Jansson, Chaykin, Keil, "Rigorous error bounds for the optimal value in semidefinite
programming", SIAM J. Numer. Anal. 46(1), 2007.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.program.certificate.arithmetic import Arithmetic
from sdpdr.program.certificate.free import Certificate, Duals
from sdpdr.program.limits import VariableLimits
from sdpdr.program.sdp import SDP


@dataclass
class Account:
    """Checks multipliers of a program without matrix inequalities, and says what they prove.

    Parameters
    ----------
    sdp : SDP
    arithmetic : Arithmetic
    limits : VariableLimits, optional
        On traces and scalars; without, nothing is known of them but their signs.

    Attributes
    ----------
    trouble : str
        Why the last multipliers proved nothing.
    """

    sdp: SDP
    arithmetic: Arithmetic
    limits: VariableLimits | None = None
    trouble: str = field(default="", init=False)

    def value(self, y: Duals, lifts: Mapping[str, float] | None = None) -> float | None:
        """A proven lower bound of the minimisation; None, and `trouble`, if there is none.

        Parameters
        ----------
        y : mapping from row label to array
            Of all rows but those that merely state a face.
        lifts : mapping from the name of a matrix variable to a number t_k >= 0
        """
        lifts = lifts or {}
        for r in self.sdp.rows:
            if r.relation == "<=" and r.label in y and np.any(y[r.label] < 0.0):
                self.trouble = f"multipliers of the inequalities {r.label!r} are negative"
                return None
        around = self.arithmetic.around(self.sdp, y)
        parts = [self._scalars(y, around), *(-self._trace(k) * t for k, t in lifts.items() if t)]
        if not np.isfinite(parts).all():
            return None
        for v in self.sdp.psd_variables:
            lift = lifts.get(v.name, 0.0)
            if not any(v.name in side for side in self.sdp.expressions()):
                continue  # The slack is zero, which no factorization confirms.
            if not self.arithmetic.is_positive(self.sdp, v.name, y, around, lift):
                self.trouble = f"the dual slack of {v.name!r} is not positive semidefinite"
                return None
        value = self.arithmetic.dual_value(self.sdp, y, around)
        paid = sum(parts)
        if not self.arithmetic.rigorous or not any(parts):
            return float(value + paid)
        rounding = 4.0 * (len(parts) + 2) * UNIT * (abs(value) + sum(abs(p) for p in parts))
        return float(np.nextafter(value + paid - rounding, -np.inf))

    def certificate(self, candidates: Iterable[Duals], words: str) -> Certificate | None:
        """What the first of some multipliers that prove a bound prove; None if none of them do.

        Parameters
        ----------
        candidates : iterable of mappings from row label to array
        words : str
            How they were come by and verified.
        """
        for y in candidates:
            value = self.value(y)
            if value is not None:
                return Certificate(self.sdp.report(value), words, self.arithmetic.rigorous, y)
        return None

    def _trace(self, name: str) -> float:
        limit = None if self.limits is None else self.limits.trace(name)
        if limit is None:
            self.trouble = f"no rows limit the trace of {name!r}"
            return float("inf")
        return limit.value

    def _scalars(self, y: Duals, around: Duals) -> float:
        """The least that scalars of the wrong slack can add; minus infinity without a limit."""
        total = 0.0
        for v in self.sdp.vector_variables:
            if v.curvature is not None:
                continue
            low, high = self.arithmetic.scalar_slack(self.sdp, v, y, around)
            if not np.any(low < 0.0) and (v.nonnegative or not np.any(high > 0.0)):
                continue  # Whatever they are, they add nothing.
            lower, upper = self._box(v.name, v.size, v.nonnegative)
            corners = [_times(s, z) for s in (low, high) for z in (lower, upper)]
            least = np.min(corners, axis=0)
            if np.any(np.isneginf(least)):
                j = int(np.argmin(least))
                kind = "" if v.nonnegative else "free "
                self.trouble = (
                    f"{kind}scalar {j} of {v.name!r} has the dual slack {low[j]:.1e}, and no rows "
                    "limit it"
                )
                return -np.inf
            rounding = float(gamma(v.size + 4)) * float(np.sum(np.abs(least)))
            total += float(np.sum(least)) - rounding
        return total

    def _box(self, name: str, size: int, nonnegative: bool) -> tuple[Array, Array]:
        if self.limits is not None:
            return self.limits.box(name)
        return np.full(size, 0.0 if nonnegative else -np.inf), np.full(size, np.inf)


def _times(slack: Array, limit: Array) -> Array:
    """The product, where 0 times an infinite limit is 0: such a scalar does not matter."""
    product = np.zeros(slack.shape)
    np.multiply(slack, limit, out=product, where=slack != 0.0)
    return product
