"""Every page does what it says: its files are written, its programs run, its commands succeed."""

from __future__ import annotations

import doctest
import importlib
import re
import runpy
import shlex
import sys
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pytest

import sdpdr
from sdpdr.lab.cli import main
from sdpdr.lab.cli.app import COMMANDS

pytestmark = pytest.mark.integration

DOCS = Path(__file__).parents[2] / "docs"
WRITTEN = [
    path
    for path in sorted(DOCS.rglob("*.rst"))
    if not {"_build", "gallery_output", "course_output", "generated", "_templates"}
    & set(path.parts)
]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
CODE = re.compile(
    r"^\.\. code-block:: (?P<language>\w+)\n(?:   :caption: (?P<file>\S+)\n)?\n"
    r"(?P<body>(?:   .*\n|\n)+)",
    re.MULTILINE,
)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def code_blocks(text: str) -> list[tuple[str, str | None, str]]:
    """Language, file name and text of every code block."""
    found = []
    for match in CODE.finditer(text + "\n"):
        lines = (line.removeprefix("   ") for line in match["body"].rstrip().splitlines())
        found.append((match["language"], match["file"], "\n".join(lines) + "\n"))
    return found


# Seconds, where most need less than one.
LONG = (
    "guide/scale.rst",
    "methods/baselines.rst",
    "methods/completely_positive.rst",
    "methods/mve.rst",
    "methods/mvu.rst",
    "methods/nmf.rst",
    "methods/nmf_bounds.rst",
    "methods/polynomial_factorization.rst",
)


def pages(wanted, long=()) -> list:
    named = [(page, str(page.relative_to(DOCS))) for page in WRITTEN if wanted(read(page))]
    return [
        pytest.param(page, id=name, marks=[pytest.mark.nightly] if name in long else [])
        for page, name in named
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of the reader's own, from which modules can be imported; forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def write_files(page: Path, folder: Path) -> list[str]:
    files = [(name, body) for _, name, body in code_blocks(read(page)) if name]
    for name, body in files:
        (folder / name).write_text(body, encoding="utf-8")
    return [name for name, _ in files]


@pytest.mark.parametrize("page", pages(lambda text: ">>> " in text, LONG))
def test_the_programs_of_a_page_run(page, folder):
    write_files(page, folder)
    failures, tried = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS)
    assert tried > 0
    assert failures == 0


def test_no_python_on_a_page_is_left_untested():
    for page in WRITTEN:
        for language, file, body in code_blocks(read(page)):
            assert language != "python" or file, f"{page.name}: {body.splitlines()[0]!r}"


def session(text: str) -> list[tuple[str, str]]:
    """Every command of a page, and what it prints as far as the page shows it."""
    blocks = (body for language, _, body in code_blocks(text) if language == "console")
    return re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.MULTILINE)


def carry_out(command: str) -> int:
    program, *words = shlex.split(command)
    if program == "sdpdr":
        return main(words)
    if program == "python":
        runpy.run_path(*words)
    else:
        assert (program, words[0]) == ("head", "-n"), f"{command}: what is this command to do?"
        print("".join(Path(words[2]).read_text().splitlines(keepends=True)[: int(words[1])]))
    return 0


@pytest.mark.parametrize("page", pages(lambda text: "$ sdpdr" in text))
def test_the_commands_of_a_page_succeed_and_print_what_it_shows(page, folder, capsys):
    write_files(page, folder)
    X, _ = sdpdr.datasets.swiss_roll(60, seed=0)
    np.savetxt(folder / "data.csv", X, delimiter=",", header="x,y,z", comments="")
    commands = session(read(page))
    assert len(commands) >= len(re.findall(r"^ +\$ sdpdr ", read(page), re.MULTILINE)) > 0
    for command, shown in commands:
        code = carry_out(command)
        ran = capsys.readouterr()
        printed = f"{ran.err}{ran.out}"
        assert code == 0, f"{command}\n{printed}"
        assert not shown.strip() or doctest.OutputChecker().check_output(shown, printed, FLAGS), (
            f"{command}\n{printed}"
        )


def test_the_help_of_every_command_is_shown():
    shown = re.findall(r"command-help:: (\w+)", read(DOCS / "guide" / "cli.rst"))
    assert set(shown) == set(COMMANDS)


ROOMS = (
    "baselines", "bilinear", "blocks", "density", "extend", "factorize", "graphs", "iterate",
    "linalg", "methods", "metric", "model", "nonnegative", "plot", "program", "propagation",
    "reduce", "solvers", "families.unfold.quality",
)  # fmt: skip
# Rooms have pages of their own rather than entries; the others are aliases of types.
PAGES = {page.stem for page in (DOCS / "api").glob("*.rst")}
EXPLAINED = {
    *ROOMS,
    "datasets",
    "errors",
    "estimators",
    "library",
    "testing",
    "FORMS",
    "Relation",
    "Value",
    "Variable",
}


def entries() -> set[str]:
    text = "\n".join(map(read, sorted((DOCS / "api").glob("*.rst"))))
    return set(re.findall(r"^   ([\w.]+)$", text, re.MULTILINE))


def returned(entry: str) -> set[str]:
    """Names in the annotation of what a function returns; its page documents these classes."""
    room, _, name = f"sdpdr.{entry}".rpartition(".")
    one = resolve_name(f"{room}:{name}")
    return set(re.findall(r"\w+", str(getattr(one, "__annotations__", {}).get("return", ""))))


def test_the_index_by_task_leads_to_names_of_the_reference_and_to_every_estimator():
    shown = set(re.findall(r"`~sdpdr\.([\w.]+)`", read(DOCS / "api" / "index.rst")))
    assert shown - entries() == set()
    estimators = {name for name in sdpdr.estimators.__all__ if hasattr(sdpdr, name)}
    assert len(estimators) > 25
    assert estimators - shown == set()


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_every_public_name_is_in_the_reference(room):
    module = importlib.import_module(f"sdpdr.{room}" if room else "sdpdr")
    named = {entry for entry in entries() if entry not in PAGES}
    listed = {entry.rpartition(".")[2] for entry in named}.union(*map(returned, named))
    assert len(module.__all__) > 0
    assert set(module.__all__) - listed <= EXPLAINED


def test_the_citation_names_this_version():
    citation = read(DOCS.parent / "CITATION.cff")
    assert re.search(r"^version: (\S+)$", citation, re.MULTILINE)[1] == sdpdr.__version__
