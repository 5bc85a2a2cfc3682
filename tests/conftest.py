"""Property-based tests draw the same few examples in every run, unless asked to look further.

Where a test names no number, these are 25, as many cost a solve each.
``HYPOTHESIS_PROFILE=search pytest tests`` draws new ones, and there a hundred.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import signal

import pytest
from hypothesis import settings

# No test knows a clock: a busy machine is no mistake.
settings.register_profile("repeat", derandomize=True, max_examples=25, deadline=None)
settings.register_profile("search", derandomize=False, max_examples=100, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))

# Shells let what they start in the background ignore Ctrl-C, and so would all that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the cases as nightly of which a test has more than it runs every day."""
    cases = {}
    for item in items:
        if item.get_closest_marker("daily") and not item.get_closest_marker("nightly"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for same in cases.values():
        n = min(same[0].get_closest_marker("daily").args[0], len(same))
        every_day = {k * len(same) // n for k in range(n)}
        for k, item in enumerate(same):
            if k not in every_day:
                item.add_marker(pytest.mark.nightly)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect tests without looking for garbage, and never look for it among them.

    There is none: of the 25 processor seconds that 15,000 tests took, 8.5 were spent on the search,
    and each full one later takes a third of a second over what is kept to the end anyway.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


# Solvers that are programs: whoever has one installed runs the same tests as whoever has not.
_PROGRAMS = {
    path for name in ("csdp", "sdpa", "dsdp5", "sdplr", "LoRADS") if (path := shutil.which(name))
}


@pytest.fixture(autouse=True, scope="session")
def _hide_installed_programs():
    """Let `auto` choose among the same solvers on every machine; fakes on the PATH are found."""
    real = shutil.which

    def which(*args, **kwargs):
        found = real(*args, **kwargs)
        return None if found in _PROGRAMS else found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shutil, "which", which)
        yield real


@pytest.fixture(autouse=True, scope="session")
def _give_proofs_time():
    """Let proofs take their time, as two seconds of a busy processor prove less than usual."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sdpdr.solving.proofs.AT_LEAST", 60.0)
        yield


@pytest.fixture
def installed_programs(_hide_installed_programs, monkeypatch):
    """Let the programs that are installed be found."""
    monkeypatch.setattr(shutil, "which", _hide_installed_programs)


@pytest.fixture
def hide_packages(monkeypatch):
    """Make packages look as if they were not installed, or as if they were."""
    real = importlib.util.find_spec

    def hide(*names, present=()):
        def find_spec(name, package=None):
            if name in present:
                return real("sdpdr")
            return None if name in names else real(name, package)

        monkeypatch.setattr(importlib.util, "find_spec", find_spec)

    return hide
