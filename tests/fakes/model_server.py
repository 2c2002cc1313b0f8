"""A model's server on this machine: it speaks OpenAI's chat completions, by a script, with faults, and keeps accounts.

A script is a JSON object:

    {
      "tasks": {"1.1": [[<answer>, …], …]},      answers by task and attempt, as in a cassette
      "faults": [<fault>, …]                     optional; the first that fits, and is not used up, happens
    }

    an answer: {"text": "…", "calls": [{"name": "…", "arguments": {…}}], "input_tokens": 1000, "output_tokens": 100}
    a fault:   {"kind": "status" | "refuse" | "drop" | "lose" | "hang" | "garbage" | "invalid" | "empty" | "cut",
                "status": 500, "headers": {…},   for `status`
                "seconds": 1.0,                  for `refuse`: how long nobody listens; for `hang`: how long it hangs
                "task": "1.1", "answer": 2,      optional: where it happens; answers count from 1
                "times": 1}                      how often; null for always

`garbage` is no JSON, `invalid` is JSON and no answer, `empty` an answer with nothing in it, `cut` one that was cut off.
`refuse` closes the port for a while, `drop` hangs up without an answer, `lose` hangs up after the answer was paid for.

The prompt says which task it is about, and which attempt. Each answer that is charged is written to the log, on disk
before it is sent. A question whose idempotency key was charged before gets the same answer and is not charged again:
it is counted as repeated. A server that does not honour keys charges again. A new server on an old log goes on with it.

    python -m tests.fakes.model_server --script FILE --log FILE --port 0       prints its port
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import socket
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal, Self

INPUT_TOKENS, OUTPUT_TOKENS = 1000, 100
TASK = re.compile(r"^# Task (\S+): ", re.MULTILINE)
ATTEMPT = re.compile(r"^This is attempt (\d+)\.", re.MULTILINE)

Plain = dict[str, Any]
FaultKind = Literal["status", "refuse", "drop", "lose", "hang", "garbage", "invalid", "empty", "cut"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What the server does instead of answering as its script says."""

    kind: FaultKind
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 1.0
    task: str = ""
    answer: int | None = None
    times: int | None = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request: which answer to which attempt at which task it asks for."""

    key: str
    task: str
    attempt: int
    answer: int
    body: Plain

    @property
    def name(self) -> str:
        """What tells it from other questions: its key, else all that was said."""
        return self.key or hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()


class ModelServer:
    """Listens as long as it is entered; all that it counts can be asked for at any time."""

    def __init__(self, script: Mapping[str, Any], log: Path, *, port: int = 0, honours_keys: bool = True) -> None:
        self.script = script
        self.faults = [Fault(**fault) for fault in script.get("faults", ())]
        self.questions: list[Question] = []
        self.repeated = 0
        self._log = log
        self._honours_keys = honours_keys
        charged = _mended(log)
        self._sequence = len(charged)
        self._answers: dict[str, Plain] = {paid["name"]: paid["message"] for paid in charged}
        self._happened: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._leaving = threading.Event()
        self._port = port
        self._listener: ThreadingHTTPServer | None = None
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self.listen()
        return self

    def __exit__(self, *_: object) -> None:
        self._leaving.set()
        for thread in self._threads:
            thread.join(30)
        self.hang_up()

    @property
    def port(self) -> int:
        return self._port

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def paid(self) -> list[Plain]:
        """The answers that were charged, in their order."""
        return read_log(self._log)

    def paid_twice(self) -> dict[str, int]:
        """The questions that were charged more than once, and how often."""
        return paid_twice(self._log)

    def settings(self, *, name: str = "openai:scripted-1", **more: object) -> str:
        """What milepost.toml says to have this model asked, at a dollar for a million tokens."""
        stated = {"name": name, "base_url": self.base_url, "input_usd_per_mtok": 1, "output_usd_per_mtok": 1, **more}
        lines = [f"{key} = {json.dumps(value)}" for key, value in stated.items() if value is not None]
        return "\n".join(["[model]", *lines, ""])

    def listen(self) -> None:
        """Open the port, the same one as before."""
        self._listener = ThreadingHTTPServer(("127.0.0.1", self._port), _handler(self))
        self._listener.daemon_threads = True
        self._port = self._listener.server_port
        threading.Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True).start()

    def hang_up(self) -> None:
        """Close the port: whoever connects is refused."""
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.shutdown()
            listener.server_close()

    def serve(self, question: Question) -> Response | None:
        """What is sent back; None to hang up."""
        with self._lock:
            self.questions.append(question)
            fault = self._fault(question)
            if fault is None or fault.kind in ("lose", "cut"):
                cut = fault is not None and fault.kind == "cut"
                message = self._charged(question, "length" if cut else "")
                return (
                    None if fault is not None and fault.kind == "lose" else Response(body=json.dumps(message).encode())
                )
        match fault.kind:
            case "status":
                complaint = {"error": {"message": f"scripted {fault.status}", "type": "scripted"}}
                return Response(status=fault.status, headers=fault.headers, body=json.dumps(complaint).encode())
            case "garbage":
                return Response(body=b"<html>\xff not what you asked for")
            case "invalid":
                return Response(body=b'{"error": {"message": "scripted"}}')
            case "empty":
                return Response(body=json.dumps(_message(question, {"text": ""}, "stop")).encode())
            case "hang":
                self._leaving.wait(fault.seconds)
            case "refuse":
                self._spawn(self._refuse, fault.seconds)
        return None

    def _charged(self, question: Question, finish: str) -> Plain:
        if self._honours_keys and question.key and question.name in self._answers:
            self.repeated += 1
            return self._answers[question.name]
        message = _message(question, self._scripted(question), finish)
        self._sequence += 1
        line = {
            "sequence": self._sequence,
            "name": question.name,
            "key": question.key,
            "task": question.task,
            "attempt": question.attempt,
            "answer": question.answer,
            "message": message,
        }
        with self._log.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        self._answers[question.name] = message
        return message

    def _scripted(self, question: Question) -> Plain:
        attempts = self.script.get("tasks", {}).get(question.task, [])
        answers = attempts[min(question.attempt, len(attempts)) - 1] if attempts else []
        if question.answer <= len(answers):
            found: Plain = answers[question.answer - 1]
            return found
        return {"text": f"nothing is scripted for answer {question.answer} at task {question.task!r}"}

    def _fault(self, question: Question) -> Fault | None:
        for number, fault in enumerate(self.faults):
            fits = fault.task in ("", question.task) and fault.answer in (None, question.answer)
            if fits and (fault.times is None or self._happened[number] < fault.times):
                self._happened[number] += 1
                return fault
        return None

    def _refuse(self, seconds: float) -> None:
        self.hang_up()
        self._leaving.wait(seconds)
        self.listen()

    def _spawn(self, target: Any, *values: object) -> None:
        thread = threading.Thread(target=target, args=values, daemon=True)
        self._threads.append(thread)
        thread.start()


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What is sent back."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def read_log(log: Path) -> list[Plain]:
    """The answers that were charged, in their order; a last line that was cut off was not sent either."""
    if not log.exists():
        return []
    lines = log.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines[:-1]]


def paid_twice(log: Path) -> dict[str, int]:
    """The questions that were charged more than once, and how often."""
    counted = Counter(paid["name"] for paid in read_log(log))
    return {name: times for name, times in counted.items() if times > 1}


def _mended(log: Path) -> list[Plain]:
    """The charged answers of an earlier server, whose last line may be cut off: that one was never sent."""
    charged = read_log(log)
    if log.exists():
        log.write_text("".join(json.dumps(paid) + "\n" for paid in charged), encoding="utf-8")
    return charged


def _question(key: str, body: Plain) -> Question:
    prompt = next((_text(message) for message in body["messages"] if message["role"] == "user"), "")
    task, attempt = TASK.search(prompt), ATTEMPT.search(prompt)
    # An answer of which nothing could be sent back leaves only the reminder that followed it.
    given = sum(message["role"] == "assistant" for message in body["messages"])
    return Question(
        key=key,
        task=task[1] if task else "",
        attempt=int(attempt[1]) if attempt else 1,
        answer=given + 1,
        body=body,
    )


def _text(message: Plain) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _message(question: Question, answer: Plain, finish: str) -> Plain:
    calls = [
        {
            "id": f"call-{question.answer}-{number}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call.get("arguments", {}))},
        }
        for number, call in enumerate(answer.get("calls", ()), start=1)
    ]
    told, said = answer.get("input_tokens", INPUT_TOKENS), answer.get("output_tokens", OUTPUT_TOKENS)
    message = {"role": "assistant", "content": answer.get("text") or None, **({"tool_calls": calls} if calls else {})}
    return {
        "id": f"answer-{question.answer}",
        "object": "chat.completion",
        "created": 1,
        "model": question.body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": finish or ("tool_calls" if calls else "stop")}],
        "usage": {"prompt_tokens": told, "completion_tokens": said, "total_tokens": told + said},
    }


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            response = server.serve(_question(self.headers.get("Idempotency-Key", ""), body))
            self.close_connection = True
            if response is None:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.send_response(response.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(response.body)))
            for name, value in response.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(response.body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def main() -> None:
    """Serve until standard input ends."""
    words = argparse.ArgumentParser()
    words.add_argument("--script", type=Path, required=True)
    words.add_argument("--log", type=Path, required=True)
    words.add_argument("--port", type=int, default=0)
    words.add_argument("--ignore-keys", action="store_true", help="charge a question again that was charged before")
    given = words.parse_args()
    script = json.loads(given.script.read_text(encoding="utf-8"))
    with ModelServer(script, given.log, port=given.port, honours_keys=not given.ignore_keys) as server:
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
