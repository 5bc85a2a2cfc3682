"""The plan of the house: few entries, rooms that one can look over, files worth opening."""

import ast
import importlib.util
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import takewhile
from pathlib import Path
from textwrap import dedent

import pytest

import sdpdr

ROOT = Path(__file__).parents[2]
ENTRIES, MODULES, SMALL, TAUGHT = 14, 20, 9, 30


# What is imported against the order of the files, inside a function, and why it must be: what
# is above made of what is below, and returns to it.
_OPERATORS = "an operator of an expression makes expressions, statements and prices"
_MAPS = "the algebra of maps makes maps, and a map in another basis is one given by a matrix"
_RAY = "a ray is checked by those who prove rays"
_PICTURE = "a solution draws itself, once it is asked to"
BACKWARD = {
    ("linalg.maps.linear", "linalg.maps.combine"): _MAPS,
    ("linalg.maps.linear", "linalg.maps.forms"): _MAPS,
    ("linalg.maps.linear", "linalg.maps.given"): _MAPS,
    ("program.rays.ray", "program.rays.farkas"): _RAY,
    ("program.rays.ray", "program.rays.recession"): _RAY,
    ("program.solution", "lab.plot.answer"): _PICTURE,
    ("program.solution", "lab.plot.notebook"): _PICTURE,
    ("model.affine", "model.parameters"): _OPERATORS,
    ("model.arithmetic", "model.affine"): _OPERATORS,
    ("model.arithmetic", "model.block"): "a mistake is told by what it was",
    ("model.arithmetic", "model.language.curved"): _OPERATORS,
    ("model.arithmetic", "model.language.functions"): _OPERATORS,
    ("model.arithmetic", "model.language.numpy_functions"): _OPERATORS,
    ("model.arithmetic", "model.language.prices"): _OPERATORS,
    ("model.arithmetic", "model.language.statements"): _OPERATORS,
    ("model.arithmetic", "model.parameters"): _OPERATORS,
    ("model.block", "model.model"): "a sum of blocks is a model",
    ("model.model", "solving.repeated"): "a model that has parameters is solved again and again",
    ("solving.plan", "solving.planning"): "a plan makes another for the same model",
    ("solving.plan", "solving.tightening"): "a plan of a smooth model ends with plans of tangents",
}


@pytest.fixture(scope="module")
def house():
    spec = importlib.util.spec_from_file_location("house", ROOT / "benchmarks" / "house.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["house"] = module
    spec.loader.exec_module(module)
    return module


def test_the_entrance_is_small(house):
    assert len(house.entries()) <= ENTRIES


def test_no_room_is_crowded(house):
    assert {name: n for name, n in house.crowded().items() if n > MODULES} == {}


def test_few_files_are_hardly_worth_opening(house):
    assert len([str(one.path) for one in house.modules() if one.is_small]) <= SMALL


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    """What every file of the package says, by its path from here."""
    return {
        path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "sdpdr").rglob("*.py"))
    }


def _classes(node: ast.AST) -> Iterator[ast.ClassDef]:
    """Wherever a statement can stand; expressions hold none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield child
        if not isinstance(child, ast.expr):
            yield from _classes(child)


def test_every_class_name_has_one_meaning(trees):
    places = defaultdict(list)
    for path, tree in trees.items():
        for node in _classes(tree):
            places[node.name].append(str(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    ("page", "file"),
    [("add_block", "in_ball"), ("add_solver", "five_lines_adapter"), ("add_reduction", "within")],
)
def test_what_is_taught_to_be_added_is_one_short_file(house, tmp_path, page, file):
    """A penalty block, a program as a solver, a reduction; tests/docs/test_pages.py runs them."""
    text = (ROOT / "docs" / "howto" / f"{page}.rst").read_text(encoding="utf-8")
    body = text.partition(f":caption: {file}.py\n")[2]
    lines = takewhile(lambda line: not line or line.startswith("   "), body.split("\n"))
    path = tmp_path / f"{file}.py"
    path.write_text(dedent("\n".join(lines)))
    assert 0 < house.module(path).code <= TAUGHT


def _imports(node: ast.AST) -> Iterator[ast.ImportFrom]:
    """All that are carried out, inside functions as well; those for types alone are not."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.ImportFrom):
            yield child
        yield from _imports(child)


@pytest.fixture(scope="module")
def order(trees) -> dict[str, set[str]]:
    """Of every file the files that it imports, also where it asks a room that gathers them."""
    asked, gathered = {}, {}
    for path, tree in trees.items():
        name = ".".join(path.with_suffix("").parts)
        lines = [*_imports(tree)]
        pairs = [(line.module or "", alias.name) for line in lines for alias in line.names]
        if path.name == "__init__.py":
            gathered |= {(name.removesuffix(".__init__"), one): room for room, one in pairs}
        else:
            asked[name] = pairs

    def file(room: str, one: str) -> str | None:
        if room in asked:
            return room
        if f"{room}.{one}" in asked:
            return f"{room}.{one}"
        return file(gathered[room, one], one) if (room, one) in gathered else None

    return {
        name.removeprefix("sdpdr."): {
            found.removeprefix("sdpdr.")
            for found in (file(*pair) for pair in pairs)
            if found not in (None, name)
        }
        for name, pairs in asked.items()
    }


