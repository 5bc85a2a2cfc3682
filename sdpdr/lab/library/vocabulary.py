"""What cards and the command line may name: graphs, methods, and relations of isometry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from types import MappingProxyType
from typing import Any

from sdpdr import graphs
from sdpdr.base.errors import ModelError, UnknownNameError
from sdpdr.families import methods
from sdpdr.model.blocks import Band, Relation, Slack

# Recipes of parts: of rows to be added, of factors that were found, of one step of an iteration, of
# what another method comes down to.
_PARTS = ("fold", "isometric", "isometric_nmf_lift", "mixed_scale_step", "regression")

METHODS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        name: make
        for name in sorted(set(methods.__all__) - set(_PARTS))
        if signature(make := getattr(methods, name)).return_annotation == "Model"
    }
)
"""Methods by name: the recipes that make a model."""

_GRAPHS = ("knn", "radius", "complete", "path", "cycle", "grid", "from_edges", "sequences")
GRAPHS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {name: getattr(graphs, name) for name in _GRAPHS}
)
"""Constructors of graphs by name."""

RELATIONS = ("inequality", "equality", "band:WIDTH", "slack:WEIGHT")
"""How the command line writes the relations of isometry."""


def takes_points(make: Callable[..., Any]) -> bool:
    """Whether a constructor of graphs is made of points in the first place."""
    return next(iter(signature(make).parameters)) == "X"


def takes_data(method: Callable[..., Any]) -> bool:
    """Whether a method is made of data, points or a matrix, rather than of a graph."""
    return next(iter(signature(method).parameters)) != "graph"


def relation(given: object) -> Relation:
    """Relation of isometry from how a card writes it.

    Parameters
    ----------
    given : str or mapping
        ``"inequality"``, ``"equality"``, ``{"band": width}`` or ``{"slack": weight}``, the last
        with ``penalty`` and ``relative`` if wanted.

    Raises
    ------
    UnknownNameError, ModelError

    Examples
    --------
    >>> relation({"slack": 10, "relative": True})
    Slack(weight=10, penalty='square', relative=True)
    """
    if given == "inequality":
        return "inequality"
    if given == "equality":
        return "equality"
    if isinstance(given, Mapping):
        keys = set(given)
        if keys == {"band"}:
            return Band(_number(given["band"]))
        if "slack" in keys and keys <= {"slack", "penalty", "relative"}:
            options = {key: value for key, value in given.items() if key != "slack"}
            return Slack(_number(given["slack"]), **options)
    raise UnknownNameError(
        "isometry",
        given,
        ("inequality", "equality", "{band = 0.01}", "{slack = 10, penalty, relative}"),
    )


def parse_relation(text: str) -> Relation:
    """Relation of isometry from how the command line writes it (see `RELATIONS`).

    Raises
    ------
    UnknownNameError, ModelError

    Examples
    --------
    >>> parse_relation("band:0.01")
    Band(width=0.01)
    """
    name, colon, number = text.partition(":")
    if name not in (("band", "slack") if colon else ("inequality", "equality")):
        raise UnknownNameError("isometry", text, RELATIONS)
    if not colon:
        return relation(name)
    try:
        value = float(number)
    except ValueError:
        words = f"{text!r} needs a number after the colon, as in {name}:0.01."
        raise ModelError(words) from None
    return relation({name: value})


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelError(f"{value!r} is not a number.")
    return value
