"""Examples in docstrings that the API pages show can be pasted: they import what they use."""

import ast
import builtins
import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

API = Path(__file__).parents[2] / "docs" / "api"


def public():
    """Full names on the API pages, with what they name."""
    for page in sorted(API.glob("*.rst")):
        module = "sdpdr"
        for line in page.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.fullmatch(r"   (\w+(?:\.\w+)*)", line):
                path, _, name = f"{module}.{found[1]}".rpartition(".")
                try:
                    yield f"{path}.{name}", getattr(import_module(path), name)
                except (ImportError, AttributeError):  # a word that is no name, such as an option
                    continue


def examples(thing):
    """Docstrings of a thing and of its own methods."""
    own = vars(thing).values() if inspect.isclass(thing) else ()
    docs = [one.__doc__ for one in (thing, *own) if not inspect.ismodule(one)]
    return [doc for doc in docs if isinstance(doc, str) and ">>>" in doc]


def unknown_names(doc):
    """Names that examples use before they have them."""
    known, unknown = set(dir(builtins)), set()
    for example in doctest.DocTestParser().get_examples(doc):
        nodes = list(ast.walk(ast.parse(example.source)))
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                known |= {(one.asname or one.name).partition(".")[0] for one in node.names}
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                known.add(node.name)
            elif isinstance(node, ast.arg):
                known.add(node.arg)
        names = [node for node in nodes if isinstance(node, ast.Name)]
        known |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
        unknown |= {node.id for node in names} - known
    return unknown


def test_examples_of_the_api_import_what_they_use():
    found = {
        name: names
        for name, thing in public()
        if (names := set().union(*map(unknown_names, examples(thing))))
    }
    assert not found


@pytest.mark.parametrize(
    ("doc", "unknown"),
    [
        (">>> knn(X)", {"knn", "X"}),
        (">>> from sdpdr.graphs import knn\n>>> X = [1]\n>>> knn(X)", set()),
        (">>> [x for x in range(3)]", set()),
    ],
)
def test_names_that_are_unknown_are_found(doc, unknown):
    assert unknown_names(doc) == unknown
