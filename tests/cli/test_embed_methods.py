"""``sdpdr embed --method``: every method once, its options, and wrong uses."""

import json
from inspect import isclass
from types import SimpleNamespace

import numpy as np
import pytest

import sdpdr as package
from sdpdr import datasets, estimators, methods
from sdpdr.families.metric.learner import MetricLearner
from sdpdr.families.unfold.estimators.gram import GramEmbedding
from sdpdr.lab.cli.app import Exit
from sdpdr.lab.cli.embed import embed_command
from sdpdr.lab.cli.methods import METHODS, actions, in_words, lengths, parsed, side_inputs
from sdpdr.lab.tables.files import read_table

N = 14
POINTS, POSITION = datasets.swiss_roll(N, seed=0)
KIND = np.where(POSITION > 9, "out", "in")
KNOWN = [kind if i % 2 else None for i, kind in enumerate(KIND)]
PLACES = np.where(np.arange(N)[:, None] % 4, np.nan, np.column_stack([POSITION, POINTS[:, 1]]))
TURNS = ["R" if i % 3 else "L" for i in range(N)]
ON_POINTS = "--columns x,y,z"


@pytest.fixture(autouse=True)
def table(tmp_path):
    """Points with everything that a method may want beside them."""
    lines = ["x,y,z,t,kind,known,u,v,turn,run,count,same,broken,sign"]
    for i, row in enumerate(POINTS.tolist()):
        u, v = ("" if np.isnan(place) else float(place) for place in PLACES[i])
        run, broken = "a" if i < 6 else "b", "ab"[i % 2]
        known = KNOWN[i] or ""
        beside = (float(POSITION[i]), KIND[i], known, u, v, TURNS[i], run, i, "one", broken)
        beside += (1 if POSITION[i] > 9 else -1,)
        lines.append(",".join(map(str, (*row, *beside))))
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def neighbours(method):
    """How many; exact lengths among five points in space, one too many, leave no interior."""
    if method in ("xing", "ghodsi", "distance_completion"):
        return {}
    return {"n_neighbors": 3 if method == "loocv" else 4}


def line(method, options=""):
    near = "".join(f"--n-neighbors {k}" for k in neighbours(method).values())
    points = "" if method == "distance_completion" else ON_POINTS
    return f"embed data.csv {points} {near} --method {method} {options}"


# Options, and the same in Python: hyperparameters, and what `fit` is given.
ONCE = {
    "mvu": ("", {}, {}),
    "mfnu": ("--set objective=variance", {"objective": "variance"}, {}),
    "colored_mvu": ("--labels kind", {}, {"y": KIND}),
    "anchored_mvu": (
        "--labels u,v --isometry slack:100",
        {"isometry": package.blocks.Slack(100.0)},
        {"y": PLACES},
    ),
    "distance_completion": (
        "--metric precomputed --set penalty=2 --n-components 3",
        {"penalty": 2.0, "n_components": 3},
        {},
    ),
    "are": (
        "--actions turn --sequences run",
        {},
        {"actions": TURNS[:5] + TURNS[6:-1], "lengths": [6, N - 6]},
    ),
    "ism": ("--labels known --set margin=2", {"margin": 2.0}, {"y": np.array(KNOWN, object)}),
    "mve": ("--set kappa=2 --tol 1e-2", {"kappa": 2.0, "tol": 1e-2}, {}),
    "density_map": ("--set variant=trace", {"variant": "trace"}, {}),
    "loocv": ("--set trace=none --tol 1e-5", {"trace": None, "tol": 1e-5}, {}),
    "xing": ("--labels kind --set diagonal=yes", {"diagonal": True}, {"y": KIND}),
    "ghodsi": ("--labels kind --n-components 2", {"n_components": 2}, {"y": KIND}),
}
FOUND = {
    "colored_mvu": {"hsic"},
    "anchored_mvu": {"anchors", "trust"},
    "distance_completion": {"rmse"},
    "are": {"action_error"},
    "ism": {"margin", "separating_dimension", "transduction"},
    "mve": {"n_iter"},
    "density_map": {"density"},
    "loocv": {"likelihoods"},
    "xing": {"components"},
    "ghodsi": {"components"},
}


