"""Sums of largest values, of vectors and of spectra, and means: of values, of a determinant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdpdr.linalg.svec import order_of, smat, svec, svec_index, svec_pairs
from sdpdr.model.affine import Affine
from sdpdr.model.blocks.geomean import GeometricMean
from sdpdr.model.language.pieces import (
    Built,
    Direct,
    Function,
    Limits,
    Point,
    at_most_zero,
    natural,
    placed,
    psd_term,
    scaled_identity,
    term_name,
    unknown_matrix,
    unknowns,
)
from sdpdr.model.terms import AtMost, Called, InCone, Term
from sdpdr.program.point import Variable


@dataclass(frozen=True, eq=False)
class LargestEigenvalue(Direct):
    r"""The largest eigenvalue: :math:`t I - S \succeq 0`.

    Parameters
    ----------
    of : Affine
        S in svec coordinates.

    Examples
    --------
    >>> from sdpdr.model.language import lambda_max, symmetric
    >>> (lambda_max(symmetric("S", 3)) <= 1.0).terms()[0].lhs.m
    6
    """

    top = "largest"

    def called(self) -> Called:
        """The function as it is printed."""
        return Called("lambda_max", (self.of,), of_matrices=True)

    def value(self, values: Point) -> float:
        """The function at a point."""
        return float(np.linalg.eigvalsh(smat(self.of.at(values)))[-1])

    def below(self, limit: Affine, name: str) -> Limits:
        """One inequality."""
        n = order_of(self.of.m)
        inside = scaled_identity(n, limit, 0, n) - self.of
        return [], [psd_term(inside, name, "largest" if "." in name else "")]


@dataclass(frozen=True, eq=False)
class LargestEigenvalues(Function):
    r"""The sum of the k largest eigenvalues.

    .. math:: \lambda_1 + \dots + \lambda_k = \min_{P, s}\ k s + \operatorname{tr} P
              \quad\text{s.t.}\quad P \succeq 0,\ P + s I - S \succeq 0 .

    Parameters
    ----------
    of : Affine
        S in svec coordinates.
    k : int

    References
    ----------
    Overton and Womersley, "On the sum of the largest eigenvalues of a symmetric matrix", SIAM J.
    Matrix Anal. Appl. 13(1), 1992.

    Examples
    --------
    >>> from sdpdr.linalg.svec import svec
    >>> variables, terms, _ = LargestEigenvalues(Affine.of(svec(np.eye(3))), 2).above("sum")
    >>> [v.name for v in variables], len(terms)
    (['sum.excess', 'sum.level'], 1)
    """

    k: int

    def called(self) -> Called:
        """The function as it is printed."""
        return Called("sum_largest", (self.of, str(self.k)), of_matrices=True)

    def value(self, values: Point) -> float:
        """The function at a point."""
        return float(np.linalg.eigvalsh(smat(self.of.at(values)))[-self.k :].sum())

    def above(self, name: str) -> Built:
        """A matrix of what lies above a level, the level, and one inequality."""
        n = order_of(self.of.m)
        excess, beyond = unknown_matrix(f"{name}.excess", n)
        level, height = unknowns(f"{name}.level", 1)
        inside = beyond + scaled_identity(n, height, 0, n) - self.of
        trace = beyond.combined(svec(np.eye(n))[None, :], ())
        total = trace + float(self.k) * height.reshape(())
        return [excess, level], [psd_term(inside, name, "above")], total


@dataclass(frozen=True, eq=False)
class LargestValues(Function):
    r"""The sum of the k largest values.

    .. math:: v_{(1)} + \dots + v_{(k)} = \min_{p, s}\ k s + \textstyle\sum_i p_i
              \quad\text{s.t.}\quad p \ge 0,\ p_i + s \ge v_i .

    Parameters
    ----------
    of : Affine
        v.
    k : int

    Examples
    --------
    >>> from sdpdr.model.language import scalar
    >>> variables, terms, _ = LargestValues(scalar("v", 5), 2).above("sum")
    >>> [v.size for v in variables], [term.lhs.m for term in terms]
    ([5, 1], [5])
    """

    k: int

    def called(self) -> Called:
        """The function as it is printed."""
        return Called(
            *(("max", (self.of,)) if self.k == 1 else ("sum_largest", (self.of, str(self.k))))
        )

    def value(self, values: Point) -> float:
        """The function at a point."""
        return float(np.sort(self.of.at(values).ravel())[-self.k :].sum())

    def above(self, name: str) -> Built:
        """What lies above a level, the level, and a row for each value."""
        excess, beyond = unknowns(f"{name}.excess", self.of.m, nonnegative=True)
        level, height = unknowns(f"{name}.level", 1)
        height = height.reshape(())
        rows = at_most_zero(self.of.reshape(-1) - beyond - height, name, "above")
        return [excess, level], [rows], beyond.sum() + float(self.k) * height


@dataclass(frozen=True, eq=False)
class LessMean(Function):
    r"""The negative of a geometric mean :math:`(v_1 \cdots v_m)^{1/m}`, as a tree of pairs.

    Parameters
    ----------
    of : Affine
        v; they are thereby kept at least zero.

    See Also
    --------
    sdpdr.blocks.GeometricMean : how the tree is written.

    Examples
    --------
    >>> from sdpdr.model.language import scalar
    >>> len([t for t in LessMean(scalar("v", 4)).above("mean")[1] if isinstance(t, InCone)])
    3
    """

    def called(self) -> Called:
        """The function as it is printed."""
        return Called("geo_mean", (self.of,), sign=-1.0)

    def value(self, values: Point) -> float:
        """The function at a point."""
        return -_geometric_mean(self.of.at(values))

    def above(self, name: str) -> Built:
        """The scalars of the tree; its root is the mean."""
        variable, terms, root = _mean(self.of, name)
        return [variable], terms, -root


@dataclass(frozen=True, eq=False)
class LessRootDet(Function):
    r"""The negative of the n-th root of a determinant.

    .. math:: (\det S)^{1/n} = \max_\Delta\ (\Delta_{11} \cdots \Delta_{nn})^{1/n}
              \quad\text{s.t.}\quad
              \begin{pmatrix} S & \Delta \\ \Delta^T & \operatorname{diag}(\Delta) \end{pmatrix}
              \succeq 0,

    with lower-triangular :math:`\Delta`; S is thereby positive semidefinite.

    Parameters
    ----------
    of : Affine
        S in svec coordinates.

    References
    ----------
    Nesterov and Nemirovskii, "Interior-point polynomial algorithms in convex programming", SIAM,
    1994, section 6.4.3.

    Examples
    --------
    >>> from sdpdr.linalg.svec import svec
    >>> variables, terms, _ = LessRootDet(Affine.of(svec(np.eye(2)))).above("det")
    >>> [v.size for v in variables], terms[0].lhs.m
    ([3, 1], 10)
    """

    def called(self) -> Called:
        """The function as it is printed."""
        return Called("root_det", (self.of,), sign=-1.0, of_matrices=True)

    def value(self, values: Point) -> float:
        """The function at a point."""
        return -_geometric_mean(np.linalg.eigvalsh(smat(self.of.at(values))))

    def above(self, name: str) -> Built:
        """The triangle, the tree over its diagonal, and an inequality of order 2n."""
        n = order_of(self.of.m)
        i, j = np.tril_indices(n)
        triangle, entries = unknowns(f"{name}.triangle", i.size)
        on = np.arange(n)
        diagonal = entries[np.flatnonzero(i == j)]
        own = natural(self.of)
        inside = placed(2 * n, own, *svec_pairs(np.arange(self.of.m)))
        inside = inside + placed(2 * n, entries, i, n + j)
        inside = inside + placed(2 * n, diagonal, n + on, n + on)
        # Delta_jj <= S_jj follows. Never close to twice that, it says nothing new, but where S is
        # limited it limits the triangle, and bounds can be proved.
        limited = at_most_zero(diagonal - 2.0 * own[svec_index(on, on)], name, "diagonal")
        tree, terms, root = _mean(diagonal, name)
        return [triangle, tree], [psd_term(inside, name, "det"), limited, *terms], -root


def _geometric_mean(numbers: Any) -> float:
    """Of numbers at least zero, but for rounding."""
    with np.errstate(divide="ignore"):
        return float(np.exp(np.mean(np.log(np.maximum(numbers, 0.0)))))


def _mean(values: Affine, name: str) -> tuple[Variable, list[Term], Affine]:
    """The variable, the terms and the root of a geometric mean."""
    flat = values.reshape(-1)
    tree = GeometricMean(flat, name=f"{name}.mean")
    (size,) = (variable.size for variable in tree.variables())
    variable, scalars = unknowns(tree.name, size)
    stated = [term for term in tree.terms() if isinstance(term, (AtMost, InCone))]
    return variable, [replace(t, name=term_name(name, t.name)) for t in stated], scalars[0]
