"""Pages of the studies whose rows lie in ``docs/studies``: made anew from them at every build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sdpdr.study.page import write_report
from sdpdr.study.store import read_results


def write_pages(app: Any) -> None:
    """Write ``generated/NAME.rst`` with its figures for every ``NAME.parquet``."""
    folder = Path(app.srcdir) / "studies"
    generated = folder / "generated"
    generated.mkdir(exist_ok=True)
    for rows in sorted(folder.glob("*.parquet")):
        page = generated / f"{rows.stem}.rst"
        if not page.exists() or page.stat().st_mtime < rows.stat().st_mtime:
            results = read_results(rows)
            write_report(results.frame, results.meta, results.environments, page)


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
