"""Property-based tests draw the same examples in every run, unless asked to look further.

``HYPOTHESIS_PROFILE=search pytest tests`` draws new ones. ``open_questions.txt`` lists tests whose
failures are not yet judged: they run, are reported with their reason, and fail nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeat", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))

_OPEN = Path(__file__).with_name("open_questions.txt")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that stand in the list of open questions, by the start of their names."""
    lines = [line for line in _OPEN.read_text(encoding="utf-8").splitlines() if line.strip()]
    reasons = dict(line.split(" # ", 1) for line in lines if not line.startswith("#"))
    for item in items:
        for start, reason in reasons.items():
            if item.nodeid.startswith(start):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=False))
