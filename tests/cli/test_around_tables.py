"""What stands around tables as people have them: units, totals, notes, archives, an index."""

import re
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

from sdpdr.base.columns import are_dates, warn_of_columns
from sdpdr.errors import DoubtfulColumnWarning
from sdpdr.lab.cli.kinds import truths_of
from sdpdr.lab.cli.options import Exit
from sdpdr.lab.tables.cells import hint
from sdpdr.lab.tables.files import read_table
from sdpdr.lab.tables.form import Form

from .crossing import each_once

HEAD = "a,b,c"


def refused(ran, folder):
    """The error, with no file left by it."""
    assert ran.code == Exit.BAD_INPUT
    assert not [path for path in folder.iterdir() if path.name.startswith((".sdpdr", "out"))]
    return ran.err.splitlines()[-1]


def test_lines_of_units_are_named_together_and_a_column_of_words_is_not(sdpdr, tmp_path, lines):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,c", "cm,kg,s", "float,float,float", *lines]))
    assert "no points, but units or a total, --drop-lines 2,3 leaves them " in refused(
        sdpdr("embed t.csv"), tmp_path
    )
    path.write_text("\n".join(["a,b,c", *(["low,1,2"] * 5), *lines]))
    assert "--drop-lines" not in refused(sdpdr("embed t.csv"), tmp_path)


@pytest.mark.parametrize("note", ["Source: office; 2024", "Source: our own", "Made; by; hand"])
def test_the_separator_is_found_above_notes_of_other_width(sdpdr, tmp_path, points, note):
    rows = [";".join(f"{x:.3f}".replace(".", ",") for x in row) for row in points]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a;b;c;d", *(f"{row};1" for row in rows), note]))
    assert "--drop-lines 14 leaves it out" in refused(sdpdr("embed t.csv"), tmp_path)
    frame = read_table(path, Form(without=[14]))
    assert (frame.separator, frame.decimal) == (";", ",")
    np.testing.assert_array_equal(frame.numbers()[:, :3], points)


@pytest.mark.parametrize(("word", "first"), each_once(["Total", "Summe:", "mean"], [False, True]))
def test_a_row_that_is_called_a_total_is_told(sdpdr, tmp_path, lines, word, first):
    rows = [f"p{k},{row}" for k, row in enumerate(lines)]
    rows = [f"{word},1,2,3", *rows] if first else [*rows, f"{word},1,2,3"]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["name,a,b,c", *rows]))
    line = 2 if first else 14
    told = sdpdr("embed t.csv --connect mst --out y.csv")
    assert not told.code
    assert f"t.csv, line {line}: {word!r} in column 'name'" in told.err
    assert f"--drop-lines {line} leaves it out" in told.err
    assert "made" not in sdpdr(f"embed t.csv --drop-lines {line} --connect mst --out y.csv").err
    # A name that other rows have as well is a class.
    path.write_text("\n".join(["name,a,b,c", *rows, f"{word},4,5,6"]))
    assert "made" not in sdpdr("embed t.csv --connect mst --out y.csv").err


@pytest.mark.parametrize(
    ("cell", "decimal"),
    [("$0.50", "."), ("€ 12", "."), ("12.00 €", "."), ("-$3", "."), ("1,50 €", ",")],
)
def test_signs_of_money_are_to_be_taken_out(cell, decimal):
    assert hint(cell, ";", decimal) == " Take the sign of money out."


def test_several_columns_without_names_are_index_in_every_format(sdpdr, tmp_path, points):
    index = pd.MultiIndex.from_arrays([list("xy") * 6, range(12)])
    frame = pd.DataFrame(points, columns=list("abc"), index=index)
    frame.to_csv(tmp_path / "t.csv")
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        ran = sdpdr(f"embed {name} --connect mst --out y.csv")
        assert not ran.code
        assert "first columns have no name, so they are taken" in ran.err
        assert "--drop 'Unnamed: 0,Unnamed: 1' leaves them out" in ran.err
        found = pd.read_csv(tmp_path / "y.csv")
        assert list(found) == ["Unnamed: 0", "Unnamed: 1", "y1", "y2"]
        ran = sdpdr(f"embed {name} --drop 'Unnamed: 0,Unnamed: 1' --connect mst --out y.csv")
        assert "no name" not in ran.err
    (tmp_path / "ends.csv").write_text("\n".join(["a,b,c,,", *(f"{k},{k},1,," for k in range(9))]))
    assert read_table(tmp_path / "ends.csv").n == 9
    frame.index = pd.Index([k * k for k in range(12)], name="a")
    frame.to_parquet(tmp_path / "twice.parquet")
    assert "a column and an index are called 'a'" in refused(
        sdpdr("embed twice.parquet --out out.csv"), tmp_path
    )


