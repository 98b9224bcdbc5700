"""Language models by URI.

`openai:MODEL`             any OpenAI-compatible endpoint (OPENAI_BASE_URL, OPENAI_API_KEY; MERIT_PATIENCE_S if slow)
`llamacpp:FILE.gguf`       llama.cpp in this process (extra `[llamacpp]`); `?context=TOKENS` sets its context
`transformers:NAME`        a hub name or a model folder, in this process (extra `[transformers]`); `?context=` as above
`vllm:NAME`                the same by vLLM, many prompts at a time (extra `[vllm]`)
`scripted:FILE`            answers from a script, for tests and examples
`replay:FILE`              answers from a recording only, a file of answers or an export of one; `#MODEL` where it has
                           several
"""

from difflib import get_close_matches
from pathlib import Path

from merit.errors import InputError
from merit.models.exported import open_recording
from merit.models.llamacpp import CONTEXT_TOKENS, LlamaCppCompleter
from merit.models.replay import ReplayCompleter
from merit.models.scripted import read_script
from merit.models.transformers import TransformersCompleter
from merit.models.vllm import VllmCompleter
from merit.types import Completer

_KINDS = ("openai", "llamacpp", "transformers", "vllm", "scripted", "replay")
KNOWN = "openai:MODEL, llamacpp:FILE.gguf, transformers:NAME, vllm:NAME, scripted:FILE or replay:FILE"


def open_completer(uri: str, *, concurrency: int = 32) -> Completer:
    """The language model that a URI names."""
    check_uri(uri)
    kind, _, name = uri.partition(":")
    if kind == "openai":
        from merit.models.endpoint import EndpointCompleter  # only here: its HTTP client takes 0.1 s to import

        return EndpointCompleter(name, concurrency=concurrency)
    if kind == "llamacpp":
        path, _, options = name.partition("?")
        return LlamaCppCompleter(Path(path), context_tokens=_context(options, uri) or CONTEXT_TOKENS)
    if kind in ("transformers", "vllm"):
        path, _, options = name.partition("?")
        context = _context(options, uri)
        if kind == "vllm":
            return VllmCompleter(path, context_tokens=context, concurrency=concurrency)
        return TransformersCompleter(path, context_tokens=context)
    if kind == "scripted":
        return read_script(Path(name))
    path, _, model = name.partition("#")
    return ReplayCompleter(open_recording(Path(path)), model)


def check_uri(uri: str) -> None:
    """Refuse what names no model, before anything is opened."""
    kind, _, name = uri.partition(":")
    if kind in _KINDS and name and (kind not in ("transformers", "vllm") or name.partition("?")[0]):
        return
    if kind in _KINDS:
        form = next(form for form in KNOWN.replace(" or ", ", ").split(", ") if form.startswith(f"{kind}:"))
        raise InputError(f"{uri}: no model is named; write {form}")
    near = get_close_matches(kind.lower(), _KINDS, 1) if name else []
    raise InputError(f"{uri}: unknown model; {f'did you mean {near[0]}:{name}?' if near else f'use {KNOWN}'}")


def _context(options: str, uri: str) -> int | None:
    if not options:
        return None
    name, _, value = options.partition("=")
    if name != "context" or not value.isdecimal() or int(value) < 512:
        raise InputError(f"{uri}: the only option is ?context=TOKENS, with at least 512 tokens")
    return int(value)
