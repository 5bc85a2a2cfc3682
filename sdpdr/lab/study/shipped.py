"""Studies by name: those that come with the package, and results that lie here."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from sdpdr.base.errors import FileFormatError, UnknownNameError
from sdpdr.lab.library.families import shelf
from sdpdr.lab.study.reading import READABLE
from sdpdr.lab.study.store import SUFFIX
from sdpdr.lab.study.studyfile import Study

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def shipped() -> dict[str, str]:
    """Titles of the studies that come with the package, by name."""
    return {
        name: tomllib.loads(path.read_text(encoding="utf-8"))["about"]["title"]
        for name, path in shelf("studies").items()
    }


def find_study(name: str) -> Study:
    """A study by its name, or any other by the path of its file.

    Raises
    ------
    UnknownNameError
        Offering the nearest name.
    FileFormatError, StudyError
        As `Study.load`.
    """
    if name.endswith(".toml"):
        return Study.load(name)
    known = shelf("studies")
    if name not in known:
        raise UnknownNameError("study", name, known)
    return replace(Study.load(known[name]), called=name)


def find_results(name: str) -> Path:
    """Results by their path, or those of a study that was run in this folder.

    Raises
    ------
    FileFormatError
        There are none.
    """
    path = Path(name)
    if path.suffix in READABLE:
        return path
    found = Path(f"{path.stem}{SUFFIX}")
    if not found.is_file():
        raise FileFormatError(
            f"there are no results {found} here. Run the study first, `sdpdr study run {name}`, "
            "or name a file of results."
        )
    return found