def test_an_archive_that_pandas_or_a_mac_made_is_csv(tmp_path, points):
    frame = pd.DataFrame(points, columns=list("abc"))
    frame.to_csv(tmp_path / "t.zip", index=False)
    with zipfile.ZipFile(tmp_path / "mac.csv.zip", "w") as archive:
        archive.writestr("t.csv", frame.to_csv(index=False))
        archive.writestr("__MACOSX/._t.csv", b"\0\5")
    for name in ("t.zip", "mac.csv.zip"):
        np.testing.assert_array_equal(read_table(tmp_path / name).numbers(), points)


@pytest.mark.parametrize("name", ["PLZ", "code postal", "area"])
def test_codes_with_zeros_before_them_are_told_and_kept_as_they_are(sdpdr, tmp_path, lines, name):
    codes = [f"{1067 + 97 * k:05d}" for k in range(12)]
    rows = [f"{code},{line}" for code, line in zip(codes, lines, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join([f"{name},{HEAD}", *rows]))
    ran = sdpdr("embed t.csv --connect mst --scale none --out y.csv")
    if name == "area":
        assert "column 'area' holds numbers with zeros before them, as codes have" in ran.err
        for option in ("--drop area", "--label area", "--columns area,a,b,c"):
            ran = sdpdr(f"embed t.csv {option} --connect mst --scale none --out y.csv")
            assert "zeros before them" not in ran.err
        ran = sdpdr("embed t.csv --label area --connect mst --scale none --out y.csv")
    else:
        assert f"{name!r} (ids)" in ran.err
    assert pd.read_csv(tmp_path / "y.csv", dtype=str)[name].tolist() == codes


def test_an_archive_of_several_files_is_refused_with_their_names(sdpdr, tmp_path):
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
        archive.writestr("b.csv", "x\n1\n")
    said = refused(sdpdr("embed two.zip"), tmp_path)
    assert "two.zip holds 2 files (a.csv, b.csv); expected one, the table. Unpack" in said


def test_a_place_to_write_has_a_short_option(sdpdr, tmp_path, lines):
    (tmp_path / "t.csv").write_text("\n".join([HEAD, *lines]))
    assert not sdpdr("embed t.csv --connect mst -o y.csv --save m.npz").code
    assert not sdpdr("transform m.npz t.csv -o z.csv").code
    assert (tmp_path / "y.csv").exists()
    assert (tmp_path / "z.csv").exists()
    assert "Choose .npz." in sdpdr("embed t.csv --save m.pkl").err


@pytest.mark.parametrize("missing", ["", "--missing drop"])
def test_a_class_that_is_not_known_of_every_row_is_no_coordinate(sdpdr, tmp_path, missing):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.standard_normal((14, 3)).round(3), columns=["a", "b", "c"])
    frame["class"] = [0, 1, None, 1, 0, 0, 1] * 2
    frame.to_csv(tmp_path / "t.csv", index=False)
    ran = sdpdr(f"embed t.csv --out y.csv {missing}")
    assert ran.code == 0
    assert "'class' (labels)" in ran.err
    lines = (tmp_path / "y.csv").read_text().splitlines()
    assert len(lines) == 15
    assert [line.split(",")[0] for line in lines[:4]] == ["class", "0", "1", ""]


