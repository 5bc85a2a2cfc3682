"""Action Respecting Embedding as an estimator."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.errors import DataError
from sdpdr.base.parameters import require_kinds
from sdpdr.families.limits import NEGLIGIBLE
from sdpdr.families.unfold.are import are
from sdpdr.families.unfold.estimators.gram import GramEmbedding
from sdpdr.families.unfold.mvu import mvu
from sdpdr.graphs import NeighborGraph, action_error, motions, sequences, transitions
from sdpdr.graphs.transitions import Labels
from sdpdr.model import Model
from sdpdr.model.blocks import Relation


@dataclass(eq=False, repr=False)
class ARE(GramEmbedding):
    """Action Respecting Embedding: an unfolding in which every action is a rigid motion.

    The rows of X are states that follow each other, and each step from one to the next has the
    label of an action. Solves `sdpdr.methods.are` on the graph of `sdpdr.graphs.transitions`.

    Parameters
    ----------
    inverse : mapping of labels, optional
        ``{"L": "R"}`` means that L undoes R.
    hops : int, optional
        For many states: see `sdpdr.methods.are`. The answer then solves the whole program if
        ``action_error_`` is zero.
    n_components, n_neighbors, isometry, metric, angles, connect, extension
        As for `sdpdr.MVU`; states that follow each other are joined, too.
    solver, form, tol, time_limit, random_state
        As for `sdpdr.MVU`.

    Attributes
    ----------
    motions_ : dict from label to `sdpdr.graphs.Motion`
        The rigid motion of each action, on all columns of the embedding of the nodes.
    action_error_ : float
        Largest change of a distance by an action, relative to the mean step
        (`sdpdr.graphs.action_error`); zero without actions.
    transitions_ : Transitions or None
    embedding_, gram_, eigenvalues_, graph_, solution_
        As of `sdpdr.MVU`.

    Raises
    ------
    DataError, ShapeError, DisconnectedGraphError
        From `fit`, naming what is wrong with the data, the actions or the lengths.

    References
    ----------
    Bowling, Ghodsi and Wilkinson, "Action respecting embedding", ICML 2005; course notes, section
    on Action Respecting Embedding.

    Examples
    --------
    >>> import sdpdr
    >>> actions = "R" * 12 + "L" * 6
    >>> X, position = sdpdr.datasets.window_agent(actions)
    >>> learned = sdpdr.ARE(n_components=1, n_neighbors=3).fit(X, actions=actions)
    >>> learned.solution_.certified(), learned.action_error_ < 1e-5, sorted(learned.motions_)
    (True, True, ['L', 'R'])
    """

    _: KW_ONLY
    isometry: Relation = "inequality"
    inverse: Mapping[Hashable, Hashable] | None = None
    hops: int | None = None

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        actions: Labels | None = None,
        lengths: Sequence[int] | None = None,
    ) -> ARE:
        """Learn the embedding of the rows of X.

        Parameters
        ----------
        X : array_like of shape (n, D), or distances (n, n) if ``metric="precomputed"``
            The states of all sequences, one sequence after the other.
        y : ignored
            A string, or an entry for each step, is an error: those are actions.
        actions : str or sequence of n - s labels, optional
            The action between each state and the next one of its sequence, for s sequences;
            ``None`` is an unknown action. Without any actions this is `MVU` on the same graph. In
            a pipeline, pass ``are__actions=...`` to its ``fit``.
        lengths : sequence of int, optional
            Number of states of each sequence; by default there is one.

        Returns
        -------
        self
        """
        require_kinds(self)
        if self.hops is not None:
            validate.positive_integer("hops", self.hops, at_least=0)
        if actions is None and self.inverse is not None:
            raise DataError("inverse names actions, but fit was given none: pass actions=...")
        graph = self._graph(X, partial(sequences, lengths=lengths))
        count = graph.index.size - (1 if lengths is None else len(lengths))
        if actions is None and (isinstance(y, str) or np.shape(y)[:1] == (count,)):
            raise DataError("y is not used, but seems to hold actions: pass fit(X, actions=y).")
        steps = None
        if actions is not None:
            steps = transitions(graph, actions, lengths, self.inverse)
        self._keep(graph, self._answer(graph, X, steps))
        self.transitions_, self.motions_, self.action_error_ = steps, {}, 0.0
        if steps is not None and steps.names:
            count = max(1, int(np.sum(self.eigenvalues_ > NEGLIGIBLE * self.eigenvalues_[0])))
            points = self.solution_.embedding(count)
            self.motions_ = motions(steps, points)
            self.action_error_ = action_error(steps, points)
        self._extend(X)
        return self

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        """The recipe; ``y`` holds the transitions."""
        if y is None:
            return mvu(graph, self.isometry)
        return are(graph, y, isometry=self.isometry, hops=self.hops)
