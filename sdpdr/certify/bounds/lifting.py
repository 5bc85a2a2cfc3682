"""Multipliers as they are, with what their slack lacks paid for by limits on traces.

The slack of a matrix is lifted by what its smallest eigenvalue lacks, and by a margin that grows
until the lift is verified. The multipliers of a matrix inequality are lifted themselves, which
changes the equations of free scalars; these are solved anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from sdpdr.base.arrays import Array, largest
from sdpdr.certify.bounds.dual_form import DualForm
from sdpdr.certify.bounds.scaling import LowEnd, low_ends, margins
from sdpdr.linalg.svec import svec_pairs


class Lifted(NamedTuple):
    """Multipliers in a box, and how far each matrix of slack is to be lifted."""

    y: Array
    radius: Array | float
    lifts: dict[str, float]


def lifted(form: DualForm, y: Array) -> Iterator[Lifted]:
    """The given multipliers, with the smallest lifts first.

    Raises
    ------
    UnprovedError
        If it is not shown that the equations of free scalars have a solution nearby.
    ArithmeticError
        If no eigenvalue is found.
    """
    y = np.clip(y, *form.box)
    if not form.free.any() and not form.given.lmis:
        yield Lifted(y, 0.0, {})
        ends = low_ends(form, y)
        for margin in margins(form):
            yield Lifted(y, 0.0, _lifts(ends, margin))
        return
    y = form.onto_equations(y)[0]
    ends = low_ends(form, y)
    for margin in margins(form):
        inside, radius = form.onto_equations(_inside(form, y, ends, margin))
        yield Lifted(inside, radius, _lifts(low_ends(form, inside), margin))


def _lifts(ends: Mapping[str, LowEnd], margin: float) -> dict[str, float]:
    """What each matrix lacks of a least eigenvalue of that share of its size."""
    return {name: max(0.0, margin * size - low) for name, (low, size) in ends.items()}


def _inside(form: DualForm, y: Array, ends: Mapping[str, LowEnd], margin: float) -> Array:
    """Multipliers some way inside their cones, so that a box around them is there as well."""
    lower, upper = form.box
    # A third of the room between two limits is left to each of them.
    way = np.minimum(2.0 * margin * largest(y), (upper - lower) / 3.0)
    inside = form.named(np.clip(y, lower + way, upper - way))
    # Twice the margin, of which solving the equations may take a half.
    lifts = _lifts(ends, 2.0 * margin)
    for label, name in form.slack_of_lmis.items():
        i, j = svec_pairs(np.arange(inside[label].size))
        inside[label] = inside[label] - lifts[name] * (i == j)
    return np.concatenate([np.zeros(0), *inside.values()])
