"""The client's side of the Agent Client Protocol: gives a program one prompt, answers it, tells what it does.

It runs beside the program, inside the sandbox, so it is made of the standard library alone. Its order is one JSON
object on stdin: `argv`, `cwd`, `prompt`, and maybe `session` (to go on with), `mode`, `model`, `most_steps` and
`serves_files`. What it tells are the lines of `lines`. It exits with 0 when the reason is `end_turn`, else with 1.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from milepost.agents.programs.acp.lines import LONGEST_LAST, LONGEST_WHAT, LineWriter, short
from milepost.agents.programs.acp.peer import ConversationEnd, Peer
from milepost.agents.programs.acp.workspace import Outside, answer, objection, paths_told, read_text, write_text

PROTOCOL = 1
START_S = 180.0  # the slowest of them takes half a minute on a busy machine
CANCEL_S = 3.0
QUIET_S = 2.0
LONGEST_PAST_S = 60.0
NO_METHOD, REFUSED, NOT_FOUND = -32601, -32602, -32002
_ABOUT_FILES = ("read", "edit", "delete", "move")


class Conversation:
    """What is said between us and one program, from the greeting to the end of the prompt."""

    def __init__(self, order: dict[str, Any], peer: Peer, teller: LineWriter) -> None:
        self._root = Path(order["cwd"])
        self._most_steps: int | None = order.get("most_steps")
        self._peer = peer
        self._teller = teller
        self._session = ""
        self._replaying = False
        self._cancel_by: float | None = None
        self._unfollowed: set[str] = set()
        self._summed: dict[str, int] = {}
        self._numbers = 0

    def hold(self, order: dict[str, Any]) -> NoReturn:
        """Carry out an order; it ends with `Ending`, however it goes."""
        serves = bool(order.get("serves_files"))
        greeting = {
            "protocolVersion": PROTOCOL,
            "clientCapabilities": {"fs": {"readTextFile": serves, "writeTextFile": serves}, "terminal": False},
            "clientInfo": {"name": "milepost", "version": "1"},
        }
        met = self._ask("initialize", greeting, START_S)
        if met.get("protocolVersion") != PROTOCOL:
            raise ConversationEnd(
                "protocol", f"speaks version {met.get('protocolVersion')!r} of the protocol, not {PROTOCOL}"
            )
        opened = self._open(order.get("session") or "", _dict(met.get("agentCapabilities")))
        if order.get("model"):
            self._choose_model(opened, order["model"])
        prompt = [{"type": "text", "text": order["prompt"]}]
        ended = self._ask("session/prompt", {"sessionId": self._session, "prompt": prompt}, None)
        self._tell_used(ended)
        if self._cancel_by is not None:
            raise self._one_too_many()
        raise ConversationEnd(short(str(ended.get("stopReason"))))

    def _open(self, session: str, can: dict[str, Any]) -> dict[str, Any]:
        """A new session, or the one to go on with: what is told of it before is no work of this run."""
        where: dict[str, Any] = {"cwd": str(self._root), "mcpServers": []}
        resumes = "resume" in _dict(can.get("sessionCapabilities"))
        resumable = bool(resumes or can.get("loadSession"))
        if session:
            self._replaying = True
            try:
                method = "session/resume" if resumes else "session/load"
                opened = self._ask(method, {"sessionId": session, **where}, START_S)
                if not resumes:
                    self._hear_the_past()
            except ConversationEnd as ending:
                raise ConversationEnd(
                    "session", f"cannot go on with the session {session!r}: {ending.error}"
                ) from ending
            self._replaying, self._session = False, session
        else:
            opened = self._ask("session/new", where, START_S)
            self._session = opened.get("sessionId") or ""
            if not isinstance(self._session, str) or not self._session:
                raise ConversationEnd("protocol", "opened a session without a name")
        self._teller.tell("session", id=self._session, resumable=resumable and len(self._session) <= LONGEST_WHAT)
        return opened

    def _hear_the_past(self) -> None:
        """Wait until the program has told what was in its session: some go on with that after they have loaded it.

        Nothing says that it was the last of it, but that no more comes.
        """
        until = time.monotonic() + LONGEST_PAST_S
        while time.monotonic() < until:
            try:
                message = self._peer.receive(QUIET_S)
            except TimeoutError:
                return
            if isinstance(message, dict) and "method" in message:
                self._listen(message)

    def _choose_model(self, opened: dict[str, Any], model: str) -> None:
        """Choose the model for the session in the way that the program offers."""
        offered = opened.get("configOptions")
        for option in map(_dict, offered if isinstance(offered, list) else ()):
            if "model" in (option.get("id"), option.get("category")):
                chosen = {"sessionId": self._session, "configId": option.get("id"), "value": model}
                self._ask("session/set_config_option", chosen, START_S)
                return
        if not isinstance(opened.get("models"), dict):
            raise ConversationEnd("model", f"does not let clients choose a model, so {model!r} cannot be used this way")
        self._ask("session/set_model", {"sessionId": self._session, "modelId": model}, START_S)

    def _ask(self, method: str, params: dict[str, Any], within_s: float | None) -> dict[str, Any]:
        """The answer to a request; whatever the program says or asks until then is answered."""
        self._numbers += 1
        number = self._numbers
        self._peer.send({"id": number, "method": method, "params": params})
        until = None if within_s is None else time.monotonic() + within_s
        while True:
            message = self._next(method, self._cancel_by or until)
            if "method" in message:
                self._listen(message)
            elif message.get("id") == number and isinstance(message.get("error"), dict):
                raise ConversationEnd("error", f"{method}: {_error_in_words(message['error'])}")
            elif message.get("id") == number:
                return _dict(message.get("result"))

    def _next(self, method: str, until: float | None) -> dict[str, Any]:
        """The next message; a line that is none is told and is like one that says nothing."""
        try:
            message = self._peer.receive(None if until is None else max(0.0, until - time.monotonic()))
        except TimeoutError:
            if self._cancel_by is not None:
                raise self._one_too_many() from None
            raise ConversationEnd("unanswered", f"did not answer {method} within {START_S:g} s") from None
        if isinstance(message, str):
            self._teller.stray(message)
            return {}
        if self._cancel_by is not None and time.monotonic() > self._cancel_by:
            raise self._one_too_many()
        return message

    def _listen(self, message: dict[str, Any]) -> None:
        """A request of the program is answered, an update told."""
        method, params = message["method"], _dict(message.get("params"))
        if method == "session/update" and not self._replaying:
            self._take(_dict(params.get("update")))
        if "id" in message:
            self._peer.send({"id": message["id"], **self._reply(method, params)})
        self._teller.alive()

    def _reply(self, method: object, params: dict[str, Any]) -> dict[str, Any]:
        path, content = params.get("path"), params.get("content")
        try:
            if method == "session/request_permission":
                return {"result": {"outcome": self._permission(params)}}
            if method == "fs/read_text_file" and isinstance(path, str):
                line, limit = _number(params.get("line")) or 1, _number(params.get("limit"))
                return {"result": {"content": read_text(self._root, path, line=line, limit=limit)}}
            if method == "fs/write_text_file" and isinstance(path, str) and isinstance(content, str):
                write_text(self._root, path, content)
                return {"result": {}}
        except Outside as problem:
            self._teller.tell("denied", what=short(f"{method}: {problem}"))
            return _refusal(REFUSED, str(problem))
        except FileNotFoundError:
            return _refusal(NOT_FOUND, f"No such file or directory: {path}")
        except (OSError, ValueError) as problem:
            return _refusal(REFUSED, str(problem))
        return _refusal(NO_METHOD, f"there is no {method} here")

    def _permission(self, params: dict[str, Any]) -> dict[str, Any]:
        call = _dict(params.get("toolCall"))
        self._step(call)
        if self._cancel_by is not None:
            return {"outcome": "cancelled"}
        problem = objection(self._root, call)
        if problem:
            self._unfollowed.add(str(call.get("toolCallId", "")))
            self._teller.unfinished.discard(str(call.get("toolCallId", "")))
            self._teller.tell("denied", what=short(f"{_title(call)[:80]}: {problem}"))
        return answer(params.get("options"), permitted=not problem)

    def _take(self, update: dict[str, Any]) -> None:
        kind = update.get("sessionUpdate")
        if kind == "agent_message_chunk":
            content = _dict(update.get("content"))
            if isinstance(content.get("text"), str):
                self._teller.said(update.get("messageId"), content["text"])
            if usage := _dict(_dict(update.get("_meta")).get("usage")):
                self._add_used(usage)
        elif kind in ("tool_call", "tool_call_update"):
            self._step(update)
            self._follow(update)
        elif kind == "usage_update" and _dict(update.get("cost")).get("currency") == "USD":
            self._teller.tell("used", usd=_dict(update["cost"]).get("amount"))

    def _step(self, call: dict[str, Any]) -> None:
        """Tell a tool call when it is new; one too many is not told, and the program is asked to stop."""
        number = str(call.get("toolCallId", ""))
        if not self._teller.is_new(number) or self._cancel_by is not None:
            return
        if self._most_steps is not None and self._teller.steps >= self._most_steps:
            self._cancel_by = time.monotonic() + CANCEL_S
            self._peer.send({"method": "session/cancel", "params": {"sessionId": self._session}})
        else:
            self._teller.step(number, _title(call))

    def _follow(self, call: dict[str, Any]) -> None:
        """Keep which tool calls have begun and not ended, since one ended: a program that tries again drops the first.

        A command may go on in the background, and of one that was denied there may be no end: those are left out.
        """
        number, status = str(call.get("toolCallId", "")), call.get("status")
        if call.get("kind") == "execute":
            self._unfollowed.add(number)
        if status in ("pending", "in_progress") and number not in self._unfollowed:
            self._teller.unfinished.add(number)
        elif status in ("completed", "failed"):
            self._teller.unfinished.clear()

    def _one_too_many(self) -> ConversationEnd:
        return ConversationEnd("most_steps", f"stopped after {self._most_steps} turns without an end")

    def _tell_used(self, ended: dict[str, Any]) -> None:
        """What the answer to the prompt says about tokens, in the protocol's own field or where some put it instead."""
        usage = _dict(ended.get("usage"))
        counted = _dict(_dict(_dict(ended.get("_meta")).get("quota")).get("token_count"))
        if usage:
            self._teller.tell("used", **_tokens(usage))
        elif counted:
            told, output = _number(counted.get("input_tokens")) or 0, _number(counted.get("output_tokens")) or 0
            self._teller.tell("used", input=told, output=output, cached=0)

    def _add_used(self, usage: dict[str, Any]) -> None:
        """What some say with each answer of their model, to be summed."""
        for name, tokens in _tokens(usage).items():
            self._summed[name] = self._summed.get(name, 0) + tokens
        self._teller.tell("used", **self._summed)


