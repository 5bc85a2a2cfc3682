"""Tables as people have them: read right, or refused with advice that works when it is followed."""

import csv
import gzip
import re
import shlex
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sdpdr.errors import DataTypeError, FileFormatError, SdpdrError, UnknownNameError
from sdpdr.lab.cli import columns
from sdpdr.lab.cli.embed import embed_command
from sdpdr.lab.tables.files import write_table

R = np.round(np.random.default_rng(0).normal(size=(40, 3)) * 3, 3)
FRAME = pd.DataFrame(R, columns=["x", "y", "z"])
THOUSANDS = np.round(np.abs(R) * 2000 + 1000)
GAPS = R.copy()
GAPS[3, 1] = GAPS[7, 2] = np.nan
COMPLETE = GAPS[np.isfinite(GAPS).all(axis=1)]
KIND = np.where(R[:, 0] > 0, "red", "blue")


def arguments(path, options=""):
    context = embed_command.make_context("embed", [str(path), *shlex.split(options)])
    return SimpleNamespace(**context.params)


def divided(path, options=""):
    """The table that `sdpdr embed` would embed."""
    args = arguments(path, options)
    return columns.divide(columns.read(args), args)


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def text(frame=FRAME, **settings):
    return frame.to_csv(index=settings.pop("index", False), **settings)


def lines(rows, sep=",", head="x,y,z\n", cell=str):
    return head + "".join(f"{sep.join(map(cell, row))}\n" for row in rows)


READ = {
    "plain.csv": text(),
    "index.csv": text(index=True),
    "decimal_commas.csv": text(sep=";", decimal=","),
    "tabs.txt": text(sep="\t"),
    "tabs_and_commas.txt": text(sep="\t", decimal=","),
    "bars.csv": text(sep="|"),
    "blanks.txt": lines(R, "  ", "", lambda x: f"{x:10.3f}"),
    "uci.data": lines(R, ",", ""),
    "bare.csv": text(header=False),
    "words.csv": text(FRAME.assign(kind=KIND)),
    "words_without_names.csv": text(FRAME.assign(kind=KIND), header=False),
    "quoted.csv": text(FRAME.assign(n=[f"Doe, {k}" for k in range(40)]), quoting=csv.QUOTE_ALL),
    "lines_in_cells.csv": text(FRAME.assign(n=[f"a\nb{k}" for k in range(40)])),
    "marked_utf8.csv": b"\xef\xbb\xbf" + text().encode(),
    "utf16.csv": text(FRAME.assign(kind=KIND), sep="\t").encode("utf-16"),
    "windows.csv": text(FRAME.assign(Straße="Öhlerweg"), sep=";", decimal=",").encode("cp1252"),
    "dos.csv": text().replace("\n", "\r\n") + "\r\n",
    "savetxt.txt": lines(R, " ", "# x y z\n", lambda x: f"{x:.18e}"),
    "comments.csv": "# made by hand\n" + text(),
    "told.csv": "sep=;\n" + text(sep=";"),
    "from_r.txt": text(FRAME.set_axis(range(1, 41)), sep=" ", index=True, header=["x", "y", "z"],
                       quoting=csv.QUOTE_NONNUMERIC)[3:],
    "compressed.csv.gz": gzip.compress(text().encode(), mtime=0),
    "spreadsheet.csv": text(sep=";").replace("\n", ";;\n") + ";;;;\n" * 3,
    "trailing_below_names.csv": "x,y,z\n" + text(header=False).replace("\n", ",\n"),
    "typographic.csv": text().replace("-", "\u2212"),
    "dates.csv": text(FRAME.assign(day="31.12.2024"), sep=";", decimal=","),
    "codes.csv": text(FRAME.assign(zip=[f"0{1067 + k}" for k in range(40)])),
    "ids.csv": text(FRAME.assign(id=np.random.default_rng(1).permutation(40))),
    "row_numbers.csv": text(FRAME.assign(n=np.arange(1, 41))),
    "classes.csv": text(FRAME.assign(target=(R[:, 0] > 0).astype(int))),
    "years.csv": "country,1990,1991,1992\n" + text(FRAME, header=False, index=True),
    "counted_names.csv": text(pd.DataFrame(R)),
    "counted_names_and_index.csv": text(pd.DataFrame(R), index=True),
}  # fmt: skip


def test_common_files_are_read(tmp_path):
    for name, content in READ.items():
        table = divided(written(tmp_path, name, content))
        np.testing.assert_array_equal(table.X, R, err_msg=name)