def test_no_file_leads_back_to_itself_but_for_a_reason(order):
    forward = {
        name: {other for other in others if (name, other) not in BACKWARD}
        for name, others in order.items()
    }
    try:
        TopologicalSorter(forward).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


@pytest.mark.parametrize(("name", "other"), BACKWARD)
def test_no_reason_is_without_an_import(order, name, other):
    assert other in order[name]


def test_a_docstring_and_a_comment_are_no_code(house, tmp_path):
    text = '"""Words."""\n\n\ndef f():\n    """More words.\n\n    And more.\n    """\n    # why\n'
    path = tmp_path / "one.py"
    path.write_text(text + '    return """code"""\n')
    assert (house.module(path).lines, house.module(path).code) == (10, 2)


def test_public_names_lead_to_one_module_each():
    import sdpdr.errors
    import sdpdr.methods
    from sdpdr.base import errors
    from sdpdr.families import methods

    assert sdpdr.errors is errors
    assert sdpdr.methods is methods
    assert errors.__spec__.name == "sdpdr.base.errors"


def test_no_module_is_imported_twice_under_two_names():
    with pytest.raises(ModuleNotFoundError, match=r"sdpdr\.families\.regress\.ridge"):
        importlib.import_module("sdpdr.extend.ridge")


@pytest.mark.parametrize("name", sorted(sdpdr.__all__))
def test_every_public_name_is_there(name):
    assert getattr(sdpdr, name) is getattr(sdpdr, name)


HEAVY = {"numpy", "scipy", "cvxpy", "sklearn", "matplotlib", "pandas"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("GPLVM", "it is sdpdr.baselines.GPLVM."),
        ("mvu", "it is sdpdr.methods.mvu."),
        ("MVUU", "did you mean sdpdr.MVU?"),
        ("DataErorr", "did you mean sdpdr.errors.DataError?"),
        ("Datasets", "did you mean sdpdr.datasets?"),
        ("swissroll", "did you mean sdpdr.datasets.swiss_roll?"),
    ],
)
def test_a_name_that_lies_elsewhere_is_pointed_to(name, words):
    with pytest.raises(AttributeError) as raised:
        getattr(sdpdr, name)
    assert str(raised.value) == f"sdpdr has no {name!r}; {words}"


@pytest.mark.parametrize("name", ["_GPLVM", "__wrapped__", "quantum"])
def test_what_is_near_to_nothing_is_pointed_nowhere(name):
    with pytest.raises(AttributeError) as raised:
        getattr(sdpdr, name)
    assert str(raised.value).rstrip(".") == f"sdpdr has no {name!r}"


def test_every_name_of_a_room_is_pointed_to():
    rooms = [room for room in sdpdr.__all__ if isinstance(getattr(sdpdr, room), type(sdpdr))]
    for room in rooms:
        for name in getattr(getattr(sdpdr, room), "__all__", ()):
            if not {name} & {*sdpdr.__all__, *vars(sdpdr)}:  # a room of the house is there as well
                with pytest.raises(AttributeError, match=rf"sdpdr\.{room}\.{name}\b"):
                    getattr(sdpdr, name)


def test_names_are_loaded_when_they_are_used():
    program = f"import sys, sdpdr; dir(sdpdr); sys.exit(bool({HEAVY} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_ctrl_c_is_answered_before_anything_slow_is_imported():
    slow = {"importlib.metadata", "importlib.resources", "pathlib", "tempfile"}
    program = (
        "import sys\nbefore = set(sys.modules)\nfrom sdpdr.lab.cli import main\n"
        f"sys.exit(bool({slow} & (set(sys.modules) - before)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_list_of_commands_needs_no_solver():
    heavy = HEAVY - {"numpy", "scipy"}
    program = (
        "import contextlib, sys\n"
        "from sdpdr.lab.cli import main\n"
        "with contextlib.suppress(SystemExit):\n"
        "    main(['--help'])\n"
        f"sys.exit(bool({heavy} & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert (run.returncode, b"commands:" in run.stdout) == (0, True)


def test_a_program_is_solved_without_scikit_learn_and_matplotlib():
    program = (
        "import sys, sdpdr\n"
        "from sdpdr.linalg import Diagonal, Trace\n"
        "from sdpdr.program import SDP, PsdVariable, Rows\n"
        "unit = Rows('unit', '==', {'X': Diagonal(2)}, [1.0, 1.0])\n"
        "sdpdr.solve(SDP((PsdVariable('X', 2),), {'X': Trace(2)}, (unit,)), 'lowrank')\n"
        "sys.exit(bool({'sklearn', 'matplotlib'} & set(sys.modules)))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
