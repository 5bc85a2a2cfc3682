"""A problem card: one instance of one method in one TOML file, with the answer it must give.

A card names data, a graph and a method by the names they have in `sdpdr.datasets.generators`,
`sdpdr.graphs` and `sdpdr.methods`, and says what is expected of a solution and how that is known.
The keys are described in ``problems/README.md``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from sdpdr.base.errors import CardError
from sdpdr.graphs import NeighborGraph
from sdpdr.lab.datasets import Sample, generate, generators
from sdpdr.lab.library.expectation import Expectation, Finding, Size
from sdpdr.lab.library.fields import TomlTable, read_toml
from sdpdr.lab.library.vocabulary import GRAPHS, METHODS, relation, takes_data, takes_points
from sdpdr.model import Model
from sdpdr.program import Solution
from sdpdr.solving.solve import solve


@dataclass(frozen=True)
class CardRun:
    """How a card wants to be solved.

    Attributes
    ----------
    solver, form : str, default "auto"
    tol : float, default 1e-6
    slow : bool, default False
        Whether it takes minutes rather than seconds.
    """

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
    expect : Expectation
    size : Size
        Of the graph, or of the data.
    run : CardRun

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
        return cls(
            name=Path(path).stem,
            expect=Expectation.read(card.table("expect")),
            size=Size.read(card.table("size"), with_edges=bool(parts["graph"])),
            **parts,
        )

    @cached_property
    def points(self) -> Sample | None:
        """The data ``(X, y)`` of the generator, noise added; None if the graph needs none."""
        if not self.data:
            return None
        given = dict(self.data)
        noise, seed = given.pop("noise", 0.0), given.pop("noise_seed", 1)
        X, y = generate(given.pop("generator"), **given)
        return X + noise * np.random.default_rng(seed).standard_normal(X.shape), y

    @cached_property
    def neighbor_graph(self) -> NeighborGraph:
        """The graph.

        Raises
        ------
        CardError
            It has not the size that the card states, or the method needs none.
        DataError
            The data or arguments do not make a graph, a connected one unless told otherwise.
        """
        if not self.graph:
            raise CardError(f"card {self.name}: {self.method['name']} is made of points alone.")
        given = dict(self.graph)
        make = GRAPHS[given.pop("kind")]
        graph: NeighborGraph = make(*([self.points[0]] if self.points else []), **given)
        if not self.size.fits(graph.n, graph.m):
            raise CardError(
                f"card {self.name}: [size] says {self.size}, but its graph has n = {graph.n}, "
                f"edges = {graph.m}. Mend [size], [data] or [graph]."
            )
        return graph

    def build(self) -> Model:
        """The model, unsolved.

        Raises
        ------
        SdpdrError
            As `neighbor_graph` and the method do; a card may expect just that.
        """
        given = dict(self.method)
        method = METHODS[given.pop("name")]
        if "isometry" in given:
            given["isometry"] = relation(given["isometry"])
        if not self.graph:
            points, labels = self._sized_points()
            if "y" in signature(method).parameters and "similar" not in given:
                given.setdefault("y", labels)
            return method(points, **given)
        if "y" in signature(method).parameters and "y" not in given:
            given["y"] = self._by_node()
        if "X" in signature(method).parameters:
            given["X"] = self.points[0] if self.points else None
        model: Model = method(self.neighbor_graph, **given)
        return model

    def _sized_points(self) -> Sample:
        assert self.points is not None
        if len(self.points[0]) != self.size.n:
            raise CardError(
                f"card {self.name}: [size] says n = {self.size.n}, but there are "
                f"{len(self.points[0])} points. Mend [size] or [data]."
            )
        return self.points

    def _by_node(self) -> Any:
        """What the generator says of every sample, once for samples that share a node."""
        if self.points is None:
            raise CardError(f"card {self.name}, key method.y: missing: there is no [data] to ask.")
        nodes, first = np.unique(self.neighbor_graph.index, return_index=True)
        return self.points[1][first[nodes >= 0]]

    def solve(
        self,
        solver: str | None = None,
        form: str | None = None,
        tol: float | None = None,
        **options: Any,
    ) -> Solution:
        """Build and solve.

        Parameters
        ----------
        solver, form, tol : optional
            Win over those of the card's ``[run]``.
        **options
            As for `sdpdr.solve`.
        """
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
        list of Finding
            One for each expectation; all hold if the card is met.
        """
        return self.expect.check(outcome)


def described(card: TomlTable) -> dict[str, Any]:
    """What a card says of its problem, validated: all fields but name, expectation and size.

    Raises
    ------
    CardError
    """
    about = card.table("about")
    about.allow("title", "reference", "tags")
    method = card.table("method")
    method.call("name", METHODS)
    if "isometry" in method:
        method.attempt("isometry", relation)
    graph = card.table("graph", optional=takes_data(METHODS[method["name"]]))
    needs_points = _needs_points(card, method, graph)
    return {
        "title": about.text("title"),
        "reference": about.text("reference"),
        "tags": tuple(about.texts("tags")),
        "data": _data(card.table("data")) if needs_points else {},
        "graph": graph.content,
        "method": method.content,
        "run": _run(card.table("run", optional=True)),
    }


def _run(run: TomlTable) -> CardRun:
    run.allow("solver", "form", "tol", "slow")
    return CardRun(
        solver=run.text("solver", "auto"),
        form=run.text("form", "auto"),
        tol=run.positive("tol", 1e-6),
        slow=run.truth("slow", False),
    )


def _needs_points(card: TomlTable, method: TomlTable, graph: TomlTable) -> bool:
    """Whether a card has to have data; refuses data or a graph that nothing asks for."""
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
        raise graph.error("kind", f"{graph['kind']!r} knows its edges in advance: drop [data]")
    return needs_points


def _data(data: TomlTable) -> Mapping[str, Any]:
    if "noise" in data:
        data.positive("noise")
    data.call("generator", generators, extra={"noise": "float", "noise_seed": "int"})
    return data.content
