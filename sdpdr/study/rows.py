"""Rows as a pandas frame, in the types that the schema promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdpdr.study.schema import COLUMNS

if TYPE_CHECKING:
    import pandas as pd

# What tells apart the rows of one study, in the order in which they are shown.
ORDER = ("problem", "variant", "solver", "form", "tol", "seed", "repeat", "key")
_KINDS = {"VARCHAR": "object", "DOUBLE": "float64", "BIGINT": "Int64", "BOOLEAN": "bool"}


def asked(frame: pd.DataFrame, keys: list[str] | None) -> pd.DataFrame:
    """The rows that a study asks for; all where it does not say."""
    if keys is not None:
        frame = frame[frame["key"].isin(set(keys))]
    return frame.reset_index(drop=True)


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns in the types that `sdpdr.study.schema` promises."""
    for column in COLUMNS:
        values = frame[column.name]
        if column.kind == "VARCHAR":
            values = values.astype(object).where(values.notna(), "")
        elif column.kind == "BOOLEAN":
            values = values.astype("boolean").fillna(False)
        frame[column.name] = values.astype(_KINDS[column.kind])
    return frame
