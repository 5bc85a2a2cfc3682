"""Penalties with weights that no multiplier reaches, which act as constraints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdpdr.base.arrays import Index
from sdpdr.certify.knowledge import OPTIMAL
from sdpdr.solving.diagnosis.finding import Finding, Kind, Severity
from sdpdr.solving.diagnosis.view import Named, View

# Share of a weight that has to be left, so that rounding of the multipliers does not matter.
_LEFT = 1e-3


def find_penalties(view: View) -> Iterator[Finding]:
    """Find penalties whose weights exceed all multipliers at the optimum."""
    known, named = view.known, view.solved
    if not view.penalized or known.status != OPTIMAL or known.z is None:
        return
    program, m = named.program, named.program.f.size
    # Cones of variables have multipliers that follow: what is left of the costs.
    z = np.where(named.own, 0.0, known.z)
    left = program.c + program.E.T @ z[:m] + program.A.T @ z[m:]
    for label, slack in view.penalized.items():
        costs = program.c[slack]
        if not slack.size or costs.min() <= 0.0 or np.any(left[slack] < _LEFT * costs):
            continue
        weights = view.stated.program.c[slack]
        largest = float(np.max(weights * (1.0 - left[slack] / costs)))
        rows = np.zeros(named.owned.size, dtype=bool)
        rows[view.stated.constraints.get(label, np.arange(0))] = True
        names = view.stated.names_of(abs(view.stated.rows).T @ rows > 0.0)
        yield Finding(
            Kind.PENALTY,
            Severity.NOTE,
            (label,) if label in view.stated.constraints else (),
            names,
            f"Each weight of the penalty {label!r} exceeds all multipliers ({weights.min():.4g} "
            f"against {largest:.4g}), so that what it penalizes is zero, as under a constraint.",
            f"State it as a constraint, or choose weights below {largest:.4g} if it may be missed.",
            data={"weights": weights, "largest": largest},
        )


def slack_of_penalties(named: Named) -> dict[str, Index]:
    """Unknowns that look like the slack of penalties, by constraint.

    Each is nonnegative, costs something, and is in one row, beside unknowns that are not such.
    """
    rows, cost = named.rows[~named.own], named.program.c
    bounded = np.zeros(cost.size, dtype=bool)
    bounded[named.rows[named.own & ~named.is_matrix].indices] = True
    counts = np.bincount(rows.indices, minlength=cost.size)
    slack = bounded & (cost > 0.0) & (counts == 1)
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    has_others = np.bincount(owner[~slack[rows.indices]], minlength=rows.shape[0]) > 0
    places = np.flatnonzero(~named.own)
    labels = {int(k): label for label, at in named.constraints.items() for k in at}
    found = dict[str, list[int]]()
    for row, unknown in zip(owner, rows.indices, strict=True):
        if slack[unknown] and has_others[row]:
            label = labels.get(int(places[row]), "objective")
            found.setdefault(label, []).append(int(unknown))
    return {label: np.array(unknowns) for label, unknowns in found.items()}
