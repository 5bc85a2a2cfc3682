"""A problem card: one instance of one method in one TOML file, with the answer it must give.

A card names data, a graph and a method by the names they have in `sdpdr.datasets.generators`,
`sdpdr.graphs` and `sdpdr.methods`, and says what is expected of a solution and how that is known.
The keys are described in ``problems/README.md``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from sdpdr.base import errors
from sdpdr.base.errors import CardError, SdpdrError
from sdpdr.graphs import NeighborGraph
from sdpdr.lab.datasets import Sample, generate, generators
from sdpdr.lab.library.vocabulary import (
    GRAPHS,
    METHODS,
    TomlTable,
    read_toml,
    relation,
    takes_data,
    takes_points,
)
from sdpdr.model import Model
from sdpdr.program import Solution, Status
from sdpdr.solving.solve import solve

PROVENANCES = ("analytic", "certified", "paper")
# An eigenvalue counts towards the rank above this share of the largest: interior-point methods
# leave others small, not zero.
RANK_SHARE = 1e-4


@dataclass(frozen=True)
class Finding:
    """An expectation of a card beside the result, as text, and whether it holds."""

    key: str
    expected: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Size:
    """Nodes and edges of a card's graph, or points and 0; None for edges that are not stated."""

    n: int
    edges: int | None = 0

    def __str__(self) -> str:
        stated = "" if self.edges is None else f", edges = {self.edges}"
        return f"n = {self.n}{stated}"


@dataclass(frozen=True)
class Expectation:
    """The known answer of a card: the keys of the table ``[expect]``.

    The provenance is ``"none"`` where no value is known. The status is empty where any proved one
    will do.
    """

    source: str
    provenance: str
    value: float | None = None
    rtol: float = 1e-6
    gap: float | None = None
    rank: int | None = None
    status: str = "SOLVED"
    error: str | None = None

    @classmethod
    def read(cls, table: TomlTable) -> Expectation:
        """Read the table ``[expect]``."""
        table.allow(*(key.name for key in fields(cls)))
        kinds = [key for key in ("value", "status", "error") if key in table]
        if len(kinds) != 1:
            found = ", ".join(kinds) or "none"
            raise table.error("value", f"expected one of value, status, error; got {found}")
        status = table.choice("status", tuple(Status.__members__)) if "status" in table else None
        return cls(
            source=table.text("source"),
            value=table.number("value") if "value" in table else None,
            rtol=table.positive("rtol", 1e-6),
            gap=table.positive("gap") if "gap" in table else None,
            rank=table.count("rank") if "rank" in table else None,
            status=status or Status.SOLVED.name,
            error=table.choice("error", _error_names()) if "error" in table else None,
            provenance=table.choice("provenance", PROVENANCES),
        )

    def relative_error(self, value: float) -> float | None:
        """Return the relative distance of a value from the known one; None if none is known.

        Examples
        --------
        >>> Expectation("by hand", "analytic", value=4.0).relative_error(5.0)
        0.25
        """
        if self.value is None:
            return None
        return abs(value - self.value) / max(abs(self.value), 1e-12)

    def describe(self) -> str:
        """Return the expectation in a few words."""
        if self.error is not None:
            return self.error
        return self.status if self.value is None else f"{self.value:.10g}"

    def check(self, outcome: Solution | Exception) -> list[Finding]:
        """Compare a solution, or the error raised instead, with the expectation."""
        if isinstance(outcome, Exception):
            found = type(outcome).__name__
            wanted = self.error or f"a solution, {self.status}"
            return [Finding("error", wanted, found, self.error == found)]
        if self.error is not None:
            return [Finding("error", self.error, f"a solution, {outcome.status.name}", False)]
        status = outcome.status.name
        # Without interior, an answer that is optimal for data nearby is the best there is.
        nearby = (Status.SOLVED.name, Status.OPTIMAL_NEARBY.name)
        holds = status == self.status or (self.status, status) == nearby
        findings = [Finding("status", self.status, status, holds)]
        off = self.relative_error(outcome.value)
        if off is not None:
            wanted = f"{self.describe()} within {self.rtol:.0e}"
            found = f"{outcome.value:.10g}, off by {off:.1e}"
            findings.append(Finding("value", wanted, found, off <= self.rtol))
        if self.gap is not None:
            gap = outcome.gap if outcome.status is Status.SOLVED else outcome.apparent_gap
            holds = abs(gap) <= self.gap
            findings.append(Finding("gap", f"at most {self.gap:.0e}", f"{gap:.1e}", holds))
        if self.rank is not None:
            spectrum = outcome.spectrum() if outcome.values else np.zeros(0)
            rank = int(np.count_nonzero(spectrum > RANK_SHARE * spectrum.max(initial=0.0)))
            findings.append(Finding("rank", str(self.rank), str(rank), rank == self.rank))
        return findings


