"""Labels that are different from each other."""

from __future__ import annotations

from collections.abc import Iterable


class Labels:
    """Labels of which none comes twice.

    Parameters
    ----------
    taken : iterable of str

    Examples
    --------
    >>> labels = Labels(["isometry", "isometry_2"])
    >>> labels.take("isometry"), labels.take("isometry"), labels.unique("centered")
    ('isometry_3', 'isometry_4', 'centered')
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        # The last number tried for a label, so that a loop of constraints takes linear time.
        self._last: dict[str, int] = {}

    def copy(self) -> Labels:
        """Labels to which others may be added."""
        other = Labels(self.taken)
        other._last = dict(self._last)
        return other

    def unique(self, label: str) -> str:
        """The label, or if it is taken the label with the first free number from 2 on."""
        if label not in self.taken:
            return label
        k = self._last.get(label, 2)
        while f"{label}_{k}" in self.taken:
            k += 1
        self._last[label] = k
        return f"{label}_{k}"

    def take(self, label: str) -> str:
        """The label as `unique` returns it, which is taken from now on."""
        label = self.unique(label)
        self.taken.add(label)
        return label
