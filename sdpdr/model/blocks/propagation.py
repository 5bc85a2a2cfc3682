"""Two energies of a labelling: one is minimised, the other is normalised."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Matrix
from sdpdr.linalg import InnerProduct
from sdpdr.linalg.svec import svec
from sdpdr.model.affine import Affine, Var
from sdpdr.model.block import Block
from sdpdr.model.terms import Equal, InCone, Maximize, Minimize, Term
from sdpdr.program.point import VectorVariable


@dataclass(frozen=True, eq=False)
class LeastEnergy(Block):
    r"""Minimises :math:`\langle A, K\rangle`, the energy :math:`v^T A v` if :math:`K = v v^T`.

    Parameters
    ----------
    form : array or sparse array of shape (n, n)
        A, kept sparse if given sparse.
    gram : str, default "K"
    """

    form: Matrix
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """The inner product."""
        yield Minimize(InnerProduct(self.form) @ Var(self.gram))


@dataclass(frozen=True, eq=False)
class UnitEnergy(Block):
    r"""Fixes an energy, :math:`\langle B, K\rangle = 1`.

    Parameters
    ----------
    form : array or sparse array of shape (n, n)
        B, kept sparse if given sparse.
    gram : str, default "K"
    """

    form: Matrix
    gram: str = "K"

    def terms(self) -> Iterable[Term]:
        """A single row."""
        yield Equal(InnerProduct(self.form) @ Var(self.gram), 1.0)


@dataclass(frozen=True, eq=False)
class LargestMultiple(Block):
    r"""Maximises :math:`\lambda` subject to :math:`A - \lambda B \succeq 0`.

    The maximum is the least ratio :math:`v^T A v / v^T B v`.

    Parameters
    ----------
    above, below : array or sparse array of shape (n, n)
        A and B.
    multiple : str, default "lam"
        Name of the scalar.
    """

    above: Matrix
    below: Matrix
    multiple: str = "lam"

    def variables(self) -> Iterable[VectorVariable]:
        """The multiple."""
        yield VectorVariable(self.multiple, 1)

    def terms(self) -> Iterable[Term]:
        """The matrix inequality, and the multiple to maximise."""
        yield InCone(_shifted(self.above, self.below, self.multiple), "psd")
        yield Maximize(np.ones((1, 1)) @ Var(self.multiple))


@dataclass(frozen=True, eq=False)
class FixedScaleDual(Block):
    r"""Maximises a lower bound :math:`\gamma` of a form where another is at least one (S-lemma).

    .. math::

        \max\ \gamma \quad\text{s.t.}\quad
        A - \lambda B + (\lambda - \gamma) e_0 e_0^T \succeq 0,\quad \lambda \ge 0 .

    Its value is the minimum of :math:`v^T A v` over all v with :math:`v_0 = 1` and
    :math:`v^T B v \ge 1`, if some v has :math:`v^T B v > 1`.

    Parameters
    ----------
    above, below : array or sparse array of shape (n, n)
        A and B.
    multiple, bound : str, default "lam" and "gamma"
        Names of the scalars.
    """

    above: Matrix
    below: Matrix
    multiple: str = "lam"
    bound: str = "gamma"

    def variables(self) -> Iterable[VectorVariable]:
        """Both scalars."""
        yield VectorVariable(self.multiple, 1, nonnegative=True)
        yield VectorVariable(self.bound, 1)

    def terms(self) -> Iterable[Term]:
        """The matrix inequality, and the bound to maximise."""
        pencil = _shifted(self.above, self.below, self.multiple)
        corner = sp.csr_array(([1.0], ([0], [0])), shape=(pencil.m, 1))
        level = corner @ Var(self.multiple) - corner @ Var(self.bound)
        yield InCone(pencil + level, "psd")
        yield Maximize(np.ones((1, 1)) @ Var(self.bound))


def _shifted(above: Matrix, below: Matrix, multiple: str) -> Affine:
    """A minus a multiple of B, in svec coordinates."""
    return -sp.csr_array(svec(below)[:, None]) @ Var(multiple) + svec(above)
