"""What cards and the command line may name: graphs, methods, and relations of isometry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from types import MappingProxyType
from typing import Any

from sdpdr import graphs
from sdpdr.base.errors import ModelError, UnknownNameError
from sdpdr.families.factor.completely_positive.recipes import copositive_cut, cp_lift
from sdpdr.families.factor.isometric.recipe import isometric_nmf
from sdpdr.families.factor.margin.recipe import mmmf, mmmf_dual
from sdpdr.families.factor.nmf.bounds import nmf_cones, nmf_dnn, nmf_overlap, nmf_shor
from sdpdr.families.factor.nmf.recipes import nmf_lift, nmf_products
from sdpdr.families.factor.polynomial.recipe import polynomial_factorization
from sdpdr.families.metric.recipes import ghodsi, xing
from sdpdr.families.propagate.recipe import (
    mixed_label_bound,
    mixed_label_propagation,
    mixed_label_step,
)
from sdpdr.families.regress.recipes import fantope, sparse_direction
from sdpdr.families.sopca.convex import sopca, sopca_dual
from sdpdr.families.unfold.anchored import anchored_mvu
from sdpdr.families.unfold.are import are
from sdpdr.families.unfold.colored_mvu import colored_mvu
from sdpdr.families.unfold.density_map import density_map, mvee
from sdpdr.families.unfold.ism import ism, separation_margin
from sdpdr.families.unfold.loocv import loocv
from sdpdr.families.unfold.mfnu import mfnu, mvu_apart
from sdpdr.families.unfold.mvu import mvu
from sdpdr.model.blocks import Band, Relation, Slack

METHODS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "anchored_mvu": anchored_mvu,
        "are": are,
        "colored_mvu": colored_mvu,
        "copositive_cut": copositive_cut,
        "cp_lift": cp_lift,
        "density_map": density_map,
        "fantope": fantope,
        "ghodsi": ghodsi,
        "sparse_direction": sparse_direction,
        "ism": ism,
        "isometric_nmf": isometric_nmf,
        "loocv": loocv,
        "mfnu": mfnu,
        "mixed_label_bound": mixed_label_bound,
        "mixed_label_propagation": mixed_label_propagation,
        "mixed_label_step": mixed_label_step,
        "mmmf": mmmf,
        "mmmf_dual": mmmf_dual,
        "mvee": mvee,
        "mvu": mvu,
        "mvu_apart": mvu_apart,
        "nmf_cones": nmf_cones,
        "nmf_dnn": nmf_dnn,
        "nmf_lift": nmf_lift,
        "nmf_overlap": nmf_overlap,
        "nmf_products": nmf_products,
        "nmf_shor": nmf_shor,
        "polynomial_factorization": polynomial_factorization,
        "separation_margin": separation_margin,
        "sopca": sopca,
        "sopca_dual": sopca_dual,
        "xing": xing,
    }
)
"""Methods by name."""

GRAPHS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        make.__name__: make
        for make in (
            graphs.knn,
            graphs.radius,
            graphs.complete,
            graphs.path,
            graphs.cycle,
            graphs.grid,
            graphs.from_edges,
            graphs.sequences,
        )
    }
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
    if not colon:
        known = name in ("inequality", "equality")
        if known:
            return relation(name)
    elif name in ("band", "slack"):
        try:
            return relation({name: float(number)})
        except ValueError as error:
            if isinstance(error, ModelError):
                raise
            raise ModelError(
                f"{text!r} needs a number after the colon, as in {name}:0.01."
            ) from None
    raise UnknownNameError("isometry", text, RELATIONS)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelError(f"{value!r} is not a number.")
    return value
