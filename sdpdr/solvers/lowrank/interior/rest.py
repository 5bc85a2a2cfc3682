r"""Multipliers of penalties, moved until the dual slack has no negative eigenvalues.

The multipliers of the rows that hold points follow from those of all others exactly: with the
slack of the other rows in blocks of free and held points, whose places are the rows of L,

.. math:: S = \begin{pmatrix} S_{uu} & S_{uf} \\ S_{fu} & S_{ff} \end{pmatrix}, \qquad
          S_{uu} X = -S_{uf} L,

the free points rest at X, and the best multipliers of the held ones make the slack vanish on all
points together. They leave it positive semidefinite wherever :math:`S_{uu}` is positive definite,
so that nothing else has to be moved, and what a descent is short of being at rest costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.solvers.lowrank.general.forms import Forms
from sdpdr.solvers.lowrank.general.kkt import Gathered
from sdpdr.solvers.lowrank.interior.boxes import Boxed
from sdpdr.solvers.lowrank.interior.whole import completed

# The least move that is tried, how many times twice as much, and how often the last is halved.
_LEAST_MOVE, _MAX_DOUBLINGS, _HALVINGS = 1e-7, 30, 4


def at_rest(boxed: Boxed, multipliers: Array, ends: tuple[Array, Array]) -> Array | None:
    """Multipliers of all rows whose slack has no negative eigenvalues; None where none are found.

    They are moved towards penalties that the rows' traces suggest, as far as that is needed.

    Parameters
    ----------
    boxed : Boxed
        With points that are held, and neither a face nor long vectors.
    multipliers : array of shape (m,)
        Inside their boxes; those of held points do not matter.
    ends : tuple of arrays of shape (m,)
        Ends of the boxes; zero for rows of fixed points.

    Examples
    --------
    A point between two known ones, at twice the distances that it should have from them:

    >>> from sdpdr import blocks, graphs, soften
    >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
    >>> graph = graphs.from_edges(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> known = np.array([[0.0], [4.0]])
    >>> lengths = blocks.AnchoredLengths(graph, [0, 2], known, exact=True)
    >>> sdp = (blocks.Coordinates(1, 1) + soften(lengths, 1.0)).to_sdp()
    >>> problem = compile_problem(sdp)
    >>> boxed = Boxed.of(problem)
    >>> low, high = boxed.low.copy(), boxed.high.copy()
    >>> low[boxed.held.rows] = high[boxed.held.rows] = 0.0
    >>> y = at_rest(boxed, high, (low, high))
    >>> float(np.round(-(problem.rhs @ y) * problem.units.objective, 6))
    6.0
    """
    held, points = boxed.held, boxed.blocks[0]
    if held is None or points.n > points.block.n or points.block.face.shape[1]:
        return None
    free = np.setdiff1d(np.arange(points.n), held.points)
    towards, among = _suggested(boxed, ends), _Among(points.forms, free)

    def moved(t: float) -> Array:
        return (multipliers + t * towards) / (1.0 + t)

    places = np.zeros((points.n, held.base.shape[1]))
    places[held.points] = held.base

    def rested(t: float) -> Array | None:
        y = moved(t)
        if not among.is_positive(y):
            return None
        pull = points.forms.slack(np.append(1.0, y)) @ places
        whole = places.copy()
        whole[free] = among.matrix.factor.solve_all(-pull[free])
        return completed(boxed, [whole], y)

    return _best(boxed, rested, _least_move(lambda t: among.is_positive(moved(t))))


def promised(boxed: Boxed, multipliers: Array) -> float:
    """The bound, in scaled units, of multipliers of all rows whose slack is positive."""
    give = 0.5 * float(boxed.compliance @ np.square(multipliers))
    return -float(boxed.rhs @ multipliers) - give


def _best(boxed: Boxed, rested: Callable[[float], Array | None], t: float | None) -> Array | None:
    """The multipliers that prove most, of moves that are twice as long each time.

    A slack that is barely positive may prove little. Along a line the dual function is concave.
    """
    best, most = None, -np.inf
    for _ in range(_MAX_DOUBLINGS):
        found = None if t is None else rested(t)
        if t is None or (found is None and best is not None):
            break
        proved = -np.inf if found is None else promised(boxed, found)
        if proved < most:
            break
        best, most, t = found, proved, max(_LEAST_MOVE, 2.0 * t)
    return best


class _Among:
    """The dual slack among some points, on a pattern that is analysed once."""

    def __init__(self, forms: Forms, points: Index) -> None:
        place = np.full(forms.n, -1)
        place[points] = np.arange(points.size)
        self._forms, self._kept = forms, (place[forms.i] >= 0) & (place[forms.j] >= 0)
        own, every = np.flatnonzero(self._kept), np.arange(points.size)
        one, other = place[forms.i[own]], place[forms.j[own]]
        first, second = np.append(one, every), np.append(other, every)
        self._zeros = np.zeros(points.size)
        self.matrix = Gathered(first, second, points.size, pairs=False)

    def is_positive(self, multipliers: Array) -> bool:
        """Whether it is positive definite there; it is factored."""
        entries = self._forms.entries_of(np.append(1.0, multipliers))[self._kept]
        numbers = np.append(entries, self._zeros)
        return self.matrix.factorize(self.matrix.summed(numbers)) == 0


def _least_move(holds: Callable[[float], bool]) -> float | None:
    """About the least number from which on a condition holds; None if it never does."""
    if holds(0.0):
        return 0.0
    t = next((t for k in range(_MAX_DOUBLINGS) if holds(t := _LEAST_MOVE * 2.0**k)), None)
    if t is None:
        return None
    below = t / 2.0
    for _ in range(_HALVINGS):
        middle = (below + t) / 2.0
        below, t = (below, middle) if holds(middle) else (middle, t)
    return t


def _suggested(boxed: Boxed, ends: tuple[Array, Array]) -> Array:
    """The highest penalty of rows that grow with all points, the lowest of those that shrink."""
    forms = boxed.blocks[0].forms
    traces = forms.matrix[1:] @ (forms.i == forms.j).astype(float)
    low, high = ends
    return np.asarray(np.where(traces > 0.0, high, np.where(traces < 0.0, low, 0.0)))
