"""The page: everything about some runs in one file that needs nothing else, or served while they go on."""

from merit.report.page.live import Live, serve
from merit.report.page.write import Content, write_page

__all__ = ["Content", "Live", "serve", "write_page"]
