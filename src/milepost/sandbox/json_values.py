"""What code in another process can be given, and can say: values that are the same there and here."""

from __future__ import annotations

import json
import keyword
from typing import Any

LONGEST_INJECTION = 4_000_000
_DEEPEST = 100


def require_name(name: str) -> None:
    """Raise ValueError unless a variable can have this name."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r} cannot be the name of a variable")


def require_plain(value: Any, name: str) -> None:
    """Raise TypeError unless JSON can hold the value, and ValueError if it is too long; `name` is what it is called."""
    _require_plain(value, name, 0)
    if len(json.dumps(value)) > LONGEST_INJECTION:
        raise ValueError(f"{name} is longer than {LONGEST_INJECTION} bytes")


def read_plain(text: str) -> Any:
    """The value of a JSON text, all Unicode: halves of characters, which no file can hold, become question marks."""
    return json.loads(json.dumps(json.loads(text), ensure_ascii=False).encode(errors="replace").decode())


def _require_plain(value: Any, name: str, depth: int) -> None:
    if depth > _DEEPEST:
        raise TypeError(f"{name} is nested too deeply to be given to the code")
    if isinstance(value, list | tuple):
        for item in value:
            _require_plain(item, name, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(
                    f"{name} contains the key {key!r}: only strings can be keys of values given to the code"
                )
            _require_text(key, name)
            _require_plain(item, name, depth + 1)
    elif isinstance(value, str):
        _require_text(value, name)
    elif callable(value):
        raise TypeError(f"{name} is or contains a function: only plain values can be given here")
    elif not isinstance(value, int | float | bool | None):
        raise TypeError(f"{name} is or contains a {type(value).__name__}: only JSON values can be given to the code")


def _require_text(text: str, name: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise TypeError(f"{name} contains text that is not valid Unicode: {text[:40]!r}") from None
