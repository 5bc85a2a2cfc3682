"""Checks of the types of estimators' parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np

from sdpdr.base.deadline import limit_of
from sdpdr.base.errors import DataTypeError, UnknownNameError

# Types of values by annotation, and their names in messages.
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool, np.bool_), "True or False"),
    "int": ((Integral,), "a whole number"),
    "float": ((Real,), "a number"),
    "str": ((str,), "a name"),
    "Progress": ((Callable,), "a callable"),  # type: ignore[dict-item]  # it is a class to isinstance
    "None": ((type(None),), "None"),
}


def require_kinds(estimator: Any) -> None:
    """Refuse values of an estimator's parameters that do not have the annotated type."""
    for field in (each for each in fields(estimator) if each.init):
        value, kinds = getattr(estimator, field.name), str(field.type).split(" | ")
        if field.name == "time_limit":
            limit_of(value, None)
        if field.name == "random_state":  # generators, too: see `seed`
            continue
        if not _KINDS.keys() >= set(kinds):
            _refuse_array(field, value)
            continue
        names = kinds if "bool" in kinds else _KINDS
        if not any(isinstance(value, _KINDS[name][0]) for name in names):
            words = " or ".join(_KINDS[name][1] for name in kinds)
            raise DataTypeError(f"{field.name}={value!r} is of the wrong type: pass {words}.")


def seconds_for(estimator: Any) -> float | None:
    """Return an estimator's time limit in seconds; "auto" is the default of its class."""
    return limit_of(estimator.time_limit, type(estimator).time_limit)


def _refuse_array(field: Any, value: object) -> None:
    """Refuse an array where a name is expected and the annotation lists no arrays."""
    takes = any(word in str(field.type) for word in ("Array", "Sequence"))
    if isinstance(field.default, str) and isinstance(value, np.ndarray) and not takes:
        raise DataTypeError(
            f"{field.name}={value!r} is an array: pass a name, such as {field.default!r}."
        )


def require_kernel(value: object, known: Collection[str]) -> None:
    """Refuse a kernel that is neither a known name nor a function."""
    if callable(value):
        return
    if not isinstance(value, str):
        raise DataTypeError(f"kernel={value!r} is neither a name nor a function of two rows.")
    if value not in known:
        raise UnknownNameError("kernel", value, known)