# Content, options that the refusal advises, and the array that is read with them.
REFUSED = {
    "title.csv": ("Measurements of May\n\n" + text(), "--drop-lines 1", R),
    "title_and_footnote.csv": (
        "Station 7\nAll in mm\n" + text() + "Source: own\n", "--drop-lines 1,2,44", R),
    "units_and_total.csv": (
        "x,y,z\nm,m,s\n" + text(header=False) + "Sum,,\n", "--drop-lines 2,43", R),
    "comment_below.csv": (text() + "# made by, A, B\n# end, of, it\n", "--drop-lines 42,43", R),
    "fractions.csv": (
        lines(np.abs(R) + 1, ";", "x;y;z\n", lambda x: f"{x:.3f}"), "--decimal .",
        np.round(np.abs(R) + 1, 3)),
    "na.csv": (text(pd.DataFrame(GAPS), na_rep="NA"), "--missing drop", COMPLETE),
    "dashes.csv": (text(pd.DataFrame(GAPS), na_rep="-"), "--na-values=- --missing drop", COMPLETE),
    "cut.csv": (text() + "1.5,2.5\n", "--drop-lines 42", R),
    "psql.txt": (
        " x | y | z \n---+---+---\n" + lines(R, " | ", "") + "(40 rows)\n", "--drop-lines 2,43", R),
    "repeated_names.csv": (text() + "x,y,z\n", "--drop-lines 42", R),
    "one_column.csv": (
        lines(R[:, :1], head="x\n", cell=lambda x: f"{x:.3f}".replace(".", ",")),
        "--sep ';' --decimal ,", R[:, :1]),
    "spectra.csv": (
        text(pd.DataFrame(R[:, [0, 1, 2, 0]], columns=[400.5, 401.5, 402.5, 403.5])),
        "--header yes", R[:, [0, 1, 2, 0]]),
    "spectra_with_commas.csv": (
        text(pd.DataFrame(R[:, [0, 1, 2, 0]], columns=["400,5", "401,5", "402,5", "403,5"]),
             sep=";", decimal=","),
        "--header yes", R[:, [0, 1, 2, 0]]),
    "one_year.csv": ("x,y,2019\n" + text(header=False), "--header yes", R),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_others_are_refused_and_the_advice_works(tmp_path, name):
    content, advice, expected = REFUSED[name]
    path = written(tmp_path, name, content)
    with pytest.raises(SdpdrError) as refusal:
        divided(path)
    for option in re.split(r" (?=--)", advice):
        assert option in str(refusal.value)
    np.testing.assert_array_equal(divided(path, advice).X, expected)


def test_lists_that_are_given_several_times_are_joined(tmp_path):
    path = written(tmp_path, "three.csv", "a title\n" + text() + "1.5,2.5\n")
    table = divided(path, "--drop-lines 1 --drop-lines 43 --drop x --drop z")
    np.testing.assert_array_equal(table.X, R[:, 1:2])


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("under.csv", text().replace(str(R[5, 1]), "1_5"), "line 7: column 'y' holds '1_5'"),
        ("slip_above.csv", "1.5,2,3x\n" + text(header=False), "(1.5, 2, 3x, ...) may name"),
        ("commas.csv", lines(R, cell=lambda x: f"{x:.3f}".replace(".", ",")), "semicolons"),
        ("text_and_commas.csv", "who,x,y\nAnn,1,5,2,5\nBob,3,5,4,0\n", "decimal marks too"),
        ("names.csv", "x,y,z\n" + lines(R[:, [0, 1, 2, 0, 1]], head=""), "line 1: 3 cells"),
        ("lost_name.csv", "x,y\n" + text(header=False), "2 names for 3 columns"),
        ("name.csv", "species,5,8\na,1,2\n", "may name the columns or be a point"),
        ("short.csv", text().replace(f",{R[9, 2]}\n", "\n"), "line 11: 2 cells, but other lines"),
        ("twice.csv", "x,x\n1,2\n3,4\n", "two columns are called 'x'"),
        ("names.csv", "x,y\n", "names columns (x, y) and has no row"),
        ("far.csv", "x,y\n1,2\n3,1e400\n", "line 3: column 'y' holds '1e400'"),
        ("zero.csv", b"x,y\n1,\x002\n", "line 2: expected text, found a byte of zero"),
        ("cut.csv.gz", gzip.compress(b"x,y\n1,2\n" * 99, mtime=0)[:-12], "not a text table"),
        ("plain.csv.gz", "x,y\n1,2\n", "not a text table"),
        ("data.npy.gz", "", "compressed, and only text is read so. Unpack it, and pass data.npy"),
        ("sheet.xlsx", "PK", "a spreadsheet. Save the sheet with the table as .csv"),
        ("sheet.json", "[]", "files called .json cannot be read. Choose one of .csv"),
        ("fake.npy", "hello", "cannot be read as .npy"),
        ("late.csv", "x;y\n" + "1.5;2.5\n" * 300 + "1,5;2\n", "one decimal mark"),
        ("percent.csv", lines(R, cell=lambda x: f"{x}%"), "Write it without units"),
        ("blanks.csv", lines(THOUSANDS, cell=lambda x: f"{int(x):,}".replace(",", " ")),
         "without marks between thousands"),
        ("groups.csv", lines(THOUSANDS, cell=lambda x: f'"{int(x):,}"'), "without the marks"),
        ("both.csv", lines(THOUSANDS, cell=lambda x: f'"{x:,.2f}"'), "without marks between"),
    ],
)  # fmt: skip
def test_the_error_names_what_cannot_be_read(tmp_path, name, content, words):
    with pytest.raises((FileFormatError, DataTypeError)) as refusal:
        divided(written(tmp_path, name, content))
    assert words in str(refusal.value)
    assert name.partition(".")[0] in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "D"),
    [("--columns z,x", 2), ("--drop x", 2), ("--id y --color x", 1), ("--color z", 2)],
)
def test_columns_are_chosen_by_name(tmp_path, options, D):
    path = written(tmp_path, "t.csv", text())
    assert divided(path, options).X.shape == (40, D)
    with pytest.raises(UnknownNameError, match="Did you mean 'x'"):
        divided(path, "--columns xx")


