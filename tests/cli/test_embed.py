"""``sdpdr embed``: every format in and out, and what a person can get wrong."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

import sdpdr as package
from sdpdr import datasets
from sdpdr.errors import DataTypeError, VacuousWarning
from sdpdr.lab.cli.options import Exit
from sdpdr.lab.tables.files import read_table

from .crossing import each_once


def embedding(path):
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".npz":
        return np.load(path)["embedding"]
    if path.suffix == ".parquet":
        return pd.read_parquet(path).to_numpy()
    return pd.read_csv(path, sep=None, engine="python").to_numpy()


@pytest.fixture
def learned(roll):
    return package.MVU(n_neighbors=5).fit_transform(roll)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "npy", "npz", "parquet"])
def test_formats_in_and_out_agree_with_the_estimator(sdpdr, tmp_path, roll, learned, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    source = tmp_path / f"points.{suffix}"
    frame = pd.DataFrame(roll, columns=["x", "y", "z"])
    {
        "csv": lambda: frame.to_csv(source, index=False),
        "tsv": lambda: frame.to_csv(source, index=False, sep="\t"),
        "npy": lambda: np.save(source, roll),
        "npz": lambda: np.savez(source, X=roll),
        "parquet": lambda: frame.to_parquet(source),
    }[suffix]()
    ran = sdpdr(f"embed {source.name} --n-neighbors 5 --out y.{suffix}")
    assert ran.code == Exit.OK
    assert f"wrote y.{suffix}" in ran.err
    np.testing.assert_allclose(embedding(tmp_path / f"y.{suffix}"), learned, rtol=1e-12)


def test_columns_are_chosen_dropped_and_used_as_colour(sdpdr, tmp_path, roll_csv, learned):
    for k, choice in enumerate(("--columns x,y,z", "--drop t,kind", "--drop t --color kind")):
        ran = sdpdr(f"embed roll.csv --n-neighbors 5 {choice} --out {k}.npy")
        assert ran.code == Exit.OK
        np.testing.assert_array_equal(np.load(tmp_path / f"{k}.npy"), learned)


def test_numbers_that_are_a_colour_and_so_no_coordinate_are_told(sdpdr, roll_csv):
    base = "embed roll.csv --n-neighbors 5 --json"
    assert "'t' colours the figure, and so is no coordinate" in sdpdr(f"{base} --color t").err
    for told in ("--color kind", "--color t --columns x,y,z", "--color t --label t", ""):
        assert "colours the figure" not in sdpdr(f"{base} {told}").err


def test_a_colour_may_be_a_coordinate_too_if_it_is_named(sdpdr, roll_csv):
    record = json.loads(sdpdr("embed roll.csv --columns x,t --color t --json").out)
    assert record["data"]["shape"] == [50, 2]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_figure_has_the_format_of_its_suffix(sdpdr, tmp_path, roll_csv, suffix):
    ran = sdpdr(f"embed roll.csv --drop t --color kind --figure f.{suffix}")
    assert ran.code == Exit.OK
    head = (tmp_path / f"f.{suffix}").read_bytes()[:64]
    assert {"png": b"PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix] in head


def test_the_record_tells_what_was_done(sdpdr, tmp_path, roll_csv):
    ran = sdpdr("embed roll.csv --drop t,kind --record r.json --json --n-neighbors 5")
    record = json.loads((tmp_path / "r.json").read_text())
    assert record == json.loads(ran.out)
    assert record["certified"] is True
    assert record["graph"]["n"] == 50
    assert record["method"] == "mvu"
    assert record["data"]["file"] == "roll.csv"
    assert len(record["eigenvalues"]) >= 2


@pytest.mark.parametrize(
    ("relation", "smaller"), [("equality", True), ("band:0.05", None), ("slack:100", None)]
)
def test_another_isometry_gives_another_value(sdpdr, tmp_path, roll, relation, smaller):
    np.save(tmp_path / "few.npy", roll[:14])
    base = "embed few.npy --n-neighbors 4 --tol 1e-4 --json"
    free = json.loads(sdpdr(base).out)
    other = json.loads(sdpdr(f"{base} --isometry {relation}").out)
    assert other["value"] != pytest.approx(free["value"], rel=1e-6)
    if smaller:
        assert other["value"] <= free["value"] * (1 + 1e-4)


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


def test_a_table_without_header_has_numbered_columns(sdpdr, tmp_path, roll):
    words = np.array(["a"] * len(roll))
    rows = [f"{x},{y},{z},{w}" for (x, y, z), w in zip(roll.tolist(), words, strict=True)]
    (tmp_path / "bare.csv").write_text("\n".join(rows))
    ran = sdpdr("embed bare.csv --columns 1,2,4")
    assert ran.code == Exit.BAD_INPUT
    assert "column '4' holds 'a' (line 1)" in ran.err
    told, asked = sdpdr("embed bare.csv --json"), sdpdr("embed bare.csv --drop 4 --json")
    data = json.loads(told.out)["data"]
    assert data.pop("set_aside") == {"4": "words"}
    assert data == json.loads(asked.out)["data"] == {"file": "bare.csv", "shape": [50, 3]}
    assert ("'4' (words)" in told.err, "words" in asked.err) == (True, False)


def test_what_spreadsheets_write_is_read(sdpdr, tmp_path, roll):
    text = "\ufeffx,y,z\r\n" + "".join(f"{x}, {y}, {z}\r\n" for x, y, z in roll.tolist()) + "\r\n"
    (tmp_path / "excel.csv").write_bytes(text.encode())
    assert json.loads(sdpdr("embed excel.csv --json").out)["data"]["shape"] == [50, 3]


def test_one_line_of_numbers_is_never_taken_for_a_header(sdpdr, tmp_path, roll):
    np.savetxt(tmp_path / "plain.csv", roll, delimiter=",")
    assert json.loads(sdpdr("embed plain.csv --json").out)["data"]["shape"] == [50, 3]
    forced = json.loads(sdpdr("embed plain.csv --header yes --json").out)
    assert forced["data"]["shape"] == [49, 3]


@pytest.mark.parametrize("cell", ["3x", "1_5", "1.2.3", "-4,5", ".5.5"])
def test_a_slip_in_the_first_line_is_no_header(sdpdr, tmp_path, cell):
    rows = "".join(f"{k / 2},{k * k},{k % 3}\n" for k in range(12))
    (tmp_path / "slip.csv").write_text(f'\n1,2,"{cell}"\n{rows}')
    ran = sdpdr("embed slip.csv --n-neighbors 4")
    assert ran.code == Exit.BAD_INPUT
    assert f"slip.csv, line 2: expected numbers or names of columns; found '{cell}'" in ran.err
    assert "--header yes" in ran.err
    assert "column '3' holds" in sdpdr("embed slip.csv --n-neighbors 4 --header no").err
    named = json.loads(sdpdr("embed slip.csv --n-neighbors 4 --header yes --json").out)
    assert named["data"]["shape"] == [12, 3]


def test_a_header_that_holds_numbers_is_told(sdpdr, tmp_path):
    rows = "".join(f"{k / 2},{k * k},{k % 3}\n" for k in range(12))
    (tmp_path / "years.csv").write_text(f"x,2019,2020\n{rows}")
    told = sdpdr("embed years.csv --n-neighbors 4 --json")
    asked = sdpdr("embed years.csv --n-neighbors 4 --header yes --json")
    for ran in (told, asked):
        assert json.loads(ran.out)["data"]["shape"] == [12, 3]
    assert "warning: years.csv, line 1 is taken for the names of the columns" in told.err
    assert "--header no" in told.err
    assert "warning" not in asked.err
    with pytest.warns(VacuousWarning, match="'2019' is a number"):
        assert list(read_table(tmp_path / "years.csv").columns) == ["x", "2019", "2020"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("header", ["x,y,kind", ",x,y", "nan,x,y", ",0,1"])
def test_a_header_without_numbers_needs_no_words(tmp_path, header):
    (tmp_path / "t.csv").write_text(f"{header}\n0,1,2\n1,3,4\n")
    assert ",".join(read_table(tmp_path / "t.csv").columns) == header


@pytest.mark.parametrize("suffix", ["csv", "npy"])
def test_an_underscore_is_no_part_of_a_number(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    rows = [["1", "2"], ["3", "1_5"]]
    if suffix == "npy":
        np.save(path, np.array(rows))
    else:
        path.write_text("\n".join(map(",".join, rows)))
    frame = read_table(path)
    with pytest.raises(
        DataTypeError, match=r"column '2' holds '1_5' \((row|line) 2\), .* not a number"
    ):
        frame.numbers()
    assert frame.values("2").tolist() == ["2", "1_5"]


@pytest.mark.parametrize(
    ("index", "names"),
    each_once(
        [None, pd.date_range("2020-01-01", periods=50), np.arange(50) % 7 * 10.5],
        [["x", "y", "z"], None],
    ),
)
def test_what_pandas_writes_before_the_columns_is_no_coordinate(
    sdpdr, tmp_path, roll, learned, index, names
):
    pd.DataFrame(roll, index=index, columns=names).to_csv(tmp_path / "p.csv")
    told = sdpdr("embed p.csv --n-neighbors 5 --out y.npy")
    asked = sdpdr("embed p.csv --n-neighbors 5 --out z.npy --drop=")
    assert (told.code, asked.code) == (Exit.OK, Exit.OK)
    assert "p.csv: the first column has no name" in told.err
    assert "no name" not in asked.err
    for name in ("y.npy", "z.npy"):
        np.testing.assert_allclose(np.load(tmp_path / name), learned, rtol=1e-12)


def test_a_column_without_a_name_can_be_a_coordinate_or_a_colour(sdpdr, tmp_path, roll):
    frame = pd.DataFrame(roll, columns=["x", "y", "z"])
    frame.to_csv(tmp_path / "p.csv")
    pd.read_csv(tmp_path / "p.csv").to_csv(tmp_path / "twice.csv")
    shape = {
        line: json.loads(sdpdr(f"embed {line} --json").out)["data"]["shape"][1]
        for line in ("p.csv", "twice.csv", "p.csv --columns ,x,y,z", "p.csv --color=")
    }
    assert list(shape.values()) == [3, 3, 4, 3]


def test_to_drop_what_has_no_name_where_all_have_is_an_error(sdpdr, roll_csv):
    assert "unknown column ''" in sdpdr("embed roll.csv --drop=").err


# -- what a person can get wrong: a typed error in one line, exit code 3, nothing written ----------


def spoilt(roll, how):
    table = roll.tolist()
    if how == "nan":
        table[3][1] = ""
    elif how == "inf":
        table[3][1] = "inf"
    elif how == "strings":
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
        ("nan", "", "coordinates that are not known: 4. Their columns: 'y'."),
        ("inf", "", "coordinates that are infinite: 4. Their columns: 'y'. Lines of the file: 5"),
        ("strings", "", "column 'y' holds 'green' (line 5)"),
        ("strings", "", "--drop y, take others with --columns"),
        ("two points", "", "data.csv: there are 2 rows, and at least 3 are needed"),
        ("zero variance", "", "all 20 points are equal"),
        ("two clusters", "--n-neighbors 3 --connect error", "2 components"),
        ("two clusters", "--n-neighbors 3 --connect error", "or --connect mst to add"),
        ("fine", "--n-components 51", "n_components must be a whole number in 1..50"),
        ("fine", "--columns x,w", "unknown column 'w'"),
        ("fine", "--drop yy", "Did you mean 'y'"),
        ("fine", "--drop x,y,z", "no column is left"),
        ("fine", "--color hue", "unknown column 'hue'"),
        ("fine", "--method mvv", "Did you mean 'mvu'"),
        ("fine", "--squared", "squared"),
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


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("line.npy", np.arange(9.0), "(n, D) is needed"),
        ("cube.npy", np.zeros((3, 3, 3)), "(n, D) is needed"),
        ("words.npy", np.array([["a", "b"], ["c", "d"]]), "column '1' holds 'a'"),
        ("things.npy", np.array([[{}, 1]], dtype=object), "plain array of numbers"),
        ("waves.npy", np.ones((9, 2)) * 1j, "column '1' holds"),
    ],
)
def test_arrays_that_are_not_points(sdpdr, tmp_path, name, content, words):
    np.save(tmp_path / name, content, allow_pickle=True)
    ran = sdpdr(f"embed {name}")
    assert ran.code == Exit.BAD_INPUT
    assert words in ran.err


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("ragged.csv", b"x,y\n1,2\n3\n", "line 3: expected 2 cells"),
        ("twice.csv", b"x,x\n1,2\n3,4\n", "two columns are called 'x'"),
        ("empty.csv", b"\n\n", "is empty"),
        ("commas.csv", b",,\n,,\n", "is empty"),
        ("slip.csv", b"x;y\n1,5;2,5\n3,5,4\n1,5;2,5\n", "line 2: expected 1 cells"),
        (
            "slip.csv",
            b"x;y\n1,5;2,5\n3,5,4\n1,5;2,5\n",
            "by ';' and to have decimal commas. Say so with",
        ),
        ("both.csv", b"x;y\n1,5;2.5\n3,5;4\n", "found '1,5' beside '2.5', which may be read"),
        ("thousands.tsv", b"x\ty\n1,500\t2\n3,250\t4\n", "--decimal . or --decimal ,"),
        ("late.csv", b"x;y\n" + b"1.5;2.5\n" * 120 + b"1,5;2\n", "--decimal ,"),
        ("cut.csv.gz", gzip.compress(b"x,y\n1,2\n" * 99, mtime=0)[:-12], "not a text table"),
        ("plain.csv.gz", b"x,y\n1,2\n", "not a text table"),
        ("data.npy.gz", b"", "compressed, and only text is read so. Unpack it, and pass data.npy."),
        ("data.xls.gz", b"x,y\n1,2\n", "files called .xls cannot be read"),
        ("header.csv", b"x,y\n", "names columns (x, y) and has no row"),
        ("binary.csv", b"\xff\xfe\x00", "not a text table"),
        ("fake.npy", b"hello", "cannot be read as .npy"),
        ("fake.npz", b"hello", "cannot be read as .npz"),
        ("fake.parquet", b"hello", "cannot be read as Parquet"),
        ("sheet.xlsx", b"PK", "files called .xlsx cannot be read. Choose one of .csv"),
        ("noname", b"1,2", "without a suffix"),
    ],
)
def test_files_that_are_not_tables(sdpdr, tmp_path, name, content, words):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    (tmp_path / name).write_bytes(content)
    ran = sdpdr(f"embed {name}")
    assert ran.code == Exit.BAD_INPUT
    assert words in ran.err


def test_a_missing_file_is_named(sdpdr):
    assert "nowhere.csv: there is no such file" in sdpdr("embed nowhere.csv").err


def test_a_directory_is_called_one(sdpdr, tmp_path):
    (tmp_path / "tables.csv").mkdir()
    assert "tables.csv is a directory" in sdpdr("embed tables.csv").err


def test_arrays_of_a_file_are_chosen_by_name(sdpdr, tmp_path, roll):
    np.savez(tmp_path / "a.npz", X=roll, t=roll[:, 0])
    assert "X, t. Choose one with --key" in sdpdr("embed a.npz").err
    assert "unknown array 'Y'" in sdpdr("embed a.npz --key Y").err
    record = json.loads(sdpdr("embed a.npz --key X --color t --json").out)
    assert record["data"]["shape"] == [50, 3]


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


@pytest.mark.parametrize("relation", ["band", "band:x", "band:2", "slack:-1", "equal", "slack:"])
def test_a_relation_that_is_none_is_a_matter_of_usage(sdpdr, roll_csv, relation):
    ran = sdpdr(f"embed roll.csv --isometry {relation}")
    assert ran.code == Exit.USAGE
    assert "--isometry" in ran.err


def test_parquet_without_its_packages_says_what_to_install(sdpdr, tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    ran = sdpdr("embed a.parquet")
    assert ran.code == Exit.BAD_INPUT
    assert 'pip install "sdpdr[parquet]"' in ran.err


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


def test_at_the_time_limit_the_best_point_is_graded_and_written(sdpdr, tmp_path):
    np.save(tmp_path / "roll.npy", datasets.swiss_roll(500, seed=0)[0])
    ran = sdpdr("embed roll.npy --time-limit 0.001 --out y.npy --record r.json")
    assert ran.code == Exit.UNCERTIFIED
    assert "warning: TIME_LIMIT" in ran.err
    assert "--sample N embeds N rows and places the others. (gap" in ran.err
    assert json.loads((tmp_path / "r.json").read_text())["status"] == "TIME_LIMIT"
    assert np.isfinite(np.load(tmp_path / "y.npy")).all()


def test_a_sample_is_no_way_out_of_distances(sdpdr, tmp_path):
    X = datasets.swiss_roll(300, seed=0)[0]
    np.save(tmp_path / "d.npy", np.sqrt(np.square(X[:, None] - X).sum(axis=2)))
    ran = sdpdr("embed d.npy --metric precomputed --time-limit 0.001")
    assert "warning: TIME_LIMIT" in ran.err
    assert "--sample" not in ran.err


def test_distances_that_are_not_known_are_told_with_what_completes_them(sdpdr, tmp_path, roll):
    D = np.sqrt(np.square(roll[:, None] - roll).sum(axis=2))
    gone = np.random.default_rng(0).random(D.shape) < 0.4
    np.fill_diagonal(gone, False)
    # Of a pair that is known on one side nothing is missing.
    missing = int(np.triu(gone & gone.T).sum())
    np.savetxt(tmp_path / "d.csv", np.where(gone, np.nan, D), delimiter=",")
    ran = sdpdr("embed d.csv --metric precomputed --n-neighbors 5")
    assert ran.code == Exit.OK
    assert f"d.csv: {missing} distances are not known" in ran.err
    assert "--method distance_completion" in ran.err
    ran = sdpdr("embed d.csv")
    assert ran.code == Exit.BAD_INPUT
    assert "--metric precomputed says so" in ran.err
    assert "--method distance_completion" in ran.err


def test_distances_with_gaps_become_places(sdpdr, tmp_path):
    P = np.random.default_rng(0).random((30, 2))
    D = np.linalg.norm(P[:, None] - P, axis=2)
    gone = np.random.default_rng(1).random(D.shape) < 0.5
    np.fill_diagonal(gone, False)
    np.savetxt(tmp_path / "d.csv", np.where(gone, np.nan, D**2), delimiter=",")
    asked = "embed d.csv --metric precomputed --squared --method distance_completion"
    ran = sdpdr(f"{asked} --out y.npy")
    assert ran.code == Exit.OK
    assert not ran.err.count("not known")
    Y = np.load(tmp_path / "y.npy")
    np.testing.assert_allclose(np.linalg.norm(Y[:, None] - Y, axis=2), D, atol=1e-4)
    assert "these are distances" in sdpdr(f"{asked} --save m.npz").err
    assert "add --metric precomputed" in sdpdr("embed d.csv --method distance_completion").err
    assert "does not take --n-neighbors" in sdpdr(f"{asked} --n-neighbors 4").err


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


def test_debug_shows_where_an_error_comes_from(sdpdr):
    with pytest.raises(package.errors.FileFormatError):
        sdpdr("embed nowhere.csv --debug")
    with pytest.raises(package.errors.FileFormatError):
        sdpdr("--debug embed nowhere.csv")
