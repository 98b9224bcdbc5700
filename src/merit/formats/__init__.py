"""Question-SQL pairs in other tools' files: texts to pairs, pairs to texts. Must never know a database or a model."""

from merit.formats.pair import FoundPairs, Pair, SkippedPair
from merit.formats.place import FORMATS, read_pairs, write_pairs

__all__ = ["FORMATS", "FoundPairs", "Pair", "SkippedPair", "read_pairs", "write_pairs"]
