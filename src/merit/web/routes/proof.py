"""Proof: whether the memory helps on confirmed questions."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from merit.errors import Conflict
from merit.web.authentication import Curating, Reader, Served
from merit.web.replies import JsonRouter
from merit.web.site import agent_of

router = JsonRouter(prefix="/api", tags=["proof"])


def _whole(value: object) -> object:
    """JSON does not tell 5.0 from 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class ProofRequest(BaseModel):
    """How much to prove with."""

    model_config = ConfigDict(extra="forbid", strict=True)

    limit: Annotated[int, Field(ge=1, le=100_000), BeforeValidator(_whole)] | None = Field(
        default=None, description="Only the last confirmed questions."
    )
    dry_run: bool = Field(default=False, description="Only say what it would cost.")


@router.post("/proof")
async def start(site: Served, who: Curating, given: ProofRequest | None = None) -> dict[str, Any]:
    """Start a proof, or say what it would cost: confirmed questions are asked again, with and without memory."""
    agent, wanted = agent_of(site), given or ProofRequest()
    cost = await run_in_threadpool(agent.proof_cost, wanted.limit, author=who.author)
    if not wanted.dry_run:
        if not cost.questions:
            raise Conflict("no answer was confirmed yet, so there is nothing to prove with; confirm some first")
        site.proof.start(agent, wanted.limit, who.author)
    return {"cost": asdict(cost), **site.proof.record()}


@router.get("/proof")
def progress(site: Served, _: Reader) -> dict[str, Any]:
    """How far a proof is, and the result of the last one."""
    return site.proof.record()
