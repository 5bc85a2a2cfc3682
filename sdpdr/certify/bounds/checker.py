r"""What multipliers are worth once everything they lack is paid for.

For a feasible point and any multipliers the objective is the dual value plus
:math:`\sum_k \langle S_k, X_k\rangle + s^T z`. Hence, with :math:`S_k + t_k I \succeq 0` on the
face, :math:`\operatorname{tr} X_k \le \tau_k` and :math:`0 \le z \le u`,

.. math::  p^* \ge d(y) - \sum_k t_k \tau_k - \sum_j u_j \max(-s_j, 0) .

(Jansson, Chaykin, Keil, "Rigorous error bounds for the optimal value in semidefinite
programming", SIAM J. Numer. Anal. 46(1), 2007.) Every term is bounded with all rounding, for all
multipliers in a box, so that the bound is a theorem about the program whose data are the doubles
that are stored.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix, largest
from sdpdr.certify.bounds.dual_form import DualForm, has_entries
from sdpdr.certify.bounds.limits import VariableLimits
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.verified import is_verified_positive
from sdpdr.program.face import null_vectors


class DualBoundChecker:
    """Proves lower bounds on a minimum from multipliers.

    Parameters
    ----------
    form : DualForm
    limits : VariableLimits
        On traces and scalars.

    Attributes
    ----------
    trouble : str
        Why the last multipliers proved nothing.
    """

    def __init__(self, form: DualForm, limits: VariableLimits) -> None:
        self.form, self.limits = form, limits
        self.trouble = ""

    def value(
        self,
        y: Array,
        radius: Array | float = 0.0,
        lifts: Mapping[str, float] | None = None,
    ) -> float | None:
        """A number that the minimum is proved not to be below; None, and `trouble`, without one.

        Parameters
        ----------
        y : array
            Multipliers of all equations but those that merely state a face.
        radius : array or float, default 0
            Within it lie multipliers for which the slack of free scalars is exactly zero.
        lifts : mapping from the name of a matrix variable to a number, optional
            t_k >= 0, by which its dual slack is to be lifted.
        """
        lifts = lifts or {}
        traces = {name: self.limits.trace(name) for name, t in lifts.items() if t}
        for name, limit in traces.items():
            if not np.isfinite(limit):
                self.trouble = f"no constraints limit the trace of {name!r}"
                return None
        parts = [self._scalars(y, radius), *(-limit * lifts[k] for k, limit in traces.items())]
        if not np.isfinite(parts).all():
            return None
        for v in self.form.sdp.psd_variables:
            if not self._is_positive(v.name, y, radius, lifts.get(v.name, 0.0)):
                self.trouble = f"the dual slack of {v.name!r} is not positive semidefinite"
                return None
        value = self.form.value(y, radius)
        if not any(parts):
            return value if np.isfinite(value) else None
        size = abs(value) + sum(map(abs, parts))
        found = value + sum(parts) - float(gamma(len(parts) + 4)) * size
        return found if np.isfinite(found) else None

    def _is_positive(self, name: str, y: Array, radius: Array | float, lift: float) -> bool:
        """Whether the exact dual slack plus ``lift`` I is positive semidefinite on the face."""
        slack, around = self.form.matrix_slack(name, y, radius)
        if lift:
            slack = shifted(slack, lift)
            # The sum is rounded, on the diagonal of what is stored.
            stored = slack.sparse if isinstance(slack, Outer) else slack
            around = shifted(around, 2.0 * UNIT * largest(stored.diagonal()))
        elif not has_entries(slack) and not has_entries(around):
            return True  # the slack is zero, which no factorization confirms
        return is_verified_positive(slack, around, null_vectors(self.form.sdp, name))

    def _scalars(self, y: Array, radius: Array | float) -> float:
        """The least that scalars whose slack has the wrong sign can add; -inf without a limit."""
        form, parts = self.form, [np.zeros(0)]
        low, high = form.scalar_slack(y, radius)
        # With a radius it is proved that the slack of free scalars vanishes somewhere within.
        missed = form.free & ((low != 0.0) | (high != 0.0)) & (not np.any(radius))
        wrong = missed | (form.nonnegative & (low < 0.0))
        for name, place in form.places.items():
            bad = np.flatnonzero(wrong[place])
            if not bad.size:
                continue
            upper = np.where(missed[place][bad], np.inf, self.limits.box(name)[1][bad])
            least = low[place][bad] * upper
            if not np.all(np.isfinite(least)):
                worst = int(bad[np.argmin(np.where(np.isfinite(least), 0.0, -1.0))])
                kind = "free " if missed[place][worst] else ""
                self.trouble = (
                    f"{kind}scalar {worst} of {name!r} has the dual slack "
                    f"{low[place][worst]:.1e}, and no constraints limit it"
                )
                return -np.inf
            parts.append(least)
        least = np.concatenate(parts)
        return float(np.sum(least)) * (1.0 + float(gamma(least.size + 8)))


def shifted(matrix: Matrix, by: float) -> Matrix:
    """M + t I, sparse where a matrix keeps its zeros apart."""
    n = matrix.shape[0]
    apart = sp.issparse(matrix) or isinstance(matrix, Outer)
    return matrix + by * (sp.eye_array(n, format="csr") if apart else np.eye(n))
