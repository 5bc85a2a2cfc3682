"""The methods of ``sdpdr embed``: their estimators, hyperparameters, and further columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import Parameter, getdoc, signature
from itertools import groupby
from textwrap import wrap
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np

import sdpdr
from sdpdr.base.checks import choice
from sdpdr.base.errors import DataError
from sdpdr.base.rows import counted, listed
from sdpdr.lab.tables.table import Table

LABELS_AS = ("auto", "classes", "numbers")
_DIRECT = (
    "n_components", "n_neighbors", "isometry", "metric", "connect", "sample", "extension",
)  # fmt: skip
_SOLVING = ("solver", "form", "landmarks", "tol", "time_limit")
FLAGS: Mapping[str, str] = MappingProxyType(
    {name: f"--{name.replace('_', '-')}" for name in (*_DIRECT, *_SOLVING)}
    | {"random_state": "--seed"}
)
"""Hyperparameters that have an option of their own."""

# Indentation and width of the list of methods in the help.
_INDENT, _WIDTH = " " * 6, 98


# -- columns beside the coordinates ---------------------------------------------------------------

# Kinds of ``--labels`` that methods need.
_CLASSES = "a column of classes"
SOME_CLASSES = "a column of classes, empty where not known"
_CLASSES_OR_NUMBERS = "a column of classes, or columns of numbers"
PLACES = "columns of known coordinates, empty where not known"


def labels(table: Table, names: Sequence[str], kind: str, how: str | None) -> np.ndarray:
    """Return labels from the columns of ``--labels``, of the kind that a method needs."""
    table.require(names)
    if kind == PLACES:
        known = table.numbers(names)
        if np.isnan(known).all():
            raise DataError(
                f"{table.file}: no row has coordinates in {', '.join(names)}. Fill them in for the "
                "rows whose position is known, or use --method mvu."
            )
        return known
    name = names[0]
    rests = np.nan_to_num(table.floats(name) % 1.0) if table.is_numeric(name) else np.zeros(1)
    is_quantity = how == "numbers" or (how != "classes" and (len(names) > 1 or rests.any()))
    if kind == _CLASSES_OR_NUMBERS and is_quantity:
        numbers = table.numbers(names)
        _require_all(table, names)
        return numbers[:, 0] if len(names) == 1 else numbers
    if len(names) != 1:
        raise DataError(
            f"--labels names {len(names)} columns ({', '.join(names)}), but classes stand in one."
        )
    if rests.any():
        row = int(np.argmax(rests != 0.0))
        raise DataError(
            f"{table.file}: column {name!r} holds {table.texts(name)[row]} ({table.place(row)}), "
            "but labels of classes are words or whole numbers. Name another column, or round it."
        )
    words = np.array(table.texts(name), dtype=object)
    if all(word is None for word in words):
        raise DataError(f"{table.file}: column {name!r} is empty. At least two classes are needed.")
    if kind == SOME_CLASSES:
        return words
    _require_all(table, names)
    return words.astype(str)


def _require_all(
    table: Table,
    names: Sequence[str],
    advice: str = "Fill it in, or leave such rows out with --missing drop.",
) -> None:
    rows = table.frame.index[table.missing(*names)]
    if len(rows):
        where = f"rows without an entry in {', '.join(names)}: {listed(rows + 1)}."
        if table.lines is not None:
            where += f" Lines of the file: {listed(table.lines[rows])}."
        raise DataError(f"{table.file}: {where} Every point needs one. {advice}")


def actions(table: Table, name: str, lengths: Sequence[int] | None) -> list[str | None]:
    """Return labels of the steps from each row to the next of its sequence.

    The last row of a sequence leads nowhere, so its entry is ignored.
    """
    labels = table.texts(name)
    ends = np.cumsum([len(labels)] if lengths is None else lengths)
    return [label for i, label in enumerate(labels) if i + 1 not in ends]


def lengths(table: Table, name: str) -> list[int]:
    """Return the lengths of the runs of equal entries in a column."""
    found, seen, row = [], set(), 0
    entries = table.texts(name)
    _require_all(table, [name], "Fill it in, or leave the row out.")
    for entry, rows in groupby(entries):
        if entry in seen:
            raise DataError(
                f"{table.file}: sequence {entry!r} of column {name!r} goes on at "
                f"{table.place(row)}, after another. Sort the rows: one sequence after the other, "
                "in order of time."
            )
        seen.add(entry)
        found.append(sum(1 for _ in rows))
        row += found[-1]
    return found


def in_words(labels: np.ndarray) -> str:
    """Describe how labels were read.

    Examples
    --------
    >>> in_words(np.array(["a", None, "b"], dtype=object)), in_words(np.ones(5))
    ('2 classes, 1 row not known', 'numbers')
    """
    if labels.dtype.kind == "f":
        kind, missing = "numbers", np.isnan(labels.reshape(len(labels), -1)).any(axis=1)
    else:
        missing = np.array([label is None for label in labels])
        kind = counted(len(set(labels[~missing].tolist())), "class")
    unknown = int(missing.sum())
    return f"{kind}, {counted(unknown, 'row')} not known" if unknown else kind


# -- methods --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """A method of the command line: an estimator, and what it takes besides points.

    ``labels`` is the kind of its ``--labels``, if any; with ``steps`` it takes ``--actions`` and
    ``--sequences``, with ``distances`` distances alone, some perhaps not known; ``results`` are
    further attributes.
    """

    estimator: Any
    labels: str = ""
    results: Sequence[str] = ()
    steps: bool = False
    distances: bool = False

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """All hyperparameters."""
        return signature(self.estimator).parameters

    @property
    def own(self) -> dict[str, Parameter]:
        """Hyperparameters that have no option of their own."""
        return {name: p for name, p in self.parameters.items() if name not in (*FLAGS, "progress")}

    @property
    def summary(self) -> str:
        """The first line of the estimator's docstring."""
        return (getdoc(self.estimator) or "").partition("\n")[0].replace("``", "").rstrip(".")

    @property
    def extends(self) -> bool:
        """Whether the estimator can learn a map of new points beside the embedding."""
        return "extension" in self.parameters


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "mvu": Method(sdpdr.MVU),
        "mfnu": Method(sdpdr.MFNU),
        "colored_mvu": Method(sdpdr.ColoredMVU, _CLASSES_OR_NUMBERS, ["hsic_"]),
        "anchored_mvu": Method(sdpdr.AnchoredMVU, PLACES, ["anchors_", "trust_"]),
        "are": Method(sdpdr.ARE, "", ["action_error_"], steps=True),
        "distance_completion": Method(sdpdr.DistanceCompletion, "", ["rmse_"], distances=True),
        "ism": Method(
            sdpdr.ISM,
            SOME_CLASSES,
            ["margin_", "separating_dimension_", "transduction_"],
        ),
        "mve": Method(sdpdr.MVE, "", ["n_iter_"]),
        "density_map": Method(sdpdr.DensityMap, "", ["density_"]),
        "loocv": Method(sdpdr.LOOCVUnfolding, "", ["likelihoods_"]),
        "xing": Method(sdpdr.XingMetric, _CLASSES, ["components_"]),
        "ghodsi": Method(sdpdr.GhodsiMetric, _CLASSES, ["components_"]),
    }
)
"""Methods by the names that ``--method`` takes, which are those of the recipes."""

