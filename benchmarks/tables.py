"""A run as tables: rows of text, which the terminal and the page lay out each in its own way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks import marks, resampling, streaming
from benchmarks.cases import (
    CASES,
    HULLS,
    LOOP,
    MEASURES,
    OF_RANKING,
    ONE_CALL,
    RANK,
    SCALAR,
    SORT,
    TIE_FREE_SORT,
)
from benchmarks.marks import digits, elements, power, results, seconds

Result = dict[str, Any]
ON_TOP = ("roc_hull", "roc_hull_auc", "pr_auc", "average_precision")
UPDATES = (streaming.BINCOUNT, streaming.TWO_BYTES, streaming.FLOATS, streaming.BUFFER)
OF_STATES = (streaming.HISTOGRAM_AUC, streaming.BUFFER_AUC)
HELD = {"histogram": streaming.TWO_BYTES, "buffer of 16 batches": streaming.BUFFER_AUC}
QUOTA = ("hit_rate", "select", "quota_threshold")
COMPILED = 0.1
"""A first call is not so many seconds longer than others unless something is compiled."""
CALLS = ("roc_auc", "pem", "average_hit_rate", "average_qrecall", "hit_rate", "pr_auc")
PARTS = (RANK, OF_RANKING)


class Table(NamedTuple):
    """A caption, a head and rows of equal length."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def markdown(table: Table) -> str:
    rows = [table.head, ("---",) * len(table.head), *table.rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def aligned(table: Table) -> str:
    rows = [table.head, *table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.head))]
    lines = ["  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)) for row in rows]
    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([table.title, lines[0].rstrip(), rule, *(x.rstrip() for x in lines[1:])])


def tables(run: Result) -> list[Table]:
    """All that have rows."""
    all_of_them = (marks_table(run), *measurements(run))
    return [table for table in all_of_them if table.rows]


def marks_table(run: Result) -> Table:
    """All marks, or of a run of some cases only those that it measured."""
    chosen = " --only " in run["command"]
    rows = [tuple(row) for row in marks.rows(run) if row.measured or not chosen]
    return Table("Marks", ("mark", "bound", "measured", ""), rows)


def measurements(run: Result) -> list[Table]:
    return [
        scalar(run),
        _over_sort(run, "On top of a ranking", [f"on top, {name}" for name in HULLS], ON_TOP),
        _over_sort(run, "One known quota, from raw scores", ["one quota"], QUOTA),
        batch(run),
        calls(run),
        streams(run),
        resamples(run),
        compiling(run),
        recompilations(run),
        skipped(run),
    ]


def _of_cases(run: Result, cases: Iterable[str]) -> Iterable[tuple[str, Result]]:
    """Results in the order of cases, backends and sizes, each with the title of its case."""
    for case in cases:
        for backend in run["backends"]:
            for result in results(run, case, backend):
                yield CASES[case].title, result


def ratio(result: Result, top: str, bottom: str = SORT) -> str:
    times = result["times"]
    if top not in times or bottom not in times:
        return ""
    return short(seconds(result, top) / seconds(result, bottom))


def nanoseconds(result: Result, entry: str, clock: str = "median") -> str:
    """Of one element; nothing where a run had no clock of CPU time."""
    taken = result["times"][entry].get(clock)
    return "" if taken is None else short(taken / elements(result) * 1e9)


def short(value: float) -> str:
    """Two digits, or all before the point."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def duration(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{digits(value / size)} {unit}"
    return f"{digits(value * 1e6)} µs"


def _middle_half(result: Result, entry: str) -> str:
    """The quartiles, over the median's floor."""
    timing, floor = result["times"][entry], seconds(result, SORT)
    return f"{short(timing['lower'] / floor)} to {short(timing['upper'] / floor)}"


def _peer(run: Result, result: Result) -> str:
    for name in run["peers"]:
        if name in result["times"]:
            return f"{ratio(result, name, MEASURES)} ({name})"
    return ""


def _memory(result: Result) -> str:
    over = result.get("memory", {}).get("over_scores")
    return "" if over is None else short(over)


def scalar(run: Result) -> Table:
    head = (
        "scores",
        "backend",
        "n",
        "sort, ns an element",
        "ns an element",
        "of CPU time",
        "time / sort",
        "middle half",
        "peer's AUC / time",
        "memory / scores",
        "off by, ulp",
    )
    rows = []
    for title, result in _of_cases(run, SCALAR):
        floor = TIE_FREE_SORT if TIE_FREE_SORT in result["times"] else SORT
        rows.append(
            (
                title,
                result["backend"],
                power(result["n"]),
                nanoseconds(result, SORT),
                nanoseconds(result, MEASURES),
                nanoseconds(result, MEASURES, "cpu"),
                ratio(result, MEASURES)
                + (f" ({ratio(result, MEASURES, floor)} of tie-free)" if floor != SORT else ""),
                _middle_half(result, MEASURES),
                _peer(run, result),
                _memory(result),
                f"{result['checks'][MEASURES]['ulps']:.1f}",
            )
        )
    return Table("AUC, PEM, AHR and AQR from raw labels and scores", head, rows)


def _over_sort(run: Result, title: str, cases: Iterable[str], entries: Sequence[str]) -> Table:
    """The time of each entry over that of the sort."""
    rows = [
        (
            name,
            result["backend"],
            power(result["n"]),
            nanoseconds(result, SORT),
            *(ratio(result, entry) for entry in entries),
            _memory(result),
        )
        for name, result in _of_cases(run, cases)
    ]
    over = (f"{entry} / sort" for entry in entries)
    head = ("case", "backend", "n", "sort, ns an element", *over, "memory / scores")
    return Table(title, head, rows)


def batch(run: Result) -> Table:
    rows = [
        (
            result["backend"],
            duration(seconds(result, ONE_CALL)),
            nanoseconds(result, ONE_CALL),
            ratio(result, ONE_CALL),
            ratio(result, LOOP, ONE_CALL),
        )
        for _, result in _of_cases(run, ["batch"])
    ]
    head = ("backend", ONE_CALL, "ns an element", "one call / sort", f"{LOOP} / one call")
    return Table("AUC of 1000 classes of 1000 examples, one against the rest", head, rows)


def calls(run: Result) -> Table:
    peers = tuple(run["peers"])
    rows = [
        (
            result["backend"],
            str(result["n"]),
            *(
                digits(seconds(result, entry) * 1e6) if entry in result["times"] else ""
                for entry in (*CALLS, *PARTS, SORT, *peers)
            ),
        )
        for _, result in _of_cases(run, ["call"])
    ]
    return Table("One call, µs", ("backend", "n", *CALLS, *PARTS, SORT, *peers), rows)


def streams(run: Result) -> Table:
    """What an update takes, and a measure of the state, and the state itself."""
    rows = [
        (
            result["backend"],
            power(result["n"]),
            *(_duration_if_any(result, entry) for entry in UPDATES),
            "; ".join(f"{name} {_duration_if_any(result, name)}" for name in _of_peers(result)),
            *(_duration_if_any(result, entry) for entry in OF_STATES),
            *(_bytes_if_any(result, entry) for entry in HELD.values()),
        )
        for _, result in _of_cases(run, ["streaming"])
    ]
    head = (
        "backend",
        "batch",
        *UPDATES,
        "a peer's update",
        *OF_STATES,
        *(f"bytes, {x}" for x in HELD),
    )
    return Table("A state and one batch more", head, rows)


def _of_peers(result: Result) -> Iterable[str]:
    return (name for name in streaming.PEERS if name in result["times"])


def resamples(run: Result) -> Table:
    """What one resample of five measures takes, and of one in a loop over rows."""
    rows = []
    for _, result in _of_cases(run, resampling.POSITIVE):
        own, loop = seconds(result, resampling.BOOTSTRAP), _loop(run, result)
        beside = ("", "") if loop is None else (duration(loop), f"1/{short(loop / own)}")
        share, per = result["case"].partition(", ")[2], nanoseconds(result, resampling.BOOTSTRAP)
        rows.append((result["backend"], power(result["n"]), share, duration(own), per, *beside))
    head = ("backend", "n", "positive", "a resample", "ns an element", resampling.ROWS, "ratio")
    return Table("Bootstrap: AUC, PEM, AHR, AQR and hit rate of one resample", head, rows)


def _loop(run: Result, result: Result) -> float | None:
    """The time of scikit-learn's loop beside a bootstrap of any library."""
    beside = [r for r in results(run, result["case"], "numpy") if r["n"] == result["n"]]
    return (
        seconds(beside[0], resampling.ROWS)
        if beside and resampling.ROWS in beside[0]["times"]
        else None
    )


def slower(runs: Mapping[str, Result]) -> Table:
    """Where a peer took less time than the library, on each machine."""
    rows = [
        (name, title, result["backend"], power(result["n"]), duration(own), peer, duration(theirs))
        for name, run in runs.items()
        for title, result in _of_cases(run, CASES)
        for own, peer, theirs in _rivals(run, result)
        if theirs < own
    ]
    head = ("", "case", "backend", "n", "this library", "peer", "the peer")
    return Table("Where a peer is faster", head, rows)


def _rivals(run: Result, result: Result) -> Iterable[tuple[float, str, float]]:
    """Our time, and the name and the time of each peer that does the same or less."""
    times = result["times"]
    if resampling.BOOTSTRAP in times and (loop := _loop(run, result)) is not None:
        yield seconds(result, resampling.BOOTSTRAP), resampling.ROWS, loop
    own = {**dict.fromkeys(run["peers"], CASES[result["case"]].main), LOOP: ONE_CALL}
    for peer, entry in {**own, **streaming.PEERS}.items():
        if peer in times and entry in times:
            yield seconds(result, entry), peer, seconds(result, peer)


def _duration_if_any(result: Result, entry: str) -> str:
    return duration(seconds(result, entry)) if entry in result["times"] else ""


def _bytes_if_any(result: Result, entry: str) -> str:
    held = result["state_bytes"].get(entry)
    return "" if held is None else f"{held:,}".replace(",", " ")


def compiling(run: Result) -> Table:
    """Of the largest size of each case; cases of the same shapes and types share a program."""
    largest: dict[tuple[str, str], tuple[str, ...]] = {}
    for _, result in _of_cases(run, CASES):
        timing = result["times"][CASES[result["case"]].main]
        if (timing["compile"] or 0) > COMPILED and result["case"] != "call":
            name, backend = result["case"], result["backend"]
            taken = duration(timing["compile"])
            entry = CASES[name].main
            largest[name, backend] = (name, entry, backend, power(result["n"]), taken)
    head = ("case", "compiled", "backend", "n", "first call beyond the others")
    return Table("Compiling", head, list(largest.values()))


def recompilations(run: Result) -> Table:
    rows = [(x["what"], str(x["first"]), str(x["later"])) for x in run["recompilations"]]
    head = ("call", "first quota", "other quotas")
    return Table("Programs that XLA compiles", head, rows)


def skipped(run: Result) -> Table:
    rows = [(name, "", "", why) for name, why in run["backends"].items() if why]
    rows += [(name, "", "", why) for name, why in run["peers"].items() if why]
    rows += [
        (x.get("entry", x["backend"]), x["case"], power(x["n"]), x["why"]) for x in run["skipped"]
    ]
    return Table("Left out", ("backend or peer", "case", "n", "why"), rows)
