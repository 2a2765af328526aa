"""A metric of torchmetrics in a module of Lightning, which logs it."""

from __future__ import annotations

import logging
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from backends import missing

import quotakernels as qk

if lacking := missing("torch", "torchmetrics", "lightning"):
    pytest.skip(lacking, allow_module_level=True)

import lightning
import torch
import torchmetrics

from quotakernels.adapters.torchmetrics import RankingMetric


def test_lightning_logs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    monkeypatch.chdir(tmp_path)
    draw = torch.Generator().manual_seed(2)
    features = torch.randn(96, 2, generator=draw)
    labels = (features[:, 0] + torch.randn(96, generator=draw) > 0).long()
    users = torch.randint(0, 5, (96,), generator=draw)
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(features, labels, users), batch_size=20
    )

    class Classifier(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 1)
            self.hits = RankingMetric(partial(qk.hit_rate, quota=30))
            self.auc = RankingMetric(qk.roc_auc)
            self.gauc = RankingMetric(qk.roc_auc, groups="mean")
            coarse = RankingMetric(qk.roc_auc, state="histogram")
            self.several = torchmetrics.MetricCollection(
                {"midpoint": coarse, "sum": torchmetrics.SumMetric()}
            )
            self.entries = RankingMetric({"gini": qk.gini, "eer": qk.points.equal_error_rate})
            self.seen: list[Any] = []

        def training_step(self, batch: Any, index: int) -> Any:
            return torch.nn.functional.soft_margin_loss(
                self.linear(batch[0])[:, 0], 2 * batch[1] - 1
            )

        def validation_step(self, batch: Any, index: int) -> None:
            scores = self.linear(batch[0])[:, 0]
            self.hits.update(scores, batch[1])
            self.auc.update(scores, batch[1])
            self.gauc.update(scores, batch[1], indexes=batch[2])
            self.several["midpoint"].update(scores, batch[1])
            self.seen.append((scores, batch[1]))
            self.entries.update(scores, batch[1])
            self.log("hit_rate", self.hits)
            self.log("auc", self.auc)
            self.log("gauc", self.gauc)
            self.log("midpoint", self.several["midpoint"], on_step=False, on_epoch=True)

        def on_validation_epoch_end(self) -> None:
            self.log_dict(self.entries.compute())
            self.entries.reset()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    model = Classifier()
    trainer = lightning.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer.fit(model, loader, loader)
    logged = trainer.logged_metrics
    scores, seen = (torch.cat(x) for x in zip(*model.seen, strict=True))
    ranking = qk.rank(seen, scores)
    assert logged["hit_rate"] == qk.hit_rate(ranking, quota=30)
    assert logged["auc"] == qk.roc_auc(ranking)
    assert logged["gauc"] == qk.group_mean(qk.roc_auc, seen, scores, groups=users).value
    assert logged["gini"] == qk.gini(ranking)
    assert logged["eer_value"] == qk.points.equal_error_rate(ranking).value
    assert abs(logged["midpoint"] - qk.roc_auc(ranking)) < 0.01
    assert model.state_dict().keys() == {"linear.weight", "linear.bias"}
    assert list(tmp_path.iterdir()) == []
