"""The value of a point as it stands, in exact arithmetic, or by how much it misses constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from sdpdr.certify.as_it_stands import (
    Miss,
    cost,
    entries_of_factor,
    fractions_of,
    misses,
)
from sdpdr.certify.standard import Standard, as_written
from sdpdr.program.point import Factor, PsdVariable, Value
from sdpdr.program.sdp import SDP

EXACTLY = "the point as it stands, in exact arithmetic"
_ROUNDED = "numbers of the program are rounded, so that no point satisfies it exactly"
_ASYMMETRIC = "{!r} is not symmetric: pass (X + X.T) / 2"
_REPAIR = "repair=True moves the point until all constraints hold"


def standing_value(sdp: SDP, values: Mapping[str, Value]) -> tuple[float | None, str]:
    """The value of a point that satisfies every constraint, and what proves it; or why not.

    Parameters
    ----------
    sdp : SDP
    values : mapping from variable name to array or Factor
        All of the variables.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
    >>> standing_value(sdp, {"K": Factor(np.array([[-1.0], [0.0], [1.0]]))})
    (2.0, 'the point as it stands, in exact arithmetic')
    >>> standing_value(sdp, {"K": Factor(np.array([[-2.0], [0.0], [2.0]]))})[1].split(";")[0]
    "the point as it stands misses constraint 'isometry' by 3.0e+00"
    """
    form = as_written(sdp)
    if any(radii is not None for radii in form.flat.around):
        return None, _ROUNDED
    for v in sdp.psd_variables:
        X = values[v.name]
        if not isinstance(X, Factor) and np.any(X != X.T):
            return None, _ASYMMETRIC.format(v.name)
    x, known = _unknowns(form, values)
    missed = misses(form.flat, x, known)
    if missed:
        return None, words_of(missed, lambda row: _name(form, row))
    return sdp.report(cost(form.flat.c, x, form.flat.offset)), EXACTLY


def words_of(missed: Sequence[Miss], name: Callable[[int], str]) -> str:
    """By how much a point misses constraints, with the name of the worst."""
    worst = max(missed, key=lambda miss: miss.amount)
    others = len({name(miss.row) for miss in missed}) - 1
    more = f" and {others} more by less" if others else ""
    by = f" by {worst.amount:.1e}" if worst.amount else ", or lies on its boundary"
    return f"the point as it stands misses {name(worst.row)}{by}{more}; {_REPAIR}"


def _unknowns(form: Standard, values: Mapping[str, Value]) -> tuple[dict[int, Fraction], set[int]]:
    """The unknowns without rounding, and the cones that factors are in without further proof."""
    flat, x, known = form.flat, dict[int, Fraction](), set[int]()
    for block in form.blocks:
        value = values[block.name]
        if isinstance(value, Factor):
            known.add(flat.f.size + int(block.rows[0]))
            others = np.setdiff1d(np.arange(flat.b.size), block.rows)
            used = [flat.E.indices, flat.A[others].indices, np.flatnonzero(flat.c)]
            places = np.intersect1d(block.places, np.concatenate(used))
            j, i = np.tril_indices(block.order)
            at = places - block.places[0]
            entries = entries_of_factor(value.factor, i[at].tolist(), j[at].tolist())
        else:
            places, entries = block.places, fractions_of(_triangle(form.sdp, block.name, value))
        x.update(zip(places.tolist(), entries, strict=True))
    for square in form.squares:
        for place, half in zip(square.places.tolist(), square.halves.tolist(), strict=True):
            x[half] = x[place] ** 2 / Fraction(2.0 * square.unit)
    return x, known


def _triangle(sdp: SDP, name: str, value: Value) -> np.ndarray:
    """The numbers of a variable in the order of the unknowns."""
    variable = sdp.variable(name)
    if not isinstance(variable, PsdVariable):
        return np.asarray(value)
    j, i = np.tril_indices(variable.n)
    return np.asarray(value)[i, j]


def _name(form: Standard, row: int) -> str:
    """The constraint, or the variable, that a row belongs to."""
    for label, rows in form.labels.items():
        if row in rows:
            return f"constraint {label!r}"
    m = form.flat.f.size
    for block in form.blocks:
        if row - m in block.rows:
            return f"the cone of variable {block.name!r}"
    return "a cone"
