"""Tables as people have them: what is read, what is kept beside the embedding, in which units."""

import bz2
import gzip
import io
import json
import lzma
import zipfile

import numpy as np
import pandas as pd
import pytest

from sdpdr.errors import FileFormatError
from sdpdr.lab.cli.columns import scaling
from sdpdr.lab.cli.options import Exit
from sdpdr.lab.tables.delimited import read_text
from sdpdr.lab.tables.files import read_table
from sdpdr.lab.tables.form import Form

from .crossing import slow


@pytest.fixture
def frame(roll):
    """Thirty points with an id that looks like a number, and words."""
    table = pd.DataFrame(roll[:30], columns=["x", "y", "z"])
    table.insert(0, "id", [f"{7 * k % 31:03d}" for k in range(30)])
    table["kind"] = ["in", "out", "in"] * 10
    return table


@pytest.fixture
def plain(sdpdr, tmp_path, roll):
    """The embedding of its coordinates alone."""
    np.save(tmp_path / "plain.npy", roll[:30])
    assert sdpdr("embed plain.npy --n-neighbors 5 --out known.npy").code == Exit.OK
    return np.load(tmp_path / "known.npy")


# -- separators, decimal marks, compression ---------------------------------------------------


@pytest.mark.parametrize(
    ("sep", "decimal"), [(",", "."), *((sep, mark) for sep in ";\t| " for mark in ".,")]
)
@pytest.mark.parametrize("header", [True, False])
def test_separators_and_decimal_marks_are_found(tmp_path, roll, sep, decimal, header):
    path = tmp_path / "t.csv"
    pd.DataFrame(roll, columns=["x", "y", "z"]).to_csv(
        path, sep=sep, decimal=decimal, index=False, header=header
    )
    read = read_table(path)
    assert (read.separator, read.decimal, read.named) == (sep, decimal, header)
    np.testing.assert_array_equal(read.numbers(), roll)


def test_blanks_are_one_separator_however_many(tmp_path):
    (tmp_path / "t.txt").write_text("  x    y \n  1.5  2\n 10   -3  \n")
    np.testing.assert_array_equal(read_table(tmp_path / "t.txt").numbers(), [[1.5, 2], [10, -3]])


def test_what_numpy_writes_is_read(tmp_path, roll):
    np.savetxt(tmp_path / "t.txt", roll, header="x y z")
    read = read_table(tmp_path / "t.txt")
    assert list(read.columns) == ["x", "y", "z"]
    np.testing.assert_allclose(read.numbers(), roll)


@pytest.mark.parametrize("encoding", [slow("utf-8"), "utf-8-sig", "utf-16", "cp1252"])
def test_names_with_umlauts_are_read_as_spreadsheets_write_them(tmp_path, encoding):
    text = "Länge;Größe;Straße\n1,5;2,5;Weg\n" + "3,5;4;Öhlerweg\n" * 70_000
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    read = read_table(tmp_path / "t.csv")
    assert list(read.columns) == ["Länge", "Größe", "Straße"]
    assert read.columns["Straße"][-1] == "Öhlerweg"
    np.testing.assert_array_equal(read.columns["Länge"][:2], [1.5, 3.5])


def test_what_was_found_is_told_and_can_be_said(sdpdr, tmp_path, frame, plain):
    frame.to_csv(tmp_path / "g.csv", sep=";", decimal=",", index=False)
    base = "embed g.csv --n-neighbors 5 --out y.csv"
    told, asked = sdpdr(base), sdpdr(f"{base} --sep ; --decimal ,")
    words = "g.csv: cells are separated by ';' and numbers have decimal commas"
    assert (words in told.err, words in asked.err) == (True, False)
    np.testing.assert_allclose(pd.read_csv(tmp_path / "y.csv")[["y1", "y2"]], plain, rtol=1e-12)


def test_a_decimal_mark_that_may_be_read_in_two_ways_can_be_said(tmp_path):
    (tmp_path / "t.tsv").write_text("x\ty\n1,500\t2\n3,250\t4\n")
    with pytest.raises(FileFormatError, match="--decimal"):
        read_table(tmp_path / "t.tsv")
    read = read_table(tmp_path / "t.tsv", Form(decimal=","))
    np.testing.assert_array_equal(read.numbers(), [[1.5, 2], [3.25, 4]])


