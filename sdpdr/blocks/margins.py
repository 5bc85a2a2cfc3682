"""Signs that a matrix must have, with room to spare, and the multipliers of these demands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg.svec import Array
from sdpdr.model import Affine, AtMost, Block, Maximize, Var
from sdpdr.model.terms import Term
from sdpdr.program.variables import VectorVariable


@dataclass(frozen=True, eq=False)
class Margins(Block):
    r"""Gives entries of X the signs observed, :math:`Y_{ia} X_{ia} \ge 1`.

    ``soften(Margins(...), c)`` is the hinge loss, :math:`c \sum \max(0, 1 - Y_{ia} X_{ia})`.

    Parameters
    ----------
    entries : Affine
        The m entries observed, such as ``ProductLift(shape).entries(places)``.
    signs : array_like of shape (m,)
        Y, 1 or -1.

    References
    ----------
    Tong thesis, (2.24), where the inequality is the other way round, and X = 0 the optimum.
    """

    entries: Affine
    signs: Array

    def terms(self) -> Iterable[Term]:
        """One row for each sign observed."""
        yield AtMost(-np.asarray(self.signs, dtype=float) * self.entries, -1.0, symbol="−1")


@dataclass(frozen=True, eq=False)
class MarginMultipliers(Block):
    r"""Declares the multipliers Q of `Margins`, :math:`0 \le Q \le c`, and maximises their sum.

    Parameters
    ----------
    size : int
        Signs observed.
    c : float, default inf
        The price of slack; infinite where there is none.
    multipliers : str, default "Q"
        Name of the vector.

    References
    ----------
    Tong thesis, (2.27).
    """

    size: int
    c: float = float("inf")
    multipliers: str = "Q"

    def variables(self) -> Iterable[VectorVariable]:
        """The multipliers, not negative."""
        yield VectorVariable(self.multipliers, self.size, nonnegative=True)

    def terms(self) -> Iterable[Term]:
        """The price as a limit, and the sum."""
        if np.isfinite(self.c):
            every = sp.eye_array(self.size, format="csr")
            yield AtMost(every @ Var(self.multipliers), self.c, symbol="c")
        yield Maximize(np.ones((1, self.size)) @ Var(self.multipliers))
