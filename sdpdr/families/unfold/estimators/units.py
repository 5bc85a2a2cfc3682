"""Programs of squared lengths, solved in a unit that the data choose, and answers taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdpdr.base.errors import ModelError
from sdpdr.families.unfold.estimators.gram import GramEmbedding
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Affine, Model
from sdpdr.model.block import Changed
from sdpdr.model.blocks import Slack
from sdpdr.model.terms import AtMost, Equal, InCone, Maximize, Minimize, Penalize, Term
from sdpdr.program import Factor, Solution
from sdpdr.program.backward import Measured
from sdpdr.program.point import Point, Value

# What records of a solver's progress hold in units of the objective.
_OBJECTIVES = ("value", "bound", "dual")


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
        elif isinstance(term, InCone):
            yield replace(term, lhs=side(term.lhs), written=None)
        elif isinstance(term, (Minimize, Maximize)):
            yield replace(term, lhs=side(term.lhs))
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

    def times(number: float | None) -> float | None:
        return None if number is None else unit * number

    def told(record: Mapping[str, Any]) -> Mapping[str, Any]:
        return {k: times(x) if k in _OBJECTIVES else x for k, x in record.items()}

    values = {name: _times(unit, value) for name, value in solution.values.items()}
    point = Point(values, solution.duals)
    # Of a program solved on a face, multipliers of the whole need not be a dual point.
    on_face = solution.measured if solution.exposures else None
    runs = [
        replace(r, value=times(r.value), bound=times(r.bound), attained=times(r.attained))
        for r in solution.runs
    ]
    return replace(
        solution,
        value=unit * solution.value,
        bound=times(solution.bound),
        attained=times(solution.attained),
        values=values,
        claimed=replace(solution.claimed, value=times(solution.claimed.value)),
        history=tuple(told(record) for record in solution.history),
        runs=tuple(runs),
        measured=Measured(model.to_sdp(), point, on_face=on_face),
    )


def _times(unit: float, value: Value) -> Value:
    if isinstance(value, Factor):
        return Factor(np.sqrt(unit) * value.factor)
    return np.asarray(unit * value)
