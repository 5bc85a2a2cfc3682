"""Models with smooth costs, and with tangents in their place, which have a standard form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from sdpdr.model.affine import Affine
from sdpdr.model.block import Changed
from sdpdr.model.model import Model, evaluate
from sdpdr.model.terms import Minimize, Raw, Smooth, Term
from sdpdr.program.point import Value


def is_smooth(model: Model) -> bool:
    """Whether smooth costs are all that a model has beside what semidefinite programs have."""
    kinds = [type(term) for _, term in model.labelled_terms()]
    return Smooth in kinds and Raw not in kinds


def tangent_of(model: Model, values: Mapping[str, Value]) -> Model:
    r"""A model with a tangent in place of each smooth cost.

    .. math:: f(v) \ \longrightarrow\ f(u) + \nabla f(u)^T (v - u) \ \le\ f(v) ,

    where u are the values at a point, or near it, where f has no gradient there. Rows keep their
    labels. Whatever is a bound of this model is one of the model itself.

    Parameters
    ----------
    model : Model
    values : mapping from name to array or Factor
        The point.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import log_det, maximize, psd
    >>> K = psd("K", 2)
    >>> model = maximize(log_det(K)) + (K.trace() <= 2.0)
    >>> near = tangent_of(model, {"K": np.eye(2)})
    >>> point = {"K": np.diag([2.0, 1.0])}
    >>> round(near.objective(point), 6), round(model.objective(point), 6)
    (1.0, 0.693147)
    """

    def change(term: Term) -> Iterable[Term]:
        yield _tangent(term, values) if isinstance(term, Smooth) else term

    blocks = tuple(Changed(block, change) for block in model.blocks)
    return replace(model, blocks=blocks, maximize=model.is_maximization)


def _tangent(term: Smooth, values: Mapping[str, Value]) -> Minimize:
    function = term.function
    at = function.inside(evaluate(term.lhs, values))
    slope = np.asarray(function.gradient(at))
    flat = term.lhs.reshape(-1)
    line = flat.combined(slope[None, :], (1,)) + (function.value(at) - float(slope @ at))
    return Minimize(Affine.of(term.weight * line), term.name)
