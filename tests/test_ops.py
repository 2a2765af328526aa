"""Each native operation equals its standard-only twin, which strict arrays prove standard."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, available, of_fast_forms, parameters, tree_map

from quotakernels import ops
from quotakernels._array import computing, namespace
from quotakernels.ops import around, binning, hull, standard
from quotakernels.ops.native import natives, numpy_

LIBRARIES = [m for m in MODES if m.name in ("numpy", "strictest", "jax64", "torch", "cupy")]
RNG = np.random.default_rng(8)
LENGTHS = (1, 2, 7, 64, 1000)


def twin(name: str) -> Any:
    """The standard-only form of an operation, if there is one."""
    modules = (standard, hull, around, binning)
    return next((getattr(m, name) for m in modules if name in m.__all__), None)


def both(mode: Mode, name: str, *arguments: Any, **keywords: Any) -> tuple[Any, Any]:
    """The native and the standard-only result of an operation."""

    def run(*arrays: Any) -> tuple[Any, Any]:
        arrays = tuple(arrays)
        xp = namespace(next(x for x in arrays if x is not None))
        with computing(xp):
            native = getattr(ops, name)(xp, *arrays, **keywords)
            return native, twin(name)(xp, *arrays, **keywords)

    with mode.context():
        moved = [x if x is None else mode.array(x) for x in arguments]
        return tree_map(lambda x: x if x is None else mode.to_numpy(x), run(*moved))


def same(first: Any, second: Any, rtol: float = 0) -> None:
    if isinstance(first, tuple):
        assert len(first) == len(second)
        for a, b in zip(first, second, strict=True):
            same(a, b, rtol)
    elif first is None:
        assert second is None
    else:
        np.testing.assert_allclose(first, second, rtol=rtol)


@pytest.fixture(params=parameters(LIBRARIES))
def library(request: pytest.FixtureRequest) -> Mode:
    chosen: Mode = request.param
    return chosen


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_scans(library, length, batch):
    x = RNG.integers(0, 50, (*batch, length))
    first = RNG.random((*batch, length)) < 0.3
    first[..., 0] = True
    same(*both(library, "running_max", x))
    same(both(library, "running_max", x)[0], np.maximum.accumulate(x, axis=-1))
    same(*both(library, "prefix_sum", x))
    same(both(library, "prefix_sum", x)[0], np.cumsum(x, axis=-1))
    same(*both(library, "segment_sum", x, first))
    values = RNG.random((*batch, length))
    same(*both(library, "total", values), rtol=1e-14)
    same(both(library, "total", values)[0], values.sum(axis=-1), rtol=1e-14)


def test_segment_sums_do_not_see_each_other(library):
    x = np.array([1e20, 1.0, 1e-20, 2e-20, 1e20, 3e-20])
    first = np.array([True, True, True, False, True, True])
    sums = both(library, "segment_sum", x, first)[0]
    np.testing.assert_array_equal(sums, [1e20, 1.0, 1e-20, 1e-20 + 2e-20, 1e20, 3e-20])


def test_total_stays_near_the_exact_sum(library):
    values = np.full(300_001, 0.1)
    exact = 300_001 * 0.1000000000000000055511151231257827
    same(both(library, "total", values)[1], exact, rtol=1e-15)
    same(both(library, "total", values)[0], exact, rtol=1e-15)


@pytest.mark.parametrize("kind", ["float32", "float64", "int16", "int64", "bool", "tied"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_tie_groups(library, kind, weighted, masked, batch):
    shape = (*batch, 500)
    scores = RNG.normal(size=shape)
    if kind == "tied":
        scores = np.round(scores, 1) + 0.0
    else:
        scores = (scores * (100 if "int" in kind else 1)).astype(kind)
    labels = RNG.random(shape) < 0.3
    weights = RNG.random(shape) if weighted else None
    valid = RNG.random(shape) < 0.7 if masked else None
    for given in (False, True):
        native, plain = both(library, "tie_groups", scores, labels, weights, valid, given=given)
        same(_filled_rows(native), _filled_rows(plain), rtol=1e-14)


def _filled_rows(groups: ops.Groups) -> list[tuple[Any, ...]]:
    """The rows that hold a group, of every row of the batch."""
    rows = []
    for row in np.ndindex(groups.counts.shape[:-1]):
        columns = [column[row] for column in groups if column is not None]
        rows.append(tuple(column[columns[1] > 0] for column in columns))
    return tuple(rows)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "float64"])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_key_at(library, kind, batch):
    if kind == "float64" and library.name in ("jax64", "torch", "cupy"):
        pytest.skip("keys are integers there")
    info = None if kind == "float64" else np.iinfo(kind)
    values = RNG.integers(-60, 60, (*batch, 40)) if kind[0] != "u" else RNG.integers(0, 90, 40)
    key = np.broadcast_to(values, (*batch, 40)).astype(kind)
    if info is not None:
        key[..., :2] = info.min, info.max
    for place in (1, 7, 40):
        same(*both(library, "key_at", key, np.full((*batch, 1), place)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [1, 100, 3 * numpy_.BLOCK + 17])
def test_sums_and_positions_over_long_tables(weighted, rows):
    """NumPy reads long tables in blocks."""
    counts = RNG.integers(0, 4, rows).astype(np.int32)
    positives = (counts * RNG.random(rows)).astype(np.int32)
    masses = (None, None)
    if weighted:
        masses = (counts * RNG.random(rows), 0.5 * positives * RNG.random(rows))
    table = ops.Groups(-np.arange(rows, dtype=float), counts, positives, *masses)
    xp = namespace(counts)
    columns = ops.Rows._fields
    tolerance = 1e-12 if weighted else 0
    native, plain = (m.sum_rows(xp, table, lambda *x: x, columns) for m in (numpy_, standard))
    same(native, plain, rtol=1e-12)
    whole = (counts if masses[0] is None else masses[0]).sum()
    wanted = np.sort(np.append(RNG.random(50) * whole, [0, whole, whole + 1, 1, np.nan]))
    native, plain = (m.rows_at(xp, table, wanted) for m in (numpy_, standard))
    finite = ~np.isnan(wanted)
    same(native[0][finite], plain[0][finite])
    for mine, theirs in zip(native[1], plain[1], strict=True):
        same(mine[finite], theirs[finite], rtol=tolerance)
    short = numpy_.head(xp, table, wanted[:20])
    same(numpy_.rows_at(xp, short, wanted[:20]), numpy_.rows_at(xp, table, wanted[:20]))


def test_bisect_finds_the_first_end_that_reaches(library):
    for length in (1, 2, 3, 8, 33):
        ends = np.cumsum(RNG.integers(0, 3, (2, length)), axis=-1).astype(float)
        wanted = np.tile(np.arange(-1.0, 2 * length + 2, 0.5), (2, 1))

        def run(a: Any, b: Any) -> Any:
            return standard.bisect(namespace(a), a, b)

        found = library.run(run, ends, wanted)
        for row in range(2):
            np.testing.assert_array_equal(found[row], np.searchsorted(ends[row], wanted[row]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_clip(library, dtype):
    x = np.append(RNG.normal(size=(3, 40)), [[np.nan], [np.inf], [-np.inf]], axis=-1).astype(dtype)
    for low, high in ((None, 0.5), (-0.5, None), (-0.5, 0.5)):
        native, plain = both(library, "clip", x, low=low, high=high)
        assert native.dtype == dtype
        same((native, plain), (np.clip(x, low, high), native))


def test_piecewise_is_where(library):
    x = RNG.normal(size=(3, 40))
    rare = x > 0.5

    def run(rare: Any, x: Any) -> Any:
        return ops.piecewise(namespace(x), rare, lambda v: v + 1, lambda v: -v, x)

    same(library.run(run, rare, x), np.where(rare, x + 1, -x))


def test_piecewise_of_columns_first(library):
    x = np.moveaxis(RNG.normal(size=(3, 2, 40)), 0, -1)

    def run(x: Any) -> Any:
        return ops.piecewise(namespace(x), x > 0.5, lambda v: v + 1, lambda v: -v, x)

    same(library.run(run, x), np.where(x > 0.5, x + 1, -x))


@pytest.mark.parametrize("share", [0, 0.01, 0.5])
def test_piecewise_of_many(library, share):
    x = RNG.normal(size=(2, 20_000))
    rare = RNG.random(x.shape) < share

    def run(rare: Any, x: Any, y: Any) -> Any:
        xp = namespace(x)
        return ops.piecewise(xp, rare, lambda v, w: v / w, lambda v, w: xp.zeros_like(v), x, y)

    same(library.run(run, rare, x, x[:1] + 9), np.where(rare, x / (x[:1] + 9), 0), 1e-15)


@pytest.mark.parametrize("name", ["numpy", "jax", "torch", "cupy"])
def test_natives_have_the_signatures_of_their_twins(name):
    """CuPy needs no device for this."""
    pytest.importorskip(name)
    native = natives(name)
    shared = [n for n in dir(native) if twin(n) and n[0] != "_"]
    assert "order_key" in shared
    for function in shared:
        mine, theirs = getattr(native, function), twin(function)
        if inspect.isfunction(mine) and mine.__module__ == native.__name__:
            names = [list(inspect.signature(f).parameters) for f in (mine, theirs)]
            assert names[0] == names[1], function
            assert function in ops.__all__, function


HULLS = ("any", "all tied", "all on one line", "on a circle", "one row", "no row", "sparse")


def table_for_hull(kind: str, weighted: bool, batch: tuple[int, ...], rows: int) -> ops.Groups:
    """Tables whose hulls are known to be hard."""
    shape = (*batch, 1 if kind == "one row" else rows)
    positives, negatives = (RNG.integers(0, 4, shape) for _ in range(2))
    if kind == "all tied":
        positives[..., 1:], negatives[..., 1:] = 0, 0
    if kind == "all on one line":
        positives = 2 * negatives
    if kind == "no row":
        positives, negatives = 0 * positives, 0 * negatives
    if kind == "sparse":
        hidden = RNG.random(shape) < 0.8
        positives, negatives = np.where(hidden, 0, positives), np.where(hidden, 0, negatives)
    if kind == "on a circle":
        angle = np.linspace(0, np.pi / 2, rows + 1)
        ends = [np.round(1e4 * z).astype(int) for z in (np.sin(angle), 1 - np.cos(angle))]
        positives, negatives = (np.broadcast_to(np.diff(z), shape) for z in ends)
    counts = (positives + negatives).astype(np.int32)
    masses = (positives * 0.5, negatives * 0.25) if weighted else (None, None)
    scores = np.broadcast_to(np.arange(shape[-1], 0.0, -1), shape)
    return ops.Groups(scores, counts, positives.astype(np.int32), *masses)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", HULLS)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_hulls(library, kind, weighted, batch):
    table = table_for_hull(kind, weighted, batch, 60)

    def run(*columns: Any) -> Any:
        table = ops.Groups(*columns, *([] if weighted else [None, None]))
        xp = namespace(table.counts)
        with computing(xp):
            ends = ops.hull_ends(xp, table)
            merged = ops.merged(xp, table, ends)
            return ends, hull.hull_ends(xp, table), merged, standard.merged(xp, table, ends)

    with library.context():
        found = run(*(library.array(x) for x in table if x is not None))
        ends, plain, merged, plainly = tree_map(
            lambda x: x if x is None else library.to_numpy(x), found
        )
    np.testing.assert_array_equal(ends, plain)
    same(_filled_rows(merged), _filled_rows(plainly))
    for row in np.ndindex(batch):
        wanted = ends_by_a_chain(table.negative[row], table.positive[row])
        np.testing.assert_array_equal(np.flatnonzero(ends[row]), wanted)


def test_hulls_of_counts_whose_products_are_no_whole_numbers():
    """The standard form takes floats for the batch's rows in which P·N is above 2**62."""
    positive = np.array([[3, 1, 2, 0], [3, 1, 2, 0]]) * np.array([[1], [2**40]])
    negative = np.array([[0, 1, 1, 3], [0, 1, 1, 3]]) * np.array([[1], [2**40]])
    ends = hull.hull_ends(
        namespace(positive), ops.Groups(np.zeros(4), positive + negative, positive, None, None)
    )
    wanted = ends_by_a_chain(negative[0], positive[0])
    for row in ends:
        np.testing.assert_array_equal(np.flatnonzero(row), wanted)


