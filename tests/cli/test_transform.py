"""Maps in files, samples of large tables, the number of neighbours, and pictures."""

import json
import os
import signal

import numpy as np
import pandas as pd
import pytest

import sdpdr as package
from sdpdr import datasets, graphs
from sdpdr.errors import FileFormatError
from sdpdr.families.regress.maps import KINDS
from sdpdr.lab.cli import main
from sdpdr.lab.cli.app import Exit
from sdpdr.lab.cli.saved import read_model

X, POSITION = datasets.swiss_roll(60, seed=0)
OLD, NEW = X[:40], X[40:]
QUICK = ("kernel", "linear", "barycentric")
TABLE = pd.DataFrame(X, columns=["x", "y", "z"])
TABLE.insert(0, "id", [f"p{k}" for k in range(60)])
TABLE["side"] = np.where(POSITION > 9, "out", "in")


@pytest.fixture
def halves(tmp_path):
    """Points of one roll in two files."""
    TABLE[:40].to_csv(tmp_path / "old.csv", index=False)
    TABLE[40:].to_csv(tmp_path / "new.csv", index=False)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """What ``--save`` wrote of the first half."""
    folder = tmp_path_factory.mktemp("map")
    TABLE[:40].to_csv(folder / "old.csv", index=False)
    assert main(["embed", str(folder / "old.csv"), "--save", str(folder / "m.npz")]) == Exit.OK
    return (folder / "m.npz").read_bytes()


@pytest.fixture
def model(tmp_path, halves, fitted):
    """The same in the directory of a test."""
    (tmp_path / "m.npz").write_bytes(fitted)
    return tmp_path / "m.npz"


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize(
    "kind",
    [pytest.param(k, marks=[] if k in QUICK else [pytest.mark.nightly]) for k in KINDS],
)
def test_a_map_survives_its_file(sdpdr, tmp_path, halves, kind):
    base = f"embed old.csv --extension {kind} --scale standard"
    assert sdpdr(f"{base} --save m.npz --out y.npy").code == Exit.OK
    assert sdpdr("transform m.npz new.csv --out new-y.csv").code == Exit.OK
    units = (X - OLD.mean(axis=0)) / OLD.std(axis=0)
    learned = package.MVU(extension=kind).fit(units[:40])
    found = pd.read_csv(tmp_path / "new-y.csv")
    np.testing.assert_allclose(found[["y1", "y2"]], learned.transform(units[40:]), atol=1e-6)
    np.testing.assert_allclose(found["trust"], learned.trust(units[40:]), atol=1e-12)
    assert found[["id", "side"]].equals(TABLE[40:][["id", "side"]].reset_index(drop=True))


def test_a_metric_is_a_linear_map(sdpdr, tmp_path, halves):
    ran = sdpdr("embed old.csv --method ghodsi --labels side --save m.npz --out y.npy")
    assert ran.code in (Exit.OK, Exit.UNCERTIFIED)
    assert sdpdr("transform m.npz old.csv --out again.npy").code == Exit.OK
    again = np.load(tmp_path / "again.npy")
    np.testing.assert_allclose(again[:, :-1], np.load(tmp_path / "y.npy"), atol=1e-12)


def test_a_model_is_no_program_and_other_files_are_no_models(sdpdr, model):
    with np.load(model, allow_pickle=False) as stored:
        arrays = dict(stored)
    assert all(array.dtype.kind in "fiU" for array in arrays.values())
    about = json.loads(str(arrays["about"]))
    assert (about["format"], about["columns"]) == ("sdpdr map", ["x", "y", "z"])
    later = np.array(str(arrays["about"]).replace('"version": 1', '"version": 9'))
    for spoilt in (
        {**arrays, "coef": np.array([{}], dtype=object)},
        {**arrays, "about": later},
        {name: array for name, array in arrays.items() if name != "coef"},
    ):
        np.savez(model, **spoilt)
        with pytest.raises(FileFormatError, match=r"is no model of `sdpdr embed --save`"):
            read_model(model)
    assert sdpdr("transform m.npz new.csv").code == Exit.BAD_INPUT


