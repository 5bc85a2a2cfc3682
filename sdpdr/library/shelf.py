"""Where the files of problems lie, and the order in which they are listed."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def shelf(*inside: str) -> dict[str, Path]:
    """The TOML files of a folder of problems, by name, numbers inside names by their size.

    Parameters
    ----------
    *inside : str
        Names of folders; none for the cards themselves.

    Examples
    --------
    >>> list(shelf("families"))[:2]
    ['apart-roll', 'colored-swiss-roll']
    """
    found = _folder().joinpath(*inside).glob("*.toml")
    return {path.stem: path for path in sorted(found, key=lambda path: _natural(path.stem))}


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in name.split("-")]


def _folder() -> Path:
    """Problems lie inside an installed package, and beside it in a checkout."""
    package = Path(str(files("sdpdr")))
    inside = package / "problems"
    return inside if inside.is_dir() else package.parent / "problems"
