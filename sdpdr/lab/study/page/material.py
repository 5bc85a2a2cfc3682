"""What all sections of a page are written from: the rows, made one a run, and the order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sdpdr.base.errors import DataError
from sdpdr.lab.study.measures.contestants import label
from sdpdr.lab.study.measures.frame import runs_by_median
from sdpdr.lab.study.measures.means import means


@dataclass(frozen=True, eq=False)
class Material:
    """Results and what is known about them.

    Attributes
    ----------
    frame : DataFrame
        Rows, with the columns of `sdpdr.lab.study.schema`.
    meta : mapping
        Name, title, question, command, started, finished, settings, and text of the study.
    environments : mapping from digest to mapping
        Machine and versions.
    """

    frame: pd.DataFrame
    meta: Mapping[str, Any]
    environments: Mapping[str, Mapping[str, Any]]

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One line for every instance, contestant and tolerance, with their names."""
        runs = runs_by_median(self.frame)
        return runs.assign(who=who_of(runs), instance=instance_of(runs))

    @cached_property
    def tolerances(self) -> list[float]:
        """The one that most lines have first."""
        counts = self.runs["tol"].value_counts()
        return sorted(counts.index, key=lambda tol: (-counts[tol], tol))

    def at(self, tol: float) -> pd.DataFrame:
        """The lines of one tolerance."""
        return self.runs[self.runs["tol"] == tol]

    def by_contestant(self, tol: float) -> Mapping[str, pd.DataFrame]:
        """The lines of one tolerance, apart for each contestant, in order."""
        groups = dict(iter(self.at(tol).groupby("who")))
        return {who: groups[who] for who in self.order if who in groups}

    @cached_property
    def no_means(self) -> str:
        """Why there are no means; empty where there are."""
        try:
            means(self.runs)
        except DataError as error:
            return str(error)
        return ""

    @cached_property
    def means(self) -> pd.DataFrame:
        """Shifted geometric means; without lines where `no_means` tells why."""
        return means(self.runs.iloc[:0] if self.no_means else self.runs)

    @cached_property
    def order(self) -> list[str]:
        """Contestants, best first: the most solved, then the least mean, at the first tolerance."""
        lines = self.runs.assign(_first=self.runs["tol"].map(self.tolerances.index))
        solved = lines.groupby(["_first", "who"], sort=False)["solved"].sum()
        table = solved.reset_index().sort_values("_first").drop_duplicates("who")
        ratio = {
            (row.tol, label(row.solver, row.form)): row.mean for row in self.means.itertuples()
        }
        table["mean"] = [
            ratio.get((self.tolerances[first], who), np.inf)
            for first, who in zip(table["_first"], table["who"], strict=True)
        ]
        table = table.sort_values(["_first", "solved", "mean"], ascending=[True, False, True])
        return list(table["who"])

    @cached_property
    def instances(self) -> list[str]:
        """Names of what is solved, in order of first appearance."""
        return list(dict.fromkeys(self.runs["instance"]))

    def suffix(self, tol: float) -> str:
        """What tells the charts of several tolerances apart; empty for the first."""
        place = self.tolerances.index(tol)
        return f"-{place + 1}" if place else ""

    def at_words(self, tol: float) -> str:
        """The tolerance as part of a sentence; nothing where there is but one."""
        return f" at tolerance {tol:.0e}" if len(self.tolerances) > 1 else ""

    def noted(self, tol: float) -> str:
        """The tolerance as a sentence of its own; nothing where there is but one."""
        return f" The tolerance is {tol:.0e}." if len(self.tolerances) > 1 else ""


def who_of(frame: pd.DataFrame) -> list[str]:
    """Names of the contestants of rows."""
    return [label(s, f) for s, f in zip(frame["solver"], frame["form"], strict=True)]


def instance_of(frame: pd.DataFrame) -> list[str]:
    """Names of the instances of rows."""
    return [instance_name(*pair) for pair in zip(frame["problem"], frame["variant"], strict=True)]


def instance_name(problem: str, variant: str) -> str:
    """Name of an instance."""
    return f"{problem}, {variant}" if variant else problem


def enumerated(names: Sequence[str], most: int = 4) -> str:
    """Names in a sentence.

    Examples
    --------
    >>> enumerated(["a", "b", "c"]), enumerated(list("abcdef"), 3)
    ('a, b and c', 'a, b, c and 3 more')
    """
    given = list(names)
    if len(given) > most:
        return f"{', '.join(given[:most])} and {len(given) - most} more"
    return " and ".join(filter(None, [", ".join(given[:-1]), *given[-1:]]))


def counted(n: int, noun: str) -> str:
    """A number and its noun.

    Examples
    --------
    >>> counted(1, "run"), counted(3, "run")
    ('1 run', '3 runs')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
