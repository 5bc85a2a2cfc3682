"""Every system of the source documents, shown to work by one command each.

    python benchmarks/documents.py [WORD ...]

prints a line for each row of ``docs/guide/documents.rst`` (of those that contain a word): whether
its check holds, CPU seconds, the document, the place in print, what it is, and what the answers
are compared with. A check runs every recipe, function and estimator that the row names, on a small
instance, and compares it with a statement that shares nothing with it: the program as printed, in
cvxpy with a solver of its own; a closed form; or a property that the document claims. Exits with 1
if a check fails, or leaves out a name of its row.
"""

from __future__ import annotations

import inspect
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

import documents_cai  # noqa: F401 - registers its checks
import documents_notes  # noqa: F401 - registers its checks
import documents_tong  # noqa: F401 - registers its checks
import documents_vasiloglou  # noqa: F401 - registers its checks
import numpy as np
from documents_checks import CHECKS

_SEED = 1
PAGE = Path(__file__).parents[1] / "docs" / "guide" / "documents.rst"


class Row(NamedTuple):
    """A row of the page: the document, the place in print, what stands there, and our names."""

    document: str
    place: str
    title: str
    names: list[str]


def rows(page: str) -> Iterator[Row]:
    """Read the tables of the page, without their headers."""
    for section in re.split(r"\n(?=[^\n]+\n=+\n)", page):
        document = section.strip().partition("\n")[0]
        for item in section.split("\n   * - ")[2:]:
            place, title, *cells = re.split(r"\n     - ", item)
            names = re.findall(r"~sdpdr\.([\w.]+)", " ".join(cells))
            title = re.sub(r":doc:`(.*?) <.*?>`", r"\1", title).strip()
            yield Row(document, place.strip(), title, names)


def names_used(check: Callable[[], None]) -> set[str]:
    """Names and words in a check and in the helpers that it calls."""
    used: set[str] = set()
    parts, seen = [(check.__code__, check.__globals__)], set()
    while parts:
        code, scope = parts.pop()
        if code in seen:
            continue
        seen.add(code)
        used.update(code.co_names, (word for word in code.co_consts if isinstance(word, str)))
        parts += [(part, scope) for part in code.co_consts if isinstance(part, CodeType)]
        called = [scope[name] for name in code.co_names if name in scope]
        helpers = [part for part in called if isinstance(part, FunctionType)]
        parts += [
            (part.__code__, part.__globals__)
            for part in helpers
            if part.__module__.startswith("documents_")
        ]
    return used


def failure(row: Row) -> str:
    """Run the check of a row; return why it fails, or nothing."""
    check = CHECKS.get((row.document, row.place))
    if check is None:
        return "there is no check"
    used = names_used(check)
    left_out = [name for name in row.names if name.rpartition(".")[2] not in used]
    if left_out:
        return f"the check does not run {', '.join(left_out)}"
    # Data of its own, whichever rows ran before.
    sys.modules[check.__module__].RNG = np.random.default_rng(_SEED)
    try:
        check()
    except Exception as error:  # a check that cannot run fails, and says where
        line = traceback.extract_tb(error.__traceback__)[1].line
        return f"{type(error).__name__}: {error} in: {line}"
    return ""


def main(words: list[str]) -> int:
    """Run the checks and print a line for each row."""
    warnings.simplefilter("ignore")
    page, failed = list(rows(PAGE.read_text(encoding="utf-8"))), 0
    for row in page:
        if words and not any(word.lower() in " ".join(row[:3]).lower() for word in words):
            continue
        start = time.process_time()
        why = failure(row)
        seconds = f"{time.process_time() - start:5.2f} s"
        said = inspect.getdoc(CHECKS.get((row.document, row.place))) or ""
        failed += bool(why)
        cells = ["FAILS" if why else "works", seconds, *row[:3], said, why]
        print(" | ".join(cells).removesuffix(" | "), flush=True)
    for document, place in set(CHECKS) - {row[:2] for row in page}:
        failed += 1
        print(f"FAILS | {document} | {place} | is no row of the page")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
