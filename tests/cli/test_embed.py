"""``sdpdr embed``: what it writes, warns of and refuses."""

import json

import numpy as np
import pandas as pd
import pytest

import sdpdr as package
from sdpdr import datasets
from sdpdr.lab.cli.app import Exit


@pytest.fixture
def learned(roll):
    return package.MVU(n_neighbors=5).fit_transform(roll)


def test_places_and_the_record_agree_with_the_estimator(sdpdr, tmp_path, learned, roll_csv):
    ran = sdpdr("embed roll.csv --drop t,kind --n-neighbors 5 --out y.csv --record r.json --json")
    assert (ran.code, ran.err) == (Exit.OK, "wrote y.csv\nwrote r.json\n")
    np.testing.assert_allclose(pd.read_csv(tmp_path / "y.csv").to_numpy(), learned, rtol=1e-12)
    record = json.loads((tmp_path / "r.json").read_text())
    assert record == json.loads(ran.out)
    assert (record["certified"], record["graph"]["n"], record["method"]) == (True, 50, "mvu")
    assert record["data"]["file"] == "roll.csv"
    assert len(record["eigenvalues"]) >= 2


def test_precomputed_distances(sdpdr, tmp_path, roll, learned):
    distances = np.sqrt(np.square(roll[:, None] - roll).sum(axis=-1))
    np.save(tmp_path / "d.npy", distances)
    np.save(tmp_path / "q.npy", np.square(distances))
    base = "--metric precomputed --n-neighbors 5"
    assert sdpdr(f"embed d.npy {base} --out d-y.npy").code == Exit.OK
    np.testing.assert_allclose(np.load(tmp_path / "d-y.npy"), learned, atol=1e-6)
    ran = sdpdr(f"embed q.npy {base}")
    assert ran.err.startswith("nothing is written") or "warning: the precomputed" in ran.err
    assert "pass their square roots" in ran.err


# -- wrong input: an error in one line, exit code 3, nothing written -------------------------------


def spoilt(roll, how):
    table = roll.tolist()
    if how == "strings":
        table[3][1] = "green"
    elif how == "two points":
        table = table[:2]
    elif how == "zero variance":
        table = [[1.0, 2.0, 3.0]] * 20
    return "\n".join(",".join(map(str, row)) for row in [["x", "y", "z"][: len(table[0])], *table])


