"""Comparisons of symmetric matrices, entry by entry, where an order of matrices is likely meant."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdpdr.base.arrays import Index
from sdpdr.certify.flat import SEMIDEFINITE
from sdpdr.solving.diagnosis.finding import Finding, Kind, Severity
from sdpdr.solving.diagnosis.view import Named, View


def find_entrywise(view: View) -> Iterator[Finding]:
    """Find ``A >= B`` of symmetric matrices other than bounds on entries of a psd matrix."""
    named = view.stated
    for label in view.entrywise:
        rows = named.constraints.get(label)
        if rows is None or _bounds_entries(named, rows):
            continue
        yield Finding(
            Kind.ENTRYWISE,
            Severity.WARNING,
            (label,),
            named.variables_in(rows),
            f"{label!r} compares symmetric matrices entry by entry, which says nothing of their "
            "eigenvalues.",
            "Write `>>` (or `<<`) for an order of matrices: `A >> B` says that A - B is positive "
            "semidefinite. If entries are meant, nothing has to change.",
        )


def _bounds_entries(named: Named, rows: Index) -> bool:
    """Whether each row bounds an entry of its own, of what a matrix inequality is about as well."""
    sides = named.rows[rows]
    unknowns = np.unique(sides.indices)
    if np.any(np.diff(sides.indptr) != 1):
        return False
    m = named.program.f.size
    inside = np.zeros(named.program.c.size, dtype=bool)
    for part in named.program.parts:
        if part.kind == SEMIDEFINITE:
            inside[named.rows[m + part.rows].indices] = True
    # A number times a matrix of ones has one unknown, and bounds of entries have many.
    return bool(inside[unknowns].all()) and unknowns.size > 1