@pytest.mark.parametrize("blank", ["\u00a0", "\u202f", "\u2009"])
def test_numbers_with_blanks_are_no_words(sdpdr, tmp_path, lines, blank):
    rows = [f"1{blank}{k}34,{row}" for k, row in enumerate(lines[:10])]
    (tmp_path / "t.csv").write_text("\n".join([f"n,{HEAD}", *rows]), encoding="utf-8")
    assert refused(sdpdr("embed t.csv"), tmp_path).endswith("Say so with --thousands space")
    read = read_table(tmp_path / "t.csv", Form(thousands="space")).numbers()
    np.testing.assert_array_equal(read[:, 0], np.arange(1034, 2000, 100))


def _drawn(points, manner):
    """A table as a client of a database prints it, or Markdown."""
    rule = "+".join(["-----------"] * 3)
    cells = [[f"{entry:>9}" for entry in row] for row in [HEAD.split(","), *points.tolist()]]
    rows = [f" {' | '.join(row)} " for row in cells]
    if manner == "psql":
        return [rows[0], rule, *rows[1:], "(12 rows)", ""]
    rows = [f"|{row}|" for row in rows]
    if manner == "mysql":
        return [f"+{rule}+", rows[0], f"+{rule}+", *rows[1:], f"+{rule}+", "12 rows in set (0.1 s)"]
    if manner == "markdown":
        return [rows[0], f"|{rule.replace('+', '|')}|", *rows[1:]]
    top, middle, bottom, bar, line = _FRAMES[manner]
    rows = [row.replace("|", bar) for row in rows]
    above, between, below = (
        f"{a}{rule.replace('+', b).replace('-', line)}{c}" for a, b, c in (top, middle, bottom)
    )
    return [above, rows[0], between, *rows[1:], below]


# Of DuckDB and SQLite, of Polars, and doubled.
_FRAMES = {
    "light": ("┌┬┐", "├┼┤", "└┴┘", "│", "─"),
    "polars": ("┌┬┐", "╞╪╡", "└┴┘", "┆", "═"),
    "double": ("╔╦╗", "╠╬╣", "╚╩╝", "║", "═"),
}
_MANNERS = ["psql", "mysql", "markdown", *_FRAMES]


@pytest.mark.parametrize("manner", _MANNERS)
@pytest.mark.parametrize("suffix", ["csv", "txt", "md"])
@pytest.mark.parametrize("around", ["", "db=# SELECT * FROM t\ndb-# WHERE x > 1, 2;\n"])
def test_tables_that_databases_print_are_read(tmp_path, points, manner, suffix, around):
    path = tmp_path / f"t.{suffix}"
    drawn = "\n".join(_drawn(points, manner)).strip()
    path.write_text(f"{around}{drawn}\n{around}", encoding="utf-8")
    read = read_table(path)
    assert (list(read.columns), read.separator) == (HEAD.split(","), "|")
    np.testing.assert_array_equal(read.numbers(), points)
    line = read.lines[0]
    cells = re.split("[|│┆║]", path.read_text(encoding="utf-8").splitlines()[line - 1])
    assert cells[-1 - (manner != "psql")].strip() == str(points[0, -1])


def test_a_count_in_the_frame_is_no_row_and_types_below_names_are_told(sdpdr, tmp_path, points):
    drawn = _drawn(points, "light")
    drawn[-1:] = ["├───────────┴───────────┴───────────┤", f"│ {'12 rows':<33} │", f"└{'─' * 35}┘"]
    (tmp_path / "t.txt").write_text("\n".join(drawn), encoding="utf-8")
    np.testing.assert_array_equal(read_table(tmp_path / "t.txt").numbers(), points)
    drawn.insert(2, drawn[1].replace("a", "double").replace("b", "double").replace("c", "double"))
    (tmp_path / "t.txt").write_text("\n".join(drawn), encoding="utf-8")
    assert "--drop-lines 3 leaves it out" in refused(sdpdr("embed t.txt"), tmp_path)


def test_rows_that_were_not_printed_are_asked_for(sdpdr, tmp_path, lines):
    (tmp_path / "t.csv").write_text("\n".join([HEAD, *lines, "...,...,..."]))
    assert "save the whole table" in refused(sdpdr("embed t.csv"), tmp_path)


def test_a_separator_that_parts_nothing_is_told(sdpdr, tmp_path, lines):
    (tmp_path / "t.csv").write_text("\n".join(["----", HEAD, *lines]))
    said = refused(sdpdr("embed t.csv --sep |"), tmp_path)
    assert "no line has cells with '|' between them" in said


