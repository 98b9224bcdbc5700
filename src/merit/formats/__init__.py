"""Question-SQL pairs in other tools' files: texts to pairs, pairs to texts. Must never know a database or a model.

`table` (CSV, JSON lines), `vanna`, `wren`, `cortex` and `dbt` know one tool each; `records` reads CSV and JSON record
by record. `place` alone touches the disk: it recognises a format by its content, reads within limits, and writes a file
or a new folder whole.
"""

from merit.formats.pair import FoundPairs, Pair, SkippedPair
from merit.formats.place import FORMATS, read_pairs, write_pairs

__all__ = ["FORMATS", "FoundPairs", "Pair", "SkippedPair", "read_pairs", "write_pairs"]
