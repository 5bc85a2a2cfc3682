"""Nodes with similar and dissimilar neighbours, some of which have labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import DataError, DisconnectedGraphError, ShapeError
from sdpdr.base.rows import listed
from sdpdr.families.propagate.pencil import EnergyPencil
from sdpdr.linalg.walks import connected_components

# Largest asymmetry of S, relative to its largest entry, that counts as rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    r"""Similarities, dissimilarities and labels of n nodes; made by `labelled_graph`.

    Attributes
    ----------
    positive, negative : array or sparse array of shape (n, n)
        :math:`S_+` and :math:`S_-`: symmetric, non-negative, zero on the diagonal.
    labels : array of shape (n,)
        nan where not known.
    """

    positive: Matrix
    negative: Matrix
    labels: Array

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.labels.size)

    @cached_property
    def labelled(self) -> Index:
        """Nodes with a label."""
        return np.flatnonzero(~np.isnan(self.labels))

    @cached_property
    def unlabelled(self) -> Index:
        """Nodes without one."""
        return np.flatnonzero(np.isnan(self.labels))

    def energies(self, y: ArrayLike) -> tuple[float, float]:
        r"""The sums :math:`E_\pm(y) = \tfrac12\sum_{ij} (S_\pm)_{ij} (y_i - y_j)^2`.

        Parameters
        ----------
        y : array_like of shape (n,)
        """
        values = np.asarray(y, dtype=float)
        return _energy(self.positive, values), _energy(self.negative, values)

    def ratio(self, y: ArrayLike) -> float:
        """:math:`E_+ / E_-` of a labelling; infinite if the lower vanishes, nan if both do."""
        above, below = self.energies(y)
        if below > 0.0:
            return above / below
        return math.inf if above > 0.0 else math.nan

    def labelling(self, spread: ArrayLike) -> Array:
        """Labels where known, and ``spread``, of shape (n_u,), elsewhere."""
        y = self.labels.copy()
        y[self.unlabelled] = spread
        return y

    @cached_property
    def pencil(self) -> EnergyPencil:
        r"""The forms :math:`A = P^T L_+ P` and :math:`B = P^T L_- P` of :math:`(\beta, y_u)`."""
        return EnergyPencil(*self._form(self.positive), *self._form(self.negative), self._terms())

    def _terms(self) -> int:
        """How many numbers are added up, at most, in an entry of the forms."""
        counts = [(s != 0).sum(axis=1) for s in (self.positive, self.negative)]
        return int(np.max(counts, initial=0))

    def _form(self, similarity: Matrix) -> tuple[Matrix, Matrix]:
        """P^T L P, and the same with the absolute value of every term."""
        l, u = self.labelled, self.unlabelled  # noqa: E741  # letters of the formula
        known = self.labels[l]
        across = similarity[u][:, l]
        inner = similarity[u][:, u]
        degrees = np.asarray(similarity[u].sum(axis=1)).ravel()
        within = sp.coo_array(sp.triu(sp.coo_array(similarity[l][:, l]), 1))
        steps = within.data * np.square(known[within.row] - known[within.col])
        outward = np.asarray(across.sum(axis=0)).ravel() * np.square(known)
        corner = math.fsum(np.concatenate([steps, outward]).tolist())
        side, size = np.asarray(-(across @ known)), np.asarray(across @ np.abs(known))
        return _bordered(corner, side, degrees, -inner), _bordered(corner, size, degrees, inner)

    @cached_property
    def parts(self) -> Index:
        """Number of the connected component of every node, by similar pairs alone; shape (n,)."""
        return np.asarray(connected_components(sp.csr_array(self.positive))[1])

    @cached_property
    def unreached(self) -> Index:
        """Nodes that similar pairs connect to no label."""
        return np.flatnonzero(~np.isin(self.parts, self.parts[self.labelled]))

    @cached_property
    def is_separated(self) -> bool:
        """Whether no component of the similar pairs has two different labels."""
        parts, values = self.parts[self.labelled], self.labels[self.labelled]
        found = np.unique(np.column_stack([parts, values]), axis=0)
        return len(found) == len(np.unique(parts))

    def require_reached(self) -> None:
        """Refuse components without a label, by a `DisconnectedGraphError` that names them."""
        if not self.unreached.size:
            return
        numbers = self.parts[self.unreached]
        components = [np.flatnonzero(self.parts == p) for p in dict.fromkeys(numbers.tolist())]
        raise DisconnectedGraphError(
            f"nodes {listed(components[0])} are connected to no labelled node by similar pairs "
            f"({len(components)} such components in all), so that any value suits them. Label one "
            "of them, connect them, or leave them out.",
            components,
        )

    def require_two_values(self) -> None:
        """Refuse constant labels."""
        values = self.labels[self.labelled]
        if np.ptp(values) == 0.0:
            raise DataError(
                f"labels must take two values; all {values.size} of them are {values[0]:g}. With "
                "one value (one class) every shift of a labelling is as good as the labelling."
            )

    def restricted(self, kept: Index) -> LabelledGraph:
        """The graph of some of its nodes, in ascending order."""
        if len(kept) == self.n:
            return self
        return LabelledGraph(
            self.positive[kept][:, kept], self.negative[kept][:, kept], self.labels[kept]
        )


def labelled_graph(S: Any, y: ArrayLike) -> LabelledGraph:
    r"""Check similarities and labels, and split the former by sign.

    :math:`S_+ = \max(S, 0)`, :math:`S_- = \max(-S, 0)`. The diagonal is left out, since no energy
    contains the similarity of a node to itself.

    Parameters
    ----------
    S : array_like or sparse array of shape (n, n)
        Symmetric. Sparse ones stay sparse.
    y : array_like of shape (n,)
        Labels, or ratings; nan where not known.

    Returns
    -------
    LabelledGraph

    Raises
    ------
    ShapeError
        The arguments do not fit together.
    DataError
        An entry is not finite, S is not symmetric, no node has a label, or all have.

    References
    ----------
    Tong thesis, section 3.2.1.

    Examples
    --------
    >>> S = [[0.0, 1.0, -0.5], [1.0, 0.0, 0.0], [-0.5, 0.0, 0.0]]
    >>> graph = labelled_graph(S, [1.0, np.nan, -1.0])
    >>> graph.energies([1.0, 0.0, -1.0]), graph.ratio([1.0, 0.0, -1.0])
    ((1.0, 2.0), 0.5)
    """
    instead = "NaN and infinity are no similarities. Write 0 where nothing is known."
    even = validate.symmetric("S", S, sparse=True, within=_ROUNDING, instead=instead)
    return LabelledGraph(_part(even, 1.0), _part(even, -1.0), _checked_labels(y, even.shape[0]))


def _checked_labels(y: ArrayLike, n: int) -> Array:
    labels = np.array(y, dtype=float)
    if labels.shape != (n,):
        raise ShapeError(f"y must have shape ({n},), one label a node; it has {labels.shape}.")
    if np.isinf(labels).any():
        raise DataError(f"y[{np.flatnonzero(np.isinf(labels))[0]}] is infinite.")
    known = ~np.isnan(labels)
    if not known.any():
        raise DataError("no node has a label: there is nothing to spread. nan stands for unknown.")
    if known.all():
        raise DataError("every node has a label: there is nothing to find. nan stands for unknown.")
    return labels


def _part(matrix: Matrix, sign: float) -> Matrix:
    """The entries of one sign off the diagonal, by their size; csr or dense as the matrix is."""
    if not sp.issparse(matrix):
        part = np.maximum(sign * matrix, 0.0)
        np.fill_diagonal(part, 0.0)
        return part
    pairs = sp.coo_array(matrix)
    kept = (sign * pairs.data > 0.0) & (pairs.row != pairs.col)
    places = pairs.row[kept], pairs.col[kept]
    return sp.csr_array((sign * pairs.data[kept], places), shape=matrix.shape)


def _energy(similarity: Matrix, y: Array) -> float:
    if not sp.issparse(similarity):
        return 0.5 * float(np.sum(similarity * np.square(y[:, None] - y[None, :])))
    pairs = sp.coo_array(similarity)
    return 0.5 * float(pairs.data @ np.square(y[pairs.row] - y[pairs.col]))


def _bordered(corner: float, side: Array, degrees: Array, inner: Matrix) -> Matrix:
    """[[corner, side], [side, diag(degrees) + inner]], sparse where ``inner`` is."""
    if not sp.issparse(inner):
        rest = inner + np.diag(degrees)
        return np.block([[np.full((1, 1), corner), side[None, :]], [side[:, None], rest]])
    border = sp.csr_array(side[None, :])
    rest = inner + sp.diags_array(degrees)
    blocks = [[np.full((1, 1), corner), border], [border.T, rest]]
    return sp.csr_array(sp.block_array(blocks, format="csr"))
