"""Time the calls with marks on the devices that are there, beside each library's own sort.

``benchmarks/gpu.sh`` runs the tests first, and this afterwards.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import quotakernels as qk
from benchmarks import machine
from benchmarks.backends import BACKENDS, Backend, TorchGpu
from benchmarks.cases import SORT
from benchmarks.device.calls import CALLS, QUOTA, Examples
from benchmarks.device.page import timed_tables
from benchmarks.peers import peers_of
from benchmarks.tables import aligned

Result = dict[str, Any]
SIZES = (10**6, 10**7, 10**8)
TIMED = (
    *("roc_auc", "four", "summary", "hit_rate", "f_score", "pr_auc", "lift_table", "roc_hull_auc"),
    *("roc_auc, weights", "roc_auc, bfloat16", "update, bfloat16"),
)
REPEATS, PATIENCE = 5, 10.0
ENDING = r"^=* ?(\d+ (?:passed|failed|skipped).*?) ?=*$"
CHECKED, CLOSE = 10**6, 1e-5
"""Up to so many examples are measured by NumPy too; JAX computes in float32 without x64."""


class TorchGraph(TorchGpu):
    """PyTorch on a GPU, each call captured once as a CUDA graph and then replayed."""

    name = "torch-graph"

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import torch

        graph = torch.cuda.CUDAGraph()
        kept: list[Any] = []

        def replayed(*arguments: Any) -> Any:
            if not kept:
                beside = torch.cuda.Stream()
                beside.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(beside):
                    function(*arguments)
                torch.cuda.current_stream().wait_stream(beside)
                with torch.cuda.graph(graph):
                    kept.append(function(*arguments))
            graph.replay()
            return kept[0]

        return replayed

    def peak_bytes(self, *_: Any) -> int | None:
        return None


LANES: dict[str, Backend] = {**BACKENDS, TorchGraph.name: TorchGraph()}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.device.lane", description=__doc__)
    parser.add_argument("--cpu", action="store_true", help="a rehearsal, on the CPU")
    parser.add_argument("--sizes", nargs="+", type=lambda x: int(float(x)), default=SIZES)
    parser.add_argument("--seconds", type=float, default=480.0, help="for all of it")
    parser.add_argument("--tests", type=Path, help="a folder with what the tests have printed")
    parser.add_argument("--json", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    names = (
        ("torch-cpu", "jax-cpu") if chosen.cpu else ("torch-gpu", "torch-graph", "cupy", "jax-gpu")
    )
    run: Result = {}
    for run in timed(names, chosen.sizes, time.monotonic() + chosen.seconds):
        run["tests"] = _tests(chosen.tests)
        text = json.dumps(run, indent=1, ensure_ascii=False) + "\n"
        chosen.json.write_text(text, encoding="utf-8")
    print("\n\n".join(map(aligned, timed_tables(run["results"]))))
    return int(any("wrong" in x.get("why", "") for x in run["results"]))


def timed(names: tuple[str, ...], sizes: tuple[int, ...], until: float) -> Iterator[Result]:
    """All that is known after each call on each backend there is; after `until` none begins."""
    absent = {name: why for name in names if (why := LANES[name].why_not())}
    present = [LANES[name] for name in names if name not in absent]
    described = machine.describe(any(backend.on_gpu for backend in present))
    results: list[Result] = []
    for backend in present:
        took: dict[str, float] = {}
        for n in sizes:
            for call, found in _calls(backend, n, until, took):
                results.append({"backend": backend.name, "n": n, "call": call, **found})
                yield {"machine": described, "absent": absent, "results": results}


def _calls(
    backend: Backend, n: int, until: float, took: dict[str, float]
) -> Iterator[tuple[str, Result]]:
    """The sort, the peers and the calls, each with its seconds or the reason why it has none.

    What took long for fewer examples is left out.
    """
    host = _examples(n)
    here = Examples._make(_moved(backend, x) for x in host)
    peers = {x.name: x for x in peers_of(backend.name) if x.why_not is None}
    for name in (SORT, *peers, *TIMED):
        print(f"{backend.name}, n = {n}: {name}", file=sys.stderr, flush=True)
        try:
            if time.monotonic() > until:
                raise TimeoutError("no time left")
            if took.get(name, 0) > PATIENCE / 10:
                raise TimeoutError(f"fewer took {took[name]:.2g} s")
            if name == SORT:
                found = _seconds(backend, backend.sort, (here.scores,))
            elif name in peers:
                found = _seconds(backend, peers[name].make(), here[:2])
            else:
                found = _measured(backend, name, host, here)
            took[name] = found.get("seconds", 0)
        except Exception as error:  # the lane goes on, and the tables tell
            found = {"why": f"{type(error).__name__}: {str(error)[:200]}"}
        backend.release()
        yield name, found


def _examples(n: int) -> Examples:
    draw = np.random.default_rng(n)
    scores = draw.random(n, dtype=np.float32)
    labels = (draw.random(n, dtype=np.float32) < scores).astype(np.int64)
    return Examples(labels, scores, draw.random(n, dtype=np.float32), QUOTA)


def _moved(backend: Backend, x: Any) -> Any:
    """An array on the device, integers of which have the width that JAX has without x64."""
    if not isinstance(x, np.ndarray):
        return x
    return backend.array(x.astype(np.int32) if "jax" in backend.name and x.dtype.kind == "i" else x)


def _half(backend: Backend, host: Examples) -> Examples:
    """With scores of two bytes, and a state that takes them."""
    import ml_dtypes

    short = np.float16 if backend.two_bytes == "float16" else ml_dtypes.bfloat16
    scores = host.scores.astype(short)
    state = qk.states.ScoreHistogram.empty(backend.array(scores[:1]))
    return host._replace(scores=scores, state=state)


def _measured(backend: Backend, name: str, host: Examples, here: Examples) -> Result:
    """Time of a call, of which NumPy gives the value too."""
    if CALLS[name].half:
        host = _half(backend, host)
        here = here._replace(scores=backend.array(host.scores), state=host.state)

    def call(*columns: Any) -> Any:
        return CALLS[name].function(Examples(*columns))

    compiled = backend.compiled(call)
    found = _seconds(backend, compiled, here)
    if len(host.scores) <= CHECKED and not CALLS[name].half:
        off = _difference(call(*host), _on_host(backend, compiled(*here)))
        if off > CLOSE:
            return {"why": f"wrong value, off by {off:.2g}"}
    return found


def _difference(wanted: Any, found: Any) -> float:
    """The largest distance of what stands in both results from what is wanted."""
    pairs = zip(_numbers(wanted), _numbers(found), strict=True)
    return max(float(np.max(np.abs(x - y) / np.maximum(np.abs(x), 1))) for x, y in pairs)


def _on_host(backend: Backend, found: Any) -> Any:
    if found is None:
        return None
    if isinstance(found, (tuple, list)):
        return [_on_host(backend, x) for x in found]
    return backend.host(found)


def _numbers(found: Any) -> list[Any]:
    if found is None:
        return []
    if isinstance(found, (tuple, list)):
        return [x for part in found for x in _numbers(part)]
    values = np.asarray(found, dtype=float)
    return [np.nan_to_num(values)] if values.size else []


def _seconds(backend: Backend, function: Any, arguments: Any) -> Result:
    """The median of a few calls, after one that compiles."""

    def call() -> Any:
        return function(*arguments)

    start = time.monotonic()
    backend.ready(call())
    first = time.monotonic() - start
    times = [backend.seconds(call) for _ in range(REPEATS if first < PATIENCE else 1)]
    peak = backend.peak_bytes(function, arguments) if backend.on_gpu else None
    return {"seconds": float(np.median(times)), "first": first, "peak": peak}


def _tests(folder: Path | None) -> dict[str, str]:
    """What pytest says at the end of each of its runs."""
    files = sorted(folder.glob("*.txt")) if folder else []
    texts = {x.stem: re.findall(ENDING, x.read_text(encoding="utf-8"), re.M) for x in files}
    return {name: found[-1] if found else "cut off" for name, found in texts.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
