"""Results: nothing is lost, nothing is half written, and every error has advice that works."""

import pandas as pd
import pytest

from sdpdr.errors import FileFormatError, ResultsDamagedError, ResultsError, ResultsLockedError
from sdpdr.lab.study.results import Results, find_results, read_results


def record(key, **more):
    return {"key": key, "problem": f"p{key}", "solver": "scs", "form": "lmi", "tol": 1e-6,
            "outcome": "SOLVED", "solved": True} | more  # fmt: skip


def fill(path, keys):
    with Results(path) as results:
        for key in keys:
            results.add(record(key))


def keys(path):
    return read_results(path).frame["key"].tolist()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.jsonl"


def test_records_facts_and_environments_come_back(path):
    with Results(path) as results:
        results.set_fact("title", "T")
        results.set_fact("keys", ["a", "c"])
        results.add_environment("e1", {"machine": "m"})
        for key in "abc":
            results.add(record(key, n=7, gap=float("nan"), environment="e1"))
        results.add(record("a", n=8))
    loaded = read_results(path)
    assert loaded.frame[["key", "n"]].values.tolist() == [["a", 8], ["c", 7]]
    assert (loaded.n_hidden, loaded.meta["title"]) == (1, "T")
    assert loaded.environments == {"e1": {"machine": "m"}}
    assert loaded.frame["gap"].isna().all()


@pytest.mark.parametrize("rest", ['{"kind": "row", "key": "c', "{", ""])
def test_half_a_line_at_the_end_spoils_neither_the_rest_nor_what_follows(path, rest):
    path.write_text(rest)  # A kill may have left no more than a part of the first line.
    fill(path, ["a"])
    with open(path, "a") as file:
        file.write(rest)
    assert keys(path) == ["a"]
    fill(path, ["b"])
    assert keys(path) == ["a", "b"]


def test_a_damaged_line_is_named_and_the_advice_works(path):
    fill(path, ["a", "b", "c"])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], "garb\x00age\n", lines[2]]))
    for read in (read_results, Results):
        with pytest.raises(ResultsDamagedError, match="line 2.*Delete this line"):
            read(path)
    path.write_text("".join([lines[0], lines[2]]))
    fill(path, ["b"])
    assert keys(path) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"kind": "row"}', "this is not a record of a study"),
        ("[1, 2]", "this is not a record of a study"),
        ("{ROW}", "outcome is None, which is none of a run"),
        ('{ROW, "outcome": "FINE"}', "outcome is 'FINE', which is none"),
        ('{"kind": "row", "key": ["b"], "outcome": "SOLVED"}', "this is not a record of a study"),
        ('{ROW, "outcome": "SOLVED", "gap": "small"}', "a value does not fit"),
        ('{"kind": "fact", "name": "title"}', "the fact has no content"),
    ],
)
def test_a_line_that_is_json_and_no_record_is_named_with_what_is_wrong(path, line, words):
    line = line.replace("ROW", '"kind": "row", "key": "b"')
    fill(path, ["a"])
    whole = path.read_text()
    path.write_text(f"{whole}{line}\n")
    for read in (read_results, Results):
        with pytest.raises(ResultsDamagedError, match=f"line 2: .*{words}.*run the study again"):
            read(path)
    path.write_text(whole)
    fill(path, ["b"])
    assert keys(path) == ["a", "b"]


def test_a_full_disk_is_explained_and_the_study_goes_on(path):
    resource = pytest.importorskip("resource")
    fill(path, ["a"])
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Results(path) as results:
        # A limit on the size of files ends a write in the middle of a line, as a full disk does.
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
        try:
            with pytest.raises(
                ResultsError,
                match=r"a\.jsonl cannot be written: .*bytes to add.*bytes free.*run the study",
            ):
                results.add(record("b"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    fill(path, ["b"])
    assert keys(path) == ["a", "b"]


@pytest.mark.parametrize("text", ["my notes\n", '{"kind": "row"}\n', '{"epoch": 1}\n', "notes"])
def test_a_file_that_is_not_ours_is_left_alone(path, text):
    path.write_text(text)
    with pytest.raises(ResultsError, match="is not a journal of results"):
        Results(path)
    assert path.read_text() == text


def test_one_process_adds_records_and_others_read_them(path):
    fill(path, ["a"])
    with Results(path):
        before = path.read_bytes()
        with pytest.raises(ResultsLockedError, match="in use by another process"):
            Results(path)
        assert keys(path) == ["a"]
        assert path.read_bytes() == before
    fill(path, ["b"])
    assert keys(path) == ["a", "b"]


def test_values_that_do_not_fit_are_missing(path):
    odd = {"iterations": 2**70, "value": float("inf"), "more": object()}
    with Results(path) as results:
        results.add(record("a", message="\udce4\x1b[31m\x00", **odd))
    frame = read_results(path).frame
    assert frame["message"].tolist() == ["[31m"]
    assert frame[["iterations", "value"]].isna().all(axis=None)


def test_missing_and_killed_runs_are_not_settled(path):
    with Results(path) as results:
        for key, outcome in {"a": "SOLVED", "b": "MISSING", "c": "KILLED", "d": "CRASHED"}.items():
            results.add(record(key, outcome=outcome))
        assert results.settled() == {"a", "d"}


def test_exports_hold_the_same_records(path):
    pytest.importorskip("pyarrow")
    with Results(path) as results:
        results.set_fact("title", 'T, "quoted"')
        results.add_environment("e", {"machine": "x"})
        results.add(record("a", n=3, value=0.1 + 0.2, message='with, "commas"', memory_limit=2**31))
        results.add(record("b", solved=False, outcome="CRASHED"))
    loaded = read_results(path)
    for suffix in (".parquet", ".csv"):
        loaded.export(path.with_suffix(suffix))
    again = read_results(path.with_suffix(".parquet"))
    assert again.frame.equals(loaded.frame)
    assert (again.meta["title"], again.environments) == ('T, "quoted"', {"e": {"machine": "x"}})
    table = pd.read_csv(path.with_suffix(".csv"))
    assert table[["n", "message"]].iloc[0].tolist() == [3, 'with, "commas"']


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.db", r"Write .*a\.jsonl instead"),
        ("missing.jsonl", "no such file"),
        ("a.csv", r"Write .*a\.jsonl instead"),
        ("other.parquet", "columns .* are missing"),
        ("text.parquet", "cannot be read as Parquet"),
    ],
)
def test_files_that_are_no_results_are_refused(tmp_path, name, words):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"problem": ["a"]}).to_parquet(tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_text("text")
    with pytest.raises(FileFormatError, match=words):
        read_results(tmp_path / name)


def test_places_that_cannot_hold_results_are_refused(tmp_path, monkeypatch):
    with pytest.raises(FileFormatError, match="no directory"):
        Results(tmp_path / "nowhere" / "a.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(ResultsError, match="not a file"):
        Results(tmp_path / "folder.jsonl")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileFormatError, match="Run the study first, `sdpdr study run quick`"):
        find_results("quick")
    fill(tmp_path / "quick.jsonl", "a")
    assert find_results("quick").name == "quick.jsonl"
