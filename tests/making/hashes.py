"""Rows that Python's dictionaries keep in one place, as a hostile database can hold them."""

from merit.types import Row

_BITS = 64
_MASK = (1 << _BITS) - 1
_FIRST, _SECOND, _FIFTH = 11400714785074694791, 14029467366897019727, 2870177450012600261  # CPython's xxHash of tuples
_BACK = pow(_SECOND, -1, 1 << _BITS)
_LARGEST = (1 << 61) - 1  # numbers below it are their own hash
_HASH = 0x123456789ABCDEF0


def rows_of_one_hash(many: int) -> list[Row]:
    """Rows numbered from 0, a quarter of which have one hash: CPython's, computed backwards for their second number."""
    wanted = _turned((_HASH - (2 ^ _FIFTH ^ 3527539)) * pow(_FIRST, -1, 1 << _BITS), _BITS - 31)
    return [(first, _second(wanted, first)) for first in range(many)]


def _second(wanted: int, first: int) -> int:
    """What a number needs beside it; 0 where only a number would do that is not its own hash."""
    begun = _turned(_FIFTH + first * _SECOND, 31) * _FIRST
    second = (wanted - begun) * _BACK & _MASK
    second -= (second >> (_BITS - 1)) << _BITS
    return second if abs(second) < _LARGEST and second != -1 else 0


def _turned(number: int, bits: int) -> int:
    number &= _MASK
    return (number << bits | number >> (_BITS - bits)) & _MASK
