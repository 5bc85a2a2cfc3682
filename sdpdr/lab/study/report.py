"""A report of solves: sections on models and their answers, for a page that opens anywhere."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from sdpdr.base.arrays import Array
from sdpdr.families.unfold.quality import quality
from sdpdr.graphs import NeighborGraph
from sdpdr.lab import plot
from sdpdr.lab.study.compare import Comparison, seconds_by_phase
from sdpdr.lab.study.page.parts import Chart, Page, Section, Table, told
from sdpdr.lab.study.rows import PACKAGES, installed
from sdpdr.model import Model
from sdpdr.program import Solution
from sdpdr.program.report import facts as solution_facts

# From these parts of their squared length on, lengths were kept, or kept in part; of a stretched
# edge the part is that of its new length which it had.
_KEPT, _IN_PART = 0.9, 0.5


def report(
    title: str,
    summary: str,
    sections: Sequence[Section],
    limitations: Sequence[str] = (),
    verdict: Sequence[str] = (),
) -> Page:
    """A page of sections, with what a reader should not conclude, and the versions.

    Parameters
    ----------
    title, summary : str
    sections : sequence of Section
    limitations, verdict : sequence of str, optional

    Returns
    -------
    Page
        For `sdpdr.lab.study.page.write_page`; as HTML it refers to nothing outside itself, and
        runs no scripts.

    Examples
    --------
    >>> page = report("A solve", "It went well.", [Section("one", "One model", ["Words."])])
    >>> [section.name for section in page.sections]
    ['one', 'versions']
    """
    last = [Section("limitations", "Limitations", points=limitations)] if limitations else []
    made = Section("versions", "Versions and machine", facts=versions())
    return Page(title, summary, verdict, [*sections, *last, made], is_live=False)


def picture(name: str, figure: Figure, words: str) -> Chart:
    """A figure with the words below it; small ones stand side by side.

    Parameters
    ----------
    name : str
        Short, unique in the page; letters, digits and hyphens.
    figure : Figure
    words : str

    Returns
    -------
    Chart
    """
    return Chart(name, words, still=lambda: figure, is_small=bool(figure.get_figwidth() < 5.0))


def unfolding(
    name: str,
    title: str,
    text: str,
    *,
    graph: NeighborGraph,
    model: Model,
    solution: Solution,
    pictures: Sequence[Chart] = (),
) -> Section:
    """Section on an unfolded graph: the pictures given, then what the answer itself tells.

    Parameters
    ----------
    name : str
        Short, unique in the page; letters, digits and hyphens.
    title, text : str
    graph : NeighborGraph
    model : Model
    solution : Solution
        Of that model, with multipliers for the edges.
    pictures : sequence of Chart
        Of the data and of the embedding, from `picture`.

    Returns
    -------
    Section
    """
    weights, spectrum = solution.duals["isometry"], solution.spectrum()
    drawn = {
        "weights": plot.dual_weights(solution.embedding(2), graph.edges, weights),
        "spectrum": plot.spectrum(spectrum),
    }
    if solution.history:
        drawn["convergence"] = plot.convergence(solution.history)
    own = [picture(f"{name}-{what}", figure, told(what)) for what, figure in drawn.items()]
    measured = quality(graph, solution.embedding(2), spectrum=spectrum)
    answer = {"answer": verdict_on(graph, solution)}
    facts = answer | graph_facts(graph) | solution_facts(solution) | measured.facts()
    code = {"The program": model.describe()}
    return Section(name, title, (text,), (*pictures, *own), facts=facts, code=code)


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
        pictures.append(picture(f"{name}-runs", figure, told("runs-figure")))
    tables = [Table(f"{name}-table", comparison.frame())]
    code = {"The program": model.describe()}
    return Section(name, title, (text,), pictures, tables, facts, code=code)


def verdict_on(graph: NeighborGraph, solution: Solution) -> str:
    """Whether an unfolding is certified, and how far it and its picture keep lengths.

    Parameters
    ----------
    graph : NeighborGraph
    solution : Solution
        Of an unfolding of that graph.

    Returns
    -------
    str

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> graph = graphs.path([1.0, 2.0])
    >>> print(verdict_on(graph, sdpdr.solve(methods.mvu(graph))))
    certified, and lengths were kept: edges have 100% of their squared length in the two dimensions
    of the picture, and 100% in all dimensions of the unfolding
    """
    drawn = _squared_lengths(graph, solution.embedding(2))
    in_all = _squared_lengths(graph, solution.embedding(len(solution.spectrum())))
    total = graph.sqdist.sum()
    words = _words(graph.sqdist, drawn)
    grade, kept = solution.certified(), words == "kept"
    return (
        f"{'certified' if grade else 'not certified'}, {'and' if grade == kept else 'but'} lengths "
        f"were {words}: edges have {drawn.sum() / total:.0%} of their squared length in the two "
        f"dimensions of the picture, and {in_all.sum() / total:.0%} in all dimensions of the "
        "unfolding"
    )


def _words(data: Array, drawn: Array) -> str:
    """What became of squared lengths: what one edge gained makes up for no loss of another."""
    larger = np.maximum(data, drawn)
    part = np.divide(np.minimum(data, drawn), larger, out=np.ones_like(data), where=larger > 0.0)
    lost = data * (1.0 - part)
    kept = 1.0 - float(lost.sum() / data.sum())
    if kept >= _KEPT:
        return "kept"
    if lost[drawn > data].sum() > 0.5 * lost.sum():
        return "stretched"
    return "kept in part" if kept >= _IN_PART else "not kept"


def _squared_lengths(graph: NeighborGraph, Y: Array) -> Array:
    """Those of the edges of an embedding."""
    i, j = graph.edges.T
    return np.asarray(np.sum(np.square(Y[i] - Y[j]), axis=1))


def graph_facts(graph: NeighborGraph) -> dict[str, str]:
    """Size and origin of a graph."""
    return {"points": f"{graph.n}", "edges": f"{graph.m}", "graph": str(graph.provenance)}


def versions() -> dict[str, str]:
    """Versions of what computes, and the kind of machine; nothing that names it."""
    found = {
        "Python": platform.python_version(),
        "system": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} processors",
    }
    return found | dict.fromkeys(PACKAGES, "not installed") | installed()
