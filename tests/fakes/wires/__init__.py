"""The wires on which models are asked: what a request says, and how an answer is sent, in each protocol."""

from __future__ import annotations

import re

from tests.fakes.wires.chat import Chat
from tests.fakes.wires.gemini import Gemini
from tests.fakes.wires.messages import Messages
from tests.fakes.wires.responses import Responses
from tests.fakes.wires.wire import Wire

WIRES: tuple[tuple[re.Pattern[str], Wire], ...] = (
    (re.compile(r"/chat/completions$"), Chat()),
    (re.compile(r"/responses$"), Responses()),
    (re.compile(r"/messages$"), Messages()),
    (re.compile(r"/models/[^/:]+:(stream)?[gG]enerateContent$"), Gemini()),
)


def wire_at(path: str) -> Wire | None:
    """The wire that is spoken at this path."""
    return next((wire for pattern, wire in WIRES if pattern.search(path.partition("?")[0])), None)
