"""Whether the server lives and is ready, and its metrics."""

import threading
import time

from fastapi.responses import Response

from merit.errors import MeritError
from merit.types import Limits, Timeout
from merit.web.authentication import Reader, Served
from merit.web.metrics import CONTENT_TYPE
from merit.web.replies import JsonRouter, RefusedRequest
from merit.web.site import Site

router = JsonRouter(tags=["operation"])
_LOOK_AGAIN_S = 5.0  # so that frequent requests do not keep the database busy
_lock = threading.Lock()
_looked: dict[int, tuple[float, bool]] = {}  # by site


@router.get("/health/live")
async def live() -> dict[str, bool]:
    """The process answers."""
    return {"live": True}


@router.get("/health/ready")
def ready(site: Served) -> dict[str, bool]:
    """The database can be read, and new questions are taken."""
    if site.asks.closed:
        raise RefusedRequest(503, "the server is stopping")
    if not _database_answers(site):
        raise RefusedRequest(503, "the database or the memory is out of reach")
    return {"ready": True}


@router.get("/metrics", response_class=Response)
def metrics(site: Served, _: Reader) -> Response:
    """Counters and times in Prometheus' text format; a token is needed where one is needed for all else."""
    gauges = {"merit_asks_running": float(len(site.asks))}
    if site.agent is not None:
        gauges["merit_memory_sequence"] = float(site.agent.parts.memory.sequence)
    return Response(site.metrics.text(gauges), media_type=CONTENT_TYPE)


def _database_answers(site: Site) -> bool:
    """Whether the database answered lately; while one request asks it, others get the last result."""
    at, good = _looked.get(id(site), (0.0, False))
    if at and time.monotonic() - at < _LOOK_AGAIN_S:
        return good
    if not _lock.acquire(blocking=False):
        return good
    try:
        good = _looks_good(site)
        _looked[id(site)] = (time.monotonic(), good)
    finally:
        _lock.release()
    return good


def _looks_good(site: Site) -> bool:
    if site.agent is None:
        return True
    try:
        site.agent.parts.memory.refresh()
        result = site.agent.parts.engine.execute("SELECT 1", Limits(timeout_s=2.0))
    except MeritError:
        return False
    return not isinstance(result, Timeout)
