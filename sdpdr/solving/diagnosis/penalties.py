"""Penalties with weights that no multiplier reaches, which act as constraints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdpdr.base.arrays import Index
from sdpdr.solving.diagnosis.finding import Finding, Kind, Severity
from sdpdr.solving.diagnosis.view import Named, UndecidedError, View

# Share of a weight that has to be left, so that rounding of the multipliers does not matter.
_LEFT = 1e-3


def find_penalties(view: View) -> Iterator[Finding]:
    """Find penalties whose weights exceed all multipliers at the optimum."""
    facts, named = view.facts, view.stated
    if not view.penalized:
        return
    if not facts.is_optimal or facts.multipliers is None:
        raise UndecidedError("no optimum was proved")
    # Cones of variables have multipliers that follow: what is left of the costs.
    z = np.where(named.own, 0.0, facts.multipliers)
    left = named.program.c + named.rows.T @ z
    for label, slack in view.penalized.items():
        weights = named.program.c[slack]
        # Multipliers that are not known are nan.
        exceeds = slack.size and weights.min() > 0.0 and np.all(left[slack] >= _LEFT * weights)
        if not exceeds:
            continue
        largest = float(np.max(weights - left[slack]))
        yield Finding(
            Kind.PENALTY,
            Severity.NOTE,
            (label,) if label in named.constraints else (),
            named.variables_in(named.constraints.get(label, np.arange(0))),
            f"Each weight of the penalty {label!r} exceeds all multipliers ({weights.min():.4g} "
            f"against {largest:.4g}), so that what it penalizes is zero, as under a constraint.",
            f"State it as a constraint, or choose weights below {largest:.4g} if it may be missed.",
            data={"weights": weights, "largest": largest},
        )


def slack_of_penalties(named: Named) -> dict[str, Index]:
    """Unknowns that look like the slack of penalties, by constraint.

    Each is nonnegative, costs something, and is in one row of numbers, beside other unknowns.
    """
    rows, cost = named.rows[~named.own], named.program.c
    bounded = np.zeros(cost.size, dtype=bool)
    bounded[named.rows[named.own & ~named.is_matrix].indices] = True
    counts = np.bincount(rows.indices, minlength=cost.size)
    in_matrices = np.zeros(cost.size, dtype=bool)
    in_matrices[named.rows[named.is_matrix].indices] = True
    slack = bounded & (cost > 0.0) & (counts == 1) & ~in_matrices
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    has_others = np.bincount(owner[~slack[rows.indices]], minlength=rows.shape[0]) > 0
    places = np.flatnonzero(~named.own)
    found = dict[str, list[int]]()
    for row, unknown in zip(owner, rows.indices, strict=True):
        if slack[unknown] and has_others[row]:
            label = named.label_of.get(int(places[row]), "objective")
            found.setdefault(label, []).append(int(unknown))
    return {label: np.array(unknowns) for label, unknowns in found.items()}
