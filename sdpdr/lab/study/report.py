"""A report of solves: one HTML file that needs nothing else and opens anywhere, offline."""

from __future__ import annotations

import io
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.figure import Figure

from sdpdr.base.files import write_text
from sdpdr.families.unfold.quality import quality
from sdpdr.graphs import NeighborGraph
from sdpdr.lab import plot
from sdpdr.lab.plot.style import INK
from sdpdr.lab.study.compare import PHASES, Comparison, number, seconds_by_phase
from sdpdr.lab.study.rows import PACKAGES, installed
from sdpdr.model import Model
from sdpdr.program import Solution


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with the words below it.

    Attributes
    ----------
    name : str
        Short, unique in its section; letters, digits and hyphens.
    figure : Figure
    caption : str
    """

    name: str
    figure: Figure
    caption: str

    @property
    def is_small(self) -> bool:
        """Whether two of them fit side by side."""
        return bool(self.figure.get_figwidth() < 5.0)


@dataclass(frozen=True, eq=False)
class Section:
    """What the report says of one model.

    Attributes
    ----------
    name : str
        Short, unique in the report; letters, digits and hyphens.
    title : str
    text : str
        What was done.
    program : str
        The mathematics, as `Model.describe` gives it.
    pictures : sequence of Picture
    facts : mapping from what to how much
    comparison : Comparison, optional
    """

    name: str
    title: str
    text: str
    program: str = ""
    pictures: Sequence[Picture] = ()
    facts: Mapping[str, str] | None = None
    comparison: Comparison | None = None


@dataclass(frozen=True, eq=False)
class Report:
    """A report: `html` gives the page, `save` writes it.

    Attributes
    ----------
    title, summary : str
    sections : sequence of Section
    limitations : sequence of str
        What a reader should not conclude.
    """

    title: str
    summary: str
    sections: Sequence[Section]
    limitations: Sequence[str] = ()

    def html(self) -> str:
        """The whole page; it refers to nothing outside itself."""
        environment = Environment(
            loader=PackageLoader("sdpdr.lab.study"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters |= {"number": number, "svg": inline_svg}
        template = environment.get_template("report.html")
        return template.render(report=self, phases=[*PHASES, "total"], versions=versions())

    def save(self, path: str | Path) -> None:
        """Write the page; a reader finds a whole one or none."""
        write_text(path, self.html())


def unfolding(
    name: str,
    title: str,
    text: str,
    *,
    graph: NeighborGraph,
    model: Model,
    solution: Solution,
    pictures: Sequence[Picture] = (),
) -> Section:
    """Section on an unfolded graph: the pictures given, then what the answer itself tells.

    Parameters
    ----------
    name, title, text : str
        As for `Section`.
    graph : NeighborGraph
    model : Model
    solution : Solution
        Of that model, with multipliers for the edges.
    pictures : sequence of Picture
        Of the data and of the embedding.

    Returns
    -------
    Section
    """
    weights = solution.duals["isometry"]
    own = [
        Picture(
            "weights",
            plot.dual_weights(solution.embedding(2), graph.edges, weights),
            "Dual weight of each edge: the tension of a spring network that holds the unfolding "
            "in equilibrium. Thin grey edges carry next to nothing.",
        ),
        Picture(
            "spectrum",
            plot.spectrum(solution.spectrum()),
            "Eigenvalues of the Gram matrix as shares of the variance, alone and added up. Rings "
            "mark rounding errors.",
        ),
    ]
    if solution.history:
        own.append(
            Picture(
                "convergence",
                plot.convergence(solution.history),
                "Above, the value settles on the proven bound. Below, their relative distance, and "
                "how far the point is from feasible and stationary.",
            )
        )
    measured = quality(graph, solution.embedding(2), spectrum=solution.spectrum())
    facts = graph_facts(graph) | solution_facts(solution) | measured.facts()
    return Section(name, title, text, model.describe(), (*pictures, *own), facts)


def comparing(
    name: str, title: str, text: str, *, graph: NeighborGraph, model: Model, comparison: Comparison
) -> Section:
    """Section on one model and many solvers: a picture of all runs, and the table."""
    limit = comparison.time_limit
    facts = graph_facts(graph) | {
        "tolerance": f"{comparison.tol:.0e}",
        "time limit": "none" if limit is None else f"{limit:g} s each",
    }
    graded = [run for run in comparison.runs if run.solution is not None]
    pictures = []
    if graded:
        figure = plot.runs(
            [f"{run.solver}, {run.form}" for run in graded],
            [solution.gap for solution in comparison.solutions],
            [seconds_by_phase(solution)["total"] for solution in comparison.solutions],
            comparison.tol,
        )
        caption = "How far each answer is from its proven bound, and how long it took in all."
        pictures.append(Picture("runs", figure, caption))
    return Section(name, title, text, model.describe(), pictures, facts, comparison)


def graph_facts(graph: NeighborGraph) -> dict[str, str]:
    """Size and origin of a graph."""
    return {"points": f"{graph.n}", "edges": f"{graph.m}", "graph": str(graph.provenance)}


def solution_facts(solution: Solution) -> dict[str, str]:
    """What was claimed, what we verified, and what it took."""
    seconds = seconds_by_phase(solution)
    claimed = solution.claimed
    steps = "" if claimed.iterations is None else f" in {claimed.iterations} iterations"
    return {
        "solver": f"{solution.solver}, {solution.form} form",
        "it claimed": f"{claimed.status}{steps}",
        "we verified": f"{solution.status.name}, at tolerance {solution.tol:.0e}",
        "value": number(solution.value, ".10g"),
        "proven bound": number(solution.bound, ".10g"),
        "relative gap": number(solution.gap, ".1e"),
        "worst residual": f"{number(solution.residuals.worst(), '.1e')} of the six DIMACS errors",
        "argument": solution.argument,
        "seconds": ", ".join(f"{phase} {spent:.2f}" for phase, spent in seconds.items()),
    }


def versions() -> dict[str, str]:
    """Versions of what computes, and the kind of machine; nothing that names it."""
    found = {
        "Python": platform.python_version(),
        "system": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} processors",
    }
    here = installed()
    return found | {package: here.get(package, "not installed") for package in PACKAGES}


def inline_svg(figure: Figure, prefix: str) -> Markup:
    """A figure as an element of a page: its ink follows the page's, its text stays text.

    Parameters
    ----------
    figure : Figure
    prefix : str
        Goes before all identifiers, which must be unique in a page.
    """
    buffer = io.StringIO()
    unnamed: dict[str, Any] = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": prefix}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=unnamed, dpi=170)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # In a page the names of the two vocabularies are known, so they need no address.
    svg = re.sub(r'\s+xmlns(:xlink)?="[^"]*"', "", svg)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{prefix}-", svg)
    return Markup(svg.replace(INK, "currentColor"))
