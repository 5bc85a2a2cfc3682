"""Comments in which a file keeps what the format has no place for: the sense, and names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from sdpdr.base.arrays import ALLOWED, is_written_admissibly
from sdpdr.base.errors import RelaxedWarning, warn
from sdpdr.program.point import Variable
from sdpdr.program.sdp import SDP

# Users edit files: blanks, case, spelling and the mark of a comment may differ from what we write.
_NOTE = re.compile(r"""\s*["*][\s"*]*(?P<words>sdpdr\s*:.*)""", re.IGNORECASE)
_SENSE = re.compile(
    r"sdpdr\s*:\s*(?P<sense>max|min)imi[sz]e\s*,\s*constant\s+(?P<constant>\S+)\s*", re.IGNORECASE
)
_NAME = re.compile(r"""\s*["*]\s*sdpdr\s+(?P<what>block|rows)\s+(?P<k>\d+)\s+(?P<name>".*")\s*""")
_RELAXED = re.compile(r"""\s*["*][\s"*]*(INTEGER|RANK1)\b(?P<rest>.*)""", re.IGNORECASE)


class Lines(Protocol):
    """The lines of a file, and how it is refused."""

    name: str
    lines: Sequence[str]

    def refuse(self, line: int, expected: str) -> Exception:
        """The error that says what was expected on a line."""


def notes_of(sdp: SDP, variables: Sequence[Variable], *, names: bool) -> Iterator[str]:
    """The comments that `read_sdpa` understands: the sense, and names other than its own."""
    sense = "maximise" if sdp.maximize else "minimise"
    yield f"* sdpdr: {sense}, constant {float(sdp.constant)!r}"
    if not names:
        return
    for b, v in enumerate(variables, start=1):
        if v.name != f"Y{b}":
            yield f"* sdpdr block {b} {json.dumps(v.name)}"
    if [r.label for r in sdp.rows] != ["rows"]:
        yield from (f"* sdpdr rows {r.m} {json.dumps(r.label)}" for r in sdp.rows if r.m)


def read_sense(file: Lines) -> tuple[bool, float]:
    """Whether a file is a maximisation, and its constant.

    A note that is misspelt is refused, since ignoring it would change the program.
    """
    found: tuple[bool, float] | None = None
    for line, text in enumerate(file.lines, start=1):
        note = _NOTE.match(text)
        if note is None:
            continue
        words = note["words"].strip()
        said = _SENSE.fullmatch(words)
        if said is None:
            form = "'sdpdr: minimise, constant 0.0' or 'sdpdr: maximise, constant 0.0'"
            raise file.refuse(line, f"a note like {form}; found {words!r}")
        read = (said["sense"].lower() == "max", _constant(file, line, said["constant"]))
        if found not in (None, read):
            raise file.refuse(line, f"one sense and constant; found another note, {text.strip()!r}")
        found = read
    return found or (True, 0.0)


def _constant(file: Lines, line: int, word: str) -> float:
    """The number in a note."""
    if not is_number(word):
        raise file.refuse(line, f"a number; found {word!r}")
    if not is_written_admissibly(word):
        raise file.refuse(line, f"{ALLOWED}; found {word!r}")
    return float(word)


def is_number(word: str) -> bool:
    """Whether a word is a number.

    Examples
    --------
    >>> [is_number(word) for word in ("1.0e-3", "nan", "1_0", "=mDIM")]
    [True, True, False, False]
    """
    try:
        float(word)
    except ValueError:
        return False
    # Python reads 1_0 as ten; in a file it is a slip.
    return "_" not in word


def read_names(file: Lines, n_blocks: int, m: int) -> tuple[list[str], list[tuple[str, int]]]:
    """Names of the blocks, and of the rows with how many there are, as noted or by default."""
    blocks = [f"Y{b}" for b in range(1, n_blocks + 1)]
    groups, last = list[tuple[str, int]](), 0
    for line, text in enumerate(file.lines, start=1):
        note = _NAME.fullmatch(text)
        if note is None:
            continue
        last, k = line, int(note["k"])
        try:
            name = json.loads(note["name"])
        except json.JSONDecodeError:
            expected = f"a name between quotation marks; found {note['name']}"
            raise file.refuse(line, expected) from None
        if note["what"] == "rows":
            groups.append((name, k))
        elif 1 <= k <= n_blocks:
            blocks[k - 1] = name
        else:
            raise file.refuse(line, f"a block from 1 to {n_blocks}; found a name of block {k}")
    count = sum(size for _, size in groups)
    if len(set(blocks)) < n_blocks or len(dict(groups)) < len(groups):
        raise file.refuse(last, "names that differ; found one of them twice")
    if groups and count != m:
        raise file.refuse(last, f"names of {m} rows; found {count}")
    return blocks, groups or ([("rows", m)] if m else [])


def warn_of_relaxation(file: Lines, first: int) -> None:
    """Warn of sections that restrict the program beyond what is read.

    Titles above the first number, on line ``first``, may begin with the same words.
    """
    matches = ((k, _RELAXED.fullmatch(text)) for k, text in enumerate(file.lines, start=1))
    found = [
        match[1].upper()
        for k, match in matches
        if match and (k > first or not match["rest"].strip())
    ]
    if found:
        sections = " and ".join(f"*{section}" for section in dict.fromkeys(found))
        warn(
            f"{file.name} has a section {sections}, which is ignored: the relaxation is read, "
            "and its optimum is a bound on that of the program.",
            RelaxedWarning,
        )
