"""Recipes, our solvers, proofs and estimators need NumPy, SciPy and scikit-learn only."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ABSENT = ("cvxpy", "clarabel", "scs", "qdldl", "osqp", "pandas", "matplotlib", "rich", "click")
CHECKER = Path(__file__).parents[2] / "checker" / "check_proof.py"
RUN = """
import json, sys
from importlib import metadata
from importlib.machinery import PathFinder

absent, proof = json.loads(sys.argv[1]), sys.argv[2]
real = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in absent else real(name, path, target)

def from_name(name):
    if name in absent:
        raise metadata.PackageNotFoundError(name)
    return found_by(name)

PathFinder.find_spec = find_spec
found_by = metadata.Distribution.from_name
metadata.Distribution.from_name = from_name

import sdpdr
from sdpdr import graphs, methods

zigzag = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.1], [2.3, 1.1]]
model = methods.mvu(graphs.cycle(5))
x, K = sdpdr.scalar("x"), sdpdr.psd("K", 3)
programs = {
    "rigorous": model,
    "tiny": sdpdr.minimize(K[0, 0] + 2.0 * K[1, 1] - K[0, 1]) + (K[0, 0] + K[1, 1] == 1.0),
    "unbounded": sdpdr.maximize(K[0, 1]) + (K[0, 0] == 1.0),
    "infeasible": sdpdr.minimize(x) + (K[0, 0] <= -1.0 + 0.0 * x),
    # No point of it is inside of the cone.
    "face": sdpdr.minimize(K[1, 1] + K[2, 2]) + (K[0, 0] == 0.0) + (K[1, 2] >= 1.0),
}
fitted = sdpdr.MVU(n_neighbors=1, n_components=1).fit(zigzag)
answers = {"estimator": fitted.solution_}
answers |= {name: sdpdr.solve(of, rigorous=name == "rigorous") for name, of in programs.items()}
answers["verified"] = sdpdr.verify(programs["tiny"], answers["tiny"])
found = {name: [answer.status.name, answer.bound] for name, answer in answers.items()}
found["diagnosis"] = [each.kind.name for each in sdpdr.diagnose(programs["infeasible"])]
A = [[4.0, 1.0, 0.0], [1.0, 3.0, 2.0], [0.0, 2.0, 5.0], [1.0, 1.0, 1.0]]
found["nmf_bound"] = [sdpdr.nmf_bound(A, k=2).lower]
assert not answers["estimator"].write_proof(proof).missing

def message(call):
    try:
        call()
    except sdpdr.errors.SdpdrError as error:
        return type(error).__name__, str(error)

found["messages"] = [message(call) for call in (
    lambda: sdpdr.CVXPY,
    lambda: sdpdr.plot,
    lambda: model.to_cvxpy(),
    lambda: sdpdr.solve(model, "clarabel"),
    lambda: sdpdr.solve(model, "cvxopt"),
    lambda: sdpdr.solve(model, "scs", "cvxpy"),
    lambda: sdpdr.solve(sdpdr.maximize(sdpdr.lambda_min(K)) + (K[0, 0] <= 1.0)),
    lambda: answers["tiny"].plot(),
    lambda: sdpdr.diagnose(model).to_frame(),
)]
found["imported"] = [name for name in absent if name in sys.modules]
print(json.dumps(found))
"""


@pytest.mark.integration
def test_the_core_answers_without_the_packages_beside_it(tmp_path):
    proof = str(tmp_path / "answer.proof")
    words = [sys.executable, "-c", RUN, json.dumps(ABSENT), proof]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("imported") == []
    for kind, message in found.pop("messages"):
        assert kind in ("PackageMissingError", "SolverMissingError")
        assert "pip install" in message
    assert found.pop("diagnosis")[0] == "CONFLICT"
    # From closed forms, and from the same with all packages.
    assert found == {
        "estimator": ["SOLVED", pytest.approx(6.4075, rel=1e-5)],
        "rigorous": ["SOLVED", pytest.approx((5 + 5**0.5) / 2, rel=1e-5)],
        "tiny": ["SOLVED", pytest.approx((3 - 2**0.5) / 2, rel=1e-5)],
        "verified": ["SOLVED", pytest.approx((3 - 2**0.5) / 2, rel=1e-5)],
        "unbounded": ["UNBOUNDED", None],
        "infeasible": ["INFEASIBLE", None],
        "face": ["SOLVED", pytest.approx(2.0, rel=1e-5)],
        "nmf_bound": [pytest.approx(1.50458, rel=1e-5)],
    }
    checked = subprocess.run([sys.executable, CHECKER, proof], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
