"""The geometric mean of affine expressions, as a tree of 2 x 2 matrix inequalities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ModelError
from sdpdr.linalg.svec import SQRT2
from sdpdr.model.affine import Affine, Var
from sdpdr.model.model import Block
from sdpdr.model.terms import AtMost, InCone, Maximize, Term
from sdpdr.program.point import VectorVariable


@dataclass(frozen=True, eq=False)
class GeometricMean(Block):
    r"""Maximises the geometric mean :math:`(v_1 \cdots v_m)^{1/m}`, or bounds it from below.

    The values are paired, and a scalar s is at most the geometric mean of each pair (a, b):

    .. math:: \begin{pmatrix} a & s \\ s & b \end{pmatrix} \succeq 0
              \quad\Longleftrightarrow\quad a, b \ge 0,\ s^2 \le ab .

    The scalars are paired in turn, up to the root g. If m is not a power of two, the remaining
    leaves are g itself, which does not change the optimum: :math:`g^{p} \le v_1 \cdots v_m\,
    g^{p-m}` is :math:`g^m \le v_1 \cdots v_m`. There are about m - 1 inequalities in
    :math:`\log_2 m` levels.

    Parameters
    ----------
    values : Affine
        m expressions, which the block keeps nonnegative.
    at_least : float, optional
        Lower bound of the mean; without it the mean is maximised.
    name : str, default "g"
        Name of the vector of scalars, which this block declares; its first entry is the root.

    Raises
    ------
    ModelError
        If `at_least` is not positive, or there are no values.

    References
    ----------
    Nesterov and Nemirovskii, "Interior-point polynomial algorithms in convex programming", SIAM,
    1994, section 6.2; Vasiloglou thesis, section 6.2.1, where log2(m) is given as the number of
    cones; it is the depth of the tree.

    Examples
    --------
    >>> from sdpdr.blocks import GeometricMean
    >>> from sdpdr.model import InCone, Var
    >>> from sdpdr.linalg import Diagonal
    >>> mean = GeometricMean(Diagonal(12) @ Var("K"))
    >>> sum(isinstance(term, InCone) for term in mean.terms())
    12
    """

    values: Affine
    at_least: float | None = None
    name: str = "g"

    def __post_init__(self) -> None:
        if self.values.m < 1:
            raise ModelError("a geometric mean needs at least one value.")
        if self.at_least is not None and not 0.0 < self.at_least < np.inf:
            raise ModelError(f"at_least must be positive and finite; it is {self.at_least}.")

    def variables(self) -> Iterable[VectorVariable]:
        """The root, and a scalar for each pair below it."""
        yield VectorVariable(self.name, self._size)

    def terms(self) -> Iterable[Term]:
        """A 2 x 2 matrix inequality for each pair, and the objective or the bound on the root."""
        for s, (a, b) in enumerate(self._pairs):
            places = [(a, 0, 1.0), (-1 - s, 1, SQRT2), (b, 2, 1.0)]
            values = _picked(self.values.m, [(k, i, t) for k, i, t in places if k >= 0])
            scalars = _picked(self._size, [(-1 - k, i, t) for k, i, t in places if k < 0])
            # Without the condition, an expression without maps would still declare variables.
            inside = scalars @ Var(self.name)
            inside = inside + values @ self.values if values.nnz else inside
            yield InCone(inside, "psd", f"pair{s}")
        root = sp.csr_array(([1.0], ([0], [0])), shape=(1, self._size)) @ Var(self.name)
        # The geometric mean is at most the arithmetic mean. This redundant row with twice that
        # bounds the root if the values are bounded, so that bounds of the optimum can be proved.
        m = self.values.m
        mean = np.full((1, m), (1.0 if m == 1 else 2.0) / m)
        yield AtMost(root - mean @ self.values, 0.0, "arithmetic")
        if self.at_least is None:
            yield Maximize(root)
        else:
            yield AtMost(-root, -float(self.at_least), "root")

    def scalars(self, values: Array, room: float = 0.0) -> Array:
        """The largest scalars at positive values: the means of all pairs, the root first.

        Parameters
        ----------
        values : array of shape (m,)
        room : float, default 0
            Relative amount by which every scalar stays below the mean of its pair, so that all
            matrix inequalities hold strictly.

        Returns
        -------
        array

        Examples
        --------
        >>> import numpy as np
        >>> from sdpdr.blocks import GeometricMean
        >>> from sdpdr.model import Var
        >>> from sdpdr.linalg import Diagonal
        >>> GeometricMean(Diagonal(3) @ Var("K")).scalars(np.array([1.0, 8.0, 27.0])).round(6)
        array([ 6.      ,  2.828427, 12.727922])
        """
        root = float(np.exp(np.mean(np.log(values))))
        # Twice the amount for each level, since up to half of the leaves are the root itself.
        levels = (values.size - 1).bit_length()
        means = np.full(self._size, root * (1.0 - 2.0 * (levels + 1) * room))
        # The root is the first pair, and known; other pairs come after the pairs they consist of.
        for s, pair in enumerate(self._pairs[1:], start=1):
            one, other = (values[k] if k >= 0 else means[-1 - k] for k in pair)
            means[s] = np.sqrt(one * other) * (1.0 - room)
        return means

    def multipliers(self, values: Array) -> list[Array]:
        r"""Optimal multipliers of all pairs, from the derivatives of the mean.

        If the derivative of the objective by the mean s of a and b is p, it is
        :math:`p\sqrt{b/a}/2` by a and :math:`p\sqrt{a/b}/2` by b. That by the root is the sum of
        its derivatives as the objective and as a leaf.

        Parameters
        ----------
        values : array of shape (m,)
            Positive.

        Returns
        -------
        list of arrays of shape (2, 2)

        Examples
        --------
        >>> import numpy as np
        >>> from sdpdr.blocks import GeometricMean
        >>> from sdpdr.model import Var
        >>> from sdpdr.linalg import Diagonal
        >>> GeometricMean(Diagonal(2) @ Var("K")).multipliers(np.array([1.0, 4.0]))[0]
        array([[ 1.  , -0.5 ],
               [-0.5 ,  0.25]])
        """
        means, pairs = self.scalars(values), self._pairs
        worth, matrices = np.zeros(self._size), [np.zeros((2, 2)) for _ in pairs]
        worth[0] = 1.0
        # Parents come after their children in `pairs`, but for the root, which is first.
        order = [0, *range(len(pairs) - 1, 0, -1)] if pairs else []
        for s in order:
            a, b = (values[k] if k >= 0 else means[-1 - k] for k in pairs[s])
            half = 0.5 * worth[s]
            matrices[s] = np.array([[half * np.sqrt(b / a), -half], [-half, half * np.sqrt(a / b)]])
            for k, slope in zip(pairs[s], np.diag(matrices[s]), strict=True):
                if k < 0:
                    worth[-1 - k] += slope
        # The root's derivative as a leaf is a share of its own, so it is scaled to sum to one.
        share = worth[0] - 1.0
        return [m / (1.0 - share) for m in matrices]

    @property
    def _size(self) -> int:
        """Number of scalars."""
        return max(1, len(self._pairs))

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        """The two values of which scalar s is the mean: value k as k, scalar t as -1 - t."""
        m = self.values.m
        level = list(range(m)) + [-1] * ((1 << (m - 1).bit_length()) - m)
        pairs: list[tuple[int, int]] = []
        while len(level) > 1:
            couples = list(zip(level[::2], level[1::2], strict=True))
            # The mean of the root and itself is the root, and so is the last pair.
            new = [c for c in couples if c != (-1, -1)]
            first = -2 - len(pairs)
            names = iter([-1] if len(couples) == 1 else range(first, first - len(new), -1))
            level = [-1 if c == (-1, -1) else next(names) for c in couples]
            pairs += new
        return pairs[-1:] + pairs[:-1]


def _picked(size: int, entries: list[tuple[int, int, float]]) -> sp.csr_array:
    """Matrix of shape (3, size) with ``scale`` at (place, k) for every (k, place, scale)."""
    k, place, scale = zip(*entries, strict=True) if entries else ((), (), ())
    return sp.csr_array((np.array(scale), (np.array(place, int), np.array(k, int))), (3, size))
