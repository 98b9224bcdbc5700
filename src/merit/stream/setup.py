"""Putting a run together: its description and its parts become everything it needs, and the identity they make."""

import platform
from dataclasses import dataclass, replace

from merit import __version__
from merit.agent import find_method, only_sure
from merit.benchmark import Benchmark
from merit.models import CachingCompleter, CachingEncoder
from merit.oracle import fixed_demonstrations
from merit.prompts import VERSIONS, Family, family_named, templates_hash
from merit.reading import hash_file
from merit.runs import (
    DatasetIdentity,
    Identity,
    MadeWith,
    Manifest,
    PromptsIdentity,
    StreamQuestion,
    new_manifest,
    stream_order,
)
from merit.runs.code import code_hash
from merit.runs.questions import stream_hash, stream_questions, stream_text
from merit.sql import SQLITE_VERSION
from merit.stream.first_answers import check_all_answered, read_first_answers
from merit.stream.spec import RunSpec
from merit.stream.workshop import Parts
from merit.types import QuestionId, Regime


@dataclass(frozen=True)
class Setup:
    """Everything a run needs; all decisions are made here."""

    manifest: Manifest
    questions: dict[QuestionId, StreamQuestion]  # in the dataset's order
    length: int  # how many of the stream take part
    benchmark: Benchmark
    completer: CachingCompleter
    encoder: CachingEncoder | None

    @property
    def identity(self) -> Identity:
        """What decides the run's content."""
        return self.manifest.identity

    @property
    def family(self) -> Family:
        """How prompts speak of the benchmark."""
        return family_named(self.identity.dataset.name, self.identity.prompts.family)

    @property
    def order(self) -> list[StreamQuestion]:
        """The stream."""
        ordered = stream_order([asked.question for asked in self.questions.values()], self.identity.seed)
        return [self.questions[question.id] for question in ordered[: self.length]]


def open_setup(spec: RunSpec, parts: Parts) -> Setup:
    """Prepare a run; errors in its parts are raised before anything is asked or written."""
    found = find_method(spec.method).seeded(spec.seed)
    method = only_sure(found) if spec.regime is Regime.REVIEWED else found
    benchmark = parts.benchmark(spec.data)
    dataset = benchmark.dataset
    encoder = parts.open_encoder() if method.encodes else None
    completer = parts.completer
    usable = benchmark.usable_questions()
    order = stream_order(usable, spec.seed)
    length = len(order) if spec.limit is None else min(spec.limit, len(order))
    first_answers = read_first_answers(spec.initial, dataset, benchmark.protocol)
    asked = spec if length < len(order) else replace(spec, limit=None)  # a limit beyond all questions is none
    check_all_answered(order[:length], first_answers, spec.initial, asked.predict_command(parts.model, parts.sampling))
    count = method.demonstrations
    examples = fixed_demonstrations(dataset, count, spec.examples) if count else ()
    live = benchmark.live_context(usable) if benchmark.prompts == "live" else {}
    questions = stream_questions(dataset, usable, first_answers, live)
    version = VERSIONS[benchmark.prompts]
    identity = Identity(
        method=method,
        seed=spec.seed,
        budget=spec.budget,
        dataset=DatasetIdentity.of(dataset, benchmark.content_hash, len(usable)),
        protocol=benchmark.protocol,
        distinct=benchmark.distinct,
        timeout_s=benchmark.timeout_s,
        regime=spec.regime,
        review=spec.review,
        initial_sha256=hash_file(spec.initial),
        stream_sha256=stream_hash(stream_text(questions)),
        demonstrations=examples,
        length=None if method.online else length,
        prompts=PromptsIdentity(version, templates_hash(version)),
        model=completer.identity,
        sampling=parts.sampling,
        encoder=encoder.identity if encoder else None,
        code=code_hash(),
    )
    made_with = MadeWith(__version__, platform.python_version(), SQLITE_VERSION, completer.neutral)
    return Setup(new_manifest(identity, made_with), questions, length, benchmark, completer, encoder)
