"""Tables for other libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Table:
    """What has rows and columns."""

    def _columns(self) -> dict[str, Any]:
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """As a DataFrame. It needs pandas."""
        import pandas

        return pandas.DataFrame(self._columns())

    def to_arrow(self) -> pyarrow.Table:
        """As a table of Arrow. It needs pyarrow."""
        import pyarrow

        return pyarrow.table(self._columns())


def as_json(value: Any) -> Any:
    """The value as the program's JSON has it: in lists, and not in tuples."""
    if isinstance(value, dict):
        return {name: as_json(one) for name, one in value.items()}
    return [as_json(one) for one in value] if isinstance(value, (list, tuple)) else value


def flat(nested: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """A row: the figures by their names, as in `response_us.mean`. Lists have none."""
    row: dict[str, Any] = {}
    for name, value in nested.items():
        if isinstance(value, Mapping):
            row.update(flat(value, f"{before}{name}."))
        elif not isinstance(value, list):
            row[before + name] = value
    return row


def columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns; where a row has no such figure, it is missing."""
    rows = list(rows)
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
