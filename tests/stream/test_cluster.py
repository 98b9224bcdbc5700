"""The same grid on a Ray cluster of two workers."""

import logging
import os
import sys
from pathlib import Path

import pytest
import ray

from making.benchmark import build, write_initial
from making.endpoint import ChatServer, status
from making.grids import answering, run_grid, write_grid
from making.runs import files_of
from merit.errors import ModelFailed
from merit.models import Allowance
from merit.stream import read_grid, run_grid_on_ray


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_cluster_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path / "data")
    write_initial(tmp_path / "initial.jsonl")
    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        local = run_grid(write_grid(tmp_path, out="local"))
        assert local.exit_code == 0, local.output
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}},
        )
        try:
            clustered = write_grid(tmp_path, out="clustered")
            result = run_grid(clustered, "--engine", "ray", "--cache", str(tmp_path / "cache-ray"))
            assert result.exit_code == 0, result.output
            assert files_of(tmp_path / "clustered") == files_of(tmp_path / "local")
            server.behaviour = status(401)
            with pytest.raises(ModelFailed, match=r"spider-dev/\w+/seed0: .*answered 401"):
                run_grid_on_ray(
                    read_grid(write_grid(tmp_path, out="dead")), tmp_path / "cache-dead", 4, None, Allowance()
                )
        finally:
            ray.shutdown()
