"""Views of what users have: models, programs, cvxpy problems and files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataTypeError
from sdpdr.certify.answer import is_small
from sdpdr.certify.path import LARGEST, TooLargeError
from sdpdr.certify.standard import Standard, as_written, standard
from sdpdr.certify.units import Units
from sdpdr.model import Block, Model
from sdpdr.model.language.constraints import Constraint, is_symmetric
from sdpdr.model.terms import Penalize
from sdpdr.program.point import as_dense
from sdpdr.program.sdp import SDP
from sdpdr.program.sdpa import read_sdpa
from sdpdr.program.sizes import require_admissible
from sdpdr.program.solution import Solution
from sdpdr.solving.diagnosis.penalties import slack_of_penalties
from sdpdr.solving.diagnosis.view import SHARE, Answered, Named, View
from sdpdr.solving.over_cones import in_words_of, solve_over_cones
from sdpdr.solving.solve import solve

# Relative difference of two triangles that products of matrices leave by rounding.
_PRODUCT_ROUNDING = 1e-12
# Numbers of variables beyond which their coefficients take longer than a second to write out.
_NUMBERS = 200_000


def view_of(program: Any, deadline: Deadline) -> View:
    """The view of a model, a program, a cvxpy problem or a file.

    Raises
    ------
    DataTypeError
        If it is none of these.
    """
    if isinstance(program, (str, os.PathLike)):
        return _of_sdp(read_sdpa(Path(program)), deadline)
    if isinstance(program, Block):
        program = Model((program,))
    if isinstance(program, Model):
        return _of_model(program, deadline)
    if isinstance(program, SDP):
        view = _of_sdp(program, deadline)
        return replace(view, penalized=slack_of_penalties(view.stated))
    if type(program).__module__.partition(".")[0] == "cvxpy":
        return _of_cvxpy(program, deadline)
    if isinstance(program, Solution):
        raise DataTypeError("a solution does not hold its program: pass the model that was solved.")
    raise DataTypeError(
        f"there is no program in {type(program).__name__!r}: pass a Model, an SDP, a cvxpy.Problem "
        "or the name of a file in SDPA's sparse format."
    )


def _of_sdp(sdp: SDP, deadline: Deadline) -> View:
    size = sum(v.size for v in sdp.variables)
    if size > _NUMBERS:
        raise TooLargeError(
            f"anything (the program has {size} numbers, and at most {_NUMBERS} are written out)"
        )
    stated = as_written(require_admissible(sdp))
    # Proofs are about the face that rows state, so that these rows alone are no finding.
    solved = standard(sdp) if is_small(sdp) else stated
    named = _named(stated)

    def look(view: View) -> Answered:
        limit = SHARE * view.deadline.ahead
        found = solve(sdp, time_limit=limit, isolate=False, progress=False)
        z, step = np.zeros(named.right.size), {} if found.ray is None else found.ray.values
        for label, y in found.duals.items():
            if y.ndim == 1:
                z[stated.labels[label]] = y
        direction = {name: as_dense(d) for name, d in step.items()}
        return Answered(found, z if found.duals else None, direction)

    return View(
        named,
        _named(solved),
        look,
        sdp.maximize,
        is_small=is_small(sdp),
        sdp=sdp,
        deadline=deadline,
    )


def _named(form: Standard) -> Named:
    return Named(
        form.flat,
        form.labels,
        {block.name: block.places for block in form.blocks},
        form.units,
        {block.name: np.tril_indices(block.order)[::-1] for block in form.blocks if block.order},
    )


def _of_model(model: Model, deadline: Deadline) -> View:
    if not model.has_standard_form:
        return replace(_of_cvxpy(model.to_cvxpy(), deadline), of_model=True)
    view = _of_sdp(model.to_sdp(), deadline)
    places, slack = view.stated.variables, dict[str, Index]()
    for label, term in model.labelled_terms():
        if isinstance(term, Penalize) and term.penalty != "square":
            sides = (places.get(f"{label}.{side}", np.arange(0)) for side in ("over", "under"))
            slack[label] = np.concatenate(list(sides))
    return replace(
        view,
        stated=_with_names(view.stated, set(model.declared)),
        solved=_with_names(view.solved, set(model.declared)),
        of_model=True,
        entrywise=tuple(_entrywise(model)),
        penalized=slack,
    )


def _with_names(named: Named, variables: set[str], constraints: set[str] | None = None) -> Named:
    """The same with the names that the user gave, and without those of a modelling language."""
    return replace(
        named,
        variables={name: at for name, at in named.variables.items() if name in variables},
        constraints={
            label: at
            for label, at in named.constraints.items()
            if constraints is None or label in constraints
        },
    )


def _of_cvxpy(problem: Any, deadline: Deadline) -> View:
    """The view of a problem over all cones of cvxpy, where constraints are those that were written.

    In the standard form some of them become the cones of variables, which no constraint owns.
    """
    import cvxpy as cp

    from sdpdr.model.conic.labels import labels_of, names_of

    if not isinstance(problem, cp.Problem):
        raise DataTypeError(
            f"there is no program in {type(problem).__name__!r}: pass the cvxpy.Problem itself."
        )
    view = _of_cones(problem, deadline)
    labels = {label: c for c, label in labels_of(problem)}
    names = set(names_of(problem).values())
    stated = _with_names(view.stated, names, set(labels))
    symmetric = [label for label, c in labels.items() if _is_symmetric(c)]
    return replace(
        view,
        stated=stated,
        solved=_with_names(view.solved, names, set(labels)),
        mirrored=tuple(symmetric),
        entrywise=tuple(k for k in symmetric if isinstance(labels[k], cp.constraints.Inequality)),
        penalized=slack_of_penalties(stated),
    )


def _of_cones(problem: Any, deadline: Deadline) -> View:
    from sdpdr.model.conic.flat import flat_problem
    from sdpdr.model.conic.labels import names_of

    flat = flat_problem(problem)
    # cvxpy keeps upper triangles, row after row.
    triangles = {
        name: np.triu_indices(v.shape[0])
        for v, name in names_of(problem).items()
        if v.ndim == 2 and v.is_symmetric() and not v.attributes["diag"]
    }
    units = Units.given(flat.program)
    named = Named(flat.program, flat.constraints, flat.variables, units, triangles)
    solved = replace(named, program=units.program(flat.program), units=units)

    def look(view: View) -> Answered:
        limit = view.deadline.left()
        found = solve_over_cones(flat.program, maximize=flat.maximize, time_limit=limit)
        told = in_words_of(flat, found)
        step = {} if told.ray is None else told.ray.values
        direction = {name: as_dense(d) for name, d in step.items()}
        return Answered(told, found.duals.get("z"), direction)

    return View(
        named,
        solved,
        look,
        flat.maximize,
        is_small=flat.program.c.size <= LARGEST,
        deadline=deadline,
    )


def _is_symmetric(constraint: Any) -> bool:
    """Whether both sides differ by a symmetric matrix, but for rounding, at a random point."""
    shape = constraint.shape
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
        return False
    before = [(v, v.value) for v in constraint.variables()]
    rng = np.random.default_rng(0)
    try:
        for v, _ in before:
            v.save_value(v.project(rng.standard_normal(v.shape)))
        found = constraint.expr.value
    finally:
        for v, value in before:
            v.save_value(value)
    if found is None:
        return False
    found = found.toarray() if sp.issparse(found) else np.asarray(found)
    return bool(np.max(np.abs(found - found.T)) <= _PRODUCT_ROUNDING * np.max(np.abs(found)))


def _entrywise(model: Model) -> Iterator[str]:
    """Labels of comparisons of symmetric matrices entry by entry."""
    for block in model.blocks:
        if isinstance(block, Constraint) and block.relation in ("<=", ">="):
            difference = block.left - block.right
            if len(difference.shape) == 2 and difference.shape[0] > 1 and is_symmetric(difference):
                yield block.label
