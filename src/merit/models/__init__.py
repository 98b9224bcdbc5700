"""Language models and encoders: what answers and what embeds. Must never know a reference."""

from merit.models.answers import AnswerStore, answer_key
from merit.models.caching_completer import CachingCompleter, RunCompleter
from merit.models.caching_encoder import CachingEncoder
from merit.models.completers import open_completer
from merit.models.encoders import check_encoder, open_encoder
from merit.models.spending import Allowance, Prices, Usage

__all__ = [
    "Allowance",
    "AnswerStore",
    "CachingCompleter",
    "CachingEncoder",
    "Prices",
    "RunCompleter",
    "Usage",
    "answer_key",
    "check_encoder",
    "open_completer",
    "open_encoder",
]
