"""What a run is on disk, as typed values: manifest, stream, turns, retrievals, metrics. Needs no model or database."""

from merit.runs.accounting import account
from merit.runs.folder import RunFolder, RunView, read_run
from merit.runs.order import beginnings, stream_order
from merit.runs.turn import Phase, Turn

__all__ = ["Phase", "RunFolder", "RunView", "Turn", "account", "beginnings", "read_run", "stream_order"]
