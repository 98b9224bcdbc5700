"""merit's repair as a solver for evaluations with Inspect, in the extra `inspect`.

Must never know a reference: it sees the question, the database and what the model wrote, and no target.
"""

import asyncio
import atexit
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from merit.errors import InputError
from merit.live import LiveAgent, connect
from merit.prompts import parse_sql
from merit.settings import AskingSettings
from merit.types import Completion, ModelIdentity, Sampling

QUESTION, DATABASE = "question", "database"  # of a sample's metadata


class InspectModel:
    """Inspect's model as merit asks one: what it takes is in Inspect's log, and its limits hold."""

    recorded = False

    def __init__(self, model: Model) -> None:
        self._model = model
        self.identity = ModelIdentity(str(model))
        self.concurrency = 1000  # Inspect itself decides how many calls go out at a time

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The model's reply."""
        config = GenerateConfig(temperature=sampling.temperature, max_tokens=sampling.max_tokens, seed=sampling.seed)
        output = await self._model.generate(prompt, config=config)
        usage = output.usage
        return Completion(output.completion, usage.input_tokens if usage else 0, usage.output_tokens if usage else 0)

    async def close(self) -> None:
        """Inspect closes it."""


@solver
def repair(database: str = "", candidates: int = 8, memory: str = "") -> Solver:
    """Repair the SQL in the model's last reply: it is executed, grounded, asked for again and voted on.

    Put it behind `generate()`; without a reply it begins with a candidate of its own. The SQL that stands takes the
    reply's place. `database` is the URL or path of the database, else the sample's metadata has it under "database";
    the question is there under "question", else it is the sample's input. `memory` is a folder, as `merit ask` fills
    it, whose confirmed answers are recalled; without one nothing is. Nothing is learned from an evaluation.
    """
    agents: dict[str, LiveAgent] = {}
    lock = asyncio.Lock()
    closing = ExitStack()
    atexit.register(closing.close)

    async def agent_for(url: str) -> LiveAgent:
        async with lock:
            if url not in agents:
                folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="merit-")))
                if memory:
                    shutil.copytree(memory, folder, dirs_exist_ok=True)  # so that nothing is written to it
                model, asking = InspectModel(get_model()), AskingSettings(candidates=candidates)
                agents[url] = await asyncio.to_thread(connect, url, model=model, folder=folder, asking=asking)
                closing.callback(agents[url].parts.memory.close)
                closing.callback(agents[url].parts.engine.close)
            return agents[url]

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - Inspect gives it
        url = database or state.metadata.get(DATABASE)
        if not isinstance(url, str) or not url:
            where = "give repair(database=...), or metadata['database'] of the sample"
            raise InputError(f"sample {state.sample_id}: it is not said which database it is about; {where}")
        agent = await agent_for(url)
        question = str(state.metadata.get(QUESTION) or state.input_text)
        written = parse_sql(state.output.completion, agent.parts.engine.dialect) if state.output.choices else ""
        answer = await agent.ask_async(question, sql=written or None)
        state.metadata["merit"] = {"status": answer.status.value, "agreement": answer.agreement, "written": written}
        state.output.completion = f"<answer>{answer.sql}</answer>"
        return state

    return solve