def test_thousands_are_not_read_as_fractions(tmp_path):
    (tmp_path / "t.csv").write_text("x;y\n1.500;2,5\n3;4,5\n")
    read = read_table(tmp_path / "t.csv", Form(decimal=","))
    with pytest.raises(ValueError, match="column 'x' holds '1.500'"):
        read.numbers()


def zipped(data):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("t.csv", data)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), (".zip", zipped)],
)
def test_compressed_files_are_read(tmp_path, frame, suffix, compress):
    text = frame.to_csv(index=False)
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / f"t.csv{suffix}").write_bytes(compress(text.encode()))
    for name, column in read_table(tmp_path / "t.csv").columns.items():
        np.testing.assert_array_equal(read_table(tmp_path / f"t.csv{suffix}").columns[name], column)


def test_a_column_that_turns_to_words_late_is_given_back_as_it_was(tmp_path):
    cells = [f"{k:05d}" for k in range(5000)] + ["late"]
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{cell},{cell[:4]}.5\n" for cell in cells))
    table = read_text(tmp_path / "t.csv")
    assert table.columns["a"].tolist() == cells
    assert table.columns["b"].tolist()[4095:4098] == ["0409.5"] * 3
    assert table.lines[-1] == len(cells) + 1


# -- what is kept beside the embedding --------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", slow("tsv"), slow("csv.gz"), "parquet", "npz"])
def test_ids_and_words_are_kept_as_they_are_written(sdpdr, tmp_path, frame, plain, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    frame.to_csv(tmp_path / "t.csv", index=False)
    ran = sdpdr(f"embed t.csv --n-neighbors 5 --out y.{suffix}")
    assert ran.code == Exit.OK
    assert "'id' (ids), 'kind' (words)" in ran.err
    path = tmp_path / f"y.{suffix}"
    if suffix == "npz":
        stored = np.load(path)
        found = pd.DataFrame({name: stored[name] for name in ("id", "kind")})
        Y = stored["embedding"]
    else:
        sep = "\t" if suffix == "tsv" else ","
        is_text = suffix != "parquet"
        found = pd.read_csv(path, dtype=str, sep=sep) if is_text else pd.read_parquet(path)
        assert list(found.columns) == ["id", "kind", "y1", "y2"]
        Y = found[["y1", "y2"]].to_numpy(dtype=float)
    assert found["id"].tolist() == frame["id"].tolist()
    assert found["kind"].tolist() == frame["kind"].tolist()
    np.testing.assert_allclose(Y, plain, rtol=1e-12)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_whole_numbers_are_ids_in_every_format(sdpdr, tmp_path, roll, plain, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    table = pd.DataFrame(roll[:30], columns=["x", "y", "z"])
    far = np.int64(2**53) + 1 + 7 * np.arange(30)
    holed = pd.Series(far // 2**20 + np.arange(30), dtype=object)
    holed[4] = None
    kinds = (far, 3.0 * np.arange(30) - 5.0, pd.Series(far, dtype="Int64"), holed.astype("Int64"))
    for ids in kinds:
        written = table.assign(patient_id=ids, level=pd.Series(np.arange(30) % 3, dtype="int8"))
        path = tmp_path / f"t.{suffix}"
        written.to_parquet(path) if suffix == "parquet" else written.to_csv(path, index=False)
        ran = sdpdr(f"embed t.{suffix} --label level --n-neighbors 5 --out y.csv")
        assert "kept beside the embedding: 'patient_id' (ids)" in ran.err
        found = pd.read_csv(tmp_path / "y.csv", dtype={"patient_id": "Int64", "level": int})
        assert found["patient_id"].equals(pd.Series(ids).astype("Int64"))
        assert found["level"].tolist() == written["level"].tolist()
        np.testing.assert_allclose(found[["y1", "y2"]], plain, rtol=1e-12)


def test_the_index_that_pandas_writes_is_noticed_with_and_without_its_name(
    sdpdr, tmp_path, roll, plain
):
    pd.DataFrame(roll[:30]).to_csv(tmp_path / "bare.csv")
    named = pd.DataFrame(roll[:30], columns=["x", "y", "z"], index=range(1, 31))
    named.to_csv(tmp_path / "named.csv", index_label="row")
    # As text, since pandas before 3 reads some numbers a last digit off.
    again = pd.read_csv(tmp_path / "bare.csv", dtype=str)
    again.to_csv(tmp_path / "again.csv", index=False)
    for name, kept in (("bare", ""), ("named", "row"), ("again", "Unnamed: 0")):
        read = read_table(tmp_path / f"{name}.csv", Form(header="yes"))
        left = list(read.columns)[1:]
        np.testing.assert_array_equal(read.select(left).numbers(), roll[:30])
        ran = sdpdr(f"embed {name}.csv --n-neighbors 5 --out y.csv")
        assert "kept beside the embedding" in ran.err
        written = pd.read_csv(tmp_path / "y.csv", keep_default_na=False)
        assert written.columns[0].partition(":")[0] == kept.partition(":")[0] or not kept
        assert written.iloc[:, 0].tolist() == list(range(name == "named", 30 + (name == "named")))
        np.testing.assert_allclose(written[["y1", "y2"]], plain, rtol=1e-12)


def test_numbers_of_columns_above_an_array_are_no_row(sdpdr, tmp_path, roll, plain):
    pd.DataFrame(roll[:30]).to_csv(tmp_path / "t.csv", index=False)
    base = "embed t.csv --n-neighbors 5 --out y.npy"
    assert "t.csv, line 1 counts the columns from 0" in sdpdr(base).err
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), plain)
    for asked, n in (("yes", 30), ("no", 31)):
        ran = sdpdr(f"{base} --header {asked} --json")
        assert "counts the columns" not in ran.err
        assert json.loads(ran.out)["data"]["shape"] == [n, 3]


@pytest.mark.parametrize("header", [True, False])
def test_distances_are_read_with_the_numbers_of_columns_above_them_or_without(
    sdpdr, tmp_path, header
):
    D = np.abs(np.subtract.outer(np.arange(12), np.arange(12)))
    pd.DataFrame(D).to_csv(tmp_path / "d.csv", index=False, header=header)
    ran = sdpdr("embed d.csv --metric precomputed --n-neighbors 2 --out y.csv")
    assert (ran.code, "counts the columns" in ran.err) == (Exit.OK, header)
    found = pd.read_csv(tmp_path / "y.csv")
    np.testing.assert_allclose(np.abs(np.diff(found["y1"])), np.ones(11), atol=1e-3)


def test_whole_numbers_are_labels_where_their_column_says_so(sdpdr, tmp_path, roll):
    table = pd.DataFrame(roll[:30], columns=["x", "y", "z"])
    table["target"], table["level"] = np.arange(30) % 3, np.arange(30) % 4
    table.to_csv(tmp_path / "t.csv", index=False)
    ran = sdpdr("embed t.csv --out y.csv --json")
    assert "embedding: 'target' (labels). --columns" in ran.err
    assert json.loads(ran.out)["data"]["shape"] == [30, 4]
    assert pd.read_csv(tmp_path / "y.csv")["target"].tolist() == table["target"].tolist()
    table["target"] = np.arange(30) ** 2
    table.to_csv(tmp_path / "t.csv", index=False)
    assert json.loads(sdpdr("embed t.csv --json").out)["data"]["shape"] == [30, 5]


def test_who_names_columns_decides(sdpdr, tmp_path, roll):
    table = pd.DataFrame(roll[:30], columns=["x", "y", "z"])
    table.insert(0, "row", range(30))
    table["note"] = "same"
    table.to_csv(tmp_path / "t.csv", index=False)
    base = "embed t.csv --n-neighbors 5 --out y.csv"
    ran = sdpdr(f"{base} --columns row,x,y,z")
    assert "row numbers" not in ran.err
    assert list(pd.read_csv(tmp_path / "y.csv").columns) == ["note", "y1", "y2"]
    sdpdr(f"{base} --drop row,note")
    assert list(pd.read_csv(tmp_path / "y.csv").columns) == ["y1", "y2"]
    sdpdr(f"{base} --id row --label z,note")
    assert list(pd.read_csv(tmp_path / "y.csv").columns) == ["row", "z", "note", "y1", "y2"]


def test_a_slip_is_no_word(sdpdr, tmp_path, frame):
    for slip, cell in (("green", "green"), ("1.5.2", "1.5.2"), ("5 %", "5 %")):
        spoilt = frame.astype({"y": object})
        spoilt.loc[3, "y"] = slip
        spoilt.to_csv(tmp_path / "t.csv", index=False)
        ran = sdpdr("embed t.csv")
        assert ran.code == Exit.BAD_INPUT
        assert f"column 'y' holds {cell!r} (line 5)" in ran.err
    frame["y"] = "1 250.5"
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "column 'y' holds '1 250.5'" in sdpdr("embed t.csv").err


def test_ids_that_repeat_are_no_coordinate_and_a_key_may_be_one(sdpdr, tmp_path, frame, plain):
    half = np.arange(30) // 2
    frame.drop(columns="id").assign(patient_id=half).to_csv(tmp_path / "t.csv", index=False)
    ran = sdpdr("embed t.csv --n-neighbors 5 --out y.csv")
    assert "'patient_id' (ids)" in ran.err
    written = pd.read_csv(tmp_path / "y.csv")
    assert written["patient_id"].tolist() == half.tolist()
    np.testing.assert_allclose(written[["y1", "y2"]], plain, rtol=1e-12)
    for name, entries in (("key", half), ("patient_id", half + 0.5)):
        frame.drop(columns="id").assign(**{name: entries}).to_csv(tmp_path / "t.csv", index=False)
        assert json.loads(sdpdr("embed t.csv --n-neighbors 5 --json").out)["data"]["shape"][1] == 4


@pytest.mark.parametrize(
    "how",
    ["%d.%m.%Y", "%Y-%m-%dT%H:%M", *map(slow, ("%m/%d/%Y", "%Y/%m/%d", "%Y-%m-%d"))],
)
def test_dates_are_kept_beside_the_points(sdpdr, tmp_path, frame, plain, how):
    frame["when"] = pd.date_range("2024-02-20", periods=30).strftime(how)
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "'when' (dates or times)" in sdpdr("embed t.csv --n-neighbors 5 --out y.csv").err
    written = pd.read_csv(tmp_path / "y.csv")
    assert written["when"].tolist() == frame["when"].tolist()
    np.testing.assert_allclose(written[["y1", "y2"]], plain, rtol=1e-12)
    frame.loc[4, "when"] = "1.500"
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert sdpdr("embed t.csv").code == Exit.BAD_INPUT


@pytest.mark.parametrize(
    "how", ["true", "gaps", "parquet with gaps", *map(slow, ("True", "TRUE", "parquet"))]
)
def test_true_and_false_are_one_and_zero_in_every_format(sdpdr, tmp_path, roll, how):
    if "parquet" in how:
        pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    table = pd.DataFrame(roll[:30, :2], columns=["x", "y"])
    truth = np.arange(30) % 3 == 0
    gone = [5] if "gaps" in how else []
    known = pd.Series(truth, dtype="boolean")
    known[gone] = pd.NA
    name = "t.parquet" if "parquet" in how else "t.csv"
    if how.startswith("parquet"):
        table.assign(ok=known if gone else truth).to_parquet(tmp_path / name)
    else:
        spell = str.upper if how == "TRUE" else str.lower if how == "true" else str
        words = [spell(str(entry)) for entry in truth]
        words = ["" if row in gone else word for row, word in enumerate(words)]
        table.assign(ok=words).to_csv(tmp_path / name, index=False)
    options = "--n-neighbors 5 --scale none --missing drop"
    ran = sdpdr(f"embed {name} {options} --out y.csv")
    assert "t.csv: coordinates of one for true and zero for false: 'ok'" in ran.err.replace(
        "parquet", "csv"
    )
    np.save(tmp_path / "n.npy", np.delete(np.column_stack([roll[:30, :2], truth]), gone, axis=0))
    assert sdpdr(f"embed n.npy {options} --out n.csv").code == Exit.OK
    expected = pd.read_csv(tmp_path / "n.csv")[["y1", "y2"]]
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "y.csv")[["y1", "y2"]], expected)
    assert sdpdr(f"embed {name} {options} --columns x,ok").code == Exit.OK


