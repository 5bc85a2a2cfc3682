"""Hard instances: small programs with known answers that solvers often get wrong.

Each chapter is a file in ``problems/hard_instances`` with the text, value and proof of its
programs. A program is parsed from its line of text (`sdpdr.testing.notation`), or built by the
function of `sdpdr.testing.hard_programs` that the file names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache, partial
from string import Template
from types import MappingProxyType
from typing import Any

from sdpdr.base.checks import choice
from sdpdr.lab.library.problem import shelf
from sdpdr.lab.library.vocabulary import read_toml
from sdpdr.model import Model
from sdpdr.program import SDP
from sdpdr.testing import hard_programs
from sdpdr.testing.notation import number, parse_program
from sdpdr.testing.truth import CHAPTERS, GroundTruth, HardInstance

__all__ = ["CHAPTERS", "GroundTruth", "HardInstance", "find_hard_instance", "hard_instances"]

_KEYS = (
    *("name", "program", "written", "build", "given", "each", "large"),
    *("value", "about", "between", "dual", "magnitude", "proof", "why", "seen", "reference"),
)


@cache
def hard_instances() -> Mapping[str, HardInstance]:
    """Return all hard instances by name, in the order of the chapters.

    Examples
    --------
    >>> from sdpdr.testing import hard_instances
    >>> instance = hard_instances()["hidden-face-1e5"]
    >>> instance.sdp().n_rows, instance.truth.value
    (4, Fraction(2, 1))
    """
    found = (instance for chapter in CHAPTERS for instance in _read_chapter(chapter))
    return MappingProxyType({instance.name: instance for instance in found})


def find_hard_instance(name: str) -> HardInstance:
    """Return the hard instance of that name.

    Raises
    ------
    UnknownNameError
        No hard instance has this name; the error offers the nearest one.

    Examples
    --------
    >>> from sdpdr.testing import find_hard_instance
    >>> find_hard_instance("weakly").truth.verdict
    'infeasible'
    """
    choice("hard instance", name, hard_instances())
    return hard_instances()[name]


def _read_chapter(chapter: str) -> Iterator[HardInstance]:
    """Yield the programs of a file; a table with ``each`` makes one program for each member."""
    for entry in read_toml(shelf("hard_instances")[chapter], "gallery").tables("program"):
        entry.allow(*_KEYS)
        for member in entry.content.get("each", [{}]):
            table = {**entry.content, **member}
            words = {**member, **table.get("given", {})}
            texts = {k: v for k, v in table.items() if isinstance(v, str)}
            filled = {k: Template(v).substitute(words) for k, v in texts.items()}
            yield _instance(chapter, {**table, **filled})


def _instance(chapter: str, table: Mapping[str, Any]) -> HardInstance:
    words = ("proof", "why", "seen", "reference")
    return HardInstance(
        name=table["name"],
        program=table["program"],
        chapter=chapter,
        build=_builder(table),
        truth=_truth(table),
        large=table.get("large", False),
        **{key: " ".join(table[key].split()) for key in words if key in table},
    )


def _builder(table: Mapping[str, Any]) -> Callable[[], SDP | Model]:
    if "build" in table:
        return partial(getattr(hard_programs, table["build"]), **table.get("given", {}))
    return partial(parse_program, table.get("written", table["program"]), table["name"])


def _truth(table: Mapping[str, Any]) -> GroundTruth:
    maximize = table["program"].startswith(("max ", "unfold "))
    value = table.get("value")
    if value == "infeasible":
        return GroundTruth.infeasible(maximize=maximize)
    if value == "unbounded":
        return GroundTruth.unbounded(maximize=maximize)
    if table.get("about"):
        return GroundTruth.about(_exact(value), maximize=maximize)
    lower, upper = map(_exact, table.get("between", (value, value)))
    dual = _exact(table["dual"]) if "dual" in table else None
    return GroundTruth(lower, upper, maximize, dual, table.get("magnitude", 0.0))


def _exact(table: Any) -> Fraction:
    return number(table) if isinstance(table, str) else Fraction(table)
