"""Numbers that methods share: what counts as rounding, and orders of dense matrices."""

from __future__ import annotations

from collections.abc import Callable

# Relative differences of data, of multipliers, and of what factorizations and iterations return.
ROUNDING = 1e-9
# What sums, products and decompositions of exact numbers leave, with some digits to spare.
NEGLIGIBLE = 1e-12
# Orders up to which a dense eigendecomposition is faster than iterations, takes about a second, and
# takes half a minute and some hundred megabytes.
SMALL, QUICK, DENSE = 500, 2000, 4000


def least_margin(
    proves: Callable[[float], bool], most: float, least: float = NEGLIGIBLE / 10.0
) -> float | None:
    """The least margin with which a proof succeeds, among powers of ten; None if there is none."""
    margin = least
    while margin <= 2.0 * most:
        if proves(margin):
            return margin
        margin *= 10.0
    return None
