"""Programs solved in a unit, of length or of weight, that data choose, and answers taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdpdr.base.errors import DataError, ModelError
from sdpdr.families.unfold.estimators.gram import GramEmbedding
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg import LinearMap
from sdpdr.model import Affine, Model
from sdpdr.model.block import Changed
from sdpdr.model.blocks import Slack
from sdpdr.model.terms import AtMost, Equal, InCone, Maximize, Minimize, Penalize, Term
from sdpdr.program import Factor, Solution
from sdpdr.program.backward import Measured
from sdpdr.program.point import Point, Value
from sdpdr.solving.iterate.records import State

# Of a count over the typical one: from 1e15 on bounds of density maps were wrong by rounding.
_UNLIKE = 1e12
# What records of a solver's progress hold in units of the objective.
_OBJECTIVES = ("value", "bound", "dual")
# What records of an iteration do.
_OF_RECORDS = ("objective", "excess", "trace", "value")


@dataclass(eq=False, repr=False)
class InEdgeUnits(GramEmbedding):
    """Base of embeddings whose programs are solved with edges of mean squared length one.

    Solvers stop by sizes, some of which are absolute: the same points in millimetres and in miles
    would have other answers within the tolerance, after other times, or none. Where lengths are
    exact the unit is a power of four, the mean about one: faces that exact lengths leave are proved
    of the numbers as they are, and rounded ones have none.
    """

    def _answer(self, graph: NeighborGraph, X: Any, y: Any) -> Solution:
        self._unit = self._unit_of(graph)
        return super()._answer(graph, X, y)

    def _unit_of(self, graph: NeighborGraph) -> float:
        """A squared length."""
        isometry = getattr(self, "isometry", None)
        # Relative changes have no unit, and would have one.
        if isinstance(isometry, Slack) and isometry.relative:
            return 1.0
        mean = float(np.mean(graph.sqdist))
        return float(4.0 ** (np.frexp(mean)[1] // 2)) if self._has_exact_lengths() else mean

    def _solved(self, model: Model, landmarks: int | None = None) -> Solution:
        found = super()._solved(in_unit(model, self._unit), landmarks)
        return out_of_unit(found, model, self._unit)


def in_unit(model: Model, unit: float) -> Model:
    r"""The model in :math:`x'` with :math:`x = u x'` for every variable, and its value over u.

    Maps and linear costs stay as they are, and so do multipliers; right sides and constants are
    divided.

    Parameters
    ----------
    model : Model
    unit : float
        u, a power of four where proofs are to be those of the model itself.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> model = methods.mvu(graphs.path([2.0, 4.0]))
    >>> round(sdpdr.solve(in_unit(model, 4.0)).value, 4), round(sdpdr.solve(model).value, 4)
    (4.6667, 18.6667)
    """
    if unit == 1.0:
        return model
    change = _divided_by(unit)
    return replace(model, blocks=tuple(Changed(block, change) for block in model.blocks))


def _divided_by(unit: float) -> Callable[[Term], Iterable[Term]]:
    def side(expression: Affine) -> Affine:
        return replace(expression, constant=expression.constant / unit)

    def change(term: Term) -> Iterable[Term]:
        # As it was written it would be printed in the old unit.
        if isinstance(term, (Equal, AtMost)):
            yield replace(term, lhs=side(term.lhs), rhs=term.rhs / unit, written=None)
        elif isinstance(term, (InCone, Minimize, Maximize)):
            yield replace(term, lhs=side(term.lhs), written=None)
        elif isinstance(term, Penalize):
            price = term.weight * (unit if term.penalty == "square" else 1.0)
            rhs = term.rhs / unit
            yield replace(term, lhs=side(term.lhs), rhs=rhs, weight=price, written=None)
        else:
            raise ModelError(f"a {type(term).__name__} term has no other unit; solve it as it is.")

    return change


def out_of_unit(solution: Solution, model: Model, unit: float) -> Solution:
    """The answer to a model `in_unit`, as one to the model.

    Parameters
    ----------
    solution : Solution
    model : Model
        As it was before.
    unit : float
    """
    if unit == 1.0:
        return solution
    values = {name: _times(unit, value) for name, value in solution.values.items()}
    point = Point(values, solution.duals)
    # Of a program solved on a face, multipliers of the whole need not be a dual point.
    on_face = solution.measured if solution.exposures else None
    return replace(
        _worth(solution, unit),
        values=values,
        measured=Measured(model.to_sdp(), point, on_face=on_face),
    )


def _times(unit: float, value: Value) -> Value:
    if isinstance(value, Factor):
        return Factor(np.sqrt(unit) * value.factor)
    return np.asarray(unit * value)


def _worth(solution: Solution, unit: float) -> Solution:
    """With objectives times a number, of whatever speaks of them."""

    def times(number: float | None) -> float | None:
        return None if number is None else unit * number

    def told(record: Mapping[str, Any]) -> Mapping[str, Any]:
        return {k: times(x) if k in _OBJECTIVES else x for k, x in record.items()}

    runs = [
        replace(r, value=times(r.value), bound=times(r.bound), attained=times(r.attained))
        for r in solution.runs
    ]
    return replace(
        solution,
        value=unit * solution.value,
        bound=times(solution.bound),
        attained=times(solution.attained),
        claimed=replace(solution.claimed, value=times(solution.claimed.value)),
        history=tuple(told(record) for record in solution.history),
        runs=tuple(runs),
    )


def unit_of_counts(graph: NeighborGraph) -> float:
    """The count of a typical node, the lower median: one where few points repeat.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> unit_of_counts(graphs.path([1.0, 1.0, 1.0]).weighed([3e-9, 3e-9, 8.0, 3e-9]))
    3e-09
    """
    middle = (graph.n - 1) // 2
    return float(np.partition(graph.counts, middle)[middle])


def in_counts(graph: NeighborGraph, unit: float) -> NeighborGraph:
    """The graph with counts over a unit.

    Raises
    ------
    DataError
        Counts are so unlike that programs would not hold them.
    """
    counts = graph.counts / unit
    if graph.counts.max() > _UNLIKE * unit_of_counts(graph) or not counts.all():
        raise DataError(
            f"sample_weight ranges from {graph.counts.min():g} to {graph.counts.max():g}: beside "
            "the largest the others are nothing. Give 0 to rows that are not to count."
        )
    if unit == 1.0:
        return graph
    return replace(graph, counts=counts)


def out_of_counts(solution: Solution, unit: float) -> Solution:
    """The answer to a program of counts over a unit, as one of the counts themselves.

    Objectives and multipliers are times the unit. Rows that put the mean at the origin are those
    of the program that was solved, as is what is measured of the point.
    """
    if unit == 1.0:
        return solution
    duals = {label: unit * dual for label, dual in solution.duals.items()}
    return replace(_worth(solution, unit), duals=duals, gap_scale=unit * solution.gap_scale)


def state_out_of_counts(state: State, unit: float) -> State:
    """An iteration over programs of counts over a unit, as one of the counts themselves."""
    if unit == 1.0:
        return state

    def pull(given: Mapping[str, LinearMap] | None) -> Mapping[str, LinearMap] | None:
        return None if given is None else {name: unit * way for name, way in given.items()}

    def answer(found: Solution | None) -> Solution | None:
        return None if found is None else out_of_counts(found, unit)

    history = [
        replace(r, **{name: unit * getattr(r, name) for name in _OF_RECORDS}) for r in state.history
    ]
    return replace(
        state,
        history=tuple(history),
        bound=None if state.bound is None else unit * state.bound,
        last=answer(state.last),
        best=answer(state.best),
        directions=pull(state.directions),
        last_directions=pull(state.last_directions),
        best_directions=pull(state.best_directions),
    )
