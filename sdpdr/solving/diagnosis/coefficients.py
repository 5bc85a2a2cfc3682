"""Coefficients that are rounding, and scales far apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.rows import counted
from sdpdr.solving.diagnosis.finding import Finding, Kind, Severity
from sdpdr.solving.diagnosis.subsets import Mask
from sdpdr.solving.diagnosis.view import Named, View, quoted

# What is left where some thousand numbers of size one cancel; data have no more digits.
_CANCELLATION = 2.0**-40
# Half of the digits of a double: beyond that, what is small is lost beside what is large.
_APART = 1e8


def find_rounding(view: View) -> Iterator[Finding]:
    """Find coefficients that are negligible beside others of their row and of their variable."""
    named = view.stated
    rows, tiny = named.rows, _negligible(named)
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    for label in named.labels_of(owner[tiny]):
        chosen = tiny & np.isin(owner, named.constraints[label])
        names, found = named.variables_of(rows.indices[chosen]), rows.data[chosen]
        what = f"{counted(found.size, 'coefficient')} of {quoted(names)} in {label!r}"
        yield Finding(
            Kind.ROUNDING,
            Severity.WARNING,
            (label,),
            names,
            f"Beside others, {what} look{'s' * (found.size == 1)} like rounding: "
            f"{np.max(np.abs(found)):.1g} or less.",
            "Write zero instead, for instance `a[abs(a) < 1e-12] = 0`.",
            data={"coefficients": found},
        )


def _negligible(named: Named) -> Mask:
    """Which coefficients are negligible beside the largest of their row and of their unknown."""
    rows = named.rows
    sizes, owner = np.abs(rows.data), np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    of_row, of_unknown = np.zeros(rows.shape[0]), np.abs(named.program.c)
    np.maximum.at(of_row, owner, sizes)
    np.maximum.at(of_unknown, rows.indices, sizes)
    least = _CANCELLATION * np.minimum(of_row[owner], of_unknown[rows.indices])
    return np.asarray((sizes > 0.0) & (sizes <= least))


def find_scales(view: View) -> Iterator[Finding]:
    """Find coefficients, right-hand sides and costs of very different size."""
    named = view.stated
    rows = named.rows.copy()
    rows.data[_negligible(named)] = 0.0
    rows.eliminate_zeros()
    least, largest = _extremes(rows)
    for label, at in named.constraints.items():
        apart = at[largest[at] >= _APART * least[at]]
        if apart.size:
            k = apart[np.argmax(largest[apart] / least[apart])]
            yield _apart((label,), f"coefficients of {label!r}", least[k], largest[k], _COLUMNS)
            largest[at] = 0.0
    yield from _between(named, largest, "coefficients of", _ROWS)
    yield from _between(named, np.abs(named.right), "right-hand sides of", f"{_ROWS} {_COLUMNS}")
    costs = np.abs(named.program.c)
    # The rounding of zero, beside other costs and other coefficients of the same unknown.
    of_unknown = np.zeros(costs.size)
    np.maximum.at(of_unknown, rows.indices, np.abs(rows.data))
    least = _CANCELLATION * np.minimum(np.max(costs, initial=0.0), of_unknown)
    costs = costs[costs > least]
    if costs.size and costs.max() >= _APART * costs.min():
        yield _apart((), "costs of the objective", costs.min(), costs.max(), _COLUMNS)


_COLUMNS = "Measure variables in units in which they are of size one."
_ROWS = "Multiply a constraint by a number that brings its coefficients to size one."


def _extremes(rows: sp.csr_array) -> tuple[Array, Array]:
    """The least and the largest coefficient of each row."""
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    least, largest = np.full(rows.shape[0], np.inf), np.zeros(rows.shape[0])
    np.minimum.at(least, owner, np.abs(rows.data))
    np.maximum.at(largest, owner, np.abs(rows.data))
    return least, largest


def _between(named: Named, sizes: Array, what: str, instead: str) -> Iterator[Finding]:
    """A finding where numbers of two rows in constraints are far apart."""
    rows = np.flatnonzero(named.owned & (sizes > 0.0))
    if not rows.size:
        return
    small, large = rows[np.argmin(sizes[rows])], rows[np.argmax(sizes[rows])]
    if sizes[large] >= _APART * sizes[small]:
        labels = tuple(dict.fromkeys(named.label_of[int(k)] for k in (small, large)))
        yield _apart(labels, f"{what} {quoted(labels)}", sizes[small], sizes[large], instead)


def _apart(
    labels: tuple[str, ...], what: str, least: float, largest: float, instead: str
) -> Finding:
    return Finding(
        Kind.SCALES,
        Severity.WARNING,
        labels,
        (),
        f"The {what} differ by {largest / least:.0e}: from {least:.3g} to {largest:.3g}.",
        instead,
        is_proved=True,
        data={"least": float(least), "largest": float(largest)},
    )
