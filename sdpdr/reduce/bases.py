"""Change of basis in expressions and points, X = V M V^T."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Matrix
from sdpdr.linalg import LinearMap
from sdpdr.program.point import Factor, Value, congruent
from sdpdr.program.rows import Expression


def in_bases(expression: Expression, bases: Mapping[str, Matrix]) -> Expression:
    """The maps of an expression in terms of M, for the matrices X = V M V^T that have a basis V."""
    return {
        name: a.congruence(bases[name]) if name in bases and isinstance(a, LinearMap) else a
        for name, a in expression.items()
    }


def out_of_bases(values: Mapping[str, Value], bases: Mapping[str, Matrix]) -> dict[str, Value]:
    """Values X = V M V^T of all matrices that have a basis V; others as they are."""
    return {name: congruent(x, bases[name]) if name in bases else x for name, x in values.items()}


def into_bases(values: Mapping[str, Value], bases: Mapping[str, Matrix]) -> dict[str, Value]:
    """The M nearest to X = V M V^T, for all matrices that have a basis V; others as they are.

    Examples
    --------
    >>> into_bases({"X": 4.0 * np.ones((2, 2))}, {"X": np.ones((2, 1))})
    {'X': array([[4.]])}
    """
    return {
        name: _coordinates(x, bases[name]) if name in bases else x for name, x in values.items()
    }


def _coordinates(value: Value, V: Matrix) -> Value:
    """The M for which V M V^T is nearest to a matrix."""
    if sp.issparse(V):
        factors = spl.splu(sp.csc_array(V.T @ V))
        solve = factors.solve
    else:
        solve = partial(np.linalg.solve, V.T @ V)
    if isinstance(value, Factor):
        return Factor(solve(np.asarray(V.T @ value.factor)))
    half = solve(np.asarray(V.T @ np.asarray(value)))
    return np.asarray(solve(np.asarray(V.T @ half.T)))
