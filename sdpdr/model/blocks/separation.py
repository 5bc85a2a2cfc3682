"""Separation of classes by hyperplanes whose normals are points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, ModelError
from sdpdr.linalg import Entries
from sdpdr.model.affine import Affine, Var
from sdpdr.model.model import Block
from sdpdr.model.terms import AtMost, Term

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
    margin : float, default 1
        :math:`\gamma > 0`, in units of squared length.
    gram : str, default "K"

    References
    ----------
    Vasiloglou thesis, (1.90) in section 5.1, which has :math:`\gamma = 0`.
    """

    labels: Index
    anchors: Index
    margin: float = 1.0
    gram: str = "K"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.margin) and self.margin > 0):
            raise ModelError(
                f"margin must be positive; it is {self.margin}. With margin 0 the normal may "
                "shrink to zero, which satisfies every row and separates nothing."
            )

    @property
    def sides(self) -> Affine:
        """The values :math:`s_i K_{Ai}`."""
        pairs, signs = _rows(self.labels, self.anchors)
        return signs * Entries(len(self.labels), pairs) @ Var(self.gram)

    def terms(self) -> Iterable[Term]:
        """One row for each anchor and labelled point."""
        yield AtMost(-self.sides, -float(self.margin), symbol="−γ")
