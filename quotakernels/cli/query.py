"""The query that groups examples in a database, in its dialect, for `Ranking.from_counts`."""

from __future__ import annotations

import re
from typing import NamedTuple

from quotakernels.evaluation.words import Condition, Conditions

_BY_DIALECT = {
    "duckdb": ('"', "DOUBLE"),
    "spark": ("`", "DOUBLE"),
    "bigquery": ("`", "FLOAT64"),
    "snowflake": ('"', "DOUBLE"),
    "postgres": ('"', "DOUBLE PRECISION"),
}
DIALECTS = tuple(_BY_DIALECT)
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_BACKSLASH_ESCAPES = ("spark", "bigquery", "snowflake")


class Columns(NamedTuple):
    """The columns of a table that are grouped, and the conditions for its rows."""

    label: str
    score: str
    weight: str | None = None
    gain: str | None = None
    gain_rejected: str | None = None
    cost: str | None = None
    treatment: str | None = None
    by: str | None = None
    pos_label: str | None = None
    where: Conditions = ()


class Dialect(NamedTuple):
    """How a database writes names, numbers and texts."""

    name: str

    def identifier(self, name: str) -> str:
        """A name of a column, whatever characters it has."""
        quote = _BY_DIALECT[self.name][0]
        escaped = "\\`" if self.name == "bigquery" else 2 * quote
        return f"{quote}{name.replace(quote, escaped)}{quote}"

    def double(self, value: str) -> str:
        """A number as a float of 64 bits."""
        return f"CAST({value} AS {_BY_DIALECT[self.name][1]})"

    def literal(self, text: str) -> str:
        """A value that is a number or a boolean if the text reads as one, else a text."""
        if text.lower() in ("true", "false"):
            return text.upper()
        if _NUMBER.fullmatch(text):
            return text
        if self.name in _BACKSLASH_ESCAPES:
            text = text.replace("\\", "\\\\").replace("'", "\\'")
        else:
            text = text.replace("'", "''")
        return f"'{text}'"


def grouped_query(table: str, columns: Columns, dialect: str) -> str:
    """One row for each score, and group; the columns are named as arguments of `from_counts`.

    What is no label, weight, gain, cost or treatment becomes -1 positives or NaN, which
    `from_counts` refuses.
    """
    written = Dialect(dialect)
    keys = ["score", "segment"] if columns.by is not None else ["score"]
    results = {"thresholds": "score", "counts": "COUNT(*)", "positives": _POSITIVES}
    results |= _sums(columns)
    results |= {} if columns.by is None else {"groups": "segment"}
    selected = [f"{value} AS {written.identifier(name)}" for name, value in results.items()]
    examples = [f"{value} AS {name}" for name, value in _examples(columns, written).items()]
    held = " AND ".join(_holds(written, x) for x in columns.where)
    lines = [
        "-- quotakernels.Ranking.from_counts takes these columns by their names.",
        "SELECT",
        ",\n".join(f"    {x}" for x in selected),
        "FROM (",
        "    SELECT",
        ",\n".join(f"        {x}" for x in examples),
        f"    FROM {table}",
        *([f"    WHERE {held}"] if held else []),
        ") AS examples",
        *(["WHERE weight <> 0"] if columns.weight is not None else []),
        f"GROUP BY {', '.join(keys)}",
    ]
    return "\n".join(lines)


_SUMMED = {
    "gain": ("positive_gains", "negative_gains"),
    "gain_rejected": ("positive_gains_rejected", "negative_gains_rejected"),
    "cost": ("positive_costs", "negative_costs"),
    "treatment": ("treated_positives", "treated_negatives"),
}
"""What `from_counts` calls the sums of each column over the positives and over the negatives."""
_FITTING = {"weight": ">= 0", "cost": ">= 0", "treatment": "IN (0, 1)"}

_POSITIVES = (
    "CASE WHEN COUNT(label) < COUNT(*) THEN -1 ELSE COUNT(CASE label WHEN 1 THEN 1 END) END"
)


def _examples(columns: Columns, written: Dialect) -> dict[str, str]:
    """Every example: its score, its label as 1 or 0, what it weighs, brings and costs, and whether
    it was treated.
    """
    found = {"score": written.identifier(columns.score), "label": _label(columns, written)}
    amounts = {name: getattr(columns, name) for name in ("weight", *_SUMMED)}
    nan = written.double("'NaN'")
    for name, column in amounts.items():
        if column is not None:
            value = written.double(written.identifier(column))
            fits = _FITTING.get(name, "IS NOT NULL")
            found[name] = f"CASE WHEN {value} {fits} THEN {value} ELSE {nan} END"
    if columns.by is not None:
        found["segment"] = written.identifier(columns.by)
    return found


def _label(columns: Columns, written: Dialect) -> str:
    column = written.identifier(columns.label)
    if columns.pos_label is None:
        return f"CASE {column} WHEN 1 THEN 1 WHEN 0 THEN 0 END"
    positive = _holds(written, Condition(columns.label, "=", columns.pos_label))
    return f"CASE WHEN {positive} THEN 1 WHEN {column} IS NOT NULL THEN 0 END"


def _holds(written: Dialect, condition: Condition) -> str:
    column, relation, text = condition
    relation = "<>" if relation == "!=" else relation
    return f"{written.identifier(column)} {relation} {written.literal(text)}"


def _sums(columns: Columns) -> dict[str, str]:
    """Sums of what examples weigh; by weight, of what those of each class bring and cost, and of
    those that were treated.
    """
    found = {}
    weight = "" if columns.weight is None else "weight * "
    if weight:
        found["weights"] = "SUM(weight)"
        found["positive_weights"] = _sum_of("1", "weight")
    for name, (of_positives, of_negatives) in _SUMMED.items():
        if getattr(columns, name) is not None:
            found[of_positives] = _sum_of("1", f"{weight}{name}")
            found[of_negatives] = _sum_of("0", f"{weight}{name}")
    return found


def _sum_of(label: str, amount: str) -> str:
    return f"SUM(CASE label WHEN {label} THEN {amount} ELSE 0 END)"
