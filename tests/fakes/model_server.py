"""A model's server on this machine: it speaks four wires by a script, with faults, and keeps accounts.

The wires are OpenAI's chat completions and Responses, Anthropic's Messages and Gemini's generateContent, each whole
and streaming. A script is a JSON object:

    {
      "tasks": {"1.1": [[<answer>, …], …]},      answers by task and attempt, as in a cassette; "*" is any task
      "faults": [<fault>, …]                     optional; the first that fits, and is not used up, happens
    }

    an answer: {"text": "…", "calls": [{"name": "…", "arguments": {…}}], "do": [<action>, …],
                "input_tokens": 1000, "output_tokens": 100}
    a fault:   {"kind": "status" | "refuse" | "drop" | "lose" | "hang" | "stall" | "tear" | "garbage" | "invalid" |
                        "empty" | "cut" | "endless",
                "status": 500, "headers": {…},   for `status`
                "seconds": 1.0,                  for `refuse`: how long nobody listens; for `hang`, `stall`: how long
                "task": "1.1", "answer": 2,      optional: where it happens; answers count from 1
                "times": 1}                      how often; null for always

`calls` name tools; `do` says what is wanted, and it is put into whatever tools the request offers (see actions.py).
Arguments that are a text are sent as they are, on the wires that can carry them.

`garbage` is no JSON, `invalid` is JSON and no answer, `empty` an answer with nothing in it, `cut` one that was cut off
by its length, `endless` one more call, whatever was asked. `refuse` closes the port for a while, `drop` hangs up
without an answer, `lose` hangs up after the answer was paid for, `tear` hangs up in the middle of it, `hang` is silent
before it, `stall` in the middle of it.

The prompt says which task it is about, and which attempt. Each answer that is charged is written to the log, on disk
before it is sent. A question whose idempotency key was charged before gets the same answer and is not charged again:
it is counted as repeated. A server that does not honour keys charges again. A new server on an old log goes on with it.
What programs ask beside the work, such as a title for it, is answered and not charged: it is in `asides`. All requests
are in `arrivals`, with the keys that came with them.

    python -m tests.fakes.model_server --script FILE --log FILE --port 0       prints its port
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self, assert_never

from tests.fakes.script import INPUT_TOKENS, Fault, Question, credentials_in, one_more, question_of, said_to, scripted
from tests.fakes.sending import Arrival, Listener, Response, Silence
from tests.fakes.wires import wire_at
from tests.fakes.wires.wire import Called, Finish, Plain, Said

MOST_ARRIVALS = 5000
MODELS = ("scripted-1", "gpt-5.5", "claude-sonnet-4-5", "gemini-2.5-pro")


class ModelServer:
    """Listens as long as it is entered; all that it counts can be asked for at any time.

    `folder` is where the paths of actions lead, for tools that take absolute ones only.
    """

    def __init__(
        self,
        script: Mapping[str, Any],
        log: Path,
        *,
        port: int = 0,
        honours_keys: bool = True,
        folder: Path | None = None,
    ) -> None:
        self.script = script
        self.faults = [Fault(**fault) for fault in script.get("faults", ())]
        self.questions: list[Question] = []
        self.asides: list[Question] = []
        self.arrivals: list[Arrival] = []
        self.repeated = 0
        self._log = log
        self._honours_keys = honours_keys
        self._folder = folder
        charged = _mended(log)
        self._sequence = len(charged)
        self._answers: dict[str, Said] = {paid["name"]: _said(paid["said"]) for paid in charged}
        self._happened: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._leaving = threading.Event()
        self._port = port
        self._listener: Listener | None = None
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
    def url(self) -> str:
        """The address for clients that add the version themselves: Anthropic's, Gemini's, Goose."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """The address for clients of OpenAI."""
        return f"{self.url}/v1"

    @property
    def paid(self) -> list[Plain]:
        """The answers that were charged, in their order."""
        return read_log(self._log)

    @property
    def keys(self) -> set[str]:
        """All keys that came with any request."""
        return {key for one in self.arrivals for key in credentials_in(one.path, one.headers).values()}

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
        self._listener = Listener(self._port, self, self._leaving)
        self._port = self._listener.server_port
        threading.Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True).start()

    def hang_up(self) -> None:
        """Close the port: whoever connects is refused."""
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.shutdown()
            listener.server_close()

    def respond(self, arrival: Arrival) -> Response | Silence:
        """What is sent back to any request."""
        with self._lock:
            self.arrivals.append(arrival)
            if len(self.arrivals) > MOST_ARRIVALS:
                return _json({"error": {"message": "this server was asked too often"}}, status=503)
        path = arrival.path.partition("?")[0]
        wire = wire_at(path)
        if wire is not None and arrival.body is not None:
            try:
                question = question_of(wire, arrival.path, arrival.headers, arrival.body)
            except (AttributeError, KeyError, TypeError) as error:
                return _json(wire.complaint(400, f"this is no request: {error!r}"), status=400)
            return self.serve(question)
        if path.endswith(("/count_tokens", ":countTokens")):
            return _json({"input_tokens": INPUT_TOKENS, "totalTokens": INPUT_TOKENS})
        if path.endswith("/models"):
            models = [{"id": name, "object": "model", "created": 1, "owned_by": "scripted"} for name in MODELS]
            return _json({"object": "list", "data": models, "models": models, "has_more": False})
        return _json({"error": {"message": f"there is nothing at {path}"}}, status=200 if path == "/" else 404)

    def serve(self, question: Question) -> Response | Silence:
        """What is sent back to a question."""
        with self._lock:
            if question.aside:
                self.asides.append(question)
                return _answered(question, said_to(question, {"text": "Scripted work"}, None))
            self.questions.append(question)
            fault = self._fault(question)
            if fault is None or fault.kind in ("lose", "cut", "endless", "stall", "tear"):
                said = self._charged(question, fault)
        if fault is None:
            return _answered(question, said)
        match fault.kind:
            case "cut" | "endless":
                return _answered(question, said)
            case "lose" | "drop":
                return Silence()
            case "tear":
                return _answered(question, said, ending="torn")
            case "stall":
                return _answered(question, said, ending="stalled", stall_s=fault.seconds)
            case "status":
                complaint = question.wire.complaint(fault.status, f"scripted {fault.status}")
                return _json(complaint, status=fault.status, headers=fault.headers)
            case "garbage":
                return _raw(question, b"<html>\xff not what you asked for")
            case "invalid":
                return _raw(question, b'{"error": {"message": "scripted"}}')
            case "empty":
                return _answered(question, said_to(question, {"text": ""}, None))
            case "hang":
                return Silence(seconds=fault.seconds)
            case "refuse":
                self._spawn(self._refuse, fault.seconds)
                return Silence()
            case _ as never:
                assert_never(never)

    def _charged(self, question: Question, fault: Fault | None) -> Said:
        if self._honours_keys and question.key and question.name in self._answers:
            self.repeated += 1
            return self._answers[question.name]
        endless = fault is not None and fault.kind == "endless"
        finish: Finish | None = "length" if fault is not None and fault.kind == "cut" else None
        answer = one_more(question) if endless else scripted(self.script, question)
        said = said_to(question, answer, self._folder, finish)
        self._sequence += 1
        line = {
            "sequence": self._sequence,
            "name": question.name,
            "key": question.key,
            "task": question.task,
            "attempt": question.attempt,
            "answer": question.answer,
            "said": asdict(said),
        }
        with self._log.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        self._answers[question.name] = said
        return said

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


def _said(kept: Plain) -> Said:
    return Said(**{**kept, "calls": tuple(Called(**call) for call in kept["calls"])})


def _json(content: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(parts=(json.dumps(content).encode(),), status=status, headers=headers or {})


def _raw(question: Question, content: bytes) -> Response:
    if not question.asked.streaming:
        return Response(parts=(content,))
    return Response(parts=(b"data: " + content + b"\n\n",), kind="text/event-stream", streamed=True)


def _answered(question: Question, said: Said, **more: Any) -> Response:
    wire, asked = question.wire, question.asked
    if not asked.streaming:
        return Response(parts=(json.dumps(wire.whole(asked, said)).encode(),), **more)
    kind = "application/json" if asked.as_list else "text/event-stream"
    return Response(parts=tuple(wire.events(asked, said)), kind=kind, streamed=True, **more)


def main() -> None:
    """Serve until standard input ends."""
    words = argparse.ArgumentParser()
    words.add_argument("--script", type=Path, required=True)
    words.add_argument("--log", type=Path, required=True)
    words.add_argument("--port", type=int, default=0)
    words.add_argument("--folder", type=Path, help="where the paths of actions lead")
    words.add_argument("--ignore-keys", action="store_true", help="charge a question again that was charged before")
    given = words.parse_args()
    script = json.loads(given.script.read_text(encoding="utf-8"))
    with ModelServer(
        script, given.log, port=given.port, honours_keys=not given.ignore_keys, folder=given.folder
    ) as server:
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
