r"""Rows that fix squared lengths of points, and steps that keep them.

Where a row is a single diagonal entry, :math:`K_{ii} = |R_i|^2`, a straight step D changes it by
:math:`2 t R_i^T D_i + t^2 |D_i|^2`, and the last term makes long steps costly although a rotation
of the point would avoid it. The step bent onto the sphere

.. math:: R_i(t) = \rho_i \frac{R_i + t D_i}{|R_i + t D_i|}, \qquad
          \rho_i^2 = |R_i|^2 + 2 t R_i^T D_i,

has the change of the linear model and no more.

References
----------
Absil, Mahony and Sepulchre, Optimization Algorithms on Matrix Manifolds, 2008, chapter 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.solvers.lowrank.general.forms import Forms
from sdpdr.solvers.lowrank.general.lagrangian import Layout, Local
from sdpdr.solvers.lowrank.general.line_search import Curve
from sdpdr.solvers.lowrank.general.problem import FactorProblem

_SHORTEST = 0.1  # share of its length that a point keeps at least
_TRIES = 30


def pinned_points(forms: Forms, equal: NDArray[np.bool_]) -> Index:
    """Points whose squared length stands alone in an equality."""
    rows = forms.matrix[1:]
    alone = (np.diff(rows.indptr) == 1) & (np.diff(forms.weights[1:].indptr) == 0) & equal
    pair = rows.indices[rows.indptr[:-1][alone]]
    return np.unique(forms.i[pair][forms.i[pair] == forms.j[pair]])


class Pins:
    """The points of a problem whose lengths are fixed.

    Parameters
    ----------
    problem : FactorProblem
    """

    def __init__(self, problem: FactorProblem) -> None:
        none = np.zeros(0, dtype=np.int64)
        self._points = [
            none
            if block.scalar or block.face.shape[1]
            else pinned_points(block.forms, problem.equal)
            for block in problem.blocks
        ]
        self.any = any(points.size for points in self._points)

    def moved(self, layout: Layout, vector: Array, direction: Array, t: float) -> Array:
        """The point after a step that is bent onto the spheres of its pinned points."""
        factors, free = layout.split(vector)
        steps, free_step = layout.split(direction)
        bent = [
            _bent(f, d, t, points)
            for f, d, points in zip(factors, steps, self._points, strict=True)
        ]
        return layout.join(bent, free + t * free_step)

    def search(self, local: Local, direction: Array) -> tuple[Local, float]:
        """The best point found along the bent step, from the straight one's length on."""
        layout = local.function.layout

        def at(t: float) -> Local:
            return local.function.at(self.moved(layout, local.vector, direction, t))

        t = Curve(local, direction).best() or 1.0
        best, length = local, 0.0
        for _ in range(_TRIES):
            trial = at(t)
            if trial.value < best.value:
                best, length = trial, t
                t *= 2.0
            elif length > 0.0:
                break
            else:
                t *= 0.25
        return best, length


def _bent(factor: Array, step: Array, t: float, points: Index) -> Array:
    moved = factor + t * step
    if not points.size:
        return np.asarray(moved)
    before = np.einsum("ik,ik->i", factor[points], factor[points])
    slope = np.einsum("ik,ik->i", factor[points], step[points])
    wanted = np.maximum(before + 2.0 * t * slope, _SHORTEST**2 * before)
    found = np.einsum("ik,ik->i", moved[points], moved[points])
    moved[points] *= np.sqrt(wanted / np.maximum(found, np.finfo(float).tiny))[:, None]
    return np.asarray(moved)
