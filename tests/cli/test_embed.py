"""``sdpdr embed``: what it writes, warns of and refuses."""

import json

import numpy as np
import pandas as pd
import pytest

import sdpdr as package
from sdpdr import datasets
from sdpdr.lab.cli.options import Exit


@pytest.fixture
def learned(roll):
    return package.MVU(n_neighbors=5).fit_transform(roll)


@pytest.mark.parametrize("suffix", ["csv", "npy"])
def test_places_agree_with_the_estimator(sdpdr, tmp_path, roll, learned, suffix):
    pd.DataFrame(roll).to_csv(tmp_path / "points.csv", index=False)
    np.save(tmp_path / "points.npy", roll)
    ran = sdpdr(f"embed points.{suffix} --n-neighbors 5 --out y.{suffix}")
    assert ran.code == Exit.OK
    assert f"wrote y.{suffix}" in ran.err
    path = tmp_path / f"y.{suffix}"
    Y = np.load(path) if suffix == "npy" else pd.read_csv(path).to_numpy()
    np.testing.assert_allclose(Y, learned, rtol=1e-12)


def test_the_record_tells_what_was_done(sdpdr, tmp_path, roll_csv):
    ran = sdpdr("embed roll.csv --drop t,kind --record r.json --json --n-neighbors 5")
    record = json.loads((tmp_path / "r.json").read_text())
    assert record == json.loads(ran.out)
    assert record["certified"] is True
    assert record["graph"]["n"] == 50
    assert record["method"] == "mvu"
    assert record["data"]["file"] == "roll.csv"
    assert len(record["eigenvalues"]) >= 2


def test_precomputed_distances_plain_and_squared(sdpdr, tmp_path, roll, learned):
    distances = np.sqrt(np.square(roll[:, None] - roll).sum(axis=-1))
    np.save(tmp_path / "d.npy", distances)
    np.save(tmp_path / "q.npy", np.square(distances))
    base = "--metric precomputed --n-neighbors 5"
    assert sdpdr(f"embed d.npy {base} --out d-y.npy").code == Exit.OK
    assert sdpdr(f"embed q.npy {base} --squared --out q-y.npy").code == Exit.OK
    np.testing.assert_allclose(np.load(tmp_path / "d-y.npy"), learned, atol=1e-6)
    np.testing.assert_allclose(np.load(tmp_path / "q-y.npy"), learned, atol=1e-6)
    ran = sdpdr(f"embed q.npy {base}")
    assert ran.err.startswith("nothing is written") or "warning: the precomputed" in ran.err
    assert "pass --squared" in ran.err


# -- wrong input: an error in one line, exit code 3, nothing written -------------------------------


def spoilt(roll, how):
    table = roll.tolist()
    if how == "strings":
        table[3][1] = "green"
    elif how == "two points":
        table = table[:2]
    elif how == "zero variance":
        table = [[1.0, 2.0, 3.0]] * 20
    elif how == "two clusters":
        table = datasets.two_clusters(40, seed=0)[0].tolist()
    return "\n".join(",".join(map(str, row)) for row in [["x", "y", "z"][: len(table[0])], *table])


@pytest.mark.parametrize(
    ("how", "options", "words"),
    [
        ("strings", "", "data.csv, line 5: column 'y' holds 'green', which is not a number"),
        ("two points", "", "data.csv: there are 2 rows, and at least 3 are needed"),
        ("zero variance", "", "all 20 points are equal"),
        ("two clusters", "--n-neighbors 3 --connect error", "or --connect mst to add"),
        ("fine", "--n-components 51", "it must lie in 1..50, the number of distinct points"),
        ("fine", "--drop yy", "Did you mean 'y'"),
        ("fine", "--drop=", "unknown column ''"),
        ("fine", "--drop x,y,z", "no column is left"),
        ("fine", "--method mvv", "Did you mean 'mvu'"),
        ("fine", "--metric precomputed", "square matrix"),
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


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--out y.xls", "Choose one of .csv"),
        ("--out y", "without a suffix"),
        ("--out nowhere/y.csv", "Make it first"),
        ("--figure y.bmp", "Choose one of .png"),
        ("--record y.txt", "Choose .json"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_any_work(sdpdr, roll_csv, option, words):
    ran = sdpdr(f"embed roll.csv {option}")
    assert ran.code == Exit.BAD_INPUT
    assert words in ran.err


def test_parquet_without_its_package_is_named_before_any_work(sdpdr, roll_csv, hide_packages):
    hide_packages("pyarrow")
    ran = sdpdr("embed roll.csv --out y.parquet")
    assert (ran.code, ran.err.count("\n")) == (Exit.BAD_INPUT, 1)
    assert 'pip install "sdpdr[parquet]"' in ran.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--squared", "--squared is about distances"),
        ("--metric precomputed --scale standard", "--scale standard is about coordinates"),
        ("--metric precomputed --missing drop", "--missing drop is about coordinates"),
        ("--metric cosine --save m.npz", "--metric cosine compares directions"),
        ("--method colored_mvu", "needs --labels"),
        ("--method xing --labels x --metric cosine", "method xing does not take --metric"),
    ],
)
def test_options_that_do_not_go_together(sdpdr, roll_csv, options, words):
    ran = sdpdr(f"embed roll.csv {options} --out out.csv")
    assert ran.code in (Exit.BAD_INPUT, Exit.NO_SOLVER)
    assert ran.err.count("\n") == 1
    assert words in ran.err


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--isometry band", "--isometry"),
        ("--isometry slack:-1", "--isometry"),
        ("--isometry equal", "--isometry"),
        ("--n-neighbors 6.5", "expected a whole number from 1 on, or auto; got '6.5'"),
        ("--n-components 0", "0 is not in the range x>=1"),
        ("--sep ab", "expected one of tab, space, comma, semicolon, pipe"),
        ("--drop-lines x", "expected numbers of lines"),
        ("--set kappa", "expected KEY=VALUE"),
        ("--tol -1", "expected a number above 0, got '-1'"),
        ("--n-neighbours 5", "Did you mean '--n-neighbors'"),
    ],
)
def test_options_that_are_not_understood(sdpdr, roll_csv, option, words):
    ran = sdpdr(f"embed roll.csv {option}")
    assert (ran.code, ran.err.count("\n")) == (Exit.USAGE, 1)
    assert words in ran.err


