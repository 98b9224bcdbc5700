"""Putting a run together: data, judge, first answers, method, model, encoder, and the identity they make."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from merit.agent import Draft, Method
from merit.data import Dataset
from merit.errors import InputError
from merit.models import CachedEncoder, CachingCompleter
from merit.oracle import Judge, fixed_demonstrations
from merit.prompts import BIRD, SPIDER, VERSION, Family, templates_hash
from merit.reading import check_count, check_fields, check_format, hash_file, shown
from merit.stream.initial import missing, read_initial
from merit.stream.manifest import code_hash, make_manifest
from merit.stream.order import stream_order
from merit.stream.turn import MOST_COUNTED, StreamQuestion, said_if_estimated, tokens_estimated
from merit.types import Demonstration, Question, QuestionId, Regime, Sampling

FORMAT = 1
DEFAULT_BUDGET = 7  # the paper's K
_DRAFT: dict[str, type] = {"sql": str, "reply": str, "prompt_tokens": int, "output_tokens": int}


@dataclass(frozen=True)
class Setup:
    """Everything a run needs, decided; running it decides nothing more."""

    judge: Judge
    method: Method
    seed: int
    budget: int
    regime: Regime
    family: Family
    completer: CachingCompleter
    sampling: Sampling
    encoder: CachedEncoder | None
    demonstrations: tuple[Demonstration, ...]
    questions: dict[QuestionId, StreamQuestion]  # in the dataset's order
    length: int  # how many of the stream take part
    manifest: dict[str, Any]

    @property
    def order(self) -> list[StreamQuestion]:
        """The stream."""
        ordered = stream_order([one.question for one in self.questions.values()], self.seed)
        return [self.questions[question.id] for question in ordered[: self.length]]


def family_named(benchmark: str) -> Family:
    """How prompts speak of a benchmark."""
    return BIRD if benchmark == BIRD.name else SPIDER


def usable_questions(dataset: Dataset, protocol: str, judge: Judge) -> list[Question]:
    """The questions that can be judged: their database is there and their reference runs."""
    absent = dataset.absent(protocol)
    present = [question for question in dataset.questions if question.db_id not in absent]
    failing = judge.unjudgeable(present)
    usable = [question for question in present if question.id not in failing]
    if not usable:
        raise InputError(f"{dataset.root}: none of the {len(dataset.questions)} questions can be judged here")
    return usable


def open_setup(
    dataset: Dataset,
    protocol: str,
    judge: Judge,
    *,
    initial: Path,
    method: Method,
    seed: int,
    completer: CachingCompleter,
    encoder: CachedEncoder | None,
    budget: int = DEFAULT_BUDGET,
    regime: Regime = Regime.DENOTATION_CONFIRMED,
    limit: int | None = None,
    examples: Path | None = None,
    timeout_s: float = 30.0,
    sampling: Sampling | None = None,
    predict: str = "merit predict",
) -> Setup:
    """Decide a run; what is wrong with its parts is said before anything is asked or written.

    `predict` is the command that asks for first answers which are missing.
    """
    sampling = sampling or Sampling()
    usable = usable_questions(dataset, protocol, judge)
    order = stream_order(usable, seed)
    length = len(order) if limit is None else min(limit, len(order))
    drafts = read_initial(initial, dataset, protocol)
    missing(order[:length], drafts, initial, predict)
    seeded = method.seeded(seed)
    shown = fixed_demonstrations(dataset, method.demonstrations, examples) if method.demonstrations else ()
    questions = stream_questions(dataset, usable, drafts)
    return Setup(
        judge=judge,
        method=seeded,
        seed=seed,
        budget=budget,
        regime=regime,
        family=family_named(dataset.layout.name),
        completer=completer,
        sampling=sampling,
        encoder=encoder if method.encodes else None,
        demonstrations=shown,
        questions=questions,
        length=length,
        manifest=make_manifest(
            {
                "method": seeded.record(),
                "seed": seed,
                "budget": budget,
                "dataset": data_identity(dataset, dataset.content_hash(), len(usable)),
                "protocol": protocol,
                "timeout_s": timeout_s,
                "regime": regime,
                "initial_sha256": hash_file(initial),
                "stream_sha256": hashlib.sha256(stream_text(questions).encode()).hexdigest(),
                "demonstrations": [asdict(one) for one in shown],
                # A control reads what the whole stream left, so how long that is decides its content; for all others
                # a shorter run is the beginning of a longer one.
                "length": None if method.online else length,
                "prompts": {"family": VERSION, "sha256": templates_hash()},
                "model": asdict(completer.identity),
                "sampling": asdict(sampling),
                "encoder": asdict(encoder.identity) if encoder is not None and method.encodes else None,
                "code": code_hash(),
            }
        ),
    )


def data_identity(dataset: Dataset, content: str, usable: int) -> dict[str, Any]:
    """What a manifest says of its data; `content` is the dataset's content hash."""
    return {
        "name": dataset.layout.name,
        "split": dataset.split,
        "sha256": content,
        "questions": usable,
        **({"label": dataset.label} if dataset.label else {}),  # what its owner calls it; nothing is derived from it
    }


def stream_questions(
    dataset: Dataset, usable: Sequence[Question], drafts: Mapping[QuestionId, Draft]
) -> dict[QuestionId, StreamQuestion]:
    """The questions that take part, as every method gets them."""
    nothing = Draft("", "")  # for questions beyond the part of the stream that is run
    return {
        question.id: StreamQuestion(question, dataset.schemas[question.db_id].text(), drafts.get(question.id, nothing))
        for question in usable
    }


def stream_text(questions: Mapping[QuestionId, StreamQuestion]) -> str:
    """stream.json: questions in the dataset's order, schemas and first answers, so that a run explains itself."""
    schemas = {one.question.db_id: one.schema for one in questions.values()}
    records = [{**asdict(one.question), "draft": said_if_estimated(asdict(one.draft))} for one in questions.values()]
    body = {"format": FORMAT, "schemas": schemas, "questions": records}
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"


def read_stream(record: Any, where: str) -> dict[QuestionId, StreamQuestion]:
    """The questions of a parsed stream.json."""
    try:
        check_format(record["format"], FORMAT, "a stream", where)
        found = {}
        for item in record["questions"]:
            fields = dict(item)
            check_fields(fields, {"db_id": str, "text": str, "difficulty": str, "draft": dict}, where)
            if not isinstance(fields["evidence"], str | None) or type(fields["id"]) not in (int, str):
                raise InputError(f"{where}: question {shown(fields['id'])}: 'id' or 'evidence' cannot be what it is")
            check_fields(fields["draft"], _DRAFT, where)
            tokens_estimated(fields["draft"], where)
            draft = Draft(**fields.pop("draft"))
            for tokens in (draft.prompt_tokens, draft.output_tokens):
                check_count(tokens, MOST_COUNTED, f"{where}: question {shown(fields['id'])}: its tokens")
            question = Question(**fields)
            check_fields(record["schemas"], {question.db_id: str}, f"{where}, schemas")
            if question.id in found:
                raise InputError(f"{where}: question {shown(question.id)} is there twice")
            found[question.id] = StreamQuestion(question, record["schemas"][question.db_id], draft)
        return found
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{where}: not the stream of a run ({shown(repr(error))})") from None