def ends_by_a_chain(along: np.ndarray, up: np.ndarray) -> list[int]:
    """Rows that end at a strict vertex, one point after the other."""
    chain: list[tuple[float, float, int]] = [(0, 0, -1)]
    for row, (x, y) in enumerate(zip(np.cumsum(along), np.cumsum(up), strict=True)):
        if (x, y) == chain[-1][:2]:
            continue
        while len(chain) > 1:
            (x0, y0, _), (x1, y1, _) = chain[-2:]
            if (y1 - y0) * (x - x0) > (y - y0) * (x1 - x0):
                break
            chain.pop()
        chain.append((x, y, row))
    return [row for *_, row in chain[1:]]


@of_fast_forms
@pytest.mark.skipif(not available("jax"), reason="jax is not available")
@pytest.mark.parametrize("weighted", [False, True])
def test_hulls_of_long_tables_in_programs(weighted, monkeypatch):
    """On the CPU NumPy is called for them; or, where that is not wanted, not."""
    import jax

    from quotakernels.ops.native import jax_

    def ends(*columns: Any) -> Any:
        table = ops.Groups(*columns) if weighted else ops.Groups(*columns, None, None)
        return ops.hull_ends(namespace(columns[0]), table)

    table = table_for_hull("any", weighted, (2,), jax_.CALL_FROM)
    columns = [x for x in table if x is not None]
    wanted = ends(*columns)
    with jax.enable_x64(True):
        for program in (jax.jit(ends), jax.jit(jax.vmap(ends))):
            assert "callback" in program.lower(*columns).as_text()
            same(np.asarray(program(*columns)), wanted)
        monkeypatch.setattr(jax_, "HOST_CALLS", False)
        assert "callback" not in jax.jit(lambda *x: ends(*x)).lower(*columns).as_text()


@pytest.mark.parametrize("batch", [(), (3,)])
def test_flagged_first(library, batch):
    flags = RNG.random((*batch, 40)) < 0.3
    native, plain = both(library, "flagged_first", flags)
    for row in np.ndindex(batch):
        places = np.flatnonzero(flags[row])
        repeated = np.append(places, np.full(40 - places.size, places[-1]))
        np.testing.assert_array_equal(plain[row], repeated)
        np.testing.assert_array_equal(native[row], repeated[: native.shape[-1]])


@pytest.mark.parametrize("beyond", [False, True])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_bisect(library, batch, beyond):
    ends = np.sort(RNG.integers(0, 9, (*batch, 30)), axis=-1) / 2.0
    wanted = RNG.integers(-1, 20, (*batch, 50)) / 4.0
    wanted[..., 0] = np.nan
    native, plain = both(library, "bisect", ends, wanted, beyond=beyond)
    np.testing.assert_array_equal(native, plain)
    for row in np.ndindex(batch):
        reached = ends[row] > wanted[row][:, None] if beyond else ends[row] >= wanted[row][:, None]
        places = np.where(reached.any(axis=1), reached.argmax(axis=1), 30)
        np.testing.assert_array_equal(native[row][1:], places[1:])
