"""Classes that a function returns, on the page of the function.

``returned-by:: sdpdr.graphs.choose_k`` documents `ChoiceOfK`. A class that the reference lists, or
that a function listed before returns, has its own place.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pkgutil import resolve_name
from typing import Any

from docutils import nodes
from listtable import parsed
from names import listed, reference
from sphinx.util.docutils import SphinxDirective


def found(name: str) -> Any:
    """The object with a full name; a function comes before a module of its name.

    Examples
    --------
    >>> found("sdpdr.graphs.motions").__name__
    'motions'
    """
    room, _, last = name.rpartition(".")
    return resolve_name(f"{room}:{last}")


def returned(function: Any) -> Iterator[type]:
    """Classes of this package in the annotation of what a function returns.

    Examples
    --------
    >>> import sdpdr
    >>> [one.__name__ for one in returned(sdpdr.graphs.motions)]
    ['Motion']
    """
    own = inspect.unwrap(function)
    for word in re.findall(r"[A-Za-z]\w*", str(own.__annotations__.get("return", ""))):
        one = own.__globals__.get(word)
        if inspect.isclass(one) and one.__module__.startswith("sdpdr."):
            yield one


def by_function(names: Sequence[str]) -> dict[str, list[type]]:
    """Classes that are documented with each of these functions.

    Examples
    --------
    >>> places = by_function(["sdpdr.solve", "sdpdr.Solution", "sdpdr.graphs.choose_k"])
    >>> {name: [one.__name__ for one in classes] for name, classes in places.items()}
    {'sdpdr.solve': [], 'sdpdr.graphs.choose_k': ['ChoiceOfK']}
    """
    objects = {name: found(name) for name in names}
    known = {one for one in objects.values() if inspect.isclass(one)}
    places: dict[str, list[type]] = {}
    for name, one in objects.items():
        if inspect.isfunction(one):
            places[name] = [kind for kind in returned(one) if kind not in known]
            known.update(places[name])
    return places


@cache
def places() -> dict[str, list[type]]:
    """The classes that are documented with each function of the reference."""
    return by_function([name for name in listed(reference()) if name.startswith("sdpdr.")])


def public_name(kind: type, room: str) -> str:
    """The full name of a class, in a room or else in the nearest package that has it.

    Examples
    --------
    >>> import sdpdr
    >>> public_name(sdpdr.graphs.ChoiceOfK, "sdpdr.graphs")
    'sdpdr.graphs.ChoiceOfK'
    >>> public_name(type(sdpdr.maximize(sdpdr.scalar("t"))), "sdpdr")
    'sdpdr.model.language.Objective'
    """
    for package in (room, kind.__module__.rpartition(".")[0]):
        if getattr(import_module(package), kind.__name__, None) is kind:
            return f"{package}.{kind.__name__}"
    return f"{kind.__module__}.{kind.__name__}"


class ReturnedBy(SphinxDirective):
    """The classes that are documented with a function."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        function = self.arguments[0]
        room = function.rpartition(".")[0]
        kinds = places().get(function, ())
        lines = [f".. autoclass:: {public_name(kind, room)}\n   :members:\n" for kind in kinds]
        return parsed(self, "\n".join(lines).splitlines()) if lines else []


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("returned-by", ReturnedBy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
