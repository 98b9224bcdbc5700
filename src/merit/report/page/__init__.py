"""The page: everything about some runs in one file that needs nothing else, or followed while they go on."""

from merit.report.page.live import LiveRuns
from merit.report.page.write import write_page

__all__ = ["LiveRuns", "write_page"]
