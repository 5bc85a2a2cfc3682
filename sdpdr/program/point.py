"""Points: values of the variables and multipliers of the rows, dense or as a factor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from sdpdr.linalg.reals import as_real
from sdpdr.linalg.svec import Array


@dataclass(frozen=True, eq=False)
class Factor:
    """A positive semidefinite matrix K = R R^T kept as R.

    Parameters
    ----------
    factor : array of shape (n, r)

    Examples
    --------
    >>> import numpy as np
    >>> Factor(np.array([[1.0], [2.0]])).dense()
    array([[1., 2.],
           [2., 4.]])
    """

    factor: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", as_real(self.factor))

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, n) of the matrix that the factor stands for."""
        return (self.factor.shape[0], self.factor.shape[0])

    def dense(self) -> Array:
        """The matrix R R^T."""
        return np.asarray(self.factor @ self.factor.T)

    def trace(self) -> float:
        """The trace of R R^T."""
        return float(np.sum(np.square(self.factor)))


Value: TypeAlias = "Array | Factor"


def as_dense(value: Value) -> Array:
    """The matrix itself, whether given dense or as a factor."""
    return value.dense() if isinstance(value, Factor) else np.asarray(as_real(value))


@dataclass(frozen=True, eq=False)
class Point:
    """What a solver hands back: values by variable, multipliers by row label.

    Parameters
    ----------
    values : mapping from variable name to array or Factor
        Empty when the solver had nothing to offer.
    duals : mapping from label to array
        Shape (m,) for rows, (order, order) for matrix inequalities. Multipliers of the
        minimisation's Lagrangian ``f + y.(lhs - rhs) - <Z, LMI>``, so y >= 0 on ``<=`` rows.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    duals: Mapping[str, Array] = field(default_factory=dict)
