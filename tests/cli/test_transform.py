"""Maps in files, samples of large tables, the number of neighbours, pictures, and shells."""

import importlib.util
import json
import os
import signal

import numpy as np
import pandas as pd
import pytest

import sdpdr as package
from sdpdr import datasets, graphs
from sdpdr.base.progress import Log, show_count, working
from sdpdr.errors import FileFormatError
from sdpdr.lab.cli import app
from sdpdr.lab.cli.options import Exit
from sdpdr.lab.cli.saved import read_model


@pytest.fixture
def halves(tmp_path):
    """Points of one roll in two files, the first with names."""
    X, t = datasets.swiss_roll(120, seed=0)
    table = pd.DataFrame(X, columns=["x", "y", "z"])
    table.insert(0, "id", [f"p{k}" for k in range(120)])
    table["side"] = np.where(t > 9, "out", "in")
    table[:80].to_csv(tmp_path / "old.csv", index=False)
    table[80:].to_csv(tmp_path / "new.csv", index=False)
    return table


@pytest.mark.parametrize("kind", ["kernel", "linear", "sparse", "barycentric", "landmark"])
def test_a_map_survives_its_file(sdpdr, tmp_path, halves, kind):
    base = f"embed old.csv --n-neighbors 6 --extension {kind} --scale standard"
    assert sdpdr(f"{base} --save m.npz --out y.npy").code == Exit.OK
    assert sdpdr("transform m.npz new.csv --out new-y.csv").code == Exit.OK
    X = halves[["x", "y", "z"]].to_numpy()
    old = X[:80]
    units = (X - old.mean(axis=0)) / old.std(axis=0)
    learned = package.MVU(n_neighbors=6, extension=kind).fit(units[:80])
    found = pd.read_csv(tmp_path / "new-y.csv")
    np.testing.assert_allclose(found[["y1", "y2"]], learned.transform(units[80:]), atol=1e-6)
    np.testing.assert_allclose(found["trust"], learned.trust(units[80:]), atol=1e-12)
    assert found["id"].tolist() == halves["id"][80:].tolist()
    assert found["side"].tolist() == halves["side"][80:].tolist()


def test_a_model_behind_its_table_is_told_the_order(sdpdr, tmp_path, halves):
    assert not sdpdr("embed old.csv --save m.npz").code
    ran = sdpdr("transform new.csv m.npz --out z.csv")
    assert ran.code == Exit.BAD_INPUT
    assert "m.npz is one, and comes first: sdpdr transform m.npz new.csv" in ran.err
    assert "comes first" not in sdpdr("transform new.csv old.csv --out z.csv").err


def test_columns_called_nearly_so_are_offered_in_the_order_of_the_model(sdpdr, tmp_path, halves):
    assert not sdpdr("embed old.csv --save m.npz --n-neighbors 6").code
    assert not sdpdr("transform m.npz new.csv --out plain.csv").code
    other = halves[80:].rename(columns={"x": "X", "z": " Z"})[["id", " Z", "X", "y", "side"]]
    other.to_csv(tmp_path / "other.csv", index=False)
    ran = sdpdr("transform m.npz other.csv --out z.csv")
    assert ran.code == Exit.BAD_INPUT
    option = ran.err.partition("If others are meant, ")[2].partition(" says")[0]
    assert option == "--columns X,y,Z"
    assert not sdpdr(f"transform m.npz other.csv --out z.csv {option}").code
    plain, found = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("plain", "z"))
    pd.testing.assert_frame_equal(plain, found)
    for option in ("--drop SIDE", "--color SIDE"):
        assert "Did you mean 'side'?" in sdpdr(f"embed old.csv {option}").err


def test_a_metric_is_a_linear_map(sdpdr, tmp_path, halves):
    ran = sdpdr("embed old.csv --method ghodsi --labels side --save m.npz --out y.npy")
    assert ran.code in (Exit.OK, Exit.UNCERTIFIED)
    assert sdpdr("transform m.npz old.csv --out again.npy").code == Exit.OK
    again = np.load(tmp_path / "again.npy")
    np.testing.assert_allclose(again[:, :-1], np.load(tmp_path / "y.npy"), atol=1e-12)


