"""Indexes that are kept in the process under their schema's fingerprint."""

from collections import OrderedDict
from threading import Lock

from merit.selection.index import SchemaIndex, fingerprint
from merit.selection.token_estimate import CountTokens, estimated_tokens
from merit.types import Encoder, Schema

_MOST = 8  # schemas; an index of 463 tables takes some 10 MB
_indexes: OrderedDict[tuple[str, CountTokens], SchemaIndex] = OrderedDict()
_lock = Lock()


def open_index(
    schema: Schema,
    tokens: CountTokens = estimated_tokens,
    dialect: str = "sqlite",
    encoder: Encoder | None = None,
) -> SchemaIndex:
    """The index of a schema: the one that was made before, or a new one where anything in the schema changed.

    It is not kept on disk: making one for 463 tables takes a third of a second, and reading it would take as long.
    """
    named = (fingerprint(schema, dialect, encoder), tokens)
    with _lock:
        if named in _indexes:
            _indexes.move_to_end(named)
            return _indexes[named]
    index = SchemaIndex(schema, tokens, dialect, encoder)
    with _lock:
        _indexes[named] = index
        while len(_indexes) > _MOST:
            _indexes.popitem(last=False)
    return index
