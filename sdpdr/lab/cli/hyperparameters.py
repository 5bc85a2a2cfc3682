"""Hyperparameters of estimators on the command line: ``--set KEY=VALUE``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any

from sdpdr.base.checks import choice
from sdpdr.base.errors import DataError

_DIRECT = (
    "n_components", "n_neighbors", "isometry", "metric", "angles", "connect", "extension",
)  # fmt: skip
_SOLVING = ("solver", "form", "landmarks", "tol", "time_limit")
FLAGS: Mapping[str, str] = MappingProxyType(
    {name: f"--{name.replace('_', '-')}" for name in (*_DIRECT, *_SOLVING)}
    | {"random_state": "--seed"}
)
"""Hyperparameters that have an option of their own."""

# The command line does this itself for every method: it draws rows, takes roots, shows progress.
_OURS = ("sample", "squared", "progress")

# Messages of the package, and their words at a command line. Attributes of a graph, and the call
# that made it, are of no use there.
_WORDS: Sequence[tuple[str, str]] = (
    (r"(?s)[.;] graph\.\w+ .*$", "."),
    (r" made by \w+\([^)]*\)", ""),
    (r"Found array with 1 sample\(s\) \(shape=\([^)]*\)\) while a minimum of (\d+) is required",
     r"there is 1 row, and at least \1 are needed"),
    (r"Found array with (\d+) sample\(s\) \(shape=\([^)]*\)\) while a minimum of (\d+) is required",
     r"there are \1 rows, and at least \2 are needed"),
    (r"squared=True", "--squared"),
    (r"pass their square roots, np\.sqrt\(D\)", "pass --squared"),
    (r"isometry=Band\(0\.05\)", "--isometry band:0.05"),
    (r"sample=None unfolds all, a number so many",
     "--sample unfolds so many, and of the number of rows all"),
    (r"time_limit=None lets it (go on to its end|end)", "--time-limit gives it more"),
)  # fmt: skip
_HYPERPARAMETER = re.compile(rf"\b({'|'.join(FLAGS)})=(?:'([^']*)'|(\d+(?:\.\d+)?))")


def as_options(words: object, *, can_sample: bool = False) -> str:
    """Return a message of the package in the words of the command line.

    Parameters
    ----------
    words : object
    can_sample : bool, default False
        Whether ``--sample`` is a remedy where the time is over.

    Examples
    --------
    >>> as_options("take more neighbours, or connect='mst' or n_neighbors=7.")
    'take more neighbours, or --connect mst or --n-neighbors 7.'
    >>> as_options("Found array with 1 sample(s) (shape=(1, 3)) while a minimum of 3 is required.")
    'there is 1 row, and at least 3 are needed.'
    >>> as_options("Some repeat. They were merged; graph.counts says how often each occurs.")
    'Some repeat. They were merged.'
    >>> as_options("TIME_LIMIT: It was reached. (gap 1)", can_sample=True)
    'TIME_LIMIT: It was reached. --sample N embeds N rows and places the others. (gap 1)'
    """
    text = str(words)
    for found, said in _WORDS:
        text = re.sub(found, said, text)
    if can_sample and text.startswith("TIME_LIMIT"):
        said, gap, rest = text.partition(" (gap")
        text = f"{said} --sample N embeds N rows and places the others.{gap}{rest}"
    return _HYPERPARAMETER.sub(lambda found: f"{FLAGS[found[1]]} {found[2] or found[3]}", text)


def assignment(text: str) -> tuple[str, str]:
    """Split ``KEY=VALUE``; raise ValueError for anything else."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise ValueError(f"expected KEY=VALUE, got {text!r}")
    return key.strip().replace("-", "_"), value.strip()


def own(estimator: type) -> dict[str, Parameter]:
    """Hyperparameters of an estimator that have no option of their own."""
    parameters = signature(estimator).parameters
    return {name: p for name, p in parameters.items() if name not in (*FLAGS, *_OURS)}


