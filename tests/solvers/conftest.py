"""Solvers that are programs, played by scripts in front of the PATH."""

from __future__ import annotations

import os
import stat

import pytest

from sdpdr import graphs, methods


@pytest.fixture
def ring():
    """A ring of five unit edges, which unfolds to a pentagon."""
    return methods.mvu(graphs.cycle(5))


@pytest.fixture
def fake_programs(tmp_path, monkeypatch):
    """Put a script in front of the PATH, under the name of each program."""
    place = tmp_path / "bin"
    place.mkdir()

    def put(programs, body, shell="/bin/sh"):
        # Asked for its version, a program runs where there is no problem.
        ask = "test -f problem.dat-s || exit 0" if shell == "/bin/sh" else ""
        for cls in programs:
            script = place / cls.program
            script.write_text(f"#!{shell}\n# LORADS_SOLUTION\n{ask}\n{body}\n")
            script.chmod(script.stat().st_mode | stat.S_IXUSR)

    monkeypatch.setenv("PATH", f"{place}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return put
