"""Records the answers of a model for the live part of `merit demo`: python -m making.record_live MODEL.

Run it with PYTHONPATH=tests where prompts have changed; it writes src/merit/bundled/live.jsonl. Answers that the cache
folder has are not asked for again.
"""

import sys
import tempfile
from pathlib import Path

from merit.bundled.recording import LIVE
from merit.bundled.source import HERE
from merit.cache import cache_folder
from merit.cli.demo_live import opened, play
from merit.models import Usage, answer_key
from merit.models.exported import Answer, write_exported
from merit.types import Completion, Sampling


def main(model: str) -> None:
    """Play the live part, and write down every answer that it used."""
    used: dict[bytes, Answer] = {}
    with tempfile.TemporaryDirectory() as folder, opened(model, "wordllama", Path(folder), cache_folder()) as agent:
        completer = agent._parts.completer
        answer = completer.answer

        async def noted(prompt: str, sampling: Sampling, sent: Usage, **more: bool) -> Completion:
            reply = await answer(prompt, sampling, sent, **more)
            key = answer_key(completer.identity, prompt, sampling)
            used[key] = (key, completer.identity, reply)
            print(f"{len(used)}: {reply.prompt_tokens} tokens in, {reply.output_tokens} out", flush=True)
            return reply

        completer.answer = noted  # type: ignore[method-assign]
        played = play(agent)
    for given in (played.first, played.second, played.later, played.without.without):
        print(given.question, given.status, given.sql, given.rows and given.rows.rows)
    count = write_exported(HERE / LIVE, used.values())
    print(f"{count} answers in {HERE / LIVE}")


if __name__ == "__main__":
    main(*sys.argv[1:])
