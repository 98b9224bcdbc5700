"""The fixed examples of the baseline `vanilla`."""

import json
from pathlib import Path

from making.benchmark import build
from merit.data import load
from merit.oracle import fixed_demonstrations


def test_the_papers_training_records_stand_in_the_papers_order(tmp_path: Path) -> None:
    root = build(tmp_path / "data")
    train = [{"db_id": "shop", "question": f"train {i}?", "query": f"SELECT {i}"} for i in range(300)]
    (root / "train_spider.json").write_text(json.dumps(train))
    shown = fixed_demonstrations(load("spider", root), 4, None)
    assert [example.question for example in shown] == ["train 0?", "train 34?", "train 225?", "train 62?"]
