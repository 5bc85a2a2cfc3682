"""Optimal values that are known for every size, by the names that families call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import pi, sin
from types import MappingProxyType


def straight_path(n: int) -> float:
    """Variance of n points at distance one along a line.

    Examples
    --------
    >>> straight_path(3)
    2.0
    """
    return n * (n * n - 1) / 12.0


def regular_polygon(n: int) -> float:
    """Variance of the regular polygon of n sides of length one.

    Examples
    --------
    >>> round(regular_polygon(4), 12)
    2.0
    """
    return n / (4.0 * sin(pi / n) ** 2)


def points_on_unit_circle(n: int) -> float:
    """Variance of n points at equal steps around a circle of radius one.

    Examples
    --------
    >>> points_on_unit_circle(100)
    100.0
    """
    return float(n)


FORMULAS: Mapping[str, Callable[[int], float]] = MappingProxyType(
    {
        formula.__name__: formula
        for formula in (straight_path, regular_polygon, points_on_unit_circle)
    }
)
"""Formulas by name."""
