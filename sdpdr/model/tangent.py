"""Models with smooth costs, and with what they are near an optimum, which has a standard form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from sdpdr.base.arrays import Array
from sdpdr.model.affine import Affine, evaluate
from sdpdr.model.block import Changed
from sdpdr.model.model import Model
from sdpdr.model.terms import Minimize, Penalize, Raw, Smooth, Term
from sdpdr.program.point import Value


def is_smooth(model: Model) -> bool:
    """Whether smooth costs are all that a model has beside what semidefinite programs have."""
    kinds = [type(term) for _, term in model.labelled_terms()]
    return Smooth in kinds and Raw not in kinds


def expansion_of(model: Model, values: Mapping[str, Value], *, curved: bool = True) -> Model:
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
    Model

    Raises
    ------
    DataError
        If a function has no derivatives at the optimum.
    """
    blocks = []
    for block in model.blocks:
        present = {term.name: term for term in block.terms() if isinstance(term, Smooth)}
        blocks.append(Changed(block, _expanding(present, values, curved)))
    return replace(model, blocks=tuple(blocks), maximize=model.is_maximization)


def _expanding(
    present: Mapping[str, Smooth], values: Mapping[str, Value], curved: bool
) -> Callable[[Term], Iterable[Term]]:
    """What changes terms of a block, at any values of parameters, those at present being known."""
    at = {name: evaluate(term.lhs, values) for name, term in present.items()}
    roots = {
        name: term.function.curvature_root(at[name]) for name, term in present.items() if curved
    }

    def change(term: Term) -> Iterable[Term]:
        if not isinstance(term, Smooth):
            yield term
            return
        known, here = present[term.name], at[term.name]
        line = known.weight * _line(term, here)
        if term.weight != known.weight:
            line = line + (term.weight - known.weight) * _line(known, here)
        yield Minimize(Affine.of(line), term.name)
        if curved:
            yield _parabola(term, here, roots[term.name], known.weight)

    return change


def _parabola(term: Smooth, at: Array, root: Array, weight: float) -> Penalize:
    """The term of second order."""
    rows = term.lhs.reshape(-1).combined(root, (len(root),))
    target = root @ at - rows.constant
    return Penalize(rows.linear, target, "square", weight, f"{term.name}.parabola".strip("."))


def _line(term: Smooth, at: Array) -> Affine:
    """The tangent of a cost at values that its arguments may have."""
    sign = term.function.sign
    slope, height = sign * term.function.gradient(at), sign * term.function.value(at)
    return term.lhs.reshape(-1).combined(slope[None, :], (1,)) + (height - float(slope @ at))
