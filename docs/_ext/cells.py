"""Text of lessons as Markdown, for notebooks: docutils reads it, and every node has its words.

Only what is named here is known. A role, a directive or a node that is not ends the build, so that
none can be left over in a notebook.
"""

from __future__ import annotations

import re
import textwrap
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Directive, Parser, roles
from docutils.parsers.rst.directives import flag
from docutils.parsers.rst.directives.admonitions import Admonition
from docutils.parsers.rst.directives.body import CodeBlock, MathBlock
from docutils.utils import SystemMessage, new_document
from mathml import has_rows
from moving import chosen, legend, still
from sphinx.errors import ExtensionError
from sphinx.util.docutils import CustomReSTDispatcher

Link = Callable[[str, str, str], str]
_TITLED = re.compile(r"(?P<title>.+?)\s*<(?P<target>[^>]+)>", re.S)
_SPECIAL = re.compile(r"([\\`*_<\[\]$])")
# At the beginning of a paragraph these would make a title, a list or a quotation of it.
_BEGINS = re.compile(r"(?P<number>\d*)(?P<sign>[#+>.)-])(?=[\s#>]|$)")
_TOP = "Top\n===\n\n"
# The title of what students fold out last, and teachers see.
SOLUTION = "Solution"


class page(nodes.Inline, nodes.TextElement):
    """What a role leads to; docutils names its nodes in small letters."""


class picture(nodes.Element):
    """A drawing that a notebook holds within itself."""


class Dropdown(Directive):
    """What Jupyter folds as well."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"open": flag}

    def run(self) -> list[nodes.Node]:
        folded = nodes.container(title=self.arguments[0], open="open" in self.options)
        self.state.nested_parse(self.content, self.content_offset, folded)
        return [folded]


class Told(Directive):
    """A figure that moves: a notebook tells of it, and has its picture standing still."""

    required_arguments = 2
    optional_arguments = 1
    has_content = True
    option_spec: ClassVar = {"autoplay": bool}

    def run(self) -> list[nodes.Node]:
        data, shown = chosen(*self.arguments[1:]), " ".join(" ".join(self.content).split())
        shown = legend(data, shown)
        words = f"The page of this lesson has a figure here that moves. {shown}"
        told = nodes.admonition("", nodes.title("", data["title"]), nodes.paragraph("", words))
        drawn = still(self.arguments[0], data, shown)
        return [told, picture(svg=drawn, words=shown)] if drawn else [told]


def _leads(
    name: str, raw: str, text: str, line: int, inliner: Any,
    options: Mapping[str, Any] | None = None, content: list[str] | None = None,
) -> tuple[list[nodes.Node], list[nodes.Node]]:  # fmt: skip
    titled = _TITLED.fullmatch(text)
    title, target = (titled["title"], titled["target"]) if titled else ("", text)
    return [page(kind=name, target=target, title=title)], []


def _name(
    name: str, raw: str, text: str, line: int, inliner: Any,
    options: Mapping[str, Any] | None = None, content: list[str] | None = None,
) -> tuple[list[nodes.Node], list[nodes.Node]]:  # fmt: skip
    titled = _TITLED.fullmatch(text)
    words = titled["title"] if titled else text
    # As in Sphinx, of a name after a tilde the last part is shown.
    return [nodes.literal(raw, words[1:].rpartition(".")[2] if words[:1] == "~" else words)], []


# Without a role a word is the name of something in the package.
_ROLES = {"": _name, "math": roles.math_role, "doc": _leads, "ref": _leads}
_DIRECTIVES = {
    "admonition": Admonition, "code-block": CodeBlock, "dropdown": Dropdown, "math": MathBlock,
    "moving": Told,
}  # fmt: skip


class _Known(CustomReSTDispatcher):
    """Sphinx's own roles and directives need a build; these need none."""

    def directive(self, name: str, language: Any, document: Any) -> Any:
        return _DIRECTIVES.get(name), []

    def role(self, name: str, language: Any, line: int, reporter: Any) -> Any:
        return _ROLES.get(name), []


def parsed(text: str, where: str) -> nodes.document:
    """The tree of a text; a warning of the parser is an error."""
    settings = get_default_settings(Parser)
    settings.halt_level, settings.report_level, settings.syntax_highlight = 2, 5, "none"
    settings.warning_stream = ""
    document = new_document(where, settings)
    try:
        with _Known():
            Parser().parse(text, document)
    except SystemMessage as error:
        raise ExtensionError(f"{where} cannot become a notebook: {error}") from error
    return document


def read_cell(text: str, where: str = "text", first: bool = False) -> list[nodes.Node]:
    """The nodes of one cell of text.

    Parameters
    ----------
    text : str
    where : str
        Named by errors.
    first : bool
        Whether it begins with the title of the lesson; other cells lie below that.
    """
    tree = parsed(text if first else _TOP + text, where)
    (top,) = tree.children
    return list(top.children if first else top.children[1:])


def markdown(text: str, link: Link, where: str = "text", first: bool = False) -> str:
    """One cell of text as Markdown.

    Parameters
    ----------
    text, where, first : see `read_cell`
    link : callable
        Makes Markdown of the kind of a role, its target, and its title or nothing.
    """
    return Markdown(link, where).blocks(read_cell(text, where, first), 1)


