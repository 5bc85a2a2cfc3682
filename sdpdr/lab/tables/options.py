"""How a table is written: what the user says of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading a table; all but the last three are about text.

    Attributes
    ----------
    header : {"auto", "yes", "no"}, default "auto"
        Whether the first line names the columns.
    sep : str, optional
        Between cells; a blank stands for any number of blanks and tabs. By default the one that
        gives all lines the same number of cells, and most of them numbers.
    decimal : {".", ",", "any"}, optional
        By default the one that the file uses; a file that uses both is refused.
    thousands : {".", ",", "'", "space"}, optional
        Mark between thousands.
    percent : bool, default False
        Whether ``12 %`` is 12.
    skip, skip_footer : int, default 0
        Lines above and below the table.
    drop_lines : tuple of int
        Lines of the file that are not points, such as units or totals.
    na_values : tuple of str
        What else stands for a missing value; numbers also in files without text.
    transpose : bool, default False
        Whether columns are points.
    key : str, optional
        Which array of an NPZ file.
    """

    header: str = "auto"
    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    percent: bool = False
    skip: int = 0
    skip_footer: int = 0
    drop_lines: tuple[int, ...] = ()
    na_values: tuple[str, ...] = ()
    transpose: bool = False
    key: str | None = None

    def text_options(self) -> list[str]:
        """Return the options given that only text has."""
        names = ("sep", "decimal", "thousands", "percent", "skip", "skip_footer", "drop_lines")
        return [f"--{name.replace('_', '-')}" for name in names if getattr(self, name)]
