"""Values as JSON and back, for what a durable run records."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


_adapters: dict[Any, TypeAdapter[Any]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def dump(value: object) -> dict[str, Any]:
    """A frozen value as plain JSON types."""
    plain: dict[str, Any] = _adapter(type(value)).dump_python(value, mode="json")
    return plain


def load(kind: type[T], plain: Any) -> T:
    """The frozen value that `dump` made plain."""
    value: T = _adapter(kind).validate_python(plain)
    return value
