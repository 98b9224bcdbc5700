"""schemathesis over the API: all of its checks, on what the API's description allows and on what it does not.

MERIT_FUZZ makes it try more: 500 examples for each operation take about half an hour (`MERIT_FUZZ=50000`).
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from making.serving import ServeShop
from merit.settings import ServeSettings
from merit.web.access_tokens import Right

CONFIG = Path(__file__).with_name("schemathesis.toml")
EXAMPLES = max(2, int(os.environ.get("MERIT_FUZZ", "500")) // 100)


def test_the_api_does_what_its_description_says(
    serve_shop: ServeShop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("merit.web.site.FAILURES_PER_MINUTE", 10**9)  # it tries many wrong tokens
    server = serve_shop(settings=ServeSettings(requests_per_minute=10_000_000, asks_each=60))
    token = server.site.tokens.add("ann", list(Right))
    done = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(CONFIG)),
            *("run", f"{server.address}openapi.json", "--header", f"Authorization: Bearer {token}"),
            *("--checks", "all", "--max-examples", str(EXAMPLES), "--suppress-health-check", "all"),
            *("--request-timeout", "30", "--generation-deterministic", "--no-color"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    (tmp_path / "schemathesis.txt").write_text(done.stdout)
    failures = done.stdout.partition("= FAILURES =")[2]
    assert done.returncode == 0, failures[:4000] or done.stdout[-4000:]