def test_true_and_false_are_coordinates_and_reported(tmp_path, capsys):
    frame = FRAME.assign(flag=np.where(np.arange(40) % 2, "True", "FALSE"))
    table = divided(written(tmp_path, "t.csv", text(frame)))
    assert table.X[:2, -1].tolist() == [0.0, 1.0]
    assert "true counts as 1 and false as 0 in 'flag'" in capsys.readouterr().err


def test_words_ids_and_classes_are_kept_as_they_are_written(tmp_path, capsys):
    frame = FRAME.assign(id=[f"{k:03d}" for k in range(40)], kind=KIND, empty="")
    table = divided(written(tmp_path, "t.csv", text(frame)))
    assert list(table.kept) == ["id", "kind"]
    assert table.kept["id"].tolist() == frame["id"].tolist()
    assert table.set_aside == {"id": "ids", "kind": "words", "empty": "empty"}
    assert table.colour == "kind"
    said = capsys.readouterr().err
    assert "not coordinates, and kept beside the embedding: 'id' (ids), 'kind' (words)" in said
    assert "without any value, and left out: 'empty'" in said


def test_labels_that_a_method_needs_colour_the_figure(tmp_path):
    args = arguments(written(tmp_path, "t.csv", text(FRAME.assign(kind=KIND))), "--labels kind")
    assert columns.divide(columns.read(args), args, args.labels).colour == "kind"


def test_a_column_that_names_every_row_writes_its_names_into_the_figure(tmp_path):
    (tmp_path / "t.csv").write_text("who,kind,x,y\nAnn,a,1,2\nBob,b,3,5\nEve,a,4,7\n")
    assert divided(tmp_path / "t.csv").names.tolist() == ["Ann", "Bob", "Eve"]
    (tmp_path / "u.csv").write_text("kind,x,y\na,1,2\nb,3,5\na,4,7\n")
    assert divided(tmp_path / "u.csv").names is None


def test_a_column_without_a_name_can_be_a_coordinate_or_a_colour(tmp_path):
    once = written(tmp_path, "p.csv", text(index=True))
    twice = written(tmp_path, "twice.csv", text(pd.read_csv(once), index=True))
    calls = ((once, ""), (twice, ""), (once, "--columns ,x,y,z"), (once, "--color="))
    assert [divided(path, options).X.shape[1] for path, options in calls] == [3, 3, 4, 3]


def test_true_and_false_are_one_and_zero(tmp_path):
    frame = FRAME.assign(red=R[:, 0] > 0)
    table = divided(written(tmp_path, "t.csv", text(frame)))
    np.testing.assert_array_equal(table.X[:, 3], R[:, 0] > 0)


@pytest.mark.parametrize(
    ("code", "suffix"), [(-200, "csv"), (-9999, "csv"), (999, "csv"), (99999, "parquet")]
)
def test_codes_of_missing_values_are_warned_of_once_and_the_advice_works(
    tmp_path, capsys, code, suffix
):
    frame = FRAME.copy()
    frame.loc[[3, 8], "x"] = frame.loc[[3, 20], "y"] = float(code)
    path = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
        frame.to_parquet(path)
    divided(path)
    (warning,) = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert f"{code} ('x', 'y')" in warning
    advice = re.search(r"--na-values=\S+ --missing drop", warning)[0]
    table = divided(path, advice)
    np.testing.assert_array_equal(table.X, R[[k for k in range(40) if k not in (3, 8, 20)]])
    assert "far from all others" not in capsys.readouterr().err