def take_solution(children: list[nodes.Node]) -> list[nodes.Node] | None:
    """Take the solution of an exercise out of the nodes of its cell; None where there is none."""
    for child in children:
        for folded in child.findall(nodes.container):
            if folded["title"] == SOLUTION:
                (children if folded is child else folded.parent).remove(folded)
                return list(folded.children)
    return None


class Markdown:
    """Words for nodes of a tree, one method for each kind."""

    def __init__(self, link: Link, where: str) -> None:
        self.link, self.where = link, where

    def _of(self, prefix: str, node: nodes.Node) -> Callable[..., str]:
        name = type(node).__name__
        found: Callable[..., str] | None = getattr(self, f"{prefix}_{name}", None)
        if found is None:
            raise ExtensionError(
                f"{self.where} cannot become a notebook: it holds a {name}, "
                f"{node.astext()[:60]!r}, which cells.py cannot write as Markdown."
            )
        return found

    def block(self, node: nodes.Node, level: int) -> str:
        return self._of("block", node)(node, level)

    def blocks(self, parts: list[nodes.Node], level: int) -> str:
        return "\n\n".join(self.block(part, level) for part in parts)

    def inline(self, node: nodes.Element) -> str:
        return "".join(self._of("inline", child)(child) for child in node.children)

    # -- blocks ----------------------------------------------------------------------------------

    def block_section(self, node: nodes.section, level: int) -> str:
        return self.blocks(node.children, level + 1)

    def block_title(self, node: nodes.title, level: int) -> str:
        return f"{'#' * level} {self.inline(node)}"

    def block_paragraph(self, node: nodes.paragraph, level: int) -> str:
        text = " ".join(self.inline(node).split())
        # Only a sign after digits, or one that stands first, has this meaning.
        begins = _BEGINS.match(text)
        if begins is None or (begins["sign"] in ".)") != bool(begins["number"]):
            return text
        return rf"{begins['number']}\{text[begins.start('sign') :]}"

    def block_literal_block(self, node: nodes.literal_block, level: int) -> str:
        language = next((word for word in node["classes"] if word != "code"), "")
        fence = _longer(node.astext(), 3)
        return f"{fence}{language}\n{node.astext()}\n{fence}"

    def block_math_block(self, node: nodes.math_block, level: int) -> str:
        formula = " ".join(node.astext().split())
        if has_rows(formula):
            formula = rf"\begin{{aligned}} {formula} \end{{aligned}}"
        return f"$$ {formula} $$"

    def block_bullet_list(self, node: nodes.bullet_list, level: int) -> str:
        return "\n".join(self._item("- ", item, level) for item in node.children)

    def block_enumerated_list(self, node: nodes.enumerated_list, level: int) -> str:
        if node["enumtype"] != "arabic":
            raise ExtensionError(
                f"{self.where} cannot become a notebook: it holds a list numbered by "
                f"{node['enumtype']}, and Markdown has only digits: number it 1., 2., 3."
            )
        numbered = enumerate(node.children, node.get("start", 1))
        return "\n".join(self._item(f"{k}. ", item, level) for k, item in numbered)

    def _item(self, sign: str, item: nodes.Element, level: int) -> str:
        text = textwrap.indent(self.blocks(item.children, level), " " * len(sign))
        return sign + text.lstrip()

    def block_admonition(self, node: nodes.admonition, level: int) -> str:
        title, *rest = node.children
        text = f"**{self.inline(title).rstrip('.')}.**\n\n{self.blocks(rest, level)}"
        return textwrap.indent(text, "> ", lambda line: True)

    def block_picture(self, node: picture, level: int) -> str:
        inside = b64encode(node["svg"].encode()).decode()
        return (
            f"![{self.inline_Text(nodes.Text(node['words']))}](data:image/svg+xml;base64,{inside})"
        )

    def block_container(self, node: nodes.container, level: int) -> str:
        inside = self.blocks(node.children, level)
        opened = " open" if node["open"] else ""
        return f"<details{opened}><summary>{node['title']}</summary>\n\n{inside}\n\n</details>"

    # -- within a line ---------------------------------------------------------------------------

    def inline_Text(self, node: nodes.Text) -> str:
        return _SPECIAL.sub(r"\\\1", node.astext())

    def inline_emphasis(self, node: nodes.emphasis) -> str:
        return f"*{self.inline(node)}*"

    def inline_strong(self, node: nodes.strong) -> str:
        return f"**{self.inline(node)}**"

    def inline_literal(self, node: nodes.literal) -> str:
        text, fence = node.astext(), _longer(node.astext(), 1)
        space = " " if "`" in text else ""
        return f"{fence}{space}{text}{space}{fence}"

    def inline_math(self, node: nodes.math) -> str:
        return f"${' '.join(node.astext().split())}$"

    def inline_citation_reference(self, node: nodes.citation_reference) -> str:
        return rf"\[{node.astext()}\]"

    def inline_reference(self, node: nodes.reference) -> str:
        return f"[{self.inline(node)}]({node['refuri']})"

    def inline_page(self, node: page) -> str:
        return self.link(node["kind"], node["target"], node["title"])


def _longer(text: str, least: int) -> str:
    """Backticks enough to enclose a text that holds some itself."""
    return "`" * max([least, *(len(run) + 1 for run in re.findall("`+", text))])
