"""Who is told of alerts besides the terminal: an address, a command. What fails is tried again at the next look."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from http.client import HTTPException
from typing import Protocol
from urllib.request import Request, urlopen

from milepost.watch.alert_book import AlertMove

TELL_S = 10.0


class Teller(Protocol):
    """Passes on what became of alerts, all of one look together; False when it could not."""

    def tell(self, target: str, environment: str, moves: Sequence[AlertMove]) -> bool: ...


class Webhook:
    """Posts them as JSON."""

    def __init__(self, url: str) -> None:
        self._url = url

    def tell(self, target: str, environment: str, moves: Sequence[AlertMove]) -> bool:
        body = json.dumps(message_of(target, environment, moves)).encode()
        try:
            request = Request(self._url, body, {"Content-Type": "application/json"}, method="POST")  # noqa: S310
            with urlopen(request, timeout=TELL_S) as answer:  # noqa: S310 (the user's own setting)
                return bool(answer.status < 300)
        except (OSError, ValueError, HTTPException):
            return False


class CommandTeller:
    """Gives them to a command as JSON on its standard input."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._argv = tuple(argv)

    def tell(self, target: str, environment: str, moves: Sequence[AlertMove]) -> bool:
        said = json.dumps(message_of(target, environment, moves))
        try:
            done = subprocess.run(self._argv, input=said, text=True, capture_output=True, timeout=TELL_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0


def message_of(target: str, environment: str, moves: Sequence[AlertMove]) -> dict[str, object]:
    """What is told: each alert once, with the last that became of it."""
    last = {move.name: move for move in moves}
    return {
        "target": target,
        "environment": environment,
        "alerts": [
            {
                "alert": move.name,
                "severity": move.severity.value,
                "what": move.what,
                "value": move.value,
                "at": move.at,
                "why": move.said_by,
            }
            for move in last.values()
        ],
    }
