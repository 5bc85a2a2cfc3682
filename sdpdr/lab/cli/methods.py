"""The methods of ``sdpdr embed``: names, estimators, and what they need of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getdoc, signature
from textwrap import wrap
from types import MappingProxyType, SimpleNamespace
from typing import Any

import sdpdr
from sdpdr.base.checks import choice
from sdpdr.base.errors import DataError
from sdpdr.base.rows import counted
from sdpdr.lab.cli import side
from sdpdr.lab.cli.hyperparameters import FLAGS, defaults, own, parsed, require_taken
from sdpdr.lab.cli.side import Labels
from sdpdr.lab.tables.table import Table

# Of the list of methods in the help.
_INDENT, _WIDTH = " " * 6, 98
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Method:
    """A method of the command line.

    Attributes
    ----------
    estimator : type
        Of scikit-learn's kind; the first line of its docstring is the help.
    labels : Labels, optional
        What it needs of ``--labels``; methods with None take no labels.
    steps : bool
        Whether it takes ``--actions`` and ``--sequences``.
    distances : bool
        Whether it is fitted to distances alone, some of which may not be known.
    spectrum : str
        What its eigenvalues are shares of; empty where that means nothing.
    results : mapping from attribute to words
        What it finds besides the embedding: in the record, and printed where it is a number.
    """

    estimator: Any
    labels: Labels | None = None
    steps: bool = False
    distances: bool = False
    spectrum: str = "variance"
    results: Mapping[str, str] = field(default_factory=lambda: _NOTHING)

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return (getdoc(self.estimator) or "").partition("\n")[0].replace("``", "").rstrip(".")

    @property
    def extends(self) -> bool:
        """Whether a map of new points is learned beside the embedding; some are nothing else."""
        return "extension" in signature(self.estimator).parameters


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "mvu": Method(sdpdr.MVU),
        "mfnu": Method(sdpdr.MFNU),
        "colored_mvu": Method(
            sdpdr.ColoredMVU,
            side.CLASSES_OR_NUMBERS,
            results={"hsic_": "dependence on the labels (HSIC)"},
        ),
        "anchored_mvu": Method(
            sdpdr.AnchoredMVU,
            side.COORDINATES,
            spectrum="",
            results={"anchors_": "rows of known coordinates", "trust_": "squared distances"},
        ),
        "are": Method(
            sdpdr.ARE,
            steps=True,
            results={"action_error_": "largest change of a distance by an action"},
        ),
        "distance_completion": Method(
            sdpdr.DistanceCompletion,
            distances=True,
            results={"rmse_": "root of the mean squared misfit of distances"},
        ),
        "ism": Method(
            sdpdr.ISM,
            side.SOME_CLASSES,
            spectrum="squared distance from the origin",
            results={
                "margin_": "margin",
                "separating_dimension_": "dimensions that separate the classes",
                "transduction_": "class of every point",
            },
        ),
        "mve": Method(sdpdr.MVE, results={"n_iter_": "programs solved"}),
        "density_map": Method(sdpdr.DensityMap, results={"density_": "density at every node"}),
        "loocv": Method(sdpdr.LOOCVUnfolding, results={"likelihoods_": "likelihoods"}),
        "xing": Method(sdpdr.XingMetric, side.CLASSES, results={"components_": "the map"}),
        "ghodsi": Method(sdpdr.GhodsiMetric, side.CLASSES, results={"components_": "the map"}),
    }
)
"""Methods by the names that ``--method`` takes, which are those of the recipes."""


def find_method(name: str) -> Method:
    """A method by name.

    Raises
    ------
    UnknownNameError
    """
    choice("method", name, METHODS)
    return METHODS[name]


def described() -> str:
    """Every method with what it takes, for the help."""
    lines = []
    for name, method in METHODS.items():
        facts = [method.summary]
        if method.labels is not None:
            facts.append(f"needs --labels: {method.labels.words}")
        if method.distances:
            facts.append("needs --metric precomputed: distances, empty if not known")
        if method.steps:
            facts.append("takes --actions and --sequences: rows in order of time")
        facts += [f"--set: {words}"] if (words := defaults(own(method.estimator))) else []
        facts += [f"default: {words}"] if (words := _other_defaults(method)) else []
        lines.append(name)
        for fact in facts:
            lines += wrap(fact, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return "\n".join(lines)


def _other_defaults(method: Method) -> str:
    """Defaults of options of their own that are not those of the first method."""
    first, here = (signature(m.estimator).parameters for m in (METHODS["mvu"], method))
    other = [key for key in here if key in FLAGS and here[key].default != first[key].default]
    return ", ".join(
        f"{FLAGS[key]} {'all' if here[key].default is None else here[key].default}" for key in other
    )


def made(args: SimpleNamespace, given: Mapping[str, Any]) -> Any:
    """Return the estimator that was requested, not yet fitted.

    Parameters
    ----------
    args : SimpleNamespace
    given : mapping from hyperparameter to value
        From options of their own.

    Raises
    ------
    UnknownNameError, DataError
        A hyperparameter is unknown, of another type, or not one of this method; or columns are
        named that it does not use.
    """
    method = find_method(args.method)
    estimator = method.estimator
    if method.distances:
        if args.metric != "precomputed":
            raise DataError(
                f"method {args.method} is about distances: add --metric precomputed if the table "
                "is a square matrix of them, or has two points and their distance in each line."
            )
        given = {name: value for name, value in given.items() if name != "metric"}
    if given.get("form") == "landmark" and "landmarks" not in signature(estimator).parameters:
        raise DataError(f"method {args.method} has no landmark form; choose another --form.")
    require_taken(args.method, estimator, given)
    others = parsed(args.method, estimator, args.set)
    _check_options(args, method)
    return estimator(**given, **others)


def side_inputs(table: Table, args: SimpleNamespace) -> dict[str, Any]:
    """Return what `fit` takes besides the points.

    Raises
    ------
    DataError, UnknownNameError
        A column is missing, unknown, or unfit.
    """
    method = find_method(args.method)
    if method.labels is not None:
        return {"y": method.labels.read(table, args.labels, args.labels_as or "auto")}
    found: dict[str, Any] = {}
    if args.sequences is not None:
        found["lengths"] = side.lengths(table, args.sequences)
    if args.actions is not None:
        found["actions"] = side.actions(table, args.actions, found.get("lengths"))
    return found


def side_columns(args: SimpleNamespace) -> Sequence[str]:
    """Return columns that are not coordinates unless ``--columns`` names them."""
    return [*args.labels, *(name for name in (args.actions, args.sequences) if name is not None)]


def needed_columns(args: SimpleNamespace) -> Sequence[str]:
    """Return columns of labels that must have an entry in every row."""
    labels = find_method(args.method).labels
    return args.labels if labels is not None and labels.all_known else ()


def _check_options(args: SimpleNamespace, method: Method) -> None:
    takers = {
        "--labels": [name for name, m in METHODS.items() if m.labels is not None],
        "--labels-as": [name for name, m in METHODS.items() if m.labels and m.labels.either],
        "--actions": [name for name, m in METHODS.items() if m.steps],
        "--sequences": [name for name, m in METHODS.items() if m.steps],
    }
    for option, names in takers.items():
        if getattr(args, option[2:].replace("-", "_")) and args.method not in names:
            raise DataError(
                f"method {args.method} does not take {option}; leave it out, or choose among "
                f"--method {', '.join(names)}."
            )
    if method.labels is not None and not args.labels:
        raise DataError(f"method {args.method} needs --labels: {method.labels.words}.")
    sets = method.labels is not None and method.labels.sets_dimension
    if sets and args.n_components not in (None, len(args.labels)):
        raise DataError(
            f"--n-components {args.n_components}, but --labels names coordinates in "
            f"{counted(len(args.labels), 'dimension')}. Leave --n-components out."
        )
    if args.set and args.actions is None and method.steps:
        keys = ", ".join(key for key, _ in args.set)
        raise DataError(f"--set {keys} is about actions: add --actions COLUMN.")