def test_a_model_is_no_program(sdpdr, tmp_path, halves):
    sdpdr("embed old.csv --save m.npz")
    with np.load(tmp_path / "m.npz", allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    assert all(array.dtype.kind in "fiU" for array in arrays.values())
    about = json.loads(str(arrays["about"]))
    assert (about["format"], about["columns"]) == ("sdpdr map", ["x", "y", "z"])
    np.savez(tmp_path / "evil.npz", **{**arrays, "coef": np.array([{}], dtype=object)})
    with pytest.raises(FileFormatError, match="is no model"):
        read_model(tmp_path / "evil.npz")


@pytest.mark.parametrize("spoil", ["version", "units", "coef", "json"])
def test_a_file_that_is_no_model_is_refused(sdpdr, tmp_path, halves, spoil):
    sdpdr("embed old.csv --save m.npz")
    with np.load(tmp_path / "m.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    if spoil == "version":
        arrays["about"] = np.array(str(arrays["about"]).replace('"version": 1', '"version": 9'))
    elif spoil == "units":
        arrays["spread"] = arrays["spread"][:2]
    elif spoil == "json":
        arrays["about"] = np.array("{")
    else:
        del arrays["coef"]
    np.savez(tmp_path / "m.npz", **arrays)
    ran = sdpdr("transform m.npz new.csv")
    assert ran.code == Exit.BAD_INPUT
    assert "m.npz is no model of `sdpdr embed --save`" in ran.err


def test_columns_of_new_rows_are_known_by_name(sdpdr, tmp_path, halves):
    sdpdr("embed old.csv --save m.npz")
    sdpdr("transform m.npz new.csv --out a.npy")
    halves[80:][["z", "side", "y", "x"]].assign(w=0.5).to_csv(tmp_path / "b.csv", index=False)
    ran = sdpdr("transform m.npz b.csv --out b.npy")
    assert "the model does not know w; left out" in ran.err
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy"))
    halves[80:].rename(columns={"z": "height"}).to_csv(tmp_path / "c.csv", index=False)
    ran = sdpdr("transform m.npz c.csv")
    assert ran.code == Exit.BAD_INPUT
    assert "c.csv has no column 'z'" in ran.err
    assert sdpdr("transform m.npz c.csv --columns x,y,height --out c.npy").code == Exit.OK
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "c.npy"))


def test_strange_rows_are_told(sdpdr, tmp_path, halves):
    sdpdr("embed old.csv --save m.npz")
    (tmp_path / "far.csv").write_text("x,y,z\n1e3,0,0\n")
    ran = sdpdr("transform m.npz far.csv --json")
    assert "warning: rows 1 lie further" in ran.err
    assert json.loads(ran.out)["trust"]["below 0.05"] == [1]


# -- samples, neighbours ----------------------------------------------------------------------


def test_a_sample_is_embedded_and_the_others_are_placed(sdpdr, tmp_path, halves):
    ran = sdpdr("embed old.csv --sample 60 --n-neighbors 6 --seed 3 --out y.csv --json")
    assert json.loads(ran.out)["data"]["sample"] == 60
    found = pd.read_csv(tmp_path / "y.csv")
    chosen = np.flatnonzero(found["how"] == "embedded")
    assert (len(found), chosen.size) == (80, 60)
    X = halves[["x", "y", "z"]].to_numpy()[:80]
    learned = package.MVU(n_neighbors=6, extension="kernel", random_state=3).fit(X[chosen])
    Y = found[["y1", "y2"]].to_numpy()
    np.testing.assert_allclose(Y[chosen], learned.embedding_, atol=1e-9)
    others = np.setdiff1d(np.arange(80), chosen)
    np.testing.assert_allclose(Y[others], learned.transform(X[others]), atol=1e-9)


