"""Language models and encoders: what answers and what embeds. Must never know a reference."""

from merit.models.answers import AnswerStore, answer_key
from merit.models.cached import CachedEncoder
from merit.models.caching import CachingCompleter, RunCompleter
from merit.models.completers import open_completer
from merit.models.encoders import open_encoder
from merit.models.spending import Allowance, Prices, Sent
from merit.models.unit_vectors import unit_vectors

__all__ = [
    "Allowance",
    "AnswerStore",
    "CachedEncoder",
    "CachingCompleter",
    "Prices",
    "RunCompleter",
    "Sent",
    "answer_key",
    "open_completer",
    "open_encoder",
    "unit_vectors",
]
