"""The README's programs and commands do what it says."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from sdpdr.lab.cli import main
from sdpdr.lab.cli.methods import METHODS

pytestmark = pytest.mark.integration

README = Path(__file__).parents[1] / "README.md"
COMMANDS = re.findall(r"^sdpdr [^#\n]+", README.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize(
    "page", [README, README.with_name("ARCHITECTURE.md")], ids=lambda p: p.stem
)
def test_the_programs_run(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failures, tried = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert tried > 10
    assert failures == 0


@pytest.mark.nightly
def test_the_commands_run_in_order(tmp_path, monkeypatch, capsys):
    """In this process, which has imported all once; tests/cli/test_process.py starts others."""
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) >= 6
    for command in COMMANDS:
        code = main(shlex.split(command)[1:])
        assert code == 0, f"{command}: {capsys.readouterr().err}"


def test_the_table_of_ones_own_can_be_embedded(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    import numpy as np

    import sdpdr

    X, _ = sdpdr.datasets.swiss_roll(60, seed=0)
    np.savetxt(tmp_path / "data.csv", X, delimiter=",", header="x,y,z", comments="")
    [command] = re.findall(r"`sdpdr (embed data[^`]+)`", README.read_text(encoding="utf-8"))
    assert main(shlex.split(command)) == 0, capsys.readouterr().err
    assert (tmp_path / "embedding.csv").exists()


def test_the_methods_of_the_command_line_are_named():
    [named] = re.findall(
        r"`--method` takes twelve of the\s+estimators:([^;]+);", README.read_text(encoding="utf-8")
    )
    assert set(re.findall(r"`(\w+)`", named)) == set(METHODS)
    assert len(METHODS) == 12


@pytest.mark.parametrize(
    "goal", re.findall(r"(?m)(?:^|`)make (\w+)", README.read_text(encoding="utf-8"))
)
def test_the_goals_exist(goal):
    makefile = README.with_name("Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{goal}:", makefile, re.MULTILINE)