def _error_names() -> tuple[str, ...]:
    return tuple(
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, SdpdrError)
    )


# -- cards ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CardRun:
    """Options of solving a card; a slow one takes minutes rather than seconds."""

    solver: str = "auto"
    form: str = "auto"
    tol: float = 1e-6
    slow: bool = False


@dataclass(frozen=True, eq=False)
class Card:
    """A problem: data, graph, method, and what is expected of its solution.

    Attributes
    ----------
    name : str
        Name of the file without its suffix.
    title, reference : str
    tags : tuple of str
    data, graph, method : mapping
        A name under ``generator``, ``kind`` and ``name``, and its arguments. ``data`` is empty
        where the graph is known in advance, ``graph`` where the method takes points themselves.
    expect : object
        The keys of ``[expect]`` as attributes.
    size : object
        ``n`` and ``edges`` of the graph, or of the data.
    run : object
        ``solver``, ``form``, ``tol``, and whether the card is ``slow``.

    Examples
    --------
    >>> from sdpdr.library import find_card
    >>> card = find_card("path-graph")
    >>> card.method["isometry"], card.expect.provenance
    ('inequality', 'analytic')
    >>> solution = card.solve()
    >>> all(finding.holds for finding in card.check(solution))
    True
    """

    name: str
    title: str
    reference: str
    tags: tuple[str, ...]
    data: Mapping[str, Any]
    graph: Mapping[str, Any]
    method: Mapping[str, Any]
    expect: Expectation
    size: Size
    run: CardRun

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Card:
        """Read and validate a card.

        Raises
        ------
        FileFormatError
            The file cannot be read or is not TOML.
        CardError
            A key is missing, unknown or has a value that is not allowed; the message names the
            file, the key, what was given and what is allowed.
        """
        card = read_toml(path, "card")
        card.allow("about", "data", "graph", "method", "expect", "size", "run")
        parts = described(card)
        size, has_graph = card.table("size"), bool(parts["graph"])
        size.allow("n", *(["edges"] if has_graph else []))
        return cls(
            name=Path(path).stem,
            expect=Expectation.read(card.table("expect")),
            size=Size(size.count("n"), size.count("edges") if has_graph else 0),
            **parts,
        )

    @cached_property
    def points(self) -> Sample | None:
        """The data ``(X, y)`` of the generator, noise added; None if the graph needs none."""
        if not self.data:
            return None
        given = dict(self.data)
        noise = given.pop("noise", 0.0)
        X, y = generate(given.pop("generator"), **given)
        return X + noise * np.random.default_rng(1).standard_normal(X.shape), y

    @cached_property
    def neighbor_graph(self) -> NeighborGraph:
        """The graph.

        Raises
        ------
        CardError
            It has not the size that the card states, or the method needs none.
        DataError
            The data or arguments do not make a graph that is connected where it must be.
        """
        if not self.graph:
            raise CardError(f"card {self.name}: {self.method['name']} is made of points alone.")
        given = dict(self.graph)
        make = GRAPHS[given.pop("kind")]
        graph: NeighborGraph = make(*([self.points[0]] if self.points else []), **given)
        if graph.n != self.size.n or self.size.edges not in (None, graph.m):
            raise CardError(
                f"card {self.name}: [size] says {self.size}, but its graph has n = {graph.n}, "
                f"edges = {graph.m}. Correct [size], [data] or [graph]."
            )
        return graph

    def build(self) -> Model:
        """Build the model, unsolved.

        Raises
        ------
        SdpdrError
            As `neighbor_graph` and the method do; a card may expect just that.
        """
        given = dict(self.method)
        method = METHODS[given.pop("name")]
        takes = signature(method).parameters
        if "isometry" in given:
            given["isometry"] = relation(given["isometry"])
        if not self.graph:
            assert self.points is not None
            points, labels = self.points
            if len(points) != self.size.n:
                raise CardError(
                    f"card {self.name}: [size] says n = {self.size.n}, but there are "
                    f"{len(points)} points. Correct [size] or [data]."
                )
            if "y" in takes and "similar" not in given:
                given.setdefault("y", labels)
            of_points: Model = method(points, **given)
            return of_points
        if "y" in takes and "y" not in given:
            given["y"] = self._by_node()
        if "X" in takes:
            given["X"] = self.points[0] if self.points else None
        model: Model = method(self.neighbor_graph, **given)
        return model

    def _by_node(self) -> Any:
        """Return the labels of the generator by node; samples of one node share a label."""
        if self.points is None:
            raise CardError(f"card {self.name}, key method.y: missing, and there is no [data].")
        nodes, first = np.unique(self.neighbor_graph.index, return_index=True)
        return self.points[1][first[nodes >= 0]]

    def solve(
        self,
        solver: str | None = None,
        form: str | None = None,
        tol: float | None = None,
        **options: Any,
    ) -> Solution:
        """Build and solve; arguments are as for `sdpdr.solve`, by default those of ``[run]``."""
        return solve(
            self.build(),
            self.run.solver if solver is None else solver,
            self.run.form if form is None else form,
            tol=self.run.tol if tol is None else tol,
            **options,
        )

    def check(self, outcome: Solution | Exception) -> list[Finding]:
        """Compare a solution, or the error raised instead, with what the card expects.

        Returns
        -------
        list
            One finding for each expectation, with ``key``, ``expected``, ``found`` and ``holds``;
            all hold if the card is met.
        """
        return self.expect.check(outcome)


