"""The page: everything about some runs in one file that needs nothing else, or followed while they go on.

`pack` keeps every text of a run once, `write` puts it into one file as compressed chunks that the browser unpacks on
demand. `follow` reads live runs up to their last whole line, `progress` tells runs that go on (by their lock) from
those that stopped, `live` answers what the page asks. In `parts/`, text only ever becomes text nodes; the policy allows
only our own script and style, by hash; `prompt.js` renders prompts again and compares their hash.
"""

from merit.report.page.live import LiveRuns
from merit.report.page.write import write_page

__all__ = ["LiveRuns", "write_page"]
