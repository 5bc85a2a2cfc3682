"""``sdpdr study``: run a study and report on it; ``sdpdr demo``: the main job, once."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections import Counter
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

from sdpdr.lab.cli.console import check_target, complain, grid, note, say, say_json, table
from sdpdr.lab.cli.options import Exit, add_argument, add_command, whole

REPORTS = (".html", ".md")
EXPORTS = (".parquet", ".csv")


def add(commands: Any) -> None:
    """Add the demonstration, and the command of studies with its own."""
    shown = add_command(commands, "demo", run_demo, "sdpdr demo --out out/demo", with_json=False)
    add_argument(shown, "-o/--out DIR", "default: out/demo", default="out/demo", type=_directory)
    add_argument(shown, "--quick", "smaller data, for a first look")
    parser = add_command(
        commands,
        "study",
        run_list,
        "sdpdr study list\nsdpdr study run quick\nsdpdr study report quick",
        with_json=False,
    )
    own = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_command(own, "list", run_list, "sdpdr study list", summary="the studies that are shipped")
    showing = add_command(
        own, "show", run_show, "sdpdr study show quick", summary="what a study would run"
    )
    add_argument(showing, "STUDY", _STUDY)
    _add_run(own)
    _add_report(own)
    exporting = add_command(
        own,
        "export",
        run_export,
        "sdpdr study export quick.jsonl --to quick.parquet",
        summary="write the records of results as Parquet or CSV",
        with_json=False,
    )
    add_argument(exporting, "RESULTS", "a study that was run here, or its *.jsonl")
    add_argument(exporting, "--to PATH", ".parquet or .csv", type=Path, required=True)


_STUDY = "a name from `sdpdr study list`, or a TOML file"


def _add_run(own: Any) -> None:
    running = add_command(
        own,
        "run",
        run_run,
        "sdpdr study run quick\n"
        "sdpdr study run my-study.toml --out results/mine.jsonl --jobs 4\n"
        "sdpdr study run solvers --scheduler tcp://10.0.0.1:8786",
        summary="carry out the missing runs of a study; stop it at any moment and run it again",
    )
    add = partial(add_argument, running)
    add("STUDY", _STUDY)
    add("-o/--out PATH", "results (default: STUDY.jsonl, here)", type=Path)
    add("--jobs N", "runs at a time (default: the study's)", type=whole)
    add(
        "--rerun SOLVER",
        "repeat the runs of this solver, for instance after an upgrade;\n"
        "give it several times for several solvers",
        action="append",
        default=[],
    )
    add("--scheduler ADDRESS", "of a Dask cluster that carries out the runs")


def _add_report(own: Any) -> None:
    reporting = add_command(
        own,
        "report",
        run_report,
        "sdpdr study report quick\nsdpdr study report quick.jsonl --out quick.html --out quick.md",
        summary="write the report of a study",
        with_json=False,
    )
    add = partial(add_argument, reporting)
    add(
        "STUDY",
        "a study that was run here, or results: *.jsonl, *.parquet, *.csv;\n"
        "also while the study is running",
    )
    words = ".html or .md; repeat it for several (default: STUDY.html, here)"
    add("-o/--out PATH", words, type=Path, action="append")


def run_demo(args: Namespace) -> Exit:
    """Run the demonstration."""
    from sdpdr.lab.study.demo import demonstrate

    return Exit.OK if demonstrate(args.out, quick=args.quick) else Exit.UNCERTIFIED


def run_list(args: Namespace) -> Exit:
    """Print the studies shipped."""
    from sdpdr.lab.study.studyfile import shipped

    rows = [{"name": name, "title": title} for name, title in shipped().items()]
    if args.json:
        say_json(rows)
    else:
        say(table(("study", "what it is to settle"), [tuple(row.values()) for row in rows]))
    return Exit.OK


def run_show(args: Namespace) -> Exit:
    """Print what a study would run."""
    from sdpdr.lab.study.studyfile import find_study

    study = find_study(args.study)
    problems = Counter(problem.method for problem in study.problems)
    solvers = Counter(contestant.name for contestant in study.contestants)
    facts = {
        "title": study.title,
        "question": study.question,
        "problems": f"{len(study.problems)}: {_counted(problems)}",
        "contestants": f"{len(study.contestants)}: {_counted(solvers)}",
        "runs": len(study.tasks()),
        **study.settings(),
    }
    if args.json:
        say_json(facts)
    else:
        say(grid(facts))
    return Exit.OK


def run_run(args: Namespace) -> Exit:
    """Carry out the missing runs."""
    from sdpdr.lab.study.measures import means, not_installed, runs_by_median
    from sdpdr.lab.study.results import read_results
    from sdpdr.lab.study.run import results_of, run_study
    from sdpdr.lab.study.studyfile import find_study

    study = find_study(args.study)
    path = args.out or results_of(study)
    try:
        run_study(study, path, scheduler=args.scheduler, jobs=args.jobs, rerun=args.rerun)
    except KeyboardInterrupt:
        complain("stopped", f"records so far are in {path}; run it again, and it goes on.")
        return Exit.INTERRUPTED
    results = read_results(path)
    if results.n_hidden:
        note(f"{path} holds {results.n_hidden} records of other settings, which are left out")
    runs = runs_by_median(results.frame)
    ranking = means(runs).drop(columns="contestant")
    absent = not_installed(runs)
    if args.json:
        kept = ranking.astype(object).where(ranking.notna(), None).to_dict("records")
        say_json({"results": str(path), "runs": len(results.frame), "ranking": kept})
    else:
        say(_ranking(ranking))
        if absent:
            note(f"not installed, or without a licence: {', '.join(absent)}")
        note(f"results: {path}; a report: sdpdr study report {quote(str(path))}")
    return Exit.OK


def _ranking(ranking: Any) -> Any:
    """Contestants, best first, for a terminal."""
    from sdpdr.lab.study.compare import terminal_table

    titles = {"mean": "mean seconds", "ratio": "times the fastest"}
    columns = ["solver", "form", "tol", "solved", "instances", *titles.values()]
    return terminal_table(ranking.rename(columns=titles)[columns])


def run_report(args: Namespace) -> Exit:
    """Write a report."""
    from sdpdr.lab.study.report import write_report
    from sdpdr.lab.study.results import find_results, read_results

    path = find_results(args.study)
    results = read_results(path)
    for out in _targets(args, path.stem):
        write_report(results, out)
        note(f"wrote {out}")
    return Exit.OK


def run_export(args: Namespace) -> Exit:
    """Write the records."""
    from sdpdr.lab.study.results import find_results, read_results

    check_target(args.to, EXPORTS)
    read_results(find_results(args.results)).export(args.to)
    note(f"wrote {args.to}")
    return Exit.OK


def _targets(args: Namespace, stem: str) -> list[Path]:
    targets = args.out or [Path(f"{stem}.html")]
    for target in targets:
        check_target(target, REPORTS)
    return list(targets)


def _counted(names: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in names.items())


def _directory(text: str) -> Path:
    if Path(text).is_file():
        raise ArgumentTypeError(f"{text} is a file: name a directory.")
    return Path(text)
