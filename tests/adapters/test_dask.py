"""Rankings of Dask arrays and data frames are those of all examples at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from expected import assert_same_bits

import quotakernels as qk

pd = pytest.importorskip("pandas")
dask = pytest.importorskip("dask")
pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

from quotakernels.adapters.dask import ranking  # noqa: E402

from_array = dask.array.from_array


@pytest.fixture(autouse=True)
def synchronous() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def examples(dtype: Any = np.float64, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    scores = (3 * random.normal(size=n)).round(1).astype(dtype)
    return random.integers(0, 2, n), scores


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u8", "?"])
@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic"])
def test_it_is_the_ranking_of_all(dtype: str, ties: Any) -> None:
    y_true, y_score = examples(dtype)
    chunks = (0, 1, 200, 0, 399)
    found = ranking(from_array(y_true, 70), from_array(y_score, (chunks,)), ties=ties)
    assert_same_bits(found, qk.rank(y_true, y_score, ties=ties))


def test_more_partitions_than_are_combined_at_once() -> None:
    y_true, y_score = examples()
    found = ranking(from_array(y_true, 6), from_array(y_score, 6))
    assert_same_bits(found, qk.rank(y_true, y_score))


def test_zeros_of_both_signs_tie_across_partitions() -> None:
    found = ranking(from_array([1, 0], 1), from_array(np.array([-0.0, 0.0]), 1))
    assert_same_bits(found, qk.rank([1, 0], [-0.0, 0.0]))


def test_no_examples() -> None:
    nothing = dask.array.zeros(0, dtype="f4")
    assert_same_bits(ranking(nothing, nothing), qk.rank(np.zeros(0, "f4"), np.zeros(0, "f4")))


def test_columns_of_a_frame_by_name() -> None:
    y_true, y_score = examples()
    content = pd.DataFrame({"y": np.where(y_true, "yes", "no"), "s": y_score, "m": y_score > -1})
    frame = dask.dataframe.from_pandas(content, npartitions=9)
    chosen = frame[frame.s < 2]  # partitions of unknown, different lengths
    found = ranking("y", "s", data=chosen, where="m", pos_label="yes")
    counted = (y_score < 2) & (y_score > -1)
    assert_same_bits(found, qk.rank(y_true[counted], y_score[counted]))
    by_column = ranking(chosen.y, chosen.s, where=chosen.m, pos_label="yes")
    assert_same_bits(by_column, found)


def test_weights_are_added_class_by_class() -> None:
    """A little mass of one class is not lost beside much of the other."""
    y_true, y_score = examples(n=60)
    weights = np.where(y_true, 2.0**-20, 2.0**60) * (np.arange(60) % 3)
    given = [from_array(x, 7) for x in (y_true, y_score, weights)]
    found = ranking(given[0], given[1], sample_weight=given[2], where=given[1] > -2)
    for row, score in enumerate(found.thresholds):
        tied = (y_score == score) & (weights > 0)
        assert found.counts[row] == tied.sum()
        for masses, one in ((found.positive_weights, 1), (found.negative_weights, 0)):
            exact = sum((Fraction(w) for w in weights[tied & (y_true == one)]), Fraction(0))
            assert Fraction(masses[row]) == exact
    assert found.thresholds.min() > -2


def test_a_third_label_where_masked() -> None:
    labels, scores = np.array(["yes", "no", "yes", "maybe", "yes", "yes"]), np.arange(6.0)
    given = (from_array(labels, 2), from_array(scores, 2))
    found = ranking(*given, pos_label="yes", where=from_array(labels != "maybe", 2))
    assert found.counts.sum() == 5
    assert not ranking(given[0][1:2], given[1][:1], pos_label=1).positives.any()


def test_dtypes_of_partitions_differ() -> None:
    """The first partition of the other dtype is named, of a few or many."""
    for count, changed in ((2, 1), (30, 27), (30, 8)):
        kinds = ["i8" if k < changed else "f8" for k in range(count)]
        parts = [dask.delayed(np.ones)(2, kind) for kind in kinds]
        arrays = [dask.array.from_delayed(x, (2,), dtype="f8") for x in parts]
        message = f"y_score is of dtype float64 in partition {changed} and of int64 in partition"
        with pytest.raises(TypeError, match=message):
            ranking(dask.array.ones(2 * count, chunks=2), dask.array.concatenate(arrays))


@pytest.mark.parametrize("kinds", [("i8", "f8"), ("f8", "i8"), ("f4", "f8"), ("f8", "f4")])
def test_directories_of_other_types_are_refused(tmp_path: Path, kinds: tuple[str, str]) -> None:
    for number, kind in enumerate(kinds):
        content = pd.DataFrame({"y": [0, 1], "s": np.array([0, 1], kind)})
        content.to_parquet(tmp_path / f"{number}.parquet")
    frame = dask.dataframe.read_parquet(str(tmp_path))
    with pytest.raises(TypeError, match="y_score is of dtype .* in partition 1 and of .* in part"):
        ranking("y", "s", data=frame)


def test_what_stands_behind_two_columns_is_computed_once() -> None:
    computed = []

    def scored(block: np.ndarray) -> np.ndarray:
        computed.append(len(block))
        return block

    both = dask.array.from_array(np.ones((6, 2)), chunks=(2, 2)).map_blocks(
        scored, meta=np.ones((0, 2))
    )
    ranking(both[:, 0], both[:, 1])
    assert computed == [2, 2, 2]


@pytest.mark.full
def test_a_worker_dies_in_mid_run(tmp_path: Path) -> None:
    """Its tables are made again elsewhere, and nothing is counted twice or lost."""
    from distributed import Client, LocalCluster

    killed = str(tmp_path / "killed")
    y_true, y_score = examples(n=4000)

    def dying(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        if block_info[0]["chunk-location"] == (25,) and not os.path.exists(killed):
            with open(killed, "w") as file:
                file.write(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    with (
        dask.config.set(scheduler=None),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster),
    ):
        scores = from_array(y_score, 100).map_blocks(dying, dtype=y_score.dtype)
        found = ranking(from_array(y_true, 100), scores)
    assert int(Path(killed).read_text()) != os.getpid()
    assert_same_bits(found, qk.rank(y_true, y_score))


# groups of examples


@pytest.mark.parametrize("kind", ["integers", "texts", "dates"])
@pytest.mark.parametrize("ties", ["expected", "pessimistic"])
def test_groups_are_those_of_all(kind: str, ties: Any) -> None:
    """Each group lies in several partitions."""
    y_true, y_score = examples()
    ids = np.random.default_rng(2).integers(-3, 5, 600)
    if kind == "texts":
        ids = np.array([f"{x:+}" * (x % 3 + 1) for x in ids])
    ids = np.datetime64("2026-03-01") + ids if kind == "dates" else ids
    chunks = ((0, 1, 200, 0, 399),)
    given = (from_array(y_true, 70), from_array(y_score, chunks))
    found = ranking(*given, groups=from_array(ids, 90), ties=ties)
    wanted = qk.rank(y_true, y_score, groups=ids, ties=ties)
    for one, other in zip(
        (*found[:5], *found.groups[:3]), (*wanted[:5], *wanted.groups[:3]), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    for measure in (qk.roc_auc, qk.average_precision):
        np.testing.assert_array_equal(measure(found), measure(wanted))
    mean = qk.group_mean(qk.roc_auc, weights="examples")
    assert mean(found).value == mean(wanted).value


def test_groups_of_a_frame_with_weights_gains_and_a_mask() -> None:
    y_true, y_score = examples()
    rng = np.random.default_rng(3)
    content = pd.DataFrame({"y": y_true, "s": y_score, "w": rng.integers(0, 5, 600) / 4})
    content = content.assign(
        team=rng.choice(["red", "blue", "green"], 600), m=rng.random(600) < 0.8
    )
    frame = dask.dataframe.from_pandas(content, npartitions=11)
    columns = {"sample_weight": "w", "where": "m", "groups": "team", "gain": "s"}
    found = ranking("y", "s", data=frame, **columns)
    wanted = qk.rank(content.y, content.s, **{name: content[x] for name, x in columns.items()})
    assert found.groups.ids.tolist() == ["blue", "green", "red"]
    np.testing.assert_array_equal(found.counts, wanted.counts)
    np.testing.assert_allclose(qk.roc_auc(found), qk.roc_auc(wanted), rtol=1e-14)
    sums = found.columns["gain"].positive, wanted.columns["gain"].positive
    np.testing.assert_allclose(*sums, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("by_group", [False, True])
def test_columns_of_partitions(by_group: bool) -> None:
    y_true, y_score = examples()
    rng = np.random.default_rng(5)
    given = {"cost": rng.integers(0, 9, 600) / 4, "treatment": rng.integers(0, 2, 600)}
    given |= {name: rng.integers(-9, 9, 600) / 2 for name in ("gain", "gain_rejected")}
    given |= {"groups": rng.integers(0, 3, 600)} if by_group else {}
    found = ranking(
        from_array(y_true, 70),
        from_array(y_score, 90),
        **{name: from_array(x, 40) for name, x in given.items()},
    )
    wanted = qk.rank(y_true, y_score, **given)
    for name, sums in wanted.columns.items():
        np.testing.assert_array_equal(found.columns[name], sums)
    for measure in (qk.hit_rate, qk.qrecall, qk.budgets.positives_per_cost):
        np.testing.assert_array_equal(measure(found, budget=40), measure(wanted, budget=40))


def test_gains_need_no_labels() -> None:
    scores, gain = examples()[1], np.arange(600) % 7 - 3.0
    columns = from_array(scores, 90), from_array(gain, 40)
    found = ranking(None, columns[0], gain=columns[1], gain_rejected=-2)
    assert_same_bits(found, qk.rank(np.ones(600), scores, gain=gain, gain_rejected=-2))
    with pytest.raises(TypeError, match=r"partition \d: y_true must be an array; got None"):
        ranking(None, columns[0])


def test_groups_of_no_examples() -> None:
    nothing = from_array(np.zeros(0), 1)
    none = ranking(nothing, nothing, groups=from_array(np.zeros(0, dtype=np.int64), 1))
    assert qk.roc_auc(none).shape == (0,)
