"""Pictures of ordinary pages: ``drawn:: NAME`` shows the figure that the page above it has made.

The page's examples up to the directive are run as doctests, so that the picture and the code beside
it agree; an example that prints something else fails the build.
"""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

from docutils import nodes
from figures import DPI, IMAGE, darken, described
from listtable import parsed
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

FOLDER = "drawn_output"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def variables(text: str, page: str) -> dict[str, Any]:
    """The variables after all examples of a text, which must print what it shows.

    Examples
    --------
    >>> variables(">>> half = 1 / 2", "page.rst")["half"]
    0.5
    """
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    said: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(
        test, out=said.append, clear_globs=False
    )
    if failed:
        raise ExtensionError("".join(said))
    return test.globs


class Drawn(SphinxDirective):
    """A figure for light pages and for dark ones, with its words."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        source, line = self.get_source_info()
        above = Path(source).read_text(encoding="utf-8").splitlines()[: line - 1]
        figure = variables("\n".join(above), source)[self.arguments[0]]
        alt = described(figure, self.env.docname)
        folder = Path(self.env.srcdir, FOLDER)
        folder.mkdir(exist_ok=True)
        stem = f"{self.env.docname.replace('/', '-')}-{self.arguments[0]}"
        figure.savefig(folder / f"{stem}.png", dpi=DPI)
        darken(figure)
        figure.savefig(folder / f"{stem}_dark.png", dpi=DPI, transparent=True)
        files = {"only-light": f"{stem}.png", "only-dark": f"{stem}_dark.png"}
        text = "".join(
            IMAGE.format(path=f"{FOLDER}/{name}", alt=alt, only=only)
            for only, name in files.items()
        )
        return parsed(self, text.splitlines())


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("drawn", Drawn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