def test_bars_at_both_ends_are_cells_where_no_rule_is_drawn(tmp_path):
    (tmp_path / "t.csv").write_text("|x|y|\n|1|2|\n|3|4|\n")
    assert len(read_table(tmp_path / "t.csv").columns) == 4


def test_quoted_decimal_commas_between_commas_are_read_or_told(sdpdr, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('x,y,z\n"1,5",2,"3,25"\n"4,5",3,"2,75"\n"1.250,5",3,"2,75"\n')
    assert read_table(path).decimal == ","
    said = refused(sdpdr("embed t.csv"), tmp_path)
    assert said.endswith("points between thousands. Say so with --thousands .")
    np.testing.assert_array_equal(
        read_table(path, Form(thousands=".")).numbers()[2], [1250.5, 3, 2.75]
    )
    path.write_text('x,y,z\n"1,5",2.5,3\n"4,5",3,2\n"2,5",3,1\n')
    assert "--decimal , reads decimal commas" in refused(sdpdr("embed t.csv"), tmp_path)


@pytest.mark.parametrize(
    ("rows", "ways"),
    [
        ("1.250;2,5", "--decimal . or --decimal , or --thousands ."),
        ("1,250;2.5", "--decimal . or --decimal , or --thousands ,"),
        ("1,25;2.5", "--decimal . or --decimal ,"),
        ("1,250;2.500", "--decimal . or --decimal , or --thousands , or --thousands ."),
    ],
)
def test_only_marks_that_may_stand_between_thousands_are_offered(sdpdr, tmp_path, rows, ways):
    (tmp_path / "t.csv").write_text(f"x;y\n{rows}\n{rows}\n")
    assert refused(sdpdr("embed t.csv"), tmp_path).endswith(f"Say which it is with {ways}")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "a;b;c\n1.233;4.023;555\n12.100;999;1.000\n7;8.500;3\n"),
        ("t.csv", "a;b\n1.233;4.023\n2.104;-5.333\n"),
        ("t.csv", "name;2020\nx;1.233\ny;1.233.555\nz;\n"),
        ("t.csv", "1.250;3.400\n800;900\n700;650\n"),
        ("t.tsv", "a\tb\n1.250\t800\n800\t1.233\n"),
        ("t.csv", 'a,b\n1.250,"x"\n3,"y"\n'),
    ],
)
def test_points_that_may_stand_between_thousands_are_asked_about(sdpdr, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    said = refused(sdpdr(f"embed {name} --out out.csv"), tmp_path)
    assert "found '1.2" in said
    assert said.endswith("Say which it is with --decimal . or --thousands .")
    column = "2020" if "2020" in text else "a" if "a" in text else "1"
    header = "no" if column == "1" else "yes"
    options = {"thousands": ".", "header": header}, {"decimal": ".", "header": header}
    read = [float(read_table(tmp_path / name, Form(**o)).columns[column][0]) for o in options]
    assert read[0] == 1000.0 * read[1]


def test_points_below_many_numbers_without_are_asked_about(sdpdr, tmp_path):
    rows = "".join(f"{37 * k % 997};{k * k % 991}\n" for k in range(150))
    (tmp_path / "t.csv").write_text(f"a.x;b\n{rows}1.233;4.023\n")
    said = refused(sdpdr("embed t.csv --out out.csv"), tmp_path)
    assert said.endswith("Say which it is with --decimal . or --thousands .")
    for options, found in (({"decimal": "."}, 1.233), ({"thousands": "."}, 1233.0)):
        assert read_table(tmp_path / "t.csv", Form(**options)).columns["a.x"][-1] == found
    (tmp_path / "t.csv").write_text(f"a.x;b\n{rows}1.233;4.02\n")
    assert read_table(tmp_path / "t.csv").columns["a.x"][-1] == 1.233
    (tmp_path / "t.csv").write_text(f"a.x,b\n{rows.replace(';', ',')}1.230,4\n")
    said = refused(sdpdr("embed t.csv --out out.csv"), tmp_path)
    assert said.endswith("Say which it is with --decimal . or --thousands .")
    (tmp_path / "t.csv").write_text(f"a.x,b\n{rows.replace(';', ',')}1.233,4\n")
    assert read_table(tmp_path / "t.csv").columns["a.x"][-1] == 1.233


def test_lines_that_all_begin_with_a_mark_are_rows(tmp_path):
    (tmp_path / "t.csv").write_text("#ff0000,1,2\n#00ff00,5,6\n#0000ff,3,4\n")
    read = read_table(tmp_path / "t.csv").columns
    assert read["1"].tolist() == ["#ff0000", "#00ff00", "#0000ff"]
    assert read["3"].tolist() == [2.0, 6.0, 4.0]


def test_what_stands_for_unknown_entries_does_so_in_columns_that_are_kept(tmp_path):
    (tmp_path / "t.csv").write_text("x,k,id\n1,-,7\n2,a,-\n-,b,8\n")
    read = read_table(tmp_path / "t.csv", Form(unknown=["-"], as_written=["k"])).columns
    assert read["k"].tolist() == ["", "a", "b"]
    assert read["id"].tolist() == ["7", "", "8"]
    assert np.isnan(read["x"][2])


@pytest.mark.parametrize("index", [False, True])
def test_names_of_several_levels_are_no_rows(sdpdr, tmp_path, points, index):
    for levels in ([("a", "mean"), ("a", "std"), ("b", "mean")], [(2020, 1), (2020, 2), (2021, 1)]):
        table = pd.DataFrame(points + 0.25, columns=pd.MultiIndex.from_tuples(levels))
        if index:
            table.index.name = "id"
        table.to_csv(tmp_path / "t.csv")
        said = refused(sdpdr("embed t.csv --missing drop --out out.csv"), tmp_path)
        assert "lines 1 to 2 name the columns, as pandas writes names of several levels" in said
        table.columns = ["_".join(map(str, name)) for name in table.columns]
        table.to_csv(tmp_path / "t.csv")
        assert not sdpdr("embed t.csv --connect mst --out y.csv").code


@pytest.mark.parametrize(
    ("above", "way"),
    [("400,402,405", "--header yes"), ("20,20,21\n1,2,1", "--skip 1 --header yes")],
)
def test_whole_numbers_above_fractions_are_told_to_be_a_row(sdpdr, tmp_path, lines, above, way):
    (tmp_path / "t.csv").write_text("\n".join([above, *lines]))
    ran = sdpdr("embed t.csv --connect mst --out y.csv")
    assert "t.csv, line 1 is taken for a row, though its numbers are whole and" in ran.err
    assert f"Choose {way} if it names the columns" in ran.err
    assert "is taken for a row" not in sdpdr("embed t.csv --header no --connect mst").err
    assert len(read_table(tmp_path / "t.csv", Form(header="no")).columns["1"]) > 12
    for first in ("0,0,0", "1,2,0.5", "a,b,c"):
        (tmp_path / "t.csv").write_text("\n".join([first, *lines]))
        assert "is taken for a row" not in sdpdr("embed t.csv --connect mst").err


@pytest.mark.parametrize("first", ["country,", ""])
@pytest.mark.parametrize("whole", [False, True])
def test_years_at_equal_distances_name_columns_and_are_told(sdpdr, tmp_path, points, first, whole):
    X = np.round(1000.0 * points).astype(int) if whole else points
    rows = [("" if not first else f"C{k},") + ",".join(map(str, x)) for k, x in enumerate(X)]
    (tmp_path / "t.csv").write_text("\n".join([f"{first}1990,2000,2010", *rows]))
    ran = sdpdr("embed t.csv --connect mst --scale none --out y.csv")
    assert "t.csv, line 1 is taken for the names of the columns, though '1990' is a" in ran.err
    assert "t.csv: 12 points" in ran.out
    read = read_table(tmp_path / "t.csv", Form(header="yes")).select(["1990", "2000", "2010"])
    np.testing.assert_array_equal(read.numbers(), X)


def test_whole_numbers_beside_a_word_above_fractions_are_told_to_be_a_row(sdpdr, tmp_path, lines):
    rows = [f"g{k},{line}" for k, line in enumerate(lines)]
    (tmp_path / "t.csv").write_text("\n".join(["gene,1,2,3", *rows]))
    ran = sdpdr("embed t.csv --connect mst --out y.csv")
    assert "t.csv, line 1 is taken for a row, though its numbers are whole" in ran.err
    ran = sdpdr("embed t.csv --connect mst --header yes --out y.csv")
    assert "t.csv: 12 points" in ran.out
    rows = [f"g{k},{70 * k},{k * k + 3000}" for k in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(["gene,1990,2015", *rows]))
    ran = sdpdr("embed t.csv --connect mst --out y.csv")
    assert "though its numbers may be years and those below are none. Choose --header" in ran.err


@pytest.mark.parametrize("words", [("WAHR", "FALSCH"), ("VRAI", "FAUX"), ("VERDADERO", "FALSO")])
def test_spreadsheets_write_true_and_false_in_the_language_of_their_users(tmp_path, points, words):
    rows = [f"{words[k % 2]};{x}".replace(".", ",") for k, (x, *_) in enumerate(points.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(["ok;x", *rows]))
    truths = truths_of(read_table(tmp_path / "t.csv").columns["ok"])
    assert truths.tolist() == [1.0, 0.0] * 6


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "a,b,c\n1.233,4.023,555\n12.101,999,1.001\n"),
        ("t.tsv", "a\tb\n1.233\t4.500\n2.104\t-5.333\n"),
        ("t.csv", "a;b\n1.233;4.023\n0.104;-5.333\n"),
        ("t.csv", "a;b\n1.233;4.023\n2.1;-5.333\n"),
        ("t.csv", "a;b\n1.233;4.023\n1233;5.333\n"),
        ("t.csv", "a;b\n1.233;1.5e3\n2.100;5.333\n"),
    ],
)
def test_decimals_of_three_digits_are_read_without_fuss(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_table(tmp_path / name).columns["a"][0] == 1.233


@pytest.mark.parametrize(
    "when",
    [
        "2024-01-{}", "2024-01-{}T10:12:00Z", "2024/1/{} 9:30", "{}.01.2024", "{}.1.24",
        "1/{}/2024", "{} Jan 2024", "January {}, 2024", "10:{}", "2024-01-{} 10:12:33.125+01:00",
    ],
)  # fmt: skip
def test_dates_are_told_as_such(sdpdr, tmp_path, lines, when):
    rows = [f'"{when.format(k + 10)}",{row}' for k, row in enumerate(lines)]
    (tmp_path / "t.csv").write_text("\n".join([f"when,{HEAD}", *rows]))
    ran = sdpdr("embed t.csv --connect mst --out y.csv")
    assert ran.code == Exit.OK
    assert "'when' (dates or times)" in ran.err
    assert "A date is a coordinate where the file has a number for it" in ran.err


@pytest.mark.parametrize(
    ("how", "header", "gap"),
    each_once(["%Y%m%d", "%Y%m%d%H%M", "%Y%m%d%H%M%S", "%Y%m"], [False, True], [True, False]),
)
def test_dates_without_marks_are_no_coordinates(sdpdr, tmp_path, points, gap, header, how):
    every = "32D" if how == "%Y%m" else "1D"
    days = pd.date_range("2023-02-20 21:34:56", periods=12, freq=every).strftime(how).tolist()
    table = pd.DataFrame(points, columns=list("abc")).assign(when=days)
    table.loc[[3] if gap else [], "when"] = ""
    table.to_csv(tmp_path / "t.csv", index=False, header=header)
    ran = sdpdr("embed t.csv --connect mst --out y.csv")
    name = "when" if header else "4"
    assert f"{name!r} (dates or times). --columns" in ran.err
    assert "A date is a coordinate where the file has a number for it" in ran.err
    written = pd.read_csv(tmp_path / "y.csv", dtype=str, keep_default_na=False)
    assert written[name].tolist() == table["when"].tolist()
    named = sdpdr(f"embed t.csv --columns {name},{'a,b,c' if header else '1,2,3'} --connect mst")
    assert "dates" not in named.err


def test_whole_numbers_that_are_no_day_are_coordinates_and_frames_are_told(points):
    table = pd.DataFrame(points, columns=list("abc")).assign(when=20240220 + np.arange(12))
    assert not are_dates("when", table["when"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_columns(table)
    for numbers in (20240101126000, 20240101240000, 202401010060, 200012, 190013):
        assert not are_dates("x", numbers + np.arange(12))
    assert not are_dates("x", 202401 + np.arange(12))
    assert are_dates("Monat", 202401 + np.arange(12))
    table["when"] = 20240201 + np.arange(12)
    with pytest.warns(DoubtfulColumnWarning, match="'when' holds dates, 20240201 to 20240212"):
        warn_of_columns(table)


@pytest.mark.parametrize("option", ["--scale", "--figure"])
def test_a_table_behind_an_option_that_may_stand_alone_is_told_the_order(sdpdr, roll_csv, option):
    ran = sdpdr(f"embed {option} roll.csv --out y.csv")
    assert ran.code == Exit.USAGE
    assert f"If roll.csv is the table, write it first: roll.csv {option} (see" in ran.err
    assert "write it" not in sdpdr(f"embed {option} none.csv --out y.csv").err


@pytest.mark.parametrize("other", ["", ",{:.3f}"])
def test_points_on_a_line_are_told_to_have_one_dimension(sdpdr, tmp_path, points, other):
    rows = [f"{x:.3f}{other.format(2.0 * x + 1.0)}" for x in points.ravel()[:20].tolist()]
    (tmp_path / "t.csv").write_text("\n".join(["a,b" if other else "a", *rows]))
    ran = sdpdr("embed t.csv --connect mst --out y.csv")
    assert ran.code == Exit.OK
    assert "the embedding has 1 dimension: zero at all points, but for rounding: y2." in ran.err


def test_one_of_a_thing_is_no_plural(sdpdr, tmp_path, points):
    rows = [",".join(map(str, row)) for row in [*points, points[0]]]
    (tmp_path / "t.csv").write_text("\n".join([HEAD, *rows]))
    ran = sdpdr("embed t.csv --connect mst --n-components 1 --out y.csv --save m.npz")
    assert "1 dimension holds" in ran.out
    assert "1 of 13 points repeats an earlier one: 13. It was merged." in ran.err
    (tmp_path / "one.csv").write_text("\n".join([HEAD, rows[0]]))
    assert "one.csv: 1 point placed" in sdpdr("transform m.npz one.csv --out z.csv").out
    two = sdpdr("embed t.csv --connect mst --out y.csv").out
    assert "2 dimensions hold" in two
    assert "t.csv: 13 points, graph of 12 nodes" in two


def test_what_is_said_is_said_once_and_a_sample_of_more_than_all_is_told(sdpdr, tmp_path):
    rows = [f"{a},{b}" for a in range(3) for b in range(2)] * 5
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *rows]))
    said = sdpdr("embed t.csv --out y.csv --sample 40 --n-neighbors 5").err.splitlines()
    assert "--sample 40: there are 30 rows, and all of them are embedded." in said
    assert sum("24 of 30 points repeat" in line for line in said) == 1
    assert "--sample" not in sdpdr("embed t.csv --out y.csv --sample 30 --n-neighbors 5").err


def test_an_interruption_after_the_files_says_that_they_are_written(
    sdpdr, tmp_path, roll_csv, monkeypatch
):
    def interrupt(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("sdpdr.lab.cli.embed._tell", interrupt)
        ran = sdpdr("embed roll.csv --out y.csv")
    assert ran.code == Exit.INTERRUPTED
    assert ran.err.splitlines()[-1] == "error: interrupted; y.csv had been written."
    monkeypatch.setattr("sdpdr.lab.cli.embed.fitted", interrupt)
    assert "nothing was written" in sdpdr("embed roll.csv --out z.csv").err


def test_an_interruption_while_rows_are_placed_writes_nothing(
    sdpdr, tmp_path, roll_csv, monkeypatch
):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("sdpdr.families.unfold.estimators.sampled.completed", interrupt)
    ran = sdpdr("embed roll.csv --sample 30 --n-neighbors 5 --out y.csv")
    assert ran.code == Exit.INTERRUPTED
    assert "interrupted (placing 20 points); nothing was written." in ran.err
    assert not list(tmp_path.glob("*y.csv"))
