"""What a proof yields, and the rows whose multipliers matter to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg.outer import Outer
from sdpdr.linalg.svec import Array, Matrix
from sdpdr.program.face import exposing_rows
from sdpdr.program.sdp import SDP, Rows

Duals = Mapping[str, Array]


@dataclass(frozen=True)
class Certificate:
    """A proven bound on the optimal value, or the reason why there is none.

    Attributes
    ----------
    bound : float or None
        In the sense the person wrote: an upper bound of a maximum, a lower bound of a minimum.
    argument : str
        In words, which argument proves it, or why none does.
    rigorous : bool
        Whether all rounding is accounted for, so that the bound is a theorem about the numbers
        stored in the program.
    duals : mapping from label to array
        Multipliers that prove it, where these are not the ones given; else empty.
    """

    bound: float | None
    argument: str
    rigorous: bool = False
    duals: Duals = field(default_factory=dict, repr=False, compare=False)


def visible_rows(sdp: SDP) -> list[Rows]:
    """Rows whose multipliers matter: all but those that merely state a face."""
    hidden = {r.label for v in sdp.psd_variables for r in exposing_rows(sdp, v.name)}
    return [r for r in sdp.rows if r.label not in hidden]


def has_no_objective(sdp: SDP) -> bool:
    """Whether every feasible point has the same value."""
    curved = any(v.curvature is not None for v in sdp.vector_variables)
    return not curved and not any(_has_entries(sdp.cost(name)) for name in sdp.objective)


def _has_entries(cost: Matrix) -> bool:
    if isinstance(cost, Outer):
        return bool(np.any(cost.diagonal()))
    return bool(np.any(cost.data if sp.issparse(cost) else cost))
