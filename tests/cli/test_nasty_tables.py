"""Tables with everything wrong that may be: the right answer, or one line that says what to do."""

import gzip
import io

import numpy as np
import pandas as pd
import pytest

from sdpdr.base.columns import warn_of_columns
from sdpdr.errors import DataTypeError, DoubtfulColumnWarning
from sdpdr.lab.cli.options import Exit
from sdpdr.lab.tables.cells import hint
from sdpdr.lab.tables.files import read_table
from sdpdr.lab.tables.form import Form

HEAD = "a,b,c\n"


def refused(ran, folder):
    """One line of an error, its exit code, and no file that was not there before."""
    *notes, last = ran.err.splitlines()
    assert ran.code == Exit.BAD_INPUT
    assert last.startswith("error: ")
    assert not any(line.startswith("error") for line in notes)
    assert not [path for path in folder.iterdir() if path.name.startswith((".sdpdr", "out"))]
    return last


WRITTEN = {
    "a mark before UTF-8": lambda body: ("\ufeff" + HEAD + "\n".join(body)).encode(),
    "UTF-16": lambda body: (HEAD + "\n".join(body)).encode("utf-16"),
    "empty lines": lambda body: ("\n\n" + HEAD + "\n" + "\n\n".join(body)).encode(),
    "separators at ends": lambda body: ("a,b,c,\n" + ",\n".join(body) + ",\n").encode(),
    "lines that end as on Windows": lambda body: "\r\n".join(["a,b,c", *body]).encode(),
    "lines that end as on old Macs": lambda body: "\r".join(["a,b,c", *body]).encode(),
    "decimal commas": lambda body: "\n".join(
        row.replace(",", ";").replace(".", ",") for row in ["a,b,c", *body]
    ).encode(),
}


@pytest.mark.parametrize("how", WRITTEN)
def test_numbers_are_read_however_they_are_written(tmp_path, points, lines, how):
    (tmp_path / "t.csv").write_bytes(WRITTEN[how](lines))
    frame = read_table(tmp_path / "t.csv")
    columns = [name for name in frame.columns if name]
    np.testing.assert_array_equal(frame.select(columns).numbers(), points)


ABOVE = {
    "a line that tells the separator": ("", "\ufeffsep=;\r\na;b;c\r\n"),
    "a title of one cell": ("--skip 2", "Report of 2024\n\na;b;c\n"),
    "a title as wide as the table": ("--skip 1", "Report;;\na;b;c\n"),
}


@pytest.mark.parametrize("what", ABOVE)
def test_lines_above_a_table_are_no_rows(sdpdr, tmp_path, points, lines, what):
    option, above = ABOVE[what]
    body = "\n".join(line.replace(",", ";").replace(".", ",") for line in lines)
    (tmp_path / "t.csv").write_text(above + body)
    (tmp_path / "plain.csv").write_text(HEAD + "\n".join(lines))
    for name in (f"t.csv {option}", "plain.csv"):
        assert sdpdr(f"embed {name} --n-neighbors 4 --out {name[0]}.npy").code == Exit.OK
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), np.load(tmp_path / "p.npy"))


