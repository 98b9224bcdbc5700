"""The values that a database stores: which a question mentions, which a literal means, a few of each column.

`build` reads a database through its `Engine`, column by column, within `ValueCaps`. Where there are more texts than the
caps take, a column is not `complete`: the index then never says that a text is not stored. `index.ValueIndex` answers
`mentioned(question)`, `nearest(table, column, literal)` and `examples(table, column)`; texts are compared without case,
accents, plural and spacing (`words`), then word by word (`close`, found by groups of three letters, `grams`).
`index_files` keeps an index in the cache folder under the database's content, its tables and the caps. One that a time
limit cut short depends on how busy the machine was, so that it is used and not kept.
"""

from merit.values.build import BuiltValues, ValueCaps, build_values
from merit.values.index import ColumnValues, Mention, ValueIndex
from merit.values.index_files import open_values

__all__ = ["BuiltValues", "ColumnValues", "Mention", "ValueCaps", "ValueIndex", "build_values", "open_values"]
