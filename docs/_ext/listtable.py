"""Tables that are written as reStructuredText, and how directives read what they have written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import nested_parse_with_titles


def list_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], widths: Sequence[int] = ()
) -> Iterator[str]:
    """The lines of a list-table; cells may have several lines.

    Examples
    --------
    >>> print(*list_table(("a", "b"), [("one\\n\\ntwo", "3")], (1, 2)), sep="\\n")
    .. list-table::
       :header-rows: 1
       :class: facts
       :widths: 1 2
    <BLANKLINE>
       * - a
         - b
       * - one
    <BLANKLINE>
           two
         - 3
    <BLANKLINE>
    """
    yield from (".. list-table::", "   :header-rows: 1", "   :class: facts")
    if widths:
        yield f"   :widths: {' '.join(map(str, widths))}"
    yield ""
    for row in [head, *rows]:
        for k, cell in enumerate(row):
            first, *others = cell.splitlines() or [""]
            yield f"   {'* -' if k == 0 else '  -'} {first}"
            yield from (f"       {line}".rstrip() for line in others)
    yield ""


def parsed(directive: SphinxDirective, lines: Iterable[str]) -> list[nodes.Node]:
    """What lines of reStructuredText say at the place of a directive, sections included."""
    box = nodes.Element()
    box.document = directive.state.document
    source = directive.get_source_info()[0]
    nested_parse_with_titles(directive.state, StringList(list(lines), source), box)
    return box.children
