"""What the benchmarks share: seconds of the processor, wherever they were spent."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SPIN = "import sys, time\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)\ninput()"

pytest.importorskip("psutil")


@pytest.fixture
def journal(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("journal")


def test_a_child_that_waits_for_more_work_is_counted(journal):
    own = time.process_time()
    before = journal.processor_seconds()
    with subprocess.Popen(
        [sys.executable, "-c", SPIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "done\n"
        spent = journal.processor_seconds() - before
        assert spent - (time.process_time() - own) > 0.25
        child.communicate("\n")
