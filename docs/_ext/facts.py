"""Directives whose content is read from the code, so that no page can disagree with it.

``form-table``, ``solver-table``, ``tolerance-table``, ``status-table``,
``hard-instances:: CHAPTER`` and ``command-help:: NAME``.
"""

from __future__ import annotations

import csv
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from math import inf
from pathlib import Path
from typing import Any
from unittest.mock import patch

from docutils import nodes
from listtable import list_table, parsed
from sphinx.util.docutils import SphinxDirective

import sdpdr
from sdpdr import graphs, methods
from sdpdr.lab import cli
from sdpdr.lab.study import schema
from sdpdr.solvers.base import FORMS
from sdpdr.solvers.external import ExternalSolver
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solvers.tolerance import TOLERANCES
from sdpdr.solving.candidate import reductions_for
from sdpdr.testing import hard_instances

GALLERY = Path(__file__).parents[1] / "tables" / "gallery.csv"


class _Table(SphinxDirective, ABC):
    """A table with a head and rows of reStructuredText."""

    head: Sequence[str]
    widths: Sequence[int]

    @abstractmethod
    def rows(self) -> Iterable[Sequence[str]]:
        """The rows below the head."""

    def run(self) -> list[nodes.Node]:
        rows = ([" ".join(cell.split()) for cell in row] for row in self.rows())
        return parsed(self, list_table(self.head, rows, self.widths))


class FormTable(_Table):
    """The forms and the reductions that lead there, for Maximum Variance Unfolding."""

    head = ("Form", "The solver sees", "Reductions on the way", "Solvers")
    widths = (10, 40, 30, 35)

    def rows(self) -> Iterable[Sequence[str]]:
        sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
        for form, words in FORMS.items():
            steps = " → ".join(step.name for step in reductions_for(form, sdp)) or "none"
            names = ", ".join(name for name, cls in SOLVERS.items() if form in cls.forms)
            yield f"``{form}``", words, steps, names


class SolverTable(_Table):
    """What every solver class says about itself."""

    head = ("Solver", "Method", *FORMS, "Time limit", "Licence", "Installed with")
    widths = (12, 40, *[8] * len(FORMS), 14, 14, 26)

    def rows(self) -> Iterable[Sequence[str]]:
        for name, cls in SOLVERS.items():
            summary = (cls.__doc__ or "").strip().splitlines()[0].partition(" (")[0].rstrip(".")
            extra = f"``sdpdr[{cls.extra}]``" if cls.extra else "``sdpdr`` itself"
            if issubclass(cls, ExternalSolver):
                extra = f"``apt-get install {cls.package}``"
            marks = ("✓" if form in cls.forms else "–" for form in FORMS)
            limit = "its own" if cls.obeys_time_limit else "stopped from outside"
            yield f"``{name}``", summary, *marks, limit, cls.licence, extra


class ToleranceTable(_Table):
    """The options that every solver gets for a tolerance."""

    head = ("Solver", "Its options", "Value", "Its own default", "What they measure", "Why")
    widths = (14, 26, 18, 18, 26, 50)

    def rows(self) -> Iterable[Sequence[str]]:
        brought = {name: cls.rule for name, cls in SOLVERS.items() if cls.rule is not None}
        for name, rule in {**TOLERANCES, **brought}.items():
            options = ", ".join(f"``{option}``" for option in rule.options)
            value = f"``tol`` / {rule.divisor:g}"
            value += f", at least {rule.floor:.0e}" if rule.floor else ""
            value += f", at most {rule.ceiling:.0e}" if rule.ceiling < inf else ""
            own = ", ".join(f"{number:.0e}" for number in dict.fromkeys(rule.own))
            yield name, options, value, own, rule.kind, rule.why


class StatusTable(_Table):
    """Our grades and what they mean."""

    head = ("Status", "What it means")
    widths = (18, 80)

    def rows(self) -> Iterable[Sequence[str]]:
        for status in sdpdr.Status:
            # Meanings name things in single backticks, as docstrings do.
            yield f"``{status.name}``", status.value.replace("`", "``")


class OutcomeTable(_Table):
    """What becomes of a run of a study, where it is no status of an answer."""

    head = ("Outcome", "What it means")
    widths = (18, 80)

    def rows(self) -> Iterable[Sequence[str]]:
        yield "a status", "the grade of the answer, see `sdpdr.Status`"
        yield from ((f"``{name}``", words) for name, words in schema.ENDS.items())


class ClaimTable(_Table):
    """What a solver's claim is worth."""

    head = ("Claim", "What it means")
    widths = (18, 80)

    def rows(self) -> Iterable[Sequence[str]]:
        for name, words in schema.CLAIMS.items():
            yield f"``{name}``" if name else "empty", words


class ColumnTable(_Table):
    """The columns of a study's records."""

    head = ("Column", "Type", "What it holds")
    widths = (18, 12, 70)

    def rows(self) -> Iterable[Sequence[str]]:
        for column in schema.COLUMNS:
            words = column.holds.replace("`", "``").replace("|A(X) - b|", "``|A(X) - b|``")
            yield f"``{column.name}``", column.kind, words


class HardInstances(_Table):
    """The hard instances of a chapter, and how many solvers each deceives."""

    head = ("Program", "What is true", "Why it deceives", "Deceived")
    widths = (26, 34, 30, 10)
    required_arguments = 1

    def rows(self) -> Iterable[Sequence[str]]:
        with GALLERY.open(encoding="utf-8") as file:
            rows = csv.DictReader(line for line in file if not line.startswith("#"))
            counts = {row["program"]: row for row in rows}
        for name, one in hard_instances().items():
            if one.chapter == self.arguments[0]:
                count = counts[name]
                source = f" *{one.reference}.*" if one.reference else ""
                yield (
                    f"**{name}**: ``{one.program}``",
                    f"{count['exact']}. {one.proof}{source}",
                    f"{one.why}. Seen: {one.seen}.",
                    f"{count['deceived']} of {count['runs']}",
                )


class CommandHelp(SphinxDirective):
    """The help text of the command line, or of one of its subcommands."""

    optional_arguments = 2

    def run(self) -> list[nodes.Node]:
        text = io.StringIO()
        with patch.dict(os.environ, COLUMNS="88"), redirect_stdout(text):
            if cli.main([*self.arguments, "--help"]):
                raise self.error(f"no help for {self.arguments}")
        return [nodes.literal_block(text.getvalue(), text.getvalue(), language="text")]


def setup(app: Any) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("form-table", FormTable)
    app.add_directive("solver-table", SolverTable)
    app.add_directive("tolerance-table", ToleranceTable)
    app.add_directive("status-table", StatusTable)
    app.add_directive("outcome-table", OutcomeTable)
    app.add_directive("claim-table", ClaimTable)
    app.add_directive("column-table", ColumnTable)
    app.add_directive("hard-instances", HardInstances)
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
