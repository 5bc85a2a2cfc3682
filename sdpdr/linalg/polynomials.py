"""Polynomials in several variables, as mappings from monomials to coefficients.

A monomial is the sorted tuple of the numbers of its variables, each as often as it occurs:
``(0, 0, 2)`` is :math:`x_0^2 x_2`, and ``()`` is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import TypeAlias

import numpy as np

from sdpdr.linalg.svec import Array

Monomial: TypeAlias = "tuple[int, ...]"
Polynomial: TypeAlias = "Mapping[Monomial, float]"


def monomials(n: int, degree: int) -> tuple[Monomial, ...]:
    r"""All :math:`\binom{n + D}{D}` monomials of n variables up to a degree D, 1 first.

    Examples
    --------
    >>> monomials(2, 2)
    ((), (0,), (1,), (0, 0), (0, 1), (1, 1))
    """
    return tuple(m for d in range(degree + 1) for m in combinations_with_replacement(range(n), d))


def add(*terms: Polynomial) -> dict[Monomial, float]:
    """Sum of polynomials.

    Examples
    --------
    >>> add({(0,): 1.0}, {(0,): 2.0, (): 1.0})
    {(0,): 3.0, (): 1.0}
    """
    total: dict[Monomial, float] = {}
    for polynomial in terms:
        for monomial, value in polynomial.items():
            total[monomial] = total.get(monomial, 0.0) + value
    return total


def multiply(first: Polynomial, second: Polynomial) -> dict[Monomial, float]:
    """Product of two polynomials.

    Examples
    --------
    >>> multiply({(0,): 1.0, (): 1.0}, {(0,): 1.0, (): -1.0})
    {(0, 0): 1.0, (0,): 0.0, (): -1.0}
    """
    total: dict[Monomial, float] = {}
    for a, x in first.items():
        for b, y in second.items():
            product = tuple(sorted(a + b))
            total[product] = total.get(product, 0.0) + x * y
    return total


def compose(coefficients: Iterable[float], inner: Polynomial) -> dict[Monomial, float]:
    r"""The polynomial :math:`\sum_l c_l p^l`, l = 1, 2, ..., of a polynomial p.

    Examples
    --------
    >>> compose([1.0, 0.5], {(0, 1): 1.0})
    {(0, 1): 1.0, (0, 0, 1, 1): 0.5}
    """
    total: dict[Monomial, float] = {}
    power: dict[Monomial, float] = {(): 1.0}
    for c in coefficients:
        power = multiply(power, inner)
        total = add(total, {m: float(c) * v for m, v in power.items()})
    return total


def values(chosen: Sequence[Monomial], x: Array) -> Array:
    """Monomials at a point x of shape (n,).

    Examples
    --------
    >>> values([(), (0,), (0, 1)], np.array([2.0, 3.0]))
    array([1., 2., 6.])
    """
    return np.array([np.prod(x[list(m)]) for m in chosen])
