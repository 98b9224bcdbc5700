"""Language models and encoders: what answers and what embeds. Must never know a reference.

- `completers` opens a model by its URI: `endpoint`, `llamacpp`, `vllm`, `transformers`, `replay`, `scripted`;
  `encoders` does the same for encoders.
- `caching_completer` never asks for one answer twice, not even at the same time, and returns an answer once it is
  stored, so that a kill loses only calls under way. `answers` is the file of answers, `exported` the same as JSON
  lines. `caching_encoder` keeps vectors.
- `retrying_client` repeats calls that failed for reasons that may pass; `connection` carries them: it follows no
  redirect and notices silence. `body` caps what is read and unpacked. `address` holds what opens an endpoint,
  `redaction` takes secrets and control characters out of messages, `wait_notice` says on stderr that an endpoint is
  waited for.
- `priority`: calls that a run waits for go before prefetched ones. `spending`: what was sent, its price, the allowance.
- `greedy`: the neutral values that greedy requests state; they are part of no key and no identity.
"""

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