def main() -> int:
    """Carry out the order on stdin."""
    order = json.loads(sys.stdin.buffer.read())
    teller = LineWriter()
    peer = None
    try:
        peer = Peer(order["argv"], Path(order["cwd"]))
        Conversation(order, peer, teller).hold(order)
    except ConversationEnd as ending:
        teller.ended(ending.reason, ending.error)
        if peer is not None:
            peer.leave()
        return 0 if ending.reason == "end_turn" else 1


def _tokens(usage: dict[str, Any]) -> dict[str, int]:
    """The protocol's counts as ours: what was read from a cache is input, too."""
    output, total = _number(usage.get("outputTokens")) or 0, _number(usage.get("totalTokens")) or 0
    told = max(_number(usage.get("inputTokens")) or 0, total - output)
    return {"input": told, "output": output, "cached": _number(usage.get("cachedReadTokens")) or 0}


def _error_in_words(error: dict[str, Any]) -> str:
    """What an error says, with the details that some put beside their message, and the status that some make of it."""
    details, code = error.get("data"), error.get("code")
    code = f"status {code}" if code in range(400, 600) else code
    told = details if isinstance(details, str) else json.dumps(details) if details else ""
    return f"{error.get('message')} ({code}) {told[:LONGEST_LAST]}".strip()


def _refusal(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message[:LONGEST_WHAT]}}


def _title(call: dict[str, Any]) -> str:
    """What a tool call is about, with the file that it changes or reads where its title does not name it."""
    title = str(call.get("title") or call.get("kind") or "a tool")
    if call.get("kind") not in _ABOUT_FILES:
        return title
    files = (Path(path[:LONGEST_WHAT]).name for path in paths_told(call))
    unnamed = next((file for file in files if file not in title), "")
    return f"{title} ({unnamed})" if unnamed else title


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
