"""Qwen2.5 in plain torch: reads a prompt, and gives the next token of many answers to several prompts at a time."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch.nn import functional

GROUPS, SHORT_GROUPS, EACH = 18, 12, 8  # prompts under way, how many of them short, and draws of each
SHORT, LONGEST, ANSWER = 640, 4096, 512  # tokens
BF16 = torch.bfloat16


@dataclass(eq=False)
class Prompt:
    """A prompt, what was read of it, and its draws."""

    ids: list[int]
    read: tuple[torch.Tensor, torch.Tensor] | None = None  # keys and values
    last: torch.Tensor | None = None  # what may come first
    draws: "list[Draw]" = field(default_factory=list)
    seeds: dict[int | None, int] = field(default_factory=dict)  # which draw answers which seed
    grown: int = 0


@dataclass(eq=False)
class Draw:
    """An answer in the making."""

    prompt: Prompt
    temperature: float
    generator: torch.Generator
    done: asyncio.Future[None]
    loop: asyncio.AbstractEventLoop
    tokens: list[int] = field(default_factory=list)
    place: int = -1

    def finish(self) -> None:
        """Tell the request that waits."""
        self.loop.call_soon_threadsafe(lambda: self.done.done() or self.done.set_result(None))


class Model:
    """The network: reading a prompt, and the next token of many answers."""

    def __init__(self, folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.groups = config["num_key_value_heads"]
        self.width = config["hidden_size"] // self.heads
        self.share = self.heads // self.groups
        self.epsilon = config["rms_norm_eps"]
        theta = config.get("rope_theta") or config["rope_parameters"]["rope_theta"]
        weights: dict[str, torch.Tensor] = {}
        for file in sorted(folder.glob("*.safetensors")):
            weights.update({name: tensor.to(BF16) for name, tensor in load_file(file).items()})
        self.embedding, self.norm = weights["model.embed_tokens.weight"], weights["model.norm.weight"]
        self.head = weights.get("lm_head.weight", self.embedding)
        self.blocks = [self._block(weights, f"model.layers.{number}.") for number in range(self.layers)]
        angles = torch.outer(
            torch.arange(LONGEST + ANSWER).float(), 1 / theta ** (torch.arange(0, self.width, 2) / self.width)
        )
        self.cos, self.sin = (torch.cat([f(angles)] * 2, -1).to(BF16) for f in (torch.cos, torch.sin))
        shape = (self.layers, GROUPS * EACH, self.groups, ANSWER + 8, self.width)
        self.keys, self.values = torch.zeros(shape, dtype=BF16), torch.zeros(shape, dtype=BF16)
        shape = (self.layers, GROUPS, self.groups, LONGEST, self.width)
        self.prompt_keys, self.prompt_values = torch.zeros(shape, dtype=BF16), torch.zeros(shape, dtype=BF16)
        self.lengths = torch.ones(GROUPS, dtype=torch.long)

    @staticmethod
    def _block(weights: dict[str, torch.Tensor], at: str) -> tuple[torch.Tensor, ...]:
        return (
            weights[at + "input_layernorm.weight"],
            torch.cat([weights[f"{at}self_attn.{part}_proj.weight"] for part in "qkv"]),
            torch.cat([weights[f"{at}self_attn.{part}_proj.bias"] for part in "qkv"]),
            weights[at + "self_attn.o_proj.weight"],
            weights[at + "post_attention_layernorm.weight"],
            torch.cat([weights[at + "mlp.gate_proj.weight"], weights[at + "mlp.up_proj.weight"]]),
            weights[at + "mlp.down_proj.weight"],
        )

    def _normal(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        return weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.epsilon)).to(BF16)

    def _turned(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, -1)
        return x * self.cos[positions][:, None] + torch.cat([-second, first], -1) * self.sin[positions][:, None]

    def _projected(
        self, x: torch.Tensor, block: tuple[torch.Tensor, ...], positions: torch.Tensor
    ) -> list[torch.Tensor]:
        joint = functional.linear(self._normal(x, block[0]), block[1], block[2])
        q, k, v = joint.view(len(x), -1, self.width).split([self.heads, self.groups, self.groups], 1)
        return [self._turned(q, positions), self._turned(k, positions), v]

    def _passed_on(self, x: torch.Tensor, attended: torch.Tensor, block: tuple[torch.Tensor, ...]) -> torch.Tensor:
        x = x + functional.linear(attended, block[3])
        gate, up = functional.linear(self._normal(x, block[4]), block[5]).chunk(2, -1)
        return x + functional.linear(functional.silu(gate) * up, block[6])

    def _logits(self, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(self._normal(x, self.norm), self.head).float()

    def read(
        self, ids: list[int], before: tuple[torch.Tensor, torch.Tensor] | None
    ) -> tuple[tuple[torch.Tensor, torch.Tensor], torch.Tensor]:
        """Keys and values of a prompt that begins with what was read before, and what may follow it."""
        start = 0 if before is None else before[0].shape[2]
        x = self.embedding[torch.tensor(ids)]
        positions = torch.arange(start, start + len(ids))
        seen = torch.ones(len(ids), start + len(ids), dtype=torch.bool).tril(start)
        keys = torch.empty(self.layers, self.groups, start + len(ids), self.width, dtype=BF16)
        values = torch.empty_like(keys)
        if before is not None:
            keys[:, :, :start], values[:, :, :start] = before
        for number, block in enumerate(self.blocks):
            q, k, v = self._projected(x, block, positions)
            keys[number, :, start:], values[number, :, start:] = k.transpose(0, 1), v.transpose(0, 1)
            attended = functional.scaled_dot_product_attention(
                q.transpose(0, 1)[None], keys[number][None], values[number][None], attn_mask=seen, enable_gqa=True
            )
            x = self._passed_on(x, attended[0].transpose(0, 1).reshape(len(ids), -1), block)
        return (keys, values), self._logits(x[-1:])[0]

    def next(self, draws: Sequence[Draw]) -> torch.Tensor:
        """What may come next in each answer."""
        x = self.embedding[torch.tensor([draw.tokens[-1] for draw in draws])]
        after = torch.tensor([len(draw.tokens) - 1 for draw in draws])
        positions = after + torch.tensor([len(draw.prompt.ids) for draw in draws])
        places = torch.tensor([draw.place for draw in draws])
        longest = int(after.max()) + 1
        hidden = torch.zeros(len(draws), longest).masked_fill_(torch.arange(longest) > after[:, None], -torch.inf)
        queries = torch.zeros(GROUPS * EACH, self.groups, self.share, self.width, dtype=BF16)
        ranges, inside = self._ranges(places)
        for number, block in enumerate(self.blocks):
            q, k, v = self._projected(x, block, positions)
            self.keys[number, places, :, after], self.values[number, places, :, after] = k, v
            q = (q * self.width**-0.5).reshape(len(draws), self.groups, self.share, self.width)
            queries[places] = q
            own = _attended(q, self.keys[number, places, :, :longest], self.values[number, places, :, :longest], hidden)
            parts = [self._of_prompts(number, queries, *one) for one in ranges]
            shared = [torch.cat(part)[inside] for part in zip(*parts, strict=True)]
            x = self._passed_on(x, _joined(own, shared).reshape(len(draws), -1), block)
        return self._logits(x)

    def _ranges(self, places: torch.Tensor) -> tuple[list[tuple[int, int, int, torch.Tensor]], torch.Tensor]:
        """Short and long prompts apart, so that the short ones need not be as wide as the long ones."""
        ranges, inside, rows = [], torch.empty_like(places), 0
        for low, high in ((0, SHORT_GROUPS), (SHORT_GROUPS, GROUPS)):
            here = (places >= low * EACH) & (places < high * EACH)
            if not here.any():
                continue
            top = int(places[here].max()) // EACH + 1
            width = int(self.lengths[low:top].max())
            hidden = torch.zeros(top - low, width)
            hidden.masked_fill_(torch.arange(width) >= self.lengths[low:top, None], -torch.inf)
            ranges.append((low, top, width, hidden))
            inside[here] = places[here] - low * EACH + rows
            rows += (top - low) * EACH
        return ranges, inside

    def _of_prompts(
        self, number: int, queries: torch.Tensor, low: int, top: int, width: int, hidden: torch.Tensor
    ) -> list[torch.Tensor]:
        """What the draws of each prompt attend to in it, read once for all of them."""
        shape = (top - low, EACH, self.groups, self.share, self.width)
        together = (
            queries[low * EACH : top * EACH].view(shape).transpose(1, 2).reshape(top - low, self.groups, -1, self.width)
        )
        keys, values = self.prompt_keys[number, low:top, :, :width], self.prompt_values[number, low:top, :, :width]
        attended = _attended(together, keys, values, hidden)
        apart = (top - low, self.groups, EACH, self.share, -1)
        return [
            part.view(apart).transpose(1, 2).reshape((top - low) * EACH, self.groups, self.share, -1)
            for part in attended
        ]


def _attended(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, hidden: torch.Tensor) -> list[torch.Tensor]:
    """The highest score, the sum of the weights below it, and the weighted values: parts that can be joined."""
    scores = torch.matmul(q, k.transpose(-1, -2)).float().add_(hidden[:, None, None])
    highest = scores.amax(-1, keepdim=True)
    weights = scores.sub_(highest).exp_()
    return [highest, weights.sum(-1, keepdim=True), torch.matmul(weights.to(BF16), v).float()]


def _joined(one: list[torch.Tensor], other: list[torch.Tensor]) -> torch.Tensor:
    highest = torch.maximum(one[0], other[0])
    a, b = (one[0] - highest).exp(), (other[0] - highest).exp()
    return ((one[2] * a + other[2] * b) / (one[1] * a + other[1] * b)).to(BF16)
