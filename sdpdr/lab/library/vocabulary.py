"""Contents of cards: tables of TOML with checks, and names of graphs, methods and relations.

Every refusal names the file and the key.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from sdpdr import graphs
from sdpdr.base.arrays import ALLOWED, is_written_admissibly
from sdpdr.base.errors import (
    CardError,
    FileFormatError,
    ModelError,
    SdpdrError,
    StudyError,
    UnknownNameError,
    nearest_name,
)
from sdpdr.families import methods
from sdpdr.model.blocks import Band, Relation, Slack
from sdpdr.model.blocks.isometry import RELATIONS, as_relation

_REQUIRED = object()
_KINDS: Mapping[str, tuple[str, Any]] = MappingProxyType(
    {
        "bool": ("true or false", bool),
        "int": ("a whole number", int),
        "int | None": ("a whole number", int),
        "float": ("a number", (int, float)),
        "str": ("a text", str),
    }
)


@dataclass(frozen=True, eq=False)
class TomlTable:
    """A table of a TOML file."""

    file: str
    name: str
    content: Mapping[str, Any]
    kind: str = "card"

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    def error(self, key: str, words: str) -> SdpdrError:
        """Error about a key."""
        message = f"{self.kind} {self.file}, key {self._full(key)}: {words}."
        return StudyError(message) if self.kind == "study" else CardError(message)

    def _full(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def allow(self, *known: str) -> None:
        """Refuse keys that are not known."""
        for key in self.content:
            if key not in known:
                raise self.error(key, f"unknown.{_hint(key, known)} Allowed: {', '.join(known)}")

    def table(self, key: str, *, optional: bool = False) -> TomlTable:
        """A table inside this one; empty if it is missing and optional."""
        value = self._value(key, "a table", dict, {} if optional else _REQUIRED)
        return TomlTable(self.file, self._full(key), value, self.kind)

    def tables(self, key: str) -> list[TomlTable]:
        """The tables of a list, ``[[key]]``; none if it is missing."""
        found = self._value(key, "a list of tables", list, [])
        if not all(isinstance(item, dict) for item in found):
            raise self.error(key, f"expected a list of tables, [[{key}]], got {found!r}")
        return [
            TomlTable(self.file, self._full(f"{key}[{place}]"), item, self.kind)
            for place, item in enumerate(found)
        ]

    def text(self, key: str, default: Any = _REQUIRED) -> str:
        """A text that is not empty."""
        value = self._value(key, "a text", str, default)
        if not value.strip():
            raise self.error(key, "is empty: write a text")
        return str(value)

    def texts(self, key: str, default: Any = _REQUIRED) -> list[str]:
        """A list of texts."""
        return self.list_of(key, "texts", str, default, least=0)

    def choice(self, key: str, known: tuple[str, ...]) -> str:
        """One of a few words."""
        value = self.text(key)
        if value not in known:
            hint = _hint(value, known)
            raise self.error(key, f"got {value!r}.{hint} Allowed: {', '.join(known)}")
        return value

    def number(self, key: str, default: Any = _REQUIRED) -> float:
        """A number."""
        return float(self._value(key, "a number", (int, float), default))

    def positive(self, key: str, default: Any = _REQUIRED) -> float:
        """A number above zero."""
        value = self.number(key, default)
        if not 0.0 < value < float("inf"):
            raise self.error(key, f"expected a number above 0, got {value:g}")
        return value

    def count(self, key: str, default: Any = _REQUIRED, *, least: int = 1) -> int:
        """A whole number of at least one, or another least."""
        value = self._value(key, "a whole number", int, default)
        if value < least:
            raise self.error(key, f"expected a whole number of at least {least}, got {value}")
        return int(value)

    def list_of(
        self, key: str, what: str, kinds: Any, default: Any = _REQUIRED, *, least: int = 1
    ) -> list[Any]:
        """A list of numbers or the like, of at least so many."""
        value = self._value(key, f"a list of {what}", list, default)
        wrong = [x for x in value if not isinstance(x, kinds) or isinstance(x, bool)]
        if wrong or len(value) < least:
            raise self.error(key, f"expected a list of {what}, got {value!r}")
        return list(value)

    def truth(self, key: str, default: Any = _REQUIRED) -> bool:
        """Either true or false."""
        return bool(self._value(key, "true or false", bool, default))

    def call(
        self,
        key: str,
        known: Mapping[str, Callable[..., Any]],
        extra: Mapping[str, str] | None = None,
    ) -> str:
        """Name of a function under ``key``; all other keys must be arguments of it."""
        name = self.choice(key, tuple(known))
        parameters = {
            parameter.name: parameter
            for parameter in signature(known[name]).parameters.values()
            if parameter.name not in ("X", "graph")
        }
        kinds = {word: p.annotation for word, p in parameters.items()} | dict(extra or {})
        self.allow(key, *kinds)
        for word, parameter in parameters.items():
            if parameter.default is Parameter.empty and word not in self and word != "y":
                raise self.error(word, f"missing: {name} needs it")
        for word in kinds.keys() & self.content.keys():
            self._like(word, kinds[word])
        return name

    def attempt(self, key: str, read: Callable[[Any], object]) -> None:
        """Refuse a value with the message of the function that reads it."""
        try:
            read(self[key])
        except SdpdrError as error:
            raise self.error(key, str(error).rstrip(".")) from error

    def _like(self, key: str, annotation: str) -> None:
        """Refuse a value that does not have the annotated type; the function checks the rest."""
        if annotation == "ArrayLike":
            self._numbers(key)
        elif annotation in _KINDS:
            self._value(key, *_KINDS[annotation], _REQUIRED)

    def _numbers(self, key: str) -> None:
        try:
            np.asarray(self[key], dtype=float)
        except (ValueError, TypeError):
            raise self.error(key, f"expected a list of numbers, got {self[key]!r}") from None

    def _value(self, key: str, what: str, kinds: Any, default: Any) -> Any:
        value = self.content.get(key, default)
        if value is _REQUIRED:
            raise self.error(key, f"missing: write {what}")
        # In Python a truth value is a whole number; in a card it is not.
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise self.error(key, f"expected {what}, got {value!r}")
        return value


def read_toml(path: str | os.PathLike[str], kind: str) -> TomlTable:
    """Return the content of a file; the kind of file is for messages."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileFormatError(f"{kind} {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{kind} {path} is not TOML: {error}.") from None
    return parsed_toml(text, path, kind)


def parsed_toml(text: str, path: Path, kind: str) -> TomlTable:
    """Return the content of a text, which lies in a file of that name."""
    try:
        content = tomllib.loads(text, parse_float=partial(_number, path.name, text, kind))
    except tomllib.TOMLDecodeError as error:
        raise FileFormatError(f"{kind} {path} is not TOML: {error}.") from None
    return TomlTable(path.name, "", content, kind)


def _number(name: str, text: str, kind: str, word: str) -> float:
    """A number of a TOML file, which writes infinity and nan as words."""
    if any(c.isdigit() for c in word) and not is_written_admissibly(word.replace("_", "")):
        line = next((k for k, s in enumerate(text.split("\n"), start=1) if word in s), 0)
        raise FileFormatError(f"{kind} {name}, line {line}: expected {ALLOWED}; found {word!r}.")
    return float(word)


def _hint(word: str, known: Sequence[str]) -> str:
    near = nearest_name(word, known)
    return f" Did you mean {near!r}?" if near else ""


# -- names --------------------------------------------------------------------------------------

# Recipes that are no methods: further constraints, a lift of given factors, one step of an
# iteration, and a regression to which another method reduces.
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


def takes_points(make: Callable[..., Any]) -> bool:
    """Whether the first argument of a constructor of graphs is points."""
    return next(iter(signature(make).parameters)) == "X"


def takes_data(method: Callable[..., Any]) -> bool:
    """Whether the first argument of a method is data, points or a matrix, rather than a graph."""
    return next(iter(signature(method).parameters)) != "graph"


def relation(given: object) -> Relation:
    """Return the relation of isometry that a card names."""
    if isinstance(given, str):
        return as_relation(given)
    if isinstance(given, Mapping):
        keys = set(given)
        if keys == {"band"}:
            return Band(_plain_number(given["band"]))
        if "slack" in keys and keys <= {"slack", "penalty", "relative"}:
            options = {key: value for key, value in given.items() if key != "slack"}
            return Slack(_plain_number(given["slack"]), **options)
    raise UnknownNameError(
        "isometry",
        given,
        (*RELATIONS, "{band = 0.01}", "{slack = 10, penalty, relative}"),
    )


def _plain_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelError(f"{value!r} is not a number.")
    return value
