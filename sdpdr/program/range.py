"""Programs whose numbers are within the range that is computed with."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from sdpdr.errors import ModelError
from sdpdr.linalg.admissible import ALLOWED, is_admissible, row_extents
from sdpdr.linalg.svec import Array
from sdpdr.program.sdp import SDP, Expression


def require_admissible(sdp: SDP) -> SDP:
    """The program itself, if its numbers are within the range of `sdpdr.linalg.admissible`.

    Raises
    ------
    ModelError
        With the first row, right side, cost or constant that is not.

    Examples
    --------
    >>> from sdpdr.linalg import Trace
    >>> from sdpdr.program import PsdVariable
    >>> require_admissible(SDP((PsdVariable("X", 2),), {"X": 1e200 * Trace(2)}))
    Traceback (most recent call last):
    ...
    sdpdr.errors.ModelError: the objective: the largest cost on 'X' is 1e+200; it must be 0, ...
    """
    for name, linear_map in sdp.objective.items():
        _require(row_extents(linear_map), f"the objective: the largest cost on {name!r}", "")
    _require(np.array([sdp.constant]), "the objective: its constant", "")
    for v in sdp.vector_variables:
        if v.curvature is not None:
            _require(v.curvature, f"variable {v.name!r}: the curvature", " of scalar {row}")
    for r in sdp.rows:
        _require_rows(r.label, r.lhs)
        _require(r.rhs, f"rows {r.label!r}: the right side", " of row {row}")
    for lmi in sdp.lmis:
        _require_rows(lmi.label, lmi.lhs)
        # Beside the rest of its matrix an entry of the constant may be rounding.
        largest = np.max(np.abs(lmi.constant), initial=0.0, keepdims=True)
        _require(largest, f"matrix inequality {lmi.label!r}: the largest constant", "")
    return sdp


def _require_rows(label: str, lhs: Expression) -> None:
    for name, linear_map in lhs.items():
        words = f"rows {label!r}: the largest coefficient of {name!r}"
        _require(row_extents(linear_map), words, " in row {row}")


def _require(numbers: Array, what: str, where: str) -> None:
    for row in np.flatnonzero(~is_admissible(numbers)):
        _refuse(float(numbers[row]), what + where.format(row=row))


def _refuse(number: float, what: str) -> NoReturn:
    raise ModelError(f"{what} is {number:g}; it must be {ALLOWED}. Choose other units.")
