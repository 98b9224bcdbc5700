"""Language models and encoders: what answers and what embeds. Must never know a reference."""

from merit.models.answers import AnswerStore, answer_key
from merit.models.asked_once import AskedOnce, Share
from merit.models.cached import CachedEncoder
from merit.models.completer import Completer, Completion
from merit.models.completers import open_completer
from merit.models.encoder import Encoder, unit_vectors
from merit.models.encoders import open_encoder
from merit.models.spending import Allowance, Prices, Sent
from merit.types import EncoderIdentity, ModelIdentity, Sampling

__all__ = [
    "Allowance",
    "AnswerStore",
    "AskedOnce",
    "CachedEncoder",
    "Completer",
    "Completion",
    "Encoder",
    "EncoderIdentity",
    "ModelIdentity",
    "Prices",
    "Sampling",
    "Sent",
    "Share",
    "answer_key",
    "open_completer",
    "open_encoder",
    "unit_vectors",
]