@pytest.mark.parametrize(
    ("how", "options", "words"),
    [
        ("strings", "", "data.csv, line 5: column 'y' holds 'green', which is not a number"),
        ("two points", "", "data.csv: rows: 2, and at least 3 are needed"),
        ("zero variance", "", "all 20 points are equal"),
        ("fine", "--n-components 51", "it must lie in 1..50, the number of distinct points"),
        ("fine", "--drop yy", "Did you mean 'y'"),
        ("fine", "--drop x,y,z", "no column is left"),
        ("fine", "--method mvv", "Did you mean 'mvu'"),
        ("fine", "--solver lowrnk", "Did you mean 'lowrank'"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(sdpdr, tmp_path, roll, how, options, words):
    (tmp_path / "data.csv").write_text(spoilt(roll, how))
    ran = sdpdr(f"embed data.csv {options} --out y.csv --figure y.svg --record y.json")
    assert ran.code == Exit.BAD_INPUT
    assert words in ran.err
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert ran.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_a_missing_file_and_a_directory_are_named(sdpdr, tmp_path):
    (tmp_path / "tables.csv").mkdir()
    assert "tables.csv is a directory" in sdpdr("embed tables.csv").err
    assert "nowhere.csv: there is no such file" in sdpdr("embed nowhere.csv").err
    for line in ("embed nowhere.csv --debug", "--debug embed nowhere.csv"):
        with pytest.raises(package.errors.FileFormatError):
            sdpdr(line)


def test_parquet_without_its_package_is_named_before_any_work(sdpdr, roll_csv, hide_packages):
    hide_packages("pyarrow")
    ran = sdpdr("embed roll.csv --out y.parquet")
    assert (ran.code, ran.err.count("\n")) == (Exit.BAD_INPUT, 1)
    assert 'pip install "sdpdr[parquet]"' in ran.err


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ("--out y.xls", Exit.BAD_INPUT, "Choose one of .csv"),
        ("--out nowhere/y.csv", Exit.BAD_INPUT, "Make it first"),
        ("--record y.txt", Exit.BAD_INPUT, "Choose .json"),
        ("--metric precomputed --scale", Exit.BAD_INPUT, "--scale standard is about coordinates"),
        ("--metric precomputed --sample 9", Exit.BAD_INPUT, "--sample is about coordinates"),
        ("--metric cosine --save m.npz", Exit.NO_SOLVER, "--metric cosine compares directions"),
        ("--isometry band", Exit.USAGE, "--isometry"),
        ("--n-neighbors 6.5", Exit.USAGE, "expected a whole number from 1 on, or auto; got '6.5'"),
        ("--sep ab", Exit.USAGE, "expected one of tab, space, comma, semicolon, pipe"),
        ("--drop-lines x", Exit.USAGE, "expected numbers of lines"),
        ("--set kappa", Exit.USAGE, "expected KEY=VALUE"),
        ("--n-neighbours 5", Exit.USAGE, "Did you mean '--n-neighbors'"),
    ],
)
def test_options_are_refused_before_any_work(sdpdr, roll_csv, options, code, words):
    ran = sdpdr(f"embed roll.csv {options}")
    assert (ran.code, ran.err.count("\n")) == (code, 1)
    assert words in ran.err


def test_a_failure_while_writing_leaves_nothing(sdpdr, tmp_path, roll_csv, monkeypatch):
    def fail(record):
        def write(path):
            path.write_text("half")
            raise OSError(28, "No space left on device", str(path))

        return write

    monkeypatch.setattr("sdpdr.lab.cli.terminal.record_writer", fail)
    ran = sdpdr("embed roll.csv --drop t,kind --out y.csv --record y.json")
    assert ran.code == Exit.BAD_INPUT
    assert "No space left" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["roll.csv"]


# -- warnings, limits, interruption ----------------------------------------------------------------


def test_duplicates_are_merged_with_a_warning(sdpdr, tmp_path, roll):
    np.save(tmp_path / "twice.npy", np.vstack([roll, roll[:2]]))
    ran = sdpdr("embed twice.npy --out y.npy")
    assert ran.code == Exit.OK
    assert "warning: 2 of 52 points repeat an earlier one: 51, 52 (counted from 1)." in ran.err
    Y = np.load(tmp_path / "y.npy")
    np.testing.assert_array_equal(Y[-2:], Y[:2])


def test_a_disconnected_graph_is_joined_or_cut_down(sdpdr, tmp_path):
    np.save(tmp_path / "two.npy", datasets.two_clusters(41, seed=0)[0])
    base = "embed two.npy --n-neighbors 3 --out y.npy --connect"
    ran = sdpdr(f"{base} bridges")
    assert (ran.code, "edges were added to join them" in ran.err) == (Exit.OK, True)
    assert np.isfinite(np.load(tmp_path / "y.npy")).all()
    ran = sdpdr(f"{base} largest")
    assert ran.code == Exit.OK
    assert "warning: kept the largest of" in ran.err
    assert np.isnan(np.load(tmp_path / "y.npy")).any(axis=1).sum() >= 20


def test_points_outside_of_the_largest_component_have_empty_cells(sdpdr, tmp_path):
    X = pd.DataFrame(np.arange(24.0).reshape(12, 2), columns=["a", "b"])
    X.iloc[9:] += 500.0
    X.iloc[2, 1] = np.nan
    X.to_csv(tmp_path / "stray.csv")
    options = "--connect largest --n-neighbors 2 --missing drop --out y.csv"
    ran = sdpdr(f"embed stray.csv {options}")
    assert ran.code == Exit.OK
    assert "3 points outside of the largest component have no position" in ran.out
    lines = (tmp_path / "y.csv").read_text().splitlines()
    assert lines[0] == ",y1,y2"
    assert lines[-3:] == ["9,,", "10,,", "11,,"]


@pytest.mark.integration
def test_at_the_time_limit_the_best_point_is_graded_and_written(sdpdr, tmp_path):
    np.save(tmp_path / "roll.npy", datasets.swiss_roll(500, seed=0)[0])
    ran = sdpdr("embed roll.npy --time-limit 0.001 --out y.npy --record r.json")
    assert ran.code == Exit.UNCERTIFIED
    assert "warning: TIME_LIMIT" in ran.err
    assert "a larger --time-limit" in ran.err
    assert json.loads((tmp_path / "r.json").read_text())["status"] == "TIME_LIMIT"
    assert np.isfinite(np.load(tmp_path / "y.npy")).all()


def test_an_interruption_writes_nothing_and_is_130(sdpdr, tmp_path, roll_csv, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("sdpdr.families.unfold.estimators.gram.solve", interrupt)
    ran = sdpdr("embed roll.csv --drop t,kind --out y.csv")
    assert ran.code == Exit.INTERRUPTED
    assert ran.err == "error: interrupted (embedding 50 rows); nothing was written.\n"
    assert not (tmp_path / "y.csv").exists()


def test_an_interruption_of_the_proofs_writes_the_best_point(
    sdpdr, tmp_path, roll_csv, monkeypatch
):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("sdpdr.solving.proofs.certify", interrupt)
    ran = sdpdr("embed roll.csv --drop t,kind --out y.csv --record y.json")
    assert ran.code == Exit.INTERRUPTED
    assert "INTERRUPTED" in ran.err
    assert (tmp_path / "y.csv").exists()
    assert (tmp_path / "y.json").exists()