KEYWORDS: Mapping[str, str] = MappingProxyType(
    {"random_state": "--seed "}
    | {key: f"--set {key}=" for method in METHODS.values() for key in method.own}
)
"""Texts before the values of keywords that have no option of the same name."""

IN_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "hsic_": "dependence on the labels (HSIC)",
        "action_error_": "largest change of a distance by an action",
        "rmse_": "root mean squared error of distances",
        "margin_": "margin",
        "separating_dimension_": "dimensions that separate the classes",
        "n_iter_": "programs solved",
    }
)
"""Results that are numbers, and are printed."""


def find_method(name: str) -> Method:
    """Return a method by name; the error for an unknown one offers the nearest."""
    choice("method", name, METHODS)
    return METHODS[name]


def described() -> str:
    """Return every method with what it takes, for the help."""
    lines = []
    for name, method in METHODS.items():
        facts = [method.summary]
        if method.labels:
            facts.append(f"needs --labels: {method.labels}")
        if method.distances:
            facts.append("needs --metric precomputed: distances, empty if not known")
        if method.steps:
            facts.append("takes --actions and --sequences: rows in order of time")
        if method.own:
            values = (f"{key}={_shown(p.default)}" for key, p in method.own.items())
            facts.append(f"--set: {', '.join(values)}")
        lines.append(name)
        for fact in facts:
            lines += wrap(fact, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return "\n".join(lines)


def made(args: SimpleNamespace, given: Mapping[str, Any]) -> Any:
    """Return the estimator of a command line, not yet fitted.

    ``given`` holds the hyperparameters that have options of their own.
    """
    method = find_method(args.method)
    if method.distances:
        if args.metric != "precomputed":
            raise DataError(
                f"method {args.method} is about distances: add --metric precomputed if the table "
                "is a square matrix of them, or has two points and their distance in each line."
            )
        given = {name: value for name, value in given.items() if name != "metric"}
    is_landmark = given.get("form") == "landmark" or "landmarks" in given
    if is_landmark and "landmarks" not in method.parameters:
        raise DataError(f"method {args.method} has no landmark form; choose another --form.")
    for name in given:
        if name not in method.parameters:
            taken = ", ".join(flag for key, flag in FLAGS.items() if key in method.parameters)
            raise DataError(
                f"method {args.method} does not take {FLAGS[name]}; leave it out. It takes {taken}."
            )
    others = parsed(args.method, args.set)
    _check_columns(args, method)
    return method.estimator(**given, **others)


def _check_columns(args: SimpleNamespace, method: Method) -> None:
    """Refuse columns that a method does not take, and labels that it lacks."""
    takers = {
        "labels": [name for name, m in METHODS.items() if m.labels],
        "labels_as": [name for name, m in METHODS.items() if m.labels == _CLASSES_OR_NUMBERS],
        **{key: [n for n, m in METHODS.items() if m.steps] for key in ("actions", "sequences")},
    }
    for option, names in takers.items():
        if getattr(args, option) and args.method not in names:
            raise DataError(
                f"method {args.method} does not take --{option.replace('_', '-')}; leave it out, "
                f"or choose among --method {', '.join(names)}."
            )
    if method.labels and not args.labels:
        raise DataError(f"method {args.method} needs --labels: {method.labels}.")
    if method.labels == PLACES and args.n_components not in (None, len(args.labels)):
        raise DataError(
            f"--n-components {args.n_components}, but --labels names coordinates in "
            f"{counted(len(args.labels), 'dimension')}. Leave --n-components out."
        )
    if args.set and args.actions is None and method.steps:
        keys = ", ".join(key for key, _ in args.set)
        raise DataError(f"--set {keys} is about actions: add --actions COLUMN.")


def side_inputs(table: Table, args: SimpleNamespace) -> dict[str, Any]:
    """Return what `fit` takes besides the points."""
    method = find_method(args.method)
    if method.labels:
        return {"y": labels(table, args.labels, method.labels, args.labels_as)}
    found: dict[str, Any] = {}
    if args.sequences is not None:
        found["lengths"] = lengths(table, args.sequences)
    if args.actions is not None:
        found["actions"] = actions(table, args.actions, found.get("lengths"))
    return found


# -- hyperparameters ------------------------------------------------------------------------------


def assignment(text: str) -> tuple[str, str]:
    """Split ``KEY=VALUE``; raise ValueError for anything else."""
    key, _, value = text.partition("=")
    if not key.strip() or not value.strip():
        raise ValueError
    return key.strip().replace("-", "_"), value.strip()


def parsed(name: str, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return hyperparameters of a method from ``--set``; the estimator refuses wrong types.

    Examples
    --------
    >>> parsed("density_map", [("bandwidth", "2.5"), ("variant", "trace")])
    {'bandwidth': 2.5, 'variant': 'trace'}
    """
    known, found = METHODS[name].own, dict[str, Any]()
    for key, value in pairs:
        if key in FLAGS:
            raise DataError(f"--set {key}=...: this has an option of its own, {FLAGS[key]}.")
        if key in found:
            raise DataError(f"--set gives {key!r} twice. Give it once.")
        if not known:
            raise DataError(f"method {name} has no hyperparameters for --set; leave it out.")
        choice(f"hyperparameter of method {name}", key, known)
        found[key] = _value(value)
        kind = str(known[key].annotation)
        if found[key] is not None and "Mapping" in kind:
            entries = [part.split(":") for part in value.split(",")]
            if not all(len(entry) == 2 for entry in entries):
                raise DataError(f"--set {key}={value}: {key} must be pairs such as L:R,U:D.")
            # Labels of actions are words, also if they are written as numbers.
            found[key] = {left.strip(): right.strip() for left, right in entries}
    return found


def _value(text: str) -> Any:
    """Parse a number, a truth value, None or a list of whole numbers; other texts stay texts."""
    if text.lower() in _WRITTEN:
        return _WRITTEN[text.lower()]
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    numbers = re.fullmatch(r"\d+(,\d+)+", text)
    return [int(part) for part in text.split(",")] if numbers else text


_WRITTEN = {"none": None, "yes": True, "true": True, "no": False, "false": False}


def _shown(default: object) -> str:
    return {True: "yes", False: "no"}[default] if isinstance(default, bool) else str(default)
