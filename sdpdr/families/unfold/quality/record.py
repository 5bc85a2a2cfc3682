"""What was measured of one embedding, and of several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

# Field, heading, and words of every measure, in the order in which they are shown.
MEASURES = (
    ("trustworthiness", "trust", "trustworthiness"),
    ("continuity", "contin.", "continuity"),
    ("edge_rms", "edges", "edge lengths, rms relative error"),
    ("edge_max", "worst", "edge lengths, worst relative error"),
    ("edge_rms_scaled", "scaled", "edge lengths, rms after the best scale"),
    ("procrustes", "truth", "distance from the truth, scaled"),
    ("procrustes_rigid", "rigid", "distance from the truth, rigid"),
    ("share", "share", "share of the trace"),
)
# Smaller numbers are rounding errors, and written as zero.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Quality:
    """How good an embedding is; prints as a table.

    Attributes
    ----------
    n, n_components, n_edges : int
        Points (distinct ones), columns of the embedding, edges of the graph.
    n_neighbors : int
        Of trustworthiness and continuity.
    trustworthiness, continuity : float or None
        In [0, 1], 1 is best. ``None`` if the graph does not know its points.
    edge_rms, edge_max : float
        Relative error of the PLAIN lengths of edges, 0 is best.
    edge_scale, edge_rms_scaled : float
        The factor on the embedding that makes the rms least, and the rms then.
    procrustes, procrustes_rigid : float or None
        Relative distance from the truth after alignment, with and without scaling; ``None``
        without a truth.
    share : float or None
        Part of the trace of the Gram matrix that the columns hold; ``None`` without a spectrum.
    sample : int or None
        Over how many points trustworthiness and continuity were taken, if not over all.
    seed : int
        Of that sample.
    """

    n: int
    n_components: int
    n_edges: int
    n_neighbors: int
    trustworthiness: float | None
    continuity: float | None
    edge_rms: float
    edge_max: float
    edge_scale: float
    edge_rms_scaled: float
    procrustes: float | None = None
    procrustes_rigid: float | None = None
    share: float | None = None
    sample: int | None = None
    seed: int = 0

    def record(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self)

    def facts(self) -> dict[str, str]:
        """What was measured, in words, to how much."""
        return {
            words: written(getattr(self, name))
            for name, _, words in MEASURES
            if getattr(self, name) is not None
        }

    def __str__(self) -> str:
        facts = self.facts()
        width = max(map(len, facts))
        rows = [f"{words:<{width}}  {number:>9}" for words, number in facts.items()]
        return "\n".join([_headline(self), *rows])


@dataclass(frozen=True, eq=False)
class QualityTable:
    """Several embeddings of the same points side by side; prints as a table.

    Attributes
    ----------
    rows : mapping from name to Quality
    """

    rows: Mapping[str, Quality]

    def __getitem__(self, name: str) -> Quality:
        return self.rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def record(self) -> dict[str, dict[str, Any]]:
        """All of it, ready for JSON."""
        return {name: row.record() for name, row in self.rows.items()}

    def __str__(self) -> str:
        measured = [
            (name, head)
            for name, head, _ in MEASURES
            if any(getattr(row, name) is not None for row in self.rows.values())
        ]
        width = max(len("embedding"), *map(len, self.rows))
        head = f"{'embedding':<{width}}" + "".join(f"{head:>10}" for _, head in measured)
        lines = [
            f"{label:<{width}}"
            + "".join(f"{written(getattr(row, name)):>10}" for name, _ in measured)
            for label, row in self.rows.items()
        ]
        return "\n".join([head, *lines, _headline(next(iter(self.rows.values())))])


def written(value: float | None) -> str:
    """Four decimals of ordinary numbers, powers of ten of others, a dash for none."""
    if value is None:
        return "–"
    if abs(value) > ROUNDING and not 1e-4 <= abs(value) < 1e4:
        return f"{value:.1e}"
    return f"{value:.4f}"


def _headline(quality: Quality) -> str:
    line = f"{quality.n} points, {quality.n_edges} edges, {quality.n_neighbors} neighbours"
    if quality.sample is None:
        return line
    return f"{line}; neighbours of {quality.sample} points drawn with seed {quality.seed}"
