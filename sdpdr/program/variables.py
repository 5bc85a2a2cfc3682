"""The two kinds of variable: positive semidefinite matrices and vectors of scalars."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias

import numpy as np

from sdpdr.errors import ModelError
from sdpdr.linalg.reals import as_real
from sdpdr.linalg.svec import Array, svec_size


@dataclass(frozen=True)
class PsdVariable:
    """A symmetric positive semidefinite n x n matrix.

    Parameters
    ----------
    name : str
    n : int
    """

    name: str
    n: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", _size(self.name, "order", self.n))

    @property
    def size(self) -> int:
        """Number of free entries, n (n + 1) / 2."""
        return svec_size(self.n)


@dataclass(frozen=True, eq=False)
class VectorVariable:
    """A vector of scalars, free or non-negative, with an optional quadratic cost.

    Parameters
    ----------
    name : str
    size : int
    nonnegative : bool, default False
    curvature : array of shape (size,), optional
        The objective (in its minimisation sense) contains ``sum(curvature * z**2) / 2``. All
        entries positive. Only for free vectors.
    """

    name: str
    size: int
    nonnegative: bool = False
    curvature: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _size(self.name, "size", self.size))
        if self.curvature is None:
            return
        if self.nonnegative:
            raise ModelError(f"variable {self.name!r}: a quadratic cost needs a free vector.")
        curvature = as_real(self.curvature, copy=True)
        if curvature.shape != (self.size,) or not np.all(curvature > 0):
            raise ModelError(f"variable {self.name!r}: curvature must be {self.size} positives.")
        object.__setattr__(self, "curvature", curvature)


def _size(name: str, what: str, size: int) -> int:
    # Of size zero is what facial reduction leaves of a matrix that must vanish.
    if not isinstance(size, Integral) or size < 0:
        raise ModelError(f"variable {name!r}: its {what} must be a whole number; it is {size!r}.")
    return int(size)


Variable: TypeAlias = PsdVariable | VectorVariable