def test_the_sample_is_that_of_the_estimator(sdpdr, tmp_path, halves):
    X = halves[["x", "y", "z"]].to_numpy()[:80]
    sdpdr("embed old.csv --sample 60 --n-neighbors 6 --seed 3 --out y.csv")
    whole = package.MVU(n_neighbors=6, sample=60, extension="kernel", random_state=3).fit(X)
    found = pd.read_csv(tmp_path / "y.csv")
    np.testing.assert_array_equal(np.flatnonzero(found["how"] == "embedded"), whole.sample_)
    np.testing.assert_allclose(found[["y1", "y2"]], whole.embedding_, atol=1e-12)
    # Of a method that takes none, the same rows are drawn.
    sdpdr("embed old.csv --sample 60 --method ism --labels side --seed 3 --out y.csv")
    drawn = np.flatnonzero(pd.read_csv(tmp_path / "y.csv")["how"] == "embedded")
    np.testing.assert_array_equal(drawn, whole.sample_)


def test_rows_of_a_sample_that_its_graph_drops_are_placed(sdpdr, tmp_path):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((40, 2)), 50.0 + rng.random((8, 2))])
    pd.DataFrame(X, columns=["a", "b"]).to_csv(tmp_path / "two.csv", index=False)
    sdpdr("embed two.csv --sample 40 --n-neighbors 4 --connect largest --out y.csv")
    assert pd.read_csv(tmp_path / "y.csv")[["y1", "y2"]].notna().all(axis=None)


def test_neighbours_of_a_sample_are_chosen(sdpdr, tmp_path, halves):
    sample = sdpdr("embed old.csv --sample 60 --out y.csv --json")
    chosen = np.flatnonzero(pd.read_csv(tmp_path / "y.csv")["how"] == "embedded")
    choice = graphs.choose_k(halves[["x", "y", "z"]].to_numpy()[chosen])
    assert json.loads(sample.out)["hyperparameters"]["n_neighbors"] == choice.n_neighbors
    said = sdpdr("embed old.csv --sample 60 --n-neighbors 5 --json")
    assert json.loads(said.out)["hyperparameters"]["n_neighbors"] == 5
    assert sdpdr("embed old.csv --sample 60 --method ghodsi --labels side").code in (0, 1)


def test_a_sample_of_all_rows_is_no_sample(sdpdr, tmp_path, halves):
    sdpdr("embed old.csv --sample 80 --out a.csv")
    assert "how" not in (tmp_path / "a.csv").read_text()


def test_single_rows_are_not_drawn_from_sequences(sdpdr, tmp_path, halves):
    ran = sdpdr("embed old.csv --method are --actions side --sample 20")
    assert ran.code == Exit.BAD_INPUT
    assert "rows in order of time" in ran.err


def test_the_number_of_neighbours_is_chosen(sdpdr, halves):
    ran = sdpdr("embed old.csv --n-neighbors auto --json")
    chosen = graphs.choose_k(halves[["x", "y", "z"]].to_numpy()[:80]).n_neighbors
    assert json.loads(ran.out)["hyperparameters"]["n_neighbors"] == chosen
    assert (
        f"\n{chosen} neighbours: The error of means"
        in sdpdr("embed old.csv --n-neighbors auto").out
    )
    assert sdpdr("embed old.csv --n-neighbors some").code == Exit.USAGE
    assert sdpdr("embed old.csv --method ghodsi --labels side --n-neighbors auto").code == 3


# -- pictures, words, shells ------------------------------------------------------------------


def test_a_picture_has_a_name_of_its_own(sdpdr, tmp_path, halves):
    ran = sdpdr("embed old.csv --figure")
    assert "wrote old-embedding.png" in ran.err
    assert (tmp_path / "old-embedding.png").read_bytes()[1:4] == b"PNG"
    assert sdpdr("embed old.csv --save m.npz").code == Exit.OK
    assert "wrote new-embedding.png" in sdpdr("transform m.npz new.csv --figure").err
    assert (tmp_path / "new-embedding.png").read_bytes()[1:4] == b"PNG"


