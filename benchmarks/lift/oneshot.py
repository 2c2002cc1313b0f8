"""An agent that asks a model once and writes what it answers: the smallest way to try a small local model.

    command:python oneshot.py URL MODEL

URL is that of a server that speaks OpenAI's chat completions, such as `http://127.0.0.1:8080/v1` of llama.cpp. The
model gets the task and the lessons, and neither the repository nor a second try; it answers with the whole module.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from urllib.request import Request, urlopen

_FENCED = re.compile(r"```(?:python)?\n(.*?)```", re.DOTALL)
_EXPORTS = "Coin, Held, QuayError, Refused, beacon, on_call, stamp, tides, vault"
_SYSTEM = (
    "You write one Python module and nothing else. The library `quay` of this house exports "
    f"{_EXPORTS}. Answer with the code of the module in one fenced block."
)


def main() -> None:
    url, model = sys.argv[1:3]
    asked = json.loads(Path(os.environ["MILEPOST_ASSIGNMENT"]).read_text())
    place = Path(asked["files"][0])
    place.parent.mkdir(exist_ok=True)
    place.write_text(code_in(answered(url, model, question(asked["title"], asked["lessons"]))))


def question(title: str, lessons: list[str]) -> str:
    """What the model is asked: the task, and what was observed earlier."""
    told = "\n".join(f"- {lesson}" for lesson in lessons)
    return f"Task: {title}\n" + (f"\nObserved earlier in this project, may be stale:\n{told}\n" if told else "")


def answered(url: str, model: str, text: str) -> str:
    """What the model says, at temperature zero."""
    messages = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": text}]
    body = {"model": model, "messages": messages, "temperature": 0, "max_tokens": 400}
    request = Request(f"{url}/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    with urlopen(request, timeout=300) as response:
        answer = json.load(response)
    return str(answer["choices"][0]["message"]["content"])


def code_in(text: str) -> str:
    """The code of an answer: what is fenced, else all of it."""
    found = _FENCED.search(text)
    return found.group(1) if found else text


if __name__ == "__main__":
    main()
