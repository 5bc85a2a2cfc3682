"""Models with smooth costs, and with what they are near an optimum, which has a standard form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.model.affine import Affine, evaluate
from sdpdr.model.block import Changed
from sdpdr.model.model import Model
from sdpdr.model.terms import Minimize, Penalize, Raw, Smooth, Term
from sdpdr.program.point import Value

# Values of a function up to which all of its second derivatives are written down.
_MANY = 2500
# Roundings of each term of a tangent, from here to the bound.
_OPERATIONS = 8


def is_smooth(model: Model) -> bool:
    """Whether smooth costs are all that a model has beside what semidefinite programs have."""
    kinds = [type(term) for _, term in model.labelled_terms()]
    return Smooth in kinds and Raw not in kinds


def expansion_of(model: Model, values: Mapping[str, Value], *, curved: bool = True) -> Model | None:
    r"""A model with the derivatives by parameters that the model has at its optimum.

    Of each smooth cost :math:`w(p) f(v(p))` it has the terms of first order in p, and of second
    order in v, at the present values of parameters and at the optimum, whose values are u,

    .. math:: w f(u) + w \nabla f(u)^T (v(p) - u) + \tfrac w2 |R (v(p) - u)|^2
              + (w(p) - w) \bigl(f(u) + \nabla f(u)^T (v - u)\bigr) ,
              \qquad R^T R = \nabla^2 f(u) ,

    so that it changes with p as any other semidefinite program does.

    Parameters
    ----------
    model : Model
    values : mapping from name to array or Factor
        The optimum.
    curved : bool, default True
        With terms of second order, which derivatives of the optimal value do not need.

    Returns
    -------
    Model or None
        None where second derivatives are asked for, and unknown, or too many.
    """
    blocks = []
    for block in model.blocks:
        present = {term.name: term for term in block.terms() if isinstance(term, Smooth)}
        if curved and any(_root(term, values) is None for term in present.values()):
            return None
        blocks.append(Changed(block, _expanding(present, values, curved)))
    return replace(model, blocks=tuple(blocks), maximize=model.is_maximization)


def _expanding(
    present: Mapping[str, Smooth], values: Mapping[str, Value], curved: bool
) -> Callable[[Term], Iterable[Term]]:
    """What changes terms of a block, at any values of parameters, those at present being known."""

    def change(term: Term) -> Iterable[Term]:
        if not isinstance(term, Smooth):
            yield term
            return
        known = present[term.name]
        at, root = _at(known, values), _root(known, values) if curved else None
        line = known.weight * _line(term, at)
        if term.weight != known.weight:
            line = line + (term.weight - known.weight) * _line(known, at)
        yield Minimize(Affine.of(line), term.name)
        if root is not None:
            yield _parabola(term, at, root, known.weight)

    return change


def _parabola(term: Smooth, at: Array, root: Array, weight: float) -> Penalize:
    rows = term.lhs.reshape(-1).combined(root, (len(root),))
    target = root @ at - rows.constant
    return Penalize(rows.linear, target, "square", weight, f"{term.name}.parabola".strip("."))


def _at(term: Smooth, values: Mapping[str, Value]) -> Array:
    return term.function.inside(evaluate(term.lhs, values))


def _root(term: Smooth, values: Mapping[str, Value]) -> Array | None:
    return None if term.lhs.m > _MANY else term.function.root(_at(term, values))


def _line(term: Smooth, at: Array) -> Affine:
    """The tangent of a function at values that it may have."""
    function = term.function
    slope = np.asarray(function.gradient(at))
    flat = term.lhs.reshape(-1)
    height = function.value(at)
    # Steep tangents are differences of large numbers: below the function with their rounding too.
    terms = np.abs(slope) @ (np.abs(at) + np.abs(flat.constant)) + abs(height)
    below = (_OPERATIONS + at.size) * np.finfo(float).eps * float(terms)
    return flat.combined(slope[None, :], (1,)) + (height - float(slope @ at) - below)
