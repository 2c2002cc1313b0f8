"""A cassette put into a file, whole or not at all, and without secrets."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, assert_never

from milepost.agents.replay.cassette import Cassette, RecordedAnswer, RecordedAttempt, RecordedDiff, RecordedTalk
from milepost.core.calls import Usage
from milepost.core.errors import StateUnwritable

_PACKED = re.compile(r"(^GIT binary patch\n.*?(?=^diff --git |\Z))", re.MULTILINE | re.DOTALL)


def write(cassette: Cassette, path: Path, redact: Callable[[str], str]) -> None:
    """Put a cassette into a file, without secrets; whoever reads it meanwhile sees the old one or the new one."""
    tasks = {
        task: [_plain_attempt(attempt, redact) for attempt in attempts] for task, attempts in cassette.attempts.items()
    }
    text = json.dumps({"version": 2, "tasks": tasks}, indent=1, ensure_ascii=False) + "\n"
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        half.write_text(text, encoding="utf-8")
        half.replace(path)
    except OSError as error:
        half.unlink(missing_ok=True)
        raise StateUnwritable(
            f"the cassette cannot be written to {str(path)!r}: {error.strerror or error}", "name another file"
        ) from error


def _plain_attempt(attempt: RecordedAttempt, redact: Callable[[str], str]) -> dict[str, Any]:
    match attempt:
        case RecordedTalk(answers=answers, agent=agent, end=end):
            told = {"outcome": end.status, "said": redact(end.said)} if end is not None else {}
            return {"agent": agent, "answers": [_plain_answer(one, redact) for one in answers], **told}
        case RecordedDiff(diff=diff, end=end, usage=usage):
            return {**_plain_diff(diff, redact), "outcome": end.status, "said": redact(end.said), **_plain_usage(usage)}
        case _ as never:
            assert_never(never)


def _plain_answer(recorded: RecordedAnswer, redact: Callable[[str], str]) -> dict[str, Any]:
    answer = recorded.answer
    calls = [
        {"name": call.name, "arguments": dict(call.arguments), **({"problem": call.problem} if call.problem else {})}
        for call in answer.calls
    ]
    told = {"text": answer.text, "calls": calls, "flaw": answer.flaw, "model": recorded.model}
    plain: dict[str, Any] = _redacted({name: value for name, value in told.items() if value}, redact)
    return {**plain, **_plain_usage(answer.usage), **({"seconds": recorded.seconds} if recorded.seconds else {})}


def _plain_diff(diff: bytes, redact: Callable[[str], str]) -> dict[str, str]:
    """A diff as text, or as base64 where some of it is none; secrets are looked for in both."""
    try:
        return {"diff": _clean(diff.decode(), redact)}
    except UnicodeDecodeError:
        clean = _clean(diff.decode("latin-1"), redact).encode("latin-1", "replace")
        return {"diff_base64": base64.b64encode(clean).decode()}


def _clean(diff: str, redact: Callable[[str], str]) -> str:
    """A diff without secrets; packed files in it are left as they are, for there is nothing to be seen in them."""
    parts = _PACKED.split(diff)
    return "".join(part if place % 2 else redact(part) for place, part in enumerate(parts))


def _plain_usage(usage: Usage) -> dict[str, Any]:
    counts = {
        "cost_usd": usage.cost_usd,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
    }
    return {name: count for name, count in counts.items() if count}


def _redacted(value: Any, redact: Callable[[str], str]) -> Any:
    """Plain JSON values with every text in them redacted."""
    match value:
        case str():
            return redact(value)
        case dict():
            return {redact(name): _redacted(one, redact) for name, one in value.items()}
        case list():
            return [_redacted(one, redact) for one in value]
        case _:
            return value
