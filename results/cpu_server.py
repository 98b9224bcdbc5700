"""A model of the family Qwen2.5 on a CPU, as an OpenAI-compatible endpoint: for runs that draw, without a GPU.

    python results/cpu_server.py MODEL_FOLDER [--port 8123] [--threads 2]

A method that draws asks one prompt up to 21 times, and prompts about one database begin alike. So beginnings are read
once, the draws of a prompt share what was read, several are made at the first request for one, and all that are under
way take their next token together. The folder holds config.json, *.safetensors and a tokenizer. Needs torch,
transformers, safetensors and aiohttp; what it was tried with is in README.md.
"""

import argparse
import asyncio
import hashlib
import os
import queue
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import torch
from aiohttp import web
from cpu_model import ANSWER, EACH, GROUPS, LONGEST, SHORT, SHORT_GROUPS, Draw, Model, Prompt
from transformers import AutoTokenizer

DRAWS = (3, 4, 6, 8)  # made at a prompt's first, second ... request that finds none left
KEPT = 150  # prompts whose keys and values are kept for others that begin alike


class Answering(threading.Thread):
    """Gives free places to draws that wait, and all that have one their next token, over and over."""

    def __init__(self, model: Model, ends: set[int]) -> None:
        super().__init__(daemon=True)
        self.model, self.ends = model, ends
        self.new: queue.Queue[Draw] = queue.Queue()
        self.active: list[Draw] = []
        self.waiting: list[Draw] = []
        self.places: dict[int, tuple[Prompt, set[int]]] = {}
        self.recent: list[Prompt] = []
        self.counted = {"prompt_tokens_read": 0, "prompt_tokens_shared": 0, "tokens_drawn": 0, "steps": 0}

    def run(self) -> None:
        """Until the process ends; a fault ends it."""
        try:
            while True:
                self._take_new()
                self._place_waiting()
                if self.active:
                    self._step()
        except BaseException:  # requests would wait for ever
            traceback.print_exc()
            os._exit(1)

    def _take_new(self) -> None:
        idle = not self.active and not self.waiting
        try:
            while True:
                self.waiting.append(self.new.get(block=idle))
                idle = False
        except queue.Empty:
            pass

    def _place_waiting(self) -> None:
        began, later = time.monotonic(), []
        for draw in self.waiting:
            busy = self.active and draw.prompt.read is None and time.monotonic() - began > 4
            place = None if busy else self._place(draw)
            if place is None:
                later.append(draw)
                continue
            draw.place = place
            assert draw.prompt.last is not None
            self._give([draw], draw.prompt.last[None])
        self.waiting = later

    def _place(self, draw: Draw) -> int | None:
        for group, (prompt, rows) in self.places.items():
            if prompt is draw.prompt and len(rows) < EACH:
                row = min(set(range(EACH)) - rows)
                rows.add(row)
                return group * EACH + row
        groups = range(SHORT_GROUPS, GROUPS) if len(draw.prompt.ids) > SHORT else range(SHORT_GROUPS)
        free = next((group for group in groups if group not in self.places), None)
        if free is None:
            return None
        self._read(draw.prompt)
        assert draw.prompt.read is not None
        size = len(draw.prompt.ids)
        self.model.prompt_keys[:, free, :, :size], self.model.prompt_values[:, free, :, :size] = draw.prompt.read
        self.model.lengths[free] = size
        self.places[free] = (draw.prompt, {0})
        return free * EACH

    def _read(self, prompt: Prompt) -> None:
        if prompt.read is not None:
            return
        known, shared = None, 16  # fewer tokens are not worth copying
        for other in self.recent:
            same = next((i for i, (a, b) in enumerate(zip(other.ids, prompt.ids[:-1], strict=False)) if a != b), None)
            size = min(len(other.ids), len(prompt.ids) - 1) if same is None else same
            if size > shared and other.read is not None:
                known, shared = other.read, size
        before = None if known is None else (known[0][:, :, :shared], known[1][:, :, :shared])
        start = 0 if before is None else shared
        prompt.read, prompt.last = self.model.read(prompt.ids[start:], before)
        self.counted["prompt_tokens_read"] += len(prompt.ids) - start
        self.counted["prompt_tokens_shared"] += start
        self.recent.append(prompt)
        if len(self.recent) > KEPT:
            self.recent.pop(0).read = None

    def _step(self) -> None:
        drawn, self.active = self.active, []
        self.counted["steps"] += 1
        self._give(drawn, self.model.next(drawn))

    def _give(self, draws: list[Draw], logits: torch.Tensor) -> None:
        """One token for each; what is not at its end goes on."""
        temperatures = torch.tensor([draw.temperature or 1.0 for draw in draws])[:, None]
        sums = (logits / temperatures).softmax(-1).cumsum(-1)
        lots = torch.stack([torch.rand(1, generator=draw.generator) for draw in draws]) * sums[:, -1:]
        chosen = torch.searchsorted(sums, lots).clamp_(max=sums.shape[1] - 1)[:, 0].tolist()
        greedy = logits.argmax(-1).tolist()
        self.counted["tokens_drawn"] += len(draws)
        for draw, lot, best in zip(draws, chosen, greedy, strict=True):
            token = lot if draw.temperature else best
            if token not in self.ends:
                draw.tokens.append(token)
            if token in self.ends or len(draw.tokens) >= ANSWER:
                self._leave(draw)
                draw.finish()
            else:
                self.active.append(draw)

    def _leave(self, draw: Draw) -> None:
        group, row = divmod(draw.place, EACH)
        rows = self.places[group][1]
        rows.discard(row)
        if not rows:
            del self.places[group]
            self.model.lengths[group] = 1


