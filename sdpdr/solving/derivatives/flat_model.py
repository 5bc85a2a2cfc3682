"""Models at present values of their parameters as flat programs, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import NotSmoothError
from sdpdr.certify.flat import Answer, FlatProgram
from sdpdr.certify.standard import with_squares
from sdpdr.linalg.rounding import near_powers
from sdpdr.model import Model
from sdpdr.program.face import null_vectors
from sdpdr.program.point import Point, Value
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.reduce import facial_reduction
from sdpdr.solvers.flat import ask_solver

# Numbers beside others that may be all but zero.
_VANISHES = 1e-4
NO_INTERIOR = (
    "the program has no interior at these values of the parameters, and its multipliers, which "
    "would be the derivative, have no limit: the optimal value may change on one side only, or not "
    "at a rate. Take differences of two solutions, or another value, for which the constraints "
    "leave room (a bound that is positive rather than zero)."
)


class FlatModel(NamedTuple):
    """A model at present values of its parameters as a flat program; `flat_model` makes it.

    Attributes
    ----------
    flat : FlatProgram
        The minimisation.
    faces : list
        What exposes the faces that the program was restricted to.
    answer : callable
        From a solution of the model to one of the flat program; None if something is missing.
    values : callable
        From unknowns, or their derivatives, to those of the model's variables.
    places : mapping from name to array of int
        The unknowns that a variable is made of.
    null : mapping from int to array
        See `Equations.of`.
    """

    flat: FlatProgram
    faces: list[Any]
    answer: Callable[[Solution], Answer | None]
    values: Callable[[Array], Mapping[str, Value]]
    places: Mapping[str, Index]
    null: Mapping[int, Array]


def flat_model(model: Model, values: Mapping[str, Value]) -> FlatModel:
    """The model in standard form on the faces that its rows state, or over cvxpy's cones.

    Quadratic costs take their unit from values of the variables next to the optimum.
    """
    if model.is_smooth:
        return _over_cones(model)
    sdp = model.to_sdp()
    sizes = {
        v.name: float(np.max(np.abs(values.get(v.name, 0.0)), initial=0.0))
        for v in sdp.vector_variables
    }
    squares = [sizes[v.name] for v in sdp.vector_variables if v.curvature is not None]
    # A number that vanishes has no size but that of rounding.
    least = _VANISHES * max(sizes.values(), default=0.0)
    unit = max([least, *squares]) or 1.0
    return _in_standard_form(sdp, float(near_powers(np.array([unit]))[0]))


def _over_cones(model: Model) -> FlatModel:
    """A model with smooth costs: cvxpy keeps no values of what it adds, nor multipliers of it."""
    # These import cvxpy, which takes longer than most solves.
    from sdpdr.model.conic.flat import flat_problem
    from sdpdr.model.to_cvxpy import render_model

    flat = flat_problem(render_model(model).problem)
    shapes = {v.name(): v.shape for v in flat.problem.variables()}

    def values(x: Array) -> dict[str, Value]:
        return {name: _unfolded(x[at], shapes[name]) for name, at in flat.variables.items()}

    def answer(solution: Solution) -> Answer | None:
        return ask_solver(flat.program) if solution.values else None

    return FlatModel(flat.program, [], answer, values, flat.variables, {})


def _unfolded(numbers: Array, shape: tuple[int, ...]) -> Array:
    """The values of a variable of cvxpy, of symmetric ones from the rows of their triangle."""
    if numbers.size == np.prod(shape, dtype=int):
        return numbers.reshape(shape, order="F")
    found = np.zeros(shape)
    found[np.triu_indices(shape[0])] = numbers
    return np.asarray(found + np.triu(found, 1).T)


def _in_standard_form(sdp: SDP, unit: float) -> FlatModel:
    faced = facial_reduction(sdp)
    if faced.infeasible:
        raise NotSmoothError(NO_INTERIOR)
    found = with_squares(faced.sdp, unit)

    def answer(solution: Solution) -> Answer | None:
        # A face that only a solver's hints have found is not found again for other numbers.
        if len(faced.exposures) < len(solution.exposures):
            raise NotSmoothError(NO_INTERIOR)
        duals = {label: np.nan_to_num(y) if faced else y for label, y in solution.duals.items()}
        point = Point(solution.values, duals)
        if faced and faced.original.is_point(solution.values):
            point = faced.push(point)
        if not faced.sdp.is_point(point.values) or not faced.sdp.is_dual_point(point.duals):
            return None
        given = found.answer(point)
        return given if all(np.isfinite(part).all() for part in given[:3]) else None

    def values(x: Array) -> Mapping[str, Value]:
        return faced.embed(Point(found.values(x), {})).values

    exposing = [step.multipliers for step in faced.exposures]
    places = {block.name: block.places for block in found.blocks}
    stated = {v.name: null_vectors(faced.sdp, v.name).toarray() for v in faced.sdp.psd_variables}
    null = {int(places[name][0]): u for name, u in stated.items() if u.size}
    return FlatModel(found.flat, exposing, answer, values, places, null)
