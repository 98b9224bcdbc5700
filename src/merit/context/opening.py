"""All that was written down about a database, from every place that `merit.toml` names."""

from collections.abc import Iterable
from pathlib import Path

from merit.context.context import Context, Notes
from merit.context.cortex import read_cortex
from merit.context.dbt import read_dbt
from merit.context.enrich import comments_of
from merit.context.item import Item
from merit.context.merge import merge
from merit.context.ossie import read_ossie
from merit.context.text import DESCRIPTION_CHARACTERS, NAME_CHARACTERS, RULE_CHARACTERS, prompt_line
from merit.errors import InputError
from merit.settings import Settings
from merit.types import Schema
from merit.yaml import read_yaml


def open_context(schema: Schema, settings: Settings) -> Context:
    """What people wrote down about a schema.

    The order: `merit.toml`, semantic models as they are listed, dbt's manifest, the database's comments, dbt's catalog
    (which repeats the comments as they once were).
    """
    given = settings.context
    notes = [_own(settings), *(read_semantic(path) for path in given.semantic)]
    manifest, *catalog = read_dbt(given.dbt) if given.dbt else [Notes("dbt")]
    comments = [comments_of(schema)] if given.comments else []
    return merge(schema, [*notes, manifest, *comments, *catalog], given.schema)


def read_semantic(path: Path) -> Notes:
    """What a semantic model says, in YAML of Apache Ossie or of Snowflake Cortex."""
    document = Item(read_yaml(path), path)
    if document.has("semantic_model") or document.has("datasets"):
        return read_ossie(document, path)
    if document.has("tables"):
        return read_cortex(document, path)
    raise InputError(
        f"{path}: has neither 'semantic_model' or 'datasets', as Apache Ossie has, nor 'tables', as Cortex has"
    )


def _own(settings: Settings) -> Notes:
    """Rules and glossary of `merit.toml` itself."""
    notes = Notes(settings.path.name)
    notes.rules += _lines(settings.rules.values(), RULE_CHARACTERS)
    notes.glossary = {
        prompt_line(term, NAME_CHARACTERS): prompt_line(meaning, DESCRIPTION_CHARACTERS)
        for term, meaning in settings.glossary.items()
    }
    return notes


def _lines(texts: Iterable[str], most: int) -> list[str]:
    return [prompt_line(text, most) for text in texts]
