"""Threads, forks and copies around a solve."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import sdpdr
from sdpdr import errors, graphs, methods
from sdpdr.solvers import Cvxopt, Sdpa
from sdpdr.solvers.processes.silence import quiet

pytestmark = pytest.mark.integration

HANG = 300.0  # seconds that tell a hang from a slow machine


def script(text, **environment):
    """What a script prints; threads of native code as they are by default."""
    unset = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    ran = subprocess.run(
        [sys.executable, "-c", text],
        env=unset | environment,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


# -- threads ------------------------------------------------------------------------------------

THREADS = """
import threading, sdpdr
from sdpdr import graphs, methods
model = methods.mvu(graphs.cycle(6))
ways = [("clarabel", "lmi"), ("scs", "gram"), ("lowrank", "factor"), *{more}]
def run(way, into):
    into[way] = sdpdr.solve(model, *way, progress=False).value
alone, together = {{}}, {{}}
for way in ways:
    run(way, alone)
for _ in range(2):
    threads = [threading.Thread(target=run, args=(way, together)) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone, (together, alone)
print("first")
print("second")
"""


@pytest.mark.nightly
def test_threads_lose_no_output_and_find_the_same_answers():
    installed = [cls for cls in (Cvxopt, Sdpa) if cls.availability().usable]
    more = [(cls.name, "lmi") for cls in installed]
    assert script(THREADS.format(more=more), OMP_NUM_THREADS="1") == "first\nsecond\n"


def test_filters_of_warnings_are_restored_in_any_order():
    before = warnings.filters[:]
    first, second = quiet(), quiet()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert warnings.filters == before


# -- forks --------------------------------------------------------------------------------------

FORKS = """
import os, sdpdr
from sdpdr import datasets, graphs, methods
model = methods.mvu(graphs.knn(datasets.swiss_roll(24, seed=0)[0], n_neighbors=5, connect="mst"))
def run(solver, form):
    return sdpdr.solve(model, solver, form, progress=False).value
ways = {ways}
values = [run(*way) for way in ways]
child = os.fork()
if child == 0:
    found = [run(*way) for way in ways]
    os._exit(0 if all(abs(a - b) <= 1e-6 * abs(b) for a, b in zip(found, values)) else 1)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_after_a_solve_can_solve():
    ways = [("lowrank", "factor"), ("clarabel", "lmi")]
    if Cvxopt.availability().usable:
        ways.append(("cvxopt", "lmi"))
    assert script(FORKS.format(ways=ways)).strip() == "0"


# -- copies -------------------------------------------------------------------------------------


def ring():
    return methods.mvu(graphs.cycle(5))


def table():
    return np.random.default_rng(0).standard_normal((12, 3))


THINGS = {
    "model": ring,
    "program": lambda: ring().to_sdp(),
    "plan": lambda: sdpdr.plan(ring()),
    "with a history": lambda: sdpdr.solve(ring(), "lowrank", progress=[].append),
    "proved": lambda: sdpdr.solve(ring(), "clarabel", "gram", rigorous=True),
    "as written": lambda: sdpdr.solve(ring(), "clarabel", "cvxpy"),
    "fitted": lambda: sdpdr.MVU(n_neighbors=4, connect="mst").fit(table()),
}


@pytest.mark.daily(3)
@pytest.mark.parametrize("name", THINGS)
def test_models_plans_and_solutions_can_be_copied(name):
    thing = THINGS[name]()
    for other in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing)):
        assert type(other) is type(thing)
        if isinstance(thing, sdpdr.Solution):
            assert other.record() == thing.record()
            assert other.values.keys() == thing.values.keys()
        else:
            assert repr(other) == repr(thing)


def test_an_error_is_the_same_in_another_process():
    """Whatever arguments it is made with."""
    for error in (
        errors.UnknownNameError("solver", "clarable", ["clarabel", "scs"]),
        errors.CompileError("Isometry", "it is curved"),
        errors.DisconnectedGraphError("two parts", [[0, 1], [2]]),
    ):
        error.__notes__ = ["while solving"]
        back = pickle.loads(pickle.dumps(error))
        assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))
    kinds = [e for e in vars(errors).values() if isinstance(e, type)]
    ours = [kind for kind in kinds if issubclass(kind, errors.SdpdrError)]
    assert len(ours) > 15
    for kind in ours:
        made = kind.__new__(kind, "words")
        assert pickle.loads(pickle.dumps(made)).args == ("words",)


@pytest.mark.nightly
@pytest.mark.skipif(os.name == "nt", reason="descriptors are those of Unix")
def test_a_daemon_that_has_closed_its_streams_gets_answers(tmp_path):
    closed = (0, 1, 2)
    code = f"""
import os
for number in {closed}:
    os.close(number)
import sys
sys.stdin, sys.stdout, sys.stderr = (
    None if k in {closed} else s for k, s in enumerate((sys.stdin, sys.stdout, sys.stderr))
)
import sdpdr
from sdpdr.lab import cli
from sdpdr import graphs, methods
model = methods.mvu(graphs.path([1.0, 2.0]))
said = [sdpdr.solve(model, name, time_limit=60.0).status.name for name in ("lowrank", "clarabel")]
said.append(str(cli.main(["solve", "path-graph"])))
with open({str(tmp_path / "said")!r}, "w") as file:
    file.write(" ".join(said))
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300, cwd=tmp_path)
    assert (tmp_path / "said").read_text() == "SOLVED SOLVED 0"
