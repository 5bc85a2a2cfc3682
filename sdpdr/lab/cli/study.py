"""``sdpdr study``: run a study, report on it, compare two; ``sdpdr demo``: the main job, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from types import SimpleNamespace
from typing import Any

import click

from sdpdr.base.errors import StudyError, require_packages
from sdpdr.base.rows import counted
from sdpdr.lab.cli.command import command
from sdpdr.lab.cli.options import AS_JSON, PATH, WHOLE, Exit, option
from sdpdr.lab.cli.outputs import check_target
from sdpdr.lab.cli.terminal import echo, echo_json, error, grid, info, table

_FOLDER = click.Path(file_okay=False, path_type=Path)
REPORTS = (".html", ".md", ".rst")


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


@command("list", "sdpdr study list", AS_JSON)
def list_studies(args: SimpleNamespace) -> int:
    """List the studies that are shipped."""
    from sdpdr.lab.study.studyfile import shipped

    rows = [{"name": name, "title": title} for name, title in shipped().items()]
    if args.json:
        echo_json(rows)
    else:
        echo(table(("study", "what it is to settle"), [tuple(row.values()) for row in rows]))
    return Exit.OK


@command("show", "sdpdr study show quick", click.argument("study", metavar="STUDY"), AS_JSON)
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
    if args.json:
        echo_json(facts)
    else:
        echo(grid(facts))
    return Exit.OK


@command(
    "run",
    "sdpdr study run quick\n"
    "sdpdr study run my-study.toml --out results/mine.duckdb --jobs 4\n"
    "sdpdr study run solvers --scheduler tcp://10.0.0.1:8786",
    click.argument("study", metavar="STUDY"),
    option("-o/--out PATH", "Results (default: STUDY.duckdb, here).", type=PATH),
    option("--jobs N", "Runs at a time (default: the study's).", type=WHOLE),
    option("--rerun/--again SOLVER", "Run this solver again; repeat for several.", multiple=True),
    option("--scheduler ADDRESS", "Address of a Dask cluster that carries out the runs."),
    AS_JSON,
)
def run_command(args: SimpleNamespace) -> int:
    """Carry out what is missing of a study; stop it at any moment and run it again."""
    _need_extra()
    from sdpdr.lab.study.run import results_of, run_study
    from sdpdr.lab.study.studyfile import find_study

    study = find_study(args.study)
    path = args.out or results_of(study)
    try:
        run_study(study, path, scheduler=args.scheduler, jobs=args.jobs, again=args.rerun)
    except KeyboardInterrupt:
        error(f"rows so far are in {path}; run it again, and it goes on.", "stopped")
        return Exit.INTERRUPTED
    from sdpdr.lab.study.measures import means, not_installed, runs_by_median
    from sdpdr.lab.study.store import Results

    with Results(path, read_only=True) as results:
        frame = results.frame()
        hidden = len(results.keys()) - len(frame)
    if hidden:
        are = "is" if hidden == 1 else "are"
        info(
            f"{counted(hidden, 'row')} of other settings or another study {are} kept in {path} and "
            "left out"
        )
    ranking = means(runs_by_median(frame))
    absent = not_installed(frame)
    if args.json:
        kept = ranking.astype(object).where(ranking.notna(), None).to_dict("records")
        echo_json({"results": str(path), "runs": len(frame), "ranking": kept})
    else:
        echo(_ranking(ranking))
        if absent:
            info(f"not installed, or without a licence: {', '.join(absent)}")
        info(f"results: {path}; a page of them: sdpdr study report {quote(str(path))}")
    return Exit.OK


def _ranking(ranking: Any) -> Any:
    """Contestants, best first, for a terminal."""
    from sdpdr.lab.study.page.parts import Table
    from sdpdr.lab.study.page.render import to_terminal

    titles = {"instances": "of", "mean": "mean seconds", "ratio": "times the best"}
    columns = ["solver", "form", "tol", "solved", *titles.values()]
    return to_terminal(Table("ranking", ranking.rename(columns=titles)[columns]))


@command(
    "report",
    "sdpdr study report quick\n"
    "sdpdr study report quick.duckdb --out quick.html --out quick.md\n"
    "sdpdr study report --compare before.duckdb after.duckdb",
    click.argument("study", metavar="[STUDY]", required=False),
    option("--compare A B", "Two results: is B slower than A, or worse?", nargs=2, type=PATH),
    option("-o/--out PATH", f"{' '.join(REPORTS)}; repeatable.", type=PATH, multiple=True),
)
def report_command(args: SimpleNamespace) -> int:
    """Write the report of a study, or compare two results.

    STUDY is a study that was run here, or results, also while the study is running.
    """
    _need_extra()
    if (args.study is None) == (not args.compare):
        raise StudyError("name a study or its results to report on, or two with --compare A B.")
    if args.compare:
        return _compare(args)
    from sdpdr.lab.study.page import write_report
    from sdpdr.lab.study.reading import read_results
    from sdpdr.lab.study.studyfile import find_results

    path = find_results(args.study)
    results = read_results(path)
    for out in _targets(args, path.stem):
        write_report(results.frame, results.meta, results.environments, out)
        info(f"wrote {out}")
    return Exit.OK


def _compare(args: SimpleNamespace) -> int:
    from sdpdr.lab.study.page import write_comparison
    from sdpdr.lab.study.reading import read_results

    before, after = (read_results(path) for path in args.compare)
    for out in _targets(args, f"{args.compare[0].stem}-{args.compare[1].stem}", REPORTS[:2]):
        verdict = write_comparison(before, after, out)
        info(f"wrote {out}")
    echo(verdict)
    return Exit.OK


@command(
    "export",
    "sdpdr study export quick.duckdb --to quick.parquet",
    click.argument("results", metavar="RESULTS", type=PATH),
    option("--to PATH", ".parquet or .csv.", type=PATH, required=True),
)
def export_results(args: SimpleNamespace) -> int:
    """Write the rows of results as Parquet or CSV."""
    _need_extra()
    from sdpdr.lab.study.store import EXPORTS, Results

    check_target(args.to, EXPORTS)
    with Results(args.results, read_only=True) as results:
        results.export(args.to)
    info(f"wrote {args.to}")
    return Exit.OK


def _need_extra() -> None:
    """Say once, and before anything is done, what is not installed."""
    require_packages("studies", "study", "duckdb", "pandas", "plotly", "psutil")


def _targets(args: SimpleNamespace, stem: str, suffixes: Sequence[str] = REPORTS) -> list[Path]:
    targets = args.out or [Path(f"{stem}.html")]
    for target in targets:
        check_target(target, suffixes)
    return list(targets)


def _counted(names: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in names.items())


for _command in (list_studies, show_study, run_command, report_command, export_results):
    study_command.add_command(_command)
