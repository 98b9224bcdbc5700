"""Objects of other people's documents, taken apart field by field; a fault is one sentence with file and field."""

from collections.abc import Iterator
from pathlib import Path

from merit.context.context import Meaning
from merit.context.text import DESCRIPTION_CHARACTERS, prompt_line, synonyms_of
from merit.errors import InputError
from merit.reading import shown

_LONGEST_NAME = 1000  # characters of a name that is looked up in a schema


class Item:
    """An object of a document, and where in it. A field that is null or not there is empty."""

    def __init__(self, value: object, path: Path, place: str = "") -> None:
        if not isinstance(value, dict):
            raise InputError(f"{path}: {place or 'the document'} should be an object with fields, not {shown(value)}")
        self._value = value
        self._path = path
        self._place = place

    def has(self, name: str) -> bool:
        """Whether a field is there and says something."""
        return self._value.get(name) not in (None, "", [], {})

    def is_text(self, name: str) -> bool:
        """Whether a field is a text, where it may be an object too."""
        return isinstance(self._value.get(name), str)

    def where(self, name: str) -> str:
        """A field, for a sentence."""
        return f"{self._path}: {self._at(name)}"

    def raw(self, name: str) -> str:
        """A text as it is written."""
        value = self._value.get(name)
        if value is not None and not isinstance(value, str):
            raise InputError(f"{self.where(name)} should be a text, not {shown(value)}")
        return value or ""

    def name(self, name: str) -> str:
        """A name that must be there, as it is written."""
        text = self.raw(name).strip()
        if not text:
            raise InputError(f"{self.where(name)} is missing or empty; it should be a name")
        if len(text) > _LONGEST_NAME:
            raise InputError(f"{self.where(name)} has {len(text)} characters, too many for a name")
        return text

    def line(self, name: str, most: int = DESCRIPTION_CHARACTERS) -> str:
        """A text as a line of a prompt."""
        return prompt_line(self.raw(name), most)

    def texts(self, name: str) -> list[str]:
        """A list of texts, or one text alone."""
        value = self._value.get(name)
        if value is None:
            return []
        if isinstance(value, str):
            return [value]
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise InputError(f"{self.where(name)} should be a list of texts, not {shown(value)}")
        return value

    def meaning(self, *more_synonyms: str) -> Meaning:
        """The fields `description` and `synonyms`."""
        return Meaning(self.line("description"), synonyms_of([*self.texts("synonyms"), *more_synonyms]))

    def item(self, name: str) -> "Item":
        """The object in a field; one without fields where there is none."""
        value = self._value.get(name)
        return Item({} if value is None else value, self._path, self._at(name))

    def items(self, name: str) -> Iterator["Item"]:
        """The objects of a list."""
        value = self._value.get(name)
        if value is not None and not isinstance(value, list):
            raise InputError(f"{self.where(name)} should be a list, not {shown(value)}")
        for number, element in enumerate(value or []):
            yield Item(element, self._path, f"{self._at(name)}[{number}]")

    def named_items(self, name: str) -> Iterator[tuple[str, "Item"]]:
        """The objects of an object, with their keys."""
        nested = self.item(name)
        for key in nested._value:
            yield key, nested.item(key)

    def _at(self, name: str) -> str:
        return f"{self._place}.{name}" if self._place else name
