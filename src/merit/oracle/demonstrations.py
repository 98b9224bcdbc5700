"""Solved questions of a training split, shown as examples in prompts: references that leave this room on purpose.

They are fixed, they come from the training split only, and none of them may be a question that is being asked.
"""

from collections.abc import Sequence
from pathlib import Path

from merit.data import Dataset
from merit.errors import InputError
from merit.reading import check_fields, check_inside, read_json_lines, read_records, read_text, sendable
from merit.types import Demonstration

# Which records of Spider's training split, in this order: those of the paper's released configuration.
_SPIDER_TRAIN = (0, 34, 225, 62)


def fixed_demonstrations(dataset: Dataset, count: int, file: Path | None) -> tuple[Demonstration, ...]:
    """`count` examples for every prompt of a stream over `dataset`: those of `file`, or its training split's."""
    examples = _from_file(file) if file is not None else _from_train(dataset, count)
    where = file or dataset.root
    if len(examples) != count:
        raise InputError(f"{where}: {len(examples)} examples, but the method shows {count}")
    asked = {" ".join(question.text.lower().split()) for question in dataset.questions}
    for example in examples:
        if " ".join(example.question.lower().split()) in asked:
            raise InputError(
                f"{where}: the example {example.question!r} is a question of the stream itself; take others"
            )
    return tuple(examples)


def _from_file(path: Path) -> Sequence[Demonstration]:
    examples = []
    for number, record in read_json_lines(read_text(path), path):
        check_fields(record, {"question": str, "sql": str}, f"{path}, line {number}")
        examples.append(_demonstration(record["question"], record["sql"], record.get("evidence")))
    return examples


def _from_train(dataset: Dataset, count: int) -> Sequence[Demonstration]:
    layout = dataset.layout
    paths = [dataset.root / name for name in layout.questions["train"]]
    path = next((path for path in paths if path.is_file()), None)
    if dataset.split == "train" or path is None:
        raise InputError(
            f"{dataset.root}: this method shows solved training questions, and {layout.name} has none here beside "
            f"{dataset.split}; give a file of examples, with a question and its sql a line"
        )
    check_inside(path, dataset.root)
    records = read_records(path, {"question": str, layout.reference_field: str})
    chosen: Sequence[int] = [i * len(records) // count for i in range(count)]
    if layout.name == "spider" and len(records) > max(_SPIDER_TRAIN):
        chosen = _SPIDER_TRAIN
    return [
        _demonstration(records[i]["question"], records[i][layout.reference_field], records[i].get("evidence"))
        for i in dict.fromkeys(chosen)
    ]


def _demonstration(question: str, sql: str, evidence: object) -> Demonstration:
    return Demonstration(sendable(question), sendable(sql), sendable(str(evidence or "")))
