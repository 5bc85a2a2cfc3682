"""Multipliers of a program from those of the rows that a reduction keeps, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.exact import Mask
from sdpdr.program.sdp import SDP

Kept: TypeAlias = Mapping[str, "Mask | Index"]


def spread(sdp: SDP, kept: Kept, duals: Mapping[str, Array]) -> dict[str, Array]:
    """Multipliers of a program: those of the kept rows, and zero on all others.

    Parameters
    ----------
    sdp : SDP
        The whole program.
    kept : mapping from label to a mask, or numbers, of rows
        All rows of labels that are not named are kept.
    duals : mapping from label to array
        Multipliers of the kept rows; if there are none, the result has none.

    Examples
    --------
    >>> from sdpdr.linalg import Diagonal
    >>> from sdpdr.program import PsdVariable, Rows
    >>> rows = Rows("ones", "<=", {"X": Diagonal(3)}, np.ones(3))
    >>> sdp = SDP((PsdVariable("X", 3),), {}, (rows,))
    >>> spread(sdp, {"ones": np.array([0, 2])}, {"ones": np.array([4.0, 5.0])})
    {'ones': array([4., 0., 5.])}
    """
    sizes = {r.label: r.m for r in sdp.rows if r.label in kept}
    found = {label: duals[label] for label in sdp.labels if label in duals}
    whole = {label: np.zeros(m) for label, m in sizes.items()}
    # Without given multipliers there is an answer only if no row was kept, so that all are zero.
    if not duals and (sdp.lmis or any(y[kept[label]].size for label, y in whole.items())):
        return {}
    for label, y in whole.items():
        if label in duals:
            y[kept[label]] = duals[label]
        if label in duals or not y[kept[label]].size:
            found[label] = y
    return found


def narrowed(sdp: SDP, kept: Kept, duals: Mapping[str, Array]) -> dict[str, Array]:
    """Multipliers of the reduced program ``sdp``: those of the kept rows of the whole one."""
    found = {label: duals[label] for label in sdp.labels if label in duals}
    return {label: y[kept[label]] if label in kept else y for label, y in found.items()}
