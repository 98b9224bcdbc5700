"""What the server does by itself: it erases answers that are older than `keep_days`."""

import asyncio
from contextlib import suppress

from merit.errors import MeritError
from merit.live.record.retention import purge_old
from merit.web.logs import log
from merit.web.site import Site

_EVERY_S = 3600.0


class Upkeep:
    """A task beside the requests."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, where there is something to do."""
        if self._site.settings.keep_days is not None and self._site.agent is not None:
            self._task = asyncio.create_task(self._run(self._site.settings.keep_days))

    async def stop(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self, keep_days: int) -> None:
        while True:
            try:
                purged = await asyncio.to_thread(purge_old, self._site.folder, keep_days)
                if purged.events:
                    log("purged", events=purged.events, replies=purged.replies)
            except MeritError as error:
                log("purge failed", level=30, exception=type(error).__name__)
            await asyncio.sleep(_EVERY_S)
