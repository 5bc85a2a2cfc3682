"""Separation of classes by hyperplanes whose normals are points, ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array, Index, as_real
from sdpdr.base.errors import DataError, ModelError
from sdpdr.linalg import Entries, Trace
from sdpdr.model.affine import Var
from sdpdr.model.block import Block
from sdpdr.model.terms import AtMost, Maximize, Term
from sdpdr.program.point import VectorVariable

UNLABELLED = -1


def _rows(labels: Any, anchors: Any) -> tuple[Index, Array]:
    """Pairs (anchor, labelled point), and +1 if both are of one class, -1 if not."""
    labels, anchors = np.asarray(labels), np.asarray(anchors)
    if np.any(labels[anchors] == UNLABELLED):
        node = int(anchors[labels[anchors] == UNLABELLED][0])
        raise DataError(f"anchor {node} has no label; an anchor stands for its class.")
    known = np.flatnonzero(labels != UNLABELLED)
    pairs = np.column_stack([np.repeat(anchors, known.size), np.tile(known, anchors.size)])
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return pairs, np.where(same, 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Separation(Block):
    r"""Puts a class on one side of a hyperplane through the origin, and all others on the other.

    For every anchor A and every point i with a label, :math:`s_i K_{Ai} \ge \gamma`, where
    :math:`s_i = 1` if i has the label of A, and -1 otherwise. :math:`K_{Ai}` is the inner product
    with the normal :math:`y_A`; for i = A the row keeps the normal from vanishing.

    Parameters
    ----------
    labels : array_like of int, shape (n,)
        Class of each point, -1 where it is not known.
    anchors : array_like of int
        Points with a label, one for each class to be set apart.
    margin : float
        :math:`\gamma > 0`, in units of squared length.
    gram : str, default "K"

    References
    ----------
    Vasiloglou thesis, (1.90) in section 5.1, which has :math:`\gamma = 0`.
    """

    labels: Index
    anchors: Index
    margin: float
    gram: str = "K"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.margin) and self.margin > 0):
            raise ModelError(
                f"margin must be positive; it is {self.margin}. With margin 0 the normal may "
                "shrink to zero, which satisfies every row and separates nothing."
            )

    def terms(self) -> Iterable[Term]:
        """One row for each anchor and labelled point."""
        pairs, signs = _rows(self.labels, self.anchors)
        sides = -signs * Entries(len(self.labels), pairs) @ Var(self.gram)
        yield AtMost(sides, -float(self.margin), symbol="−γ")


@dataclass(frozen=True, eq=False)
class LargestMargin(Block):
    r"""Maximises the margin t of `Separation`: :math:`s_i K_{Ai} \ge t` for all its rows.

    Parameters
    ----------
    labels, anchors, gram
        As for `Separation`.
    margin : str, default "margin"
        Name of the scalar t, which this block declares.
    """

    labels: Index
    anchors: Index
    gram: str = "K"
    margin: str = "margin"

    @property
    def label(self) -> str:
        """The label of `Separation`, whose rows these are."""
        return "separation"

    def variables(self) -> Iterable[VectorVariable]:
        """The margin."""
        yield VectorVariable(self.margin, 1, nonnegative=True)

    def terms(self) -> Iterable[Term]:
        """The rows, and the margin to maximise."""
        pairs, signs = _rows(self.labels, self.anchors)
        sides = -signs * Entries(len(self.labels), pairs) @ Var(self.gram)
        t = Var(self.margin)
        yield AtMost(np.ones((len(pairs), 1)) @ t + sides, 0.0)
        yield Maximize(np.ones((1, 1)) @ t)


@dataclass(frozen=True, eq=False)
class Reach(Block):
    r"""Bounds the trace, given that other rows keep points within :math:`\rho_i` of the origin.

    The single row :math:`\operatorname{tr} K \le \sum_i \rho_i^2` is redundant. With it,
    multipliers of any accuracy prove a bound, at any size.

    Parameters
    ----------
    reach : array_like of shape (n,)
        :math:`\rho_i`, plain lengths.
    gram : str, default "K"
    """

    reach: Array
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """The bound on the trace."""
        total = float(np.sum(np.square(as_real(self.reach))))
        yield AtMost(Trace(len(self.reach)) @ Var(self.gram), total, symbol="Σ ρ_i²")
