"""Runs cases on backends, and collects what can be written as JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import quotakernels as qk
from benchmarks import machine
from benchmarks.backends import BACKENDS, HOST_BYTES, Backend
from benchmarks.cases import CASES, SORT, Case, kind_of, problem
from benchmarks.harness import (
    FAILURES,
    Entry,
    Outcome,
    WrongResultError,
    compilations,
    contest,
    reason,
)
from benchmarks.memory import peak
from benchmarks.peers import PEERS

Result = dict[str, Any]
Say = Callable[[str], None]
MEMORY_FROM = 10**6
"""With fewer examples memory is not measured: that of the interpreter would blur it."""


class Plan(NamedTuple):
    """What is asked for.

    Attributes
    ----------
    quick : bool
        A small choice of sizes, and less time for each.
    sizes : tuple of int
        In place of a case's own, where it can have others; empty for its own.
    largest : int or None
        Of these, those up to here.
    backends, only : tuple of str
        Names, or empty for all that are there and all cases.
    seconds : float or None
        How long each contender is timed.
    patience : float
        A size is left out if a single call is likely to take more seconds.
    """

    quick: bool = False
    sizes: tuple[int, ...] = ()
    largest: int | None = None
    backends: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    seconds: float | None = None
    patience: float = 120

    @property
    def budget(self) -> float:
        if self.seconds is not None:
            return self.seconds
        return 0.3 if self.quick else 4.0

    def cases(self) -> Iterable[Case]:
        return (case for name, case in CASES.items() if not self.only or name in self.only)

    def sizes_of(self, case: Case, backend: Backend) -> tuple[int, ...]:
        if self.sizes and case.scalable:
            return self.sizes
        by_kind = case.quick if self.quick else case.sizes
        own = by_kind.get(kind_of(backend), ())
        return tuple(n for n in own if self.largest is None or n <= self.largest)


def run(plan: Plan, command: str, say: Say, keep: Callable[[Result], Any]) -> Result:
    """Everything the plan asks for: the machine, results, and what was left out and why.

    After each case `keep` is given what there is so far, lest a long run be lost.
    """
    chosen = plan.backends or tuple(BACKENDS)
    reasons = {name: BACKENDS[name].why_not() for name in chosen}
    present = [BACKENDS[name] for name in chosen if reasons[name] is None]
    found: Result = {
        "command": command,
        "machine": machine.measured(any(backend.on_gpu for backend in present)),
        "backends": reasons,
        "peers": {peer.name: peer.why_not for peer in PEERS},
        "results": [],
        "skipped": [],
        "recompilations": [],
    }
    for case in plan.cases():
        by_backend = {backend.name: plan.sizes_of(case, backend) for backend in present}
        for n in sorted({n for sizes in by_backend.values() for n in sizes}):
            for backend in present:
                if n in by_backend[backend.name]:
                    _add(found, plan, case, backend, n, say)
        keep(found)
    if any(backend.name == "jax-cpu" for backend in present):
        found["recompilations"] = recompilations(BACKENDS["jax-cpu"])
    return found


def _add(found: Result, plan: Plan, case: Case, backend: Backend, n: int, say: Say) -> None:
    """The result of one case, or why there is none."""
    start = time.perf_counter()
    where = {"case": case.name, "backend": backend.name, "n": n}
    why = _too_large(backend, n) or _too_slow(found, plan.patience, where)
    if why is None:
        try:
            result, failures = _measured(plan, case, backend, n)
            found["results"].append({**where, **result})
            found["skipped"] += [{**where, "entry": x, "why": y} for x, y in failures.items()]
        except WrongResultError as wrong:
            why = f"wrong result: {wrong}"
        except FAILURES as error:
            why = reason(error)
        backend.release()
    if why is not None:
        found["skipped"].append({**where, "why": why})
    taken = time.perf_counter() - start
    say(f"{case.name}, {backend.name}, n = {n}: {why or f'done in {taken:.0f} s'}")


def _too_large(backend: Backend, n: int) -> str | None:
    on_host = HOST_BYTES if backend.on_gpu else backend.example_bytes
    rooms = [("memory", machine.available_bytes(), n * on_host)]
    if backend.on_gpu:
        rooms.append(("GPU memory", machine.gpu_bytes(), n * backend.example_bytes))
    for name, room, needed in rooms:
        if room is not None and needed > room * machine.MEMORY_SHARE:
            return f"would need about {needed / 2**30:.0f} GiB of {name}"
    return None


def _too_slow(found: Result, patience: float, where: Result) -> str | None:
    """By the size before, as if times grew in proportion."""
    same = [r for r in found["results"] if all(r[x] == where[x] for x in ("case", "backend"))]
    if not same or same[-1]["n"] > where["n"]:
        return None
    slowest = max(times["median"] for times in same[-1]["times"].values())
    expected = slowest * where["n"] / same[-1]["n"]
    return f"a call would take about {expected:.0f} s" if expected > patience else None


def _measured(plan: Plan, case: Case, backend: Backend, n: int) -> tuple[Result, dict[str, str]]:
    """The result of one case, and the peers that failed."""
    entries = case.build(backend, n)
    outcomes, failures = contest(backend, entries, plan.budget)
    main = entries[case.main]
    result: Result = {
        "times": {name: _times(backend, outcome) for name, outcome in outcomes.items()},
        "checks": {name: o.check._asdict() for name, o in outcomes.items() if o.check},
        "waits_for_host": backend.waits_for_host(main.bound(backend)),
    }
    if held := {name: entry.holds for name, entry in entries.items() if entry.holds is not None}:
        result["state_bytes"] = held
    if n >= MEMORY_FROM and SORT in entries:
        used = peak(case, backend, n, main)
        scores = _bytes(entries[SORT])
        over = None if used.bytes is None else used.bytes / scores
        result["memory"] = {"bytes": used.bytes, "over_scores": over, "by": used.by}
    return result, failures


def _bytes(floor: Entry) -> int:
    return int(floor.arguments[0].nbytes)


def _times(backend: Backend, outcome: Outcome) -> Result:
    compiled = backend.name.startswith("jax")
    return {
        **outcome.timing._asdict(),
        "compile": outcome.compile_seconds if compiled else None,
    }


QUOTAS = (100, 200.0, 300.5)
UNSEEN = 1234
"""A number of examples for which nothing has been compiled before."""


def recompilations(backend: Backend) -> list[Result]:
    """How many programs XLA compiles for a first quota, and for other quotas after it."""
    labels, scores = (backend.array(x) for x in problem("uniform", UNSEEN)[:2])
    inside = backend.compiled(lambda y, s, q: qk.hit_rate(y, s, quota=q))
    ways: dict[str, Callable[[float], Any]] = {
        "hit_rate, called": lambda q: qk.hit_rate(labels, scores, quota=q),
        "hit_rate, inside jax.jit": lambda q: inside(labels, scores, float(q)),
    }
    return [_compiled_by(name, call) for name, call in ways.items()]


def _compiled_by(name: str, call: Callable[[float], Any]) -> Result:
    counts = []
    for quota in QUOTAS:
        with compilations() as seen:
            call(quota)
        counts.append(len(seen))
    return {"what": name, "first": counts[0], "later": sum(counts[1:])}