@pytest.mark.parametrize("mark", [" ", ",", ";", "\t"])
@pytest.mark.parametrize("counted", [True, False])
def test_a_header_without_a_name_for_names_of_rows_is_read_as_r_means_it(
    tmp_path, points, mark, counted
):
    names = [f'"{k + 1}"' if counted else f'"row {k}"' for k in range(12)]
    body = [mark.join([name, *map(str, row)]) for name, row in zip(names, points, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join([mark.join(['"a"', '"b"', '"c"']), *body]))
    frame = read_table(tmp_path / "t.csv")
    assert (list(frame.columns), list(frame.index)) == (["", "a", "b", "c"], [""])
    np.testing.assert_array_equal(frame.select().numbers(), points)


@pytest.mark.parametrize("mark", [" ", ",", ";", "\t"])
@pytest.mark.parametrize("counted", [True, False])
def test_so_it_is_without_quotes(sdpdr, tmp_path, points, mark, counted):
    names = [f"{k + 1}" if counted else f"row{k}" for k in range(12)]
    body = [mark.join([name, *map(str, row)]) for name, row in zip(names, points, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join([mark.join("abc"), *body]))
    frame = read_table(tmp_path / "t.csv")
    assert (list(frame.columns), list(frame.index)) == (["", "a", "b", "c"], [""])
    np.testing.assert_array_equal(frame.select().numbers(), points)
    ran = sdpdr("embed t.csv --n-neighbors 4 --out y.csv")
    assert "the first column has no name, so it is taken for numbers or names of rows" in ran.err


def test_names_of_chosen_rows_are_numbers_in_any_order(tmp_path):
    (tmp_path / "t.csv").write_text("mass speed\n7 3.30 1.23\n2 3.84 1.06\n13 4.1 1.0\n")
    assert list(read_table(tmp_path / "t.csv").columns) == ["", "mass", "speed"]


@pytest.mark.parametrize(
    ("above", "words"),
    [
        ("My table\n", "line 1: found one cell, and 3 in line 2. If it is a title, --skip 1 "),
        ("My table, and such\nof 2024\n\n", "lines 1 to 2: found 2, 1 cells, and 3 in line 4. If "
         "they are a title, --skip 3 leaves them out"),
        ("My table, and such\n", "line 1: found 2 cells, and 3 in line 2. If it is a title, --sk"),
        ("Report,,\n,,\n", "If it is a title, --skip 2 leaves out the lines above"),
    ],
)  # fmt: skip
def test_lines_above_a_table_are_counted(sdpdr, tmp_path, lines, above, words):
    (tmp_path / "t.csv").write_text(above + HEAD + "\n".join(lines))
    said = refused(sdpdr("embed t.csv --out out.csv"), tmp_path)
    assert words in said
    skip = said.partition("--skip ")[2].partition(" ")[0]
    assert sdpdr(f"embed t.csv --n-neighbors 4 --skip {skip} --out y.csv").code == Exit.OK


def test_a_total_below_names_is_told(sdpdr, tmp_path, points, lines):
    body = [f"P{k},{line}" for k, line in enumerate(lines)]
    total = ",".join(map(str, points.sum(axis=0)))
    (tmp_path / "t.csv").write_text("\n".join([f"name,{HEAD.strip()}", *body, f"Total,{total}"]))
    ran = sdpdr("embed t.csv --n-neighbors 4 --out y.csv")
    assert "line 14: 'Total' in column 'name' says that it is made of the other rows" in ran.err
    assert "--drop-lines 14 leaves it out" in ran.err


@pytest.mark.parametrize("mark", ["-", "--", ".", "*", "n.a.", "n/d", "s/d", "missing"])
def test_marks_of_what_is_not_known_are_asked_about(sdpdr, tmp_path, lines, mark):
    (tmp_path / "t.csv").write_text(HEAD + "\n".join([*lines, f"1,{mark},2"]))
    said = refused(sdpdr("embed t.csv --out out.csv"), tmp_path)
    assert f"If {mark!r} stands for what is not known, --na-values=" in said
    option = said.partition("not known, ")[2].partition(" says")[0].replace("'", "")
    read = read_table(tmp_path / "t.csv", Form(unknown=[mark])).numbers()
    assert np.argwhere(np.isnan(read)).tolist() == [[12, 1]]
    done = sdpdr(f"embed t.csv {option} --missing drop --out y.csv")
    assert (done.code, "left out: 13" in done.err) == (Exit.OK, True)


@pytest.mark.parametrize("mark", [r"\N", "(null)", "#N/A", "<NA>", "NULL", "?"])
def test_what_programs_write_for_a_gap_is_one(tmp_path, lines, mark):
    (tmp_path / "t.csv").write_text("\n".join([HEAD.strip(), *lines, f"1,{mark},2"]))
    assert np.argwhere(np.isnan(read_table(tmp_path / "t.csv").numbers())).tolist() == [[12, 1]]


@pytest.mark.parametrize(("sep", "point"), [(",", "."), (";", ",")])
def test_a_typographic_minus_is_a_minus(tmp_path, points, sep, point):
    body = [sep.join(str(x).replace(".", point).replace("-", "\u2212") for x in row)
            for row in points]  # fmt: skip
    (tmp_path / "t.csv").write_text("\n".join([sep.join("abc"), *body]), encoding="utf-8")
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv").numbers(), points)


def test_shares_beside_percents_are_told(sdpdr, tmp_path, lines):
    body = [f"{line} %" if k != 2 else f"{line}" for k, line in enumerate(lines)]
    (tmp_path / "t.csv").write_text(HEAD + "\n".join(body))
    ran = sdpdr("embed t.csv --percent --n-neighbors 4 --out y.csv")
    told = "t.csv, line 4: the number in column 'c' has no sign of percent, and that in line 2 has"
    assert ran.err.count(told) == 1
    (tmp_path / "t.csv").write_text(HEAD + "".join(f"{line}%\n" for line in lines))
    assert "sign of percent" not in sdpdr("embed t.csv --percent --n-neighbors 4 --out y.csv").err


@pytest.mark.parametrize(
    "text",
    [
        "name;value\nP0;0,0\nP1;1,7\nP2;2,5\n",
        "name;kind;value\nP0;a;0,0\nP1;b;1,7\nP2;a;2,5\n",
        "name\tvalue\nP0\t0,0\nP1\t1,7\nP2\t2,5\n",
    ],
)
def test_decimal_commas_are_not_taken_for_separators(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    np.testing.assert_array_equal(
        read_table(tmp_path / "t.csv").select(["value"]).numbers()[:, 0], [0.0, 1.7, 2.5]
    )


@pytest.mark.parametrize(
    "text",
    [
        "name,income\nP0,52,000\nP1,53,137\nP2,54,000\n",
        "x\n1,00\n2,37\n3,74\n",
        "city,pop\nTown 0, ST,1\nTown 1, ST,2\nTown 2, ST,3\n",
        "city pop\nNew York 8\nLos Angeles 4\nSan Diego 1\n",
    ],
)
def test_a_cell_more_than_the_header_is_no_index_unless_all_is_quoted(sdpdr, tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    refused(sdpdr("embed t.csv --n-neighbors 2 --out out.csv"), tmp_path)


def test_rows_in_order_of_time_and_distances_are_not_dropped(sdpdr, tmp_path, points):
    table = pd.DataFrame(points, columns=["a", "b", "c"])
    table["turn"] = "R"
    table.loc[3, "a"] = np.nan
    table.to_csv(tmp_path / "walk.csv", index=False)
    ran = sdpdr("embed walk.csv --method are --actions turn --missing drop --out out.csv")
    assert "none can be left out" in refused(ran, tmp_path)
    pd.DataFrame(np.ones((4, 4)) - np.eye(4)).to_csv(tmp_path / "d.csv", index=False, header=False)
    ran = sdpdr("embed d.csv --metric precomputed --missing drop --out out.csv")
    assert "--missing drop is about coordinates" in refused(ran, tmp_path)


def test_rows_are_called_by_their_numbers_in_the_file_when_some_are_dropped(
    sdpdr, tmp_path, points
):
    table = pd.DataFrame(points, columns=["a", "b", "c"])
    table["kind"] = ["x", "y"] * 6
    table.loc[3, ["b", "kind"]], table.loc[9, "kind"] = np.nan, None
    table.to_csv(tmp_path / "t.csv", index=False)
    base = "embed t.csv --n-neighbors 4 --missing drop --method colored_mvu --labels kind"
    ran = sdpdr(f"{base} --out y.csv")
    assert "t.csv: these rows have no entry in 'kind', and they are left out: 10." in ran.err
    left = [line for line in range(2, 14) if line not in (5, 11)]
    assert pd.read_csv(tmp_path / "y.csv")["line"].tolist() == left
    kept = table.dropna()
    kept.to_csv(tmp_path / "whole.csv", index=False)
    sdpdr(f"{base.replace('t.csv', 'whole.csv')} --out whole-y.csv")
    found, whole = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("y", "whole-y"))
    pd.testing.assert_frame_equal(found.drop(columns="line"), whole)


@pytest.mark.parametrize("method", ["colored_mvu", "ghodsi"])
def test_rows_without_a_label_are_named_by_their_lines(sdpdr, tmp_path, points, method):
    table = pd.DataFrame(points, columns=["a", "b", "c"])
    table["kind"] = ["x", "y"] * 5 + [None, "x"]
    table.to_csv(tmp_path / "t.csv", index=False)
    base = f"embed t.csv --method {method} --labels kind --out"
    said = refused(sdpdr(f"{base} out.csv"), tmp_path)
    assert "rows without an entry in kind: 11. Lines of the file: 12. Every point needs" in said
    assert said.endswith("leave such rows out with --missing drop.")
    for way in ("--drop-lines 12", "--missing drop"):
        assert sdpdr(f"{base} {way[2]}.csv {way}").code == Exit.OK
    by_line, by_gap = (pd.read_csv(tmp_path / f"{name}.csv")[["y1", "y2"]] for name in "dm")
    pd.testing.assert_frame_equal(by_line, by_gap)
    table["kind"] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    said = refused(sdpdr(f"{base} out.csv --missing drop"), tmp_path)
    assert "no row has coordinates and an entry in 'kind'" in said


def test_a_column_called_line_is_kept_beside_the_lines_of_the_file(sdpdr, tmp_path, points):
    table = pd.DataFrame(points, columns=["a", "b", "line"])
    table.loc[0, "b"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    assert sdpdr("embed t.csv --n-neighbors 4 --missing drop --out y.csv").code == Exit.OK
    assert pd.read_csv(tmp_path / "y.csv")["line_"].tolist() == list(range(3, 14))


def test_rows_with_gaps_are_dropped_where_asked_and_told(sdpdr, tmp_path, points):
    table = pd.DataFrame(points, columns=["a", "b", "c"])
    table["kind"] = ["x", "y"] * 6
    gaps = table.copy()
    gaps.loc[3, "b"], gaps.loc[7, "a"] = np.nan, np.nan
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    table.drop([3, 7]).to_csv(tmp_path / "whole.csv", index=False)
    ran = sdpdr("embed gaps.csv --n-neighbors 4 --missing drop --out gaps-y.csv --save m.npz")
    assert ran.code == Exit.OK
    assert "are not known, and they are left out: 4, 8." in ran.err
    assert sdpdr("embed whole.csv --n-neighbors 4 --out whole-y.csv").code == Exit.OK
    found, whole = (pd.read_csv(tmp_path / f"{name}-y.csv") for name in ("gaps", "whole"))
    assert found.pop("line").tolist() == [k + 2 for k in range(12) if k not in (3, 7)]
    pd.testing.assert_frame_equal(found, whole)
    assert sdpdr("transform m.npz gaps.csv --out no.csv").code == Exit.BAD_INPUT
    assert sdpdr("transform m.npz gaps.csv --missing drop --out places.csv").code == Exit.OK
    assert len(pd.read_csv(tmp_path / "places.csv")) == 10


@pytest.mark.parametrize("name", ["CustomerID", "PassengerId", "order_no", "user-id", "zip"])
def test_ids_are_known_by_their_names(sdpdr, tmp_path, points, name):
    table = pd.DataFrame(points, columns=["a", "b", "c"])
    table.to_csv(tmp_path / "plain.csv", index=False)
    table.insert(0, name, 891 + np.random.default_rng(1).permutation(12))
    table.to_csv(tmp_path / "ids.csv", index=False)
    ran = sdpdr("embed ids.csv --n-neighbors 4 --out ids-y.csv")
    assert f"{name!r} (ids)" in ran.err
    assert sdpdr("embed plain.csv --n-neighbors 4 --out plain-y.csv").code == Exit.OK
    found, plain = (pd.read_csv(tmp_path / f"{name}-y.csv") for name in ("ids", "plain"))
    pd.testing.assert_frame_equal(found[["y1", "y2"]], plain)
    with pytest.warns(DoubtfulColumnWarning, match="is called as ids are"):
        warn_of_columns(table)


def test_an_option_that_is_misspelt_is_answered_with_the_nearest(sdpdr):
    ran = sdpdr("embed t.csv --n-neighbours 5")
    assert ran.code == Exit.USAGE
    assert "did you mean --n-neighbors?" in ran.err


@pytest.mark.parametrize(
    "words", ["Zürich {}", '"two\nlines, ""{}"""', "2024-01-{:02d}", "{:02d}/01/2024", "yes"]
)
def test_what_is_no_number_is_written_beside_as_it_was(sdpdr, tmp_path, lines, words):
    rows = "".join(f"{words.format(k + 1)},{line}\n" for k, line in enumerate(lines))
    (tmp_path / "t.csv").write_bytes(f"größe,{HEAD}{rows}".encode("cp1252"))
    ran = sdpdr("embed t.csv --n-neighbors 4 --out y.csv")
    assert ran.code == Exit.OK
    kind = "dates or times" if "2024" in words else "words"
    assert f"no coordinates, and kept beside the embedding: 'größe' ({kind})" in ran.err
    kept, asked = (pd.read_csv(source, dtype=str)["größe"] for source in
                   (tmp_path / "y.csv", io.StringIO(f"größe,{HEAD}{rows}")))  # fmt: skip
    assert kept.tolist() == asked.tolist()


@pytest.mark.parametrize(
    ("cell", "separator", "decimal", "words"),
    [
        ("2.811,99", ",", ".", "points between thousands and decimal commas. Say so with "
         "--thousands . --decimal ,"),
        ("2.811,99", ";", ",", "points between thousands. Say so with --thousands ."),
        ("2,811.99", ",", ".", "commas between thousands. Say so with --thousands ,"),
        ("2,811.99", ";", ",", "commas between thousands and decimal points. Say so with "
         "--thousands , --decimal ."),
        ("1,002,811", ";", ".", "commas between thousands. Say so with --thousands ,"),
        ("2,811", ",", ".", "or decimal commas. Say which with --thousands , or --decimal ,"),
        ("2.811", ";", ",", "or decimal points. Say which with --thousands . or --decimal ."),
        ("12\u202f811", ",", ".", "blanks between thousands. Say so with --thousands space"),
        ("\u22122\u2009811,5", ";", ",", "blanks between thousands. Say so with --thousands space"),
        ("2'811.99", ",", ".", "apostrophes between thousands. Say so with --thousands \\'"),
        ("2 811.99", ",", ".", "blanks between thousands. Say so with --thousands space"),
        ("$2,811.99", ",", ".", "commas between thousands. Take them and the sign of money out."),
    ],
)  # fmt: skip
def test_marks_between_thousands_are_told_with_what_to_do(cell, separator, decimal, words):
    assert hint(cell, separator, decimal).endswith(words)


@pytest.mark.parametrize(
    ("mark", "between", "point"),
    [
        (",", ",", "."),
        (".", ".", ","),
        ("'", "\u2019", "."),
        ("space", "\u202f", ","),
        ("space", "\u2009", "."),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_marks_between_thousands_are_read_where_they_are_said(
    sdpdr, tmp_path, mark, between, point, separator
):
    X = np.round(1e4 * np.random.default_rng(0).standard_normal((12, 2)), 2)
    X[0] = [1234567.25, 999.0]

    def written(number):
        return f"{number:,.2f}".translate(str.maketrans({",": between, ".": point}))

    table = pd.DataFrame([[f"r {k}", *map(written, row)] for k, row in enumerate(X)])
    table.columns = ["name", "a", "b"]
    table.to_csv(tmp_path / "t.csv", index=False, sep=separator)
    read = read_table(tmp_path / "t.csv", Form(thousands=mark, decimal=point if mark > "." else ""))
    np.testing.assert_array_equal(read.select(["a", "b"]).numbers(), X)
    assert read.columns["name"].tolist() == [f"r {k}" for k in range(12)]
    table.to_csv(tmp_path / "h.csv", index=False, sep=separator, header=False)
    again = read_table(
        tmp_path / "h.csv", Form(thousands=mark, decimal=point if mark > "." else "")
    )
    assert (again.named, again.n) == (False, 12)


def test_thousands_that_are_none_or_cannot_be_are_refused(sdpdr, tmp_path, lines):
    (tmp_path / "t.csv").write_text('a;b\n"1,25";2\n"3,250";4\n5;6\n')
    assert "column 'a' holds '1,25'" in sdpdr("embed t.csv --thousands ,").err
    both = sdpdr("embed t.csv --thousands , --decimal ,")
    assert "cannot stand between thousands and" in both.err
    (tmp_path / "p.csv").write_text("a,b\n12%,1\n13%,2\n15%,4\n")
    assert "Say with --percent" in sdpdr("embed p.csv --thousands ,").err
    np.save(tmp_path / "n.npy", np.eye(4))
    assert "n.npy is no text" in sdpdr("embed n.npy --thousands ,").err


@pytest.mark.parametrize("corner", ["gene", ""])
def test_columns_are_points_where_that_is_said(sdpdr, tmp_path, corner):
    X = np.random.default_rng(0).standard_normal((9, 14))
    genes, samples = [f"g{k}" for k in range(14)], [f"s{k}" for k in range(9)]
    table = pd.DataFrame(X.T, index=pd.Index(genes, name=corner), columns=samples)
    table.to_csv(tmp_path / "t.csv", sep=";", decimal=",")
    ran = sdpdr("embed t.csv --transpose --n-neighbors 4 --scale none --out y.csv --save m.npz")
    assert ran.code == Exit.OK
    assert "t.csv: 9 points" in ran.out
    written = pd.read_csv(tmp_path / "y.csv", keep_default_na=False)
    assert written.iloc[:, 0].tolist() == samples
    np.save(tmp_path / "x.npy", X.T)
    sdpdr("embed x.npy --transpose --n-neighbors 4 --scale none --out x.csv")
    np.testing.assert_array_equal(
        written[["y1", "y2"]].astype(float), pd.read_csv(tmp_path / "x.csv")
    )
    assert sdpdr("transform m.npz t.csv --transpose --out z.csv").code == Exit.OK
    table.iloc[3, 4] = np.nan
    table.to_csv(tmp_path / "t.csv")
    gap = sdpdr("embed t.csv --transpose --n-neighbors 4 --missing drop --out y.csv")
    assert "they are left out: 5" in gap.err
    assert pd.read_csv(tmp_path / "y.csv")["row"].tolist() == [1, 2, 3, 4, 6, 7, 8, 9]


def test_columns_that_have_names_are_not_transposed_in_parquet(sdpdr, tmp_path, points):
    pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    pd.DataFrame(points, columns=["a", "b", "c"]).to_parquet(tmp_path / "t.parquet")
    assert "Transpose it in pandas" in sdpdr("embed t.parquet --transpose").err


@pytest.mark.parametrize("cell", ["green", "1.2.3", "28,11.99", "12,34,567", "1.000.00"])
def test_other_cells_have_no_thousands(cell):
    assert "thousands" not in hint(cell, ";") + hint(cell, ";", ",")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{HEAD}2,811.99,1,2\n1,2,3\n", "'2,811.99' has a comma between thousands. Take it out."),
        (f"{HEAD}1,5,2,5,3,5\n", "found 6. Mend the line, or its separator: ',' is expected. It "
         "seems to have decimal commas beside commas between cells"),
        (f'{HEAD}1,2,3\n"4,5,6\n7,8,9\n', "line 4: expected 3 cells as in the first line, found"),
        (f'{HEAD}1,2,3\n"4,5,6\n7,8,9\n', "A quote may have been opened in line 3 and never"),
        (f"{HEAD}1,2,\0\n3,4,5\n", "t.csv, line 2: expected text, found a byte of zero."),
        (f"{HEAD}1,2,3\n4,,6\n7,8,9\n1,1,1\n", "t.csv: rows with coordinates that are not "
         "known: 2. Their columns: 'b'. Lines of the file: 3. --missing drop leaves"),
        (f"{HEAD}1,2,3\ninf,5,6\n7,8,9\n1,1,1\n", "t.csv: rows with coordinates that are "
         "infinite: 2. Their columns: 'a'. Lines of the file: 3. --missing drop leaves"),
        (f"{HEAD}0,1,\n1,0,2\n,2,0\n", "If it holds distances, --metric precomputed says so"),
        (f"A title,,\n,,\n{HEAD}1,2,3\n", "If it is a title, --skip 2 leaves out the lines"),
        ("sep=;\n", "t.csv is empty below line 1."),
        (f"{HEAD}1,2,3\n", "t.csv: there is 1 row, and at least 3 are needed."),
        (f"{HEAD}1,2,3\n1,2,3\n1,2,3\n", "t.csv: all 3 points are equal"),
        (f"{HEAD}1,2,3\nn/k,2,3\n1,2,4\n", "column 'a' holds 'n/k' (line 3), which is not a"),
        (HEAD, "t.csv names columns (a, b, c) and has no row below them."),
        ("", "t.csv is empty."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_with_the_file_and_the_place(sdpdr, tmp_path, text, words):
    (tmp_path / "t.csv").write_bytes(text.encode())
    assert words in refused(sdpdr("embed t.csv --n-neighbors 2 --out out.csv"), tmp_path)


def test_utf_16_without_its_mark_is_told(sdpdr, tmp_path, lines):
    (tmp_path / "t.csv").write_bytes((HEAD + "\n".join(lines)).encode("utf-16-le"))
    assert "in UTF-16 without its mark" in refused(sdpdr("embed t.csv --out out.csv"), tmp_path)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet"])
def test_text_called_an_array_is_told_and_nothing_unsafe_is_advised(sdpdr, tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    (tmp_path / f"t{suffix}").write_text(HEAD)
    said = refused(sdpdr(f"embed t{suffix} --out out.csv"), tmp_path)
    assert "as .csv of text" in said
    assert "pickle" not in said


def test_a_cut_archive_says_what_to_do(sdpdr, tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(HEAD.encode() * 500, mtime=0)[:-12])
    assert "Save it again" in refused(sdpdr("embed t.csv.gz --out out.csv"), tmp_path)


@pytest.mark.parametrize(("what", "words"), [("t.csv", "you may not read it"),
                                             (".", "you may not write to")])  # fmt: skip
def test_a_file_without_permission_is_told_before_any_work(
    sdpdr, tmp_path, monkeypatch, lines, what, words
):
    (tmp_path / "t.csv").write_text(HEAD + "\n".join(lines))
    place = (tmp_path / what).resolve()
    # The superuser may do all things, and may be who runs this.
    for module in ("sdpdr.lab.tables.files", "sdpdr.lab.cli.console"):
        monkeypatch.setattr(f"{module}.os.access", lambda path, mode: path.resolve() != place)
    assert words in refused(sdpdr("embed t.csv --out out.csv"), tmp_path)


# -- where results go -------------------------------------------------------------------------


def test_a_table_is_not_written_over(sdpdr, tmp_path, lines):
    text = HEAD + "\n".join(lines)
    (tmp_path / "t.csv").write_text(text)
    for target in ("t.csv", f"../{tmp_path.name}/t.csv"):
        ran = sdpdr(f"embed t.csv --n-neighbors 4 --out {target}")
        assert "is read by this command and would be written over" in refused(ran, tmp_path)
    assert (tmp_path / "t.csv").read_text() == text


def test_two_results_do_not_share_a_file(sdpdr, tmp_path, lines):
    (tmp_path / "t.csv").write_text(HEAD + "\n".join(lines))
    ran = sdpdr("embed t.csv --n-neighbors 4 --out out.npz --save out.npz")
    assert "out.npz is to be written twice" in refused(ran, tmp_path)


def test_a_column_that_is_called_like_the_embedding_is_told(sdpdr, tmp_path, lines):
    rows = "".join(f"p{k},{line}\n" for k, line in enumerate(lines))
    (tmp_path / "t.csv").write_text(f"y1,{HEAD}{rows}")
    ran = sdpdr("embed t.csv --n-neighbors 4 --out y.csv --save m.npz")
    assert "y.csv: 'y1' is a name of the embedding; that column is 'y1_'." in ran.err
    assert list(pd.read_csv(tmp_path / "y.csv").columns) == ["y1_", "y1", "y2"]
    ran = sdpdr("transform m.npz t.csv --out z.csv")
    assert "z.csv: 'y1' is a name of the embedding; that column is 'y1_'." in ran.err


def test_new_rows_in_another_order_are_placed_the_same(sdpdr, tmp_path, points):
    frame = pd.DataFrame(points, columns=["a", "b", "c"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert sdpdr("embed t.csv --n-neighbors 4 --save m.npz").code == Exit.OK
    frame[["c", "a", "b"]].to_csv(tmp_path / "order.csv", index=False)
    frame.assign(d=7.0).to_csv(tmp_path / "more.csv", index=False)
    frame[["a", "b"]].to_csv(tmp_path / "fewer.csv", index=False)
    places = []
    for name in ("t", "order", "more"):
        ran = sdpdr(f"transform m.npz {name}.csv --out {name}.npy")
        assert ran.code == Exit.OK
        assert ("does not know d; left out" in ran.err) == (name == "more")
        places.append(np.load(tmp_path / f"{name}.npy"))
    assert np.array_equal(places[0], places[1])
    assert np.array_equal(places[0], places[2])
    ran = sdpdr("transform m.npz fewer.csv --out out.npy")
    assert "fewer.csv has no column 'c'" in refused(ran, tmp_path)
    ran = sdpdr("transform m.npz t.csv --out m.npz")
    assert "m.npz is read by this command" in refused(ran, tmp_path)
    ran = sdpdr("transform t.csv t.csv --out out.npy")
    assert "it is no NPZ file" in refused(ran, tmp_path)


@pytest.mark.parametrize(("mark", "separator"), [(".", ","), (",", ";")])
@pytest.mark.parametrize("blank", ["", " ", "\u00a0"])
def test_percents_are_numbers_where_somebody_says_so(tmp_path, mark, separator, blank):
    rows = np.arange(1, 91).reshape(30, 3)
    lines = [separator.join(f"{a}{mark}5{blank}%" for a in row) for row in rows]
    path = tmp_path / "p.csv"
    path.write_text("\n".join([separator.join("abc"), *lines]), encoding="utf-8")
    np.testing.assert_array_equal(read_table(path, Form(percent=True)).numbers(), rows + 0.5)
    with pytest.raises(DataTypeError, match="Say with --percent"):
        read_table(path).numbers()


def test_lines_of_units_and_totals_are_named_and_left_out(sdpdr, tmp_path, points, lines):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,c", "cm,kg,s", *lines, "Total,1,2", "Source: us"]))
    said = []
    for left_out in ("", " --drop-lines 16", " --drop-lines 2,16"):
        last = refused(sdpdr(f"embed t.csv{left_out}"), tmp_path)
        said.append(last.partition("--drop-lines ")[2].split()[0])
    assert said == ["16", "2,15", "15"]
    frame = read_table(path, Form(without=[2, 15, 16]))
    np.testing.assert_array_equal(frame.numbers(), points)
    assert not sdpdr("embed t.csv --drop-lines 2,15,16 --connect mst --out y.csv").code
