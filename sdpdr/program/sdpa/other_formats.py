"""Formats of other programs, recognized so that an error can name them."""

from __future__ import annotations

import re

import numpy as np

from sdpdr.base.arrays import Index

# Names of formats, how their files are called, and how their content begins after comments.
_FORMATS: tuple[tuple[str, str, str], ...] = (
    ("a CBF file", r"\.cbf", r"VER\b"),
    ("an MPS file", r"\.(?:mps|qps|sif)", r"(?:NAME|ROWS|OBJSENSE)\b"),
    ("an LP file", r"\.lp", r"(?:minimi[sz]e|maximi[sz]e|min|max)\b"),
    ("a MATLAB file", r"\.mat", r"(?:MATLAB 5\.0 MAT-file|\x89HDF)"),
    ("a JSON file", r"\.json", r'[{\[]\s*["{\[]'),
    ("a PTF file", r"\.ptf", r"Task\b"),
    ("a CSV table", r"\.csv", r"(?!)"),
    ("an AMPL file", r"\.nl", r"[gb]\d+ "),
    ("a zip archive", r"\.(?:zip|npz)", r"PK\x03\x04"),
    ("a NumPy array", r"\.npy", r"\x93NUMPY"),
)
_COMMENTS = re.compile(r"(?:\s*(?:[*#\"\\%][^\n]*)?\n)*\s*")


def recognized(name: str, text: str) -> str:
    r"""Name the format of a file that cannot be an SDPA file; empty if it may be one.

    Examples
    --------
    >>> recognized("a.dat-s", "# by hand\nVER\n3\n"), recognized("a.txt", "2 = mDIM\n")
    ('a CBF file', '')
    """
    start = text[_COMMENTS.match(text).end() :][:200]  # type: ignore[union-attr]  # matches anything
    for what, suffix, beginning in _FORMATS:
        if re.match(beginning, start, re.IGNORECASE):
            return what
        if re.search(rf"{suffix}(?:\.gz)?$", name, re.IGNORECASE) and not start[:1].isdigit():
            return what
    return "a binary file" if "\0" in text[:1000] else ""


def dense_size(m: int, sizes: Index) -> int:
    """How many numbers an SDPA dense file has below its vector c."""
    return (m + 1) * int(np.where(sizes > 0, sizes * sizes, -sizes).sum())
