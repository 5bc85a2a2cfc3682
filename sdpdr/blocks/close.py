"""Entries that are known up to an error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.errors import ModelError
from sdpdr.linalg import Entries
from sdpdr.linalg.svec import SQRT2, Array, Index, svec, svec_index, svec_size
from sdpdr.model import AtMost, Block, InCone, Var
from sdpdr.model.terms import Term
from sdpdr.program.variables import VectorVariable


@dataclass(frozen=True, eq=False)
class Close(Block):
    r"""Keeps entries near given values, :math:`\sum_e (Z_{i_e j_e} - v_e)^2 \le \epsilon^2`.

    The differences fill a matrix R as nearly square as possible; its norm is at most
    :math:`\epsilon` exactly if some T has

    .. math:: \begin{pmatrix} T & R^T \\ R & \epsilon I \end{pmatrix} \succeq 0, \qquad
              \operatorname{tr} T \le \epsilon .

    The inequality is of order :math:`2\sqrt p` for p entries, where the arrow of a second-order
    cone would be of order p + 1.

    Parameters
    ----------
    n : int
        Order of the matrix.
    pairs : array_like of int, shape (p, 2)
    values : array_like of shape (p,)
    radius : float
        :math:`\epsilon`, positive; not squared.
    gram : str, default "Z"
    bound : str, default "T"
        Name of the vector svec(T), which this block declares.

    Raises
    ------
    ModelError
        If the radius is not positive.

    References
    ----------
    Vasiloglou thesis, (2.111).
    """

    n: int
    pairs: Index
    values: Array
    radius: float
    gram: str = "Z"
    bound: str = "T"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.radius) and self.radius > 0.0):
            raise ModelError(f"the radius must be positive; it is {self.radius}.")

    @property
    def columns(self) -> int:
        """Columns of R, and order of T."""
        return int(np.floor(np.sqrt(len(self.pairs))))

    def variables(self) -> Iterable[VectorVariable]:
        """T."""
        yield VectorVariable(self.bound, svec_size(self.columns))

    def terms(self) -> Iterable[Term]:
        """The matrix inequality, and the trace."""
        p, b = len(self.pairs), self.columns
        order = b - (-p // b)
        e = np.arange(p)
        place = svec_index(e % b, b + e // b)
        lift = sp.csr_array((np.full(p, SQRT2), (place, e)), (svec_size(order), p))
        away = Entries(self.n, self.pairs) @ Var(self.gram) - self.values
        head = sp.eye_array(svec_size(order), svec_size(b), format="csr")
        rest = svec(np.diag(np.arange(order) >= b) * self.radius)
        yield InCone(lift @ away + head @ Var(self.bound) + rest, "psd", name="distance")
        diagonal = np.zeros((1, svec_size(b)))
        diagonal[0, svec_index(np.arange(b), np.arange(b))] = 1.0
        yield AtMost(sp.csr_array(diagonal) @ Var(self.bound), self.radius, name="radius")
