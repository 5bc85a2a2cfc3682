"""Pieces of pairwise work that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator

from sdpdr.base.arrays import Index

# Numbers held at once in a block of pairwise work: 32 MB.
BLOCK = 1 << 22


def blocks(rows: Index, step: int) -> Iterator[Index]:
    """Yield pieces of at most ``step`` rows."""
    for at in range(0, len(rows), step):
        yield rows[at : at + step]
