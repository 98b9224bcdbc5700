"""Language models and encoders: what answers and what embeds. Must never know a reference."""

from merit.models.cached import CachedEncoder
from merit.models.encoder import Encoder, EncoderIdentity, unit_vectors
from merit.models.encoders import open_encoder

__all__ = ["CachedEncoder", "Encoder", "EncoderIdentity", "open_encoder", "unit_vectors"]
