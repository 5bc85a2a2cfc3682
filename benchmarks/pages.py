"""CPU seconds of every lesson, of the solutions of its exercises, and of every gallery page.

    python benchmarks/pages.py                     all, some minutes; writes both tables
    python benchmarks/pages.py lesson_07 plot_mvu  some by their first letters, printed only

Each is run in a process of its own, the import of this package and of others included.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from journal import processor_seconds
from tables import write_csv

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LESSONS = sorted((DOCS / "course").glob("lesson_*.py"))
GALLERY = sorted((DOCS / "gallery").rglob("plot_*.py"))
COMMAND = "python benchmarks/pages.py"
CONDITIONS = (
    "Seconds of the processor, each page in a process of its own with one thread, imports "
    "included, on a machine of two cores that others used, too."
)


def measured(page: Path) -> list[float]:
    """Seconds of the page, and of it with the solutions of its exercises."""
    command = [sys.executable, __file__, "--run", str(page)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    seconds: list[float] = json.loads(ran.stdout.splitlines()[-1])
    return seconds


def run(page: Path) -> list[float]:
    """Run a page, and then its solutions, in this process."""
    import matplotlib

    matplotlib.use("Agg")
    taught: dict[str, object] = {"__name__": "__main__"}
    exec(compile(page.read_text(encoding="utf-8"), str(page), "exec"), taught)
    seconds = [processor_seconds()]
    if page in LESSONS:
        sys.path.insert(0, str(ROOT / "tests" / "docs"))
        from test_course import exercises

        for exercise in exercises(page):
            exec(compile(exercise.code, page.name, "exec"), dict(taught))
        seconds.append(processor_seconds())
    return seconds


def title(page: Path) -> str:
    """The first line of the docstring of a page."""
    return page.read_text(encoding="utf-8").partition('"""\n')[2].partition("\n")[0]


def lessons(seconds: dict[Path, list[float]]) -> None:
    """The table of the course."""
    rows = [(page.stem, title(page), *(f"{s:.0f}" for s in seconds[page])) for page in LESSONS]
    rows.append(("all", "", *(f"{sum(seconds[p][k] for p in LESSONS):.0f}" for k in range(2))))
    head = ("lesson", "title", "seconds", "with the solutions")
    write_csv("lessons", head, rows, command=COMMAND, notes=[CONDITIONS])


def gallery(seconds: dict[Path, list[float]]) -> None:
    """The table of the gallery, the slowest first."""
    rows = [
        (place(page), title(page), f"{seconds[page][0]:.0f}")
        for page in sorted(GALLERY, key=lambda page: -seconds[page][0])
    ]
    rows.append((f"all {len(GALLERY)}", "", f"{sum(seconds[page][0] for page in GALLERY):.0f}"))
    write_csv(
        "gallery_pages", ("page", "title", "seconds"), rows, command=COMMAND, notes=[CONDITIONS]
    )


def place(page: Path) -> str:
    """Where a page of the gallery is built."""
    return page.relative_to(DOCS / "gallery").with_suffix("").as_posix()


def main(words: list[str]) -> None:
    """Measure what the words name, or everything."""
    if words[:1] == ["--run"]:
        print(json.dumps(run(Path(words[1]))))
        return
    wanted = [p for p in LESSONS + GALLERY if not words or p.stem.startswith(tuple(words))]
    seconds = {}
    for page in wanted:
        seconds[page] = measured(page)
        print(page.stem, *(f"{s:.1f}" for s in seconds[page]), flush=True)
    if not words:
        lessons(seconds)
        gallery(seconds)


if __name__ == "__main__":
    main(sys.argv[1:])
