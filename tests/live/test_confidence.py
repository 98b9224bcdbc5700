"""A confidence names what it was calibrated on; without a calibration there is none."""

import json
from pathlib import Path

import pytest

from making.live import COUNT, PAID, ShopOpener, ToldModel
from merit.agent.confidence import Calibration, Knot
from merit.errors import InputError
from merit.prompts import LIVE_VERSION
from merit.settings import ModelSettings
from merit.types import ModelIdentity


def written(folder: Path, model: str = "told", prompts: str = LIVE_VERSION) -> ModelSettings:
    knots = (Knot(0.2, 0.1), Knot(1.0, 0.9))
    calibration = Calibration(
        ModelIdentity(model), prompts, "precedent", "972 questions of spider", ("00",), 972, 972, knots
    )
    path = folder / "calibration.json"
    path.write_text(json.dumps(calibration.record()))
    return ModelSettings(calibration=path)


def test_the_share_of_votes_becomes_a_confidence(ask_shop: ShopOpener, tmp_path: Path) -> None:
    answer = ask_shop(ToldModel(COUNT), model=written(tmp_path)).ask("How many?")
    assert (answer.agreement, answer.confidence) == (1.0, 0.9)
    assert answer.calibrated_on == (f"972 questions of spider, model told, prompts {LIVE_VERSION}, method precedent")
    unsure = ask_shop(ToldModel(PAID, COUNT, "SELECT 7", "SELECT 8"), model=written(tmp_path)).ask("How many, now?")
    assert unsure.confidence is not None
    assert unsure.confidence < 0.9


def test_without_a_calibration_there_is_none(ask_shop: ShopOpener) -> None:
    answer = ask_shop(ToldModel(COUNT)).ask("How many?")
    assert (answer.confidence, answer.calibrated_on) == (None, "")


@pytest.mark.parametrize("other", [("another", LIVE_VERSION), ("told", "merit-prompts-v3")])
def test_a_calibration_of_another_model_or_of_other_prompts_is_refused(
    ask_shop: ShopOpener, tmp_path: Path, other: tuple[str, str]
) -> None:
    with pytest.raises(
        InputError, match=r"calibration.json: was fitted on 972 questions of spider, model .*'calibration'"
    ):
        ask_shop(ToldModel(COUNT), model=written(tmp_path, *other))


def test_what_failed_has_no_confidence(ask_shop: ShopOpener, tmp_path: Path) -> None:
    answer = ask_shop(ToldModel("SELECT nowhere"), model=written(tmp_path)).ask("What?")
    assert answer.confidence is None