@pytest.mark.nightly
@pytest.mark.parametrize("method", METHODS)
def test_every_method_does_what_its_estimator_does(sdpdr, tmp_path, method):
    options, given, fitted = ONCE[method]
    data = POINTS
    if METHODS[method].distances:
        data = np.linalg.norm(POINTS[:, None] - POINTS[None], axis=2)
        data[0, 5:] = data[5:, 0] = np.nan
        rows = ["" if np.isnan(x) else repr(float(x)) for x in data.ravel()]
        rows = [",".join(rows[i : i + N]) for i in range(0, N * N, N)]
        (tmp_path / "data.csv").write_text("\n".join(rows), encoding="utf-8")
    ran = sdpdr(line(method, f"{options} --out y.npy --record r.json"))
    assert ran.code == Exit.OK, ran.err
    assert ran.out.startswith("data.csv: ")
    assert f"\n{N} points" in ran.out or ran.out.startswith(f"data.csv: {N} points")
    learned = METHODS[method].estimator(**neighbours(method), **given).fit(data, **fitted)
    Y = learned.embedding_ if hasattr(learned, "embedding_") else learned.transform(POINTS)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), Y, atol=1e-9 * np.abs(Y).max())
    record = json.loads((tmp_path / "r.json").read_text())
    assert (record["method"], record["n_components"]) == (method, Y.shape[1])
    assert record["data"] == {"file": "data.csv", "shape": list(data.shape)}
    assert record["certified"] is True
    assert set(record["hyperparameters"]) == set(learned.get_params())
    assert set(record["results"]) == FOUND.get(method, set())


# -- one table of methods --------------------------------------------------------------------------


def test_every_estimator_that_embeds_is_a_method():
    exported = [getattr(estimators, name) for name in estimators.__all__]
    # Bases for estimators of one's own are gathered, and are not at the top.
    classes = {e for e in exported if isclass(e) and hasattr(package, e.__name__)}
    embed = {e for e in classes if issubclass(e, (GramEmbedding, MetricLearner))}
    of_distances = {method.estimator for method in METHODS.values() if method.distances}
    assert {method.estimator for method in METHODS.values()} - of_distances == embed
    assert of_distances == {package.DistanceCompletion}


def test_methods_have_the_names_of_their_recipes():
    assert [name for name in METHODS if not hasattr(methods, name)] == ["mve"]  # an iteration


def test_help_tells_every_method_with_what_it_takes(sdpdr):
    out = sdpdr("embed --help").out
    for name, method in METHODS.items():
        assert f"\n  {name}\n        {method.summary}\n" in out
        assert all(f"{key}=" in out for key in method.own)


def test_every_hyperparameter_can_be_set_to_its_default():
    for name, method in METHODS.items():
        for key, parameter in method.own.items():
            written = {True: "yes", False: "no"}.get(parameter.default, str(parameter.default))
            assert parsed(name, [(key, written)]) == {key: parameter.default}


# -- labels, actions, hyperparameters --------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words", "y"),
    [
        ("--labels t,y", "numbers", np.column_stack([POSITION, POINTS[:, 1]])),
        ("--labels count --labels-as numbers", "numbers", np.arange(float(N))),
        ("--labels count", f"{N} classes", np.arange(N)),
        ("--labels sign", "2 classes", np.where(POSITION > 9, 1, -1)),
    ],
)
def test_labels_are_classes_or_numbers(tmp_path, options, words, y):
    context = embed_command.make_context("embed", ["data.csv", *options.split()])
    args = SimpleNamespace(**{**context.params, "method": "colored_mvu"})
    read = side_inputs(read_table(tmp_path / "data.csv"), args)["y"]
    assert in_words(read) == words
    assert read.tolist() == (y.astype(str) if "class" in words else y).tolist()


