"""The same grid on a Ray cluster of two workers."""

import logging
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import ray

from making.benchmark import build, write_initial
from making.endpoint import ChatServer, status
from making.grids import answering, run_grid, write_grid
from making.runs import files_of
from merit.errors import InputError, ModelFailed
from merit.models import Allowance
from merit.stream import read_grid, run_grid_on_ray
from merit.stream.cluster import _results

OWN_KEY, LATER_KEY = "hunter-secret-of-mine", "hunter-secret-set-later"


def die() -> None:
    os._exit(1)


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_cluster_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path / "data")
    write_initial(tmp_path / "initial.jsonl")
    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        local = run_grid(write_grid(tmp_path, out="local"))
        assert local.exit_code == 0, local.output
        monkeypatch.setenv("OPENAI_API_KEY", OWN_KEY)
        cluster: Any = ray.init(
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}},
        )
        monkeypatch.setenv("OPENAI_API_KEY", LATER_KEY)  # no worker can have inherited it
        before = server.requests
        try:
            clustered = write_grid(tmp_path, out="clustered")
            result = run_grid(clustered, "--engine", "ray", "--cache", str(tmp_path / "cache-ray"))
            assert result.exit_code == 0, result.output
            assert files_of(tmp_path / "clustered") == files_of(tmp_path / "local")
            assert {asked.authorization for asked in server.asked[before:]} == {f"Bearer {LATER_KEY}"}
            server.behaviour = status(401)
            with pytest.raises(ModelFailed, match=r"spider-dev/\w+/seed0: .*answered 401"):
                run_grid_on_ray(
                    read_grid(write_grid(tmp_path, out="dead")), tmp_path / "cache-dead", 4, None, Allowance()
                )
            gone = ray.remote(die).options(max_retries=0).remote()
            with pytest.raises(ModelFailed, match="spider/seed0: its Ray worker failed"):
                _results(ray, {gone: "spider/seed0"})
        finally:
            ray.shutdown()
    assert files_with("hunter-secret", Path(cluster.address_info["session_dir"])) == []


def files_with(secret: str, folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".log" for path in files)  # it is the folder that Ray writes its logs to
    return [path for path in files if secret.encode() in path.read_bytes()]


def test_an_address_that_is_none_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path / "data")
    write_initial(tmp_path / "initial.jsonl")
    monkeypatch.setenv("RAY_ADDRESS", "garbage::x")
    result = run_grid(write_grid(tmp_path), "--engine", "ray", "--cache", str(tmp_path / "cache"))
    assert isinstance(result.exception, InputError), result.output
    assert str(result.exception).startswith("Ray cannot be started or reached (Invalid address format: garbage::x); ")