def test_columns_of_new_rows_are_known_by_name(sdpdr, tmp_path, model):
    sdpdr("transform m.npz new.csv --out a.npy")
    TABLE[40:][["z", "side", "y", "x"]].assign(w=0.5).to_csv(tmp_path / "b.csv", index=False)
    ran = sdpdr("transform m.npz b.csv --out b.npy")
    assert "not columns of the model, and left out: w." in ran.err
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy"))
    TABLE[40:].rename(columns={"z": "height"}).to_csv(tmp_path / "c.csv", index=False)
    ran = sdpdr("transform m.npz c.csv")
    assert ran.code == Exit.BAD_INPUT
    assert "c.csv has no column 'z'" in ran.err
    assert sdpdr("transform m.npz c.csv --columns x,y,height --out c.npy").code == Exit.OK
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "c.npy"))


def test_a_file_without_a_header_has_the_columns_of_the_model_in_its_order(sdpdr, tmp_path, model):
    sdpdr("transform m.npz new.csv --out a.npy")
    TABLE[40:][["x", "y", "z"]].to_csv(tmp_path / "b.csv", index=False, header=False)
    ran = sdpdr("transform m.npz b.csv --out b.npy")
    assert "has no header: its columns are taken in the order of the model, x, y, z." in ran.err
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy"))


def test_strange_rows_are_warned_of(sdpdr, tmp_path, model):
    (tmp_path / "far.csv").write_text("x,y,z\n1e3,0,0\n")
    ran = sdpdr("transform m.npz far.csv --json")
    assert "warning: rows 1 (line 2) are further" in ran.err
    assert json.loads(ran.out)["trust"]["below 0.05"] == [1]


# -- samples, neighbours ----------------------------------------------------------------------


def test_a_sample_is_that_of_the_estimator_and_the_others_are_placed(sdpdr, tmp_path, halves):
    ran = sdpdr("embed old.csv --sample 30 --n-neighbors 6 --seed 3 --out y.csv --json")
    assert json.loads(ran.out)["data"]["sample"] == 30
    found = pd.read_csv(tmp_path / "y.csv")
    chosen = np.flatnonzero(found["how"] == "embedded")
    whole = package.MVU(sample=30, extension="kernel", random_state=3).fit(OLD)
    np.testing.assert_array_equal(chosen, whole.sample_)
    np.testing.assert_allclose(found[["y1", "y2"]], whole.embedding_, atol=1e-12)


def test_the_number_of_neighbours_is_chosen(sdpdr, tmp_path, halves):
    chosen = graphs.choose_k(OLD).n_neighbors
    ran = sdpdr("embed old.csv --n-neighbors auto --record r.json")
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["hyperparameters"]["n_neighbors"] == chosen
    assert f"\n{chosen} neighbours: The error of means" in ran.out
    sample = json.loads(sdpdr("embed old.csv --sample 30 --out y.csv --json").out)
    rows = np.flatnonzero(pd.read_csv(tmp_path / "y.csv")["how"] == "embedded")
    of_sample = graphs.choose_k(OLD[rows]).n_neighbors
    assert sample["hyperparameters"]["n_neighbors"] == of_sample


# -- pictures and names ----------------------------------------------------------------------


def test_a_picture_has_a_name_of_its_own(sdpdr, tmp_path, model):
    assert "wrote new-embedding.png" in sdpdr("transform m.npz new.csv --figure").err
    assert (tmp_path / "new-embedding.png").read_bytes()[1:4] == b"PNG"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_the_message_about_a_signal_names_the_phase(sdpdr, tmp_path, halves, monkeypatch):
    monkeypatch.setattr(
        "sdpdr.lab.cli.embed.choose_k", lambda *a, **o: os.kill(os.getpid(), signal.SIGTERM)
    )
    ran = sdpdr("embed old.csv --drop id,side --n-neighbors auto --out y.csv --save m.npz")
    assert ran.code == 128 + signal.SIGTERM
    assert ran.err == (
        "error: interrupted (choosing the number of neighbours); nothing was written.\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv", "old.csv"]
