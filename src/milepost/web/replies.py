"""Answers in JSON: values as they are, errors in one line with what to do, and nothing of the machine around them."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Coroutine
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from milepost.core.errors import (
    DatabaseAway,
    GateUnknown,
    MachineFailed,
    MilepostError,
    Misuse,
    PlaceUnknown,
    RunUnknown,
    TaskUnknown,
)

LONGEST_WORDS: Final = 500
_UNKNOWN: Final = (RunUnknown, TaskUnknown, GateUnknown, PlaceUnknown)
_AWAY: Final = (MachineFailed, DatabaseAway)
# An absolute path of two parts or more, and nothing that is the end of an address or of another path.
_PATH: Final = re.compile(r"(?<![\w:/.~])/(?:[^\s/'\"`]+/)+([^\s/'\"`]*)")

_log = logging.getLogger(__name__)

Answering = Callable[[Request], Coroutine[Any, Any, Response]]


def text_of(value: object) -> str:
    """A value as JSON; a dataclass as its fields."""
    return json.dumps(value, default=_plain, ensure_ascii=False, separators=(",", ":"))


def reply(text: str, status: int = 200) -> Response:
    """JSON as an answer; half a character, which no encoding has, stays what it is by its number."""
    return Response(text.encode("utf-8", "backslashreplace"), status, media_type="application/json")


def lasting(request: Request, text: str) -> Response:
    """An answer that a browser may keep, and asks about each time; one that it has is not sent again."""
    body = text.encode("utf-8", "backslashreplace")
    headers = {"etag": f'"{hashlib.sha256(body).hexdigest()[:32]}"', "cache-control": "private, no-cache"}
    known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    if headers["etag"] in known:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def answered(roadmap: Path, answering: Answering) -> Answering:
    """A route whose errors are answers, too."""

    async def answer(request: Request) -> Response:
        try:
            return await answering(request)
        except MilepostError as error:
            return complaint(error, roadmap.parent)
        except Exception as error:
            _log.exception("%s %s crashed", request.method, request.url.path[:100])
            mistake = f"internal error in milepost: {type(error).__name__}"
            return reply(text_of({"error": mistake, "advice": "the terminal of milepost web shows more"}), 500)

    return answer


def complaint(error: MilepostError, folder: Path) -> Response:
    """An error of ours, as a person who sees the page may read it."""
    words = {"error": discreet(error.message, folder), "advice": discreet(error.advice, folder)}
    return reply(text_of(words), status_of(error))


def status_of(error: MilepostError) -> int:
    """404 for what is not there, 422 for what cannot be meant, 409 for what cannot be now, 503 for who is away."""
    if isinstance(error, _UNKNOWN):
        return 404
    if isinstance(error, Misuse):
        return 422
    return 503 if isinstance(error, _AWAY) else 409


def discreet(words: str, folder: Path) -> str:
    """One line of words in which paths begin at the project's folder, and others are only their last part."""
    line = " ".join(words.split())
    line = line.replace(f"{folder}/", "").replace(str(folder), folder.name)
    return _PATH.sub(r"…/\1", line)[:LONGEST_WORDS]


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"{type(value).__name__} is no value of the page")
