"""The columns of a study's results: one tidy row a run, and what each column holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import Any

from sdpdr.program import Status
from sdpdr.solvers.screen import printable

# Ends of a run that are no answer at all, beside the statuses of `sdpdr.Status`.
ENDS: Mapping[str, str] = MappingProxyType(
    {
        "CRASHED": "the process of the run was ended by a signal of its own making, or broke off",
        "OUT_OF_MEMORY": "it went beyond its memory limit, or said that memory had run out",
        "KILLED": "it was ended from outside, each time it was tried",
        "BROKEN": "the solver's adapter raised an error, or returned something else than an answer",
        "REFUSED": "the solver does not take the program in this form",
        "MISSING": "the solver is not installed, or has no licence",
        "NOT_TRIED": "it was predicted to take many times the limit, or more memory than there is",
        "NOT_BUILT": "the problem could not be built within the limits",
    }
)
OUTCOMES: tuple[str, ...] = (*Status.__members__, *ENDS)
"""What became of a run: a status that we verified, or an end without an answer."""

HONESTY: Mapping[str, str] = MappingProxyType(
    {
        "true": "it claims a solution, and we verified that; or that there is none, as is known",
        "near": "it claims so, and misses the tolerance by less than ten times",
        "overstated": "it claims so, and we could not verify it by far; or that there is no "
        "solution where there is one, or where nobody knows",
        "understated": "it claims less than what we verified",
        "silent": "it claims no success, and there is none",
        "": "there was no claim",
    }
)
"""What the solver's word was worth."""


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes
    ----------
    name : str
    kind : str
        A type of SQL.
    holds : str
        In words.
    """

    name: str
    kind: str
    holds: str


def _columns(kind: str, **words: str) -> tuple[Column, ...]:
    return tuple(Column(name, kind, holds) for name, holds in words.items())


IDENTITY: tuple[Column, ...] = (
    *_columns("VARCHAR", key="of the run: a digest of all that makes it this run and no other"),
    *_columns(
        "VARCHAR",
        problem="name of a card, `family@size`, or name of a file",
        source="`card`, `family` or `file`",
        family="name of the family that the problem is scaled from, or empty",
        method="recipe, or `file`",
        variant="name of the change made to the problem, or empty",
        tags="of the card, separated by spaces",
        solver="name, or the label that the study gives it",
        form="as `sdpdr.solvers.FORMS` names them, or `auto`",
    ),
    *_columns("DOUBLE", tol="relative gap asked for"),
    *_columns("BIGINT", seed="of the solver", repeat="number of the repetition, from 0"),
    *_columns("DOUBLE", time_limit="seconds the solver was given"),
    *_columns("BIGINT", memory_limit="bytes the process was given", threads="it was given"),
)
"""What a run is; all of it is known beforehand."""

FINDINGS: tuple[Column, ...] = (
    *_columns("BIGINT", n="points, rows of the matrix, or order of the largest matrix"),
    *_columns("BIGINT", order="of the largest positive semidefinite matrix", rows="of the program"),
    *_columns(
        "VARCHAR",
        outcome="a status that we verified, or an end without an answer",
        claimed="in the solver's own words",
        honesty="what that claim was worth",
        words="why, where there is no answer; else what the solver had to say",
        used="solver and form that `auto` chose, or those asked for",
    ),
    *_columns(
        "BOOLEAN",
        solved="the outcome is the one expected, and no reference contradicts the value",
        certified="a proven bound agrees with the value to the tolerance",
    ),
    *_columns(
        "DOUBLE",
        value="at the point returned, computed by us",
        bound="proven by us",
        gap="relative distance of the two",
        worst="largest of the six DIMACS errors",
        err1="DIMACS: rows, |A(X) - b|",
        err2="DIMACS: X, least eigenvalue",
        err3="DIMACS: dual rows",
        err4="DIMACS: Z, least eigenvalue",
        err5="DIMACS: gap of the two values",
        err6="DIMACS: complementarity",
        claimed_value="by the solver",
        reference="optimal value known beforehand",
        off="relative distance of the value from the reference",
    ),
    *_columns("BIGINT", iterations="by the solver's count"),
)
"""What a run found; the same each time, for solvers that repeat themselves."""

MEASUREMENTS: tuple[Column, ...] = (
    *_columns(
        "DOUBLE",
        build="seconds to make data, graph and model",
        compile="seconds to compile, reduce and translate for the solver",
        solve="seconds in the solver",
        certify="seconds to lift, to measure and to prove a bound",
        total="sum of the four",
        wall="seconds from the start of the process to its end, warm-up included",
        cpu="seconds of processor time of the process",
    ),
    *_columns("BIGINT", peak_memory="bytes; of programs that it starts, as far as was seen"),
    *_columns(
        "BIGINT",
        position="place in the shuffled order",
        attempts="how often it was begun",
        jobs="runs at a time on its machine; unknown of a cluster",
    ),
    *_columns("VARCHAR", started="UTC", environment="digest of the machine and the versions"),
)
"""What differs each time."""

COLUMNS: tuple[Column, ...] = (*IDENTITY, *FINDINGS, *MEASUREMENTS)
"""All columns, in order."""


def fitted(row: Mapping[str, Any]) -> dict[str, Any]:
    r"""A row in the types of its columns; what does not fit in is not known.

    Examples
    --------
    >>> row = fitted({"gap": float("inf"), "iterations": 2**70, "words": "a\x1bb", "more": 1})
    >>> row["gap"], row["iterations"], row["words"], "more" in row
    (None, None, 'a b', False)
    """
    return {column.name: _FIT[column.kind](row.get(column.name)) for column in COLUMNS}


def _number(value: Any) -> float | None:
    return float(value) if value is not None and isfinite(value) else None


def _whole(value: Any) -> int | None:
    return int(value) if value is not None and abs(value) < 2**63 else None


_FIT: Mapping[str, Callable[[Any], Any]] = {
    "VARCHAR": lambda value: "" if value is None else printable(str(value)),
    "DOUBLE": _number,
    "BIGINT": _whole,
    "BOOLEAN": bool,
}
