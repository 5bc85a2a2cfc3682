"""A gallery of programs that lie: small, exactly known, and answered wrongly by solvers.

Their texts, values and proofs are tables of ``problems/lies``, a file for each chapter. A program
is what its line of text says (see `sdpdr.lab.library.lies.writing`), or is built by a function of
`sdpdr.lab.library.lies.programs` whose name the table gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache, partial
from string import Template
from types import MappingProxyType
from typing import Any

from sdpdr.base.checks import choice
from sdpdr.lab.library.families import shelf
from sdpdr.lab.library.fields import read_toml
from sdpdr.lab.library.lies import programs
from sdpdr.lab.library.lies.truth import CHAPTERS, Lie, Truth
from sdpdr.lab.library.lies.writing import number, written
from sdpdr.model import Model
from sdpdr.program import SDP

__all__ = ["CHAPTERS", "Lie", "Truth", "find_lie", "gallery"]

_KEYS = (
    *("name", "program", "written", "build", "given", "each", "large"),
    *("value", "about", "between", "dual", "magnitude", "proof", "why", "seen", "reference"),
)


@cache
def gallery() -> Mapping[str, Lie]:
    """Programs that lie, by name, in the order of the chapters.

    Examples
    --------
    >>> lie = gallery()["hidden-face-1e5"]
    >>> lie.sdp().n_rows, lie.truth.value
    (4, Fraction(2, 1))
    """
    found = (lie for chapter in CHAPTERS for lie in _chapter(chapter))
    return MappingProxyType({lie.name: lie for lie in found})


def find_lie(name: str) -> Lie:
    """A program of the gallery.

    Raises
    ------
    UnknownNameError
        Offering the nearest name.

    Examples
    --------
    >>> find_lie("weakly").truth.verdict
    'infeasible'
    """
    choice("program of the gallery", name, gallery())
    return gallery()[name]


def _chapter(chapter: str) -> Iterator[Lie]:
    """The programs of a file; where a table has ``each``, one for each of these."""
    for table in read_toml(shelf("lies")[chapter], "gallery").tables("program"):
        table.allow(*_KEYS)
        for member in table.content.get("each", [{}]):
            told = {**table.content, **member}
            words = {**member, **told.get("given", {})}
            texts = {k: v for k, v in told.items() if isinstance(v, str)}
            filled = {k: Template(v).substitute(words) for k, v in texts.items()}
            yield _lie(chapter, {**told, **filled})


def _lie(chapter: str, told: Mapping[str, Any]) -> Lie:
    words = ("proof", "why", "seen", "reference")
    return Lie(
        name=told["name"],
        program=told["program"],
        chapter=chapter,
        build=_builder(told),
        truth=_truth(told),
        large=told.get("large", False),
        **{key: " ".join(told[key].split()) for key in words if key in told},
    )


def _builder(told: Mapping[str, Any]) -> Callable[[], SDP | Model]:
    if "build" in told:
        return partial(getattr(programs, told["build"]), **told.get("given", {}))
    return partial(written, told.get("written", told["program"]), told["name"])


def _truth(told: Mapping[str, Any]) -> Truth:
    maximize = told["program"].startswith(("max ", "unfold "))
    value = told.get("value")
    if value == "infeasible":
        return Truth.infeasible(maximize=maximize)
    if value == "unbounded":
        return Truth.unbounded(maximize=maximize)
    if told.get("about"):
        return Truth.about(_exact(value), maximize=maximize)
    lower, upper = map(_exact, told.get("between", (value, value)))
    dual = _exact(told["dual"]) if "dual" in told else None
    return Truth(lower, upper, maximize, dual, told.get("magnitude", 0.0))


def _exact(told: Any) -> Fraction:
    return number(told) if isinstance(told, str) else Fraction(told)
