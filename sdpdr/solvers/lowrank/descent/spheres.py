r"""Rows that fix a sum of squared lengths, kept exactly: the factor moves on a product of spheres.

A row :math:`a \sum_{i \in G} K_{ii} = b` says that the points of the group G together have the
length :math:`\rho = \sqrt{b / a}`. A single diagonal entry (max-cut, correlation) is a group of one
point, a trace a group of all. Groups without a point in common form a product of spheres, with

- tangent directions :math:`\sum_{i \in G} R_i^T D_i = 0`,
- the retraction :math:`R_G \mapsto \rho R_G / \|R_G\|`,
- multipliers in closed form, those under which the gradient is tangent: with :math:`S_0` the dual
  slack without these rows, :math:`y = - \langle R, S_0 R \rangle_G / b`.

They need neither a penalty nor an estimate, which is what makes max-cut a smooth problem without
constraints. Other rows have a penalty in the augmented Lagrangian,

.. math::

    L(R) = f(R) + \frac{|y + \sigma h(R)|^2 - |y|^2}{2 \sigma}, \qquad
    \operatorname{Hess} L [D] = P_R \left( 2 S(u) D + 2 \sigma A^*(J D) R \right),

with :math:`u = y + \sigma h` on those, and the closed form on the others, in the dual slack S.
:math:`P_R` is the projection on tangent directions.

References
----------
Boumal, Voroninski and Bandeira, "The non-convex Burer-Monteiro approach works on smooth
semidefinite programs", NeurIPS 2016; Absil, Mahony and Sepulchre, Optimization Algorithms on
Matrix Manifolds, 2008, chapters 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.walks import breadth
from sdpdr.program.sdp import SDP
from sdpdr.solvers.lowrank.general.forms import DualSlack
from sdpdr.solvers.lowrank.general.lagrangian import Lagrangian, Layout, Local
from sdpdr.solvers.lowrank.general.problem import FactorBlock, FactorProblem


@dataclass(frozen=True, eq=False)
class Groups:
    """Points of one block whose lengths are fixed together.

    Attributes
    ----------
    rows : array of int, shape (k,)
        Rows of the problem.
    member : array of int, shape (n,)
        Group of every point; k where it has none.
    square : array of shape (k,)
        Squared lengths.
    rhs : array of shape (k,)
        Right sides of the rows.
    """

    rows: Index
    member: Index
    square: Array
    rhs: Array

    def inner(self, one: Array, other: Array) -> Array:
        """Inner products group by group; shape (k,)."""
        products = np.einsum("ik,ik->i", one, other)
        count = self.rows.size
        return np.bincount(self.member, products, minlength=count + 1)[:count].astype(float)

    def tangent(self, factor: Array, change: Array) -> Array:
        """The part of a change that keeps all lengths to first order."""
        share = np.append(self.inner(factor, change) / self.square, 0.0)
        along = share[self.member][:, None] * factor
        return np.asarray(np.subtract(change, along, out=along))

    def retracted(self, factor: Array) -> Array:
        """The factor with the lengths that its groups must have."""
        found = self.inner(factor, factor)
        scale = np.sqrt(self.square / np.maximum(found, np.finfo(float).tiny))
        return np.asarray(factor * np.append(scale, 1.0)[self.member][:, None])

    def multipliers(self, factor: Array, product: Array) -> Array:
        """Multipliers of the rows, from the dual slack without those rows times the factor."""
        return -self.inner(factor, product) / self.rhs


class Spheres:
    """All groups of a problem.

    Parameters
    ----------
    problem : FactorProblem

    Attributes
    ----------
    blocks : list of Groups
    free : array of bool, shape (m,)
        Rows that are not kept, and need a penalty.

    Examples
    --------
    >>> from sdpdr.linalg import Diagonal, InnerProduct
    >>> from sdpdr.program import PsdVariable, Rows
    >>> from sdpdr.program.sdp import SDP
    >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
    >>> unit = Rows("unit", "==", {"X": Diagonal(3)}, np.ones(3))
    >>> sdp = SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.ones((3, 3)))}, (unit,))
    >>> Spheres(compile_problem(sdp)).free
    array([False, False, False])
    """

    def __init__(self, problem: FactorProblem) -> None:
        self.blocks = [_groups(problem, k) for k in range(len(problem.blocks))]
        self.free: NDArray[np.bool_] = np.ones(problem.m, dtype=bool)
        for groups in self.blocks:
            self.free[groups.rows] = False

    @property
    def are_points(self) -> bool:
        """Whether every group is a single point, so that numbers for points commute with it all."""
        return all(
            np.max(np.bincount(g.member)[: g.rows.size], initial=1) == 1 for g in self.blocks
        )

    def tangent(self, layout: Layout, vector: Array, change: Array) -> Array:
        """The part of a change that keeps all lengths, in the faces."""
        factors, _ = layout.split(vector)
        changes, free = layout.split(layout.project(change))
        triples = zip(self.blocks, factors, changes, strict=True)
        return layout.join([g.tangent(f, d) if g.rows.size else d for g, f, d in triples], free)

    def retracted(self, layout: Layout, vector: Array) -> Array:
        """The nearest unknowns with all lengths."""
        factors, free = layout.split(layout.project(vector))
        pairs = zip(self.blocks, factors, strict=True)
        return layout.join([g.retracted(f) if g.rows.size else f for g, f in pairs], free)


def _groups(problem: FactorProblem, k: int) -> Groups:
    block = problem.blocks[k]
    row, point, coefficient = _diagonal_rows(problem, k)
    taken = np.full(block.n, -1)
    order, first, count = np.unique(row, return_index=True, return_counts=True)
    # Rows on single points first, so that a trace beside them is left to a penalty.
    for place in np.argsort(count, kind="stable"):
        points = point[first[place] : first[place] + count[place]]
        if np.all(taken[points] < 0):
            taken[points] = place
    kept = np.unique(taken[taken >= 0])
    rows = order[kept]
    member = np.where(taken < 0, kept.size, np.searchsorted(kept, taken))
    rhs = problem.rhs[rows]
    return Groups(rows, member, rhs / coefficient[first[kept]], rhs)


def _diagonal_rows(problem: FactorProblem, k: int) -> tuple[Index, Index, Array]:
    """Row, point and coefficient of rows that are a multiple of a partial trace, row by row."""
    block = problem.blocks[k]
    matrix = block.forms.matrix[1:].tocsr()
    able = problem.alone(k) & problem.equal & (problem.rhs > 0.0)
    if block.scalar or block.face.shape[1]:
        able[:] = False
    entries = matrix.tocoo()
    i, j = block.forms.i[entries.col], block.forms.j[entries.col]
    able[entries.row[(i != j) | (entries.data <= 0.0)]] = False
    high, low = np.zeros(problem.m), np.full(problem.m, np.inf)
    np.maximum.at(high, entries.row, entries.data)
    np.minimum.at(low, entries.row, entries.data)
    # A point that is named twice has a coefficient of its own, and is no part of a sphere.
    able &= (high == low) & (high > 0.0)
    kept = able[entries.row]
    order = np.argsort(entries.row[kept], kind="stable")
    return (
        entries.row[kept][order].astype(np.intp),
        i[kept][order].astype(np.intp),
        np.asarray(entries.data[kept][order]),
    )


# Order from which on fill matters, and the part of all points that are equally far from one where
# little is left of sparsity once some are eliminated.
_FILL_FROM, _WIDE_LEVEL = 200, 0.4


def equations_alone(sdp: SDP) -> bool:
    """Whether a program consists of matrices and equations, which descent is made for."""
    plain = not sdp.lmis and not sdp.vector_variables and bool(sdp.psd_variables)
    return plain and bool(sdp.rows) and all(r.relation == "==" for r in sdp.rows)


def reason(problem: FactorProblem) -> str:
    """Why a descent should come first; empty where it should not.

    Examples
    --------
    >>> from sdpdr.linalg import Diagonal, InnerProduct
    >>> from sdpdr.program import PsdVariable, Rows
    >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
    >>> unit = Rows("unit", "==", {"X": Diagonal(3)}, np.ones(3))
    >>> sdp = SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.ones((3, 3)))}, (unit,))
    >>> reason(compile_problem(sdp))
    'All rows fix lengths, which descent on spheres keeps exactly.'
    """
    if not equations_alone(problem.sdp) or not problem.m:
        return ""
    if not Spheres(problem).free.any():
        return "All rows fix lengths, which descent on spheres keeps exactly."
    large = [b for b in problem.blocks if b.n >= _FILL_FROM]
    for block in large:
        width = breadth(_pattern(block))
        if width >= _WIDE_LEVEL * block.n:
            return (
                f"Of {block.n} points {width} are equally far from one, so that factorizations "
                "would fill in, and descent was tried first."
            )
    return ""


def _pattern(block: FactorBlock) -> sp.csr_array:
    """Pairs of points that some row reads together, or the objective."""
    forms = block.forms
    row, column = np.concatenate([forms.i, forms.j]), np.concatenate([forms.j, forms.i])
    return sp.csr_array((np.ones(row.size), (row, column)), shape=(block.n, block.n))


@dataclass(eq=False)
class SphereLagrangian(Lagrangian):
    """The function that a descent minimises; multipliers of rows that are kept do not count."""

    spheres: Spheres

    def at(self, vector: Array) -> SphereLocal:
        """Value and derivatives at the nearest point of the spheres."""
        return SphereLocal(self, vector)


class SphereLocal(Local):
    """The function near one point; attributes as of `Local`, ``active`` the rows with a penalty."""

    function: SphereLagrangian

    def __init__(self, function: SphereLagrangian, vector: Array) -> None:
        layout, problem, sigma = function.layout, function.layout.problem, function.penalty
        self.function, self.active = function, function.spheres.free
        self.vector = function.spheres.retracted(layout, vector)
        values = layout.values(self.vector)
        self.objective = layout.objective(self.vector, values)
        self.excess = np.where(self.active, values[1:] - problem.rhs, 0.0)
        before = np.where(self.active, function.multipliers, 0.0)
        self.estimate = before + sigma * self.excess
        change = self.excess @ (self.estimate + before)
        self.value = self.objective + 0.5 * float(change)
        self._factors, self._free = layout.split(self.vector)
        self._products = self._with_closed_form()
        self._slacks: list[DualSlack] | None = None

    def _with_closed_form(self) -> list[Array]:
        """Fill in the multipliers of the spheres; twice the dual slack times each factor."""
        problem = self.function.layout.problem
        y = np.append(1.0, self.estimate)
        products = [
            block.forms.slack(y) @ factor
            for block, factor in zip(problem.blocks, self._factors, strict=True)
        ]
        triples = zip(self.function.spheres.blocks, self._factors, products, strict=True)
        tangent = []
        for groups, factor, product in triples:
            self.estimate[groups.rows] = groups.multipliers(factor, product)
            tangent.append(groups.tangent(factor, product) if groups.rows.size else product)
        return [2.0 * product for product in tangent]

    def gradient(self) -> Array:
        """The gradient, tangent to the spheres and in the faces."""
        layout, problem = self.function.layout, self.function.layout.problem
        y = np.append(1.0, self.estimate)
        on_free = problem.free.T @ y + problem.curvature * self._free
        return layout.project(layout.join(self._products, on_free))
