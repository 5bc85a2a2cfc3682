"""What a proof yields, and the rows whose multipliers matter to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.exact import exact_terms
from sdpdr.linalg.outer import Outer
from sdpdr.program.face import exposing_rows
from sdpdr.program.sdp import SDP, Rows

Duals = Mapping[str, Array]
# Terms of an objective beyond which nobody looks whether they cancel exactly.
_LARGEST = 200_000


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
        Multipliers that prove it, where these are not the ones given; else empty. What they lack is
        paid for by limits where the argument says so.
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
    """Whether every feasible point has the same value, for certain."""
    curved = any(v.curvature is not None for v in sdp.vector_variables)
    if curved or any(_has_entries(sdp.cost(name)) for name in sdp.objective):
        return False
    return all(map(_is_zero, sdp.objective.values()))


def _has_entries(cost: Matrix) -> bool:
    if isinstance(cost, Outer):
        # Products with weights of both signs may cancel on the diagonal, and not beside it.
        outer = np.any(cost.columns != 0.0, axis=0) & (cost.weights != 0.0)
        return bool(np.any(outer) or np.any(cost.sparse.data))
    return bool(np.any(cost.data if sp.issparse(cost) else cost))


def _is_zero(cost: LinearMap | VectorMap) -> bool:
    """Whether the numbers stored add up to zero exactly; False where they are too many."""
    terms = list(islice(exact_terms(cost), _LARGEST + 1))
    sums: dict[tuple[int, int], tuple[Fraction, Fraction]] = {}
    for _, i, j, (p, q) in terms:
        before = sums.get((i, j), (Fraction(0), Fraction(0)))
        sums[i, j] = (before[0] + p, before[1] + q)
    return len(terms) <= _LARGEST and not any(any(number) for number in sums.values())
