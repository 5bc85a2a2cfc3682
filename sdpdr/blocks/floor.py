"""A lower limit on the variance, for programs that do not maximise it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sdpdr.errors import ModelError
from sdpdr.linalg import Trace
from sdpdr.linalg.svec import Array
from sdpdr.model import AtMost, Block, Var
from sdpdr.model.terms import Term


@dataclass(frozen=True, eq=False)
class VarianceFloor(Block):
    r"""Keeps the variance of centred points from falling, :math:`\operatorname{tr} K \ge v`.

    Parameters
    ----------
    n : int
        Number of points.
    least : float
        v, positive.
    weights : array of shape (n,), optional
        How many points each node stands for; the variance is then the sum of :math:`c_i K_{ii}`.
    gram : str, default "K"

    Raises
    ------
    ModelError
        If the floor is not positive.

    References
    ----------
    Vasiloglou thesis, section 6.2, (2.103).

    Examples
    --------
    >>> from sdpdr.blocks import Gram
    >>> (Gram(3) + VarianceFloor(3, 2.0)).violations({"K": np.eye(3)})["variance_floor"]
    0.0
    """

    n: int
    least: float
    weights: Array | None = None
    gram: str = "K"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.least) and self.least > 0.0):
            raise ModelError(f"the least variance must be positive; it is {self.least}.")

    def terms(self) -> Iterable[Term]:
        """Tr K >= v, written with its sides negated."""
        yield AtMost(
            -(Trace(self.n, self.weights) @ Var(self.gram)), -float(self.least), symbol="-v"
        )
