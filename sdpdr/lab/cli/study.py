"""``sdpdr study``: run a study and report on it; ``sdpdr demo``: the main job, once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from shlex import quote
from types import SimpleNamespace

import click

from sdpdr.lab.cli.app import AS_JSON, PATH, WHOLE, Exit, command, option
from sdpdr.lab.cli.terminal import check_targets, echo, echo_json, error, grid, info, table

_FOLDER = click.Path(file_okay=False, path_type=Path)
_STUDY = click.argument("study", metavar="STUDY")
REPORTS = (".html", ".md")
EXPORTS = (".parquet", ".csv")


@command(
    "demo",
    "sdpdr demo --out out/demo",
    option("-o/--out DIR", "Where.", type=_FOLDER, default="out/demo", show_default=True),
    option("--quick", "Smaller data, for a first look."),
)
def demo_command(args: SimpleNamespace) -> int:
    """Unfold real data, compare all solvers, and write a report."""
    from sdpdr.lab.study.demo import demonstrate

    return Exit.OK if demonstrate(args.out, quick=args.quick) else Exit.UNCERTIFIED


@click.group("study", no_args_is_help=False)
def study_command() -> None:
    """Compare solvers on many problems, fairly, and report.

    STUDY is a name from `sdpdr study list`, or a TOML file.
    """


@command("list", "sdpdr study list")
def list_studies(args: SimpleNamespace) -> int:
    """List the studies that are shipped."""
    from sdpdr.lab.study.studyfile import shipped

    echo(table(("study", "what it is to settle"), shipped().items()))
    return Exit.OK


@command("show", "sdpdr study show quick", _STUDY)
def show_study(args: SimpleNamespace) -> int:
    """Show what a study would run."""
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
    echo(grid(facts))
    return Exit.OK


def _counted(names: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in names.items())


@command(
    "run",
    "sdpdr study run quick\n"
    "sdpdr study run my-study.toml --out results/mine.jsonl --jobs 4\n"
    "sdpdr study run solvers --scheduler tcp://10.0.0.1:8786",
    _STUDY,
    option("-o/--out PATH", "Results (default: STUDY.jsonl, here).", type=PATH),
    option("--jobs N", "Runs at a time (default: the study's).", type=WHOLE),
    option("--rerun SOLVER", "Run this solver again; repeat for several.", multiple=True),
    option("--scheduler ADDRESS", "Address of a Dask cluster that carries out the runs."),
    AS_JSON,
)
def run_command(args: SimpleNamespace) -> int:
    """Carry out the missing runs of a study; stop it at any moment and run it again."""
    from sdpdr.lab.study.compare import terminal_table
    from sdpdr.lab.study.measures import (
        means,
        not_installed,
        refused_everywhere,
        runs_by_median,
    )
    from sdpdr.lab.study.results import read_results
    from sdpdr.lab.study.run import results_of, run_study
    from sdpdr.lab.study.studyfile import find_study

    study = find_study(args.study)
    path = args.out or results_of(study)
    try:
        run_study(study, path, scheduler=args.scheduler, jobs=args.jobs, rerun=list(args.rerun))
    except KeyboardInterrupt:
        error(f"records so far are in {path}; run it again, and it goes on.", "stopped")
        return Exit.INTERRUPTED
    results = read_results(path)
    if results.n_hidden:
        info(f"{path} holds {results.n_hidden} records of other settings, which are left out")
    runs = runs_by_median(results.frame)
    ranking = means(runs).drop(columns="contestant")
    if args.json:
        kept = ranking.astype(object).where(ranking.notna(), None).to_dict("records")
        echo_json({"results": str(path), "runs": len(results.frame), "ranking": kept})
        return Exit.OK
    titles = {"mean": "mean seconds", "ratio": "times the fastest"}
    columns = ["solver", "form", "tol", "solved", "instances", *titles.values()]
    echo(terminal_table(ranking.rename(columns=titles)[columns]))
    if absent := not_installed(runs):
        info(f"not installed, or without a licence: {', '.join(absent)}")
    if refused := refused_everywhere(runs):
        info(f"left out, since every problem refuses them: {', '.join(refused)}")
    info(f"results: {path}; a report: sdpdr study report {quote(str(path))}")
    return Exit.OK


@command(
    "report",
    "sdpdr study report quick\nsdpdr study report quick.jsonl --out quick.html --out quick.md",
    _STUDY,
    option(
        "-o/--out PATH",
        ".html or .md; repeat it for several (default: STUDY.html, here).",
        type=PATH,
        multiple=True,
    ),
)
def report_command(args: SimpleNamespace) -> int:
    """Write the report of a study.

    STUDY is a study that was run here, or results (.jsonl, .parquet), also while it is running.
    """
    from sdpdr.lab.study.report import write_report
    from sdpdr.lab.study.results import find_results, read_results

    path = find_results(args.study)
    results = read_results(path)
    targets = list(args.out) or [Path(f"{path.stem}.html")]
    check_targets((out, REPORTS) for out in targets)
    for out in targets:
        write_report(results, out)
        info(f"wrote {out}")
    return Exit.OK


@command(
    "export",
    "sdpdr study export quick.jsonl --to quick.parquet",
    click.argument("results", metavar="RESULTS"),
    option("--to PATH", ".parquet or .csv.", type=PATH, required=True),
)
def export_results(args: SimpleNamespace) -> int:
    """Write the records of results as Parquet or CSV."""
    from sdpdr.lab.study.results import find_results, read_results

    check_targets([(args.to, EXPORTS)])
    read_results(find_results(args.results)).export(args.to)
    info(f"wrote {args.to}")
    return Exit.OK


for _command in (list_studies, show_study, run_command, report_command, export_results):
    study_command.add_command(_command)
