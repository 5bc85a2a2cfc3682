"""Running commands in this process, and data for them."""

from dataclasses import dataclass

import numpy as np
import pytest

from sdpdr import datasets
from sdpdr.lab.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def sdpdr(capfd, tmp_path, monkeypatch):
    """Run a command line in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def run(line):
        try:
            code = main(line.split())
        except SystemExit as stopped:
            code = stopped.code
        return Ran(code, *capfd.readouterr())

    return run


@pytest.fixture
def roll():
    """Fifty points of a swiss roll."""
    return datasets.swiss_roll(50, seed=0)[0]


@pytest.fixture
def roll_csv(tmp_path, roll):
    """The same in a file, with a header, a position and a word."""
    t = np.hypot(roll[:, 0], roll[:, 2])
    lines = ["x,y,z,t,kind"]
    lines += [
        ",".join([*map(repr, map(float, row)), repr(float(at)), "out" if at > 9 else "in"])
        for row, at in zip(roll, t, strict=True)
    ]
    path = tmp_path / "roll.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
