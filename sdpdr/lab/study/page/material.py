"""What all sections of a page are written from: the rows, made one a run, and the order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from sdpdr.base.errors import DataError
from sdpdr.lab.study.measures.contestants import label
from sdpdr.lab.study.measures.frame import runs_by_median
from sdpdr.lab.study.measures.means import means
from sdpdr.lab.study.page.parts import Chart, Table, told
from sdpdr.lab.study.reading import Read

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Still
    from plotly.graph_objects import Figure

_Part = TypeVar("_Part")


@dataclass(frozen=True, eq=False)
class Material(Read):
    """Results and what is known about them."""

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows, with names of contestants and instances."""
        return named(self.frame)

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One line for every instance, contestant and tolerance, with names, and last words."""
        last = self.rows.groupby(["tol", "instance", "contestant"])["words"].last()
        return named(runs_by_median(self.frame)).join(last, on=last.index.names)

    @cached_property
    def tolerances(self) -> list[float]:
        """The one that most lines have first."""
        counts = self.runs["tol"].value_counts()
        return sorted(counts.index, key=lambda tol: (-counts[tol], tol))

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
        return named(means(self.runs.iloc[:0] if self.no_means else self.runs))

    @cached_property
    def order(self) -> list[str]:
        """Contestants, best first: the most solved, then the least mean, at the first tolerance."""
        by = ["tol", "contestant"]
        table = self.runs.groupby(by, sort=False)["solved"].sum().to_frame()
        table["mean"] = self.means.set_index(by)["mean"].astype(float).reindex(table.index)
        table = table.fillna({"mean": np.inf}).reset_index()
        table["tol"] = table["tol"].map(self.tolerances.index)
        table = table.sort_values(["tol", "solved", "mean"], ascending=[True, False, True])
        return list(table["contestant"].drop_duplicates())

    def at(self, tol: float) -> pd.DataFrame:
        """The lines of one tolerance."""
        return self.runs[self.runs["tol"] == tol]

    def ranked(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Lines by tolerance and by contestant, best first."""
        places: dict[str, list[Any]] = {"tol": self.tolerances, "contestant": self.order}
        by = [name for name in places if name in frame]
        return frame.sort_values(by, key=lambda c: c.map(places[c.name].index), kind="stable")

    def groups(self, frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
        """The lines of each contestant that has some, best first."""
        return dict(iter(self.ranked(frame).groupby("contestant", sort=False)))

    def table(
        self, name: str, frame: pd.DataFrame, *, is_long: bool = False, **known: object
    ) -> Table:
        """A table, without its tolerance where there is but one."""
        dropped = ["tol"] if len(self.tolerances) < 2 and "tol" in frame else []
        return Table(name, frame.drop(columns=dropped), told(name, **known), is_long)

    def chart(
        self,
        name: str,
        tol: float,
        draw: Callable[[], Figure],
        still: Callable[[], Still] | None = None,
        known: Mapping[str, object] | None = None,
        **options: Any,
    ) -> Chart:
        """A chart of one tolerance, which its words tell where there are several."""
        which = {"at": self.at_words(tol), "noted": self._noted(tol)} | dict(known or {})
        return Chart(f"{name}{self._suffix(tol)}", told(name, **which), draw, still, **options)

    def each(self, make: Callable[[float], _Part | None]) -> list[_Part]:
        """What is made for each tolerance, as far as there is something."""
        made = map(make, self.tolerances)
        return [part for part in made if part is not None]

    def _suffix(self, tol: float) -> str:
        """What tells the charts of several tolerances apart; empty for the first."""
        place = self.tolerances.index(tol)
        return f"-{place + 1}" if place else ""

    def at_words(self, tol: float) -> str:
        """The tolerance as part of a sentence; nothing where there is but one."""
        return f" at tolerance {tol:.0e}" if len(self.tolerances) > 1 else ""

    def _noted(self, tol: float) -> str:
        """The tolerance as a sentence of its own; nothing where there is but one."""
        return f" The tolerance is {tol:.0e}." if len(self.tolerances) > 1 else ""


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with its contestants and instances in words, as far as it tells them.

    Examples
    --------
    >>> named(pd.DataFrame({"solver": ["scs"], "form": ["gram"]}))["contestant"].to_list()
    ['scs gram']
    """
    found = {}
    if "solver" in frame:
        found["contestant"] = list(map(label, frame["solver"], frame["form"]))
    if "problem" in frame:
        found["instance"] = list(map(instance_name, frame["problem"], frame["variant"]))
    return frame.assign(**found)


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
