"""Results: nothing is lost, nothing is half written, trouble has a name."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from sdpdr.errors import FileFormatError, ResultsDamagedError, ResultsError, ResultsLockedError
from sdpdr.lab.study.reading import read_results
from sdpdr.lab.study.schema import COLUMNS
from sdpdr.lab.study.store import Results

pytest.importorskip("duckdb", reason="the extra 'study' is not installed")


def row(key, **more):
    given = {"key": key, "problem": f"p-{key}", "solver": "scs", "form": "lmi", "solved": True}
    return given | {"tol": 1e-6, "seed": 0, "repeat": 0, "value": 1.5} | more


def fill(path, keys):
    with Results(path) as results:
        for key in keys:
            results.add(row(key))


def keys(path):
    with Results(path, read_only=True) as results:
        return sorted(results.keys())


def test_rows_come_back_in_the_promised_types(tmp_path):
    path = tmp_path / "a.duckdb"
    with Results(path) as results:
        results.add(row("b", n=7, words="<script>", gap=None))
        results.add(row("a"))
        frame = results.frame()
    assert list(frame.columns) == [column.name for column in COLUMNS]
    assert frame["problem"].tolist() == ["p-a", "p-b"]
    assert frame["words"].tolist() == ["", "<script>"]
    assert frame["n"].isna().tolist() == [True, False]
    assert frame["n"][1] == 7
    assert np.isnan(frame["gap"]).all()
    assert frame["solved"].dtype == bool
    assert frame["value"].tolist() == [1.5, 1.5]


def test_a_row_of_the_same_key_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "a.duckdb"
    with Results(path) as results:
        results.add(row("a", value=1.0))
        results.add(row("a", value=2.0))
        assert results.frame()["value"].tolist() == [2.0]


def test_rows_of_other_settings_stay_and_are_not_shown(tmp_path):
    path = tmp_path / "a.duckdb"
    with Results(path) as results:
        results.add(row("old"))
        results.add(row("new"))
        results.state("keys", ["new", "not yet"])
        assert results.frame()["key"].tolist() == ["new"]
        assert results.keys() == {"old", "new"}


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_exports_read_back_as_they_were(tmp_path, suffix):
    path, out = tmp_path / "a.duckdb", tmp_path / f"it's rows{suffix}"
    with Results(path) as results:
        results.add(row("a", n=3, words='comma, "quote"\nline', value=1 / 3))
        results.add(row("b", solved=False, certified=None))
        results.state("title", 'It\'s "new"')
        results.add_environment("e", {"machine": "x"})
        results.export(out)
        before = results.frame()
    after = read_results(out)
    assert before.equals(after.frame)
    if suffix == ".parquet":
        assert after.meta["title"] == 'It\'s "new"'
        assert after.environments == {"e": {"machine": "x"}}


def test_the_journal_reads_as_the_table_does(tmp_path):
    path = tmp_path / "a.duckdb"
    with Results(path) as results:
        for key in ("b", "a", "c"):
            results.add(row(key, n=3, value=1 / 3))
        results.add(row("a", solved=False, gap=None, n=None))
        results.state("keys", ["a", "b"])
        results.state("title", "New")
        results.add_environment("e", {"machine": "x"})
        before, meta, environments = results.frame(), results.meta(), results.environments()
        during = read_results(path.with_suffix(".jsonl"))
    assert during.frame.equals(before)
    assert (during.meta, during.environments) == (meta, environments)


def test_an_export_that_cannot_be_written_leaves_nothing(tmp_path):
    path = tmp_path / "a.duckdb"
    fill(path, ["a"])
    with Results(path, read_only=True) as results:
        with pytest.raises(FileFormatError, match=r"\*\.parquet or \*\.csv"):
            results.export(tmp_path / "rows.xlsx")
        with pytest.raises((OSError, ResultsError)):
            results.export(tmp_path / "nowhere" / "rows.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.duckdb", "a.jsonl"]


def in_the_table(path):
    import duckdb

    with duckdb.connect(str(path), read_only=True) as connection:
        return [
            key for (key,) in connection.execute("SELECT key FROM runs ORDER BY key").fetchall()
        ]


def test_a_table_that_missed_the_last_rows_hides_none_and_is_written_anew(tmp_path):
    path = tmp_path / "a.duckdb"
    fill(path, ["a"])
    with open(path.with_suffix(".jsonl"), "a") as file:
        file.write(json.dumps({"kind": "row", **row("b")}) + "\n")
    assert in_the_table(path) == ["a"]
    assert keys(path) == ["a", "b"]
    assert sorted(read_results(path).frame["key"]) == ["a", "b"]
    fill(path, ["c"])
    assert in_the_table(path) == ["a", "b", "c"]


def test_rows_that_only_the_table_has_are_kept(tmp_path):
    path = tmp_path / "a.duckdb"
    fill(path, "a")
    journal = path.with_suffix(".jsonl")
    before = journal.read_bytes()
    fill(path, "b")
    journal.write_bytes(before)
    assert keys(path) == ["a", "b"]
    fill(path, "c")
    assert keys(path) == ["a", "b", "c"]


def test_a_folder_where_results_belong_is_refused_at_once(tmp_path):
    for name in ("small.duckdb", "other.jsonl"):
        (tmp_path / name).mkdir()
        with pytest.raises(ResultsError):
            Results((tmp_path / name).with_suffix(".duckdb"))


def test_before_there_is_a_table_its_name_stands_for_the_journal(tmp_path):
    path = tmp_path / "a.duckdb"
    fill(path, ["a"])
    path.unlink()
    assert read_results(path).frame["key"].tolist() == ["a"]
    assert not path.exists()


def test_what_does_not_fit_into_a_column_is_not_known_and_breaks_nothing(tmp_path):
    path = tmp_path / "a.duckdb"
    with Results(path) as results:
        odd = {"iterations": 2**70, "gap": float("nan"), "value": float("inf"), "more": object()}
        results.add(row("a", words="\udce4\x1b[31m\x00", **odd))
        before = results.frame()
    assert before["words"].tolist() == ["[31m"]
    assert before[["iterations", "gap", "value"]].isna().all(axis=None)
    path.unlink()
    with Results(path) as results:
        assert results.frame().equals(before)


def test_a_journal_that_was_lost_is_begun_anew(tmp_path):
    path = tmp_path / "a.duckdb"
    with Results(path) as results:
        results.add(row("a"))
        results.state("title", "t")
        results.add_environment("e", {"machine": "x"})
        before = results.frame()
    path.with_suffix(".jsonl").unlink()
    fill(path, [])
    after = read_results(path.with_suffix(".jsonl"))
    assert after.frame.equals(before)
    assert (after.meta["title"], after.environments) == ("t", {"e": {"machine": "x"}})


@pytest.mark.parametrize("text", ["my notes\n", '{"kind": "row"}\n', '{"epoch": 1}\n'])
def test_somebody_elses_journal_is_left_alone(tmp_path, text):
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with pytest.raises(ResultsError, match="is no journal of results"):
        Results(tmp_path / "a.duckdb")
    assert path.read_text() == text
    assert not (tmp_path / "a.duckdb").exists()


@pytest.mark.parametrize("text", ["", "{", '{"kind"', '{"kind": "fact", "na'])
def test_a_journal_that_was_cut_off_in_its_first_line_goes_on(tmp_path, text):
    (tmp_path / "a.jsonl").write_text(text)
    fill(tmp_path / "a.duckdb", ["a"])
    (tmp_path / "a.duckdb").unlink()
    fill(tmp_path / "a.duckdb", ["b"])
    assert keys(tmp_path / "a.duckdb") == ["a", "b"]


def test_a_name_is_no_pattern(tmp_path):
    fill(tmp_path / "a.duckdb", ["a"])
    with Results(tmp_path / "a.duckdb") as results:
        results.export(tmp_path / "q1.csv")
        results.add(row("b"))
        results.export(tmp_path / "q[1].csv")
    assert len(read_results(tmp_path / "q[1].csv").frame) == 2
    assert len(read_results(tmp_path / "q1.csv").frame) == 1


def test_the_journal_knows_the_newer_of_two_rows(tmp_path):
    path = tmp_path / "a.duckdb"
    fill(path, ["a"])
    with open(path.with_suffix(".jsonl"), "a") as file:
        file.write(json.dumps({"kind": "row", **row("a", wall=2.0, value=9.0)}) + "\n")
    with Results(path) as results:
        assert results.frame()["value"].tolist() == [9.0]


@pytest.mark.parametrize("rest", ['{"kind": "row", "key": "c', "\x00\x00", "[]", '"x"', "{}"])
def test_half_a_line_in_the_journal_spoils_neither_the_rest_nor_what_follows(tmp_path, rest):
    path = tmp_path / "a.duckdb"
    fill(path, ["a"])
    with open(path.with_suffix(".jsonl"), "a") as file:
        file.write(rest)
    fill(path, ["b"])
    path.unlink()
    fill(path, [])
    assert keys(path) == ["a", "b"]


@pytest.mark.parametrize("damage", ["cut", "garbage", "middle", "text"])
def test_a_damaged_file_is_named_left_alone_and_rebuilt_from_the_journal(tmp_path, damage):
    path = tmp_path / "a.duckdb"
    fill(path, ["a", "b", "c"])
    whole = path.read_bytes()
    harm = {
        "cut": whole[: len(whole) // 3],
        "garbage": np.random.default_rng(0).bytes(len(whole)),
        "middle": whole[:4096] + bytes(4096) + whole[8192:],
        "text": b"problem,solver\n",
    }[damage]
    path.write_bytes(harm)
    with pytest.raises(
        ResultsDamagedError, match=r"a\.jsonl as well: move a\.duckdb away"
    ) as caught:
        fill(path, ["d"])
    assert str(path) in str(caught.value)
    assert path.read_bytes() == harm
    path.rename(tmp_path / "damaged")
    fill(path, [])
    assert set(keys(path)) >= {"a", "b", "c"}


def test_without_a_journal_a_damaged_file_is_all_there_is(tmp_path):
    path = tmp_path / "a.duckdb"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(ResultsDamagedError, match="there is no journal"):
        Results(path)
    with pytest.raises(ResultsDamagedError):
        read_results(path)


def test_results_that_are_added_to_can_only_be_read(tmp_path):
    path = tmp_path / "a.duckdb"
    fill(path, ["a"])
    with Results(path):
        before = path.with_suffix(".jsonl").read_bytes()
        with pytest.raises(ResultsLockedError, match="in use by another process"):
            Results(path)
        assert read_results(path).frame["key"].tolist() == ["a"]
        assert path.with_suffix(".jsonl").read_bytes() == before
    fill(path, ["b"])
    assert keys(path) == ["a", "b"]


@pytest.mark.nightly  # as above; tests/study/test_run.py has another process as well
def test_results_that_another_process_adds_to_can_only_be_read(tmp_path):
    path = tmp_path / "a.duckdb"
    fill(path, ["a"])
    program = """
        import sys
        from sdpdr.lab.study.store import Results
        with Results(sys.argv[1]) as results:
            print("open", flush=True)
            sys.stdin.read()
    """
    other = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert other.stdout.readline() == b"open\n"
        before = path.with_suffix(".jsonl").read_bytes()
        with pytest.raises(ResultsLockedError, match="in use by another process"):
            Results(path)
        assert keys(path) == ["a"]
        assert path.with_suffix(".jsonl").read_bytes() == before
    finally:
        other.communicate()
    fill(path, ["b"])
    assert keys(path) == ["a", "b"]


def test_somebody_elses_database_is_refused_and_left_alone(tmp_path):
    import duckdb

    path = tmp_path / "theirs.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE runs (x INTEGER)")
        connection.execute("INSERT INTO runs VALUES (3)")
    with pytest.raises(ResultsError, match="other columns"):
        Results(path)
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT * FROM runs").fetchall() == [(3,)]


@pytest.mark.parametrize(
    ("name", "words"),
    [("a.db", "expected results"), ("missing.duckdb", "no such file"), ("x.txt", "expected")],
)
def test_names_that_are_no_results(tmp_path, name, words):
    with pytest.raises(FileFormatError, match=words):
        read_results(tmp_path / name)


def test_a_place_that_does_not_exist(tmp_path):
    with pytest.raises(FileFormatError, match="no directory"):
        Results(tmp_path / "nowhere" / "a.duckdb")


@pytest.mark.parametrize("content", ["problem,solver\na,b\n", ""])
def test_a_table_that_holds_no_rows_of_a_study(tmp_path, content):
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(FileFormatError):
        read_results(tmp_path / "a.csv")