def test_lines_are_dropped_by_ranges(tmp_path):
    path = written(tmp_path, "t.csv", "a\nb\nc\n" + text() + "d\n")
    np.testing.assert_array_equal(divided(path, "--drop-lines 1-3,45").X, R)


def test_dropped_rows_keep_the_lines_of_the_file(tmp_path):
    frame = pd.DataFrame(GAPS, columns=list("xyz"))
    table = divided(written(tmp_path, "t.csv", text(frame)), "--missing drop")
    assert table.rows.tolist() == [k for k in range(40) if k not in (3, 7)]
    assert table.kept["line"][:5].tolist() == [2, 3, 4, 6, 7]
    args = arguments(written(tmp_path, "k.csv", text(frame.assign(kind=[""] + ["a"] * 39))))
    args.missing = "drop"
    table = columns.divide(columns.read(args), args, ["kind"], needed=["kind"])
    assert table.rows[0] == 1


# -- arrays and Parquet ---------------------------------------------------------------------------


def test_arrays_are_chosen_by_key_and_others_kept(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=R, kind=KIND, other=np.zeros(3))
    with pytest.raises(FileFormatError, match="X, kind, other. Choose one with --key"):
        divided(path)
    table = divided(path, "--key X --id kind")
    np.testing.assert_array_equal(table.X, R)
    assert table.kept["kind"].tolist() == KIND.tolist()
    np.savez(tmp_path / "complex.npz", X=R, z=np.full(40, 1j))
    with pytest.raises(DataTypeError, match="column 'z' holds '1j'"):
        divided(tmp_path / "complex.npz", "--key X")
    with pytest.raises(FileFormatError, match="is not text: leave out --sep, --drop-lines"):
        divided(path, "--key X --sep , --drop-lines 2")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (np.arange(9.0), "(n, D) is needed"),
        (np.zeros((3, 3, 3)), "(n, D) is needed"),
        (np.array([["a", "b"], ["c", "d"]]), "holds 'a'"),
        (np.ones((9, 2)) * 1j, "complex"),
        (np.array([[1e300, 1.0], [2.0, 3.0]]), "row 1: column '1' holds"),
        (np.ones(9, [("x", float), ("z", float)]), "(n, D) is needed"),
    ],
)
def test_arrays_that_are_not_points(tmp_path, content, words):
    np.save(tmp_path / "t.npy", content)
    with pytest.raises((FileFormatError, DataTypeError)) as refusal:
        divided(tmp_path / "t.npy")
    assert words in str(refusal.value)


def test_parquet_keeps_types_and_an_index(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    frame = FRAME.assign(kind=pd.Categorical(KIND), day=pd.Timestamp("2024-01-31"))
    frame.index = pd.Index([f"p{k}" for k in range(40)], name="point")
    frame.to_parquet(tmp_path / "t.parquet")
    table = divided(tmp_path / "t.parquet")
    np.testing.assert_array_equal(table.X, R)
    assert table.set_aside["day"] == "words"
    assert table.kept["point"].tolist() == list(frame.index)


@pytest.mark.parametrize("suffix", [".tsv", ".csv.gz", ".npz", ".parquet"])
def test_written_tables_can_be_read(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    path = tmp_path / f"t{suffix}"
    write_table(path, R, ["y1", "y2", "y3"], {"kind": KIND, "y1": KIND})
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    table = divided(path, "--key embedding --id kind,y1_" if suffix == ".npz" else "")
    np.testing.assert_array_equal(table.X, R)
    assert table.table.frame["y1_"].tolist() == KIND.tolist()


# -- units ----------------------------------------------------------------------------------------


def test_units_of_columns(capsys):
    X = R * [1.0, 1000.0, 1.0] + [0.0, 5.0, 0.0]
    np.testing.assert_array_equal(columns.scaling(None, X, ["x", "y", "z"])(X), X)
    assert "column 'y' is spread" in capsys.readouterr().err
    scaled = columns.scaling("standard", X, ["x", "y", "z"])(X)
    np.testing.assert_allclose(
        [scaled.mean(axis=0), scaled.std(axis=0)], [[0] * 3, [1] * 3], atol=1e-12
    )
    robust = columns.scaling("robust", X, ["x", "y", "z"])(X)
    np.testing.assert_allclose(np.median(robust, axis=0), 0.0, atol=1e-12)
    assert capsys.readouterr().err == ""
