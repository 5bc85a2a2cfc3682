"""What is fitted to points in millimetres is what is fitted to them in miles, times the unit."""

from functools import cache

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.blocks import Band, Slack
from sdpdr.errors import ModelError
from sdpdr.families.unfold.estimators.units import in_unit, out_of_unit
from sdpdr.model import Block
from sdpdr.model.terms import Raw
from sdpdr.program import as_dense

ROLL, ANGLE = sdpdr.datasets.swiss_roll(10, seed=0)
KNOWN = np.where(np.arange(10) % 3 == 1, -1, np.sin(0.7 * ANGLE) > 0)
KEPT = {"n_neighbors": 3, "time_limit": None}

# How an estimator is made for points that are c times as far apart; squared lengths are told so.
FITTED = {
    "loocv": lambda c: sdpdr.LOOCVUnfolding(**KEPT),
    "loocv of a trace": lambda c: sdpdr.LOOCVUnfolding(**KEPT, trace=4e3 * c**2),
    "loocv of a minimum": lambda c: sdpdr.LOOCVUnfolding(**KEPT, minimum=4e2 * c**2),
    "loocv on a sphere": lambda c: sdpdr.LOOCVUnfolding(**KEPT, unit=True),
    "loocv of a sample": lambda c: sdpdr.LOOCVUnfolding(**KEPT, sample=8),
    "ism": lambda c: sdpdr.ISM(**KEPT),
    "ism of a margin": lambda c: sdpdr.ISM(**KEPT, margin=1.5 * c**2, furthest="auto"),
    "ism of half the margin": lambda c: sdpdr.ISM(**KEPT, margin="half", isometry=Band(0.3)),
    "ism at a price": lambda c: sdpdr.ISM(**KEPT, slack=40.0, decision="hyperplane"),
    "ism with dear lengths": lambda c: sdpdr.ISM(**KEPT, isometry=Slack(90.0, "absolute")),
}
LENGTHS = ("embedding_", "ways_")
SQUARES = ("gram_", "eigenvalues_", "likelihoods_", "scores_", "margin_")
NUMBERS = ("transduction_", "anchors_", "sample_", "separating_dimension_", "length_kept_")


@cache
def answer(name, c=1.0):
    """What a fit to points c times as far apart learns, in the unit of the points as they are."""
    found = FITTED[name](c).fit(c * ROLL, *([KNOWN] if "ism" in name else []))
    solution = found.solution_
    # Of a sample, the points outside are placed among a kernel, in its unit; a sphere has its own.
    u = 1.0 if "sphere" in name else c
    told = {k: getattr(found, k) / u for k in LENGTHS if hasattr(found, k)}
    told |= {k: as_dense(getattr(found, k)) / u**2 for k in SQUARES if hasattr(found, k)}
    told |= {k: getattr(found, k) for k in NUMBERS if hasattr(found, k)}
    told |= {k: getattr(solution, k) / u**2 for k in ("value", "bound", "attained")}
    told |= {
        f"claimed by {run.solver}": run.value / u**2
        for run in solution.runs
        if run.value is not None  # of a folded kernel
    }
    return told | {f"dual of {label}": y for label, y in solution.duals.items()}


@pytest.mark.parametrize("k", [-25, *(pytest.param(k, marks=pytest.mark.nightly) for k in (1, 26))])
@pytest.mark.parametrize("name", sorted(FITTED))
def test_in_another_power_of_two_all_is_the_same(name, k):
    here, there = answer(name), answer(name, 2.0**k)
    assert here.keys() == there.keys()
    for key, number in here.items():
        np.testing.assert_array_equal(there[key], number, err_msg=key)


@pytest.mark.parametrize("k", [7, *(pytest.param(k, marks=pytest.mark.nightly) for k in (-8, -1))])
@pytest.mark.parametrize("name", sorted(FITTED))
def test_in_another_power_of_ten_it_is_so_but_for_rounding(name, k):
    here, there = answer(name), answer(name, 10.0**k)
    assert here.keys() == there.keys()
    # Of a leave-one-out kernel with exact lengths only the likelihoods are unique, and next to no
    # interior leaves rounding to decide which of two points within the tolerance is found.
    near = 1e-6 if name.startswith("loocv") else 1e-9
    for key in ("value", "bound", "attained"):
        assert there[key] == pytest.approx(here[key], rel=near)
    for key in ("transduction_", "anchors_", "sample_"):
        np.testing.assert_array_equal(there.get(key), here.get(key))
    for key in ("likelihoods_",) if name.startswith("loocv") else ("gram_", "scores_"):
        size = np.nanmax(np.abs(here[key]))
        np.testing.assert_allclose(there[key], here[key], rtol=0.0, atol=np.sqrt(near) * size)


GRAPH = graphs.knn(ROLL, n_neighbors=4)
# Three points in a line keep their lengths, and lie on a face.
FOLDED = graphs.from_edges(5, [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4]], [1.0, 4.0, 1.0, 2.0, 2.0])
CLASSES = [0, *[None] * 8, 1]
MODELS = {
    "a factor": (methods.mvu(GRAPH), "lowrank"),
    "inequalities of matrices": (methods.loocv(GRAPH, trace=4e3, isometry=Band(0.1)), "clarabel"),
    "squares": (methods.mvu(GRAPH, Slack(0.1)), "clarabel"),
    "prices": (methods.ism(GRAPH, CLASSES, slack=9.0), "clarabel"),
    "a face": (methods.mvu(FOLDED, "equality"), "auto"),
}


@pytest.mark.parametrize("name", MODELS)
def test_an_answer_in_a_unit_is_one_to_the_model(name):
    model, solver = MODELS[name]
    plain, small = sdpdr.solve(model, solver), sdpdr.solve(in_unit(model, 64.0), solver)
    found = out_of_unit(small, model, 64.0)
    sdp = model.to_sdp()
    assert found.value == pytest.approx(plain.value, rel=1e-6) == 64.0 * small.value
    assert sdp.report(sdp.primal_value(found.values)) == pytest.approx(found.value, rel=1e-9)
    assert bool(found.exposures) == bool(plain.exposures) == (name == "a face")
    if not found.exposures:
        assert sdp.report(sdp.dual_value(found.duals)) == pytest.approx(found.bound, rel=1e-5)
        assert found.certified(1e-6)
    assert found.backward_error < 1e-6
    assert found.slacks.keys() == plain.slacks.keys()
    assert [run.value for run in found.runs] == [64.0 * run.value for run in small.runs]


def test_a_unit_of_one_changes_nothing():
    model = methods.mvu(GRAPH)
    solution = sdpdr.solve(model)
    assert in_unit(model, 1.0) is model
    assert out_of_unit(solution, model, 1.0) is solution


def test_what_is_written_in_cvxpy_has_no_other_unit():
    class Own(Block):
        def terms(self):
            yield Raw(lambda variables: [])

    changed = in_unit(methods.mvu(GRAPH) + Own(), 2.0)
    with pytest.raises(ModelError, match="Raw term"):
        changed.to_sdp()
