r"""How far points move, and how much a gradient asks for, in units of what rows read.

With the Laplacian B of `laplacian`, :math:`|X|_B^2 = \operatorname{tr} X^T B X` counts what rows
see of points, such as lengths of about one, and little of where the points are. The dual norm
:math:`|G|_{B^{-1}}` says how much of the objective a gradient could gain in a move of size one.
Their product bounds what a gradient is worth at the points. That of plain norms would multiply a
force on a few neighbours by the size of the whole shape, which grows with the number of points.

Where long vectors are points of their own, rows see shapes as a whole, and plain norms serve: with
B, density maps of 300 to 500 points take 794 iterations in place of 345 (six of them in all).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg.factorization import symmetric_factor
from sdpdr.solvers.lowrank.general.forms import Forms
from sdpdr.solvers.lowrank.interior.points import PointBlock

# Share of the identity in B, so that nothing escapes it. With 1e-6 in norms, so that large shapes
# count for less, density maps of 200 points take 45 iterations in place of 29, separation maps of
# 300 41 in place of 34, and unfolding with temporal order a seventh more.
_IDENTITY = 1e-3
# Multiplies the product of both norms, so that it equals that of plain norms on shapes of 300
# points, on which all its thresholds were chosen.
_CALIBRATED = 4.0


class RowMetric:
    """Norms of points and of gradients of one matrix variable.

    Parameters
    ----------
    points : PointBlock

    Attributes
    ----------
    calibration : float
        What the product of both norms is multiplied by, to mean the same in plain norms and in B.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
    >>> path = compile_problem(methods.mvu(graphs.path([1.0] * 9)).to_sdp())
    >>> metric = RowMetric(PointBlock.of(path.blocks[0]))
    >>> round(metric.size(np.ones((10, 1))), 6), metric.size(np.arange(10.0)[:, None]) > 2.0
    (0.1, True)
    """

    def __init__(self, points: PointBlock) -> None:
        forms = points.forms
        self._plain = points.n > points.block.n
        self.calibration = 1.0 if self._plain else _CALIBRATED
        if self._plain:
            return
        upper = laplacian_matrix(forms)
        self._matrix = sp.csr_array(upper + sp.triu(upper, 1).T)
        self._factor = symmetric_factor(upper)
        self._factor.factorize(upper.data)

    def size(self, points: Array) -> float:
        """The norm of all points, those of long vectors among them."""
        if self._plain:
            return float(np.linalg.norm(points))
        return float(np.sqrt(max(np.sum(points * (self._matrix @ points)), 0.0)))

    def force(self, gradient: Array) -> float:
        """The dual norm of a gradient on the factor."""
        if self._plain:
            return float(np.linalg.norm(gradient))
        return float(np.sqrt(max(np.sum(gradient * self._factor.solve_all(gradient)), 0.0)))


def worth(
    metrics: Sequence[RowMetric], gradients: Sequence[Array], points: Sequence[Array]
) -> float:
    """What gradients could be worth at points: the product of both norms over all variables."""
    force = [m.calibration * m.force(g) for m, g in zip(metrics, gradients, strict=True)]
    size = [m.size(p) for m, p in zip(metrics, points, strict=True)]
    return float(np.linalg.norm(force) * np.linalg.norm(size))


def laplacian(forms: Forms) -> tuple[Array, Array]:
    """What shifts are measured by: the diagonal, one in the mean, and the entries that are read.

    A diagonal that is read with more than its neighbours together keeps what it is read with.
    """
    weight = np.asarray(abs(forms.matrix[1:]).sum(axis=0)).ravel()
    off = forms.i != forms.j
    between = np.where(off, 0.5 * weight, 0.0)
    ends = np.concatenate([forms.i, forms.j])
    near: Array = np.bincount(ends, np.append(between, between), minlength=forms.n).astype(float)
    near = np.maximum(near, np.bincount(forms.i, np.where(off, 0.0, weight), minlength=forms.n))
    mean = float(near.mean()) or 1.0
    share = (1.0 - _IDENTITY) / mean
    return share * near + _IDENTITY, -share * between


def laplacian_matrix(forms: Forms) -> sp.csc_array:
    """The upper triangle of the matrix that `laplacian` gives the entries of."""
    diagonal, other = laplacian(forms)
    off, nodes = forms.i != forms.j, np.arange(forms.n)
    low, high = np.minimum(forms.i, forms.j)[off], np.maximum(forms.i, forms.j)[off]
    entries = (np.append(diagonal, other[off]), (np.append(nodes, low), np.append(nodes, high)))
    upper = sp.csc_array(sp.coo_array(entries, shape=(forms.n, forms.n)))
    upper.sort_indices()
    return upper