def test_true_and_false_beside_other_words_are_words(sdpdr, tmp_path, frame):
    frame["ok"] = ["True", "False", "perhaps"] * 10
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "'ok' (words)" in sdpdr("embed t.csv").err
    frame["ok"] = ["True", "False", "1"] * 10
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "column 'ok' holds 'True'" in sdpdr("embed t.csv").err


def test_true_and_false_are_labels_where_their_column_says_so_and_no_header(sdpdr, tmp_path, frame):
    frame["target"] = np.arange(30) % 2 == 0
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "'target' (labels)" in sdpdr("embed t.csv").err
    (tmp_path / "h.csv").write_text("True,False\nFalse,False\nTrue,True\n")
    read = read_table(tmp_path / "h.csv")
    assert (read.named, read.n) == (False, 3)


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ({"size": "n", "shape": "w"}, "1 of 2 columns alone ('size'), since the others hold words"),
        ({"a": "n", "b": "n", "p": "w", "q": "w", "r": "w"}, "2 of 5 columns alone ('a', 'b')"),
        ({"a": "n", "b": "n", "p": "w", "q": "w"}, ""),
    ],
)
def test_few_coordinates_beside_words_are_told(sdpdr, tmp_path, roll, kinds, told):
    words = ["never", "often", "always"] * 10
    table = {name: roll[:30, 0] if kind == "n" else words for name, kind in kinds.items()}
    pd.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    ran = sdpdr("embed t.csv --record r.json")
    data = json.loads((tmp_path / "r.json").read_text())["data"]
    left_out = [name for name, kind in kinds.items() if kind == "w"]
    assert data["set_aside"] == dict.fromkeys(left_out, "words")
    assert told in data.get("warning", "")
    assert ("warning" in data) == ("Code ordered words as numbers 1..5" in ran.err) == bool(told)
    if told:
        assert all(repr(name) in data["warning"] for name in left_out)
        number = next(name for name, kind in kinds.items() if kind == "n")
        assert "Code ordered" not in sdpdr(f"embed t.csv --columns {number}").err