def test_an_action_undoes_another_and_some_are_not_known(tmp_path):
    (tmp_path / "walk.csv").write_text("x,move,run\n1,R,a\n2,,a\n3,L,a\n4,R,b\n5,?,b\n")
    table = read_table(tmp_path / "walk.csv")
    runs = lengths(table, "run")
    assert (runs, actions(table, "move", runs)) == ([3, 2], ["R", None, "R"])


def test_an_iteration_that_does_not_settle_is_not_certified(sdpdr):
    ran = sdpdr(line("mve", "--set max_iter=1 --set kappa=0.5"))
    assert ran.code == Exit.UNCERTIFIED
    assert "warning: ITERATION_LIMIT" in ran.err
    assert "iteration: ITERATION_LIMIT" in ran.out


def test_a_metric_short_of_its_tolerance_is_not_certified(sdpdr):
    ran = sdpdr(line("xing", "--labels kind --set max_iter=1 --tol 1e-12 --json"))
    assert ran.code == Exit.UNCERTIFIED
    assert json.loads(ran.out)["status"] == "INACCURATE"


# -- wrong uses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        ("colored", "", "Did you mean 'colored_mvu'"),
        ("colored_mvu", "", "method colored_mvu needs --labels: a column of classes, or columns"),
        ("mvu", "--labels kind", "method mvu does not take --labels; leave it out, or choose"),
        ("ism", "--labels kind --labels-as numbers", "ism does not take --labels-as"),
        ("ism", "--labels t", "column 't' holds"),
        ("ism", "--labels kind,known", "--labels names 2 columns"),
        ("ghodsi", "--labels known", "rows without an entry in known: 1, 3"),
        ("colored_mvu", "--labels kind --labels-as numbers", "column 'kind' holds"),
        ("are", "--actions turn --sequences broken", "sequence 'a' of column 'broken' goes on"),
        ("anchored_mvu", "--labels u,v --n-components 3", "coordinates in 2 dimensions"),
        ("are", "--set inverse=L:R", "--set inverse is about actions: add --actions COLUMN"),
        ("xing", "--labels kind --n-neighbors 3", "It takes --tol, --seed."),
        ("are", "--form landmark --landmarks 5", "method are has no landmark form"),
        ("are", "--actions turn --sample 20", "method are does not take --sample"),
        ("mvu", "--form landmark", "for instance --landmarks 14"),
        ("density_map", "--set bandwith=2", "Did you mean 'bandwidth'"),
        ("mfnu", "--set n_neighbors=3", "an option of its own, --n-neighbors"),
        ("mve", "--set kappa=1 --set kappa=2", "'kappa' twice"),
        ("mve", "--set kappa=dear", "--set kappa=dear is not a number"),
        ("are", "--set inverse=LR", "inverse must be pairs such as L:R,U:D"),
    ],
)
def test_a_wrong_use_is_named_and_nothing_is_written(sdpdr, tmp_path, method, options, words):
    ran = sdpdr(line(method, f"{options} --out y.csv --record y.json"))
    assert ran.code == Exit.BAD_INPUT
    assert words in ran.err
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_a_margin_too_large_is_code_5(sdpdr):
    ran = sdpdr(line("ism", "--labels known --set margin=1e6 --out y.csv"))
    assert ran.code == Exit.NO_ANSWER
    assert "margin=1e+06 is more than" in ran.err


def test_values_are_read_as_what_they_are():
    assert parsed("ism", [("margin", "2"), ("anchors", "3,5"), ("slack", "none")]) == {
        "margin": 2.0,
        "anchors": [3, 5],
        "slack": None,
    }
    # Labels of actions are words.
    assert parsed("are", [("inverse", "1:2")]) == {"inverse": {"1": "2"}}
