"""Structured logs: one JSON object a line, about requests and the server, without questions, SQL, rows or tokens."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

LOG = logging.getLogger("merit.web")
_LOGGERS = {"merit": logging.INFO, "uvicorn.error": logging.ERROR}


class JsonLines(logging.Formatter):
    """A record as one line. Of an exception it says the kind and the places, but not the message: data may be in it."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            frames = traceback.extract_tb(record.exc_info[2])
            fields["exception"] = record.exc_info[0].__name__
            fields["at"] = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
        return json.dumps(fields)  # ASCII alone: no control character can forge a line


def start_logging(stream: TextIO | None = None) -> None:
    """Write logs of merit and of its server as JSON lines, to the standard error unless said otherwise."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in _LOGGERS.items():
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False


def quiet_server() -> None:
    """Let the server underneath say nothing, where its logs are not asked for: a terminal shows what commands say."""
    logger = logging.getLogger("uvicorn.error")
    if not logger.handlers:
        logger.handlers, logger.propagate = [logging.NullHandler()], False


def log(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Write one line; nothing where `start_logging` was not called."""
    LOG.log(level, event, extra={"fields": fields})
