"""The page of `merit serve`: one document, its libraries, and the policy that nothing else may run in it.

`shell` puts `parts/` together, and takes elements, differences, tables, pointing and theme from `report.page`, so that
they have one home. `libraries` finds Ace and D3 in the packages that carry them, by path and hash and without importing
them. In `parts/`, one file a duty: each view has a file of its name, `main` turns addresses into views, and `api`,
`connection` and `stream` talk to the server. Text only ever becomes text nodes.
"""

from merit.web.page.libraries import check_libraries, library
from merit.web.page.shell import policy, shell

__all__ = ["check_libraries", "library", "policy", "shell"]
