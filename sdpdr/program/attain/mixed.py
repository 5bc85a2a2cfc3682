r"""Points mixed with their own diagonal, which inequalities leave room around.

Where equations fix diagonals alone, a point with its rows scaled meets them, and so does its
diagonal D. Cuts are such programs, and inequalities over triples of their nodes leave D room. What
a point X misses these by is made up for by

.. math:: (1 - \theta) X + \theta D,

positive semidefinite since both are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.program.attain.rounding import rounding_of
from sdpdr.program.attain.shrunk import Found, Values, as_given
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Factor
from sdpdr.program.rescale import rescaled_by
from sdpdr.program.sdp import SDP, Rows

_WORDS = "the rows of a factor normalised, and mixed with their diagonal until all limits hold"
# What may be mixed in, and orders up to which a factor may have a column for every node.
_LITTLE, _LARGEST = 1e-4, 2000


def mixed_with_diagonal(sdp: SDP, values: Values, factors: Mapping[str, Factor]) -> Found | None:
    """Value of the minimisation, the point, and words, of a program of one matrix; else None.

    Examples
    --------
    >>> from sdpdr.linalg import Diagonal, Entries
    >>> from sdpdr.program.point import PsdVariable
    >>> from sdpdr.program.sdp import Rows
    >>> entry = Entries(2, [[0, 1]])
    >>> ones = Rows("ones", "==", {"X": Diagonal(2)}, np.ones(2))
    >>> limit = Rows("limit", "<=", {"X": -1.0 * entry}, np.array([0.5]))
    >>> sdp = SDP((PsdVariable("X", 2),), {"X": entry}, (ones, limit))
    >>> low = np.sqrt(0.75)
    >>> near = {"X": Factor(np.array([[1.0, 0.0], [-0.5 - 1e-8, low]]))}
    >>> value, point, _ = mixed_with_diagonal(sdp, near, near)
    >>> bool(-0.5 <= value < -0.5 + 1e-7)
    True
    """
    variable = sdp.psd_variables[0]
    name = variable.name
    limits = [r for r in sdp.rows if r.relation == "<="]
    if not limits or variable.n > _LARGEST or exposing_rows(sdp, name):
        return None
    fixed = [r for r in sdp.rows if r.relation == "=="]
    scaling = rescaled_by(fixed, name, variable.n, factors)
    if scaling is None or scaling[1] != "diagonal":
        return None
    inner = factors[name].factor * scaling[0][:, None]
    theta = max(_share(sdp, r, {name: Factor(inner)}, {name: _own_diagonal(inner)}) for r in limits)
    if not theta <= _LITTLE:
        return None
    point = {name: _mixed(inner, theta)}
    if any(np.any(sdp.slack(r, point) < rounding_of(r, point)) for r in limits):
        return None
    return sdp.primal_value(point), as_given(values, point), _WORDS


def _own_diagonal(inner: Array) -> Factor:
    """A factor of the diagonal of a matrix, of which a factor is given."""
    return Factor(np.diag(np.sqrt(np.sum(np.square(inner), axis=1))))


def _mixed(inner: Array, theta: float) -> Factor:
    diagonal = _own_diagonal(inner).factor
    return Factor(np.hstack([np.sqrt(1.0 - theta) * inner, np.sqrt(theta) * diagonal]))


def _share(sdp: SDP, rows: Rows, point: Values, diagonal: Values) -> float:
    """How much of the diagonal brings a group to twice its rounding; infinite where none does."""
    wanted = 2.0 * (rounding_of(rows, point) + rounding_of(rows, diagonal))
    here, there = sdp.slack(rows, point), sdp.slack(rows, diagonal)
    short = here < wanted
    if np.any(there[short] <= wanted[short]):
        return np.inf
    return float(np.max((wanted - here)[short] / (there - here)[short], initial=0.0))
