"""Penalties with weights that no multiplier reaches, which act as constraints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.program.run import Status
from sdpdr.solving.diagnosis.finding import Finding, Kind, Severity
from sdpdr.solving.diagnosis.view import Named, UndecidedError, View

# Share of a weight that has to be left, so that rounding of the multipliers does not matter.
_LEFT = 1e-3


def find_penalties(view: View) -> Iterator[Finding]:
    """Find penalties whose weights exceed all multipliers at the optimum."""
    named = view.stated
    if not view.penalized:
        return
    found = view.answered
    if found.solution.status is not Status.SOLVED or found.multipliers is None:
        raise UndecidedError("no optimum was proved")
    # Cones of variables have multipliers that follow: what is left of the costs.
    z = np.where(named.own, 0.0, found.multipliers)
    columns = sp.csc_array(sp.diags_array(z) @ named.rows)
    for label, slack in view.penalized.items():
        weights = named.program.c[slack]
        # Multipliers that are not known are nan.
        largest = np.max([_multiplier(columns, int(k)) for k in slack], initial=0.0)
        exceeds = slack.size and np.all(weights > 0.0) and largest <= (1.0 - _LEFT) * weights.min()
        if not exceeds:
            continue
        rows = named.constraints.get(label, columns[:, slack].indices)
        which = repr(label) if label in named.constraints else "in the objective"
        yield Finding(
            Kind.PENALTY,
            Severity.NOTE,
            (label,) if label in named.constraints else (),
            named.variables_in(rows),
            f"Each weight of the penalty {which} exceeds all multipliers ({weights.min():.4g} "
            f"against {largest:.4g}), so that what it penalizes is zero, as under a constraint.",
            f"State it as a constraint, or choose weights below {largest:.4g} if it may be missed.",
            data={"weights": weights, "largest": float(largest)},
        )


def _multiplier(columns: sp.csc_array, slack: int) -> float:
    """The multiplier of h, where a slack t has t >= h and t >= 0, or t >= h and t >= -h."""
    pulls = np.abs(columns.data[columns.indptr[slack] : columns.indptr[slack + 1]])
    return float(pulls.max() - pulls.min() if pulls.size == 2 else pulls.sum())


def slack_of_penalties(named: Named) -> dict[str, Index]:
    """Unknowns that look like the slack of penalties, by constraint.

    Each costs something, is in no matrix inequality or other cone, and is nonnegative and in one
    row beside other unknowns; or in two inequalities whose other parts are negatives of each other,
    as absolute values are.
    """
    cost, has_others = named.program.c, np.diff(named.rows.indptr) > 1
    bounded = np.zeros(cost.size, dtype=bool)
    bounded[named.rows[named.own & ~named.is_matrix].indices] = True
    columns = sp.csc_array(named.rows * ~named.own[:, None])
    columns.eliminate_zeros()
    is_candidate = (cost > 0.0) & (np.diff(columns.indptr) == 2 - bounded)
    found = dict[str, list[int]]()
    for unknown in np.flatnonzero(is_candidate).tolist():
        part = slice(*columns.indptr[unknown : unknown + 2])
        rows, data = columns.indices[part], columns.data[part]
        if np.any(named.is_matrix[rows]) or not has_others[rows].all():
            continue
        if rows.size == 1 or _is_absolute(named, rows, data):
            label = named.label_of.get(int(rows[0]), "objective")
            found.setdefault(label, []).append(unknown)
    return {label: np.array(unknowns) for label, unknowns in found.items()}


def _is_absolute(named: Named, rows: Index, data: Array) -> bool:
    """Whether two rows are t >= h and t >= -h, with some coefficients of t."""
    if np.any(rows < named.program.f.size) or np.any(data > 0.0):
        return False
    one, other = named.rows[[rows[0]]] / data[0], named.rows[[rows[1]]] / data[1]
    both = sp.csr_array(one + other)
    return int(np.count_nonzero(both.data)) == 1