def test_coordinates_found_are_called_by_those_known(sdpdr, tmp_path, halves):
    old = pd.read_csv(tmp_path / "old.csv")
    old["lon"], old["lat"] = old["x"].where(old.index < 9), old["z"].where(old.index < 9)
    old.to_csv(tmp_path / "old.csv", index=False)
    known = "--columns x,y,z --method anchored_mvu --labels lon,lat --isometry slack:1"
    sdpdr(f"embed old.csv {known} --out y.csv --save m.npz")
    written = pd.read_csv(tmp_path / "y.csv")
    assert list(written.columns)[-2:] == ["lon_found", "lat_found"]
    np.testing.assert_array_equal(written["lon"], old["lon"])
    np.testing.assert_allclose(written["lon_found"][:9], old["lon"][:9], atol=1e-6)
    sdpdr("transform m.npz new.csv --out z.csv")
    placed = pd.read_csv(tmp_path / "z.csv")
    assert list(placed.columns)[-3:] == ["lon_found", "lat_found", "trust"]


def test_work_is_told_in_lines_where_nobody_looks():
    lines = []
    with Log(lines.append, every=0.01) as log:
        working("counting")
        while len(lines) < 3:
            with show_count(None, "sheep", 10) as count:
                count(4)
                assert log.doing.startswith("sheep: 40 %")
        assert log.doing == "counting"
    assert all(line.partition(" s: ")[2] for line in lines)


def test_what_was_predicted_is_said_before_long_work(capsys):
    from sdpdr.lab.cli.console import foretold

    foretold("lowrank, factor form", 0.2, "0.2 s and 3 MiB")
    foretold("lowrank, factor form", 223.0, "223 s and 1.5 GiB")
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("lowrank, factor form: predicted to take 223 s and 1.5 GiB; ")
    assert "--sample N" in line


def test_neighbours_of_many_points_are_foretold(sdpdr, tmp_path, monkeypatch):
    np.save(tmp_path / "wide.npy", np.random.default_rng(0).standard_normal((40, 12)))
    np.save(tmp_path / "narrow.npy", datasets.swiss_roll(40, seed=0)[0])
    assert "predicted" not in sdpdr("embed wide.npy --connect mst").err
    monkeypatch.setattr("sdpdr.graphs.search._PAIR", 0.1)
    ran = sdpdr("embed wide.npy --connect mst")
    assert "neighbours of 40 points: predicted to take at most 160 s; of a table, " in ran.err
    assert "predicted" not in sdpdr("embed narrow.npy --connect mst").err


def test_the_plan_foretells_what_it_knows():
    told = []
    with Log(foretold=lambda *words: told.append(words)):
        package.solve(package.methods.mvu(graphs.path([1.0, 2.0, 1.0])))
    [(what, seconds, words)] = told
    assert what == "lowrank, factor form"
    assert seconds == package.plan(package.methods.mvu(graphs.path([1.0, 2.0, 1.0]))).cost.seconds
    assert "iB" in words


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_who_is_asked_to_end_says_where_it_was(sdpdr, tmp_path, halves, monkeypatch):
    monkeypatch.setattr(
        "sdpdr.lab.cli.learned.choose_k", lambda *a, **o: os.kill(os.getpid(), signal.SIGTERM)
    )
    ran = sdpdr("embed old.csv --drop id,side --n-neighbors auto --out y.csv --save m.npz")
    assert ran.code == 128 + signal.SIGTERM
    assert ran.err == (
        "error: interrupted (choosing the number of neighbours); nothing was written.\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv", "old.csv"]


@pytest.mark.skipif(importlib.util.find_spec("shtab") is None, reason="shtab is an extra")
@pytest.mark.parametrize("shell", app.SHELLS)
def test_shells_learn_every_option(sdpdr, shell):
    script = sdpdr(f"completion {shell}")
    assert script.code == Exit.OK
    assert all(word in script.out for word in ("transform", "n-neighbors", "doctor", "sample"))


def test_completion_without_its_package_says_what_to_install(sdpdr, hide_packages):
    hide_packages("shtab")
    ran = sdpdr("completion bash")
    assert ran.code == Exit.BAD_INPUT
    assert 'pip install "sdpdr[completion]"' in ran.err
