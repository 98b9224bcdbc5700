"""The values that a database stores: which a question mentions, which a literal means, a few of each column."""

from merit.values.build import BuiltValues, ValueCaps, build_values
from merit.values.index import ColumnValues, Mention, ValueIndex
from merit.values.index_files import open_values

__all__ = ["BuiltValues", "ColumnValues", "Mention", "ValueCaps", "ValueIndex", "build_values", "open_values"]
