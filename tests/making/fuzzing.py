"""How many random inputs a test tries: few each time, since others follow the next time, or as many as MERIT_FUZZ says."""

import os

_FUZZ = int(os.environ.get("MERIT_FUZZ", "500"))


def tries(slower: int = 1) -> int:
    """As many as MERIT_FUZZ says, divided by how many times slower one is than a judgement."""
    return max(1, _FUZZ // slower)
