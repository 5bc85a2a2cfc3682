r"""Programs over cones: a cost, a matrix, and a list of cones.

.. math::

    \min\ c^T x + d \quad\text{s.t.}\quad b - A x \in K_1 \times \dots \times K_p,

with the dual :math:`\max\ d - b^T z` over :math:`z \in K_1^* \times \dots \times K_p^*` with
:math:`c + A^T z = 0`. It is what cvxpy gives to solvers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index

Kind = Literal["zero", "nonnegative", "second-order", "psd"]


@dataclass(frozen=True, eq=False)
class Cone:
    """Rows of a conic program that lie in one cone.

    Attributes
    ----------
    kind : {"zero", "nonnegative", "second-order", "psd"}
    label : str
        Unique in a program.
    rows : array of int
        Of a second-order cone the bound comes first; of a matrix all entries come, column by
        column, and its symmetric part is what is positive semidefinite.
    """

    kind: Kind
    label: str
    rows: Index


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a conic program that have a name.

    Attributes
    ----------
    name : str
    place : array of int
    """

    name: str
    place: Index


@dataclass(frozen=True, eq=False)
class ConicProgram:
    """A program over cones (see the module's text).

    Attributes
    ----------
    cost : array of shape (n,)
    constant : float
    matrix : sparse array of shape (m, n)
    rhs : array of shape (m,)
    cones : sequence of Cone
        Every row is in one.
    columns : sequence of Columns
        Every column is in one.
    maximize : bool
        Whether the person maximises the negative of what is minimised here.
    name : str
    """

    cost: Array
    constant: float
    matrix: sp.csr_array
    rhs: Array
    cones: Sequence[Cone]
    columns: Sequence[Columns]
    maximize: bool = False
    name: str = ""
