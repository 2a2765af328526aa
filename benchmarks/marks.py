"""The marks that the library is to reach, and what a run says of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from benchmarks.cases import LOOP, MEASURES, OF_RANKING, ONE_CALL, RANK, SORT, TIE_FREE_SORT
from benchmarks.misses import Miss
from benchmarks.resampling import BOOTSTRAP, POSITIVE, ROWS
from benchmarks.streaming import BINCOUNT, TWO_BYTES

Result = dict[str, Any]
GROWTH_FROM, MEMORY_FROM = 10**5, 10**6
GPUS = ("jax-gpu", "torch-gpu", "cupy")


class Seen(NamedTuple):
    """What a run found: a value, with a remark if need be; or no value, and why."""

    value: float | None
    remark: str = ""


class Reading(Protocol):
    """How a mark is read off a run."""

    def __call__(self, run: Result, /) -> Seen:
        """The value, or why there is none."""


class Mark(NamedTuple):
    """A bound that a run holds or misses.

    Attributes
    ----------
    text : str
        What is measured.
    bound : float
        The limit.
    unit : str
        What stands behind the numbers: "" for ratios.
    at_least : bool
        Whether the bound is the least value allowed, not the largest.
    read : callable
        Finds the value in a run.
    """

    text: str
    bound: float
    read: Reading
    unit: str = ""
    at_least: bool = False


class Row(NamedTuple):
    """A mark beside what a run found."""

    text: str
    bound: str
    measured: str
    verdict: str


def rows(run: Result) -> list[Row]:
    return [_row(mark, mark.read(run)) for mark in MARKS]


def misses(runs: Mapping[str, Result]) -> Iterator[Miss]:
    """Every mark that the worst of several machines misses."""
    for mark in MARKS:
        values = [x.value for run in runs.values() if (x := mark.read(run)).value is not None]
        if values:
            row = _row(mark, Seen(min(values) if mark.at_least else max(values)))
            if row.verdict == "misses":
                yield Miss(row.text, row.bound, values)


def _row(mark: Mark, seen: Seen) -> Row:
    bound = f"{'≥' if mark.at_least else '≤'} {mark.bound:g}{mark.unit}"
    if seen.value is None:
        return Row(mark.text, bound, "", f"not measured: {seen.remark}")
    holds = seen.value >= mark.bound if mark.at_least else seen.value <= mark.bound
    measured = f"{digits(seen.value)}{mark.unit}"
    verdict = "holds" if holds else "misses"
    return Row(mark.text, bound, measured, f"{verdict}{', ' + seen.remark if seen.remark else ''}")


# looking into a run


def results(run: Result, case: str, backend: str) -> list[Result]:
    """In the order of size."""
    fitting = [r for r in run["results"] if r["case"] == case and r["backend"] == backend]
    return sorted(fitting, key=lambda r: int(r["n"]))


def seconds(result: Result, entry: str) -> float:
    return float(result["times"][entry]["median"])


def elements(result: Result) -> int:
    """How many scores a call gets; those of a batch are n lists of n."""
    return int(result["n"]) ** (2 if result["case"] == "batch" else 1)


def _why_none(run: Result, case: str, backend: str, *entries: str) -> str:
    """Why a run has no result."""
    if backend not in run["backends"]:
        return f"{backend} was not asked for"
    reasons = [run["backends"][backend]]
    reasons += [run["peers"].get(name) for name in entries]
    if {LOOP, ROWS} & set(entries):
        reasons.append(run["peers"]["scikit-learn"])
    reasons += [
        skip["why"] for skip in run["skipped"] if (skip["case"], skip["backend"]) == (case, backend)
    ]
    return next((why for why in reasons if why), "not run")


class Ratio(NamedTuple):
    """Time of one contender over that of another, at a size or the next smaller one measured."""

    backend: str
    case: str
    top: str
    bottom: str
    n: int

    def __call__(self, run: Result) -> Seen:
        fitting = [
            result
            for result in results(run, self.case, self.backend)
            if result["n"] <= self.n and {self.top, self.bottom} <= result["times"].keys()
        ]
        if not fitting:
            return Seen(None, _why_none(run, self.case, self.backend, self.top, self.bottom))
        last = fitting[-1]
        remarks = [] if last["n"] == self.n else [f"at {power(last['n'])} only"]
        top, bottom = (seconds(last, name) for name in (self.top, self.bottom))
        if self.top in run["peers"] and SORT in last["times"]:
            reach = top / seconds(last, SORT)
            if reach > top / bottom:  # else sorting words is faster than sorting the scores
                remarks.append(f"the sort alone would reach {digits(reach)}")
        return Seen(top / bottom, "; ".join(remarks))


class SlowestCall(NamedTuple):
    """Microseconds of the slowest single measure, without the floor and the peers."""

    backend: str
    n: int

    def __call__(self, run: Result) -> Seen:
        at_size = [r for r in results(run, "call", self.backend) if r["n"] == self.n]
        if not at_size:
            return Seen(None, _why_none(run, "call", self.backend))
        times = {
            name: seconds(at_size[0], name)
            for name in at_size[0]["times"]
            if name not in (SORT, RANK, OF_RANKING) and name not in run["peers"]
        }
        slowest = max(times, key=lambda name: times[name])
        ranking, rest = (digits(seconds(at_size[0], name) * 1e6) for name in (RANK, OF_RANKING))
        return Seen(
            times[slowest] * 1e6,
            f"{slowest}; checks and table take {ranking} µs, AUC of a ranking {rest} µs",
        )


class Growth(NamedTuple):
    """How much faster than the sort the measures grow, from 10⁵ examples to the most measured."""

    backend: str
    case: str

    def __call__(self, run: Result) -> Seen:
        large = [r for r in results(run, self.case, self.backend) if r["n"] >= GROWTH_FROM]
        if len(large) < 2:
            return Seen(None, _why_none(run, self.case, self.backend))
        first, last = large[0], large[-1]
        grown = [seconds(last, name) / seconds(first, name) for name in (MEASURES, SORT)]
        return Seen(grown[0] / grown[1], f"from {power(first['n'])} to {power(last['n'])}")


class Memory(NamedTuple):
    """The largest peak of extra memory over the bytes of the scores."""

    backend: str
    cases: tuple[str, ...]

    def __call__(self, run: Result) -> Seen:
        peaks = {
            f"{case}, {power(r['n'])}": r["memory"]["over_scores"]
            for case in self.cases
            for r in results(run, case, self.backend)
            if r["n"] >= MEMORY_FROM and r.get("memory", {}).get("over_scores") is not None
        }
        if not peaks:
            return Seen(None, _why_none(run, self.cases[0], self.backend))
        worst = max(peaks, key=lambda name: peaks[name])
        return Seen(peaks[worst], worst)


class HostWaits(NamedTuple):
    """In how many results the host waited for the device."""

    backend: str

    def __call__(self, run: Result) -> Seen:
        waits = [
            r["waits_for_host"]
            for r in results(run, "uniform", self.backend)
            if r["waits_for_host"] is not None
        ]
        if not waits:
            known = _why_none(run, "uniform", self.backend)
            return Seen(None, "the library does not tell" if known == "not run" else known)
        return Seen(float(sum(waits)))


def digits(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{float(f'{value:.3g}'):g}"


def power(n: int) -> str:
    """A round number as a power of ten."""
    exponent = len(str(n)) - 1
    return f"10{str(exponent).translate(SUPERSCRIPTS)}" if n == 10**exponent else str(n)


SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


# the marks


BOTH = (10**6, 10**7)
SCALAR = "NumPy, AUC + PEM + AHR + AQR from raw labels and scores"


def _over_sort(text: str, case: str, bounds: dict[int, float]) -> Iterator[Mark]:
    for n, bound in bounds.items():
        yield Mark(f"{text}, {power(n)}, / np.sort", bound, Ratio("numpy", case, MEASURES, SORT, n))


def _numpy() -> Iterator[Mark]:
    for name, case, bounds in (
        ("no ties", "tie-free", (2.5, 2.5)),
        ("uniform float32", "uniform", (4.0, 5.0)),
        ("signed logits", "logits", (4.0, 4.0)),
    ):
        yield from _over_sort(f"{SCALAR}: {name}", case, dict(zip(BOTH, bounds, strict=True)))
    yield from _over_sort(f"{SCALAR}: 10⁶ distinct values", "small groups", {10**7: 6.0})
    for n in BOTH:
        yield Mark(
            f"{SCALAR}: 100 distinct values, {power(n)}, / the tie-free sort",
            2.0,
            Ratio("numpy", "100 values", MEASURES, TIE_FREE_SORT, n),
        )
    for n in BOTH:
        yield Mark(
            f"exact AUC-PR on top, {power(n)}, / np.sort",
            2.0,
            Ratio("numpy", "on top, useful", "pr_auc", SORT, n),
        )
    for case in ("uniform", "tie-free"):
        for n in BOTH:
            yield Mark(
                f"the four, {case}, {power(n)}: scikit-learn's roc_auc_score takes × as long",
                12.0,
                Ratio("numpy", case, "scikit-learn", MEASURES, n),
                at_least=True,
            )


def _torch() -> Iterator[Mark]:
    for n in BOTH:
        yield Mark(
            f"PyTorch CPU, the four, {power(n)}: torchmetrics binary_auroc takes × as long",
            8.0,
            Ratio("torch-cpu", "uniform", "torchmetrics", MEASURES, n),
            at_least=True,
        )


def _jax() -> Iterator[Mark]:
    for n in BOTH:
        yield Mark(
            f"JAX CPU, inside jit, pure XLA, the four, {power(n)}, / jnp.sort",
            0.8,
            Ratio("jax-cpu", "uniform", MEASURES, SORT, n),
        )
    for n in BOTH:
        yield Mark(
            f"JAX CPU, the four, {power(n)}: metrax's AUCROC takes × as long",
            20.0,
            Ratio("jax-cpu", "uniform", "metrax", MEASURES, n),
            at_least=True,
        )


def _others() -> Iterator[Mark]:
    yield Mark("NumPy, one measure, n = 1000, one call", 100.0, SlowestCall("numpy", 1000), " µs")
    yield Mark(
        "update of a float16 or bfloat16 state with 10⁷ scores, / np.bincount",
        1.5,
        Ratio("numpy", "streaming", TWO_BYTES, BINCOUNT, 10**7),
    )
    hulls = (("a useful classifier", "useful", 3.0), ("random labels", "random", 6.0))
    for name, case, bound in hulls:
        reading = Ratio("numpy", f"on top, {case}", "roc_hull", SORT, 10**6)
        yield Mark(f"NumPy, ROC hull of a ranking, {name}, 10⁶, / np.sort", bound, reading)
    on_jax = Ratio("jax-cpu", "on top, useful", "roc_hull", SORT, 10**6)
    yield Mark("JAX CPU, ROC hull of a ranking, 10⁶, / jnp.sort", 0.4, on_jax)
    for entry in ("hit_rate", "select", "quota_threshold"):
        reading = Ratio("numpy", "one quota", entry, SORT, 10**7)
        yield Mark(f"NumPy, one known quota, {entry}, 10⁷, / np.sort", 0.75, reading)
    yield Mark(
        "1000 classes of 1000 examples in one call: a loop of scikit-learn takes × as long",
        20.0,
        Ratio("numpy", "batch", LOOP, ONE_CALL, 1000),
        at_least=True,
    )


def _resampling() -> Iterator[Mark]:
    for case in POSITIVE:
        share = case.partition(", ")[2]
        yield Mark(
            f"NumPy, bootstrap of five measures, 10⁵, {share} positive, / scikit-learn's loop",
            0.05,
            Ratio("numpy", case, BOOTSTRAP, ROWS, 10**5),
        )


def _cuda() -> Iterator[Mark]:
    for backend in GPUS:
        for n in (10**7, 10**8):
            yield Mark(
                f"{backend}, the four, {power(n)}, / its own sort",
                2.5,
                Ratio(backend, "uniform", MEASURES, SORT, n),
            )
    for n in (10**7, 10**8):
        yield Mark(
            f"torch-gpu, the four, {power(n)}: torchmetrics takes × as long",
            3.0,
            Ratio("torch-gpu", "uniform", "torchmetrics", MEASURES, n),
            at_least=True,
        )
    yield Mark("torch-gpu, calls that wait for the host", 0.0, HostWaits("torch-gpu"))


def _scaling() -> Iterator[Mark]:
    for case in ("uniform", "tie-free"):
        yield Mark(f"NumPy, {case}: growth beyond that of the sort", 1.5, Growth("numpy", case))
    cases = ("uniform", "tie-free", "100 values", "small groups", "logits")
    yield Mark("NumPy, peak extra memory / bytes of the scores", 6.0, Memory("numpy", cases))


MARKS = (*_numpy(), *_torch(), *_jax(), *_others(), *_resampling(), *_cuda(), *_scaling())