def test_lines_before_the_table(sdpdr, tmp_path, frame, plain):
    text = frame.to_csv(index=False)
    path = tmp_path / "t.csv"
    path.write_text(f"# exported, by hand\n# on Monday\n{text}")
    assert sdpdr("embed t.csv --n-neighbors 5 --out y.npy").code == Exit.OK
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), plain)
    path.write_text(f"# exported\n# {text}")
    assert list(read_table(path).columns) == list(frame.columns)
    path.write_text(f"# a remark\n{text}1,2\n")
    assert "line 33: expected 5 cells" in sdpdr("embed t.csv").err
    path.write_text(f"My table\n\n{text}")
    assert "line 1: found one cell, and 5 in line 3. If it is a title" in sdpdr("embed t.csv").err


def test_what_is_wrong_with_a_cell_is_said(sdpdr, tmp_path, frame):
    path, text = tmp_path / "t.csv", frame.to_csv(index=False)
    path.write_text(text + text)
    assert "repeat the names of the columns: delete the line" in sdpdr("embed t.csv").err
    for cell, words in (("12.5%", "signs of percent"), ("$1,250.75", "holds '$1,250.75'")):
        frame.assign(y=cell).to_csv(path, index=False)
        assert words in sdpdr("embed t.csv").err
    frame.assign(y="1,250.75").to_csv(path, index=False, sep=";")
    assert "commas between thousands" in sdpdr("embed t.csv").err