def defaults(parameters: Mapping[str, Parameter]) -> str:
    """Hyperparameters with their defaults, in one line."""
    return ", ".join(f"{name}={_shown(p.default)}" for name, p in parameters.items())


def parsed(method: str, estimator: type, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Hyperparameters from what ``--set`` was given, typed as the estimator declares them.

    Parameters
    ----------
    method : str
        Its name on the command line.
    estimator : type
    pairs : sequence of (key, value)

    Raises
    ------
    UnknownNameError
        The estimator has no such hyperparameter; those it has are listed.
    DataError
        A key is given twice or has an option of its own; or the value is of another type.

    Examples
    --------
    >>> import sdpdr
    >>> parsed("density_map", sdpdr.DensityMap, [("bandwidth", "2"), ("variant", "trace")])
    {'bandwidth': 2.0, 'variant': 'trace'}
    """
    known, found = own(estimator), dict[str, Any]()
    for key, value in pairs:
        if key in FLAGS:
            raise DataError(f"--set {key}=...: this has an option of its own, {FLAGS[key]}.")
        if key in found:
            raise DataError(f"--set gives {key!r} twice. Give it once.")
        if not known:
            raise DataError(f"method {method} has no hyperparameters for --set; leave it out.")
        choice(f"hyperparameter of method {method}", key, known)
        found[key] = _read(key, value, known[key])
    return found


def require_taken(method: str, estimator: type, given: Mapping[str, Any]) -> None:
    """Refuse options that stand for hyperparameters which the estimator does not have.

    Raises
    ------
    DataError
    """
    taken = signature(estimator).parameters
    for name in given:
        if name not in taken:
            options = ", ".join(flag for key, flag in FLAGS.items() if key in taken)
            raise DataError(
                f"method {method} does not take {FLAGS[name]}; leave it out. It takes {options}."
            )


def _read(key: str, text: str, parameter: Parameter) -> Any:
    """A value of the first type of the declaration that it can be."""
    kinds = [kind for kind in str(parameter.annotation).split(" | ") if kind != "None"]
    if text.lower() == "none" and parameter.default is None:
        return None
    for kind in kinds:
        # Declared Any, as arrays are welcome in Python.
        read = _samples if key == "anchors" else _READERS.get(kind, _TEXT)[1]
        try:
            return read(text)
        except ValueError:
            continue
    words = " or ".join(_READERS.get(kind, _TEXT)[0] for kind in kinds)
    raise DataError(
        f"--set {key}={text}: {key} must be {words} (default: {_shown(parameter.default)})."
    )


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "yes", "false", "no"):
        raise ValueError(text)
    return text.lower() in ("true", "yes")


def _finite(text: str) -> float:
    number = float(text)
    if not abs(number) < float("inf"):
        raise ValueError(text)
    return number


def _samples(text: str) -> Any:
    """Whole numbers if all parts are, else the text."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        return text


def _pairs(text: str) -> dict[str, str]:
    pairs = [part.partition(":") for part in text.split(",")]
    if not all(left.strip() and right.strip() for left, _, right in pairs):
        raise ValueError(text)
    return {left.strip(): right.strip() for left, _, right in pairs}


def _named_numbers(text: str) -> dict[str, float]:
    return {name: _finite(number) for name, number in _pairs(text).items()}


# Declared types: what they are called, and how they are read.
_TEXT: tuple[str, Callable[[str], Any]] = ("text", str)
_READERS: Mapping[str, tuple[str, Callable[[str], Any]]] = MappingProxyType(
    {
        "bool": ("yes or no", _truth),
        "int": ("a whole number", int),
        "float": ("a number", _finite),
        "Mapping[Hashable, Hashable]": ("pairs such as L:R,U:D", _pairs),
        "Mapping[str, Any]": ("named numbers such as gamma:0.1", _named_numbers),
    }
)


def _shown(default: object) -> str:
    return {True: "yes", False: "no"}[default] if isinstance(default, bool) else str(default)
