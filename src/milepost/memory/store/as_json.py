"""Values of the memory as JSON and back."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")
_adapters: dict[Any, TypeAdapter[Any]] = {}


def dump(value: object) -> str:
    """A frozen value as JSON text."""
    return _adapter(type(value)).dump_json(value).decode()


def plain(value: object) -> Any:
    """A frozen value, or several, as JSON has it."""
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    return _adapter(type(value)).dump_python(value, mode="json")


def load(kind: type[T], text: str) -> T:
    """The frozen value that `dump` made a text of."""
    value: T = _adapter(kind).validate_json(text)
    return value


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]
