"""The plan of the house: few entries, rooms that one can look over, files worth opening."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import sdpdr

ROOT = Path(__file__).parents[2]
ENTRIES, MODULES, SMALL = 14, 20, 9


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


@pytest.mark.parametrize("heavy", ["numpy", "scipy", "cvxpy", "sklearn", "matplotlib", "pandas"])
def test_names_are_loaded_when_they_are_used(heavy):
    program = f"import sys, sdpdr; dir(sdpdr); sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("heavy", ["cvxpy", "sklearn", "matplotlib", "pandas"])
def test_a_list_of_commands_needs_no_solver(heavy):
    program = (
        "import contextlib, sys\n"
        "from sdpdr.lab.cli import main\n"
        "with contextlib.suppress(SystemExit):\n"
        "    main(['--help'])\n"
        f"sys.exit({heavy!r} in sys.modules)\n"
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