def described(card: TomlTable) -> dict[str, Any]:
    """Return the fields of a card other than name, expectation and size."""
    about = card.table("about")
    about.allow("title", "reference", "tags")
    method = card.table("method")
    method.call("name", METHODS)
    if "isometry" in method:
        method.attempt("isometry", relation)
    graph = card.table("graph", optional=takes_data(METHODS[method["name"]]))
    needs_points = _needs_points(card, method, graph)
    run = card.table("run", optional=True)
    run.allow(*(key.name for key in fields(CardRun)))
    return {
        "title": about.text("title"),
        "reference": about.text("reference"),
        "tags": tuple(about.texts("tags")),
        "data": _data(card.table("data")) if needs_points else {},
        "graph": graph.content,
        "method": method.content,
        "run": CardRun(
            solver=run.text("solver", "auto"),
            form=run.text("form", "auto"),
            tol=run.positive("tol", 1e-6),
            slow=run.truth("slow", False),
        ),
    }


def _needs_points(card: TomlTable, method: TomlTable, graph: TomlTable) -> bool:
    """Return whether a card needs data; refuse unused data and graphs."""
    if takes_data(METHODS[method["name"]]):
        if "graph" in card:
            raise method.error("name", f"{method['name']!r} is made of data: drop [graph]")
        if "data" not in card:
            raise method.error("name", f"{method['name']!r} is made of data: add [data]")
        return True
    needs_points = takes_points(GRAPHS[graph.call("kind", GRAPHS)])
    if needs_points and "data" not in card:
        raise graph.error("kind", f"{graph['kind']!r} is made from points: add [data]")
    if not needs_points and "data" in card:
        raise graph.error("kind", f"{graph['kind']!r} has its edges in advance: drop [data]")
    return needs_points


def _data(data: TomlTable) -> Mapping[str, Any]:
    if "noise" in data:
        data.positive("noise")
    data.call("generator", generators, extra={"noise": "float"})
    return data.content
