"""``sdpdr study`` as a person uses it."""

import json

import pytest

from sdpdr.lab.cli import main
from sdpdr.lab.cli.options import Exit
from sdpdr.lab.study.reading import read_results

pytest.importorskip("duckdb", reason="the extra 'study' is not installed")
pytest.importorskip("plotly", reason="the extra 'study' is not installed")
pytest.importorskip("psutil", reason="the extra 'study' is not installed")

TINY = """
[about]
title = "Tiny <b>"

[problems]
cards = ["path-graph"]

[[solvers]]
name = "lowrank"

[[solvers]]
name = "clarabel"
forms = ["lmi"]

[run]
repeats = 2
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


@pytest.fixture(scope="module")
def results(folder):
    path = folder / "tiny.duckdb"
    assert main(["study", "run", str(folder / "tiny.toml"), "--out", str(path)]) == Exit.OK
    return path


def test_a_study_is_run_and_its_ranking_shown(results, capsys):
    assert main(["study", "run", "tiny.toml"]) == Exit.OK
    said = capsys.readouterr()
    assert "lowrank" in said.out
    assert "times the best" in said.out
    assert "sdpdr study report tiny.duckdb" in said.err
    assert len(read_results(results).frame) == 4


def test_a_solver_that_is_not_installed_is_named(folder, capsys, monkeypatch):
    monkeypatch.setenv("PATH", "")
    text = (folder / "tiny.toml").read_text()
    (folder / "poor.toml").write_text(text.replace("clarabel", "csdp"))
    assert main(["study", "run", "poor.toml"]) == Exit.OK
    said = capsys.readouterr()
    assert "not installed, or without a licence: csdp" in said.err
    line = next(line for line in said.out.splitlines() if line.startswith("csdp"))
    assert line.split()[-2:] == ["–", "–"]


def test_json_tells_the_same(results, capsys):
    assert main(["study", "run", "tiny.toml", "--json"]) == Exit.OK
    told = json.loads(capsys.readouterr().out)
    assert told["runs"] == 4
    assert {line["solver"] for line in told["ranking"]} == {"lowrank", "clarabel"}
    assert all(line["solved"] == 1 for line in told["ranking"])


def test_a_report_is_written_as_every_kind_of_page(results, folder, capsys):
    outs = ["--out", "tiny.html", "--out", "tiny.md"]
    assert main(["study", "report", "tiny", *outs]) == Exit.OK
    assert "wrote tiny.html" in capsys.readouterr().err
    page = (folder / "tiny.html").read_text()
    assert "Tiny &lt;b&gt;" in page
    assert "Tiny <b>" not in page
    assert "clarabel" in (folder / "tiny.md").read_text()


@pytest.mark.nightly  # pictures take longest
def test_a_report_is_written_as_pages_of_documentation(results, folder):
    assert main(["study", "report", "tiny", "--out", "tiny.rst"]) == Exit.OK
    assert "clarabel" in (folder / "tiny.rst").read_text()


# Parquet is read back as well where results are compared.
@pytest.mark.parametrize(
    "name", ["rows.csv", pytest.param("rows.parquet", marks=pytest.mark.nightly)]
)
def test_rows_are_exported_and_reported_on(results, folder, name):
    assert main(["study", "export", "tiny.duckdb", "--to", name]) == Exit.OK
    assert main(["study", "report", name, "--out", "rows.md"]) == Exit.OK
    assert "lowrank" in (folder / "rows.md").read_text()


def test_results_are_compared(results, folder, capsys):
    main(["study", "export", "tiny.duckdb", "--to", "rows.parquet"])
    capsys.readouterr()
    code = main(["study", "report", "--compare", "tiny.duckdb", "rows.parquet", "--out", "v.html"])
    assert code == Exit.OK
    said = capsys.readouterr()
    assert said.out.strip()
    assert "regression" not in said.out.lower().replace("no regression", "")
    assert (folder / "v.html").exists()


def test_list_and_show(capsys):
    assert main(["study", "list"]) == Exit.OK
    assert "quick" in capsys.readouterr().out
    assert main(["study", "list", "--json"]) == Exit.OK
    assert "quick" in {line["name"] for line in json.loads(capsys.readouterr().out)}
    assert main(["study", "show", "tiny.toml", "--json"]) == Exit.OK
    shown = json.loads(capsys.readouterr().out)
    assert (shown["runs"], shown["problems"]) == (4, "1: mvu 1")
    assert main(["study", "show", "tiny.toml"]) == Exit.OK


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run", "nothing"], Exit.BAD_INPUT, "unknown study 'nothing'"),
        (["run", "nothing.toml"], Exit.BAD_INPUT, "cannot be read"),
        (["run", "tiny.toml", "--out", "a.csv"], Exit.BAD_INPUT, "expected a file called *.duckdb"),
        (["run", "tiny.toml", "--out", "no/a.duckdb"], Exit.BAD_INPUT, "no directory for it"),
        (["report"], Exit.BAD_INPUT, "name a study or its results"),
        (["report", "nothing"], Exit.BAD_INPUT, "Run the study first"),
        (["report", "nothing.duckdb"], Exit.BAD_INPUT, "no such file"),
        (["report", "a.duckdb", "--out", "a.pdf"], Exit.BAD_INPUT, "a.duckdb"),
        (["report", "--compare", "a.duckdb", "b.duckdb"], Exit.BAD_INPUT, "no such file"),
        (["export", "a.duckdb", "--to", "a.xlsx"], Exit.BAD_INPUT, ".parquet"),
    ],
)
def test_what_cannot_be_done_is_one_line(words, code, said, capsys, folder):
    before = sorted(folder.iterdir())
    assert main(["study", *words]) == code
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_a_damaged_file_of_results_is_one_line(folder, capsys):
    (folder / "bad.duckdb").write_bytes(b"damaged" * 1000)
    assert main(["study", "report", "bad.duckdb"]) == Exit.BAD_INPUT
    assert "cannot be read as a database" in capsys.readouterr().err
    assert main(["study", "run", "tiny.toml", "--out", "bad.duckdb"]) == Exit.BAD_INPUT
    assert (folder / "bad.duckdb").read_bytes() == b"damaged" * 1000


@pytest.mark.parametrize("words", [["run", "quick"], ["report", "a.duckdb"], ["report", "a.csv"]])
def test_what_is_not_installed_is_named_before_anything_is_done(
    words, capsys, hide_packages, folder
):
    hide_packages("plotly")
    before = sorted(folder.iterdir())
    assert main(["study", *words]) == Exit.BAD_INPUT
    assert 'studies need plotly: pip install "sdpdr[study]"' in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before


def test_jobs_are_at_least_one(capsys):
    assert main(["study", "run", "quick", "--jobs", "0"]) == Exit.USAGE
    assert "'--jobs': 0 is not in the range x>=1" in capsys.readouterr().err