def test_directions_are_compared_on_request(sdpdr, tmp_path, roll):
    np.save(tmp_path / "t.npy", roll)
    assert sdpdr("embed t.npy --metric cosine --n-neighbors 5 --out y.npy").code == Exit.OK
    expected = package.MVU(n_neighbors=5, metric="cosine").fit_transform(roll)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected, atol=1e-10)


def test_dimensions_without_anything_in_them_are_named(sdpdr, tmp_path, roll):
    np.save(tmp_path / "t.npy", roll[:12, :2])
    ran = sdpdr("embed t.npy --n-neighbors 4 --n-components 9 --out y.npy")
    Y = np.abs(np.load(tmp_path / "y.npy")).max(axis=0)
    zero = np.flatnonzero(1e-6 * Y[0] > Y)
    assert zero.size
    assert f"the embedding has {9 - zero.size} dimension" in ran.err


def test_a_failure_while_writing_leaves_nothing(sdpdr, tmp_path, roll_csv, monkeypatch):
    def fail(record):
        def write(path):
            path.write_text("half")
            raise OSError(28, "No space left on device", str(path))

        return write

    monkeypatch.setattr("sdpdr.lab.cli.embed.record_writer", fail)
    ran = sdpdr("embed roll.csv --drop t,kind --out y.csv --record y.json")
    assert ran.code == Exit.BAD_INPUT
    assert "No space left" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["roll.csv"]


# -- warnings, limits, interruption ----------------------------------------------------------------


def test_duplicates_are_merged_with_a_warning(sdpdr, tmp_path, roll):
    np.save(tmp_path / "twice.npy", np.vstack([roll, roll[:2]]))
    ran = sdpdr("embed twice.npy --out y.npy")
    assert ran.code == Exit.OK
    # Rows of files count from one, here as in every other message.
    assert "warning: 2 of 52 points repeat an earlier one: 51, 52. They were merged.\n" in ran.err
    Y = np.load(tmp_path / "y.npy")
    np.testing.assert_array_equal(Y[-2:], Y[:2])


def test_a_disconnected_graph_is_joined_or_cut_down(sdpdr, tmp_path):
    np.save(tmp_path / "two.npy", datasets.two_clusters(41, seed=0)[0])
    base = "embed two.npy --n-neighbors 3 --out y.npy --connect"
    ran = sdpdr(f"{base} bridges")
    assert ran.code == Exit.OK
    assert "edges were added to join them" in ran.err
    assert sdpdr(f"{base} mst").code == Exit.OK
    assert np.isfinite(np.load(tmp_path / "y.npy")).all()
    ran = sdpdr(f"{base} largest")
    assert ran.code == Exit.OK
    assert "warning: kept the largest of" in ran.err
    assert np.isnan(np.load(tmp_path / "y.npy")).any(axis=1).sum() >= 20


@pytest.mark.integration
def test_at_the_time_limit_the_best_point_is_graded_and_written(sdpdr, tmp_path):
    np.save(tmp_path / "roll.npy", datasets.swiss_roll(500, seed=0)[0])
    ran = sdpdr("embed roll.npy --time-limit 0.001 --out y.npy --record r.json")
    assert ran.code == Exit.UNCERTIFIED
    assert "warning: TIME_LIMIT" in ran.err
    assert "--sample N embeds N rows and places the others. (gap" in ran.err
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
