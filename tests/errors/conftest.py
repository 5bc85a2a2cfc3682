"""Solvers that misbehave, for tests and for the child processes they start."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest


@pytest.fixture
def faulty(monkeypatch):
    """The module `faulty_solvers`, importable by name here and wherever `sys.path` is taken."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return importlib.import_module("faulty_solvers")
