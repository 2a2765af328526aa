"""The one place that calls, waits, times and measures memory; everything else only says of what."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.backends import Backend

SHORT = 0.005
"""Calls are repeated within a turn until it takes so many seconds."""
LONG = 20
"""A first call of so many seconds is never repeated untimed."""
MAX_RUNS, MIN_RUNS = 50, 3


class Check(NamedTuple):
    """What a result was compared with, and how far it is off.

    Attributes
    ----------
    what : str
        The values compared.
    ulps : float
        The largest distance, in units of the last place of the result's type.
    error : float
        The same in absolute numbers.
    allowed : float or None
        How far it may be off; None for an approximation that is only reported.
    """

    what: str
    ulps: float
    error: float
    allowed: float | None

    @property
    def holds(self) -> bool:
        return self.allowed is None or self.ulps <= self.allowed


@dataclass
class Entry:
    """One contender: a function, what it is called on, and how its result is checked.

    Attributes
    ----------
    function, arguments
        What is timed: the function as written, of arrays of the backend.
    check : callable or None
        Compares a result with the exact value; the floor needs none.
    traced : bool
        Whether it is compiled as one program where the backend can do that.
    peer : bool
        Whether the others are timed without it if it fails.
    holds : int or None
        Bytes of a state that it keeps.
    per : int
        Of how many equal parts a call consists; times are of one.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    check: Callable[[Any], Check] | None = None
    traced: bool = True
    peer: bool = False
    holds: int | None = None
    per: int = 1

    def bound(self, backend: Backend) -> Callable[[], Any]:
        function = backend.compiled(self.function) if self.traced else self.function
        return lambda: function(*self.arguments)


class Timing(NamedTuple):
    """Seconds of one call; `cpu` is the median of those that all threads of the process took."""

    median: float
    lower: float
    upper: float
    cpu: float
    runs: int


@dataclass
class Turn:
    """A contender that has been called once, and its times so far."""

    call: Callable[[], Any]
    first: float
    number: int
    peer: bool = False
    times: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def take(self, backend: Backend) -> None:
        """Call it once more, by both clocks."""
        start = time.process_time()
        self.times.append(backend.seconds(self.call, self.number))
        self.cpu.append((time.process_time() - start) / self.number)

    def goes_on(self, budget: float) -> bool:
        """Whether another turn is wanted; there is one at least."""
        spent = sum(self.times) * self.number
        if not self.times:
            return True
        if len(self.times) < MIN_RUNS:
            return spent < MIN_RUNS * budget
        return len(self.times) < MAX_RUNS and spent < budget


class Outcome(NamedTuple):
    """What a contest found out about one contender."""

    timing: Timing
    compile_seconds: float
    check: Check | None


class WrongResultError(Exception):
    """A result that is not the exact value is not worth timing."""


class Contest(NamedTuple):
    """What became of each contender: its outcome, or of a peer why it failed."""

    outcomes: dict[str, Outcome]
    failures: dict[str, str]


FAILURES = (MemoryError, RuntimeError, TypeError, ValueError)
"""What libraries raise where there is no room, or something that they cannot do."""


def reason(error: BaseException) -> str:
    """The kind of an error and the beginning of its message."""
    first, _, _ = str(error).partition("\n")
    return f"{type(error).__name__}: {first[:100]}"


def contest(backend: Backend, entries: dict[str, Entry], budget: float) -> Contest:
    """Check all entries, then time them in turns, each for about `budget` seconds."""
    turns, checks, failures = {}, {}, {}
    for name, entry in entries.items():
        try:
            turns[name], checks[name] = _warmed_up(backend, name, entry)
        except FAILURES as error:
            if not entry.peer:
                raise
            failures[name] = reason(error)
    while any(going := [turn for turn in turns.values() if turn.goes_on(budget)]):
        for before, turn in zip([going[-1], *going], going, strict=False):
            if before.peer and turn.first < LONG:
                backend.ready(turn.call())  # the gigabytes of a peer slowed the next one to a half
            turn.take(backend)
    outcomes = {}
    for name, turn in turns.items():
        per = entries[name].per
        timing = _timing(*([taken / per for taken in x] for x in (turn.times, turn.cpu)))
        compiling = max(turn.first - timing.median * per, 0.0)
        outcomes[name] = Outcome(timing, compiling, checks[name])
    return Contest(outcomes, failures)


def _warmed_up(backend: Backend, name: str, entry: Entry) -> tuple[Turn, Check | None]:
    """The first call, which compiles, and its result checked; the second tells how many to time."""
    call = entry.bound(backend)
    start = time.perf_counter()
    result = backend.ready(call())
    first = time.perf_counter() - start
    check = entry.check(result) if entry.check else None
    if check and not check.holds:
        raise WrongResultError(
            f"{name}: {check.what} off by {check.ulps:.3g} units in the last place"
        )
    again = backend.seconds(call) if first < LONG else first
    number = max(1, math.ceil(SHORT / max(again, 1e-9)))
    return Turn(call, first, number, entry.peer), check


def _timing(times: list[float], cpu: list[float]) -> Timing:
    lower, median, upper = (
        statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else times * 3
    )
    return Timing(median, lower, upper, statistics.median(cpu), len(times))


@contextmanager
def compilations() -> Iterator[list[str]]:
    """Collects the events of XLA compiling a program while the context is open."""
    import jax.monitoring

    seen: list[str] = []
    is_open = True

    def listen(event: str, _seconds: float, **_: Any) -> None:
        if is_open and "backend_compile" in event:
            seen.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield seen
    finally:
        is_open = False