class Endpoint:
    """POST /v1/chat/completions, GET /v1/models, GET /stats."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)  # type: ignore[no-untyped-call]
        ends = {self.tokenizer.convert_tokens_to_ids(name) for name in ("<|im_end|>", "<|endoftext|>")}
        self.answering = Answering(Model(folder), ends)
        self.answering.start()
        self.prompts: dict[tuple[str, float], Prompt] = {}

    async def complete(self, request: web.Request) -> web.Response:
        """The answer to one message; the same seed has the same answer."""
        body = await request.json()
        text, temperature, seed = body["messages"][0]["content"], body["temperature"], body.get("seed")
        prompt = self.prompts.get((text, temperature))
        if prompt is None:
            ids = self.tokenizer.apply_chat_template(body["messages"], add_generation_prompt=True, return_dict=False)
            if len(ids) > LONGEST:
                return web.json_response({"error": {"message": f"{len(ids)} tokens, at most {LONGEST}"}}, status=400)
            prompt = self.prompts[text, temperature] = Prompt(ids)
        number = prompt.seeds.setdefault(seed, len(prompt.seeds))
        while number >= len(prompt.draws):
            for _ in range(DRAWS[min(prompt.grown, len(DRAWS) - 1)] if temperature else 1):
                self._draw(prompt, text, temperature)
            prompt.grown += 1
        draw = prompt.draws[number]
        await asyncio.shield(draw.done)
        answer = self.tokenizer.decode(draw.tokens, skip_special_tokens=True)
        usage = {"prompt_tokens": len(prompt.ids), "completion_tokens": len(draw.tokens) + 1}
        return web.json_response({"choices": [{"message": {"content": answer}}], "usage": usage})

    def _draw(self, prompt: Prompt, text: str, temperature: float) -> None:
        loop = asyncio.get_running_loop()
        lot = hashlib.sha256(f"{text}|{len(prompt.draws)}".encode()).digest()[:7]
        generator = torch.Generator().manual_seed(int.from_bytes(lot, "big"))
        prompt.draws.append(Draw(prompt, temperature, generator, loop.create_future(), loop))
        self.answering.new.put(prompt.draws[-1])

    async def models(self, _: web.Request) -> web.Response:
        """Its one model."""
        return web.json_response({"data": [{"id": self.name}]})

    async def stats(self, _: web.Request) -> web.Response:
        """What was read and drawn so far."""
        return web.json_response({**self.answering.counted, "under_way": len(self.answering.active)})


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    if not (given.folder / "config.json").is_file():
        sys.exit(f"{given.folder}: there is no config.json; give a model's folder")
    torch.set_grad_enabled(False)
    torch.set_num_threads(given.threads)
    endpoint = Endpoint(given.folder)
    application = web.Application(client_max_size=1 << 24)
    application.add_routes(
        [
            web.post("/v1/chat/completions", endpoint.complete),
            web.get("/v1/models", endpoint.models),
            web.get("/stats", endpoint.stats),
        ]
    )
    web.run_app(application, host="127.0.0.1", port=given.port)


if __name__ == "__main__":
    main()
