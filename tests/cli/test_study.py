"""``sdpdr study`` as a person uses it."""

import json

import pytest

from sdpdr.lab.cli import main
from sdpdr.lab.cli.app import Exit
from sdpdr.lab.study.results import read_results
from sdpdr.lab.study.sandbox import RunOutcome

TINY = """
[about]
title = "Tiny <b>"

[problems]
cards = ["path-graph"]

[[solvers]]
name = "lowrank"

[run]
repeats = 1
warmup = false
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("study")
    (place / "tiny.toml").write_text(TINY)
    return place


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run_here(task, limits, stop=None):
    """Run in this process: tests/study/test_sandbox.py starts others, which takes seconds."""
    return RunOutcome("ANSWERED", task())


@pytest.fixture(scope="module")
def results(folder):
    path = folder / "tiny.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sdpdr.lab.study.executors.run_in_sandbox", run_here)
        assert main(["study", "run", str(folder / "tiny.toml"), "--out", str(path)]) == Exit.OK
    return path


def test_a_study_is_run_and_its_ranking_shown(results, capsys):
    assert main(["study", "run", "tiny.toml"]) == Exit.OK
    said = capsys.readouterr()
    assert "lowrank" in said.out
    assert "fastest" in said.out
    assert "sdpdr study report tiny.jsonl" in said.err
    assert len(read_results(results).frame) == 1
    assert main(["study", "run", "tiny.toml", "--json"]) == Exit.OK
    record = json.loads(capsys.readouterr().out)
    (line,) = record["ranking"]
    assert (record["runs"], line["solver"], line["solved"]) == (1, "lowrank", 1)


def test_a_report_is_written_as_every_kind_of_page(results, folder, capsys):
    outs = ["--out", "tiny.html", "--out", "tiny.md"]
    assert main(["study", "report", "tiny", *outs]) == Exit.OK
    assert "wrote tiny.html" in capsys.readouterr().err
    page = (folder / "tiny.html").read_text()
    assert "Tiny &lt;b&gt;" in page
    assert "Tiny <b>" not in page
    assert "lowrank" in (folder / "tiny.md").read_text()


def test_records_are_exported_and_keep_their_title(results, folder):
    for name in ("rows.csv", "rows.parquet"):
        assert main(["study", "export", "tiny.jsonl", "--to", name]) == Exit.OK
    assert read_results(folder / "rows.parquet").meta["title"] == "Tiny <b>"
    assert "path-graph" in (folder / "rows.csv").read_text()


def test_list_and_show(capsys):
    assert main(["study", "list"]) == Exit.OK
    assert "\nquick " in capsys.readouterr().out
    assert main(["study", "show", "tiny.toml"]) == Exit.OK
    shown = capsys.readouterr().out
    assert "problems      1: mvu 1\n" in shown
    assert "runs          1\n" in shown


@pytest.mark.daily(4)
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run", "nothing"], Exit.BAD_INPUT, "unknown study 'nothing'"),
        (["run", "tiny.toml", "--out", "a.csv"], Exit.BAD_INPUT, "expected a file called *.jsonl"),
        (["run", "tiny.toml", "--out", "no/a.jsonl"], Exit.BAD_INPUT, "no directory no"),
        (["report", "nothing"], Exit.BAD_INPUT, "Run the study first"),
        (["report", "nothing.jsonl"], Exit.BAD_INPUT, "no such file"),
        (["run", "quick", "--jobs", "0"], Exit.USAGE, "'--jobs': 0 is not in the range x>=1"),
        (["report", "tiny.jsonl", "--out", "a.pdf"], Exit.BAD_INPUT, "one of .html, .md"),
        (["export", "tiny.jsonl", "--to", "a.xlsx"], Exit.BAD_INPUT, ".parquet"),
    ],
)
@pytest.mark.usefixtures("results")
def test_errors_are_one_line(words, code, said, capsys, folder):
    before = sorted(folder.iterdir())
    assert main(["study", *words]) == code
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_a_file_that_is_no_journal_is_refused_and_kept(folder, capsys):
    (folder / "bad.jsonl").write_bytes(b"notes\n" * 1000)
    for words in (["report", "bad.jsonl"], ["run", "tiny.toml", "--out", "bad.jsonl"]):
        assert main(["study", *words]) == Exit.BAD_INPUT
        assert "is not a journal of results" in capsys.readouterr().err
    assert (folder / "bad.jsonl").read_bytes() == b"notes\n" * 1000


def test_a_package_that_is_not_installed_is_named(capsys, hide_packages):
    hide_packages("psutil")
    assert main(["study", "run", "tiny.toml", "--out", "new.jsonl"]) == Exit.BAD_INPUT
    assert 'studies need psutil: pip install "sdpdr[study]"' in capsys.readouterr().err
