"""The page: everything about some runs in one file that needs nothing else, or followed while they go on.

`pack` keeps every text of a run once, `write` puts it into one file as compressed chunks that the browser unpacks on
demand. `follow` reads a run that goes on, up to its last whole line, `progress` tells such runs (by their lock) from
those that stopped, and `followed_runs` answers what the page asks. In `parts/`, text only ever becomes text nodes; the
policy allows only our own script and style, by hash; `prompt.js` renders prompts again and compares their hash.
"""

from merit.report.page.followed_runs import FollowedRuns
from merit.report.page.write import write_page

__all__ = ["FollowedRuns", "write_page"]
