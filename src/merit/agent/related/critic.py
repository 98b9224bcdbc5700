"""CRITIC: tools check the query, the model writes a critique from what they found, and a repair acts on it.

Source: Gou et al., "CRITIC: Large Language Models Can Self-Correct with Tool-Interactive Critiquing", ICLR 2024,
arXiv:2305.11738.

Essence: verify, then correct. What a model says about its own output is unreliable, so the critique is grounded in what
tools outside the model report. Here three tools look at the last query: the schema (names that it does not have, joined
tables without a key between them, and what would mend a refused query), execution (status and message), and values
(literals that neither the question nor its evidence mentions).

Left out: the model's choice of which tool to call; the search engine, which has nothing to say about a private
database; a tool that looks into stored rows, since no method is shown any.
"""

from merit.agent.behaviour import Moment
from merit.agent.method import Method
from merit.agent.related.notes import Noting, asked
from merit.prompts import Prompt

_TASK = """Write a critique of the last SQL query below. Tools have checked it: rely on what they found.
Say what is plausible, what is wrong, and which change follows from the findings."""
_ENDING = "Write at most ten lines. Do not claim what no tool found, and do not write another query."


class Critic(Noting):
    """A critique from the findings of tools before every repair."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """The critique of the last attempt, where another one follows."""
        if moment.ended:
            return None
        return asked(moment, "critic", _TASK, _ENDING, {"FINDINGS OF TOOLS": "\n".join(_findings(moment))})

    def read(self, method: Method, moment: Moment, reply: str) -> str:
        """The critique after the findings that it rests on, so that a repair sees both."""
        return "\n".join([*_findings(moment), super().read(method, moment, reply)])


def _findings(moment: Moment) -> list[str]:
    from merit.agent.related.tools import findings  # only here: sqlglot would take a fifth of every command's start

    return findings(moment)


METHOD = Method(
    "critic",
    "CRITIC: a critique grounded in what tools found about the query (schema, execution, values) before each repair.",
    notes=1,
    behaviour=Critic(),
)