def test_columns_of_the_output_have_one_name_each(sdpdr, tmp_path, frame):
    frame.rename(columns={"kind": "y1"}).to_csv(tmp_path / "t.csv", index=False)
    assert sdpdr("embed t.csv --out y.csv").code == Exit.OK
    assert (tmp_path / "y.csv").read_text().partition("\n")[0] == "id,y1_,y1,y2"


# -- units ------------------------------------------------------------------------------------


def test_units_are_what_they_say(roll):
    X = np.column_stack([roll * [1.0, 100.0, 1e-3], np.full(len(roll), 7.0)])
    standard = scaling("standard", X, "abcd")(X)
    np.testing.assert_allclose(standard.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(standard.std(axis=0), [1.0, 1.0, 1.0, 0.0])
    robust = scaling("robust", X, "abcd")(X)
    np.testing.assert_allclose(np.median(robust, axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.subtract(*np.percentile(robust[:, :3], [75, 25], axis=0)), 1.0)
    np.testing.assert_array_equal(scaling("none", X, "abcd")(X), X)


def test_spreads_far_apart_are_told_unless_something_was_said(sdpdr, tmp_path, roll):
    far = pd.DataFrame(roll[:30] * [1.0, 1e4, 1.0], columns=["x", "wide", "z"])
    far.to_csv(tmp_path / "far.csv", index=False)
    base = "embed far.csv --n-neighbors 5"
    assert "warning: column 'wide' is spread" in sdpdr(base).err
    for how in ("none", "standard", "robust"):
        assert "is spread" not in sdpdr(f"{base} --scale {how}").err


def test_codes_and_years_among_coordinates_are_told_unless_they_are_named(sdpdr, tmp_path, roll):
    table = pd.DataFrame(roll[:30], columns=["x", "y", "z"])
    table["rain"], table["year"] = table["x"] ** 2, 1990 + np.arange(30) % 7
    table.loc[:1, "rain"] = -999.0
    table.to_csv(tmp_path / "odd.csv", index=False)
    base = "embed odd.csv --n-neighbors 5 --scale none"
    said = sdpdr(base).err
    assert "warning: column 'rain' holds -999 twice" in said
    assert "warning: column 'year' holds years, 1990 to 1996" in said
    for words in ("--drop rain,year", "--columns x,y,z,rain,year"):
        assert "holds" not in sdpdr(f"{base} {words}").err


def test_no_unit_of_a_column_changes_a_standard_embedding(sdpdr, tmp_path, roll):
    for name, X in (("a", roll[:30]), ("b", roll[:30] * [3.0, 1e4, 1e-3])):
        pd.DataFrame(X, columns=["x", "y", "z"]).to_csv(tmp_path / f"{name}.csv", index=False)
        assert (
            sdpdr(f"embed {name}.csv --n-neighbors 5 --scale standard --out {name}.npy").code == 0
        )
    a, b = (np.load(tmp_path / f"{name}.npy") for name in "ab")
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-4 * np.abs(a @ a.T).max())


def test_scale_alone_is_standard_and_is_no_name_of_a_file(sdpdr, tmp_path, roll):
    pd.DataFrame(roll[:30] * [3.0, 1e4, 1e-3]).to_csv(tmp_path / "a.csv", index=False)
    for how, name in (("--scale", "bare.npy"), ("--scale standard", "said.npy")):
        assert sdpdr(f"embed a.csv {how} --n-neighbors 5 --out {name}").code == 0
    bare, said = (np.load(tmp_path / name) for name in ("bare.npy", "said.npy"))
    np.testing.assert_array_equal(bare, said)
    ran = sdpdr("embed --scale a.csv --n-neighbors 5")
    assert ran.code == Exit.USAGE
    assert "argument --scale" in ran.err


def test_distances_have_no_units(sdpdr, tmp_path, roll):
    np.save(tmp_path / "d.npy", np.sqrt(np.square(roll[:, None] - roll).sum(axis=-1)))
    for option in ("--scale standard", "--sample 20", "--save m.npz"):
        ran = sdpdr(f"embed d.npy --metric precomputed {option}")
        assert ran.code != Exit.OK
        assert "distances" in ran.err


def test_names_beside_a_table_of_distances_are_no_distances(sdpdr, tmp_path):
    D = np.abs(np.subtract.outer(np.arange(12), np.arange(12)))
    for first in ("", "city"):
        names = [f"c{k}" for k in range(12)]
        pd.DataFrame(D, columns=names, index=names).to_csv(tmp_path / "d.csv", index_label=first)
        ran = sdpdr("embed d.csv --metric precomputed --n-neighbors 2 --out y.csv")
        assert ran.code == Exit.OK
        found = pd.read_csv(tmp_path / "y.csv")
        assert found.iloc[:, 0].tolist() == names
        np.testing.assert_allclose(np.abs(np.diff(found["y1"])), 1.0, atol=1e-3)


def test_separators_at_the_ends_of_lines_make_no_column(sdpdr, tmp_path, roll):
    rows = "".join(f"{x},{y},{z},\n" for x, y, z in roll[:30].tolist())
    (tmp_path / "t.csv").write_text(f"x,y,z,\n{rows}")
    ran = sdpdr("embed t.csv --out y.csv --json")
    assert "t.csv: without any entry, and left out: ''.\n" in ran.err
    assert json.loads(ran.out)["data"]["shape"] == [30, 3]
    assert list(pd.read_csv(tmp_path / "y.csv").columns) == ["y1", "y2"]
